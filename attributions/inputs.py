"""Inputs: where all attributions check and convert rows, targets, weights and labels of rows.

The functions take what people have and return what kernels need: rows of floats as the model
compares them, targets as its loss takes them, weights as float64. They refuse by name what cannot
be used, before any work is done. Targets and weights are checked as in training
(``gbt.tables.targets``).
"""

import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from attributions.options import check_one_of
from gbt.formats import as_ensemble, import_model
from gbt.model.ensemble import Ensemble
from gbt.parallel.chunks import Chunk
from gbt.tables import targets
from gbt.tables.categories import EncodedRows, Levels
from gbt.tables.names import first_ten, labels_of, names_for
from gbt.tables.sparse_rows import SparseRows, with_zeros
from gbt.tables.table import Table, collected, refuse_infinities
from gbt.tables.targets import warn_of_other_order


class SeenRowsWarning(UserWarning):
    """The model has seen rows that judge it, so that noise may be taken for signal."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn, and point at the line that called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_globals.get("__name__", "").startswith("attributions.") and frame.f_back:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_of_seen_rows(n_seen: int, n_rows: int) -> None:
    """Warn if the model has seen some of the rows that judge it."""
    if n_seen:
        warn_caller(
            f"{n_seen} of the {n_rows} rows are among those that the model was trained on, or that"
            " decided when to stop. On these, features used for noise look useful and p-values mean"
            " nothing: give rows that the model has not seen.",
            SeenRowsWarning,
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
    return X.index if hasattr(X, "index") and hasattr(X, "columns") else None


def labels_by(by: Any, X: Any) -> Any:
    """Return labels of rows as they were given, or the column of X that a text names."""
    if not isinstance(by, str):
        warn_of_other_order(X, by, stacklevel=3, name="by")  # where the measure was called
        return by
    X = collected(X)
    names = labels_of(X)
    if names is None:
        raise ValueError(
            f"by={by!r} names a column, and those of X have no names; give a label for each row."
        )
    if by not in names:
        raise ValueError(
            f"X has no column {by!r} to judge by; its columns are {first_ten(map(repr, names))}. Or"
            " give a label for each row."
        )
    return X[by]


def explained_data(ensemble: Ensemble, rows: Any, X: Any) -> dict[str, Any]:
    """Return ``data`` and ``categories`` of a result by row, for pictures.

    The data are ``rows``, as the trees compare them, where they read the user's columns. In front
    of a pipeline they are the user's columns of X, as it was given, dates as words. Groups of these
    have none, and neither has a table that is a part of a larger one (X is None).
    """
    if ensemble.credit is None:
        return {"data": with_zeros(rows), "categories": ensemble.categories}
    if ensemble.preparation is None or X is None or isinstance(X, EncodedRows | SparseRows):
        return {}
    n_columns = len(ensemble.preparation.names)
    try:
        table = Table(ensemble.preparation.in_order(X))
        words = {k: as_numbers(table, k) for k in table.not_numbers}
        places = {k: numbers for k, (numbers, _) in words.items()}
        numbers = with_zeros(table.with_columns(places).as_floats())
    except (KeyError, TypeError, ValueError):
        return {}
    of_groups = np.full((len(numbers), ensemble.n_credited - n_columns), np.nan)
    levels = [words[k][1] if k in words else None for k in range(ensemble.n_credited)]
    categories = tuple(levels) if any(levels) else None
    return {"data": np.column_stack([numbers, of_groups]), "categories": categories}


def as_numbers(table: Table, k: int) -> tuple[np.ndarray, Levels | None]:
    """Return column k of any kind as numbers, nan where missing: of words their places in levels.

    The levels, in alphabetical order, come beside them; None of a column of numbers.
    """
    values, place = table.values(k)
    levels = None
    if table.not_numbers.get(k, ("sparse",))[0] != "sparse":
        levels = tuple(sorted(values, key=str))
        place_of = {level: j for j, level in enumerate(levels)}
        values = [place_of[value] for value in values]
    return np.array([*values, np.nan], dtype=np.float64)[place], levels


def refuse_credit(ensemble: Ensemble, what: str) -> None:
    """Raise ValueError if several columns of a model are one feature, which ``what`` cannot say."""
    if ensemble.credit is not None:
        instead = "held_out_gain, tree_inner and the attributions of rows add up by feature."
        if ensemble.preparation is not None:
            instead += (
                " Or, of a pipeline, give the model behind the steps, and the rows that they make:"
                " pipeline[-1] and pipeline[:-1].transform(X)."
            )
        raise ValueError(
            f"{what} is computed by the columns that the model reads, and of this model"
            f" {ensemble.n_features} columns are credited to {ensemble.n_credited} features."
            f" {instead}"
        )


def as_training(training: Any) -> Chunk:
    """Return the rows that a model was fitted on, with what stands beside them."""
    what = "training, the rows that the model was fitted on,"
    X, y, weight, init_score = given_together(training, what, "init_score")
    return Chunk(collected(X), y, weight, init_score=init_score)


def given_together(rows: Any, what: str, fourth: str) -> tuple:
    """Return X, y, weights and what is fourth of rows; None for what is not given."""
    if not (isinstance(rows, tuple | list) and len(rows) in (2, 3, 4)):
        raise ValueError(
            f"{what} must be a pair (X, y), (X, y, sample_weight) or (X, y, sample_weight,"
            f" {fourth}); got a {type(rows).__name__}."
        )
    return (*rows, None, None)[:4]


def as_random_state(random_state: Any) -> Any:
    """Return what scikit-learn takes: an integer that a Generator draws, all else as it is."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return random_state


def as_weight(sample_weight: Any, n_rows: int, *, may_be_zero: bool = False) -> np.ndarray:
    """Return weights as `gbt.tables.targets.as_weight` does, in memory of their own.

    A caller's read-only or strided array is another type to Numba, which would compile again.
    """
    return np.array(targets.as_weight(sample_weight, n_rows, may_be_zero=may_be_zero))


# G is not among them: judged rows bring gradients of their own. Nor are counts of rows.
NEEDED = {"hessians", "values"}


def has_lost_sums(model: Any, X: Any = None) -> bool:
    """Say whether a model lacks sums of its nodes that new rows cannot be judged without.

    CatBoost's classifiers and scikit-learn's gradient boosting do not keep them, among others. Rows
    ``X`` go along where they tell the model's levels.
    """
    return not import_model(model, X).ensemble.statistics >= NEEDED


def trees_of(model: Any, X: Any = None, training: Any = None, columns: str = "given") -> Ensemble:
    """Return the trees of a model; sums that it lacks come from its ``training`` rows, if given.

    A model that lacks nothing is not compared with these. Features have the
    names of X, rows to explain, as `names_for` says. ``columns`` says whether splits are credited
    to the columns that a pipeline is given, or to those that its steps hand over.
    """
    check_one_of(("given", "transformed"), columns=columns)
    rows = None if training is None else as_training(training)
    if rows is None or not has_lost_sums(model, rows.X):
        ensemble = as_ensemble(model)
    else:
        ensemble = as_ensemble(model, rows.X, rows.y, rows.sample_weight, rows.init_score)
    ensemble = named_as(ensemble, X)
    if columns == "given" or ensemble.credit is None:
        return ensemble
    return with_changes(ensemble, credit=None)


def named_as(ensemble: Ensemble, X: Any) -> Ensemble:
    """Return trees whose features have the names of a frame's columns: `names_for`."""
    if ensemble.preparation is not None:
        preparation = ensemble.preparation.named_as(X)
        if preparation is ensemble.preparation:
            return ensemble
        return with_changes(ensemble, preparation=preparation, credit=preparation.credit)
    names = names_for(ensemble.feature_names, X)
    return (
        ensemble if names == ensemble.feature_names else with_changes(ensemble, feature_names=names)
    )


def with_changes(ensemble: Ensemble, **changed: Any) -> Ensemble:
    """Return the same trees with other names, another loss, or known rows."""
    named = replace(ensemble, **changed)
    vars(named)["predictor"] = ensemble.predictor  # which knows no names, and takes time to make
    return named
