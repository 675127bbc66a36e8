"""What the trees of a fit have in common."""

from dataclasses import dataclass

import numpy as np

from gbt.splitting.policy import Limits


@dataclass(frozen=True)
class Plan:
    """What the trees of a fit have in common.

    ``loss`` is the kind of the loss, see ``gbt.kernels.rows.derivatives``. The random numbers of a
    tree follow from ``seed`` and its number. ``max_bins`` is that of ``gbt.tables.columns``.
    ``held_up`` is what trees have told of their splits (``gbt.kernels.trees.experience``), None for
    nothing; it changes from tree to tree. With ``has_guest`` a thread that has no tree to grow may
    help with one (`HistogramGrowth.help`).
    """

    loss: int
    limits: Limits
    learning_rate: float
    n_jobs: int | None = None
    seed: int = 0
    max_bins: int | None = None
    held_up: np.ndarray | None = None
    has_guest: bool = False
