"""When two arrays are equal: to the last bit, or within rounding. The only home of tolerances.

A float64 sum of n terms is wrong by at most n * eps * sum|terms|, and in practice by a few eps of
it. So a test says which terms were added and gets ``k * eps * sum|terms|``: wide where large terms
cancel, narrow where nothing does, and never ``rtol``, which is neither. `assert_same` compares what
arithmetic does exactly: counts, routing, parents that add up their children.

Both raise AssertionError themselves, so that ``python -O`` does not take the checks away.
"""

import numpy as np
from numpy.typing import ArrayLike

from gbt.model.ensemble import Ensemble

__all__ = ["EPS", "EPS_32", "assert_close", "assert_same", "sum_of_node_values"]

EPS = float(np.finfo(np.float64).eps)
EPS_32 = float(np.finfo(np.float32).eps)  # numbers that a peer kept or added up in float32


def assert_close(
    actual: ArrayLike, expected: ArrayLike, terms: ArrayLike, k: float = 64, eps: float = EPS
) -> None:
    """Check that actual and expected differ by no more than rounding.

    Parameters
    ----------
    actual, expected : arrays of one shape, or scalars
        Not empty, every number finite.
    terms : array of the same shape, or scalar
        The sum of the absolute values of the terms that were added (or subtracted). Where it is 0
        there was nothing to round, and the two must be equal.
    k : float
        How many eps of ``terms``. 64: a few roundings a term, some ten terms in a row.
    eps : float
        Of float64; ``EPS_32`` where one side went through float32.
    """
    actual, expected, terms = (np.asarray(a, dtype=np.float64) for a in (actual, expected, terms))
    _refuse_other_shape(actual, expected)
    if terms.shape not in (expected.shape, ()):
        raise AssertionError(f"terms have shape {terms.shape}, not {expected.shape}")
    if expected.size == 0:
        raise AssertionError("nothing to compare: the arrays are empty")
    for name, array in {"actual": actual, "expected": expected, "terms": terms}.items():
        if not np.isfinite(array).all():
            raise AssertionError(f"{name} is not finite at {_where(~np.isfinite(array))}")
    if not (terms >= 0).all():
        raise AssertionError(f"terms are negative at {_where(terms < 0)}; sum absolute values")

    allowed = np.broadcast_to(k * eps * terms, expected.shape)
    difference = np.abs(actual - expected)
    too_far = difference > allowed
    if too_far.any():
        worst = np.unravel_index(np.argmax(difference - allowed), expected.shape)
        raise AssertionError(
            f"{too_far.sum()} of {expected.size} differ too much; at {tuple(map(int, worst))} got"
            f" {actual[worst]}, expected {expected[worst]}: difference {difference[worst]:.3g},"
            f" allowed {allowed[worst]:.3g}"
        )


def assert_same(actual: ArrayLike, expected: ArrayLike) -> None:
    """Check that shapes are equal and every element is: nan equals nan, 0.0 equals -0.0."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    _refuse_other_shape(actual, expected)
    both_nan = (actual != actual) & (expected != expected)  # also for dtypes without isnan
    differs = (actual != expected) & ~both_nan
    if differs.any():
        first = _where(differs)
        raise AssertionError(
            f"{differs.sum()} of {expected.size} differ; at {first} got {actual[first]},"
            f" expected {expected[first]}"
        )


def sum_of_node_values(ensemble: Ensemble) -> float:
    """Return the absolute base score and node values, added up: a bound for sums along paths."""
    return float(abs(ensemble.base_score) + np.abs(ensemble.value).sum())


def _refuse_other_shape(actual: np.ndarray, expected: np.ndarray) -> None:
    if actual.shape != expected.shape:
        raise AssertionError(f"shape {actual.shape}, expected {expected.shape}")


def _where(mask: np.ndarray) -> tuple[int, ...]:
    """Return the first position at which a mask is true."""
    return tuple(int(i) for i in np.argwhere(mask)[0])
