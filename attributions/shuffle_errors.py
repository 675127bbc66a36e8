"""The standard error of permutation importance, from single rows.

A shuffle of column k puts the value of row j into row i, for every i its own j, and row i's score
drops by d_ij. The importance is the mean of all these drops. Other rows would have given another
mean, for two reasons: other rows would have *lost* their value, and other values would have been
*lent*. So a row counts twice, in the drop of its own score and in that of the row which got its
value. Averaged over R shuffles, with j the row that has got the value of i,

    psi_i = mean of (d_i. + d_ji)

A drop splits into a part of the row that loses, one of the row that lends, and what only the pair
explains (Hoeffding 1948): d_ij = mean + a_i + b_j + c_ij. Every shuffle has each a and each b once,
so the importance varies as sum (a_i + b_i), and c is averaged over R draws:

    n^2 variance of the importance  =  n Var(a + b) + n Var(c) / R
    Var(psi)                        =  Var(a + b) + (Var(a) + Var(b) + 2 Var(c)) / R
    Var(d)                          =  Var(a) + Var(b) + Var(c)

and therefore  variance of the importance = (Var(psi) - Var(d) / R) / n.  It is taken to be no less
than the variance of the rows' own mean drops, Var(mean of d_i.) / n, since a difference of two
estimates can come out too small where few rows are given.

The importance of a column that the model uses strongly is twice as uncertain as the rows' own drops
say, because a and b are correlated; for a column of noise b is next to nothing.
"""

import numpy as np

from attributions.groups import Groups


class ShuffleErrors:
    """What the shuffles of one column have told so far.

    Parameters
    ----------
    n_rows : int
    """

    def __init__(self, n_rows: int):
        self.own = np.zeros(n_rows)
        self.lent = np.zeros(n_rows)
        self.pair_variance = 0.0
        self.n_repeats = 0

    def add(self, drop: np.ndarray, order: np.ndarray) -> None:
        """Take in a shuffle: row i got the value of row ``order[i]`` and lost ``drop[i]``."""
        self.own += drop
        self.lent[order] += drop
        self.pair_variance += drop.var(ddof=1)
        self.n_repeats += 1

    def standard_error(self, groups: Groups | None = None) -> float:
        """Return the standard error of the mean drop over rows and shuffles.

        With groups, parts of rows that belong together are summed before they are squared. Which
        pairs a shuffle makes has nothing to do with groups, so what it adds to the squares remains
        a matter of rows.
        """
        n_rows, n_repeats = len(self.own), self.n_repeats
        own = self.own / n_repeats
        both = own + self.lent / n_repeats
        of_pairs = n_rows * self.pair_variance / n_repeats**2
        variance = max(variance_of_sum(both, groups) - of_pairs, variance_of_sum(own, groups))
        return float(np.sqrt(variance)) / n_rows


def variance_of_sum(parts: np.ndarray, groups: Groups | None) -> float:
    """Return the variance of the sum of parts about their mean, by independent groups of rows."""
    parts = parts - parts.mean()
    if groups is not None:
        _, parts = groups.within(slice(None), parts)
    n = len(parts)
    return n / (n - 1) * float(parts @ parts)
