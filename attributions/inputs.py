"""What all attributions check and turn: rows, targets, weights, the labels of a frame's rows.

What comes in is what people have, and what goes out is what kernels take: rows of floats as the
model compares them, targets as its loss takes them, weights as float64. What cannot be used is
refused here, by name, before any work is done.
"""

import numpy as np

from gbt.model import Ensemble


def as_rows(ensemble: Ensemble, X) -> np.ndarray:
    """Return the rows as the model compares them; refuse an empty table."""
    X = finite_rows(ensemble, X)
    if not len(X):
        raise ValueError("X has no rows; an attribution needs at least one.")
    return X


def finite_rows(ensemble: Ensemble, X) -> np.ndarray:
    """Return the rows as the model compares them; refuse infinities, as fitting does."""
    rows = ensemble.as_input(X)
    ends = [end.reduce(rows, axis=None, initial=0.0) for end in (np.fmin, np.fmax)]
    if np.isinf(ends).any():
        row, column = np.argwhere(np.isinf(rows))[0]
        raise ValueError(
            f"X holds {rows[row, column]} in row {row}, column"
            f" {ensemble.feature_names[column]!r}; numbers must be finite, or nan where missing."
        )
    return rows


def row_labels(X):
    """Return the index of a pandas.DataFrame; other tables have none."""
    return X.index if hasattr(X, "columns") and hasattr(X, "index") else None


def as_target(model, ensemble: Ensemble, y, n_rows: int) -> np.ndarray:
    """Return the targets as the loss takes them, float64 of shape (n,).

    Labels of a classifier's ``classes_`` become 0 and 1. A model without ``classes_`` is asked for
    0 and 1 themselves.
    """
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise ValueError(f"y has shape {y.shape}; it needs one target a row of X, ({n_rows},).")
    if ensemble.loss.name == "half_logistic":
        first, second = np.asarray(getattr(model, "classes_", (0, 1))).tolist()
        is_second = y == second
        unknown = ~(is_second | (y == first))
        if unknown.any():
            raise ValueError(
                f"y holds {y[unknown].tolist()[0]!r}; the model tells {first!r} from {second!r}, so"
                " y must hold these labels only."
            )
        return is_second.astype(np.float64)
    y = y.astype(np.float64)
    if not np.isfinite(y).all():
        raise ValueError(
            f"y holds {y[~np.isfinite(y)][0]} in row {np.flatnonzero(~np.isfinite(y))[0]};"
            " targets must be finite. Leave out the rows without one."
        )
    return y


def as_weight(sample_weight, n_rows: int) -> np.ndarray:
    """Return row weights, float64 of shape (n,); ones where none are given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; it needs one weight a row of X, ({n_rows},)."
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise ValueError(
            "sample_weight must be finite, not negative and not all 0; its least value is"
            f" {weight.min()}, its largest {weight.max()}."
        )
    return weight
