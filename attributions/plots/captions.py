"""What methods and their units are called in titles and on axes, and what marks mean."""

from typing import Any

import numpy as np

from attributions.methods import JUDGED, NOT_SUMS, SHOWN_IN_PERCENT, TITLES, UNITS, kind_of

PER_CENT = "per cent of the loss of a constant prediction"
DOUBTED = "\n(hollow: intervals not to be relied on, few rows may carry the sum)"


def are_doubtful(result: Any) -> np.ndarray:
    """Return which features have intervals that are not to be relied on, as far as is known."""
    if result.is_reliable is None:
        return np.zeros(len(result.values), dtype=bool)
    return ~result.is_reliable


def title_of(method: str) -> str:
    """Write ``"tree_inner(predecomp)"`` as "TreeInner (PreDecomp)"."""
    method, _, output = method.partition(" of ")  # as LocalAttribution.output writes it
    kind, _, inside = method.partition("(")
    details = [TITLES.get(word, word) for word in inside.rstrip(")").split(", ") if word]
    title = TITLES.get(kind, kind) + (f" ({', '.join(details)})" if details else "")
    whose = f"output {output}" if output.isdigit() else output  # a class has a name of its own
    return f"{title} of {whose}" if output else title


def per_cent_of_one(result: Any) -> float | None:
    """Return how many per cent a value of 1 is; None where values are not drawn in per cent."""
    return result.percent_of_one if kind_of(result.method) in SHOWN_IN_PERCENT else None


def value_label(result: Any, intervals: bool = True, in_percent: bool = False) -> str:
    """Name the values of features: unit, over how many rows they are summed, what is drawn."""
    kind = kind_of(result.method)
    said = [] if kind in NOT_SUMS else [f"sum over {result.n_samples:,} rows"]
    if in_percent:
        said = [f"{result.n_samples:,} held-out rows"]
    if intervals and result.standard_error is not None:
        said.append("95 % intervals")
    unit = PER_CENT if in_percent else UNITS.get(kind, "value")
    return ",\n".join([unit, *([", ".join(said)] if said else [])])


def row_label(method: str) -> str:
    """Name the unit of one row's contributions."""
    kind = kind_of(method)
    if kind in JUDGED:
        return f"{UNITS[kind]} (above 0: helped)"
    if kind == "local_mdi":
        return "contribution to the prediction of the linear models"
    return "contribution to the raw prediction"


def share(n_shown: int, n_features: int, best: str = "") -> str:
    """Say how many of the features are shown, if not all are."""
    return f"{best}{n_shown:,} of {n_features:,} features" if n_shown < n_features else ""
