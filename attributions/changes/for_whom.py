"""For whom a feature helps: groups of rows that are found on one half and confirmed on the other.

A shallow tree of what every row adds to the held-out gain of a feature finds the groups in which it
helps or hurts most. It finds such groups in noise, too, so they are found on half of the rows, and
the other half, which had no part in it, says what the feature is worth to each and how sure that
is. Both halves are judged by the means of all their rows: what is said of a group is its share of
what the feature is worth to all, and the shares, weighted by rows, add up to that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing

from attributions.amounts import amount
from attributions.changes.contrasts import combination, difference
from attributions.changes.differences import Differences, stacked
from attributions.changes.rules import FEWEST_IN_GROUP, Telling, rules_of
from attributions.changes.worth import Worth, rows_in_memory, saved_by_features
from attributions.held_out.rows_at_splits import RowsAtSplits
from attributions.names import find_feature
from attributions.options import imported, whole
from attributions.plots import ForWhomDisplay
from attributions.plots.importance import BETWEEN_CONDITIONS
from attributions.results import tables
from gbt.tables.table import collected

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class ForWhom(tables.ShownAsTable):
    """What a feature is worth to groups of rows, as rows that did not help to find them say.

    Parameters
    ----------
    feature : str
    groups : tuple of str
        The rule of each, those first to which it is worth most on the rows that confirm.
    n_rows : int array of shape (G,)
        Of the half that confirms.
    found : float64 array of shape (G,)
        Loss that the feature saves a row of the half on which the groups were found.
    worth : Differences
        The same of the half that confirms, against 0, with intervals that hold together.
    from_others : Differences
        Less what it saves a row outside of the group.
    overall : float
        What it saves a row of all that confirm.
    """

    feature: str
    groups: tuple[str, ...]
    n_rows: np.ndarray
    found: np.ndarray
    worth: Differences
    from_others: Differences
    overall: float

    @property
    def values(self) -> np.ndarray:
        """Loss that the feature saves a row of each group that confirms, (G,)."""
        return self.worth.values[:, 0]

    def to_frame(self, *, level: float = 0.95) -> Any:
        """Return a pandas.DataFrame with a row for every group.

        Intervals of a ``level``, from ``lower`` to ``upper``, hold together; ``p_value`` is that of
        a difference between the group and the rows outside of it.
        """
        pandas = imported("pandas", "to_frame", ", or use .groups and .values")
        groups = pandas.Index(self.groups, name="group")
        return pandas.DataFrame(self._columns(level), index=groups)

    def _columns(self, level: float = 0.95) -> dict[str, np.ndarray]:
        lower, upper = self.worth.confidence_interval(level)[:, 0].T
        return {
            "n_rows": self.n_rows,
            "found": self.found,
            "confirmed": self.values,
            "lower": lower,
            "upper": upper,
            "p_value": self.from_others.p_values()[:, 0],
        }

    def head(self) -> tables.ShownTable:
        """Return the groups as a table to look at."""
        n_rows, *numbers, p = self._columns().values()
        headings = "found", "confirmed", "from", "to"
        columns = [
            tables.ShownColumn("rows", [f"{n:,}" for n in n_rows]),
            *tables.of_one_unit(headings, numbers),
            tables.p_values("p-value", p),
        ]
        title = f"{self.feature}: loss that it saves a row, {amount(self.overall, 4)} overall"
        title += "; p-values against rows outside of the group"
        groups = tables.lists("group", self.groups, columns, BETWEEN_CONDITIONS)
        return tables.ShownTable(title, [groups, *columns])

    def plot(
        self,
        *,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> ForWhomDisplay:
        """Draw what the feature is worth to each group, with intervals that hold together.

        Parameters are those of ``GlobalAttribution.plot``.
        """
        return ForWhomDisplay(self).plot(ax, title=title, figsize=figsize)


def for_whom(
    model: Any,
    X: Any,
    y: Any,
    feature: str,
    *,
    columns: str | Sequence[str] | None = None,
    max_groups: int = 4,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> ForWhom:
    """Find the groups of rows in which a feature helps or hurts most, and confirm them.

    Parameters
    ----------
    model, X, y, sample_weight, groups, n_jobs
        As for `held_out_gain`, rows in memory. ``groups`` stay in one half.
    feature : str
        Whose worth is asked.
    columns : str or list of str, optional
        Columns that may tell groups apart, of a pipeline those of its table. Without it all, but
        for words with fewer than thirty rows each on average.
    max_groups : int
        Leaves of the tree, from 2.
    random_state : int
        Draws the halves.
    """
    max_groups = whole(2, max_groups=max_groups)
    if columns is not None and not len(columns):
        raise ValueError("columns is empty; name those that may tell groups apart, None for all.")
    columns = [columns] if isinstance(columns, str) else columns
    rows = rows_in_memory(model, X, y, sample_weight, groups)
    rows.warn_if_seen(n_jobs)
    k = find_feature(feature, rows.ensemble.credited_names)
    if sample_weight is not None:  # words of rows that are left out are no levels
        X = _safe_indexing(collected(X), np.flatnonzero(sample_weight))
    telling = Telling.of(rows, X, columns)
    halves = _halves(rows, random_state)
    (for_finding, for_confirming), (first, second) = map(rows.at, halves), map(telling.at, halves)
    _, adds = saved_by_features(for_finding, n_jobs)
    weight, weight_found = for_confirming.weight, for_finding.weight
    rules, group_of = rules_of(first, adds[:, k], weight_found, max_groups)
    total, adds_new = saved_by_features(for_confirming, n_jobs)
    at_found, at_new = group_of(first), group_of(second)
    numbers = [j for j in range(len(rules)) if (at_new == j).any() and (at_new != j).any()]
    if not numbers:
        raise ValueError(
            f"No groups differ in what {feature!r} is worth to them: with {len(rows.X)} rows a tree"
            f" of groups of {FEWEST_IN_GROUP} found no split."
        )
    within = partial(_worth_within, for_confirming, adds_new[:, k])
    inside = {j: within(at_new == j) for j in numbers}
    numbers.sort(key=lambda j: -inside[j].values[0])
    found = [adds[at_found == j, k].sum() / weight_found[at_found == j].sum() for j in numbers]
    names = tuple(rules[j] for j in numbers)
    about = {"labels": names, "feature_names": (feature,), "unit": "loss"}
    return ForWhom(
        feature,
        names,
        np.array([(at_new == j).sum() for j in numbers]),
        np.array(found),
        stacked([combination([inside[j]], np.ones(1)) for j in numbers], **about),
        stacked([difference(inside[j], within(at_new != j)) for j in numbers], **about),
        float(total[k] / weight.sum()),
    )


def _halves(rows: RowsAtSplits, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the places of half of the rows, or of the groups of rows, and of the other half."""
    draw = np.random.default_rng(random_state)
    of_row = np.arange(len(rows.X)) if rows.groups is None else rows.groups.of_row
    n = int(of_row.max()) + 1
    is_first = np.zeros(n, dtype=bool)
    is_first[draw.permutation(n)[: n // 2]] = True
    if not 0 < is_first[of_row].sum() < len(of_row):
        raise ValueError("There are too few rows, or groups, for two halves.")
    return np.flatnonzero(is_first[of_row]), np.flatnonzero(~is_first[of_row])


def _worth_within(rows: RowsAtSplits, adds: np.ndarray, is_in: np.ndarray) -> Worth:
    """Return what a feature is worth to a row of some, from what every row adds."""
    rows, adds = rows.at(np.flatnonzero(is_in)), adds[is_in]
    weight = rows.weight
    value = adds.sum() / weight.sum()
    moved_by, labels = ((adds - value * weight) / weight.sum())[:, np.newaxis], None
    if rows.groups is not None:
        labels = rows.groups.labels
        _, moved_by = rows.groups.within(slice(0, len(weight)), moved_by)
    return Worth(np.array([value]), moved_by, labels)
