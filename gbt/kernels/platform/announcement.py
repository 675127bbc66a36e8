"""An announcement: kernels are being compiled. Half a minute of silence looks like an endless loop.

It is a warning of the logger ``gbt``. A process and those that it starts, such as joblib's workers,
are a family, and the warning is given once in a family. The process that imports this module first
puts the family's name into an environment variable, which the others inherit. The process that
compiles first makes an empty file of that name in the folder of temporary files; the others find it
there and are silent. Who clears the environment later changes nothing here.
"""

import atexit
import logging
import os
import tempfile
from contextlib import suppress
from pathlib import Path

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


def announce_compilation() -> None:
    """Say that kernels are being compiled, unless another process of the family has said so."""
    try:
        _mark().touch(exist_ok=False)
    except FileExistsError:
        return
    except OSError:  # no place for temporary files: better twice than not at all
        pass
    logging.getLogger("gbt").warning(
        "gbt compiles its kernels, once for the package in %s; that may take half a minute"
        " (python -m attributions.warmup does it ahead of time).",
        Path(__file__).parents[2],
    )
