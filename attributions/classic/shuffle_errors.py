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
knows. So a chunk hands on how s and n vary, and how they do together (`RowSums`), of which

    sum (s_g - n_g m)^2  =  S_ss  -  2 m S_sn  +  m^2 S_nn

A chunk of one row, or of one group, cannot estimate a variance and need not: it is one draw among
those of the other chunks.
"""

from dataclasses import dataclass

import numpy as np

from attributions.statistics.groups import Groups
from attributions.statistics.powers_of_two import exponent_of
from attributions.statistics.row_sums import RowSums


class ShuffleErrors:
    """The drops of one column's shuffles among the rows of one chunk, added up so far.

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
        n_rows, n_repeats = len(self.own), max(self.n_repeats, 1)
        own, lent = self.own / n_repeats, self.lent / n_repeats
        draws = np.column_stack([own, own + (lent - own.mean()), np.ones(n_rows)])
        if groups is not None:
            _, draws = groups.within(slice(None), draws)
        draws[:, :2] = np.ldexp(draws[:, :2], self.exponent)
        # Var(d) n / R; 0 for a single row, which keeps its value
        of_pairs = self.pair_squares * n_rows / max(n_rows - 1, 1) / n_repeats**2
        return DropSums(
            RowSums.of(draws, second_moments=True), np.ldexp(of_pairs**0.5, self.exponent)
        )


@dataclass(frozen=True, eq=False)
class DropSums:
    """Sums over the draws of some chunks, for one column; ``+`` merges those of other chunks."""

    draws: RowSums  # of the rows' own drops, of psi, and of the numbers of rows
    of_pairs: float  # the root of what chance pairs add to the squares of psi

    def __add__(self, other: "DropSums") -> "DropSums":
        return DropSums(self.draws + other.draws, np.hypot(self.of_pairs, other.of_pairs))

    @property
    def standard_error(self) -> float:
        """Standard error of the mean drop over rows and shuffles, of two draws or more."""
        sums, products = self.draws, self.draws.products
        assert products is not None
        mean, n_rows = sums.total[:2] / sums.total[2], sums.total[2]
        own, both, of_size = sums.exponent + np.zeros(3, dtype=np.int64)
        unit = max(own, both, *exponent_of(np.abs([*mean, self.of_pairs])))
        mean, of_pairs = np.ldexp(mean, -unit), np.ldexp(self.of_pairs, -unit)
        squares = np.zeros(2)
        for j, exponent in enumerate((own, both)):
            crossed = np.ldexp(products[j, 2], exponent + of_size - unit)
            squares[j] = np.ldexp(products[j, j], 2 * (exponent - unit)) - 2 * mean[j] * crossed
        squares += mean**2 * np.ldexp(products[2, 2], 2 * of_size)
        own, both = sums.n_rows / (sums.n_rows - 1) * squares
        variance = max(both - of_pairs**2, own, 0.0)  # rounding can take it below 0
        return float(np.ldexp(np.sqrt(variance) / n_rows, unit))
