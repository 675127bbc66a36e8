"""What a run prints and writes, and what the pages show of the committed files.

``docs/treeinner.md`` has all tables between markers, ``<!-- table4: begin -->`` and ``end``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.papers.treeinner import beyond, figures, files, table
from benchmarks.papers.treeinner.protocol import CONTROL, SWEEPS, TASKS
from benchmarks.papers.treeinner.runs import Results
from benchmarks.study.claims import Claim, summary
from benchmarks.study.claims import table as table_of_claims
from benchmarks.study.files import DOCS, RESULTS, fill

PAGE = "treeinner"
SHOWN_FIGURES = (1, 2, 3)


@dataclass(frozen=True)
class Published:
    """What the page is made of."""

    results: Results
    claims: list[Claim]

    def sections(self) -> dict[str, str]:
        """Return the tables of the page by name."""
        compared = table.compare(self.results)
        return {
            "table4": table.short_table(compared),
            "agreement": table.agreement_table(compared),
            "claims": summary(self.claims),
            "every-claim": table_of_claims(self.claims),
            "design": beyond.design_table(self.results),
            "control": table_of_claims(beyond.control_claims(self.results)),
            "tests": beyond.tests_table(self.results),
            "cross-fit": beyond.cross_fit_table(self.results),
            "cells": table.full_table(compared),
        }


def printed(results: Results, found: list[Claim]) -> str:
    """Return the report of a run: those parts that its results can fill."""
    compared = table.compare(results)
    parts = []
    if compared:
        parts += [
            "## Table 4 beside the paper's and the re-run's",
            table.full_table(compared),
            table.agreement_table(compared),
        ]
    if found:
        parts += ["## Claims", table_of_claims(found)]
    tasks = results.tasks((*TASKS, *CONTROL))
    if tasks:
        parts += [
            "## Beyond the paper: what the design rewards",
            "Mean AUC (standard error); the control draws the relevant features from all.",
            beyond.design_table(results),
        ]
    if results.tasks(CONTROL):
        parts += [
            "The same claims in the control:",
            table_of_claims(beyond.control_claims(results)),
        ]
    if tasks:
        parts += [
            "## Beyond the paper: p < .05 after Benjamini-Hochberg",
            "Precision of all discoveries; recall, mean (standard error); true + false discoveries;"
            " noisy and relevant features with p < .05 uncorrected.",
            beyond.tests_table(results),
        ]
    if beyond.has_cross_fits(results, tasks):
        parts += ["## Beyond the paper: 5-fold cross-fitting", beyond.cross_fit_table(results)]
    return "\n\n".join(parts) + "\n"


def write_run(results: Results, found: list[Claim], folder: Path, name: str, header: str) -> None:
    """Write the CSV files, figures and Markdown of a run."""
    tasks = (*TASKS, *CONTROL)
    files.write_tables(files.tables_of(results, tasks), folder, "table4", header)
    for sweep in SWEEPS.values():
        if results.tasks_of(sweep):
            tables = files.tables_of(results, tasks, sweep)
            files.write_tables(tables, folder, f"sweep_{sweep.name}", header)
    if found:
        files.write_claims(found, folder / "claims.csv", header)
    compared = table.compare(results)
    if compared:
        (folder / "table4.md").write_text(f"{table.full_table(compared)}\n")
    figures.draw_all(results, folder / "figures", header)
    (folder / f"{name}_report.md").write_text(printed(results, found))


# ------------------------------------------------------------------------------ committed files


def commit(results: Results, found: list[Claim], header: str) -> None:
    """Write the small files behind the page into ``benchmarks/results``, then the page."""
    RESULTS.mkdir(exist_ok=True)
    tasks = (*TASKS, *CONTROL)
    standard = files.tables_of(results, tasks)
    depth = SWEEPS["depth"]
    by_depth = files.tables_of(results, tasks, depth)
    for name, lines in (
        ("table4", standard[""]),
        ("models", standard["_models"]),
        ("tests", by_depth["_tests"]),
    ):
        files.write_table(lines, RESULTS / f"treeinner_{name}.csv", header)
    files.write_claims(found, RESULTS / "treeinner_claims.csv", header)
    shown = [p for p in figures.points(results, depth) if p.quantity in _shown_quantities()]
    figures.write_points(shown, RESULTS / "treeinner_points.csv", header)
    write_page()


def _shown_quantities() -> set[str]:
    return {figures.FIGURES[number][1] for number in SHOWN_FIGURES}


def read_committed() -> Published:
    """Read the committed files."""
    names = ("table4", "models", "tests")
    return Published(
        files.read_results(RESULTS / f"treeinner_{name}.csv" for name in names),
        files.read_claims(RESULTS / "treeinner_claims.csv"),
    )


def write_page(numbers: Iterable[int] = SHOWN_FIGURES) -> None:
    """Write the tables and pictures of the page from the committed files."""
    fill(read_committed().sections(), PAGE)
    shown = figures.read_points(RESULTS / "treeinner_points.csv")
    for number in numbers:
        figures.draw(shown, number, DOCS / f"treeinner_figure_{number}.svg")
