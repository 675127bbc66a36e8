"""What unbiased gain does in the simulations of Zhang, Zhang and Li (2023), and beyond them.

python -m benchmarks.papers.unbiased                     all parts
python -m benchmarks.papers.unbiased example1 ranks      these parts: example1, ranks, drift
python -m benchmarks.papers.unbiased --write      and the CSV files, docs/unbiased_gain.md, pictures
python -m benchmarks.papers.unbiased --from-results      the tables again, from the CSV files
python -m benchmarks.papers.unbiased --quick             tries the machinery in seconds: no numbers

Finished replications are kept in a folder (--out), and a part that was interrupted goes on from
there. Other parts of the paper are other commands: its Tables 1 and 8, trainers and importances
ranked over real tables, are python -m benchmarks.papers.rankings; what the importance costs is
python -m benchmarks.speed.measure_cost.
"""

import sys

from benchmarks.papers.unbiased import drift, example1, notebook
from benchmarks.papers.unbiased.picture import draw
from benchmarks.study import command
from benchmarks.study.command import own_table
from benchmarks.study.files import DOCS

PARTS = {part.name: part for part in (example1.PART, notebook.PART, drift.PART)}


def sections(parts, tables) -> dict[str, str]:
    """Return the tables of all parts, and the notebook's quartiles without an effect."""
    found = own_table(parts, tables)
    if "ranks" in tables:
        found["null"] = notebook.null_table(tables["ranks"])
    return found


STUDY = command.Study(
    "unbiased", __doc__, PARTS, sections, draw=lambda tables: draw(tables, DOCS),
    page_name="unbiased_gain",
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(command.main(STUDY))
