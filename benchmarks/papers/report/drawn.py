"""Drawn tables as the command reads them from a file, and what it makes of them."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attributions.command.findings import Findings
from attributions.command.independence.judging import judged
from attributions.command.run import fit
from attributions.command.table.cells import Cells
from attributions.command.table.file import TableFile
from attributions.command.table.task import Question


def found_in(columns: Mapping[str, Sequence[Any]], target: str = "y") -> Findings:
    """Return what the command finds in columns, which become cells as a file has them."""
    cells = {name: Cells.of(values) for name, values in columns.items()}
    table = TableFile(Path("drawn.csv"), cells, "drawn")
    fit_table = partial(fit, parameters={"random_state": 0})
    return judged(table, Question(target), fit_table, lambda task: None)
