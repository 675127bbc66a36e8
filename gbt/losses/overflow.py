"""Sums that do not fit into float64 are refused before they spoil a model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import numpy as np

# Of the first round. 2^-1022 is the least number of full precision; gradients of later rounds may
# be a millionth of the first, and the last digit of a gain is 2^-53 of it.
LEAST_GRADIENT = 2.0**-460


class SumsOverflowError(FloatingPointError):
    """A sum that a fit needs does not fit into float64; the estimators' errors explain it."""


@contextmanager
def refusing_overflow() -> Iterator[None]:
    """Raise `SumsOverflowError` where our own arithmetic in NumPy overflows.

    A user's code is not run inside: there ``np.errstate`` is the user's choice.
    """
    try:
        with np.errstate(over="raise"):
            yield
    except FloatingPointError as error:
        raise SumsOverflowError(str(error)) from error


def refuse_overflow() -> NoReturn:
    """Refuse gradients or weights whose sum is beyond float64."""
    raise SumsOverflowError("the sum of their magnitudes overflows")


def refuse_square_overflow() -> NoReturn:
    """Raise `SumsOverflowError` because a squared sum, which a tree stores, overflows."""
    raise SumsOverflowError("a squared sum overflows")


def refuse_vanishing_squares(gradient: np.ndarray) -> None:
    """Raise `SumsOverflowError` if gradients are so small that squares of their sums vanish."""
    largest = np.abs(gradient).max(initial=0.0)
    if 0 < largest < LEAST_GRADIENT:
        raise SumsOverflowError(f"they are at most {largest:.0e}, and their squares vanish")
