"""Gradient boosting whose trees remember their gradient sums.

Names are imported when they are first used: ``import gbt`` alone loads neither Numba nor
scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gbt.estimators import GBTClassifier, GBTRegressor
    from gbt.estimators.loading import load
    from gbt.model.ensemble import Ensemble

__version__ = "0.1.0"

_HOME = {
    "GBTRegressor": "gbt.estimators",
    "GBTClassifier": "gbt.estimators",
    "Ensemble": "gbt.model.ensemble",
    "load": "gbt.estimators.loading",
}
__all__ = ["Ensemble", "GBTClassifier", "GBTRegressor", "load"]

if not TYPE_CHECKING:  # for a type checker every name would exist, with any type

    def __getattr__(name):
        if name in _HOME:
            return getattr(import_module(_HOME[name]), name)
        if name == "formats":  # README and messages name gbt.formats.as_ensemble
            return import_module("gbt.formats")
        raise AttributeError(f"module 'gbt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "formats", *(name for name in globals() if name.startswith("__"))]
