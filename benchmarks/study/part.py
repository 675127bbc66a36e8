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
    """One simulation: cells, and what is done in each replication of a cell.

    Parameters
    ----------
    name : str
        Of the part, of its table in the page and of its file.
    cells : tuple of dict
        What distinguishes the lines of the table; the values are words or numbers.
    experiment : callable
        Takes a cell, a Generator and the size ("full" or "quick"), returns a list of dicts.
    n_replications : int
    table : callable or None
        Takes the rows of the file, returns Markdown; None where other tables have its numbers.
    needs : tuple of str
        Data sets of the folder of data without which the part is skipped.
    summary : callable, optional
        Takes the rows of all replications, returns those of the file and the table: without it all.
    """

    name: str
    cells: tuple[dict, ...]
    experiment: Callable
    n_replications: int
    table: Callable | None
    needs: tuple[str, ...] = ()
    summary: Callable = list

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
