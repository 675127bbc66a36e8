"""TreeSHAP: Shapley values of the prediction of each tree, by quadrature instead of enumeration.

Features are players, and feature k receives its mean marginal contribution over all orders in which
features become known. There are two games (Lundberg et al. 2020): *path-dependent* ones, in which a
row goes to both children of a split on an unknown feature, in the shares of the node's cover; and
*interventional* ones, in which unknown features take their values from a background row. They are
one computation, ``attributions.kernels.shap``: a background row is a game in which the share of an
edge is 1 or 0. Cost per row and tree: splits times half the number of distinct features on the
longest path, and that for every background row.

A child without cover has share 0, and so have both children of a node without cover.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import issparse

from attributions.inputs import finite_rows
from attributions.kernels import shap as kernels
from attributions.kernels import shap_pieces as pieces
from attributions.kernels.shap_cuts import cut_trees
from attributions.per_row.individual import ROWS_IN_CACHE, attribute, node_cover
from attributions.results import LocalAttribution
from gbt.kernels.rows.walk import NodeSets, node_sets
from gbt.model.ensemble import Ensemble
from gbt.tables.sparse_rows import with_zeros
from gbt.tables.table import collected

ROWS_AT_ONCE = 4096  # a table costs as much as a sixteenth of them
CELLS_AT_ONCE = 2**21  # the rows' two transposed copies and their values take 50 MB a thread


class TreeShap:
    """Shapley values of the path-dependent or of the interventional game.

    ``background`` and ``cover`` are as for `tree_shap`.
    """

    credits_splits_only = True

    def __init__(self, background: Any = None, cover: str | None = None) -> None:
        self.background = background
        self.cover = cover

    @property
    def name(self) -> str:
        """The name of the method, with its option unless that is the default."""
        if self.background is not None:
            is_sparse = issparse(self.background)  # which has no len
            n_rows = self.background.shape[0] if is_sparse else len(self.background)
            return f"tree_shap(background of {n_rows} rows)"
        return f"tree_shap(cover={self.cover!r})" if self.cover == "count" else "tree_shap"

    def bind(self, ensemble: Ensemble) -> "BoundTreeShap":
        """Describe the games that the trees play."""
        if self.background is None:
            shares, expected = np.empty((2, len(ensemble.value)))
            cover = node_cover(ensemble, self.cover)
            kernels.share_cover(
                ensemble.tree_offset, ensemble.right, ensemble.value, cover, shares, expected
            )
            return BoundTreeShap(ensemble, expected[ensemble.tree_offset[:-1]], edge_share=shares)
        rows = finite_rows(ensemble, self.background)
        background = np.asarray(with_zeros(rows), dtype=np.float64)
        if len(background) == 0:
            raise ValueError(
                "background has no rows; give at least one, or None for path-dependent TreeSHAP."
            )
        leaves = ensemble.tree_offset[:-1] + ensemble.apply(rows)
        expected = ensemble.value[leaves].mean(axis=0)
        return BoundTreeShap(ensemble, expected, background=background)


class BoundTreeShap:
    """Shapley values of the games of a model.

    ``base_values`` (M,) are what trees predict when no feature is known. ``edge_share`` (n_nodes,)
    is the path-dependent game, the share of the edge into each node; in its place each row of
    ``background`` is a game.
    """

    min_rows = 64  # they take a millisecond or more with most models; a thread costs 0.05

    def __init__(
        self,
        ensemble: Ensemble,
        base_values: np.ndarray,
        *,
        edge_share: np.ndarray | None = None,
        background: Any = None,
    ) -> None:
        self.base_values = base_values
        offset = ensemble.tree_offset
        feature, threshold, _, right, missing_left = ensemble.structure
        earlier_depth, n_above, n_splits, n_bits = np.empty((4, len(feature)), dtype=np.int64)
        longest_path, n_distinct = np.empty((2, ensemble.n_trees), dtype=np.int64)
        kernels.describe_splits(
            offset, feature, right, earlier_depth, n_above, longest_path, n_distinct
        )
        cut_trees(offset, right, n_above, n_distinct, n_splits, n_bits)
        n_points = np.maximum(1, -(-n_distinct // 2))
        self.longest_path = max(1, longest_path.max(initial=0))
        most = CELLS_AT_ONCE // max(1, ensemble.n_features)
        self.rows_at_once = min(ROWS_AT_ONCE, max(ROWS_IN_CACHE, most))
        self.n_slots = max(1, min(ensemble.n_features, n_splits.max(initial=0)))
        self.edge_share = edge_share
        self.background = np.empty((0, ensemble.n_features)) if background is None else background
        self.trees = kernels.ShapTrees(
            tree_offset=offset,
            feature=feature,
            threshold=threshold,
            right=right,
            missing_left=missing_left,
            value=ensemble.value,
            sets=node_sets(ensemble.level_sets) or without_sets(len(feature)),
            earlier_depth=earlier_depth,
            n_above=n_above,
            n_points=n_points,
            quadrature=kernels.Quadrature(*quadratures(n_points)),
            n_splits=n_splits,
            n_bits=n_bits,
        )

    def add(self, X: np.ndarray, trees: range, row_weight: np.ndarray, out: np.ndarray) -> None:
        """Add the sum over ``trees`` of their row weights times r_mk(x_i) to ``out[k, i]``."""
        n, edge_share = X.shape[2], self.edge_share
        if edge_share is None:
            edge_share = np.empty(len(self.trees.feature))
        games = kernels.Games(edge_share, self.background)
        path, rows, words = self._work(X, min(n, ROWS_AT_ONCE))
        for start in range(0, n, ROWS_AT_ONCE):
            block = rows._replace(start=start, n_rows=min(ROWS_AT_ONCE, n - start))
            pieces.add_shapley(trees.start, row_weight, self.trees, games, path, block, words, out)

    def _work(self, X: np.ndarray, n: int) -> tuple:
        """Return the memory for explaining n rows at once."""
        depth, n_points = self.longest_path, self.trees.quadrature.points.shape[1]
        path = pieces.Path(
            node=np.empty(depth, dtype=np.int64),
            taken=np.empty(depth, dtype=np.int64),
            slot=np.empty(depth, dtype=np.int64),
            last=np.empty(depth, dtype=np.int64),
            share=np.empty(depth + 1),
            edges=np.empty((depth + 1, n_points, pieces.CREDIT_OUTSIDE + 1)),
        )
        rows = pieces.ExplainedRows(
            start=0,
            n_rows=n,
            X=X,
            decision=np.empty((depth + 1, n), dtype=np.bool_),
            classes=np.zeros((depth + 1, n), dtype=np.uint16),
            place=np.empty(n, dtype=np.uint16),
        )
        n_words = min(n, pieces.MOST_WORDS)
        words = pieces.Words(
            word=np.empty(n_words, dtype=np.uint16),
            decision=np.empty((depth, n_words), dtype=np.bool_),
            inside=np.ones((depth + 1, n_words), dtype=np.bool_),
            product=aligned(depth * n_points * n_words),
            below=aligned(depth * n_points * n_words),
            table=aligned(self.n_slots * n_words),
            feature=np.empty(self.n_slots, dtype=np.int64),
            slot_of=np.full(X.shape[1], -1),
            edges=np.empty((depth, 2, n_points, kernels.N_NUMBERS)),
            leaves=np.empty((n_points, kernels.N_NUMBERS)),
        )
        return path, rows, words


def without_sets(n_nodes: int) -> NodeSets:
    """Return what kernels take in place of level sets where no node has one.

    None would be shorter, but a type of its own, for which all kernels are compiled once more.
    """
    nothing = np.zeros(n_nodes, dtype=np.int64)
    return NodeSets(nothing, nothing, np.zeros(0, dtype=np.uint64))


def aligned(n_numbers: int) -> np.ndarray:
    """Return an empty float64 array that starts at a cache line.

    A register of 8 numbers fills one cache line. If arrays start where NumPy puts them, each read
    crosses two lines, and a tree of depth 10 takes a sixth longer.
    """
    numbers = np.empty(n_numbers + 7)
    first = -numbers.ctypes.data // 8 % 8
    return numbers[first : first + n_numbers]


def quadratures(n_points: np.ndarray) -> np.ndarray:
    """Return points and weights, (2, Q + 1, Q); row q has q of them, if any tree needs q."""
    most = n_points.max(initial=1)
    table = np.zeros((2, most + 1, most))
    for q in np.unique(n_points):
        table[:, q, :q] = gauss_legendre(int(q))
    return table


@lru_cache
def gauss_legendre(n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and weights on (0, 1), exact for polynomials of degree 2 n_points - 1."""
    points, weights = np.polynomial.legendre.leggauss(n_points)
    return (points + 1) / 2, weights / 2


def tree_shap(
    model: Any,
    X: Any,
    *,
    background: Any = None,
    cover: str | None = None,
    columns: str = "given",
    n_jobs: int | None = None,
) -> LocalAttribution:
    """Split predictions by Shapley values.

    The Shapley value of a feature says how much the prediction changes when the feature becomes
    known, on average over all orders in which features can become known.

    Parameters
    ----------
    model, X, columns, n_jobs
        As for `predecomp`.
    background : array of shape (n_background, p), optional
        Rows from which unknown features take their values (interventional TreeSHAP; the result is
        the mean over them, the cost proportional to their number). Without it, unknown features
        are averaged over along the tree (path-dependent TreeSHAP).
    cover : {None, "hessian", "count"}
        What weighs the children of a node in path-dependent TreeSHAP: sums of hessians, as in
        XGBoost, or numbers of training rows, as in LightGBM; None is the first that the model has.
        Not used with a background.

    Returns
    -------
    LocalAttribution
        Contributions of shape (n, p). The base value is the base score plus what every tree
        predicts if no feature is known: its cover-weighted mean, or its mean over the background.
        Base value and contributions add up to the raw prediction.
    """
    return attribute(model, X, TreeShap(collected(background), cover), n_jobs, columns)
