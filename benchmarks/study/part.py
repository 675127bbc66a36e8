"""A part of a study: cells, and what one replication of a cell finds."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

SEED = 2022


def crossed(**values) -> tuple[dict, ...]:
    """Return a cell for each combination of values; those of the last name turn first."""
    return tuple(dict(zip(values, found, strict=True)) for found in product(*values.values()))


@dataclass(frozen=True)
class Part:
    """One simulation: cells, and what is done in each replication of a cell."""

    name: str  # of the part, of its table in the page and of its file
    cells: tuple[dict, ...]  # what distinguishes the lines of the table: words or numbers
    experiment: Callable  # takes a cell, a Generator and "full" or "quick"; returns rows, dicts
    n_replications: int
    table: Callable | None  # of the file's rows, in Markdown; None where others have its numbers
    needs: tuple[str, ...] = ()  # data sets of the folder of data without which it is skipped
    summary: Callable = list  # takes the rows of all replications, returns those of the file
    is_timed: bool = False  # so that one process runs it, beside which no other works

    def run(self, cell_number: int, replication: int, size: str) -> list[dict]:
        """Do one replication of a cell; its stream belongs to its numbers alone."""
        key = (*self.name.encode(), cell_number, replication)
        rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=key))
        cell = self.cells[cell_number]
        return [
            {**cell, "replication": replication, **row} for row in self.experiment(cell, rng, size)
        ]


class NumberedPart(Part):
    """A part whose experiment makes its random numbers from that of the replication."""

    def run(self, cell_number: int, replication: int, size: str) -> list[dict]:
        """Do one replication of a cell."""
        cell = self.cells[cell_number]
        found = self.experiment(cell, replication, size)
        return [{**cell, "replication": replication, **row} for row in found]
