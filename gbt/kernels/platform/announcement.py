"""An announcement: kernels are being compiled. Fifteen silent seconds look like an endless loop.

On a terminal it is a line that counts, and goes when the kernel that Python has called is ready::

    gbt compiles its kernels, this once: 37 of at most 120

At most, because a kernel may name others that it does not need for the types at hand. Elsewhere it
is one warning of the logger ``gbt``. A process and those that it starts, such as joblib's workers,
are a family, and one of a family announces. The process that imports this module first puts the
family's name into an environment variable, which the others inherit. The process that compiles
first makes an empty file of that name in the folder of temporary files; the others find it there
and are silent. Who clears the environment later changes nothing here.
"""

import atexit
import logging
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from weakref import WeakSet

from numba.core import event
from numba.core.dispatcher import Dispatcher

VARIABLE = "GBT_FAMILY_OF_PROCESSES"


def _mark() -> Path:
    """Return where the file of this family of processes is, once one of them has spoken."""
    return Path(tempfile.gettempdir()) / f"gbt-compiles-{_family}"


def _remove_mark() -> None:
    with suppress(OSError):
        _mark().unlink()


if VARIABLE not in os.environ:
    os.environ[VARIABLE] = os.urandom(8).hex()
    atexit.register(_remove_mark)
_family = os.environ[VARIABLE]


def is_first_of_its_family() -> bool:
    """Say whether no other process of the family has announced that it compiles."""
    try:
        _mark().touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:  # no place for temporary files: better twice than not at all
        pass
    return True


class Announcer(event.Listener):
    """Listens to Numba, which says when it begins and ends to compile a kernel."""

    def __init__(self):
        self.kernels = WeakSet()  # ours
        self.known, self.n_compiled, self.depth = set(), 0, 0
        self.announces = self.counts = None  # not known before the first is compiled

    def on_start(self, begun):
        """Announce the first of our kernels, and count from then on."""
        kernel = begun.data["dispatcher"]
        if kernel not in self.kernels:
            return
        if self.announces is None:
            self.announces = is_first_of_its_family()
            self.counts = self.announces and sys.stderr is not None and sys.stderr.isatty()
            if self.announces and not self.counts:
                logging.getLogger("gbt").warning(
                    "gbt compiles its kernels, once for this version of the package; a first fit"
                    " takes some fifteen seconds longer for it, other first calls a few."
                )
        if self.counts and self.depth == 0:
            self.known |= called_by(kernel)
        self.depth += 1

    def on_end(self, ended):
        """Write how many are done; clear the line after a kernel that Python has called."""
        if ended.data["dispatcher"] not in self.kernels:
            return
        self.depth -= 1
        self.n_compiled += 1
        if self.counts:
            line = f"gbt compiles its kernels, this once: {self.n_compiled} of at most"
            line += f" {max(len(self.known), self.n_compiled)}"
            sys.stderr.write(f"\r{line}" if self.depth else f"\r{' ' * len(line)}\r")
            sys.stderr.flush()


def called_by(kernel) -> set:
    """Return a kernel and those that it names, and those that these name."""
    found, waiting = set(), [kernel]
    while waiting:
        kernel = waiting.pop()
        if kernel in found:
            continue
        found.add(kernel)
        names, of_module = kernel.py_func.__code__.co_names, kernel.py_func.__globals__
        for named in map(of_module.get, names):
            if isinstance(named, ModuleType):
                waiting += [x for x in (getattr(named, name, None) for name in names) if is_one(x)]
            elif is_one(named):
                waiting.append(named)
    return found


def is_one(named) -> bool:
    """Say whether something is a function that Numba compiles."""
    return isinstance(named, Dispatcher)


announcer = Announcer()
event.register("numba:compile", announcer)
