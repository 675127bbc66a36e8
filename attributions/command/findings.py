"""How good a model is on held-out rows, what each feature brings, and what is said of it.

Beside the model stands the *constant model*, which gives every row the mean of the training rows,
or the shares of the classes there.
All importances are in one unit, per cent of the constant model's loss on the rows in question:

    100 learning_rate TreeInner(k) / sum_i L(y_i, constant)

A boosting step moves row i by r_mk(x_i) for feature k, which to first order changes its loss by
r_mk(x_i) g_im, and TreeInner adds up -r_mk(x_i) g_im / learning_rate over rows and trees. So in
this unit the features add up, to first order, to how far the model's loss is below the constant
model's: in regression, to R^2 in per cent. Total gain is the same sum over the training rows
(Sun 2022, Proposition 3), so that what was promised and what was delivered can be compared.

A verdict speaks of what this model makes of the feature, on rows that it has not seen. It is drawn
from three numbers of a feature: its importance v there (TreeInner, in per cent of the constant
model's loss), the standard error s of v, and its share g of the total gain, which is what its
splits promised in training. With T the sum of v over all features, and 0 where that is negative:

``rarely used``           g is less than a tenth of an even share: g < .1 / number of features
``helps``                 not that, and v is above 0 beyond chance: the one-sided p-value
                          1 - Phi(v / s), adjusted by Benjamini and Hochberg for the number of
                          features that are not rarely used, is at most .1
``used but not useful``   neither, and even the upper end of the 95 % interval, v + 1.96 s, is below
                          half of what the gain promised, g T / 2
``cannot tell``           none of the above: the interval reaches from nothing to half the promise

What is rarely used comes first because with many rows the smallest of effects is beyond chance, and
says nothing that anybody needs. A feature that does not help may be of use to another model.

Of all that Benjamini and Hochberg find, one in ten at most is a mistake, on average. That is so for
what was adjusted together. If some of it is then set aside, the mistakes may all be among the rest:
a hundred rare features that are certain let noise among twenty others pass at p-values of .08. So
the rarely used features are set aside first, in which the held-out rows have no say, since g comes
from the rows of training. Each of the two sets is adjusted for itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.metrics import r2_score, roc_auc_score

from attributions.classic.absolute import absolute
from attributions.classic.total_gain import total_gain
from attributions.command.table.task import Task
from attributions.held_out.tree_inner import partial_inner, tree_inner
from attributions.results import GlobalAttribution
from gbt.losses.loss import Loss
from gbt.model.ensemble import Ensemble

FALSE_DISCOVERIES = 0.1
RARE = 0.1  # of an even share of the gain
HELPS, RARELY, USELESS, UNCLEAR = (
    "helps", "rarely used", "used but not useful", "cannot tell"
)  # fmt: skip
RULES = {
    HELPS: (
        "The model uses it, and its importance is above 0 beyond chance: the p-value, adjusted for"
        " the number of features that are not rarely used (Benjamini and Hochberg), is at most"
        f" {FALSE_DISCOVERIES:g}. Of the features that get this verdict about one in ten at most is"
        " a mistake."
    ),
    USELESS: (
        "The model uses it, but it does not pay: even the upper end of the 95 % interval is below"
        " half of what the training promised (half of the share of total gain times the importance"
        " of all features together). Leaving it out should cost this model little."
    ),
    UNCLEAR: (
        "The interval reaches from nothing to at least half of what the training promised. More"
        " held-out rows would tell. It is not thereby noise."
    ),
    RARELY: (
        "The model hardly uses it: its share of total gain is less than a tenth of an even share"
        " (0.1 divided by the number of features). Whether it helps or not, it matters little. A"
        " feature with a share of 0 is never used."
    ),
}


@dataclass(frozen=True)
class Score:
    """One measure of predictions of the held-out rows."""

    name: str
    of_model: float
    of_constant: float


@dataclass(frozen=True, eq=False)
class Findings:
    """A judged model: how good it is, its features' importances, and what to say of each.

    The terminal and the page say the same, because both are drawn from this record.

    Parameters
    ----------
    model : Ensemble
    task : Task
    scores : list of Score
    saved : float
        How far the model's loss on the held-out rows is below the constant model's, in per cent.
    inner, partial, gain : GlobalAttribution
        TreeInner, its partial test, and total gain, in per cent of the constant model's loss.
    used : GlobalAttribution
        Absolute contributions to the raw prediction, per held-out row.
    constant_loss : float
        The constant model's mean loss on the held-out rows.
    n_seen : int
        Held-out rows that equal rows of training, beyond chance.
    model_file : str
        The file of a given model, or nothing.
    doubt : str
        What is doubtful about the sums of a given model's nodes, or nothing.

    ``inner`` has what each tree adds (``per_tree``), and where the model was fitted to the task's
    training rows, both held-out measures say whether their intervals are to be relied on. Where it
    was given, there are no training rows: the constant model then is the best one for the
    held-out rows, and total gain is in its own unit.
    """

    model: Ensemble
    task: Task
    scores: list[Score]
    saved: float
    inner: GlobalAttribution
    partial: GlobalAttribution
    gain: GlobalAttribution
    used: GlobalAttribution
    constant_loss: float
    n_seen: int = 0
    model_file: str = ""
    doubt: str = ""

    @property
    def held_out(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Values and standard errors of the two that were computed on held-out rows."""
        return [(r.values, np.asarray(r.standard_error)) for r in (self.inner, self.partial)]

    @cached_property
    def gain_share(self) -> np.ndarray:
        """Shares of the total gain; 0 everywhere if no tree has a split."""
        return self.gain.normalized()

    @cached_property
    def verdicts(self) -> list[str]:
        """What is said of every feature."""
        return verdicts(self.inner, self.gain)[0]

    @cached_property
    def p_values(self) -> np.ndarray:
        """Adjusted for the number of features that are rarely used, or of those that are not."""
        return verdicts(self.inner, self.gain)[1]

    def with_verdict(self, verdict: str) -> list[int]:
        """Return the features that got a verdict."""
        return [k for k, said in enumerate(self.verdicts) if said == verdict]

    @property
    def rare_but_beyond_chance(self) -> list[int]:
        """The features that are above 0 beyond chance, and do not matter: they are rarely used."""
        return [k for k in self.with_verdict(RARELY) if self.p_values[k] <= FALSE_DISCOVERIES]

    @property
    def doubtful(self) -> np.ndarray:
        """Features whose intervals are not to be relied on, but for those that are rarely used."""
        if self.inner.is_reliable is None:
            return np.zeros(len(self.inner), dtype=bool)
        return ~self.inner.is_reliable & (np.array(self.verdicts) != RARELY)


def findings_of(model: Ensemble, task: Task, model_file: str = "", doubt: str = "") -> Findings:
    """Judge a model on the held-out rows of a task."""
    known = model.seen_rows
    n_seen = 0 if known is None else known.count(model.as_input(task.X_valid), task.y_valid)
    found = findings_in_batches(model, task, [(task.X_valid, task.y_valid)], model_file, doubt)
    return replace(found, n_seen=n_seen)


def findings_in_batches(
    model: Ensemble,
    task: Task,
    batches: Iterable[tuple[np.ndarray, np.ndarray]],
    model_file: str = "",
    doubt: str = "",
) -> Findings:
    """Judge a model on held-out rows that come some at a time: X and y of each batch.

    What is kept of a row is its target and its raw prediction; importances of batches are merged.
    """
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
        model=model,
        task=task,
        scores=[Score(name, of_model[name], of_constant[name]) for name in of_model],
        saved=100 * (1 - loss / constant_loss),
        inner=_scaled(inner, per_cent / constant_loss),
        partial=_scaled(partial, per_cent / constant_loss),
        gain=_scaled(total_gain(model), per_cent / loss_in_training),
        used=_scaled(used, 1 / len(y)),
        constant_loss=float(constant_loss / len(y)),
        model_file=model_file,
        doubt=doubt,
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


def verdicts(useful: GlobalAttribution, gain: GlobalAttribution) -> tuple[list[str], np.ndarray]:
    """Return what the rule of this module says of every feature, and adjusted p-values.

    Parameters
    ----------
    useful : GlobalAttribution
        TreeInner on held-out rows, with standard errors.
    gain : GlobalAttribution
        Total gain of the same model, in any unit.
    """
    value, error = useful.values, np.asarray(useful.standard_error)
    share = gain.normalized()
    is_rare = share < RARE / len(value)
    adjusted = useful.p_values()
    for together in (is_rare, ~is_rare):
        adjusted[together] = false_discovery_control(adjusted[together])
    total = max(value.sum(), 0.0)
    upper_end = useful.confidence_interval()[:, 1]
    words = np.select(
        [
            is_rare,
            (adjusted <= FALSE_DISCOVERIES) & (error > 0),
            upper_end < share * total / 2,
        ],
        [RARELY, HELPS, USELESS],
        UNCLEAR,
    )
    return words.tolist(), adjusted
