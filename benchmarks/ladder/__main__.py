"""Climb the ladder: verify every rung against the plain page, time it, print and draw the result.

    python -m benchmarks.ladder                  some ten minutes on two quiet cores
    python -m benchmarks.ladder --quick          the smallest table alone; nothing is written
    python -m benchmarks.ladder --from-results   table and picture again, from the numbers on file

The numbers go to benchmarks/results/ladder.json, the table to benchmarks/results/ladder.md and to
docs/ladder.md, the picture to docs/ladder.svg. XGBoost is measured if it is installed.
"""

import argparse
import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import gbt
from benchmarks.ladder import measuring
from benchmarks.ladder.measuring import N_DRAWN, N_TREES, RUNGS, SIZES
from benchmarks.ladder.report import draw, lines_of_rungs, table
from benchmarks.study.files import DOCS, RESULTS, fill
from gbt.parallel.cores import available_cores


def conditions(repeats):
    """Say how the numbers were measured."""
    return (
        f"python -m benchmarks.ladder; trees of depth 6, preparation shared by {N_TREES}; medians"
        f" of {repeats} runs of {N_TREES} trees in turn, of slow rungs one run of fewer trees;"
        " ratios at the largest size that both have;"
        f" {platform.machine()}, {available_cores()} cores, Python {platform.python_version()},"
        f" gbt {gbt.__version__}, NumPy {version_of('numpy')}, Numba {version_of('numba')},"
        f" XGBoost {version_of('xgboost')}"
    )


def version_of(package):
    """Return the version of a package, or say that it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def climb(sizes, repeats):
    """Verify and measure; return seconds a tree by name, then by size."""
    measuring.verify_on_drawn_problems()
    print(f"{len(RUNGS)} rungs grow the same trees on {N_DRAWN} drawn problems", flush=True)
    seconds = {}
    for index, size in enumerate(sizes):
        for name, taken in measuring.measure(size, index, repeats).items():
            seconds.setdefault(name, {})[str(size)] = taken
        print(f"{size}: verified and timed", flush=True)
    return seconds


def write(found):
    """Write the table into its files, and the picture."""
    lines = "\n".join(table(found["seconds"], found["lines"]))
    (RESULTS / "ladder.md").write_text(f"{found['conditions']}\n\n{lines}\n")
    fill({"ladder": f"{lines}\n\n{found['conditions']}"}, "ladder")
    draw(found["seconds"], DOCS / "ladder.svg")


def main(arguments=None):
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="the smallest table alone")
    parser.add_argument("--from-results", action="store_true", help="read the JSON, do not measure")
    asked = parser.parse_args(arguments)
    file = RESULTS / "ladder.json"
    if asked.from_results:
        found = json.loads(file.read_text())
    else:
        sizes = SIZES[:1] if asked.quick else SIZES
        seconds = climb(sizes, asked.repeats)
        found = {"conditions": conditions(asked.repeats), "seconds": seconds}
        found["lines"] = lines_of_rungs()
    print("\n".join([found["conditions"], "", *table(found["seconds"], found["lines"])]))
    if not asked.quick:
        file.write_text(json.dumps(found, indent=1) + "\n")
        write(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
