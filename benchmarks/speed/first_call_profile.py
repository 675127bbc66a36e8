"""Where the time of the first call goes: what Numba reports of itself in a fresh process.

    python -m benchmarks.speed.first_call_profile

A process with an empty cache of kernels imports the libraries, fits and explains, as in ``python -m
benchmarks.speed.growth first-call``, while Numba's events are recorded: functions compiled, passes
of its compiler over each, and the time in which LLVM is at work. Seconds are medians of processes.
Recording takes some of the time itself.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter

from benchmarks.speed.growth.first_call import FIRST_USE, LIBRARIES, MOST_SECONDS

PROCESSES = 3
LARGEST = 5  # functions named
PASSES = {  # of Numba: in our words
    "native_lowering": "translation to LLVM's language, without LLVM",
    "nopython_type_inference": "inference of types",
    "inline_inlinables": "kernels inlined into others",
}


def own_seconds(events) -> Counter:
    """Return by name the seconds between start and end, less those of what lies in between.

    events   (seconds, whether something starts, name), by time
    """
    found, inside = Counter(), []
    for moment, starts, name in events:
        if starts:
            inside.append([moment, 0.0])
        else:
            started, of_others = inside.pop()
            found[name] += moment - started - of_others
            if inside:
                inside[-1][1] += moment - started
    return found


def record(started: float, imported: float) -> dict:
    """Fit and explain in this process, which began and imported then; return what was recorded."""
    from numba.core import event

    def name_of(kind, data):
        if kind == "numba:compile":
            return data["dispatcher"].py_func.__name__
        return "LLVM" if data is None else data["name"].split(" [")[0]

    listeners = {kind: event.RecordingListener() for kind in ("numba:compile", "numba:run_pass")}
    listeners["numba:llvm_lock"] = event.RecordingListener()
    for kind, listener in listeners.items():
        event.register(kind, listener)
    exec(FIRST_USE, {})
    found = {"all": time.perf_counter() - started, "imports": imported - started}
    for kind, listener in listeners.items():
        events = [(t, e.is_start, name_of(kind, e.data)) for t, e in listener.buffer]
        found[kind] = own_seconds(events)
        found[f"{kind} #"] = sum(starts for _, starts, _ in events)
    return found


PROGRAM = f"""
import json, time
started = time.perf_counter()
{LIBRARIES}
imported = time.perf_counter()
from benchmarks.speed import first_call_profile as profile
print(json.dumps(profile.record(started, imported)))
"""


def recorded_elsewhere() -> dict:
    """Return what a fresh process with an empty cache records."""
    with tempfile.TemporaryDirectory() as folder:
        printed = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return json.loads(printed.splitlines()[-1])


def parts_of(found: dict) -> dict[str, float]:
    """Return the parts of one process's time, which add up to all of it."""
    passes = Counter(found["numba:run_pass"])
    llvm = found["numba:llvm_lock"]["LLVM"]
    passes["native_lowering"] -= llvm  # LLVM is at work in this pass
    parts = {"LLVM, which optimises and writes machine code": llvm}
    parts |= {f"Numba: {words}": passes.pop(name) for name, words in PASSES.items()}
    parts["Numba: all other passes"] = sum(passes.values())
    parts["importing NumPy, Numba, SciPy and scikit-learn"] = found["imports"]
    parts["all else, the fit itself included"] = found["all"] - sum(parts.values())
    return parts


def main():
    """Print a Markdown table."""
    runs = [recorded_elsewhere() for _ in range(PROCESSES)]
    parts = [parts_of(found) for found in runs]

    def median(of_run):
        return statistics.median(of_run(found) for found in runs)

    total = median(lambda found: found["all"])
    print(
        f"{platform.machine()}, Python {platform.python_version()}; medians of {PROCESSES} fresh"
        f" processes, nothing compiled yet\n\n| part | seconds |\n|---|--:|\n| all | {total:.1f} |"
    )
    for name in parts[0]:
        print(f"| {name} | {statistics.median(part[name] for part in parts):.1f} |")
    functions = runs[0]["numba:compile"]
    largest = sorted(functions, key=functions.get, reverse=True)[:LARGEST]
    named = ", ".join(f"`{k}` {median(lambda f, k=k: f['numba:compile'][k]):.1f}" for k in largest)
    target = MOST_SECONDS["empty"]
    rest = median(lambda found: found["all"] - found["numba:llvm_lock"]["LLVM"])
    print(
        f"\n{runs[0]['numba:compile #']} functions are compiled; seconds of the largest, what they"
        f" call left out: {named}.\n\n* Claim: if LLVM took no time it would still be more than"
        f" {target:.0f} s: {rest:.1f}. **{rest > target}**"
    )
    return 0


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    sys.exit(main())
