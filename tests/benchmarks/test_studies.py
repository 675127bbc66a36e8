"""Studies: every part runs on small data, and every page says what its files say."""

from importlib import import_module

import pytest

from benchmarks.papers import propositions
from benchmarks.speed import categories, conversion, losses, splitter_cost, training_speed
from benchmarks.study import command, data
from benchmarks.study.whole_tables import whole_table
from tests.asserts import peer
from tests.benchmarks import made_up_tables

NAMES = (
    "changes", "comparison", "cvb", "held_out", "inference", "local_mdi_study", "rankings",
    "report", "treeinner", "unbiased",
)  # fmt: skip
STUDIES = {name: import_module(f"benchmarks.papers.{name}.__main__").STUDY for name in NAMES}
MODULES = propositions, categories, conversion, losses, splitter_cost, training_speed
STUDIES |= {of.STUDY.name: of.STUDY for of in MODULES}
for name in ("speed.growth", "accuracy", "ladder"):
    STUDIES[name.split(".")[-1]] = import_module(f"benchmarks.{name}.__main__").STUDY
CORE = {
    ("propositions", "noise"), ("unbiased", "drift"), ("report", "apart"), ("inference", "rows"),
    ("held_out", "nulls"),
}  # fmt: skip
PARTS = [
    pytest.param(study, part, marks=[] if (study, part) in CORE else pytest.mark.slow)
    for study in STUDIES
    for part, found in STUDIES[study].parts.items()
    if not found.is_timed  # which differs from run to run
]


@pytest.fixture(scope="module", autouse=True)
def made_up_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    made_up_tables.write_all(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(data.FOLDER, str(folder))
        data.table.cache_clear()
        whole_table.cache_clear()
        yield
    data.table.cache_clear()
    whole_table.cache_clear()


def without_seconds(rows):
    return [{k: v for k, v in row.items() if "seconds" not in k and k != "times"} for row in rows]


@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")  # of LightGBM
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of what lime imports
@pytest.mark.parametrize(("study", "name"), PARTS)
def test_a_replication_has_a_stream_of_its_own(study, name):
    part = STUDIES[study].parts[name]
    assert data.is_there(part.needs)
    one, again, other = (part.run(0, r, "quick") for r in (1, 1, 0))
    assert one
    assert without_seconds(one) == without_seconds(again)
    assert without_seconds(one) != without_seconds(other)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(
    ("study", "name"),
    [(study, part.name) for study in STUDIES for part in STUDIES[study].all_parts if part.is_timed],
)
def test_what_is_timed_runs_on_small_data(study, name):
    if study in ("conversion", "losses", "splitter_cost", "training_speed"):
        peer("xgboost")
        peer("lightgbm")
    assert STUDIES[study].parts[name].run(0, 0, "quick")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "local_mdi_study")) for n in STUDIES]
)
def test_the_page_says_what_the_files_say(name):
    assert STUDIES[name].has_written()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "part"),
    [
        ("unbiased", "ranks"), ("cvb", "null"), ("report", "apart"), ("treeinner", "table4-chip"),
        ("held_out", "power"), ("inference", "tests"), ("comparison", "real"),
        ("rankings", "selection"), ("local_mdi_study", "correlation"),
    ],
)  # fmt: skip
def test_a_quick_run_of_the_command(study, part, capsys):
    assert command.main(STUDIES[study], ["--quick", part, "--jobs", "1"]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("\n| ") > 2
    assert "0 s left" in printed.err
