"""Whether each feature helped or hurt each single row: the q_ik that ``attributions.inner`` sums.

``GlobalAttribution.from_rows`` adds them up again, for all rows or for some, with standard errors
and with what needs the single rows: the bootstrap, and sums over features (``grouped``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from attributions.inner import JudgedRows
from attributions.inputs import row_labels
from attributions.results import LocalAttribution
from attributions.row_sums import row_blocks
from gbt.parallel import over_blocks


def tree_inner_rows(
    model: Any, X: Any, y: Any, *, ifa: Any = "predecomp", n_jobs: int | None = None
) -> LocalAttribution:
    """Return q_ik: whether feature k helped (> 0) or hurt (< 0) the prediction of row i.

    Parameters
    ----------
    model, X, y, ifa, n_jobs
        As for `tree_inner`.

    Returns
    -------
    LocalAttribution
        ``values`` are q_ik. ``base_values`` is the share of what no feature moved, the trees' base
        values b_m: -(1/alpha) sum_m b_m g_im. For an attribution that adds up (the three named
        ones) both together are the row's first-order saving, -(1/alpha) sum_m f_m(x_i) g_im.

    Notes
    -----
    ``GlobalAttribution.from_rows`` of the result is ``tree_inner`` with unit weights to the last
    bit, standard errors included: both add rows within blocks of ``row_sums.ROWS_PER_BLOCK`` first.
    ``values.sum(axis=0)`` adds in another order and agrees within rounding.
    """
    rows = JudgedRows.of(model, X, y, ifa)
    rows.warn_of_seen(n_jobs)
    base_values = np.empty(len(rows.X))

    def contributions(block: slice) -> tuple[np.ndarray, np.ndarray | None]:
        base_values[block] = rows.base_share(block)
        return rows.tree_inner(block)

    values = _row_by_row(contributions, rows, n_jobs)
    return _as_result(rows, values, base_values, "tree_inner", row_labels(X))


def partial_inner_rows(
    model: Any, X: Any, y: Any, *, ifa: Any = "saabas", n_jobs: int | None = None
) -> LocalAttribution:
    """Return the q_ik of `partial_inner`: whether feature k's shape is right for row i.

    Parameters
    ----------
    model, X, y, ifa, n_jobs
        As for `partial_inner`.

    Returns
    -------
    LocalAttribution
        ``values`` are q_ik; ``base_values`` are 0, since the rows' contributions do not add up to
        anything. ``GlobalAttribution.from_rows`` of it is `partial_inner` to the last bit.
    """
    rows = JudgedRows.of(model, X, y, ifa)
    rows.warn_of_seen(n_jobs)
    values = _row_by_row(rows.partial_inner, rows, n_jobs)
    return _as_result(rows, values, np.zeros(len(values)), "partial_inner", row_labels(X))


def _row_by_row(contributions: Callable, rows: JudgedRows, n_jobs: int | None) -> np.ndarray:
    """Return the contributions of all rows, made in the blocks in which they are summed."""
    values = np.empty(rows.X.shape)
    blocks = row_blocks(len(rows.X))

    def fill(first: int, last: int) -> None:
        for block in blocks[first:last]:
            values[block], _ = contributions(block)

    over_blocks(fill, len(blocks), n_jobs, min_rows=1)
    return values


def _as_result(
    rows: JudgedRows, values: np.ndarray, base_values: np.ndarray, name: str, index: Any
) -> LocalAttribution:
    """Name what was computed."""
    return LocalAttribution(
        values=values,
        base_values=base_values,
        feature_names=rows.ensemble.feature_names,
        method=f"{name}({rows.ifa_name})",
        data=rows.X,
        index=index,
        categories=rows.ensemble.categories,
    )
