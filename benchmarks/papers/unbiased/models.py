"""What is fitted: this library's models of LightGBM's shape, for one thread.

LightGBM's defaults are 31 leaves, at least 20 rows each and no regularisation.
"""

import numpy as np

from attributions import unbiased_gain
from benchmarks.study import ours

N_ROWS = {"full": 1000, "quick": 120}  # for training, and as many for validation
LIKE_LIGHTGBM = {
    "max_leaves": 31, "max_depth": None, "min_samples_leaf": 20, "min_child_weight": 1e-3,
    "reg_lambda": 0.0,
}  # fmt: skip
TASKS = ("regression", "binary")


def estimator(task: str, **parameters):
    """Return an unfitted model."""
    return ours(task == "binary", **LIKE_LIGHTGBM | parameters)


def unbiased_of(model, train, valid, form: str = "symmetric") -> np.ndarray:
    """Return the unbiased gain of every feature."""
    return unbiased_gain(model, *train, *valid, form, standard_error=False).values
