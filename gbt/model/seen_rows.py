"""Which rows a model has seen: a fingerprint a row, so that held-out measures can warn.

On rows that a model was trained on, importance measures take noise for signal. So a model keeps a
hash of 64 bits of every row that it was trained on and of every row that decided when to stop: 8
bytes a row, in memory and in pickles, not in model files. The rows themselves are not kept.

A row is hashed with its target, as float64 numbers: all nan are one number, and so are 0 and -0.
Each number is mixed (its upper half folded into its lower, a multiplication modulo 2^64 by a number
of the column's own, folded again) and the row is the sum over its columns. Two different rows share
a hash by accident about once in 2^64 pairs.

Equal rows need not be the same row: in a table of few discrete columns most new rows equal some row
of training. The training rows themselves tell how often that is so by chance. The share of them
that has a twin among the others estimates the probability that one more row of the same kind has
one: with t such rows of n, and N new rows of which some are in training,

    share = (t + 1) / (n + 1)    expected = N share    variance = N share (1 - share) (1 + 2 N/n)

The second term is the uncertainty of t itself, whose rows come in pairs. Only a number more than
``STANDARD_DEVIATIONS`` above what is expected is taken for rows that were seen. In drawings of
discrete tables of nine kinds and five sizes such distances had a standard deviation of about 1, and
none of 6,500 reached 5. If nearly every row has a twin, only the training table itself is
recognised.

A fit spends about half a per cent of its time on hashes. Of rows that are to judge, some drawn at
random are looked up first, and all only if one of these is known. If one row in fifty was seen,
this is found with a probability of 0.994; fewer would hardly matter.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gbt.parallel.threads import over_blocks
from gbt.tables.sparse_rows import SparseRows, take

STANDARD_DEVIATIONS = 5.0
ROWS_ASKED_FIRST = 256
ROWS_AT_ONCE = 2**12  # of sparse rows
NUMBERS_AT_ONCE = 2**14  # 128 kB of a block's numbers stay in the cache
HALF = np.uint64(32)
FACTOR = 0x9E3779B97F4A7C15  # odd, so that nothing is lost; 2^64 divided by the golden ratio


@dataclass(frozen=True, eq=False)
class SeenRows:
    """The rows that a model has seen, as hashes in ascending order."""

    trained: np.ndarray  # uint64, of the rows that trees were grown on
    tuned: np.ndarray  # of those that decided early stopping
    # A single number for the trained rows in their order with their weights, see `number_of`.
    in_order: int | None = None

    @classmethod
    def of(
        cls,
        trained: tuple[Any, np.ndarray] | np.ndarray,
        tuned: tuple[Any, np.ndarray] | None,
        n_jobs: int | None,
        weight: np.ndarray | None = None,
        init_score: np.ndarray | None = None,
    ) -> "SeenRows":
        """Return the hashes of rows that trees were grown on, and of those of early stopping.

        ``trained`` and ``tuned`` are rows with their targets; ``trained`` may be hashes, which are
        sorted in place. With ``weight``, which may have a single entry for all trained rows, their
        order is remembered, too, with their starting values ``init_score``, (n, K).
        """
        none = np.empty(0, dtype=np.uint64)
        hashes = trained if isinstance(trained, np.ndarray) else hash_rows(*trained, n_jobs)
        in_order = None if weight is None else number_of(hashes, weight)
        if in_order is not None and init_score is not None:
            for_each = hash_rows(init_score, np.empty((len(init_score), 0)), n_jobs)
            in_order ^= number_of(hashes ^ for_each, np.zeros(1))
        hashes.sort()
        return cls(
            hashes, none if tuned is None else _sorted_hashes(*tuned, n_jobs), in_order=in_order
        )

    @property
    def share_of_twins(self) -> float:
        """Estimate the probability that a new row equals one that trees were grown on."""
        is_as_before = self.trained[1:] == self.trained[:-1]
        has_twin = np.append(is_as_before, False) | np.append(False, is_as_before)
        return (int(has_twin.sum()) + 1) / (len(self.trained) + 1)

    def count(self, X: Any, y: np.ndarray, n_jobs: int | None = None) -> int:
        """Return how many of some rows the model has seen; 0 if chance may have made them equal."""
        if len(y) > ROWS_ASKED_FIRST:
            some = np.random.default_rng(0).integers(len(y), size=ROWS_ASKED_FIRST)
            if not self._is_among_all(_sorted_hashes(take(X, some), y[some], n_jobs)).any():
                return 0
        given = _sorted_hashes(X, y, n_jobs)
        if np.array_equal(given, self.trained):
            return len(given)
        n_found = int(self._is_among_all(given).sum())
        share = self.share_of_twins
        expected = len(given) * share
        variance = expected * (1 - share) * (1 + 2 * len(given) / len(self.trained))
        return n_found if n_found > expected + STANDARD_DEVIATIONS * variance**0.5 else 0

    def union(self, other: "SeenRows") -> "SeenRows":
        """Return the rows that one of two models has seen."""
        new = other.trained[~_is_among(other.trained, self.trained)]
        trained = np.sort(np.concatenate([self.trained, new]))
        return SeenRows(trained, np.union1d(self.tuned, other.tuned))

    def _is_among_all(self, hashes: np.ndarray) -> np.ndarray:
        return _is_among(hashes, self.trained) | _is_among(hashes, self.tuned)


def _is_among(numbers: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Say which of ascending numbers are among others, also ascending."""
    if not len(others):
        return np.zeros(len(numbers), dtype=bool)
    place = np.searchsorted(others, numbers)
    return others[np.minimum(place, len(others) - 1)] == numbers


def _sorted_hashes(X: Any, y: np.ndarray, n_jobs: int | None) -> np.ndarray:
    hashes = hash_rows(X, y, n_jobs)
    hashes.sort()
    return hashes


def number_of(hashes: np.ndarray, weight: np.ndarray) -> int:
    """Return a number of 64 bits; other rows, orders or weights have another one but for chance.

    A row's hash, its place and its weight are mixed to one number, and these are added up.
    """
    places = np.arange(1, len(hashes) + 1, dtype=np.uint64)
    mixed = hashes + places * np.uint64(FACTOR)
    mixed ^= mixed >> HALF
    mixed += (weight + 0.0).view(np.uint64)
    for _ in range(2):
        mixed *= np.uint64(FACTOR)
        mixed ^= mixed >> HALF
    return int(mixed.sum())


def hash_rows(X: Any, y: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return a hash for every row of floats and its targets, uint64 of shape (n,).

    ``y`` has the shape (n,), or (n, K) for K targets. A 0 counts nothing, so of sparse rows only
    the values that are stored are looked at.
    """
    n, p = X.shape
    targets = y if y.ndim == 2 else y[:, np.newaxis]
    n_columns = p + targets.shape[1]
    factors = np.cumprod(np.full(n_columns, FACTOR, dtype=np.uint64))  # wraps round
    if isinstance(X, SparseRows):
        hashes = mixed(targets.astype(np.float64), factors[p:]).sum(axis=1)
        for start in range(0, n, ROWS_AT_ONCE):
            some = X.stored[start : start + ROWS_AT_ONCE].tocoo()
            of_values = mixed(some.data.astype(np.float64), factors[some.col])
            np.add.at(hashes[start:], some.row, of_values)
        return hashes
    hashes = np.empty(n, dtype=np.uint64)
    rows_at_once = max(1, NUMBERS_AT_ONCE // n_columns)

    def fill(first: int, last: int) -> None:
        for start in range(first, last, rows_at_once):
            rows = slice(start, min(start + rows_at_once, last))
            numbers = np.empty((rows.stop - start, n_columns))
            numbers[:, :p], numbers[:, p:] = X[rows], targets[rows]
            mixed(numbers, factors).sum(axis=1, out=hashes[rows])

    over_blocks(fill, n, n_jobs, min_rows=4 * rows_at_once)
    return hashes


def mixed(numbers: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return numbers mixed with factors, in their own memory; of 0 it is 0."""
    numbers += 0.0  # -0 becomes 0
    np.copyto(numbers, np.nan, where=np.isnan(numbers))
    bits = numbers.view(np.uint64)
    bits ^= bits >> HALF
    bits *= factors
    bits ^= bits >> HALF
    return bits
