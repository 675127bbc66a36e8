"""Targets between 0 and 1 under the logistic loss, and losses of one's own for classes."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import gbt
from attributions import held_out_gain, permutation, total_gain, tree_inner
from gbt import GBTClassifier, GBTRegressor
from gbt.losses import CrossEntropy
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyClassifier

N = 120
rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(N, 3)), 1)
SHARE = np.clip(expit(X[:, 0] + rng.normal(size=N)), 0.02, 0.98)
SHARE[:4] = [0.0, 1.0, 0.0, 0.5]
A, B = slice(0, 80), slice(80, N)
SHAPE = {"splitter": "greedy", "n_estimators": 4, "max_depth": 2, "learning_rate": 0.5}


def both_labels(rows, weight=None):
    """Return every row twice: of label 1 with weight y, and of label 0 with weight 1 - y."""
    w = np.ones(N) if weight is None else weight
    y = np.r_[np.ones(N)[rows], np.zeros(N)[rows]]
    weight = np.r_[(w * SHARE)[rows], (w * (1 - SHARE))[rows]]
    kept = weight > 0
    return np.r_[X[rows], X[rows]][kept], y[kept], weight[kept]


@given(st.integers(0, 99))
def test_a_share_is_two_rows_of_labels_with_weights(seed):
    weight = np.random.default_rng(seed).integers(1, 4, N) * 1.0
    model = GBTRegressor(loss="cross_entropy", **SHAPE).fit(X[A], SHARE[A], weight[A])
    labels = GBTClassifier(**SHAPE).fit(*both_labels(A, weight))
    assert_close(model.predict(X), labels.predict_proba(X)[:, 1], 4)
    ours, theirs = model.ensemble_, labels.ensemble_
    assert_same(ours.feature, theirs.feature)
    assert_close(ours.sum_gradient, theirs.sum_gradient, 300)
    assert_close(ours.sum_hessian, theirs.sum_hessian, 300)
    asked = {"sample_weight": weight[B], "standard_error": False}
    rows, y, of_rows = both_labels(B, weight)
    for measure in (held_out_gain, tree_inner):
        told = measure(model, X[B], SHARE[B], **asked)
        expected = measure(labels, rows, y, sample_weight=of_rows, standard_error=False)
        assert_close(told.values, expected.values, 3000)


def test_the_loss_is_the_cross_entropy_and_per_cent_relate_to_what_is_above_its_least():
    loss, raw = CrossEntropy(), np.linspace(-3, 3, N)
    p = expit(raw)
    inner = (SHARE > 0) & (SHARE < 1)
    expected = -(SHARE * np.log(p) + (1 - SHARE) * np.log(1 - p))
    assert_close(loss.value(SHARE, raw), expected, 4 + np.abs(raw))
    y = SHARE[inner]
    model = GBTRegressor(loss="cross_entropy", **SHAPE).fit(X[inner], y)
    mean = y.mean()
    constant = -(y * np.log(mean) + (1 - y) * np.log(1 - mean)).sum()
    least = -(y * np.log(y) + (1 - y) * np.log(1 - y)).sum()
    with pytest.warns(UserWarning, match="among those that the model was trained on"):
        result = tree_inner(model, X[inner], y)
    assert_close(result.percent(), 100 * 0.5 * result.values / (constant - least), 1e5)
    assert_close(result.values, total_gain(model).values, 1e3)


def test_shares_are_judged_by_their_loss_where_no_metric_is_asked_for():
    model = GBTRegressor(loss="cross_entropy", eval_metric="r2", **SHAPE)
    model.fit(X[A], SHARE[A], eval_set=[(X[B], SHARE[B])])
    assert len(model.evals_result_["eval_0_r2"]) == 4
    result = permutation(model, X[B], SHARE[B], random_state=0, n_repeats=2)
    assert result.method == "permutation(neg_cross_entropy)"
    assert result.values[0] > 0


# -- Losses of one's own -------------------------------------------------------------------------


class OwnLogistic:
    """The logistic loss as a user would write it."""

    def value(self, y, f):
        return np.logaddexp(0, f) - y * f

    def gradient_hessian(self, y, f):
        p = expit(f)
        return p - y, p * (1 - p)

    def link(self, p):
        return np.log(p / (1 - p))

    def inverse_link(self, f):
        return expit(f)


class OwnSoftmax:
    """Softmax, of any number of classes."""

    def value(self, y, f):
        return np.log(np.exp(f).sum(axis=1)) - f[np.arange(len(y)), y.astype(int)]

    def gradient_hessian(self, y, f):
        p = self.inverse_link(f)
        is_class = y[:, np.newaxis] == np.arange(f.shape[1])
        return p - is_class, np.maximum(2 * p * (1 - p), 1e-16)

    def link(self, p):
        return np.log(p)

    def inverse_link(self, f):
        odds = np.exp(f)
        return odds / odds.sum(axis=1, keepdims=True)


class Focal(OwnLogistic):
    """Shifted log-odds: a label is predicted where its probability, not the raw one, is larger."""

    def link(self, p):
        return super().link(p) - 1

    def inverse_link(self, f):
        return expit(f + 1)

    def value(self, y, f):
        return super().value(y, f + 1)

    def gradient_hessian(self, y, f):
        return super().gradient_hessian(y, f + 1)


LABELS = {
    2: np.where(X[:, 0] + 0.3 * rng.normal(size=N) > 0, "yes", "no"),
    3: np.digitize(X[:, 0] + 0.3 * rng.normal(size=N), [-0.5, 0.5]),
}


@pytest.mark.parametrize(("n_classes", "loss"), [(2, OwnLogistic()), (3, OwnSoftmax())])
def test_a_classifier_with_its_own_loss_written_again_is_the_same(n_classes, loss, tmp_path):
    y = LABELS[n_classes]
    asked = SHAPE | {"eval_metric": "accuracy"}
    own = GBTClassifier(loss=loss, **asked).fit(X[A], y[A], eval_set=[(X[B], y[B])])
    plain = GBTClassifier(**asked).fit(X[A], y[A], eval_set=[(X[B], y[B])])
    assert_close(own.predict_proba(X), plain.predict_proba(X), 8)
    assert_same(own.predict(X), plain.predict(X))
    assert_close(own.decision_function(X), plain.decision_function(X), 16)
    assert own.evals_result_["eval_0_accuracy"] == plain.evals_result_["eval_0_accuracy"]
    for measure in (held_out_gain, tree_inner):
        told, expected = (measure(model, X[B], y[B]) for model in (own, plain))
        assert_close(told.values, expected.values, 1e3)
        assert_close(told.standard_error, expected.standard_error, 1e3)
    *_, last = own.staged_predict(X)
    assert_same(last, own.predict(X))

    own.set_params(eval_metric=None).save(tmp_path / "model.json")
    kept = json.loads((tmp_path / "model.json").read_text())["ensemble"]["loss"]
    assert kept == {"own": type(loss).__name__, "n_classes": n_classes}
    loaded = gbt.load(tmp_path / "model.json", loss=loss)
    assert_same(loaded.predict_proba(X), own.predict_proba(X))
    with pytest.raises(ValueError, match="object of your own"):
        gbt.load(tmp_path / "model.json")


def test_labels_follow_from_probabilities_not_from_signs():
    y = LABELS[2]
    own = GBTClassifier(loss=Focal(), **SHAPE).fit(X, y)
    plain = GBTClassifier(**SHAPE).fit(X, y)
    assert_close(own.decision_function(X), plain.decision_function(X) - 1, 16, eps=1e-9)
    assert_same(own.predict(X), plain.predict(X))
    proba = own.predict_proba(X)
    assert_same(proba[:, 0], 1 - proba[:, 1])
    assert_same(own.predict(X), own.classes_[proba.argmax(axis=1)])


class Beyond(OwnLogistic):
    def inverse_link(self, f):
        return f


class OfOtherShape(OwnSoftmax):
    def gradient_hessian(self, y, f):
        return f[:, 0], f[:, 0]


class OfGradients(OwnLogistic):
    def gradient_hessian(self, y, f):
        return f - y


def test_what_such_a_loss_may_not_return_is_refused():
    model = GBTClassifier(loss=Beyond(), **SHAPE).fit(X, LABELS[2])
    with pytest.raises(ValueError, match=r"inverse_link of Beyond .* within \[0, 1\]"):
        model.predict(X)
    with pytest.raises(ValueError, match=r"gradient_hessian of OfOtherShape .*\(120, 3\)"):
        GreedyClassifier(loss=OfOtherShape()).fit(X, LABELS[3])
    nan = {"gradient_hessian": lambda self, y, f: (f + np.nan, f)}
    with pytest.raises(ValueError, match=r"of Nothing .*\(120,\); got nan among them"):
        GreedyClassifier(loss=type("Nothing", (OwnLogistic,), nan)()).fit(X, LABELS[2])
    with pytest.raises(ValueError, match=r"OfGradients .* the pair \(gradient, hessian\); got a n"):
        GreedyClassifier(loss=OfGradients()).fit(X, LABELS[2])
    for loss in ("poisson", "half_logistic", CrossEntropy(), OwnLogistic):
        with pytest.raises(ValueError, match="loss must be None, for the logistic loss"):
            GreedyClassifier(loss=loss).fit(X, LABELS[2])
