"""Held-out gain of every label of rows: of each month, region or class by itself.

Each label is judged by its own rows, as if `held_out_gain` had been called with them alone. Values
are compared in per cent of the loss of the label's own best constant, since a month in which there
is little to explain is no failure of the model, or in loss a row.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _num_samples

from attributions.changes.contrasts import Difference, combination, difference
from attributions.changes.differences import Differences, stacked
from attributions.changes.labels import Labels, find_label, label_text
from attributions.changes.worth import UNITS, Worth, worth_of
from attributions.options import check_one_of, imported, whole
from attributions.plots import ByLabelDisplay
from attributions.results import GlobalAttribution, tables
from attributions.rows import AllRows
from gbt.parallel.chunks import Chunk, in_memory, is_in_chunks
from gbt.tables.names import counted

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

FEWEST = 10  # rows, or groups, that can judge: fewer do not tell their own spread
N_SHOWN = 5  # features in the text of a result


@dataclass(frozen=True, eq=False, repr=False)
class AttributionByLabel(tables.ShownAsTable):
    """The held-out gain of every label, each judged by its own rows.

    Parameters
    ----------
    labels : tuple
    results : tuple of GlobalAttribution
        One a label, equal to `held_out_gain` of its rows. Where fewer than ten rows (or groups)
        judge, standard errors are nan.
    is_ordered : bool
        Whether labels have an order: numbers, times and ordered categories, but not words.
    unit_of_row : float64 array of shape (L,)
        What a value of 1 is in loss a row.
    rows : LabelledRows
        Which `changes` and `trend` judge again, label by label.
    """

    labels: tuple[Any, ...]
    results: tuple[GlobalAttribution, ...]
    is_ordered: bool
    unit_of_row: np.ndarray
    rows: "LabelledRows"

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __getitem__(self, label: Any) -> GlobalAttribution:
        """Return the result of a label."""
        return self.results[find_label(label, self.labels, "label")]

    @property
    def label_texts(self) -> list[str]:
        """The labels as they are shown."""
        return [label_text(label) for label in self.labels]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features."""
        return self.results[0].feature_names

    @property
    def method(self) -> str:
        """What was computed."""
        return self.results[0].method

    @property
    def values(self) -> np.ndarray:
        """Values in per cent of the loss of each label's best constant, (L, p)."""
        return self.values_in("percent")

    @property
    def n_samples(self) -> np.ndarray:
        """How many rows each label has, (L,)."""
        return np.array([result.n_samples for result in self.results])

    @property
    def is_judged(self) -> np.ndarray:
        """Which labels have rows that can judge, bool of shape (L,).

        Fewer than ten cannot. Under losses that compare rows, such as Cox's, rows cannot either
        whose best constant has no loss, as without events.
        """
        is_by_row = self.rows.rows.model.ensemble.loss.is_by_row
        return np.array([
            result.n_draws >= FEWEST and (is_by_row or result.percent_of_one is not None)
            for result in self.results
        ])  # fmt: skip

    def values_in(self, unit: str) -> np.ndarray:
        """Return values, (L, p), in "percent" of the constant's loss or in "loss" a row."""
        return np.array([result.values for result in self.results]) * self._one_in(unit)

    def standard_error_in(self, unit: str) -> np.ndarray:
        """Return the errors of `values_in` a unit, with the constant's loss taken as it is."""
        missing = np.full(len(self.feature_names), np.nan)
        errors = [r.standard_error for r in self.results]
        return np.array([missing if e is None else e for e in errors]) * self._one_in(unit)

    def changes(
        self, reference: Any = None, *, adjust: str | None = "joint", unit: str = "loss"
    ) -> Differences:
        """Return how much more, or less, features are worth to each label than to another.

        Parameters
        ----------
        reference : label, optional
            With which all others are compared; without it each label is compared with the one
            before, which needs an order.
        adjust : {"joint", None}
            "joint": p-values and intervals hold for all features and labels together.
        unit : {"percent", "loss"}
            Per cent of the loss of each label's best constant, whose own error is allowed for, or
            loss a row.

        Returns
        -------
        Differences
            Both sides are judged in pieces of equal size (``attributions.changes.worth``), so that
            a difference is not always that of ``values``.
        """
        numbers = range(len(self))
        if reference is None:
            self._need_order("Changes from one label to the next", "give reference=, one of them")
            pairs = list(pairwise(numbers))
        else:
            base = find_label(reference, self.labels, "reference")
            pairs = [(base, number) for number in numbers if number != base]
        if not pairs:
            raise ValueError("There is one label only; a change needs at least two.")
        worth = cache(partial(self.rows.worth, unit))
        found = [self._difference(these, those, worth) for those, these in pairs]
        texts = self.label_texts
        return stacked(
            found,
            labels=tuple(f"{texts[these]} - {texts[those]}" for those, these in pairs),
            feature_names=self.feature_names,
            unit=unit,
            adjust=adjust,
            about=tuple(these for _, these in pairs),
        )

    def trend(self, *, adjust: str | None = "joint", unit: str = "loss") -> Differences:
        """Return the slope of each feature's worth over ordered labels, with its error.

        Labels count as equally far apart, and weigh as many rows as they have. Those with too few
        rows to judge are left out. The parameters are those of `changes`.
        """
        self._need_order("A trend", "changes(reference=...) compares labels without one")
        used = np.flatnonzero(self.is_judged)
        if len(used) < 3:
            raise ValueError(f"A trend needs three labels that can be judged, not {len(used)}.")
        size = int(self.n_samples[used].min())
        worths = [self.rows.worth(unit, int(number), size) for number in used]
        weight = self.n_samples[used] / self.n_samples[used].sum()
        from_mean = used - weight @ used
        slope = combination(worths, weight * from_mean / (weight @ from_mean**2))
        return stacked(
            [slope],
            labels=("slope per label",),
            feature_names=self.feature_names,
            unit=unit,
            adjust=adjust,
        )

    def to_frame(self) -> "pandas.DataFrame":
        """Return a pandas.DataFrame with a row for every label and feature, in their order.

        It has ``n_samples`` and the columns of ``GlobalAttribution.to_frame``.
        """
        pandas = imported("pandas", "to_frame", ", or use .results and .labels")
        frames = [result.to_frame().loc[list(self.feature_names)] for result in self.results]
        for frame, n in zip(frames, self.n_samples, strict=True):
            frame.insert(0, "n_samples", n)
        labels = pandas.Index(self.labels, name="label")
        return pandas.concat(frames, keys=labels, names=["label"])

    def head(self, n: int = N_SHOWN) -> tables.ShownTable:
        """Return a table to look at: a row a label, and the best ``n`` features in per cent.

        Labels that were not judged have no numbers there; `values` has them.
        """
        ranking = self.ranking()[: whole(0, n=n)]
        values = np.where(self.is_judged[:, np.newaxis], self.values, np.nan)
        columns = [
            tables.words("label", self.label_texts),
            tables.ShownColumn("rows", [f"{n:,}" for n in self.n_samples]),
            *(tables.per_cent(self.feature_names[k], values[:, k]) for k in ranking),
        ]
        remarks = [self._remark(number) for number in range(len(self))]
        if any(remarks):
            columns.append(tables.words("", remarks))
        title = f"{self.method} by {counted(len(self), 'label')}"
        title += ", in per cent of the constant's loss of each"
        hidden = len(self.feature_names) - len(ranking)
        return tables.ShownTable(title, columns, tables.more(hidden, "feature"))

    def plot(
        self,
        *,
        changes: Differences | None = None,
        kind: str | None = None,
        max_display: int | None = None,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> ByLabelDisplay:
        """Draw values by label: lines over ordered labels, dots beside each other, or colours.

        Parameters
        ----------
        changes : Differences, optional
            From `changes` of this result: labels where a feature changed beyond chance are marked,
            and values are in their unit.
        kind : {"lines", "dots", "heat"}, optional
            Without it lines with bands for labels with an order, dots with intervals for up to six
            labels without one, and a table of colours for more.
        max_display : int, optional
            How many features to show, best first: 5 as lines, 10 otherwise.
        ax, title, figsize
            As for ``GlobalAttribution.plot``.
        """
        display = ByLabelDisplay(self, changes=changes, kind=kind, max_display=max_display)
        return display.plot(ax, title=title, figsize=figsize)

    def ranking(self) -> np.ndarray:
        """Return the feature numbers, those first that save most loss over all rows."""
        saved = self.n_samples @ np.nan_to_num(self.values_in("loss"))
        return np.argsort(-saved, kind="stable")

    def _remark(self, number: int) -> str:
        """Return what keeps a label from being judged, or from having per cents."""
        result = self.results[number]
        if result.n_draws < FEWEST:
            return "too few rows"
        if result.percent_of_one is not None:
            return ""
        return "targets are alike" if self.is_judged[number] else "nothing to compare"

    def _one_in(self, unit: str) -> np.ndarray:
        """Return what a value of 1 is in a unit, (L, 1); nan where a constant has no loss."""
        check_one_of([*UNITS], unit=unit)
        if unit == "loss":
            return self.unit_of_row[:, np.newaxis]
        ones = [result.percent_of_one for result in self.results]
        return np.array([[np.nan if one is None else one] for one in ones])

    def _difference(self, these: int, those: int, worth: Callable) -> Difference:
        """Return the worth to one label less that to another, judged in pieces of equal size."""
        if not self.is_judged[[these, those]].all():
            return Difference(*np.full((3, len(self.feature_names)), np.nan))
        size = int(self.n_samples[[these, those]].min())
        return difference(worth(these, size), worth(those, size))

    def _need_order(self, what: str, instead: str) -> None:
        if not self.is_ordered:
            raise ValueError(
                f"{what} needs labels with an order: numbers, times or an ordered Categorical; or"
                f" {instead}."
            )


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The rows of all labels; of Dask they stay where they are."""

    rows: AllRows
    labels: Labels
    by: Any
    weight: np.ndarray  # of each row

    @classmethod
    def of(cls, rows: AllRows, by: Any) -> "LabelledRows":
        """Tell the rows' labels and weights."""
        labels = Labels.of(by, _num_samples(in_memory(by) if rows.rows is None else rows.given.X))
        given = rows.given.sample_weight
        if rows.rows is None and not all(is_in_chunks(g) for g in (by, given) if g is not None):
            raise ValueError(
                "X is a table of Dask; by and sample_weight must be of Dask, too, in the same"
                " chunks."
            )
        weight = np.ones(len(labels.of_row))
        if given is not None:
            weight = np.asarray(in_memory(given), dtype=np.float64)
        found = cls(rows, labels, by, weight)
        if not found.weights.all():
            empty = label_text(labels.names[int(np.argmin(found.weights))])
            raise ValueError(f"All rows of the label {empty} have a weight of 0; leave them out.")
        return found

    @property
    def weights(self) -> np.ndarray:
        """The weight of each label."""
        return np.bincount(self.labels.of_row, self.weight)

    @property
    def of_row(self) -> np.ndarray:
        """The number of the label of each row that weighs something."""
        return self.labels.of_row[self.weight > 0]

    def of_label(self, number: int) -> AllRows:
        """Return the rows of a label."""
        rows = self.rows
        if rows.rows is not None:
            return replace(rows, rows=rows.rows.at(np.flatnonzero(self.of_row == number)))
        lazily, at_hand = self.by == self.labels.names[number], self.labels.of_row == number
        picked = {
            name: given[lazily] if is_in_chunks(given) else np.asarray(given)[at_hand]
            for name, given in zip(Chunk._fields[:5], rows.given[:5], strict=True)
            if given is not None
        }
        return replace(rows, given=Chunk(**picked))

    def worth(self, unit: str, number: int, size: int) -> Worth:
        """Return what features are worth to a label, judged in pieces of some size, in memory."""
        some = self.of_label(number)
        rows = some.rows
        if rows is None:
            rows = some.kind.of(some.model, Chunk(*map(in_memory, some.given[:5])))
        return worth_of(rows, unit, some.n_jobs, size)


def each_label(rows: AllRows, by: Any, judge: Callable[[AllRows], GlobalAttribution]) -> Any:
    """Return the `AttributionByLabel` of rows, judged label by label; ``by`` has one a row."""
    labelled = LabelledRows.of(rows, by)
    names = labelled.labels.names
    if np.bincount(labelled.of_row).max() < FEWEST:
        raise ValueError(
            f"by has {len(names):,} labels, none of them of {FEWEST} rows, the fewest that can"
            " judge. Give labels of more rows, as months are: by.dt.to_period('M') of times."
        )
    results = [_doubted(judge(labelled.of_label(number))) for number in range(len(names))]
    return AttributionByLabel(
        names,
        tuple(results),
        labelled.labels.is_ordered,
        rows.model.ensemble.learning_rate / 2 / labelled.weights,
        labelled,
    )


def _doubted(result: GlobalAttribution) -> GlobalAttribution:
    """Return a result without errors if too few rows, or groups, would have to tell them."""
    if result.n_draws >= FEWEST or result.standard_error is None:
        return result
    unknown = np.full(len(result), np.nan)
    doubt = np.full(len(result), np.inf)
    return replace(result, standard_error=unknown, kurtosis=doubt, second_moments=None)
