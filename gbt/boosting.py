"""The loop that reads like the paper: gradients, tree, margins, and again."""

from dataclasses import dataclass

import numpy as np

from gbt.ensemble import Ensemble


@dataclass(frozen=True)
class Parameters:
    """What a fit is asked to do; the estimators' parameters after validation."""

    n_estimators: int = 100
    learning_rate: float = 0.1
    max_depth: int | None = 6
    max_leaves: int | None = None
    min_child_weight: float = 1.0
    min_samples_leaf: int = 1
    reg_lambda: float = 1.0
    min_split_gain: float = 0.0
    subsample: float = 1.0
    colsample: float = 1.0
    early_stopping_rounds: int | None = None
    verbose: int = 0


@dataclass(frozen=True)
class Boosted:
    """What a fit leaves behind."""

    ensemble: Ensemble
    evals_result: dict[str, list[float]]
    best_iteration: int
