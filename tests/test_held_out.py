"""Whether validation rows are training rows: leaks are noticed, chance is not."""

import warnings

import numpy as np
import pytest

from attributions.held_out import row_keys, shares_found, warn_of_training_rows


def continuous(rng, n):
    return rng.normal(size=(n, 6)), rng.normal(size=n)


def of_few_values(rng, n):
    return rng.integers(0, 3, size=(n, 6)).astype(float), rng.integers(0, 2, n).astype(float)


@pytest.mark.parametrize("make", [continuous, of_few_values])
def test_new_rows_are_no_leak_and_old_ones_are(make):
    rng = np.random.default_rng(0)
    (X, y), (X_valid, y_valid) = make(rng, 3000), make(rng, 5000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_training_rows(X, y, X_valid, y_valid)
    X_valid[::2], y_valid[::2] = X[:2500], y[:2500]
    with pytest.warns(UserWarning, match="also training rows"):
        warn_of_training_rows(X, y, X_valid, y_valid)


def test_all_columns_are_looked_at():
    rng = np.random.default_rng(1)
    X, X_valid = rng.normal(size=(2, 300, 6))
    X[:, :5] = X_valid[:, :5] = 1.0
    y = np.zeros(300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_training_rows(X, y, X_valid, y)


def test_shares_by_hand():
    X, y = np.array([[1.0], [1], [2], [3]]), np.array([0.0, 0, 0, 0])
    X_valid, y_valid = np.array([[1.0], [2], [2]]), np.array([0.0, 0, 1])
    assert shares_found(X, y, X_valid, y_valid) == (2 / 3, 1 / 2)


def test_keys_are_those_of_values_not_of_bits():
    X = np.array([[0.0, np.nan], [-0.0, -np.nan], [0.0, 1.0]])
    first, second, third = row_keys(X, np.zeros(3))
    assert first == second != third
    single = np.array([[0.5, 3.0]], dtype=np.float32)
    assert row_keys(single, np.ones(1)) == row_keys(single.astype(float), np.ones(1))


def test_small_integers_have_keys_of_their_own():
    X = np.stack(np.meshgrid(*[np.arange(40.0)] * 3), axis=-1).reshape(-1, 3)
    keys = row_keys(X, np.zeros(len(X)))
    assert len(np.unique(keys)) == len(X)
