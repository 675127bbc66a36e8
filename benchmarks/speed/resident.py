"""The largest resident memory of a process, by what Linux says of it.

``ru_maxrss`` of a new process starts at what its *parent* had; VmHWM does not.
"""

import ctypes
from pathlib import Path

MEGABYTE = 1e6


def peak() -> int:
    """Return the most bytes that this process has had so far, or since `forget_peak`."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def forget_peak() -> int:
    """Begin anew; return the bytes that this process has now.

    Memory that was given back, but that the C library still holds, would hide what comes next.
    """
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return peak()
