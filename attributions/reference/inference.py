"""Standard errors of sums over rows, in plain loops: the page after ``definitions``.

A per-feature attribution is a sum z_1 + ... + z_n of what n rows contribute. Other rows of the same
kind would have given another sum. The rows themselves tell how much the sum varies::

    rows are drawn independently        variance of the sum  =  n * variance of one z
    the rows estimate the latter        variance of one z    ~  sum_i (z_i - mean)^2 / (n - 1)

    standard error of the sum = sqrt(n / (n - 1) * sum_i (z_i - mean)^2)

This is right where z_i depends on row i alone. In TreeInner z_i = -(1/alpha) sum_m r_mk(x_i) g_im
does, because the model is held fixed: its trees, its raw predictions before each tree and so g_im
did not use the row. On training rows z_i depends on all rows, because each of them helped to choose
the trees by which the others are judged; there the formula means nothing. Nor is it right where
rows share something that the model does not know, such as the noise of one patient: then groups of
rows take the place of rows. A shuffle makes rows depend on each other, for which `shuffle_error`
allows.
"""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np


def standard_error(contributions: np.ndarray, groups: Iterable[Hashable]) -> np.ndarray:
    """Return the standard error of the sum of contributions, (n, p), by independent groups.

    Rows that have the same label belong together: their sum takes the place of a row. With a label
    for each row, rows are independent.
    """
    sums: dict[Hashable, np.ndarray] = {}
    for label, row in zip(groups, contributions, strict=True):
        sums[label] = sums.get(label, 0.0) + row
    n = len(sums)
    mean = sum(sums.values()) / n
    return np.sqrt(n / (n - 1) * sum((s - mean) ** 2 for s in sums.values()))


def symmetric_t(
    contributions: np.ndarray, level: float, resamples: Sequence[np.ndarray]
) -> np.ndarray:
    """Return the quantile of |sum* - sum| / standard_error* over tables drawn from the table.

    Each of ``resamples`` lists the rows of one such table. 0 / 0 counts as 0, and any other number
    over 0 as infinite.
    """
    n, p = contributions.shape
    t = np.zeros((len(resamples), p))
    for b, rows in enumerate(resamples):
        for k in range(p):
            drawn, own = contributions[rows, k], contributions[:, k]
            moved = abs(drawn.sum() - own.sum())
            if np.ptp(drawn) > 0:
                t[b, k] = moved / (np.sqrt(n) * np.std(drawn, ddof=1))
            elif drawn[0] != own.mean():
                t[b, k] = np.inf
    rank = int(np.ceil(level * (len(resamples) + 1)))
    return np.sort(t, axis=0)[min(rank, len(resamples)) - 1]


def shuffle_error(drops: np.ndarray, orders: Sequence[np.ndarray]) -> float:
    """Return the standard error of the mean of ``drops[r, i]``, what row i lost in shuffle r.

    In shuffle r row i gets the value of row ``orders[r][i]``. So a row counts twice, in the drop of
    its own score and in that of the row which got its value;
    ``attributions.classic.shuffle_errors`` says why, and what is subtracted.
    """
    n_shuffles, n = drops.shape
    own, both = np.zeros(n), np.zeros(n)
    for drop, order in zip(drops, orders, strict=True):
        for i in range(n):
            own[i] += drop[i] / n_shuffles
            both[i] += drop[i] / n_shuffles
            both[order[i]] += drop[i] / n_shuffles
    of_pairs = np.mean([np.var(drop, ddof=1) for drop in drops]) / n_shuffles
    variance = max(np.var(both, ddof=1) - of_pairs, np.var(own, ddof=1)) / n
    return float(np.sqrt(variance))


def auc_by_row(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Return one number a row: the mean is the ROC AUC, the spread is that of the AUC.

    A row's placement is the share of the other class that it is ranked on the right side of, ties
    counting half. Each class counts half, whatever its size (DeLong et al. 1988).
    """
    n = len(y)
    placement, n_same = np.zeros(n), np.zeros(n)
    for i in range(n):
        others = [j for j in range(n) if y[j] != y[i]]
        sign = 1 if y[i] == 1 else -1
        right = [(np.sign(sign * (prediction[i] - prediction[j])) + 1) / 2 for j in others]
        placement[i], n_same[i] = np.mean(right), n - len(others)
    auc = placement[y == 1].mean()
    return auc + n / n_same * (placement - auc)
