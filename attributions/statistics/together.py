r"""Intervals of many sums that hold together, from how the sums vary together (max-t, stepwise).

An interval at 95 % misses in one table of twenty; of thirty intervals some miss in most tables. Let

    t_k = (value_k - expectation_k) / standard_error_k

and let a(J, c) be what the largest t of the features in J exceeds with probability c. All lower
ends value - a(all, 0.04) standard_error hold together in 96 of 100 tables, all upper ends, by the
same function, with 0.01 in 99, and both in 95. Most features are asked whether they help, which is
why lower ends get four fifths of what is spent.

*Stepwise.* Features whose lower end is above 0 are found to help. Then a(J, c) of the features J
that are left is smaller, and more may be found, until no more are (Holm 1979; Westfall and Young
1993; Romano and Wolf 2005). Bounded intervals that agree with this cost something: were all of c
spent on whether features help, nothing could be said of how much those do that are found (Guilbaud
2008, Biometrical Journal 50, 678-692). So a quarter is kept for them. With m features, all of them
or those left,

    found to help       lower end  max(0, value - a(all, c / 4) standard_error), and 0 left out
    left, j of them     lower end  value - a(J, c (1 - (1 - j / m) / 4)) standard_error

Whatever the truth, the features that do not help are the J of one line of the second kind, the
others spend at most their part of the quarter, and together it is at most c. A feature helps if and
only if its interval lies above 0. Its p-value is the share of false tables, 1 - level, from which
on this is so.

The t are taken for Student's numbers of n - 1 degrees of freedom whose normal scores correlate as
the rows' contributions do, and the largest is drawn from that: features that go together count as
fewer. Bonferroni's bound, m P(t > a), holds for every dependence; it takes over in the far tail,
where no draw lies, and where the correlation is not known.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

N_SETS = 2**15  # of t that are drawn: 0.04 is estimated with an error of 0.001
MOST_FEATURES = 128  # whose correlations are kept unasked, and used; with more, Bonferroni's bound
BELOW, ABOVE = 0.8, 0.2  # shares for lower and for upper ends
FOR_FOUND = 0.25  # of a share, for the near ends of features that are found
RIDGE = 1e-10  # on the diagonal, for features whose contributions are the same
BEYOND_0 = 5e-324  # the least number, an end that is 0 and leaves 0 out


def draw_scores(products: np.ndarray | None) -> np.ndarray | None:
    """Draw sets of normal numbers, (m, N_SETS), that correlate as contributions with ``products``.

    None where these are not known, or features are too many. The factor is Cholesky's, which,
    unlike eigenvectors, hardly changes where rounding does.
    """
    if products is None or not 1 < len(products) <= MOST_FEATURES:
        return None
    size = np.sqrt(np.diag(products))
    correlation = products / size / size[:, np.newaxis]
    np.fill_diagonal(correlation, 1.0 + RIDGE)
    factor = np.linalg.cholesky(correlation)
    return factor @ np.random.default_rng(0).standard_normal((len(factor), N_SETS))


@dataclass(frozen=True, eq=False)
class StepDown:
    """Lower ends of m features, step by step; of -t they are upper ends."""

    t: np.ndarray  # (m,) values over standard errors
    degrees: int  # of freedom of each
    share: float  # of 1 - level, for these ends
    order: np.ndarray  # (m,) features in the order in which they are found, the largest t first
    largest: np.ndarray | None  # (m, N_SETS) normal scores, the largest left after j steps in row j

    @classmethod
    def of(cls, t: np.ndarray, n_draws: int, share: float, scores: np.ndarray | None) -> "StepDown":
        """Order features; ``n_draws`` is the number of rows, or of groups, ``scores`` are drawn."""
        order = np.argsort(-t, kind="stable")
        largest = None
        if scores is not None:
            largest = scores[order]
            for j in range(len(order) - 2, -1, -1):  # maximum.accumulate takes ten times as long
                np.maximum(largest[j], largest[j + 1], out=largest[j])
        return cls(t, max(n_draws - 1, 1), share, order, largest)

    def p_values(self) -> np.ndarray:
        """Return for each feature the 1 - level from which on its lower end is above 0."""
        t = self.t[self.order]
        tail = stdtr(self.degrees, -t)
        chance = np.arange(len(t), 0, -1) * tail
        if self.largest is not None:
            n_above = np.count_nonzero(self.largest >= -ndtri(tail)[:, np.newaxis], axis=1)
            chance = np.minimum(chance, (1 + n_above) / (1 + N_SETS))
        spent = self.share * self._part_for_left(np.arange(len(t)))
        result = np.empty(len(t))
        result[self.order] = np.minimum(np.maximum.accumulate(chance / spent), 1.0)
        return result

    def lower_ends(self, alpha: float) -> np.ndarray:
        """Return lower ends in units of standard errors, above 0 for features that are found.

        ``alpha`` is 1 - level.
        """
        is_found = self.p_values() <= alpha
        n_found = int(is_found.sum())
        ends = self.t - self._exceeded_with(0, FOR_FOUND * self.share * alpha)
        ends[is_found] = np.maximum(ends[is_found], BEYOND_0)
        if n_found < len(ends):
            spent = self.share * self._part_for_left(n_found) * alpha
            left = self.t - self._exceeded_with(n_found, spent)
            ends = np.where(is_found, ends, np.minimum(left, 0.0))
        return ends

    def _part_for_left(self, n_found: Any) -> Any:
        """Return which part of the share is spent on the features that are left."""
        return 1 - FOR_FOUND * n_found / len(self.t)

    def _exceeded_with(self, n_found: int, chance: float) -> float:
        """Return the t beyond which the largest of those left is at most with this chance."""
        t = -stdtrit(self.degrees, chance / (len(self.t) - n_found))
        n_above = int(np.floor(chance * (1 + N_SETS))) - 1
        if self.largest is not None and n_above >= 0:
            place = N_SETS - 1 - n_above
            score = np.partition(self.largest[n_found], place)[place]
            t = min(t, -stdtrit(self.degrees, ndtr(-score)))
        return float(t)
