"""Watching a fit: the loss of rows that are not trained on, metrics, callbacks, early stopping.

After every tree its values are added to the raw predictions of each evaluation set, and numbers are
noted: the weighted mean loss, and the metrics that were asked for. The last number of the last set
decides early stopping: the last metric, or the loss if there is none. A round is better than those
before it if that number is better than the best of them by more than ``min_delta``.

The rows that are trained on can be watched, too. They stand before all evaluation sets, so they
decide nothing.

A metric is larger for better predictions, as scikit-learn's scores are and unlike losses. It is a
function ``(y, prediction) -> number``, or the name of a scikit-learn scorer. A classifier's targets
are then 0 and 1, and its predictions the probability of 1; with K classes they are 0 .. K - 1 and
K probabilities. A scorer of scikit-learn decides itself whether it takes predictions, probabilities
or the raw prediction.
"""

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names

from gbt.losses.by_name import refusing_overflow_of
from gbt.losses.loss import Loss, mean
from gbt.losses.overflow import refusing_overflow
from gbt.losses.own import OwnLoss, is_name_of_error, read_only
from gbt.model.ensemble import Ensemble
from gbt.model.starting_values import raw_before
from gbt.model.tree import Tree

# What get_scorer, make_scorer and check_scoring return; the last may call the model's score.
SCORER = type(get_scorer("r2")) | type(check_scoring(DummyRegressor()))
SEVERAL_SCORERS = type(check_scoring(DummyRegressor(), scoring=["r2"]))

# X (an array or `SparseRows`), y, weight and, where rows have them, starting values, (n, K).
EvalSet = tuple[Any, np.ndarray, np.ndarray | None, np.ndarray | None]
Metric = Callable[..., float]
Metrics = Metric | str | list[Metric | str] | tuple[Metric | str, ...] | None
ROUNDING = 1e-9  # of a mean loss: trees that predict what a constant does are not worse
TRAIN = "train"  # in ``evals_result_``, the rows that are trained on


class WorseThanConstantWarning(UserWarning):
    """Rows for evaluation are predicted worse than they would be without any tree."""


@dataclass
class Round:
    """The state of a fit after a round, for callbacks; they may set ``learning_rate``.

    Parameters
    ----------
    number : int
        Number of the round, from 0. A round grows one tree, or with several classes one for each.
    n_rounds : int
        The most rounds that the fit may have.
    evals : dict of str to float
        The latest numbers, by the names that ``evals_result_`` has.
    learning_rate : float
        Rate of the next round and those after it. A callback may set it.
    make_model : function without arguments
        Makes ``model``, the `gbt.Ensemble` of the trees so far, which takes a copy of them.
    """

    number: int
    n_rounds: int
    evals: dict[str, float]
    learning_rate: float
    make_model: Callable[[], Ensemble] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def model(self) -> Ensemble:
        """The trees so far, made once for all callbacks, and only if one of them asks."""
        assert self.make_model is not None
        return self.make_model()


Callback = Callable[[Round], bool | None]


class Watch:
    """Some evaluation sets along boosting; see the module's docstring.

    Boosting ends after ``patience`` rounds without a better number; None is without end.
    ``training`` has the rows that are trained on, if they are to be watched.
    """

    def __init__(
        self,
        loss: Loss,
        base_score: Any,
        eval_sets: Sequence[EvalSet],
        metrics: Sequence[Metric | str] = (),
        patience: int | None = None,
        min_delta: float = 0.0,
        training: EvalSet | None = None,
    ):
        self._loss, self._metrics = loss, metrics
        self._patience, self._min_delta = patience, min_delta
        named = {TRAIN: training} if training else {}
        named |= {f"eval_{i}": eval_set for i, eval_set in enumerate(eval_sets)}
        self._sets = {name: _Watched(loss, base_score, *rows) for name, rows in named.items()}
        self.evals_result: dict[str, list[float]] = {}
        for name in named:
            self.evals_result[name] = []
            self.evals_result |= {f"{name}_{name_of(m)}": [] for m in metrics if name != TRAIN}
        self.best_iteration = 0  # the number of the best round so far
        self._best = -np.inf

    def record(self, trees: Sequence[Tree], n_jobs: int | None) -> None:
        """Add the values of a round's trees, one tree an output, and record losses and metrics."""
        for name, watched in self._sets.items():
            watched.add(trees, n_jobs)
            self.evals_result[name].append(watched.mean_loss())
            for metric in self._metrics if name != TRAIN else ():
                score = watched.score(metric)
                scores = self.evals_result[f"{name}_{name_of(metric)}"]
                if not np.isfinite(score):
                    raise ValueError(
                        f"eval_metric {name_of(metric)} of {name} is {score} after tree"
                        f" {len(scores)}; it must be a finite number."
                    )
                scores.append(score)
        if self._sets:
            *_, deciding = self.evals_result.values()
            latest = deciding[-1] if self._metrics else -deciding[-1]
            if latest > self._best + self._min_delta:
                self._best, self.best_iteration = latest, len(deciding) - 1

    def record_all(self, model: Ensemble, n_jobs: int | None) -> None:
        """Add all rounds of a model."""
        for m in range(0, model.n_trees, model.n_outputs):
            self.record(model.trees[m : m + model.n_outputs], n_jobs)

    @property
    def latest(self) -> dict[str, float]:
        """The latest numbers by their names."""
        return {name: numbers[-1] for name, numbers in self.evals_result.items()}

    @property
    def headline(self) -> str:
        """The latest numbers of the last set in words; nothing if none is watched."""
        if not self._sets:
            return ""
        *_, last = self._sets
        words = {last: f"{last} {self._loss.metric}"}
        return "".join(
            f"  {words.get(name, name)} {number:.6g}"
            for name, number in self.latest.items()
            if name.startswith(last)
        )

    def warn_if_useless(
        self, y: np.ndarray, sample_weight: np.ndarray, best_iteration: int, stacklevel: int
    ) -> None:
        """Warn of each set that the kept trees predict worse than a constant does.

        The constant is the best one for the training rows, to which ``y`` and ``sample_weight``
        belong: the best prediction if no feature is of use. Rows that have starting values are
        compared with these instead.
        """
        if not self._sets:
            return
        with refusing_overflow_of(self._loss):
            constant = self._loss.best_constant(y, sample_weight)
        for name, watched in self._sets.items():
            if name == TRAIN:
                continue
            of_trees = self.evals_result[name][best_iteration]
            without, how = watched.of_starts, "by the starting values alone"
            if without is None:
                without = watched.mean_loss(as_losses_take(raw_before(constant, len(watched.y))))
                how = "where all rows are predicted alike"
            if of_trees - without > ROUNDING * abs(without):
                warnings.warn(
                    f"evals_result_[{name!r}], the mean loss of rows for evaluation, is"
                    f" {of_trees:.6g} at the end, and it is {without:.6g} {how}: these trees have"
                    " learned nothing that holds up there. Fewer trees, a smaller learning_rate or"
                    " a larger min_samples_leaf may do better; or the features say nothing of y.",
                    WorseThanConstantWarning,
                    stacklevel=stacklevel + 1,
                )

    @property
    def is_over(self) -> bool:
        """Whether the last ``patience`` rounds brought no better number."""
        if not self._patience:
            return False
        *_, deciding = self.evals_result.values()
        return bool(deciding) and len(deciding) - 1 - self.best_iteration >= self._patience


def ask(callbacks: Sequence[Callback], told: Round) -> bool:
    """Call all callbacks after a round; return whether one of them asks to stop."""
    wishes = [callback(told) for callback in callbacks]
    rate = told.learning_rate
    is_number = isinstance(rate, Real) and not isinstance(rate, bool)
    if not is_number or not 0 < rate < np.inf:
        raise ValueError(
            f"A callback set learning_rate={rate!r} after tree {told.number}; it must be a number"
            " in (0, inf)."
        )
    return any(wishes)


def as_losses_take(of_outputs: np.ndarray) -> np.ndarray:
    """Return raw predictions of K outputs, (K, n), in the shape (n, K), or (n,) of a single one."""
    return of_outputs[0] if len(of_outputs) == 1 else of_outputs.T


class _Watched:
    """The rows of one evaluation set and their raw predictions so far."""

    def __init__(
        self,
        loss: Loss,
        base_score: Any,
        X: Any,
        y: np.ndarray,
        sample_weight: np.ndarray | None,
        init_score: np.ndarray | None = None,
    ):
        self.loss = loss
        self.X = X
        self.y = y
        of_each = sample_weight is not None and len(sample_weight) == len(y)
        self.sample_weight = sample_weight if of_each else None  # equal weights change no mean
        self._prepared = loss.prepared(y, 1.0 if self.sample_weight is None else sample_weight)
        self.of_outputs = raw_before(base_score, len(y), init_score)
        self.of_starts = None if init_score is None else self.mean_loss()

    @property
    def raw_prediction(self) -> np.ndarray:
        return as_losses_take(self.of_outputs)

    def add(self, trees: Sequence[Tree], n_jobs: int | None) -> None:
        for tree, of_output in zip(trees, self.of_outputs, strict=True):
            tree.add_values(self.X, of_output, n_jobs)

    def mean_loss(self, raw_prediction: np.ndarray | None = None) -> float:
        """Return the loss of the raw predictions so far, or of others."""
        raw = self.raw_prediction if raw_prediction is None else raw_prediction
        with refusing_overflow_of(self.loss):
            loss = self.loss.value(self._prepared, raw)
        with refusing_overflow():
            return mean(loss, self.sample_weight)

    def score(self, metric: Metric | str) -> float:
        """Return the metric's number; the metric is given weights only if they differ."""
        w = self.sample_weight
        weights = {} if w is None or (w == w[0]).all() else {"sample_weight": read_only(w)}
        with refusing_overflow_of(self.loss):
            prediction = read_only(self.loss.inverse_link(self.raw_prediction))
        y = read_only(self.y)
        if isinstance(metric, str | SCORER):
            is_of_classes = self.loss.name in ("half_logistic", "softmax") or (
                isinstance(self.loss, OwnLoss) and self.loss.n_classes > 0
            )
            stage = _ClassifierStage if is_of_classes else _RegressorStage
            try:
                return float(get_scorer(metric)(stage(prediction), self.X, y, **weights))
            except ValueError as error:
                of_several = prediction.ndim > 1 and metric == "roc_auc"
                advice = " For several classes there is 'roc_auc_ovr'." * of_several
                raise ValueError(
                    f"eval_metric {name_of(metric)!r} cannot be computed: {error}.{advice}"
                ) from error
        refuse_other_arguments(metric, y, prediction, weights)
        score = metric(y, prediction, **weights)
        try:
            return float(score)
        except TypeError as error:
            raise ValueError(
                f"eval_metric {name_of(metric)} must return a number that is larger for better"
                f" predictions; got {score!r}."
            ) from error


class _Stage(BaseEstimator):
    """A fitted estimator whose predictions are given, for scorers to call."""

    def __init__(self, prediction: Any):
        self.prediction = prediction


class _RegressorStage(RegressorMixin, _Stage):
    def predict(self, X: Any) -> Any:
        return self.prediction


class _ClassifierStage(ClassifierMixin, _Stage):
    """A stage of a classifier, given as probabilities: of 1, or of K classes."""

    @property
    def classes_(self) -> np.ndarray:
        return np.arange(self.predict_proba(None).shape[1])

    def predict(self, X: Any) -> Any:
        if self.prediction.ndim > 1:
            return self.prediction.argmax(axis=1)
        return (self.prediction > 0.5).astype(np.intp)

    def predict_proba(self, X: Any) -> np.ndarray:
        if self.prediction.ndim > 1:
            return self.prediction
        return np.column_stack([1 - self.prediction, self.prediction])


def refuse_other_eval_sets(eval_set: Any) -> None:
    """Raise ValueError unless evaluation sets are a list of (X, y, ...) of two to four parts."""
    is_listed = isinstance(eval_set, tuple | list)
    if isinstance(eval_set, list) and all(
        isinstance(part, tuple | list) and len(part) in (2, 3, 4) for part in eval_set
    ):
        return
    kinds = [
        f"a {type(part).__name__}" + (f" of {len(part)}" if isinstance(part, tuple | list) else "")
        for part in (eval_set[:5] if is_listed else [])
    ]
    parts = f" of {len(eval_set)} parts: {', '.join(kinds)}" if is_listed else ""
    raise ValueError(
        "eval_set must be a list of (X, y), (X, y, sample_weight) or (X, y, sample_weight,"
        f" init_score); got {type(eval_set).__name__}{parts}. Write"
        " eval_set=[(X_valid, y_valid)] even for a single pair."
    )


def refuse_other_arguments(
    metric: Metric, y: np.ndarray, prediction: np.ndarray, weights: dict[str, np.ndarray]
) -> None:
    """Raise ValueError if a function cannot be called as a metric is."""
    try:
        takes = inspect.signature(metric)
    except (TypeError, ValueError):  # compiled functions need not have a signature
        return
    try:
        takes.bind(y, prediction, **weights)
    except TypeError as error:
        call = ", ".join(["y, prediction", *(f"{name}=..." for name in weights)])
        raise ValueError(
            f"eval_metric {name_of(metric)} is called with ({call}) and takes {takes}: {error}."
        ) from error


def name_of(metric: Metric | str) -> str:
    """Return the name under which a metric is recorded."""
    if isinstance(metric, str):
        return metric
    if isinstance(metric, SCORER):
        return repr(metric)
    return getattr(metric, "__name__", type(metric).__name__)


def metrics_of(eval_metric: Metrics) -> Sequence[Metric | str]:
    """Return metrics in a list: one, several or none."""
    if eval_metric is None:
        return ()
    return eval_metric if isinstance(eval_metric, list | tuple) else (eval_metric,)


def are_metrics(value: Any) -> bool:
    """Say whether something is a list of metrics, whose names differ."""
    if not isinstance(value, list | tuple) or not all(map(is_metric, value)):
        return False
    return len(value) == len(set(map(name_of, value))) > 0


def is_metric(value: Any) -> bool:
    """Say whether something is a metric: larger for better predictions.

    Functions are smaller for better ones where their names say so, as scikit-learn's do.
    """
    if isinstance(value, str):
        return value in get_scorer_names()
    if not callable(value) or inspect.isclass(value) or isinstance(value, SEVERAL_SCORERS):
        return False
    return isinstance(value, SCORER) or not is_name_of_error(name_of(value))
