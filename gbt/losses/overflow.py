"""Sums that no number can hold are refused, by name and before they spoil a model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import numpy as np

# Of the first round: 2^-1022 is the least number of full precision, the gains of later rounds are
# those of gradients that are a millionth of the first, and 2^-53 of a gain is its last digit.
LEAST_GRADIENT = 2.0**-460


class SumsOverflowError(FloatingPointError):
    """What a fit needs of sums does not fit into float64; the estimators put it into words."""


@contextmanager
def refusing_overflow() -> Iterator[None]:
    """Raise `SumsOverflowError` where arithmetic of ours in NumPy overflows.

    Code of the user's stays outside: what NumPy does there is for them to say (``np.errstate``).
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
