"""The definitions, in plain loops: slow, and meant to be read from top to bottom.

    a tree and a row -> what each feature did to the row -> what each feature did in all

Everything fast in this package is tested against this page. It imports NumPy alone and asks of a
model no more than its arrays: ``ensemble.trees``, each with ``left``, ``right``, ``feature``,
``threshold``, ``missing_left``, ``value`` and its sums, and ``base_score``, ``learning_rate``,
``loss``, ``is_forest``. One row is ``x``, rows are ``X``; k counts features, i rows, m trees, t
nodes. Equations and definitions are those of Sun 2022 unless another paper is named.

Per row, a function r takes one tree and one row and returns one number a feature:
``predecomp``, ``saabas``. Per feature, sums of any such r over rows and trees: ``tree_inner``,
``partial_inner``, ``forest_inner``, ``absolute``; ``permutation``; and per split ``total_gain`` and
``unbiased_gain``. Per pair of features, ``tree_inner_pairs``.

The standard errors of such sums are on the next page, ``attributions.reference.inference``, whose
names can be imported from here, too; Shapley values on ``attributions.reference.shapley``, local
MDI+ and MDI+ on ``attributions.reference.stumps``.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from attributions.reference.inference import (  # noqa: F401  (most are here to be imported)
    auc_by_row,
    shuffle_error,
    standard_error,
    symmetric_t,
)

Tree = Any  # whatever has the arrays named above
Ensemble = Any
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # X, y, weight
Individual = Callable[[Tree, np.ndarray], np.ndarray]  # r: a number a feature, of a tree and a row

# ------------------------------------------------------------------------------------ one tree


def takes_left(tree: Tree, t: int, x: np.ndarray) -> bool:
    """Say whether x goes left at node t: nan where the tree says so, else x <= threshold.

    The number of a level goes left if its bit is set in the node's level set.
    """
    value, sets = x[tree.feature[t]], getattr(tree, "level_sets", None)
    if np.isnan(value):
        return bool(tree.missing_left[t])
    if sets is not None and sets.of_node[t] >= 0:
        word = int(sets.words[sets.start[sets.of_node[t]] + int(value) // 64])
        return bool(word >> (int(value) % 64) & 1)
    return value <= tree.threshold[t]


def path(tree: Tree, x: np.ndarray) -> list[int]:
    """Return the nodes that x passes, from the root to its leaf."""
    nodes = [0]
    while tree.left[nodes[-1]] >= 0:
        t = nodes[-1]
        nodes.append(tree.left[t] if takes_left(tree, t, x) else tree.right[t])
    return nodes


def leaves_below(tree: Tree, t: int) -> list[int]:
    """Return the leaves of the subtree at t, t itself if it is one."""
    if tree.left[t] < 0:
        return [t]
    return leaves_below(tree, tree.left[t]) + leaves_below(tree, tree.right[t])


# --------------------------------------------------------------- what each feature did to one row


def predecomp(tree: Tree, x: np.ndarray, node_value: np.ndarray | None = None) -> np.ndarray:
    """Credit each change of the node value along the path to the feature split on (equation 9).

        f_mk(x) = sum over t on the path with v(t) = k of p(child of t on the path) - p(t)

    so that f_m(x) = p(root) + sum_k f_mk(x), Proposition 1.
    """
    value = tree.value if node_value is None else node_value
    contribution = np.zeros(len(x))
    for t, child in pairwise(path(tree, x)):
        contribution[tree.feature[t]] += value[child] - value[t]
    return contribution


def saabas(tree: Tree, x: np.ndarray, leaf_weight: np.ndarray) -> np.ndarray:
    """Do as `predecomp` with p~(t), the mean of the leaves below t (the alternative definition)."""
    return predecomp(tree, x, mean_of_leaves(tree, leaf_weight))


def mean_of_leaves(tree: Tree, leaf_weight: np.ndarray) -> np.ndarray:
    """Return p~ of every node: sum of W_l p(l) over the leaves l below, over the sum of W_l.

    A leaf is its own mean. Where all leaves below a node weigh 0, its children count alike.
    """

    def mean(t: int) -> float:
        ls = leaves_below(tree, t)
        if leaf_weight[ls].any():
            return np.average(tree.value[ls], weights=leaf_weight[ls])
        l, r = tree.left[t], tree.right[t]
        return tree.value[t] if l < 0 else (mean(l) + mean(r)) / 2

    return np.array([mean(t) for t in range(len(tree.left))])


def recurrence_23(tree: Tree, weight: np.ndarray, reg_lambda: float) -> np.ndarray:
    """Return node values from the leaves up.

        p(t) = (W_left + lambda)/(W_t + lambda) p(left) + (W_right + lambda)/(W_t + lambda) p(right)

    With W = H and the model's lambda this is p^, the value that PreDecomp uses (the factors add up
    to more than 1); with lambda = 0 it is p~, the value that Saabas uses.
    """
    value = tree.value.copy()
    for t in reversed(range(len(value))):
        l, r = tree.left[t], tree.right[t]
        if l >= 0:
            value[t] = (weight[l] + reg_lambda) * value[l] + (weight[r] + reg_lambda) * value[r]
            value[t] /= weight[t] + reg_lambda
    return value


# -------------------------------------------------------------------- what each feature did in all


def total_gain(ensemble: Ensemble, n_features: int) -> np.ndarray:
    """Add up Delta(t) of Definition 2 over the nodes t of all trees that split on each feature."""
    score = np.zeros(n_features)
    for tree in ensemble.trees:
        of = tree.sum_gradient**2 / (tree.sum_hessian + ensemble.reg_lambda)
        for t in np.flatnonzero(tree.left >= 0):
            score[tree.feature[t]] += of[tree.left[t]] + of[tree.right[t]] - of[t]
    return score


def unbiased_gain(
    ensemble: Ensemble,
    train: Rows,
    valid: Rows,
    of_split: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], float],
    min_samples: int = 5,
) -> np.ndarray:
    """Add up over the splits on each feature a gain of training and validation rows together.

    Zhang, Zhang and Li (2023). ``train`` and ``valid`` are (X, y, weight). ``of_split`` takes four
    arrays of shape (n, 3), one row (w g, w h, w) each: the training rows of the left and of the
    right child, then the validation rows of either; it is ``symmetric_gain`` or ``paper_gain``.
    """
    score = [0.0] * len(train[0][0])
    in_turn = zip(stages(ensemble, *train[:2]), stages(ensemble, *valid[:2]), strict=True)
    for (tree, *of_train), (_, *of_valid) in in_turn:
        for t in np.flatnonzero(tree.left >= 0):
            rows = [
                np.array(
                    [[w * g, w * h, w] for x, w, g, h in zip(X, weight, *of, strict=True)
                     if child in path(tree, x)]
                ).reshape(-1, 3)
                for (X, _, weight), of in ((train, of_train), (valid, of_valid))
                for child in (tree.left[t], tree.right[t])
            ]  # fmt: skip
            if min(len(rows[2]), len(rows[3])) >= min_samples and len(rows[0]) + len(rows[1]) > 0:
                score[tree.feature[t]] += of_split(*rows)
    return np.array(score)


def symmetric_gain(
    train_left: np.ndarray, train_right: np.ndarray, valid_left: np.ndarray, valid_right: np.ndarray
) -> float:
    """Return n_l n_r/n_t (mean g_l - mean g_r) (mean g'_l - mean g'_r) / mean h'_t."""
    (G_l, _, n_l), (G_r, _, n_r) = train_left.sum(axis=0), train_right.sum(axis=0)
    (g_l, h_l, v_l), (g_r, h_r, v_r) = valid_left.sum(axis=0), valid_right.sum(axis=0)
    if n_l == 0 or n_r == 0:
        return 0.0
    contrast = (G_l / n_l - G_r / n_r) * (g_l / v_l - g_r / v_r)
    return n_l * n_r / (n_l + n_r) * contrast * (v_l + v_r) / (h_l + h_r)


def paper_gain(
    train_left: np.ndarray, train_right: np.ndarray, valid_left: np.ndarray, valid_right: np.ndarray
) -> float:
    """Return G_l U_l + G_r U_r - G_t U_t, U the mean ratio over subsets as large as the smaller."""
    k = min(len(valid_left), len(valid_right))
    return sum(
        sign * train[:, 0].sum() * mean_ratio_of_subsets(valid, k)
        for sign, train, valid in (
            (1, train_left, valid_left),
            (1, train_right, valid_right),
            (-1, np.vstack([train_left, train_right]), np.vstack([valid_left, valid_right])),
        )
    )


def mean_ratio_of_subsets(rows: np.ndarray, k: int) -> float:
    """Return the mean of sum g / sum h over all subsets of k rows, which are (g, h, ...)."""
    sums = [rows[list(chosen)].sum(axis=0) for chosen in combinations(range(len(rows)), k)]
    return np.mean([s[0] / s[1] for s in sums])


def stages(
    ensemble: Ensemble, X: np.ndarray, y: np.ndarray
) -> Iterator[tuple[Tree, np.ndarray, np.ndarray]]:
    """Yield each tree with g_i and h_i of the rows, taken at the prediction before that tree.

    The trees of a forest build on no others. All are judged at what the forest predicts before any
    split, base_score plus the values of all roots, so that the origin of y does not matter.
    """
    raw_prediction = np.zeros(len(X)) + ensemble.base_score  # or a starting value of each row
    if ensemble.is_forest:
        raw_prediction += sum(tree.value[0] for tree in ensemble.trees)
    for tree in ensemble.trees:
        gradient, hessian = ensemble.loss.gradient_hessian(y, raw_prediction)
        yield tree, gradient, hessian
        if not ensemble.is_forest:
            raw_prediction = raw_prediction + [tree.value[path(tree, x)[-1]] for x in X]


def tree_inner(
    ensemble: Ensemble, X: np.ndarray, y: np.ndarray, r: Individual = predecomp
) -> np.ndarray:
    """Return -(1/alpha) sum_m sum_i r_mk(x_i) g_im, the loss that a feature's steps saved.

    On the training rows and with PreDecomp it is the total gain, Proposition 3.
    """
    score = np.zeros(X.shape[1])
    for tree, gradient, _ in stages(ensemble, X, y):
        for i, x in enumerate(X):
            score += r(tree, x) * -gradient[i]
    return score / ensemble.learning_rate


def pair_changes(tree: Tree, x: np.ndarray) -> np.ndarray:
    """Return, (p, p), what each feature did to x, by the features that were split on above.

    The change at a node is shared in equal parts by the other features on the path above it; where
    there are none it stays with the feature itself, on the diagonal.
    """
    nodes = path(tree, x)
    table = np.zeros((len(x), len(x)))
    for level, (t, child) in enumerate(pairwise(nodes)):
        k = tree.feature[t]
        above = {tree.feature[s] for s in nodes[:level]} - {k} or {k}
        for other in above:
            table[k, other] += (tree.value[child] - tree.value[t]) / len(above)
    return table


def tree_inner_pairs(ensemble: Ensemble, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return TreeInner by pairs of features, (p, p); its rows add up to `tree_inner`."""
    score = np.zeros((X.shape[1], X.shape[1]))
    for tree, gradient, _ in stages(ensemble, X, y):
        for i, x in enumerate(X):
            score += pair_changes(tree, x) * -gradient[i]
    return score / ensemble.learning_rate


def centred_steps(tree: Tree, x: np.ndarray) -> np.ndarray:
    """Return Saabas' contributions: sum_i h_i r_k(x_i) = 0 over the training rows of any node.

    At a node t, H_l (p~(l) - p~(t)) + H_r (p~(r) - p~(t)) = H_t p~(t) - H_t p~(t) = 0.
    """
    return saabas(tree, x, tree.sum_hessian)


def partial_inner(
    ensemble: Ensemble, X: np.ndarray, y: np.ndarray, r: Individual = centred_steps
) -> np.ndarray:
    """Return (1/alpha) sum_m sum_i r_mk(x_i) (-g_im + h_im F_imk).

    F_imk is what the feature contributed in the trees before m, so the bracket is the residual
    without the feature's own work. Not in Sun 2022.
    """
    score = np.zeros(X.shape[1])
    earlier = np.zeros(X.shape)
    for tree, gradient, hessian in stages(ensemble, X, y):
        for i, x in enumerate(X):
            contribution = r(tree, x)
            score += contribution * (-gradient[i] + hessian[i] * earlier[i])
            earlier[i] += contribution
    return score / ensemble.learning_rate


def forest_inner(
    ensemble: Ensemble,
    X: np.ndarray,
    y: np.ndarray,
    r: Individual = predecomp,
    variant: str = "residual",
) -> np.ndarray:
    """Return (1/alpha) sum_i F_ik R_i with F_ik = sum_m r_mk(x_i), Definition 5.

    The two lines of that definition differ: R_i is sum_m -g_im in the first (``"residual"``, which
    made Table 4), and y_i in the second (``"target"``).
    """
    forest = np.zeros(X.shape)
    residual = np.zeros(len(X))
    for tree, gradient, _ in stages(ensemble, X, y):
        for i, x in enumerate(X):
            forest[i] += r(tree, x)
            residual[i] += -gradient[i]
    against = residual if variant == "residual" else y
    return against @ forest / ensemble.learning_rate


def absolute(
    ensemble: Ensemble, X: np.ndarray, r: Individual = predecomp, level: str = "tree"
) -> np.ndarray:
    """Return sum_m sum_i |r_mk(x_i)|, or with ``level="forest"`` sum_i |sum_m r_mk(x_i)|.

    Table 4 has the first; the text reads as the second.
    """
    score = np.zeros(X.shape[1])
    for x in X:
        contributions = [r(tree, x) for tree in ensemble.trees]
        if level == "tree":
            score += np.sum(np.abs(contributions), axis=0)
        else:
            score += np.abs(np.sum(contributions, axis=0))
    return score


def permutation(
    ensemble: Ensemble,
    X: np.ndarray,
    y: np.ndarray,
    k: int,
    orders: Sequence[np.ndarray],
    score: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> tuple[float, float]:
    """Return the mean drop of a score when column k is shuffled, and its standard error.

    Each of ``orders`` is a shuffle: row i gets the value of row ``order[i]``. ``score(y, f)``
    returns one number a row, and its mean is the score.
    """

    def raw_predictions(rows: np.ndarray) -> np.ndarray:
        return ensemble.base_score + np.array(
            [sum(tree.value[path(tree, x)[-1]] for tree in ensemble.trees) for x in rows]
        )

    drops = np.zeros((len(orders), len(X)))
    for r, order in enumerate(orders):
        shuffled = X.copy()
        shuffled[:, k] = X[order, k]
        drops[r] = score(y, raw_predictions(X)) - score(y, raw_predictions(shuffled))
    return drops.mean(), shuffle_error(drops, orders)
