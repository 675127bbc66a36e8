"""Models that are read, of any library, predict alike and have the sums of their training rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from attributions import held_out_gain, predecomp, saabas, total_gain, tree_inner, tree_shap
from gbt import load
from gbt.files.documents import InvalidModelError
from gbt.formats import as_ensemble
from gbt.formats.lightgbm.model import from_lightgbm
from gbt.formats.xgboost.model import from_xgboost
from gbt.losses.by_name import is_same
from gbt.model.soundness import STATISTICS
from tests.asserts import (
    EPS,
    EPS_32,
    assert_close,
    assert_same,
    assert_same_ensemble,
    assert_sums_of_rows,
    assert_valid_ensemble,
    peer,
)
from tests.gbt.formats.read_models import (
    MODELS,
    OF_ORDER,
    OF_TIMES,
    REFITTED,
    fitted,
    imported,
    rows_beside_thresholds,
    size_of,
    some,
    table,
    targets,
)

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")

every_model = pytest.mark.parametrize("name", MODELS)


@every_model
def test_every_row_is_predicted_alike(name):
    case, ensemble = MODELS[name], imported(name)
    model, X, *_ = fitted(name)
    eps = EPS_32 if name.startswith("xgboost") else EPS
    is_table = case.rows != "levels"
    for rows in (rows_beside_thresholds(ensemble, X) if is_table else X, table(case.rows, 1)[0]):
        raw = case.raw(model, rows)
        assert_close(ensemble.raw_predict(rows), raw, size_of(ensemble), eps=eps)


@every_model
def test_what_is_known_and_what_is_said(name):
    """Where values are known they add up to the prediction, whatever made the gradients unknown."""
    case, ensemble = MODELS[name], imported(name)
    assert as_ensemble(fitted(name).model) is ensemble  # is kept
    assert case.loss is None or is_same(ensemble.loss, case.loss)
    if "values" in ensemble.statistics:
        X = fitted(name).X[:40]
        raw = ensemble.raw_predict(X)
        assert_close(predecomp(ensemble, X).residual(raw), 0 * raw, size_of(ensemble), k=512)
    if case.unknown is None:
        assert {"gradients", "hessians", "values"} <= ensemble.statistics
        if ensemble.loss.name in ("half_squared_error", "half_logistic") and case.is_newton:
            assert_valid_ensemble(ensemble)
        return
    assert "gradients" not in ensemble.statistics
    with pytest.raises(ValueError, match=f"needs the gradients .* is unknown: .*{case.unknown}"):
        total_gain(ensemble)


def completed(name):
    """Return a model with the statistics of its training rows, which do not contradict it."""
    model, X, y, _, weight = fitted(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble = as_ensemble(model, X, y, weight)
    assert ensemble.statistics == set(STATISTICS)
    return ensemble


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name].sees_all])
def test_sums_are_those_of_the_training_rows(name):
    """What the library kept is kept, and so it is compared here; the rest are the rows' sums."""
    _, X, _, target, weight = fitted(name)
    ensemble, kept = completed(name), imported(name)
    assert_sums_of_rows(ensemble, X, target, weight, eps=EPS_32)
    assert_close(ensemble.raw_predict(X), kept.raw_predict(X), size_of(ensemble))
    # But for LightGBM's start, which rows tell exactly; and every library has pairs of its own.
    is_moved = name.startswith("lightgbm") or kept.loss.has_queries
    if kept.statistics >= {"gradients", "hessians"} and not is_moved:
        for array in ("sum_gradient", "sum_hessian", "gain", "value"):
            assert_same(getattr(ensemble, array), getattr(kept, array))


OF_EACH = (  # with losses without curvature, which XGBoost trains on h = 1 or on smoothed ones
    "xgboost numbers, defaults", "xgboost raw", "xgboost absolute", "xgboost quantile",
    "catboost numbers, defaults", "sklearn numbers, tree", "sklearn numbers, histograms",
    "sklearn two, histograms, penalty, weighted", "sklearn histograms classes",
    "sklearn histograms poisson", "sklearn histograms gamma", "sklearn two, boosting, weighted",
    "sklearn boosting classes",
)  # fmt: skip


@pytest.mark.parametrize("name", OF_EACH)
def test_rows_that_contradict_what_was_kept_are_told_and_believed(name):
    model, X, y, target, weight = fitted(name)
    ones = np.ones(len(X)) if weight is None else weight
    changes = [
        (slice(len(X) - 9), 1, ones),
        (slice(None), 1, ones * (1 + np.arange(len(X)) % 2)),
        *[(slice(None), -1, ones)] * (REFITTED not in str(imported(name).about_gradients)),
    ]
    for keep, step, w in changes:
        with pytest.warns(UserWarning, match=r"not what these rows make of it: at node \d+ of"):
            ensemble = as_ensemble(model, X[keep], y[::step][keep], w[keep])
        expected = imported(name).refit_statistics(X[keep], target[::step][keep], w[keep])
        for array in ("sum_gradient", "sum_hessian", "n_samples", "gain"):
            assert_same(getattr(ensemble, array), getattr(expected, array))


PROPOSITIONS = [  # under Cox's loss no row has a gradient of its own
    name for name, case in MODELS.items() if case.sees_all and case.is_newton and case.of != "times"
]


@pytest.mark.parametrize("name", PROPOSITIONS)
def test_propositions_1_and_3_of_every_tree_and_output(name):
    """Within what float32 gradients allow."""
    _, X, _, target, weight = fitted(name)
    ensemble = completed(name)
    raw = ensemble.raw_predict(X)
    for explain in (predecomp, saabas, tree_shap):
        assert_close(explain(ensemble, X).residual(raw), 0 * raw, size_of(ensemble), k=512)
    gain = total_gain(ensemble, per_tree=True, per_output=True)
    inner = tree_inner(
        ensemble, X, target, sample_weight=weight, per_tree=True, per_output=True,
        standard_error=False,
    )  # fmt: skip
    size = np.abs(ensemble.sum_gradient).max() * np.abs(ensemble.value).max()
    size = 4 * size / ensemble.learning_rate + gain.values.sum()
    assert_close(inner.per_tree, gain.per_tree, size, eps=EPS_32)
    if ensemble.n_outputs > 1:
        assert_close(inner.per_output, gain.per_output, size, eps=EPS_32)


@pytest.mark.parametrize("name", [*OF_TIMES, *OF_ORDER])
def test_measures_of_new_rows_ask_for_their_queries_and_times(name):
    model, X, *_ = fitted(name)
    X, signal = table("gaps", seed=9)
    y = targets(signal, MODELS[name].of)
    given = {"groups": y[:, 1]} if name in OF_ORDER else {}
    y_new = y[:, 0] if given else y
    assert held_out_gain(model, X, y_new, **given).ranking()[0] in (0, 1, 2)
    with_rows = completed(name)
    if MODELS[name].of != "times":
        assert tree_inner(with_rows, X, y_new, **given).ranking()[0] in (0, 1, 2)
    raw = with_rows.raw_predict(X)
    for explain in (predecomp, tree_shap):
        assert_close(explain(with_rows, X).residual(raw), 0 * raw, size_of(with_rows), k=512)


def gains_by_xgboost(booster):
    scores = booster.get_score(importance_type="total_gain")
    return [scores.get(f"f{k}", 0.0) for k in range(4)]


def gains_by_impurity(model):
    """Add up the decreases of scikit-learn's impurities, which are half of squared errors."""
    gains = np.zeros(4)
    for tree in (estimator.tree_ for estimator in np.ravel(getattr(model, "estimators_", model))):
        inner = np.flatnonzero(tree.children_left >= 0)
        weighed = tree.weighted_n_node_samples * tree.impurity
        left, right = tree.children_left[inner], tree.children_right[inner]
        np.add.at(gains, tree.feature[inner], weighed[inner] - weighed[left] - weighed[right])
    return gains


GAINS = {  # of the models of these names, by the libraries
    **dict.fromkeys(some("xgboost numbers", "xgboost two", "xgboost raw"), gains_by_xgboost),
    **dict.fromkeys(
        [name for name in some("sklearn numbers") if "histograms" not in name], gains_by_impurity
    ),
    **dict.fromkeys(
        some("lightgbm regression", "lightgbm classes"),
        lambda booster: booster.feature_importance("gain"),
    ),
}


@pytest.mark.filterwarnings("ignore:total_gain needs the gradients .* unknown origin")
@pytest.mark.parametrize("name", GAINS)
def test_total_gain_is_that_of_the_library(name):
    expected = np.asarray(GAINS[name](fitted(name).model))
    found = total_gain(imported(name)).values
    assert_close(found, expected, found.sum() + 1e-3, k=256, eps=EPS_32)


# Cover, and who says what rows get: the library, or shap. Of trees that are not symmetric what
# CatBoost 1.2.10 says does not add up to its predictions.
SHAP = {
    "xgboost numbers, defaults": ("hessian", "xgboost"),
    "xgboost classes": ("hessian", "xgboost"),
    "lightgbm regression, deep": ("count", "lightgbm"),
    "lightgbm binary, 0 is missing": ("count", "lightgbm"),
    "catboost numbers, defaults": ("hessian", "catboost"),
    "catboost numbers, ordered": ("hessian", "catboost"),
    "catboost numbers, deep": ("hessian", "catboost"),
    "lightgbm regression, defaults": ("count", "shap"),
    "sklearn numbers, boosting": ("hessian", "shap"),
    "sklearn two, boosting": ("count", "shap"),
    "sklearn two, histograms": ("count", "shap"),
    "sklearn two, extra trees": ("hessian", "shap"),
    "sklearn numbers, tree": ("hessian", "shap"),
}


def contributions(model, X, library):
    """Return what a library, or shap, says that features contributed."""
    if library == "xgboost":
        given = model.predict(peer("xgboost").DMatrix(X), pred_contribs=True)[..., :-1]
        return given.swapaxes(1, 2) if given.ndim == 3 else given
    if library == "lightgbm":
        return model.predict(X, pred_contrib=True)[:, :-1]
    if library == "catboost":
        return model.get_feature_importance(peer("catboost").Pool(X), type="ShapValues")[:, :-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = peer("shap").TreeExplainer(model).shap_values(X, check_additivity=False)
    return given[..., 1] if given.ndim == 3 else given


@pytest.mark.parametrize("name", SHAP)
def test_tree_shap_is_that_of_the_library_and_of_shap(name):
    cover, library = SHAP[name]
    X = fitted(name).X[:40]
    X = np.nan_to_num(X) if library == "shap" else X
    ensemble = imported(name)
    ours = tree_shap(ensemble, X, cover=cover).values
    theirs = contributions(fitted(name).model, X, library)
    assert_close(ours, theirs, size_of(ensemble), eps=EPS_32)


@pytest.mark.parametrize("name", [names[0] for names in map(some, (
    "xgboost numbers", "xgboost levels", "lightgbm levels", "sklearn levels", "catboost classes",
    "sklearn forest targets",
))])  # fmt: skip
def test_a_file_of_ours_keeps_it_all(name, tmp_path):
    ensemble, X = imported(name), fitted(name).X
    ensemble.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.loss == ensemble.loss
    assert_same(again.raw_predict(X), ensemble.raw_predict(X))
    if ensemble.loss.name == "several_targets":
        text = (tmp_path / "model.json").read_text().replace('"half_squared_error"', '"no loss"')
        (tmp_path / "model.json").write_text(text)
        with pytest.raises(InvalidModelError, match=r"ensemble\.loss\.of_each"):
            load(tmp_path / "model.json")


@pytest.mark.parametrize("name", [names[0] for names in map(some, (
    "xgboost numbers", "xgboost two, no lambda", "xgboost classes", "xgboost levels",
    "xgboost dart", "lightgbm regression", "lightgbm levels", "lightgbm classes", "lightgbm dart",
))])  # fmt: skip
def test_a_file_of_theirs_is_the_same_model(name, tmp_path):
    model, expected = fitted(name).model, imported(name)
    steps = {"reg_lambda": expected.reg_lambda, "learning_rate": expected.learning_rate}
    if name.startswith("lightgbm"):
        path = tmp_path / "model.txt"
        model.save_model(path)
        again = [from_lightgbm(path), as_ensemble(peer("lightgbm").Booster(model_file=path))]
    else:
        paths = [tmp_path / "model.json", tmp_path / "model.ubj"]
        for path in paths:
            model.save_model(path)
        again = [from_xgboost(path, **steps) for path in paths]
        by_leaves = from_xgboost(paths[0], reg_lambda=expected.reg_lambda).learning_rate
        assert_close(by_leaves, expected.learning_rate, 1.0, k=8, eps=EPS_32)
    for ensemble in again:
        assert_same_ensemble(ensemble, expected)


STOPPED = {  # how each library is asked to stop, and the number of the best tree
    "xgboost": (
        lambda library, asked, fit, new: library.XGBRegressor(
            n_estimators=99, early_stopping_rounds=3, n_jobs=1, **asked
        ).fit(*fit, eval_set=[new], verbose=False),
        lambda model: model.best_iteration + 1,
    ),
    "lightgbm": (
        lambda library, asked, fit, new: library.LGBMRegressor(
            n_estimators=99, verbosity=-1, n_jobs=1, **asked
        ).fit(*fit, eval_X=new[0], eval_y=new[1], callbacks=[library.early_stopping(3)]),
        lambda model: model.best_iteration_,
    ),
    "catboost": (
        lambda library, asked, fit, new: library.CatBoostRegressor(
            iterations=99, early_stopping_rounds=3, allow_writing_files=False, **asked
        ).fit(*fit, eval_set=new, verbose=0),
        lambda model: model.get_best_iteration() + 1,
    ),
}


@pytest.mark.parametrize("library", STOPPED)
def test_models_that_stopped_early_have_their_best_trees_and_the_names_of_columns(library):
    X, y = table("gaps")
    frame = pd.DataFrame(X, columns=["age", "height", "a_b", "größe"])
    fit, best = STOPPED[library]
    rows = (frame[:200], y[:200]), (frame[200:], y[200:])
    model = fit(peer(library), {"learning_rate": 0.5}, *rows)
    ensemble = as_ensemble(model)
    assert ensemble.n_trees == best(model) < 99
    assert ensemble.feature_names == tuple(frame)
    eps = EPS_32 if library == "xgboost" else EPS
    assert_close(ensemble.raw_predict(frame), model.predict(frame), size_of(ensemble), eps=eps)
    if library == "xgboost":  # whose booster has all of them
        booster = model.get_booster()
        assert as_ensemble(booster).n_trees == booster.num_boosted_rounds() > ensemble.n_trees


NO_MODELS = {
    "xgboost": ("XGBRegressor", lambda library: library.DMatrix(np.zeros((2, 2)))),
    "lightgbm": ("LGBMRegressor", lambda library: library.Dataset(np.zeros((2, 2)))),
    "catboost": ("CatBoostRegressor", lambda library: library.Pool(np.zeros((2, 2)))),
    "sklearn.ensemble": ("GradientBoostingRegressor", lambda library: library.StackingRegressor),
}


@pytest.mark.parametrize("library", NO_MODELS)
def test_what_is_not_fitted_and_what_is_no_model(library):
    estimator, other = NO_MODELS[library]
    with pytest.raises(NotFittedError):
        as_ensemble(getattr(peer(library), estimator)())
    with pytest.raises(TypeError, match=r"got (DMatrix|Dataset|Pool|the class StackingRegressor)"):
        as_ensemble(other(peer(library)))


@pytest.mark.parametrize("name", [name for name in MODELS if name.endswith("defaults")])
def test_numbers_of_any_size_are_no_error(name):
    """Columns between 1e-12 and 1e12, and a target that is far from 0 for its spread."""
    case, (_, X, y, *_) = MODELS[name], fitted(name)
    if case.rows == "levels":
        return
    y = 1e6 * y + 1e9 if case.of == "numbers" else y
    model = case.fit(X * 10.0 ** np.array([-12, 0, 6, 12]), y, None)
    assert as_ensemble(model).n_trees  # without a MisreadModelError
