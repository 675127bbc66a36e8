"""Allowed values of the estimators' parameters, and which parameters an estimator has.

A table has the allowed values of every parameter in words and as a test: the test decides, and the
words go into the error message. Names that other libraries have are in `other_names`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from gbt.estimators.other_names import explain_loss, explain_metric, explain_unknown
from gbt.losses.known import OF_REGRESSION, as_loss, is_loss, is_own
from gbt.losses.own import OF_A_LOSS
from gbt.splitting.interactions import is_interaction_constraints
from gbt.splitting.monotone import is_monotone_constraints
from gbt.splitting.policies import POLICIES, as_policy
from gbt.tables.names import shown
from gbt.training.evaluation import are_metrics, is_metric


@dataclass(frozen=True)
class Allowed:
    """The allowed values of a parameter, in words and as a test."""

    words: str
    admits: Callable[[Any], bool]


def number_in(kind: Any, interval: str, *others: Any) -> Allowed:
    """Allow numbers of a kind in an interval written as in mathematics, and a few other values."""
    low, high = (float(end) for end in interval[1:-1].split(","))

    def admits(value: Any) -> bool:
        if isinstance(value, kind) and not isinstance(value, bool):
            above = value >= low if interval[0] == "[" else value > low
            below = value <= high if interval[-1] == "]" else value < high
            return above and below
        return any(value is other for other in others)

    noun = "an integer" if kind is Integral else "a number"
    return Allowed(" or ".join([f"{noun} in {interval}", *map(repr, others)]), admits)


TRUE_OR_FALSE = Allowed("True or False", lambda value: isinstance(value, bool | np.bool_))

OF_REGRESSOR = {
    "n_estimators": number_in(Integral, "[1, inf)", None),
    "learning_rate": number_in(Real, "(0, inf)"),
    "max_depth": number_in(Integral, "[1, inf)", None),
    "max_leaves": number_in(Integral, "[2, inf)", None),
    "min_child_weight": number_in(Real, "[0, inf)", None),
    "min_samples_leaf": number_in(Integral, "[1, inf)", None),
    "reg_lambda": number_in(Real, "[0, inf)"),
    "min_split_gain": Allowed(
        "a number in [0, inf), or any number with splitter='unbiased', whose gains can be negative",
        number_in(Real, "(-inf, inf)").admits,
    ),
    "subsample": number_in(Real, "(0, 1]"),
    "colsample": number_in(Real, "(0, 1]"),
    "colsample_bylevel": number_in(Real, "(0, 1]"),
    "colsample_bynode": number_in(Real, "(0, 1]"),
    "base_score": number_in(Real, "(-inf, inf)", None),
    "splitter": Allowed(
        "'auto', 'greedy', 'cross_validated', 'unbiased', or an object with the method split of"
        " gbt.splitting.frontier.Policy",
        lambda value: (
            value in ("auto", *POLICIES) if isinstance(value, str) else is_splitter(value)
        ),
    ),
    "categorical_features": Allowed(
        "'from_dtype', None, or a list of names of columns, of their indices, or of a boolean for"
        " each",
        lambda value: (
            value is None
            or (isinstance(value, str) and value == "from_dtype")
            or is_list_of_columns(value)
        ),
    ),
    "categorical_smoothing": number_in(Real, "[0, inf)", None),
    "monotone_constraints": Allowed(
        "None, a dict of names or indices of columns to -1, 0 or 1, or a list of one of these"
        " numbers for each column",
        is_monotone_constraints,
    ),
    "interaction_constraints": Allowed(
        "None, 'no_interactions', 'pairwise', or a list of lists of names or indices of columns,"
        " those that may stand on one path",
        is_interaction_constraints,
    ),
    "loss": Allowed(
        f"None, one of {[*OF_REGRESSION]}, a loss of gbt.losses such as Quantile(alpha=0.9), or an"
        f" object with the methods {', '.join(OF_A_LOSS)}; for labels there is GBTClassifier",
        is_loss,
    ),
    "early_stopping_rounds": number_in(Integral, "[1, inf)", None),
    "validation_fraction": number_in(Real, "(0, 1)"),
    "min_delta": number_in(Real, "[0, inf)"),
    "eval_metric": Allowed(
        "None, the name of a scikit-learn scorer such as 'neg_mean_absolute_error' or 'roc_auc'"
        " (sklearn.metrics.get_scorer_names() lists them), a function (y, prediction) -> number"
        " that is larger for better predictions, which scikit-learn's ..._error, ..._loss and"
        " ..._deviance are not, or a list of such names and functions, no two of one name",
        lambda value: value is None or is_metric(value) or are_metrics(value),
    ),
    "train_score": TRUE_OR_FALSE,
    "refit": TRUE_OR_FALSE,
    "callbacks": Allowed(
        "None or a list of functions that are called after every tree",
        lambda value: (
            value is None or (isinstance(value, list | tuple) and all(map(callable, value)))
        ),
    ),
    "warm_start": TRUE_OR_FALSE,
    "n_jobs": number_in(Integral, "(-inf, inf)", None),
    "random_state": Allowed(
        "None, an integer in [0, 4294967295], a numpy RandomState or a numpy Generator",
        lambda value: (
            isinstance(value, np.random.RandomState | np.random.Generator)
            or number_in(Integral, "[0, 4294967295]", None).admits(value)
        ),
    ),
    "verbose": number_in(Integral, "[0, inf)", False, True),
}

OF_CLASSIFIER = {
    **OF_REGRESSOR,
    "loss": Allowed(
        "None, for the logistic loss of two classes and softmax of more, or an object with the"
        f" methods {', '.join(OF_A_LOSS)}",
        lambda value: value is None or (is_loss(value) and is_own(value)),
    ),
    "base_score": number_in(Real, "(0, 1)", None),
    "class_weight": Allowed(
        "None, 'balanced' or a dict of labels to positive weights",
        lambda value: (
            value is None
            or (isinstance(value, str) and value == "balanced")
            or (
                isinstance(value, Mapping)
                and all(map(number_in(Real, "(0, inf)").admits, value.values()))
            )
        ),
    ),
}


def check_value(name: str, value: Any, allowed: Allowed) -> None:
    """Raise ValueError unless a parameter may have this value; suggest what was meant."""
    if not allowed.admits(value):
        explain = {"loss": explain_loss, "eval_metric": explain_metric}.get(name)
        nearest = explain(value) if explain else ""
        raise ValueError(f"{name} must be {allowed.words}; got {shown(value)}.{nearest}")


def is_splitter(value: Any) -> bool:
    """Say whether something is an object that splits nodes, not the class of one."""
    return callable(getattr(value, "split", None)) and not isinstance(value, type)


def is_list_of_columns(value: Any) -> bool:
    """Say whether something is a list or array of names, of integers or of booleans."""
    if not isinstance(value, list | tuple | np.ndarray) or np.ndim(value) != 1:
        return False
    kinds = ((str,), (bool, np.bool_), (Integral,))
    return any(all(isinstance(item, kind) for item in value) for kind in kinds)


class NamedParameters(BaseEstimator):
    """An estimator whose errors for unknown parameters suggest what was meant.

    Its parameters are those in the signature of its constructor. If the constructor of a subclass
    ends with ``**others``, they go to the constructor above it, whose parameters it has, too.
    """

    __signature__: ClassVar[inspect.Signature]
    _allowed: ClassVar[dict[str, Allowed]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Show the parameters as the signature of the class."""
        super().__init_subclass__(**kwargs)
        cls.__signature__ = inspect.Signature([*_parameters_of(cls).values()])

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Refuse unknown parameters; ``__init__`` takes the others."""
        known = cls._get_param_names()
        for name in kwargs:
            if name not in known:
                raise TypeError(
                    f"{cls.__name__} has no parameter {name!r}. {explain_unknown(name, known)}"
                )
        return super().__new__(cls)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters; scikit-learn gets and sets these."""
        return sorted(_parameters_of(cls))

    def _all_parameters(self) -> dict[str, Any]:
        """Return all parameters, also those that a subclass's constructor does not name."""
        try:
            return {name: getattr(self, name) for name in sorted(self._allowed)}
        except AttributeError as error:
            raise AttributeError(
                f"{error}: the constructor of a subclass must call super().__init__(), which sets"
                " every parameter."
            ) from error

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep`` also those of a loss or splitter.

        The level of ``loss=Quantile(alpha=0.9)`` is ``loss__alpha``.
        """
        found = super().get_params(deep)
        for whole in [*found] if deep else []:
            if _has_parts(found[whole]):
                found |= {f"{whole}__{part}": v for part, v in vars(found[whole]).items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; unknown ones are refused before any is set.

        Parameters of a loss or splitter, such as ``loss__alpha``, make a new loss or splitter,
        because fitted models keep the old one. The loss may have been given by its name.
        """
        wholes: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            whole, _, part = name.partition("__")
            if whole not in self._get_param_names():
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}."
                    f" {explain_unknown(name, self._get_param_names())}"
                )
            if part:
                parts.setdefault(whole, {})[part] = value
            else:
                wholes[whole] = value
        for whole, of_whole in [*parts.items()]:
            value = wholes.get(whole, getattr(self, whole))
            named = BY_NAME[whole](value) if whole in BY_NAME and isinstance(value, str) else value
            if _has_parts(named):
                wholes[whole] = _with_parts(whole, named, parts.pop(whole))
            elif not hasattr(value, "set_params"):
                name = f"{whole}__{next(iter(of_whole))}"
                raise ValueError(
                    f"{name!r} cannot be set: {whole}={value!r} has no parameters of its own. Set"
                    f" {whole} as a whole, in a search to each of a list of objects."
                )
        super().set_params(**wholes)
        for whole, of_whole in parts.items():
            getattr(self, whole).set_params(**of_whole)
        return self


BY_NAME: dict[str, Callable[[str], Any]] = {"loss": as_loss, "splitter": as_policy}


def _has_parts(value: Any) -> bool:
    """Say whether the value of a parameter has parameters, as our losses and splitters have."""
    return is_dataclass(value) and not isinstance(value, type) and bool(fields(value))


def _with_parts(whole: str, value: Any, parts: Mapping[str, Any]) -> Any:
    """Return a new loss or splitter, some of whose parameters are others."""
    known = [field.name for field in fields(value)]
    for part in parts:
        if part not in known:
            raise ValueError(
                f"Invalid parameter {whole + '__' + part!r}: {whole}={value!r} has"
                f" {', '.join(known)}."
            )
    return replace(value, **parts)


def _parameters_of(cls: type) -> dict[str, inspect.Parameter]:
    """Return the parameters of a class's constructor and, through ``**``, of those above it.

    The latter can only be given by name.
    """
    found: dict[str, inspect.Parameter] = {}
    constructors = [vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base)]
    for n_above, constructor in enumerate(constructors):
        _, *own = inspect.signature(constructor).parameters.values()
        by_kind = {parameter.kind: parameter for parameter in own}
        starred = by_kind.get(inspect.Parameter.VAR_POSITIONAL)
        others = by_kind.get(inspect.Parameter.VAR_KEYWORD)
        if starred and not others:
            raise TypeError(
                f"The constructor of {cls.__name__} takes *{starred.name}, which has no names."
                " Name its parameters; those of the estimator above may be **others."
            )
        for parameter in own:
            if parameter not in (starred, others) and parameter.name not in found:
                by_name = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                found[parameter.name] = by_name if n_above else parameter
        if not others:
            break
    return found
