"""Sums that no number can hold are refused, by name and before they spoil a model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import numpy as np


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
    """Raise the same for what a tree stores."""
    raise SumsOverflowError("a squared sum overflows")
