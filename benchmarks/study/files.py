"""Results on disk: a CSV file a part, which says what made it, and tables within pages.

A page has the few tables that it speaks of. The long ones stand in the file of the same name in
``docs/results``, which it links to.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.study.part import SEED
from benchmarks.study.versions import versions

RESULTS = Path(__file__).parents[1] / "results"
DOCS = Path(__file__).parents[2] / "docs"


def header(command: str, seeds: str = f"seed {SEED}") -> str:
    """Say which command made a table, with what."""
    programs = ", ".join(f"{name} {number}" for name, number in versions().items())
    return f"# {command}; {seeds}; {programs}"


def write_rows(path: Path, rows: list[dict], command: str, seeds: str = f"seed {SEED}") -> None:
    """Write a CSV file that begins with the command that makes it."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        file.write(header(command, seeds) + "\n")
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def without_header(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a CSV file but the one that says what made it, which older files lack."""
    return (line for line in lines if not line.startswith("#"))


def made_by(path: Path) -> str:
    """Return what a file says of how it was made."""
    return path.read_text().splitlines()[0].removeprefix("# ")


def read_rows(path: Path) -> list[dict]:
    """Read a CSV file; numbers become numbers again."""
    with path.open(newline="") as file:
        rows = csv.DictReader(without_header(file))
        return as_read(rows)


def as_read(rows: Iterable[dict]) -> list[dict]:
    """Return rows as their file gives them back: numbers that were written are numbers again."""
    return [{key: _number(cell) for key, cell in row.items()} for row in rows]


def _number(cell):
    """Turn words into an int, a float or, where they are neither, leave them."""
    for kind in (int, float) if isinstance(cell, str) else ():
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell


def page_with(tables: dict[str, str], page: str, name: str) -> str:
    """Return the text of a page with its tables replaced, each between two comments."""
    for table, text in tables.items():
        begin, end = f"<!-- {table}: begin -->", f"<!-- {table}: end -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"{name} needs {begin!r} and {end!r}, once each, around its table.")
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"
    return page


def filled(tables: dict[str, str], name: str) -> dict[Path, str]:
    """Return the text of a page, and of its long tables, each table put where its comments are."""
    both = DOCS / f"{name}.md", DOCS / "results" / f"{name}.md"
    where = [path for path in both if path.exists()]
    texts = {path: path.read_text() for path in where}
    for table, text in tables.items():
        begins = f"<!-- {table}: begin -->"
        path = next((path for path in where if begins in texts[path]), where[-1])
        texts[path] = page_with({table: text}, texts[path], path.name)
    return texts


def fill(tables: dict[str, str], name: str) -> None:
    """Write the tables of a page."""
    for path, text in filled(tables, name).items():
        path.write_text(text)


def is_filled(tables: dict[str, str], name: str) -> bool:
    """Return whether a page has these tables already, to the letter."""
    return all(path.read_text() == text for path, text in filled(tables, name).items())
