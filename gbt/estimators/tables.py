"""Tables, targets and weights as people hand them over, checked once, where they come in.

Tables are whatever ``gbt.tables.table.Table`` takes. Later code may rely on rows of floats, nan
where a value is missing, and on float64 targets and weights. The table of a fit determines the
names of columns and their levels, and every later table is compared with it.
"""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import column_or_1d, validate_data

from gbt.estimators.named_parameters import NamedParameters
from gbt.estimators.parameters import SharedParameters
from gbt.losses.loss import Loss
from gbt.parallel.chunks import in_memory, is_in_chunks
from gbt.tables.categories import Categories, EncodedRows, encode, learn
from gbt.tables.names import counted, refuse_other_columns
from gbt.tables.sparse_rows import SparseRows
from gbt.tables.table import Table, refuse_infinities
from gbt.tables.targets import (
    as_column,
    as_init_score,
    as_pairs,
    as_weight,
    refuse_other_targets,
    warn_of_other_order,
)
from gbt.training.distributed.table import SharedRows
from gbt.training.evaluation import EvalSet, refuse_other_eval_sets


class ChecksTables(SharedParameters, NamedParameters):
    """An estimator that learns names and levels of columns, and checks tables against them."""

    n_features_in_: int
    _categories: Categories | None = None  # levels by column, as the model has them
    _labels: tuple[str, ...] | None = None  # names of columns, which need not have been text

    def _column_names(self) -> tuple[str, ...]:
        """Return the names of the columns, x0, x1, ... where they have none."""
        return self._labels or tuple(f"x{k}" for k in range(self.n_features_in_))

    def _own_loss(self) -> Loss:
        """Return the loss that follows from parameters and targets."""
        raise NotImplementedError

    @property
    def _has_pairs(self) -> bool:
        """Whether a target is two numbers, such as a time and whether it is an event's."""
        return not is_classifier(self) and self._own_loss().has_pairs

    def _as_target(self, y: Any) -> np.ndarray:
        """Return other targets as the loss takes them."""
        raise NotImplementedError

    def _check_table(self, X: Any, **options: Any) -> Any:
        """Return a table as rows of float64 or float32.

        A fit learns the names and levels of columns, and later tables are compared with these.
        Levels of categorical columns become their numbers.
        """
        table, is_fit = Table(X), options["reset"]
        if table.names == ():
            raise ValueError("X is a frame of 0 features; it needs at least one column.")
        if is_fit and table.n_columns > 0:
            validate_data(self, table.given, skip_check_array=True)  # sets feature_names_in_
            self._labels = table.names
            self._categories, table = learn(table, self.categorical_features, self._column_names())
        elif not is_fit:
            is_named = self._labels is not None and table.names is not None
            if self._categories is not None or (is_named and table.not_numbers):
                # First, because other columns are the cause of other values.
                refuse_other_columns(table, self._column_names())
            table = encode(table, self._categories, self._column_names())
        table.refuse_other_values(categories_are_numbers=self.categorical_features is None)
        try:
            checked = validate_data(
                self,
                table.given,
                accept_sparse="csr",
                dtype=(np.float64, np.float32),
                ensure_all_finite="allow-nan",
                **options,
            )
        except ValueError:
            if table.n_columns > 0:
                refuse_infinities(table.as_floats(), table.names)  # names the column
            raise
        if not is_fit:
            # After `validate_data`, whose error comes first where scikit-learn keeps the names.
            refuse_other_columns(table, self._column_names())
        return EncodedRows.of(SparseRows.of(checked), self._categories)

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, reset: bool
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return a table as rows of floats, its targets as given, and its weights."""
        is_shared = isinstance(X, SharedRows)
        if is_shared:
            y, sample_weight = in_memory(y), in_memory(sample_weight)
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is"
                " None."
            )
        warn_of_other_order(X, y, stacklevel=5)  # where fit was called
        if not self._has_pairs:
            y = as_column(y)
            refuse_other_targets(y, may_be_text=is_classifier(self))
        if not is_shared:
            X = self._check_table(X, reset=reset, ensure_min_samples=2 if reset else 1)
        elif len(X) < 2:
            raise ValueError(f"X has {counted(len(X), 'row')}; a fit needs at least two.")
        if self._has_pairs:
            y = as_pairs(self._own_loss(), y, len(X))
            if is_shared and self._own_loss().has_queries:
                X.refuse_divided(y[:, 1])
        else:
            y = column_or_1d(y, warn=True)
            if len(y) != len(X):
                raise ValueError(f"y has {counted(len(y), 'row')} and X has {len(X):,}.")
        return X, y, as_weight(sample_weight, len(X))

    def _check_init_score(self, init_score: Any, n_rows: int) -> np.ndarray:
        """Return the starting values of training rows, (n, K)."""
        if self.base_score is not None:
            raise ValueError(
                f"base_score={self.base_score!r} and init_score both say where boosting starts:"
                " give one, base_score for all rows or init_score for each."
            )
        return as_init_score(init_score, n_rows, self._own_loss().n_outputs)

    def _check_eval_sets(
        self, has_init_score: bool, eval_set: Any, X_val: Any, y_val: Any, sample_weight_val: Any
    ) -> list[EvalSet]:
        """Return the evaluation sets as (rows of floats, targets, weights, starting values)."""
        given = {}
        if eval_set is not None:
            refuse_other_eval_sets(eval_set)
            given = {f"eval_set[{i}]": rows for i, rows in enumerate(eval_set)}
        if X_val is not None and y_val is not None:
            given["X_val, y_val"] = (X_val, y_val, sample_weight_val)
        elif not all(part is None for part in (X_val, y_val, sample_weight_val)):
            raise ValueError(
                "X_val and y_val belong together, and sample_weight_val goes with them: give both."
            )
        checked: list[EvalSet] = []
        for place, (X, y, *others) in given.items():
            weight, start = (*others, None, None)[:2]
            if (start is not None) != has_init_score:
                raise ValueError(
                    f"{place} and the rows of the fit must both have starting values, or"
                    " neither: fit(X, y, eval_set=[(X_valid, y_valid, sample_weight, init_score)],"
                    " init_score=...); sample_weight may be None."
                )
            try:
                if is_in_chunks(X):
                    raise ValueError(
                        "X is a table of Dask; evaluation sets must be in memory: X.compute()."
                    )
                X, y, w = self._check_rows(X, y, weight, reset=False)
                if start is not None:
                    start = as_init_score(start, len(y), self._own_loss().n_outputs)
                checked.append((X, self._as_target(y), w, start))
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from error
        return checked
