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

from attributions.testing import comparing, per_feature, per_row, shown, strategies
from attributions.testing.comparing import *
from attributions.testing.per_feature import *
from attributions.testing.per_row import *
from attributions.testing.shown import *
from attributions.testing.strategies import *

__all__ = (
    comparing.__all__ + per_feature.__all__ + per_row.__all__ + shown.__all__ + strategies.__all__
)
