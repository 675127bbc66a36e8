"""One decorator for every kernel of the project.

* ``nogil``: Python threads run the same kernel on different blocks at once (``gbt.parallel``).
* ``error_model="numpy"``: a division by zero gives inf or nan instead of raising. Loops that may
  raise cannot be vectorised.
* ``cache``: machine code is kept on disk and read by the next process. Where no cache folder is
  writable (a read-only installation, no home folder) Numba refuses at decoration; the kernel then
  compiles once a process instead.
* ``uncounted``: for kernels that make no arrays, only views of what they are given. Numba counts
  references of every view, in steps that lock the memory bus; where views are made in inner loops
  that took a quarter of the time, and a third of the compilation.
"""

from numba import njit


def kernel(function, **others):
    """Compile ``function`` at its first call; see the module's docstring for the options."""
    options = {"nogil": True, "error_model": "numpy", **others}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return njit(**options)(function)


def uncounted(function):
    """Compile a kernel that makes no arrays."""
    return kernel(function, _nrt=False)
