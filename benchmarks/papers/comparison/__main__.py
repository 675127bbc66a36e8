"""All importances of this library on the same tables: findings, false findings, order, cost.

python -m benchmarks.papers.comparison --write
"""

import sys

from benchmarks.papers.comparison.parts import PARTS, summary
from benchmarks.study.command import Study, main


def beside(tables) -> dict[str, str]:
    """Return the summary of each part."""
    return {f"{name} summary": summary(rows) for name, rows in tables.items()}


STUDY = Study("comparison", __doc__, PARTS, beside)

if __name__ == "__main__":
    sys.exit(main(STUDY))
