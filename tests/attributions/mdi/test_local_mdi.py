"""Local MDI+ of whole models, against the definition; and what callers get wrong."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import ElasticNet as SklearnElasticNet
from sklearn.linear_model import Lasso, LinearRegression

import attributions
from attributions.kernels.stumps import add_ranks
from attributions.mdi.elastic_net import ElasticNet
from attributions.mdi.least_squares import Ridge
from attributions.per_row.aggregates import aggregate_trees
from attributions.per_row.individual import attribute_per_tree
from attributions.reference import definitions as reference
from gbt import GBTClassifier, GBTRegressor, load
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyClassifier, GreedyRegressor
from tests.kernel_call import call

N, P = 150, 5
X, y = make_friedman1(N, P, noise=1.0, random_state=0)
X = X.astype(np.float32).astype(np.float64)  # as forests compare them
X[::17, 1] = np.nan
labels = np.where(y > 14, "yes", "no")
NEW = X[:40] + 0.01

FOREST = RandomForestRegressor(6, min_samples_leaf=3, max_features=2, random_state=0).fit(X, y)
BOOSTED = GreedyRegressor(n_estimators=6, max_depth=4, subsample=0.7, random_state=0).fit(X, y)
CLASSIFIER = GreedyClassifier(n_estimators=6, max_depth=3, reg_lambda=2.0).fit(X, labels)


def drawn_by_forest(forest):
    return [np.bincount(rows, minlength=N) * 1.0 for rows in forest.estimators_samples_]


def steps_of(model):
    """Return the trees, and for each: response, hessian and how often rows were drawn."""
    if isinstance(model, RandomForestRegressor):
        trees = as_ensemble(model).trees
        return [
            (tree, y, np.ones(N), drawn)
            for tree, drawn in zip(trees, drawn_by_forest(model), strict=True)
        ]
    ensemble, found = model.ensemble_, []
    target = (labels == "yes") * 1.0 if isinstance(model, GBTClassifier) else y
    raw = np.full(N, ensemble.base_score)
    for m, tree in enumerate(ensemble.trees):
        g, h = ensemble.loss.gradient_hessian(target, raw)
        drawn = np.isin(np.arange(N), model.sampled_rows(m)) * 1.0
        found.append((tree, -g / h, h, drawn))
        raw = raw + [tree.value[reference.path(tree, x)[-1]] for x in X]
    return found


def expected_parts(model, rows, raw, penalty):
    """Return each tree's scores of the training rows, and its intercept, by the definition."""
    rate = 1 / 6 if isinstance(model, RandomForestRegressor) else 0.1
    parts, intercepts = [], []
    for tree, response, hessian, drawn in steps_of(model):
        weight = {
            "all": np.where(drawn > 0, drawn, 1.0),
            "inbag": drawn,
            "oob": (drawn == 0) * 1.0,
            "uniform": np.ones(N),
        }[rows]
        columns, blocks = reference.mdi_columns(tree, X, hessian * drawn, raw)
        b, c = reference.ridge(columns, response, hessian * weight, penalty)
        parts.append(rate * reference.by_block(columns, blocks, c, P))
        intercepts.append(rate * b)
    return np.array(parts), np.array(intercepts)


@pytest.mark.parametrize("rows", ["all", "inbag", "oob", "uniform"])
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("model", [FOREST, BOOSTED, CLASSIFIER], ids=["forest", "boosted", "log"])
def test_scores_are_those_of_the_definition(model, raw, rows):
    if model is CLASSIFIER and rows == "oob":
        return  # every tree saw every row
    target = labels if model is CLASSIFIER else y
    parts, intercepts = expected_parts(model, rows, raw, penalty=2.0)
    options = {"linear_model": Ridge(2.0), "raw": raw, "rows": rows}
    found = attributions.local_mdi(model, X, target, **options)
    size = np.abs(parts).max() * len(parts)
    assert_close(found.values, parts.sum(axis=0), size, k=2**20)
    base = model.ensemble_.base_score if model is not FOREST else 0.0
    assert_close(found.base_values, np.full(N, base + intercepts.sum()), 20.0, k=2**16)
    assert_close(found.surrogate_prediction, found.base_values + found.values.sum(axis=1), 60.0)
    predicted = model.predict(X) if model is not CLASSIFIER else model.ensemble_.raw_predict(X)
    assert_close(found.model_prediction, predicted, 60.0)
    assert_same(found.surrogate_residual, found.model_prediction - found.surrogate_prediction)
    assert_close(found.residual(found.model_prediction), found.surrogate_residual, 99.0)
    assert_same(found.penalty, np.full(6, 2.0))


def test_absolute_values_and_ranks_of_the_same_parts():
    parts, _ = expected_parts(FOREST, "all", True, penalty=2.0)
    options = {"linear_model": Ridge(2.0)}
    absolute = attributions.local_mdi(FOREST, X, y, **options, aggregate="absolute")
    assert_close(absolute.values, np.abs(parts).sum(axis=0), 99.0, k=2**16)
    rank = attributions.local_mdi(FOREST, X, y, **options, aggregate="rank")
    expected = np.mean([[reference.ranks(row) for row in part] for part in parts], axis=0)
    assert_close(rank.values, expected, float(P))
    signed = attributions.local_mdi(FOREST, X, y, **options)
    assert_same(rank.surrogate_prediction, signed.surrogate_prediction)


def test_ranks_by_the_rule_of_the_authors():
    parts, _ = expected_parts(FOREST, "all", True, penalty=2.0)
    total, count = np.zeros((N, P)), np.zeros(P)
    for part in np.abs(parts):
        used = part.any(axis=0)
        part[:, ~used] = -1
        ranks = part.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable") * 1.0
        total += np.where(used, ranks, 0.0)
        count += used
    found = attributions.local_mdi(
        FOREST, X, y, linear_model=Ridge(2.0), aggregate="rank_where_used"
    )
    assert_close(found.values, total / np.maximum(count, 1), float(P))


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.3, 2.0, -5.0]), min_size=1, max_size=8))
def test_ranks(row):
    ones = np.ones((len(row), 1))
    call(add_ranks, values=np.array(row)[:, np.newaxis], ranks=ones)
    assert_same(ones[:, 0] - 1, reference.ranks(np.array(row)))


def test_ranks_of_a_row_do_not_depend_on_other_rows():
    whole = aggregate_trees(BOOSTED.ensemble_, X, "tree_shap", "rank")
    assert_same(aggregate_trees(BOOSTED.ensemble_, X[7:9], "tree_shap", "rank"), whole[7:9])
    parts = np.array([r for _, r in attribute_per_tree(BOOSTED.ensemble_, X, "tree_shap")])
    expected = np.mean([[reference.ranks(row) for row in part] for part in parts], axis=0)
    assert_close(whole, expected, float(P))
    absolute = aggregate_trees(BOOSTED.ensemble_, X, "tree_shap", "absolute")
    assert_close(absolute, np.abs(parts).sum(axis=0), 99.0)
    signed = attributions.tree_shap(BOOSTED, X).values
    assert_same(aggregate_trees(BOOSTED.ensemble_, X, "tree_shap", "sum"), signed)


@pytest.mark.parametrize("rows", ["all", "inbag"])
def test_any_linear_regression_of_scikit_learn(rows):
    peer = SklearnElasticNet(0.05, l1_ratio=0.5, tol=1e-12, max_iter=1_000_000)
    found = attributions.local_mdi(FOREST, X, y, linear_model=peer, rows=rows)
    own = ElasticNet(0.05, l1_ratio=0.5)
    expected = attributions.local_mdi(FOREST, X, y, linear_model=own, rows=rows)
    assert np.abs(found.values - expected.values).max() < 1e-6
    assert np.isnan(found.penalty).all()
    assert found.method == "local_mdi(ElasticNet, sum)"
    attributions.local_mdi(BOOSTED, X, y, linear_model=Lasso(0.1))
    attributions.local_mdi(BOOSTED, X, y, linear_model=LinearRegression(), raw=False)


@pytest.mark.parametrize("linear_model", ["elastic_net", "ridge", "ols", Ridge(folds="loo")])
@pytest.mark.parametrize("model", [FOREST, BOOSTED], ids=["forest", "boosted"])
def test_new_rows_threads_and_frames(model, linear_model):
    frame, new = pd.DataFrame(X), pd.DataFrame(NEW, index=np.arange(40) + 1000)
    found = attributions.local_mdi(model, X, y, NEW, linear_model=linear_model, n_jobs=1)
    again = attributions.local_mdi(model, frame, y, new, linear_model=linear_model, n_jobs=3)
    assert_same(again.values, found.values)
    assert_same(again.to_frame().index, new.index)
    assert found.values.shape == (40, P)
    trained = attributions.local_mdi(model, X, y, linear_model=linear_model)
    same = attributions.local_mdi(model, X, y, X, linear_model=linear_model)
    assert_same(same.values, trained.values)


def test_whole_weights_are_repeated_rows():
    weight = np.arange(N) % 3 * 1.0
    rows = np.repeat(np.arange(N), weight.astype(int))
    settings = {"n_estimators": 5, "max_depth": 3, "splitter": "greedy"}
    options = {"linear_model": Ridge(1.0)}
    one = GBTRegressor(**settings).fit(X, y, weight)
    other = GBTRegressor(**settings).fit(X[rows], y[rows])
    found = attributions.local_mdi(one, X, y, X, sample_weight=weight, raw=False, **options)
    expected = attributions.local_mdi(other, X[rows], y[rows], X, raw=False, **options)
    assert_close(found.values, expected.values, 99.0, k=2**12)


def test_a_feature_that_no_tree_uses_has_nothing():
    wide = np.column_stack([X, np.zeros(N)])
    model = GreedyRegressor(n_estimators=3).fit(wide, y)
    assert_same(attributions.local_mdi(model, wide, y).values[:, -1], np.zeros(N))
    stump = GreedyRegressor(n_estimators=2, min_samples_leaf=100).fit(X, y)
    found = attributions.local_mdi(stump, X, y)
    assert_same(found.values, np.zeros((N, P)))
    assert_close(found.surrogate_prediction, stump.predict(X), 30.0)


# What callers get wrong -----------------------------------------------------------------------


def refused(message):
    return pytest.raises(ValueError, match=message)


def test_rows_that_the_model_was_not_fitted_on():
    for model, target in ((FOREST, y), (BOOSTED, y), (CLASSIFIER, labels)):
        with refused("not what the model was fitted on: leaf .* of tree .* keeps a"):
            attributions.local_mdi(model, X[::-1], target)
        other = target[::-1]
        with refused("not what the model was fitted on"):
            attributions.local_mdi(model, X, other)
    with refused("not what the model was fitted on"):
        attributions.local_mdi(CLASSIFIER, X, labels, sample_weight=np.arange(N) + 1.0)
    with refused("fitted on 150 rows or more, and X_train has 149"):
        attributions.local_mdi(CLASSIFIER, X[:-1], labels[:-1])
    with refused("fitted on .* rows or more, and X_train has 100"):
        attributions.local_mdi(BOOSTED, X[:100], y[:100])
    by_median = RandomForestRegressor(3, criterion="absolute_error", min_samples_leaf=4).fit(X, y)
    with refused("criterion='absolute_error' cannot be imported"):
        attributions.local_mdi(by_median, X, y)


def test_rows_nearly_those_of_a_model_of_ours(tmp_path):
    """Its sums are float64, and stay so in a file; the message shows how little they differ."""
    boosted = GreedyRegressor(n_estimators=2, max_depth=4).fit(X, y)
    boosted.save(tmp_path / "model.json")
    other = y.copy()
    other[0] += 1e-5
    for model in (boosted, boosted.ensemble_, load(tmp_path / "model.json")):
        with refused("keeps a sum of gradients of") as caught:
            attributions.local_mdi(model, X, other)
        kept, given = re.findall(r"(?:of|give) (-?\d+\.\d+)", str(caught.value))
        assert kept != given


def test_rows_out_of_bag_that_do_not_exist():
    extra = ExtraTreesRegressor(3, random_state=0).fit(X, y)
    for model, target in ((extra, y), (CLASSIFIER, labels)):
        with refused("rows='oob' needs rows that a tree did not see"):
            attributions.local_mdi(model, X, target, rows="oob")
    with refused("mdi_oob needs rows that a tree did not draw.*bootstrap=True"):
        attributions.mdi_oob(extra, X, y)
    with refused("rows='none'; use one of"):
        attributions.local_mdi(extra, X, y, rows="none")


def test_several_outputs_where_they_are_not_known():
    two = RandomForestRegressor(2).fit(X, np.column_stack([y, y]))
    three = RandomForestClassifier(2).fit(X, np.arange(N) % 3)
    for score in (attributions.mdi_plus, attributions.mdi_oob):
        with refused("judges one target or two classes, and the forest has 2"):
            score(two, X, np.column_stack([y, y]))
        with refused("judges one target or two classes, and the forest has 3"):
            score(three, X, np.arange(N) % 3)
    with refused("y has shape|y holds"):
        attributions.local_mdi(two, X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_train": np.where(np.arange(N) == 3, np.nan, y)}, "y holds nan in row 3"),
        ({"y_train": y[:-1]}, "y has shape"),
        ({"X_train": X[:0], "y_train": y[:0]}, "no rows"),
        ({"X_train": X[:, :-1]}, "needs a table with 5 columns"),
        ({"X": X[:, :-1]}, "needs a table with 5 columns"),
        ({"X": np.where(X > 0.9, np.inf, X)}, "must be finite"),
        ({"aggregate": "mean"}, "aggregate='mean'; use one of"),
        ({"linear_model": "lasso"}, "linear_model='lasso'; use one of"),
        ({"linear_model": Ridge(folds=0)}, "folds=0; use from"),
        ({"linear_model": Ridge(folds=N + 1)}, "folds=151; use from"),
        ({"linear_model": Ridge(folds="all")}, "folds='all'; use a number"),
        ({"linear_model": Ridge(folds=np.zeros(N))}, "all rows in one fold"),
        ({"linear_model": Ridge(folds=np.arange(3))}, "needs one fold number for each row"),
        ({"sample_weight": -np.ones(N)}, "sample_weight must not be negative"),
        ({"sample_weight": np.full(N, np.nan)}, "sample_weight contains NaN"),
        ({"sample_weight": np.ones(N - 1)}, "it needs one weight for each row"),
        ({"X_train": np.where(X > 0.9, np.inf, X)}, "must be finite"),
        ({"y_train": np.where(y > 20, np.inf, y)}, "targets must be finite"),
        ({"y_train": np.array(["a"] * N)}, "could not convert|must be numbers|text"),
        ({"rows": "bag"}, "rows='bag'; use one of"),
        ({"linear_model": "logistic_ridge"}, "is for labels"),
    ],
)
def test_arguments(change, message):
    with refused(message):
        attributions.local_mdi(**{"model": FOREST, "X_train": X, "y_train": y} | change)


def test_missing_values_where_the_forest_has_seen_none():
    whole = np.nan_to_num(X)
    forest = RandomForestRegressor(3, random_state=0).fit(whole, y)
    with refused("not what the model was fitted on"):
        attributions.local_mdi(forest, X, y)
    found = attributions.local_mdi(forest, whole, y, X)  # explained, as they would be predicted
    assert np.isfinite(found.values).all()


def test_labels_that_the_forest_does_not_know():
    forest = RandomForestClassifier(2, random_state=0).fit(X, labels)
    with refused("y holds 'maybe'; the model tells"):
        attributions.local_mdi(forest, X, np.where(labels == "no", "maybe", labels))


def test_models_that_are_none():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        attributions.local_mdi(RandomForestRegressor(), X, y)
    with pytest.raises(TypeError, match="The model must be"):
        attributions.local_mdi(LinearRegression(), X, y)
