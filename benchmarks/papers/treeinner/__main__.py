"""Run the experiments of Sun 2022 again.

python -m benchmarks.papers.treeinner table4 control        Table 4 and its control, simulated data
python -m benchmarks.papers.treeinner depth depth-chip      one sweep
python -m benchmarks.papers.treeinner text                  data as the paper's text has them
python -m benchmarks.papers.treeinner --data FOLDER --write     everything, and docs/treeinner.md
python -m benchmarks.papers.treeinner --from-results --write    the page, from the committed files

Finished replications are kept in a folder (--out), and a part that was interrupted goes on from
there. The ChIP data are ``chip_train.csv.gz`` and ``chip_valid.csv.gz`` in the folder --data, or
$GBT_DATA; parts that need them are skipped without them.
"""

import sys

from benchmarks.papers.treeinner import report, runs
from benchmarks.study import command

STUDY = report.TreeInnerStudy(
    "treeinner", __doc__, runs.parts(report.of_rows), report.sections, report.verdict, report.draw
)

if __name__ == "__main__":
    sys.exit(command.main(STUDY))
