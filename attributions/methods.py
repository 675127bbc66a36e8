"""What is known of each method: title and unit, whether it is a sum, whether it can be tested."""


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
# Methods of which several models' results add up, each judged on rows of its own.
ADDITIVE_OVER_MODELS = (
    "held_out_gain",
    "tree_inner",
    "partial_inner",
    "forest_inner",
    "given_others",
    "absolute",
)
# Why some never have standard errors.
NO_ERROR = {method: NOT_SUMS[method] for method in ("total_gain", "mdi_plus")}
# What was asked for where the others have none, unless there was a single row or group.
ASKED_WITHOUT_ERROR = {
    "permutation": "its metric gives one number for all rows; with a function that gives one a row"
    " there are",
    "unbiased_gain": "it was computed with standard_error=False, or with form='sampled', which has"
    " none",
}


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


SHOWN_IN_PERCENT = ("held_out_gain",)  # too, in tables; others only when asked
JUDGED = (
    "held_out_gain",
    "tree_inner",
    "partial_inner",
    "forest_inner",
)  # row by row, by the targets
ADDITIVE = ("held_out_gain", "tree_inner", "partial_inner", "forest_inner", "total_gain")
