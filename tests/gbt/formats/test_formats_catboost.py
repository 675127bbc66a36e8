"""Importing CatBoost's trees on numbers: against CatBoost, and against the training rows."""

import warnings

import numpy as np
import pytest

from attributions import held_out_gain, tree_shap
from gbt.formats import as_ensemble
from gbt.model.soundness import STATISTICS
from tests.asserts import assert_close, assert_same, peer
from tests.gbt.formats.read_models import table

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")


def training_data(task):
    X, y = table("gaps")
    return X, y if task == 0 else np.where(y > 2, "yes", "no")


def train(parameters=(), task=0, X=None, y=None, **others):
    catboost = peer("catboost")
    of_task = catboost.CatBoostClassifier if task else catboost.CatBoostRegressor
    given = {"iterations": 6, "depth": 4, "verbose": 0, "thread_count": 1, **dict(parameters)}
    rows = training_data(task) if X is None else (X, y)
    return of_task(allow_writing_files=False, **given).fit(*rows, **others)


def test_weighted_rows_have_another_penalty():
    X, _ = training_data(0)
    model = train(sample_weight=np.random.default_rng(0).gamma(1, size=300))
    ensemble = as_ensemble(model)
    assert "Rows may have been weighted, which multiplies l2_leaf_reg" in ensemble.about_gradients
    assert ensemble.statistics == set()
    assert_close(ensemble.raw_predict(X), model.predict(X), np.full(300, 20.0))


def test_refused():
    X, y = training_data(0)
    for parameters, message in [
        ({"loss_function": "MAE"}, "loss_function='MAE'"),
        ({"loss_function": "Quantile:alpha=0.8"}, "loss_function='Quantile:alpha=0.8'"),
        ({"loss_function": "MultiRMSE"}, "loss_function='MultiRMSE'"),
    ]:
        several = "Multi" in parameters["loss_function"]
        model = train(parameters, X=X, y=np.column_stack([y, -y]) if several else y)
        with pytest.raises(ValueError, match=message):
            as_ensemble(model)


def test_trees_without_a_split():
    model = train(
        {"iterations": 2, "depth": 0}, X=np.arange(20.0)[:, np.newaxis], y=np.arange(20.0)
    )
    ensemble = as_ensemble(model)
    assert ensemble.n_trees == model.tree_count_
    assert_close(ensemble.raw_predict([[0.0]]), model.predict([[0.0]]), 20.0)


def test_a_measure_of_a_weighted_model_asks_for_its_training_rows():
    """Nodes have sums of weights alone, so no option of `held_out_gain` serves."""
    X, y = training_data(1)
    weight = np.linspace(0.5, 1.5, len(y))
    model = train({}, 1, X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=r"needs the hessians.*X=X_train") as raised:
        held_out_gain(model, X, y)
    assert "'hessian'" not in str(raised.value)
    with pytest.raises(ValueError, match=r"does not have their counts\. Take them"):
        tree_shap(model, X, cover="count")


def test_weights_that_are_whole_are_no_counts():
    """Training rows tell; else the penalty or the weights of classes, if they are there."""
    X, y = training_data(0)
    labels, weight = np.where(y > 2, "yes", "no"), np.arange(300) % 3 + 1
    for task, target in ((0, y), (1, labels)):
        for penalty in (3, 0):
            model = train({"l2_leaf_reg": penalty}, task, X, target, sample_weight=weight)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                ensemble = as_ensemble(model, X, target, weight)
            assert ensemble.statistics == set(STATISTICS)
            roots = ensemble.tree_offset[:-1]
            assert_same(ensemble.n_samples[roots], np.full(len(roots), 300))
            if task == 0 and penalty:
                continue  # nothing was declared
            with pytest.warns(UserWarning, match="trained on other rows or weights"):
                as_ensemble(model, X, target, (weight == 3) * 1.0)
    for model, reason in [
        (train(sample_weight=weight), "Rows may have been weighted"),
        (train({"class_weights": [1, 2]}, 1), "nor counts of weighted classes"),
        (train({"scale_pos_weight": 2}, 1), "does not keep it under Logloss"),
    ]:
        assert as_ensemble(model).statistics == set()
        assert reason in as_ensemble(model).about_gradients
    twice = 1.0 + (labels == "yes")
    for weighing in ({"class_weights": {"yes": 2, "no": 1}}, {"scale_pos_weight": 2}):
        model = train(weighing, 1, X, labels)
        taken, given = as_ensemble(model, X, labels), as_ensemble(model, X, labels, twice)
        assert_same(taken.sum_hessian, given.sum_hessian)
