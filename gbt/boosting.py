"""Boosting: tree after tree; who sees which rows and columns, who watches, and when it ends.

The algorithm is this, and for one output of a loss that kernels know ``gbt.kernels.rounds`` has it
compiled::

    f_0 = base score
    for m = 1 .. M:   g, h = derivatives of the loss at f_(m-1)
                      tree_m = grown on (g, h)
                      f_m = f_(m-1) + tree_m          (the learning rate is in the tree's values)

Where nothing is drawn, nobody watches, and kernels know the loss, many rounds are one call.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gbt.categories import Categories, EncodedRows, count_levels
from gbt.columns import Columns
from gbt.evaluation import Callback, EvalSet, Metric, Watch
from gbt.growing import growth_of
from gbt.grown_trees import GrownTrees
from gbt.kernels.derivatives import GIVEN
from gbt.kernels.memory import Training
from gbt.losses import Loss
from gbt.model import Ensemble
from gbt.progress import Progress
from gbt.sampling import sampled_features, sampled_rows
from gbt.seen_rows import SeenRows
from gbt.splitting.frontier import Limits, Plan, Policy, Shape


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
    categorical_smoothing: float = 0.0
    monotone_constraints: np.ndarray | None = None  # the direction of every column
    subsample: float = 1.0
    colsample: float = 1.0
    early_stopping_rounds: int | None = None
    eval_metric: Metric | str | None = None
    callbacks: Sequence[Callback] | None = None
    verbose: int = 0

    @property
    def is_in_steps(self) -> bool:
        """Whether something is drawn or shown for every tree."""
        return min(self.subsample, self.colsample) < 1.0 or bool(self.verbose)

    def plan(self, loss: Loss, n_jobs: int | None, seed: int) -> Plan:
        """Return what the trees have in common."""
        limits = Limits(
            self.reg_lambda,
            self.min_child_weight,
            self.min_samples_leaf,
            self.min_split_gain,
            self.categorical_smoothing,
            self.monotone_constraints,
        )
        shape = Shape(self.max_depth, self.max_leaves)
        return Plan(loss.kind, limits, shape, self.learning_rate, n_jobs, seed)


@dataclass(frozen=True)
class Boosted:
    """What a fit leaves behind."""

    ensemble: Ensemble
    evals_result: dict[str, list[float]]
    best_iteration: int
    split_scores: np.ndarray | None  # see `NewTrees`


def boost(
    X: np.ndarray,
    y: np.ndarray,
    sample_weight: np.ndarray,
    *,
    loss: Loss,
    parameters: Parameters,
    base_score: Any,
    splitter: Policy,
    eval_sets: list[EvalSet],
    feature_names: tuple[str, ...],
    seed: int,
    n_jobs: int | None,
    categories: Categories | None = None,
    start: Ensemble | None = None,
) -> Boosted:
    """Fit an ensemble to rows ``X`` of floats (nan is missing), targets and positive weights.

    Columns that have ``categories`` hold the numbers of their levels. One weight stands for all.
    ``base_score`` is in link space; None is the loss's best constant. Losses on the evaluation sets
    are recorded after every tree. With ``early_stopping_rounds`` the last of them decides: boosting
    ends when that many trees brought nothing better, and the trees after the best are dropped.

    With ``start``, a model of these very rows, its trees are the first, and counted. The ensemble
    does not know yet which rows it has seen, because the memory of growing is still in use here.
    """
    # To Numba what is read-only is of another type.
    y, sample_weight = (np.require(v, requirements=["C", "W"]) for v in (y, sample_weight))
    if base_score is None:
        base_score = loss.best_constant(y, sample_weight)
        if not np.isfinite(base_score).all():
            raise FloatingPointError("the base score is infinite")
    patience = parameters.early_stopping_rounds
    columns = Columns.from_table(X, n_jobs, count_levels(categories, X.shape[1]))
    outputs = _Outputs(loss, base_score, y, sample_weight)
    growth = growth_of(splitter, columns, outputs.training, parameters.plan(loss, n_jobs, seed))
    watch = Watch(loss, base_score, eval_sets, parameters.eval_metric, patience)
    callbacks = parameters.callbacks or ()
    all_features = np.arange(columns.n_columns)
    is_sampled = parameters.subsample < 1.0
    all_rows = np.arange(len(y) if is_sampled else 0, dtype=np.int32)
    one_by_one = bool(eval_sets or callbacks) or loss.kind == GIVEN or parameters.is_in_steps
    trees = GrownTrees(start)
    if start is not None:
        seen_rows = SeenRows.of((X, y), None, n_jobs)
        _check_start(start, base_score, parameters, feature_names, seen_rows)
        outputs.go_on_from(start.raw_predict(X.view(EncodedRows), n_jobs))
        watch.record_all(start, n_jobs)
    is_over = watch.is_over
    with Progress(parameters.n_estimators, parameters.verbose) as progress:
        while (m := len(trees)) < parameters.n_estimators * loss.n_outputs and not is_over:
            rows = sampled_rows(seed, m, all_rows, parameters.subsample) if is_sampled else None
            features = sampled_features(seed, m, all_features, parameters.colsample)
            most = 1 if one_by_one else parameters.n_estimators - m
            outputs.before_tree(m)
            trees.add(growth.grow(m, rows, features, most))
            if rows is not None and len(rows) < len(y):
                trees.last(1)[0].add_values(X, outputs.training.raw_prediction, n_jobs)
            if not outputs.after_tree(m):
                continue
            m //= loss.n_outputs
            if eval_sets:
                watch.record(trees.last(loss.n_outputs), n_jobs)
            progress.show(m, watch.headline)
            has_split = max(trees.sizes[-loss.n_outputs :]) > 1
            is_stub = not has_split and getattr(splitter, "stop_at_stub", False)
            is_over = watch.ask(callbacks, m, parameters.n_estimators) or is_stub or watch.is_over

    best_iteration = watch.best_iteration if patience else len(trees) // loss.n_outputs - 1
    ensemble = Ensemble(
        **trees.arrays(),
        base_score=base_score,
        learning_rate=parameters.learning_rate,
        reg_lambda=parameters.reg_lambda,
        loss=loss,
        feature_names=feature_names,
        categories=categories,
        level_sets=None if categories is None else trees.all_level_sets(),
    )
    return Boosted(
        ensemble.truncate(best_iteration + 1),
        watch.evals_result,
        best_iteration,
        trees.sum_of_scores((best_iteration + 1) * loss.n_outputs),
    )


class _Outputs:
    """The raw predictions of all outputs, of which `Training` has that of the next tree.

    Kernels write the derivatives of the losses that they know; those of others are written here,
    for all outputs before the first tree of a round.
    """

    def __init__(self, loss: Loss, base_score: Any, y: np.ndarray, sample_weight: np.ndarray):
        self.loss, self.n = loss, loss.n_outputs
        self.training = Training(
            y=y,
            weight=sample_weight,
            raw_prediction=np.full(len(y), np.atleast_1d(base_score)[0]),
            gradient=np.empty(len(y)),
            hessian=np.empty(1 if loss.has_one_hessian else len(y)),
        )
        self.raw = self.training.raw_prediction[np.newaxis]
        if self.n > 1:
            self.raw = np.repeat(base_score[:, np.newaxis], len(y), axis=1)

    def go_on_from(self, raw_prediction: np.ndarray) -> None:
        """Take the raw predictions of a model, of shape (n,) or (n, K)."""
        self.raw[:] = raw_prediction.T

    def before_tree(self, m: int) -> None:
        """Lay out what tree ``m`` is grown on."""
        if self.loss.kind != GIVEN:
            return
        k, training = m % self.n, self.training
        if k == 0:
            raw = self.raw[0] if self.n == 1 else self.raw.T
            pair = self.loss.gradient_hessian(training.y, raw)
            self.derivatives = [np.atleast_2d(part.T) for part in pair]
        gradient, hessian = (part[k] for part in self.derivatives)
        training.gradient[:] = gradient
        training.hessian[:] = hessian[: len(training.hessian)]  # one may stand for all
        if self.n > 1:
            training.raw_prediction[:] = self.raw[k]

    def after_tree(self, m: int) -> bool:
        """Take the raw predictions after tree ``m``; say whether its round is complete."""
        if self.n > 1:
            self.raw[m % self.n] = self.training.raw_prediction
        return (m + 1) % self.n == 0


def _check_start(
    start: Ensemble,
    base_score: Any,
    parameters: Parameters,
    feature_names: tuple[str, ...],
    seen_rows: SeenRows,
) -> None:
    """Raise ValueError unless more trees may follow those of a model."""
    for what, before, now in (
        ("learning_rate", start.learning_rate, parameters.learning_rate),
        ("reg_lambda", start.reg_lambda, parameters.reg_lambda),
        ("names of columns", start.feature_names, feature_names),
    ):
        if before != now:
            raise ValueError(
                f"warm_start adds trees to a model whose {what} must stay {before}; got {now}."
            )
    if start.n_rounds > parameters.n_estimators:
        raise ValueError(
            f"warm_start adds trees: n_estimators must be at least {start.n_rounds}, the number of"
            f" trees that there are; got {parameters.n_estimators}."
        )
    is_same = start.seen_rows is None or start.seen_rows.has_trained_on_the_same(seen_rows)
    if not is_same or not np.array_equal(start.base_score, base_score):
        raise ValueError(
            "warm_start adds trees grown on the rows, targets and weights of the first fit, from"
            " its base score; got others. Set warm_start=False to begin anew."
        )
