"""The command line of a study: run parts, print their tables, write files and the page.

Each replication is kept in a folder as it ends, so a part that was interrupted goes on from there.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import perf_counter

import joblib

from benchmarks.study.data import FOLDER, is_there
from benchmarks.study.files import (
    RESULTS,
    as_read,
    fill,
    header,
    is_filled,
    made_by,
    read_rows,
    write_rows,
)
from benchmarks.study.finished import Finished, OtherRunError
from benchmarks.study.part import SEED, Part

SECONDS_BETWEEN_LINES = 10


@dataclass(frozen=True)
class Study:
    """What a study is made of."""

    name: str  # of the module, of the CSV files and of the page
    description: str  # for ``--help``
    all_parts: tuple[Part, ...]  # in the order of the page
    # Takes the rows of the parts that were run, returns tables that the page has beside theirs.
    beside: Callable = lambda tables: {}
    verdict: Callable = lambda tables: ([], 0)  # lines to print below the tables, and the exit code
    draw: Callable = lambda tables: None  # takes the rows of all parts, writes the page's pictures
    page_name: str = ""  # if it is not that of the study
    pages: dict[str, str] = field(default_factory=dict)  # of tables that stand in other ones
    prefix: str = ""  # of the names that the parts' tables have in the page
    folder: str = "papers."  # of the module below ``benchmarks``
    how: str = f"seed {SEED}"  # it was measured, which the files begin with
    is_signed: bool = False  # whether tables of the page end with what their files begin with

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The parts by name."""
        return {part.name: part for part in self.all_parts}

    @property
    def page(self) -> str:
        """The name of the page with its tables."""
        return self.page_name or self.name

    @property
    def command(self) -> str:
        """What makes its files."""
        return f"python -m benchmarks.{self.folder}{self.name} --write"

    def results(self, part: str) -> Path:
        """Return the file of a part."""
        return RESULTS / f"{self.name}_{part}.csv"

    def read(self, parts=None) -> dict[str, list[dict]]:
        """Read the rows of some parts, or of all that have a file."""
        names = [name for name in self.parts if self.results(name).exists()]
        return {name: read_rows(self.results(name)) for name in parts or names}

    def published(self, part: Part) -> list[dict]:
        """Read the replications of a part's CSV file; raise `OtherRunError` if it is another's."""
        path = self.results(part.name)
        made, this = f"# {made_by(path)}", header(self.command, self.how)
        if made != this:
            raise OtherRunError(f"{path} begins with {made!r}, and this is {this!r}.")
        if part.summary is not list:
            raise OtherRunError(f"{path} has sums, from which no part can go on.")
        return read_rows(path)

    def sections(self, tables: dict[str, list[dict]]) -> dict[str, str]:
        """Return the tables of the page that the rows of some parts fill, by name."""
        found = {
            f"{self.prefix}{name}": part.table(tables[name])
            for name, part in self.parts.items()
            if name in tables and part.table
        }
        return found | self.beside(tables)

    def write(self, tables: dict[str, list[dict]]) -> None:
        """Write the files of the parts that were run."""
        for name, rows in tables.items():
            write_rows(self.results(name), rows, self.command, self.how)

    def of_files(self) -> dict[str, str]:
        """Return the tables of the page, from the files."""
        found = self.sections(self.read())
        if self.is_signed:
            for name in set(found) & set(self.parts):
                found[name] += f"\n\n{made_by(self.results(name))}"
        return found

    def by_page(self) -> Iterator[tuple[dict[str, str], str]]:
        """Yield the tables of each page, from the files, and its name."""
        tables = self.of_files()
        for page in dict.fromkeys([self.page, *self.pages.values()]):
            yield {n: of for n, of in tables.items() if self.pages.get(n, self.page) == page}, page

    def write_page(self) -> None:
        """Write the tables of the page, and its pictures, from the files."""
        for tables, page in self.by_page():
            fill(tables, page)
        self.draw(self.read())

    def has_written(self) -> bool:
        """Return whether the page says what the files say."""
        return all(is_filled(tables, page) for tables, page in self.by_page())


def wanted(part: Part, finished: Finished, n_replications: int) -> list[tuple[int, int]]:
    """Return cells and replications that are not finished, cell after cell in every replication."""
    keys = [(c, r) for r in range(n_replications) for c in range(len(part.cells))]
    return [key for key in keys if key not in finished.rows]


def run(part: Part, finished: Finished, size: str, n_replications: int, n_jobs: int) -> None:
    """Run what is not finished, and keep each replication as it ends; say how long it will take."""
    keys = wanted(part, finished, n_replications)
    work = joblib.Parallel(n_jobs=1 if part.is_timed else n_jobs, return_as="generator")
    results = work(joblib.delayed(part.run)(*key, size) for key in keys)
    started = said = perf_counter()
    for done, (key, rows) in enumerate(zip(keys, results, strict=True), start=1):
        finished.add(*key, rows)
        now = perf_counter()
        if now - said >= SECONDS_BETWEEN_LINES or done == len(keys):
            said, left = now, (now - started) / done * (len(keys) - done)
            words = f"{part.name}: {done} of {len(keys)}, {left:.0f} s left"
            print(words, file=sys.stderr, flush=True)


def parser(study: Study) -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(
        prog=study.command.removesuffix(" --write"),
        description=study.description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    out = Path(f"{study.name}_results")
    add = line.add_argument
    add("parts", nargs="*", metavar="PART", help=f"of {', '.join(study.parts)}; all if none")
    needy = ", ".join(name for name, part in study.parts.items() if part.needs)
    need = f"; without it these are skipped: {needy}" if needy else ""
    add("--data", type=Path, metavar="FOLDER", help=f"of real tables, or ${FOLDER}{need}")
    add("--jobs", type=int, default=2, help="processes, which change no result; 1 where timed")
    add("--replications", type=int, help="of every cell; each part has its own number")
    add("--out", type=Path, default=out, help=f"folder of finished replications; default: {out}")
    add("--more", action="store_true", help="go on from the replications of the CSV files")
    add("--quick", action="store_true", help="try the machinery: numbers mean nothing")
    add("--write", action="store_true", help="write CSV files, page and picture")
    add("--from-results", action="store_true", help="read the CSV files instead of running")
    return line


def checked_options(study: Study, line: argparse.ArgumentParser, arguments):
    """Return the options and set the folder of data; end with an error where they make no sense."""
    options = line.parse_args(arguments)
    if unknown := sorted(set(options.parts) - set(study.parts)):
        line.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(study.parts)}")
    if options.quick and (options.write or options.from_results or options.more):
        line.error("--quick results are not worth keeping; leave out the other options")
    if options.data is not None:
        if not options.data.is_dir():
            line.error(f"--data {options.data}: there is no such folder")
        os.environ[FOLDER] = str(options.data.resolve())  # which worker processes inherit
    return options


def main(study: Study, arguments=None) -> int:
    """Run parts and print their tables; return the exit code."""
    line = parser(study)
    options = checked_options(study, line, arguments)
    tables = {}
    if options.from_results:
        tables = study.read(options.parts)
    else:
        parts = [study.parts[name] for name in options.parts or study.parts]
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) if options.quick else options.out
            size = "quick" if options.quick else "full"
            for part in parts:
                if not is_there(part.needs):
                    print(f"{part.name} is skipped: ${FOLDER} has not all of {part.needs}")
                    continue
                usual = 2 if options.quick else part.n_replications
                try:
                    finished = Finished(folder, part, size)
                    if options.more:
                        finished.take(study.published(part))
                except OtherRunError as problem:
                    line.error(str(problem))
                run(part, finished, size, options.replications or usual, options.jobs)
                tables[part.name] = part.summary(finished.in_order())
    read = {name: as_read(rows) for name, rows in tables.items()}
    for name, text in study.sections(read).items():
        print(f"{name}\n\n{text}\n")
    lines, exit_code = study.verdict(read)
    print(*lines, sep="\n")
    if options.write:
        if not options.from_results:
            study.write(tables)
        study.write_page()
    return 0 if options.quick else exit_code
