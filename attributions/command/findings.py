"""How good a model is on held-out rows, and how much of that each feature brings.

Beside the model stands the *constant model*, which gives every row the mean of the training rows,
or the shares of the classes there.
All importances are in one unit, per cent of the constant model's loss on the rows in question:

    100 learning_rate TreeInner(k) / sum_i L(y_i, constant)

A boosting step moves row i by r_mk(x_i) for feature k, which to first order changes its loss by
r_mk(x_i) g_im, and TreeInner adds up -r_mk(x_i) g_im / learning_rate over rows and trees. So in
this unit the features add up, to first order, to how far the model's loss is below the constant
model's: in regression, to R^2 in per cent. Total gain is the same sum over the training rows
(Sun 2022, Proposition 3), so that what was promised and what was delivered can be compared.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from attributions.classic.absolute import absolute
from attributions.classic.total_gain import total_gain
from attributions.command.table.task import Task
from attributions.held_out.tree_inner import partial_inner, tree_inner
from attributions.inputs import SeenRowsWarning
from attributions.results import GlobalAttribution
from gbt.losses.loss import Loss
from gbt.model.ensemble import Ensemble
from gbt.model.known_by_leaves import (
    Cells,
    Rows,
    amount_at_root,
    are_training_rows,
    may_be_training_rows,
)

Batches = Iterable[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Score:
    """One measure of predictions of the held-out rows."""

    name: str
    of_model: float
    of_constant: float


@dataclass(frozen=True, eq=False)
class Findings:
    """How good a model is, and four importances of its features.

    Parameters
    ----------
    scores : list of Score
    saved : float
        How far the model's loss on the held-out rows is below the constant model's, in per cent.
    inner, partial, gain : GlobalAttribution
        TreeInner, its partial test, and total gain, in per cent of the constant model's loss.
    used : GlobalAttribution
        Absolute contributions to the raw prediction, per held-out row.
    constant_loss : float
        The constant model's mean loss on the held-out rows.
    on_training_rows : bool
        Whether the held-out rows are none, but those that a given model was trained on.

    ``inner`` has what each tree adds (``per_tree``), and where the model was fitted to the task's
    training rows, both held-out measures say whether their intervals are to be relied on. Where it
    was given, there are no training rows: the constant model then is the best one for the
    held-out rows, and total gain is in its own unit.
    """

    scores: list[Score]
    saved: float
    inner: GlobalAttribution
    partial: GlobalAttribution
    gain: GlobalAttribution
    used: GlobalAttribution
    constant_loss: float
    on_training_rows: bool = False

    @property
    def held_out(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Values and standard errors of the two that were computed on held-out rows."""
        return [(r.values, np.asarray(r.standard_error)) for r in (self.inner, self.partial)]


def findings_of(model: Ensemble, task: Task) -> Findings:
    """Judge a model that was fitted to the training rows of a task."""
    return findings_in_batches(model, task, lambda: [(task.X_valid, task.y_valid)])


def findings_in_batches(model: Ensemble, task: Task, read: Callable[[], Batches]) -> Findings:
    """Judge a model on held-out rows that come some at a time: X and y of each batch.

    What is kept of a row is its target and its raw prediction; importances of batches are merged.
    ``read`` is called again for rows that may be those of training. Nobody is warned here, since
    the report has a word for every caution.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeenRowsWarning)
        findings = _findings_in_batches(model, task, read())
    return replace(findings, on_training_rows=_are_training_rows(model, task.y_valid, read))


def _are_training_rows(model: Ensemble, y: np.ndarray, read: Callable[[], Batches]) -> bool:
    """Say whether rows in batches are those of a given model's training."""
    if model.seen_rows is not None:  # it was fitted here, and knows single rows
        return False

    def fold(part_of: Callable[[Rows], Cells], merge: Callable[[Cells, Cells], Cells]) -> Cells:
        return reduce(merge, (part_of(Rows(model.as_input(X), y)) for X, y in read()))

    may_be = may_be_training_rows(model, amount_at_root(model, y, None))
    return may_be and are_training_rows(model, fold)


def _findings_in_batches(model: Ensemble, task: Task, batches: Batches) -> Findings:
    """Judge a model on held-out rows in batches."""
    training = (task.X_train, task.y_train) if len(task.y_train) else None
    targets, predictions = [], []
    sums: list[GlobalAttribution] = []
    for X, y in batches:
        targets.append(y)
        predictions.append(model.raw_predict(X))
        of_batch = [
            tree_inner(model, X, y, training=training, per_tree=True),
            partial_inner(model, X, y, training=training),
            absolute(model, X),
        ]
        sums = (
            [one.merge(more) for one, more in zip(sums, of_batch, strict=True)]
            if sums
            else of_batch
        )
    y, raw_prediction = np.concatenate(targets), np.concatenate(predictions)
    inner, partial, used = sums
    constant = raw_constant(model, task, len(y))
    loss = model.loss.value(y, raw_prediction).sum()
    constant_loss = model.loss.value(y, constant).sum()
    of_model, of_constant = (measures(model.loss, y, raw) for raw in (raw_prediction, constant))
    per_cent = 100 * model.learning_rate
    in_training = raw_constant(model, task, len(task.y_train)) if training else None
    loss_in_training = (
        per_cent if in_training is None else model.loss.value(task.y_train, in_training).sum()
    )
    return Findings(
        scores=[Score(name, of_model[name], of_constant[name]) for name in of_model],
        saved=100 * (1 - loss / constant_loss),
        inner=_scaled(inner, per_cent / constant_loss),
        partial=_scaled(partial, per_cent / constant_loss),
        gain=_scaled(total_gain(model), per_cent / loss_in_training),
        used=_scaled(used, 1 / len(y)),
        constant_loss=float(constant_loss / len(y)),
    )


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
    return {loss.metric: mean_loss}


def raw_constant(model: Ensemble, task: Task, n_rows: int) -> np.ndarray:
    """Return the raw predictions of the constant model, of shape (n_rows,) or (n_rows, K)."""
    y = task.y_train if len(task.y_train) else task.y_valid
    constant = model.loss.best_constant(y, np.ones(1))
    return np.broadcast_to(constant, (n_rows, *np.shape(constant)))


def _scaled(result: GlobalAttribution, factor: float) -> GlobalAttribution:
    """Return an importance in another unit."""
    in_its_unit = ("values", "standard_error", "per_tree", "per_output")
    numbers = {name: getattr(result, name) for name in in_its_unit}
    return replace(result, **{k: factor * v for k, v in numbers.items() if v is not None})
