"""How well trainers predict on real tables: ours at many settings, four libraries, a linear model.

    python -m benchmarks.accuracy --data FOLDER            fits; defaults are chosen on one half
    python -m benchmarks.accuracy --write                  CSV file, page and picture

Every fit is a line of a file, and a later call does what is not there yet, so a run may be cut off,
or be given some minutes at a time. With --more, what the CSV file in benchmarks/results has counts
as done, too, and stays in it; the same versions must have made it.
"""

import argparse
import os
import sys
from pathlib import Path

from benchmarks.accuracy import others, ours, report, running
from benchmarks.accuracy.tasks import SIZES
from benchmarks.study.data import FOLDER, folder
from benchmarks.study.files import RESULTS, fill, header, made_by, read_rows, write_rows

FILE = RESULTS / "accuracy.csv"
COMMAND = "python -m benchmarks.accuracy"


def main(arguments=None) -> int:
    """Fit, or write what was found; return 3 if the time was over before all was done."""
    line = argparse.ArgumentParser(
        prog=COMMAND, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = line.add_argument
    add("--data", type=Path, help=f"folder of the tables; default: ${FOLDER}")
    add("--out", type=Path, default=Path("accuracy_results.jsonl"), help="default: %(default)s")
    add("--half", choices=[*report.HALVES], help="default: both")
    add("--largest", type=int, default=SIZES[-1], help="most rows to train on")
    add("--repetitions", type=int, default=3, help="of every task and size; default: %(default)s")
    add("--only", nargs="*", default=[], metavar="NAME", help="of trainers")
    add("--minutes", type=float, default=float("inf"), help="after which no further fit begins")
    add("--more", action="store_true", help="go on from the published CSV file")
    add("--write", action="store_true", help="write CSV file, page and picture")
    options = line.parse_args(arguments)
    published = []
    if options.more:
        made, this = made_by(FILE), header(COMMAND).removeprefix("# ")
        if made != this:
            line.error(f"{FILE} begins with {made!r}, and this is {this!r}")
        published = read_rows(FILE)
    if options.data is not None:
        os.environ[FOLDER] = str(options.data.resolve())
    if options.write:
        if options.out.exists():
            write_rows(FILE, running.as_rows(running.read(options.out), published), COMMAND)
        rows = read_rows(FILE)
        fill(report.sections(rows), "accuracy")
        report.draw(rows)
        return 0
    if folder() is None:
        line.error(f"name the folder of the tables with --data, or in ${FOLDER}")
    trainers = [*others.names(), *ours.settings()]
    if unknown := sorted(set(options.only) - set(trainers)):
        line.error(f"there is no trainer {unknown[0]!r}; there are {', '.join(trainers)}")
    asked = [name for name in trainers if name in options.only or not options.only]
    seconds = 60.0 * options.minutes
    cells = running.wanted(options.half, options.largest, options.repetitions)
    return 0 if running.run(options.out, cells, asked, seconds, published) else 3


if __name__ == "__main__":
    sys.exit(main())
