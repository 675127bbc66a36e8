"""How good a model is on held-out rows, what each feature brings, and what is said of it.

The model is compared with the *constant model*, which predicts for every row the mean of the
training rows, or the shares of the classes there. A feature's held-out gain
(``attributions.held_out.gain``), in per cent of the loss of the best constant on the held-out rows,
says what it brings, and its share of the total gain, which comes from the training rows, what its
splits promised.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from attributions.classic.absolute import absolute
from attributions.classic.total_gain import total_gain
from attributions.command.judging.verdicts import Said, said_of
from attributions.command.rules.belonging import Agreement, Belonging
from attributions.command.rules.twins import places_of, twins
from attributions.command.table.task import Task
from attributions.command.unusable import UnusableTableError
from attributions.command.wording import shown_names
from attributions.held_out.constant_loss import Targets, least_loss, percent_of_one
from attributions.held_out.gain import gain_by, held_out_gain_rows
from attributions.held_out.rows_at_splits import RowsAtSplits
from attributions.held_out.rows_before_trees import Wanted
from attributions.held_out.splits import StepsOfModel
from attributions.plots.captions import are_doubtful
from attributions.results import GlobalAttribution
from attributions.rows import RowsInBatches
from gbt.losses.loss import Loss
from gbt.model.ensemble import Ensemble
from gbt.model.known_by_leaves import amount_at_root
from gbt.parallel.chunks import Chunk

MODEL, CONSTANT = "model", "constant"


@dataclass(frozen=True, eq=False)
class Findings:
    """A judged model: how good it is, its features' importances, and what to say of each.

    The terminal and the page say the same, because both are drawn from this record.
    """

    model: Ensemble
    task: Task
    scores: Mapping[str, Mapping[str, float]]  # of the model, the constant, simpler ones: measures
    saved: float  # how far the model's held-out loss is below the constant model's, in per cent
    useful: GlobalAttribution  # held-out gain in per cent of the constant's loss, also `per_tree`
    gain: GlobalAttribution  # total gain, in its own unit
    raw_prediction: np.ndarray = field(default_factory=lambda: np.empty(0))  # of held-out rows
    moved: np.ndarray = field(default_factory=lambda: np.empty(0))  # (p,), sums of |contributions|
    per_cent_of_row: float = 1.0  # a gain of 1 in one row, in per cent of the constant's mean loss
    constant_loss: float = 1.0  # its sum over the held-out rows, above perfect predictions
    saved_by_best: tuple[float, ...] = ()  # by a model of the best feature, of two; if asked
    also_enough: tuple[int, ...] = ()  # further features of which one alone saves nearly as much
    n_seen: int = 0  # held-out rows that equal rows of training, beyond chance
    on_training_rows: bool = False  # rows that should be held out are those of a given model
    model_file: str = ""  # of a given model
    doubt: str = ""  # about the sums of a given model's nodes
    together: Belonging | None = None  # rows that belong together, if something speaks for it
    times: tuple[str, ...] = ()  # columns by which rows may be in order of time
    along: Agreement | None = None  # of neighbours' errors in that order, or in that of the file
    beside: "Findings | None" = None  # with halves drawn at random, if rows were split otherwise
    over: tuple[Any, ...] = ()  # what changed over time, or by a column (`judging.over`)

    @property
    def loss_name(self) -> str:
        """The name of the loss for readers."""
        known = {"softmax": "log-loss", "half_logistic": "log-loss"}
        known["half_squared_error"] = "squared error"
        return known.get(self.model.loss.name, self.model.loss.metric)

    @cached_property
    def gain_share(self) -> np.ndarray:
        """Shares of the total gain; 0 everywhere if no tree has a split."""
        return self.gain.normalized()

    @cached_property
    def is_used(self) -> np.ndarray:
        """Whether a tree splits on the feature."""
        splits = self.model.feature[self.model.feature >= 0]
        return np.bincount(splits, minlength=len(self.useful)) > 0

    @cached_property
    def twins(self) -> dict[int, int]:
        """For each feature that repeats another one, the number of the other (``rules.twins``)."""
        return twins([places_of(column.numbers) for column in self.task.features], self.is_used)

    @cached_property
    def said(self) -> Said:
        """The verdict, the interval and the p-value of every feature."""
        return said_of(self.useful, self.is_used, self.saved > 0, not self.on_training_rows)

    def names(self, features: Iterable[int]) -> str:
        """Return the names of some features for a sentence, the first of many."""
        return shown_names([self.task.feature_names[k] for k in features])

    def with_verdict(self, verdict: str) -> list[int]:
        """Return the features that got a verdict, the largest held-out gain first."""
        return [k for k in self.useful.ranking() if self.said.verdicts[k] == verdict]

    @property
    def order(self) -> list[int]:
        """Features in the order of their held-out gain, those that are not used last."""
        ranking = self.useful.ranking()
        return [*ranking[self.is_used[ranking]], *ranking[~self.is_used[ranking]]]

    @property
    def doubtful(self) -> np.ndarray:
        """Used features of which few rows may carry the held-out gain: no upper end."""
        return are_doubtful(self.useful) & self.is_used

    def carried(self, features: Sequence[int], n_rows: int) -> np.ndarray | None:
        """Return what the rows that contribute most to some features bring, in per cent.

        None where rows are not in memory.
        """
        if not len(self.task.X_valid):
            return None
        parts = self.gains_of_rows()[:, features]
        largest = np.argsort(-np.abs(parts), axis=0, kind="stable")[:n_rows]
        return np.take_along_axis(parts, largest, axis=0).sum(axis=0) / len(parts)

    def gains_of_rows(self) -> np.ndarray:
        """Return what every held-out row adds to the gains, times the number of rows, (n, p)."""
        gains = held_out_gain_rows(self.model, self.task.X_valid, self.task.y_valid)
        return gains.values * self.per_cent_of_row


def findings_of(
    model: Ensemble, task: Task, read: Callable[[], Iterable[Chunk]] | None = None
) -> Findings:
    """Judge a model on the held-out rows of a task, or on rows that come some at a time.

    ``read`` is called several times. Of a row its target and its raw prediction are kept.
    """
    known = None if read else model.seen_rows
    read = read or (lambda: [Chunk(task.X_valid, task.y_valid, groups=task.groups)])
    targets, predictions, moved = [], [], np.zeros(len(task.feature_names))
    for batch in read():
        targets.append(batch.y)
        predictions.append(model.raw_predict(batch.X))
        moved += absolute(model, batch.X).values
    y, raw_prediction = np.concatenate(targets), np.concatenate(predictions)
    rows = RowsInBatches(RowsAtSplits, StepsOfModel.of(model), read, rows=None, n_jobs=None)
    useful = gain_by(rows, Wanted(per_tree=True, second_moments=None))
    # Of the training rows, as far as they are there.
    best = model.loss.best_constant(task.y_train if len(task.y_train) else task.y_valid, np.ones(1))
    predicted = {MODEL: raw_prediction, CONSTANT: np.broadcast_to(best, (len(y), *np.shape(best)))}
    loss, constant_loss = (excess(model.loss, y, raw).sum() for raw in predicted.values())
    # Of many batches the result does not know it: it keeps no more than a million targets.
    per_cent = percent_of_one(model, Targets(y, np.ones(len(y))), removes_own_work=True)
    if per_cent is None:
        raise UnusableTableError(
            "On these rows a constant predicts perfectly, so there is no loss that features could"
            " reduce; give rows whose targets differ."
        )
    factors = dict.fromkeys(("values", "standard_error", "per_tree", "contributions"), per_cent)
    factors["second_moments"] = per_cent**2
    numbers = {name: getattr(useful, name) for name in factors}
    in_per_cent = {name: factors[name] * of for name, of in numbers.items() if of is not None}
    return Findings(
        model=model,
        task=task,
        scores={who: measures(model.loss, y, raw) for who, raw in predicted.items()},
        saved=100 * (1 - loss / constant_loss),
        useful=replace(useful, percent_of_one=1.0, **in_per_cent),
        gain=total_gain(model),
        raw_prediction=raw_prediction,
        moved=moved,
        per_cent_of_row=per_cent * len(y),
        constant_loss=float(constant_loss),
        n_seen=0 if known is None else known.count(model.as_input(task.X_valid), y),
        # A model that was fitted here knows single rows.
        on_training_rows=model.seen_rows is None
        and rows.are_those_of_training(amount_at_root(model, y, None)),
    )


def excess(loss: Loss, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
    """Return how far every row's loss is above that of a perfect prediction.

    Shares refer to this excess, because the least of Poisson's, gamma's and Tweedie's losses is not
    0, and they may be negative.
    """
    return loss.value(y, raw_prediction) - least_loss(loss, y)


def measures(loss: Loss, y: np.ndarray, raw_prediction: np.ndarray) -> dict[str, float]:
    """Return by name how good raw predictions are."""
    mean_loss = float(loss.value(y, raw_prediction).mean())
    if loss.name == "half_logistic":
        return {"AUC": float(roc_auc_score(y, raw_prediction)), "log-loss": mean_loss}
    if loss.name == "softmax":
        is_right = raw_prediction.argmax(axis=1) == y
        return {"accuracy": float(is_right.mean()), "log-loss": mean_loss}
    if loss.name == "half_squared_error":
        return {
            "R^2": float(r2_score(y, raw_prediction)),
            "root mean squared error": float(np.sqrt(2 * mean_loss)),
        }
    name = f"{loss.metric}, 0 at best" if np.any(least_loss(loss, y)) else loss.metric
    error = {name: float(excess(loss, y, raw_prediction).mean())}
    if not loss.has_pairs:
        return error
    score = loss.score(y, loss.inverse_link(raw_prediction), np.ones(len(y)))
    return {loss.name_of_score: score, **error}
