"""Columns that say what another column says: a copy, a code of it, or what it settles.

A region is settled by the city, so a model that has the city needs no region. Such a column may
bring nothing and still not be noise; and where a model uses both of two that say the same, what
they bring is shared between them by chance.

Columns in which nearly all values differ settle everything whatever they hold. So two of these are
taken for twins only where one rises, or falls, with the other; and a column settles another only
where that shows in `LEAST_REPEATS` rows that it need not have.
"""

from collections.abc import Sequence

import numpy as np

LEAST_REPEATS = 10
N_LOOKED_AT = 256


def places_of(numbers: np.ndarray) -> np.ndarray:
    """Return which of the column's values each row has, ascending; missing is a value, the last."""
    return np.unique(numbers, return_inverse=True)[1].reshape(-1)


def twins(places: Sequence[np.ndarray], is_used: np.ndarray) -> dict[int, int]:
    """Return for columns that say what another says the other one, which the model uses.

    Of two that it uses the later is the twin, and only if both say the same; one that it does not
    use may also be settled by the other. ``places`` are those of `places_of`, of every column.
    """
    found: dict[int, int] = {}
    used = np.flatnonzero(is_used).tolist()
    for k, column in enumerate(places):
        if not len(column) or not column.any():  # one value alone
            continue
        others = [j for j in used if j < k and j not in found] if is_used[k] else used
        twin = next((j for j in others if say_the_same(column, places[j])), None)
        if twin is None and not is_used[k]:
            twin = next((j for j in used if is_settled(column, places[j])), None)
        if twin is not None:
            found[k] = twin
    return found


def say_the_same(one: np.ndarray, other: np.ndarray) -> bool:
    """Say whether two columns tell the same rows apart."""
    n_values = int(one.max()) + 1
    if n_values != other.max() + 1:
        return False
    if np.array_equal(one, other) or np.array_equal(one, n_values - 1 - other):
        return True
    return 2 * n_values <= len(one) and _follows(one, other) and _follows(other, one)


def is_settled(column: np.ndarray, by: np.ndarray) -> bool:
    """Say whether the value of one column tells that of another, and not by chance."""
    if column.max() >= by.max() or 2 * (by.max() + 1) > len(by) or not _follows(column, by):
        return False
    is_rarer = column != np.bincount(column).argmax()
    return int(is_rarer.sum()) - len(np.unique(by[is_rarer])) >= LEAST_REPEATS


def _follows(column: np.ndarray, by: np.ndarray) -> bool:
    """Say whether rows of one value of ``by`` have one value of the column."""
    for rows in (slice(N_LOOKED_AT), slice(None)):  # nearly all are told apart by the first rows
        both = by[rows] * (int(column.max()) + 1) + column[rows]
        if len(np.unique(both)) > len(np.unique(by[rows])):
            return False
    return True
