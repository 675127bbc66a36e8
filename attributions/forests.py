"""Forests of scikit-learn: which rows each of their trees drew, and how labels are read."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gbt.losses import LOSSES
from gbt.model import Ensemble


def is_forest(model: Any) -> bool:
    """Say whether a model is a random forest or extra trees of scikit-learn."""
    names = {f"{cls.__module__}.{cls.__name__}" for cls in type(model).__mro__}
    return "sklearn.ensemble._forest.BaseForest" in names


def for_labels(ensemble: Ensemble, model: Any) -> Ensemble:
    """Return the ensemble with the loss by which targets are read: of a classifier they are labels.

    The trees of a classifier's forest have grown on 0 and 1 under half the squared error. Of more
    than two classes every output has such targets of its own, which its loss tells already.
    """
    if ensemble.n_outputs == 1 and is_forest(model) and hasattr(model, "classes_"):
        return replace(ensemble, loss=LOSSES["half_logistic"])
    return ensemble


def drawn_counts(forest: Any, n_rows: int) -> Iterator[np.ndarray]:
    """Yield how often each tree drew every row, float64 of shape (n,)."""
    for rows in forest.estimators_samples_:
        yield np.bincount(rows, minlength=n_rows).astype(np.float64)
