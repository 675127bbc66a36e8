"""The best cuts of every column, for every open node: what all policies ask for.

A policy divides the rows of a node into *sets* and says which sets make up which *sums* of g, h and
rows. For each sum, `best_cuts` finds the best cut of every column, and returns with it all sums on
the left of the cut, from which the policy computes its criterion. One walk
through a column serves all open nodes. It goes row by row in the order of the values
(``gbt.kernels.cuts.scan``) or, for levels and for numbers that take few values, value by value
(``gbt.kernels.cuts.levels``). Threads share the columns. Every cut is scored with the missing rows
on either side, and the better side is part of the answer.

The policies' sets and sums::

    greedy             one set             its sum
    cross-validated    T folds             all but fold 1, ..., all but fold T, all
    unbiased           D, D1', D2'         D, D1', D2'
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from gbt.kernels.cuts.levels import LevelOrder, scan_levels, scan_values
from gbt.kernels.cuts.scan import CUT, ROW, ROWS_AT_ONCE, Asked, Scratch, add_up_sets, scan_column
from gbt.kernels.cuts.value_sums import ValuesOfColumn, ValueSums
from gbt.kernels.trees.nodes import records
from gbt.parallel.threads import run_all, threads_for
from gbt.splitting.frontier import Frontier, Limits, Splits
from gbt.tables.columns import Columns

# For so many values a walk takes some hundred microseconds, and a second thread begins to pay.
LEAST_VALUES_PER_THREAD = 20_000
# To sort one row of an open node takes as long as to pass by so many rows that are in none.
PASSED_BY_PER_SORTED_ROW = 16
# Rows are added up code by code if the codes of all nodes together are no more than so many a row,
# else they are sorted by value first. The limit for levels is higher, because their sums are needed
# either way. 10,000 levels of 100,000 rows in 32 nodes took half as long code by code as sorted.
# Numbers of 20,000 rows took up to 1.7 times as long with 0.3 codes a row, and with 1 code a row
# cross-validated fits of continuous numbers took 1.9 times as long.
MOST_CODES_PER_ROW, MOST_LEVELS_PER_ROW = 0.1, 4.0
# A box bounds the scores of the cuts among some rows (``gbt.kernels.cuts.scan``). In a large node
# most bounds are too low for these cuts to win, and skipping the cuts saves more than the boxes
# cost. In nodes of 600 rows it did not, with boxes of 16, 32 or 64 rows.
LEAST_ROWS_FOR_BOXES, ROWS_OF_BOX = 2_048, 64


@dataclass(frozen=True, eq=False)
class Sets:
    """Which set every row is in, and which sums are wanted.

    Parameters
    ----------
    of_row : uint8 array of shape (n,) or (K, n)
        The set of every row of the table; of shape (K, n) if sets differ between the K columns of
        the frontier.
    sums : bool array of shape (L, S)
        Whether sum l takes set s.
    n_searched : int
        How many of the sums, the first ones, are searched for their best cuts.
    splits : int
        The sum whose best cut is the node's, once its column is chosen.
    """

    of_row: np.ndarray
    sums: np.ndarray
    n_searched: int
    splits: int = 0

    def for_column(self, i: int) -> np.ndarray:
        """Return the sets for one column of the frontier."""
        return self.of_row if self.of_row.ndim == 1 else self.of_row[i]


@dataclass(frozen=True, eq=False)
class Cuts:
    """The best cuts of K columns for J nodes and Q of L sums.

    A sum is three numbers in the integers' units: gradients, hessians, rows.

    Parameters
    ----------
    score : float64 array of shape (K, J, Q)
        G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda) of a sum at its best cut; -inf where no cut
        is allowed.
    code : int64 array of shape (K, J, Q)
        Codes up to it go left.
    missing_left : bool array of shape (K, J, Q)
    left : int64 array of shape (K, J, Q, L, 3)
        All sums on the left of these cuts; meaningless where no cut is allowed.
    total : int64 array of shape (K or 1, J, L, 3)
        All sums in the node; a single entry if all columns have the same sets.
    frontier, splits
        As `best_cuts` was given them.
    is_left : list of bool arrays of shape (m,), or of None
        One entry a column, None if it holds numbers. Else ``is_left[k][first + i]`` says whether
        the i-th level that occurs in a node goes left at the best cut of the sum ``splits``;
        ``first`` counts the open rows of the nodes before it.
    """

    score: np.ndarray
    code: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    total: np.ndarray
    frontier: Frontier
    splits: int
    is_left: list[np.ndarray | None]

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
        of_levels = self.is_left[i]
        if of_levels is None:
            return None
        columns, k = self.frontier.columns, self.frontier.features[i]
        is_present = np.zeros(columns.n_values[k] + 1, dtype=bool)
        is_present[columns.codes_of(k)[self.frontier.rows_of(j)]] = True
        goes_left = np.full(len(is_present), self.missing_left[i, j, self.splits])
        first = int((self.frontier.stop[:j] - self.frontier.start[:j]).sum())
        goes_left[is_present] = of_levels[first : first + is_present.sum()]
        return goes_left


def best_cuts(
    frontier: Frontier,
    limits: Limits,
    n_jobs: int | None,
    sets: Sets | None = None,
    min_rows_of_all: int = 0,
) -> Cuts:
    """Search the columns of a frontier for the best cuts.

    Parameters
    ----------
    frontier, limits, n_jobs
        As a policy gets them. Limits on the weight and rows of a side apply to the sum whose cut is
        searched.
    sets : Sets, optional
        Without them all rows are one set, with one sum.
    min_rows_of_all : int
        Least rows that every sum must have on either side of any cut.
    """
    n, n_nodes, n_columns = frontier.columns.n_rows, len(frontier), len(frontier.features)
    if sets is None:
        sets = Sets(np.zeros(n, dtype=np.uint8), np.ones((1, 1), dtype=np.bool_), n_searched=1)
    n_sums, n_searched = len(sets.sums), sets.n_searched
    rows = _rows_as_kernels_take_them(frontier)
    some = np.concatenate([frontier.rows_of(j) for j in range(n_nodes)])
    nothing = np.empty(0, dtype=some.dtype)
    asked = _asked_of_all(frontier, limits, sets, rows, min_rows_of_all)
    directions = np.zeros(n_columns, dtype=np.int64)
    if limits.directions is not None:
        directions[:] = limits.directions[frontier.features]
    total = np.zeros((1 if sets.of_row.ndim == 1 else n_columns, n_nodes, n_sums, 3), np.int64)
    for i in range(len(total)):
        add_up_sets(some, sets.for_column(i), rows, asked.takes, total[i])
    cuts = records(n_columns * n_nodes * n_searched, CUT).reshape(n_columns, n_nodes, n_searched)
    left = np.empty((*cuts.shape, n_sums, 3), dtype=np.int64)

    columns, features = frontier.columns, frontier.features
    is_categorical, n_codes = columns.n_levels[features] > 0, columns.n_values[features] + 1
    most_per_row = np.where(is_categorical, MOST_LEVELS_PER_ROW, MOST_CODES_PER_ROW)
    has_few = n_codes * n_nodes <= most_per_row * len(some)
    most_codes = n_codes.max(initial=1, where=has_few)
    most_values = n_codes.max(initial=1, where=has_few | is_categorical)
    is_left = [np.empty(len(some), dtype=bool) if yes else None for yes in is_categorical]

    def search(start: int, stop: int) -> None:
        scratch = _scratch(n_nodes, len(some), n_sums, sets.sums.shape[1])
        levels = LevelOrder(
            smoothing=limits.categorical_smoothing * frontier.derivatives.hessian_scale,
            most_weight=limits.categorical_smoothing * frontier.derivatives.weight_scale,
            splits=sets.splits,
            order=np.empty((2, most_values + 1), dtype=np.int32),
        )
        values = _memory_of_values(most_values, most_codes, n_sums, sets.sums.shape[1])
        for i in range(start, stop):
            k = features[i]
            by_value, n_present = nothing, 0
            if not has_few[i]:
                by_value, n_present = rows_by_value(columns, k, some)
            of_sets = sets.for_column(i), total[i if len(total) > 1 else 0]
            of_column = *of_sets, asked._replace(direction=directions[i]), scratch
            if not has_few[i] and not is_categorical[i]:
                scan_column(by_value, n_present, *of_column, cuts[i], left[i])
                continue
            column = ValuesOfColumn(
                by_value, n_present, some, columns.codes_of(k), int(columns.n_values[k])
            )
            if is_categorical[i]:
                scan_levels(column, *of_column, values, levels, cuts[i], left[i], is_left[i])
            else:
                scan_values(column, *of_column, values, levels, cuts[i], left[i])

    n_threads = min(threads_for(n * n_columns, LEAST_VALUES_PER_THREAD, n_jobs), n_columns)
    edges = [n_columns * t // n_threads for t in range(n_threads + 1)]
    run_all([partial(search, start, stop) for start, stop in pairwise(edges)])
    if frontier.is_open is not None:
        cuts["score"][~frontier.is_open.T] = -np.inf
    code = np.array(
        [columns.codes_of(k)[of_column] for k, of_column in zip(features, cuts["row"], strict=True)]
    )
    return Cuts(
        cuts["score"], code.astype(np.int64), cuts["missing_left"] != 0, left, total, frontier,
        sets.splits, is_left,
    )  # fmt: skip


def _scratch(n_nodes: int, n_rows: int, n_sums: int, n_sets: int) -> Scratch:
    """Lay out a thread's own arrays."""
    return Scratch(
        place=np.empty(n_nodes, dtype=np.int64),
        value=np.empty(n_nodes, dtype=np.int64),
        by_node=np.empty(n_rows, dtype=np.int32),
        n_present=np.empty(n_nodes, dtype=np.int64),
        missing=np.empty((n_sums, 3), dtype=np.int64),
        so_far=np.empty((n_sums, 3), dtype=np.int64),
        left=np.empty((n_sums, 3, ROWS_AT_ONCE + 1), dtype=np.int64),
        row=np.empty(ROWS_AT_ONCE + 1, dtype=np.int64),
        g=np.empty(ROWS_AT_ONCE, dtype=np.int64),
        h=np.empty(ROWS_AT_ONCE, dtype=np.int64),
        own_set=np.empty(ROWS_AT_ONCE, dtype=np.int64),
        of_sets=np.empty((n_sets, 4), dtype=np.int64),
        wanted=np.empty(n_sums + 1, dtype=np.int64),
        is_last=np.empty(ROWS_AT_ONCE, dtype=np.uint64),
        score=np.empty((3, ROWS_AT_ONCE)),
        nothing=np.zeros((n_sums, 3), dtype=np.int64),
    )


def _asked_of_all(
    frontier: Frontier, limits: Limits, sets: Sets, rows: np.ndarray, min_rows_of_all: int
) -> Asked:
    """Return the arguments of the scan that all columns share."""
    n_rows, scale = frontier.stop - frontier.start, frontier.derivatives.hessian_scale
    no_bounds = np.zeros((len(frontier), 2))
    return Asked(
        rows=rows,
        start=np.cumsum(n_rows) - n_rows,
        takes=-sets.sums.astype(np.int64),
        n_searched=sets.n_searched,
        penalty=limits.reg_lambda * scale,
        min_hessian=limits.min_child_weight * scale,
        min_rows=max(limits.min_samples_leaf, 1),
        min_rows_of_all=min_rows_of_all,
        least_rows_for_boxes=LEAST_ROWS_FOR_BOXES,
        rows_of_box=ROWS_OF_BOX,
        is_bounded=frontier.bounds is not None,
        direction=0,
        bounds=no_bounds if frontier.bounds is None else frontier.bounds,
    )


def _memory_of_values(n_values: int, n_codes: int, n_sums: int, n_sets: int) -> ValueSums:
    """Lay out a thread's own arrays for columns whose values are added up."""
    return ValueSums(
        of_codes=np.empty((n_codes, n_sets, 4), dtype=np.int64),
        row_of_code=np.empty(n_codes, dtype=np.int32),
        sums=np.empty((n_values + 1, n_sums, 4), dtype=np.int64),
        row=np.empty(n_values, dtype=np.int32),
        key=np.empty(n_values + 1),
    )


def _rows_as_kernels_take_them(frontier: Frontier) -> np.ndarray:
    """Return for every row of the table its numbers and its open node, -1 if it has none."""
    rows = records(frontier.columns.n_rows, ROW)
    rows["g"], rows["h"] = frontier.derivatives.gradient, frontier.derivatives.hessian
    rows["weight"] = 1 if frontier.derivatives.weight is None else frontier.derivatives.weight
    rows["node"] = -1
    for j in range(len(frontier)):
        rows["node"][frontier.rows_of(j)] = j
    return rows


def rows_by_value(columns: Columns, k: int, some: np.ndarray) -> tuple[np.ndarray, int]:
    """Return rows in the order of their values in one column, and how many are not missing.

    ``~row`` takes the place of a row where a new value starts. Returned are all rows of the table,
    or only ``some``, sorted, if they are so few that a walk through all would take longer.
    """
    if len(some) * PASSED_BY_PER_SORTED_ROW > columns.n_rows:
        return columns.order_of(k), columns.n_present[k]
    keys = np.sort(columns.codes_of(k)[some].astype(np.int64) << 32 | some)
    code, row = keys >> 32, (keys & 0xFFFFFFFF).astype(np.int32)
    starts = np.append(True, code[1:] != code[:-1])
    n_present = np.searchsorted(code, columns.n_values[k])
    return np.where(starts, ~row, row), n_present
