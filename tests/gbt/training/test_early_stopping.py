"""When boosting ends, what it remembers of the way, and callbacks that change it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

import gbt
from attributions import tree_inner
from gbt import GBTRegressor
from gbt.splitting.unbiased import Unbiased
from tests.asserts import assert_close, assert_same, assert_same_trees
from tests.gbt.training.test_evaluation import table
from tests.greedy import GreedyClassifier, GreedyRegressor

BOTH = pytest.mark.parametrize("estimator", [GreedyRegressor, GreedyClassifier])
X, Y = table()
X_NEW, Y_NEW = table(seed=1)
NEW = [(X_NEW, Y_NEW)]


# How much better is better --------------------------------------------------------------------


def scripted(numbers):
    """Return a metric that says one number after another."""
    coming = iter(numbers)

    def score(y, prediction):
        return next(coming)

    return score


def test_trees_that_are_dropped_have_told_the_next_fit_nothing():
    """Pooled trees are as deep as splits have held up: those of the fifteen trees that are kept."""
    asked = {"splitter": Unbiased(pooled=True), "random_state": 0, "warm_start": True}
    numbers = scripted([*range(15), *np.zeros(15)])
    stopped = GBTRegressor(45, early_stopping_rounds=15, eval_metric=numbers, **asked)
    stopped.fit(X, Y, eval_set=NEW)
    short = GBTRegressor(15, **asked).fit(X, Y)
    for model in (stopped, short):
        model.set_params(n_estimators=30, early_stopping_rounds=None, eval_metric=None)
        model.fit(X, Y)
    assert_same_trees(stopped, short)


@pytest.mark.parametrize(
    ("min_delta", "best", "n_recorded"), [(0.0, 6, 9), (0.1, 2, 5), (0.125, 0, 3)]
)
def test_only_what_is_better_by_more_than_min_delta_counts(min_delta, best, n_recorded):
    """By hand: 0.125 is better than 0 by more than 0.1, and not by more than 0.125."""
    numbers = [0.0, 0.0625, 0.125, 0.1875, 0.21875, 0.25, 0.3125, 0.3125, 0.3125, 0.3125, 0.3125]
    model = GreedyRegressor(
        n_estimators=11, early_stopping_rounds=2, min_delta=min_delta, eval_metric=scripted(numbers)
    ).fit(X, Y, eval_set=NEW)
    assert model.best_iteration_ == best
    assert len(model.evals_result_["eval_0_score"]) == n_recorded
    assert model.ensemble_.n_trees == best + 1
    assert model.best_score_ == numbers[best]


# Several metrics ------------------------------------------------------------------------------


def test_all_metrics_are_recorded_and_the_last_decides():
    model = GreedyClassifier(
        n_estimators=40, early_stopping_rounds=3, eval_metric=["neg_log_loss", "roc_auc"]
    ).fit(X, Y, eval_set=[(X, Y), *NEW])
    assert list(model.evals_result_) == [
        "eval_0", "eval_0_neg_log_loss", "eval_0_roc_auc",
        "eval_1", "eval_1_neg_log_loss", "eval_1_roc_auc",
    ]  # fmt: skip
    auc = model.evals_result_["eval_1_roc_auc"]
    assert model.best_iteration_ == np.argmax(auc)
    assert len(auc) == np.argmax(auc) + 4
    probability = model.predict_proba(X_NEW)[:, 1]
    assert model.best_score_ == auc[model.best_iteration_] == roc_auc_score(Y_NEW, probability)
    last = -model.evals_result_["eval_1_neg_log_loss"][model.best_iteration_]
    assert_close(last, log_loss(Y_NEW, probability), terms=last)

    turned = clone(model).set_params(eval_metric=("roc_auc", "neg_log_loss"))
    turned.fit(X, Y, eval_set=NEW)
    assert turned.best_iteration_ == np.argmin(turned.evals_result_["eval_0"])
    assert turned.best_iteration_ != model.best_iteration_


# X_val and y_val ------------------------------------------------------------------------------


@BOTH
def test_validation_rows_by_name_are_the_last_evaluation_set(estimator):
    weight = np.linspace(1, 2, 200)
    listed = estimator(n_estimators=30, early_stopping_rounds=3)
    listed.fit(X, Y, eval_set=[(X, Y), (X_NEW, Y_NEW, weight)])
    beside = {"X_val": X_NEW, "y_val": Y_NEW, "sample_weight_val": weight}
    named = clone(listed).fit(X, Y, eval_set=[(X, Y)], **beside)
    assert named.evals_result_ == listed.evals_result_
    assert_same_trees(named, listed)


# The loss of the training rows ----------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("weight", [None, np.linspace(1, 3, 200)])
def test_the_training_loss_is_that_of_the_training_rows_as_an_evaluation_set(estimator, weight):
    model = estimator(n_estimators=5, train_score=True, eval_metric="r2", subsample=0.8)
    model.set_params(random_state=0).fit(X, Y, weight, eval_set=NEW)
    watched = clone(model).set_params(train_score=False)
    watched.fit(X, Y, weight, eval_set=[(X, Y, weight), *NEW])
    assert_close(model.train_score_, watched.evals_result_["eval_0"], terms=1.0)
    assert list(model.evals_result_) == ["train", "eval_0", "eval_0_r2"]
    assert_same_trees(model, watched)
    assert model.best_score_ == watched.best_score_
    assert not hasattr(watched, "train_score_")
    with pytest.raises(AttributeError, match="after a fit with train_score=True"):
        watched.train_score_  # noqa: B018


def test_rows_held_out_are_not_of_the_training_loss(tmp_path):
    model = GreedyRegressor(9, train_score=True, early_stopping_rounds=2, random_state=0)
    model.fit(X, Y)
    rows = model.sampled_rows(0)
    assert len(rows) == 180
    first = next(model.staged_predict(X[rows]))
    assert_close(model.train_score_[0], np.mean((Y[rows] - first) ** 2) / 2, terms=1.0)
    model.save(tmp_path / "model.json")
    assert_same(gbt.load(tmp_path / "model.json").train_score_, model.train_score_)


# All rows, once the number of trees is known ---------------------------------------------------


@BOTH
def test_refit_grows_as_many_trees_on_all_rows(estimator):
    weight = np.linspace(0, 2, 200)
    found = estimator(n_estimators=60, early_stopping_rounds=3, subsample=0.9, random_state=3)
    model = clone(found).set_params(refit=True).fit(X, Y, weight)
    found.fit(X, Y, weight)
    assert model.evals_result_ == found.evals_result_
    assert model.best_iteration_ == found.best_iteration_
    assert model.best_score_ == found.best_score_
    assert len(found.sampled_rows(0)) < len(model.sampled_rows(0))
    n_trees = found.best_iteration_ + 1
    expected = clone(found).set_params(early_stopping_rounds=None, n_estimators=n_trees)
    assert_same_trees(model, expected.fit(X, Y, weight))
    assert model.get_params() == {**found.get_params(), "refit": True}


def test_refit_without_early_stopping_changes_nothing():
    models = [GreedyRegressor(n_estimators=3, refit=refit).fit(X, Y) for refit in (True, False)]
    assert_same_trees(*models)


def test_all_rows_of_a_refit_are_rows_that_the_model_has_seen():
    model = GreedyRegressor(9, early_stopping_rounds=2, refit=True, random_state=0).fit(X, Y)
    with pytest.warns(UserWarning, match=r"^200 of the 200 rows"):
        tree_inner(model, X, Y)


# Callbacks that see the model and change the learning rate -------------------------------------


@BOTH
@pytest.mark.parametrize("splitter", ["greedy", "cross_validated", Unbiased()])
def test_a_rate_that_a_callback_sets_is_that_of_the_next_tree(estimator, splitter):
    """Of every tree value and G, H tell the rate."""
    rates = [0.1, 0.5, 0.5, 0.02]

    def schedule(told):
        told.learning_rate = (*rates, 1.0)[told.number + 1]

    model = estimator(n_estimators=4, splitter=splitter, random_state=0, callbacks=[schedule])
    model.fit(X, Y, eval_set=NEW)
    ensemble = model.ensemble_
    assert ensemble.n_trees >= 3
    step = -ensemble.sum_gradient / (ensemble.sum_hessian + ensemble.reg_lambda)
    rate_of_node = np.repeat(rates[: ensemble.n_trees], np.diff(ensemble.tree_offset))
    assert_close(ensemble.value, rate_of_node * step, np.abs(ensemble.value), k=8)
    # The gradients of every tree are those at what the trees before it predict.
    again = ensemble.refit_statistics(X, Y)
    assert_close(again.sum_gradient, ensemble.sum_gradient, terms=200.0)
    loss = [*model.staged_predict(X_NEW)][-1]
    assert_same(loss, model.predict(X_NEW))


def test_rates_under_monotone_constraints_and_several_classes():
    def halve(told):
        told.learning_rate /= 2

    y = np.digitize(X[:, 1], [-0.5, 0.5])
    for model in (
        GreedyRegressor(n_estimators=3, monotone_constraints=[1, 0, 0], callbacks=[halve]),
        GreedyClassifier(n_estimators=3, callbacks=[halve]),
    ):
        ensemble = model.fit(X, y).ensemble_
        roots = ensemble.tree_offset[:-1]
        step = -ensemble.sum_gradient[roots] / (ensemble.sum_hessian[roots] + 1)
        rate = np.repeat([0.1, 0.05, 0.025], ensemble.n_outputs)
        assert_close(ensemble.value[roots], rate * step, np.abs(step))


def test_importances_are_in_units_of_the_first_rate():
    """What a tree of half the rate brings is half of its gain."""

    def schedule(told):
        told.learning_rate = 0.05

    model = GreedyRegressor(n_estimators=3, callbacks=[schedule]).fit(X, Y)
    gain = [model.ensemble_.truncate(m).total_gain() for m in range(4)]
    expected = sum(
        share * of_tree for share, of_tree in zip([1, 0.5, 0.5], np.diff(gain, axis=0), strict=True)
    )
    with pytest.warns(UserWarning, match="200 of the 200"):
        measured = tree_inner(model, X, Y, standard_error=False)
    assert_close(measured.values, expected, np.abs(expected), k=64)


def test_callbacks_see_the_trees_so_far():
    seen = []

    def look(told):
        assert told.model is told.model
        seen.append(told.model)

    model = GreedyClassifier(n_estimators=3, callbacks=[look])
    model.fit(X, np.digitize(X[:, 1], [-0.5, 0.5]))
    for m, so_far in enumerate(seen):
        expected = model.ensemble_.truncate(m + 1)
        assert_same(so_far.raw_predict(X_NEW), expected.raw_predict(X_NEW))
        assert so_far.n_trees == 3 * (m + 1)


@pytest.mark.parametrize("patience", [None, 3])
def test_more_trees_go_on_at_the_rate_that_was_set_for_them(patience):
    def schedule(told):
        told.learning_rate = 0.3 * 0.8 ** (told.number + 1)

    asked = {"learning_rate": 0.3, "callbacks": [schedule], "early_stopping_rounds": patience}
    watched = {} if patience is None else {"eval_set": NEW}
    model = GreedyRegressor(n_estimators=4, warm_start=True, **asked).fit(X, Y, **watched)
    for n in (5, 12):
        model.set_params(n_estimators=n).fit(X, Y, **watched)
    assert_same_trees(model, GreedyRegressor(n_estimators=12, **asked).fit(X, Y, **watched))


def test_a_refit_repeats_the_rates_and_asks_no_callback():
    numbers = []

    def schedule(told):
        numbers.append(told.number)
        told.learning_rate = 0.3 * 0.8**told.number

    model = GreedyRegressor(
        n_estimators=50, early_stopping_rounds=2, refit=True, callbacks=[schedule], random_state=0
    ).fit(X, Y)
    assert numbers == [*range(len(model.evals_result_["eval_0"]))]
    expected = GreedyRegressor(n_estimators=model.best_iteration_ + 1, callbacks=[schedule])
    assert_same_trees(model, expected.fit(X, Y))
    assert model.callbacks == [schedule]


# What is refused ------------------------------------------------------------------------------


def set_rate(rate):
    """Return a callback that sets it."""
    return [lambda told: setattr(told, "learning_rate", rate)]


BACK = {"early_stopping_rounds": 2, "refit": True}
REFUSED = [
    ({"eval_metric": ["auc", "logloss"]}, {}, "nearest here is 'roc_auc' and 'neg_log_loss'[.]$"),
    ({}, {"X_val": X_NEW}, "X_val and y_val belong together"),
    ({}, {"y_val": Y_NEW}, "X_val and y_val belong together"),
    ({}, {"sample_weight_val": np.ones(200)}, "X_val and y_val belong together"),
    ({}, {"X_val": X_NEW[:, :2], "y_val": Y_NEW}, "^X_val, y_val: X has 2 features"),
    (BACK, {"eval_set": NEW}, "^refit=True gives back the rows"),
    (BACK, {"X_val": X_NEW, "y_val": Y_NEW}, "^refit=True gives back the rows"),
    (BACK | {"warm_start": True}, {}, "^refit=True grows the trees anew and warm_start=True"),
    *(
        ({"callbacks": set_rate(rate)}, {}, "^A callback set learning_rate=.* after tree 0; it")
        for rate in (0.0, -1, np.nan, np.inf, "0.1", None, True)
    ),
]


@pytest.mark.parametrize(("parameters", "given", "message"), REFUSED)
def test_what_makes_no_sense_is_refused(parameters, given, message):
    with pytest.raises(ValueError, match=message):
        GreedyClassifier(**parameters).fit(X, Y, **given)
