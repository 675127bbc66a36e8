"""Greedy: the cut of largest gain over all cuts of all features.

What XGBoost calls the exact method, and what every other policy is measured against. The search
itself is ``gbt.kernels.search``; here its integers meet the parameters, and its work the threads.
"""

from functools import partial

import numpy as np

from gbt.kernels.search import search_nodes
from gbt.parallel import effective_n_jobs, run_all
from gbt.splitting.frontier import Frontier, Limits, Splits

# A score and that of its node carry fewer than 16 roundings between them, each of eps/2 of at most
# (sum|g|)^2/(H + lambda). A gain below that may be rounding: equal residuals must stay a leaf.
ROUNDINGS = 16
# Handing work to a thread costs about 50 microseconds, an entry of a histogram about 1 nanosecond.
LEAST_WORK_PER_THREAD = 100_000


class Greedy:
    """Split every node where the gain is largest."""

    def split(self, frontier: Frontier, limits: Limits, n_jobs: int | None) -> Splits:
        """Return the best split of every open node of the frontier."""
        sum_gradient, sum_hessian, sum_magnitude = frontier.sums.T.astype(np.float64)
        penalty = limits.reg_lambda * frontier.hessian_scale
        weight = sum_hessian + penalty
        safe_weight = np.where(weight > 0, weight, np.inf)
        node_score = sum_gradient * sum_gradient / safe_weight
        rounding = ROUNDINGS * np.finfo(np.float64).eps * (sum_magnitude**2 / safe_weight)
        # In the integers' units; in this order nothing overflows that is not out of reach anyway.
        least = limits.min_split_gain * frontier.gradient_scale
        least *= frontier.gradient_scale / frontier.hessian_scale
        least_gain = np.maximum(least, rounding)

        score, feature, cut, missing_left = self._search(
            frontier,
            (penalty, limits.min_child_weight * frontier.hessian_scale, limits.min_samples_leaf),
            to_beat=node_score + least_gain,
            n_jobs=n_jobs,
        )
        gain = score - node_score
        is_split = (gain > least_gain) & (weight > 0)
        return Splits(np.where(is_split, feature, -1), cut, missing_left, gain)

    @staticmethod
    def _search(frontier, limits, to_beat, n_jobs):
        """Search all features, in as many threads as the work pays for, and keep the best."""
        columns, features = frontier.columns, frontier.features
        work = int((frontier.stop - frontier.start).sum()) * len(features)
        n_threads = max(
            1, min(effective_n_jobs(n_jobs), len(features), work // LEAST_WORK_PER_THREAD)
        )
        n_nodes = len(frontier.start)
        found = [
            (np.empty(n_nodes), *np.empty((2, n_nodes), dtype=np.int64), np.empty(n_nodes, bool))
            for _ in range(n_threads)
        ]

        def search(thread):
            search_nodes(
                features[thread::n_threads],
                (columns.codes, columns.bins, columns.n_bins, columns.last_code_of_bin),
                (frontier.rows, frontier.gradient, frontier.hessian),
                frontier.start,
                frontier.stop,
                frontier.sums,
                limits,
                to_beat,
                found[thread],
            )

        run_all([partial(search, thread) for thread in range(n_threads)])
        best = found[0]
        for other in found[1:]:
            wins = (other[0] > best[0]) | ((other[0] == best[0]) & (other[1] < best[1]))
            pairs = zip(other, best, strict=True)
            best = tuple(np.where(wins, theirs, ours) for theirs, ours in pairs)
        return best
