"""The two estimators: parameters, and what a target is to each. No arithmetic.

All else they share, see `gbt.base`.
"""

from gbt.estimators.classifier import GBTClassifier
from gbt.estimators.regressor import GBTRegressor

__all__ = ["GBTClassifier", "GBTRegressor"]
