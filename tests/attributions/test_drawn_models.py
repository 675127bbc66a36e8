"""Every measure is what its page says, on drawn models of all kinds, ours and other libraries'.

Models have words, levels that training has not seen, missing values, several outputs, float32 and
all losses; rows that judge have ties, weights and groups.
"""

from functools import partial

import numpy as np
import pytest

from attributions import (
    absolute,
    forest_inner,
    held_out_gain,
    held_out_gain_rows,
    partial_inner,
    partial_inner_rows,
    predecomp,
    saabas,
    tree_inner,
    tree_inner_pairs,
    tree_inner_rows,
    tree_shap,
    unbiased_gain,
)
from attributions.per_row.saabas import Saabas
from attributions.per_row.tree_shap import TreeShap
from attributions.reference import definitions, inference, shapley
from attributions.reference import held_out as page
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same
from tests.drawn_models import draw_model

N_MODELS = 200
N_SMALL = 100  # of which all measures are asked, of few rows: coalitions are enumerated
ROUNDING = 1e-9  # of the sum of |terms|, over programs that add in other orders
PARTS = {"per_tree": True, "per_output": True}


def as_page_takes(case):
    """Return the trees of a drawn model, rows with the numbers of levels, targets and weights.

    A level that training has not seen gets a number that is in no set of levels.
    """
    ensemble = as_ensemble(case.model)
    X = np.array(ensemble.as_input(case.X), dtype=float)
    for k, levels in enumerate(ensemble.categories or ()):
        X[np.isinf(X[:, k]), k] = 0 if levels is None else len(levels)
    weight = np.ones(len(X)) if case.sample_weight is None else case.sample_weight
    return ensemble, X, target_of(case, ensemble), weight


def some_rows(case, places):
    """Return a drawn case with some of its rows."""
    cut = {
        name: given[places]
        for name, given in case._asdict().items()
        if name not in ("kind", "model") and given is not None
    }
    return case._replace(**cut)


def those_that_count(case):
    """Return a drawn case without its rows of weight 0, which are no draws."""
    return case if case.sample_weight is None else some_rows(case, case.sample_weight > 0)


def target_of(case, ensemble):
    """Return targets as the loss takes them: numbers, or those of classes; (n, K) of K targets."""
    y, classes = np.asarray(case.y), getattr(case.model, "classes_", None)
    if y.ndim == 2 or classes is None or len(classes) == 0:
        return y.astype(float)
    is_class = np.array([[label == one for one in classes] for label in y])
    several = ensemble.loss.name == "several_targets"
    return is_class * 1.0 if several else is_class.argmax(axis=1) * 1.0


def size_of_terms(ensemble, X, y, weight):
    """Return the sum of |terms| of each feature, by which rounding is measured."""
    size = np.zeros(ensemble.n_features)
    for tree, value, left_to_explain, _ in page.rounds(ensemble, X, y):
        for t, k, on_left, on_right in page.splits(tree, X):
            rows = on_left + on_right
            d = abs(value[tree.left[t]] - value[tree.right[t]])
            size[k] += d * (weight[rows] * abs(left_to_explain[rows, k])).sum()
    return size / ensemble.learning_rate


def near(found, expected, size):
    size = np.broadcast_to(size, np.shape(expected))
    assert_close(found, expected, size, k=1, eps=ROUNDING)


def by_output(found):
    """Add up a result's trees by the output that they are of; a round has a tree of each."""
    K = len(found.per_output)
    return [found.per_tree[k::K].sum(axis=0) for k in range(K)]


@pytest.mark.parametrize("number", range(N_MODELS))
def test_held_out_gain_is_what_the_page_says(number):
    case = draw_model(number)
    counted = those_that_count(case)
    rows = as_page_takes(counted)
    ensemble, X, _, _ = rows
    asked = {"sample_weight": case.sample_weight, "groups": case.groups}
    found = held_out_gain(case.model, case.X, case.y, **asked, **PARTS, second_moments=True)
    size = size_of_terms(*rows)
    near(found.values, page.held_out_gain(*rows), size)
    near(found.standard_error, page.error_of_held_out_gain(*rows, counted.groups), size)
    near(found.per_tree.sum(axis=0), found.values, size)
    near(found.per_output, by_output(found), size)
    quick = held_out_gain(case.model, case.X, case.y, **asked, standard_error=False)
    assert_same(quick.values, found.values)
    assert quick.standard_error is None

    parts = page.row_parts(*rows, for_error=True)[:, :2].sum(axis=1, keepdims=True)
    labels = range(len(X)) if case.groups is None else counted.groups
    both = found.grouped({"both": ensemble.feature_names[:2]}).standard_error[:1]
    error = inference.standard_error(parts, labels)
    near(both**2, error**2, 1 + size.sum() ** 2)
    if number % 5 == 0:
        by_row = held_out_gain_rows(case.model, case.X, case.y)
        rows = as_page_takes(case._replace(sample_weight=None))
        size = size_of_terms(*rows)
        near(by_row.values, page.row_parts(*rows), size)
        near(by_row.values.sum(axis=0), page.held_out_gain(*rows), size)


# -- All other measures ----------------------------------------------------------------------------


def stages(ensemble, X, y):
    """Yield each tree with its output, and g and h of the rows before the round that it is of.

    As ``definitions.stages``, which knows one output.
    """
    K, trees = ensemble.n_outputs, ensemble.trees
    raw = np.zeros((len(X), K)) + ensemble.base_score
    if ensemble.is_forest:
        for m, tree in enumerate(trees):
            raw[:, m % K] += tree.value[0]
    for m, tree in enumerate(trees):
        if m % K == 0:
            of_round = ensemble.loss.gradient_hessian(y, raw.copy() if K > 1 else raw[:, 0])
            gradient, hessian = (part.reshape(len(X), K) for part in of_round)
        yield m % K, tree, gradient[:, m % K], hessian[:, m % K]
        if not ensemble.is_forest:
            raw[:, m % K] += [tree.value[definitions.path(tree, x)[-1]] for x in X]


def individual(ensemble):
    """Return the attributions of rows that a model allows, each with that of the page."""
    cover = "sum_hessian" if "hessians" in ensemble.statistics else "n_samples"
    weights = "hessian" if cover == "sum_hessian" else "count"

    def of_coalitions(tree, x):
        game = shapley.path_dependent_game(tree, x, getattr(tree, cover))
        return shapley.shapley_values(game, len(x))

    def of_means(tree, x):
        return definitions.saabas(tree, x, getattr(tree, cover))

    yield Saabas(weights), partial(saabas, weights=weights), of_means
    yield TreeShap(cover=weights), partial(tree_shap, cover=weights), of_coalitions
    if "values" in ensemble.statistics:
        yield "predecomp", predecomp, definitions.predecomp


class OfPage:
    """What rows add to each measure by the page: (n, p), or of explanations (n, p, K)."""

    def __init__(self, ensemble, X, y, r):
        n, p, K, alpha = *X.shape, ensemble.n_outputs, ensemble.learning_rate
        self.inner, self.partial, self.moved, self.size = np.zeros((4, n, p))
        self.by_tree = []  # what each tree adds to inner
        self.work, self.residual, self.saving = np.zeros((n, p, K)), np.zeros((n, K)), np.zeros(n)
        for k, tree, g, h in stages(ensemble, X, y):
            step = np.array([r(tree, x) for x in X])
            own = h[:, np.newaxis] * self.work[:, :, k]
            self.by_tree.append(-step * g[:, np.newaxis] / alpha)
            self.inner += self.by_tree[-1]
            self.partial += step * (own - g[:, np.newaxis]) / alpha
            terms = np.abs(step) + np.abs(tree.value).max()  # of which steps are differences
            self.size += terms * (1 + np.abs(own) + np.abs(g[:, np.newaxis])) / alpha
            self.moved += np.abs(step)
            self.work[:, :, k] += step
            self.residual[:, k] -= g
            leaf = [tree.value[definitions.path(tree, x)[-1]] for x in X]
            start = tree.value[0] if ensemble.is_forest else 0.0  # which is where rows begin
            self.saving -= (np.array(leaf) - start) * g / alpha
        self.forest = (self.work * self.residual[:, np.newaxis]).sum(axis=2) / alpha


def unbiased_of_page(ensemble, train, valid):
    """Return the symmetric gain of rows (X, y, weight), as ``definitions.unbiased_gain``."""
    score, size = np.zeros((2, ensemble.n_features))
    for of_train, of_valid in zip(*(stages(ensemble, *t[:2]) for t in (train, valid)), strict=True):
        tree, passed = of_train[1], []
        for (X, _, weight), (_, _, g, h) in ((train, of_train), (valid, of_valid)):
            nodes = np.array([np.isin(range(tree.n_nodes), definitions.path(tree, x)) for x in X])
            passed.append((nodes, np.column_stack([weight * g, weight * h, weight])))
        for t in np.flatnonzero(tree.left >= 0):
            left_right = [
                numbers[nodes[:, child]]
                for nodes, numbers in passed
                for child in (tree.left[t], tree.right[t])
            ]
            if min(map(len, left_right[2:])) > 0:
                gain = definitions.symmetric_gain(*left_right)
                score[tree.feature[t]] += gain
                size[tree.feature[t]] += 1 + abs(gain)
    return score, size


@pytest.mark.parametrize("number", range(N_SMALL))
@pytest.mark.filterwarnings("ignore::attributions.LevelWarning")
def test_sums_over_rows_are_what_the_pages_say(number):
    case = some_rows(draw_model(number), slice(12))
    ensemble, X, y, weight = as_page_takes(case)
    counts = weight > 0
    labels = (np.arange(len(X)) if case.groups is None else case.groups)[counts]
    weighed, asked = weight[:, np.newaxis], {"sample_weight": case.sample_weight}
    rows = case.model, case.X, case.y

    def check(result, parts, size):
        """Compare with what rows add, weighed, and with the errors by groups."""
        near(result.values, (weighed * parts).sum(axis=0), size)
        assert (result.standard_error is None) == (len(set(labels)) == 1)
        if result.standard_error is not None:
            error = inference.standard_error((weighed * parts)[counts], labels)
            near(result.standard_error, error, size)

    for ifa, explain, r in individual(ensemble):
        of_page = OfPage(ensemble, X, y, r)
        size = ((1 + weighed) * of_page.size).sum(axis=0)
        explained, raw = explain(case.model, case.X), ensemble.raw_predict(case.X)
        near(explained.values.reshape(of_page.work.shape), of_page.work, 1 + np.abs(raw).max())
        near(explained.residual(raw), 0 * raw, 1 + np.abs(raw).max() + size.sum())

        asked |= {"groups": case.groups, "ifa": ifa}
        check(tree_inner(*rows, **asked), of_page.inner, size)
        for standard_error in (True, False):  # the second adds up gradients by leaf
            beside = PARTS | {"standard_error": standard_error}
            found = tree_inner(*rows, **asked, **beside)
            near(found.per_output, by_output(found), size)
            near(found.per_tree, [(weighed * one).sum(axis=0) for one in of_page.by_tree], size)
            near(found.values, (weighed * of_page.inner).sum(axis=0), size)
            assert found.n_samples == counts.sum()
        by_row = tree_inner_rows(*rows, ifa=ifa)
        near(by_row.values, of_page.inner, size)
        near(by_row.values.sum(axis=1) + by_row.base_values, of_page.saving, size.sum())
        check(forest_inner(*rows, **asked), of_page.forest, size * ensemble.n_trees)
        if of_page.work.shape[2] == 1 and y.ndim == 1:
            target = of_page.work[:, :, 0] * y[:, np.newaxis] / ensemble.learning_rate
            check(forest_inner(*rows, **asked, variant="target"), target, size * (1 + abs(y).max()))
            near(definitions.tree_inner(ensemble, X, y, r), of_page.inner.sum(axis=0), size)
        check(absolute(*rows[:2], **asked), of_page.moved, size)
        of_forest = np.abs(of_page.work).sum(axis=2)
        found = absolute(*rows[:2], **asked, level="forest", per_output=True)
        check(found, of_forest, size)
        near(found.per_output, np.einsum("i,ikj->jk", weight, np.abs(of_page.work)), size)
        if not ensemble.is_forest:
            found = partial_inner(*rows, **asked, **PARTS)
            check(found, of_page.partial, size)
            near(found.per_tree.sum(axis=0), found.values, size)
            near(found.per_output, by_output(found), size)
            near(partial_inner_rows(*rows, ifa=ifa).values, of_page.partial, size)


@pytest.mark.parametrize("number", range(N_SMALL))
@pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")
def test_what_is_made_of_splits_is_what_the_pages_say(number):
    whole = draw_model(number)
    case = some_rows(whole, slice(12))
    ensemble, X, y, weight = as_page_takes(case)
    if "values" in ensemble.statistics:
        by_row = np.zeros((len(X), ensemble.n_features, ensemble.n_features))
        size = by_row[0].copy()
        for _, tree, g, _ in stages(ensemble, X, y):
            for i, of_row in enumerate(weight * g / ensemble.learning_rate):
                change = definitions.pair_changes(tree, X[i])
                by_row[i] -= change * of_row
                size += np.abs(change) * (1 + abs(of_row))
        beside = {"sample_weight": case.sample_weight, "groups": case.groups}
        found = tree_inner_pairs(case.model, case.X, case.y, **beside)
        near(found.matrix(), by_row.sum(axis=0), size)
        near(found.importance(), by_row.sum(axis=(0, 2)), size.sum(axis=1))
        labels = np.arange(len(X)) if case.groups is None else case.groups
        labels, places = labels[weight > 0], tuple(found.pairs.T)
        if len(set(labels)) > 1:
            error = inference.standard_error(by_row[weight > 0], labels)
            near(found.standard_error, error[places], size[places])
    seen, judges = (
        tuple(part[of[2] > 0] for part in of) for of in (as_page_takes(whole)[1:], (X, y, weight))
    )
    expected, size = unbiased_of_page(ensemble, seen, judges)
    asked = {
        "min_samples": 1,
        "sample_weight_train": whole.sample_weight,
        "sample_weight_valid": case.sample_weight,
    }
    if ensemble.loss.name == "half_logistic" and len({*judges[1]}) == 1:
        with pytest.raises(ValueError, match="one class only"):
            unbiased_gain(case.model, whole.X, whole.y, case.X, case.y, **asked)
        return
    found = unbiased_gain(case.model, whole.X, whole.y, case.X, case.y, **asked)
    near(found.values, expected, 1e3 * size)
