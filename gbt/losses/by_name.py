"""Possible values of ``loss=``: one of ours by name or as an object, or a user's object."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from numbers import Rational
from typing import Any

import numpy as np

from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.loss import Loss
from gbt.losses.overflow import refusing_overflow
from gbt.losses.own import OF_A_LOSS, OwnLoss
from gbt.losses.ranking.pairs import NDCG, Pairwise
from gbt.losses.robust import Absolute, Huber, PseudoHuber, Quantile
from gbt.losses.several_outputs import OneOutput
from gbt.losses.squared_and_logistic import LOSSES, CrossEntropy, HalfLogistic, HalfSquaredError
from gbt.losses.survival import Aft, Cox

# What a regressor takes as ``loss=`` by name, and what model files may name.
_REGRESSION: tuple[Any, ...] = (
    HalfSquaredError, CrossEntropy, Poisson, Gamma, Tweedie, SquaredLogError, Quantile, Absolute,
    Huber, PseudoHuber, Cox, Pairwise, NDCG, Aft,
)  # fmt: skip
OF_REGRESSION: dict[str, Callable[..., Loss]] = {loss.name: loss for loss in _REGRESSION}
OWN = "own"  # in files, the key under which the name of a user's class stands


def as_loss(loss: Any) -> Loss:
    """Return the loss that a regressor's parameter stands for; `is_loss` has checked it."""
    if loss is None or isinstance(loss, str):
        name = "half_squared_error" if loss is None else loss
        return LOSSES[name] if name in LOSSES else OF_REGRESSION[name]()
    return loss if is_known(loss) else OwnLoss(loss)


def is_loss(loss: Any) -> bool:
    """Say whether something can be a regressor's loss: None, a name, or an object."""
    if loss is None or isinstance(loss, str):
        return loss is None or loss in OF_REGRESSION
    methods = (getattr(loss, name, None) for name in OF_A_LOSS)
    of_classes = isinstance(loss, type) or type(loss) is HalfLogistic
    return all(map(callable, methods)) and not of_classes


def is_own(loss: Any) -> bool:
    """Say whether a loss is a user's object, which has no name in files."""
    return not (isinstance(loss, str) or is_known(loss))


def parameters_of(loss: Loss) -> dict[str, Any]:
    """Return the arguments with which one of our losses was made, as files take them.

    They take no numbers of NumPy, nor fractions.
    """
    given = asdict(loss) if hasattr(loss, "__dataclass_fields__") else {}  # type: ignore[call-overload]
    return {name: _of_python(value) for name, value in given.items()}


def _of_python(value: Any) -> Any:
    """Return a number as one of Python's own; other values as they are."""
    if isinstance(value, np.generic):
        return value.item()
    return float(value) if isinstance(value, Rational) and not isinstance(value, int) else value


def is_same(loss: Loss, other: Loss) -> bool:
    """Say whether two losses are the same; two user's objects are if their classes are."""
    is_own = isinstance(loss, OwnLoss)
    is_alike = loss.n_outputs == other.n_outputs and (
        is_own or parameters_of(loss) == parameters_of(other)
    )
    return loss.name == other.name and is_alike


def is_known(loss: Any) -> bool:
    """Say whether a model can have this loss."""
    return isinstance(loss, Loss) and not isinstance(loss, OneOutput)


def describe_loss(loss: Loss) -> str | dict[str, Any]:
    """Return the entry of a loss in a model file; ``gbt.estimators.loading`` reads it."""
    if isinstance(loss, OwnLoss):
        of_classes = {"n_classes": loss.n_classes} if loss.n_classes else {}
        return {OWN: type(loss.loss).__name__, **of_classes}
    parameters = parameters_of(loss)
    return {"name": loss.name, **parameters} if parameters else loss.name


def refusing_overflow_of(loss: Loss) -> AbstractContextManager[None]:
    """Return a context in which overflow is an error, unless the loss is a user's own."""
    return nullcontext() if isinstance(loss, OwnLoss) else refusing_overflow()
