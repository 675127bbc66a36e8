"""Titles and labels of pictures: names of methods and units, and what marks mean."""

from typing import Any

import numpy as np

from attributions.methods import facts_of

PER_CENT = "per cent of the loss of a constant prediction"
DOUBTED = "\n(hollow: intervals not to be relied on, few rows may carry the sum)"


def are_doubtful(result: Any) -> np.ndarray:
    """Return which features are known to have intervals that are not to be relied on."""
    if result.is_reliable is None:
        return np.zeros(len(result.values), dtype=bool)
    return ~result.is_reliable


def title_of(method: str) -> str:
    """Write ``"tree_inner(predecomp)"`` as "TreeInner (PreDecomp)"."""
    method, _, output = method.partition(" of ")  # as LocalAttribution.output writes it
    _, _, inside = method.partition("(")
    details = [facts_of(word).title for word in inside.rstrip(")").split(", ") if word]
    title = facts_of(method).title + (f" ({', '.join(details)})" if details else "")
    whose = f"output {output}" if output.isdigit() else output  # a class has a name of its own
    return f"{title} of {whose}" if output else title


def per_cent_of_one(result: Any) -> float | None:
    """Return the per cent that a value of 1 stands for; None if none are to be drawn."""
    return result.percent_of_one if facts_of(result.method).is_in_percent else None


def value_label(result: Any, intervals: bool = True, in_percent: bool = False) -> str:
    """Return the label of the axis of values: unit, number of rows, and what intervals are."""
    facts = facts_of(result.method)
    said = [] if facts.no_sum else [f"sum over {result.n_samples:,} rows"]
    if in_percent:
        said = [f"{result.n_samples:,} held-out rows"]
    if intervals and result.standard_error is not None:
        said.append("95 % intervals")
    unit = PER_CENT if in_percent else facts.unit
    return ",\n".join([unit, *([", ".join(said)] if said else [])])


def row_label(method: str) -> str:
    """Name the unit of one row's contributions."""
    facts = facts_of(method)
    return f"{facts.unit} (above 0: helped)" if facts.is_judged else facts.unit_of_row


def share(n_shown: int, n_features: int, best: str = "") -> str:
    """Return a text that says how many of the features are shown; empty if all are."""
    return f"{best}{n_shown:,} of {n_features:,} features" if n_shown < n_features else ""
