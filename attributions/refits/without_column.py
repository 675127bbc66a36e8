"""Fitting a model again without one of its columns.

A clone keeps parameters, and some of these refer to columns by number or name. In our estimators
such parameters are adapted to the smaller table. Those of other libraries are refused by name,
because a number left as it is would silently mean another column.

Steps of a pipeline name columns, too, and would miss one that is gone. So they keep it, with one
and the same value in all rows, of which no model learns anything.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from gbt.tables.categories import chosen_columns
from gbt.tables.table import Table

# Of XGBoost, LightGBM with its aliases, CatBoost and scikit-learn.
OF_COLUMNS = {
    "cat_column", "cat_feature", "cat_features", "categorical_column", "categorical_feature",
    "categorical_features", "embedding_features", "feature_contri", "feature_types",
    "feature_weights", "ignored_features", "interaction_constraints", "interaction_cst", "mc",
    "monotone_constraint", "monotone_constraints", "monotonic_cst",
    "per_float_feature_quantization", "text_features",
}  # fmt: skip
SAY_NO_COLUMN = ("auto", "from_dtype", "no_interactions", "pairwise", "")


def without_column(
    k: int, names: Sequence[str], tables: Sequence[Any], estimators: Sequence[Any], keeps_it: bool
) -> tuple[list[Any], list[Any]]:
    """Return tables without column k, and unfitted clones of estimators for such tables.

    With ``keeps_it`` the column remains, and says nothing: it has a value of the first table.
    """
    if keeps_it:
        return [with_constant(table, k, tables[0]) for table in tables], [*map(clone, estimators)]
    others = [j for j in range(len(names)) if j != k]
    left = [_safe_indexing(table, others, axis=1) for table in tables]
    return left, [clone_for(estimator, names, others) for estimator in estimators]


def clone_for(estimator: Any, names: Sequence[str], columns: Sequence[int]) -> Any:
    """Return an unfitted clone of an estimator for a table of some of the columns.

    Its parameters refer to the whole table, which has the ``names``.
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


def with_constant(X: Any, k: int, fitted_on: Any) -> Any:
    """Return a table whose column k says nothing: every row has one value of the fitted rows.

    Steps of a pipeline then find all columns that they name.
    """
    X, fitted_on = (of.toarray() if issparse(of) else of for of in (X, fitted_on))
    _, place = Table(fitted_on).values(k)
    row = int(np.argmax(place >= 0))  # the first that is not missing
    column = Table(fitted_on).column(k)
    places = np.full(len(Table(X).column(k)), row)
    array = getattr(column, "array", column)  # of pandas: keeps categories what they are
    return Table(X).with_columns({k: array[places]}).given


def _categorical(which: Any, names: Sequence[str], columns: Sequence[int]) -> Any:
    if which is None or isinstance(which, str):
        return which
    given = chosen_columns(which, names)
    return [place for place, column in enumerate(columns) if column in given]


def _directions(constraints: Any, names: Sequence[str], columns: Sequence[int]) -> Any:
    if constraints is None:
        return None
    of_column = dict(enumerate(constraints))
    if isinstance(constraints, Mapping):
        of_column = {_number(k, names): direction for k, direction in constraints.items()}
    return [of_column.get(column, 0) for column in columns]


def _groups(constraints: Any, names: Sequence[str], columns: Sequence[int]) -> Any:
    if constraints is None or isinstance(constraints, str):
        return constraints
    place = {column: place for place, column in enumerate(columns)}
    groups = [{_number(k, names) for k in group} for group in constraints]
    left = [sorted(place[k] for k in group if k in place) for group in groups]
    return [group for group in left if group]


def _number(column: Any, names: Sequence[str]) -> int:
    """Return the number of a column that is given by its name or its number."""
    return list(names).index(column) if isinstance(column, str) else int(column)
