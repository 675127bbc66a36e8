"""Drawn tables as the command reads them from a file, and what it makes of them."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from attributions.command.judging.findings import Findings
from attributions.command.judging.of_table import judged
from attributions.command.question import Question
from attributions.command.run import fit
from attributions.command.table.file import TableFile


def found_in(columns: Mapping[str, Sequence[Any]], target: str = "y") -> Findings:
    """Return what the command finds in columns, as a file has them."""
    series = {name: pd.Series(values) for name, values in columns.items()}
    table = TableFile(Path("drawn.csv"), series, "drawn")
    fit_table = partial(fit, parameters={"random_state": 0})
    return judged(table, Question(target), fit_table, lambda task: None)
