"""The columns on which nodes may be split, for Python (``gbt.kernels.trees.node_columns``)."""

import numpy as np

from gbt.kernels.cuts.memory import FOUND, Work
from gbt.kernels.trees.node_columns import columns_of_nodes
from gbt.kernels.trees.nodes import records


def open_to(nodes: np.ndarray, features: np.ndarray, work: Work) -> np.ndarray | None:
    """Return which columns of a tree are open to its nodes, bool of shape (J, n_features).

    ``features`` are those that the tree may split on. The result None stands for all of them.
    """
    if not work.rules["narrows"][0]:
        return None
    n_columns = len(work.table.columns)
    found = records(len(nodes) * n_columns, FOUND).reshape(len(nodes), n_columns)
    columns_of_nodes(nodes, work.table.columns, work.rules, work.following, found)
    return found["is_open"][:, features] != 0


def allow(features: np.ndarray, work: Work) -> None:
    """Let the next trees be split on these columns alone."""
    is_allowed = work.table.columns["is_allowed"]
    is_allowed[:] = 0
    is_allowed[features] = 1
