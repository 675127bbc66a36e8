"""What a loss may be: one of ours by name or as an object, or an object of the user's."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import Any

from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.half import LOSSES, CrossEntropy, HalfLogistic, HalfSquaredError
from gbt.losses.loss import GivenLoss, Loss
from gbt.losses.overflow import refusing_overflow
from gbt.losses.own import OF_A_LOSS, OwnLoss
from gbt.losses.robust import Absolute, Huber, PseudoHuber, Quantile
from gbt.losses.several_outputs import OneOutput

# What a regressor takes as ``loss=`` by name, and what model files may name.
OF_REGRESSION: dict[str, Callable[..., Loss]] = {
    "half_squared_error": HalfSquaredError,
    "cross_entropy": CrossEntropy,
    "poisson": Poisson,
    "gamma": Gamma,
    "tweedie": Tweedie,
    "squared_log_error": SquaredLogError,
    "quantile": Quantile,
    "absolute": Absolute,
    "huber": Huber,
    "pseudo_huber": PseudoHuber,
}
OWN = "own"  # in files, the key of the name of a class of the user's


def as_loss(loss: Any) -> Loss:
    """Turn what a user gives for a regressor's loss into one; `is_loss` says what that may be."""
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
    """Say whether a loss is an object of the user's, which no name stands for."""
    return not (isinstance(loss, str) or is_known(loss))


def parameters_of(loss: Loss) -> dict[str, Any]:
    """Return the arguments with which one of our losses was made."""
    return asdict(loss) if hasattr(loss, "__dataclass_fields__") else {}  # type: ignore[call-overload]


def is_same(loss: Loss, other: Loss) -> bool:
    """Say whether two losses are the same; a user's own are if their classes are."""
    is_own = isinstance(loss, OwnLoss)
    is_alike = loss.n_outputs == other.n_outputs and (
        is_own or parameters_of(loss) == parameters_of(other)
    )
    return loss.name == other.name and is_alike


def is_known(loss: Any) -> bool:
    """Say whether a model can have this loss."""
    is_one = isinstance(loss, HalfSquaredError | HalfLogistic | GivenLoss)
    return is_one and not isinstance(loss, OneOutput)


def describe_loss(loss: Loss) -> str | dict[str, Any]:
    """Return what a model file says of a loss; ``gbt.loading`` reads it again."""
    if isinstance(loss, OwnLoss):
        of_classes = {"n_classes": loss.n_classes} if loss.n_classes else {}
        return {OWN: type(loss.loss).__name__, **of_classes}
    parameters = parameters_of(loss)
    return {"name": loss.name, **parameters} if parameters else loss.name


def refusing_overflow_of(loss: Loss) -> AbstractContextManager[None]:
    """Return a context in which losses of ours may not overflow; what a user's does is theirs."""
    return nullcontext() if isinstance(loss, OwnLoss) else refusing_overflow()
