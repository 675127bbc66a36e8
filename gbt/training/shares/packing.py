"""What travels between members and their leader: of every integer only the bytes that it needs.

A sum over the rows of a bin is a 64-bit integer, most of which, in nearly all bins, is the sign
over and over: rows of a bin are a small part of all rows, and 64 bits are for these. So arrays of
integers leave out the highest bytes, as many as no number of theirs needs, each of the numbers of
a bin on its own::

    g       f f f f f f a 3  2 b 1 7 0 0 9 d        the largest of all needs 6 bytes
    sent            f f a 3  2 b 1 7 0 0 9 d
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

LEAST_PACKED = 64  # fewer numbers are sent as they are
MOST_IN_BIN = 4  # numbers, see ``gbt.kernels.cuts.histogram``


class Packed(NamedTuple):
    """An array of integers, column by column; ``parts`` has the bytes of each column's numbers."""

    dtype: str
    shape: tuple[int, ...]
    parts: list[bytes]


def packed(told: Any) -> Any:
    """Return a question or an answer with all arrays of integers packed."""
    if isinstance(told, tuple | list):
        return _with_each(packed, told)
    if not isinstance(told, np.ndarray) or told.dtype.kind != "i" or told.size < LEAST_PACKED:
        return told
    has_bins = told.ndim > 1 and told.shape[-1] <= MOST_IN_BIN
    columns = told.reshape(-1, told.shape[-1] if has_bins else 1).T
    return Packed(told.dtype.str, told.shape, [_shortened(column) for column in columns])


def unpacked(told: Any) -> Any:
    """Return a question or an answer as it was."""
    if isinstance(told, Packed):
        numbers = np.empty((int(np.prod(told.shape)) // len(told.parts), len(told.parts)), np.int64)
        for column, part in zip(numbers.T, told.parts, strict=True):
            column[:] = _lengthened(part, len(column))
        return numbers.reshape(told.shape).astype(told.dtype, copy=False)
    if isinstance(told, tuple | list):
        return _with_each(unpacked, told)
    return told


def _with_each(change: Callable[[Any], Any], told: Any) -> Any:
    """Return a list or a tuple, named or not, with each of its parts changed."""
    parts = map(change, told)
    return type(told)(*parts) if hasattr(told, "_fields") else type(told)(parts)


def _shortened(column: np.ndarray) -> bytes:
    """Return the lowest bytes of some numbers, as many of each as the largest needs."""
    largest = max(int(column.max()), ~int(column.min()))
    n_bytes = largest.bit_length() // 8 + 1  # and one bit for the sign
    in_bytes = np.ascontiguousarray(column, dtype="<i8").view(np.uint8).reshape(-1, 8)
    return in_bytes[:, :n_bytes].tobytes()


def _lengthened(part: bytes, n: int) -> np.ndarray:
    """Return the numbers."""
    given = np.frombuffer(part, dtype=np.uint8).reshape(n, -1)
    n_bytes = given.shape[1]
    in_bytes = np.empty((n, 8), dtype=np.uint8)
    in_bytes[:, :n_bytes] = given
    in_bytes[:, n_bytes:] = np.where(given[:, -1:] > 127, 255, 0)
    return in_bytes.view("<i8").ravel()
