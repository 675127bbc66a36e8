"""The machinery of the simulations at tiny size, and the page against the numbers beside it."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.papers import propositions
from benchmarks.papers.propositions import ALL_SCORES, DESIGNS, POPULATION, Design, Size
from tests.asserts import assert_close

TINY = Size(n_rows=(60, 120), n_replications=2, n_standard=60, n_standard_replications=2)
SEED = 5


@contextmanager
def few_trees():
    """Make every fit a matter of milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(propositions, "DESIGNS", [replace(d, n_estimators=5) for d in DESIGNS])
        patch.setattr(propositions, "N_ORACLE", 500)
        patch.setattr(propositions, "STANDARD", {"n_estimators": 10, "learning_rate": 0.01})
        yield


@pytest.fixture(scope="module")
def records():
    with few_trees():
        return propositions.simulate(TINY, SEED, jobs=1)


def test_components_are_centred_and_of_known_size():
    continuous = next(design for design in DESIGNS if design.continuous)
    cells, probability = propositions.all_cells(DESIGNS[0])
    middle = (np.arange(1000) + 0.5) / 1000
    for parts, weight in (
        (propositions.components(DESIGNS[0], cells), probability),
        (propositions.components(continuous, np.repeat(middle[:, None], 4, axis=1)), None),
    ):
        mean = np.average(parts, axis=0, weights=weight)
        square = np.average(parts**2, axis=0, weights=weight)
        assert (np.abs(mean) < 1e-5).all()  # the midpoint rule is good to 1e-6
        assert (np.abs(square - [1, 1 / 2, 1 / 4, 0]) < 1e-5).all()


@pytest.mark.parametrize("design", [d for d in DESIGNS if not d.continuous], ids=lambda d: d.name)
def test_cells_have_the_probability_with_which_they_are_drawn(design):
    cells, probability = propositions.all_cells(design)
    assert_close(probability.sum(), 1.0, 1.0)
    X = propositions.draw_features(design, 50_000, np.random.default_rng(0))
    place = 3 ** np.arange(3, -1, -1)
    share = np.bincount((X @ place).astype(int), minlength=81)[(cells @ place).astype(int)] / 50_000
    error = np.sqrt(probability * (1 - probability) / 50_000)
    assert (np.abs(share - probability) < 5 * error).all()


def test_distance_of_one_stump_by_hand(monkeypatch):
    """The first component is (a, 0, -a) with a^2 = 3/2; its cuts tie, the higher one is taken.

    The stump gives a/2, a/2, -a: a mean square distance of a^2/6 = 1/4. What is left of the other
    components is all of them, 1/2, 1/4 and 0; so the mean over the four features is 1/4.
    """
    design = Design("one stump", "", max_depth=1, n_estimators=1, learning_rate=1.0)
    monkeypatch.setattr(propositions, "DESIGNS", [design])
    found = {
        quantity: value
        for *_, quantity, value in propositions.recovery(design, POPULATION, 0, SEED)
    }
    assert_close(found["distance"], 0.5, 1e8)  # lambda = 1 beside a weight of 1e8
    assert_close(found["prediction"], 1.0, 1e8)  # independent: 1/4 + 1/2 + 1/4


def test_floor_of_copied_features_by_hand(monkeypatch):
    """With x2 = x1 the stump sees (a + 1/2, -1, 1/2 - a) on x1 and cuts off the first value.

    Of the prediction it leaves 0 and, on either side of their mean, half of 3/2 - a; and all of the
    third component. Rows with x2 other than x1 have no probability and must not count.
    """
    design = Design("copies", "", max_depth=1, n_estimators=1, learning_rate=1.0, copied=1.0)
    monkeypatch.setattr(propositions, "DESIGNS", [design])
    found = {what: value for *_, what, value in propositions.recovery(design, POPULATION, 0, SEED)}
    left = (1.5 - np.sqrt(1.5)) ** 2 / 6 + 1 / 4
    assert_close(found["prediction"], np.sqrt(left), 1e8)


def test_noise_is_that_of_the_scores_on_rows_not_seen():
    """A model of one leaf moves no feature; with splits, the features without effect are 45."""
    found = propositions.noise("standard", "regression", 80, 0, SEED)
    values = {(series, quantity): value for _, series, _, _, quantity, value in found}
    assert len(values) == 4 * len(ALL_SCORES)
    for score in ALL_SCORES:
        mean, rms, share = (
            values[f"regression, {score}", q] for q in ("mean", "rms", "share below 0")
        )
        assert 0 < abs(mean) < rms
        assert_close(share * 45, np.round(share * 45), 45.0)


def test_results_do_not_depend_on_the_order_of_work(records):
    with few_trees():
        some = propositions.calls_for(TINY, SEED)[::-7]
        again = [record for call in some for record in call[0](*call[1:])]
    assert set(again) <= set(records)
    assert len(records) > len(again) > 0


def test_replications_and_seeds_differ(records):
    keys = [record[:-1] for record in records]
    assert len(set(keys)) == len(keys)
    assert keys == sorted(keys)
    distances = [r[-1] for r in records if r[4] == "distance"]
    assert len(set(distances)) == len(distances)
    with few_trees():
        other_seed = propositions.recovery(propositions.DESIGNS[0], 60, 0, SEED + 1)
    assert other_seed[0][-1] not in distances


def test_slope_of_a_power_law():
    n_rows = np.array([10, 100, 1000])
    constant = np.array([[1.0], [2.0], [5.0]])
    rate, error = propositions.slope(n_rows, constant * n_rows**-0.5)
    assert_close(rate, -0.5, 10.0)
    assert_close(error, 0.0, 10.0)


def test_jackknife_by_hand():
    """Replications of slopes -1, -1 and -2 over one decade.

    Left out are a first, a first and the second: slopes s, s and -1, with s that of a first and the
    second. Their squares about the mean are 2/3 (s + 1)^2, times 2/3 under the root.
    """
    n_rows = np.array([1.0, 10.0])
    values = np.array([[1, 0.1], [1, 0.1], [1, 0.01]])
    s = np.log10(np.sqrt((0.1**2 + 0.01**2) / 2))
    rate, error = propositions.slope(n_rows, values)
    assert_close(rate, np.log10(np.sqrt((2 * 0.1**2 + 0.01**2) / 3)), 10.0)
    assert_close(error, -2 / 3 * (s + 1), 10.0)


def test_labels_are_moved_apart():
    moved = propositions.move_apart([0.0, 0.1, 5.0, 5.5, 9.0], gap=1.0)
    assert_close(moved, [-0.45, 0.55, 4.75, 5.75, 9.0], np.full(5, 10.0))
    three = propositions.move_apart([0.0, 0.9, 1.0], gap=1.0)
    assert_close(three, np.mean([0.0, 0.9, 1.0]) + np.array([-1, 0, 1]), np.full(3, 10.0))


def test_numbers_in_tables():
    shown = [propositions.number(v) for v in (1234.5, 12.34, 0.5, 0.01234, 0.000_012_34, 0.0)]
    assert shown == ["1.23e+03", "12.3", "0.500", "0.0123", "1.2e-05", "0.00"]
    assert propositions.with_error(-1.2346, 0.0567) == "-1.235 (0.057)"
    assert propositions.with_error(-123.45, 12.3) == "-123 (12)"


def test_everything_is_written(records, tmp_path, monkeypatch, capsys):
    page = "".join(
        f"a\n<!-- {t}: begin -->\nold\n<!-- {t}: end -->\nb\n" for t in propositions.TABLES
    )
    for name, file in (("PAGE", "page.md"), ("RESULTS", "r.csv"), ("PICTURE", "picture.svg")):
        monkeypatch.setattr(propositions, name, tmp_path / file)
    propositions.PAGE.write_text(page)
    monkeypatch.setattr(propositions, "simulate", lambda size, seed, jobs: records)

    propositions.main(["--write"])
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    propositions.main(["--write", "--from-results"])

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == written
    text = propositions.PAGE.read_text()
    assert "old" not in text
    assert text.count("a\n<!--") == text.count("-->\nb\n") == 3
    assert all(design.name in text for design in DESIGNS)
    assert propositions.RESULTS.read_text().startswith(f"# {propositions.COMMAND}; seed")
    again = propositions.read_csv(propositions.RESULTS)
    assert [r[:-1] for r in again] == [r[:-1] for r in records]
    assert [r[-1] for r in again] == [float(f"{r[-1]:.6g}") for r in records]
    assert "stumps" in capsys.readouterr().out


def test_the_page_shows_the_numbers_of_the_file():
    page = propositions.PAGE.read_text()
    assert propositions.insert_tables(page, propositions.read_csv(propositions.RESULTS)) == page
