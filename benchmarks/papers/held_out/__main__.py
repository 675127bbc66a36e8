"""What held-out gain finds, and what it finds falsely: all losses, real tables, coverage, power.

python -m benchmarks.papers.held_out                     every part; half an hour on one core
python -m benchmarks.papers.held_out nulls power         these parts
python -m benchmarks.papers.held_out --write      and the CSV files and docs/held_out_gain.md
python -m benchmarks.papers.held_out --from-results      the tables again, from the CSV files
python -m benchmarks.papers.held_out --quick             tries the machinery in seconds: no numbers

Finished replications are kept in a folder (--out), and a part that was interrupted goes on from
there. Real tables come from the folder --data, or $GBT_DATA, and are skipped without it.
"""

import sys

from benchmarks.papers.held_out.parts import PARTS, sections, verdict
from benchmarks.study import command

STUDY = command.Study("held_out", __doc__, PARTS, sections, verdict, page_name="held_out_gain")

if __name__ == "__main__":
    sys.exit(command.main(STUDY))
