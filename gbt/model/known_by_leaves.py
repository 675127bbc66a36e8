"""Whether rows are those that a model was trained on, told by the leaves that they fill.

Models from a file or of another library do not remember their rows (``gbt.model.seen_rows``), but
their trees remember how many rows, or how much hessian, each leaf was made of. The training rows
fill the leaves exactly so, and other rows hardly ever do. So that hardly any time is spent on other
rows, three questions are asked, each only of rows that have passed the one before:

1. Is the root of the first tree filled, by as many rows or as much hessian as it was made of? Rows
   in another number are told by this alone, without a walk down a tree.
2. Are the leaves of the first trees filled? Rows in the same number, as when a table was cut into
   halves, nearly always fail in the first tree.
3. Would new rows have filled them, too? Where one split tells two classes apart without error, any
   table with as many rows of each class fills every leaf exactly. So ``N_DRAWS`` tables are drawn
   from the given rows, with replacement and within classes. Unless *none* of these fills the leaves
   of the first trees, nothing is said.

Let p be the probability that new rows fill the leaves. A false alarm takes new rows that fill them,
and no such table among those drawn: p (1 - p)^N_DRAWS, which is at most 1 / (e N_DRAWS), .0012,
whatever p may be, and only for tables that have as many rows as the training rows.

What cannot be told: a part of the training rows, or these with others; rows of a model whose trees
were each grown on a sample (``subsample``, bagging, a forest with bootstrap), or which were
weighted, unless their weights are given or the library counts rows; models of few splits that any
row of a class passes alike. There the rows' importances are taken at face value.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gbt.model.ensemble import Ensemble
from gbt.model.statistics import along_rounds

N_DRAWS = 300
NUMBERS_AT_ONCE = 2**20
MOST_TREES = 16
MOST_PARTS = 32  # of a tree, whose neighbouring leaves are drawn together
# Hessians of libraries are sums of float32 numbers at predictions in float32.
WITHIN = 1e-4


class Rows(NamedTuple):
    """Rows as kernels take them, the targets that the loss takes, and weights or None."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None


# Makes a part of every chunk of rows and merges the parts; may be asked again and again.
Fold = Callable[[Callable[[Rows], "Cells"], Callable[["Cells", "Cells"], "Cells"]], "Cells"]


class Cells(NamedTuple):
    """Rows that no leaf of some trees tells apart, and no class, are one cell.

    Parameters
    ----------
    key : int64 array of shape (C, 1 + T)
        The class and the T leaves of every cell, all different.
    n_rows : int64 array of shape (C,)
    amount : float64 array of shape (C, T)
        What its rows add to the leaf of each tree: themselves, or w h.
    """

    key: np.ndarray
    n_rows: np.ndarray
    amount: np.ndarray

    @classmethod
    def of(cls, ensemble: Ensemble, rows: Rows) -> "Cells":
        """Send rows down all trees of a model."""
        X, y, weight = _of_weight(rows)
        key, amount = [_classes(y)], []
        along = along_rounds(
            ensemble.trees, X, y, ensemble.loss, ensemble.base_score, ensemble.is_forest
        )
        for _, leaves, _, hessian in along:
            key.append(leaves.astype(np.int64))
            amount.append(np.ones(len(y)) if _counts_rows(ensemble) else weight * hessian)
        return cls._together(np.column_stack(key), np.ones(len(y)), np.column_stack(amount))

    def merge(self, other: "Cells") -> "Cells":
        """Return the cells of the rows of both."""
        return Cells._together(*(np.concatenate(both) for both in zip(self, other, strict=True)))

    @classmethod
    def _together(cls, key: np.ndarray, n_rows: np.ndarray, amount: np.ndarray) -> "Cells":
        """Add up what has one key."""
        of_row = np.zeros(len(key), dtype=np.int64)
        for column in key.T:  # numbers sort much faster than rows
            both = of_row * (int(column.max(initial=0)) + 1) + column
            _, first, of_row = np.unique(both, return_index=True, return_inverse=True)
        sums = [np.bincount(of_row, n, minlength=len(first)) for n in (n_rows, *amount.T)]
        return cls(key[first], sums[0].astype(np.int64), np.column_stack(sums[1:]))

    def fill(self, ensemble: Ensemble) -> bool:
        """Say whether the rows add up, in every leaf, to what it was made of."""
        made_of = _made_of(ensemble)
        for t, tree in enumerate(ensemble.trees):
            nodes = slice(ensemble.tree_offset[t], ensemble.tree_offset[t + 1])
            sums = np.bincount(self.key[:, 1 + t], self.amount[:, t], minlength=tree.n_nodes)
            if not _agree(ensemble, sums, made_of[nodes])[tree.is_leaf].all():
                return False
        return True

    def would_be_filled_by_others(self, ensemble: Ensemble) -> bool:
        """Say whether some table drawn from these rows fills the same leaves.

        Of a tree with many leaves, neighbours are taken together: these are filled by more tables.
        """
        n_trees = self.amount.shape[1]
        mean = self.amount / self.n_rows[:, np.newaxis]
        parts = [_parts(self.key[:, 1 + t]) for t in range(n_trees)]
        shares = [np.eye(part.max() + 1)[part] * mean[:, [t]] for t, part in enumerate(parts)]
        share = np.concatenate(shares, axis=1)  # (C, parts of all trees)
        filled = self.n_rows @ share
        random = np.random.default_rng(0)
        at_once = max(1, NUMBERS_AT_ONCE // len(self.key))
        for first in range(0, N_DRAWS, at_once):
            drawn = np.zeros((min(at_once, N_DRAWS - first), len(self.key)))
            for label in np.unique(self.key[:, 0]):
                own = self.key[:, 0] == label
                n_own = self.n_rows[own].sum()
                drawn[:, own] = random.multinomial(n_own, self.n_rows[own] / n_own, len(drawn))
            if _agree(ensemble, drawn @ share, filled).all(axis=1).any():
                return True
        return False


def are_training_rows(ensemble: Ensemble, fold: Fold) -> bool:
    """Say whether rows are, beyond doubt, those that a model was trained on; see the module.

    Only to be asked of rows that `may_be_training_rows`.

    Parameters
    ----------
    ensemble : Ensemble
    fold : callable
        ``fold(part_of, merge)`` makes a part of `Rows`, or of each of their chunks, and merges
        these; it is called some times.
    """
    n_rounds = 1
    while n_rounds <= ensemble.n_rounds:
        first = ensemble.truncate(n_rounds)
        cells = fold(partial(Cells.of, first), Cells.merge)
        if not cells.fill(first):
            return False
        if not cells.would_be_filled_by_others(first):
            return True
        n_rounds *= 2
        if n_rounds * ensemble.n_outputs > MOST_TREES:
            break
    return False


def may_be_training_rows(ensemble: Ensemble, amount: float) -> bool:
    """Say whether so much fills the root of the first tree."""
    if not (ensemble.n_trees and ensemble.statistics & {"counts", "hessians"}):
        return False
    return bool(_agree(ensemble, amount, _made_of(ensemble)[0]))


def amount_at_root(ensemble: Ensemble, y: np.ndarray, weight: np.ndarray | None) -> float:
    """Return what rows add to the root of the first tree: their number, or their hessian."""
    weight = np.broadcast_to(1.0, len(y)) if weight is None else weight
    if _counts_rows(ensemble):
        return float(np.count_nonzero(weight))
    if ensemble.loss.has_one_hessian:
        y = y[:1]  # its hessian is that of all
    base_score = np.asarray(ensemble.base_score)
    raw = np.broadcast_to(base_score, (len(y), *base_score.shape))
    _, hessian = ensemble.loss.gradient_hessian(y, raw)
    return float(np.sum(weight * (hessian if hessian.ndim == 1 else hessian[:, 0])))


def _of_weight(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows that weigh something, which alone are trained on."""
    X, y = np.asarray(rows.X, dtype=np.float64), rows.y
    weight = np.ones(len(y)) if rows.weight is None else np.asarray(rows.weight)
    kept = weight > 0
    return (X, y, weight) if kept.all() else (X[kept], y[kept], weight[kept])


def _classes(y: np.ndarray) -> np.ndarray:
    """Return the class of every row, as far as targets tell classes: a split may keep their shares.

    In a forest of classes every class is a target, 1 for the rows of the class.
    """
    if y.ndim == 2:
        y = y.argmax(axis=1)
    labels = y.astype(np.int64)
    return labels if (labels == y).all() and len(np.unique(labels)) <= MOST_PARTS else 0 * labels


def _parts(leaves: np.ndarray) -> np.ndarray:
    """Return a number from 0 for every leaf, the same for neighbours where there are many."""
    distinct, number = np.unique(leaves, return_inverse=True)
    return number * min(MOST_PARTS, len(distinct)) // len(distinct)


def _counts_rows(ensemble: Ensemble) -> bool:
    """Say whether a model knows the rows of its nodes, which weights do not change."""
    return "counts" in ensemble.statistics


def _made_of(ensemble: Ensemble) -> np.ndarray:
    """Return what every node was made of: rows, or hessian."""
    return ensemble.n_samples if _counts_rows(ensemble) else ensemble.sum_hessian


def _agree(ensemble: Ensemble, amount: Any, made_of: Any) -> Any:
    """Say where amounts are what nodes were made of: the same number of rows, or nearly the H."""
    within = 0.0 if _counts_rows(ensemble) else WITHIN
    return np.abs(amount - made_of) <= within * np.abs(made_of)
