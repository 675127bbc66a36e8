"""Models made of several: averages, and models of one target each, side by side.

An average of sums of trees is a sum of trees, as long as it averages what the trees add up to:

====================================  ====================  ========================================
model                                 it averages           so its members are
====================================  ====================  ========================================
``VotingRegressor``,                  predictions           models whose prediction is the raw
``BaggingRegressor``                                        prediction
``VotingClassifier(voting="soft")``,  probabilities         forests and single trees, whose leaves
``BaggingClassifier``                                       are probabilities
a list of models, `Average`           raw predictions       models of one loss
``CalibratedClassifierCV``            raw predictions,      models of one loss; what the calibrators
                                      here                  make of their scores is not explained
====================================  ====================  ========================================

Boosted classifiers add up log odds, and a mean of probabilities is no function of a mean of log
odds: soft voting among them is refused. ``gbt.formats.merging`` makes one `Ensemble` of the trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from gbt.formats.wrappers import is_of_several, labels_of, names_in, target_encoder, unwrapped
from gbt.model.ensemble import Ensemble

PREDICTIONS, PROBABILITIES, RAW = "predictions", "probabilities", "raw predictions"


class Several(NamedTuple):
    """Fitted models, and what is made of them."""

    name: str  # of the whole, for messages
    models: list[Any]
    weights: np.ndarray | None  # of an average, adding up to 1; None for models of a target each
    mean_of: str = RAW
    columns: list[np.ndarray] | None = None  # that each of them reads; None if all read all
    rows: list[np.ndarray] | None = None  # that each of them drew, some several times, if known
    names: tuple[str, ...] | None = None  # of all columns, where members may have others
    classes_: Any = None  # the labels of a classifier

    def given_to(self, j: int, X: Any) -> Any:
        """Return what model j is given of a table: of a bag's, some columns of an array."""
        if self.columns is None or X is None:
            return X
        rows = check_array(X, accept_sparse="csr", dtype=None, ensure_all_finite=False)
        return rows[:, self.columns[j]]


@dataclass(frozen=True, eq=False)
class Average:
    """The average of the raw predictions of several fitted models.

    Wherever a model is taken, ``Average([m1, m2], weights=[2, 1])`` is one, and a plain list stands
    for equal weights. The models have one loss, and may be of any libraries.
    """

    models: Sequence[Any]
    weights: Sequence[float] | None = None  # not negative; divided by their sum

    @property
    def classes_(self) -> Any:
        """The labels of the models."""
        classes: list[Any] = [labels_of(model) for model in self.models]
        if any(not np.array_equal(classes[0], other) for other in classes):
            raise ValueError(
                "The models of an average must have the same classes_; got"
                f" {[None if of is None else np.asarray(of).tolist() for of in classes]}."
            )
        return classes[0]


def as_shares(weights: Any, n_models: int) -> np.ndarray:
    """Return weights of models, divided by their sum."""
    weights = np.ones(n_models) if weights is None else np.asarray(weights, dtype=np.float64)
    is_right = weights.shape == (n_models,) and np.isfinite(weights).all() and (weights >= 0).all()
    if not is_right or not weights.any():
        raise ValueError(
            f"weights={weights.tolist()}; an average of {n_models} models needs as many finite"
            " numbers that are not negative, and not all 0."
        )
    return weights / weights.sum()


def several_of(model: Any) -> Several | None:
    """Return the fitted models of which a model is made; None for any other model."""
    model = unwrapped(model)
    if isinstance(model, list | tuple) and model:
        model = Average(model)
    if isinstance(model, Average):
        models = [*model.models]
        if not models:
            raise ValueError("An average needs at least one fitted model; got none.")
        shares = as_shares(model.weights, len(models))
        return Several("list of models", models, shares, classes_=model.classes_)
    if not is_of_several(model):
        return None
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    name, classes = type(model).__name__, getattr(model, "classes_", None)
    if name.startswith("Calibrated"):
        below = [part.estimator for part in model.calibrated_classifiers_]
        _refuse_other_labels(name, below, classes)
        return Several(name, below, as_shares(None, len(below)), classes_=classes)
    members = [*model.estimators_]
    _refuse_other_targets(name, members)
    if name.startswith("MultiOutput"):
        n_classes = [len(of_target) for of_target in classes or ()]
        if {*n_classes} - {2}:
            raise ValueError(
                f"The targets of this {name} have {n_classes} classes, and a target of more or less"
                " than two is no output. Give the model of a target: model.estimators_[k]."
            )
        return Several(name, members, None)
    mean_of = PREDICTIONS if classes is None else PROBABILITIES
    if name.startswith("Voting"):
        _refuse_hard_votes(model)
        shares = as_shares(model._weights_not_none, len(members))
        return Several(name, members, shares, mean_of, classes_=classes)
    if classes is not None:
        _refuse_other_labels(name, members, np.arange(len(classes)))
    return Several(
        name,
        members,
        as_shares(None, len(members)),
        mean_of,
        [np.asarray(columns) for columns in model.estimators_features_],
        [*model.estimators_samples_],
        names_in(model),
        classes,
    )


def models_to_fit(model: Any) -> list[Any]:
    """Return the unfitted models that one of scikit-learn's models of several would fit."""
    if hasattr(model, "estimators"):
        _refuse_hard_votes(model)
        return [member for _, member in model.estimators if member != "drop"]
    return [] if model.estimator is None else [model.estimator]


def refuse_other_scales(several: Several, ensembles: list[Ensemble]) -> None:
    """Raise ValueError if the average is not one of what the members' trees add up to."""
    for model, ensemble in zip(several.models, ensembles, strict=True):
        sums = np.array([[-1.5], [0.25]]) * np.ones(ensemble.n_outputs)
        if several.mean_of == RAW or np.array_equal(ensemble.loss.inverse_link(sums), sums):
            continue
        raise ValueError(
            f"This {several.name} averages {several.mean_of}, and those of its"
            f" {type(unwrapped(model)).__name__} are no sums of trees: under the"
            f" {ensemble.loss.name} loss they are a function of the sum, whose mean is no function"
            " of the mean of the sums. permutation takes the whole. The other functions take one of"
            " its models, or a list of them, which is the average of their raw predictions."
        )


def _refuse_hard_votes(model: Any) -> None:
    """Raise ValueError for votes by class, which are no sums of trees."""
    if getattr(model, "voting", "soft") != "soft":
        raise ValueError(
            f"voting={model.voting!r}: votes by class are no sums of trees. permutation takes the"
            " whole; the other functions take one of its models, or the VotingClassifier fitted"
            " with voting='soft'."
        )


def _refuse_other_labels(name: str, members: list[Any], classes: Any) -> None:
    """Raise ValueError if a member of a classifier does not know all of its classes."""
    if any(not np.array_equal(member.classes_, classes) for member in members):
        raise ValueError(
            f"A model in this {name} was fitted on rows that lack one of the classes, and cannot"
            " be averaged with the others."
        )


def _refuse_other_targets(name: str, members: list[Any]) -> None:
    """Raise ValueError if a member turns its sum of trees back to another scale."""
    if any(target_encoder(member) is not None for member in members):
        raise ValueError(
            f"This {name} puts together models of transformed targets, whose predictions are"
            " functions of sums of trees. Give one of its models."
        )
