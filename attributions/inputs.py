"""Inputs: where all attributions check and convert rows, targets, weights and labels of rows.

The functions take what people have and return what kernels need: rows of floats as the model
compares them, targets as its loss takes them, weights as float64. What cannot be used is refused
here, by name, before any work is done. Targets and weights are checked as in training
(``gbt.targets``).
"""

import warnings
from inspect import signature
from typing import Any

import numpy as np

from gbt import targets
from gbt.known_by_leaves import Rows, amount_at_root, are_training_rows, may_be_training_rows
from gbt.model import Ensemble
from gbt.tables import refuse_infinities
from gbt.targets import as_target as as_target  # the attributions take it from here


class SeenRowsWarning(UserWarning):
    """Rows are judged that the model has seen, so that noise may be taken for signal."""


def count_seen_rows(
    ensemble: Ensemble,
    X: np.ndarray,
    y: np.ndarray,
    n_jobs: int | None,
    weight: np.ndarray | None = None,
) -> int:
    """Return how many of some rows are among those that the model was trained or tuned on.

    Models remember a hash of each row that they have seen (``gbt.seen_rows``), unless they come
    from a file or from another library. Of these it is told whether the rows, all together, are
    those that fill their leaves (``gbt.known_by_leaves``).
    """
    if ensemble.seen_rows is not None:
        return ensemble.seen_rows.count(X, y, n_jobs)
    if not may_be_training_rows(ensemble, amount_at_root(ensemble, y, weight)):
        return 0
    rows = Rows(X, y, weight)
    return len(y) if are_training_rows(ensemble, lambda part_of, merge: part_of(rows)) else 0


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
    is_number = [levels is None for levels in ensemble.categories or (None,)]
    refuse_infinities(rows, ensemble.feature_names, is_number)
    return rows


def row_labels(X: Any) -> Any:
    """Return the index of a pandas.DataFrame; other tables have none."""
    return X.index if hasattr(X, "columns") and hasattr(X, "index") else None


def as_training(training: Any) -> tuple[Any, Any, Any]:
    """Return the rows that a model was fitted on, their targets, and their weights or None."""
    if not (isinstance(training, tuple | list) and len(training) in (2, 3)):
        raise ValueError(
            "training must be the pair (X, y) of rows that the model was fitted on, or (X, y,"
            f" sample_weight); got a {type(training).__name__}."
        )
    X, y, *weight = training
    return X, y, weight[0] if weight else None


def refuse_no_estimator(estimator: Any, name: str) -> None:
    """Raise TypeError unless an argument can be cloned and fitted, as scikit-learn's can."""
    can_be_cloned = hasattr(estimator, "get_params") or hasattr(estimator, "__sklearn_clone__")
    if isinstance(estimator, type) or not (can_be_cloned and hasattr(estimator, "fit")):
        raise TypeError(
            f"{name} must be an estimator, an object with the methods fit and predict, such as"
            f" GBTRegressor() or sklearn's Ridge(); got {estimator!r}."
        )


def refuse_no_measure(measure: Any, *by_name: str) -> None:
    """Raise TypeError unless a measure takes a model, rows and targets, and these by name.

    It may ask for ``training``, too: whoever hands a measure on holds the training rows.
    """
    if not callable(measure):
        raise TypeError(
            "measure must be a function of (model, X, y), such as tree_inner itself and not its"
            f" name; got {measure!r}."
        )
    try:
        asked = signature(measure)
        takes_training = ["training"] * ("training" in asked.parameters)
        asked.bind(None, None, None, **dict.fromkeys([*by_name, *takes_training]))
    except TypeError as error:
        also = "".join(f", {name}=..." for name in by_name)
        raise TypeError(
            f"measure must take (model, X, y{also}), as tree_inner and partial_inner do, or"
            " functools.partial of one with its other arguments;"
            f" {getattr(measure, '__name__', repr(measure))} does not: {error}."
        ) from error


def as_random_state(random_state: Any) -> Any:
    """Return what scikit-learn takes: an integer that a Generator draws, all else as it is."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return random_state


def as_weight(sample_weight: Any, n_rows: int, *, may_be_zero: bool = False) -> np.ndarray:
    """Return row weights as `gbt.targets.as_weight` does, in memory as kernels are compiled for."""
    weight = targets.as_weight(sample_weight, n_rows, may_be_zero=may_be_zero)
    return np.require(weight, requirements=["C", "W"])
