"""What the trees of a fit have in common, and the protocol of what grows them."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from gbt.kernels.trees.pooled import nothing_held_up
from gbt.splitting.frontier import Limits
from gbt.training.grown_trees import NewTrees


@dataclass(frozen=True)
class Shape:
    """How large a tree may become; None is without limit."""

    max_depth: int | None
    max_leaves: int | None


@dataclass(frozen=True)
class Plan:
    """What the trees of a fit have in common.

    ``loss`` is the kind of the loss, see ``gbt.kernels.rows.derivatives``. The random numbers of a
    tree follow from ``seed`` and its number. ``max_bins`` is that of ``gbt.tables.columns``.
    ``held_up`` is what trees have
    told of their splits, see ``gbt.kernels.trees.pooled``; it changes from tree to tree.
    With ``has_guest`` a thread that has no tree to grow may help with one (`Growth.help`).
    """

    loss: int
    limits: Limits
    shape: Shape
    learning_rate: float
    n_jobs: int | None = None
    seed: int = 0
    max_bins: int | None = None
    held_up: np.ndarray = field(default_factory=nothing_held_up)
    has_guest: bool = False


class Growth(Protocol):
    """A policy at work on one table: it grows tree after tree.

    ``leaf_of_row``, int32, says which leaf of the last tree every row of the table is in. The next
    tree overwrites it, and it has no meaning for rows that the tree did not see.
    """

    leaf_of_row: np.ndarray

    def grow(self, m: int, rows: np.ndarray | None, features: np.ndarray, most: int) -> NewTrees:
        """Grow trees, one after the other, at most ``most`` of them.

        Parameters
        ----------
        m : int
            The number of the first of them, by which a policy draws at random.
        rows : int32 array or None
            The rows that they see, ascending; None is all. Only a tree that sees all rows updates
            the raw predictions, and one that does not is the only tree of its call.
        features : int array
            The columns that they may split on, ascending.
        most : int
        """
        ...

    def help(self) -> bool:
        """Help with the tree that another thread grows, if one may; say whether one did."""
        ...

    def set_learning_rate(self, rate: float) -> None:
        """Multiply the steps of the next trees by this."""
        ...
