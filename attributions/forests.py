"""Forests of scikit-learn: which rows each of their trees drew."""

from collections.abc import Iterator
from typing import Any

import numpy as np


def is_forest(model: Any) -> bool:
    """Say whether a model is a random forest or extra trees of scikit-learn."""
    names = {f"{cls.__module__}.{cls.__name__}" for cls in type(model).__mro__}
    return "sklearn.ensemble._forest.BaseForest" in names


def draws_by_weight(model: Any) -> bool:
    """Say whether a row's weight was its chance of being drawn, and nothing that trees saw.

    So scikit-learn's bootstrap does it that keeps the weights of the fit; before, trees saw them.
    """
    return is_forest(model) and model.bootstrap and hasattr(model, "_sample_weight")


def drawn_counts(forest: Any, n_rows: int) -> Iterator[np.ndarray]:
    """Yield how often each tree drew every row, float64 of shape (n,)."""
    for rows in forest.estimators_samples_:
        yield np.bincount(rows, minlength=n_rows).astype(np.float64)
