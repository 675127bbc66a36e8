"""What travels between members and their leader: of every integer only the bytes that it needs.

A sum over the rows of a bin is a 64-bit integer, most of which, in nearly all bins, is the sign
over and over: rows of a bin are a small part of all rows, and 64 bits are for these. So arrays of
integers leave out the highest bytes, as many as no number of theirs needs, each of the numbers of
a bin on its own::

    g       f f f f f f a 3  2 b 1 7 0 0 9 d        the largest of all needs 6 bytes
    sent            f f a 3  2 b 1 7 0 0 9 d

All of a question or an answer is one string of bytes, which ``pickle.loads`` reads. Dask would
describe each array by itself.
"""

import pickle
from io import BytesIO
from typing import Any

import numpy as np

LEAST_PACKED = 64  # fewer numbers are sent as they are
MOST_IN_BIN = 4  # numbers, see ``gbt.kernels.cuts.histogram``


def packed(told: Any) -> bytes:
    """Return a question or an answer as it travels."""
    file = BytesIO()
    Packer(file, protocol=5).dump(told)
    return file.getvalue()


class Packer(pickle.Pickler):
    """Pickles arrays of integers as the lowest bytes of their columns."""

    def reducer_override(self, told: Any) -> Any:
        """Return as many bytes of each integer as the largest of its column needs."""
        is_array = isinstance(told, np.ndarray)
        if not (is_array and told.dtype.kind == "i" and told.size >= LEAST_PACKED):
            return NotImplemented
        has_bins = told.ndim > 1 and told.shape[-1] <= MOST_IN_BIN
        parts = []
        for column in told.reshape(-1, told.shape[-1] if has_bins else 1).T:
            largest = max(int(column.max()), ~int(column.min()))
            n_bytes = largest.bit_length() // 8 + 1  # and one bit for the sign
            in_bytes = np.ascontiguousarray(column, dtype="<i8").view(np.uint8).reshape(-1, 8)
            parts.append(in_bytes[:, :n_bytes].tobytes())
        return lengthened, (told.dtype.str, told.shape, parts)


def lengthened(dtype: str, shape: tuple[int, ...], parts: list[bytes]) -> np.ndarray:
    """Return the integers of which each column's bytes are given."""
    n = int(np.prod(shape)) // len(parts)
    numbers = np.empty((n, len(parts)), np.int64)
    for column, part in zip(numbers.T, parts, strict=True):
        given = np.frombuffer(part, dtype=np.uint8).reshape(n, -1)
        in_bytes = np.empty((n, 8), dtype=np.uint8)
        in_bytes[:, : given.shape[1]] = given
        in_bytes[:, given.shape[1] :] = np.where(given[:, -1:] > 127, 255, 0)
        column[:] = in_bytes.view("<i8").ravel()
    return numbers.reshape(shape).astype(dtype, copy=False)
