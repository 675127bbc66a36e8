"""What a policy is asked and what it answers, and what is left when a tree has grown."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gbt.columns import Columns


@dataclass(frozen=True)
class Limits:
    """What every split must respect, whatever the policy."""

    reg_lambda: float
    min_child_weight: float
    min_samples_leaf: int
    min_split_gain: float


@dataclass(frozen=True)
class Shape:
    """How large a tree may become; None is without limit."""

    max_depth: int | None
    max_leaves: int | None


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Fixed-point gradients and hessians of the rows of a table, weights included.

    Parameters
    ----------
    gradient, hessian : int64 arrays of shape (n,)
        Of all rows of the table; without meaning where a row takes no part.
    gradient_scale, hessian_scale : float
        What the integers were multiplied by.
    """

    gradient: np.ndarray
    hessian: np.ndarray
    gradient_scale: float
    hessian_scale: float


@dataclass(frozen=True, eq=False)
class Frontier:
    """Open nodes, each a stretch of one list of rows.

    Parameters
    ----------
    columns : Columns
    features : int64 array
        The columns that this tree may split on, ascending.
    derivatives : Derivatives
    rows : int32 array
        Rows of the table, those of a node beside each other.
    start, stop : int64 arrays of shape (n_nodes,)
        Node j owns ``rows[start[j]:stop[j]]``.
    """

    columns: Columns
    features: np.ndarray
    derivatives: Derivatives
    rows: np.ndarray
    start: np.ndarray
    stop: np.ndarray


@dataclass(frozen=True, eq=False)
class Splits:
    """One split a node: codes up to ``cut`` of ``feature`` go left.

    ``feature`` is -1 where a node stays a leaf. ``gain`` orders best-first growth and may be in any
    unit.
    """

    feature: np.ndarray
    cut: np.ndarray
    missing_left: np.ndarray
    gain: np.ndarray


@dataclass(frozen=True, eq=False)
class Branches:
    """A grown tree: nodes in the order in which they were opened, the root at 0.

    It is in memory that the next tree is grown in.

    Parameters
    ----------
    rows : int32 array
        Rows of the table, those of a leaf beside each other and ascending.
    nodes : array of dtype ``gbt.kernels.nodes.NODE``
        What is known of them; they own stretches of ``rows``.
    node_of_row : int32 array of shape (n,)
        By row of the table; room for the leaf of each, which ``finish_tree`` writes down.
    """

    rows: np.ndarray
    nodes: np.ndarray
    node_of_row: np.ndarray


class Growth(Protocol):
    """A policy at work on one table: it grows tree after tree."""

    def grow(
        self,
        gradient: np.ndarray,
        hessian: np.ndarray,
        sample_weight: np.ndarray,
        rows: np.ndarray | None,
        features: np.ndarray,
    ) -> Branches:
        """Grow a tree on some rows, ascending, that may split on some columns, ascending.

        See ``gbt.growing.Grower.grow``.
        """
        ...
