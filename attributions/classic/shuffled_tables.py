"""Tables whose columns are shuffled in turn, each in random orders of its own."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gbt.tables.table import as_given

Pairs = list[tuple[int, int]]  # a column and the number of a shuffle


OrderOf = Callable[[tuple[int, int]], np.ndarray]  # of the rows, for such a pair


def random_order(seed: int, n_rows: int, pair: tuple[int, int]) -> np.ndarray:
    """Return the order of the rows for a feature and a repeat, which have a stream of their own."""
    stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=pair))
    return stream.permutation(n_rows)


def shuffled_tables(X: Any, pairs: Pairs, order_of: OrderOf) -> Iterator:
    """Yield tables of the kind that was given, each with the column of a pair in its order.

    Use each before the next is asked for: an array is the same every time.
    """
    X = as_given(X)
    if isinstance(X, np.ndarray):
        table = X.copy()
        for pair in pairs:
            table[:, pair[0]] = X[order_of(pair), pair[0]]
            yield table
            table[:, pair[0]] = X[:, pair[0]]
        return
    X = X.tocsc() if issparse(X) else X
    for pair in pairs:
        yield with_column_in(order_of(pair), X, pair[0])


def with_column_in(order: np.ndarray, X: Any, k: int) -> Any:
    """Return a table in which row i has the value of row ``order[i]`` in column k.

    Of a sparse table ``order`` must be a permutation.
    """
    if hasattr(X, "isetitem"):  # pandas: estimators check the names of columns
        table = X.copy(deep=False)
        table.isetitem(k, X.iloc[:, k].array[order])
        return table
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(X.to_series(k)[order])
    if hasattr(X, "set_column"):  # pyarrow
        return X.set_column(k, X.schema.field(k), X.column(k).take(order))
    if issparse(X):
        table = X.tocsc(copy=True)
        own = slice(table.indptr[k], table.indptr[k + 1])
        table.indices[own] = np.argsort(order)[table.indices[own]]
        table.has_sorted_indices = table.has_canonical_format = False
        return table.tocsr()
    table = np.array(X)
    table[:, k] = table[order, k]
    return table
