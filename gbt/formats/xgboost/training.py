"""How an XGBoost model was trained: lambda, learning rate and start, as far as can be found out.

**lambda and eta** are not part of the model. A booster still in memory has them in its
configuration; one that was read from a file has the defaults there instead. Therefore everything is
checked: the G of two children must add up to their parent's within the rounding of float32
(measured: at most 1.1 eps of the sum of the three absolute values), or the model's gradients are
declared unknown. This also catches the penalties and constraints under which w is not
-G / (H + lambda). Where eta is unknown it is read off the leaves: of an inner node G is known
without it, of a leaf eta G is, so that every parent of a leaf gives an equation for eta
(`_read_learning_rate`). Only stumps whose roots have G = 0 do not tell eta, and do not contradict a
wrong one either.
"""

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from gbt.files.documents import InvalidModelError, shown
from gbt.formats.imported import LibraryNodes
from gbt.formats.nodes import EPS_32
from gbt.formats.objectives import XGBOOST
from gbt.formats.which_loss import Start, hides_gradients
from gbt.formats.xgboost.document import entry, number, numbers_in
from gbt.losses.loss import Loss
from gbt.losses.several_outputs import SeveralTargets

ADD_UP_WITHIN = 8 * EPS_32  # seven times the largest that was measured
DEFAULT_BASE_SCORE, DEFAULT_LAMBDA = 0.5, 1.0


class TrainingFacts(NamedTuple):
    """What is known of a training; None and False stand for unknown."""

    reg_lambda: float | None = None
    learning_rate: float | None = None
    hidden_by: str | None = None  # the parameter for which w is not -G / (H + lambda)
    is_unsampled: bool = False


def read_training(configuration: Any) -> TrainingFacts:
    """Return what a booster's configuration says about its training, unless it came from a file."""
    if configuration is None:
        return TrainingFacts()
    learner = entry(configuration, "learner")
    booster = entry(learner, "gradient_booster")
    if entry(booster, "name") == "dart":
        booster = entry(booster, "gbtree")
    training = entry(booster, "tree_train_param")
    penalties = {"reg_alpha": "alpha", "max_delta_step": "max_delta_step"}
    return TrainingFacts(
        reg_lambda=number(training, "lambda"),
        learning_rate=number(training, "eta"),
        hidden_by=hides_gradients(
            {name: number(training, parameter) for name, parameter in penalties.items()},
            entry(training, "monotone_constraints"),
        ),
        # A booster that was read from a file has no metric, and the defaults of everything else.
        is_unsampled=number(training, "subsample") == 1 and bool(learner.get("metrics")),
    )


def complete(
    nodes: LibraryNodes, training: TrainingFacts, given: TrainingFacts, per_round: int
) -> tuple[TrainingFacts, str | None]:
    """Return lambda and eta, given, known or computed, and why they are unknown, or None.

    The trees of a round share its learning rate.
    """
    reg_lambda = training.reg_lambda if given.reg_lambda is None else given.reg_lambda
    eta = training.learning_rate if given.learning_rate is None else given.learning_rate
    ask = "Give gbt.formats.xgboost.from_xgboost(model, reg_lambda=..., learning_rate=...)"
    why = None
    if reg_lambda is None:
        reg_lambda = DEFAULT_LAMBDA
        if _adds_up(nodes, 2 * reg_lambda, eta):
            why = f"its reg_lambda is in no file, and several would do. {ask}"
    reg_lambda = float(np.float32(reg_lambda))
    if eta is None:
        eta = _read_learning_rate(nodes, reg_lambda)
        if eta is None:
            eta = 1.0
            why = (
                "its learning rate cannot be read off the leaves: it has too few splits, or"
                f" reg_lambda is not {reg_lambda:.6g}. {ask}"
            )
    elif eta == 0:
        raise ValueError("learning_rate must be more than 0; the model's trees do nothing at 0.")
    else:
        eta = float(np.float32(eta / per_round))  # as XGBoost trained
    return training._replace(reg_lambda=reg_lambda, learning_rate=eta), why


def gradients(nodes: LibraryNodes, reg_lambda: float, eta: float) -> np.ndarray:
    """Return G of all nodes."""
    w = np.where(nodes.tree.is_leaf, nodes.value / eta, nodes.value)
    return -w * (nodes.sum_hessian + reg_lambda)


def say_why_not(nodes: LibraryNodes, wrong: int, training: TrainingFacts) -> str:
    """Return a text: sums do not add up at a node, and the possible reasons."""
    m, node = nodes.tree.of_tree(wrong)
    return (
        f"the sums of its tree {m} do not add up at node {node} with"
        f" reg_lambda={training.reg_lambda:.6g} and learning_rate={training.learning_rate:.6g}."
        " A booster that was read from a file has forgotten both: give those of the training to"
        " gbt.formats.xgboost.from_xgboost(model, reg_lambda=..., learning_rate=...). If they are"
        " right, the training had a learning_rate or reg_lambda that changed between rounds,"
        " reg_alpha, max_delta_step or monotone constraints"
    )


def family_that_does_not_add_up(nodes: LibraryNodes, sums: np.ndarray) -> int | None:
    """Return the first inner node whose sum is not that of its children, None if all add up."""
    parent, left, right = nodes.tree.families
    missing, size = np.abs(sums[parent] - sums[left] - sums[right]), np.abs(sums)
    wrong = missing > ADD_UP_WITHIN * (size[parent] + size[left] + size[right])
    return int(parent[np.argmax(wrong)]) if wrong.any() else None


def _adds_up(nodes: LibraryNodes, reg_lambda: float, eta: float | None) -> bool:
    """Say whether a penalty is consistent with a learning rate, or with any if that is None."""
    eta = _read_learning_rate(nodes, reg_lambda) if eta is None else eta
    if eta is None:
        return True
    G = gradients(nodes, reg_lambda, eta)
    return family_that_does_not_add_up(nodes, G) is None


def _read_learning_rate(nodes: LibraryNodes, reg_lambda: float) -> float | None:
    """Find the learning rate from the nodes that have leaves among their children.

    The sum of these leaves follows in two ways: from themselves, a = sum of s (H + lambda) = -eta
    G, and from the parent less its other child, b = w (H + lambda) - w' (H' + lambda) = -G. Both
    lose digits where terms cancel, so a = eta b is solved by least squares, with every node's
    equation divided by the size of its terms. That size depends on eta, so there are two passes,
    the first with eta = 1. None if the equations do not determine eta.
    """
    is_leaf, sums = nodes.tree.is_leaf, nodes.value * (nodes.sum_hessian + reg_lambda)
    shrunk, unshrunk = np.where(is_leaf, sums, 0.0), np.where(is_leaf, 0.0, sums)
    parent, left, right = nodes.tree.families
    a = shrunk[left] + shrunk[right]
    b = unshrunk[parent] - unshrunk[left] - unshrunk[right]
    eta = 1.0
    for _ in range(2):
        terms = np.abs(shrunk) + eta * np.abs(unshrunk)
        size = terms[parent] + terms[left] + terms[right]
        use = (is_leaf[left] | is_leaf[right]) & (size > 0)
        of_leaves, of_others = a[use] / size[use], b[use] / size[use]
        ab, bb = float(np.sum(of_leaves * of_others)), float(np.sum(of_others**2))
        if not ab > 0:
            return None
        eta = ab / bb
    # Each equation is wrong by eps of its size, so eta by eps / sqrt(bb).
    return eta if EPS_32 * np.sqrt(bb) / ab <= ADD_UP_WITHIN else None


def read_start(learner: Any, loss: Loss, training: TrainingFacts, n_trees: int) -> Start:
    """Return the base score in link space, and its origin; the file has it as a prediction.

    It is text: a number, or since version 3.1 a list of one for every output. XGBoost estimates it
    as the mean of the targets or, before 3.1 and where positives weigh more, by one Newton step
    from 0, whose length is 4 times the excess of the mean over 1/2.
    """
    shape = entry(learner, "learner_model_param")
    text = entry(shape, "base_score")
    to_estimate = shape.get("boost_from_average") == "1"
    name, n_outputs = entry(learner, "objective", "name"), loss.n_outputs
    is_raw = name == "binary:logitraw" or XGBOOST[name].is_of_classes
    is_raw = is_raw or (to_estimate and n_trees == 0)  # the default, which no training has replaced
    numbers = numbers_in(text, "base_score")
    if len(numbers) == 1:
        numbers = numbers * n_outputs  # before version 3.1 one base score stood for all outputs
    own = loss.loss if isinstance(loss, SeveralTargets) else loss
    link = np.log if own.name == "cox" else own.link  # XGBoost predicts hazard ratios
    raws: list[float] = []
    with suppress(ValueError):  # of what the loss never predicts
        raws = numbers if is_raw else [float(link(one)) for one in numbers]
    if len(raws) != n_outputs or not np.isfinite(raws).all():
        raise InvalidModelError(
            f"The XGBoost model's base_score, {shown(text)}, is not one prediction of {loss.name}."
        )
    first, raw = numbers[0], raws[0]
    p = raw if n_outputs > 1 else float(loss.inverse_link(np.array(raw)))
    return Start(
        base_score=raw if n_outputs == 1 else np.array(raws),
        is_estimated=to_estimate and first != DEFAULT_BASE_SCORE,
        is_default=to_estimate and first == DEFAULT_BASE_SCORE,
        means=(p, 0.5 + raw / 4, first),
        may_be_sampled=not training.is_unsampled,
    )
