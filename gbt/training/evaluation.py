"""Watching a fit: the loss of rows that are not trained on, metrics, callbacks, early stopping.

After every tree its values are added to the raw predictions of each evaluation set, and two numbers
are noted: the weighted mean loss, and the metric if one was asked for. The last set decides early
stopping, by the metric if there is one, else by the loss.

A metric is larger for better predictions, as scikit-learn's scores are and unlike losses. It is a
function ``(y, prediction) -> number``, or the name of a scikit-learn scorer. A classifier's targets
are then 0 and 1, and its predictions the probability of 1; of K classes they are 0 .. K - 1 and
K probabilities. A scorer of scikit-learn says itself whether it wants predictions, probabilities or
the raw prediction, and gets those.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names

from gbt.losses.known import refusing_overflow_of
from gbt.losses.loss import Loss, mean
from gbt.losses.overflow import refusing_overflow
from gbt.losses.own import OwnLoss, is_name_of_error, read_only
from gbt.model.ensemble import Ensemble
from gbt.model.starts import raw_before
from gbt.model.tree import Tree

# What get_scorer, make_scorer and check_scoring return; the last may ask for an own score.
SCORER = type(get_scorer("r2")) | type(check_scoring(DummyRegressor()))
SEVERAL_SCORERS = type(check_scoring(DummyRegressor(), scoring=["r2"]))

# X, y, weight and, where rows have them, starting values, (n, K).
EvalSet = tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]
Metric = Callable[..., float]


@dataclass(frozen=True)
class Round:
    """What a callback is told after every tree.

    Parameters
    ----------
    number : int
        Of the tree, from 0; with several classes of the round, which grows one tree a class.
    n_rounds : int
        How many there may be at most.
    evals : dict of str to float
        The latest numbers, by the names that ``evals_result_`` has.
    """

    number: int
    n_rounds: int
    evals: dict[str, float]


Callback = Callable[[Round], bool | None]


class Watch:
    """Some evaluation sets along boosting; see the module's docstring."""

    def __init__(
        self,
        loss: Loss,
        base_score: Any,
        eval_sets: Sequence[EvalSet],
        metric: Metric | str | None,
        patience: int | None,
    ):
        self._sets = [_Watched(loss, base_score, *eval_set) for eval_set in eval_sets]
        self._loss = loss
        self._metric = metric
        self._patience = patience
        self.evals_result: dict[str, list[float]] = {}
        for i in range(len(eval_sets)):
            self.evals_result[f"eval_{i}"] = []
            if metric is not None:
                self.evals_result[f"eval_{i}_{name_of(metric)}"] = []

    def record(self, trees: Sequence[Tree], n_jobs: int | None) -> None:
        """Add the values of a round's trees, one tree an output, and record loss and metric."""
        for i, watched in enumerate(self._sets):
            watched.add(trees, n_jobs)
            self.evals_result[f"eval_{i}"].append(watched.mean_loss())
            if self._metric is not None:
                score = watched.score(self._metric)
                name = name_of(self._metric)
                scores = self.evals_result[f"eval_{i}_{name}"]
                if not np.isfinite(score):
                    raise ValueError(
                        f"eval_metric {name} of eval_set[{i}] is {score} after tree"
                        f" {len(scores)}; it must be a finite number."
                    )
                scores.append(score)

    def record_all(self, model: Ensemble, n_jobs: int | None) -> None:
        """Add all rounds of a model."""
        for m in range(0, model.n_trees, model.n_outputs):
            self.record(model.trees[m : m + model.n_outputs], n_jobs)

    @property
    def latest(self) -> dict[str, float]:
        """The latest numbers by their names."""
        return {name: numbers[-1] for name, numbers in self.evals_result.items()}

    def ask(self, callbacks: Sequence[Callback], m: int, n_rounds: int) -> bool:
        """Call all callbacks after round ``m``; return whether one of them asks to stop."""
        told = Round(m, n_rounds, self.latest)
        wishes = [callback(told) for callback in callbacks]
        return any(wishes)

    @property
    def headline(self) -> str:
        """The latest numbers of the last set in words; nothing if none is watched."""
        if not self._sets:
            return ""
        last = f"eval_{len(self._sets) - 1}"
        words = {last: f"{last} {self._loss.metric}"}
        return "".join(
            f"  {words.get(name, name)} {number:.6g}"
            for name, number in self.latest.items()
            if name.startswith(last)
        )

    @property
    def best_iteration(self) -> int:
        """Number of the tree after which the deciding number was best, the first of them."""
        *_, deciding = self.evals_result.values()
        best = np.argmin if self._metric is None else np.argmax
        return int(best(deciding))

    @property
    def is_over(self) -> bool:
        """Whether the last rounds, as many as ``patience`` says, brought no better number."""
        if not self._patience:
            return False
        *_, deciding = self.evals_result.values()
        return bool(deciding) and len(deciding) - 1 - self.best_iteration >= self._patience


class _Watched:
    """The rows of one evaluation set and their raw predictions so far."""

    def __init__(
        self,
        loss: Loss,
        base_score: Any,
        X: np.ndarray,
        y: np.ndarray,
        sample_weight: np.ndarray | None,
        init_score: np.ndarray | None = None,
    ):
        self.loss = loss
        self.X = X
        self.y = y
        self.sample_weight = sample_weight
        self.of_outputs = raw_before(base_score, len(y), init_score)

    @property
    def raw_prediction(self) -> np.ndarray:
        """As losses take it: of shape (n,), or (n, K) for several outputs."""
        return self.of_outputs[0] if len(self.of_outputs) == 1 else self.of_outputs.T

    def add(self, trees: Sequence[Tree], n_jobs: int | None) -> None:
        for tree, of_output in zip(trees, self.of_outputs, strict=True):
            tree.add_values(self.X, of_output, n_jobs)

    def mean_loss(self) -> float:
        with refusing_overflow_of(self.loss):
            loss = self.loss.value(self.y, self.raw_prediction)
        with refusing_overflow():
            return mean(loss, self.sample_weight)

    def score(self, metric: Metric | str) -> float:
        """Return the metric; weights are handed on only if they differ."""
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


class _RegressorStage(RegressorMixin, BaseEstimator):
    """Given predictions behind the methods of a fitted estimator, which scorers call."""

    def __init__(self, prediction: Any = None):
        self.prediction = prediction

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        return self.prediction


class _ClassifierStage(ClassifierMixin, BaseEstimator):
    """The same for probabilities: of 1, or of K classes."""

    def __init__(self, prediction: Any = None):
        self.prediction = prediction

    @property
    def classes_(self) -> np.ndarray:
        return np.arange(2 if self.prediction.ndim == 1 else self.prediction.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        if self.prediction.ndim > 1:
            return self.prediction.argmax(axis=1)
        return (self.prediction > 0.5).astype(np.intp)

    def predict_proba(self, X: Any) -> np.ndarray:
        if self.prediction.ndim > 1:
            return self.prediction
        return np.column_stack([1 - self.prediction, self.prediction])


def refuse_other_eval_sets(eval_set: Any) -> None:
    """Raise ValueError unless evaluation sets are a list of pairs, with what may follow these."""
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
        " eval_set=[(X_valid, y_valid)], for one pair, too."
    )


def refuse_other_arguments(
    metric: Metric, y: np.ndarray, prediction: np.ndarray, weights: dict[str, np.ndarray]
) -> None:
    """Raise ValueError if a function cannot be called as a metric is."""
    try:
        takes = inspect.signature(metric)
    except (TypeError, ValueError):  # compiled functions need not have one
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


def is_metric(value: Any) -> bool:
    """Say whether something is a metric: larger for better predictions.

    Functions are smaller for better ones where their names say so, as scikit-learn's do.
    """
    if isinstance(value, str):
        return value in get_scorer_names()
    if not callable(value) or inspect.isclass(value) or isinstance(value, SEVERAL_SCORERS):
        return False
    return isinstance(value, SCORER) or not is_name_of_error(name_of(value))
