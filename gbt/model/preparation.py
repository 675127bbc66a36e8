"""Preparation: what the steps before a model make of a table, and which columns each result is of.

In a pipeline trees read what its steps hand over, and not the columns that the user has::

    user's table  ->  impute  ->  one-hot  ->  columns that the trees read
    city, age                                  city_Bern, city_Rome, age      origins (0), (0), (1)

A model with a preparation takes the user's table wherever rows are given, and credits splits to the
user's columns (``gbt.model.credit``).
"""

from dataclasses import dataclass, replace
from typing import Any

from sklearn.utils import _safe_indexing

from gbt.model.credit import Credit
from gbt.tables.names import are_numbers, column_names, first_ten, names_for
from gbt.tables.table import as_given


@dataclass(frozen=True, eq=False)
class Preparation:
    """Fitted steps that come before a model."""

    steps: tuple[tuple[str, Any], ...]  # with their names; each is asked for ``transform``
    names: tuple[str, ...]  # of the columns that the first step takes
    origins: tuple[tuple[int, ...], ...]  # what each column that comes out is made of
    names_out: tuple[str, ...] | None = None  # of the columns that come out, if they have any

    def rows(self, X: Any) -> Any:
        """Return what the steps make of a table; errors name the step."""
        X = as_given(X)
        for name, step in self.steps:
            n_rows = X.shape[0] if hasattr(X, "shape") else None
            try:
                X = step.transform(X)
            except Exception as error:
                is_own = type(step).__module__.startswith("gbt.")  # CatBoost's reading of words
                what = name if is_own else f"Step {name!r} ({type(step).__name__}) before the model"
                raise ValueError(f"{what} cannot transform X: {error}") from error
            if n_rows is not None and X.shape[0] != n_rows:
                raise ValueError(
                    f"Step {name!r} ({type(step).__name__}) makes {X.shape[0]} rows of {n_rows};"
                    " rows are judged one by one, so steps must keep them in their order."
                )
        return X

    @property
    def credit(self) -> Credit:
        """Which of the user's columns, or groups of them, every column is credited to."""
        return Credit.by_origin(self.origins, self.names)

    def in_order(self, X: Any) -> Any:
        """Return the columns of a table by which results are named, in their order."""
        X = as_given(X)
        names = column_names(X)
        if names is None or names == self.names or are_numbers(self.names):
            return X
        if missing := [name for name in self.names if name not in names]:
            raise ValueError(
                f"X lacks columns that the pipeline was fitted on: {first_ten(missing)}. It has"
                f" {first_ten(names)}."
            )
        return _safe_indexing(X, [names.index(name) for name in self.names], axis=1)

    def named_as(self, X: Any) -> "Preparation":
        """Return steps whose columns have the names of a frame, if they had numbers only."""
        names = names_for(self.names, X)
        return self if names == self.names else replace(self, names=names)
