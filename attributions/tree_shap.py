"""TreeSHAP: Shapley values of the prediction of each tree, by quadrature instead of enumeration.

Features are players; a coalition S of known features predicts v(S), and feature k receives its mean
marginal contribution v(S + k) - v(S) over all orders in which features become known. Two games:

path-dependent, without ``background``
    Where a node splits on an unknown feature, the row goes to both children in the shares of the
    node's cover that they have. Cover is the hessian sum (what XGBoost uses) or the number of
    training rows (LightGBM, scikit-learn); they differ for the logistic loss. No feature known, v
    is the cover-weighted mean leaf value.
interventional, with ``background``
    Unknown features take their values from a background row, and v is the mean over those rows. No
    feature known, v is the mean prediction of the background.

Lundberg et al. 2020, "From local explanations to global understanding with explainable AI for
trees", defines both. They are one computation, ``attributions.kernels.shap``: a background row is a
game in which the share of an edge is 1 or 0. The base value and the contributions add up to the raw
prediction at any depth. Cost per row and tree: edges times half the number of distinct features on
the longest path, and that for every background row.

A child without cover has share 0, and so have both children of a node without cover.
"""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from attributions.individual import attribute, node_cover
from attributions.kernels.shap import add_shapley, describe_edges, expect_value, follow_background
from attributions.results import LocalAttribution
from gbt.ensemble import Ensemble, Tree


class TreeShap:
    """Shapley values of the path-dependent or of the interventional game.

    Parameters
    ----------
    background : array of shape (n_background, p), optional
        Rows from which unknown features take their values; without it the game is path-dependent.
    cover : {"hessian", "count"}
        What weighs the children of a node in the path-dependent game.
    """

    def __init__(self, background=None, cover: str = "hessian"):
        self.background = background
        self.cover = cover

    @property
    def name(self) -> str:
        """The method, with what is not its default."""
        if self.background is not None:
            return f"tree_shap(background of {len(self.background)} rows)"
        return "tree_shap" if self.cover == "hessian" else f"tree_shap(cover={self.cover!r})"

    def bind(self, ensemble: Ensemble) -> "BoundTreeShap":
        """Describe the games that the trees play."""
        if self.background is None:
            shares = shares_of_cover(ensemble, node_cover(ensemble, self.cover))
            return BoundTreeShap(ensemble, shares.__getitem__)
        background = ensemble.as_input(self.background)
        if len(background) == 0:
            raise ValueError(
                "background has no rows; give at least one, or None for path-dependent TreeSHAP."
            )
        return BoundTreeShap(ensemble, partial(shares_of_background, ensemble, background))


class BoundTreeShap:
    """Shapley values of the games ``edge_shares(m)``: for tree m float64 of (n_games, n_nodes)."""

    def __init__(self, ensemble: Ensemble, edge_shares: Callable[[int], np.ndarray]):
        self.edge_shares = edge_shares
        self.trees = [described(tree) for tree in ensemble.trees]
        self.base_values = np.array(
            [
                expect_value(tree.left, tree.right, tree.value, edge_shares(m))
                for m, tree in enumerate(ensemble.trees)
            ],
            dtype=np.float64,
        )

    def add(self, X, m, row_weight, out):
        """Add ``row_weight[i] * r_mk(x_i)`` to ``out[i, k]``."""
        tree, quadrature = self.trees[m]
        add_shapley(X, *tree, self.edge_shares(m), *quadrature, row_weight, out)


def described(tree: Tree) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, np.ndarray]]:
    """Return what `add_shapley` needs of a tree, whatever the game, and the quadrature it takes."""
    depth, earlier_depth, n_distinct = np.empty((3, tree.n_nodes), dtype=np.int64)
    describe_edges(tree.feature, tree.left, tree.right, depth, earlier_depth, n_distinct)
    arrays = (
        tree.feature,
        tree.threshold,
        tree.left,
        tree.missing_left,
        tree.value,
        depth,
        earlier_depth,
    )
    return arrays, gauss_legendre(max(1, -(-int(n_distinct.max()) // 2)))


@lru_cache
def gauss_legendre(n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and weights on (0, 1), exact for polynomials of degree 2 n_points - 1."""
    points, weights = np.polynomial.legendre.leggauss(n_points)
    return (points + 1) / 2, weights / 2


def shares_of_cover(ensemble: Ensemble, cover: np.ndarray) -> list[np.ndarray]:
    """Return, tree by tree, the share (1, n_nodes) of its parent's cover that each node has."""
    shares = []
    for m, tree in enumerate(ensemble.trees):
        tree_cover = cover[ensemble.tree_offset[m] : ensemble.tree_offset[m + 1]]
        share = np.ones((1, tree.n_nodes))
        inner = np.flatnonzero(~tree.is_leaf)
        for children in (tree.left[inner], tree.right[inner]):
            share[0, children] = np.divide(
                tree_cover[children],
                tree_cover[inner],
                out=np.zeros(len(inner)),
                where=tree_cover[inner] > 0,
            )
        shares.append(share)
    return shares


def shares_of_background(ensemble: Ensemble, background: np.ndarray, m: int) -> np.ndarray:
    """Return, for tree m, which edges each background row would take: (n_background, n_nodes)."""
    tree = ensemble.trees[m]
    share = np.empty((len(background), tree.n_nodes))
    follow_background(background, *tree.structure, share)
    return share


def tree_shap(
    model, X, *, background=None, cover: str = "hessian", n_jobs: int | None = None
) -> LocalAttribution:
    """Split predictions by Shapley values.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Whatever ``gbt.formats.as_ensemble`` takes.
    X : array of shape (n, p)
        Rows to explain; nan is a missing value.
    background : array of shape (n_background, p), optional
        Rows from which unknown features take their values (interventional TreeSHAP; the result is
        the mean over them, the cost proportional to their number). Without it, unknown features
        are averaged over along the tree (path-dependent TreeSHAP).
    cover : {"hessian", "count"}
        What weighs the children of a node in path-dependent TreeSHAP: sums of hessians, as in
        XGBoost, or numbers of training rows, as in LightGBM. Not used with a background.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    LocalAttribution
        Contributions of shape (n, p). The base value is the base score plus every tree's prediction
        without knowledge of x, its cover-weighted mean or its mean over the background; it and the
        contributions add up to the raw prediction.
    """
    return attribute(model, X, TreeShap(background, cover), n_jobs)
