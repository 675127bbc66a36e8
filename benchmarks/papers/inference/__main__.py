"""What standard errors and p-values of held-out rows are worth, by simulation.

python -m benchmarks.papers.inference                     every part; hours on one core
python -m benchmarks.papers.inference nulls copies        these parts
python -m benchmarks.papers.inference --write      and the CSV files, docs/inference.md, its picture
python -m benchmarks.papers.inference --from-results      the tables again, from the CSV files
python -m benchmarks.papers.inference --quick             tries the machinery in seconds: no numbers

Finished replications are kept in a folder (--out), and a part that was interrupted goes on from
there. Parts that need real tables take them from the folder --data, or $GBT_DATA, and are skipped
without it.
"""

import sys

from benchmarks.papers.inference import report
from benchmarks.study import command

STUDY = report.study(__doc__)

if __name__ == "__main__":
    sys.exit(command.main(STUDY))
