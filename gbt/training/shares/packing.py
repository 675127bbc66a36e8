"""What travels between members and their leader: of every integer only the bytes that it needs.

A sum over the rows of a bin is a 64-bit integer, most of which, in nearly all bins, is the sign
over and over: rows of a bin are a small part of all rows, and 64 bits are for these. So arrays of
integers leave out the highest bytes, as many as no number of theirs needs, each of the numbers of
a bin on its own::

    g       f f f f f f a 3  2 b 1 7 0 0 9 d        the largest of all needs 6 bytes
    sent            f f a 3  2 b 1 7 0 0 9 d

All of a question or an answer is one string of bytes. Dask would describe each array by itself.
"""

import pickle
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


def packed(told: Any) -> bytes:
    """Return a question or an answer as it travels."""
    return pickle.dumps(_with_each(_shortened, told), protocol=5)


def unpacked(told: bytes) -> Any:
    """Return a question or an answer as it was."""
    return _with_each(_lengthened, pickle.loads(told))


def _with_each(change: Callable[[Any], Any], told: Any) -> Any:
    """Return what is told with each array changed, in lists and tuples, named or not."""
    if isinstance(told, Packed | np.ndarray):
        return change(told)
    if not isinstance(told, tuple | list):
        return told
    parts = [_with_each(change, part) for part in told]
    return type(told)(*parts) if hasattr(told, "_fields") else type(told)(parts)


def _shortened(array: np.ndarray) -> Any:
    """Return the lowest bytes of integers, as many of each as the largest of a column needs."""
    if array.dtype.kind != "i" or array.size < LEAST_PACKED:
        return array
    has_bins = array.ndim > 1 and array.shape[-1] <= MOST_IN_BIN
    parts = []
    for column in array.reshape(-1, array.shape[-1] if has_bins else 1).T:
        largest = max(int(column.max()), ~int(column.min()))
        n_bytes = largest.bit_length() // 8 + 1  # and one bit for the sign
        in_bytes = np.ascontiguousarray(column, dtype="<i8").view(np.uint8).reshape(-1, 8)
        parts.append(in_bytes[:, :n_bytes].tobytes())
    return Packed(array.dtype.str, array.shape, parts)


def _lengthened(array: Packed | np.ndarray) -> np.ndarray:
    """Return the integers."""
    if not isinstance(array, Packed):
        return array
    n = int(np.prod(array.shape)) // len(array.parts)
    numbers = np.empty((n, len(array.parts)), np.int64)
    for column, part in zip(numbers.T, array.parts, strict=True):
        given = np.frombuffer(part, dtype=np.uint8).reshape(n, -1)
        in_bytes = np.empty((n, 8), dtype=np.uint8)
        in_bytes[:, : given.shape[1]] = given
        in_bytes[:, given.shape[1] :] = np.where(given[:, -1:] > 127, 255, 0)
        column[:] = in_bytes.view("<i8").ravel()
    return numbers.reshape(array.shape).astype(array.dtype, copy=False)
