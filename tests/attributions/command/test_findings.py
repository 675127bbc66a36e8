"""Scores beside the constant model, and importances in per cent of its loss."""

import numpy as np
import pytest
from sklearn.metrics import (
    log_loss,
    mean_poisson_deviance,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from attributions.classic.absolute import absolute
from attributions.classic.total_gain import total_gain
from attributions.command.judging.findings import findings_of
from attributions.command.table.task import Task
from attributions.held_out.gain import held_out_gain
from gbt.estimators import GBTClassifier, GBTRegressor
from tests.asserts import assert_close


def fitted(is_classification, scale=1.0, shift=0.0):
    """Return a task of two features and one of noise, and an estimator that was fitted to it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + X[:, 1] * X[:, 0] + rng.normal(size=300)
    y = (y > 0.3).astype(np.float64) if is_classification else scale * y + shift
    task = Task([], is_classification, X[:150], y[:150], X[150:], y[150:], ("a", "b", "c"))
    estimator = GBTClassifier if is_classification else GBTRegressor
    return task, estimator(n_estimators=30, max_depth=3, splitter="greedy").fit(
        task.X_train, task.y_train
    )


def by_name(findings):
    of_model, of_constant = findings.scores.values()
    return {name: (of_model[name], of_constant[name]) for name in of_model}


def test_a_classifier_is_scored_as_scikit_learn_scores_it():
    task, model = fitted(True)
    scores = by_name(findings_of(model.ensemble_, task))
    probability = model.predict_proba(task.X_valid)[:, 1]
    constant = np.full(150, task.y_train.mean())
    assert_close(scores["AUC"], (roc_auc_score(task.y_valid, probability), 0.5), 1.0)
    expected = (log_loss(task.y_valid, probability), log_loss(task.y_valid, constant))
    assert_close(scores["log-loss"], expected, np.array(expected))
    assert scores["AUC"][0] > 0.7
    assert scores["log-loss"][0] < scores["log-loss"][1]


def test_a_regressor_is_scored_as_scikit_learn_scores_it():
    task, model = fitted(False)
    scores = by_name(findings_of(model.ensemble_, task))
    predicted, constant = model.predict(task.X_valid), np.full(150, task.y_train.mean())
    expected = [r2_score(task.y_valid, p) for p in (predicted, constant)]
    assert_close(scores["R^2"], expected, 1.0)
    expected = [np.sqrt(mean_squared_error(task.y_valid, p)) for p in (predicted, constant)]
    assert_close(scores["root mean squared error"], expected, np.array(expected))
    assert scores["R^2"][0] > 0.3


@pytest.mark.parametrize("is_classification", [False, True])
def test_importances_are_per_cent_of_the_constant_models_loss(is_classification):
    task, model = fitted(is_classification)
    found = findings_of(model.ensemble_, task)
    constant = np.full(150, task.y_train.mean())
    of_rows = np.full(150, task.y_valid.mean())  # the best constant there
    if is_classification:
        loss = 150 * log_loss(task.y_valid, constant)
        of_model = 150 * log_loss(task.y_valid, model.predict_proba(task.X_valid))
        related_to = 150 * log_loss(task.y_valid, of_rows)
    else:
        loss = ((task.y_valid - constant) ** 2).sum() / 2
        of_model = ((task.y_valid - model.predict(task.X_valid)) ** 2).sum() / 2
        related_to = ((task.y_valid - of_rows) ** 2).sum() / 2
    assert_close(found.saved, 100 * (loss - of_model) / loss, 100 * (loss + of_model) / loss)
    raw = held_out_gain(model, task.X_valid, task.y_valid, per_tree=True)
    factor = 100 * 0.1 / (2 * related_to)  # learning rate .1
    assert_close(found.useful.values, factor * raw.values, np.abs(factor * raw.values))
    errors = factor * raw.standard_error
    assert_close(found.useful.standard_error, errors, errors)
    assert_close(found.useful.per_tree, factor * raw.per_tree, np.abs(factor * raw.per_tree))
    shares = total_gain(model).values / total_gain(model).values.sum()
    assert_close(found.gain_share, shares, shares)
    moved = absolute(model, task.X_valid).values
    assert_close(found.moved, moved, moved)


def test_units_of_the_target_do_not_matter():
    task, model = fitted(False)
    large, large_model = fitted(False, scale=2.0**40, shift=2.0**41)
    found = findings_of(model.ensemble_, task)
    of_large = findings_of(large_model.ensemble_, large)
    both = (found.useful.values, of_large.useful.values), (found.gain_share, of_large.gain_share)
    for result, other in both:
        # as many digits as the shift leaves to the residuals
        assert_close(other, result, np.abs(result).sum(), k=2**12)


def test_what_is_saved_is_counted_from_a_perfect_prediction():
    """Poisson's loss is below 0 for large counts, and a share of a negative loss has no sense."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = rng.poisson(np.exp(3 + 0.5 * X[:, 0])).astype(np.float64)
    task = Task([], False, X[:150], y[:150], X[150:], y[150:], ("a", "b"))
    model = GBTRegressor(n_estimators=30, loss="poisson", splitter="greedy").fit(X[:150], y[:150])
    found = findings_of(model.ensemble_, task)
    of_model = mean_poisson_deviance(y[150:], model.predict(X[150:]))
    of_constant = mean_poisson_deviance(y[150:], np.full(150, y[:150].mean()))
    assert 0 < of_model < of_constant
    assert_close(found.saved, 100 * (1 - of_model / of_constant), 100.0)
    ((name, (shown, shown_constant)),) = by_name(found).items()
    assert name.endswith(", 0 at best")
    assert_close(np.array([shown, shown_constant]) * 2, [of_model, of_constant], of_constant)
