"""The question to a policy, and its answer.

The loop of ``gbt.training.policy_growth`` opens nodes and asks a policy for the splits of those
opened last: all of one depth, or with ``max_leaves`` the two children of one split. Nodes too deep
or too small to be split are left out. Whatever the policy, a node is a stretch of one list of rows,
and a row carries its gradient and hessian as integers, so that sums do not depend on their order.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gbt.tables.columns import Columns

# Groups of columns that may be on one path; a number stands for all groups of that size.
Groups = frozenset[frozenset[int]] | int


@dataclass(frozen=True)
class Limits:
    """The limits on every split, whatever the policy.

    They have the names of the estimator's parameters, but for ``directions``, int8 of shape (p,),
    which are 1, -1 or 0 for every column of the table where some are to be monotone
    (``gbt.splitting.monotone``), and ``groups``, the columns that may stand on one path
    (``gbt.splitting.interactions``).
    """

    reg_lambda: float = 1.0
    min_child_weight: float = 1.0
    min_samples_leaf: int = 1
    min_split_gain: float = 0.0
    categorical_smoothing: float = 0.0
    directions: np.ndarray | None = None
    groups: Groups | None = None
    colsample_bylevel: float = 1.0
    colsample_bynode: float = 1.0
    max_depth: int | None = None  # of the tree
    max_leaves: int | None = None

    @property
    def narrows(self) -> bool:
        """Whether a node may be split on fewer columns than its tree."""
        return self.groups is not None or self.draws_columns

    @property
    def draws_columns(self) -> bool:
        """Whether columns are drawn for levels or nodes."""
        return min(self.colsample_bylevel, self.colsample_bynode) < 1.0


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Fixed-point gradients and hessians of the rows of a table, weights included."""

    gradient: np.ndarray  # (n,) int64, of all rows of the table; meaningless if they take no part
    hessian: np.ndarray
    gradient_scale: float  # the factors that made integers of the numbers
    hessian_scale: float
    weight: np.ndarray | None = None  # (n,) int64, by which levels of few rows are told; None is 1
    weight_scale: float = 1.0

    def in_units(self, gain: float) -> float:
        """Return a gain in the integers' units.

        The scale of gradients is not squared first: that may be infinite, and make nan of 0.
        """
        return gain * self.gradient_scale * (self.gradient_scale / self.hessian_scale)

    def from_units(self, gain: np.ndarray) -> np.ndarray:
        """Return gains in the units of the loss, given those in the integers' units."""
        return gain / self.gradient_scale * (self.hessian_scale / self.gradient_scale)


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
        Rows of the table, node by node.
    start, stop : int64 arrays of shape (n_nodes,)
        Node j owns ``rows[start[j]:stop[j]]``.
    random : numpy.random.Generator
        The tree's own generator, for policies that draw.
    bounds : float64 array of shape (n_nodes, 2), or None
        Least and largest step of each node and of all nodes below it, in the integers' units; None
        if no column has a direction.
    is_open : bool array of shape (n_nodes, n_features), or None
        Whether a node may be split on a column; None if each may be split on all. `best_cuts` finds
        no cut in other columns.
    """

    columns: Columns
    features: np.ndarray
    derivatives: Derivatives
    rows: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    random: np.random.Generator
    bounds: np.ndarray | None = None
    is_open: np.ndarray | None = None

    def __len__(self) -> int:
        """Return the number of open nodes."""
        return len(self.start)

    def rows_of(self, j: int) -> np.ndarray:
        """Return the rows of one node."""
        return self.rows[self.start[j] : self.stop[j]]


@dataclass(frozen=True, eq=False)
class Splits:
    """One split a node: codes up to ``cut`` of ``feature`` go left.

    Parameters
    ----------
    feature : int array of shape (n_nodes,)
        -1 where a node stays a leaf.
    cut : int array of shape (n_nodes,)
        The largest code that goes left.
    missing_left : bool array of shape (n_nodes,)
        Whether rows without a value go left.
    gain : float64 array of shape (n_nodes,)
        What the split is worth, in the units of the integers; it orders best-first growth.
    goes_left : list, optional
        For a node that splits a categorical column, which codes go left, and last whether missing
        values do, in place of ``cut``; None for other nodes.
    candidate : int array of shape (n_nodes,), optional
        The feature that the policy judged, whether or not the node is split on it; -1 where no cut
        is allowed.
    """

    feature: np.ndarray
    cut: np.ndarray
    missing_left: np.ndarray
    gain: np.ndarray
    goes_left: list[np.ndarray | None] | None = None
    candidate: np.ndarray | None = None


class Policy(Protocol):
    """How a node chooses its split. A new policy is a new class with this method.

    `Unbiased` and `CrossValidated` have a method ``judges`` in its place, by which their trees grow
    in compiled code (``gbt.kernels.cuts.sets``).

    Where a model has several outputs, several threads ask one policy at once, so it may keep
    nothing from one call to the next; it draws from ``frontier.random``.

    To begin, copy ``gbt/splitting/greedy.py``: `best_cuts` finds the best cut of every column for
    whatever sums the policy asks for, and ``Cuts.choose`` writes the answer. An object of the class
    is handed to an estimator as ``splitter=``.

    If it also has an attribute ``stop_at_stub``, boosting ends after so many rounds in a row that
    have no split, True for one, unless trees see samples of rows or columns or boosting starts
    elsewhere than at the best constant; with a true attribute
    ``judges_by_other_rows``, what it finds a split worth may be negative, and so may
    ``min_split_gain``; one with a true attribute ``keeps_directions`` keeps monotone
    constraints: the steps of both sides of its cuts are within the bounds of the node, and in
    order. A method ``check_rows(n, limits)`` is asked before
    the first tree; it raises ValueError if the n rows that a tree sees are too few.
    """

    def split(self, frontier: Frontier, limits: Limits, n_jobs: int | None) -> Splits:
        """Return the split of every open node of the frontier."""
        ...
