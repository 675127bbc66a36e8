"""What a leader and the members of a team tell each other, each fact by its name."""

from math import isnan
from typing import Any, NamedTuple

import numpy as np

from gbt.losses.loss import Loss


class Fit(NamedTuple):
    """What is known of a fit, to whoever leads it and to all members."""

    loss: Loss
    base_score: Any  # float, or float64 array of shape (K,)
    n_rows: int  # those of all members
    weight: float  # of all rows, nan if they differ
    seed: int
    subsample: float
    n_parts: int  # into which the rows of a tree are divided, see ``gbt.kernels.cuts.sets``
    n_sets: int  # likewise; 1 if they are not

    @property
    def has_one_weight(self) -> bool:
        """Whether all rows have the same weight."""
        return not isnan(self.weight)

    @property
    def are_alike(self) -> bool:
        """Whether all rows have the same weight and a hessian of 1."""
        return self.has_one_weight and self.loss.has_one_hessian


class Measured(NamedTuple):
    """How large the derivatives of a member's rows are in a tree.

    ``of_g`` and ``of_h`` are sums of |w g| and |w h|, see `Member._sum`; ``weight`` is a sum, too.
    """

    of_g: np.ndarray
    of_h: np.ndarray
    weight: float
    is_whole: bool  # whether all weights are whole
    n_rows: int


class Units(NamedTuple):
    """The units of a tree's integers, see ``gbt.kernels.trees.quantise``."""

    g_scale: float
    h_scale: float
    repeats: int  # 1 or 0
    width: int  # the layout of entries and bins, see ``gbt.kernels.cuts.histogram``
    count_bits: int
    hessian: int


class Root(NamedTuple):
    """Sums over the rows of a tree, and the histograms of its root.

    ``histogram``, int64 of shape (bins, width), is that of all sets, one after the other.
    """

    g: int
    h: int
    magnitude: int
    histogram: np.ndarray


class Split(NamedTuple):
    """How the rows of a node are divided: the split of a node, as members are told of it."""

    node: int
    column: int
    cut: float  # the highest value that goes left
    missing_left: bool
    left: int  # the children
    right: int
    added_up: int  # the child of which members add up the histogram, -1 if of none
    # Of a column of levels: which of them go left, and last whether missing values do.
    levels: np.ndarray | None


class Divided(NamedTuple):
    """What a member tells of some nodes whose rows it has divided, one after the other.

    ``low`` is the highest value on the left and ``high`` the lowest on the right. ``magnitude`` is
    the sum of |g| of the children that were added up, ``histogram`` as in `Root`, of each of them.
    """

    low: np.ndarray
    high: np.ndarray
    magnitude: np.ndarray
    histogram: np.ndarray
