"""Arrays and frames of Dask: the answer of one process, computed where the rows are."""

import os
import pickle
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import (
    LocalAttribution,
    SeenRowsWarning,
    absolute,
    forest_inner,
    held_out_gain,
    partial_inner,
    partial_inner_rows,
    permutation,
    predecomp,
    saabas,
    total_gain,
    tree_inner,
    tree_inner_rows,
    tree_shap,
    unbiased_gain,
)
from attributions.classic.permutation import seed_of_chunk
from attributions.classic.shuffled_tables import random_order
from gbt.formats import as_ensemble
from gbt.parallel.chunks import FAN_IN, Chunk, over_chunks
from tests.asserts import assert_close, assert_same, peer
from tests.attributions.held_out.test_inner import fitted_rows
from tests.attributions.unbiased.test_unbiased_gain import judged as judged_at_splits
from tests.attributions.unbiased.test_unbiased_gain import silent
from tests.greedy import GreedyClassifier, GreedyRegressor

dask = da = dd = None  # modules, once a test asks for them: see `in_this_process`

SIZES = (30, 0, 21, 50, 1, 18)  # rows of chunks
N = sum(SIZES)


@pytest.fixture(autouse=True)
def in_this_process():
    """Import Dask, and compute in the calling thread; tests of a cluster have its client."""
    global dask, da, dd
    dask, da, dd = map(peer, ("dask", "dask.array", "dask.dataframe"))
    with dask.config.set(scheduler="synchronous"):
        yield


def table_of(X, sizes=SIZES):
    """Return an array of Dask with chunks of some sizes, which it knows."""
    return da.from_array(X, chunks=(sizes, *X.shape[1:]))


def unknown(array):
    """Return an array of Dask that does not know how many rows its chunks have."""
    return array[da.from_array(np.ones(len(array), dtype=bool), chunks=array.chunks[:1])]


def frame_of(X, **columns):
    """Return a frame of Dask with partitions of ``SIZES``."""
    frame = pd.DataFrame({**{f"x{k}": X[:, k] for k in range(X.shape[1])}, **columns})
    edges = np.cumsum([0, *SIZES])
    parts = [frame.iloc[a:b] for a, b in pairwise(edges)]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=frame.iloc[:0])


def without_target(measure):
    return lambda model, X, y, **options: measure(model, X, **options)


def of_the_same_rows(model, X, y, sample_weight=None, groups=None):
    """Return the unbiased gain by one table that is the training and the validation rows."""
    asked = {"sample_weight_valid": sample_weight, "groups_valid": groups, "per_tree": True}
    return silent(model, X, y, X, y, **asked)


MEASURES = {
    "tree_inner": partial(tree_inner, per_tree=True, per_output=True),
    "by leaf": partial(tree_inner, standard_error=False),
    "tree_shap": partial(tree_inner, ifa="tree_shap"),
    "partial_inner": partial(partial_inner, per_tree=True),
    "forest_inner": forest_inner,
    "held_out_gain": partial(held_out_gain, per_tree=True, per_output=True),
    "held_out_gain, values": partial(held_out_gain, standard_error=False),
    "absolute": without_target(absolute),
    "of forests": without_target(partial(absolute, level="forest", per_output=True)),
    "unbiased_gain": of_the_same_rows,
}
EXPLAIN = {explain.__name__: without_target(explain) for explain in (predecomp, saabas, tree_shap)}
EXPLAIN |= {explain.__name__: explain for explain in (tree_inner_rows, partial_inner_rows)}


def terms_of(model, X, y):
    """Return the sums of what rows add to any of the measures, in absolute values."""
    ensemble = as_ensemble(model)
    steps = 4 * np.abs(ensemble.value).sum() / ensemble.learning_rate
    return len(X) * steps * (1 + np.abs(y).max() + np.abs(ensemble.value).sum())


def assert_same_sums(result, whole, terms):
    assert_close(result.values, whole.values, terms)
    assert (result.standard_error is None) == (whole.standard_error is None)
    if whole.standard_error is not None:
        assert_close(result.standard_error**2, whole.standard_error**2, terms**2)
    for name in ("per_tree", "per_output"):
        assert (getattr(result, name) is None) == (getattr(whole, name) is None)
        if getattr(whole, name) is not None:
            assert_close(getattr(result, name), getattr(whole, name), terms)
    assert result.n_samples == whole.n_samples
    assert result.method == whole.method
    assert result.feature_names == whole.feature_names


# Sums over rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["array", "split along columns", "unknown", "frame"])
@pytest.mark.parametrize("name", MEASURES)
def test_every_kind_of_table_gives_the_same(name, kind):
    """Groups lie in several chunks, and of one chunk all rows weigh nothing."""
    measure, (ensemble, X, y), rng = MEASURES[name], fitted_rows(N), np.random.default_rng(0)
    weight, groups = rng.integers(0, 3, size=N) * 1.0, rng.choice(list("abcdefghij"), N)
    weight[51:101] = 0.0
    frame = frame_of(X, y=y, weight=weight, group=groups)
    given = [table_of(X), *(table_of(one) for one in (y, weight, groups))]
    if kind == "frame":
        given = [frame[[f"x{k}" for k in range(4)]], *(frame[c] for c in ("y", "weight", "group"))]
    elif kind == "unknown":
        given = [unknown(one) for one in given]
    elif kind == "split along columns":
        given[0] = given[0].rechunk({1: 2})
        assert given[0].numblocks == (6, 2)

    def asked(rows, target, weight, groups):
        return measure(ensemble, rows, target, sample_weight=weight, groups=groups)

    result, whole = asked(*given), asked(X, y, weight, groups)
    assert_same_sums(result, whole, terms_of(ensemble, X, y))
    assert_same(result.groups, whole.groups)
    assert_same(asked(*given).values, result.values)
    if name == "held_out_gain":
        for of in ("kurtosis", "second_moments"):
            one, other = getattr(result, of), getattr(whole, of)
            assert_close(one, other, np.abs(other).max(), k=4096)  # 1e-12
        assert_close(result.percent(), whole.percent(), np.abs(whole.percent()).sum())
        assert_same(result.is_reliable, whole.is_reliable)
    if name in ("tree_inner", "absolute"):
        with pytest.raises(ValueError, match="sample_weight is zero for every row"):
            measure(ensemble, table_of(X), y, sample_weight=np.zeros(N))


@pytest.mark.parametrize("is_known", [True, False])
def test_targets_in_memory_are_cut_where_the_rows_are(is_known):
    ensemble, X, y = fitted_rows(N)
    rows = table_of(X) if is_known else frame_of(X)
    # Frames have labels, others than these targets; arrays have none.
    told = nullcontext() if is_known else pytest.warns(UserWarning, match="other labels")
    with told:
        result = tree_inner(ensemble, rows, pd.Series(y, index=np.arange(N)[::-1]))
    assert_same(result.values, tree_inner(ensemble, table_of(X), y).values)
    assert_same_sums(result, tree_inner(ensemble, X, y), terms_of(ensemble, X, y))


def test_counts_of_a_chunk_may_all_be_0():
    X, y = np.random.default_rng(0).normal(size=(N, 3)), np.zeros(N)
    y[:30] = 1.0
    model = GreedyRegressor(3, loss="poisson", min_child_weight=0).fit(X + 1, y)
    result = tree_inner(model, table_of(X), y)
    assert_same_sums(result, tree_inner(model, X, y), terms_of(model, X, y))


@pytest.mark.parametrize("is_chunked", [True, False])
def test_training_rows_tell_what_is_reliable(is_chunked):
    ensemble, X, y = fitted_rows(N)
    training = (table_of(X), da.from_array(y, chunks=7)) if is_chunked else (X, y)
    result = tree_inner(ensemble, table_of(X), y, training=training)
    whole = tree_inner(ensemble, X, y, training=(X, y))
    assert_close(result.kurtosis, whole.kurtosis, 1e3 * np.abs(whole.kurtosis))
    assert_same(result.is_reliable, whole.is_reliable)


def test_rows_that_the_model_has_seen_are_counted_over_chunks():
    X, y = np.random.default_rng(0).normal(size=(2, 300, 3))
    model = GreedyRegressor(n_estimators=2).fit(X, y[:, 0])
    seen = np.concatenate([X[:100], y[:100]]), np.concatenate([y[:100, 0], y[:100, 1]])
    rows = da.from_array(seen[0], chunks=(30, 3))
    for measure in (tree_inner, permutation):
        with pytest.warns(SeenRowsWarning, match="100 of the 200 rows") as caught:
            measure(model, rows, seen[1])
        assert [warning.filename for warning in caught] == [__file__]


def test_refitted_statistics_add_up():
    ensemble, X, y = fitted_rows(N)
    weight = np.arange(N) % 3
    refitted = ensemble.refit_statistics(
        table_of(X), da.from_array(y, chunks=10), da.from_array(weight, chunks=(SIZES,))
    )
    whole = ensemble.refit_statistics(X, y, weight)
    assert_same(refitted.n_samples, whole.n_samples)
    assert_same(refitted.value, whole.value)
    terms = N * 2 * (1 + np.abs(y).max())
    assert_close(refitted.sum_gradient, whole.sum_gradient, terms)
    assert_close(refitted.sum_hessian, whole.sum_hessian, terms)
    assert_close(total_gain(refitted).values, total_gain(whole).values, terms**2)
    # Proposition 3, on rows of other machines, of which leaves tell that they fill them.
    with pytest.warns(SeenRowsWarning):
        inner = tree_inner(refitted, table_of(X), y, sample_weight=weight, ifa="predecomp")
    assert inner.n_samples == (weight > 0).sum()


def test_several_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=N), [-0.5, 0.5])]
    model = GreedyClassifier(n_estimators=4, max_depth=2).fit(X + 0.01, y)
    target = da.from_array(y, chunks=(SIZES,))
    result = tree_inner(model, table_of(X), target, per_output=True)
    whole = tree_inner(model, X, y, per_output=True)
    assert_same_sums(result, whole, N * np.abs(model.ensemble_.value).sum())
    assert result.per_output.shape == (3, 3)
    explained = predecomp(model, table_of(X))
    assert explained.values.shape == (N, 3, 3)
    assert explained.output_names == ("a", "b", "c")
    assert_same(explained.values.compute(), predecomp(model, X).values)
    permuted = permutation(model, table_of(X), target, n_repeats=1, random_state=0)
    assert permuted.method == "permutation(neg_log_loss, within chunks)"


# Unbiased gain, which is made of sums over the rows of two tables --------------------------------


def cut(data, array):
    """Return an array of Dask whose chunks are drawn; some have no rows."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(array)), max_size=8)))
    sizes = tuple(np.diff([0, *cuts, len(array)]).tolist())
    return da.from_array(array, chunks=(sizes, *array.shape[1:]))


@given(case=judged_at_splits(max_rows=20), data=st.data(), min_samples=st.integers(1, 3))
def test_unbiased_gain_of_chunks_is_that_of_all_rows(case, data, min_samples):
    asked = {"min_samples": min_samples, "per_tree": True, **case.weights}
    ensemble, *tables = case.arguments
    whole = silent(ensemble, *tables, **asked)
    X, y, X_valid, y_valid = tables
    result = silent(ensemble, cut(data, X), y, cut(data, X_valid), y_valid, **asked)
    terms = max(1.0, 4 * len(X_valid) * case.terms(min_samples).max())
    assert_same_sums(result, whole, terms)
    in_memory = silent(ensemble, X, y, cut(data, X_valid), y_valid, **asked)
    assert_same_sums(in_memory, whole, terms)


def test_what_unbiased_gain_says_of_chunks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = (X[:, 0] + rng.normal(size=N) > 0) * 1.0
    model = GreedyClassifier(n_estimators=2, max_depth=2).fit(X, y)
    new, order = X + 0.01, np.argsort(y)
    in_order = table_of(new[order])  # chunks of one class
    result = unbiased_gain(model, in_order, y[order], in_order, y[order])
    assert_same_sums(result, unbiased_gain(model, new, y, new, y), 1e3)
    with pytest.raises(ValueError, match="y_valid holds one class only"):
        unbiased_gain(model, new, y, in_order, np.ones(N))
    with pytest.raises(ValueError, match=r"Of X_train.*In chunk \d.*3 columns"):
        unbiased_gain(model, table_of(new[:, :2]), y, new, y)
    with pytest.raises(ValueError, match=rf"Of X_valid.*y has {N - 1} rows and X has {N}"):
        unbiased_gain(model, new, y, table_of(new), y[1:])
    for form in ("paper", "sampled"):
        with pytest.raises(ValueError, match="X_valid is a table of Dask, and this form"):
            unbiased_gain(model, X, y, in_order, y[order], form)
    train_in_chunks = unbiased_gain(model, in_order, y[order], new, y, "paper")
    whole = unbiased_gain(model, new[order], y[order], new, y, "paper")
    assert_same_sums(train_in_chunks, whole, 1e3)
    rows = table_of(np.concatenate([X[:100], new[:20]]))
    with pytest.warns(SeenRowsWarning, match="100 of the 120 rows"):
        unbiased_gain(model, X, y, rows, np.r_[y[:100], y[:20]])
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        unbiased_gain(model, X, y, rows, y, sample_weight_valid=np.zeros(N))
    of_file = replace(model.ensemble_, seen_rows=None)
    with pytest.warns(SeenRowsWarning, match=f"{N} of the {N} rows"):  # its leaves tell
        unbiased_gain(of_file, table_of(X), y, table_of(X), y)
    with pytest.raises(ValueError, match="all rows at once, in memory or as tables of Dask"):
        result.merge(result)


# Permutation ----------------------------------------------------------------------------------


def test_the_auc_is_the_mean_over_chunks_that_are_shuffled_each_for_itself():
    sizes = (30, 0, 21, 50, 18)
    n, edges = sum(sizes), np.cumsum([0, *sizes])
    ensemble, X, y = fitted_rows(n, loss="half_logistic")
    whole = da.from_array(y, chunks=n)
    result = permutation(ensemble, table_of(X, sizes), whole, n_repeats=3, random_state=7)
    repeats = np.zeros((4, 3))
    for number, (a, b) in enumerate(pairwise(edges)):
        if b > a:
            seed = seed_of_chunk(7, number)
            alone = permutation(ensemble, X[a:b], y[a:b], n_repeats=3, random_state=seed)
            repeats += alone.repeats * (b - a) / n
    assert_close(result.repeats, repeats, 4.0)
    assert_close(result.values, repeats.mean(axis=1), 4.0)
    assert result.method == "permutation(roc_auc, within chunks)"
    assert result.n_samples == n


def error_of(drops, orders, chunk_of_row, group_of_row):
    """Return the standard error of the mean of drops (R, n) by its definition.

    A row counts by its own drop and that of the row it lends to, less the mean of its chunk, which
    is in both; groups of rows are the draws.
    """
    n_shuffles, n = drops.shape
    own = drops.mean(axis=0)
    both, of_pairs = own.copy(), 0.0
    for drop, order in zip(drops, orders, strict=True):
        both[order] += drop / n_shuffles
    for rows in (chunk_of_row == number for number in np.unique(chunk_of_row)):
        both[rows] -= own[rows].mean()
        if rows.sum() > 1:
            of_pairs += rows.sum() * drops[:, rows].var(axis=1, ddof=1).sum() / n_shuffles**2

    def variance_of_sum(parts):
        labels = np.unique(group_of_row)
        squares = [np.sum(parts[group_of_row == label] - own.mean()) ** 2 for label in labels]
        return len(labels) / (len(labels) - 1) * sum(squares)

    return np.sqrt(max(variance_of_sum(both) - of_pairs, variance_of_sum(own))) / n


CHUNK_OF_ROW = np.repeat(np.arange(len(SIZES)), SIZES)
GROUPS = {
    "rows": np.arange(N),
    "three a chunk": 10 * CHUNK_OF_ROW + np.arange(N) % 3,
    "one a chunk": CHUNK_OF_ROW,
}


@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
def test_errors_of_permutation_are_those_of_all_rows_or_groups(groups):
    """Also where chunks have a single row, or a single group, as when each holds a day."""
    ensemble, X, y = fitted_rows(N)
    edges, n_repeats = np.cumsum([0, *SIZES]), 3
    given = None if len(np.unique(groups)) == N else groups
    asked = {"n_repeats": n_repeats, "random_state": 7}
    result = permutation(ensemble, table_of(X), y, groups=given, **asked)
    for k in (0, 1):  # the columns that it splits on
        orders = np.zeros((n_repeats, N), dtype=int)
        for number, (a, b) in enumerate(pairwise(edges)):
            seed = seed_of_chunk(7, number)
            orders[:, a:b] = [a + random_order(seed, b - a, (k, r)) for r in range(n_repeats)]
        shuffled = [np.where(np.arange(4) == k, X[order], X) for order in orders]
        after = np.array([(y - ensemble.raw_predict(rows)) ** 2 for rows in shuffled])
        drops = after - (y - ensemble.raw_predict(X)) ** 2
        expected = error_of(drops, orders, CHUNK_OF_ROW, groups)
        assert_close(result.values[k], drops.mean(), 4 + 4 * (y**2).mean())
        assert_close(result.standard_error[k] ** 2, expected**2, (drops**2).sum())
    assert_same(result.standard_error[2:], [0.0, 0.0])


def test_what_permutation_refuses():
    ensemble, X, y = fitted_rows(N, loss="half_logistic")
    rows = table_of(X, (60, 60))
    with pytest.raises(ValueError, match="metric='r2' is a scikit-learn scorer"):
        permutation(ensemble, rows, y, metric="r2")
    with pytest.raises(ValueError, match="groups have rows in both attributions"):
        permutation(ensemble, rows, y, groups=np.arange(N) % 5)
    apart = permutation(ensemble, rows, y, groups=np.arange(N) // 10, random_state=0)
    assert_same(apart.groups, np.arange(12))
    with pytest.raises(ValueError, match="In chunk 1, counted from 0: y holds one class only"):
        permutation(ensemble, rows, np.r_[y[:60], np.zeros(60)])


# Rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["array", "unknown", "frame"])
@pytest.mark.parametrize("explain", EXPLAIN.values(), ids=EXPLAIN)
def test_attributions_of_rows_are_lazy_arrays(explain, kind):
    ensemble, X, y = fitted_rows(N)
    make = {"array": table_of, "unknown": lambda X: unknown(table_of(X)), "frame": frame_of}[kind]
    rows = make(X)
    lazy, whole = explain(ensemble, rows, y), explain(ensemble, X, y)
    assert isinstance(lazy.values, da.Array)
    assert isinstance(lazy.base_values, da.Array)
    if kind == "array":  # Dask leaves out chunks that it knows to be empty
        assert lazy.values.shape == (N, 4)
        assert lazy.base_values.shape == (N,)
        assert lazy.values.chunks[0] == tuple(size for size in SIZES if size)
    assert lazy.values.dtype == np.float64
    assert_same(lazy.values.compute(), whole.values)
    assert_same(lazy.base_values.compute(), whole.base_values)
    assert_same(lazy["x1"].compute(), whole["x1"])
    assert lazy.method == whole.method

    computed = lazy.compute()
    assert isinstance(computed, LocalAttribution)
    for name in ("values", "base_values", "data"):
        assert_same(getattr(computed, name), getattr(whole, name))
    if kind == "frame":
        assert computed.index.tolist() == list(range(N))


def test_nothing_is_computed_before_it_is_asked_for():
    ensemble, X, _ = fitted_rows(40)
    loaded = []

    def load(k):
        loaded.append(k)
        return X[10 * k : 10 * k + 10]

    chunks = [da.from_delayed(dask.delayed(load)(k), (10, 4), float) for k in range(4)]
    lazy = predecomp(ensemble, da.concatenate(chunks))
    assert repr(lazy) == "<ChunkedAttribution of predecomp: values (40, 4), 4 chunks>"
    assert loaded == []
    assert_same(lazy.values[12:18].compute(), predecomp(ensemble, X[12:18]).values)
    assert loaded == [1]


# Words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["category", "str", "object"])
def test_levels_are_looked_up_by_value_in_every_partition(dtype):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=N), "city": rng.choice(["Bath", "Cork", "Oslo"], N)})
    y = frame.x + (frame.city == "Oslo") + rng.normal(size=N)
    frame.loc[40:60, "city"] = None
    model = GreedyRegressor(n_estimators=5).fit(frame, y + 0.01)
    edges = np.cumsum([0, *SIZES])
    parts = [frame.iloc[a:b] for a, b in pairwise(edges)]
    parts = [part.assign(city=part.city.astype(dtype)) for part in parts]
    if dtype == "category":  # each partition numbers its own levels, in its own order
        orders = [part.city.dropna().unique()[::-1].tolist() for part in parts]
        parts = [
            part.assign(city=part.city.cat.set_categories(order))
            for part, order in zip(parts, orders, strict=True)
        ]
    with dask.config.set({"dataframe.convert-string": False}):
        rows = dd.from_map(lambda k: parts[k], range(6), meta=parts[0], enforce_metadata=False)
        result = tree_inner(model, rows, y)
        assert_same_sums(result, tree_inner(model, frame, y), terms_of(model, frame, y))
        assert_same(predecomp(model, rows).values.compute(), predecomp(model, frame).values)


# What is refused ------------------------------------------------------------------------------


def refused(message, X=None, y=None, **options):
    ensemble, rows, target = fitted_rows(N)
    X = table_of(rows) if X is None else X
    with pytest.raises(ValueError, match=message):
        tree_inner(ensemble, X, da.from_array(target, chunks=9) if y is None else y, **options)


def test_errors_say_what_is_wrong_and_where():
    ensemble, X, y = fitted_rows(N)
    refused(rf"y has {N - 1} rows and X has {N}", y=da.from_array(y[1:], chunks=9))
    refused(rf"y has {N - 1} rows and X has {N}", y=y[1:])
    refused("X is in memory, a ndarray, and y or another argument with a value", X=X)
    refused("X has 6 chunks and y has 1", X=frame_of(X), y=da.from_array(y, chunks=N))
    target = unknown(da.from_array(y, chunks=(SIZES[::-1],)))
    refused(
        r"Chunk \d of X has \d+ rows, and that of y has \d+: their rows",
        X=unknown(table_of(X)),
        y=target,
    )
    refused("X is a Delayed.* of Dask, which is no table", X=dask.delayed(X))
    refused(r"X has shape \(120,\)", X=da.from_array(X[:, 0], chunks=9))
    refused(r"In chunk \d, counted from 0: X has shape", X=table_of(X)[:, :3])
    refused("X has no rows", X=table_of(X[:0], (0,)), y=da.from_array(y[:0], chunks=1))
    X = X.copy()
    X[52, 2] = np.inf
    refused("In chunk 3, counted from 0: X holds inf in row 1, column 'x2'", X=table_of(X))
    with pytest.raises(ValueError, match=r"as_ensemble\(model\)\.refit_statistics"):
        as_ensemble(ensemble, X=table_of(X), y=y)


def test_what_takes_rows_in_memory_alone_gathers_nothing():
    ensemble, X, _ = fitted_rows(N)
    with pytest.raises(ValueError, match="rows in memory"):
        ensemble.raw_predict(table_of(X))
    with pytest.raises(ValueError, match="rows in memory"):
        tree_shap(ensemble, X, background=table_of(X))


def test_merging_in_any_number_of_levels():
    rows = np.arange(3.0 * FAN_IN**2 + 1)[:, np.newaxis]
    total = over_chunks(_sum_of, np.add, Chunk(da.from_array(rows, chunks=(1, 1))))
    assert total == rows.sum()
    assert over_chunks(_sum_of, np.add, Chunk(rows)) == rows.sum()


def _sum_of(chunk):
    return chunk.X.sum()


MEMORY = """
import resource, sys
import dask, dask.array as da, numpy as np
from attributions import tree_inner
from gbt import GBTRegressor

def load(k):
    return np.random.default_rng(k).normal(size=(40_000, 20))

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 20))
model = GBTRegressor(n_estimators=2, max_depth=2, splitter="greedy").fit(X, X[:, 0])
n_chunks = int(sys.argv[1])
chunks = [da.from_delayed(dask.delayed(load)(k), (40_000, 20), float) for k in range(n_chunks)]
table = da.concatenate(chunks)
with dask.config.set(scheduler="synchronous"):
    result = tree_inner(model, table, table[:, 0])
assert result.n_samples == 40_000 * n_chunks
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_chunks():
    """Chunks of 6.4 MB: 4 of them, then 64, which together are 400 MB."""
    peaks = [int(subprocess.check_output([sys.executable, "-c", MEMORY, str(n)])) for n in (4, 64)]
    assert peaks[1] - peaks[0] < 64e6


# A cluster ------------------------------------------------------------------------------------


def rows_elsewhere(X, y, n_chunks=6):
    """Return rows and targets that are made in any process but this one."""
    here, size = os.getpid(), len(X) // n_chunks

    def load(k):
        assert os.getpid() != here
        return np.c_[X, y][size * k : size * (k + 1)]

    shape = (size, X.shape[1] + 1)
    chunks = [da.from_delayed(dask.delayed(load)(k), shape, float) for k in range(n_chunks)]
    table = da.concatenate(chunks)
    return table[:, :-1], table[:, -1]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_a_cluster_gives_the_answer_of_one_process(measure, worker_processes):
    ensemble, X, y = fitted_rows(N)
    with dask.config.set(scheduler=worker_processes):
        result = measure(ensemble, *rows_elsewhere(X, y))
        again = measure(ensemble, *rows_elsewhere(X, y))
    assert_same_sums(result, measure(ensemble, X, y), terms_of(ensemble, X, y))
    assert_same(again.values, result.values)
    here = measure(ensemble, table_of(X, (20,) * 6), da.from_array(y, chunks=20))
    assert_same(here.values, result.values)
    assert len(pickle.dumps(result)) < 5000


def test_columns_of_files_are_cut_where_the_other_columns_are(tmp_path):
    """Dask reads several files at once where it is asked for one column of many."""
    dd = peer("dask.dataframe")
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 21)))
    frame.columns = [*(f"x{k}" for k in range(20)), "y"]
    for start in range(0, 200, 40):
        frame[start : start + 40].to_parquet(tmp_path / f"part.{start:03d}.parquet")
    table = dd.read_parquet(tmp_path)
    assert len(table["y"].to_delayed()) < table.npartitions
    model = GreedyRegressor(n_estimators=3)
    for names in (["x0", "x1"], frame.columns[:20].tolist()):
        model.fit(frame[names] + 1.0, frame["y"])
        there = tree_inner(model, table[names], table["y"])
        here = tree_inner(model, frame[names], frame["y"])
        assert there.n_samples == 200
        np.testing.assert_allclose(there.values, here.values, rtol=1e-12)
