"""Rows of training are told by the leaves that they fill, and no other rows are taken for them."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multinomial
from sklearn import ensemble as forests

import gbt
from attributions import SeenRowsWarning, held_out_gain, permutation, tree_inner
from gbt.formats import as_ensemble
from gbt.model.known_by_leaves import (
    LeafCells,
    amount_at_root,
    are_training_rows,
    may_be_training_rows,
)
from gbt.parallel.chunks import Chunk
from tests.asserts import assert_close, assert_same, peer
from tests.greedy import GreedyRegressor
from tests.tree_cases import ensemble_of, stump_on

N = 200
QUIET = {"verbose": 0, "allow_writing_files": False}
FEW, STUMPS = {"n_estimators": 10, "max_depth": 3}, {"n_estimators": 16, "max_depth": 1}


def of_scikit_learn(name, **asked):
    return lambda kind: getattr(forests, f"{name}{kind}")(**asked)


LIBRARIES = {
    "xgboost": lambda kind: getattr(peer("xgboost"), f"XGB{kind}")(**FEW),
    "xgboost, stumps": lambda kind: getattr(peer("xgboost"), f"XGB{kind}")(**STUMPS),
    "lightgbm": lambda kind: getattr(peer("lightgbm"), f"LGBM{kind}")(verbose=-1, **FEW),
    "catboost": lambda kind: getattr(peer("catboost"), f"CatBoost{kind}")(**QUIET, **FEW),
    "histograms": of_scikit_learn("HistGradientBoosting", max_iter=10),
    "gradient boosting": of_scikit_learn("GradientBoosting", n_estimators=10),
    "extra trees": of_scikit_learn("ExtraTrees", n_estimators=10),
    "ours": lambda kind: getattr(gbt, f"GBT{kind}")(**FEW),
}
TASKS = ("numbers", "two classes", "three classes")


def table(task, seed=0, n=2 * N):
    """Return rows and targets, of classes as many in either half."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    signal = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n)
    if task == "numbers":
        return X, signal
    n_classes = 2 if task == "two classes" else 3
    half = np.argsort(np.argsort(signal.reshape(2, -1), axis=1), axis=1)
    return X, (half * n_classes // (n // 2)).ravel()


def fitted(library, task, X, y, **more):
    model = LIBRARIES[library]("Regressor" if task == "numbers" else "Classifier")
    return model.fit(X, y, **more)


def is_told(model, X, y, measure=tree_inner, **more):
    """Say whether a measure warns; what is warned of are all rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        measure(model, X, y, **more)
    seen = [w for w in caught if issubclass(w.category, SeenRowsWarning)]
    if seen:
        assert str(seen[0].message).startswith(f"{len(X)} of the {len(X)} rows")
    return bool(seen)


def told_by_leaves(model, X, y):
    """Ask the decision itself, of models that remember their rows, too."""
    ensemble = replace(as_ensemble(model), seen_rows=None)
    rows = Chunk(np.asarray(ensemble.as_input(X)), np.asarray(y, dtype=float))
    if not may_be_training_rows(ensemble, amount_at_root(ensemble, rows.y, None)):
        return False
    return are_training_rows(ensemble, lambda part_of, merge: part_of(rows))


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_of_training_and_as_many_others(library, task):
    X, y = table(task)
    model = fitted(library, task, X[:N], y[:N])
    if library == "ours":
        assert [told_by_leaves(model, X[h], y[h]) for h in (slice(N), slice(N, None))] == [1, 0]
        return
    order = np.random.default_rng(1).permutation(N)
    if "values" in as_ensemble(model).statistics:  # else the rows would have to make these
        assert is_told(model, X[order], y[order])
        assert not is_told(model, X[N:], y[N:])
    assert is_told(model, X[order], y[order], permutation, n_repeats=1)
    assert not is_told(model, X[N:], y[N:], permutation, n_repeats=1)


def separable():
    """Return rows of two classes that one split tells apart; either half has as many of each."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], N // 2 * 2)
    X = rng.normal(size=(len(y), 3))
    X[:, 0] = np.abs(X[:, 0]) * (2 * y - 1)
    return X, y


@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_that_are_told_apart_without_error_are_not_taken_for_seen(library):
    """A stratified split: both halves fill every leaf alike, and importances are the same."""
    X, y = separable()
    model = fitted(library, "two classes", X[:N], y[:N])
    assert not told_by_leaves(model, X[N:], y[N:])
    if library == "xgboost":
        inner = [tree_inner(model, X[half], y[half]).values for half in (slice(N), slice(N, None))]
        assert_close(inner[0], inner[1], np.abs(inner[0]), k=64)
        assert not told_by_leaves(model, X[:N], y[:N])  # nor can these be


def test_models_from_files(tmp_path):
    X, y = table("numbers")
    GreedyRegressor(**FEW).fit(X[:N], y[:N]).save(tmp_path / "model.json")
    model = gbt.load(tmp_path / "model.json")
    assert is_told(model, X[:N], y[:N])
    assert not is_told(model, X[N:], y[N:])


def test_what_cannot_be_told():
    """Parts of the rows, more than these, and models of which no tree has seen all of them."""
    X, y = table("numbers")
    model = fitted("xgboost", "numbers", X[:N], y[:N])
    assert not is_told(model, X[1:N], y[1:N])
    assert not is_told(model, X[: N + 1], y[: N + 1])
    sampled = peer("xgboost").XGBRegressor(subsample=0.7, **FEW).fit(X[:N], y[:N])
    assert not is_told(sampled, X[:N], y[:N])


@pytest.mark.slow
@pytest.mark.parametrize("in_chunks", [False, True])
@pytest.mark.parametrize("measure", [tree_inner, held_out_gain])
def test_weights(measure, in_chunks):
    """XGBoost keeps hessians, which are weighted; LightGBM counts rows, which weights leave."""
    X, y = table("numbers")
    weight = 1.0 + np.arange(N) % 3
    halves = [[X[:N], y[:N], weight], [X[N:], y[N:], weight]]
    if in_chunks:
        array = peer("dask.array")
        halves = [[array.from_array(part, chunks=70) for part in half] for half in halves]
    (X_seen, y_seen, weight_seen), (X_new, y_new, weight_new) = halves

    model = fitted("xgboost", "numbers", X[:N], y[:N], sample_weight=weight)
    assert is_told(model, X_seen, y_seen, measure, sample_weight=weight_seen)
    assert not is_told(model, X_seen, y_seen, measure)
    assert not is_told(model, X_new, y_new, measure, sample_weight=weight_new)
    counting = fitted("lightgbm", "numbers", X[:N], y[:N], sample_weight=weight)
    assert is_told(counting, X_seen, y_seen, measure)
    assert is_told(counting, X_seen, y_seen, measure, sample_weight=weight_seen)


# ------------------------------------------------------------------------------- the decision


def test_a_stump_by_hand():
    """Six rows, of which four go left: of tables like these 16 * 15 / 9^3 = .33 do so, too."""
    X, y = np.array([[0.0], [0], [0], [0], [1], [1]]), np.arange(6) - 2.5
    stump = GreedyRegressor(n_estimators=1, max_depth=1, reg_lambda=0).fit(X, y).ensemble_
    assert_same(stump.n_samples, [6, 4, 2])
    cells = LeafCells.of(stump, Chunk(X, y))
    assert_same(cells.key, [[0, 1], [0, 2]])
    assert_same(cells.n_rows, [4, 2])
    assert cells.fill(stump)
    assert not LeafCells.of(stump, Chunk(X[[0, 0, 0, 5, 5, 5]], y)).fill(stump)
    assert multinomial.pmf([4, 2], 6, [2 / 3, 1 / 3]) == pytest.approx(16 * 15 / 3**6)
    assert cells.would_be_filled_by_others(stump)  # by a third of them
    assert cells.fill(stump, True)
    assert_close(cells.gradient, [[4], [-4]], cells.magnitude)  # minus the sums of y
    assert not cells.would_be_filled_by_others(stump, gradients=True)  # whose targets add up alike
    assert told_by_leaves(stump, X, y)
    assert not told_by_leaves(stump, X, y[::-1])
    doubtful = replace(stump, about_gradients="they may be another loss's")
    assert not told_by_leaves(doubtful, X, y)


def test_models_that_know_neither_rows_nor_hessians_are_not_asked():
    known = {"statistics": frozenset({"values"}), "seen_rows": None}
    ensemble = replace(ensemble_of([stump_on(0, 0.0)], 1), **known)
    assert not may_be_training_rows(ensemble, 0.0)
    assert not may_be_training_rows(ensemble.truncate(0), 5.0)
