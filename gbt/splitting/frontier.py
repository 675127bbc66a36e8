"""What a policy is asked, the frontier of open nodes, and what it answers, a split for each."""

from dataclasses import dataclass

import numpy as np

from gbt.columns import Columns


@dataclass(frozen=True)
class Limits:
    """What every split must respect, whatever the policy."""

    reg_lambda: float
    min_child_weight: float
    min_samples_leaf: int
    min_split_gain: float


@dataclass(frozen=True, eq=False)
class Frontier:
    """Open nodes, each a stretch of one list of rows.

    Parameters
    ----------
    columns : Columns
    features : int64 array
        The columns that this tree may split on, ascending.
    rows, gradient, hessian : int32, int64, int64 arrays of shape (n_rows,)
        Rows and their fixed-point gradients and hessians, the rows of a node beside each other.
    gradient_scale, hessian_scale : float
        What the integers were multiplied by.
    start, stop : int64 arrays of shape (n_nodes,)
        Node j owns ``rows[start[j]:stop[j]]``.
    sums : int64 array of shape (n_nodes, 3)
        Sums of g, h and |g| over each node's rows.
    """

    columns: Columns
    features: np.ndarray
    rows: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray
    gradient_scale: float
    hessian_scale: float
    start: np.ndarray
    stop: np.ndarray
    sums: np.ndarray


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
