"""Kernels that only other kernels call, made callable.

They are compiled without the part that translates the arguments of a Python call. Tests go through
a compiled function that does nothing but call them, and is kept on disk like the kernels.
"""

from functools import cache

from numba import config, njit

from gbt.kernels.platform.filing import Filed


class FromPython:
    """A module whose kernels can all be called."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        found = getattr(self._module, name)
        if hasattr(found, "py_func"):
            found = entry_to(found)
            setattr(self, name, found)
        return found


@cache
def entry_to(kernel):
    """Return a compiled function that calls a kernel and can be called from Python."""
    if config.DISABLE_JIT:
        return kernel

    def call(*arguments):
        return kernel(*arguments)

    call.__module__ = module = kernel.py_func.__module__  # whose sources the code is made of
    call.__qualname__ = f"call_{module}_{kernel.__name__}"  # names a symbol of machine code
    entry = njit(error_model="numpy")(call)
    entry._cache = Filed(call)
    return entry
