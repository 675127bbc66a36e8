"""Attributions of rows: how much each feature moved each row's prediction.

A method that decomposes the whole prediction has the ``residual`` 0:

    raw_prediction[i] = base_values[i] + sum_k values[i, k]

with both sides in link space: log-odds for the logistic loss.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from attributions.names import find_feature
from attributions.options import imported, whole
from attributions.plots import LocalAttributionDisplay
from attributions.results import tables
from attributions.results.grouping import Shareable
from gbt.tables.categories import Categories
from gbt.tables.names import counted

if TYPE_CHECKING:
    import pandas
    import shap
    from matplotlib.axes import Axes

N_SHOWN = 5  # rows in the text of a result
LEAST_WIDTH = 7  # of a column there: five digits, and two spaces before them
UNSEEN = "unseen in training"  # in place of a level


@dataclass(frozen=True, eq=False, repr=False)
class LocalAttribution(Shareable, tables.ShownAsTable):
    """Contributions of every feature to every row's prediction.

    Parameters
    ----------
    values : float64 array of shape (n, p), or (n, p, K)
        Contribution of feature k to row i, in link space; of a model of K outputs, to each.
    base_values : float64 array of shape (n,), or (n, K)
        Where the contributions start from.
    feature_names : tuple of str
        One name for each column of ``values``.
    method : str
        The attribution that was used, for captions and messages.
    data : float64 array of shape (n, p), optional
        The rows that were explained, levels of categorical columns as their numbers; plots colour
        the contributions by them.
    index : pandas.Index of length n, optional
        Labels of the rows in the frame that was explained; ``to_frame`` keeps them.
    output_names : tuple, optional
        What the K outputs are called: the classes; their numbers without it.
    categories : tuple, optional
        The levels of every categorical column, None for the others, as the model has them.
    percent_of_one : float, optional
        A value of 1 in per cent of the mean loss of a row under the best constant prediction, where
        values say what features saved. Pictures use it.
    """

    values: np.ndarray
    base_values: np.ndarray
    feature_names: tuple[str, ...]
    method: str
    data: np.ndarray | None = None
    index: Any = None
    output_names: tuple[Hashable, ...] | None = None
    categories: Categories | None = None
    percent_of_one: float | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim not in (2, 3):
            raise ValueError(
                f"values has shape {values.shape}; it needs one row a sample and one column a"
                " feature."
            )
        n_rows, n_features = values.shape[:2]
        if values.ndim == 3:
            names = range(values.shape[2]) if self.output_names is None else self.output_names
            object.__setattr__(self, "output_names", tuple(names))
            check_shape("output_names", np.empty(len(names)), values.shape[2:])
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        as_floats(self, "base_values", (n_rows, *values.shape[2:]))
        as_floats(self, "data", values.shape[:2])
        if len(self.feature_names) != n_features:
            raise ValueError(
                f"{len(self.feature_names)} feature names were given for {n_features} columns of"
                " values; each column needs one."
            )
        if self.index is not None:
            check_shape("index", self.index, (n_rows,))

    def __iter__(self) -> Iterator[str]:
        return iter(self.feature_names)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return what the feature called ``name`` contributed to each row: (n,) or (n, K)."""
        return self.values[:, find_feature(name, self.feature_names)]

    def output(self, name: Hashable) -> "LocalAttribution":
        """Return the attribution of one output: one of ``output_names``, or its number."""
        names = self.output_names or ()
        k = next((j for j, own in enumerate(names) if own == name), name)
        if not (isinstance(k, int) and 0 <= k < len(names)):
            raise ValueError(
                f"output({name!r}): the outputs are {list(names)}."
                if names
                else "The attribution has a single output; leave out .output()."
            )
        method = f"{self.method} of {names[k]}"
        return replace(self, **self._of_output(k), method=method, output_names=None)

    def _of_output(self, k: int) -> dict[str, Any]:
        """Return the part of output k of every field that has an axis for outputs."""
        return {"values": self.values[:, :, k], "base_values": self.base_values[:, k]}

    def check_one_output(self, what: str) -> None:
        """Raise ValueError if there are several outputs, of which ``what`` shows only one.

        ``what`` begins the message: the name of a picture, or of the function that is called.
        """
        if self.output_names is not None:
            raise ValueError(
                f"{what} shows one output, and the attribution has {len(self.output_names)}: choose"
                f" one, for instance with .output({self.output_names[0]!r})."
            )

    def head(self, n: int = N_SHOWN) -> tables.ShownTable:
        """Return the first ``n`` rows as a table to look at.

        If a line does not hold all features, it has those with the largest mean absolute
        contribution; ``to_frame`` has all.
        """
        if self.output_names is not None:
            table = self.output(self.output_names[0]).head(n)
            more = f"{counted(len(self.output_names) - 1, 'more output')}, see .output"
            return replace(table, note=" and ".join(filter(None, [table.note, more])))
        n_rows, n_features = self.values.shape
        n_shown = min(whole(0, n=n), n_rows)
        labels = range(n_rows) if self.index is None else self.index
        of_rows = tables.words("row", labels[:n_shown])
        numbers = self._columns_that_fit(n_shown, tables.WIDTH - of_rows.width - 2)
        n_hidden = n_features + 1 - len(numbers)
        hidden = [
            tables.more(n_of_all, what)
            for n_of_all, what in ((n_rows - n_shown, "row"), (n_hidden, "feature"))
            if n_of_all
        ]
        return tables.ShownTable(
            f"{self.method}, {counted(n_rows, 'row')}, {counted(n_features, 'feature')}",
            [of_rows, *numbers],
            note=" and ".join(hidden),
        )

    def _columns_that_fit(self, n_rows: int, room: int) -> list[tables.ShownColumn]:
        """Return the base value and as many of the largest contributions as fit into a line."""
        size = np.abs(self.values).sum(axis=0)
        ranking = np.argsort(-size, kind="stable")[: room // LEAST_WIDTH]
        for n in range(len(ranking), -1, -1):
            shown = np.sort(ranking[:n])
            headings = ["base value", *(self.feature_names[k] for k in shown)]
            values = [self.base_values[:n_rows], *self.values[:n_rows, shown].T]
            columns = tables.of_one_unit(headings, values)
            if sum(column.width + 2 for column in columns) <= room:
                break
        return columns

    def residual(self, raw_prediction: ArrayLike) -> np.ndarray:
        """Return what contributions leave unexplained of ``ensemble.raw_predict`` of the rows.

        It is ``raw_prediction - base_values - values.sum(axis=1)``: 0 within rounding for
        PreDecomp, Saabas and TreeSHAP.
        """
        raw_prediction = np.asarray(raw_prediction, dtype=np.float64)
        check_shape("raw_prediction", raw_prediction, self.base_values.shape)
        return raw_prediction - self.base_values - self.values.sum(axis=1)

    def to_frame(self) -> "pandas.DataFrame":
        """Return the contributions as a pandas.DataFrame of shape (n, p), one column per feature.

        They are in the unit of ``values``: for most methods, that of the raw prediction (log-odds
        for two classes). The index is that of the frame that was explained. With several outputs
        there is a column for every pair of a feature and an output.
        """
        pandas = imported("pandas", "to_frame", ", or use .values and .feature_names")
        columns = list(self.feature_names)
        if self.output_names is not None:
            pairs = [self.feature_names, self.output_names]
            columns = pandas.MultiIndex.from_product(pairs, names=["feature", "output"])
        values = self.values.reshape(len(self), -1)
        return pandas.DataFrame(values, index=self.index, columns=columns)

    def to_shap(self) -> "shap.Explanation":
        """Return a shap.Explanation, which shap's own plots draw.

        Several outputs are a last axis of values and base values; shap's plots draw one of them,
        ``explanation[..., k]``.
        """
        return imported("shap", "to_shap").Explanation(
            values=self.values,
            base_values=self.base_values,
            data=self.data,
            display_data=None if self.categories is None else self.shown_data(),
            feature_names=list(self.feature_names),
            **({} if self.output_names is None else {"output_names": list(self.output_names)}),
        )

    def shown_data(self) -> np.ndarray:
        """Return the rows that were explained as objects, with levels in place of their numbers.

        Levels that training has not seen are missing to most models, and None; to others they have
        one number, and are shown as `UNSEEN`.
        """
        shown = np.array(self.data, dtype=object)
        for k, levels in enumerate(self.categories or ()):
            if levels is not None:
                numbers = shown[:, k].astype(np.float64)
                place = np.nan_to_num(numbers, nan=len(levels), posinf=len(levels) + 1)
                shown[:, k] = np.array([*levels, None, UNSEEN], dtype=object)[place.astype(np.intp)]
        return shown

    def plot(
        self,
        *,
        row: Hashable | None = None,
        kind: str = "waterfall",
        max_display: int | None = 12,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> LocalAttributionDisplay:
        """Draw one row as a waterfall or a force plot, or all rows as a swarm.

        Parameters
        ----------
        row : label or int, optional
            The row to draw: its label in the frame that was explained, as `head` and `to_frame`
            show it (362 is the row called 362, wherever it stands), or its number, from 0, where
            rows have no labels. None for the swarm of all rows.
        kind : {"waterfall", "force"}
            Of one row: a bar a feature, with numbers, from the base value to the prediction, or
            all bars in one line, ten at most.
        max_display : int or None
            How many features to show at most, those with the largest mean absolute contribution;
            None for all. The others of a row are added up. Where the axes are too low for so many
            names, fewer are shown.
        ax, title, figsize
            As for ``GlobalAttribution.plot``.
        """
        display = LocalAttributionDisplay(self, row=row, kind=kind, max_display=max_display)
        return display.plot(ax, title=title, figsize=figsize)


def as_floats(result: Any, name: str, shape: tuple[int, ...]) -> None:
    """Make one of a result's arrays float64, if it has it; refuse another shape."""
    if getattr(result, name) is not None:
        array = np.asarray(getattr(result, name), dtype=np.float64)
        object.__setattr__(result, name, array)
        check_shape(name, array, shape)


def check_shape(name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    """Refuse an array of another shape than the attribution's."""
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; the attribution needs {shape}.")
