"""Importing scikit-learn's trees: against scikit-learn, and against the training rows."""

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from attributions import permutation, predecomp, saabas, total_gain, tree_inner, tree_shap
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same
from tests.gbt.formats.read_models import fitted, imported, table

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")


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


def test_what_needs_no_gradients_works_where_they_are_lost():
    model, X, y, *_ = fitted("sklearn two, boosting")
    ensemble = imported("sklearn two, boosting")
    # By default children are weighed by rows where a model has no hessians.
    for explain, by_count in ((tree_shap, {"cover": "count"}), (saabas, {"weights": "count"})):
        assert_same(explain(model, X[:5]).values, explain(model, X[:5], **by_count).values)
    permutation(model, X, y, n_repeats=1, random_state=0)
    tree_inner(ensemble, X, y, ifa=lambda ensemble, m, X: np.zeros(X.shape))
    for explain, message in [
        (
            lambda: tree_shap(model, X[:5], cover="hessian"),
            r"weighed by 'hessian'.*{}.*Weigh them by 'count' .*, or .*X=X_train",
        ),
        (lambda: predecomp(model, X[:5]), r"predecomp needs the values .*has counts.*{}.*X=X_tra"),
        (lambda: tree_inner(model, X, y), r"predecomp needs the values .*{}"),
        (lambda: total_gain(model), "total_gain needs the gradients and hessians .*{}"),
    ]:
        reason = r"scikit-learn model is unknown: scikit-learn does not keep it under loss='log_lo"
        with pytest.raises(ValueError, match=message.format(reason)):
            explain()


def test_a_model_is_imported_once_while_it_stays_as_it_is():
    X, y = table("full")
    model = GradientBoostingRegressor(n_estimators=2, warm_start=True).fit(X, y)
    ensemble = as_ensemble(model)
    assert as_ensemble(model.set_params(n_estimators=3).fit(X, y)).n_trees == 3
    halved = as_ensemble(model.set_params(learning_rate=0.05))
    assert_close(halved.raw_predict(X), model.predict(X), np.full(len(X), 9.0))
    assert ensemble.n_trees == 2


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
    X, y = table("full")
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
    X, y = table("full")
    model.fit(X, y)
    ensemble = as_ensemble(model)
    assert "trained with monotonic_cst" in ensemble.about_gradients
    assert_close(ensemble.raw_predict(X), model.predict(X), np.full(len(X), 9.0))
    assert "gradients" not in ensemble.statistics
