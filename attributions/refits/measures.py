"""Measures given as arguments: what they must accept, and the rows that they are handed."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from attributions.inputs import has_lost_sums
from gbt.formats import refuse_unreadable
from gbt.tables.names import shown
from gbt.tables.targets import as_weight


class GivenRows(NamedTuple):
    """Rows of a table with targets and, unless None, weights, groups and starting values."""

    X: Any
    y: Any
    sample_weight: Any = None
    init_score: Any = None
    groups: Any = None

    @classmethod
    def of(
        cls, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, init_score: Any = None
    ) -> "GivenRows":
        """Return the rows; weights, if there are any, are checked."""
        weight = None if sample_weight is None else as_weight(sample_weight, len(y))
        return cls(X, y, weight, init_score, groups)

    @property
    def of_fit(self) -> dict[str, Any]:
        """The keyword arguments of a fit."""
        named = {"sample_weight": self.sample_weight, "init_score": self.init_score}
        return {name: value for name, value in named.items() if value is not None}

    @property
    def beside(self) -> dict[str, Any]:
        """The keyword arguments of a measure."""
        return self.of_fit | ({} if self.groups is None else {"groups": self.groups})

    @property
    def training(self) -> tuple[Any, ...]:
        """The rows as a measure takes them for ``training``."""
        if self.init_score is not None:
            return self[:4]
        return self[:2] if self.sample_weight is None else self[:3]

    def some(self, places: np.ndarray) -> "GivenRows":
        """Return the rows at some places."""
        return GivenRows(*(None if part is None else _safe_indexing(part, places) for part in self))

    def fitted(self, estimator: Any) -> Any:
        """Return a clone of an estimator, fitted to the rows."""
        prefix = _to_the_model(estimator)
        beside = {f"{prefix}{name}": value for name, value in self.of_fit.items()}
        return clone(estimator).fit(self.X, self.y, **beside)


def _to_the_model(estimator: Any) -> str:
    """Return what a pipeline's fit wants before the names of arguments of its model's fit."""
    if get_config()["enable_metadata_routing"]:
        return ""  # each step has asked for what it takes
    if hasattr(estimator, "steps") and hasattr(estimator, "named_steps"):
        name, model = estimator.steps[-1]
        return f"{name}__{_to_the_model(model)}"
    is_search = hasattr(estimator, "refit") and hasattr(estimator, "estimator")
    return _to_the_model(estimator.estimator) if is_search else ""


def refuse_no_estimator(estimator: Any, name: str) -> None:
    """Raise TypeError unless an argument can be cloned and fitted as scikit-learn does it."""
    can_be_cloned = hasattr(estimator, "get_params") or hasattr(estimator, "__sklearn_clone__")
    if isinstance(estimator, type) or not (can_be_cloned and hasattr(estimator, "fit")):
        raise TypeError(
            f"{name} must be an estimator, an object with the methods fit and predict, such as"
            f" GBTRegressor() or sklearn's Ridge(); got {shown(estimator)}."
        )


def refuse_no_measure(measure: Any, *by_name: str) -> None:
    """Raise TypeError unless a measure takes (model, X, y) and the keyword arguments ``by_name``.

    It may require ``training``, too, which callers can supply.
    """
    if not callable(measure):
        raise TypeError(
            "measure must be a function of (model, X, y), such as tree_inner itself and not its"
            f" name; got {shown(measure)}."
        )
    try:
        asked = signature(measure)
        takes_training = ["training"] * ("training" in asked.parameters)
        asked.bind(None, None, None, **dict.fromkeys([*by_name, *takes_training]))
    except TypeError as error:
        also = "".join(f", {name}=..." for name in by_name)
        raise TypeError(
            f"measure must take (model, X, y{also}), as tree_inner and partial_inner do, or"
            " functools.partial of one with its other arguments;"
            f" {getattr(measure, '__name__', repr(measure))} does not: {error}."
        ) from error


def refuse_unreadable_by(measure: Callable, estimator: Any) -> None:
    """Raise, before anything is fitted, if a measure of ours will not be able to read the model.

    A measure of one's own may take any model.
    """
    if getattr(measure, "func", measure).__module__.startswith("attributions."):
        refuse_unreadable(estimator)


def as_option(training: Any, measure: Callable) -> dict[str, Any]:
    """Return ``{"training": rows}`` if a measure accepts them and has none yet, else ``{}``."""
    parameter = signature(measure).parameters.get("training")
    if parameter is None or not (parameter.default is None or parameter.default is Parameter.empty):
        return {}
    return {"training": training}


def needed_option(training: Any, measure: Callable, model: Any) -> dict[str, Any]:
    """Return ``{"training": rows}`` if the measure needs them, else ``{}``.

    It does if it requires training rows, or accepts them and the model lacks the sums of its nodes.
    """
    option = as_option(training, measure)
    is_required = option and signature(measure).parameters["training"].default is Parameter.empty
    return option if is_required or has_lost_sums(model) else {}
