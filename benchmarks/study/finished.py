"""Replications that are finished, kept in a folder: a part goes on from where it was interrupted.

A part has a file with one line a replication of a cell, written at once as it ends; a line that was
cut off is dropped. The first line says what made the file, and a file of another making is refused.
"""

import json
from pathlib import Path

from benchmarks.study.part import SEED, Part
from benchmarks.study.versions import versions


class OtherRunError(ValueError):
    """A file of results that something else has made."""


def made_by(size: str) -> dict:
    """Name what numbers depend on."""
    return {"seed": SEED, "size": size, **versions()}


class Finished:
    """What is finished of a part, in a folder that is made if it is not there."""

    def __init__(self, folder: Path, part: Part, size: str):
        self.path = folder / f"{part.name}.jsonl"
        self.cells = part.cells
        self.rows: dict[tuple[int, int], list[dict]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        text = self.path.read_text() if self.path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole)
        lines = [json.loads(line) for line in whole.splitlines()]
        made = made_by(size)
        if not lines:
            self._append(made)
        elif lines[0] != made:
            raise OtherRunError(
                f"{self.path} was made by {lines[0]} and this is {made}; give another folder with"
                " --out."
            )
        for line in lines[1:]:
            self.rows[line["cell"], line["replication"]] = line["rows"]

    def add(self, cell: int, replication: int, rows: list[dict]) -> None:
        """Keep a replication."""
        self._append({"cell": cell, "replication": replication, "rows": rows})
        self.rows[cell, replication] = rows

    def take(self, published: list[dict]) -> None:
        """Keep the replications of a CSV file, which a clone of the repository begins with."""
        found: dict[tuple[int, int], list[dict]] = {}
        for row in published:
            cell = self.cells.index({name: row[name] for name in self.cells[0]})
            found.setdefault((cell, row["replication"]), []).append(row)
        for key, rows in found.items():
            if key not in self.rows:
                self.add(*key, rows)

    def _append(self, line: dict) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def in_order(self) -> list[dict]:
        """Return all rows by cell and replication."""
        return [row for key in sorted(self.rows) for row in self.rows[key]]
