"""Targets and weights as people have them: numbers or labels, one weight a row or a class.

The functions return float64 arrays: targets, labels as 0 and 1, and the weight of every row.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from gbt.tables import refuse_other_targets


def distinct_labels(y: Any) -> np.ndarray:
    """Return the distinct labels, sorted; they must be of one kind, so None is refused."""
    try:
        return np.unique(y)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(
            f"The labels in y must be of one type; got {' and '.join(kinds)}. Missing labels are"
            " not allowed."
        ) from error


def as_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return the sample weights as float64, ones if None."""
    if sample_weight is None:
        return np.broadcast_to(1.0, n_rows)  # a read-only view of a single 1
    if isinstance(sample_weight, str):
        raise ValueError(
            f"sample_weight={sample_weight!r} is not one number a row. Weights of classes are a"
            ' parameter: GBTClassifier(class_weight="balanced").'
        )
    refuse_other_targets(sample_weight, "sample_weight")
    weight = check_array(
        sample_weight,
        dtype=np.float64,
        ensure_2d=False,
        ensure_min_samples=0,  # the shape is compared below
        input_name="sample_weight",
    )
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; one weight a row needs shape ({n_rows},)."
        )
    if weight.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative; row {weight.argmin()} has {weight.min()}."
        )
    if weight.max() == 0:
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weight


def weigh_classes(
    weight: np.ndarray, target: np.ndarray, classes: np.ndarray, class_weight: Any
) -> np.ndarray:
    """Return the weights of rows times those of their classes; targets are numbers of classes.

    As everywhere in scikit-learn, "balanced" gives one of K classes the weight n / (K n_c), where
    n_c counts its rows, whatever they weigh; a class that a dict does not name has the weight 1.
    """
    if class_weight is None:
        return weight
    which = target.astype(np.intp)
    if isinstance(class_weight, str):
        return weight * (len(which) / (len(classes) * np.bincount(which)))[which]
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise ValueError(f"class_weight names {unknown}; the classes in training are {labels}.")
    return weight * np.array([float(class_weight.get(label, 1.0)) for label in labels])[which]
