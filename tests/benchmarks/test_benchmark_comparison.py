"""The comparison of all importances: its tables on known answers, its designs, its files."""

from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.papers.comparison import designs, parts
from benchmarks.papers.comparison.__main__ import STUDY, main
from benchmarks.papers.comparison.designs import KINDS, USEFUL
from benchmarks.papers.comparison.methods import METHODS, compared


@pytest.fixture(scope="module")
def published():
    return STUDY.read()


def test_the_page_says_what_the_files_say(published):
    page = STUDY.page.read_text()
    assert STUDY.page_with(published, page) == page


def test_the_published_run_is_as_large_as_promised(published):
    for name, part in STUDY.parts.items():
        n_cells = len(part.cells) * part.n_replications
        counts = Counter(row["method"] for row in published[name])
        assert set(counts) == set(METHODS)
        assert set(counts.values()) == {n_cells}


def test_what_the_page_says_of_rankings(published):
    """By design: who is first, and who is never far behind."""
    aucs: dict[str, dict[str, list[float]]] = {}
    for part, rows in published.items():
        for row in rows:
            if row["n useful"]:
                design = parts.design_of(row["data"]) if part == "simulated" else part
                aucs.setdefault(design, {}).setdefault(row["method"], []).append(row["auc"])
    means = {
        design: {method: np.mean(values) for method, values in of_design.items()}
        for design, of_design in aucs.items()
    }
    assert list(means) == ["mixed", "Sun (2022)", "Sun, any columns", "real"]
    first = {design: max(found, key=found.get) for design, found in means.items()}
    assert first["mixed"] == "mean absolute SHAP"
    assert first["Sun (2022)"] in ("tree_inner", "partial_inner")
    assert first["Sun, any columns"] in ("partial_inner", "held_out_gain")
    assert first["real"] == "cross-validated boosting, gain"
    never_far = [
        method
        for method in next(iter(means.values()))
        if all(max(found.values()) - found[method] < 0.025 for found in means.values())
    ]
    assert never_far == ["partial_inner", "held_out_gain"]


@pytest.mark.slow
def test_a_quick_run(capsys):
    assert main(["--quick", "simulated", "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    for name in parts.SIMULATED:
        for method in METHODS:
            assert f"| {name} | {method} |" in printed


@pytest.mark.parametrize("name", parts.SIMULATED)
def test_noise_is_planted_as_promised(name):
    drawn = parts.SIMULATED[name](2000, np.random.default_rng(0))
    assert drawn.X.shape == (len(drawn.y), len(drawn.kind))
    is_noise = drawn.kind != USEFUL
    assert set(drawn.kind[is_noise]) <= set(KINDS)
    if name.startswith("nothing"):
        assert is_noise.all()
    else:
        assert (~is_noise).sum() == 5
    assert set(np.unique(drawn.y)) == {0, 1} if drawn.is_class else len(np.unique(drawn.y)) > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("relevant", "low", "high"), [("low", 0.93, 0.96), ("all", 0.47, 0.53)], ids=["low", "all"]
)
def test_what_counting_values_is_worth_in_the_design_of_the_paper(relevant, low, high):
    """Five of the first ten: ahead of 40 others, and of half of five: (40 + 2.5) / 45 = .944."""
    of_counts = []
    for seed in range(200):
        drawn = designs.of_the_paper("regression", relevant, 600, np.random.default_rng(seed))
        fewest = -drawn.X.nunique().to_numpy()
        of_counts.append(roc_auc_score(drawn.kind == USEFUL, fewest))
    assert low < np.mean(of_counts) < high


@pytest.mark.slow
def test_columns_stand_in_no_order():
    """Where features tie, the first is taken: useful ones must not stand in front."""
    first = [designs.mixed("number", 50, np.random.default_rng(seed)).kind[0] for seed in range(60)]
    assert 5 < sum(kind == USEFUL for kind in first) < 40  # 5 of 14 columns are


@pytest.mark.slow
def test_methods_find_what_anybody_would():
    """One column is the target, all others are noise: every method ranks it first."""
    rng = np.random.default_rng(0)
    drawn = designs.nothing("number", 600, rng)
    drawn.X[drawn.X.columns[3]] = rng.normal(size=600)
    y = drawn.X.iloc[:, 3].to_numpy() * 2 + 0.1 * rng.normal(size=600)
    case = designs.Drawn(drawn.X, y, False, drawn.kind)
    for method, found in compared(case, 20, 0).items():
        assert found.values.argmax() == 3, method
        assert found.is_found[3], method


def test_tables_by_hand():
    row = {"data": "a", "seconds": 0.5, "auc": 0.75, "n useful": 2, "true useful": 1}
    row |= {f"n {kind}": 4 for kind in KINDS} | {f"false {kind}": 1 for kind in KINDS}
    rows = [{**row, "method": method} for method in METHODS]
    rows[1] |= {"seconds": 1.5, "true useful": 2}
    assert f"| a | {METHODS[0]} | 0.250 | 0.250 | 0.250 | 0.500 | 0.750 | 500 |" in parts.table(
        rows
    )
    assert f"| {METHODS[1]} | 0.250 | 0.250 | 0.250 | 1.000 | 0.750 | 3.0 |" in parts.summary(rows)


def test_every_design_has_an_auc_of_its_own():
    row = {"seconds": 1.0, "n useful": 2, "true useful": 1}
    row |= {f"n {kind}": 4 for kind in KINDS} | {f"false {kind}": 1 for kind in KINDS}
    aucs = {"nothing, number": 0.5, "mixed, number": 0.75, "mixed, class": 0.25, "Sun, class": 1.0}
    rows = [
        {**row, "data": name, "method": method, "auc": auc}
        | ({"n useful": 0, "true useful": 0} if name.startswith("nothing") else {})
        for name, auc in aucs.items()
        for method in METHODS
    ]
    heading, _, first, *_ = parts.summary(rows).splitlines()
    assert "| useful found | AUC: mixed | AUC: Sun | time" in heading
    assert first.endswith("| 0.500 | 0.500 | 1.000 | 1.0 |")
