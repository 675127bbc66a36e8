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
from attributions.kernels.spots import odds
from attributions.per_row.saabas import Saabas
from attributions.rows import Intake
from attributions.statistics.powers_of_two import exponent_of_columns
from attributions.walk.layout_of_steps import Splits, Steps, lower_of
from gbt.losses.ranking import NDCG
from gbt.model.ensemble import Ensemble
from gbt.model.statistics import add_up_trees


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
    """The steps between the nodes of a model, as walks need them, and what they are worth."""

    steps: Steps
    change: np.ndarray  # (n_nodes,) how far the value of a node lies above that of its parent
    method: str = "held_out_gain"  # of results; says if leaves were weighted by their rows

    @classmethod
    def of_model(
        cls, model: Any, X: Any, training: Any = None, columns: str = "given"
    ) -> "StepsOfModel":
        """Take the model and the table that a public function was given."""
        taken = Intake.of_model(model, X, training, columns)
        return cls.of(taken.ensemble, taken.classes_, taken.encode)

    @classmethod
    def of(
        cls, ensemble: Ensemble, classes_: Any = None, encode: Callable | None = None
    ) -> "StepsOfModel":
        """List the steps of all trees, each in the place of the node that it leads to."""
        weighted, steps = mean_of_leaves(ensemble), Steps.of(ensemble)
        if isinstance(ensemble.loss, NDCG):
            ensemble = with_changes(ensemble, loss=ensemble.loss.with_even_places)
        mean = weighted.bind(ensemble).node_value
        method = weighted.name.replace("saabas", "held_out_gain")
        return cls(ensemble, classes_, steps, mean - mean[steps.up], method, encode=encode)

    @cached_property
    def paths(self) -> Paths:
        """The steps to nodes and places."""
        node = self.ensemble.predictor.links.node
        change = self.change * (not self.ensemble.is_forest)  # all judged at the same prediction
        return Paths(self.steps.up[node], self.steps.feature[node], change[node])

    @cached_property
    def paths_of_odds(self) -> Paths:
        """The same with e^-step to remove a step."""
        return self.paths._replace(step=odds(-self.paths.step))

    @cached_property
    def farthest(self) -> float:
        """The most that all trees can move a row's raw prediction, or a feature's part of it."""
        ensemble, at = self.ensemble, np.arange(len(self.change))
        change, for_path = np.abs(self.change), np.zeros(len(at))
        for _ in range(ensemble.predictor.links.tree_depth.max(initial=0)):
            for_path += change[at]
            at = self.steps.up[at]
        of_node = np.maximum(np.abs(ensemble.value), for_path)
        of_trees = np.maximum.reduceat(of_node, ensemble.tree_offset[:-1])
        return float(of_trees.sum()) * (not ensemble.is_forest)

    def kurtosis_of_steps(self) -> np.ndarray:
        """Return how unequal a feature's steps are over the training rows, (p,); 0 if unused.

            mean_m n_m  *  sum n_c change_c^4  /  (sum n_c change_c^2)^2

        over the nodes c to which a step on the feature leads, with n_c training rows; n_m are those
        of tree m. Of a single tree it is the kurtosis of the steps that a row gets from it.
        """
        ensemble = self.ensemble
        counts = ensemble.n_samples if "counts" in ensemble.statistics else ensemble.sum_hessian
        feature = self.steps.feature.astype(np.int64)
        change = np.ldexp(self.change, -exponent_of_columns(self.change))
        second, fourth = (
            np.bincount(feature, counts * change**power, minlength=ensemble.n_credited)
            for power in (2, 4)
        )
        n_rows = counts[ensemble.tree_offset[:-1]].mean()
        result = np.zeros(ensemble.n_credited)
        return np.divide(n_rows * fourth, second**2, out=result, where=second**2 > 0)

    def judged(self, sums: np.ndarray) -> "SplitGains":
        """Return the gains of the splits, from ``sums`` of rows at the nodes.

        Of every step they have w g; then w u, if rows weigh something at splits beside their
        weights (``attributions.held_out.exposures``); then, at leaves, w and the number of rows.
        """
        gradient, *exposed = sums[:, :-2].T
        weight, n_rows = add_up_trees(self.ensemble, sums[:, -2:].copy()).T
        weight = exposed[0] if exposed else weight
        right, left = lower_of(self.ensemble).T
        node = np.flatnonzero((left != right) & (weight[left] > 0) & (weight[right] > 0))
        left, right = left[node], right[node]
        total = weight[left] + weight[right]
        share = weight[left] / total, weight[right] / total
        difference = -(self.change[left] - self.change[right]) / self.ensemble.learning_rate
        return SplitGains(
            self.ensemble,
            node,
            left,
            right,
            gain=difference * (share[1] * gradient[left] - share[0] * gradient[right]),
            slope=(difference * share[1], -difference * share[0]),
            mean_gradient=(gradient[left] + gradient[right]) / total,
            n_rows=n_rows[node],
        )


@dataclass(frozen=True, eq=False)
class SplitGains(Splits):
    """Held-out gains of the splits that have rows on both sides."""

    gain: np.ndarray
    slope: tuple[np.ndarray, np.ndarray]  # the a of steps to the left and to the right
    mean_gradient: np.ndarray  # of the node
    n_rows: np.ndarray  # of the node

    def parts(self, for_error: bool) -> np.ndarray:
        """Return a and b of every step, (n_nodes, 2): a row adds w (a g + b).

        The mean gradient of a node comes from its n rows themselves, whose distances from it
        therefore show (n - 1) / n of the variance; ``for_error`` multiplies parts by the root of
        n / (n - 1).
        """
        factor = np.sqrt(self.n_rows / (self.n_rows - 1)) if for_error else 1.0
        left, right = (factor * slope for slope in self.slope)
        mean = self.mean_gradient
        return self.on_steps((left, -left * mean), (right, -right * mean))
