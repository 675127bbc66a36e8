"""Climb the ladder: verify every rung against the plain page, time it, print and draw the result.

    python -m benchmarks.ladder --write          some ten minutes on two quiet cores

XGBoost is measured if it is installed.
"""

import sys

from benchmarks.ladder.measuring import N_TREES, REPEATS, SIZES, experiment
from benchmarks.ladder.report import draw, table
from benchmarks.speed.timing import machine
from benchmarks.study import Part
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS

CELLS = tuple(size._asdict() for size in SIZES)
STUDY = Study(
    "ladder", __doc__, (Part("rungs", CELLS, experiment, 1, table, is_timed=True),),
    draw=lambda tables: draw(tables["rungs"], DOCS / "ladder.svg"), folder="", is_signed=True,
    how=f"trees of depth 6, preparation shared by {N_TREES}; medians of {REPEATS} runs of {N_TREES}"
    " trees in turn, of slow rungs one run of fewer trees; ratios at the largest size that both"
    f" have; {machine()}",
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(STUDY))
