"""Models of all libraries, unfitted: of one thread, and silent."""

from importlib import import_module
from importlib.util import find_spec

import gbt

# Of each library its module, how its estimators' names begin, and what makes them quiet.
LIBRARIES: dict[str, tuple[str, str, dict]] = {
    "XGBoost": ("xgboost", "XGB", {"n_jobs": 1}),
    "LightGBM": ("lightgbm", "LGBM", {"n_jobs": 1, "verbose": -1}),
    "CatBoost": (
        "catboost", "CatBoost", {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    ),
    "HistGradientBoosting": ("sklearn.ensemble", "HistGradientBoosting", {}),
    "ChimeraBoost": ("chimeraboost", "ChimeraBoost", {"thread_count": 1}),
    "Perpetual": ("perpetual.sklearn", "Perpetual", {"num_threads": 1}),
}  # fmt: skip


def model_of(library: str, is_class: bool, **options):
    """Return a library's model; the options have its own names."""
    module, name, quiet = LIBRARIES[library]
    kind = f"{name}Classifier" if is_class else f"{name}Regressor"
    return getattr(import_module(module), kind)(**quiet, **options)


def ours(is_class: bool = False, **options):
    """Return our model, of greedy splits unless the options say otherwise."""
    kind = gbt.GBTClassifier if is_class else gbt.GBTRegressor
    return kind(**{"n_jobs": 1, "splitter": "greedy"} | options)


def is_installed(library: str) -> bool:
    """Return whether a library's module is there."""
    return find_spec(LIBRARIES[library][0]) is not None
