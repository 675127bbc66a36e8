"""Opening a pipeline: which steps come before the model, and what its columns are made of."""

from typing import Any

from gbt.formats.steps.tracing import INSTEAD, Seen, Traced, acts_in_fits_only, trace_all
from gbt.formats.wrappers import inside, is_pipeline
from gbt.model.preparation import Preparation
from gbt.tables.names import are_numbers


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

    Parameters
    ----------
    steps : list of (name, transformer)
        What `steps_before` returns, at least one.
    model : object
        Behind them.
    columns : tuple of str
        Those that its trees read.

    Raises
    ------
    ValueError
        If a step does not say which columns it takes, or hands over another number than were
        traced; its name is named.
    """
    names = _names_of_input(*steps[0])
    named = None if are_numbers(columns) else columns  # by CatBoost, and others on a frame
    seen_by_model = Seen(len(columns), Seen.by(model).names or named)
    traced = trace_all(steps, Traced(names, tuple((k,) for k in range(len(names)))), seen_by_model)
    return Preparation(tuple(steps), names, traced.origins, traced.names)


def _names_of_input(name: str, step: Any) -> tuple[str, ...]:
    """Return the names of the columns that the first step was fitted on; x0, x1, ... of arrays."""
    seen = Seen.by(step)
    if seen.names is not None:
        return seen.names
    if seen.number is None:
        raise ValueError(
            f"Step {name!r} ({type(step).__name__}) does not say which columns it was fitted on, so"
            " that nothing can be credited to them: it has neither feature_names_in_ nor"
            f" n_features_in_, which scikit-learn's validate_data sets in fit.{INSTEAD}"
        )
    return tuple(f"x{k}" for k in range(seen.number))
