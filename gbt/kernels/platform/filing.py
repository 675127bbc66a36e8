"""Filing: machine code is kept on disk under what it was made of.

Numba files a kernel's code under the path of its file, and asks whether that file has changed. So a
copy of the same sources compiles everything again, and code stays although a kernel that it calls
was edited in another file. Here the name of a file is a digest of all that its code depends on:

* the sources of the kernel's module and of all modules of the package that it imports, and so on;
* the types of the arguments;
* the processor, and the versions of Python, Numba, llvmlite and NumPy;
* what Numba's environment variables change in code, such as checks of indices.

So code that is found is the right code, in whatever clone or environment it was compiled, and there
is no index to keep. A file begins with a digest of the rest, by which one that is truncated or
damaged counts as missing.

Two folders are read: ``gbt/compiled``, which comes with a package built with machine code
(`gbt.kernels.platform.shipping`) and is trusted like the package, and the user's own
(`own_folder`), which is written as well and cleared of what was used least recently when it is
full. Machine code does whatever its author wants, so the latter must belong to this user or to
root, and nobody else may write to it.
"""

import hashlib
import importlib.util
import logging
import os
import pickle
import re
import stat
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite
import numba
import numpy as np
from numba import config
from numba.core import caching
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from gbt.kernels.platform.shipping import SHIPPED, level_of

VERSIONS = sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__
SETTINGS = (
    "BOUNDSCHECK",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "USING_SVML",
    "DEBUGINFO_DEFAULT",
)
MOST_BYTES = 2**29  # all tests together write a quarter of it
MAY_BE_WRITTEN_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
OPEN_TO_ALL = stat.S_IWOTH | stat.S_ISVTX  # with the latter only owners rename, as in /tmp
# As text, because to parse all modules takes a tenth of a second of each process. A sentence that
# looks like an import does no harm.
IMPORTED = re.compile(r"^ *(?:import +(.*)|from +([\w.]+) +import +(\([^)]*\)|.*))", re.M)
N_BYTES_OF_DIGEST = hashlib.sha256().digest_size

_packages = {__name__.partition(".")[0]}  # those that have kernels


def own_folder():
    """Return where this user's code is kept.

    It is NUMBA_CACHE_DIR where that is set, beside the package where Numba is told so by
    NUMBA_CACHE_LOCATOR_CLASSES=InTreeCacheLocator, and else the user's folder for caches.
    """
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / "gbt"
    if "InTreeCacheLocator" in config.CACHE_LOCATOR_CLASSES:
        return Path(__file__).parent / "__pycache__" / "gbt"
    return Path(AppDirs("gbt", appauthor=False).user_cache_dir) / "kernels"


class Filed(caching._Cache):
    """The code of one kernel on disk, in the way in which Numba asks for it."""

    def __init__(self, function):
        """Note what the kernel is made of: its module as it is now, not as when it is called."""
        _packages.add(function.__module__.partition(".")[0])
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._sources = sources_of(function.__module__)

    @property
    def cache_path(self):
        """Return where code is written."""
        return str(own_folder())

    def enable(self):
        """Do nothing; it always is."""

    def disable(self):
        """Keep code no longer."""
        self._sources = None

    def flush(self):
        """Do nothing: code of other sources is never found."""

    def load_overload(self, types, target):
        """Return the code for these types of arguments, or None."""
        target.refresh()
        if self._sources is None:
            return None
        processor = target.codegen().magic_tuple()
        folder = own_folder()
        data = _read(folder / self._file(types, processor)) if _is_ours(folder) else None
        if data is None and (level := level_of(processor)):
            data = _read(SHIPPED / self._file(types, level))
        return data and CompileResult._rebuild(target, *pickle.loads(data))

    def save_overload(self, types, result):
        """Keep the code for these types of arguments, if it can be."""
        if self._sources is None or result.library.has_dynamic_globals:
            return
        file = self._file(types, result.codegen.magic_tuple())
        with suppress(OSError):  # a full disk, a folder that cannot be written to
            _write(own_folder(), file, dumps(result._reduce()))

    def _file(self, types, processor):
        system = re.sub(r"[\d.]+$", "", processor[0])  # a Mac's has the version of its kernel
        processor = system, *processor[1:]
        settings = [str(getattr(config, name, None)) for name in SETTINGS]
        of = repr((self._name, self._sources, repr(types), processor, VERSIONS, settings))
        return f"{self._name[:60]}-{hashlib.sha256(of.encode()).hexdigest()[:40]}"


# ----------------------------------------------------------------------------------------- sources


@cache
def sources_of(module):
    """Return a digest of a module's source and of those that it reaches, None without source."""
    found, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _source(name)
            waiting += _imports(name)
    if found[module] is None:
        return None
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


@cache
def _source(module):
    try:
        spec = importlib.util.find_spec(module)
        return spec.loader.get_source(module)
    except (ImportError, AttributeError, ValueError, OSError):  # none, or no text
        return None


@cache
def _imports(module):
    """Name the modules of packages with kernels that a module imports."""
    found = []
    for plain, base, names in IMPORTED.findall(_source(module) or ""):
        is_package = hasattr(sys.modules.get(base), "__path__")
        inner = re.findall(r"\w+", names) if is_package else ()
        candidates = [base, *(f"{base}.{name}" for name in inner), *re.findall(r"[\w.]+", plain)]
        found += [c for c in candidates if c.partition(".")[0] in _packages and _source(c)]
    return found


# ------------------------------------------------------------------------------------------- files


def _read(path):
    """Return what a file holds, or None if it is not there or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, rest = data[:N_BYTES_OF_DIGEST], data[N_BYTES_OF_DIGEST:]
    if hashlib.sha256(rest).digest() != digest:
        return None
    with suppress(OSError):
        os.utime(path)  # it was used just now
    return rest


def _write(folder, file, data):
    """Write a file whole or not at all, whoever else does so at the same time."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_ours(folder):
        return
    _make_room(folder)
    descriptor, temporary = tempfile.mkstemp(dir=folder)
    try:
        with open(descriptor, "wb") as written:
            written.write(hashlib.sha256(data).digest() + data)
        Path(temporary).replace(folder / file)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def _is_ours(folder):
    """Say whether a folder is there and only this user and root may write to it, or replace it."""
    try:
        found = folder.stat()
        replaceable = [f for f in folder.parents if f.stat().st_mode & OPEN_TO_ALL == stat.S_IWOTH]
    except OSError:
        return False
    if os.name == "nt":  # whose folders of users are their own
        return True
    is_own = found.st_uid in (os.geteuid(), 0) and not found.st_mode & MAY_BE_WRITTEN_BY_OTHERS
    # A relative folder is that of whoever made the present one, perhaps part of a download.
    if is_own and folder.is_absolute() and not replaceable:
        return True
    _warn_of(folder)
    return False


@cache
def _warn_of(folder):
    logging.getLogger("gbt").warning(
        "gbt keeps no machine code in %s: it must be an absolute folder to which no other user may"
        " write. Kernels are compiled in each process (chmod go-w, or another NUMBA_CACHE_DIR).",
        folder,
    )


@cache
def _make_room(folder):
    """Once in a process, remove what was used least recently from a folder that is full."""
    files = []
    for path in folder.iterdir():
        with suppress(OSError):  # another process removes files, too
            found = path.stat()
            files.append((found.st_mtime, found.st_size, path))
    files.sort()
    n_bytes = sum(size for _, size, _ in files)
    for _, size, path in files:
        if n_bytes <= MOST_BYTES:
            break
        with suppress(OSError):
            path.unlink()
        n_bytes -= size
