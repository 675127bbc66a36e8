"""Files that are written as a whole or not at all, even if the writing process is killed.

The content goes to a temporary file beside the target, which is renamed once it is complete. The
remains of a process that was killed are removed when the same file is written an hour later.
"""

import os
import secrets
import stat
import time
from contextlib import suppress
from glob import escape
from pathlib import Path

ABANDONED_AFTER = 3600  # seconds without a change; nobody writes a file for so long


def write_whole(content: str | bytes, path: str | os.PathLike) -> None:
    """Write a file as a whole or not at all.

    An existing file keeps its permissions and is replaced once the new one is complete; a symbolic
    link stays one, and the file that it leads to is replaced.
    """
    target = _check_target(path)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    beginning = f".{target.name[:40]}."  # a part of the name, because names may be too long
    for left in target.parent.glob(f"{escape(beginning)}{'?' * 16}.unfinished"):
        with suppress(OSError):  # another process removes it, too
            if time.time() - left.stat().st_mtime > ABANDONED_AFTER:
                left.unlink()
    unfinished = target.with_name(f"{beginning}{secrets.token_hex(8)}.unfinished")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    descriptor = os.open(unfinished, flags, 0o666 if mode is None else mode & 0o600)
    try:
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.chmod(unfinished, mode)  # the umask may have taken permissions away
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def _check_target(path: str | os.PathLike) -> Path:
    """Return the file to write, links followed; raise an error if it cannot be written."""
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.exists():
        raise FileNotFoundError(
            f"There is no folder {str(folder)!r} to save {target.name!r} in; make it first."
        )
    if not folder.is_dir():
        raise NotADirectoryError(f"{str(folder)!r} is not a folder to save {target.name!r} in.")
    if target.is_dir():
        raise IsADirectoryError(
            f"{os.fspath(path)!r} is a folder; add the name of a file to save the model in."
        )
    if target.exists() and not target.is_file():
        raise OSError(f"{os.fspath(path)!r} is not a file that can be replaced by another.")
    return target
