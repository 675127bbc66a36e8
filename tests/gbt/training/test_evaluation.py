"""Who watches a fit: metrics, callbacks, what is printed; and fits that go on later."""

import io
import pickle
import re
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import check_scoring, get_scorer, make_scorer, r2_score

import gbt
from gbt import GBTClassifier, GBTRegressor
from gbt.losses.robust import Huber
from gbt.splitting.greedy import Greedy
from gbt.training import progress
from gbt.training.evaluation import Round
from tests.asserts import assert_close, assert_same, assert_same_model, assert_same_trees
from tests.greedy import GreedyClassifier, GreedyRegressor

BOTH = pytest.mark.parametrize("estimator", [GBTRegressor, GBTClassifier])


def table(n=200, seed=0, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X[:, 0] + rng.normal(size=n) > 0
    X[rng.random((n, p)) < 0.1] = np.nan
    return X, y


X, Y = table()
X_NEW, Y_NEW = table(seed=1)


# Metrics --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (r2_score, "r2_score"),
        ("r2", "r2"),
        (make_scorer(r2_score), "make_scorer(r2_score, response_method='predict')"),
        (check_scoring(GreedyRegressor()), "GBTRegressor.score"),
        (
            check_scoring(GreedyRegressor(), scoring="r2"),
            "make_scorer(r2_score, response_method='predict')",
        ),
    ],
    ids=["function", "name", "scorer", "own score", "checked name"],
)
def test_metrics_are_recorded_beside_the_loss(metric, name):
    model = GreedyRegressor(n_estimators=3, eval_metric=metric)
    model.fit(X, Y, eval_set=[(X_NEW, Y_NEW), (X, Y)])
    assert list(model.evals_result_) == ["eval_0", f"eval_0_{name}", "eval_1", f"eval_1_{name}"]
    for i, (rows, target) in enumerate([(X_NEW, Y_NEW), (X, Y)]):
        expected = [r2_score(target, f) for f in model.staged_predict(rows)]
        assert_close(model.evals_result_[f"eval_{i}_{name}"], expected, terms=2.0)
    plain = GreedyRegressor(n_estimators=3).fit(X, Y, eval_set=[(X_NEW, Y_NEW), (X, Y)])
    assert model.evals_result_["eval_0"] == plain.evals_result_["eval_0"]
    assert_same_trees(model, plain)


@pytest.mark.parametrize("metric", ["roc_auc", "accuracy", "neg_log_loss", "f1", "own score"])
def test_scorers_are_those_of_the_fitted_classifier(metric):
    """Its own score is the accuracy."""
    labels, weight = Y_NEW.astype(int), np.linspace(1, 2, 200)
    scorer = check_scoring(GreedyClassifier()) if metric == "own score" else metric
    model = GreedyClassifier(n_estimators=4, eval_metric=scorer, random_state=0)
    model.fit(X, Y.astype(int), eval_set=[(X_NEW, labels), (X_NEW, labels, weight)])
    score = get_scorer("accuracy" if metric == "own score" else metric)
    expected = score(model, X_NEW, labels), score(model, X_NEW, labels, sample_weight=weight)
    recorded = [numbers[-1] for name, numbers in model.evals_result_.items() if name.count("_") > 1]
    assert_close(recorded, expected, terms=2.0)


def test_functions_get_targets_of_0_and_1_probabilities_and_weights_that_differ():
    seen = []

    def metric(y, prediction, sample_weight=None):
        seen.append((y, prediction, sample_weight))
        return 0.5

    labels = np.where(Y_NEW, "yes", "no")
    weight = np.linspace(1, 2, 200)
    model = GreedyClassifier(n_estimators=1, eval_metric=metric)
    sets = [(X_NEW, labels), (X_NEW, labels, weight), (X_NEW, labels, 0 * weight + 3)]
    model.fit(X, np.where(Y, "yes", "no"), eval_set=sets)
    for y, prediction, _ in seen:
        assert_same(y, Y_NEW.astype(float))
        assert_close(prediction, model.predict_proba(X_NEW)[:, 1], terms=1.0)
    assert [w is None for *_, w in seen] == [True, False, True]
    assert_same(seen[1][2], weight)


def test_a_metric_only_reads_what_it_is_given():
    """The targets are the caller's, and the next rounds go on from the predictions."""
    target = Y_NEW.astype(float)
    for position in range(3):

        def careless(*given, sample_weight, position=position):
            (*given, sample_weight)[position][:] = 0
            return 1.0

        model = GreedyRegressor(n_estimators=2, eval_metric=careless)
        weight = np.linspace(1, 2, 200)
        with pytest.raises(ValueError, match="read-only"):
            model.fit(X, Y, eval_set=[(X_NEW, target, weight)])
        assert_same(target, Y_NEW)
        assert_same(weight, np.linspace(1, 2, 200))


REFUSED_METRICS = {
    "a tuple": (lambda y, f: ("mae", 1.0, False), r"<lambda> must return a number .*got \('mae'"),
    "nothing": (lambda y, f: None, "<lambda> must return a number .*got None"),
    "of a model": (
        lambda model, X, y: 1.0,
        r"<lambda> is called with \(y, prediction\) and takes \(model, X, y\)",
    ),
    "nan": (lambda y, f: np.nan, "<lambda> of eval_0 is nan after tree 0"),
    "inf": (lambda y, f: 1.0 if len(y) > 3 else np.inf, "<lambda> of eval_1 is inf after tree 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_METRICS)
def test_what_is_no_metric_is_refused_and_told_the_form(name):
    metric, told = REFUSED_METRICS[name]
    with pytest.raises(ValueError, match=f"^eval_metric {told}"):
        GreedyRegressor(eval_metric=metric).fit(X, Y, eval_set=[(X, Y), (X[:3], Y[:3])])


def test_best_score_without_evaluation_sets_is_none():
    model = GreedyRegressor(n_estimators=2).fit(X, Y)
    assert model.best_score_ is None
    model.fit(X, Y, eval_set=[(X_NEW, Y_NEW)])
    assert model.best_score_ == model.evals_result_["eval_0"][1]
    assert not hasattr(GreedyRegressor(), "best_score_")


# Callbacks ------------------------------------------------------------------------------------


@BOTH
def test_callbacks_are_told_every_round_and_change_nothing(estimator):
    told, told_again = [], []
    model = estimator(n_estimators=4, callbacks=[told.append, told_again.append], splitter="greedy")
    model.fit(X, Y, eval_set=[(X_NEW, Y_NEW)])
    losses = model.evals_result_["eval_0"]
    assert told == [Round(m, 4, {"eval_0": loss}, 0.1) for m, loss in enumerate(losses)]
    assert told_again == told
    assert_same_trees(model, estimator(n_estimators=4, splitter="greedy").fit(X, Y))
    model.fit(X, Y)
    assert told[4:] == [Round(m, 4, {}, 0.1) for m in range(4)]


def test_boosting_ends_with_the_tree_after_which_one_returns_true():
    asked = []
    model = GreedyRegressor(
        n_estimators=9, callbacks=[lambda told: told.number == 2, lambda told: asked.append(told)]
    ).fit(X, Y)
    assert model.ensemble_.n_trees == 3
    assert model.best_iteration_ == 2
    assert len(asked) == 3
    assert_same_trees(model, GreedyRegressor(n_estimators=3).fit(X, Y))


# Code of the user's, and what NumPy does there ------------------------------------------------


class Overflowing:
    """Half the squared error; exp overflows, and it does not matter."""

    def value(self, y, f):
        return (y - f) ** 2 / 2 + harmless()

    def gradient_hessian(self, y, f):
        return f - y + harmless(), np.ones(len(y))

    def link(self, prediction):
        return prediction + harmless()

    def inverse_link(self, f):
        return f + harmless()


def harmless():
    return 1 / (1 + np.exp(np.array([800.0])))[0]


class OverflowingGreedy(Greedy):
    def split(self, frontier, limits, n_jobs):
        harmless()
        return super().split(frontier, limits, n_jobs)


USERS_CODE = {
    "callbacks": [lambda told: harmless() > 0],
    "eval_metric": lambda y, predicted: -np.mean((y - predicted) ** 2) - harmless(),
    "loss": Overflowing(),
    "splitter": OverflowingGreedy(),
}


@pytest.mark.parametrize("base_score", [None, 0.5])
@pytest.mark.parametrize("name", USERS_CODE)
def test_overflows_in_code_of_the_users_are_theirs(name, base_score):
    asked = {"splitter": "greedy", name: USERS_CODE[name]}
    model = GBTRegressor(n_estimators=3, base_score=base_score, **asked)
    with np.errstate(over="ignore"):
        model.fit(X, Y, eval_set=[(X_NEW, Y_NEW)])
        predicted = model.predict(X)
    plain = GreedyRegressor(n_estimators=3, base_score=base_score).fit(X, Y)
    assert_close(predicted, plain.predict(X), np.ones(len(Y)), k=1e3)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        model.fit(X, Y, eval_set=[(X_NEW, Y_NEW)])


# More trees -----------------------------------------------------------------------------------


@BOTH
def test_more_trees_are_those_of_one_fit(estimator):
    """From a seed that nobody gave, and a base score that somebody did."""
    weight = np.where(np.arange(200) % 9 == 0, 0.0, np.linspace(1, 2, 200))
    asked = {"subsample": 0.5, "base_score": 0.3, "splitter": "greedy"}
    model = estimator(n_estimators=3, warm_start=True, **asked)
    model.fit(X, Y, weight, eval_set=[(X_NEW, Y_NEW)])
    losses = model.evals_result_["eval_0"]
    model.set_params(n_estimators=8).fit(X, Y, weight, eval_set=[(X_NEW, Y_NEW)])
    at_once = clone(model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gbt.estimators.base.seed_of", lambda random_state: model._sampling.seed)
        at_once.fit(X, Y, weight, eval_set=[(X_NEW, Y_NEW)])
    assert_same_model(model, at_once)
    assert model.evals_result_["eval_0"][:3] == losses
    assert_same(model.sampled_rows(7), at_once.sampled_rows(7))
    assert model.ensemble_.seen_rows.count(X, Y * 1.0) == 177


FIRST = GreedyRegressor(n_estimators=3, warm_start=True, subsample=0.5, base_score=0.5).fit(X, Y)
NOT_THE_SAME = {
    "learning_rate": ({"learning_rate": 0.2}, {}, "learning_rate must stay 0.1; got 0.2"),
    "reg_lambda": ({"reg_lambda": 2}, {}, "reg_lambda must stay 1.0; got 2"),
    "base_score": ({"base_score": 0.4}, {}, "from its base score; got others"),
    "subsample": ({"subsample": 1.0}, {}, "subsample must stay 0.5; got 1.0"),
    "fewer trees": ({"n_estimators": 2}, {}, "at least 3.*got 2.*warm_start=False.*truncate.2."),
    "rows": ({}, {"X": X_NEW}, "the rows, targets and weights of the first fit"),
    "targets": ({}, {"y": Y_NEW}, "the rows, targets and weights of the first fit"),
    "number of rows": ({}, {"X": X[:100], "y": Y[:100]}, "number of rows must stay 200; got 100"),
    "rows of weight 0": ({}, {"sample_weight": np.arange(200) > 5}, "got others of weight 0"),
    "columns": ({}, {"X": X[:, :2]}, "X has 2 features, but GBTRegressor is expecting 3"),
}


@pytest.mark.parametrize(
    ("parameters", "changed", "message"), NOT_THE_SAME.values(), ids=NOT_THE_SAME
)
def test_what_must_be_equal(parameters, changed, message):
    model = clone(FIRST).fit(X, Y)
    before = dict(vars(model))
    model.set_params(**{"n_estimators": 5} | parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(**{"X": X, "y": Y} | changed)
    assert model.ensemble_ is before["ensemble_"]


@pytest.mark.parametrize("base_score", [None, 0.5])
@pytest.mark.parametrize("is_pickled", [False, True])
def test_other_weights_and_another_order_are_refused(base_score, is_pickled):
    weight = np.linspace(1, 2, 200)
    model = GreedyRegressor(3, warm_start=True, base_score=base_score).fit(X, Y, weight)
    if is_pickled:
        model = pickle.loads(pickle.dumps(model))
    model.set_params(n_estimators=4)
    for others in ((X, Y), (X, Y, weight[::-1]), (X[::-1], Y[::-1], weight[::-1])):
        with pytest.raises(ValueError, match="weights of the first fit, in their order"):
            model.fit(*others)
    model.fit(X, Y, weight)
    assert model.ensemble_.n_trees == 4


def test_another_loss_is_refused_and_the_same_one_as_another_object_is_not():
    model = GreedyRegressor(n_estimators=3, warm_start=True, base_score=0.5).fit(X, Y)
    with pytest.raises(ValueError, match=r"loss must stay .*HalfSquaredError.*; got Absolute"):
        model.set_params(n_estimators=4, loss="absolute").fit(X, Y)
    model = GreedyRegressor(n_estimators=3, warm_start=True, loss=Huber(delta=0.5)).fit(X, Y)
    with pytest.raises(ValueError, match=r"loss must stay Huber\(delta=0.5\); got Huber"):
        model.set_params(n_estimators=4, loss=Huber(delta=0.6)).fit(X, Y)
    assert model.set_params(loss=Huber(delta=0.5)).fit(X, Y).ensemble_.n_trees == 4


CONSTRAINED = {  # what is asked, the same in other words, and something else
    "monotone_constraints": ([1, 0, 0], {"x0": 1}, [-1, 0, 0]),
    "interaction_constraints": ([[0, 1], [2]], [("x2",), {1, 0}], "no_interactions"),
}


@pytest.mark.parametrize("name", CONSTRAINED)
def test_constraints_may_be_lifted_but_not_added(name, tmp_path):
    asked, again, others = CONSTRAINED[name]
    first = {"warm_start": True, name: asked, "splitter": "greedy"}
    model = GBTRegressor(n_estimators=2, **first).fit(X, Y)
    model.save(tmp_path / "model.json")
    at_once = GBTRegressor(n_estimators=4, **first).fit(X, Y)
    for kept in (model, gbt.load(tmp_path / "model.json")):
        kept.set_params(n_estimators=4, **{name: again}).fit(X, Y)
        assert_same_trees(kept, at_once)
        kept.set_params(n_estimators=5, **{name: others})
        with pytest.raises(ValueError, match=re.escape(f"do not keep {name}={others!r}")):
            kept.fit(X, Y)
        with pytest.raises(ValueError, match=re.escape(f"{name}={others!r} was set after")):
            kept.save(tmp_path / "others.json")
        kept.set_params(**{name: None}).fit(X, Y)
        kept.save(tmp_path / "lifted.json")
        assert gbt.load(tmp_path / "lifted.json").get_params()[name] is None
        with pytest.raises(ValueError, match=re.escape(f"do not keep {name}={asked!r}")):
            kept.set_params(n_estimators=6, **{name: asked}).fit(X, Y)


def test_a_fit_that_ended_with_a_stub_has_ended():
    noise, target = np.random.default_rng(3).normal(size=(60, 2)), np.arange(60) % 7
    for seed in range(5):
        asked = {"splitter": "cross_validated", "random_state": seed, "warm_start": True}
        at_once = GBTRegressor(n_estimators=10, **asked).fit(noise, target)
        model = GBTRegressor(n_estimators=5, **asked).fit(noise, target)
        model.set_params(n_estimators=10).fit(noise, target)
        assert_same_trees(model, at_once)
    assert at_once.ensemble_.n_trees < 5


@pytest.mark.filterwarnings("ignore::gbt.training.evaluation.WorseThanConstantWarning")
def test_scores_of_trees_that_early_stopping_dropped_are_not_told():
    rows = {"eval_set": [(X_NEW, ~Y_NEW)]}  # every tree makes them worse
    model = GBTRegressor(n_estimators=10, splitter="unbiased", warm_start=True, random_state=0)
    assert model.fit(X, Y, **rows).split_scores_ is not None
    model.set_params(n_estimators=20, early_stopping_rounds=2).fit(X, Y, **rows)
    assert model.ensemble_.n_trees < 10
    assert model.split_scores_ is None


# Weights of classes ---------------------------------------------------------------------------


ALL_LABELS = [(0, 1), ("no", "yes"), (False, True), (-3.0, 2.0), ("a", "b", "c")]


@pytest.mark.parametrize("labels", ALL_LABELS)
def test_weights_of_classes_multiply_those_of_rows(labels):
    n_classes = len(labels)
    place = np.minimum((X_NEW[:, 1] > 0.7) * 1 + (X_NEW[:, 1] > 1.2), n_classes - 1)
    target, weight = np.array(labels)[place], np.linspace(0, 2, 200)
    counts = np.bincount(place[1:])  # the first row does not exist
    for class_weight, of_class in (
        ("balanced", 199 / (n_classes * counts)),
        ({labels[0]: 3.0}, [3.0, 1.0, 1.0]),
        ({labels[0]: 3, labels[1]: 0.5}, [3.0, 0.5, 1.0]),
        ({}, [1.0, 1.0, 1.0]),
    ):
        model = GreedyClassifier(n_estimators=3, class_weight=class_weight).fit(X, target, weight)
        by_row = np.array(of_class)[place]
        assert_same_trees(model, GreedyClassifier(n_estimators=3).fit(X, target, weight * by_row))


def test_rows_held_out_are_weighed_like_those_of_training():
    asked = {"n_estimators": 20, "early_stopping_rounds": 3, "random_state": 0}
    asked["splitter"] = "greedy"
    model = GBTClassifier(class_weight={True: 5.0}, **asked).fit(X, Y)
    expected = GBTClassifier(**asked).fit(X, Y, np.where(Y, 5.0, 1.0))
    assert_same_trees(model, expected)
    assert model.evals_result_ == expected.evals_result_


def test_weights_of_classes_that_are_not_there_are_refused():
    said = r"class_weight names \['yes'\]; the classes in training are \[False, True\]"
    with pytest.raises(ValueError, match=said):
        GreedyClassifier(class_weight={"yes": 2.0}).fit(X, Y)


# Progress -------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def printed(monkeypatch, stream, seconds=0.0, **parameters):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", seconds)
    model = GreedyClassifier(n_estimators=3, verbose=1, eval_metric="roc_auc", **parameters)
    model.fit(X, Y, eval_set=[(X, Y), (X_NEW, Y_NEW)])
    return stream.getvalue(), model


def test_where_there_is_no_terminal_lines_are_whole_and_say_whose_loss_they_show(monkeypatch):
    text, model = printed(monkeypatch, io.StringIO())
    lines = text.split("\n")
    assert "\r" not in text
    assert lines.pop() == ""
    assert len(lines) == 3
    for m, line in enumerate(lines):
        loss, auc = model.evals_result_["eval_1"][m], model.evals_result_["eval_1_roc_auc"][m]
        start = f"round {m + 1}/3  eval_1 log loss {loss:.6g}  eval_1_roc_auc {auc:.6g}  "
        assert line.startswith(start)
        assert "eval_0" not in line


def test_on_a_terminal_one_line_is_written_over(monkeypatch):
    text, _ = printed(monkeypatch, Terminal())
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert text.count("\r") == 3


def test_the_last_round_is_told_whatever_ended_the_fit(monkeypatch):
    stop = [lambda told: told.number == 1]
    text, _ = printed(monkeypatch, io.StringIO(), seconds=1e9, callbacks=stop)
    assert text.count("\n") == 1
    assert text.startswith("round 2/3")


def test_a_scorer_that_does_not_know_several_classes_is_named():
    rng = np.random.default_rng(0)
    X, label = rng.normal(size=(60, 2)), np.arange(60) % 3
    model = GreedyClassifier(n_estimators=1, eval_metric="roc_auc")
    with pytest.raises(ValueError, match=r"eval_metric 'roc_auc' cannot.*there is 'roc_auc_ovr'"):
        model.fit(X, label, eval_set=[(X, label)])
    model.set_params(eval_metric="roc_auc_ovr").fit(X, label, eval_set=[(X, label)])
    assert 0.5 < model.best_score_ <= 1
