"""Several columns that are one feature: one-hot tables against loops that know which is whose."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import attributions
from attributions import (
    absolute,
    forest_inner,
    held_out_gain,
    held_out_gain_rows,
    partial_inner,
    partial_inner_rows,
    tree_inner,
    tree_inner_pairs,
    tree_inner_rows,
    tree_shap_pairs,
)
from attributions.reference import definitions
from attributions.reference import held_out as reference
from attributions.testing import assert_close
from gbt import GBTClassifier, GBTRegressor
from gbt.files.documents import InvalidModelError
from gbt.model.credit import Credit

# Indicators of a city, an age, a product of both, and a column that no feature of a table lacks.
CREDIT = (0, 0, 0, 1, 2, 2, 3)
NAMES = ("city", "age", "city x age", "height", "never read")
ADDED = np.eye(len(NAMES))[list(CREDIT)]  # (7, 5): columns to features


def case(loss="half_squared_error", n_classes=2, n_rows=40, **options):
    """Return a model of a one-hot table with its table of credit, and rows that it has not seen."""
    rng = np.random.default_rng(3)

    def draw(n):
        city, age = rng.integers(3, size=n), rng.normal(size=n).round(1)
        hot = np.eye(3)[city]
        X = np.column_stack([hot, age, hot[:, :2] * age[:, np.newaxis], rng.normal(size=n)])
        score = city - age * (city == 1) + 0.3 * rng.normal(size=n)
        if loss == "log_loss":
            return X, np.digitize(score, np.linspace(0, 1.5, n_classes - 1)).astype(float)
        return X, np.exp(score) if loss == "poisson" else score

    options = {"n_estimators": 6, "max_depth": 3, "learning_rate": 0.4, **options}
    kind = GBTClassifier if loss == "log_loss" else GBTRegressor
    named = {} if loss == "log_loss" else {"loss": loss}
    X, y = draw(150)
    model = kind(splitter="greedy", min_child_weight=2, **named, **options).fit(X, y)
    ensemble = replace(model.ensemble_, credit=Credit(CREDIT, NAMES), seen_rows=None)
    return ensemble, *draw(n_rows), (X, y)


LOSSES = [("half_squared_error", 2), ("log_loss", 2), ("log_loss", 3), ("poisson", 2)]


@pytest.mark.parametrize(("loss", "n_classes"), LOSSES)
def test_held_out_gain_is_that_of_the_loops_with_all_work_of_the_feature_removed(loss, n_classes):
    ensemble, X, y, _ = case(loss, n_classes)
    weight = np.tile([1.0, 2.0, 0.5], len(X))[: len(X)]

    result = held_out_gain(ensemble, X, y, sample_weight=weight, per_tree=True)

    used = slice(0, 4)  # the loops know no feature without a column
    gain = reference.held_out_gain(ensemble, X, y, weight, credit=CREDIT)
    error = reference.error_of_held_out_gain(ensemble, X, y, weight, credit=CREDIT)
    scale = np.abs(reference.row_parts(ensemble, X, y, weight, credit=CREDIT)).sum(axis=0)
    assert_close(result.values[used], gain, scale, k=1e4)
    assert_close(result.standard_error[used], error, scale, k=1e4)
    assert_close(result.per_tree.sum(axis=0), result.values, np.append(scale, 1.0), k=64)
    assert result.feature_names == NAMES
    assert result.values[4] == result.standard_error[4] == 0
    assert result.kurtosis.shape == (5,)
    rows = held_out_gain_rows(ensemble, X, y)
    parts = reference.row_parts(ensemble, X, y, np.ones(len(X)), credit=CREDIT)
    assert_close(rows.values[:, used], parts, np.abs(parts).sum(), k=1e4)
    of_columns = held_out_gain(replace(ensemble, credit=None), X, y, sample_weight=weight)
    # Own work of the whole feature is not that of its columns one by one.
    assert np.abs(of_columns.values @ ADDED - result.values)[0] > 1e-3


@pytest.mark.parametrize("ifa", ["predecomp", "saabas", "tree_shap"])
def test_a_row_gives_a_feature_the_sum_of_what_it_gives_to_its_columns(ifa):
    ensemble, X, y, _ = case()
    by_column, explain = replace(ensemble, credit=None), getattr(attributions, ifa)
    explained, of_columns = explain(ensemble, X), explain(by_column, X).values
    rows = tree_inner_rows(by_column, X, y, ifa=ifa).values @ ADDED
    of_trees = tree_inner(by_column, X, y, ifa=ifa, per_tree=True).per_tree
    found = tree_inner(ensemble, X, y, ifa=ifa, per_tree=True)
    whole, moved = rows.sum(axis=0), np.abs(of_columns @ ADDED).sum(axis=0)
    scale = 1 + np.abs(rows).sum() + np.abs(of_columns).sum()
    for own, expected in (
        (explained.values, of_columns @ ADDED),
        (explained.residual(ensemble.raw_predict(X)), 0 * y),
        (tree_inner_rows(ensemble, X, y, ifa=ifa).values, rows),
        (found.per_tree, of_trees @ ADDED),
        (found.values, whole),
        (found.standard_error, definitions.standard_error(rows, range(len(X)))),
        (tree_inner(ensemble, X, y, ifa=ifa, standard_error=False).values, whole),
        (absolute(ensemble, X, ifa=ifa, level="forest").values, moved),
    ):
        assert_close(own, expected, scale, k=64)
    assert explained.feature_names == NAMES
    of_columns = forest_inner(by_column, X, y, ifa=ifa).values
    assert_close(forest_inner(ensemble, X, y, ifa=ifa).values, of_columns @ ADDED, scale, k=1e4)


@pytest.mark.parametrize("loss", ["half_squared_error", "log_loss"])
def test_partial_inner_adds_back_the_work_of_the_whole_feature(loss):
    ensemble, X, y, _ = case(loss)

    def steps(tree, x):  # with two zeros: as long as a row of the table
        return np.append(definitions.centred_steps(tree, x) @ ADDED, [0.0, 0.0])

    q = [definitions.partial_inner(ensemble, X[[i]], y[[i]], steps)[:5] for i in range(len(X))]
    scale = 1 + np.abs(q).sum()
    assert_close(partial_inner(ensemble, X, y).values, np.sum(q, axis=0), scale, k=1e4)
    assert_close(partial_inner_rows(ensemble, X, y).values, q, scale, k=1e4)
    moved = definitions.absolute(ensemble, X, steps)[:5]
    assert_close(absolute(ensemble, X, ifa="saabas").values, moved, 1 + moved, k=1e4)


def test_pairs_of_features():
    ensemble, X, y, _ = case(n_rows=12, n_estimators=3)
    pairs = tree_inner_pairs(ensemble, X, y)
    assert_close(pairs.importance(), tree_inner(ensemble, X, y).values, 100.0, k=64)
    score = np.zeros((5, 5))
    for tree, gradient, _ in definitions.stages(ensemble, X, y):
        feature = [CREDIT[column] for column in tree.feature]
        for x, g in zip(X, gradient, strict=True):
            nodes = definitions.path(tree, x)
            for level, (t, child) in enumerate(pairwise(nodes)):
                above = {feature[s] for s in nodes[:level]} - {feature[t]} or {feature[t]}
                for other in above:
                    change = tree.value[child] - tree.value[t]
                    score[feature[t], other] -= g * change / len(above)
    score /= ensemble.learning_rate
    for (k, l), value in zip(pairs.pairs, pairs.values, strict=True):
        assert_close(value, score[k, l], 1 + np.abs(score).sum(), k=64)
    by_column = tree_shap_pairs(replace(ensemble, credit=None), X).values
    summed = np.einsum("nij,ik,jl->nkl", by_column, ADDED, ADDED)
    assert_close(tree_shap_pairs(ensemble, X).values, summed, 1 + np.abs(by_column).sum(), k=64)


@pytest.mark.parametrize("measure", ["permutation", "partial_dependence", "mdi_plus"])
def test_what_is_made_of_columns_is_refused(measure):
    ensemble, X, y, _ = case()
    given = {"permutation": (X, y), "partial_dependence": ("age", X), "mdi_plus": (X, y)}
    with pytest.raises(ValueError, match="7 columns are credited to 5 features"):
        getattr(attributions, measure)(ensemble, *given[measure])


def test_a_file_does_not_forget_the_table_of_credit(tmp_path):
    ensemble, *_ = case()
    with pytest.raises(ValueError, match="neither a table of credit"):
        ensemble.save(tmp_path / "model.json")
    with pytest.raises(InvalidModelError, match="one of its features for each of 7 columns"):
        replace(ensemble, credit=Credit(CREDIT[1:], NAMES)).validate()
