"""The standard error of permutation importance, from single rows.

A shuffle of column k puts the value of row j into row i, for every i its own j, and row i's score
drops by d_ij. The importance is the mean of all these drops. Other rows would have given another
mean, for two reasons: other rows would have *lost* their value, and other values would have been
*lent*. So a row counts twice, in the drop of its own score and in that of the row which got its
value. Averaged over R shuffles, with d_i. the drop of row i and j the row that got the value of i,

    psi_i = mean of (d_i. + d_ji)

A drop splits into a part a of the row that loses, a part b of the row that lends, and a part c of
the pair (Hoeffding 1948): d_ij = mean + a_i + b_j + c_ij. Every shuffle has each a and each b once,
so the importance varies as sum (a_i + b_i), and c is averaged over R draws:

    n^2 variance of the importance  =  n Var(a + b) + n Var(c) / R
    Var(psi)                        =  Var(a + b) + (Var(a) + Var(b) + 2 Var(c)) / R
    Var(d)                          =  Var(a) + Var(b) + Var(c)

and therefore  variance of the importance = (Var(psi) - Var(d) / R) / n.  It is taken to be no less
than the variance of the rows' own mean drops, Var(mean of d_i.) / n, since a difference of two
estimates can come out too small where few rows are given.

The importance of a column that the model uses strongly is twice as uncertain as the rows' own drops
suggest, because a and b are correlated; for a column of noise b is nearly 0.

**Chunks.** A chunk of a table of Dask is shuffled for itself. The mean m_c of its drops is in d_i.
and once more in d_ji, but in the importance only once, so m_c is subtracted: psi_i = mean of
(d_i. + d_ji) - m_c. In a table of one chunk this takes the same from every psi and changes nothing.

What varies is a sum over draws g: rows, or groups of n_g rows whose psi add up to s_g. Its variance
is G / (G - 1) sum (s_g - n_g m)^2 about the mean m over the rows of all chunks, which no chunk
knows. So a chunk hands on the three sums with which its own mean can be replaced by m:

    sum (s_g - n_g m)^2  =  sum e_g^2  -  2 (m - m_c) sum n_g e_g  +  (m - m_c)^2 sum n_g^2

with e_g = s_g - n_g m_c. A chunk of one row, or of one group, cannot estimate a variance and need
not: it is one draw among those of the other chunks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attributions.statistics.groups import Groups
from attributions.statistics.powers_of_two import OF_ZERO, exponent_of


class ShuffleErrors:
    """The drops of one column's shuffles among the rows of one chunk, added up so far.

    Parameters
    ----------
    n_rows : int
    exponent : int
        2^exponent is the unit of what is kept; see ``attributions.statistics.powers_of_two``.
    """

    def __init__(self, n_rows: int, exponent: int = 0):
        self.exponent = exponent
        self.own = np.zeros(n_rows)
        self.lent = np.zeros(n_rows)
        self.pair_squares = 0.0
        self.n_repeats = 0

    def add(self, drop: np.ndarray, order: np.ndarray) -> None:
        """Add a shuffle in which row i got the value of row ``order[i]`` and lost ``drop[i]``."""
        drop = np.ldexp(drop, -self.exponent)
        self.own += drop
        self.lent[order] += drop
        self.pair_squares += float(np.sum((drop - drop.mean()) ** 2))
        self.n_repeats += 1

    def sums(self, groups: Groups | None = None) -> "DropSums":
        """Return the sums of this chunk over its rows, or over groups of them.

        With groups, parts of rows that belong together are summed before they are squared. Shuffles
        make pairs regardless of groups, so what pairs add to the squares is still counted by rows.
        """
        n_rows, n_repeats = len(self.own), self.n_repeats
        mean = self.own.mean() / n_repeats
        own = self.own / n_repeats - mean
        parts = np.column_stack([own, own + (self.lent / n_repeats - mean)])
        sizes = np.ones(n_rows)
        if groups is not None:
            _, parts = groups.within(slice(None), parts)
            sizes = np.bincount(groups.of_row).astype(np.float64)
        # Var(d) n / R; 0 for a single row, which keeps its value
        of_pairs = self.pair_squares * n_rows / max(n_rows - 1, 1) / n_repeats**2
        return DropSums(
            n_rows=n_rows,
            n_draws=len(sizes),
            squared_sizes=float(sizes @ sizes),
            mean=np.ldexp([mean], self.exponent),
            squares=np.sum(parts**2, axis=0)[np.newaxis],
            by_size=(sizes @ parts)[np.newaxis],
            of_pairs=np.array([of_pairs]),
            exponent=np.array([self.exponent if parts.any() or of_pairs else OF_ZERO]),
        )


@dataclass(frozen=True, eq=False)
class DropSums:
    """Sums over the draws of some chunks, for p columns; those of other chunks merge with them.

    Parameters
    ----------
    n_rows, n_draws : int
    squared_sizes : float
        Sum over the draws of n_g^2.
    mean : float64 array of shape (p,)
        Mean drop over the rows.
    squares, by_size : float64 arrays of shape (p, 2)
        Sums over the draws of e_g^2 and of n_g e_g, of the rows' own drops and of psi.
    of_pairs : float64 array of shape (p,)
        What chance pairs add to the squares of psi.
    exponent : int array of shape (p,)
        ``squares``, ``by_size`` and ``of_pairs`` are of drops divided by 2^exponent.
    """

    n_rows: int
    n_draws: int
    squared_sizes: float
    mean: np.ndarray
    squares: np.ndarray
    by_size: np.ndarray
    of_pairs: np.ndarray
    exponent: np.ndarray

    @classmethod
    def beside(cls, columns: "Sequence[DropSums]") -> "DropSums":
        """Put the columns of one chunk beside each other."""
        first = columns[0]
        return cls(
            first.n_rows,
            first.n_draws,
            first.squared_sizes,
            *(
                np.concatenate([getattr(column, name) for column in columns])
                for name in ("mean", "squares", "by_size", "of_pairs", "exponent")
            ),
        )

    def merge(self, other: "DropSums") -> "DropSums":
        """Return the sums over the draws of both."""
        n_rows = self.n_rows + other.n_rows
        mean = self.mean + (other.mean - self.mean) * (other.n_rows / n_rows)
        exponent = np.maximum(
            np.maximum(self.exponent, other.exponent), exponent_of(np.abs(other.mean - self.mean))
        )
        one, another = self._in_unit(exponent), other._in_unit(exponent)
        squares, by_size = one._about(mean)
        others_squares, others_by_size = another._about(mean)
        return DropSums(
            n_rows=n_rows,
            n_draws=self.n_draws + other.n_draws,
            squared_sizes=self.squared_sizes + other.squared_sizes,
            mean=mean,
            squares=squares + others_squares,
            by_size=by_size + others_by_size,
            of_pairs=one.of_pairs + another.of_pairs,
            exponent=exponent,
        )

    def _in_unit(self, exponent: np.ndarray) -> "DropSums":
        """Return the sums in another unit, 2^exponent."""
        change = self.exponent - exponent
        return replace(
            self,
            squares=np.ldexp(self.squares, 2 * change[:, np.newaxis]),
            by_size=np.ldexp(self.by_size, change[:, np.newaxis]),
            of_pairs=np.ldexp(self.of_pairs, 2 * change),
            exponent=exponent,
        )

    def _about(self, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``squares`` and ``by_size`` about another mean."""
        shift = np.ldexp(mean - self.mean, -self.exponent)[:, np.newaxis]
        by_size = self.by_size - shift * self.squared_sizes
        return self.squares - shift * (self.by_size + by_size), by_size

    @property
    def standard_error(self) -> np.ndarray | None:
        """Standard error of the mean drops over rows and shuffles; None for a single draw."""
        if self.n_draws < 2:
            return None
        own, both = (self.n_draws / (self.n_draws - 1) * self.squares).T
        variance = np.maximum(both - self.of_pairs, own)
        error = np.sqrt(np.maximum(variance, 0.0)) / self.n_rows  # rounding can take 0 below it
        return np.ldexp(error, self.exponent)
