r"""The held-out gain of every split, from sums over rows, and what a row adds to it.

Take a split of node t into children l and r, whose values differ by d. For each child there are two
sums over its rows: S of w g, with g at the prediction without the feature of the split, and W of w.
They give

    gain  =  -(1/alpha) d (W_r S_l - W_l S_r) / W_t             W_t = W_l + W_r

and a row with gradient g that takes the step to a child adds

    q  =  w a (g - mean g)        mean g = (S_l + S_r) / W_t
                                  a = -(1/alpha) d W_r / W_t on the left,
                                       (1/alpha) d W_l / W_t on the right

to it: over the rows of l, w (g - mean g) adds up to W_l W_r / W_t times the difference of the
means, over those of r to the opposite, and the two a differ by -d/alpha. So the q of a split add up
to its gain.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attributions.inputs import with_changes
from attributions.kernels.held_out import Paths
from attributions.kernels.odds import odds
from attributions.kernels.paths import add_up_leaves
from attributions.per_row.saabas import Saabas
from attributions.rows import Intake
from attributions.statistics.powers_of_two import exponent_of_columns
from gbt.kernels.rows.derivatives import HALF_LOGISTIC
from gbt.losses.ranking import NDCG
from gbt.model.ensemble import Ensemble

N_SUMS = 3  # w g of the step to a node, w, and rows that weigh something


def mean_of_leaves(ensemble: Ensemble) -> Saabas:
    """Return the attribution that steps between the mean leaf values below nodes.

    Leaves are weighted by their hessians or, where a library did not keep these, by their rows.
    By their rows, too, where hessians were weighted by what places count
    (``attributions.held_out.among_rows``).
    """
    if isinstance(ensemble.loss, NDCG) and "counts" in ensemble.statistics:
        return Saabas("count")
    if "counts" not in ensemble.statistics:
        ensemble.require("hessians", what="held_out_gain")
    return Saabas("hessian" if "hessians" in ensemble.statistics else "count")


@dataclass(frozen=True, eq=False)
class StepsOfModel(Intake):
    """The steps between the nodes of a model: what a walk needs of them, and what they are worth.

    Parameters
    ----------
    ensemble, classes_, encode
        As for `Intake`.
    lower : uint64 array of shape (n_nodes, 2)
        The right and the left child of every node; a leaf is its own child.
    paths : Paths
        See ``attributions.kernels.held_out``.
    change : float64 array of shape (n_nodes,)
        How far the value of a node lies above that of its parent.
    method : str
        Of results; it says if leaves were weighted by their rows.
    """

    lower: np.ndarray
    paths: Paths
    change: np.ndarray
    method: str = "held_out_gain"

    @classmethod
    def of(
        cls, ensemble: Ensemble, classes_: Any = None, encode: Callable | None = None
    ) -> "StepsOfModel":
        """List the steps of all trees, each in the place of the node that it leads to."""
        weighted = mean_of_leaves(ensemble)
        if isinstance(ensemble.loss, NDCG):
            ensemble = with_changes(ensemble, loss=ensemble.loss.with_even_places)
        means = weighted.bind(ensemble)
        lower = means.lower
        up = np.arange(len(lower), dtype=np.uint64)
        feature, change = np.zeros(len(lower), np.uint64), np.zeros(len(lower))
        parent = np.flatnonzero(lower[:, 0] != lower[:, 1])
        for side in (0, 1):
            child = lower[parent, side]
            up[child], feature[child] = parent, means.feature[parent]
            change[child] = means.change[parent, side]
        moves = not ensemble.is_forest  # whose trees are all judged at the same prediction
        depth = ensemble.predictor.links.tree_depth
        paths = Paths(up, feature, change * moves, ensemble.value * moves, depth)
        method = weighted.name.replace("saabas", "held_out_gain")
        return cls(ensemble, classes_, lower, paths, change, method, encode=encode)

    @cached_property
    def paths_of_rows(self) -> Paths:
        """The steps to nodes and places; factors of odds for the logistic loss (`add_up_rows`)."""
        is_logistic = self.ensemble.loss.kind == HALF_LOGISTIC
        up, feature, step, value, depth = self.paths_of_odds if is_logistic else self.paths
        node = self.ensemble.predictor.links.node
        return Paths(up[node], feature[node], step[node], value[node], depth)

    @cached_property
    def paths_of_odds(self) -> Paths:
        """The steps to nodes as factors of odds: e^value, and e^-step to remove a step."""
        return self.paths._replace(step=odds(-self.paths.step), value=odds(self.paths.value))

    @cached_property
    def farthest(self) -> float:
        """The most that all trees can move a row's raw prediction, or a feature's part of it."""
        ensemble, at = self.ensemble, np.arange(len(self.paths.up))
        by_node = np.abs(self.paths.value)
        for_path = np.zeros(len(at))
        for _ in range(self.paths.tree_depth.max(initial=0)):
            for_path += np.abs(self.paths.step[at])
            at = self.paths.up[at]
        of_trees = np.maximum.reduceat(np.maximum(by_node, for_path), ensemble.tree_offset[:-1])
        return float(of_trees.sum())

    def kurtosis_of_steps(self) -> np.ndarray:
        """Return how unequal a feature's steps are over the training rows, (p,); 0 if unused.

            mean_m n_m  *  sum n_c change_c^4  /  (sum n_c change_c^2)^2

        over the nodes c to which a step on the feature leads, with n_c training rows; n_m are those
        of tree m. Of a single tree it is the kurtosis of the steps that a row gets from it.
        """
        ensemble = self.ensemble
        counts = ensemble.n_samples if "counts" in ensemble.statistics else ensemble.sum_hessian
        feature = self.paths.feature.astype(np.int64)
        change = np.ldexp(self.change, -exponent_of_columns(self.change))
        second, fourth = (
            np.bincount(feature, counts * change**power, minlength=ensemble.n_credited)
            for power in (2, 4)
        )
        n_rows = counts[ensemble.tree_offset[:-1]].mean()
        result = np.zeros(ensemble.n_credited)
        return np.divide(n_rows * fourth, second**2, out=result, where=second**2 > 0)

    def judged(self, sums: np.ndarray) -> "SplitGains":
        """Return the gains of the splits, from ``sums`` of rows at the nodes, (n_nodes, 3).

        Weights and numbers of rows stand at leaves. Only where the loss says what rows weigh in a
        contrast (``attributions.held_out.among_rows``) they stand at both children of a split.
        """
        sums = np.array(sums.T)
        for of_leaves in sums[1:] if self.ensemble.loss.is_by_row else sums[2:]:
            add_up_leaves(self.lower, of_leaves)
        gradient, weight, n_rows = sums
        right, left = self.lower.T
        node = np.flatnonzero((left != right) & (weight[left] > 0) & (weight[right] > 0))
        left, right = left[node], right[node]
        total = weight[left] + weight[right]
        share = weight[left] / total, weight[right] / total
        difference = -(self.change[left] - self.change[right]) / self.ensemble.learning_rate
        return SplitGains(
            ensemble=self.ensemble,
            node=node,
            children=(left, right),
            gain=difference * (share[1] * gradient[left] - share[0] * gradient[right]),
            slope=(difference * share[1], -difference * share[0]),
            mean_gradient=(gradient[left] + gradient[right]) / total,
            n_rows=n_rows[node],
        )


@dataclass(frozen=True, eq=False)
class SplitGains:
    """Held-out gains of the splits that have rows on both sides; one entry each.

    Parameters
    ----------
    ensemble : Ensemble
    node : int array
    children : pair of int arrays
        Left and right.
    gain : float64 array
    slope : pair of float64 arrays
        The a of steps to the left and to the right, see the module's docstring.
    mean_gradient, n_rows : float64 arrays
        Of the node.
    """

    ensemble: Ensemble
    node: np.ndarray
    children: tuple[np.ndarray, np.ndarray]
    gain: np.ndarray
    slope: tuple[np.ndarray, np.ndarray]
    mean_gradient: np.ndarray
    n_rows: np.ndarray

    def by_tree(self) -> np.ndarray:
        """Return the gains added up by tree and feature, (M, p)."""
        ensemble = self.ensemble
        n_trees, p = ensemble.n_trees, ensemble.n_credited
        tree = np.searchsorted(ensemble.tree_offset, self.node, side="right") - 1
        cell = tree * p + ensemble.credited[self.node]
        return np.bincount(cell, self.gain, minlength=n_trees * p).reshape(n_trees, p)

    def parts(self, for_error: bool) -> np.ndarray:
        """Return a and b of every step, (n_nodes, 2): a row adds w (a g + b).

        The mean gradient of a node comes from its n rows themselves, whose distances from it
        therefore show (n - 1) / n of the variance; ``for_error`` multiplies parts by the root of
        n / (n - 1).
        """
        part = np.zeros((len(self.ensemble.feature), 2))
        factor = np.sqrt(self.n_rows / (self.n_rows - 1)) if for_error else 1.0
        for child, slope in zip(self.children, self.slope, strict=True):
            part[child, 0] = factor * slope
            part[child, 1] = -factor * slope * self.mean_gradient
        return part
