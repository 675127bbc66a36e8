"""Kernels called by the names of their arguments.

A test says what it is about; memory that a kernel writes to or works in is made here, filled with
what no kernel would write. Names that a kernel does not have are refused, and so are those that it
needs and does not get, so that a kernel whose arguments change fails here by name.
"""

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np

from gbt.kernels.cuts.ranking import DIGIT_BITS, N_DIGITS
from tests.compiled import entry_to

UNTOUCHED = 99
# What a kernel works in or writes to, made of the arguments that are given.
MEMORY = {
    "partition_rows": {"buffer": lambda given: np.full_like(given.rows, UNTOUCHED)},
    "write_keys": {
        "keys": lambda given: np.full(
            (len(given.bits), given.bits.itemsize // 4), UNTOUCHED, dtype=np.uint32
        )
    },
    "rank_rows": {
        "counts": lambda given: np.full((N_DIGITS, 2**DIGIT_BITS), UNTOUCHED, dtype=np.int32),
        "codes": lambda given: np.full(len(given.keys), UNTOUCHED, dtype=np.int32),
        "order": lambda given: np.full(len(given.keys), UNTOUCHED, dtype=np.int32),
    },
    "link_nodes": {
        "depth": lambda given: np.zeros(len(given.feature), dtype=np.int64),
        "column": lambda given: np.full(len(given.feature), UNTOUCHED, dtype=np.uint64),
        "lower": lambda given: np.full((len(given.feature), 2), UNTOUCHED, dtype=np.uint64),
        "tree_depth": lambda given: np.full(len(given.tree_offset) - 1, UNTOUCHED),
    },
}


def call(kernel, **named) -> Any:
    """Call a kernel and return its arguments by name, memory included, with its ``result``."""
    parameters = [*inspect.signature(getattr(kernel, "py_func", kernel)).parameters]
    name = getattr(kernel, "py_func", kernel).__name__
    memory = MEMORY.get(name, {})
    if unknown := [argument for argument in (*named, *memory) if argument not in parameters]:
        raise TypeError(f"{name} has no arguments {unknown}; it takes {parameters}")
    given = SimpleNamespace(**named)
    for argument, make in memory.items():
        if argument not in named:
            setattr(given, argument, make(given))
    if missing := [argument for argument in parameters if not hasattr(given, argument)]:
        raise TypeError(f"{name} needs {missing}, too")
    is_inside = getattr(kernel, "targetoptions", {}).get("no_cpython_wrapper", False)
    arguments = [getattr(given, argument) for argument in parameters]
    given.result = (entry_to(kernel) if is_inside else kernel)(*arguments)
    return given
