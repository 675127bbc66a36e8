"""How often the command is right about drawn tables whose truth is known.

``panels`` are tables in which rows of one subject belong together, ``apart`` such in which no rows
do: how often does the command speak of rows that belong together, and how often rightly?
``leaks`` are tables of which half have a column that gives the answer away: how often does it warn?
``joint`` counts false and true verdicts, and intervals that miss, beside Holm's. ``tails`` says
which ends of intervals hold where targets have many zeros and a long tail.

    python -m benchmarks.papers.report --write
"""

import sys

from benchmarks.papers.report.belonging import APART, PANELS
from benchmarks.papers.report.joint import JOINT
from benchmarks.papers.report.leaks import LEAKS
from benchmarks.papers.report.tails import TAILS
from benchmarks.study.command import Study, main

STUDY = Study("report", __doc__, (PANELS, APART, LEAKS, JOINT, TAILS))

if __name__ == "__main__":
    sys.exit(main(STUDY))
