"""MDI+ and MDI-oob of forests, against their definitions."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import r2_score

from attributions import GlobalAttribution, mdi_oob, mdi_plus
from attributions.mdi.least_squares import Ridge
from attributions.mdi.logistic import LogisticRidge
from attributions.reference import definitions as reference
from attributions.reference import stumps as plain
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyRegressor
from tests.stump_cases import drawn_by

N, P = 90, 4
X, y = make_friedman1(N, 6, noise=1.0, random_state=0)
X = X[:, 1:5].astype(np.float32).astype(np.float64)
labels = np.where(y > np.median(y), "yes", "no")
FOREST = RandomForestRegressor(4, min_samples_leaf=4, max_features=2, random_state=0).fit(X, y)
OF_LABELS = RandomForestClassifier(4, min_samples_leaf=4, random_state=0).fit(X, labels)


@pytest.mark.parametrize("raw", [False, True])
def test_mdi_plus_of_numbers(raw):
    """Every row predicted from one block, by coefficients that were found without the row."""
    importance = np.zeros((4, P))
    for m, grown in enumerate(drawn_by(FOREST)):
        tree = as_ensemble(FOREST).trees[m]
        columns, blocks = plain.mdi_columns(tree, X, grown, raw)
        predictions = np.zeros((N, P))
        for i in range(N):
            b, c = plain.without_row(columns, y, np.ones(N), 2.0, i)
            predictions[i] = b + plain.by_block(columns[i : i + 1], blocks, c, P)[0]
        for k in set(blocks):
            importance[m, k] = r2_score(y, predictions[:, k])
    found = mdi_plus(FOREST, X, y, linear_model=Ridge(2.0), raw=raw)
    assert_close(found.per_tree, importance / 4, 1 + np.abs(importance), k=2**16)
    assert_close(found.values, importance.mean(axis=0), 4.0, k=2**16)
    assert found.standard_error is None
    assert found.method == "mdi_plus(ridge, r2)"


def test_mdi_plus_counts_from_the_weighted_mean():
    """Linear models have the weights, and without any column they predict the weighted mean."""
    weight = np.where(y > np.median(y), 3.0, 1.0)
    trees = ExtraTreesRegressor(2, min_samples_leaf=4, random_state=0)
    predicted = []

    def negative_error(truth, prediction):
        predicted.append(prediction)
        return -np.mean(np.abs(truth - prediction))

    model = trees.fit(X, y, sample_weight=weight)
    found = mdi_plus(
        model, X, y, linear_model=Ridge(2.0), metric=negative_error, sample_weight=weight, n_jobs=1
    )
    mean = (weight * y).sum() / weight.sum()
    assert_close(predicted[0], np.full(N, mean), np.abs(y).max())
    gained = sum(np.mean(np.abs(y - mean)) - np.mean(np.abs(y - one)) for one in predicted[1:]) / 2
    assert_close(found.values.sum(), gained, np.abs(y).max() * len(predicted))


def test_mdi_plus_of_labels_and_any_metric():
    seen = []

    def accuracy(truth, probability):
        seen.append(probability)
        return np.mean((probability > 0.5) == truth)

    found = mdi_plus(OF_LABELS, X, labels)
    assert found.method == "mdi_plus(logistic_ridge, negative_log_loss)"
    assert (found.values[[0, 2]] > 0.02).all()  # the product's and the strongest linear feature
    assert (found.values[[1, 3]] < 0.02).all()
    own = mdi_plus(OF_LABELS, X, labels, linear_model=LogisticRidge(1.0), metric=accuracy)
    assert own.method == "mdi_plus(logistic_ridge, accuracy)"
    assert all(((p > 0) & (p < 1)).all() for p in seen[1:])
    assert_same(
        own.values,
        mdi_plus(
            OF_LABELS, X, labels, linear_model=LogisticRidge(1.0), metric=accuracy, n_jobs=3
        ).values,
    )


def test_mdi_oob_is_a_mean_over_fresh_rows():
    """Of 40 trees, which are more than are walked at once."""
    forest = RandomForestRegressor(40, min_samples_leaf=4, random_state=0).fit(X, y)
    per_row = np.zeros((N, P))
    for tree, grown in zip(as_ensemble(forest).trees, drawn_by(forest), strict=True):
        fresh, value = np.flatnonzero(grown == 0), reference.mean_of_leaves(tree, tree.sum_hessian)
        for i in fresh:
            steps = reference.predecomp(tree, X[i], value)  # of the mean over trees
            per_row[i] += (y[i] - y.mean()) * steps / len(fresh)
    found = mdi_oob(forest, X, y)
    assert_close(found.values, per_row.sum(axis=0), np.abs(per_row).sum(axis=0))
    expected = np.sqrt(N / (N - 1) * ((per_row - per_row.mean(axis=0)) ** 2).sum(axis=0))
    assert_close(found.standard_error, expected, np.abs(per_row).sum(axis=0))
    assert found.method == "mdi_oob(saabas)"


def test_least_squares_without_raw_columns_is_the_mdi_oob_of_saabas():
    found = mdi_oob(FOREST, X, y, linear_model="ols", raw=False)
    expected = mdi_oob(FOREST, X, y)
    assert_close(found.values, expected.values, np.abs(expected.values).sum(), k=2**14)
    assert_close(found.standard_error, expected.standard_error, 1.0, k=2**14)
    assert found.method == "mdi_oob(local_mdi(ols))"
    assert isinstance(mdi_oob(OF_LABELS, X, labels, linear_model="ridge"), GlobalAttribution)


def test_what_is_refused():
    boosted = GreedyRegressor(n_estimators=2).fit(X, y)
    for score in (mdi_plus, mdi_oob):
        with pytest.raises(ValueError, match="For boosted models use tree_inner"):
            score(boosted, X, y)
        with pytest.raises(ValueError, match="not what the model was fitted on"):
            score(FOREST, X[::-1], y)
    with pytest.raises(ValueError, match="only a ridge and a logistic ridge have a formula"):
        mdi_plus(FOREST, X, y, linear_model="elastic_net")
