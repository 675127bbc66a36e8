r"""The pairwise and the NDCG loss: of two rows of a query, the better one should come first.

A pair (i, j) has a better row i and a worse row j of the same query, and the loss

    weight_ij log(1 + e^-(f_i - f_j))        weight   1 / n                     `Pairwise`
                                                      change of the NDCG        `NDCG`

where n is the number of rows of the query, and the change of the NDCG is that if i and j changed
places (LambdaRank; Burges 2010). The loss of a pair is written to its better row::

    p_ij     =  1 / (1 + e^(f_i - f_j))                    probability of the wrong order
    gradient =  sum of weight p  over the rows above  -  sum of weight p  over the rows below
    hessian  =  sum of weight p (1 - p)  over both

The weights of `NDCG` are those of the predictions, and the derivatives are taken as if they were
constants. There is no function of which they are the derivatives, so what is watched in its place
is 1 - NDCG itself. Gradients of a query add up to 0, and the best constant is 0.

**What the libraries do.** XGBoost takes of each query the pairs with one of its first 32 rows,
divides a pair's weight by 0.01 plus the distance of its predictions, and multiplies a query's
derivatives by log2(1 + s) / s for their sum s. LightGBM does the same with the first 30 rows. Both
give rows of equal predictions the order of the table. With these options off and without ties the
derivatives are ours, but for twice the hessian in XGBoost, where a pair of ``rank:pairwise`` weighs
1, and not 1 / n.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from gbt.kernels.rows.pairs import Places, add_up_pairs, write_pair_losses
from gbt.losses.loss import Loss, Pair
from gbt.losses.ranking.places import ndcg, places_of
from gbt.losses.ranking.queries import Queries, as_grades, check_grades
from gbt.parallel.threads import over_blocks

LARGEST_GRADE = 31  # as in XGBoost and LightGBM: its gain is 2^31 - 1
MOST_SPREAD = 600.0  # predictions further below the best of their query count as that far
NOTHING = Places(*np.empty((3, 0)))


class OfQueries(Loss):
    """What the two have in common."""

    name_of_score = "NDCG"
    is_by_row = False
    has_pairs = True
    has_queries = True
    takes_one_set = True
    at: int | None = None

    def as_pairs(self, y: Any) -> np.ndarray:
        return as_grades(self.name, y)

    def prepared(self, y: np.ndarray, weight: Any, n_jobs: int | None = 1) -> Queries:
        return Queries.of(y, weight, n_jobs)

    def derivatives(self, y: Any, raw_prediction: np.ndarray) -> Pair:
        rows = _rows(y)
        sorted_prediction = raw_prediction[rows.order]
        strength = _strength(rows, sorted_prediction)
        places, sums = self._places(rows, sorted_prediction), np.empty((2, len(rows)))

        def write(start: int, stop: int) -> None:
            ends = rows.edges[[start, stop]]
            add_up_pairs(ends, rows.below, rows.end, strength, places, *sums)

        over_blocks(write, len(rows.first), rows.n_jobs, rows.queries_of_thread)
        gradient, hessian = map(rows.given_order, self._share(rows) * sums)
        return gradient, hessian

    def exposure(self, y: Queries, gradient: np.ndarray, hessian: np.ndarray) -> np.ndarray:
        """Return the hessians: what rows weigh in contrasts, beside their weights."""
        return hessian

    def through_others(self, y: Queries, raw_prediction: np.ndarray, slope: np.ndarray) -> float:
        """Return 0: queries are the draws, and what a query does to the gradients is its own."""
        return 0.0

    def best_constant(self, y: np.ndarray, weight: np.ndarray) -> float:
        """Return 0: all constants have the same loss."""
        return 0.0

    def score(self, y: np.ndarray, prediction: np.ndarray, weight: np.ndarray) -> float:
        """Return the mean NDCG of the queries that have rows of different grades."""
        check_grades(y, LARGEST_GRADE)
        rows = Queries.of(y, weight)
        of_queries = ndcg(rows, np.asarray(prediction)[rows.order], self.at)
        weight = rows.weight[rows.first] * rows.has_order
        if not weight.any():
            raise ValueError(
                "sample_weight is zero for every query that has rows of different grades; at least"
                " one must count."
            )
        return float(np.average(of_queries, weights=weight))

    def _share(self, rows: Queries) -> Any:
        """Return what all weights of pairs are multiplied by, at each place, or one for all."""
        return 1.0

    def _places(self, rows: Queries, sorted_prediction: np.ndarray) -> Places:
        """Return what weights of pairs are made of."""
        return NOTHING


@dataclass(frozen=True)
class Pairwise(OfQueries):
    """The logistic loss of the difference of two rows; a pair weighs 1 / n in a query of n rows."""

    name = "pairwise"
    metric = "pairwise loss"

    def check_target(self, y: np.ndarray) -> None:
        check_grades(y, None)

    def value(self, y: Any, raw_prediction: np.ndarray) -> np.ndarray:
        """Return the loss of the pairs in which each row is the better one."""
        rows, loss = _rows(y), np.empty(len(y))
        strength = _strength(rows, raw_prediction[rows.order])
        write_pair_losses(rows.below, rows.end, strength, self._share(rows), loss)
        return rows.given_order(loss)

    def _share(self, rows: Queries) -> np.ndarray:
        return rows.to_rows(1 / rows.size)


@dataclass(frozen=True)
class NDCG(OfQueries):
    """LambdaRank: a pair weighs by how much the NDCG would change if its rows changed places.

    With ``at`` only so many places at the top of a list count.
    """

    at: int | None = None

    name = "ndcg"
    metric = "1 - NDCG"

    def __post_init__(self) -> None:
        is_number = isinstance(self.at, Real) and not isinstance(self.at, bool)
        if self.at is not None and not (is_number and self.at >= 1 and self.at % 1 == 0):
            raise ValueError(f"at={self.at!r}; it must be a whole number of places, or None.")
        if self.at is not None:
            object.__setattr__(self, "at", int(self.at))

    def check_target(self, y: np.ndarray) -> None:
        check_grades(y, LARGEST_GRADE)

    def value(self, y: Any, raw_prediction: np.ndarray) -> np.ndarray:
        """Return 1 - NDCG, shared out to rows such that their weighted mean is that of queries."""
        rows = _rows(y)
        of_queries = rows.has_order * (1 - ndcg(rows, raw_prediction[rows.order], self.at))
        counting = np.sum(rows.has_order * rows.weight[rows.first])
        share = rows.weight.sum() / counting if counting > 0 else 0.0
        return rows.given_order(rows.to_rows(of_queries / rows.size * share))

    @property
    def with_even_places(self) -> "NDCG":
        """The loss with the weights that pairs have where all predictions are equal."""
        return _EvenPlaces(self.at)

    def at_start(self, y: np.ndarray) -> np.ndarray:
        """Return the loss of pairs where all predictions are equal, half of each pair a row.

        There p (1 - p) is 1/4, of the weight of a pair, and the loss is log 2.
        """
        return 2 * np.log(2) * self.gradient_hessian(y, np.zeros(len(y)))[1]

    def _places(self, rows: Queries, sorted_prediction: np.ndarray) -> Places:
        return places_of(rows, sorted_prediction, self.at)


class _EvenPlaces(NDCG):
    """The NDCG loss of rows in any order: weights of pairs that do not follow predictions."""

    def _places(self, rows: Queries, sorted_prediction: np.ndarray) -> Places:
        return places_of(rows, np.zeros(len(rows)), self.at)


def _rows(y: Any) -> Queries:
    """Return prepared targets; others are sorted."""
    return y if isinstance(y, Queries) else Queries.of(y)


def _strength(rows: Queries, sorted_prediction: np.ndarray) -> np.ndarray:
    """Return e^f relative to the largest of the query."""
    largest = rows.to_rows(np.maximum.reduceat(sorted_prediction, rows.first))
    return np.exp(np.maximum(sorted_prediction - largest, -MOST_SPREAD))
