"""Whether each feature helped or hurt each single row: the q_ik that ``tree_inner`` sums.

``GlobalAttribution.from_rows`` adds them up again, for all rows or for some, with standard errors
and with what needs the single rows: the bootstrap, and sums over features (``grouped``).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from attributions.held_out.constant_loss import Targets, percent_of_one
from attributions.held_out.rows_before_trees import RowsBeforeTrees
from attributions.inputs import explained_data, row_labels
from attributions.per_row.bound import BoundModel
from attributions.results import LocalAttribution
from attributions.results.in_chunks import explain_rows
from gbt.parallel.chunks import Chunk


def tree_inner_rows(
    model: Any,
    X: Any,
    y: Any,
    *,
    ifa: Any = "predecomp",
    init_score: Any = None,
    columns: str = "given",
    n_jobs: int | None = None,
) -> LocalAttribution:
    """Return q_ik: whether feature k helped (> 0) or hurt (< 0) the prediction of row i.

    Parameters
    ----------
    model, X, y, ifa, init_score, columns, n_jobs
        As for `tree_inner`. For rows of Dask the result is a `ChunkedAttribution`.

    Returns
    -------
    LocalAttribution
        ``values`` are q_ik. ``base_values`` is the share of what no feature moved, the trees' base
        values b_m: -(1/alpha) sum_m b_m g_im. For an attribution that adds up (the three named
        ones) both together are the row's first-order saving, -(1/alpha) sum_m f_m(x_i) g_im. In a
        forest b_m and f_m count from the root value of the tree, which the start contains.

    Notes
    -----
    ``GlobalAttribution.from_rows`` of the result is ``tree_inner`` with unit weights to the last
    bit, standard errors included: both add rows within blocks of ``row_sums.ROWS_PER_BLOCK`` first.
    ``values.sum(axis=0)`` adds in another order and agrees within rounding.
    """
    rows = Chunk(X, y, init_score=init_score)
    return _explained(RowsBeforeTrees.tree_inner, model, rows, ifa, columns, n_jobs)


def partial_inner_rows(
    model: Any,
    X: Any,
    y: Any,
    *,
    ifa: Any = "saabas",
    init_score: Any = None,
    columns: str = "given",
    n_jobs: int | None = None,
) -> LocalAttribution:
    """Return the q_ik of `partial_inner`: whether feature k's shape is right for row i.

    Parameters
    ----------
    model, X, y, ifa, init_score, columns, n_jobs
        As for `partial_inner`. For rows of Dask the result is a `ChunkedAttribution`.

    Returns
    -------
    LocalAttribution
        ``values`` are q_ik; ``base_values`` are 0, since the rows' contributions do not add up to
        anything. ``GlobalAttribution.from_rows`` of it is `partial_inner` to the last bit.
    """
    rows = Chunk(X, y, init_score=init_score)
    return _explained(RowsBeforeTrees.partial_inner, model, rows, ifa, columns, n_jobs)


def _explained(
    measure: Callable, model: Any, rows: Chunk, ifa: Any, columns: str, n_jobs: int | None
) -> LocalAttribution:
    """Explain rows of a table or of chunks."""
    bound, name = BoundModel.of(model, rows.X, ifa, columns=columns), measure.__name__
    if name == "partial_inner":
        bound.refuse_forest()
    ensemble, method = bound.ensemble, f"{name}({bound.ifa_name})"
    result_of = partial(LocalAttribution, feature_names=ensemble.credited_names, method=method)
    no_values, no_rows = np.empty((0, ensemble.n_credited)), np.empty((0, ensemble.n_features))
    of_none = result_of(no_values, np.empty(0), **explained_data(ensemble, no_rows, None))
    return explain_rows(partial(_of_chunk, bound, measure, result_of, n_jobs), rows, of_none)


def _of_chunk(
    bound: BoundModel, measure: Callable, result_of: Callable, n_jobs: int | None, chunk: Chunk
) -> LocalAttribution:
    """Return the q_ik of some rows, made in the blocks in which they are summed."""
    rows, n_jobs = RowsBeforeTrees.of(bound, chunk), chunk.n_jobs(n_jobs)
    rows.warn_if_seen(n_jobs)
    is_partial = measure is RowsBeforeTrees.partial_inner
    values = rows.by_block(lambda block: measure(rows, block)[0], n_jobs)
    base_values = np.zeros(len(values)) if is_partial else rows.by_block(rows.base_values, n_jobs)
    given = None if chunk.is_part else chunk.X
    data: dict[str, Any] = explained_data(bound.ensemble, rows.X, given)
    if not chunk.is_part:
        percent = percent_of_one(bound.ensemble, Targets(rows.y, rows.weight), is_partial)
        data["percent_of_one"] = None if percent is None else len(values) * percent
    return result_of(values, base_values, index=row_labels(chunk.X), **data)
