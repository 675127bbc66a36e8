"""The best cuts of every column, for every open node, in plain NumPy: what a policy may ask for.

A policy divides the rows of a node into *sets* and says which sets make up which *sums* of g, h and
rows. For each sum, `best_cuts` finds the best cut of every column, and returns with it all sums on
the left of the cut, from which the policy computes its criterion. A column becomes a histogram: the
sums of each value that occurs in each node, set by set. The values of a node stand beside each
other, so one running sum has what is left of all cuts::

    node         0  0  0  1  1            histogram      [g, h, rows, weight] of each value
    value        a  c  d  b  c            running sums   a  a+c  a+c+d | b  b+c

Levels are first put in the order of G / (H + smoothing) (``gbt.kernels.cuts.levels`` says how and
why). Every cut is scored with the missing rows on either side, and the better side is part of the
answer. Sums are integers and scores those of ``gbt.kernels.cuts.search``: with one set the best cut
is the one that the greedy search finds, ties included.

The policies of the papers would ask for (ours are asked in compiled code)::

    greedy             one set             its sum
    cross-validated    T folds             all but fold 1, ..., all but fold T, all
    unbiased           D, D1', D2'         D, D1', D2'

Cost: of a row and column some 50 nanoseconds, most of them to sort the rows by node and value.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gbt.kernels.cuts.levels import LEAST_SHARE, G, H, N, W
from gbt.parallel.threads import over_blocks, threads_for
from gbt.splitting.monotone import score_of_steps, steps_within
from gbt.splitting.policy import Frontier, Limits, Splits

# For so many values a search takes a millisecond, and a second thread begins to pay.
LEAST_VALUES_PER_THREAD = 20_000


@dataclass(frozen=True, eq=False)
class Sets:
    """Which set every row is in, and which sums are wanted."""

    of_row: np.ndarray  # (n,) uint8, or (K, n) if sets differ between the K columns of the frontier
    sums: np.ndarray  # (L, S) bool, whether sum l takes set s
    n_searched: int  # how many of the sums, the first ones, are searched for their best cuts
    splits: int = 0  # the sum whose best cut is the node's, once its column is chosen

    def for_column(self, i: int) -> np.ndarray:
        """Return the sets for one column of the frontier."""
        return self.of_row if self.of_row.ndim == 1 else self.of_row[i]


@dataclass(frozen=True, eq=False)
class Cuts:
    """The best cuts of K columns for J nodes and Q of L sums.

    A sum is three numbers in the integers' units: gradients, hessians, rows. The score of a cut is
    G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda), or -inf where no cut is allowed; then ``left``
    means nothing.
    """

    score: np.ndarray  # (K, J, Q) float64, of a sum at its best cut
    code: np.ndarray  # (K, J, Q) int64, codes up to it go left
    missing_left: np.ndarray  # (K, J, Q) bool
    left: np.ndarray  # (K, J, Q, L, 3) int64, all sums on the left of these cuts
    # (K, J, L, 3) int64, all sums in the node; the same for all columns unless their sets differ.
    total: np.ndarray
    frontier: Frontier  # as `best_cuts` was given it
    splits: int
    # Of each column, None if it holds numbers. Else ``levels[k][j]`` are the codes that occur in
    # node j, and which of them go left at the best cut of the sum ``splits``.
    levels: list[list[tuple[np.ndarray, np.ndarray]] | None]

    def choose(self, best: np.ndarray, is_split: np.ndarray, gain: np.ndarray) -> Splits:
        """Return the splits of nodes, each by the best cut of one of the frontier's columns."""
        nodes, features = np.arange(len(self.frontier)), self.frontier.features
        return Splits(
            feature=np.where(is_split, features[best], -1),
            cut=self.code[best, nodes, self.splits],
            missing_left=self.missing_left[best, nodes, self.splits],
            gain=gain,
            goes_left=[
                self._levels_left(i, j) if is_split[j] else None for j, i in enumerate(best)
            ],
            candidate=np.where(self.score[best, nodes, self.splits] > -np.inf, features[best], -1),
        )

    def _levels_left(self, i: int, j: int) -> np.ndarray | None:
        """Return for every code of a categorical column, missing values last, whether it goes left.

        Levels that no row of the node has go where missing values go.
        """
        of_nodes = self.levels[i]
        if of_nodes is None:
            return None
        n_codes = self.frontier.columns.n_values[self.frontier.features[i]] + 1
        goes_left = np.full(n_codes, self.missing_left[i, j, self.splits])
        codes, is_left = of_nodes[j]
        goes_left[codes] = is_left
        return goes_left


def best_cuts(
    frontier: Frontier, limits: Limits, n_jobs: int | None, sets: Sets | None = None
) -> Cuts:
    """Search the columns of a frontier for the best cuts.

    Parameters
    ----------
    frontier, limits, n_jobs
        As a policy gets them. Limits on the weight and rows of a side apply to the sum whose cut is
        searched.
    sets : Sets, optional
        Without them all rows are one set, with one sum.
    """
    n, n_columns = frontier.columns.n_rows, len(frontier.features)
    if sets is None:
        sets = Sets(np.zeros(n, dtype=np.uint8), np.ones((1, 1), dtype=np.bool_), n_searched=1)
    shape = n_columns, len(frontier), sets.n_searched
    found = Cuts(
        score=np.full(shape, -np.inf),
        code=np.zeros(shape, dtype=np.int64),
        missing_left=np.zeros(shape, dtype=np.bool_),
        left=np.zeros((*shape, len(sets.sums), 3), dtype=np.int64),
        total=np.zeros((*shape[:2], len(sets.sums), 3), dtype=np.int64),
        frontier=frontier,
        splits=sets.splits,
        levels=[None] * n_columns,
    )
    search = _Search(frontier, limits, sets, found)

    def cut_columns(start: int, stop: int) -> None:
        for i in range(start, stop):
            _Column(search, i).cut()

    n_threads = threads_for(n * n_columns, LEAST_VALUES_PER_THREAD, n_jobs)
    over_blocks(cut_columns, n_columns, n_threads, min_rows=1)
    if frontier.is_open is not None:
        found.score[~frontier.is_open.T] = -np.inf
    return found


class _Search:
    """What is asked of all columns alike."""

    def __init__(self, frontier: Frontier, limits: Limits, sets: Sets, found: Cuts):
        own, n_nodes = frontier.derivatives, len(frontier)
        self.frontier, self.limits, self.sets, self.found = frontier, limits, sets, found
        self.rows = np.concatenate([frontier.rows_of(j) for j in range(n_nodes)])
        self.node = np.repeat(np.arange(n_nodes), frontier.stop - frontier.start)
        ones = np.ones(len(self.rows), dtype=np.int64)
        weight = 1 if own.weight is None else own.weight
        weight = np.broadcast_to(weight, frontier.columns.n_rows)[self.rows]
        self.carried = np.column_stack(
            [own.gradient[self.rows], own.hessian[self.rows], ones, weight]
        )
        self.penalty = limits.reg_lambda * own.hessian_scale
        self.min_hessian = limits.min_child_weight * own.hessian_scale
        self.smoothing = limits.categorical_smoothing * own.hessian_scale
        self.most_weight = limits.categorical_smoothing * own.weight_scale


class _Column:
    """One column: the sums of each value that a node has, by node and value, and its best cuts."""

    def __init__(self, search: _Search, i: int):
        self.search, self.i, self.found = search, i, search.found
        columns, k = search.frontier.columns, search.frontier.features[i]
        self.has_levels, self.missing_code = columns.n_levels[k] > 0, columns.n_values[k]
        directions = search.limits.directions
        self.direction = 0 if directions is None else int(directions[k])
        value = search.node * (self.missing_code + 1) + columns.cuts_of(k)[search.rows]
        order = np.argsort(value)
        value, carried = value[order], search.carried[order]
        first = np.flatnonzero(np.append(True, value[1:] != value[:-1]))
        sums, of_row = search.sets.sums.astype(np.int64), search.sets.for_column(i)
        of_row = of_row[search.rows[order], np.newaxis]
        of_sets = [np.add.reduceat(carried * (of_row == s), first) for s in range(sums.shape[1])]
        self.node, self.code = np.divmod(value[first], self.missing_code + 1)
        self.sums = np.einsum("ls,svc->vlc", sums, np.stack(of_sets))  # G, H, N, W: (V, L, 4)
        self.first = np.searchsorted(self.node, np.arange(len(search.frontier)))  # of each node
        self.total = np.add.reduceat(self.sums[..., : N + 1], self.first)

    def cut(self) -> None:
        """Write down the best cuts."""
        self.found.total[self.i] = self.total
        if self.has_levels:
            self._cut_levels()
        else:
            self._cut_numbers()

    def _cut_numbers(self) -> None:
        """Find the best cuts between values in their own order."""
        is_missing, missing = self.code == self.missing_code, np.zeros_like(self.total)
        missing[self.node[is_missing]] = self.sums[is_missing, :, : N + 1]
        node, sums = self.node[~is_missing], self.sums[~is_missing]
        is_last = np.append(node[1:] != node[:-1], True)[: len(node)]
        for q in range(self.search.sets.n_searched):
            cut = self._best(q, node, sums, missing, is_last)
            j = np.flatnonzero(cut >= 0)
            self.found.code[self.i, j, q] = self.code[~is_missing][cut[j]]

    def _cut_levels(self) -> None:
        """Find the best cuts between levels in the order of their means, missing among them."""
        i, node, splits = self.i, self.node, self.search.sets.splits
        is_left = np.zeros(len(node), dtype=np.bool_)
        for q in range(self.search.sets.n_searched):
            key = self._key_of(self.sums[:, q])
            order = np.lexsort((key, node))
            key, node_after = key[order], np.append(node[1:], -1)
            may_cut = (node_after == node) & (np.append(key[1:], np.nan) != key)
            nothing = np.zeros_like(self.total)
            cut = self._best(q, node, self.sums[order], nothing, True, may_cut)
            if q == splits:
                is_left[order] = np.arange(len(order)) <= cut[node]
        last = np.append(self.first[1:], len(node)) - 1  # of each node
        has_missing = self.code[last] == self.missing_code
        has_missing &= self.found.score[i, :, splits] > -np.inf
        self.found.missing_left[i, has_missing, splits] = is_left[last[has_missing]]
        of_nodes = (np.split(of_all, self.first[1:]) for of_all in (self.code, is_left))
        self.found.levels[i] = list(zip(*of_nodes, strict=True))

    def _key_of(self, sums: np.ndarray) -> np.ndarray:
        """Return what the levels of nodes are ordered by; those of few rows have one key a node."""
        of_node = np.add.reduceat(sums[:, W], self.first)
        least = np.minimum(self.search.most_weight, of_node / LEAST_SHARE)
        is_few = (sums[:, W] < least[self.node])[:, np.newaxis]
        of_few = np.add.reduceat(np.where(is_few, sums, 0), self.first)
        sums = np.where(is_few, of_few[self.node], sums)
        weight = sums[:, H].astype(np.float64) + self.search.smoothing
        return np.where(weight > 0, sums[:, G] / np.where(weight > 0, weight, 1.0), -np.inf)

    def _best(
        self, q: int, node: np.ndarray, sums: np.ndarray, missing: np.ndarray, any_order: Any,
        may_cut: Any = True,
    ) -> np.ndarray:  # fmt: skip
        """Write down the best cuts for sum q after any of some values, in the order of their nodes.

        ``missing`` has the sums that go with either side. Returns the value before the cut of each
        node, -1 where no cut is allowed. ``any_order`` says of cuts whether they put no values in
        order (``gbt.splitting.monotone``).
        """
        i, found, total = self.i, self.found, self.total
        running = np.cumsum(np.append(np.zeros_like(total[:1]), sums[..., : N + 1], 0), axis=0)
        left = running[1:] - running[np.searchsorted(node, np.arange(len(total)))][node]
        right = self._scores(q, node, left, any_order)
        other = self._scores(q, node, left + missing[node], any_order)
        score = np.where(may_cut, np.maximum(right, other), -np.inf)
        cut = last_of_best(score, node, len(total))
        j = np.flatnonzero(cut >= 0)
        c, h = cut[j], left[cut[j], q, H]
        more_on_the_left = h >= total[j, q, H] - missing[j, q, H] - h
        goes_left = (other[c] > right[c]) | ((other[c] == right[c]) & more_on_the_left)
        found.score[i, j, q], found.missing_left[i, j, q] = score[c], goes_left
        found.left[i, j, q] = left[c] + missing[j] * goes_left[:, np.newaxis, np.newaxis]
        return cut

    def _scores(self, q: int, node: np.ndarray, left: np.ndarray, any_order: Any) -> np.ndarray:
        """Score cuts for sum q, given what all sums have on the left of each."""
        search, bounds = self.search, self.search.frontier.bounds
        sides = left[:, q], self.total[node, q] - left[:, q]
        is_allowed = np.ones(len(left), dtype=np.bool_)
        for side in sides:
            h, n = side[:, H], side[:, N]
            is_allowed &= (h > 0) & (h.astype(np.float64) >= search.min_hessian)
            is_allowed &= n >= max(search.limits.min_samples_leaf, 1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if bounds is None:
                score = score_of(*sides, search.penalty)
            else:
                steps = [steps_within(side, search.penalty, bounds[node]) for side in sides]
                left_score, right_score = map(score_of_steps, sides, [search.penalty] * 2, steps)
                score = left_score + right_score
                is_allowed &= any_order | (self.direction * steps[0] <= self.direction * steps[1])
        return np.where(is_allowed, score, -np.inf)


def score_of(left: np.ndarray, right: np.ndarray, penalty: float) -> np.ndarray:
    """Return the scores of cuts, as ``gbt.kernels.cuts.search`` computes them, bit by bit."""
    left_g, right_g = left[:, G].astype(np.float64), right[:, G].astype(np.float64)
    left_weight, right_weight = (side[:, H].astype(np.float64) + penalty for side in (left, right))
    return (left_g * left_g * right_weight + right_g * right_g * left_weight) / (
        left_weight * right_weight
    )


def last_of_best(score: np.ndarray, node: np.ndarray, n_nodes: int) -> np.ndarray:
    """Return which cut of each node has the highest score, of equals the last, -1 if none has."""
    highest, best = np.full(n_nodes, -np.inf), np.full(n_nodes, -1)
    np.maximum.at(highest, node, score)
    is_best = (score == highest[node]) & (score > -np.inf)
    best[node[is_best]] = np.flatnonzero(is_best)
    return best
