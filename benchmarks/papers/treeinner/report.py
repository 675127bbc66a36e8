"""What a run of the study prints, and the files behind the page."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from benchmarks.papers.treeinner import beyond, claims, figures, files, runs, table
from benchmarks.papers.treeinner.protocol import CONTROL, SWEEPS, TASKS
from benchmarks.papers.treeinner.runs import Results
from benchmarks.study.claims import Claim, summary
from benchmarks.study.claims import table as table_of_claims
from benchmarks.study.command import Study
from benchmarks.study.files import DOCS

SHOWN_FIGURES = (1, 2, 3)
ALL_TASKS = (*TASKS, *CONTROL)


@dataclass(frozen=True)
class Published:
    """What the page is made of."""

    results: Results
    claims: list[Claim]
    points: list[figures.Point]


def sections_of(results: Results, found: list[Claim]) -> dict[str, str]:
    """Return the tables of the page that some results can fill."""
    shown, tasks = {}, results.tasks(ALL_TASKS)
    if compared := table.compare(results):
        shown["table4"] = table.short_table(compared)
        shown["agreement"] = table.agreement_table(compared)
        shown["cells"] = table.full_table(compared)
    if found:
        shown |= {"claims": summary(found), "every-claim": table_of_claims(found)}
    if tasks:
        shown["design"] = beyond.design_table(results)
        shown["tests"] = beyond.tests_table(results)
    if results.tasks(CONTROL):
        shown["control"] = table_of_claims(beyond.control_claims(results))
    if crossed := beyond.cross_fit_table(results):
        shown["cross-fit"] = crossed
    return shown


def of_rows(rows: Iterable[dict]) -> str:
    """Return Table 4 of some rows."""
    return table.full_table(table.compare(Results(runs.records_of(rows))))


def results_of(tables: dict[str, list[dict]]) -> Results:
    """Return the results of all parts that draw as the paper's program does."""
    rows = (rows for name, rows in tables.items() if not name.startswith("text"))
    return Results(runs.records_of(chain.from_iterable(rows)))


def verdict(tables) -> tuple[list[str], int]:
    """Return 1 if Table 4 is not the paper's."""
    if "published" in tables:
        return [], 0
    agrees = all(a.holds for a in table.agreements(table.compare(results_of(tables))))
    return [f"Table 4 agrees: {agrees}"], 0 if agrees else 1


class TreeInnerStudy(Study):
    """A study whose files are few and small beside what its parts find."""

    def sections(self, tables) -> dict[str, str]:
        """Return the tables of parts that were run, or of the committed files."""
        if "published" in tables:
            return sections_of(tables["published"].results, tables["published"].claims)
        results = results_of(tables)
        shown = sections_of(results, claims.check(results))
        if text := [*tables.get("text", ()), *tables.get("text-chip", ())]:
            shown["text"] = of_rows(text)
        return shown

    def read(self, parts=None) -> dict:
        """Read the committed files."""
        lines = chain.from_iterable(map(files.read, ("table4", "models", "tests")))
        found = files.claims_in(files.read("claims"))
        points = figures.points_in(files.read("points"))
        return {"published": Published(files.results_in(lines), found, points)}

    def write(self, tables: dict[str, list[dict]]) -> None:
        """Write the small files behind the page, and draw all figures into a folder."""
        missing = [n for n in self.parts if not n.startswith("text") and n not in tables]
        if missing:
            raise SystemExit(f"The page needs all parts; there are no results of {missing}.")
        results = results_of(tables)
        quantities = {figures.FIGURES[number][1] for number in SHOWN_FIGURES}
        shown = [p for p in figures.points(results, SWEEPS["depth"]) if p.quantity in quantities]
        for name, lines in {
            **files.tables_of(results, ALL_TASKS),
            "claims": list(map(vars, claims.check(results))),
            "points": figures.lines_of(shown),
        }.items():
            files.write(name, lines, self.command)
        figures.draw_all(results, Path("treeinner_figures"))


def draw(tables) -> None:
    """Draw the figures of the page."""
    for number in SHOWN_FIGURES:
        path = DOCS / f"treeinner_figure_{number}.svg"
        figures.draw(tables["published"].points, number, path)
