"""What standard errors and p-values of held-out rows are worth, by simulation.

python -m benchmarks.inference                     every part; hours on one core
python -m benchmarks.inference nulls copies        these parts
python -m benchmarks.inference --write             and the CSV files, docs/inference.md, its picture
python -m benchmarks.inference --from-results      the tables again, from the CSV files
python -m benchmarks.inference --quick             tries the machinery in seconds: no numbers

Finished replications are kept in a folder (--out), and a part that was interrupted goes on from
there. Parts that need real tables take them from the folder $GBT_DATA and are skipped without it.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import joblib

from benchmarks.inference import report
from benchmarks.inference.data import is_there
from benchmarks.inference.finished import Finished, OtherRunError
from benchmarks.inference.parts import PARTS

OUT = Path("inference_results")
SECONDS = 30


def wanted(part, finished: Finished, n_replications: int) -> list[tuple[int, int]]:
    """Return cells and replications that are not finished, cell after cell in every replication."""
    keys = [(c, r) for r in range(n_replications) for c in range(len(part.cells))]
    return [key for key in keys if key not in finished.rows]


def run(part, finished: Finished, size: str, n_replications: int, n_jobs: int) -> None:
    """Run what is not finished, and keep each replication as it ends."""
    keys = wanted(part, finished, n_replications)
    work = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
    results = work(joblib.delayed(part.run)(*key, size) for key in keys)
    for done, (key, rows) in enumerate(zip(keys, results, strict=True), start=1):
        finished.add(*key, rows)
        if done % 50 == 0 or done == len(keys):
            print(f"{part.name}: {done} of {len(keys)}", file=sys.stderr, flush=True)


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(
        prog="python -m benchmarks.inference",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = line.add_argument
    add("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is named")
    add("--jobs", type=int, default=2, help="processes; change no number")
    add("--replications", type=int, help="of every cell; each part has its own number")
    add("--out", type=Path, default=OUT, help=f"finished replications; default: {OUT}")
    add("--quick", action="store_true", help="try the machinery: numbers mean nothing")
    add("--write", action="store_true", help="write CSV files, page and picture")
    add("--from-results", action="store_true", help="read the CSV files instead of simulating")
    return line


def main(arguments=None) -> int:
    """Run parts and print their tables; return the exit code."""
    line = parser()
    options = line.parse_args(arguments)
    if unknown := sorted(set(options.parts) - set(PARTS)):
        line.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    if options.quick and (options.write or options.from_results):
        line.error("--quick results are not worth keeping; leave out the other options")
    parts = [PARTS[name] for name in options.parts or PARTS]
    tables = {}
    if options.from_results:
        tables = report.read_tables([part.name for part in parts])
    else:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) if options.quick else options.out
            size = "quick" if options.quick else "full"
            for part in parts:
                if not is_there(part.needs):
                    print(f"{part.name} is skipped: $GBT_DATA has not all of {part.needs}")
                    continue
                usual = 2 if options.quick else part.n_replications
                try:
                    finished = Finished(folder, part, size)
                except OtherRunError as problem:
                    line.error(str(problem))
                run(part, finished, size, options.replications or usual, options.jobs)
                tables[part.name] = finished.in_order()
    print(report.printed(tables))
    if options.write:
        if not options.from_results:
            report.write_tables(tables)
        report.write_page()
    return 0 if options.quick else report.exit_code(tables)


if __name__ == "__main__":
    sys.exit(main())
