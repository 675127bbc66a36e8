"""Absolute attributions, summed over rows: how much a feature moves predictions, right or wrong.

    level="tree"     sum_i w_i sum_m |r_mk(x_i)|        as in Table 4 of Sun 2022
    level="forest"   sum_i w_i |sum_m r_mk(x_i)|        as the paper's text reads, and as in SHAP's
                                                        mean(|value|), times n

No target enters, so this says what the model *uses*, not what is *useful*. A picture of both draws
it against ``tree_inner`` on held-out rows (``attributions.plots.UsedUsefulDisplay``).
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from attributions.options import check_one_of
from attributions.per_row.bound import BoundModel
from attributions.results import GlobalAttribution
from attributions.rows import AllRows, Rows
from attributions.statistics.row_sums import RowSums, sum_over_rows
from gbt.model.predictor import transposed
from gbt.model.stages import TREES_AT_ONCE, tree_blocks
from gbt.parallel.chunks import Chunk

LEVELS = ("tree", "forest")


def absolute(
    model: Any,
    X: Any,
    *,
    ifa: Any = "predecomp",
    level: str = "tree",
    sample_weight: Any = None,
    groups: Any = None,
    per_output: bool = False,
    columns: str = "given",
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Sum over rows of the absolute contributions of each feature to the raw prediction.

    Parameters
    ----------
    model, X, ifa, sample_weight, groups, columns, n_jobs
        As for `tree_inner`.
    level : {"tree", "forest"}
        Whether absolute values are taken tree by tree, so that opposite steps do not cancel, or
        once, of the sum over the trees.
    per_output : bool
        Also return the (K, p) parts of the K outputs, of which values are the sum.

    Returns
    -------
    GlobalAttribution
        In units of the raw prediction, summed over rows: divide by ``n_samples`` for a mean. The
        standard error is over rows; there is no test, since no value can be below 0.
    """
    check_one_of(LEVELS, level=level)
    given = Chunk(X, None, sample_weight, groups)
    rows = AllRows.of(UntargetedRows, BoundModel.of(model, X, ifa, columns=columns), given, n_jobs)
    sums, n_rows = rows.sum(partial(_absolute, level, per_output))
    bound = rows.model
    method, names = f"absolute({bound.ifa_name}, {level})", bound.ensemble.credited_names
    return replace(GlobalAttribution.of_sums(sums, n_rows, names, method), per_output=sums.beside)


class UntargetedRows(Rows):
    """Rows of a `BoundModel`, without targets, which absolute values do not need."""

    need_targets = False


def _absolute(level: str, per_output: bool, rows: UntargetedRows, n_jobs: int | None) -> RowSums:
    """Return what some rows add."""
    bound, X, weight = rows.model, rows.X, rows.weight
    n_features = bound.ensemble.n_credited

    def contributions(own: slice) -> tuple[np.ndarray, np.ndarray | None]:
        block = transposed(X[own])
        shape = n_features, block.shape[2]
        total, parts = np.zeros(shape), np.zeros((len(bound.attributions), n_features))
        n_rounds, ones = bound.ensemble.n_rounds, np.ones((TREES_AT_ONCE, shape[1]))
        for k, attribution in enumerate(bound.attributions):
            r, sizes = np.zeros((2, *shape))
            if level == "tree":
                for m in range(n_rounds):
                    features = bound.put_tree(k, m, block, ones[:1], r)
                    sizes[features] += np.abs(r[features])
            else:
                for trees in tree_blocks(n_rounds):
                    attribution.add(block, trees, ones[: len(trees)], r)
                sizes = np.abs(r)
            moved = weight[own] * sizes
            parts[k] = moved.sum(axis=1)
            total += moved
        return np.ascontiguousarray(total.T), parts if per_output else None

    return sum_over_rows(contributions, len(X), n_jobs, rows.groups)
