"""What a run prints and writes: CSV files of every part, the tables of the page, its picture."""

import csv
import platform
from pathlib import Path

import numpy as np
import scipy

import gbt
from benchmarks.inference import gates
from benchmarks.inference.judging import SEED
from benchmarks.inference.parts import PARTS
from benchmarks.inference.picture import draw

HOME = Path(__file__).parents[1]
RESULTS = {name: HOME / "results" / f"inference_{name}.csv" for name in PARTS}
PAGE = HOME.parent / "docs" / "inference.md"
PICTURE = HOME.parent / "docs" / "inference.svg"
PAPER = ("coverage", "tests")


def header() -> str:
    """Say which command made a table, with what."""
    versions = ", ".join(
        f"{name} {version}"
        for name, version in (
            ("gbt", gbt.__version__),
            ("numpy", np.__version__),
            ("scipy", scipy.__version__),
            ("Python", platform.python_version()),
        )
    )
    return f"# python -m benchmarks.inference --write; seed {SEED}; {versions}"


def write_tables(tables: dict[str, list[dict]]) -> None:
    """Write the CSV files of the parts that were run."""
    for name, rows in tables.items():
        path = RESULTS[name]
        path.parent.mkdir(exist_ok=True)
        with path.open("w", newline="") as file:
            file.write(header() + "\n")
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def read_tables(names=tuple(PARTS)) -> dict[str, list[dict]]:
    """Read CSV files; numbers become numbers again."""
    tables = {}
    for name in names:
        with RESULTS[name].open(newline="") as file:
            next(file)
            tables[name] = [
                {key: _number(text) for key, text in row.items()} for row in csv.DictReader(file)
            ]
    return tables


def _number(text):
    """Turn a cell into an int, a float or, where it is neither, leave it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def sections(tables: dict[str, list[dict]]) -> dict[str, str]:
    """Return the tables of the page that the given parts can fill."""
    found = {name: part.table(tables[name]) for name, part in PARTS.items() if name in tables}
    if "coverage" in tables:
        found["kurtosis"] = gates.kurtosis_table(tables)
    if set(PAPER) <= set(tables):
        found["gates"] = gates.gates_table(tables)
    return found


def printed(tables: dict[str, list[dict]]) -> str:
    """Return all tables of a run, and every gate with its margin."""
    parts = [f"{name}\n\n{text}" for name, text in sections(tables).items()]
    if set(PAPER) <= set(tables):
        parts += [
            f"{gate.holds!s:5} margin {gate.margin:7.4f}  {gate.kind}: {gate.case}"
            for gate in gates.gates(tables)
        ]
    return "\n\n".join(parts)


def exit_code(tables: dict[str, list[dict]]) -> int:
    """Return 1 if a gate of the paper's design does not hold."""
    if not set(PAPER) <= set(tables):
        return 0
    return 0 if all(gate.holds for gate in gates.gates(tables)) else 1


def page_with(tables: dict[str, list[dict]], page: str) -> str:
    """Return the text of the page with its tables replaced."""
    for name, text in sections(tables).items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"{PAGE} needs {begin!r} and {end!r}, once each, around its table.")
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"
    return page


def write_page() -> None:
    """Write the tables of the page, and its picture, from the CSV files."""
    tables = read_tables()
    PAGE.write_text(page_with(tables, PAGE.read_text()))
    draw(tables, PICTURE)
