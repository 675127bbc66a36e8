"""Whether rows that should be new to a model are among those that it was trained on.

A row is its values and its target, turned into one number of 64 bits. Tables of few distinct values
have rows in common without any harm, and as often as a training row occurs twice. So what is
compared is the share of rows that are found among the training rows: of up to 2,000 validation
rows, and of as many training rows, each of which has to be found twice. Where hardly any is found
by its first columns and its target, nobody looks at the others.
"""

import warnings

import numpy as np

from gbt.parallel import over_blocks

N_LOOKED_UP = 2_000
N_FIRST_COLUMNS = 4
ROWS_AT_ONCE = 1024
MAX_UNEXPLAINED = 0.01  # share of rows


def warn_of_training_rows(X_train, y_train, X_valid, y_valid, n_jobs=None) -> None:
    """Warn if more validation rows are training rows than chance explains."""
    for columns in (slice(N_FIRST_COLUMNS), slice(None)):
        found, expected = shares_found(
            X_train[:, columns], y_train, X_valid[:, columns], y_valid, n_jobs
        )
        if found <= MAX_UNEXPLAINED:  # with more columns there are no more of them
            return
    n = min(len(y_valid), N_LOOKED_UP)
    if found > expected + MAX_UNEXPLAINED + 3 * np.sqrt(expected * (1 - expected) / n):
        warnings.warn(
            f"{found:.0%} of the validation rows, targets included, are also training rows, where"
            f" {expected:.0%} of the training rows occur twice. Rows that the model was trained on"
            " cannot say what holds up on new ones: give rows that it has not seen.",
            stacklevel=3,
        )


def shares_found(X_train, y_train, X_valid, y_valid, n_jobs=None) -> tuple[float, float]:
    """Return the share of validation rows found in training, and of training rows found twice."""
    train = row_keys(X_train, y_train, n_jobs)
    step = -(-len(y_valid) // N_LOOKED_UP)
    some_valid = row_keys(X_valid[::step], y_valid[::step], n_jobs)
    some_train = train[:: -(-len(train) // N_LOOKED_UP)]
    wanted = np.unique(np.concatenate([some_train, some_valid]))
    place = np.minimum(np.searchsorted(wanted, train), len(wanted) - 1)
    count = np.bincount(place[wanted[place] == train], minlength=len(wanted))
    return (
        float(np.mean(count[np.searchsorted(wanted, some_valid)] > 0)),
        float(np.mean(count[np.searchsorted(wanted, some_train)] > 1)),
    )


def row_keys(X: np.ndarray, y: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return a number for every row of X and y, uint64 of shape (n,), the same for equal rows.

    The bits of every value are multiplied and folded, so that high digits reach low ones, then
    multiplied by another odd number a column and added up, all modulo 2^64.
    """
    factors = np.random.default_rng(0).integers(0, 2**63, X.shape[1] + 1, dtype=np.uint64) * 2 + 1
    keys = np.empty(len(y), dtype=np.uint64)

    def fill(start, stop):
        for first in range(start, stop, ROWS_AT_ONCE):
            rows = slice(first, min(first + ROWS_AT_ONCE, stop))
            values = np.column_stack([X[rows], y[rows]]).astype(np.float64) + 0.0  # -0 is 0
            values[np.isnan(values)] = np.nan  # one of many
            bits = values.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            bits ^= bits >> np.uint64(32)
            keys[rows] = (bits * factors).sum(axis=1)

    over_blocks(fill, len(y), n_jobs)
    return keys
