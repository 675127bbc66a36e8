"""Local MDI+ of whole models, against the definition; and what callers get wrong."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import ElasticNet as SklearnElasticNet
from sklearn.linear_model import Lasso, LinearRegression

import attributions
from attributions.mdi.elastic_net import ElasticNet
from attributions.mdi.least_squares import Ridge
from attributions.per_row.aggregates import aggregate_trees
from attributions.per_row.individual import attribute_per_tree
from attributions.reference import definitions as reference
from attributions.reference import stumps as plain
from gbt import GBTRegressor, load
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyClassifier, GreedyRegressor
from tests.stump_cases import drawn_by

N, P = 150, 5
X, y = make_friedman1(N, P, noise=1.0, random_state=0)
X = X.astype(np.float32).astype(np.float64)  # as forests compare them
X[::17, 1] = np.nan
labels = np.where(y > 14, "yes", "no")
NEW = X[:40] + 0.01

FOREST = RandomForestRegressor(6, min_samples_leaf=3, max_features=2, random_state=0).fit(X, y)
BOOSTED = GreedyRegressor(n_estimators=6, max_depth=4, subsample=0.7, random_state=0).fit(X, y)
CLASSIFIER = GreedyClassifier(n_estimators=6, max_depth=3, reg_lambda=2.0).fit(X, labels)


CLASSES, TARGETS = np.digitize(y, np.quantile(y, [0.3, 0.7])), np.column_stack([y, y[::-1]])
SETTINGS = {"min_samples_leaf": 4, "random_state": 0}
MODELS = {
    "forest": (FOREST, y),
    "boosted": (BOOSTED, y),
    "log": (CLASSIFIER, labels),
    "softmax": (
        GreedyClassifier(3, max_depth=3, subsample=0.8, random_state=0).fit(X, CLASSES),
        CLASSES,
    ),
    "classes": (RandomForestClassifier(3, **SETTINGS).fit(X, CLASSES), CLASSES),
    "targets": (RandomForestRegressor(3, **SETTINGS).fit(X, TARGETS), TARGETS),
}
ROWS = ["all", "inbag", "oob", "uniform"]
CASES = [
    *product(("forest", "boosted", "log"), (False, True), ROWS),
    *product(("softmax", "classes", "targets"), (True,), ("all",)),
]


def steps_of(model, target):
    """Yield every tree with its output: response, hessian and how often it drew the rows."""
    ensemble = as_ensemble(model)
    n_outputs = ensemble.n_outputs
    if not hasattr(model, "ensemble_"):
        if target is CLASSES:
            target = target[:, np.newaxis] == np.arange(3)
        of_output = np.reshape(target * 1.0, (N, -1)).T
        drawn = drawn_by(model)
        for m, tree in enumerate(ensemble.trees):
            k = m % n_outputs
            yield k, tree, of_output[k], np.ones(N), drawn[m // n_outputs]
        return
    target = (target == "yes") * 1.0 if target is labels else target
    raw = np.zeros((N, n_outputs)) + ensemble.base_score
    for m, tree in enumerate(ensemble.trees):
        k = m % n_outputs
        if k == 0:  # all trees of a round were grown on the derivatives before the round
            before = raw.copy() if n_outputs > 1 else raw[:, 0].copy()
            g, h = (of.reshape(N, -1) for of in ensemble.loss.gradient_hessian(target, before))
        drawn = np.isin(np.arange(N), model.sampled_rows(m)) * 1.0
        yield k, tree, -g[:, k] / h[:, k], h[:, k], drawn
        raw[:, k] += [tree.value[reference.path(tree, x)[-1]] for x in X]


def expected_parts(name, rows, raw, penalty):
    """Return scores of the training rows, (M / K, N, P, K), and K intercepts, by the definition."""
    model, target = MODELS[name]
    rate = as_ensemble(model).learning_rate
    parts, intercepts = {}, {}
    for k, tree, response, hessian, drawn in steps_of(model, target):
        weight = {
            "all": np.where(drawn > 0, drawn, 1.0), "inbag": drawn, "oob": (drawn == 0) * 1.0,
            "uniform": np.ones(N),
        }[rows]  # fmt: skip
        columns, blocks = plain.mdi_columns(tree, X, hessian * drawn, raw)
        b, c = plain.ridge(columns, response, hessian * weight, penalty)
        parts.setdefault(k, []).append(rate * plain.by_block(columns, blocks, c, P))
        intercepts.setdefault(k, []).append(rate * b)
    start = np.array([sum(of_output) for of_output in intercepts.values()])
    return np.stack([*parts.values()], axis=-1), as_ensemble(model).base_score + start


@pytest.mark.parametrize(("name", "raw", "rows"), CASES)
def test_scores_are_those_of_the_definition(name, raw, rows):
    model, target = MODELS[name]
    if name == "log" and rows == "oob":
        return  # every tree saw every row
    parts, start = expected_parts(name, rows, raw, penalty=2.0)
    options = {"linear_model": Ridge(2.0), "raw": raw, "rows": rows}
    found = attributions.local_mdi(model, X, target, **options)
    expected = parts.sum(axis=0)
    shape = expected.shape if len(start) > 1 else (N, P)
    assert_close(found.values, expected.reshape(shape), np.abs(parts).max() * len(parts), k=2**20)
    bases = np.reshape(found.base_values, (N, -1))
    assert_close(bases, np.tile(start, (N, 1)), 20.0, k=2**16)
    assert_close(found.surrogate_prediction, found.base_values + found.values.sum(axis=1), 60.0)
    assert_close(found.model_prediction, as_ensemble(model).raw_predict(X), 60.0)
    assert_same(found.surrogate_residual, found.model_prediction - found.surrogate_prediction)
    assert_close(found.residual(found.model_prediction), found.surrogate_residual, 99.0)
    assert_same(found.penalty, np.full(as_ensemble(model).n_trees, 2.0))
    if raw and rows == "all" and name != "log":  # where no parts are equal but for rounding
        ranks = attributions.local_mdi(model, X, target, **options, aggregate="rank")
        mean = np.mean(np.apply_along_axis(plain.ranks, 2, parts), axis=0)
        assert_close(ranks.values, mean.reshape(shape), float(P))
    if len(start) > 1:
        one = found.output(1)
        for of in ("base_values", "surrogate_prediction", "model_prediction", "surrogate_residual"):
            assert_same(getattr(one, of), getattr(found, of)[:, 1])
        assert_same(one.values, found.values[:, :, 1])


def test_absolute_values_and_ranks_by_the_rule_of_the_authors():
    parts, _ = expected_parts("forest", "all", True, penalty=2.0)
    options = {"linear_model": Ridge(2.0)}
    absolute = attributions.local_mdi(FOREST, X, y, **options, aggregate="absolute")
    assert_close(absolute.values, np.abs(parts[..., 0]).sum(axis=0), 99.0, k=2**16)
    total, count = np.zeros((N, P)), np.zeros(P)
    for part in np.abs(parts[..., 0]):
        used = part.any(axis=0)
        part[:, ~used] = -1
        ranks = part.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable") * 1.0
        total += np.where(used, ranks, 0.0)
        count += used
    found = attributions.local_mdi(FOREST, X, y, **options, aggregate="rank_where_used")
    assert_close(found.values, total / np.maximum(count, 1), float(P))


def test_ranks_of_a_row_do_not_depend_on_other_rows():
    whole = aggregate_trees(BOOSTED.ensemble_, X, "tree_shap", "rank")
    assert_same(aggregate_trees(BOOSTED.ensemble_, X[7:9], "tree_shap", "rank"), whole[7:9])
    parts = np.array([r for _, r in attribute_per_tree(BOOSTED.ensemble_, X, "tree_shap")])
    expected = np.mean([[plain.ranks(row) for row in part] for part in parts], axis=0)
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
    for model in (FOREST, BOOSTED):
        with refused("fitted on .* rows or more, and X_train has 100"):
            attributions.local_mdi(model, X[:100], y[:100])
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


def test_several_outputs_where_they_are_not_known():
    for score in (attributions.mdi_plus, attributions.mdi_oob):
        for name, n_outputs in (("targets", 2), ("classes", 3)):
            with refused(f"judges one target or two classes, and the forest has {n_outputs}"):
                score(MODELS[name][0], X, MODELS[name][1])
    with refused("y has one column|y holds"):
        attributions.local_mdi(MODELS["targets"][0], X, y)


def test_rows_out_of_bag_that_do_not_exist():
    extra = ExtraTreesRegressor(3, random_state=0).fit(X, y)
    for model, target in ((extra, y), (CLASSIFIER, labels)):
        with refused("rows='oob' needs rows that a tree did not see"):
            attributions.local_mdi(model, X, target, rows="oob")
    with refused("mdi_oob needs rows that a tree did not draw.*bootstrap=True"):
        attributions.mdi_oob(extra, X, y)
    with refused("rows='none'; use 'all', 'inbag', 'oob' or 'uniform'"):
        attributions.local_mdi(extra, X, y, rows="none")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_train": np.where(np.arange(N) == 3, np.nan, y)}, "y is nan in row 3"),
        ({"X_train": X[:, :-1]}, "needs a table with 5 columns"),
        ({"X": X[:, :-1]}, "needs a table with 5 columns"),
        ({"aggregate": "mean"}, "aggregate='mean'; use 'sum', 'absolute', 'rank'"),
        ({"linear_model": Ridge(folds=0)}, "folds=0; use from"),
        ({"linear_model": Ridge(folds=N + 1)}, "folds=151; use from"),
        ({"linear_model": Ridge(folds="all")}, "folds='all'; use a number"),
        ({"linear_model": Ridge(folds=np.zeros(N))}, "all rows in one fold"),
        ({"linear_model": Ridge(folds=np.arange(3))}, "needs one fold number for each row"),
        ({"sample_weight": -np.ones(N)}, "sample_weight must not be negative"),
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
