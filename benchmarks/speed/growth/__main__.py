"""How training grows: its time, its peak memory, and what the first call in a process costs.

    python -m benchmarks.speed.growth --write                  some ten minutes on two quiet cores

*time*        Whole fits of few trees, over rows, columns, distinct values, depth and threads, and
              beside each the ranking of the columns alone. An exponent is the slope of log time
              over log size by least squares, over all sizes or over the upper half of the range
              (on the log scale), where what a fit costs whatever its size has the least weight.
*memory*      Peak resident memory of a fresh process: with the kernels loaded, with the data,
              and after a fit; beside it what the arrays add up to by calculation.
*first-call*  Fresh processes: importing, and what each first call costs, without and with
              compiled kernels on disk, and by the Python of an environment with a wheel that has
              machine code ($GBT_WHEEL).

No time is printed unless small trees are those of ``gbt.reference`` and large ones are the same to
the last bit for 1 and 2 threads.
"""

import sys

from benchmarks.speed.growth import first_call, fit_time, memory
from benchmarks.speed.growth.picture import draw
from benchmarks.speed.timing import machine
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS
from benchmarks.study.tables import markdown

CLAIMS = {"time": fit_time.claims, "memory": memory.claims, "first-call": first_call.claims}


def beside(tables) -> dict[str, str]:
    """Return what the parts claim, and whether it holds."""
    return {
        f"{part} claims": markdown(
            ["holds", "claim"], [[f"**{holds}**", words] for words, holds in CLAIMS[part](rows)]
        )
        for part, rows in tables.items()
    }


def verdict(tables) -> tuple[list[str], int]:
    """Say whether all claims hold."""
    all_hold = all(holds for part, rows in tables.items() for _, holds in CLAIMS[part](rows))
    return [f"All claims hold: {all_hold}"], 0 if all_hold else 1


STUDY = Study(
    "growth", __doc__, (fit_time.PART, memory.PART, first_call.PART), beside, verdict,
    lambda tables: draw(tables["time"], DOCS / "growth.svg"),
    folder="speed.", how=f"seed 0; {machine()}", is_signed=True,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(STUDY))
