"""Importing scikit-learn's trees: against scikit-learn, and against the training rows."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from attributions import permutation, predecomp, saabas, total_gain, tree_inner, tree_shap
from gbt.formats import as_ensemble
from gbt.model.soundness import STATISTICS
from tests.asserts import EPS_32, assert_close, assert_same, peer

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")

NO_GAPS = ("boosting", "boosting, from 0", "boosting, sampled")  # that take no missing values
MODELS = {
    "boosting": lambda: (
        GradientBoostingRegressor(n_estimators=8, random_state=0),
        GradientBoostingClassifier(n_estimators=8, random_state=0),
    ),
    "boosting, from 0": lambda: (
        GradientBoostingRegressor(n_estimators=5, init="zero", learning_rate=1.0, max_depth=1),
        GradientBoostingClassifier(n_estimators=5, init="zero", learning_rate=1.0, max_depth=1),
    ),
    "boosting, sampled": lambda: (
        GradientBoostingRegressor(n_estimators=5, subsample=0.5, max_depth=6, random_state=0),
        GradientBoostingClassifier(n_estimators=5, subsample=0.5, max_depth=6, random_state=0),
    ),
    "histograms": lambda: (
        HistGradientBoostingRegressor(max_iter=8, max_leaf_nodes=9, min_samples_leaf=5),
        HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=9, min_samples_leaf=5),
    ),
    "histograms, penalty": lambda: (
        HistGradientBoostingRegressor(max_iter=5, l2_regularization=3.0, max_bins=20),
        HistGradientBoostingClassifier(max_iter=5, l2_regularization=3.0, max_bins=20),
    ),
    "histograms, stumps": lambda: (
        HistGradientBoostingRegressor(max_iter=5, max_leaf_nodes=2, learning_rate=1.0),
        HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=2, learning_rate=1.0),
    ),
    "forest": lambda: (
        RandomForestRegressor(n_estimators=7, random_state=0),
        RandomForestClassifier(n_estimators=7, random_state=0),
    ),
    "forest, whole": lambda: (
        RandomForestRegressor(n_estimators=5, bootstrap=False, max_features=1, random_state=0),
        RandomForestClassifier(n_estimators=5, bootstrap=False, max_depth=4, random_state=0),
    ),
    "extra trees": lambda: (
        ExtraTreesRegressor(n_estimators=40, max_depth=5, random_state=0),
        ExtraTreesClassifier(n_estimators=40, max_depth=5, random_state=0),
    ),
    "tree": lambda: (
        DecisionTreeRegressor(random_state=0),
        DecisionTreeClassifier(random_state=0, criterion="entropy"),
    ),
    "tree, pruned": lambda: (
        DecisionTreeRegressor(max_leaf_nodes=9, ccp_alpha=0.001, random_state=0),
        DecisionTreeClassifier(max_leaf_nodes=9, class_weight="balanced", random_state=0),
    ),
}
SEES_ALL_ROWS = [name for name in MODELS if name not in ("boosting, sampled", "forest")]


def training_data(case, task):
    """Return rows, with missing values where the model takes them, targets and weights."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(250, 4))
    X[:, 1] = rng.integers(-2, 3, size=250)
    signal = X[:, 0] + X[:, 1] * X[:, 2]
    if case not in NO_GAPS:
        X[rng.random(X.shape) < 0.1] = np.nan
    y = signal + rng.normal(size=250)
    return X, y if task == 0 else np.where(y > 0.3, "yes", "no"), rng.gamma(1, size=250)


@cache
def fitted(case, task, weighted):
    model = MODELS[case]()[task]
    X, y, weight = training_data(case, task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=weight if weighted else None)
        return model, as_ensemble(model)


every_model = pytest.mark.parametrize("case", MODELS)
every_task = pytest.mark.parametrize("task", [0, 1], ids=["regression", "classification"])
either_weights = pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])


def rows_on_thresholds(ensemble, X):
    """Return rows with a cell on each threshold and one float to either side, and missing."""
    rows = [X]
    dtype = ensemble.input_dtype
    for t in np.flatnonzero(ensemble.left >= 0)[:200]:
        on = dtype(np.clip(ensemble.threshold[t], -1e30, 1e30))
        cells = [on, *np.nextafter(on, dtype([-np.inf, np.inf]))]
        cells += [np.nan] * bool(np.isnan(X).any())
        block = np.tile(X[t % len(X)], (len(cells), 1))
        block[:, ensemble.feature[t]] = cells
        rows.append(block)
    return np.concatenate(rows)


def predictions_of(model, X):
    """Return what scikit-learn calls a raw prediction, or the mean."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1] if hasattr(model, "classes_") else model.predict(X)


@every_model
@every_task
@either_weights
def test_every_row_is_predicted_alike(case, task, weighted):
    model, ensemble = fitted(case, task, weighted)
    X = rows_on_thresholds(ensemble, training_data(case, task)[0])
    terms = abs(ensemble.base_score) + ensemble.n_trees * np.abs(ensemble.value).max()
    assert_close(ensemble.raw_predict(X), predictions_of(model, X), np.full(len(X), terms), k=8)


@every_model
@every_task
@either_weights
def test_what_is_known(case, task, weighted):
    _, ensemble = fitted(case, task, weighted)
    is_lost = task == 1 and case.startswith(("boosting", "histograms"))
    is_lost |= case.startswith("histograms") and weighted
    assert ensemble.statistics == ({"counts"} if is_lost else set(STATISTICS))
    assert ensemble.is_forest == case.startswith(("forest", "extra"))


def sums_of_rows(ensemble, X, y, weight):
    """Add up G, H, their terms and counts by hand, each tree on the gradients that it saw."""
    leaves = ensemble.apply(X)
    raw = np.full(len(y), ensemble.base_score)
    for m, tree in enumerate(ensemble.trees):
        gradient, hessian = ensemble.loss.gradient_hessian(y, raw)
        columns = [weight * gradient, weight * hessian, weight * (np.abs(raw) + np.abs(y) + 1)]
        columns.append(np.ones(len(y)))
        sums = np.column_stack(
            [np.bincount(leaves[:, m], column, minlength=tree.n_nodes) for column in columns]
        )
        for t in range(tree.n_nodes - 1, -1, -1):
            if not tree.is_leaf[t]:
                sums[t] = sums[tree.left[t]] + sums[tree.right[t]]
        yield tree, sums.T
        if not ensemble.is_forest:
            raw = raw + tree.value[leaves[:, m]]


@pytest.mark.parametrize("case", SEES_ALL_ROWS)
@every_task
@either_weights
def test_sums_are_those_of_the_training_rows(case, task, weighted):
    model, kept = fitted(case, task, weighted)
    X, y, weight = training_data(case, task)
    weight = weight if weighted else np.ones(len(y))
    if getattr(model, "class_weight", None) is not None:
        n_of = {label: weight[y == label].sum() for label in ("no", "yes")}
        balanced = {label: len(y) / 2 / (y == label).sum() for label in n_of}
        weight = weight * np.array([balanced[label] for label in y])
    ensemble = as_ensemble(model, X, y, weight)  # without a warning
    assert ensemble.statistics == set(STATISTICS)
    target = (y == "yes") * 1.0 if task else y
    eps = EPS_32 if case.startswith("histograms") else 2**-52
    for tree, (G, H, size, n) in sums_of_rows(ensemble, X, target, weight):
        assert_close(tree.sum_gradient, G, size, eps=eps)
        assert_close(tree.sum_hessian, H, size, eps=eps)
        assert_same(tree.n_samples, n)
        step = G / (H + ensemble.reg_lambda)
        sizes = np.abs(step) + size / (H + ensemble.reg_lambda) + 1
        assert_close(tree.value, -ensemble.learning_rate * step, sizes, eps=eps)
    leaf = kept.left < 0
    assert_same(ensemble.value[leaf], kept.value[leaf])


@pytest.mark.parametrize("case", SEES_ALL_ROWS)
@every_task
def test_propositions_1_and_3(case, task):
    """Tree by tree; gradients that the library has added up in float32 allow no more."""
    model, _ = fitted(case, task, weighted=True)
    X, y, weight = training_data(case, task)
    if getattr(model, "class_weight", None) is not None:
        model, weight = model.__class__(max_leaf_nodes=9).fit(X, y, sample_weight=weight), weight
    ensemble = as_ensemble(model, X, y, weight)
    target = (y == "yes") * 1.0 if task else y
    gain = total_gain(ensemble, per_tree=True).per_tree
    for standard_error in (True, False):
        inner = tree_inner(
            ensemble, X, target, sample_weight=weight, per_tree=True, standard_error=standard_error
        ).per_tree
        eps = EPS_32 if case.startswith("histograms") else 2**-52
        G = np.abs(ensemble.sum_gradient).max()
        terms = (
            gain.sum(axis=1, keepdims=True)
            + 4 * G * np.abs(ensemble.value).max() / ensemble.learning_rate
        )
        assert_close(inner, gain, np.broadcast_to(terms, gain.shape), eps=eps)
    raw = ensemble.raw_predict(X)
    residual = predecomp(ensemble, X).residual(raw)
    assert_close(residual, 0 * raw, np.full(len(X), np.abs(ensemble.value).sum() + 1))


@pytest.mark.parametrize("case", [name for name in MODELS if "histograms" not in name])
def test_total_gain_is_the_decrease_of_impurity(case):
    model, ensemble = fitted(case, 0, weighted=True)
    estimators = getattr(model, "estimators_", [model])
    trees = [e.tree_ for e in np.ravel(estimators)]
    expected = np.zeros(4)
    for tree in trees:
        inner = np.flatnonzero(tree.children_left >= 0)
        weighed = tree.weighted_n_node_samples * tree.impurity
        left, right = tree.children_left[inner], tree.children_right[inner]
        np.add.at(expected, tree.feature[inner], weighed[inner] - weighed[left] - weighed[right])
    assert_close(total_gain(ensemble).values, expected, terms=expected.sum() * len(trees))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinity_is_a_number_where_missing_values_are_split_off(dtype):
    """The threshold is infinite there, and these models take infinities."""
    X = np.repeat([[1.0], [2.0], [np.nan]], 40, axis=0)
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, np.isnan(X[:, 0]) * 5.0)
    rows = np.array([[np.inf], [-np.inf], [np.nan], [1.0]], dtype=dtype)
    ensemble = as_ensemble(model)
    assert_close(ensemble.raw_predict(rows), model.predict(rows), 10.0)
    leaves = ensemble.apply(rows)
    assert_same(leaves[0], leaves[3])
    assert (leaves[0] != leaves[2]).any()


@pytest.mark.parametrize("case", ["boosting", "histograms", "forest", "extra trees", "tree"])
@every_task
def test_tree_shap_is_that_of_shap(case, task):
    shap = peer("shap")
    model, ensemble = fitted(case, task, weighted=False)
    X = np.nan_to_num(training_data(case, task)[0][:20])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = shap.TreeExplainer(model).shap_values(X, check_additivity=False)
    theirs = theirs[..., 1] if theirs.ndim == 3 else theirs
    cover = "hessian" if "hessians" in ensemble.statistics else "count"
    ours = tree_shap(ensemble, X, cover=cover).values
    terms = np.full(ours.shape, np.abs(ensemble.value).max() * ensemble.n_trees)
    assert_close(ours, theirs, terms, k=64, eps=EPS_32)  # shap's thresholds and sums are float32


def test_what_needs_no_gradients_works_where_they_are_lost():
    model, ensemble = fitted("boosting", 1, weighted=False)
    X, y, _ = training_data("boosting", 1)
    tree_shap(model, X[:5], cover="count")
    saabas(model, X[:5], weights="count")
    permutation(model, X, y, n_repeats=1, random_state=0)
    tree_inner(ensemble, X, y == "yes", ifa=_no_moves)
    for explain, message in [
        (lambda: tree_shap(model, X[:5]), r"weighed by 'hessian'.*{}.*Use 'count', or .*X=X_train"),
        (lambda: saabas(model, X[:5]), r"weighed by 'hessian'.*{}.*Use 'count', or .*X=X_train"),
        (
            lambda: predecomp(model, X[:5]),
            r"predecomp needs the values .*it has counts.*{}.*X=X_train",
        ),
        (lambda: tree_inner(model, X, y), r"predecomp needs the values .*{}"),
        (lambda: total_gain(model), "total_gain needs the gradients and hessians .*{}"),
    ]:
        reason = r"scikit-learn model is unknown: scikit-learn does not keep it under loss='log_lo"
        with pytest.raises(ValueError, match=message.format(reason)):
            explain()


def _no_moves(ensemble, m, X):
    return np.zeros(X.shape)


@every_task
@pytest.mark.parametrize("case", ["forest", "extra trees", "tree"])
def test_a_forest_is_judged_at_what_it_predicts_before_any_split(case, task):
    """TreeInner: the moves of every tree against f_0 - y, averaged and divided by 1/M.

    f_0 is the mean of the roots. It was 0, at which the origin of y decided on importance: the
    moves of new rows do not average 0, and were multiplied by the mean of y, too.
    """
    model, _ = fitted(case, task, weighted=False)
    X, y, _ = training_data(case, task)
    trees = getattr(model, "estimators_", [model])
    start = np.mean([tree.tree_.value[0, 0, -1] for tree in trees])
    above = ((y == "yes") * 1.0 if task else y) - start
    expected = np.zeros(4)
    for tree in trees:
        part = predecomp(as_ensemble(tree), X).values
        expected += (part * above[:, np.newaxis]).sum(axis=0)
    terms = np.abs(expected).sum() + len(trees) * np.abs(above).sum()
    found = tree_inner(model, X, y)  # labels, as the model has them
    assert_close(found.values, expected, terms)
    without = tree_inner(model, X, y, standard_error=False)
    assert_close(without.values, expected, terms)


def test_training_rows_of_another_model_are_told():
    model, _ = fitted("tree", 0, weighted=False)
    X, y, weight = training_data("tree", 0)
    with pytest.warns(UserWarning, match="scikit-learn model is not what these rows make of it"):
        as_ensemble(model, X, y, weight)


def test_rows_cannot_check_what_saw_some_of_them():
    for case in ("forest", "boosting, sampled"):
        model, ensemble = fitted(case, 0, weighted=False)
        X, y, _ = training_data(case, 0)
        assert as_ensemble(model, X, y) is ensemble


def test_a_model_is_imported_once_while_it_stays_as_it_is():
    for case in ("boosting", "histograms", "forest", "tree"):
        model, ensemble = fitted(case, 0, weighted=False)
        assert as_ensemble(model) is ensemble
    X, y, _ = training_data("boosting", 0)
    model = GradientBoostingRegressor(n_estimators=2, warm_start=True).fit(X, y)
    ensemble = as_ensemble(model)
    assert as_ensemble(model.set_params(n_estimators=3).fit(X, y)).n_trees == 3
    halved = as_ensemble(model.set_params(learning_rate=0.05))
    assert_close(halved.raw_predict(X), model.predict(X), np.full(len(X), 9.0))
    assert ensemble.n_trees == 2


def test_names_of_columns():
    pandas = peer("pandas")
    X, y, _ = training_data("boosting", 0)
    table = pandas.DataFrame(X, columns=["age", "height", "a b", "1"])
    for model in (DecisionTreeRegressor(), HistGradientBoostingRegressor(max_iter=2)):
        assert as_ensemble(model.fit(table, y)).feature_names == ("age", "height", "a b", "1")


REFUSED = {
    "absolute error": (
        lambda X, y: DecisionTreeRegressor(criterion="absolute_error").fit(X, y),
        "criterion='absolute_error'",
    ),
    "poisson": (
        lambda X, y: RandomForestRegressor(3, criterion="poisson").fit(X, np.exp(y)),
        "criterion='poisson'",
    ),
    "huber": (lambda X, y: GradientBoostingRegressor(loss="huber").fit(X, y), "loss='huber'"),
    "exponential": (
        lambda X, y: GradientBoostingClassifier(loss="exponential").fit(X, y > 0),
        "loss='exponential'",
    ),
    "an init": (
        lambda X, y: GradientBoostingRegressor(init=LinearRegression()).fit(X, y),
        "init=LinearRegression",
    ),
    "targets that are classes": (
        lambda X, y: RandomForestClassifier(2).fit(X, np.column_stack([y > 0, y > 1])),
        "several targets that are classes",
    ),
    "isolation": (
        lambda X, y: IsolationForest(n_estimators=3).fit(X),
        "An IsolationForest cannot be imported",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    fit, message = REFUSED[case]
    X, y, _ = training_data("boosting", 0)
    with pytest.raises(ValueError, match=message):
        as_ensemble(fit(X, y))


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0], max_depth=3),
        RandomForestRegressor(3, monotonic_cst=[1, 0, 0, 0], max_depth=3),
        HistGradientBoostingRegressor(monotonic_cst=[1, 0, 0, 0], max_iter=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_monotone_constraints_hide_the_gradients(model):
    X, y, _ = training_data("boosting", 0)
    model.fit(X, y)
    ensemble = as_ensemble(model)
    assert "trained with monotonic_cst" in ensemble.about_gradients
    assert_close(ensemble.raw_predict(X), model.predict(X), np.full(len(X), 9.0))
    assert "gradients" not in ensemble.statistics


@pytest.mark.parametrize(
    "model",
    [DecisionTreeRegressor(), RandomForestClassifier(), GradientBoostingRegressor(),
     HistGradientBoostingClassifier()],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_models_that_are_not_fitted(model):
    with pytest.raises(NotFittedError):
        as_ensemble(model)
