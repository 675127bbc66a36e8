"""How often something is said to have changed where nothing has, and where something has.

python -m benchmarks.papers.changes --write
"""

import sys

from benchmarks.papers.changes.level import LEVEL
from benchmarks.papers.changes.power import POWER
from benchmarks.study.command import Study, main

STUDY = Study("changes", __doc__, (LEVEL, POWER))

if __name__ == "__main__":
    sys.exit(main(STUDY))
