"""Files that are written as a whole or not at all, even if the writing process is killed.

The content goes to a temporary file beside the target, under a lock, which is renamed once it is
complete. The next process that writes the same file removes the remains of one that was killed.
"""

import os
import secrets
import stat
from contextlib import suppress
from glob import escape
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks; there, what a killed save left behind stays
    fcntl = None  # type: ignore[assignment]


def write_whole(content: str | bytes, path: str | os.PathLike) -> None:
    """Write a file as a whole or not at all.

    An existing file keeps its permissions and is replaced once the new one is complete; a symbolic
    link stays one, and the file that it leads to is replaced.
    """
    target = _check_target(path)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    _remove_abandoned(target)
    unfinished, descriptor = _create_beside(target, mode)
    try:
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.chmod(unfinished, mode)  # the umask may have taken permissions away
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()  # Windows renames no open file; elsewhere this would end the lock
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


def _create_beside(target: Path, mode: int | None) -> tuple[Path, int]:
    """Create a file in the folder of another, on the same file system, and hold its lock."""
    while True:
        # Of the name only a part, because names may be too long.
        unfinished = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.unfinished")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = os.open(unfinished, flags, 0o666 if mode is None else mode & 0o600)
        is_ours = True
        try:
            _lock(descriptor)
        except BlockingIOError:
            is_ours = False
        except OSError:
            pass  # a file system without locks: there nobody removes unfinished files
        if is_ours and unfinished.exists():
            return unfinished, descriptor
        os.close(descriptor)  # another save removed it before it was locked: begin again


def _remove_abandoned(target: Path) -> None:
    """Remove what saves to the same file left behind when they were killed.

    A writing process holds a lock, which the system releases when the process dies.
    """
    if fcntl is None:
        return
    for path in target.parent.glob(f".{escape(target.name[:40])}.{'?' * 16}.unfinished"):
        with suppress(OSError):  # another process is writing it, or removes it, too
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                _lock(descriptor)
                path.unlink()
            finally:
                os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Take the lock of an open file; OSError if somebody has it or there are no locks."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
