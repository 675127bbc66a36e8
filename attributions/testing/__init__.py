"""Tests for attributions, your own included: what is drawn, what is checked, what is equal.

==============================================================  ===================================
``check_attribution``, ``ATTRIBUTION_CHECKS``                   what any attribution of rows must do
``check_importance``, ``IMPORTANCE_CHECKS``                     what any sum over rows must do
``trees``, ``ensembles``, ``rows_for``, ``judged``              models and rows, for Hypothesis
``tables``, ``problems``                                        something to fit, for Hypothesis
``assert_close``, ``assert_same``, ``sum_of_node_values``       equal within rounding, or exactly
==============================================================  ===================================

Needs Hypothesis, which is in the extra ``test``; no other part of the package imports it.
docs/testing.md writes a new attribution and checks it.
"""

try:
    import hypothesis  # noqa: F401
except ImportError as error:
    raise ImportError(
        "attributions.testing draws models with Hypothesis, which is not installed: pip install"
        " hypothesis"
    ) from error

from attributions.testing.comparing import (
    EPS,
    EPS_32,
    assert_close,
    assert_same,
    sum_of_node_values,
)
from attributions.testing.per_feature import (
    IMPORTANCE_CHECKS,
    check_importance,
    check_importance_again,
    check_importance_in_any_order,
    check_importance_of_unused_features,
    check_sum_over_chunks,
    check_sum_over_trees,
    check_weights_repeat_rows,
)
from attributions.testing.per_row import (
    ATTRIBUTION_CHECKS,
    check_additivity,
    check_attribution,
    check_determinism,
    check_dtypes,
    check_independence_of_rows,
    check_input_is_kept,
    check_missing_values,
    check_order_of_rows,
    check_scale,
    check_unused_features,
)
from attributions.testing.shown import model_as_text, tree_as_text
from attributions.testing.strategies import (
    MEETING_POINTS,
    REG_LAMBDAS,
    Judged,
    Problem,
    ensembles,
    judged,
    problems,
    rows_for,
    tables,
    trees,
)

__all__ = [
    "ATTRIBUTION_CHECKS",
    "EPS",
    "EPS_32",
    "IMPORTANCE_CHECKS",
    "MEETING_POINTS",
    "REG_LAMBDAS",
    "Judged",
    "Problem",
    "assert_close",
    "assert_same",
    "check_additivity",
    "check_attribution",
    "check_determinism",
    "check_dtypes",
    "check_importance",
    "check_importance_again",
    "check_importance_in_any_order",
    "check_importance_of_unused_features",
    "check_independence_of_rows",
    "check_input_is_kept",
    "check_missing_values",
    "check_order_of_rows",
    "check_scale",
    "check_sum_over_chunks",
    "check_sum_over_trees",
    "check_unused_features",
    "check_weights_repeat_rows",
    "ensembles",
    "judged",
    "model_as_text",
    "problems",
    "rows_for",
    "sum_of_node_values",
    "tables",
    "tree_as_text",
    "trees",
]
