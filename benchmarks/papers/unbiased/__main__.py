"""What unbiased gain does in the simulations of Zhang, Zhang and Li (2023), and beyond them.

python -m benchmarks.papers.unbiased --write

Other parts of the paper are other commands: its Tables 1 and 8, trainers and importances ranked
over real tables, are python -m benchmarks.papers.rankings; what the importance costs is
python -m benchmarks.speed.measure_cost.
"""

import sys

from benchmarks.papers.unbiased import drift, example1, notebook
from benchmarks.papers.unbiased.picture import draw
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS

STUDY = Study(
    "unbiased",
    __doc__,
    (example1.PART, notebook.PART, drift.PART),
    lambda tables: {"null": notebook.null_table(tables["ranks"])} if "ranks" in tables else {},
    draw=lambda tables: draw(tables, DOCS),
    page_name="unbiased_gain",
)

if __name__ == "__main__":
    sys.exit(main(STUDY))
