"""Run the experiments of Sun 2022 again.

python -m benchmarks.papers.treeinner --data FOLDER --write

*table4* and *control* are the standard setting, *text* the data as the paper's text has them; the
other parts are sweeps. The ChIP data are ``chip_train.csv.gz`` and ``chip_valid.csv.gz``.
"""

import sys

from benchmarks.papers.treeinner import report, runs
from benchmarks.study.command import main

STUDY = report.TreeInnerStudy(
    "treeinner", __doc__, runs.parts(report.of_rows), verdict=report.verdict, draw=report.draw
)

if __name__ == "__main__":
    sys.exit(main(STUDY))
