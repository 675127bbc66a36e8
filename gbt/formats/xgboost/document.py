"""Entries of XGBoost's JSON by key and type; the JSON is never trusted.

XGBoost writes parameters as text, "5E-1" or "[5E-1,2E-1]", and arrays of nodes as lists, or in
UBJSON as arrays. Anything unexpected is an `InvalidModelError` that names it.
"""

import re
from typing import Any

import numpy as np

from gbt.files.documents import InvalidModelError, as_array, parse_json, shown

MOST_UNNAMED_COLUMNS = 2**20  # a false number in a file must not make us invent as many names


def entry(mapping: Any, *path: str) -> Any:
    """Return what the JSON has under these keys."""
    for key in path:
        if not isinstance(mapping, dict) or key not in mapping:
            raise InvalidModelError(
                f"This is not the JSON of an XGBoost model: {'.'.join(path)} is missing"
                f" ({key!r} not found)."
            )
        mapping = mapping[key]
    return mapping


def numbers_in(text: Any, key: str) -> list[float]:
    """Return float32 numbers of a text that is one number of JSON, or a list of them."""
    try:
        value = parse_json(text if isinstance(text, str) else "")
        found = as_array(value if isinstance(value, list) else [value], key, np.float32)
    except ValueError:
        raise InvalidModelError(
            f"The XGBoost model's {key} is not a number in text: {shown(text)}."
        ) from None
    return found.astype(np.float64).tolist()


def number(mapping: Any, key: str) -> float:
    """Return a float32 number that the JSON has as text."""
    found = numbers_in(entry(mapping, key), key)
    if len(found) != 1:
        raise InvalidModelError(f"The XGBoost model's {key} is {len(found)} numbers, not one.")
    return found[0]


def whole(mapping: Any, key: str) -> int:
    """Return a whole number that the JSON has as text."""
    text = entry(mapping, key)
    if not isinstance(text, str) or not re.fullmatch("[0-9]{1,19}", text):
        raise InvalidModelError(
            f"The XGBoost model's {key} is not a whole number in text: {shown(text)}."
        )
    return int(text)


def version_of(document: Any) -> tuple[int, ...]:
    """Return the version of XGBoost that wrote the JSON; () if it has none."""
    version = document.get("version") if isinstance(document, dict) else None
    parts = version.tolist() if isinstance(version, np.ndarray) else version  # from UBJSON
    if not isinstance(parts, list) or not all(isinstance(part, int) for part in parts):
        return ()
    return tuple(parts)


def numbers_of(mapping: Any, name: str, where: str, dtype: Any) -> np.ndarray:
    """Return an array of numbers, such as one for every node of a tree."""
    value = entry(mapping, name)
    if isinstance(value, np.ndarray) and value.dtype.kind in ("iu", "iuf")[dtype is np.float64]:
        return value  # from UBJSON
    if name == "default_left" and isinstance(value, list) and set(map(type, value)) == {bool}:
        return np.array(value, dtype=dtype)  # from JSON of XGBoost before 1.6
    return as_array(value, f"{name} of {where} of the XGBoost model", dtype, finite=False)


def feature_names_of(learner: Any, n_features: int) -> tuple[str, ...]:
    """Return the names of the columns; f0, f1, ..., as in XGBoost's reports, if it has none."""
    names = learner.get("feature_names", [])
    if not isinstance(names, list):
        raise InvalidModelError(f"The XGBoost model's feature_names are {shown(names)}, no list.")
    if not names and n_features > MOST_UNNAMED_COLUMNS:
        raise InvalidModelError(
            f"The XGBoost model's num_feature is {n_features}, and it names none of these columns;"
            f" up to {MOST_UNNAMED_COLUMNS} are believed."
        )
    names = tuple(names or (f"f{k}" for k in range(n_features)))
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise InvalidModelError(
            f"The XGBoost model has {n_features} columns and {len(names)} feature_names."
        )
    return names


def named(value: Any) -> str:
    """Return a name in quotes, or a description of a value that is no name."""
    return repr(value) if isinstance(value, str) else shown(value)
