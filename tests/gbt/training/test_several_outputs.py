"""Several classes: softmax, rounds of K trees, and what attributions make of them."""

import warnings

import numpy as np
import pandas as pd
import pytest

import gbt
import gbt.training.histogram_growth
import gbt.training.outputs
from attributions import GlobalAttribution, predecomp, tree_inner
from gbt import Ensemble, GBTClassifier
from gbt.losses.several_outputs import OneOutput, SeveralTargets, Softmax
from gbt.splitting.greedy import Greedy
from tests.asserts import assert_close, assert_same, peer
from tests.gbt.losses.test_losses import Squared
from tests.greedy import GreedyClassifier


def table(n=300, n_classes=3, seed=0):
    """Classes that columns 0 and 1 tell about, with missing values, in a random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, 5))
    X[:, 0] += y
    X[:, 1] -= 2 * (y == 1)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def fitted(n=300, n_classes=3, labels=None, **parameters):
    X, y = table(n, n_classes)
    y = y if labels is None else np.asarray(labels)[y]
    asked = {"n_estimators": 6, "max_depth": 3, "random_state": 0, **parameters}
    return GBTClassifier(**asked).fit(X, y), X, y


# The loss


def test_softmax_by_hand():
    loss, y = Softmax(3), np.array([2.0])
    f = np.log([[1.0, 2.0, 5.0]])
    gradient, hessian = loss.gradient_hessian(y, f)
    assert_close(gradient, [[1 / 8, 2 / 8, 5 / 8 - 1]], 1)
    assert_close(hessian, [[2 * 7 / 64, 2 * 12 / 64, 2 * 15 / 64]], 1)
    assert_close(loss.value(y, f), [-np.log(5 / 8)], 10)
    assert_close(loss.inverse_link(f), [[1 / 8, 2 / 8, 5 / 8]], 1)
    assert Softmax(2, 1.0).gradient_hessian(np.array([0.0]), np.array([[900.0, 0.0]]))[1].min() > 0


def test_what_is_no_target_or_prediction_of_classes():
    loss, y = Softmax(3), np.array([0.0, 2.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="they need 3 columns"):
        loss.gradient_hessian(y, np.zeros((4, 2)))
    with pytest.raises(ValueError, match="numbers of classes, 0 to 2; it holds 3"):
        loss.check_target(np.array([0.0, 3.0]))
    with pytest.raises(ValueError, match="two classes or more"):
        Softmax(1)


# Boosting


def test_rounds_outputs_and_shapes():
    """What is predicted `tests.gbt.test_estimators` tells of classifiers of all kinds."""
    model, X, _ = fitted(labels=["c", "a", "b"])
    ensemble = model.ensemble_
    assert (ensemble.n_outputs, ensemble.n_rounds, ensemble.n_trees) == (3, 6, 18)
    assert_same(ensemble.tree_output, np.tile([0, 1, 2], 6))
    assert ensemble.tree_output.dtype == np.int32
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.decision_function(X).shape == (300, 3)
    assert_same(list(ensemble.staged_raw_predict(X))[3], ensemble.truncate(4).raw_predict(X))
    frame = ensemble.to_frame()
    assert_same(frame["output"], np.repeat(ensemble.tree_output, np.diff(ensemble.tree_offset)))
    assert "base_score=-1.09861, -1.09861, -1.09861" in repr(ensemble)


def test_every_tree_of_a_round_draws_its_own_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = np.digitize(X.sum(axis=1), [-2.0, 2.0])
    model = GreedyClassifier(n_estimators=8, max_depth=1, colsample=0.1, random_state=0).fit(X, y)
    root = model.ensemble_.feature[model.ensemble_.tree_offset[:-1]].reshape(8, 3)
    # One of twelve columns is drawn: three trees in eight rounds hardly ever draw alike.
    assert (root >= 0).all()
    assert (np.ptp(root, axis=1) > 0).sum() >= 5


def test_every_tree_of_a_round_draws_its_own_rows():
    model, X, y = fitted(subsample=0.5, n_estimators=3)
    ensemble = model.ensemble_
    before = [np.tile(ensemble.base_score, (300, 1)), *ensemble.staged_raw_predict(X)]
    for m, tree in enumerate(ensemble.trees):
        gradient, _ = ensemble.loss.gradient_hessian(y.astype(float), before[m // 3])
        of_rows = gradient[model.sampled_rows(m), m % 3].sum()
        assert_close(tree.sum_gradient[0], of_rows, 300.0)


class FailsOnce(Greedy):
    """A policy that counts the trees that begin, and fails in the first of them that it can."""

    n_begun = 0

    def split(self, frontier, limits, n_jobs):
        """Raise an error."""
        type(self).n_begun += 1
        raise ZeroDivisionError("the policy fails")


def test_an_error_in_one_tree_of_a_round_ends_the_fit():
    X, _ = table(600)
    FailsOnce.n_begun = 0
    with pytest.raises(ZeroDivisionError, match="the policy fails"):
        GBTClassifier(splitter=FailsOnce(), n_jobs=2).fit(np.tile(X, (1, 30)), np.arange(600) % 40)
    assert 1 <= FailsOnce.n_begun <= 2  # one a thread, and none of the 38 others


def test_what_is_refused():
    X, y = table(60)
    with pytest.raises(ValueError, match="with 3 classes it must be None"):
        GreedyClassifier(base_score=0.5).fit(X, y)
    model, X, y = fitted(60)
    with pytest.raises(ValueError, match=r"y holds 7; the model has the classes \[0, 1, 2\]"):
        tree_inner(model, X + 0.1, np.full(60, 7))
    with pytest.raises(ValueError, match=r"take the raw predictions of all"):
        tree_inner(model.ensemble_.outputs[0], X + 0.1, y)
    with pytest.raises(ValueError, match="loss must be one of"):
        model.ensemble_.outputs[1].save("nowhere.json")
    broken = Ensemble.from_trees(
        list(model.ensemble_.trees)[:-1], base_score=model.ensemble_.base_score, learning_rate=0.1,
        reg_lambda=1.0, loss=Softmax(3), feature_names=model.ensemble_.feature_names,
    )  # fmt: skip
    with pytest.raises(ValueError, match="every output has a tree in a round"):
        broken.validate()


# Results


def test_results_of_several_outputs():
    model, X, _ = fitted(labels=["c", "a", "b"])
    frame = pd.DataFrame(X, columns=list("pqrst"), index=[f"r{i}" for i in range(300)])
    result = predecomp(GreedyClassifier(n_estimators=2).fit(frame, model.predict(X)), frame)
    b = result.output("b")
    assert_same(b.values, result.values[:, :, 1])
    assert_same(result.output(1).values, b.values)
    assert b.method == "predecomp of b"
    assert_same(result["q"], result.values[:, 1])
    assert result.to_frame().loc["r3", ("q", "b")] == b.values[3, 1]
    assert_same(np.array(result), result.values)
    assert "2 more outputs, see .output" in repr(result)
    assert "predecomp of a" in result._repr_html_()
    for wrong in (lambda: result.plot(), lambda: GlobalAttribution.from_rows(result)):
        with pytest.raises(ValueError, match=r"shows one output, .* 3: choose .*\.output\('a'\)"):
            wrong()
    with pytest.raises(ValueError, match=r"output\('d'\): the outputs are \['a', 'b', 'c'\]"):
        result.output("d")
    with pytest.raises(ValueError, match="has a single output"):
        b.output(0)
    assert b.plot(row="r3").ax_ is not None


def test_shaps_own_plots_draw_one_class():
    """The axis of outputs is the last: of class k they draw explanation[..., k]."""
    from matplotlib import pyplot

    model, X, _ = fitted(labels=["c", "a", "b"])
    result = predecomp(model, X)
    with warnings.catch_warnings():  # of Matplotlib about shap, and of shap about NumPy
        warnings.simplefilter("ignore")
        shap = peer("shap")
        explanation = result.to_shap()
        assert explanation.values.shape == (300, 5, 3)
        assert_same(explanation[..., 1].values, result.output("b").values)
        assert_same(explanation[..., 1].base_values, result.output("b").base_values)
        ax = shap.plots.waterfall(explanation[0, :, 1], show=False)
        ax.figure.canvas.draw()
        assert_close(ax.get_xticks()[0], model.decision_function(X)[0, 1], 10.0)  # its f(x)
    pyplot.close("all")


def test_a_loss_of_one_output_says_what_is_missing():
    part = OneOutput(Softmax(3), 1)
    for asked in (part.value, part.gradient_hessian):
        with pytest.raises(ValueError, match="output 1 of softmax"):
            asked(np.zeros(2), np.zeros(2))


def test_several_targets_are_their_losses_side_by_side():
    loss = SeveralTargets(2)
    y, f = np.array([[1.0, 2.0], [0.0, 5.0]]), np.array([[0.0, 2.0], [3.0, 1.0]])
    assert_same(loss.value(y, f), [0.5, 12.5])
    gradient, hessian = loss.gradient_hessian(y, f)
    assert_same(gradient, f - y)
    assert_same(hessian, np.ones((2, 2)))
    assert_same(loss.best_constant(y, np.ones(1)), [0.5, 3.5])
    assert_same(loss.best_constant(y, np.array([3.0, 1.0])), [0.75, 2.75])
    assert_same(loss.inverse_link(f), f)
    assert_same(loss.link([1.0, 2.0]), [1.0, 2.0])
    with pytest.raises(ValueError, match="2 targets a row"):
        loss.check_target(y[:, 0])


# Blocks of rows ---------------------------------------------------------------------------------


def test_a_loss_of_ones_own_sees_all_rows(monkeypatch):
    monkeypatch.setattr(gbt.training.outputs, "VALUES_AT_ONCE", 1)
    asked = []

    class Own(Squared):
        def gradient_hessian(self, y, raw_prediction):
            asked.append(len(y))
            return super().gradient_hessian(y, raw_prediction)

    X, y = table()
    gbt.GBTRegressor(loss=Own(), n_estimators=2, splitter="greedy").fit(X, y)
    assert set(asked[-2:]) == {len(y)}
