"""What standard errors and p-values of held-out rows are worth, by simulation: three hours.

python -m benchmarks.papers.inference --write
"""

import sys

from benchmarks.papers.inference import (
    crossed,
    dependence,
    gates,
    guard,
    nulls,
    selector_cuts,
    shadows,
    training_rows,
)
from benchmarks.papers.inference.picture import draw
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS

STUDY = Study(
    "inference",
    __doc__,
    (
        *gates.PARTS, *guard.PARTS, nulls.PART, dependence.PART, *crossed.PARTS, *shadows.PARTS,
        training_rows.PART, selector_cuts.PART,
    ),
    gates.sections,
    gates.verdict,
    lambda tables: draw(tables, DOCS / "inference.svg"),
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(STUDY))
