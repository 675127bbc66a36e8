r"""Steps before a model: pipelines are opened, and every column is traced to the user's own.

A step takes columns, each of which is made of some columns of the user's table, its *origin*, and
hands over others::

    city     (0)  \  OneHotEncoder       city_Bern (0)   city_Rome (0)
    age      (1)  /  PolynomialFeatures  age (1)   age^2 (1)   age weight (1, 2)
    weight   (2)

Steps of scikit-learn say it by names. ``get_feature_names_out`` makes the names of results of those
of the columns that a result is made of: "city" becomes "city_Bern", and "age", "weight" become
"age weight". So it is asked with marks in place of names, and the marks in its answer are the
columns. This holds for encoders, scalers, discretisers, splines, products, selectors and imputers
with their indicators; a column in which missing values are filled in is its own, also where the
others say what is filled in. A name without a mark, such as "pca0", or that a step of one's own has
chosen, is looked up among the names of the columns that the step takes: one that keeps its name is
credited to itself. All others may be made of everything that the step takes, and are credited to
all of it together.
"""

import re
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from gbt.formats.wrappers import inside, is_pipeline, names_in
from gbt.model.preparation import Preparation
from gbt.tables.names import are_numbers

MARK = "\ue000{}\ue001"  # of a private area, which no name has
MARKED = re.compile("\ue000([0-9]+)\ue001")
OF_ALL = ("Normalizer",)  # names say one to one, but a row is divided by the length of all of it
_NOT_NAMED = (AttributeError, ValueError, TypeError, NotImplementedError)
INSTEAD = (
    " Or explain the model itself, pipeline[-1], with the rows that the steps before it make,"
    " pipeline[:-1].transform(X)."
)


def steps_before(model: Any) -> list[tuple[str, Any]]:
    """Return the fitted steps that rows go through before they reach the model in some wrappers.

    Steps that pass rows on unchanged are left out, and so are samplers, which act in fits only.
    """
    steps: list[tuple[str, Any]] = []
    while (part := inside(model)) is not None:
        if is_pipeline(model) and not hasattr(model, "best_estimator_"):
            steps += [
                (name, step) for name, step in model.steps[:-1] if not acts_in_fits_only(step)
            ]
        model = part
    return steps


def preparation_of(
    steps: list[tuple[str, Any]], model: Any, columns: tuple[str, ...]
) -> Preparation:
    """Trace every column that a model reads to those of the table that the first step takes.

    A step that does not say which columns it takes, or hands over another number than were traced,
    is a ValueError that names it.
    """
    name, step = steps[0]
    if Seen.by(step) == Seen():
        raise ValueError(
            f"Step {name!r} ({type(step).__name__}) does not say which columns it was fitted on, so"
            " that nothing can be credited to them: it has neither feature_names_in_ nor"
            f" n_features_in_, which scikit-learn's validate_data sets in fit.{INSTEAD}"
        )
    names = names_in(step)
    named = None if are_numbers(columns) else columns  # by CatBoost, and others on a frame
    seen_by_model = Seen(len(columns), Seen.by(model).names or named)
    traced = trace_all(steps, Traced(names, tuple((k,) for k in range(len(names)))), seen_by_model)
    return Preparation(tuple(steps), names, traced.origins, traced.names)


class Traced(NamedTuple):
    """Columns: their names, None where there are none, and what each of them is made of."""

    names: tuple[str, ...] | None
    origins: tuple[tuple[int, ...], ...]

    def some(self, places: Any) -> "Traced":
        """Return the columns at some places."""
        names = None if self.names is None else tuple(self.names[k] for k in places)
        return Traced(names, tuple(self.origins[k] for k in places))

    def together(self, places: Any) -> tuple[int, ...]:
        """Return what the columns at some places are made of together."""
        return tuple(sorted({k for place in places for k in self.origins[place]}))


class Seen(NamedTuple):
    """What a step or a model was fitted on: how many columns, and their names if it knows them."""

    number: int | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def by(cls, taker: Any) -> "Seen":
        """Ask a step or a model."""
        names, number = (
            getattr(taker, f"{of}_in_", None) for of in ("feature_names", "n_features")
        )
        return cls(number, None if names is None else tuple(map(str, names)))


def acts_in_fits_only(step: Any) -> bool:
    """Say whether rows to predict pass a step unchanged: none at all, or imblearn's samplers."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return True
    return hasattr(step, "fit_resample") and not hasattr(step, "transform")


def trace_all(steps: list[tuple[str, Any]], given: Traced, seen: Seen) -> Traced:
    """Return what fitted steps, one after the other, make of columns; see `trace`."""
    takers = [Seen.by(step) for _, step in steps[1:]]
    for (name, step), taker in zip(steps, [*takers, seen], strict=True):
        given = trace(name, step, given, taker)
        if taker.number not in (None, len(given.origins)):
            raise ValueError(
                f"Step {name!r} ({type(step).__name__}) says that it hands over"
                f" {len(given.origins)} columns, and what comes next was fitted on {taker.number}."
                f"{INSTEAD}"
            )
    return given


def trace(name: str, step: Any, given: Traced, seen: Seen) -> Traced:
    """Return the columns that a fitted step makes of those given, ``seen`` by the next step."""
    if acts_in_fits_only(step):
        return given
    kinds = {cls.__name__ for cls in type(step).__mro__}
    if "FrozenEstimator" in kinds:
        return trace(name, step.estimator, given, seen)
    if "ColumnTransformer" in kinds:
        origins = _of_columns(name, step, given)
    elif "FeatureUnion" in kinds:
        parts = [part for part in step.transformer_list if part[1] != "drop"]
        of_parts = [trace(f"{name}: {own}", part, given, Seen()) for own, part in parts]
        origins = [origin for part in of_parts for origin in part.origins]
    elif is_pipeline(step):
        return trace_all([(f"{name}: {own}", part) for own, part in step.steps], given, seen)
    else:
        origins = _of_step(name, step, kinds, given, seen)
    names = _names_out(step) or seen.names
    is_named = names is not None and len(names) == len(origins)
    return Traced(names if is_named else None, tuple(origins))


def _of_columns(name: str, step: Any, given: Traced) -> list[tuple[int, ...]]:
    """Trace a ColumnTransformer: each part takes some columns, and its results stand together."""
    inputs, outputs = step._transformer_to_input_indices, step.output_indices_
    parts = sorted(step.transformers_, key=lambda part: outputs[part[0]].start)
    origins: list[tuple[int, ...]] = []
    for own, part, _ in parts:
        n_out = outputs[own].stop - outputs[own].start
        if n_out:
            some = given.some(inputs[own])
            origins += trace(f"{name}: {own}", part, some, Seen(n_out)).origins
    return origins


def _of_step(
    name: str, step: Any, kinds: set[str], given: Traced, seen: Seen
) -> list[tuple[int, ...]]:
    """Return what the results of a single step are made of."""
    n = len(given.origins)
    if "PolynomialFeatures" in kinds:  # whose constant is made of nothing
        return [given.together(np.flatnonzero(powers)) for powers in step.powers_]
    if "FunctionTransformer" in kinds and _is_column_by_column(step.func):
        return list(given.origins)
    everything = given.together(range(n))
    marked = None if kinds & {*OF_ALL} else _names_out(step, [MARK.format(k) for k in range(n)])
    names = _names_out(step) or seen.names or marked
    if names is None:
        if seen.number is None:
            raise ValueError(
                f"Step {name!r} ({type(step).__name__}) does not say which columns it hands over."
                " Give it get_feature_names_out, as scikit-learn's transformers have it; or explain"
                " the model itself, with the rows that the steps before it make."
            )
        return [everything] * seen.number
    if kinds & {*OF_ALL}:
        return [everything] * len(names)
    own = dict(zip(given.names or (), given.origins, strict=False))
    found = [[int(k) for k in MARKED.findall(text)] for text in marked or [""] * len(names)]
    return [
        given.together(places) if places else own.get(text, everything)
        for places, text in zip(found, names, strict=True)
    ]


def _is_column_by_column(function: Any) -> bool:
    """Say whether a function of a table is nothing, or one of single numbers, as numpy.log1p is."""
    return function is None or (isinstance(function, np.ufunc) and function.nin == 1)


def _names_out(step: Any, names: list[str] | None = None) -> tuple[str, ...] | None:
    """Return what a step calls its results, from other names of its columns if these are given."""
    if names is not None:
        step = copy(step)
        vars(step).pop("feature_names_in_", None)  # which other names would have to equal
    given = () if names is None else (np.array(names, dtype=object),)
    try:
        return tuple(map(str, step.get_feature_names_out(*given)))
    except _NOT_NAMED:
        return None
