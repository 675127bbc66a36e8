"""The simulation of standard errors and tests: its parts on known answers, and its files."""

import numpy as np
import pytest
import scipy.stats

from attributions.row_sums import RowSums
from attributions.simulated import simulated
from benchmarks import inference
from benchmarks.inference import QUICK, SETTINGS, Source, count_covered, count_rejections
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
        zeros = dict.fromkeys(inference.COUNTED, 0.0)
        found = {"discovered_noise": noise, "discovered_relevant": relevant}
        return {"setting": "s", "method": "m", **zeros, "n_noise": 4, "n_relevant": 2, **found}

    rows = [data_set(1, 1), data_set(0, 0), data_set(2, 0), data_set(0, 2)]
    other = {**data_set(4, 2), "method": "another"}
    found = inference.rates([*rows, other], "m", ["s"])
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


def test_quick_results_do_not_depend_on_jobs():
    one, two = (inference.simulate(QUICK, n_jobs) for n_jobs in (1, 2))
    assert one == two
    assert len(one["coverage"]) > 2 * len(SETTINGS)
    gated = [setting for setting in SETTINGS if setting.is_gated]
    assert len(one["tests"]) == 2 * len(gated) * QUICK.n_data_sets


def test_gates_fail_where_they_should():
    covered = {"n_draws": 100, "setting": SETTINGS[0].name}
    rows = [
        {**covered, "n_rows": 200, "n_covered": 10},
        {**covered, "n_rows": 1000, "n_covered": 98},
        {**covered, "n_rows": 1000, "n_covered": 91},
        {**covered, "n_rows": 1000, "n_covered": 95, "setting": SETTINGS[-1].name},
    ]
    counts = dict.fromkeys(inference.COUNTED, 1)
    tests = [{"setting": SETTINGS[0].name, "method": "tree_inner", **counts}] * 2
    found = {gate.kind: gate for gate in inference.gates({"coverage": rows, "tests": tests})}
    assert {kind: gate.holds for kind, gate in found.items()} == {
        "mean coverage, 1000 rows": True,
        "worst feature, 1000 rows": False,
        "pooled FDR of tree_inner": False,
    }
    assert_close(found["worst feature, 1000 rows"].margin, -0.01, 1)
    assert_close(found["pooled FDR of tree_inner"].margin, -0.4, 1)


@pytest.fixture(scope="module")
def published():
    return inference.read_tables()


def test_the_page_says_what_the_files_say(published):
    page = inference.PAGE.read_text()
    assert inference.page_with(published, page) == page


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
    paths = {part: tmp_path / "results" / f"{part}.csv" for part in tables}
    monkeypatch.setattr(inference, "RESULTS", paths)
    inference.write_tables(tables)
    assert inference.read_tables() == tables
    assert paths["tests"].read_text().startswith("# python -m benchmarks.inference --write; seed")
