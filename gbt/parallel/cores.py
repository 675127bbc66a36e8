"""Cores: how many this process may use, given its affinity and the quota of its container.

A container is a control group of Linux, and may have a quota: so much time in every period, on any
cores. With more threads than quota / period all of them stand still for the rest of the period once
the time is used up. Groups are nested, and the least quota on the way up from the process's own
group counts. Its files come in two versions, and a system may have both::

    /proc/self/cgroup              0::/a/b            4:cpu,cpuacct:/a/b
    below /sys/fs/cgroup           a/b/cpu.max        cpu/a/b/cpu.cfs_quota_us, cpu.cfs_period_us
    a quota of 1.5 cores           150000 100000      150000, 100000
    none                           max 100000         -1, 100000

A container may see only its own group, as the root of the tree, but with the path that the group
has outside. That path does not exist inside, and the way up ends at the root all the same. A file
that cannot be read or understood is no limit. ``joblib.cpu_count`` looks only at the root's group.
"""

import math
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath


def available_cores(system: Path = Path("/")) -> int:
    """Return how many cores this process may use; ``system`` is the folder of proc and sys."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return int(min(cores, _quota(system)))


@cache  # even a prediction of one row needs it, and reading takes longer than that
def _quota(system: Path) -> float:
    """Return the least quota in cores, rounded up: at least 1, or infinity if there is none."""
    return min((_cores_of(limit) for limit in _limits(system)), default=math.inf)


def _limits(system: Path) -> Iterator[str]:
    """Yield quota and period of the process's groups and all above them, as the files have them."""
    groups = re.findall(r"^\d+:(.*?):/(.*)$", _read(system / "proc/self/cgroup"), re.MULTILINE)
    tree = system / "sys/fs/cgroup"
    for controllers, name in groups:
        own = PurePosixPath(name)
        for group in (own, *own.parents):
            if controllers == "":
                yield _read(tree / group / "cpu.max")
            elif "cpu" in controllers.split(","):
                folder = tree / "cpu" / group
                files = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
                yield " ".join(_read(folder / file) for file in files)


def _cores_of(limit: str) -> float:
    """Return quota / period, rounded up; infinity where they are no numbers above 0."""
    try:
        quota, period = map(int, limit.split())
    except ValueError:
        return math.inf
    return -(-quota // period) if min(quota, period) > 0 else math.inf


def _read(path: Path) -> str:
    """Return the text of a file, none if it cannot be read."""
    try:
        return path.read_text()
    except (OSError, ValueError):
        return ""
