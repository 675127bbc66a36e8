"""Results on disk: a CSV file a part, which says what made it, and tables within a page."""

import csv
import platform
from pathlib import Path

import numpy as np
import scipy

import gbt
from benchmarks.study.part import SEED

RESULTS = Path(__file__).parents[1] / "results"
DOCS = Path(__file__).parents[2] / "docs"


def header(command: str) -> str:
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
    return f"# {command}; seed {SEED}; {versions}"


def write_rows(path: Path, rows: list[dict], command: str) -> None:
    """Write a CSV file that begins with the command that makes it."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        file.write(header(command) + "\n")
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_rows(path: Path) -> list[dict]:
    """Read a CSV file; numbers become numbers again."""
    with path.open(newline="") as file:
        next(file)
        return [{key: _number(text) for key, text in row.items()} for row in csv.DictReader(file)]


def _number(text):
    """Turn a cell into an int, a float or, where it is neither, leave it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def page_with(tables: dict[str, str], page: str, name: str) -> str:
    """Return the text of a page with its tables replaced, each between two comments."""
    for table, text in tables.items():
        begin, end = f"<!-- {table}: begin -->", f"<!-- {table}: end -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"{name} needs {begin!r} and {end!r}, once each, around its table.")
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"
    return page
