r"""Held-out gain in plain loops: what a split claims, times what rows not seen in training show.

A split of node t on feature k sends some rows to its left child l and the others to its right child
r. Two statements about these rows are compared::

    the split claims       "on the left the raw prediction is higher by d"      d = v_l - v_r
    rows not seen show     "on the left the residuals are higher by delta"      delta = e_l - e_r

    held-out gain  =  (1/alpha)  W_l W_r / (W_l + W_r)  d  delta

v is the mean of the leaf values below a child, e the mean over the child's rows of what the model
still has to explain *without feature k*, and W their weight. The product is above 0 where both
statements have the same sign. Two things make its expectation 0 if the feature says nothing:

*centred*   Only the difference between the children counts. A constant that is added to what all
            rows of the node have to explain changes nothing, whatever share of them goes left.
*removed*   e = -dL/df at the raw prediction before the round, less all that feature k has
            contributed before. Else the feature's own errors of earlier rounds would be held
            against it; with the squared error, e = y - f + F_k, it is the partial residual.

On the rows that the trees were grown on, without the removal, with the squared error and no
penalty, d is -alpha times the difference of the children's mean gradients. Then the held-out gain
is W_l W_r / W_t (mean g_l - mean g_r)^2, the gain of the split.

If rows start from values of their own, they weigh u at splits, the hessian that they would have if
their target were as predicted: with counts the number of events to be expected. W is then the sum
of u, and e is compared by the sum of e over that of u (``attributions.held_out.exposures``).

Several columns may be one feature, such as the indicators of a city's districts. ``credit`` then
has the number of every column's feature: the gain of a split is that feature's, and e is what is
left to explain without all that its columns have contributed.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from attributions.reference.definitions import Ensemble, Tree, mean_of_leaves, path, predecomp
from attributions.reference.inference import standard_error


def held_out_gain(
    ensemble: Ensemble,
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    removes_own_work: bool = True,
    credit: Sequence[int] | None = None,
) -> np.ndarray:
    """Return the held-out gain of every feature, the sum over its splits.

    A split with rows on one side only is worth 0. A row of weight 3 is worth three rows. No row has
    the weight 0.
    """
    of_column = range(X.shape[1]) if credit is None else credit
    score = np.zeros(max(of_column) + 1)
    for tree, value, left_to_explain, u in rounds(ensemble, X, y, removes_own_work, credit):
        for t, column, on_left, on_right in splits(tree, X):
            k = of_column[column]
            e, w = weight * left_to_explain[:, k], weight * u[:, k]
            W_l, W_r = w[on_left].sum(), w[on_right].sum()
            if W_l > 0 and W_r > 0:
                d = value[tree.left[t]] - value[tree.right[t]]
                delta = e[on_left].sum() / W_l - e[on_right].sum() / W_r
                score[k] += W_l * W_r / (W_l + W_r) * d * delta
    return score / ensemble.learning_rate


def row_parts(
    ensemble: Ensemble,
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    for_error: bool = False,
    credit: Sequence[int] | None = None,
) -> np.ndarray:
    """Return what every row adds to the held-out gain of every feature, (n, p).

    At a split of t, steps and residuals are centred by their means over the node's rows:

        q_i = (1/alpha) w_i (v_child - mean v) (e_i - mean e)

    This is the derivative of the split's held-out gain by the weight of row i, times that weight;
    the q_i add up to the gain itself.

    ``for_error``: mean e comes from the n_t rows of the node themselves, so their distances from it
    show (n_t - 1) / n_t of the variance. Where the spread is wanted and not the sum, parts are
    multiplied by sqrt(n_t / (n_t - 1)). Here n_t counts rows: one of weight 3 is one draw.
    """
    of_column = range(X.shape[1]) if credit is None else credit
    q = np.zeros((len(X), max(of_column) + 1))
    for tree, value, left_to_explain, of_rows in rounds(ensemble, X, y, credit=credit):
        for t, column, on_left, on_right in splits(tree, X):
            k = of_column[column]
            if len(on_left) and len(on_right):
                inside = on_left + on_right
                w, e, u = weight[inside], left_to_explain[inside, k], of_rows[inside, k]
                v = value[[tree.left[t]] * len(on_left) + [tree.right[t]] * len(on_right)]
                mean_e = u * (w * e).sum() / (w * u).sum()
                part = w * (v - np.average(v, weights=w * u)) * (e - mean_e)
                n = len(inside)
                q[inside, k] += part * np.sqrt(n / (n - 1)) if for_error else part
    return q / ensemble.learning_rate


def error_of_held_out_gain(
    ensemble: Ensemble,
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    groups: Iterable[Hashable] | None = None,
    credit: Sequence[int] | None = None,
) -> np.ndarray:
    """Return the standard errors, by rows or by groups of rows that belong together.

    Two rows lie equally far from their mean, so that they tell of none: nan.
    """
    labels = range(len(X)) if groups is None else groups
    parts = row_parts(ensemble, X, y, weight, True, credit)
    if len(X) == 2:
        return np.where(np.asarray(parts).any(axis=0), np.nan, 0.0)
    return standard_error(parts, labels)


def splits(tree: Tree, X: np.ndarray) -> Iterator[tuple[int, int, list[int], list[int]]]:
    """Yield every split: its node, its column, and the rows that go left and right."""
    went: dict[int, list[int]] = {t: [] for t in range(len(tree.left))}
    for i, x in enumerate(X):
        for _, child in pairwise(path(tree, x)):
            went[child].append(i)
    for t in np.flatnonzero(tree.left >= 0).tolist():
        yield t, int(tree.feature[t]), went[tree.left[t]], went[tree.right[t]]


def rounds(
    ensemble: Ensemble,
    X: np.ndarray,
    y: np.ndarray,
    removes_own_work: bool = True,
    credit: Sequence[int] | None = None,
) -> Iterator[tuple[Tree, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield each tree, the values of its nodes, and (n, p) e and u: of row i without feature k.

    A node's value is the mean of the leaf values below it, weighted by the hessians of the training
    rows, or by their number where the model has no hessians. All K trees of a round, one for each
    output, are judged at the predictions before the round, and a feature's work is taken out of all
    outputs.

    The trees of a forest build on no others, so that all are first trees. They are judged at what
    the forest predicts before any split, in which no feature has done anything yet.
    """
    of_column = range(X.shape[1]) if credit is None else credit
    n_outputs, n, p = ensemble.loss.n_outputs, len(X), max(of_column) + 1
    trees = list(ensemble.trees)
    raw_prediction = np.zeros((n, n_outputs)) + ensemble.base_score  # or starting values, (n, K)
    work = np.zeros((n, p, n_outputs))
    if ensemble.is_forest:
        for m, tree in enumerate(trees):
            raw_prediction[:, m % n_outputs] += tree.value[0]
    for first in range(0, len(trees), n_outputs):
        of_round = trees[first : first + n_outputs]
        values = [mean_of_leaves(tree, _cover(ensemble, tree)) for tree in of_round]
        left, u = np.empty((2, n, p, n_outputs))
        for k in range(p):
            without = raw_prediction - work[:, k] * removes_own_work
            asked = without if n_outputs > 1 else without[:, 0]
            gradient, _ = ensemble.loss.gradient_hessian(y, asked)
            left[:, k] = -gradient.reshape(n, n_outputs)
            u[:, k] = _weight_at_splits(ensemble, asked)
        for output, (tree, value) in enumerate(zip(of_round, values, strict=True)):
            yield tree, value, left[:, :, output], u[:, :, output]
        if not ensemble.is_forest:
            for output, (tree, value) in enumerate(zip(of_round, values, strict=True)):
                for i, x in enumerate(X):
                    raw_prediction[i, output] += tree.value[path(tree, x)[-1]]
                    for column, change in enumerate(predecomp(tree, x, value)):
                        work[i, of_column[column], output] += change


def _weight_at_splits(ensemble: Ensemble, asked: np.ndarray) -> np.ndarray:
    """Return u at raw predictions, (n, K), or (n, 1): 1, unless rows have starting values."""
    has_starts, is_one = np.ndim(ensemble.base_score) == 2, ensemble.loss.n_outputs == 1
    if has_starts and not is_one and ensemble.loss.name == "softmax":
        p = ensemble.loss.inverse_link(asked)
        return p * (1 - p)
    if not (has_starts and is_one):
        return np.ones((len(asked), 1))
    as_predicted = ensemble.loss.inverse_link(asked)
    return ensemble.loss.gradient_hessian(as_predicted, asked)[1][:, np.newaxis]


def _cover(ensemble: Ensemble, tree: Tree) -> np.ndarray:
    """Return the weights of the leaves in the means of the nodes above them."""
    return tree.sum_hessian if "hessians" in ensemble.statistics else tree.n_samples
