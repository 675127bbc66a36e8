"""Importing LightGBM models: against LightGBM, against the training rows, and damaged texts."""

import re
import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import (
    compare,
    held_out_gain,
    partial_dependence,
    predecomp,
    total_gain,
    tree_inner,
)
from gbt.files.documents import InvalidModelError
from gbt.formats import as_ensemble
from gbt.formats.lightgbm.model import from_lightgbm
from tests.asserts import EPS_32, assert_close, assert_same, peer
from tests.gbt.formats.read_models import fitted, lgb, table, targets

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")

HIDING = {
    "l1": ({"lambda_l1": 2.0}, "lambda_l1=2"),
    "steps": ({"max_delta_step": 0.05}, r"max_delta_step=0\.05"),
    "smooth": ({"path_smooth": 5.0}, "path_smooth=5"),
    "monotone": ({"monotone_constraints": [1, 0, 0, 0]}, "monotone_constraints=1,0,0,0"),
    "rows sampled": ({"bagging_fraction": 0.5, "bagging_freq": 1}, "hides the start value"),
    "goss": ({"data_sample_strategy": "goss"}, "hides the start value"),
}


def training_data(objective):
    """Return rows with gaps, targets and weights."""
    X, y = table("gaps")
    weight = np.random.default_rng(7).gamma(1, size=len(y))
    return X, targets(y, "numbers" if objective == "regression" else "two"), weight


def train(parameters=(), objective="regression", weighted=True, n_rounds=6):
    X, y, weight = training_data(objective)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = lgb(objective, others={"n_rounds": n_rounds, **dict(parameters)})
        return case.fit(X, y, weight if weighted else None)


def test_names_with_blanks():
    """LightGBM writes an underscore for each; results have the names of the table."""
    lightgbm, pandas = peer("lightgbm"), pytest.importorskip("pandas")
    X, y, _ = training_data("regression")
    table = pandas.DataFrame(X, columns=["mean radius", "b", "c_d", "e"])
    model = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1).fit(table, y)
    assert predecomp(model, table).feature_names == ("mean radius", "b", "c_d", "e")
    assert predecomp(model, X).feature_names == ("mean_radius", "b", "c_d", "e")
    for name in ("mean radius", "mean_radius"):  # with either name, whatever the rows are
        assert partial_dependence(model, name, table).feature_name == "mean radius"
        assert partial_dependence(model, name, X).feature_name == "mean_radius"
    halves = [tree_inner(model, rows[150:], y[150:]) for rows in (table, X)]
    assert halves[0].merge(halves[1]).n_samples == 2 * halves[0].n_samples
    other = peer("xgboost").XGBRegressor(n_estimators=3).fit(table, y)
    assert compare(model, other, table, y).parts[3:] == ("mean radius", "b", "c_d", "e")
    with pytest.raises(ValueError, match="'mean  radius' instead of 'mean_radius'"):
        predecomp(model, table.rename(columns={"mean radius": "mean  radius"}))
    with pytest.raises(ValueError, match="'c-d' instead of 'c_d'"):
        predecomp(model, table.rename(columns={"c_d": "c-d"}))


# ------------------------------------------------------------------------- what cannot be found out


def unknown(booster, message, known=frozenset({"hessians", "counts", "values"})):
    ensemble = as_ensemble(booster)
    assert ensemble.statistics == known
    X = training_data("regression")[0]
    raw = booster.predict(X, raw_score=True)
    residual = predecomp(ensemble, X).residual(raw)
    assert_close(residual, 0 * raw, np.full(300, np.abs(ensemble.value).sum()))
    reason = rf"G of the nodes of this LightGBM .* unknown.*({message})"
    with pytest.raises(ValueError, match=f"total_gain needs the gradients .*{reason}"):
        total_gain(ensemble)
    return ensemble


either_objective = pytest.mark.parametrize("objective", ["regression", "binary"])


@either_objective
@pytest.mark.parametrize("training", HIDING)
def test_what_hides_the_gradients(objective, training):
    parameters, message = HIDING[training]
    unknown(train(parameters, objective), message)


@either_objective
def test_rounded_gradients(objective):
    booster = train({"use_quantized_grad": True}, objective)
    unknown(booster, "use_quantized_grad=1", {"counts", "values"})


@either_objective
def test_training_rows_tell_the_start_of_a_sample(objective):
    booster = train(HIDING["rows sampled"][0], objective)
    X, y, weight = training_data(objective)
    with pytest.warns(UserWarning, match="not what these rows make of it: .* samples of them"):
        ensemble = as_ensemble(booster, X, y, weight)
    mean = np.average(y, weights=weight)
    start = mean if objective == "regression" else np.log(mean / (1 - mean))
    assert_close(ensemble.base_score, start, terms=8.0)
    assert ensemble.statistics == {"gradients", "hessians", "counts", "values"}
    assert_close(ensemble.raw_predict(X), booster.predict(X, raw_score=True), np.full(300, 20.0))
    total_gain(ensemble)  # without a warning


@pytest.mark.parametrize("parameters", [{"scale_pos_weight": 3.0}, {"is_unbalance": True}])
def test_labels_that_weigh_differently(parameters):
    unknown(train(parameters, "binary"), "mean of labels that weigh alike")


@pytest.mark.parametrize("weighted", [False, True])
def test_training_rows_tell_the_start_of_labels_that_weigh_differently(weighted):
    """LightGBM starts from the mean of labels that weigh alike, of which the sums tell nothing."""
    X, y, weight = training_data("binary")
    before = weight if weighted else np.ones(len(y))
    weight = np.where(y == 1, 3.0, 1.0) * before
    asked = {"scale_pos_weight": 3.0}
    as_ensemble(train({**asked, "boost_from_average": False}, "binary", weighted), X, y, weight)
    booster = train(asked, "binary", weighted)
    ensemble = as_ensemble(booster, X, y, weight)  # and no warning
    mean = np.average(y, weights=before)
    assert_close(ensemble.base_score, np.log(mean / (1 - mean)), terms=8.0)
    gain = booster.feature_importance("gain")
    assert_close(total_gain(ensemble).values, gain, gain.sum(), eps=EPS_32, k=100)


def test_single_leaves_among_the_trees_of_several_classes():
    """LightGBM writes the rate 1 for them, and keeps none of their sums."""
    lightgbm = peer("lightgbm")
    X = np.random.default_rng(0).normal(size=(400, 5))
    y = np.where(X[:, 0] > 1.8, 2, (X[:, 1] > 0) * 1)
    data = lightgbm.Dataset(X, y)
    asked = {"objective": "multiclass", "num_class": 3, "min_gain_to_split": 8.0, "verbosity": -1}
    booster = lightgbm.train(asked, data, 20)
    ensemble = as_ensemble(booster)
    stubs = np.flatnonzero(np.diff(ensemble.tree_offset) == 1)
    assert len(stubs)
    assert ensemble.learning_rate == 0.1
    assert f"tree {stubs[0]} is a single leaf, of which" in ensemble.about_gradients
    completed = as_ensemble(booster, X, y)
    gain = booster.feature_importance("gain")
    assert_close(total_gain(completed).values, gain, gain.sum(), eps=EPS_32, k=100)
    assert ensemble.statistics == {"hessians", "counts", "values"}
    roots = ensemble.tree_offset[:-1]
    trees = booster.dump_model()["tree_info"]
    kept = [tree["tree_structure"].get("internal_weight", 0.0) for tree in trees]
    assert_close(ensemble.sum_hessian[roots], kept, 400.0, eps=1e-5)  # of which six digits are kept
    assert_close(completed.sum_hessian, completed.refit_statistics(X, y).sum_hessian, 400.0,
                 eps=EPS_32)  # fmt: skip
    assert (completed.sum_hessian[roots] > 0).all()
    assert held_out_gain(booster, X + 0.1, y).method == "held_out_gain"


def trained_with(start=None, **others):
    """Train four rounds of the squared error, from starting values if they are given."""
    X, y, _ = training_data("regression")
    lightgbm = peer("lightgbm")
    rows = lightgbm.Dataset(X, y, init_score=None if start is None else np.nan_to_num(X[:, start]))
    return lightgbm.train({"verbosity": -1, "num_leaves": 8}, rows, 4, **others)


def test_starting_values_and_rates_that_change():
    unknown(trained_with(start=0), "mean of the targets, but the gradients add")
    rates = peer("lightgbm").reset_parameter(learning_rate=lambda m: 0.1 * 0.9**m)
    unknown(trained_with(callbacks=[rates]), "learning rate changed")


def test_leaves_that_were_changed():
    booster = train()
    before = as_ensemble(booster)
    booster.set_leaf_output(1, 2, 0.5)
    after = unknown(booster, "does not follow from the leaves|do not follow from the tree before")
    assert (before.value != after.value).any()


def test_values_of_other_rows():
    X, y, _ = training_data("regression")
    booster = train(weighted=False).refit(X[:100], y[:100] + 5, decay_rate=0.1)
    unknown(booster, "follow")


REFUSED = {
    "another loss": ({"objective": "fair"}, "objective='fair'"),
    "roots": ({"reg_sqrt": True}, "objective='regression sqrt'"),
    "sigmoid": ({"objective": "binary", "sigmoid": 2.0}, "objective='binary sigmoid:2'"),
    "linear": ({"linear_tree": True}, "Linear trees cannot be imported"),
    "a function": ({"objective": lambda f, rows: (f - rows.get_label(), 1 + 0 * f)}, "of its own"),
    "rf, penalised": (
        {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1, "lambda_l2": 1.0},
        "boosting='rf' can be imported with",
    ),
    "rf, two classes": (
        {"objective": "binary", "boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
        "boosting='rf' can be imported with objective='regression'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    parameters, message = REFUSED[case]
    objective = "binary" if parameters.get("objective") in ("binary", "poisson") else "regression"
    booster = train(parameters, objective)
    with pytest.raises(ValueError, match=message):
        as_ensemble(booster)


def test_a_booster_that_found_no_split():
    booster = train({"min_data_in_leaf": 300})
    ensemble = as_ensemble(booster)
    assert_same(ensemble.raw_predict(np.zeros((2, 4))), booster.predict(np.zeros((2, 4))))
    assert ensemble.statistics == {"counts", "values"}


# ------------------------------------------------------------------------------------- malformed


@cache
def text():
    return train(n_rounds=2).model_to_string()


MALFORMED = [
    ("tree\n", "wood\n", "begins otherwise"),
    ("num_class=1", "", "has no num_class"),
    ("num_leaves=8", "num_leaves=2000000000", "has 8 numbers leaf_value, and num_leaves="),
    ("leaf_weight=", "leaf_weight=1 ", "has not 8 numbers leaf_weight"),
    ("left_child=4", "left_child=0", "Node 0 of tree 0 .* is reached twice"),
    ("left_child=4", "left_child=9999999", "children that are not numbers of nodes"),
    ("split_feature=", "split_feature=9", "a column that is none of 4"),
    ("shrinkage=0.1", "shrinkage=a", "shrinkage is 'a'"),
    ("[learning_rate: 0.1]", "[learning_rate: 0]", "learning_rate is 0"),
]
MALFORMED_LEVELS = [
    ("\ncat_boundaries=0 ", "\ncat_boundaries=1 ", "sets of levels that do not fit together"),
    ("\ncat_threshold=", "\ncat_threshold=7 ", "sets of levels that do not fit together"),
    ("\ncat_threshold=", "\ncat_threshold=a", "cat_threshold .* are not whole numbers"),
    ("\npandas_categorical:[[", "\npandas_categorical:[[[", "pandas_categorical is not JSON"),
    ("\npandas_categorical:[[", "\npandas_categorical:[3, [", "3 columns|not a list of lists"),
    ("feature_infos=", "feature_infos=none ", "one entry for each column in feature_infos"),
]


@pytest.mark.parametrize(
    ("has_levels", "before", "after", "message"),
    [*[(False, *row) for row in MALFORMED], *[(True, *row) for row in MALFORMED_LEVELS]],
)
def test_malformed(has_levels, before, after, message, tmp_path):
    levels = "lightgbm levels, defaults"
    sound = fitted(levels).model.model_to_string() if has_levels else text()
    assert before in sound
    (tmp_path / "model.txt").write_text(sound.replace(before, after, 1))
    with pytest.raises(InvalidModelError, match=message):
        from_lightgbm(tmp_path / "model.txt")


def test_the_least_threshold_of_all(tmp_path):
    least = f"threshold={-float(np.finfo(np.float64).max)!r} "
    (tmp_path / "model.txt").write_text(re.sub(r"threshold=\S+ ", least, text(), count=1))
    assert from_lightgbm(tmp_path / "model.txt").threshold.min() == -np.finfo(np.float64).max


@given(data=st.data())
def test_changed_bytes_are_a_model_or_an_error(data, tmp_path_factory):
    changed = text()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        byte = data.draw(st.sampled_from("0123456789-+.e=[]: \nainf"))
        changed = changed[:at] + byte + changed[at + 1 :]
    path = tmp_path_factory.getbasetemp() / "changed.txt"
    path.write_text(changed)
    try:
        ensemble = from_lightgbm(path)
    except ValueError:
        return
    assert np.isfinite(ensemble.raw_predict(np.zeros((2, ensemble.n_features)))).all()
