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

_DTYPES = {
    ord(letter): np.dtype(dtype)
    for letter, dtype in {
        "i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8",
    }.items()
}  # fmt: skip
_NUMBERS = {
    ord(letter): struct.Struct(f">{code}")
    for letter, code in zip("iUIlLdD", "bBhiqfd", strict=True)
}
_LENGTHS = frozenset(b"iUIlL")
_CONSTANTS = {ord("T"): True, ord("F"): False, ord("Z"): None}
_STRING, _ARRAY, _OBJECT, _END_ARRAY, _END_OBJECT, _OF_TYPE, _OF_LENGTH = b"S[{]}$#"


def parse_ubjson(data: bytes) -> Any:
    """Return what UBJSON holds; messages of errors continue after the name of the file."""
    try:
        value, at = _value(data, 1, data[0])
    except (struct.error, IndexError, ValueError, RecursionError) as error:
        raise InvalidModelError(f"is not UBJSON, or not a whole file: {error}") from error
    if at != len(data):
        raise InvalidModelError(f"has {len(data) - at} bytes after its UBJSON")
    return value


def _value(data: bytes, at: int, letter: int) -> tuple[Any, int]:
    """Return the value of a type whose bytes begin at a place, and where they end."""
    if letter == _OBJECT:
        return _object(data, at)
    if letter == _ARRAY:
        return _array(data, at)
    if letter == _STRING:
        return _text(data, *_length(data, at + 1, data[at]))
    if letter in _NUMBERS:
        number = _NUMBERS[letter]
        return number.unpack_from(data, at)[0], at + number.size
    if letter in _CONSTANTS:
        return _CONSTANTS[letter], at
    raise ValueError(f"there is no type {chr(letter)!r}, which is at byte {at - 1}")


def _length(data: bytes, at: int, letter: int) -> tuple[int, int]:
    """Return a length, at most the number of bytes left, and where its own bytes end."""
    if letter not in _LENGTHS:
        raise ValueError(f"the length at byte {at} has the type {chr(letter)!r}")
    number = _NUMBERS[letter]
    (length,), at = number.unpack_from(data, at), at + number.size
    if not 0 <= length <= len(data) - at:
        raise ValueError(f"it ends before the {length} values or bytes at {at}")
    return length, at


def _text(data: bytes, length: int, at: int) -> tuple[str, int]:
    return data[at : at + length].decode(), at + length


def _object(data: bytes, at: int) -> tuple[dict[str, Any], int]:
    """Return what follows an opening brace: lengths and texts of keys, each before its value."""
    found = {}
    while (letter := data[at]) != _END_OBJECT:
        key, at = _text(data, *_length(data, at + 1, letter))
        found[key], at = _value(data, at + 1, data[at])
    return found, at + 1


def _array(data: bytes, at: int) -> tuple[list | np.ndarray, int]:
    """Return what follows an opening bracket."""
    letter = data[at]
    if letter == _OF_TYPE:
        if data[at + 1] not in _DTYPES or data[at + 2] != _OF_LENGTH:
            raise ValueError(f"at byte {at} there is no array of numbers")
        dtype = _DTYPES[data[at + 1]]
        length, at = _length(data, at + 4, data[at + 3])
        return np.frombuffer(data, dtype, length, at), at + length * dtype.itemsize
    values: list = []
    if letter == _OF_LENGTH:
        length, at = _length(data, at + 2, data[at + 1])
        for _ in range(length):
            value, at = _value(data, at + 1, data[at])
            values.append(value)
        return values, at
    while (letter := data[at]) != _END_ARRAY:
        value, at = _value(data, at + 1, letter)
        values.append(value)
    return values, at + 1
