"""Fitting a model again without one of its columns.

A clone keeps parameters, and some of these refer to columns by number or name. In our estimators
such parameters are adapted to the smaller table. Those of other libraries are refused by name,
because a number left as it is would silently mean another column.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone

from gbt.tables.categories import chosen_columns

# Of XGBoost, LightGBM with its aliases, CatBoost and scikit-learn.
OF_COLUMNS = frozenset(
    {
        "cat_column",
        "cat_feature",
        "cat_features",
        "categorical_column",
        "categorical_feature",
        "categorical_features",
        "embedding_features",
        "feature_contri",
        "feature_types",
        "feature_weights",
        "ignored_features",
        "interaction_constraints",
        "interaction_cst",
        "mc",
        "monotone_constraint",
        "monotone_constraints",
        "monotonic_cst",
        "per_float_feature_quantization",
        "text_features",
    }
)
SAY_NO_COLUMN = ("auto", "from_dtype", "no_interactions", "pairwise", "")


def clone_for(estimator: Any, names: Sequence[str], columns: Sequence[int]) -> Any:
    """Return an unfitted clone of an estimator for a table of some of the columns.

    Parameters
    ----------
    estimator : estimator
        Its parameters refer to the whole table.
    names : sequence of str
        Of all columns of the table.
    columns : sequence of int
        The numbers of those that are left.
    """
    if any(cls.__module__.partition(".")[0] == "gbt" for cls in type(estimator).__mro__):
        return clone(estimator).set_params(
            categorical_features=_categorical(estimator.categorical_features, names, columns),
            monotone_constraints=_directions(estimator.monotone_constraints, names, columns),
            interaction_constraints=_groups(estimator.interaction_constraints, names, columns),
        )
    for name, value in estimator.get_params().items():
        says_columns = value is not None and not (isinstance(value, str) and value in SAY_NO_COLUMN)
        if name.rpartition("__")[2] in OF_COLUMNS and says_columns:
            raise ValueError(
                f"{name}={value!r} of {type(estimator).__name__} refers to columns of the whole"
                " table, and would mean others in fits without each column in turn. Leave it out,"
                " or take an estimator of ours, whose categorical_features and constraints are"
                " adapted; the dtypes of a frame can say which columns are categories."
            )
    return clone(estimator)


def _categorical(which: Any, names: Sequence[str], columns: Sequence[int]) -> Any:
    """Return the parameter ``categorical_features`` of ours for some of the columns."""
    if which is None or isinstance(which, str):
        return which
    given = chosen_columns(which, names)
    return [place for place, column in enumerate(columns) if column in given]


def _directions(constraints: Any, names: Sequence[str], columns: Sequence[int]) -> Any:
    """Return the parameter ``monotone_constraints`` of ours for some of the columns."""
    if constraints is None:
        return None
    of_column = dict(enumerate(constraints))
    if isinstance(constraints, Mapping):
        of_column = {
            list(names).index(column) if isinstance(column, str) else int(column): direction
            for column, direction in constraints.items()
        }
    return [of_column.get(column, 0) for column in columns]


def _groups(constraints: Any, names: Sequence[str], columns: Sequence[int]) -> Any:
    """Return the parameter ``interaction_constraints`` of ours for some of the columns."""
    if constraints is None or isinstance(constraints, str):
        return constraints
    place = {column: place for place, column in enumerate(columns)}
    groups = [
        [list(names).index(k) if isinstance(k, str) else int(k) for k in group]
        for group in constraints
    ]
    left = [sorted(place[k] for k in group if k in place) for group in groups]
    return [group for group in left if group]
