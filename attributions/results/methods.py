"""What may be done with the values of a method: which are sums over rows, which can be tested."""

from attributions.kurtosis import LIMIT


def kind_of(method: str) -> str:
    """Return a method without its details: "tree_inner" of "tree_inner(predecomp)"."""
    return method.split("(")[0]


# Methods whose value is expected to be 0 or less for a feature that does not help.
TESTABLE = (
    "held_out_gain",
    "tree_inner",
    "partial_inner",
    "forest_inner",
    "permutation",
    "given_others",
)

# Methods that are not sums over rows, and why.
NOT_SUMS = {
    "total_gain": "it is read off the model, not summed over rows",
    "permutation": "shuffling a chunk is not a part of shuffling all rows",
    "held_out_gain": "the means of nodes are those of all rows; give it all rows at once, in memory"
    " or as tables of Dask",
    "unbiased_gain": "it is made of ratios of sums over rows; give it all rows at once, in memory"
    " or as tables of Dask",
    "mdi_plus": "a metric is no sum over rows",
    "mdi_oob": "its means are over other rows for each tree",
}
# Why some never have standard errors.
NO_ERROR = {method: NOT_SUMS[method] for method in ("total_gain", "mdi_plus")}
# What was asked for where the others have none, unless there was a single row or group.
ASKED_WITHOUT_ERROR = {
    "permutation": "its metric gives one number for all rows; with a function that gives one a row"
    " there are",
    "unbiased_gain": "it was computed with standard_error=False, or with form='sampled', which has"
    " none",
}

# Kurtosis of contributions over held-out rows above which intervals are not to be relied on.
MOST_KURTOSIS = {"held_out_gain": 0.2}


def most_kurtosis(method: str) -> float:
    """Return the limit of a method: that of what a model tells, or of training rows."""
    return MOST_KURTOSIS.get(kind_of(method), LIMIT)
