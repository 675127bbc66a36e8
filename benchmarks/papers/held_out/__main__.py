"""What held-out gain finds, and what it finds falsely: all losses, real tables, coverage, power.

python -m benchmarks.papers.held_out --write
"""

import sys

from benchmarks.papers.held_out import (
    censoring,
    coverage,
    dependence,
    nulls,
    pipelines,
    planted,
    power,
    queries,
    ranking,
)
from benchmarks.study.command import Study, main

STUDY = Study(
    "held_out",
    __doc__,
    (
        nulls.PART, planted.PART, coverage.PART, *power.PARTS, dependence.PART, pipelines.PART,
        ranking.PART, *censoring.PARTS, *queries.PARTS,
    ),
    nulls.over_all_losses,
    nulls.verdict,
    page_name="held_out_gain",
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(STUDY))
