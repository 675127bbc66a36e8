"""Tables of Dask as a fit takes them: rows in shares, checked chunk by chunk where they lie.

The levels of all chunks are learned first, so that every chunk has the same numbers for them. Trees
on rows in shares are `gbt.training.distributed`, and what these cannot do is refused by name.
"""

from contextlib import AbstractContextManager, closing, nullcontext
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from gbt.estimators.defaults import as_checked, has_directions
from gbt.estimators.tables import ChecksTables
from gbt.losses.by_name import as_loss
from gbt.losses.own import OwnLoss
from gbt.parallel.chunks import Chunk, each_chunk, is_in_chunks
from gbt.tables.categories import (
    Categories,
    Level,
    categorical_columns,
    count_levels,
    learn_together,
    levels_in,
)
from gbt.tables.table import Table
from gbt.training.distributed.edges import MOST_COARSE
from gbt.training.distributed.table import SharedRows
from gbt.training.policy_growth import searches_histograms


def refuse_what_needs_memory(estimator: ChecksTables, init_score: Any) -> None:
    """Raise ValueError if an option is not available for tables of Dask."""
    if init_score is not None:
        raise ValueError("init_score needs rows in memory: X.compute().")
    loss = as_loss(estimator.loss)
    for name, is_other in (
        ("splitter", not searches_histograms(as_checked(estimator.splitter))),
        ("monotone_constraints", has_directions(estimator.monotone_constraints)),
        ("max_leaves", estimator.max_leaves is not None),
        ("warm_start", bool(estimator.warm_start)),
        ("train_score", bool(estimator.train_score)),
        ("loss", isinstance(loss, OwnLoss) or not (loss.is_by_row or loss.has_queries)),
    ):
        if is_other:
            raise ValueError(
                f"{name}={getattr(estimator, name)!r} is not available for tables of Dask. Their"
                " trees grow by splitters of ours, depth by depth, from the first tree on, under a"
                " loss of ours that is a sum over rows or over queries, as Cox's is not: there a"
                " row depends on all rows at risk. Change it, or fit in memory: X.compute()."
            )


def rows_of(estimator: ChecksTables, X: Any) -> AbstractContextManager:
    """Return the table that a fit works on: itself, or a table of Dask as rows in shares.

    Names and levels of the columns of a table of Dask are learned here.
    """
    if not is_in_chunks(X):
        return nullcontext(X)
    of_frame = hasattr(X, "columns")
    if issparse(X._meta):
        raise ValueError(
            "A fit does not take chunks of sparse rows. Make them dense:"
            " X.map_blocks(lambda chunk: chunk.toarray()); or fit in memory: X.compute()."
        )
    table = Table(X._meta if of_frame else np.empty((1, X.shape[1]), X.dtype))
    validate_data(estimator, table.given, skip_check_array=True)  # sets feature_names_in_
    estimator._labels = table.names
    estimator._categories = _learn_in_chunks(estimator, X, table)
    checker = copy(estimator)
    checker.callbacks = checker.eval_metric = None  # what is the user's own stays here
    n_levels = count_levels(estimator._categories, table.n_columns)
    return closing(SharedRows(X, partial(_rows_of_chunk, checker), estimator.n_jobs, n_levels))


def _learn_in_chunks(estimator: ChecksTables, X: Any, table: Table) -> Categories | None:
    """Return the levels of all chunks together; ``table`` only says what columns there are."""
    import dask

    names, which = estimator._column_names(), estimator.categorical_features
    chosen = categorical_columns(table, which, names)
    if not chosen:
        return None

    def levels_of(rows: Chunk) -> dict[int, list[Level]]:
        return levels_in(Table(rows.X), chosen, names)

    found = each_chunk(levels_of, Chunk(X))[0]
    parts = [part for part in dask.compute(*found) if part is not None]
    categories = learn_together(parts, which, names)
    for k in chosen:
        if len(categories[k] or ()) > MOST_COARSE:
            raise ValueError(
                f"Column {names[k]!r} has {len(categories[k] or ()):,} levels, and trees on"
                f" tables of Dask take {MOST_COARSE} of a column at most. Put rare levels"
                " together or leave the column out, or fit in memory: X.compute()."
            )
    return categories


def _rows_of_chunk(estimator: ChecksTables, chunk: Any) -> np.ndarray:
    """Return a chunk as rows of floats, checked as rows to be predicted are."""
    if not len(chunk):
        return np.empty((0, estimator.n_features_in_), dtype=np.float32)
    try:
        return np.asarray(estimator._check_table(chunk, reset=False))
    except ValueError as error:
        raise ValueError(f"In one of the chunks: {error}") from error
