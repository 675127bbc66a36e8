"""What held-out gain finds, and what it finds falsely: all losses, real tables, coverage, power.

python -m benchmarks.papers.held_out --write
"""

import sys

from attributions import held_out_gain
from benchmarks.papers.held_out import (
    censoring,
    coverage,
    dependence,
    nulls,
    planted,
    power,
    queries,
)
from benchmarks.speed.measure_cost import cost_of
from benchmarks.study.command import Study, main

STUDY = Study(
    "held_out",
    __doc__,
    (
        *nulls.PARTS, planted.PART, coverage.PART, *power.PARTS, dependence.PART, *censoring.PARTS,
        *queries.PARTS, cost_of(held_out_gain),
    ),
    nulls.over_all_losses,
    nulls.verdict,
    page_name="held_out_gain",
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(STUDY))
