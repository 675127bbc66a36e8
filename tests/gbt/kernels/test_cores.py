"""How many cores a process may use, read from folders that are laid out as Linux does it."""

import os

import pytest

from gbt.parallel.cores import available_cores

ONE_GROUP = {"proc/self/cgroup": "0::/\n"}
V2 = {"proc/self/cgroup": "0::/a/b\n"}
V1 = {"proc/self/cgroup": "5:memory:/m\n4:cpu,cpuacct:/a/b\n1:name=systemd:/s\n0::/\n"}


def v2(group, text):
    return {f"sys/fs/cgroup/{group}/cpu.max": text}


def v1(group, quota, period="100000\n"):
    folder = f"sys/fs/cgroup/cpu/{group}"
    return {f"{folder}/cpu.cfs_quota_us": quota, f"{folder}/cpu.cfs_period_us": period}


def system_of(folder, files):
    """Write files, and return the folder as it would be the root of a system."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def _eight_cores(monkeypatch):
    """What is tested is the quota; this machine has the cores that it has."""
    if hasattr(os, "sched_getaffinity"):
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    else:
        monkeypatch.setattr(os, "cpu_count", lambda: 8)


CASES = {
    "one group, 1.5 cores": (2, ONE_GROUP | v2(".", "150000 100000\n")),
    "half a core": (1, ONE_GROUP | v2(".", "50000 100000\n")),
    "a thousandth of one": (1, ONE_GROUP | v2(".", "100 100000\n")),
    "three in another period": (3, ONE_GROUP | v2(".", "30000 10000\n")),
    "more than there are": (8, ONE_GROUP | v2(".", "1600000 100000\n")),
    "no limit": (8, ONE_GROUP | v2(".", "max 100000\n")),
    "the root has no such file": (8, ONE_GROUP),
    "the own group": (3, V2 | v2("a/b", "300000 100000\n") | v2("a", "max 100000\n")),
    "the one above it": (2, V2 | v2("a/b", "300000 100000\n") | v2("a", "200000 100000\n")),
    "the own has none": (5, V2 | v2("a/b", "max 100000\n") | v2("a", "500000 100000\n")),
    "a group beside the way": (8, V2 | v2("a/c", "100000 100000\n")),
    "the root of a container": (4, V2 | v2(".", "400000 100000\n")),
    "a name with a colon and a space": (
        2, {"proc/self/cgroup": "0::/a:b c\n"} | v2("a:b c", "200000 100000\n"),
    ),
    "version 1": (2, V1 | v1("a/b", "150000\n")),
    "version 1, above": (3, V1 | v1("a/b", "-1\n") | v1("a", "250000\n") | v1(".", "-1\n")),
    "version 1, no limit": (8, V1 | v1("a/b", "-1\n") | v1("a", "-1\n") | v1(".", "-1\n")),
    "version 1, the root of a container": (2, V1 | v1(".", "200000\n")),
    "version 1, another controller's": (8, V1 | v1("m", "100000\n") | v1("s", "100000\n")),
    "both, the least": (2, V1 | v1("a/b", "300000\n") | v2(".", "200000 100000\n")),
    "nothing is there": (8, {}),
    "no line is understood": (8, {"proc/self/cgroup": "x\n::\n0:/\n"} | v2(".", "1 1\n")),
    "no number": (8, ONE_GROUP | v2(".", "a few\n")),
    "one number": (8, ONE_GROUP | v2(".", "100000\n")),
    "an empty file": (8, ONE_GROUP | v2(".", "")),
    "a period of 0": (8, ONE_GROUP | v2(".", "100000 0\n")),
    "a quota without a period": (8, V1 | v1("a/b", "100000\n", period="")),
}  # fmt: skip


@pytest.mark.parametrize(("cores", "files"), CASES.values(), ids=CASES)
def test_a_quota_is_the_least_on_the_way_up_and_rounded_up(cores, files, tmp_path):
    assert available_cores(system_of(tmp_path, files)) == cores


def test_what_cannot_be_read_is_no_limit(tmp_path):
    system = system_of(tmp_path, V2 | v2("a", "200000 100000\n"))
    (system / "sys/fs/cgroup/a/b/cpu.max").mkdir(parents=True)  # a folder is no text
    (system / "sys/fs/cgroup/cpu.max").write_bytes(b"\xff\xfe 100000")
    assert available_cores(system) == 2


def test_fewer_cores_than_the_quota(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3}, raising=False)
    assert available_cores(system_of(tmp_path, ONE_GROUP | v2(".", "400000 100000\n"))) == 1
