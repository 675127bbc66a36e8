"""Held-out gain once more, written from its definition: what the product's is compared with.

For a split t on feature k, of a tree of output o, with the children l and r::

    g_i   = dL(y_i, f)/df_o   at   f = f_[before this round](x_i) - F_ik
    F_ik  = what feature k has added to row i in earlier rounds, of every output: the steps
            v(child on the row's path) - v(node) of the nodes that split on k
    v(t)  = mean of the leaf values below t, weighed by their hessians, or rows without these
    a_i   = v(l) - v(r) if row i goes left, else 0
    part of row i in t  =  -(1/alpha) w_i (a_i - mean a) (g_i - mean g)

The means are weighted means over the judged rows in t. The parts of a feature's splits and rows add
up to its held-out gain. Its standard error is that of a sum over rows (or groups of them) of these
parts times sqrt(n_t / (n_t - 1)), where n_t counts the judged rows in t that weigh something. Rows
without weight are draws that added nothing: they count in the sum's error, with parts of 0.

The program reads the arrays of an `Ensemble` and nothing else of the product: rows find their own
way down, and losses have their own derivatives. In a forest no round has any before it, and all
trees start from what the forest predicts were its trees roots (``gbt.model.stages``).
"""

from typing import NamedTuple

import numpy as np

from gbt.formats import as_ensemble


class Split(NamedTuple):
    """What the judged rows in a node that splits say of it."""

    tree: int
    feature: int
    rows: np.ndarray  # the numbers of the judged rows in the node that weigh something
    parts: np.ndarray  # what each of them adds to the split's worth
    size: float  # sum of |terms|, by which rounding is measured


def held_out_gain_by_definition(model, X, y, sample_weight=None, groups=None):
    """Return values (p,), standard errors (p,) and the rows' parts (n, p) of held-out gain."""
    n, p = len(X), as_ensemble(model).n_features
    rows, rows_of_error = np.zeros((n, p)), np.zeros((n, p))
    for split in splits_by_definition(model, X, y, sample_weight):
        rows[split.rows, split.feature] += split.parts
        rows_of_error[split.rows, split.feature] += split.parts * widening(len(split.rows))
    return rows.sum(axis=0), standard_error_of_sum(rows_of_error, groups), rows


def splits_by_definition(model, X, y, sample_weight=None, is_removed=True):
    """Return the `Split` of every node that has judged rows on both sides.

    ``is_removed=False`` leaves the features' own earlier work where it is.
    """
    ensemble = as_ensemble(model)
    table, target = numbers_of(ensemble, X), target_of(model, ensemble, y)
    weight = np.ones(len(table)) if sample_weight is None else np.asarray(sample_weight, float)
    mean_value = mean_leaf_values(ensemble)
    K = ensemble.n_outputs
    raw = np.tile(start_of(ensemble), (len(table), 1))
    own_work = np.zeros((ensemble.n_features, len(table), K))
    splits = []
    for first in range(0, ensemble.n_trees, K):
        walks = [walk(ensemble, first + o, table) for o in range(K)]
        for o, rows_in in enumerate(walks):
            for t, (left, right) in children(ensemble, rows_in).items():
                k = int(ensemble.feature[t])
                before = raw - own_work[k] if is_removed else raw
                g = gradient(ensemble.loss, target, before)[:, o]
                in_left, in_right = (
                    rows_in[child][weight[rows_in[child]] > 0] for child in (left, right)
                )
                if len(in_left) and len(in_right):
                    d = mean_value[left] - mean_value[right]
                    i = np.concatenate([in_left, in_right])
                    a = np.repeat([d, 0.0], [len(in_left), len(in_right)])
                    parts = -weight[i] * centred(a, weight[i]) * centred(g[i], weight[i])
                    size = abs(d) * (weight[i] * abs(g[i])).sum() / ensemble.learning_rate
                    splits.append(Split(first + o, k, i, parts / ensemble.learning_rate, size))
        if not ensemble.is_forest:
            for o, rows_in in enumerate(walks):
                add_tree(ensemble, rows_in, mean_value, raw[:, o], own_work[:, :, o])
    return splits


def add_tree(ensemble, rows_in, mean_value, raw, own_work):
    """Add what a tree gives the rows to their raw predictions (n,), and to its features' (p, n)."""
    for t, rows in rows_in.items():
        if ensemble.left[t] < 0:
            raw[rows] += ensemble.value[t]
    for t, both in children(ensemble, rows_in).items():
        for child in both:
            own_work[ensemble.feature[t], rows_in[child]] += mean_value[child] - mean_value[t]


def widening(n_t):
    """Return what makes up for comparing n_t rows with means that were taken from themselves."""
    return np.sqrt(n_t / (n_t - 1))


def centred(numbers, weight):
    """Return numbers less their weighted mean."""
    return numbers - (weight * numbers).sum() / weight.sum()


def standard_error_of_sum(rows, groups=None):
    """Return the standard error of the sum of rows, or of the sums of groups of rows."""
    if groups is not None:
        labels = list(groups)
        rows = np.array(
            [rows[[label == one for label in labels]].sum(axis=0) for one in sorted(set(labels))]
        )
    n = len(rows)
    return np.sqrt(n / (n - 1) * ((rows - rows.mean(axis=0)) ** 2).sum(axis=0))


def start_of(ensemble):
    """Return the raw prediction before the first round, one an output."""
    start = np.array(ensemble.base_score, dtype=float).reshape(-1).copy()
    if ensemble.is_forest:
        for m in range(ensemble.n_trees):
            start[ensemble.tree_output[m]] += ensemble.value[ensemble.tree_offset[m]]
    return start


def mean_leaf_values(ensemble):
    """Return the mean leaf value below every node; where nothing weighs, children count alike."""
    knows_hessians = "hessians" in ensemble.statistics
    leaf_weight = ensemble.sum_hessian if knows_hessians else ensemble.n_samples
    mean = np.zeros(len(ensemble.feature))

    def average(t, root):
        """Set the mean of node t, and return it with the weight of the leaves below."""
        if ensemble.left[t] < 0:
            mean[t] = ensemble.value[t]
            return mean[t], float(leaf_weight[t])
        v_l, W_l = average(root + ensemble.left[t], root)
        v_r, W_r = average(root + ensemble.right[t], root)
        share = W_l / (W_l + W_r) if W_l + W_r > 0 else 0.5
        mean[t] = share * v_l + (1 - share) * v_r
        return mean[t], W_l + W_r

    for root in ensemble.tree_offset[:-1]:
        average(root, root)
    return mean


def walk(ensemble, m, table):
    """Return the rows that come to each node of tree m: a dictionary from nodes to row numbers."""
    root = ensemble.tree_offset[m]
    rows_in, to_go = {}, [(root, np.arange(len(table)))]
    while to_go:
        t, rows = to_go.pop()
        rows_in[t] = rows
        if ensemble.left[t] >= 0:
            is_left = goes_left(ensemble, t, table[rows, ensemble.feature[t]])
            to_go += [(root + ensemble.left[t], rows[is_left])]
            to_go += [(root + ensemble.right[t], rows[~is_left])]
    return rows_in


def children(ensemble, rows_in):
    """Return the two children of every node of a walked tree that splits."""
    root = min(rows_in)
    return {
        t: (root + ensemble.left[t], root + ensemble.right[t])
        for t in rows_in
        if ensemble.left[t] >= 0
    }


def goes_left(ensemble, t, column):
    """Say of the values of node t's column which go left."""
    is_missing = np.isnan(column)
    s = -1 if ensemble.level_sets is None else ensemble.level_sets.of_node[t]
    if s < 0:
        told = column <= ensemble.threshold[t]
    else:  # bit j of the set's words: whether level j goes left
        first, stop = ensemble.level_sets.start[s : s + 2]
        words = [int(word) for word in ensemble.level_sets.words[first:stop]]
        listed = {64 * w + b for w, word in enumerate(words) for b in range(64) if word >> b & 1}
        told = np.array([level in listed for level in column], dtype=bool)
    return np.where(is_missing, ensemble.missing_left[t], told)


def numbers_of(ensemble, X):
    """Return the rows as the trees compare them: nan is missing, levels have their numbers.

    A level that training has not seen is missing, or else inf, which is in no set.
    """
    columns = []
    for k in range(ensemble.n_features):
        values = X.iloc[:, k].tolist() if hasattr(X, "iloc") else np.asarray(X)[:, k].tolist()
        levels = None if ensemble.categories is None else ensemble.categories[k]
        if levels is not None:
            number = {level: float(j) for j, level in enumerate(levels)}
            unseen = np.nan if ensemble.unseen_is_missing else np.inf
            is_missing = [value is None or value != value for value in values]
            values = [
                np.nan if nothing else number.get(value, unseen)
                for value, nothing in zip(values, is_missing, strict=True)
            ]
        columns.append(np.array(values, dtype=float))
    table = np.column_stack(columns).astype(ensemble.input_dtype).astype(float)
    if ensemble.zero_is_missing:
        table[np.abs(table) <= np.float32(1e-35)] = np.nan
    return table


def target_of(model, ensemble, y):
    """Return targets as the loss takes them: numbers, or those of classes; (n, K) of K targets."""
    y = np.asarray(y)
    classes = getattr(model, "classes_", None)
    if y.ndim == 2 or classes is None or len(classes) == 0:
        return y.astype(float)
    is_class = np.array([[label == one for one in classes] for label in y])
    if ensemble.loss.name == "several_targets":
        return is_class.astype(float)
    return is_class.argmax(axis=1).astype(float)


def gradient(loss, y, f):
    """Return the first derivatives of the rows' losses in their K raw predictions, (n, K)."""
    if loss.name == "softmax":
        p = np.exp(f - f.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True) - (y[:, np.newaxis] == np.arange(f.shape[1]))
    if loss.name == "several_targets":
        return DERIVATIVES[loss.of_each](loss, y, f)
    return DERIVATIVES[loss.name](loss, y[:, np.newaxis], f)


def of_tweedie(loss, y, f):
    return np.exp((2 - loss.power) * f) - y * np.exp((1 - loss.power) * f)


def of_squared_log_error(_, y, f):
    f = np.maximum(f, np.float32(-1 + 1e-6))  # below, the loss is a straight line
    return (np.log1p(f) - np.log1p(y)) / (1 + f)


DERIVATIVES = {  # in f; at the kinks of the quantile and the absolute loss 0
    "half_squared_error": lambda _, y, f: f - y,
    "half_logistic": lambda _, y, f: np.exp(-np.logaddexp(0, -f)) - y,
    "poisson": lambda _, y, f: np.exp(f) - y,
    "gamma": lambda _, y, f: 1 - y * np.exp(-f),
    "tweedie": of_tweedie,
    "squared_log_error": of_squared_log_error,
    "quantile": lambda loss, y, f: (1 - loss.alpha) * (f > y) - loss.alpha * (f < y),
    "absolute": lambda _, y, f: 1.0 * (f > y) - (f < y),
    "huber": lambda loss, y, f: np.minimum(np.maximum(f - y, -loss.delta), loss.delta),
    "pseudo_huber": lambda loss, y, f: (f - y) / np.sqrt(1 + ((f - y) / loss.delta) ** 2),
}
