"""Run the experiments of Sun 2022 again.

python -m benchmarks.papers.treeinner --data FOLDER --write

*table4* and *control* are the standard setting; the other parts are sweeps. The ChIP data are
``chip_train.csv.gz`` and ``chip_valid.csv.gz``.
"""

import sys
from collections.abc import Iterable
from itertools import chain

from benchmarks.papers.treeinner import beyond, claims, figures, files, runs, table
from benchmarks.papers.treeinner.protocol import CONTROL, TASKS
from benchmarks.papers.treeinner.runs import Results
from benchmarks.study.claims import Claim, summary
from benchmarks.study.claims import table as table_of_claims
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS

OF_FILES = "of files"  # the part of committed rows


def sections_of(results: Results, found: list[Claim]) -> dict[str, str]:
    """Return the tables of the page that some results can fill."""
    shown = {}
    if compared := table.compare(results):
        shown["agreement"] = table.agreement_table(compared)
        shown["cells"] = table.full_table(compared)
    if found:
        shown |= {"claims": summary(found), "every-claim": table_of_claims(found)}
    if results.tasks((*TASKS, *CONTROL)):
        shown["design"] = beyond.design_table(results)
    if results.tasks(CONTROL):
        shown["control"] = table_of_claims(beyond.control_claims(results))
    return shown


def of_rows(rows: Iterable[dict]) -> str:
    """Return Table 4 of some rows."""
    return table.full_table(table.compare(Results(rows)))


def rows_of(tables: dict[str, list[dict]]) -> list[dict]:
    """Return the rows of all parts."""
    return [*chain(*tables.values())]


class TreeInnerStudy(Study):
    """A study whose files are few and small beside what its parts find."""

    def sections(self, tables) -> dict[str, str]:
        """Return the tables of parts that were run, or of the committed files."""
        if OF_FILES in tables:
            return self.of_files()
        results = Results(rows_of(tables))
        return sections_of(results, claims.check(results))

    def of_files(self) -> dict[str, str]:
        """Return the tables of the page; claims are those of all parts."""
        return sections_of(Results(files.rows_of_files()), files.claims_in(files.read("claims")))

    def read(self, parts=None) -> dict:
        """Read the committed rows."""
        return {OF_FILES: [*files.rows_of_files()]}

    def write(self, tables: dict[str, list[dict]]) -> None:
        """Write the small files behind the page."""
        missing = [name for name in self.parts if name not in tables]
        if missing:
            raise SystemExit(f"The page needs all parts; there are no results of {missing}.")
        rows = rows_of(tables)
        results = Results(rows)
        for name, lines in {
            **files.tables_of(rows),
            "claims": list(map(vars, claims.check(results))),
            "points": figures.points(results),
        }.items():
            files.write(name, lines, self.command)


def verdict(tables) -> tuple[list[str], int]:
    """Return 1 if Table 4 is not the paper's."""
    agrees = all(a.holds for a in table.agreements(table.compare(Results(rows_of(tables)))))
    return [f"Table 4 agrees: {agrees}"], 0 if agrees else 1


def draw(tables) -> None:
    """Draw the figures of the page."""
    for number in (1, 2, 3):
        figures.draw(files.read("points"), number, DOCS / f"treeinner_figure_{number}.svg")


STUDY = TreeInnerStudy("treeinner", __doc__, runs.parts(of_rows), verdict=verdict, draw=draw)

if __name__ == "__main__":
    sys.exit(main(STUDY))
