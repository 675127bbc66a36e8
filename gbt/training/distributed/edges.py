"""The edges of bins, the same for all members of a team, from a sample of the rows.

Any edges do: they decide what has to be looked into, not what is found. So they are quantiles of a
sample. A column has up to 4,080 fine bins, sixteen of which make a coarse one; where the sample has
few distinct values each has a bin of its own, and there is one kind of bins. A value that fills two
bins or more has one for itself. Each level of a categorical column has a coarse bin of its own.

Where cuts lie between bins alone (``max_bins``), there are no fine ones, and the sample are the
rows that stand for all in memory, too (``gbt.tables.bins``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gbt.tables.bins import bin_ends, most_bins
from gbt.tables.columns import Columns

BITS = 4  # 2^BITS fine bins make a coarse one
MOST_COARSE = 255
MOST_FINE = MOST_COARSE << BITS
SAMPLED = 2**16  # rows of a member


@dataclass(frozen=True, eq=False)
class Edges:
    """The bins of all columns."""

    uppers: list[np.ndarray]  # float64, the largest values of a column's fine bins but for the last
    shift: np.ndarray  # int64, ``BITS``, or 0 where fine bins are coarse ones
    n_coarse: np.ndarray  # int64, coarse bins; the number of that of missing values, too
    n_levels: np.ndarray  # int64, 0 where a column has numbers
    max_bins: int | None = None  # most of a column where cuts lie between bins alone

    @cached_property
    def first_bin(self) -> np.ndarray:
        """Where the coarse bins of the columns begin, those of missing values included."""
        return np.cumsum([0, *(self.n_coarse + 1)])

    @cached_property
    def first_fine(self) -> np.ndarray:
        """Where the fine bins of the columns begin."""
        return np.cumsum([0, *(self.n_coarse << self.shift)])

    def padded(self, k: int, dtype: np.dtype) -> np.ndarray:
        """Return the edges of a column, filled up with inf to one less than a power of two."""
        edges = self.uppers[k]
        padded = np.full((1 << len(edges).bit_length()) - 1, np.inf, dtype=dtype)
        padded[: len(edges)] = edges
        return padded

    @cached_property
    def column_of_bin(self) -> np.ndarray:
        """The column of each coarse bin, counted through all columns."""
        return np.repeat(np.arange(len(self.n_coarse)), self.n_coarse + 1)

    @cached_property
    def fine_of_bin(self) -> np.ndarray:
        """The first fine bin of each coarse one; of missing values, that after the column's."""
        k = self.column_of_bin
        coarse = np.arange(len(k)) - self.first_bin[k]
        return self.first_fine[k] + (coarse << self.shift[k])

    @cached_property
    def upper(self) -> np.ndarray:
        """The largest value that each fine bin may have, column by column."""
        upper = np.full(self.first_fine[-1], np.inf)
        for first, edges in zip(self.first_fine[:-1], self.uppers, strict=True):
            upper[first : first + len(edges)] = edges
        return upper

    def columns(self) -> Columns:
        """Return the coarse bins as those of a table without rows, which has a code for each."""
        p = len(self.n_coarse)
        columns = Columns.unranked(np.empty((0, p)), np.empty((p, 0), np.int32), self.n_levels)
        columns.n_values[:] = columns.n_bins[:] = columns.missing_bin[:] = self.n_coarse
        columns.n_present[:], columns.first_code[:] = 0, np.arange(columns.first_code.shape[1])
        return columns


def choose_edges(
    samples: list[tuple[np.ndarray, int]],
    n_levels: np.ndarray,
    max_bins: int | None = None,
    has_missing: Sequence[bool] | np.ndarray = (),
) -> Edges:
    """Choose edges from what members have sampled: values by column, and their number of rows.

    ``n_levels`` says of every column how many levels it has, 0 if it has numbers. With ``max_bins``
    it matters whether any row of a column is missing.
    """
    uppers, shifts, n_coarse = [], [], []
    for k in range(len(samples[0][0])):
        values = np.concatenate([columns[k] for columns, _ in samples])
        share = [np.full(columns.shape[1], n / max(columns.shape[1], 1)) for columns, n in samples]
        if n_levels[k] > 0:
            edges = np.arange(n_levels[k] - 1.0)
        else:
            most = MOST_FINE - 1 if max_bins is None else most_bins(max_bins, has_missing[k])
            edges = _edges_of(values, np.concatenate(share), most)
        # Levels have coarse bins, too.
        shift = 0 if max_bins is not None or len(edges) < MOST_COARSE else BITS
        uppers.append(edges.astype(np.float64))
        shifts.append(shift)
        n_coarse.append((len(edges) >> shift) + 1)
    return Edges(uppers, np.array(shifts), np.array(n_coarse), n_levels, max_bins)


def _edges_of(values: np.ndarray, rows: np.ndarray, most: int) -> np.ndarray:
    """Return the edges of at most so many bins; ``rows`` is how many rows each value stands for."""
    is_present = ~np.isnan(values)
    values, rows = values[is_present] + values.dtype.type(0), rows[is_present]
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) <= most:
        return distinct[:-1]
    up_to = np.bincount(place, rows).cumsum()
    ends = bin_ends(int(up_to[-1]), most)
    at = np.minimum(np.searchsorted(up_to, ends, side="left"), len(distinct) - 1)
    chosen, n_ends = np.unique(at, return_counts=True)
    heavy = distinct[chosen[n_ends > 1]]
    below = np.nextafter(heavy, values.dtype.type(-np.inf))
    edges = np.union1d(distinct[chosen], below)
    return edges[edges < distinct[-1]]
