"""The two estimators: their parameters, and how they treat targets. No arithmetic.

`gbt.base` has everything else.
"""

from gbt.estimators.classifier import GBTClassifier
from gbt.estimators.regressor import GBTRegressor

__all__ = ["GBTClassifier", "GBTRegressor"]
