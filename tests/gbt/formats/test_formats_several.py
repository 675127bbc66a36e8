"""Models of several classes and targets, and of other losses, of every library: the same
predictions, and G and H that are those of the training rows.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

from attributions import absolute, predecomp, saabas, total_gain, tree_inner, tree_shap
from gbt import load
from gbt.files.documents import InvalidModelError
from gbt.formats import as_ensemble
from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.robust import Absolute, Huber, PseudoHuber, Quantile
from gbt.losses.several_outputs import SeveralTargets, Softmax
from tests.asserts import EPS, EPS_32, assert_close, assert_same, is_before, peer

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")

SIZE = {"n_estimators": 6, "max_depth": 3, "learning_rate": 0.3}


@cache
def data():
    """Rows of float32 numbers, some missing, with classes and amounts that depend on them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)).astype(np.float32)
    y = rng.permutation(np.arange(400) % 3)
    X[:, 0] += y
    amount = rng.gamma(2.0, np.exp(0.4 * X[:, 0]))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, amount


def xgb(kind, **options):
    def fit(X, y):
        return getattr(peer("xgboost"), f"XGB{kind}")(n_jobs=1, **SIZE, **options).fit(X, y)

    return fit, lambda model, X: model.predict(X, output_margin=True)


def lgb(kind, **options):
    def fit(X, y):
        asked = {**SIZE, "n_jobs": 1, "verbose": -1, "min_child_samples": 5, **options}
        return getattr(peer("lightgbm"), f"LGBM{kind}")(**asked).fit(X, y)

    return fit, lambda model, X: model.predict(X, raw_score=True)


def skl(estimator, raw):
    return lambda X, y: estimator.fit(X, y), raw


def raw_of_histograms(model, X):
    raw = model._raw_predict(X)
    return raw if raw.shape[1] > 1 else raw[:, 0]


KNOWN, REFITTED = "all", "leaves are refitted"


def of_xgboost():
    """Return what makes G of losses without curvature unknown in the XGBoost that is installed."""
    try:
        return REFITTED if is_before("xgboost", 3, 4) else "trained on smoothed derivatives"
    except ModuleNotFoundError:
        return None  # these tests are skipped


HGB = {"max_iter": 6, "max_depth": 3}
FEW = {"n_estimators": 4, "max_depth": 4, "random_state": 0}
MODELS = {  # how to fit, what is predicted; target, loss, and what makes G unknown
    "xgboost classes": (*xgb("Classifier"), "classes", Softmax(3), KNOWN),
    "xgboost softmax": (
        *xgb("Classifier", objective="multi:softmax"), "classes", Softmax(3), KNOWN,
    ),
    "xgboost targets": (*xgb("Regressor"), "both", SeveralTargets(2), KNOWN),
    "xgboost labels": (
        *xgb("Classifier"), "labels", SeveralTargets(2, "half_logistic"), KNOWN,
    ),
    "xgboost poisson": (
        *xgb("Regressor", objective="count:poisson"), "amount", Poisson(float(np.float32(0.7))),
        "max_delta_step=0.7",
    ),
    "xgboost gamma": (
        *xgb("Regressor", objective="reg:gamma"), "amount", Gamma(is_newton=True), KNOWN,
    ),
    "xgboost tweedie": (
        *xgb("Regressor", objective="reg:tweedie", tweedie_variance_power=1.25), "amount",
        Tweedie(1.25, is_newton=True), KNOWN,
    ),
    "xgboost squared log error": (
        *xgb("Regressor", objective="reg:squaredlogerror"), "amount", SquaredLogError(), KNOWN,
    ),
    "xgboost pseudo-Huber": (
        *xgb("Regressor", objective="reg:pseudohubererror", huber_slope=2.0), "amount",
        PseudoHuber(2.0), KNOWN,
    ),
    "xgboost absolute": (
        *xgb("Regressor", objective="reg:absoluteerror"), "amount", Absolute(), of_xgboost(),
    ),
    "xgboost quantile": (
        *xgb("Regressor", objective="reg:quantileerror", quantile_alpha=0.75), "amount",
        Quantile(0.75), of_xgboost(),
    ),
    "lightgbm classes": (*lgb("Classifier"), "classes", Softmax(3, 1.5), KNOWN),
    "lightgbm classes from 0": (
        *lgb("Classifier", boost_from_average=False), "classes", Softmax(3, 1.5), KNOWN,
    ),
    "lightgbm one against all": (
        *lgb("Classifier", objective="multiclassova"), "classes",
        SeveralTargets(3, "half_logistic"), KNOWN,
    ),
    "lightgbm poisson": (*lgb("Regressor", objective="poisson"), "amount", Poisson(0.7), KNOWN),
    "lightgbm gamma": (
        *lgb("Regressor", objective="gamma"), "amount", Gamma(is_newton=True), KNOWN,
    ),
    "lightgbm tweedie": (
        *lgb("Regressor", objective="tweedie", tweedie_variance_power=1.25), "amount",
        Tweedie(1.25, is_newton=True), KNOWN,
    ),
    "lightgbm quantile": (
        *lgb("Regressor", objective="quantile", alpha=0.8), "amount", Quantile(0.8), REFITTED,
    ),
    "lightgbm absolute": (*lgb("Regressor", objective="l1"), "amount", Absolute(), REFITTED),
    "lightgbm huber": (
        *lgb("Regressor", objective="huber", alpha=0.8), "amount", Huber(0.8), "start value",
    ),
    "sklearn boosting classes": (
        *skl(
            GradientBoostingClassifier(**SIZE, random_state=0),
            lambda model, X: model.decision_function(X),
        ),
        "classes", Softmax(3, 1.5), "log_loss",
    ),
    "sklearn histograms classes": (
        *skl(HistGradientBoostingClassifier(**HGB), raw_of_histograms), "classes",
        Softmax(3, 1.0), "log_loss",
    ),
    **{
        f"sklearn histograms {loss}": (
            *skl(HistGradientBoostingRegressor(loss=loss, **options, **HGB), raw_of_histograms),
            "amount", ours, loss,
        )
        for loss, ours, options in (
            ("poisson", Poisson(0.0), {}),
            ("gamma", Gamma(is_newton=True), {}),
            ("absolute_error", Absolute(), {}),
            ("quantile", Quantile(0.8), {"quantile": 0.8}),
        )
    },
    **{
        f"sklearn boosting {loss}": (
            *skl(
                GradientBoostingRegressor(loss=loss, alpha=0.8, **SIZE),
                lambda model, X: model.predict(X),
            ),
            "amount", ours, loss,
        )
        for loss, ours in (("absolute_error", Absolute()), ("quantile", Quantile(0.8)))
    },
    **{
        f"sklearn {type(forest).__name__}": (
            *skl(forest, lambda model, X: model.predict_proba(X)), "classes", SeveralTargets(3),
            KNOWN,
        )
        for forest in (
            RandomForestClassifier(bootstrap=False, **FEW),
            ExtraTreesClassifier(**FEW),
            DecisionTreeClassifier(max_depth=4, random_state=0),
        )
    },
    "sklearn forest targets": (
        *skl(RandomForestRegressor(bootstrap=False, **FEW), lambda model, X: model.predict(X)),
        "both", SeveralTargets(2), KNOWN,
    ),
}  # fmt: skip


@cache
def fitted(name):
    """Return the model, its rows and targets, and what it predicts."""
    fit, raw, target, _, _ = MODELS[name]
    X, y, amount = data()
    X = np.nan_to_num(X) if "sklearn boosting" in name else X
    targets = {
        "classes": np.array(["a", "b", "c"])[y] if "xgb" not in name else y,
        "amount": amount,
        "both": np.column_stack([amount, y]),
        "labels": np.column_stack([y == 1, amount > 2]).astype(int),
    }
    model = fit(X, targets[target])
    return model, X, targets[target], raw(model, X)


@pytest.mark.parametrize("name", MODELS)
def test_every_row_is_predicted_alike(name):
    model, X, _, raw = fitted(name)
    ensemble = as_ensemble(model)
    assert ensemble.loss == MODELS[name][3]
    eps = EPS_32 if "xgboost" in name else EPS
    assert_close(ensemble.raw_predict(X), raw, np.abs(raw) + 4, eps=eps)
    assert_same(as_ensemble(model).value, ensemble.value)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_known_and_what_is_said(name):
    model, _, _, _ = fitted(name)
    reason = MODELS[name][4]
    if reason == KNOWN:
        ensemble = as_ensemble(model)
        assert ensemble.about_gradients is None
        assert {"gradients", "hessians", "values"} <= ensemble.statistics
        return
    ensemble = as_ensemble(model)
    assert "gradients" not in ensemble.statistics
    assert ("values" in ensemble.statistics) >= ("smoothed" in reason)
    with pytest.raises(ValueError, match=f"needs the gradients .* is unknown: .*{reason}"):
        total_gain(ensemble)


@pytest.mark.parametrize("name", MODELS)
def test_sums_are_those_of_the_training_rows(name):
    """No warning: the rows do not contradict what the library kept. Then Propositions 1 and 3."""
    model, X, y, raw = fitted(name)
    complete = as_ensemble(model, X, y)
    parts = predecomp(complete, X)
    terms = np.abs(parts.values).sum(axis=1) + np.abs(parts.base_values) + np.abs(raw) + 4
    assert_close(parts.residual(complete.raw_predict(X)), np.zeros(raw.shape), terms)
    newton = MODELS[name][4] not in (
        REFITTED, of_xgboost(), "max_delta_step=0.7", "absolute_error", "quantile", "start value",
    )  # fmt: skip
    if not newton:
        return  # values are not -rate G/(H + lambda)
    gain = total_gain(complete, per_tree=True, per_output=True)
    target = y
    if "classes" in MODELS[name][2]:
        target = np.unique(y, return_inverse=True)[1]
    inner = tree_inner(complete, X, target, per_tree=True, per_output=True, standard_error=False)
    size = np.abs(complete.sum_gradient).max() * np.abs(complete.value).max()
    size = 64 * size / complete.learning_rate + gain.values.sum()
    assert_close(inner.per_tree, gain.per_tree, size, eps=EPS_32)
    assert_close(inner.per_output, gain.per_output, size, eps=EPS_32)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["xgboost absolute", "xgboost quantile"])
def test_rows_are_compared_with_the_derivatives_that_a_loss_without_curvature_has(name, weighted):
    """Smoothed ones or 1, by the version of XGBoost: the training rows pass without a word.

    The statistics that come back are those of the loss itself, for which G is a sum of signs.
    """
    _, X, y, _ = fitted(name)
    weight = np.random.default_rng(5).gamma(2.0, size=len(X)) if weighted else np.ones(len(X))
    objective = {"absolute": "reg:absoluteerror", "quantile": "reg:quantileerror"}[name.split()[1]]
    asked = {"objective": objective, "n_estimators": 5, "max_depth": 3, "n_jobs": 1}
    asked |= {"quantile_alpha": 0.75} if "quantile" in objective else {}
    model = peer("xgboost").XGBRegressor(**asked).fit(X, y, sample_weight=weight)
    complete = as_ensemble(model, X, y, weight)
    roots = complete.tree_offset[:-1]
    assert_close(
        complete.sum_hessian[roots], np.full(5, weight.sum()), weight.sum(), k=400, eps=EPS_32
    )
    above = np.sign(complete.base_score - y)
    alpha = 0.75 if "quantile" in objective else 0.5
    sign = above if alpha == 0.5 else np.where(above > 0, 1 - alpha, np.where(above < 0, -alpha, 0))
    assert_close(complete.sum_gradient[0], (weight * sign).sum(), weight.sum(), k=400, eps=EPS_32)
    with pytest.warns(UserWarning, match="other rows or weights"):
        as_ensemble(model, X, y, weight + np.arange(len(X)) % 2)
    if not is_before("xgboost", 3, 4):  # where h depends on the target
        with pytest.warns(UserWarning, match="other rows or weights"):
            as_ensemble(model, X, y[::-1], weight)


@pytest.mark.parametrize(
    "name", ["xgboost classes", "lightgbm classes", "sklearn histograms classes"]
)
def test_attributions_need_no_training_rows(name):
    model, X, y, _ = fitted(name)
    ensemble = as_ensemble(model)
    rng = np.random.default_rng(2)
    new = X + rng.normal(scale=1e-3, size=X.shape).astype(np.float32)
    cover = "count" if "sklearn" in name else "hessian"
    result = saabas(ensemble, new, weights=cover)
    raw = ensemble.raw_predict(new)
    assert_close(result.residual(raw), np.zeros((400, 3)), np.abs(result.values).sum(axis=1) + 4)
    if name != "sklearn histograms classes":
        assert set(tree_inner(model, new, y).ranking()[:1]) == {0}
        assert absolute(model, new, per_output=True).per_output.shape == (3, 4)


def test_tree_shap_is_that_of_shap_and_of_xgboost():
    shap, xgboost = peer("shap"), peer("xgboost")
    model, X, _, _ = fitted("xgboost classes")
    ours = tree_shap(model, X)
    assert ours.output_names == (0, 1, 2)
    theirs = model.get_booster().predict(xgboost.DMatrix(X), pred_contribs=True)
    size = np.abs(ours.values).max() + 1
    assert_close(ours.values, theirs[:, :, :-1].swapaxes(1, 2), size, k=1e3, eps=EPS_32)
    of_shap = shap.TreeExplainer(model.get_booster()).shap_values(X)
    assert_close(ours.values, of_shap, size, k=1e3, eps=EPS_32)


def test_an_early_stop_keeps_whole_rounds():
    xgboost = peer("xgboost")
    X, y, _ = data()
    model = xgboost.XGBClassifier(n_jobs=1, n_estimators=60, early_stopping_rounds=2, eta=1.0)
    model.fit(X[:250], y[:250], eval_set=[(X[250:], y[250:])], verbose=False)
    ensemble = as_ensemble(model)
    assert ensemble.n_rounds == model.best_iteration + 1 < 59
    assert_close(ensemble.raw_predict(X), model.predict(X, output_margin=True), 20.0, eps=EPS_32)


def test_another_objective_than_softmax_is_found_out():
    """Gradients of one's own, whose classes do not add up to 0."""
    xgboost = peer("xgboost")
    X, y, _ = data()

    def objective(f, rows):
        gradient = np.tanh(f.reshape(400, 3)) + (y[:, None] != np.arange(3)) * 0.5
        return gradient, np.ones((400, 3))

    asked = {"objective": "multi:softprob", "num_class": 3, "base_score": 0.25}
    rows = xgboost.DMatrix(X, y)
    booster = xgboost.train(asked, rows, 3, obj=objective)
    ensemble = as_ensemble(booster)
    assert "classes do not add up to 0" in ensemble.about_gradients
    assert "gradients" not in ensemble.statistics


def test_catboost_classes():
    catboost = peer("catboost")
    X, y, _ = data()
    model = catboost.CatBoostClassifier(
        iterations=5, depth=3, loss_function="MultiClass", verbose=0, allow_writing_files=False
    ).fit(X, y)
    ensemble = as_ensemble(model)
    raw = model.predict(X, prediction_type="RawFormulaVal")
    assert ensemble.loss == Softmax(3, 1.0)
    assert_close(ensemble.raw_predict(X), raw, np.abs(raw) + 1)


def test_a_model_of_several_targets_survives_its_file(tmp_path):
    X, _, amount = data()
    y = np.column_stack([amount, -amount])
    model = as_ensemble(RandomForestRegressor(4, max_depth=3, random_state=0).fit(X, y))
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.loss == SeveralTargets(2)
    assert_same(again.raw_predict(X), model.raw_predict(X))
    document = (tmp_path / "model.json").read_text()
    (tmp_path / "model.json").write_text(document.replace('"half_squared_error"', '"no loss"'))
    with pytest.raises(InvalidModelError, match=r"ensemble\.loss\.of_each"):
        load(tmp_path / "model.json")
