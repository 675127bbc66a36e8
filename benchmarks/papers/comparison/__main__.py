"""All importances of this library on the same tables: findings, false findings, order, cost.

python -m benchmarks.papers.comparison                    both parts; half an hour on two cores
python -m benchmarks.papers.comparison simulated          one of them
python -m benchmarks.papers.comparison --write            and the CSV files and docs/comparison.md
python -m benchmarks.papers.comparison --from-results     the tables again, from the CSV files
python -m benchmarks.papers.comparison --quick            tries the machinery in seconds: no numbers

Finished replications are kept in a folder (--out), and a part that was interrupted goes on from
there. Real tables come from the folder --data, or $GBT_DATA, and are skipped without it.
"""

import sys

from benchmarks.papers.comparison.parts import PARTS, sections
from benchmarks.study import command

STUDY = command.Study("comparison", __doc__, PARTS, sections)

if __name__ == "__main__":
    sys.exit(command.main(STUDY))
