r"""The steps between the nodes of a model, each in the place of the node c that it leads to.

::

        t [3]            feature[c] = 3          up[c] = t
       / \
      b   c
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from attributions.kernels.contrasts import N_ENDS, N_WHOLE, Parts
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import top_of_trees
from gbt.model.statistics import by_tree


class Steps(NamedTuple):
    """The steps to all N nodes, or those to all nodes and places; 0 at roots, except ``up``."""

    up: np.ndarray  # (N,) uint64, the parent; a root is its own
    feature: np.ndarray  # (N,) uint64, that the parent's split is credited to

    @classmethod
    def of(cls, ensemble: Ensemble) -> "Steps":
        """List the steps to the nodes of all trees."""
        lower = lower_of(ensemble)
        up = np.arange(len(lower), dtype=np.uint64)
        feature = np.zeros(len(lower), dtype=np.uint64)
        parent = np.flatnonzero(lower[:, 0] != up)
        for child in lower[parent].T:
            up[child], feature[child] = parent, ensemble.credited[parent]
        return cls(up, feature)


def lower_of(ensemble: Ensemble) -> np.ndarray:
    """Return the right and the left child of every node, uint64 (N, 2); a leaf is its own."""
    return ensemble.predictor.links.lower[: len(ensemble.feature)]


@dataclass(frozen=True, eq=False)
class Splits:
    """The splits of a model that count, an entry each: their nodes, and the children of these."""

    ensemble: Ensemble
    node: np.ndarray
    left: np.ndarray
    right: np.ndarray

    def add_up(self, worth: np.ndarray) -> np.ndarray:
        """Return what the splits are worth, added up by tree and feature, (M, p)."""
        return by_tree(self.ensemble, self.node, worth)

    def on_steps(self, to_left: Sequence[np.ndarray], to_right: Sequence[np.ndarray]) -> np.ndarray:
        """Lay out some numbers of either side by the nodes that steps lead to, (n_nodes, .)."""
        part = np.zeros((len(self.ensemble.feature), len(to_left)))
        part[self.left], part[self.right] = np.transpose(to_left), np.transpose(to_right)
        return part


def along_paths(ensemble: Ensemble, part: np.ndarray) -> Parts:
    """Return the parts of steps, and their features, as kernels take them.

    ``part`` (n_nodes, 3) has a, b and d of the step to each node. A tree is made complete down to
    depth 3, as in ``gbt.kernels.rows.descent``.
    """
    lower, links, (up, feature) = lower_of(ensemble), ensemble.predictor.links, Steps.of(ensemble)
    top, nodes = top_of_trees(links.roots, lower, N_WHOLE)
    end = np.zeros(len(up), dtype=np.uint8)
    end[nodes] = np.arange(N_ENDS)
    is_known = np.zeros(len(up), dtype=bool)
    is_known[top] = is_known[nodes] = True
    is_below = ~is_known
    while not is_known.all():  # a depth further down
        end, is_known = np.where(is_known, end, end[up]), is_known | is_known[up]
    children = lower[top]
    is_step = (children != top[:, :, np.newaxis])[..., np.newaxis]  # a leaf leads to itself
    of_top = np.maximum(ensemble.credited[top], 0).astype(np.uint64), part[children] * is_step
    below = up, feature, np.where(is_below[:, np.newaxis], part, 0.0), end
    return Parts(*of_top, *(of_node[links.node] for of_node in below))
