"""TreeInner by pairs: how much of a feature's importance was earned below a split on another.

A split deep in a tree speaks of the rows that the splits above have sent there. So the other
features that the path splits on above a node t share, in equal parts, what feature k earned at t,
because without any one of them the node would not be there. Where there is none, k has it alone.
With A_t for the features above t other than k = v(t), or {k} where there are none,

    pair(k, l) = -(1/alpha) sum_i w_i sum_m g_im  sum over t on the path of x_i with v(t) = k and
                 l in A_t of (p(child taken) - p(t)) / |A_t|

and sum over l of pair(k, l) is `tree_inner` of k, exactly, for every row. So it says how much
of k's help needed l first. Large pair(k, l) and small pair(l, k): k helps mostly among rows that l
has chosen. It does not say that k and l interact in the data, because a sum of two curves needs
deep trees, too.

The pairs of a change depend on its node alone. So they are listed once for each node, and rows only
add (``attributions.kernels.paths``). Only pairs that occur are kept; a block of rows has one number
for each.
"""

from typing import Any

import numpy as np

from attributions.held_out.rows_before_trees import RowsBeforeTrees
from attributions.kernels.paths import Credits, add_to_pairs
from attributions.per_row.bound import BoundModel
from attributions.results import PairAttribution
from attributions.statistics.row_sums import sum_over_rows
from attributions.walk.layout_of_steps import Steps
from gbt.model.ensemble import Ensemble
from gbt.parallel.chunks import Chunk

NUMBERS_AT_ONCE = 2**21  # of a block of rows: 16 MB


def tree_inner_pairs(
    model: Any,
    X: Any,
    y: Any,
    *,
    ifa: Any = "predecomp",
    sample_weight: Any = None,
    groups: Any = None,
    init_score: Any = None,
    columns: str = "given",
    n_jobs: int | None = None,
) -> PairAttribution:
    """Divide every feature's `tree_inner` by the features that were split on above.

    Parameters
    ----------
    model, X, y, groups, init_score, columns, n_jobs
        As for `held_out_gain`, but rows in memory.
    sample_weight
        As for `tree_inner`.
    ifa : {"predecomp", "saabas"} or attribution along paths
        Others, such as TreeSHAP, do not say at which split a feature earned what.

    Returns
    -------
    PairAttribution
        ``result["income", "region"]`` is what income earned below splits on region, and
        ``result["income", "income"]`` what it earned where no other feature was above.
        ``result.importance()`` is `tree_inner`.

    Notes
    -----
    What a feature earned below several others is shared by these in equal parts. Standard errors
    are those of sums over rows, as for `tree_inner`. The result describes how this model's trees
    are built: a pair says that one feature's steps came after the other's, not that the two
    interact in the data.
    """
    bound = BoundModel.of(model, X, ifa, columns=columns)
    ensemble = bound.ensemble
    rows = RowsBeforeTrees.of(bound, Chunk(X, y, sample_weight, groups, init_score))
    rows.warn_if_seen(n_jobs)
    if not rows.have_paths:
        raise ValueError(
            f"ifa={bound.ifa_name!r} does not credit single splits, so it cannot say below which"
            " splits a feature earned its importance; use 'predecomp' or 'saabas'."
        )
    p = ensemble.n_credited
    node, code = pairs_of_nodes(ensemble)
    codes, pair = np.unique(code, return_inverse=True)
    count = np.bincount(node, minlength=len(ensemble.feature))
    credits = Credits(np.concatenate([[0], np.cumsum(count)]), pair, 1.0 / np.maximum(count, 1))
    of_spot = ensemble.predictor.links.node
    up, step = Steps.of(ensemble).up[of_spot], rows.changes.step[of_spot]

    def contributions(some: slice) -> tuple[np.ndarray, None]:
        spots, by_pair = rows.spots(some), np.zeros((some.stop - some.start, len(codes)))
        gradient, _ = rows.before_trees(some, spots)
        add_to_pairs(spots, up, step, credits, -rows.weight[some] * gradient, by_pair)
        return rows.per_unit_of_step(by_pair), None

    rows_per_block = max(1, min(rows.rows_at_once, NUMBERS_AT_ONCE // max(len(codes), 1)))
    sums = sum_over_rows(contributions, len(rows.X), n_jobs, rows.groups, rows_per_block)
    return PairAttribution(
        values=sums.total,
        standard_error=sums.standard_error,
        pairs=np.column_stack([codes // p, codes % p]),
        n_samples=len(rows.X),
        feature_names=ensemble.credited_names,
        method=f"tree_inner_pairs({bound.ifa_name})",
    )


def pairs_of_nodes(ensemble: Ensemble) -> tuple[np.ndarray, np.ndarray]:
    """List nodes that split, each as often as it has pairs, and the pairs k p + l.

    Both are int64, sorted by node. All nodes go up by one level at a time, until each has met the
    features above it.
    """
    p, feature = ensemble.n_credited, ensemble.credited.astype(np.int64)
    splits, up = np.flatnonzero(ensemble.left >= 0), Steps.of(ensemble).up.astype(np.int64)
    node = at = splits
    met = [np.empty(0, dtype=np.int64)]
    while len(node):
        is_below = up[at] != at  # a root is its own parent
        node, at = node[is_below], up[at[is_below]]
        is_other = feature[at] != feature[node]
        met.append(node[is_other] * p + feature[at[is_other]])
    node, above = np.divmod(np.unique(np.concatenate(met)), max(p, 1))
    alone = np.setdiff1d(splits, node)
    node = np.concatenate([node, alone])
    above = np.concatenate([above, feature[alone]])
    order = np.argsort(node, kind="stable")
    return node[order], (feature[node] * p + above)[order]
