"""The loop around the loop: who sees which rows and columns, who watches, and when it ends.

Boosting itself, in the paper's letters, is in ``gbt.kernels.rounds``::

    f_0 = base score
    for m = 1 .. M:   g, h = derivatives of the loss at f_(m-1)
                      tree_m = grown on (g, h)
                      f_m = f_(m-1) + tree_m          (the learning rate is in the tree's values)

Where nothing is drawn, nobody watches, and kernels know the loss, many rounds are one call.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gbt.categories import Categories, EncodedRows
from gbt.columns import Columns
from gbt.evaluation import Callback, EvalSet, Metric, Watch
from gbt.growing import growth_of
from gbt.kernels.derivatives import GIVEN
from gbt.kernels.memory import Training
from gbt.level_sets import LevelSets
from gbt.losses import Loss
from gbt.model import Ensemble
from gbt.progress import Progress
from gbt.sampling import sampled_features, sampled_rows
from gbt.seen_rows import SeenRows
from gbt.splitting.frontier import Limits, Plan, Policy, Shape
from gbt.tree import NODE_RECORD, Tree, arrays_of, end_to_end, records_of


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
        )
        shape = Shape(self.max_depth, self.max_leaves)
        return Plan(loss.kind, limits, shape, self.learning_rate, n_jobs, seed)


@dataclass(frozen=True)
class Boosted:
    """What a fit leaves behind."""

    ensemble: Ensemble
    evals_result: dict[str, list[float]]
    best_iteration: int
    split_scores: np.ndarray | None  # of the trees that were grown, see `Growth`


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
    categories: Categories | None = None,
    start: Ensemble | None = None,
) -> Boosted:
    """Fit an ensemble to rows ``X`` of floats (nan is missing), targets and positive weights.

    Columns that have ``categories`` hold the numbers of their levels. A single weight stands for all rows.
    ``base_score`` is in link space; None is the loss's best constant. Losses on the evaluation sets
    are recorded after every tree. With ``early_stopping_rounds`` the last of them decides: boosting
    ends when that many trees brought nothing better, and the trees after the best are dropped.

    With ``start``, a model of these very rows, its trees are the first, and counted.
    """
    # To Numba what is read-only is of another type.
    y, sample_weight = (np.require(v, requirements=["C", "W"]) for v in (y, sample_weight))
    if base_score is None:
        base_score = loss.best_constant(y, sample_weight)
        if not math.isfinite(base_score):
            raise FloatingPointError("the base score is infinite")
    patience = parameters.early_stopping_rounds
    seen_rows = SeenRows.of((X, y), eval_sets[-1][:2] if patience else None, n_jobs)
    n_levels = None
    if categories is not None:
        n_levels = np.array([0 if levels is None else len(levels) for levels in categories])
    columns = Columns.from_table(X, n_jobs, n_levels)
    training = Training(
        y=y,
        weight=sample_weight,
        raw_prediction=np.full(len(y), base_score),
        gradient=np.empty(len(y)),
        hessian=np.empty(1 if loss.has_one_hessian else len(y)),
    )
    growth = growth_of(splitter, columns, training, parameters.plan(loss, n_jobs, seed))
    watch = Watch(loss, base_score, eval_sets, parameters.eval_metric, patience)
    callbacks = parameters.callbacks or ()
    all_features = np.arange(columns.n_columns)
    all_rows = np.arange(len(y), dtype=np.int32) if parameters.subsample < 1.0 else None
    one_by_one = bool(eval_sets or callbacks) or loss.kind == GIVEN or parameters.is_in_steps
    trees = [np.empty(0, NODE_RECORD)]
    level_sets: list[LevelSets] = []
    sizes: list[int] = []
    if start is not None:
        _check_start(start, base_score, parameters, feature_names, seen_rows)
        trees, sizes = [records_of(start)], np.diff(start.tree_offset).tolist()
        if start.level_sets is not None:
            level_sets.append(start.level_sets)
        training.raw_prediction[:] = start.raw_predict(X.view(EncodedRows), n_jobs)
        for tree in start.trees:
            watch.record(tree, n_jobs)
    is_over = watch.is_over
    with Progress(parameters.n_estimators, parameters.verbose) as progress:
        while (m := len(sizes)) < parameters.n_estimators and not is_over:
            rows = None  # all
            if all_rows is not None:
                rows = sampled_rows(seed, m, all_rows, parameters.subsample)
            features = sampled_features(seed, m, all_features, parameters.colsample)
            most = 1 if one_by_one else parameters.n_estimators - m
            _write_derivatives(loss, training)
            grown, sizes_of_grown = growth.grow(m, rows, features, most)
            trees.append(grown)
            sizes.extend(sizes_of_grown)
            own_sets = getattr(growth, "level_sets", None)
            if own_sets is not None:
                level_sets.append(own_sets)
            if rows is not None and len(rows) < len(y):
                tree = Tree(**arrays_of(grown), level_sets=own_sets)
                tree.add_values(X, training.raw_prediction, n_jobs)
            if eval_sets:
                watch.record(Tree(**arrays_of(grown), level_sets=own_sets), n_jobs)
            progress.show(m, watch.headline)
            is_stub = sizes[-1] == 1 and getattr(splitter, "stop_at_stub", False)
            is_asked_to_end = watch.ask(callbacks, m, parameters.n_estimators)
            is_over = is_stub or is_asked_to_end or watch.is_over

    best_iteration = watch.best_iteration if patience else len(sizes) - 1
    ensemble = Ensemble(
        **arrays_of(end_to_end(trees)),
        tree_offset=np.cumsum([0, *sizes]),
        base_score=base_score,
        learning_rate=parameters.learning_rate,
        reg_lambda=parameters.reg_lambda,
        loss=loss,
        feature_names=feature_names,
        seen_rows=seen_rows,
        categories=categories,
        level_sets=None if categories is None else _all_sets(level_sets, sum(sizes)),
    )
    n_before = 0 if start is None else start.n_trees
    scores = [
        of_tree
        for of_tree in growth.split_scores[: max(best_iteration + 1 - n_before, 0)]
        if of_tree is not None
    ]
    return Boosted(
        ensemble.truncate(best_iteration + 1),
        watch.evals_result,
        best_iteration,
        np.sum(scores, axis=0) if scores else None,
    )


def _all_sets(of_trees: list[LevelSets], n_nodes: int) -> LevelSets:
    """Return the level sets of all nodes; where no column has a level no tree has any."""
    return LevelSets.end_to_end(of_trees) if of_trees else LevelSets.of([None] * n_nodes)


def _write_derivatives(loss: Loss, training: Training) -> None:
    """Write down the derivatives before the next tree, where kernels do not know the loss."""
    if loss.kind != GIVEN:
        return
    gradient, hessian = loss.gradient_hessian(training.y, training.raw_prediction)
    training.gradient[:] = gradient
    training.hessian[:] = hessian[: len(training.hessian)]  # one may stand for all


def _check_start(
    start: Ensemble,
    base_score: float,
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
    if start.n_trees > parameters.n_estimators:
        raise ValueError(
            f"warm_start adds trees: n_estimators must be at least {start.n_trees}, the number of"
            f" trees that there are; got {parameters.n_estimators}."
        )
    is_same = start.seen_rows is None or start.seen_rows.has_trained_on_the_same(seen_rows)
    if not is_same or start.base_score != base_score:
        raise ValueError(
            "warm_start adds trees grown on the rows, targets and weights of the first fit, from"
            " its base score; got others. Set warm_start=False to begin anew."
        )
