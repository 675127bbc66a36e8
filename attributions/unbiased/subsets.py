"""The paper's form of unbiased gain: ratios of sums over subsets of rows of equal size.

    gain(t) = G_l U_l + G_r U_r - G_t U_t

U is the mean of sum g' / sum h' over subsets of k = min(n'_l, n'_r) validation rows of the node
(Zhang, Zhang and Li 2023, equations 5 and 7). A ratio of sums is off by something of the order of
1 / k, so only ratios over equally many rows may be compared. The mean over *all* subsets is exact
for small k (`mean_ratio_of_subsets`, an integral) and expanded for large k;
`mean_ratio_of_draws` draws some at random, as the authors' code does.
"""

from collections.abc import Callable

import numpy as np

from attributions.kernels.contrasts import mean_ratio_of_subsets
from attributions.unbiased.closed_forms import JudgedSplits
from attributions.unbiased.rows import SplitRows
from gbt.model.statistics import along_rounds
from gbt.tables.sparse_rows import as_type

N_DRAWS = 100  # of the authors' code
LARGEST_EXACT = 32  # rows in a subset; beyond that the error of the expansion is below 1 / 1000
STEP = 0.25  # of log t in the integral: its error is below 1e-15
BEGIN, END = 1e-8, 40.0  # of t times the sum of hessians


def gain_of_subsets(
    splits: JudgedSplits,
    valid: SplitRows,
    mean_ratio: Callable[[np.ndarray, np.ndarray, int], float],
) -> np.ndarray:
    """Return the paper's gain of every split, with U' from ``mean_ratio(a, b, k)`` of w g and w h.

    Nodes are in preorder, so the rows of a node are those of consecutive leaves.
    """
    ensemble, offset = valid.ensemble, valid.ensemble.tree_offset
    X = as_type(valid.X, np.float64)
    gain = np.zeros(len(splits.node))
    start = valid.start(slice(0, len(X)))
    rounds = along_rounds(ensemble.trees, X, valid.y, ensemble.loss, start, ensemble.is_forest)
    for m, (tree, leaves, gradient, hessian) in enumerate(rounds):
        order = np.argsort(leaves, kind="stable")
        first = np.searchsorted(leaves[order], np.arange(tree.n_nodes))  # row of every node
        wg, wh = (valid.weight * gradient)[order], (valid.weight * hessian)[order]
        of_tree = (splits.node >= offset[m]) & (splits.node < offset[m + 1])
        for s in np.flatnonzero(of_tree):
            n_l, n_r, n_t = (int(part.n_rows[s]) for part in splits.valid)
            start = first[splits.node[s] - offset[m]]
            middle, stop = start + n_l, start + n_t
            U_l, U_r, U_t = (
                mean_ratio(wg[i:j], wh[i:j], min(n_l, n_r))
                for i, j in ((start, middle), (middle, stop), (start, stop))
            )
            G_l, G_r, G_t = (part.gradient[s] for part in splits.train)
            gain[s] = G_l * U_l + G_r * U_r - G_t * U_t
    return gain


def mean_ratio(a: np.ndarray, b: np.ndarray, k: int) -> float:
    """Return the mean of sum a / sum b over all subsets of k rows.

    For large k the mean is expanded around the ratio r of the means, with the variance of b and the
    covariance of a and b (denominators n - 1): r + (1/k - 1/n) (r S_bb - S_ab) / (mean b)^2. Its
    error is of the order of 1 / k^2.
    """
    n = len(a)
    if k == n:
        return a.sum() / b.sum()
    if k <= LARGEST_EXACT:
        # A subset whose hessians add up to 0 has no ratio; this bounds that of one with almost 0.
        largest, least = b.max(), max(b.min(), 1e-12 * b.max())
        n_steps = int(np.log(END * largest / (BEGIN * least)) / STEP) + 1
        return mean_ratio_of_subsets(a, b, k, BEGIN / (k * largest), STEP, n_steps)
    mean_a, mean_b = a.mean(), b.mean()
    ratio = mean_a / mean_b
    skew = (b - mean_b) @ (ratio * (b - mean_b) - (a - mean_a)) / (n - 1)
    return ratio + (1 / k - 1 / n) * skew / mean_b**2


def mean_ratio_of_draws(rng: np.random.Generator, a: np.ndarray, b: np.ndarray, k: int) -> float:
    """Return the mean of sum a / sum b over `N_DRAWS` random subsets of k rows."""
    drawn = [rng.choice(len(a), k, replace=False) for _ in range(N_DRAWS)]
    return float(np.mean([a[some].sum() / b[some].sum() for some in drawn]))
