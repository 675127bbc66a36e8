"""UBJSON, the binary JSON in which XGBoost writes its models: read into Python objects and arrays.

A value is a letter for its type, then its bytes, numbers with the most significant byte first. An
array may state how many values follow (``#``), and the type of all of them (``$``); such an array
of numbers becomes a NumPy array over the bytes read, without a copy::

    [ $ d # L 0000000000000003  3f800000 40000000 40400000     three float32: 1, 2, 3
    { L 0000000000000001 a  i 05 }                             {"a": 5}

Nothing is allocated beyond the bytes of the file; a length that does not fit is an
`InvalidModelError`.
"""

import struct
from typing import Any

import numpy as np

from gbt.files.documents import InvalidModelError

_NUMBERS = {
    ord(letter): (struct.Struct(f">{code}"), np.dtype(f">{code}"))
    for letter, code in zip("iUIlLdD", "bBhiqfd", strict=True)
}
_LENGTHS = frozenset(b"iUIlL")
_CONSTANTS = {ord("T"): True, ord("F"): False, ord("Z"): None}
_STRING, _ARRAY, _OBJECT, _END_ARRAY, _END_OBJECT, _OF_TYPE, _OF_LENGTH = b"S[{]}$#"


def parse_ubjson(data: bytes) -> Any:
    """Return what UBJSON holds; messages of errors continue after the name of the file."""
    reader = _Reader(data)
    try:
        value = reader.value(reader.byte())
    except (struct.error, IndexError, ValueError, RecursionError) as error:
        raise InvalidModelError(f"is not UBJSON, or not a whole file: {error}") from error
    if reader.at != len(data):
        raise InvalidModelError(f"has {len(data) - reader.at} bytes after its UBJSON")
    return value


class _Reader:
    """Bytes, and how far they have been read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        """Return the next byte."""
        self.at += 1
        return self.data[self.at - 1]

    def value(self, letter: int) -> Any:
        """Return the value that follows the letter of its type."""
        if letter == _OBJECT:
            found = {}
            while (letter := self.byte()) != _END_OBJECT:
                key = self.text(letter)
                found[key] = self.value(self.byte())
            return found
        if letter == _ARRAY:
            return self.array(self.byte())
        if letter == _STRING:
            return self.text(self.byte())
        if letter in _NUMBERS:
            number, _ = _NUMBERS[letter]
            self.at += number.size
            return number.unpack_from(self.data, self.at - number.size)[0]
        if letter in _CONSTANTS:
            return _CONSTANTS[letter]
        raise ValueError(f"there is no type {chr(letter)!r}, which is at byte {self.at - 1}")

    def length(self, letter: int) -> int:
        """Return a length, at most the number of bytes left; the letter says its type."""
        if letter not in _LENGTHS:
            raise ValueError(f"the length at byte {self.at - 1} has the type {chr(letter)!r}")
        length = self.value(letter)
        if not 0 <= length <= len(self.data) - self.at:
            raise ValueError(f"it ends before the {length} values or bytes at {self.at}")
        return length

    def text(self, letter: int) -> str:
        """Return a text of a length."""
        length = self.length(letter)
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def array(self, letter: int) -> list | np.ndarray:
        """Return what follows an opening bracket and the letter after it."""
        if letter == _OF_TYPE:
            kind = self.byte()
            if kind not in _NUMBERS or self.byte() != _OF_LENGTH:
                raise ValueError(f"at byte {self.at - 2} there is no array of numbers")
            length, dtype = self.length(self.byte()), _NUMBERS[kind][1]
            self.at += length * dtype.itemsize
            return np.frombuffer(self.data, dtype, length, self.at - length * dtype.itemsize)
        if letter == _OF_LENGTH:
            return [self.value(self.byte()) for _ in range(self.length(self.byte()))]
        values = []
        while letter != _END_ARRAY:
            values.append(self.value(letter))
            letter = self.byte()
        return values
