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
(`gbt.kernels.platform.shipping`), and the user's own (`own_folder`), which is written as well and
cleared of what was used least recently when it is full. Machine code does whatever its author
wants, so nothing is read from a folder to which other users may write.
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
# As text, because to parse all modules takes a tenth of a second of each process. A sentence that
# looks like an import does no harm.
IMPORTED = re.compile(r"^ *(?:import +([\w.]+)|from +([\w.]+) +import +(\([^)]*\)|.*))", re.M)
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

    def __init__(self, function, module=None):
        """Note what the kernel is made of: its module as it is now, not as it is when it is called.

        ``module`` is the name of the module that holds all that the kernel calls, its own if None.
        """
        module = module or function.__module__
        _packages.add(module.partition(".")[0])
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._sources = sources_of(module)

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
        data = _read(own_folder(), self._file(types, processor))
        if data is None and (level := level_of(processor)):
            data = _read(SHIPPED, self._file(types, level))
        return data and CompileResult._rebuild(target, *pickle.loads(data))

    def save_overload(self, types, result):
        """Keep the code for these types of arguments, if it can be."""
        if self._sources is None or result.library.has_dynamic_globals:
            return
        file = self._file(types, result.codegen.magic_tuple())
        with suppress(OSError):  # a full disk, a folder that cannot be written to
            _write(own_folder(), file, dumps(result._reduce()))

    def _file(self, types, processor):
        settings = [str(getattr(config, name, None)) for name in SETTINGS]
        of = repr((self._name, self._sources, repr(types), processor, VERSIONS, settings))
        return f"{self._name[:60]}-{hashlib.sha256(of.encode()).hexdigest()[:40]}"


# ----------------------------------------------------------------------------------------- sources


@cache
def sources_of(module: str) -> str | None:
    """Return a digest of a module's source and of those it imports, None if there is no source."""
    source = _source(module)
    if source is None:
        return None
    digest = hashlib.sha256(source.encode())
    for imported in sorted(set(_imports(source))):
        digest.update((sources_of(imported) or "").encode())
    return digest.hexdigest()


def _source(module):
    spec = importlib.util.find_spec(module) if module != "__main__" else None
    return spec.loader.get_source(module) if hasattr(spec and spec.loader, "get_source") else None


def _imports(source):
    """Name the modules of packages with kernels that a source imports."""
    for plain, module, names in IMPORTED.findall(source):
        if (plain or module).partition(".")[0] in _packages:
            yield plain or module
            is_package = hasattr(sys.modules.get(module), "__path__")
            for name in re.findall(r"\w+", names) if is_package else ():
                if importlib.util.find_spec(f"{module}.{name}"):
                    yield f"{module}.{name}"


# ------------------------------------------------------------------------------------------- files


def _read(folder, file):
    """Return what a file holds, or None if it is not there, is damaged, or cannot be trusted."""
    path = folder / file
    try:
        data = path.read_bytes() if _is_ours(folder) else b""
    except OSError:
        return None
    digest, rest = data[:N_BYTES_OF_DIGEST], data[N_BYTES_OF_DIGEST:]
    if hashlib.sha256(rest).digest() != digest:
        return None
    with suppress(OSError):
        path.touch()  # so that it was used recently; who only reads does not clear the folder
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
        Path(temporary).unlink()
        raise


@cache
def _is_ours(folder):
    """Say whether only this user and root may write to a folder that is there."""
    found = folder.stat()
    if os.name == "nt":  # whose folders of users are their own
        return True
    if found.st_uid in (os.geteuid(), 0) and not found.st_mode & MAY_BE_WRITTEN_BY_OTHERS:
        return True
    logging.getLogger("gbt").warning(
        "gbt keeps no machine code in %s, because other users may write to it. Kernels are compiled"
        " in each process (chmod go-w, or another NUMBA_CACHE_DIR).", folder,
    )  # fmt: skip
    return False


@cache
def _make_room(folder):
    """Once in a process, remove what was used least recently from a folder that is full."""
    files = sorted(
        (found.stat().st_mtime, found.stat().st_size, found) for found in folder.iterdir()
    )
    n_bytes = sum(size for _, size, _ in files)
    for _, size, path in files:
        if n_bytes <= MOST_BYTES:
            break
        with suppress(OSError):  # another process was faster
            path.unlink()
        n_bytes -= size
