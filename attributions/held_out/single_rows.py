"""Whether each feature helped or hurt each single row: the q_ik that ``tree_inner`` sums.

``GlobalAttribution.from_rows`` adds them up again, for all rows or for some, with standard errors
and with what needs the single rows: the bootstrap, and sums over features (``grouped``).
"""

from functools import partial
from typing import Any

import numpy as np

from attributions.held_out.constant_loss import Targets, percent_of_one
from attributions.held_out.steps import JudgedRows
from attributions.inputs import explained_data, row_labels
from attributions.per_row.bound import Judge
from attributions.results import LocalAttribution
from attributions.results.in_chunks import explain_rows
from gbt.parallel.chunks import Chunk
from gbt.parallel.in_order import row_blocks
from gbt.parallel.threads import over_blocks


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
    return _explained("tree_inner", model, Chunk(X, y, init_score=init_score), ifa, columns, n_jobs)


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
    return _explained(
        "partial_inner", model, Chunk(X, y, init_score=init_score), ifa, columns, n_jobs
    )


def _explained(
    name: str, model: Any, rows: Chunk, ifa: Any, columns: str, n_jobs: int | None
) -> LocalAttribution:
    """Explain rows of a table or of chunks; warnings point at the caller of the public function."""
    judge = Judge.of(model, rows.X, ifa, columns=columns)
    if name == "partial_inner":
        judge.refuse_forest()
    ensemble = judge.ensemble
    no_values, no_rows = np.empty((0, ensemble.n_credited)), np.empty((0, ensemble.n_features))
    of_none = _as_result(
        judge, name, no_values, np.empty(0), explained_data(ensemble, no_rows, None)
    )
    return explain_rows(partial(_of_chunk, judge, name, n_jobs), rows, of_none)


def _of_chunk(judge: Judge, name: str, n_jobs: int | None, chunk: Chunk) -> LocalAttribution:
    """Return the q_ik of some rows, made in the blocks in which they are summed."""
    rows, n_jobs = JudgedRows.of(judge, chunk), chunk.n_jobs(n_jobs)
    rows.warn_if_seen(n_jobs, stacklevel=5)
    values = np.empty((len(rows.X), judge.ensemble.n_credited))
    base_values = np.zeros(len(rows.X))
    blocks = row_blocks(len(rows.X))

    def fill(first: int, last: int) -> None:
        for block in blocks[first:last]:
            if name == "tree_inner":
                values[block], _ = rows.tree_inner(block)
                base_values[block] = rows.base_share(block)
            else:
                values[block], _ = rows.partial_inner(block)

    over_blocks(fill, len(blocks), n_jobs, min_rows=1)
    given = None if chunk.is_part else chunk.X
    about: dict[str, Any] = explained_data(judge.ensemble, rows.X, given)
    if not chunk.is_part:
        partial_form = name == "partial_inner"
        percent = percent_of_one(judge.ensemble, Targets(rows.y, rows.weight), partial_form)
        about["percent_of_one"] = None if percent is None else len(values) * percent
    return _as_result(judge, name, values, base_values, about, row_labels(chunk.X))


def _as_result(
    judge: Judge,
    name: str,
    values: np.ndarray,
    base_values: np.ndarray,
    about: dict[str, Any],
    index: Any = None,
) -> LocalAttribution:
    """Return the numbers with the names that belong to them."""
    return LocalAttribution(
        values=values,
        base_values=base_values,
        feature_names=judge.ensemble.credited_names,
        method=f"{name}({judge.ifa_name})",
        index=index,
        **about,
    )
