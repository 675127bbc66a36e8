r"""Intervals of many sums that hold together, from how the sums vary together (max-t).

An interval at 95 % misses in one table of twenty. A table of thirty features has thirty of them,
and hardly ever do all hold. They do in 19 tables of 20 if each is wide enough for the largest miss:

    t_k = (value_k - expectation_k) / standard_error_k
    P(largest t_k > a) = 0.8 alpha         P(largest -t_k > b) = 0.2 alpha
    value_k - a standard_error_k  ...  value_k + b standard_error_k

An interval that leaves out 0 is a finding, and 1 - alpha bounds the chance that any is false. The
adjusted p-value is the alpha at which the feature's interval begins to leave out 0:

    p_k = min(P(largest > t_k) / 0.8,  P(largest > -t_k) / 0.2)        here t_k = value / error

Most features are asked whether they help, so lower ends get four fifths of alpha. With equal shares
fewer features are found than by Holm's p-values where features are independent; with these, more
(docs/report.md). Step-down p-values would find a few more still, but no bounded intervals go with
them (Guilbaud 2008, Biometrical Journal 50, 678-692): a feature could be found whose interval has 0
in it.

The t_k are taken for Student's numbers of n - 1 degrees of freedom whose normal scores have the
correlation of the rows' contributions, and the largest is drawn from that (Westfall and Young 1993;
Romano and Wolf 2005). Features that go together count as fewer features. The bound of Bonferroni,
m P(t > a), holds for every dependence; it takes over in the far tail, where no draw lies, and where
the correlation is not known.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

N_SETS = 2**15  # of t that are drawn: 0.04 is estimated with an error of 0.001
SETS_AT_ONCE = 2**11
MOST_FEATURES = 200  # whose correlations are kept unasked, and used; with more, Bonferroni's bound
BELOW, ABOVE = 0.8, 0.2  # shares of alpha for lower and for upper ends
RIDGE = 1e-10  # on the diagonal, for features whose contributions are the same


@dataclass(frozen=True, eq=False)
class Largest:
    """How the largest of several t is distributed.

    Parameters
    ----------
    n_features : int
        How many t there are.
    degrees : int
        Degrees of freedom of each.
    normal_scores : float64 array, optional
        Drawn normal scores of the largest, in ascending order; None where nothing is known of how
        features vary together.
    """

    n_features: int
    degrees: int
    normal_scores: np.ndarray | None

    @classmethod
    def of(cls, n_draws: int, n_features: int, products: np.ndarray | None) -> "Largest":
        """Draw the largest of features with these products of contributions, (m, m), or bound it.

        ``n_draws`` is the number of rows, or of groups of rows.
        """
        scores = None
        if products is not None and 1 < n_features <= MOST_FEATURES:
            scores = _draw_largest(products)
        return cls(n_features, max(n_draws - 1, 1), scores)

    def chance_above(self, t: np.ndarray) -> np.ndarray:
        """Return the probability that the largest is above each of ``t``."""
        tail = stdtr(self.degrees, -t)
        chance = np.minimum(self.n_features * tail, 1.0)
        if self.normal_scores is None:
            return chance
        n_sets = len(self.normal_scores)
        n_above = n_sets - np.searchsorted(self.normal_scores, -ndtri(tail), side="left")
        return np.minimum(chance, (1 + n_above) / (1 + n_sets))

    def exceeded_with(self, chance: float) -> float:
        """Return the t beyond which `chance_above` is at most ``chance``."""
        t = -stdtrit(self.degrees, min(chance / self.n_features, 1.0))
        if self.normal_scores is not None:
            n_sets = len(self.normal_scores)
            n_above = int(np.floor(chance * (1 + n_sets))) - 1
            if n_above >= 0:
                score = self.normal_scores[max(n_sets - 1 - n_above, 0)]
                t = min(t, -stdtrit(self.degrees, ndtr(-score)))
        return float(t)

    def factors(self, level: float) -> tuple[float, float]:
        """Return a and b, by which standard errors are multiplied, below and above the value."""
        alpha = 1 - level
        return self.exceeded_with(BELOW * alpha), self.exceeded_with(ABOVE * alpha)

    def p_values(self, t: np.ndarray, has_upper: np.ndarray) -> np.ndarray:
        """Return for each value over its error the alpha at which its interval leaves out 0.

        ``has_upper`` says whose intervals have an upper end.
        """
        below, above = self.chance_above(t) / BELOW, self.chance_above(-t) / ABOVE
        return np.minimum(np.where(has_upper, np.minimum(below, above), below), 1.0)


def _draw_largest(products: np.ndarray) -> np.ndarray:
    """Draw sets of normal numbers that correlate; return the largest of each, in ascending order.

    The factor is Cholesky's, which, unlike eigenvectors, hardly changes where rounding does.
    """
    size = np.sqrt(np.diag(products))
    correlation = products / size / size[:, np.newaxis]
    np.fill_diagonal(correlation, 1.0 + RIDGE)
    factor = np.linalg.cholesky(correlation)
    rng = np.random.default_rng(0)
    largest = [
        (rng.standard_normal((SETS_AT_ONCE, len(factor))) @ factor.T).max(axis=1)
        for _ in range(N_SETS // SETS_AT_ONCE)
    ]
    return np.sort(np.concatenate(largest))
