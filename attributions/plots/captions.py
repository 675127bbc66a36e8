"""What methods and their units are called in titles and on axes, and what marks mean."""

from typing import Any

import numpy as np

from attributions.results.methods import NOT_SUMS, kind_of

TITLES = {
    "held_out_gain": "Held-out gain",
    "tree_inner": "TreeInner",
    "tree_inner_pairs": "TreeInner by pairs",
    "partial_inner": "Partial TreeInner",
    "forest_inner": "ForestInner",
    "given_others": "Given the others",
    "absolute": "Absolute attribution",
    "permutation": "Permutation importance",
    "total_gain": "Total gain",
    "unbiased_gain": "Unbiased gain",
    "predecomp": "PreDecomp",
    "saabas": "Saabas",
    "tree_shap": "TreeSHAP",
    "local_mdi": "Local MDI+",
    "mdi_plus": "MDI+",
    "mdi_oob": "MDI-oob",
}
UNITS = {
    "held_out_gain": "loss saved per unit of learning rate, confirmed by held-out rows",
    "tree_inner": "loss saved per unit of learning rate",
    "tree_inner_pairs": "loss saved per unit of learning rate",
    "partial_inner": "loss saved per unit of learning rate, own work added back",
    "forest_inner": "inner product per unit of learning rate",
    "given_others": "contribution times residual, less what the other features say of both",
    "absolute": "absolute contribution to the raw prediction",
    "permutation": "drop of the score",
    "total_gain": "gain promised on the training rows",
    "unbiased_gain": "gain, one factor from other rows",
    "mdi_plus": "score of the feature's own part, less that of the mean",
    "mdi_oob": "covariance with the target on rows left out",
}
JUDGED = (
    "held_out_gain",
    "tree_inner",
    "partial_inner",
    "forest_inner",
)  # row by row, by the targets

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


def value_label(result: Any, intervals: bool = True) -> str:
    """Name the values of features: unit, over how many rows they are summed, what is drawn."""
    kind = kind_of(result.method)
    said = [] if kind in NOT_SUMS else [f"sum over {result.n_samples:,} rows"]
    if intervals and result.standard_error is not None:
        said.append("95 % intervals")
    return ",\n".join([UNITS.get(kind, "value"), *([", ".join(said)] if said else [])])


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
