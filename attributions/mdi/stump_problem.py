r"""A tree as a linear model: its stumps, its raw columns, and sums over its training rows.

Every split t of a tree becomes a column psi_t, a local stump (Agarwal et al. 2023, "MDI+", section
3): with N the weights of the node's rows in growing,

    psi_t(x) = -sqrt(N_r / N_l) if x goes left at t, sqrt(N_l / N_r) if right, 0 elsewhere

On the rows that grew the tree the columns are orthogonal to one another and to a constant, and
sum w psi_t^2 = N_t. The raw columns of the features that the tree splits on may be added, each
centred and scaled to the standard deviation of the largest stump of its feature, sqrt(max N_t / N).

The matrix of these columns, rows times splits, is never made. All rows of a leaf have the same
stumps, so a linear model needs no more than the ``StumpSums`` of each leaf. Memory grows with rows
plus nodes, not with their product.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from attributions.kernels.stumps import (
    Stumps,
    StumpSums,
    add_up_columns,
    measure_columns,
    predict_rows,
)
from gbt.kernels.rows.walk import add_up_children
from gbt.model.tree import Tree

ROWS_AT_ONCE = 4096  # 50 columns of them are 1.6 MB


class TreeRows(NamedTuple):
    """The n training rows of one tree: responses, and weights in the tree and the linear model."""

    leaves: np.ndarray  # that they reach, int32
    response: np.ndarray  # target of the tree: y in a forest, -g/h in boosting
    grown: np.ndarray  # weight when the tree was grown; 0 for rows that it did not see
    weight: np.ndarray  # weight in the linear model

    def take(self, order: np.ndarray) -> "TreeRows":
        """Return the rows in another order."""
        return TreeRows(*(part[order] for part in self))


@dataclass(frozen=True, eq=False)
class RawColumns:
    """The table, column by column, in standard units; missing values are at the mean, 0.

    A categorical feature has no raw column: its values are names, and multiples of the numbers
    under which names are stored mean nothing. Its stumps compare sets of levels.
    """

    standardised: np.ndarray  # (p, n)
    mean: np.ndarray  # (p,)
    scale: np.ndarray
    is_used: np.ndarray  # which features may be raw columns

    @classmethod
    def none(cls, n_features: int) -> "RawColumns":
        """Return what there is for stumps alone."""
        zeros = np.zeros(n_features)
        return cls(np.empty((n_features, 0)), zeros, zeros + 1, zeros > 0)

    @classmethod
    def of(cls, X: np.ndarray, categories: Sequence | None = None) -> "RawColumns":
        """Take a table of shape (n, p); ``categories`` has None for columns of numbers."""
        columns = np.array(X.T, dtype=np.float64, order="C")
        mean, scale = np.zeros(len(columns)), np.ones(len(columns))
        levels = [None] * len(columns) if categories is None else categories
        is_number = np.array([of_column is None for of_column in levels], dtype=bool)
        columns[~is_number] = 0.0
        for k, column in enumerate(columns):
            largest = np.fmax.reduce(np.abs(column), initial=0.0) or 1.0
            column /= largest  # squares of huge values do not overflow
            present = column[~np.isnan(column)]
            if len(present):
                mean[k], scale[k] = present.mean(), present.std() or 1.0
            column -= mean[k]
            column /= scale[k]
            column[np.isnan(column)] = 0.0
            mean[k], scale[k] = largest * mean[k], largest * scale[k]
        return cls(columns, mean, scale, is_number)


def stump_ends(tree: Tree, node_weight: np.ndarray) -> np.ndarray:
    """Return psi_t of rows that go left and right, float64 of shape (n_nodes, 2).

    Both are 0 at a leaf, and where a child weighs 0: such a split separates no training rows.
    """
    inner = np.flatnonzero(tree.left >= 0)
    left, right = node_weight[tree.left[inner]], node_weight[tree.right[inner]]
    splits = (left > 0) & (right > 0)
    inner, left, right = inner[splits], left[splits], right[splits]
    ends = np.zeros((len(node_weight), 2))
    ends[inner, 0], ends[inner, 1] = -np.sqrt(right / left), np.sqrt(left / right)
    return ends


class StumpProblem:
    """The columns of one tree and the sums over its training rows, fold by fold.

    Rows ``fold_edges[t]:fold_edges[t + 1]`` are fold t.
    """

    def __init__(self, tree: Tree, rows: TreeRows, raw: RawColumns, fold_edges: np.ndarray) -> None:
        self.tree, self.rows, self.raw = tree, rows, raw
        self.node_weight = np.bincount(rows.leaves, rows.grown, minlength=tree.n_nodes)
        add_up_children(tree.left, tree.right, self.node_weight[:, np.newaxis])
        self.stumps = Stumps(
            tree.left.astype(np.int64),
            tree.right.astype(np.int64),
            stump_ends(tree, self.node_weight),
        )
        self.leaf = np.flatnonzero(tree.left < 0)
        self.features = np.unique(tree.feature[tree.left >= 0]).astype(np.int64)
        self.raw_blocks = np.flatnonzero(raw.is_used[self.features])
        self.raw_features = self.features[self.raw_blocks]
        self.n_raw = len(self.raw_features)
        self.fold_edges, self.n_folds = fold_edges, len(fold_edges) - 1
        self._find_units()

    @cached_property
    def folds(self) -> StumpSums:
        """Sums over the rows of each fold."""
        n_folds, n_nodes, n_columns = self.n_folds, self.tree.n_nodes, 1 + self.n_raw
        found = StumpSums(
            np.empty((n_folds, n_nodes)),
            np.zeros((n_folds, n_nodes, n_columns)),
            np.zeros((n_folds, n_columns, n_columns)),
        )
        for fold, rows in enumerate(self.fold_slices()):
            self._add_up(rows, found.of_fold(fold))
        return found

    def fold_slices(self) -> list[slice]:
        """Return the rows of each fold."""
        return [slice(int(start), int(stop)) for start, stop in pairwise(self.fold_edges)]

    def with_rows(self, rows: TreeRows) -> "StumpProblem":
        """Return the same columns with other responses and weights of the rows."""
        other = copy(self)
        other.rows = rows
        for of_rows in ("folds", "sums", "without"):
            other.__dict__.pop(of_rows, None)
        return other

    def _find_units(self) -> None:
        """Find centre and scale of the raw columns, in standard units, over the tree's own rows."""
        self.centre, self.factor, deviation = np.zeros((3, self.n_raw))
        measure_columns(
            self.raw.standardised, self.raw_features, self.rows.grown, self.centre, deviation
        )
        inner = self.tree.left >= 0
        largest = np.zeros(len(self.features))
        np.maximum.at(largest, self.slot[inner], self.node_weight[inner] / self.node_weight[0])
        varies = deviation > 1e-10  # a column that is constant there stays 0
        self.factor[varies] = np.sqrt(largest[self.raw_blocks][varies]) / deviation[varies]

    def columns(self, rows: slice) -> np.ndarray:
        """Return response and raw columns of some rows, float64 of shape (1 + n_raw, n)."""
        columns = np.empty((1 + self.n_raw, rows.stop - rows.start))
        columns[0] = self.rows.response[rows]
        if self.n_raw:
            raw = self.raw.standardised[self.raw_features, rows]
            columns[1:] = (raw - self.centre[:, np.newaxis]) * self.factor[:, np.newaxis]
        return columns

    def predict(self, value: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """Return the linear predictor of all rows, from values of nodes and raw coefficients."""
        predictor, raw = np.empty(len(self.rows.leaves)), self.raw.standardised
        slope, features = gamma * self.factor, self.raw_features
        predict_rows(self.rows.leaves, raw, features, self.centre, slope, value, predictor)
        return predictor

    def blocks(self, rows: slice | None = None) -> Iterator[slice]:
        """Yield blocks of the rows that fit into cache."""
        rows = rows or slice(0, len(self.rows.leaves))
        for start in range(rows.start, rows.stop, ROWS_AT_ONCE):
            yield slice(start, min(start + ROWS_AT_ONCE, rows.stop))

    def _add_up(self, rows: slice, sums: StumpSums) -> None:
        own, n_columns = self.rows, 1 + self.n_raw
        for block in self.blocks(rows):
            columns, weighted = np.empty((2, block.stop - block.start, n_columns))
            add_up_columns(
                (own.leaves, own.weight, own.response),
                block.start,
                self.raw.standardised,
                self.raw_features,
                (self.centre, self.factor),
                columns,
                weighted,
                sums.columns,
            )
            sums.gram[:] += weighted.T @ columns
        sums.weight[:] = np.bincount(own.leaves[rows], own.weight[rows], len(sums.weight))
        for part in (sums.weight[:, np.newaxis], sums.columns):
            add_up_children(self.tree.left, self.tree.right, part)

    @cached_property
    def sums(self) -> StumpSums:
        """Sums over all rows."""
        return StumpSums(*(part.sum(axis=0) for part in self.folds))

    @cached_property
    def without(self) -> StumpSums:
        """Sums over the rows of all folds but one, for each."""
        return StumpSums(*(total - part for total, part in zip(self.sums, self.folds, strict=True)))

    @cached_property
    def parent(self) -> np.ndarray:
        """Parent of every node, -1 for the root; int64."""
        parent = np.full(self.tree.n_nodes, -1, dtype=np.int64)
        inner = np.flatnonzero(self.tree.left >= 0)
        parent[self.tree.left[inner]] = parent[self.tree.right[inner]] = inner
        return parent

    @cached_property
    def slot(self) -> np.ndarray:
        """Position in ``features`` of the feature that every node splits on; 0 at a leaf."""
        return np.searchsorted(self.features, np.maximum(self.tree.feature, 0)).astype(np.int64)
