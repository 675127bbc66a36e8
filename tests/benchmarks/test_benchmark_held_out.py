"""The study of held-out gain: its designs, its counts by hand, its files and a small run."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.papers.held_out import dependence, noise, nulls, planted, power
from benchmarks.papers.held_out.__main__ import STUDY, main
from benchmarks.papers.held_out.noise import KINDS
from benchmarks.papers.held_out.parts import PARTS
from benchmarks.papers.held_out.targets import RARE, TARGETS


@pytest.fixture(scope="module")
def published():
    return STUDY.read()


def test_the_page_says_what_the_files_say(published):
    page = STUDY.page.read_text()
    assert STUDY.page_with(published, page) == page


def test_all_parts_are_published(published):
    assert set(published) == set(PARTS)


@pytest.mark.slow
def test_a_quick_run(capsys):
    assert main(["--quick", "power", "--jobs", "1", "--replications", "1"]) == 0
    printed = capsys.readouterr().out
    for name in TARGETS:
        assert f"| {name} | " in printed


CELLS = {
    "nulls": {"target": "four classes", "signal": "beside a signal", "rows": 100},
    "coverage": {"target": "Poisson"},
    "seconds": {"target": "squared error"},
    "dependence": {"design": "clusters of 10 rows, groups="},
    "ranking": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CELLS)
def test_a_replication_has_a_stream_of_its_own(name):
    part = PARTS[name]
    cell = next(i for i, c in enumerate(part.cells) if CELLS[name].items() <= c.items())
    one, again, other = (part.run(cell, r, "quick") for r in (1, 1, 0))
    if name != "seconds":
        assert one == again
        assert one != other
    assert part.table(part.summary(one + other)).count("\n") >= 2


def test_real_tables_are_planted(monkeypatch):
    """Beside the columns of the table stand two of each kind; a copy has the values of one."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=50), "b": pd.Categorical(["x", "y"] * 25)})
    X_planted = planted.with_noise(X, rng)
    for kind in planted.PLANTED:
        assert X_planted.columns.str.startswith(kind).sum() == 2
    pd.testing.assert_series_equal(X_planted["its own a"], X["a"], check_names=False)
    copies = X_planted.filter(like="planted copy")
    of_numbers = copies.select_dtypes("number").iloc[:, 0]
    assert sorted(of_numbers) == sorted(X["a"])
    assert not of_numbers.equals(X["a"])


def test_noise_has_the_levels_that_it_is_called_by():
    X, signal = nulls.table_of_noise(3000, True, np.random.default_rng(0))
    for kind, n_levels in zip(KINDS, (3000, 2, 5, 100), strict=True):
        of_kind = X.loc[:, X.columns.str.startswith(kind)]
        assert of_kind.shape[1] == nulls.OF_A_KIND
        assert set(of_kind.nunique()) == {n_levels}
    correlation = [abs(np.corrcoef(X[name], signal)[0, 1]) for name in X.filter(like="continuous")]
    assert max(correlation) < 5 / np.sqrt(3000)
    assert np.corrcoef(X["useful 0"], signal)[0, 1] == pytest.approx(0.8 / np.sqrt(0.8), abs=0.03)


@pytest.mark.parametrize("name", [*TARGETS, *RARE])
def test_targets_are_what_their_losses_need(name):
    """The signal moves the target up (of four classes, towards the first)."""
    target = {**TARGETS, **RARE}[name]
    low, high = (target.draw(np.full(20_000, s), np.random.default_rng(0)) for s in (-1.0, 1.0))
    if name == "four classes":
        assert (high == 0).mean() > 2 * (low == 0).mean()
        assert set(high) == {0, 1, 2, 3}
    elif target.is_class:
        assert set(high) == {0, 1}
        assert high.mean() > 2 * low.mean()
    else:
        assert np.quantile(high, 0.9) > np.quantile(low, 0.9)


def test_rare_classes_are_as_rare_as_their_names_say():
    for name, target in RARE.items():
        share = float(name.split()[-2]) / 100
        y = target.draw(np.zeros(200_000), np.random.default_rng(0))
        assert y.mean() == pytest.approx(share, rel=0.1)


class Result:
    """Four features: found and reliable, found and not reliable, neither, reliable alone."""

    is_reliable = np.array([True, False, False, True])

    def p_values(self):
        return np.array([0.01, 0.04, 0.5, 0.06])


def test_counts_by_hand():
    every = np.ones(4, dtype=bool)
    expected = {"n": 4, "found": 2, "n_reliable": 2, "found_reliable": 1}
    assert noise.counted(Result(), every) == expected
    last = np.array([False, False, True, True])
    expected = {"n": 2, "found": 0, "n_reliable": 1, "found_reliable": 0}
    assert noise.counted(Result(), last) == expected


def test_rates_by_hand():
    """Two data sets of two reliable columns, 2 and 0 found: rate .5, error sqrt(1 + 1) / 4."""
    row = {"kind": "k", "n": 4, "found": 3, "n_reliable": 2}
    rows = [{**row, "replication": i, "found_reliable": f} for i, f in enumerate((2, 0))]
    (cell,) = noise.added_up(rows, ("kind",))
    assert cell["data_sets"] == 2
    assert noise.rate_and_error([cell]) == (0.5, np.sqrt(2) / 4)
    assert noise.rate_and_error([cell, cell]) == (0.5, np.sqrt(4) / 8)
    assert noise.rate_text([cell]) == "0.500 (0.354); 0.50"


@pytest.mark.parametrize(("found", "too_high"), [(6, False), (20, True)])
def test_a_cell_misses_beyond_two_errors(found, too_high):
    cell = {"n": 100, "n_reliable": 100, "found_reliable": found, "squared_error": 4.0}
    assert noise.is_too_high([cell]) == too_high  # .065 + 2 * .02 are allowed


def test_power_is_asked_at_the_level_that_a_test_has():
    """Noise at 0 to 3.9: 95 % lie below 3.705, so a weak column at 3.8 is found and 3.6 is not."""
    z = np.arange(40).reshape(10, 4) / 10
    rows = [
        {"z0": 9.0, "z1": weak, **{f"z{2 + k}": of_row[k] for k in range(4)}}
        for of_row, weak in zip(z, [3.8] * 4 + [3.6] * 6, strict=True)
    ]
    level, found, error = power.level_and_power(rows)
    assert level == (z > 1.6449).mean()
    assert found == 0.4
    assert error == pytest.approx(np.sqrt(0.4 * 0.6 / 10))


def test_copies_have_their_correlation(monkeypatch):
    seen = []

    def keep(result, is_kind):
        return {"n": int(is_kind.sum())}

    def gain(model, X, y, **options):
        seen.append(X)

    monkeypatch.setattr(dependence, "counted", keep)
    monkeypatch.setattr(dependence, "held_out_gain", gain)
    rows = list(
        dependence.experiment({"design": dependence.COPIES[1]}, np.random.default_rng(0), "full")
    )
    assert {row["kind"]: row["n"] for row in rows} == dict.fromkeys((*KINDS, "useful", "copy"), 2)
    for i in range(2):
        correlation = np.corrcoef(seen[0][f"useful {i}"], seen[0][f"copy {i}"])[0, 1]
        assert correlation == pytest.approx(0.8, abs=0.07)
