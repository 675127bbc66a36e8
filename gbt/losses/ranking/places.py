"""What places in a list count, and the NDCG: the share of the best order's gain.

Rows of equal predictions share the mean discount of their places, because they come in any order
(McSherry and Najork 2008). Two of them are, on average over these orders, as far apart as two
different discounts of theirs, drawn at random. Predictions from which a feature's work was removed
are equal but for rounding, so those that are next to each other within ``EQUAL`` of
``gbt.kernels.rows.pairs`` count as equal.
"""

import numpy as np

from gbt.kernels.rows.pairs import Places, write_places
from gbt.losses.ranking.queries import Queries
from gbt.parallel.threads import over_blocks


def places_of(rows: Queries, raw_prediction: np.ndarray, at: int | None) -> Places:
    """Return the places to which predictions, of sorted rows, bring the rows of each query."""
    n = len(rows)
    gain, discount = rows.known_of_places.get(at) or _known_of_places(rows, at)
    places = Places(gain, *np.empty((2, n)))
    order = np.empty(n, np.int64)

    def write(start: int, stop: int) -> None:
        write_places(rows.edges[start : stop + 1], raw_prediction, discount, order, places)

    over_blocks(write, len(rows.first), rows.n_jobs, rows.queries_of_thread)
    return places


def _known_of_places(rows: Queries, at: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return gains of rows in shares of the best DCG, and discounts of places; they are kept."""
    gain = 2.0**rows.grade - 1
    counts = rows.rank < (np.inf if at is None else at)
    discount = np.where(counts, 1 / np.log2(2.0 + rows.rank), 0.0)
    best = np.add.reduceat(gain * discount, rows.first)  # rows stand in the order of their grades
    known = gain / rows.to_rows(np.maximum(best, np.finfo(np.float64).tiny)), discount
    rows.known_of_places[at] = known
    return known


def ndcg(rows: Queries, raw_prediction: np.ndarray, at: int | None) -> np.ndarray:
    """Return the NDCG of each query, for predictions of sorted rows; 0 if all grades are 0."""
    places = places_of(rows, raw_prediction, at)
    return np.add.reduceat(places.gain * places.discount, rows.first)
