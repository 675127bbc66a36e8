"""Boosting: tree after tree, with sampling of rows and columns, evaluation sets, early stopping.

The algorithm is this, and for our own policies, one output and a loss that kernels know,
``gbt.kernels.trees.rounds`` has it compiled
(``gbt.training.histogram_growth``)::

    f_0 = base score
    for m = 1 .. M:   g, h = derivatives of the loss at f_(m-1)
                      tree_m = grown on (g, h)
                      f_m = f_(m-1) + tree_m          (the learning rate is in the tree's values)

A compiled call grows many trees unless something is drawn, asked or kept for every tree: a sample,
a loss in NumPy, an evaluation set, a callback, a line of ``verbose``, whether the last tree has a
split, levels that rows were sorted by. Then a call grows one tree of each output.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from gbt.kernels.rows.derivatives import GIVEN
from gbt.kernels.trees.experience import nothing_held_up
from gbt.losses.by_name import is_same, refusing_overflow_of
from gbt.losses.loss import Loss
from gbt.losses.overflow import SumsOverflowError, refuse_vanishing_squares
from gbt.model.ensemble import Ensemble
from gbt.model.seen_rows import SeenRows
from gbt.model.starting_values import raw_before
from gbt.splitting.policy import Limits, Policy
from gbt.tables.categories import Categories, EncodedRows, count_levels
from gbt.tables.sparse_columns import columns_of
from gbt.training.distributed.outputs import SharedOutputs
from gbt.training.distributed.table import SharedRows
from gbt.training.evaluation import Callback, EvalSet, Metrics, Round, Watch, ask, metrics_of
from gbt.training.grown_trees import GrownTrees
from gbt.training.outputs import Outputs
from gbt.training.plan import Plan
from gbt.training.policy_growth import searches_histograms
from gbt.training.progress import Progress
from gbt.training.sampling import Draws, sample_size

SMALL = 2.0**-300  # squares of the gradients of larger targets do not become 0


@dataclass(frozen=True)
class Parameters(Limits):
    """The estimators' parameters after validation, as far as training needs them."""

    max_depth: int | None = 6
    n_estimators: int = 100
    learning_rate: float = 0.1
    subsample: float = 1.0
    colsample: float = 1.0
    max_bins: int | None = None
    early_stopping_rounds: int | None = None
    min_delta: float = 0.0
    eval_metric: Metrics = None
    train_score: bool = False
    callbacks: Sequence[Callback] | None = None
    verbose: int = 0

    @classmethod
    def of(cls, asked: dict[str, Any]) -> "Parameters":
        """Pick them out of all parameters of an estimator."""
        names = {field.name: field.name for field in fields(cls)}
        names |= {"directions": "monotone_constraints", "groups": "interaction_constraints"}
        return cls(**{name: asked[of_estimator] for name, of_estimator in names.items()})

    def acts_on_every_tree(self, loss: Loss) -> bool:
        """Say if every tree needs a call of its own: for draws, a loss in NumPy, to be shown."""
        is_shown = bool(self.verbose or self.callbacks)
        return is_shown or min(self.subsample, self.colsample) < 1.0 or loss.kind == GIVEN

    def rates(self, so_far: Sequence[float], number: int) -> list[float]:
        """Return the rates of rounds up to this number, as callbacks have set them, if any."""
        known = [*so_far[: number + 1]] if self.callbacks else []
        return known + (number + 1 - len(known)) * [self.learning_rate]

    def plan(self, loss: Loss, n_jobs: int | None, seed: int, held_up: np.ndarray) -> Plan:
        """Return what the trees have in common."""
        return Plan(loss.kind, self, self.learning_rate, n_jobs, seed, self.max_bins, held_up)

    def watch(self, loss: Loss, base_score: Any, eval_sets: list[EvalSet], own: EvalSet) -> Watch:
        """Return what watches evaluation sets, and the trained rows, ``own``, if it is asked to."""
        metrics, training = metrics_of(self.eval_metric), own if self.train_score else None
        patience = self.early_stopping_rounds
        return Watch(loss, base_score, eval_sets, metrics, patience, self.min_delta, training)


@dataclass(frozen=True)
class Boosted:
    """The result of a fit."""

    ensemble: Ensemble
    evals_result: dict[str, list[float]]
    best_iteration: int
    split_scores: np.ndarray | None  # see `NewTrees`
    held_up: np.ndarray  # see ``gbt.kernels.trees.experience``
    learning_rates: list[float]  # of every round and the next, if callbacks were asked


def boost(
    X: Any,
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
    init_score: np.ndarray | None = None,
    start: Ensemble | None = None,
    held_up: np.ndarray | None = None,
    learning_rates: Sequence[float] = (),
) -> Boosted:
    """Fit an ensemble to rows ``X`` of floats (nan is missing), targets and positive weights.

    Rows are in memory, or in shares (``gbt.training.distributed``), and the ensemble is the same.
    Columns that have ``categories`` hold the numbers of their levels. A single weight stands for
    those of all rows, if they are equal. ``base_score`` is in link space; None is the loss's best
    constant, or 0 where every row has a starting value of its own, ``init_score`` of shape (n, K).
    Losses on the evaluation sets are recorded after every round. With ``early_stopping_rounds`` the
    last set decides: boosting ends when that many rounds brought nothing better, and the trees
    after the best round are dropped.

    With ``start``, a model of these very rows, its trees come first and count; ``held_up`` is what
    they have told of splits, and ``learning_rates`` those that callbacks have set. The returned
    ensemble does not yet remember the rows it has seen, because the memory of growing is in use.
    """
    # A read-only array is another type to Numba, for which kernels would be compiled again.
    y, sample_weight = (np.require(v, requirements=["C", "W"]) for v in (y, sample_weight))
    starts_at_best = base_score is None and init_score is None
    base_score, raw = _first_predictions(loss, y, sample_weight, base_score, init_score)
    if start is not None:
        seen = SeenRows.of((X, y), None, n_jobs, sample_weight, init_score)
        _check_start(start, loss, base_score, parameters, feature_names, seen.in_order)
        raw[:] = start.raw_predict(EncodedRows.of(X, start.categories), n_jobs, init_score).T
    patience, callbacks = parameters.early_stopping_rounds, parameters.callbacks or ()
    latest = nothing_held_up(X.shape[1], loss.n_outputs) + (0.0 if held_up is None else held_up)
    plan = parameters.plan(loss, n_jobs, seed, latest)
    if hasattr(splitter, "check_rows"):
        splitter.check_rows(sample_size(len(y), parameters.subsample), plan.limits)
    draws = Draws(seed, len(y), X.shape[1], parameters.subsample, parameters.colsample, plan.limits)
    outputs: Outputs | SharedOutputs
    if isinstance(X, SharedRows):
        outputs = SharedOutputs(loss, base_score, y, sample_weight, X, splitter, plan, draws)
    else:
        n_searching = loss.n_outputs * searches_histograms(splitter)
        n_levels = count_levels(categories, X.shape[1])
        columns = columns_of(X, n_jobs, n_levels, n_searching, plan.max_bins)
        outputs = Outputs(loss, raw, y, sample_weight, columns, splitter, plan, draws)
    watch = parameters.watch(loss, base_score, eval_sets, (X, y, sample_weight, init_score))
    trees = GrownTrees(start)
    if start is not None:
        watch.record_all(start, n_jobs)

    facts = {"base_score": base_score, "has_init_score": init_score is not None, "loss": loss}
    facts |= {"feature_names": feature_names, "categories": categories}
    so_far = partial(trees.model, parameters, facts)
    # Other rows or columns may have a split, and from another start stubs have to learn the level.
    most_stubs = int(getattr(splitter, "stop_at_stub", 0) or 0)
    most_stubs *= draws.are_of_all and starts_at_best
    one_by_one = watch.evals_result or parameters.acts_on_every_tree(loss)
    rates, held_up = parameters.rates(learning_rates, len(trees) // loss.n_outputs), latest.copy()
    is_over, rounds_left = watch.is_over, partial(trees.rounds_left, loss.n_outputs)
    with Progress(parameters.n_estimators, parameters.verbose) as progress:
        while (most := rounds_left(parameters.n_estimators, most_stubs)) > 0 and not is_over:
            m, number = len(trees), len(trees) // loss.n_outputs  # of the first tree, of its round
            grown = outputs.grow(m, 1 if one_by_one else most, rates[-1])
            trees.add(grown)
            if watch.evals_result:
                watch.record([of_output.to_walk() for of_output in grown], n_jobs)
            if not patience or watch.best_iteration == number:
                held_up = latest.copy()  # what dropped trees have told is dropped
            progress.show(number, watch.headline)
            told = Round(number, parameters.n_estimators, watch.latest, rates[-1], so_far)
            is_over = ask(callbacks, told) or watch.is_over
            rates.append(told.learning_rate)

    best_iteration = watch.best_iteration if patience else len(trees) // loss.n_outputs - 1
    watch.warn_if_useless(y, sample_weight, best_iteration, stacklevel=6)  # where fit was called
    return Boosted(
        so_far().truncate(best_iteration + 1),
        watch.evals_result,
        best_iteration,
        trees.sum_of_scores((best_iteration + 1) * loss.n_outputs),
        held_up,
        rates if callbacks else [],
    )


def _first_predictions(
    loss: Loss,
    y: np.ndarray,
    sample_weight: np.ndarray,
    base_score: Any,
    init_score: np.ndarray | None,
) -> tuple[Any, np.ndarray]:
    """Return the base score and the raw predictions before the first tree, (K, n)."""
    if init_score is not None:
        base_score = np.zeros(loss.n_outputs) if loss.n_outputs > 1 else 0.0
    elif base_score is None:
        with refusing_overflow_of(loss):
            base_score = loss.best_constant(y, sample_weight)
        if not np.isfinite(base_score).all():
            raise SumsOverflowError("the base score is infinite")
    raw = raw_before(base_score, len(y), init_score)
    if np.abs(y).max() < SMALL / sample_weight.max():
        gradient, _ = loss.gradient_hessian(y, raw[0] if loss.n_outputs == 1 else raw.T)
        refuse_vanishing_squares((gradient.T * sample_weight).T)
    return base_score, raw


def _check_start(
    start: Ensemble,
    loss: Loss,
    base_score: Any,
    parameters: Parameters,
    feature_names: tuple[str, ...],
    rows: int | None,
) -> None:
    """Raise ValueError unless more trees may follow those of a model.

    ``rows`` is `SeenRows.in_order` of the rows to grow on. A model that was read from a file has
    none; then only the base score, which follows from targets and weights, is compared.
    """
    if not is_same(start.loss, loss):
        raise ValueError(
            f"warm_start adds trees to a model whose loss must stay {start.loss!r}; got {loss!r}."
        )
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
            f" rounds so far; got {parameters.n_estimators}. Set warm_start=False to begin anew; or"
            f" take the first rounds of this fit, ensemble_.truncate({parameters.n_estimators})."
        )
    rows_before = None if start.seen_rows is None else start.seen_rows.in_order
    has_same_rows = rows_before in (None, rows)
    if not has_same_rows or not np.array_equal(start.base_score, base_score):
        raise ValueError(
            "warm_start adds trees grown on the rows, targets and weights of the first fit, in"
            " their order, from its base score; got others. Set warm_start=False to begin anew."
        )
