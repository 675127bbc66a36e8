"""Whether rows are those that a model was trained on, recognised by the leaves that they fill.

Models from a file or of another library do not remember their rows (``gbt.model.seen_rows``), but
their trees know how many rows, or how much hessian, each leaf was made of. The training rows fill
the leaves exactly so, and other rows hardly ever do. To spend little time on other rows, there are
three tests, each only for rows that have passed the one before:

1. Is the root of the first tree filled, by as many rows or as much hessian as it was made of? This
   alone, without a walk down a tree, excludes tables with another number of rows.
2. Are the leaves of the first trees filled? Tables with the same number of rows, as when a table
   was cut into halves, nearly always fail in the first tree.
3. Would new rows have filled them, too? If one split separates two classes without error, any table
   with as many rows of each class fills every leaf exactly. So ``N_DRAWS`` tables are drawn from
   the given rows, with replacement and within classes. If *none* of these fills the leaves of the
   first trees, the given rows are taken for the training rows. If some do, gradients are compared
   in the same way: those of the rows must add up to G in the leaves of the first round, as those
   of other rows hardly ever do where targets are numbers. (Only the first round, since later ones
   repeat it.)

Let p be the probability that new rows fill the leaves. A false alarm takes new rows that fill them,
and no such table among those drawn: p (1 - p)^N_DRAWS, which is at most 1 / (e N_DRAWS), 0.0012,
whatever p is, and only for tables that have as many rows as the training rows.

Not recognised are: a part of the training rows, or these together with others; rows of a model
whose trees were each grown on a sample (``subsample``, bagging, a forest with bootstrap); weighted
rows, unless their weights are given or the library counts rows; rows of models with few splits that
all rows of a class pass alike. There is no warning for these.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from gbt.model.ensemble import Ensemble
from gbt.model.starting_values import raw_before
from gbt.model.statistics import along_rounds, of_positive_weight
from gbt.parallel.chunks import Chunk
from gbt.tables.sparse_rows import as_type
from gbt.tables.targets import as_weight

N_DRAWS = 300
NUMBERS_AT_ONCE = 2**20
MOST_TREES = 16
MOST_PARTS = 32  # of a tree; neighbouring leaves are merged until there are no more
# Hessians of libraries are sums of float32 numbers at predictions in float32.
WITHIN = 1e-4


# Makes a part of every chunk of rows and merges the parts; is called several times. Rows, targets
# and starting values, (n, K), are as kernels and the loss take them.
Fold = Callable[
    [Callable[[Chunk], "LeafCells"], Callable[["LeafCells", "LeafCells"], "LeafCells"]], "LeafCells"
]


class LeafCells(NamedTuple):
    """Rows by cell: a cell has the rows of one class that share the leaves of T trees."""

    key: np.ndarray  # (C, 1 + T): the class and the leaves of every cell, all different
    n_rows: np.ndarray
    amount: np.ndarray  # (C, T): what its rows add to the leaf of each tree, their number or w h
    gradient: np.ndarray  # their sums of w g, of its magnitude, and of its square
    magnitude: np.ndarray
    square: np.ndarray

    @classmethod
    def of(cls, ensemble: Ensemble, rows: Chunk) -> "LeafCells":
        """Return the cells of some rows, sent down all trees of a model."""
        start = raw_before(ensemble.base_score, len(rows.y), rows.init_score)
        weight = as_weight(rows.sample_weight, len(rows.y), may_be_zero=True)
        X = as_type(rows.X, np.float64)
        X, y, weight, start = of_positive_weight(X, rows.y, weight, start)
        key, amount, gradient = [_classes(y)], [], []
        prepared = ensemble.loss.prepared(y, weight)
        along = along_rounds(ensemble.trees, X, prepared, ensemble.loss, start, ensemble.is_forest)
        for _, leaves, g, hessian in along:
            gradient.append(weight * g)
            key.append(leaves.astype(np.int64))
            amount.append(np.ones(len(y)) if _counts_rows(ensemble) else weight * hessian)
        of_rows = np.column_stack(gradient)
        magnitude = np.abs(of_rows)
        parts = np.column_stack(amount), of_rows, magnitude, magnitude**2
        return cls._together(np.column_stack(key), np.ones(len(y)), *parts)

    def merge(self, other: "LeafCells") -> "LeafCells":
        """Return the cells of the rows of both."""
        return LeafCells._together(
            *(np.concatenate(both) for both in zip(self, other, strict=True))
        )

    @classmethod
    def _together(cls, key: np.ndarray, n_rows: np.ndarray, *parts: np.ndarray) -> "LeafCells":
        """Add up the entries that have the same key."""
        of_row = np.zeros(len(key), dtype=np.int64)
        for column in key.T:  # numbers sort much faster than rows
            both = of_row * (int(column.max(initial=0)) + 1) + column
            _, first, of_row = np.unique(both, return_index=True, return_inverse=True)

        def added(column: np.ndarray) -> np.ndarray:
            return np.bincount(of_row, column, minlength=len(first))

        sums = [np.column_stack([added(column) for column in part.T]) for part in parts]
        return cls(key[first], added(n_rows).astype(np.int64), *sums)

    def fill(self, ensemble: Ensemble, gradients: bool = False) -> bool:
        """Say whether rows or hessians, or gradients, are those of training in every leaf."""
        node = self.key[:, 1:] + ensemble.tree_offset[:-1]

        def of_leaves(part: np.ndarray) -> np.ndarray:
            return np.bincount(node.ravel(), part.ravel(), minlength=len(ensemble.left))

        if gradients:
            made_of, size = ensemble.sum_gradient, of_leaves(self.magnitude)
            off = np.abs(of_leaves(self.gradient) - made_of) > WITHIN * size
        else:
            made_of = _made_of(ensemble)
            off = np.abs(of_leaves(self.amount) - made_of) > _within(ensemble) * np.abs(made_of)
        return not off[ensemble.left < 0].any()

    def would_be_filled_by_others(self, ensemble: Ensemble, gradients: bool = False) -> bool:
        """Say whether some table drawn from these rows fills the same leaves.

        In a tree with many leaves neighbours are merged, which more tables fill. The summed
        gradients of rows drawn from a cell are drawn from a normal distribution.
        """
        of_part = _of_parts(self.key[:, 1:])  # (C, parts of all trees), 0 or 1
        tree = np.repeat(np.arange(len(of_part)), [part.shape[1] for part in of_part])
        place = np.concatenate(of_part, axis=1)
        mean, gradient, square = (
            place * (part / self.n_rows[:, np.newaxis])[:, tree]
            for part in (self.amount, self.gradient, self.square)
        )
        variance = np.maximum(square - gradient**2, 0.0)
        filled, filled_gradient = self.n_rows @ mean, self.n_rows @ gradient
        within = _within(ensemble) * np.abs(filled)
        within_gradient = WITHIN * (place * self.magnitude[:, tree]).sum(axis=0)
        random = np.random.default_rng(0)
        at_once = max(1, NUMBERS_AT_ONCE // len(self.key))
        for first in range(0, N_DRAWS, at_once):
            drawn = self._drawn(min(at_once, N_DRAWS - first), random)
            agree = (np.abs(drawn @ mean - filled) <= within).all(axis=1)
            if gradients:
                spread = np.sqrt(drawn @ variance) * random.normal(size=(len(drawn), len(tree)))
                off = np.abs(drawn @ gradient + spread - filled_gradient)
                agree &= (off <= within_gradient).all(axis=1)
            if agree.any():
                return True
        return False

    def _drawn(self, n_tables: int, random: np.random.Generator) -> np.ndarray:
        """Return the number of rows from each cell in tables that are drawn within classes."""
        drawn = np.zeros((n_tables, len(self.key)))
        for label in np.unique(self.key[:, 0]):
            own = self.key[:, 0] == label
            n_own = self.n_rows[own].sum()
            drawn[:, own] = random.multinomial(n_own, self.n_rows[own] / n_own, n_tables)
        return drawn


def are_training_rows(ensemble: Ensemble, fold: Fold) -> bool:
    """Say whether rows are, beyond doubt, those that a model was trained on; see the module.

    To be called only for rows that `may_be_training_rows`.
    """
    n_rounds = 1
    while n_rounds <= ensemble.n_rounds:
        first = ensemble.truncate(n_rounds)
        cells = fold(partial(LeafCells.of, first), LeafCells.merge)
        if not cells.fill(first):
            return False
        if not cells.would_be_filled_by_others(first):
            return True
        n_rounds *= 2
        if n_rounds * ensemble.n_outputs > MOST_TREES:
            break
    if "gradients" not in ensemble.statistics or ensemble.about_gradients:
        return False
    first = ensemble.truncate(1)
    cells = fold(partial(LeafCells.of, first), LeafCells.merge)
    return cells.fill(first, True) and not cells.would_be_filled_by_others(first, True)


def may_be_training_rows(ensemble: Ensemble, amount: float) -> bool:
    """Say whether an amount, rows or hessian, is that of the root of the first tree."""
    if not (ensemble.n_trees and ensemble.statistics & {"counts", "hessians"}):
        return False
    made_of = float(_made_of(ensemble)[0])
    return abs(amount - made_of) <= _within(ensemble) * abs(made_of)


def amount_at_root(
    ensemble: Ensemble,
    y: np.ndarray,
    weight: np.ndarray | None,
    init_score: np.ndarray | None = None,
) -> float:
    """Return what rows add to the root of the first tree: their number, or their hessian."""
    weight = np.broadcast_to(1.0, len(y)) if weight is None else weight
    if _counts_rows(ensemble):
        return float(np.count_nonzero(weight))
    if ensemble.loss.has_one_hessian:
        y = y[:1]  # its hessian is that of all
        init_score = None if init_score is None else init_score[:1]
    raw = raw_before(ensemble.base_score, len(y), init_score)
    y = ensemble.loss.prepared(y, weight)
    _, hessian = ensemble.loss.gradient_hessian(y, raw[0] if len(raw) == 1 else raw.T)
    return float(np.sum(weight * (hessian if hessian.ndim == 1 else hessian[:, 0])))


def _classes(y: np.ndarray) -> np.ndarray:
    """Return the class of every row if targets are classes, whose shares a split may keep.

    In a forest of classes every class is a target, 1 for the rows of the class.
    """
    if y.ndim == 2:
        y = y.argmax(axis=1)
    labels = y.astype(np.int64)
    return labels if (labels == y).all() and len(np.unique(labels)) <= MOST_PARTS else 0 * labels


def _of_parts(leaves: np.ndarray) -> list[np.ndarray]:
    """Return for every tree the part that each cell is in, a leaf or neighbours: (C, parts)."""
    parts = []
    for column in leaves.T:
        distinct, number = np.unique(column, return_inverse=True)
        n_parts = min(MOST_PARTS, len(distinct))
        parts.append(np.eye(n_parts)[number * n_parts // len(distinct)])
    return parts


def _counts_rows(ensemble: Ensemble) -> bool:
    """Say whether a model knows the rows of its nodes, which weights do not change."""
    return "counts" in ensemble.statistics


def _made_of(ensemble: Ensemble) -> np.ndarray:
    """Return the rows, or the hessian, of every node in training."""
    return ensemble.n_samples if _counts_rows(ensemble) else ensemble.sum_hessian


def _within(ensemble: Ensemble) -> float:
    """Return how far amounts may be from those of training: 0 for counts of rows."""
    return 0.0 if _counts_rows(ensemble) else WITHIN
