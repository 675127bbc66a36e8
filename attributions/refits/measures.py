"""Measures given as arguments: what they must accept, and the rows that they are handed."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from attributions.inputs import has_lost_sums
from attributions.statistics.groups import Groups
from gbt.formats import refuse_unreadable
from gbt.losses.by_name import as_loss, is_loss
from gbt.losses.loss import Loss
from gbt.losses.ranking.queries import as_grades, with_queries
from gbt.tables.names import shown
from gbt.tables.targets import as_weight

# Rankers of other libraries, to whose fits rows come query by query, and how these are told of it.
RANKERS = {"LGBMRanker": "group", "XGBRanker": "qid", "CatBoostRanker": "group_id"}


class GivenRows(NamedTuple):
    """Rows of a table with targets and, unless None, weights, groups and starting values.

    ``queries`` are those of a ranker's rows, as numbers.
    """

    X: Any
    y: Any
    sample_weight: Any = None
    init_score: Any = None
    groups: Any = None
    queries: Any = None

    @classmethod
    def of(
        cls,
        estimator: Any,
        measure: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        init_score: Any,
    ) -> "GivenRows":
        """Return the rows for an estimator; refuse a measure that cannot take them or the model."""
        weight = None if sample_weight is None else as_weight(sample_weight, len(y))
        if groups is not None:
            Groups.of(groups, len(y))
        rows = cls(X, y, weight, init_score, groups, _queries_of(estimator, y, groups))
        refuse_no_measure(measure, *rows.beside)
        if getattr(measure, "func", measure).__module__.startswith("attributions."):
            refuse_unreadable(_clone(estimator))  # before a fit; own measures take any model
        return rows

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
        given = self._replace(y=self.targets)
        if self.init_score is not None:
            return given[:4]
        return given[:2] if self.sample_weight is None else given[:3]

    @property
    def targets(self) -> Any:
        """The targets as a fit takes them: a ranker's grades with the queries beside."""
        if self.queries is None:
            return self.y
        grades = np.asarray(self.y).reshape(len(self.queries), -1)[:, 0]
        return np.column_stack([grades, self.queries])

    @property
    def kept_whole(self) -> Any:
        """The labels of rows that are not to be parted, or None."""
        return self.queries if self.groups is None else self.groups

    def sides(self, fold: tuple[np.ndarray, np.ndarray]) -> tuple["GivenRows", "GivenRows"]:
        """Return the rows to fit on and those to judge; refuse to cut a query in two."""
        fitted_on, held_out = map(self.some, fold)
        if self.queries is not None:
            both = np.isin(fitted_on.queries, held_out.queries)
            if both.any():
                row = int(fold[0][np.argmax(both)])
                raise ValueError(
                    f"Row {row} is to be fitted, and others of its query are to judge: rows of a"
                    " query are ordered against each other, so none of them may be apart. Give"
                    " groups that are whole queries, and a cv that keeps groups whole, such as a"
                    " number or GroupKFold."
                )
        return fitted_on, held_out

    def some(self, places: np.ndarray) -> "GivenRows":
        """Return the rows at some places."""
        return GivenRows(*(None if part is None else _safe_indexing(part, places) for part in self))

    def fitted(self, estimator: Any) -> Any:
        """Return a clone of an estimator, fitted to the rows."""
        prefix, model = _to_the_model(estimator)
        rows, y, beside = self, self.targets, self.of_fit
        if (argument := _argument_of_queries(model)) is not None:
            rows = self.some(np.argsort(self.queries, kind="stable"))
            y, beside = rows.targets[:, 0], rows.of_fit
            _, first, number, size = np.unique(rows.queries, True, True, True)
            beside[argument] = size if argument == "group" else number
            if argument == "qid" and rows.sample_weight is not None:
                beside["sample_weight"] = rows.sample_weight[first]  # XGBoost's are of queries
        beside = {f"{prefix}{name}": value for name, value in beside.items()}
        return _clone(estimator).fit(rows.X, y, **beside)


def _clone(estimator: Any) -> Any:
    """Return an unfitted clone; say what to do where scikit-learn cannot make one.

    CatBoost copies the lists that it is given, which scikit-learn takes for a change of parameters.
    """
    try:
        return clone(estimator)
    except RuntimeError as error:
        raise ValueError(
            f"{error}. If it is a list, as of cat_features of CatBoost, give a tuple:"
            " cat_features=('city', 'kind')."
        ) from error


def losses_of(estimator: Any) -> list[Loss]:
    """Return the losses of ours that an estimator is told to fit by, be it within a pipeline."""
    given = estimator.get_params() if hasattr(estimator, "get_params") else {}
    losses = [value for name, value in given.items() if name.split("__")[-1] == "loss"]
    return [as_loss(loss) for loss in losses if is_loss(loss)]


def _argument_of_queries(model: Any) -> str | None:
    """Return by which argument a ranker of another library is told of queries, None of others."""
    kinds = (kind.__name__ for kind in type(model).__mro__)
    return next((RANKERS[name] for name in kinds if name in RANKERS), None)


def _queries_of(estimator: Any, y: Any, groups: Any) -> np.ndarray | None:
    """Return the queries of a ranker's rows, from ``groups`` or from beside the grades."""
    rankers = [loss for loss in losses_of(estimator) if loss.has_queries]
    if _argument_of_queries(_to_the_model(estimator)[1]) is not None:
        rankers = [as_loss("ndcg")]
    if not rankers:
        return None
    is_grade = np.shape(y)[1:] in ((), (1,))
    pairs = with_queries(rankers[0], y, groups) if is_grade else y
    return as_grades(rankers[0].name, pairs)[:, 1]


def _to_the_model(estimator: Any) -> tuple[str, Any]:
    """Return the model in pipelines and searches, and what stands before names of its arguments.

    Fits of pipelines want that, unless metadata is routed: then each step has asked for its own.
    """
    if hasattr(estimator, "steps") and hasattr(estimator, "named_steps"):
        name, last = estimator.steps[-1]
        prefix, model = _to_the_model(last)
        is_routed = get_config()["enable_metadata_routing"]
        return ("" if is_routed else f"{name}__{prefix}"), model
    is_search = hasattr(estimator, "refit") and hasattr(estimator, "estimator")
    return _to_the_model(estimator.estimator) if is_search else ("", estimator)


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
    return option if is_required or has_lost_sums(model, training[0]) else {}
