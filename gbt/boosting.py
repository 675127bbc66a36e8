"""The loop around the loop: who sees which rows and columns, who watches, and when it ends.

Boosting itself, in the paper's letters, is in ``gbt.kernels.rounds``::

    f_0 = base score
    for m = 1 .. M:   g, h = derivatives of the loss at f_(m-1)
                      tree_m = grown on (g, h)
                      f_m = f_(m-1) + tree_m          (the learning rate is in the tree's values)

Where nothing is drawn and nobody watches, many rounds are one call.
"""

import math
from dataclasses import dataclass

import numpy as np

from gbt.columns import Columns
from gbt.growing import growth_of
from gbt.kernels.memory import Training
from gbt.losses import Loss, best_constant
from gbt.model import Ensemble, Tree, arrays_of, end_to_end
from gbt.progress import Progress
from gbt.splitting.frontier import Limits, Plan, Policy, Shape

EvalSet = tuple[np.ndarray, np.ndarray, np.ndarray | None]


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

    def plan(self, loss: Loss, n_jobs: int | None, seed: int) -> Plan:
        """Return what the trees have in common."""
        limits = Limits(
            self.reg_lambda, self.min_child_weight, self.min_samples_leaf, self.min_split_gain
        )
        shape = Shape(self.max_depth, self.max_leaves)
        return Plan(loss.kind, limits, shape, self.learning_rate, n_jobs, seed)


@dataclass(frozen=True)
class Boosted:
    """What a fit leaves behind."""

    ensemble: Ensemble
    evals_result: dict[str, list[float]]
    best_iteration: int


def boost(
    X: np.ndarray,
    y: np.ndarray,
    sample_weight: np.ndarray,
    *,
    loss: Loss,
    parameters: Parameters,
    base_score: float | None,
    splitter: Policy,
    eval_sets: list[EvalSet],
    feature_names: tuple[str, ...],
    seed: int,
    n_jobs: int | None,
) -> Boosted:
    """Fit an ensemble to rows ``X`` of floats (nan is missing), targets and positive weights.

    A single weight stands for all rows.
    ``base_score`` is in link space; None is the loss's best constant. Losses on the evaluation sets
    are recorded after every tree. With ``early_stopping_rounds`` the last of them decides: boosting
    ends when that many trees brought no new minimum, and the trees after the minimum are dropped.
    """
    # To Numba what is read-only is of another type.
    y, sample_weight = (np.require(v, requirements=["C", "W"]) for v in (y, sample_weight))
    if base_score is None:
        base_score = loss.link(best_constant(y, sample_weight))
        if not math.isfinite(base_score):
            raise FloatingPointError("the base score is infinite")
    columns = Columns.from_table(X, n_jobs)
    training = Training(
        y=y,
        weight=sample_weight,
        raw_prediction=np.full(len(y), base_score),
        gradient=np.empty(len(y)),
        hessian=np.empty(1 if loss.has_one_hessian else len(y)),
    )
    plan = parameters.plan(loss, n_jobs, seed)
    growth = growth_of(splitter, columns, training, plan)
    watched = [_Watched(loss, base_score, *eval_set) for eval_set in eval_sets]
    patience = parameters.early_stopping_rounds
    all_features = np.arange(columns.n_columns)
    all_rows = np.arange(len(y), dtype=np.int32) if parameters.subsample < 1.0 else None
    is_drawn = min(parameters.subsample, parameters.colsample) < 1.0
    trees: list[np.ndarray] = []
    sizes: list[int] = []
    with Progress(parameters.n_estimators, parameters.verbose) as progress:
        while (m := len(sizes)) < parameters.n_estimators:
            rows = None  # all
            if all_rows is not None:
                rows = sampled_rows(seed, m, all_rows, parameters.subsample)
            features = sampled_features(seed, m, all_features, parameters.colsample)
            one_by_one = watched or is_drawn or parameters.verbose
            most = 1 if one_by_one else parameters.n_estimators - m
            grown, sizes_of_grown = growth.grow(rows, features, most)
            trees.append(grown)
            sizes.extend(sizes_of_grown)
            if rows is not None and len(rows) < len(y):
                Tree(**arrays_of(grown)).add_values(X, training.raw_prediction, n_jobs)
            for w in watched:
                w.record(Tree(**arrays_of(grown)), n_jobs)
            progress.show(m, watched[-1].losses[-1] if watched else None, loss.metric)
            if patience and m - int(np.argmin(watched[-1].losses)) >= patience:
                break

    ensemble = Ensemble(
        **arrays_of(end_to_end(trees)),
        tree_offset=np.cumsum([0, *sizes]),
        base_score=base_score,
        learning_rate=parameters.learning_rate,
        reg_lambda=parameters.reg_lambda,
        loss=loss,
        feature_names=feature_names,
    )
    best_iteration = int(np.argmin(watched[-1].losses)) if patience else len(sizes) - 1
    evals_result = {f"eval_{i}": w.losses for i, w in enumerate(watched)}
    return Boosted(ensemble.truncate(best_iteration + 1), evals_result, best_iteration)


class _Watched:
    """Rows that are not trained on, their raw predictions so far, and their mean losses."""

    def __init__(self, loss, base_score, X, y, sample_weight):
        self.loss = loss
        self.X = X
        self.y = y
        self.sample_weight = sample_weight
        self.raw_prediction = np.full(len(y), base_score)
        self.losses = []

    def record(self, tree, n_jobs):
        """Add the tree's values and note the weighted mean loss."""
        tree.add_values(self.X, self.raw_prediction, n_jobs)
        loss = self.loss.value(self.y, self.raw_prediction)
        self.losses.append(float(np.average(loss, weights=self.sample_weight)))


def sampled_rows(seed: int, m: int, rows: np.ndarray, subsample: float) -> np.ndarray:
    """Return the rows that tree ``m`` sees, ascending: at least one, drawn without replacement."""
    return _sample(seed, m, 0, rows, subsample)


def sampled_features(seed: int, m: int, features: np.ndarray, colsample: float) -> np.ndarray:
    """Return the columns that tree ``m`` may split on, ascending, at least one."""
    return _sample(seed, m, 1, features, colsample)


def _sample(seed, m, stream, numbers, fraction):
    """Draw from a stream of the tree's own, so that no tree depends on how others were drawn."""
    if fraction == 1.0:
        return numbers
    generator = np.random.default_rng([seed, m, stream])
    size = sample_size(len(numbers), fraction)
    return np.sort(generator.choice(numbers, size=size, replace=False))


def sample_size(n: int, fraction: float) -> int:
    """Return how many of ``n`` rows or columns a tree sees."""
    return max(1, round(fraction * n))
