"""Models know the rows that they have seen, and what judges held-out rows says so."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attributions
import gbt
from attributions import SeenRowsWarning, tree_inner
from attributions.testing import problems
from gbt.model.seen_rows import NUMBERS_AT_ONCE, SeenRows, hash_rows
from tests.attributions.measures import JUDGING
from tests.greedy import GreedyClassifier, GreedyRegressor


def table(n=200, seed=0, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[rng.random((n, p)) < 0.1] = np.nan
    return X, np.nan_to_num(X[:, 0]) + rng.normal(size=n)


def seen(X, y, tuned=None):
    return SeenRows.of((np.asarray(X, float), np.asarray(y, float)), tuned, n_jobs=1)


# Hashes ---------------------------------------------------------------------------------------


def plain_hash(numbers):
    """Return the hash of a row by the definition, in Python's own whole numbers."""
    total = 0
    for k, number in enumerate(numbers):
        value = np.float64("nan") if np.isnan(number) else np.float64(number + 0.0)
        bits = int(value.view(np.uint64))
        folded = (bits ^ (bits >> 32)) * pow(0x9E3779B97F4A7C15, k + 1, 2**64) % 2**64
        total = (total + (folded ^ (folded >> 32))) % 2**64
    return total


@given(problem=problems(), order=st.sampled_from("CF"), n_jobs=st.sampled_from([1, 2]))
def test_hashes_are_those_of_the_definition(problem, order, n_jobs):
    """Pickles hold them; all nan are one number, and so are both zeros."""
    X, y = problem.X.copy(order=order), problem.y
    X[np.isnan(X) & (np.arange(len(X)) % 2 == 0)[:, np.newaxis]] = np.copysign(np.nan, -1)
    X[(X == 0) & (np.arange(len(X)) % 3 == 0)[:, np.newaxis]] = -0.0
    found = hash_rows(X, y, n_jobs)
    assert found.tolist() == [plain_hash(row) for row in np.c_[X, y]]


@pytest.mark.parametrize("p", [50, 2 * NUMBERS_AT_ONCE])
def test_hashes_of_many_columns_and_of_several_targets(p):
    X, _ = table(n=3, p=p + 2)
    found = hash_rows(X[:, :p], X[:, p:], n_jobs=2)
    assert found.tolist() == [plain_hash(row) for row in X]


def test_small_numbers_do_not_collide():
    """Doubles of small whole numbers differ in few bits only, which sums could lose."""
    for values in (np.arange(8.0), 2.0 ** np.arange(-4, 4), np.arange(8) * 1e300):
        X = np.stack(np.meshgrid(*[values] * 6), axis=-1).reshape(-1, 6)
        assert len(np.unique(hash_rows(X, np.zeros(len(X))))) == 8**6


def test_several_targets_are_known():
    X, _ = table(n=50, p=5)
    assert SeenRows.of((X[:, :3], X[:, 3:]), None, 1).count(X[10:, :3], X[10:, 3:]) == 40
    assert SeenRows.of((X[:, :3], X[:, 3:]), None, 1).count(X[10:, :3], X[:40, 3:]) == 0


# How many -------------------------------------------------------------------------------------


def test_rows_are_counted_in_any_order_beside_others():
    X, y = table()
    X_new, y_new = table(seed=1)
    mixed = np.random.default_rng(0).permutation(100)
    X_mixed, y_mixed = np.r_[X[:30], X_new[:70]][mixed], np.r_[y[:30], y_new[:70]][mixed]
    assert seen(X, y).count(X_mixed, y_mixed) == 30
    assert seen(X, y).count(X_new, y_new) == 0
    assert seen(X, y).count(X, y + 1) == 0
    assert seen(X, y).count(X[:1], y[:1]) == 1


def test_a_few_of_many_rows_are_found():
    """Every second row, or one in fifty: those that are asked first are drawn at random."""
    X, y = table(n=4000)
    X_new, y_new = table(n=20_000, seed=1)
    assert seen(X, y).count(X_new, y_new) == 0
    X_new[::50], y_new[::50] = X[:400], y[:400]
    assert seen(X, y).count(X_new, y_new) == 400
    X, y = X_new[::2].copy(), y_new[::2].copy()
    assert seen(X, y).count(X_new, y_new) == 10_000
    assert seen(X, y).count(X_new[1:], y_new[1:]) == 9_999


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.integers(0, 3000, n),
        lambda rng, n: rng.integers(0, 30, n),
        lambda rng, n: rng.zipf(1.3, n),
        lambda rng, n: rng.geometric(0.3, n) * 1000 + rng.geometric(0.1, n),
        lambda rng, n: np.where(rng.random(n) < 0.01, 7, rng.integers(0, 2**40, n)),
        lambda rng, n: np.exp(rng.normal(0, 3, n)).astype(int),
    ],
    ids=["even", "few", "zipf", "geometric", "one repeated", "lognormal"],
)
def test_equal_rows_of_discrete_tables_are_chance(draw):
    """New draws from the table's own distribution, many of which equal a row of training."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for n, n_new in ((100, 100), (1000, 300), (1000, 5000)):
            y, y_new = np.zeros(n), np.zeros(n_new)
            trained, new = draw(rng, n)[:, None], draw(rng, n_new)[:, None]
            assert seen(trained, y).count(new.astype(float), y_new) == 0


def test_of_a_discrete_table_half_of_the_training_rows_are_more_than_chance():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 60, size=(2000, 2)).astype(float), rng.integers(0, 2, 2000)
    share = seen(X, y).share_of_twins
    assert 0.2 < share < 0.3  # 1 - exp(-2000 / 7200) = .24
    assert seen(X, y).count(X[:500], y[:500]) == 500


def test_the_very_table_is_known_where_every_row_has_twins():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(500, 2)).astype(float), rng.integers(0, 2, 500).astype(float)
    assert seen(X, y).count(X[::-1], y[::-1]) == 500
    assert seen(X, y).count(X[:400], y[:400]) == 0  # nobody can tell


# Which rows -----------------------------------------------------------------------------------


def count(model, X, y):
    return model.ensemble_.seen_rows.count(np.asarray(X, float), np.asarray(y, float))


def test_rows_that_decide_early_stopping_are_seen():
    X, y = table()
    held_out = GreedyRegressor(n_estimators=2, early_stopping_rounds=1).fit(X, y)
    assert len(held_out.sampled_rows(0)) == 180
    assert count(held_out, X, y) == 200
    first, last = table(seed=1), table(seed=2)
    model = GreedyRegressor(n_estimators=2).fit(X, y, eval_set=[first, last])
    assert [count(model, *rows) for rows in (first, last)] == [0, 0]  # they decide nothing
    model.set_params(early_stopping_rounds=1).fit(X, y, eval_set=[first, last])
    assert [count(model, *rows) for rows in (first, last)] == [0, 200]


def test_what_remembers_and_what_forgets(tmp_path):
    X, y = table()
    model = GreedyRegressor(n_estimators=2).fit(X, y)
    assert count(pickle.loads(pickle.dumps(model)), X, y) == 200
    assert model.ensemble_.truncate(1).seen_rows is model.ensemble_.seen_rows
    assert model.ensemble_.refit_statistics(X, y).seen_rows is model.ensemble_.seen_rows
    model.save(tmp_path / "model.json")
    assert gbt.load(tmp_path / "model.json").ensemble_.seen_rows is None
    n_bytes = model.ensemble_.seen_rows.trained.nbytes + model.ensemble_.seen_rows.tuned.nbytes
    assert n_bytes == 8 * 200


# Warnings -------------------------------------------------------------------------------------

ASKED = [
    *[(name, {}) for name in (*JUDGING, "permutation")],
    ("tree_inner", {"standard_error": False}),
    ("tree_inner", {"training": table(200)}),
    ("permutation", {"metric": "r2"}),
    ("given_others", {"training": table(), "regressor": GreedyRegressor(n_estimators=2)}),
]


@pytest.mark.parametrize(("name", "asked"), ASKED)
def test_measures_of_held_out_rows_warn_of_seen_ones(name, asked):
    measure = getattr(attributions, name)
    X, y = table()
    X_new, y_new = table(seed=1)
    model = GreedyRegressor(n_estimators=2).fit(X, y)
    measure(model, X_new, y_new, **asked)  # a warning would be an error
    X_new[:40], y_new[:40] = X[:40], y[:40]
    told = "40 of the 200 rows are among those that the model"
    with pytest.warns(SeenRowsWarning, match=told) as caught:
        measure(model, X_new, y_new, **asked)
    assert [warning.filename for warning in caught] == [__file__]


def test_bare_models_and_labels_and_frames_of_other_precision():
    X, y = table()
    labels = np.where(y > 0, "yes", "no")
    frame = pd.DataFrame(X.astype(np.float32), columns=["a", "b", "c"])
    model = GreedyClassifier(n_estimators=2).fit(frame, labels)
    with pytest.warns(SeenRowsWarning, match="200 of the 200"):
        tree_inner(model, frame, labels)
    with pytest.warns(SeenRowsWarning, match="200 of the 200"):
        tree_inner(model.ensemble_, frame.astype(float), labels == "yes")


def test_models_from_files_do_not_know_single_rows(tmp_path):
    """Whether rows are all of the training rows is another matter, see `tests.gbt.model`."""
    X, y = table()
    model = GreedyRegressor(n_estimators=2).fit(X, y)
    model.save(tmp_path / "model.json")
    with warnings.catch_warnings(action="error"):
        tree_inner(gbt.load(tmp_path / "model.json"), X[1:], y[1:])
