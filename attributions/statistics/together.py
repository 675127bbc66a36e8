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

The t are not Student's where few rows may carry a value (`is_reliable` is False): a table that has
missed the rare large contributions has a value and an error that are both too small. The large
contributions to held-out gain are those that help, since steps are large where training targets
were, so t is then far below 0 too often and above 0 seldom. This was measured: however long the
tails, lower ends hold, and upper ends do not (docs/report.md, "Long tails"). So the interval of
such a feature has no upper end. For other measures neither end holds, and for a feature of which
the rows say nothing at all neither is known.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from attributions.methods import kind_of
from attributions.statistics.row_sums import RowSums

N_SETS = 2**15  # of t that are drawn: 0.04 is estimated with an error of 0.001
MOST_FEATURES = 128  # whose correlations are kept unasked, and used; with more, Bonferroni's bound
BELOW, ABOVE = 0.8, 0.2  # shares for lower and for upper ends
FOR_FOUND = 0.25  # of a share, for the near ends of features that are found
RIDGE = 1e-10  # on the diagonal, for features whose contributions are the same
BEYOND_0 = 5e-324  # the least number, an end that is 0 and leaves 0 out


def intervals(result: Any, error: np.ndarray, level: float) -> np.ndarray:
    """Return intervals that hold together, (p, 2), of a result with these standard errors."""
    ends = np.column_stack([result.values, result.values])
    if result.is_reliable is not None:
        ends[~result.is_reliable] = -np.inf, np.inf
    ends[np.isnan(error)] = np.nan
    for sign, counted, steps in _sides(result, error):
        of_t = steps.lower_ends(1 - level)
        end = of_t * error[counted]
        end[of_t > 0] = np.maximum(end[of_t > 0], BEYOND_0)
        ends[counted, int(sign < 0)] = sign * end
    return ends


def p_values(result: Any, error: np.ndarray) -> np.ndarray:
    """Return for each feature the 1 - level from which on its interval leaves out 0, (p,)."""
    p_values = np.where((error == 0) & (result.values != 0), 0.0, 1.0)
    for _, counted, steps in _sides(result, error):
        p_values[counted] = np.minimum(p_values[counted], steps.p_values())
    return np.where(np.isnan(error), np.nan, p_values)


def _sides(result: Any, error: np.ndarray) -> Iterator[tuple[int, np.ndarray, "StepDown"]]:
    """Yield 1 and -1, the features that have a lower, or an upper, end, and the steps to it.

    Only these count among the features whose ends must hold together.
    """
    has_upper = error > 0
    has_lower = has_upper
    if result.is_reliable is not None:
        has_upper = has_upper & result.is_reliable
        is_measured = kind_of(result.method) == "held_out_gain"
        has_lower = has_lower & np.isfinite(result.kurtosis) if is_measured else has_upper
    scores = _scores(result, has_lower)
    for sign, share, counted in (1, BELOW, has_lower), (-1, ABOVE, has_upper):
        if counted.any():
            t = sign * result.values[counted] / error[counted]
            drawn = None if scores is None else scores[counted[has_lower]]
            yield sign, counted, StepDown.of(t, result.n_draws, share, drawn)


def _scores(result: Any, counted: np.ndarray) -> np.ndarray | None:
    """Draw how these features vary together, as far as the result knows it."""
    products = None
    if result.contributions is not None and counted.sum() <= MOST_FEATURES:
        products = RowSums.of(result.contributions[:, counted], second_moments=True).products
    elif result.second_moments is not None:
        products = result.second_moments[np.ix_(counted, counted)]
    return draw_scores(products)


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
