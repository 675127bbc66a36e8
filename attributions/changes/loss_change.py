"""Where the loss went: between two sets of rows, or between two models on the same rows.

``attributions.changes.loss_parts`` divides a loss. Its parts change, and each change has an error:
two sets of rows are independent, unless groups have rows in both; two models that are judged by the
same rows are compared row by row, so that what is hard about a row for both does not count.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing

from attributions.changes.contrasts import Difference, combination, difference
from attributions.changes.differences import Differences, stacked
from attributions.changes.loss_parts import LEFT, LEVEL, SPREAD, loss_parts
from attributions.changes.worth import Worth, rows_in_memory
from attributions.inputs import given_together, trees_of
from attributions.names import find_feature
from attributions.options import imported, whole
from attributions.plots import LossChangeDisplay
from attributions.results import tables
from gbt.tables.names import column_names
from gbt.tables.table import collected

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

N_SHOWN = 12
NOT_FEATURES = 3  # parts that come first


@dataclass(frozen=True, eq=False, repr=False)
class LossChange(tables.ShownAsTable):
    """The parts of two losses a row, and their differences.

    Parameters
    ----------
    before, after : float64 array of shape (P,)
        Parts of the loss: the target's spread, level, what is left over, and for every feature
        minus the loss that it saves. Their sums are ``losses``.
    changes : Differences
        After less before, above 0 where the loss rises, with errors and p-values of all parts
        together.
    loss : Differences
        The same of the whole loss.
    losses : (float, float)
        Mean losses of a row, counted from those of perfect predictions.
    headings : (str, str)
        What the two are called.
    """

    before: np.ndarray
    after: np.ndarray
    changes: Differences
    loss: Differences
    losses: tuple[float, float]
    headings: tuple[str, str] = ("before", "after")

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts: three in brackets, then the features."""
        return self.changes.feature_names

    @property
    def values(self) -> np.ndarray:
        """How much each part adds to the change of the loss, (P,)."""
        return self.changes.values[0]

    def __getitem__(self, part: str) -> float:
        """Return how much a part adds to the change of the loss."""
        return float(self.values[find_feature(part, self.parts)])

    def to_frame(self, *, level: float = 0.95) -> "pandas.DataFrame":
        """Return a pandas.DataFrame with a row for every part, and one for the whole loss.

        The columns are those of ``Differences.to_frame``, beside ``before`` and ``after``.
        """
        pandas = imported("pandas", "to_frame", ", or use .parts and .values")
        frames = [found.to_frame(level=level).droplevel(0) for found in (self.changes, self.loss)]
        frame = pandas.concat(frames)
        frame.index.name = "part"
        frame.insert(0, self.headings[0], [*self.before, self.losses[0]])
        frame.insert(1, self.headings[1], [*self.after, self.losses[1]])
        return frame

    def head(self, n: int = N_SHOWN) -> tables.ShownTable:
        """Return the whole loss and the ``n`` parts that changed most as a table to look at."""
        order = np.argsort(-np.abs(self.values), kind="stable")[: whole(0, n=n)]
        of_parts = (self.before, self.after, *_shown(self.changes))
        of_whole = [*self.losses, *(float(column[0]) for column in _shown(self.loss))]
        numbers = np.column_stack([of_whole, np.array(of_parts)[:, order]])
        names = ["loss", *(self.parts[k] for k in order)]
        headings = [*self.headings, "change", "from", "to"]
        columns = [tables.words("part", names)]
        columns += tables.of_one_unit(headings, numbers[:-1])
        columns.append(tables.p_values("p-value", numbers[-1]))
        title = "Mean loss of a row and its parts, 95 % intervals of all parts together"
        return tables.ShownTable(title, columns, tables.more(len(self.values) - len(order), "part"))

    def plot(
        self,
        *,
        max_display: int | None = N_SHOWN,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> LossChangeDisplay:
        """Draw how much each part adds to the change, with intervals that hold together.

        Blue is less loss and vermilion more; ``max_display`` parts are shown, those that changed
        most. Parameters are those of ``GlobalAttribution.plot``.
        """
        display = LossChangeDisplay(self, max_display=max_display)
        return display.plot(ax, title=title, figsize=figsize)


def _shown(found: Differences) -> tuple[np.ndarray, ...]:
    """Return values, ends of intervals and p-values."""
    lower, upper = np.moveaxis(found.confidence_interval()[0], -1, 0)
    return found.values[0], lower, upper, found.p_values()[0]


def loss_change(
    model: Any, rows_before: Any, rows_after: Any, *, n_jobs: int | None = None
) -> LossChange:
    """Divide how a model's loss changes from some rows to others.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        As for `held_out_gain`.
    rows_before, rows_after : (X, y), (X, y, sample_weight) or (X, y, sample_weight, groups)
        Rows that the model was not fitted to. Groups may have rows in both.
    n_jobs
        As for `held_out_gain`.

    Returns
    -------
    LossChange
        The change of the mean loss of a row, and what the target's spread, features, the level and
        what is left over add to it.

    Examples
    --------
    Which feature cost most since last year::

        change = loss_change(model, (X_2023, y_2023), (X_2024, y_2024))
        change.to_frame().sort_values("difference")
    """
    before, after = (
        rows_in_memory(model, *given_together(given, name, "groups"))
        for name, given in (("rows_before", rows_before), ("rows_after", rows_after))
    )
    for rows in (before, after):
        rows.warn_if_seen(n_jobs)
    if (before.groups is None) != (after.groups is None):
        raise ValueError("Only one of the two sets of rows has groups; give both groups or none.")
    size = min(len(before.X), len(after.X))
    parts = [loss_parts(rows, n_jobs, size) for rows in (before, after)]
    return _changed(parts, difference(parts[1], parts[0]), before.ensemble.credited_names)


def compare(
    model_a: Any,
    model_b: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
) -> LossChange:
    """Compare two models on the same rows: their losses, and what each feature saves in each.

    Parameters
    ----------
    model_a, model_b : estimators, Ensembles or foreign models
        Of one loss. Features are matched by name, and one that a model lacks saves nothing in it.
        Each model takes its own columns from a frame.
    X, y, sample_weight, groups, n_jobs
        As for `held_out_gain`: rows that neither model was fitted to.

    Returns
    -------
    LossChange
        From a to b: below 0 where b has less loss, and for a feature, where it saves more in b, to
        first order. A model that moves predictions too far by a feature saves much at first, and
        loses it again in what is left over. Errors are those of the paired rows.
    """
    both = [
        rows_in_memory(model, _own_columns(model, X), y, sample_weight, groups)
        for model in (model_a, model_b)
    ]
    losses = [rows.ensemble.loss for rows in both]
    if losses[0].name != losses[1].name or losses[0].n_outputs != losses[1].n_outputs:
        raise ValueError(
            f"model_a was fitted to {losses[0].name!r} and model_b to {losses[1].name!r}; only"
            " models of one loss have losses that can be compared."
        )
    if not np.array_equal(both[0].y, both[1].y):
        raise ValueError(
            "The trees of model_a and model_b see other targets, because one of the models"
            " transforms y or has other classes; only losses of the same targets can be compared."
        )
    for rows in both:
        rows.warn_if_seen(n_jobs)
    known = [rows.ensemble.credited_names for rows in both]
    names = tuple(dict.fromkeys((*known[0], *known[1])))
    parts = [
        _at_features(loss_parts(rows, n_jobs), own, names)
        for rows, own in zip(both, known, strict=True)
    ]
    a, b = parts
    paired = Worth(b.values - a.values, b.moved_by - a.moved_by, a.draws)
    return _changed(parts, combination([paired], np.ones(1)), names, ("a", "b"))


def _changed(
    parts: list[Worth],
    found: Difference,
    names: tuple[str, ...],
    headings: tuple = ("before", "after"),
) -> LossChange:
    """Make the result: the last of the parts is the whole loss."""
    label = (f"{headings[1]} - {headings[0]}",)
    features = (SPREAD, LEVEL, LEFT, *names)
    of_parts, of_whole = (
        [Difference(*(array[own] for array in found))] for own in (np.s_[:-1], np.s_[-1:])
    )
    (*before, loss_before), (*after, loss_after) = (part.values for part in parts)
    return LossChange(
        np.array(before) + 0.0,  # what a feature does not save is 0 and not -0
        np.array(after) + 0.0,
        stacked(of_parts, labels=label, feature_names=features, unit="loss"),
        stacked(of_whole, labels=label, feature_names=("loss",), unit="loss"),
        (float(loss_before), float(loss_after)),
        headings,
    )


def _own_columns(model: Any, X: Any) -> Any:
    """Return the columns of a frame that a model knows, in its order; all where names differ."""
    ensemble = trees_of(model)
    names = ensemble.feature_names
    if ensemble.preparation is not None:
        names = ensemble.preparation.names
    X = collected(X)
    there = column_names(X)
    if there is None or not set(names) <= set(there):
        return X
    return _safe_indexing(X, [there.index(name) for name in names], axis=1)


def _at_features(parts: Worth, own: tuple[str, ...], names: tuple[str, ...]) -> Worth:
    """Put a model's features in the places of all features; others save nothing."""
    place = [NOT_FEATURES + names.index(name) for name in own]
    place = [*range(NOT_FEATURES), *place, NOT_FEATURES + len(names)]
    values = np.zeros(NOT_FEATURES + len(names) + 1)
    moved_by = np.zeros((len(parts.moved_by), len(values)))
    values[place], moved_by[:, place] = parts.values, parts.moved_by
    return Worth(values, moved_by, parts.draws)
