"""Several classes: softmax, rounds of K trees, and what attributions make of them."""

import threading
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import log_loss

import gbt
import gbt.training.histogram_growth
import gbt.training.outputs
from attributions import (
    GlobalAttribution,
    absolute,
    cross_fit,
    forest_inner,
    partial_inner,
    partial_inner_rows,
    permutation,
    predecomp,
    saabas,
    total_gain,
    tree_inner,
    tree_inner_rows,
    tree_shap,
    unbiased_gain,
)
from attributions.per_row.individual import attribute_per_tree
from gbt import Ensemble, GBTClassifier
from gbt.losses.half import LOSSES
from gbt.losses.several_outputs import OneOutput, SeveralTargets, Softmax
from gbt.splitting.greedy import Greedy
from gbt.training.histogram_growth import HistogramGrowth
from tests.asserts import (
    EPS_32,
    assert_close,
    assert_same,
    assert_same_trees,
    assert_valid_tree,
    peer,
)
from tests.greedy import GreedyClassifier

PATHS = {"predecomp": predecomp, "saabas": saabas, "tree_shap": tree_shap}


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
    asked = {
        "n_estimators": 6,
        "max_depth": 3,
        "random_state": 0,
        "splitter": "greedy",
    } | parameters
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


@given(st.integers(2, 5), st.data())
def test_derivatives_are_those_of_the_value(n_classes, data):
    loss = Softmax(n_classes, hessian_factor=1.0)
    f = data.draw(arrays(np.float64, n_classes, elements=st.floats(-4, 4)))
    y = np.array([float(data.draw(st.integers(0, n_classes - 1)))])
    gradient, hessian = loss.gradient_hessian(y, f[np.newaxis])
    for k in range(n_classes):
        shifted = [f + d * (np.arange(n_classes) == k) for d in (-1e-4, 0, 1e-4)]
        before, here, after = (loss.value(y, g[np.newaxis])[0] for g in shifted)
        assert gradient[0, k] == pytest.approx((after - before) / 2e-4, abs=1e-7)
        assert hessian[0, k] == pytest.approx((after - 2 * here + before) / 1e-8, abs=1e-6)


def test_several_rounds_at_once_and_any_layout():
    rng = np.random.default_rng(0)
    loss, y, f = Softmax(3), np.array([0.0, 2.0, 1.0, 1.0]), rng.normal(size=(5, 4, 3))
    by_output = np.ascontiguousarray(np.moveaxis(f, -1, 0))
    for m in range(5):
        for of_one, of_all, of_other in zip(
            loss.gradient_hessian(y, f[m]),
            loss.gradient_hessian(y, f),
            loss.gradient_hessian(y, np.moveaxis(by_output, 0, -1)),
            strict=True,
        ):
            assert_same(of_all[m], of_one)
            assert_same(of_other[m], of_one)
    room = np.empty((2, *f.shape))
    assert all(np.shares_memory(part, room) for part in loss.gradient_hessian(y, f, out=room))
    assert_same(room, np.array(loss.gradient_hessian(y, f)))
    with pytest.raises(ValueError, match="they need 3 columns"):
        loss.gradient_hessian(y, f[..., :2])
    with pytest.raises(ValueError, match="numbers of classes, 0 to 2; it holds 3"):
        loss.check_target(np.array([0.0, 3.0]))
    with pytest.raises(ValueError, match="two classes or more"):
        Softmax(1)


def test_best_constant_is_the_shares_of_the_classes():
    y, weight = np.array([0.0, 1.0, 2.0, 2.0]), np.array([1.0, 2.0, 2.0, 3.0])
    assert_close(Softmax(3).best_constant(y, weight), np.log([1 / 8, 2 / 8, 5 / 8]), 10)
    assert_close(Softmax(3).best_constant(y, weight[:1]), np.log([1 / 4, 1 / 4, 1 / 2]), 10)


# Boosting


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_parity_with_xgboost(n_classes, weighted):
    X, y = table(700, n_classes, seed=7)
    X, xgboost = X.astype(np.float32), peer("xgboost")
    weight = np.random.default_rng(3).integers(1, 4, 700) if weighted else None
    model = GreedyClassifier(n_estimators=8, max_depth=4).fit(X, y, weight)
    data = xgboost.DMatrix(X, label=y, weight=weight)
    data.set_base_margin(np.tile(model.ensemble_.base_score, (700, 1)))
    asked = {"objective": "multi:softprob", "num_class": n_classes, "max_depth": 4, "eta": 0.1}
    booster = xgboost.train({**asked, "tree_method": "exact"}, data, 8)
    theirs = booster.trees_to_dataframe()
    n_splits = (theirs.Feature != "Leaf").groupby(theirs.Tree).sum().to_numpy()
    assert_same([int((tree.left >= 0).sum()) for tree in model.ensemble_.trees], n_splits)
    assert_close(model.predict_proba(X), booster.predict(data), 1.0, eps=EPS_32)


def test_rounds_outputs_and_shapes():
    model, X, y = fitted(labels=["c", "a", "b"])
    ensemble = model.ensemble_
    assert (ensemble.n_outputs, ensemble.n_rounds, ensemble.n_trees) == (3, 6, 18)
    assert_same(ensemble.tree_output, np.tile([0, 1, 2], 6))
    assert ensemble.tree_output.dtype == np.int32
    assert model.classes_.tolist() == ["a", "b", "c"]
    raw = model.decision_function(X)
    assert raw.shape == (300, 3)
    assert_same(raw, ensemble.raw_predict(X))
    by_hand = np.tile(ensemble.base_score, (300, 1))
    leaves = model.apply(X)
    assert leaves.shape == (300, 18)
    for m, tree in enumerate(ensemble.trees):
        assert_valid_tree(tree)
        assert_same(tree.find_leaves(np.asarray(X)), leaves[:, m])
        by_hand[:, m % 3] += tree.value[leaves[:, m]]
    assert_same(raw, by_hand)
    probability = model.predict_proba(X)
    assert_close(probability.sum(axis=1), np.ones(300), 1)
    assert_same(model.predict(X), model.classes_[probability.argmax(axis=1)])
    assert model.score(X, y) > 0.75
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == 6
    assert_same(stages[-1], probability)
    assert_same(list(ensemble.staged_raw_predict(X))[3], ensemble.truncate(4).raw_predict(X))
    assert ensemble.truncate(4).n_trees == 12
    frame = ensemble.to_frame()
    assert_same(frame["output"], np.repeat(ensemble.tree_output, np.diff(ensemble.tree_offset)))
    assert "base_score=-1.09861, -1.09861, -1.09861" in repr(ensemble)
    assert_close(model.feature_importances_.sum(), 1.0, 1.0)


def test_two_classes_have_one_output():
    model, _, _ = fitted(n_classes=2)
    assert (model.ensemble_.n_outputs, model.ensemble_.n_trees) == (1, 6)
    assert model.ensemble_.loss.name == "half_logistic"
    assert model.ensemble_.outputs == (model.ensemble_,)
    assert "output" not in model.ensemble_.to_frame()


def test_every_tree_of_a_round_draws_its_own_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = np.digitize(X.sum(axis=1), [-2.0, 2.0])
    model = GreedyClassifier(n_estimators=8, max_depth=1, colsample=0.1, random_state=0).fit(X, y)
    root = model.ensemble_.feature[model.ensemble_.tree_offset[:-1]].reshape(8, 3)
    # One of twelve columns is drawn: three trees in eight rounds hardly ever draw alike.
    assert (root >= 0).all()
    assert (np.ptp(root, axis=1) > 0).sum() >= 5


def test_a_thread_without_a_tree_helps_with_the_last_one(monkeypatch):
    monkeypatch.setattr(gbt.training.outputs, "LEAST_VALUES_PER_THREAD", 1000)
    monkeypatch.setattr(gbt.training.histogram_growth, "LEAST_VALUES_PER_THREAD", 1000)
    one, _, _ = fitted(1200, n_estimators=1, n_jobs=1)
    helps, grow, help_once = threading.Semaphore(0), HistogramGrowth.grow, HistogramGrowth.help
    in_time = []

    def grow_when_helped(self, m, *others):
        if m == 2:
            in_time.append(helps.acquire(timeout=60))
        return grow(self, m, *others)

    def help_and_tell(self):
        helps.release()
        return help_once(self)

    monkeypatch.setattr(HistogramGrowth, "grow", grow_when_helped)
    monkeypatch.setattr(HistogramGrowth, "help", help_and_tell)
    two, _, _ = fitted(1200, n_estimators=1, n_jobs=2)
    assert in_time == [True]
    assert_same_trees(two, one)


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


def test_weights_are_repeated_rows_and_classes_can_be_weighed():
    X, y = table(120)
    weight = np.random.default_rng(1).integers(0, 3, 120)
    model = GreedyClassifier(n_estimators=3, max_depth=3).fit(X, y, weight)
    again = GreedyClassifier(n_estimators=3, max_depth=3).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert_same(again.ensemble_.feature, model.ensemble_.feature)
    assert_close(again.ensemble_.value, model.ensemble_.value, 1.0)
    X, y = X[10:], np.where(y[10:] == 2, 0, y[10:]) + (X[10:, 2] > 1.5) * 2
    y = np.minimum(y, 2)
    counts = np.bincount(y)
    balanced, by_name = (
        GreedyClassifier(n_estimators=2, max_depth=2, class_weight=weights).fit(X, y)
        for weights in ("balanced", {k: len(y) / (3 * counts[k]) for k in range(3)})
    )
    assert_same(balanced.ensemble_.value, by_name.ensemble_.value)
    assert_close(balanced.ensemble_.base_score, np.full(3, np.log(1 / 3)), 2.0)


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
        list(model.ensemble_.trees)[:-1],
        base_score=model.ensemble_.base_score,
        learning_rate=0.1,
        reg_lambda=1.0,
        loss=Softmax(3),
        feature_names=model.ensemble_.feature_names,
    )
    with pytest.raises(ValueError, match="every output has a tree in a round"):
        broken.validate()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"n_outputs": 3', '"n_outputs": 4', "base_score must be finite, one an output"),
        ('"n_outputs": 3', '"n_outputs": 1', "two classes or more"),
        ('"base_score": [', '"base_score": ["a", ', "ensemble.base_score must be"),
        ('"values": ["a", "b", "c"]', '"values": ["a", "b"]', "cannot have the loss softmax"),
        ('"values": ["a", "b", "c"]', '"values": ["a", "c", "b"]', "sorted"),
    ],
)
def test_edited_files_are_refused(old, new, message, tmp_path):
    path = tmp_path / "model.json"
    fitted(labels=["c", "a", "b"])[0].save(path)
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=message):
        gbt.load(path)


# Attributions


@pytest.mark.parametrize("name", PATHS)
def test_contributions_are_those_of_every_output_alone(name):
    """Proposition 1 holds of each."""
    model, X, _ = fitted(labels=["c", "a", "b"])
    ensemble = model.ensemble_
    result = PATHS[name](model, X)
    assert result.values.shape == (300, 5, 3)
    assert result.base_values.shape == (300, 3)
    assert result.output_names == ("a", "b", "c")
    raw = ensemble.raw_predict(X)
    terms = np.abs(result.values).sum(axis=1) + np.abs(result.base_values) + np.abs(raw)
    assert_close(result.residual(raw), np.zeros((300, 3)), terms)
    for k, output in enumerate(ensemble.outputs):
        alone = PATHS[name](output, X)
        assert_same(alone.values, result.values[:, :, k])
        assert_same(alone.base_values, result.base_values[:, k])


def by_definition(model, X, y, ifa, weight, is_partial=False):
    """TreeInner and its partial form from their definitions, an output and a tree at a time."""
    ensemble = model.ensemble_
    f = np.tile(ensemble.base_score, (len(X), 1))
    q = np.zeros((3, len(X), X.shape[1]))
    earlier = np.zeros_like(q)
    of_trees = dict(attribute_per_tree(model, X, ifa))
    for m, tree in enumerate(ensemble.trees):
        k = m % 3
        if k == 0:
            p = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
        g, h = p[:, k] - (y == k), 2 * p[:, k] * (1 - p[:, k])
        push = -g[:, None] + h[:, None] * earlier[k] * is_partial
        q[k] += weight[:, None] * of_trees[m] * push / ensemble.learning_rate
        earlier[k] += of_trees[m]
        f[:, k] += tree.value[tree.find_leaves(X)]
    return q


@pytest.mark.filterwarnings("ignore::attributions.LevelWarning")
@pytest.mark.parametrize("ifa", PATHS)
@pytest.mark.parametrize("is_partial", [False, True])
@pytest.mark.parametrize("standard_error", [True, False])
def test_inner_products_follow_the_definition(ifa, is_partial, standard_error):
    model, _, _ = fitted()
    X, y = table(1300, seed=4)
    weight = np.random.default_rng(5).random(1300)
    measure = partial_inner if is_partial else tree_inner
    result = measure(
        model, X, y, ifa=ifa, sample_weight=weight, per_tree=True, per_output=True,
        standard_error=standard_error,
    )  # fmt: skip
    q = by_definition(model, X, y, ifa, weight, is_partial)
    terms = np.abs(q).sum(axis=(0, 1)) + 1
    assert_close(result.values, q.sum(axis=(0, 1)), terms)
    assert_close(result.per_output, q.sum(axis=1), terms + np.zeros((3, 1)))
    assert_close(result.per_tree.sum(axis=0), result.values, terms)
    if standard_error:
        error = np.sqrt(1300) * q.sum(axis=0).std(axis=0, ddof=1)
        assert_close(result.standard_error, error, terms)
    plain = measure(model, X, y, ifa=ifa, sample_weight=weight, standard_error=standard_error)
    assert_same(plain.values, result.values)
    assert plain.per_output is None
    assert plain.per_tree is None


@pytest.mark.filterwarnings("ignore::attributions.LevelWarning")
def test_rows_groups_merging_and_threads():
    model, _, _ = fitted()
    X, y = table(2500, seed=4)
    groups = np.arange(2500) // 7
    for measure, rows in ((tree_inner, tree_inner_rows), (partial_inner, partial_inner_rows)):
        whole = measure(model, X, y, per_output=True)
        assert_same(GlobalAttribution.from_rows(rows(model, X, y)).values, whole.values)
        assert_same(measure(model, X, y, n_jobs=1).values, whole.values)
        parts = [
            measure(model, X[s], y[s], per_output=True) for s in (slice(1000), slice(1000, None))
        ]
        merged = parts[0].merge(parts[1])
        size = np.abs(whole.per_output).sum(axis=0)
        assert_close(merged.values, whole.values, size * 100)
        assert_close(merged.per_output, whole.per_output, size * 100 + np.zeros((3, 1)))
        assert measure(model, X, y, groups=groups).standard_error.shape == (5,)


MEASURES = {
    "absolute": lambda model, X, y: absolute(model, X, per_output=True),
    "absolute of the forest": lambda model, X, y: absolute(
        model, X, level="forest", per_output=True
    ),
    "forest_inner": forest_inner,
    "forest_inner of the target": partial(forest_inner, variant="target"),
    **{
        f"unbiased_gain, {form}": lambda model, X, y, form=form: unbiased_gain(
            model, X[:250], y[:250], X[250:], y[250:], form, per_tree=True
        )
        for form in ("symmetric", "paper")
    },
}


@pytest.mark.parametrize("name", MEASURES)
def test_measures_add_up_those_of_every_output(name):
    """Several targets have derivatives that do not depend on each other's raw predictions."""
    model, measure = fitted()[0].ensemble_, MEASURES[name]
    X, _ = table(400, seed=4)
    Y = np.random.default_rng(0).normal(size=(400, 3))
    result = measure(replace(model, loss=SeveralTargets(3)), X, Y)
    alone = [
        measure(replace(output, loss=LOSSES["half_squared_error"]), X, Y[:, k])
        for k, output in enumerate(model.outputs)
    ]
    of_outputs = np.array([of_one.values for of_one in alone])
    assert_close(result.values, of_outputs.sum(axis=0), np.abs(of_outputs).sum() + 1e3)
    if result.per_output is not None:
        assert_close(result.per_output, of_outputs, np.abs(of_outputs) + 1e3)


def test_permutation_is_the_drop_of_the_log_likelihood():
    model, X, y = fitted(labels=["c", "a", "b"])
    X, y = table(200, seed=4)
    labels = np.array(["c", "a", "b"])[y]
    result = permutation(model, X, labels, n_repeats=3, random_state=0)
    assert result.method == "permutation(neg_log_loss)"
    by_name = permutation(model, X, labels, metric="neg_log_loss", n_repeats=3, random_state=0)
    assert_close(result.repeats, by_name.repeats, 10.0)
    assert (result.p_values()[:2] < 0.01).all()

    def own(target, probability):
        return np.log(probability[np.arange(200), target.astype(int)])

    assert_close(
        permutation(model, X, labels, metric=own, n_repeats=3, random_state=0).values,
        result.values,
        10.0,
    )


def test_cross_fit_and_seen_rows():
    X, y = table(300)
    result = cross_fit(GreedyClassifier(n_estimators=4, max_depth=3), X, y, cv=3, random_state=0)
    assert set(result.ranking()[:2]) == {0, 1}
    model, X, y = fitted()
    with pytest.warns(match="300 of the 300 rows are among those"):
        tree_inner(model, X, y)


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
    pytest.importorskip("matplotlib").use("agg")
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


@pytest.mark.parametrize("splitter", ["greedy", "cross_validated"])
def test_categories(splitter, tmp_path):
    """Sets of levels are walked by every output."""
    X, y = table(400)
    level = np.array(["red", "green", "blue", "grey"], dtype=object)
    names = level[np.where(np.random.default_rng(1).random(400) < 0.7, y, 3)]
    frame = pd.DataFrame({"colour": pd.Categorical(names), "x": X[:, 0], "z": X[:, 3]})
    asked = {"max_depth": 3, "splitter": splitter, "random_state": 0}
    model = GBTClassifier(n_estimators=4, **asked).fit(frame, y)
    assert model.ensemble_.level_sets is not None
    assert model.score(frame, y) > 0.8
    raw = model.decision_function(frame)
    for measure in PATHS.values():
        result = measure(model, frame)
        terms = np.abs(result.values).sum(axis=1) + np.abs(raw) + 2
        assert_close(result.residual(raw), np.zeros((400, 3)), terms)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inner = tree_inner(model, frame, y, per_output=True, per_tree=True)
        unbiased = unbiased_gain(model, frame, y, frame, y)
    gain = total_gain(model, per_output=True, per_tree=True)  # Proposition 3
    for of in ("values", "per_output", "per_tree"):
        assert_close(getattr(inner, of), getattr(gain, of), gain.values.sum())
    assert unbiased.ranking()[0] == 0
    model.save(tmp_path / "model.json")
    again = gbt.load(tmp_path / "model.json")
    assert_same(again.decision_function(frame), raw)
    if splitter == "greedy":
        more = GBTClassifier(n_estimators=2, warm_start=True, **asked)
        more.fit(frame, y).set_params(n_estimators=4).fit(frame, y)
        assert_same(more.decision_function(frame), raw)
    stopped = GBTClassifier(n_estimators=30, early_stopping_rounds=2, **asked)
    stopped.fit(frame, y, eval_set=[(frame, y)])
    losses = [log_loss(y, p) for p in stopped.staged_predict_proba(frame)]
    assert_close(stopped.evals_result_["eval_0"][: len(losses)], losses, 10.0)


# Blocks of rows ---------------------------------------------------------------------------------


def test_a_loss_of_ones_own_sees_all_rows(monkeypatch):
    monkeypatch.setattr(gbt.training.outputs, "VALUES_AT_ONCE", 1)
    asked = []

    class Own:
        def value(self, y, raw_prediction):
            return (y - raw_prediction) ** 2 / 2

        def link(self, prediction):
            return prediction

        def inverse_link(self, raw_prediction):
            return raw_prediction

        def gradient_hessian(self, y, raw_prediction):
            asked.append(len(y))
            return raw_prediction - y, np.ones(len(y))

    X, y = table()
    gbt.GBTRegressor(loss=Own(), n_estimators=2, splitter="greedy").fit(X, y)
    assert set(asked[-2:]) == {len(y)}
