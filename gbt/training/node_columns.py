"""The columns on which nodes may be split, for trees that Python grows.

The histogram search calls ``gbt.kernels.trees.node_columns`` from other kernels, this module calls
it from Python.
"""

import numpy as np

from gbt.kernels.cuts.memory import COLUMN, FOUND, RULES
from gbt.kernels.trees.node_columns import columns_of_nodes
from gbt.kernels.trees.nodes import records
from gbt.splitting.interactions import following_of
from gbt.training.plan import Plan


class NodeColumns:
    """The columns that are open to the nodes of a tree; used for one tree after the other."""

    def __init__(self, n_columns: int, plan: Plan):
        self.narrows = plan.limits.narrows
        self.columns, self.rules = records(n_columns, COLUMN), records(1, RULES)
        self.following = following_of(plan.limits, n_columns, plan.shape.max_depth)
        self.rules["narrows"], self.rules["n_grown"] = self.narrows, 0
        self.rules["colsample_bylevel"] = plan.limits.colsample_bylevel
        self.rules["colsample_bynode"] = plan.limits.colsample_bynode
        self.rules["seed"] = plan.seed % 2**64
        self.features = np.arange(n_columns)

    def begin(self, m: int, features: np.ndarray) -> None:
        """Begin tree ``m``, which may be split on ``features``."""
        self.rules["first_tree"], self.features = m, features
        self.columns["is_allowed"] = 0
        self.columns["is_allowed"][features] = 1

    def of(self, nodes: np.ndarray) -> np.ndarray | None:
        """Return which of the tree's columns are open to nodes, bool of shape (J, n_features).

        The result None stands for all columns.
        """
        if not self.narrows:
            return None
        found = records(len(nodes) * len(self.columns), FOUND).reshape(len(nodes), -1)
        columns_of_nodes(nodes, self.columns, self.rules, self.following, found)
        return found["is_open"][:, self.features] != 0

    def after(self, state: int, feature: int) -> int:
        """Return the state of the children of a node that is split on a column."""
        if not self.narrows:
            return state
        of_state = self.following[state:]
        return int(of_state["state"][np.argmax(of_state["column"] == feature)])
