"""JSON documents that are never trusted: read whole, then checked value by value.

Anything unexpected is an `InvalidModelError` that says where in the document it is. Types are those
of JSON: a number written as a string is a string. Nothing is executed, and nothing is allocated
beyond what the file holds.
"""

import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

_JSON_TYPES: dict[str, set[type]] = {"b": {bool}, "f": {int, float}, "i": {int}, "u": {int}}


def read_json(path: str | os.PathLike) -> Any:
    """Return what a file of JSON holds."""
    try:
        return parse_json(Path(path).read_bytes())
    except InvalidModelError as error:
        raise InvalidModelError(
            f"{os.fspath(path)} {error}. A pickle, or a file of another library, is read by what"
            " wrote it."
        ) from error


def parse_json(text: str | bytes | bytearray, finite: bool = True) -> Any:
    """Return what JSON text holds; messages of errors continue after the name of the file.

    ``finite=False`` admits NaN and Infinity, which are not JSON but are written by some programs.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant if finite else None)
    except (ValueError, RecursionError) as error:
        raise InvalidModelError(f"is not JSON, or not a whole file: {error}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that JSON has")


def as_record(value: Any, where: str, keys: Sequence[str]) -> dict[str, Any]:
    """Return an object that has these keys and no others."""
    if not isinstance(value, dict):
        raise InvalidModelError(f"{where} must be an object; got {shown(value)}")
    if missing := [key for key in keys if key not in value]:
        raise InvalidModelError(f"{where} lacks {', '.join(missing)}")
    if unknown := sorted(value.keys() - set(keys)):
        raise InvalidModelError(f"{where} has unknown keys: {shown(unknown)}")
    return value


def as_choice(value: Any, where: str, choices: Collection[str]) -> str:
    """Return a string that is one of a few."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidModelError(f"{where} must be one of {list(choices)}; got {shown(value)}")
    return value


def as_strings(value: Any, where: str) -> list[str]:
    """Return a list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidModelError(f"{where} must be a list of strings; got {shown(value)}")
    return value


def as_array(value: Any, where: str, dtype: DTypeLike, finite: bool = True) -> np.ndarray:
    """Return a list of numbers, or of booleans, all of which the dtype can hold."""
    dtype = np.dtype(dtype)
    if not isinstance(value, list) or not set(map(type, value)) <= _JSON_TYPES[dtype.kind]:
        raise InvalidModelError(f"{where} must be a list of {_nouns(dtype)}; got {shown(value)}")
    try:
        if dtype.kind == "b":
            return np.array(value, dtype=dtype)
        if dtype.kind != "f":
            limits = np.iinfo(dtype)  # NumPy 1 would wrap round
            if value and not limits.min <= min(value) <= max(value) <= limits.max:
                raise OverflowError
            return np.array(value, dtype=dtype)
        with np.errstate(over="ignore"):
            array = np.array(value, dtype=np.float64).astype(dtype)
        if finite and not np.isfinite(array).all():
            raise OverflowError
        return array
    except OverflowError:
        raise InvalidModelError(f"{where} has numbers that do not fit into {dtype}") from None


def as_number(value: Any, where: str, dtype: DTypeLike) -> Any:
    """Return a single number or boolean that the dtype can hold."""
    if type(value) not in _JSON_TYPES[np.dtype(dtype).kind]:
        raise InvalidModelError(f"{where} must be {_nouns(dtype)}; got {shown(value)}")
    return as_array([value], where, dtype)[0].item()


def demand(holds: bool | np.bool_, message: str) -> None:
    """Raise `InvalidModelError` unless a condition holds."""
    if not holds:
        raise InvalidModelError(message)


def _nouns(dtype: DTypeLike) -> str:
    return " or ".join(sorted(kind.__name__ for kind in _JSON_TYPES[np.dtype(dtype).kind]))


def shown(value: Any) -> str:
    """Return the beginning of a value as JSON, for messages."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):  # given as Python objects
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:60]}..."


class InvalidModelError(ValueError):
    """A model, or a file of one, that does not describe trees."""
