"""Several classes: softmax, rounds of K trees, and what attributions make of them."""

import pickle
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
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
from gbt.losses.several_outputs import OneOutput, SeveralTargets, Softmax
from gbt.reference import boosting as page
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


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 5), st.booleans())
@example(1033, 3, True)  # where the logarithms of NumPy and of Python differ in the last bit
def test_the_plain_page_grows_the_same_trees(seed, n_classes, weighted):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (40, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.permutation(np.arange(40) % n_classes)
    weight = rng.integers(1, 4, 40).astype(float) if weighted else None
    asked = {"max_depth": 3, "reg_lambda": 0.5, "learning_rate": 0.3}
    model = GreedyClassifier(n_estimators=3, **asked).fit(X, y, weight)
    ensemble = model.ensemble_
    models = page.boost_classes(
        X, y, n_classes=n_classes, n_estimators=3, sample_weight=weight, fixed_point=True, **asked
    )
    assert_same(ensemble.base_score, [model.base_score for model in models])
    for k, model in enumerate(models):
        for tree, expected in zip(ensemble.outputs[k].trees, model.trees, strict=True):
            assert_same(tree.feature, [node.feature for node in expected])
            assert_close(tree.value, [node.value for node in expected], 1.0)
    raw = np.column_stack([model.raw_predict(X) for model in models])
    assert_close(ensemble.raw_predict(X), raw, np.abs(raw) + 1)


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


@pytest.mark.parametrize(
    "parameters",
    [{}, {"subsample": 0.5, "colsample": 0.6}, {"max_leaves": 4}, {"splitter": "cross_validated"}],
)
def test_nothing_depends_on_threads_and_fits_go_on(parameters, monkeypatch):
    # Threads grow trees side by side, two in one tree, or three side by side with two in each.
    monkeypatch.setattr(gbt.training.outputs, "LEAST_VALUES_PER_THREAD", 1000)
    monkeypatch.setattr(gbt.training.histogram_growth, "LEAST_VALUES_PER_THREAD", 1000)
    one, X, y = fitted(1200, n_jobs=1, **parameters)
    others = [fitted(1200, n_jobs=n_jobs, **parameters)[0] for n_jobs in (2, 3, 7)]
    half, _, _ = fitted(1200, n_estimators=3, warm_start=True, **parameters)
    others.append(half.set_params(n_estimators=6).fit(X, y))
    for name in ("feature", "threshold", "value", "sum_gradient", "sum_hessian", "tree_offset"):
        for other in others:
            assert_same(getattr(other.ensemble_, name), getattr(one.ensemble_, name))
    rows = one.sampled_rows(17)
    assert len(rows) == round(1200 * parameters.get("subsample", 1.0))
    assert one.ensemble_.trees[17].n_samples[0] == len(rows)


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


def test_files_and_pickles(tmp_path):
    model, X, y = fitted(labels=["c", "a", "b"], subsample=0.8, early_stopping_rounds=3)
    model.save(tmp_path / "model.json")
    for again in (gbt.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert_same(again.predict_proba(X), model.predict_proba(X))
        assert_same(again.classes_, model.classes_)
        assert again.ensemble_.loss == Softmax(3)
        assert_same(again.ensemble_.base_score, model.ensemble_.base_score)
        assert (again.best_iteration_, again.evals_result_) == (
            model.best_iteration_,
            model.evals_result_,
        )
        assert_same(again.fit(X, y).ensemble_.value, model.ensemble_.value)
    model.ensemble_.save(tmp_path / "trees.json")
    assert_same(gbt.load(tmp_path / "trees.json").raw_predict(X), model.decision_function(X))


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
def test_contributions_add_up_for_every_output(name):
    """Proposition 1, by output and tree by tree."""
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
    added = np.zeros((300, 5, 3))
    for m, values in attribute_per_tree(model, X, name):
        added[:, :, m % 3] += values
    assert_close(added, result.values, np.abs(result.values) + 1)


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


@pytest.mark.filterwarnings("ignore::attributions.held_out.LevelWarning")
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


def test_proposition_3_tree_by_tree_and_output_by_output():
    model, X, y = fitted(500, n_estimators=8)
    gain = total_gain(model, per_tree=True, per_output=True)
    terms = gain.values.sum()
    assert_close(gain.per_output.sum(axis=0), gain.values, terms)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for standard_error in (True, False):
            inner = tree_inner(
                model, X, y, per_tree=True, per_output=True, standard_error=standard_error
            )
            assert_close(inner.per_tree, gain.per_tree, terms)
            assert_close(inner.per_output, gain.per_output, terms)


@pytest.mark.filterwarnings("ignore::attributions.held_out.LevelWarning")
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
    result = tree_inner_rows(model, X, y)
    f, saved = model.ensemble_.base_score, np.zeros(2500)
    raw = np.tile(f, (2500, 1))
    for m, tree in enumerate(model.ensemble_.trees):
        if m % 3 == 0:
            gradient, _ = Softmax(3).gradient_hessian(y.astype(float), raw)
        step = tree.value[tree.find_leaves(X)]
        saved -= step * gradient[:, m % 3] / 0.1
        raw[:, m % 3] += step
    assert_close(result.base_values + result.values.sum(axis=1), saved, 100.0)


def test_forest_inner_and_absolute_follow_their_definitions():
    model, _, _ = fitted()
    X, y = table(400, seed=4)
    of_trees = dict(attribute_per_tree(model, X, "predecomp"))
    whole = predecomp(model, X).values
    by_tree = np.array([
        sum(np.abs(of_trees[m]).sum(axis=0) for m in range(k, 18, 3)) for k in range(3)
    ])  # fmt: skip
    result = absolute(model, X, per_output=True)
    assert_close(result.per_output, by_tree, by_tree + 1)
    assert_close(result.values, by_tree.sum(axis=0), by_tree.sum(axis=0) + 1)
    forest = absolute(model, X, level="forest", per_output=True)
    assert_close(forest.per_output, np.abs(whole).sum(axis=0).T, by_tree + 1)
    target = forest_inner(model, X, y, variant="target")
    indicator = y[:, None] == np.arange(3)
    expected = np.einsum("ipk,ik->p", whole, indicator) / 0.1
    assert_close(target.values, expected, np.abs(whole).sum() / 0.1)
    residual = np.zeros((400, 3))
    for f in [
        np.tile(model.ensemble_.base_score, (400, 1)),
        *model.ensemble_.staged_raw_predict(X),
    ][:-1]:
        residual -= Softmax(3).gradient_hessian(y.astype(float), f)[0]
    expected = np.einsum("ipk,ik->p", whole, residual) / 0.1
    assert_close(forest_inner(model, X, y).values, expected, np.abs(whole).sum() * 100)


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


@pytest.mark.parametrize("form", ["symmetric", "paper"])
def test_unbiased_gain_adds_up_that_of_every_output(form):
    model, X, y = fitted(201, n_estimators=1)
    X_new, y_new = table(150, seed=4)
    result = unbiased_gain(model, X, y, X_new, y_new, form, per_tree=True)
    ensemble, expected = model.ensemble_, np.zeros((3, 5))
    p = 1 / 3
    for k, tree in enumerate(ensemble.trees):
        g = p - (y == k)
        g_new, h_new = p - (y_new == k), np.full(150, 2 * p * (1 - p))
        at, at_new = ({i: set() for i in range(tree.n_nodes)} for _ in range(2))
        for rows, where in ((X, at), (X_new, at_new)):
            for i, x in enumerate(rows):
                t = 0
                while True:
                    where[t].add(i)
                    if tree.left[t] < 0:
                        break
                    value = x[tree.feature[t]]
                    left = tree.missing_left[t] if np.isnan(value) else value <= tree.threshold[t]
                    t = tree.left[t] if left else tree.right[t]
        for t in np.flatnonzero(tree.left >= 0):
            left, right, node = ([*at_new[n]] for n in (tree.left[t], tree.right[t], t))
            if min(len(left), len(right)) < 5:
                continue
            G = [g[[*at[n]]].sum() for n in (tree.left[t], tree.right[t], t)]
            if form == "paper":  # all hessians are equal here, so means of ratios are ratios
                U = [g_new[rows].mean() / h_new[0] for rows in (left, right, node)]
                gain = G[0] * U[0] + G[1] * U[1] - G[2] * U[2]
            else:
                n = [len(at[m]) for m in (tree.left[t], tree.right[t], t)]
                contrast = (G[0] * n[1] - G[1] * n[0]) / n[2]
                gain = contrast * (g_new[left].mean() - g_new[right].mean()) / h_new[0]
            expected[k, tree.feature[t]] += gain
    assert_close(result.per_tree, expected, np.abs(expected).sum() + 10, k=1e3)
    assert result.standard_error.shape == (5,)


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
        ax = shap.plots.beeswarm(explanation[..., 1], show=False)
        ax.figure.canvas.draw()
        drawn = np.concatenate([dots.get_offsets()[:, 0] for dots in ax.collections])
        assert_same(np.sort(drawn), np.sort(result.output("b").values.ravel()))
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
        inner = tree_inner(model, frame, y, per_output=True)
        unbiased = unbiased_gain(model, frame, y, frame, y)
    gain = total_gain(model, per_output=True)
    assert_close(inner.per_output, gain.per_output, gain.values.sum())
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
