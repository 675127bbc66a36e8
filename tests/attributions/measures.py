"""All measures under one signature, for tests of what holds for any of them.

Each takes a model, rows that judge it or are explained, their targets, and the pair (X, y) of rows
that the model was fitted on, and returns its result.
"""

import attributions
from gbt import GBTRegressor

EXPLAINING = ("predecomp", "saabas", "tree_shap", "tree_shap_pairs", "absolute")
JUDGING = (
    "held_out_gain", "held_out_gain_rows", "tree_inner", "tree_inner_rows", "partial_inner",
    "partial_inner_rows", "forest_inner", "tree_inner_pairs",
)  # fmt: skip
FEW = {"n_estimators": 3, "splitter": "greedy", "random_state": 0}


def explaining(name, **asked):
    return lambda model, X, y, training, **options: getattr(attributions, name)(
        model, X, **asked, **options
    )


def judging(name, **asked):
    return lambda model, X, y, training, **options: getattr(attributions, name)(
        model, X, y, **asked, **options
    )


def beside_background(model, X, y, training, **options):
    return attributions.tree_shap(model, X[:40], background=X[40:50], **options)


def unbiased_gain(model, X, y, training, **options):
    return attributions.unbiased_gain(model, *training, X, y, **options)


def given_others(model, X, y, training, **options):
    asked = {"training": training, "regressor": GBTRegressor(**FEW)}
    return attributions.given_others(model, X, y, **asked, **options)


def local_mdi(model, X, y, training, **options):
    return attributions.local_mdi(model, *training, X, linear_model="ridge", **options)


MEASURES = {
    **{name: explaining(name) for name in EXPLAINING},
    "tree_shap, background": beside_background,
    **{name: judging(name) for name in JUDGING},
    "permutation": judging("permutation", random_state=0, n_repeats=2),
    "unbiased_gain": unbiased_gain,
    "given_others": given_others,
    "local_mdi": local_mdi,
}


def all_but(*names):
    """Return the names of the other measures."""
    assert set(names) <= set(MEASURES)
    return [name for name in MEASURES if name not in names]
