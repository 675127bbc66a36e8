"""Tables whose columns are shuffled in turn, each in random orders of its own."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gbt.tables.given import as_given

Pairs = list[tuple[int, int]]  # a column and the number of a shuffle


OrderOf = Callable[[tuple[int, int]], np.ndarray]  # of the rows, for such a pair


def random_order(seed: int, n_rows: int, pair: tuple[int, int]) -> np.ndarray:
    """Return the order of the rows for a feature and a repeat, which have a stream of their own."""
    stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=pair))
    return stream.permutation(n_rows)


def shuffled_tables(X: Any, pairs: Pairs, order_of: OrderOf) -> Iterator:
    """Yield a table whose columns are shuffled in turn, of the kind that was given.

    It is the same table every time, so use it before the next is asked for.
    """
    if hasattr(X, "isetitem"):  # estimators check the names of columns
        table = X.copy()
        for pair in pairs:
            column = X.iloc[:, pair[0]].array
            table.isetitem(pair[0], column[order_of(pair)])
            yield table
            table.isetitem(pair[0], column)
        return
    if issparse(X):
        by_column = X.tocsc()
        for k, repeat in pairs:
            # The value of row order[i] comes to row i.
            place = np.argsort(order_of((k, repeat)))
            own = slice(by_column.indptr[k], by_column.indptr[k + 1])
            table = by_column.copy()
            table.indices[own] = place[by_column.indices[own]]
            table.has_sorted_indices = table.has_canonical_format = False
            yield table.tocsr()
        return
    if hasattr(X, "with_columns"):  # polars
        for k, repeat in pairs:
            yield X.with_columns(X.to_series(k)[order_of((k, repeat))])
        return
    if hasattr(X, "set_column"):  # pyarrow
        for k, repeat in pairs:
            column = X.column(k).take(order_of((k, repeat)))
            yield X.set_column(k, X.schema.field(k), column)
        return
    rows = np.asarray(as_given(X))
    table = rows.copy()
    for pair in pairs:
        table[:, pair[0]] = rows[order_of(pair), pair[0]]
        yield table
        table[:, pair[0]] = rows[:, pair[0]]
