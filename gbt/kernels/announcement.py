"""An announcement: kernels are being compiled. Half a minute of silence looks like an endless loop.

It is a warning of the logger ``gbt``. A process and those that it begins, such as joblib's workers,
say it once together. Whoever imports this first names the family, in an environment variable that
the others inherit; who compiles first makes an empty file of that name among the temporary ones.
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
    return Path(tempfile.gettempdir()) / f"gbt-compiles-{os.environ[VARIABLE]}"


def _remove_mark() -> None:
    with suppress(OSError):
        _mark().unlink()


if VARIABLE not in os.environ:
    os.environ[VARIABLE] = os.urandom(8).hex()
    atexit.register(_remove_mark)


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
        " (python -m gbt.warmup does it ahead of time).",
        Path(__file__).parents[1],
    )
