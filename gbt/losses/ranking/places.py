"""What places in a list count, and the NDCG: the share of the best order's gain.

Rows of equal predictions share the mean discount of their places, because they come in any order
(McSherry and Najork 2008). Two of them are, on average over these orders, as far apart as two
different discounts of theirs, drawn at random. Predictions from which a feature's work was removed
are equal but for rounding, so those that are next to each other within ``EQUAL`` count as equal.
"""

import numpy as np

from gbt.kernels.rows.pairs import Places
from gbt.losses.ranking.queries import Queries

EQUAL = 1e-10  # and this share of the prediction; thousands of trees round by less


def places_of(rows: Queries, raw_prediction: np.ndarray, at: int | None) -> Places:
    """Return the places to which predictions, of sorted rows, bring the rows of each query."""
    query = rows.to_rows(np.arange(len(rows.first)))
    order = np.lexsort((-raw_prediction, query))
    f, discount = raw_prediction[order], _discount(rows.rank, at)
    falls = f[:-1] - f[1:] > EQUAL * (1 + np.abs(f[1:]))
    is_new = np.append(True, falls | (query[1:] != query[:-1]))
    tie, first = np.cumsum(is_new) - 1, np.flatnonzero(is_new)
    size = np.bincount(tie)
    mean = np.bincount(tie, discount) / size
    # Of m sorted discounts, the a-th from 0 is the larger in m - 1 - a pairs, the smaller in a.
    larger = size[tie] - 1 - 2 * (np.arange(len(rows)) - first[tie])
    apart = np.bincount(tie, discount * larger) / np.maximum(size * (size - 1) / 2, 1)
    gain = _gain(rows) / rows.to_rows(np.maximum(best_dcg(rows, at), np.finfo(np.float64).tiny))
    of_rows = np.empty((2, len(rows)))
    of_rows[:, order] = mean[tie], apart[tie]
    which = np.empty(len(rows), np.int64)
    which[order] = tie
    return Places(gain, of_rows[0], which, of_rows[1])


def best_dcg(rows: Queries, at: int | None) -> np.ndarray:
    """Return the DCG that each query has in the order of its grades."""
    return np.add.reduceat(_gain(rows) * _discount(rows.rank, at), rows.first)


def ndcg(rows: Queries, raw_prediction: np.ndarray, at: int | None) -> np.ndarray:
    """Return the NDCG of each query, for predictions of sorted rows; 0 if all grades are 0."""
    places = places_of(rows, raw_prediction, at)
    return np.add.reduceat(places.gain * places.discount, rows.first)


def _gain(rows: Queries) -> np.ndarray:
    return 2.0**rows.grade - 1


def _discount(rank: np.ndarray, at: int | None) -> np.ndarray:
    return np.where(rank < (np.inf if at is None else at), 1 / np.log2(2.0 + rank), 0.0)
