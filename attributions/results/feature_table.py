"""Features as a table to look at: rank, name, value, and error and p-value where there are any.

What can be said in per cent of a constant's loss is said so; frames have the values, too.
"""

from typing import Any

import numpy as np

from attributions.methods import facts_of, kind_of
from attributions.results import tables


def table_of(result: Any, places: np.ndarray, note_after: int | None = None) -> tables.ShownTable:
    """Return a table of the features at some places of the ranking, which count from 0."""
    shown = result.ranking()[places]
    unit, heading, write = 1.0, "value", tables.numbers
    if shows_percent(result):
        unit, heading, write = result.percent_of_one, "per cent", tables.per_cent
    columns = [
        tables.ShownColumn("rank", [str(place + 1) for place in places]),
        tables.words("feature", [result.feature_names[k] for k in shown]),
        write(heading, unit * result.values[shown]),
    ]
    if result.standard_error is not None:
        columns.append(write("standard error", abs(unit) * result.standard_error[shown]))
        if is_testable(result):
            columns.append(tables.p_values("p-value", result.p_values()[shown]))
    if result.is_reliable is not None:
        doubts = ["" if reliable else "unreliable" for reliable in result.is_reliable[shown]]
        columns.append(tables.words("", doubts))
    title = f"{result.method}, {len(result)} features"
    if not facts_of(result.method).no_sum:
        title += f", sum over {result.n_samples:,} rows"
    if result.groups is not None:
        title += f", {result.n_draws:,} group{'s' * (result.n_draws != 1)}"
    if result.groups is not None and result.n_draws == 1:
        title += ": no standard errors"
    hidden = len(result) - len(shown)
    return tables.ShownTable(title, columns, tables.more(hidden, "feature"), note_after)


def shows_percent(result: Any) -> bool:
    """Say whether tables have values in per cent beside the values."""
    return result.percent_of_one is not None and facts_of(result.method).is_in_percent


def is_testable(result: Any) -> bool:
    """Say whether no effect means a value of 0 or less, so that there are p-values."""
    method = result.method
    is_of_targets = kind_of(method) == "forest_inner" and method.endswith(", target)")
    return facts_of(method).is_testable and not is_of_targets
