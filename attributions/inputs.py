"""Inputs: where all attributions check and convert rows, targets, weights and labels of rows.

The functions take what people have and return what kernels need: rows of floats as the model
compares them, targets as its loss takes them, weights as float64. What cannot be used is refused
here, by name, before any work is done.
"""

import warnings
from typing import Any

import numpy as np

from gbt.model import Ensemble
from gbt.tables import refuse_other_targets


class SeenRowsWarning(UserWarning):
    """Rows are judged that the model has seen, so that noise may be taken for signal."""


def count_seen_rows(ensemble: Ensemble, X: np.ndarray, y: np.ndarray, n_jobs: int | None) -> int:
    """Return how many of some rows are among those that the model was trained or tuned on.

    Models remember a hash of each row that they have seen (``gbt.seen_rows``), unless they come
    from a file or from another library.
    """
    return 0 if ensemble.seen_rows is None else ensemble.seen_rows.count(X, y, n_jobs)


def warn_of_seen_rows(n_seen: int, n_rows: int, stacklevel: int) -> None:
    """Warn if the model has seen some of the rows that judge it."""
    if n_seen:
        warnings.warn(
            f"{n_seen} of the {n_rows} rows are among those that the model was trained on, or that"
            " decided when to stop. On these, features used for noise look useful and p-values mean"
            " nothing: give rows that the model has not seen.",
            SeenRowsWarning,
            stacklevel=stacklevel + 1,
        )


def as_rows(ensemble: Ensemble, X: Any) -> np.ndarray:
    """Return the rows as the model compares them; refuse an empty table."""
    X = finite_rows(ensemble, X)
    if not len(X):
        raise ValueError("X has no rows; an attribution needs at least one.")
    return X


def finite_rows(ensemble: Ensemble, X: Any) -> np.ndarray:
    """Return the rows as the model compares them; refuse infinities, as fitting does.

    In a column of categories inf is no number but a level that training has not seen, and stays.
    """
    rows = ensemble.as_input(X)
    ends = [end.reduce(rows, axis=None, initial=0.0) for end in (np.fmin, np.fmax)]
    if np.isinf(ends).any():
        is_number = [levels is None for levels in ensemble.categories or (None,)]
        infinite = np.argwhere(np.isinf(rows) & is_number)
        if len(infinite):
            row, column = infinite[0]
            raise ValueError(
                f"X holds {rows[row, column]} in row {row}, column"
                f" {ensemble.feature_names[column]!r}; numbers must be finite, or nan where"
                " missing."
            )
    return rows


def row_labels(X: Any) -> Any:
    """Return the index of a pandas.DataFrame; other tables have none."""
    return X.index if hasattr(X, "columns") and hasattr(X, "index") else None


def as_target(model: Any, ensemble: Ensemble, y: Any, n_rows: int) -> np.ndarray:
    """Return the targets as the loss takes them, float64 of shape (n,), or (n, K) for K targets.

    Labels of a classifier's ``classes_`` become their numbers, 0 and 1. A model without
    ``classes_`` is asked for 0 and 1 themselves, or for 0 .. K - 1.
    """
    loss = ensemble.loss
    numbers = {"half_logistic": (0, 1), "softmax": tuple(range(loss.n_outputs))}.get(loss.name)
    classes = getattr(model, "classes_", None)  # a forest has them too, with a squared loss
    classes = numbers if classes is None else classes
    refuse_other_targets(y, may_be_text=classes is not None)
    y = np.asarray(y)
    if loss.name == "several_targets" and y.ndim == 2:
        classes = None  # y has a number for each of the K targets
    elif loss.name == "several_targets" and classes is None:
        classes = range(loss.n_outputs)  # y has one class for each row
    is_of_targets = loss.name == "several_targets" and classes is None
    shape = (n_rows, loss.n_outputs) if is_of_targets else (n_rows,)
    if y.shape != shape:
        raise ValueError(f"y has shape {y.shape}; it needs one target a row of X, {shape}.")
    if classes is not None:
        labels = np.asarray(classes).tolist()
        is_class = np.array([y == label for label in labels])
        unknown = ~is_class.any(axis=0)
        if unknown.any():
            told = f"tells {labels[0]!r} from {labels[1]!r}"
            told = told if len(labels) == 2 else f"has the classes {labels}"
            raise ValueError(
                f"y holds {y[unknown].tolist()[0]!r}; the model {told}, so y must hold these labels"
                " only."
            )
        if loss.name == "several_targets":  # a forest: K targets, each 1 for the rows of a class
            return is_class.T.astype(np.float64)
        return is_class.argmax(axis=0).astype(np.float64)
    y = y.astype(np.float64)
    if not np.isfinite(y).all():
        raise ValueError(
            f"y holds {y[~np.isfinite(y)][0]} in row {np.argwhere(~np.isfinite(y))[0, 0]};"
            " targets must be finite. Leave out the rows without one."
        )
    ensemble.loss.check_target(y)
    return y


def as_training(training: Any) -> tuple[Any, Any]:
    """Return the rows that a model was fitted on, and their targets."""
    if not (isinstance(training, tuple | list) and len(training) == 2):
        raise ValueError(
            f"training must be the pair (X, y) of rows that the model was fitted on; got a"
            f" {type(training).__name__}."
        )
    X, y = training
    return X, y


def as_random_state(random_state: Any) -> Any:
    """Return what scikit-learn takes: an integer that a Generator draws, all else as it is."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return random_state


def as_weight(sample_weight: Any, n_rows: int, *, may_be_zero: bool = False) -> np.ndarray:
    """Return row weights, float64 of shape (n,); ones where none are given.

    ``may_be_zero`` allows weights that are all 0: those of some of the rows may be.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, str):
        raise ValueError(
            f"sample_weight={sample_weight!r} is not one number a row. Weights that balance the"
            " classes are sklearn.utils.class_weight.compute_sample_weight('balanced', y)."
        )
    refuse_other_targets(sample_weight, "sample_weight")
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; it needs one weight a row of X, ({n_rows},)."
        )
    has_weight = may_be_zero or weight.any()
    if not (np.isfinite(weight).all() and (weight >= 0).all() and has_weight):
        raise ValueError(
            "sample_weight must be finite, not negative and not all 0; its least value is"
            f" {weight.min()}, its largest {weight.max()}."
        )
    return weight
