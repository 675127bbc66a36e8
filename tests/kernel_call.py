"""Kernels called by the names of their arguments.

A test says what it is about. Names that a kernel does not have are refused, and so are those that
it needs and does not get, so that a kernel whose arguments change fails here by name.
"""

import inspect
from types import SimpleNamespace
from typing import Any

from tests.compiled import entry_to


def call(kernel, **named) -> Any:
    """Call a kernel and return its arguments by name, with its ``result``."""
    function = getattr(kernel, "py_func", kernel)
    parameters = [*inspect.signature(function).parameters]
    if unknown := [argument for argument in named if argument not in parameters]:
        raise TypeError(f"{function.__name__} has no arguments {unknown}; it takes {parameters}")
    if missing := [argument for argument in parameters if argument not in named]:
        raise TypeError(f"{function.__name__} needs {missing}, too")
    is_inside = getattr(kernel, "targetoptions", {}).get("no_cpython_wrapper", False)
    entry = entry_to(kernel) if is_inside else kernel
    return SimpleNamespace(**named, result=entry(*(named[name] for name in parameters)))
