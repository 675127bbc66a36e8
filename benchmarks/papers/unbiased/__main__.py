"""What unbiased gain does in the simulations of Zhang, Zhang and Li (2023), and beyond them.

python -m benchmarks.papers.unbiased --write

The paper's Tables 1 and 8, trainers and importances ranked over real tables, are another command:
python -m benchmarks.papers.rankings.
"""

import sys

from attributions import unbiased_gain
from benchmarks.papers.unbiased import drift, example1, noise, notebook
from benchmarks.papers.unbiased.picture import draw
from benchmarks.speed.measure_cost import cost_of
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS


def of_halves(model, X, y, **options):
    """Judge by half of the rows, the others being for training."""
    half = len(X) // 2
    return unbiased_gain(model, X[:half], y[:half], X[half:], y[half:], **options)


STUDY = Study(
    "unbiased",
    __doc__,
    (example1.PART, notebook.PART, drift.PART, noise.PART, cost_of(of_halves)),
    lambda tables: {"null": notebook.null_table(tables["ranks"])} if "ranks" in tables else {},
    draw=lambda tables: draw(tables, DOCS),
    page_name="unbiased_gain",
)

if __name__ == "__main__":
    sys.exit(main(STUDY))
