"""The decorators of all kernels of the project.

* ``nogil``: Python threads run the same kernel on different blocks at once (``gbt.parallel``).
* ``error_model="numpy"``: a division by zero gives inf or nan instead of raising. Loops that may
  raise cannot be vectorised.
* Machine code is kept on disk under a digest of its sources, see `gbt.kernels.platform.filing`.
* Kernels that only kernels call are optimised in these, see `gbt.kernels.platform.joining`, and
  all are written briefly, see `gbt.kernels.platform.lowering`.
* No wrapper for C callbacks, which nobody asks for.

Compiling takes a while and is announced, see `gbt.kernels.platform.announcement`.
"""

import numpy as np
from numba import config, njit

from gbt.kernels.platform.announcement import announcer
from gbt.kernels.platform.filing import Filed
from gbt.kernels.platform.joining import Joined
from gbt.kernels.platform.lowering import Brief

IS_COMPILING = not getattr(config, "DISABLE_JIT", False)  # teams of threads need it

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function, **others):
    """Compile ``function`` at its first call; see the module's docstring for the options."""
    if not IS_COMPILING:
        return _plain(function)
    compiled = njit(pipeline_class=Brief, **OPTIONS, **others)(function)
    compiled._cache = Filed(function)
    announcer.kernels.add(compiled)
    return compiled


def uncounted(function):
    """Compile a kernel that makes no arrays, only views of what it is given.

    Numba counts the references to every view, in steps that lock the memory bus. Where views are
    made in inner loops that took a quarter of a kernel's time.
    """
    return kernel(function, _nrt=False)


def internal(function):
    """Compile an uncounted kernel that only other kernels call.

    Translating the arguments of a Python call takes longer to compile than most kernels: 0.15 of
    0.2 seconds where they are some twenty arrays.
    """
    return _inside(function)


def called_at(function):
    """Compile an uncounted kernel that other kernels call by its address; see `handing`."""
    return kernel(function, _nrt=False, no_cpython_wrapper=True)


def reordered(function):
    """Compile an internal kernel whose sums may be added in any order, which makes them vectors.

    The compiler chooses the order, so the last bits of a sum may differ between processors, and do
    not between runs. For sums that end in a search, or of NumPy's exponentials, whose last bits
    differ likewise, and never for those that a model keeps.
    """
    return _inside(function, fastmath={"reassoc"})


def optimised_first(function):
    """Compile an internal kernel whose loops are optimised before it becomes part of another.

    In the middle of a large kernel LLVM makes less of some loops: unbiased fits took 5 to 9 % more
    time until these kernels were optimised by themselves, too.
    """
    return _inside(function, pipeline_class=Brief)


def inlined(function):
    """Compile an uncounted kernel as part of the kernel that calls it, in a place or two."""
    return _inside(function, inline="always")


def forced_inline(function):
    """Compile an internal kernel of a few instructions into every kernel that calls it.

    Unless it is told to do so, the compiler makes a function of a kernel that is used more than
    once, and passes its arguments in memory.
    """
    return _inside(function, forceinline=True)


def _inside(function, **others):
    if not IS_COMPILING:
        return _plain(function)
    options = {"_nrt": False, "no_cpython_wrapper": True, "pipeline_class": Joined} | others
    compiled = njit(**options, **OPTIONS)(function)
    announcer.kernels.add(compiled)
    return compiled


def _plain(function):
    """Return the function as it is, as silent about divisions by zero as when it is compiled."""
    return np.errstate(all="ignore")(function)
