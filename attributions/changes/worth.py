r"""What features are worth to some rows, made comparable with what they are worth to others.

Held-out gain is a sum over rows, and sets of rows differ in number. So what is compared is a ratio

    worth  =  (alpha / 2) sum over splits W_l W_r / W_t d (mean e_l - mean e_r)  /  D

with D the weight of the rows (worth is the loss that the feature saves a row) or the loss of their
best constant prediction (a hundredth of `percent`). A row, with q from ``held_out_gain`` and its
own part D_i of D, moves it by

    z_i  =  ((alpha / 2) q_i - worth * D_i) / D

and sum z_i^2 about the mean is the variance (the delta method). In the constant's loss the constant
itself is estimated, too, but there the loss is flat, so that D_i is the row's own loss alone.

The constant's loss of 200 rows with four cases of a rare class is that of these four. A ratio to
it is no number to compare, and is nan: a sum of positive parts D_i must be as sure as one of twelve
equal parts, (sum D_i)^2 / sum D_i^2 >= 12. Loss a row has no such limit.

*Rows are judged in pieces of equal size.* The means of a node come from the rows themselves, so a
node of n_t rows shows (n_t - 1) / n_t of what it is worth, and one of a single row nothing. A month
of 50 rows therefore shows less of the same worth than a month of 1,000. Whoever compares the two
must judge the 1,000 in pieces of 50 as well. Pieces overlap where sizes ask for it, and a row's z
is added up over the pieces that it is in. Groups of rows stay whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.held_out.constant_loss import Targets
from attributions.held_out.rows_at_splits import RowsAtSplits
from attributions.held_out.splits import StepsOfModel
from attributions.options import check_one_of
from gbt.parallel.chunks import Chunk, refuse_chunks

FEWEST_THAT_CARRY = 12  # rows, or groups, of which the constant's loss must consist
MOST_PIECES = 64  # the rest of the rows would hardly make an error smaller
UNITS = {"percent": 100.0, "loss": 1.0}


@dataclass(frozen=True, eq=False)
class Worth:
    """What features are worth to some rows."""

    values: np.ndarray  # (p,), in per cent of the loss of the best constant, or in loss a row
    moved_by: np.ndarray  # (n_draws, p), by each row or group of rows; each column adds up to 0
    draws: np.ndarray | None  # the labels of the groups; None for rows, which no other set shares
    in_pieces: np.ndarray | None = None  # (p,) how many draws were in a piece; None for all

    @property
    def n_draws(self) -> np.ndarray:
        """How many draws the worth of each feature comes from, (p,)."""
        n = np.full(len(self.values), len(self.moved_by))
        return n if self.in_pieces is None else self.in_pieces

    @property
    def variance(self) -> np.ndarray:
        """The squared standard errors of ``values``, (p,)."""
        n = len(self.moved_by)
        return np.einsum("ik,ik->k", self.moved_by, self.moved_by) * (n / max(n - 1, 1))


def rows_in_memory(
    model: Any, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
) -> RowsAtSplits:
    """Check and convert rows for a model, as `held_out_gain` does; refuse tables of Dask."""
    refuse_chunks(X)
    return RowsAtSplits.of(StepsOfModel.of_model(model, X), Chunk(X, y, sample_weight, groups))


def worth_of(rows: RowsAtSplits, unit: str, n_jobs: int | None, size: int | None = None) -> Worth:
    """Judge some rows, in pieces of ``size`` rows if they are more than that."""
    check_one_of([*UNITS], unit=unit)
    n, p = len(rows.X), rows.ensemble.n_credited
    total, whole = np.zeros(p), 0.0
    saved, part_of_whole = np.zeros((n, p)), np.zeros(n)
    is_judged = np.zeros(n, dtype=bool)
    for places in _pieces(rows, size):
        piece = rows if len(places) == n else rows.at(places)
        values, moved_by = saved_by_features(piece, n_jobs)
        counted = piece.weight
        if unit == "percent":
            counted = Targets(piece.y, piece.weight).excess(piece.ensemble.loss)
        total += values
        whole += counted.sum()
        saved[places] += moved_by
        part_of_whole[places] += counted
        is_judged[places] = True
    labels, n_judged = None, int(is_judged.sum())
    if rows.groups is not None:
        labels, n_judged = rows.groups.labels, len(np.unique(rows.groups.of_row[is_judged]))
        _, both = rows.groups.within(slice(0, n), np.column_stack([saved, part_of_whole]))
        saved, part_of_whole = both[:, :-1], both[:, -1]
    ratio, shares = np.full(p, np.nan), part_of_whole / (np.abs(part_of_whole).max() or 1.0)
    # How many draws of equal parts would make up the sum as surely as these do?
    n_that_carry = shares.sum() ** 2 / ((shares**2).sum() or 1.0)
    if n_that_carry >= FEWEST_THAT_CARRY or unit == "loss":
        ratio = UNITS[unit] * total / whole
    draws = (UNITS[unit] * saved - np.outer(part_of_whole, ratio)) / (whole or 1.0)
    return Worth(ratio, draws - draws.mean(axis=0), labels, np.full(p, n_judged))


def saved_by_features(rows: RowsAtSplits, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the loss that features save, (p,), and for its error what rows add to that, (n, p)."""
    gains = rows.model.judged(rows.node_sums(n_jobs, keep=True))
    to_loss = rows.ensemble.learning_rate / 2  # `percent_of_one` says why a half
    values = to_loss * gains.add_up(gains.gain).sum(axis=0)
    return values, to_loss * rows.parts_of_all(gains.parts(for_error=True), n_jobs)


def _pieces(rows: RowsAtSplits, size: int | None) -> Iterator[np.ndarray]:
    """Yield the places of pieces of some size that together hold every row about equally often.

    Rows, or groups, stand in a circle in random order; pieces begin at equal distances.
    """
    n = len(rows.X)
    if size is None or n <= size:
        yield np.arange(n)
        return
    draw = np.random.default_rng(0).permutation
    if rows.groups is None:
        order = draw(n)
        begins = np.arange(n)
    else:
        rank = draw(len(rows.groups.labels))[rows.groups.of_row]
        order = np.argsort(rank, kind="stable")
        begins = np.searchsorted(rank[order], rank[order])  # where the row's group begins
    n_pieces = -(-n // size)
    starts, of_pieces = np.unique(begins), np.arange(n_pieces) * n // n_pieces
    following = np.append(starts, n)[np.searchsorted(starts, of_pieces)]  # n is the first again
    for start in of_pieces[following < of_pieces + size][:MOST_PIECES]:  # in which groups begin
        yield np.sort(order[(begins - start) % n < size])
