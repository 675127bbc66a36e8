"""A policy of which every split is compared with the page of plain loops while trees grow.

The page is ``gbt.reference`` with ``gbt.reference.policies``. What a policy draws at random, the
folds or parts of a node's rows, is drawn once more from a copy of the tree's random numbers and
handed to the page, so both decide on the same rows. Compared are the feature and which rows go
left. The page takes milliseconds a row and column, so this is for small tables.
"""

from copy import deepcopy
from dataclasses import replace

import numpy as np

from gbt.reference import boosting as reference
from gbt.reference.policies import cross_validated_cut, unbiased_cut
from gbt.splitting import CrossValidated, Greedy, Unbiased
from gbt.splitting.frontier import Frontier, Limits, Splits, random_parts


class Checked:
    """A policy with another answer than the page's raises SystemExit."""

    def __init__(self, policy: Greedy | CrossValidated | Unbiased):
        self.policy = policy
        self.n_checked = 0

    def split(self, frontier: Frontier, limits: Limits, n_jobs: int | None) -> Splits:
        """Return the policy's splits, once they are those of the page."""
        parts = self._draw_again(frontier)
        splits = self.policy.split(frontier, limits, n_jobs)
        for j in range(len(frontier)):
            feature, goes_left = self._on_the_page(frontier, limits, j, parts)
            own = _rows_left(frontier, splits, j)
            if splits.feature[j] != feature or (own != goes_left).any():
                raise SystemExit(f"{self.policy}: not the splits of the page; nothing timed")
            self.n_checked += 1
        return splits

    def _draw_again(self, frontier: Frontier) -> np.ndarray:
        """Return the folds or parts that the policy is about to draw, as `random_parts` does."""
        if isinstance(self.policy, Greedy):
            return np.zeros(frontier.columns.n_rows, dtype=np.uint8)
        again = replace(frontier, random=deepcopy(frontier.random))
        if isinstance(self.policy, Unbiased):
            return random_parts(again, 3)
        n_columns = None if self.policy.shared_folds else len(frontier.features)
        return random_parts(again, self.policy.n_folds, n_columns)

    def _on_the_page(
        self, frontier: Frontier, limits: Limits, j: int, parts: np.ndarray
    ) -> tuple[int, np.ndarray]:
        """Return the feature that the page splits node j on, -1 for none, and who goes left."""
        rows, own, columns = frontier.rows_of(j), frontier.derivatives, frontier.columns
        x = columns.table[rows].astype(np.float64)
        count = np.ones(len(rows), dtype=int)
        weight = count if own.weight is None else own.weight[rows]
        sums = np.column_stack([own.gradient[rows], own.hessian[rows], count, weight])
        sums = sums.astype(object)  # Python's numbers: no overflow
        parameters = reference.Parameters(
            reg_lambda=limits.reg_lambda * own.hessian_scale,
            min_child_weight=limits.min_child_weight * own.hessian_scale,
            min_samples_leaf=limits.min_samples_leaf,
            min_split_gain=own.in_units(limits.min_split_gain),
            categorical=tuple(np.flatnonzero(columns.n_levels)),
            categorical_smoothing=limits.categorical_smoothing,
            hessian_scale=own.hessian_scale,
            weight_scale=own.weight_scale,
        )
        if isinstance(self.policy, CrossValidated):
            cut = cross_validated_cut(x, sums, parts[..., rows], parameters)
        elif isinstance(self.policy, Unbiased):
            cut = unbiased_cut(x, sums, parts[rows], parameters, self.policy.merged)
        else:
            cut = reference.best_cut(x, sums, parameters)
        if cut is None:
            return -1, np.zeros(len(rows), dtype=bool)
        return cut.feature, np.array([reference.goes_left(row, cut) for row in x], dtype=bool)


def _rows_left(frontier: Frontier, splits: Splits, j: int) -> np.ndarray:
    """Say which rows of node j its split sends left; none if it stays a leaf."""
    rows, k = frontier.rows_of(j), int(splits.feature[j])
    if k < 0:
        return np.zeros(len(rows), dtype=bool)
    codes = frontier.columns.codes[k, rows]
    of_codes = None if splits.goes_left is None else splits.goes_left[j]
    if of_codes is not None:
        return of_codes[codes]
    is_missing = codes == frontier.columns.n_values[k]
    return np.where(is_missing, splits.missing_left[j], codes <= splits.cut[j])
