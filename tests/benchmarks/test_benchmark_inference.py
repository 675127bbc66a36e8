"""The simulation of standard errors and tests: its parts on known answers, and its files."""

import numpy as np
import pandas
import pytest
import scipy.stats

from attributions.simulated import simulated
from attributions.statistics.row_sums import RowSums
from benchmarks.papers.inference import gates, guard, judging, nulls
from benchmarks.papers.inference.__main__ import STUDY, main
from benchmarks.papers.inference.paper import (
    COUNTED,
    SETTINGS,
    Source,
    count_covered,
    count_rejections,
)
from benchmarks.papers.inference.parts import PARTS
from benchmarks.study import command, data
from benchmarks.study.finished import Finished, OtherRunError
from benchmarks.study.tables import any_share, share, short_share
from tests.asserts import assert_close, assert_same

N_DRAWS, N_FEATURES = 500, 8


def coverage_of_normal_rows():
    """Return the mean coverage of features whose intervals hold by construction."""
    population = np.random.default_rng(0).normal(0.3, 1.0, size=(20_000, N_FEATURES))
    n_covered = count_covered(population, 400, N_DRAWS, np.random.default_rng(1))
    assert n_covered.shape == (N_FEATURES,)
    return n_covered.mean() / N_DRAWS


def test_intervals_of_normal_rows_cover_as_they_should():
    # 4000 independent intervals: standard deviation .0034; t with 399 degrees of freedom: -.0005.
    assert abs(coverage_of_normal_rows() - 0.95) < 4 * 0.0035


def test_half_a_standard_error_is_noticed(monkeypatch):
    whole = RowSums.standard_error.fget
    monkeypatch.setattr(RowSums, "standard_error", property(lambda self: whole(self) / 2))
    # P(|Z| < 1.96 / 2) = .673
    assert abs(coverage_of_normal_rows() - 0.673) < 4 * 0.0075


def test_a_wrong_population_value_is_noticed():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(10_000, 1))

    class Shifted(np.ndarray):
        """Rows whose mean is told wrongly by three standard errors of 100 rows."""

        def mean(self, axis=None):
            return np.asarray(self).mean(axis=axis) + 0.3

    assert count_covered(rows.view(Shifted), 100, 100, rng)[0] < 50


def test_rejections_by_hand():
    # Sorted: .001 .03 .04 .2 1. Benjamini-Hochberg at .1 compares with .02 .04 .06 .08 .1.
    p_values = np.array([0.04, 1.0, 0.001, 0.2, 0.03])
    is_relevant = np.array([False, True, True, False, True])
    assert count_rejections(p_values, is_relevant) == {
        "n_noise": 2,
        "n_relevant": 3,
        "single_noise": 1,
        "single_relevant": 2,
        "discovered_noise": 1,
        "discovered_relevant": 2,
    }


def test_rates_by_hand():
    def data_set(noise, relevant):
        zeros = dict.fromkeys(COUNTED, 0.0)
        found = {"discovered_noise": noise, "discovered_relevant": relevant}
        return {"setting": "s", "method": "m", **zeros, "n_noise": 4, "n_relevant": 2, **found}

    rows = [data_set(1, 1), data_set(0, 0), data_set(2, 0), data_set(0, 2)]
    other = {**data_set(4, 2), "method": "another"}
    found = gates.rates([*rows, other], "m", ["s"])
    assert found["FDR"].value == (0.5 + 0 + 1 + 0) / 4  # no discovery, no false one
    assert found["power, BH"].value == (0.5 + 0 + 0 + 1) / 4
    assert_close(found["FDR"].error, np.sqrt(0.6875 / 3 / 4), terms=1)  # s / sqrt(4)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_source_is_what_the_setting_says(setting):
    source = Source.drawn(setting, np.random.default_rng(3))
    assert len(set(source.relevant)) == 5
    assert max(source.relevant) < 10
    X, y = source.draw(40_000, np.random.default_rng(4))
    assert_same([len(np.unique(column)) for column in X.T], np.arange(2, 52))
    s = X[:, source.relevant].mean(axis=1)
    within = 5 / np.sqrt(len(y))
    assert abs(s.var() / source.signal_variance - 1) < 2 * within
    if setting.task == "classification":
        centre = 0.0 if setting.strength is None else 0.5
        factor = setting.strength or 1.0
        log_odds = factor * 2 * (s - centre)
        assert abs(np.mean(y - 1 / (1 + np.exp(-log_odds)))) < within
        return
    noise = (y - s) / np.sqrt(source.signal_variance)
    # Standard deviation, in those of s: 100 Var(s) over that of s, or from the ratio of variances.
    scale = setting.strength**-0.5 if setting.strength else 100 * np.sqrt(source.signal_variance)
    if setting.heavy_tails:  # the variance of an empirical variance is infinite
        tail = scipy.stats.t.ppf(0.95, 3) / np.sqrt(3)
    else:
        tail = scipy.stats.norm.ppf(0.95)
        assert abs(noise.std() / scale - 1) < within
    quantiles = np.quantile(noise / scale, [0.05, 0.5, 0.95])
    assert np.abs(quantiles - [-tail, 0, tail]).max() < 3 * within


def test_the_source_is_the_papers():
    """Features, signal and noise have the distribution of ``attributions.simulated``."""
    paper = simulated("regression", n_train=40_000, n_valid=1, random_state=0)
    source = Source(SETTINGS[0], paper.relevant)
    X, y = source.draw(40_000, np.random.default_rng(5))
    assert np.abs(X.mean(axis=0) - paper.X_train.mean(axis=0)).max() < 0.02
    assert abs(np.std(y) / np.std(paper.y_train) - 1) < 0.03


def without_time(rows):
    """Leave out the one column that is not simulated."""
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


NUMBERS = ["one", "two", "three", "four"]  # columns of the small tables


@pytest.fixture
def small_tables(tmp_path, monkeypatch):
    """Write tables of the names and kinds of columns that the real ones have."""
    rng = np.random.default_rng(0)
    for name, (target, left_out) in data.SETS.items():
        frame = pandas.DataFrame(rng.normal(size=(150, 4)), columns=NUMBERS)
        is_class = target in ("target", "Exited", "defects", "c", "Churn")
        frame[target] = frame["one"] > 0.5 if is_class else np.exp(frame["one"])
        for column in left_out:
            frame[column] = np.arange(150)
        frame["word"] = "x"
        frame["binaryClass"] = 1
        frame.to_csv(tmp_path / f"{name}.csv.gz", index=False)
    monkeypatch.setenv("GBT_DATA", str(tmp_path))
    data.table.cache_clear()
    yield tmp_path
    data.table.cache_clear()


def test_what_is_read_of_a_table(small_tables):
    for name in data.SETS:
        X, y, is_class = data.table(name)
        assert_same(X, pandas.read_csv(small_tables / f"{name}.csv.gz")[NUMBERS])
        assert_same(y, X[:, 0] > 0.5) if is_class else assert_close(y, np.exp(X[:, 0]), 9)
    drawn, targets, _ = data.drawn("space_ga", np.random.default_rng(1), 100)
    assert len(np.unique(drawn[:, 0])) == 100
    assert_close(targets, np.exp(drawn[:, 0]), 9)


@pytest.mark.slow
def test_real_tables_are_judged_with_what_is_planted_in_them(small_tables):
    for cell, name in enumerate(data.SETS):
        rows = PARTS["real"].run(cell, 0, "quick")
        assert [row["method"] for row in rows] == list(judging.MEASURES)
        assert {(r["data"], r["n_null"], r["n_other"]) for r in rows} == {(name, 10, 4)}
    for cell, name in enumerate(PARTS["shadows-real"].needs):
        for row in PARTS["shadows-real"].run(cell, 0, "quick"):
            assert (row["data"], row["n_kin"], row["n_noise"]) == (name, 2, 10)
            assert (row["n_true"], row["n_weak"]) == (4, 0)


def test_nulls_of_real_columns_and_prices(small_tables):
    part = PARTS["nulls"]
    for cell in ({"X": "real", "y": "prices"}, {"X": "normal", "y": "prices"}):
        number = next(i for i, c in enumerate(part.cells) if cell.items() <= c.items())
        rows = part.run(number, 0, "quick")
        assert {row["n_null"] for row in rows} == {4 if cell["X"] == "real" else 16}
        assert {row["n_other"] for row in rows} == {0}
    prices = nulls.target_of("prices", 500, np.random.default_rng(0))
    assert set(prices) <= set(data.table(nulls.PRICES)[1] / 1e5)
    assert len(set(prices)) > 100


def test_a_model_of_a_real_table_is_judged_by_all_other_rows(small_tables, monkeypatch):
    seen = []
    monkeypatch.setattr(guard, "judged", lambda *arguments: seen.append(arguments) or [])
    for cell, name in enumerate(guard.REAL):
        PARTS["guard-other"].run(cell, 0, "quick")
        _, (X, y), (X_fresh, y_fresh), *_ = seen.pop()
        assert len(X) == len(y) == 60
        whole, targets, _ = data.table(name)
        order = np.argsort(np.concatenate([X, X_fresh])[:, 1])
        assert_same(np.concatenate([X, X_fresh])[order], whole[np.argsort(whole[:, 1])])
        assert_same(np.concatenate([y, y_fresh])[order], targets[np.argsort(whole[:, 1])])


def test_skewed_noise_is_lognormal_with_mean_0_and_the_variance_of_the_setting():
    source = guard.Skewed.drawn(guard.SKEWED, np.random.default_rng(3))
    X, y = source.draw(40_000, np.random.default_rng(4))
    noise = (y - X[:, source.relevant].mean(axis=1)) / np.sqrt(source.signal_variance / 0.3)
    law = scipy.stats.lognorm(1)
    quantiles = np.array([0.1, 0.5, 0.9])
    values = law.ppf(quantiles)
    expected = (values - law.mean()) / law.std()
    error = np.sqrt(quantiles * (1 - quantiles) / len(y)) / (law.pdf(values) * law.std())
    assert (np.abs(np.quantile(noise, quantiles) - expected) < 4 * error).all()
    assert abs(noise.mean()) < 4 / np.sqrt(len(y))


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_a_replication_has_a_stream_of_its_own(name, small_tables):
    part = PARTS[name]
    one, again, other = (part.run(0, r, "quick") for r in (1, 1, 0))
    assert without_time(one) == without_time(again)
    assert without_time(one) != without_time(other)
    assert part.table(one + other).count("\n") >= 2


@pytest.mark.slow
def test_a_quick_run_of_parts_by_name(capsys):
    main(["--quick", "tests", "copies", "--jobs", "2"])
    printed = capsys.readouterr().out
    for setting in SETTINGS:
        assert (f"| {setting.name} | `tree_inner` |" in printed) == setting.is_gated
    assert "| 0.3 | 0.95 | `permutation` |" in printed
    assert "| subjects" not in printed


def test_parts_that_need_data_are_skipped_without_it(capsys, monkeypatch):
    monkeypatch.delenv("GBT_DATA", raising=False)
    assert main(["--quick", "real"]) == 0
    assert "real is skipped: $GBT_DATA has not all of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [(["nonsense"], "there is no part 'nonsense'"), (["--quick", "--write"], "not worth keeping")],
)
def test_what_makes_no_sense_is_refused(words, message, capsys):
    with pytest.raises(SystemExit):
        main(words)
    assert message in capsys.readouterr().err


def test_an_interrupted_part_goes_on(tmp_path):
    part = PARTS["copies"]
    first = Finished(tmp_path, part, "quick")
    first.add(0, 0, [{"x": 0.1}])
    first.add(1, 0, [{"x": 2}])
    with first.path.open("a") as file:
        file.write('{"cell": 2, "repl')  # cut off
    again = Finished(tmp_path, part, "quick")
    assert again.rows == {(0, 0): [{"x": 0.1}], (1, 0): [{"x": 2}]}
    again.add(0, 1, [{"x": 3}])
    assert [row["x"] for row in Finished(tmp_path, part, "quick").in_order()] == [0.1, 3, 2]
    with pytest.raises(OtherRunError, match=r"copies.jsonl was made by .*quick.* --out"):
        Finished(tmp_path, part, "full")


def test_false_positives_are_counted_by_hand():
    class Result:
        values = np.array([3.0, 0.0, -2.0, 9.0])
        standard_error = np.array([1.0, 0.0, 1.0, 1.0])

        def p_values(self):
            return np.array([0.001, 1.0, 0.9, 0.0001])

    row = judging.counted(Result(), np.array([True, True, True, False]))
    assert (row["n_null"], row["false"], row["false_bh"]) == (3, 1, 1)
    assert (row["n_other"], row["true"], row["true_bh"]) == (1, 1, 1)
    assert (row["sum_z"], row["n_used"]) == (1.0, 2)
    rows = [{"false": 1, "n_null": 4}, {"false": 0, "n_null": 4}]
    assert share(rows, "false", "n_null") == "0.125 (0.088)"  # sqrt(.5^2 + .5^2) / 8
    assert short_share(rows, "false", "n_null") == "0.125"
    assert any_share(rows, "false") == "0.50"


@pytest.mark.parametrize("name", ["normal", "t2", "lognormal"])
def test_targets_of_nulls(name):
    y = nulls.target_of(name, 100_000, np.random.default_rng(0))
    law = {"normal": scipy.stats.norm, "t2": scipy.stats.t(2), "lognormal": scipy.stats.lognorm(1)}
    quantiles = [0.1, 0.5, 0.9]
    assert np.abs(np.quantile(y, quantiles) - law[name].ppf(quantiles)).max() < 0.06


def test_gates_fail_where_they_should():
    covered = {"n_draws": 100, "setting": SETTINGS[0].name}
    rows = [
        {**covered, "n_rows": 200, "n_covered": 10},
        {**covered, "n_rows": 1000, "n_covered": 98},
        {**covered, "n_rows": 1000, "n_covered": 91},
        {**covered, "n_rows": 1000, "n_covered": 95, "setting": SETTINGS[-1].name},
    ]
    counts = dict.fromkeys(COUNTED, 1)
    tests = [{"setting": SETTINGS[0].name, "method": "tree_inner", **counts}] * 2
    found = {gate.kind: gate for gate in gates.gates({"coverage": rows, "tests": tests})}
    assert {kind: gate.holds for kind, gate in found.items()} == {
        "mean coverage, 1000 rows": True,
        "worst feature, 1000 rows": False,
        "pooled FDR of tree_inner": False,
    }
    assert_close(found["worst feature, 1000 rows"].margin, -0.01, 1)
    assert_close(found["pooled FDR of tree_inner"].margin, -0.4, 1)


def test_gates_of_nulls_by_hand():
    cell = {"X": "normal", "y": "t2", "lambda": 1, "depth": 4, "n_null": 10}
    rows = [
        {**cell, "method": "tree_inner", "false": 1},
        {**cell, "method": "tree_inner", "false": 0},
        {**cell, "method": "partial_inner", "false": 1},
        {**cell, "method": "partial_inner", "false": 0, "depth": 8},
        {**cell, "method": "permutation", "false": 9},
    ]
    found = {
        (gate.kind.split()[3].rstrip(","), gate.case[-1]): gate
        for gate in gates.gates_of_nulls(rows)
    }
    assert {key: (gate.value, gate.holds) for key, gate in found.items()} == {
        ("tree_inner", "4"): (0.05, True),
        ("partial_inner", "4"): (0.1, False),
        ("partial_inner", "8"): (0.0, True),
    }


@pytest.fixture(scope="module")
def published():
    return STUDY.read()


def test_the_page_says_what_the_files_say(published):
    page = STUDY.page.read_text()
    assert STUDY.page_with(published, page) == page


def test_the_published_run_is_as_large_as_promised(published):
    gated = {setting.name for setting in SETTINGS if setting.is_gated}
    assert len(gated) >= 6
    for row in published["coverage"]:
        assert row["n_draws"] >= {200: 1, 1000: 1500, 5000: 300}[row["n_rows"]]
    assert {row["setting"] for row in published["coverage"]} >= gated
    for name in gated:
        data_sets = {row["data_set"] for row in published["tests"] if row["setting"] == name}
        assert len(data_sets) >= 80


def test_what_is_written_is_read_again(tmp_path, monkeypatch):
    tables = {
        "coverage": [{"setting": "a, b", "n_rows": 200, "kurtosis": 0.1 + 0.2}],
        "tests": [{"setting": "c", "location_noise": -1e-300, "n_noise": 45}],
    }
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results")
    STUDY.write(tables)
    assert STUDY.read() == tables
    written = (tmp_path / "results" / "inference_tests.csv").read_text()
    assert written.startswith("# python -m benchmarks.papers.inference --write; seed")
