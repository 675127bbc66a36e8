"""Estimators whose parameters are those that their constructors name, as scikit-learn has it.

Beyond `sklearn.base.BaseEstimator`, a constructor may hand on ``**others``, errors for unknown
names suggest what was meant, and parameters of a loss or a splitter are set like those of an
estimator.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from gbt.estimators.other_names import explain_unknown
from gbt.losses.by_name import as_loss
from gbt.splitting.policies_by_name import as_policy


class NamedParameters(BaseEstimator):
    """An estimator whose errors for unknown parameters suggest what was meant.

    Its parameters are those in the signature of its constructor. If the constructor of a subclass
    ends with ``**others``, they go to the constructor above it, whose parameters it has, too.
    """

    __signature__: ClassVar[inspect.Signature]

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
        given, known = dict(params), self._get_param_names()
        for name in params:
            whole, _, part = name.partition("__")
            if whole not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}."
                    f" {explain_unknown(name, known)}"
                )
            if not part or name not in given:
                continue  # or it has been set together with another part
            value = given.get(whole, getattr(self, whole))
            named = BY_NAME[whole](value) if whole in BY_NAME and isinstance(value, str) else value
            if _has_parts(named):
                of_whole = [other for other in params if other.startswith(f"{whole}__")]
                parts = {other.partition("__")[2]: given.pop(other) for other in of_whole}
                given[whole] = _with_parts(whole, named, parts)
            elif not hasattr(value, "set_params"):
                raise ValueError(
                    f"{name!r} cannot be set: {whole}={value!r} has no parameters of its own. Set"
                    f" {whole} as a whole, in a search to each of a list of objects."
                )
        return super().set_params(**given)


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
