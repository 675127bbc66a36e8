"""The curve of one feature: the mean prediction at each of its values.

Trees cut a feature at finitely many places, so the curve is a step function, and all of it is here:
one number for every interval between two cuts, one for missing values, or one for every level.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from attributions.options import whole
from attributions.plots import CurveDisplay
from attributions.results import tables
from attributions.results.per_row import check_shape
from gbt.model.ensemble import ZERO_WITHIN
from gbt.tables.cells import is_missing
from gbt.tables.names import shown

N_SHOWN = 10  # steps in the text of a result


@dataclass(frozen=True, eq=False, repr=False)
class FeatureCurve(tables.ShownAsTable):
    """The mean raw prediction as a function of one feature.

    Parameters
    ----------
    feature_name : str
        The column that the curve is about.
    cuts : float64 array of shape (T,)
        Ascending; interval j is above cut j - 1, up to and including cut j. Empty for a categorical
        feature.
    values : float64 array of shape (T + 1,), or (n_levels,); (..., K) for K outputs
        The mean in every interval, or for every level.
    missing : float, or float64 array of shape (K,)
        The mean where the feature is missing; nan in front of a pipeline if it never is.
    shares : float64 array or None
        Which share of the rows lies in each interval or has each level, and last, which share is
        missing; None if no rows were given.
    levels : tuple or None
        The levels of a categorical feature.
    is_additive : bool
        Whether the model never splits on another feature beside this one on a path. Then the curve
        is the feature's part of every prediction, but for a constant.
    method : str
    output_names : tuple or None
        What K outputs are called.
    quantiles : float64 array or None
        Of the rows' numbers, from the least to the largest in equal steps; None of levels, without
        rows, and where no row has a finite number.
    """

    feature_name: str
    cuts: np.ndarray
    values: np.ndarray
    missing: Any
    shares: np.ndarray | None
    levels: Sequence[Any] | None
    is_additive: bool
    method: str
    output_names: tuple | None = None
    input_dtype: type = np.float64  # to which the model rounds values before it compares them
    zero_is_missing: bool = False
    quantiles: np.ndarray | None = None
    unseen: Any = None  # the mean for other levels, nan if it is not known; None: as if missing

    def __post_init__(self) -> None:
        n = len(self.cuts) + 1 if self.levels is None else len(self.levels)
        check_shape("values", self.values, (n, *np.shape(self.missing)))

    def at(self, x: Any) -> np.ndarray:
        """Return the curve at some values of the feature; nan and None are missing.

        Of levels that training has not seen it is what the model makes of them, to most models
        missing values; in front of a pipeline, whose steps may make anything of them, it is nan.
        """
        if self.levels is not None:
            asked = np.asarray(x, dtype=object)  # a single word is one level, not its letters
            known = {level: j for j, level in enumerate(self.levels)}
            places = [
                known[level] if level in known else self._place_of_other(level)
                for level in asked.reshape(-1).tolist()
            ]
            where = np.array(places, dtype=int).reshape(asked.shape)
        else:
            try:
                numbers = np.asarray(x, dtype=self.input_dtype).astype(np.float64)
            except ValueError as error:
                raise ValueError(
                    f"{self.feature_name!r} is a column of numbers; got {shown(x)}."
                ) from error
            if self.zero_is_missing:
                numbers = np.where(np.abs(numbers) <= ZERO_WITHIN, np.nan, numbers)
            where = np.searchsorted(self.cuts, numbers, side="left")
            where = np.where(np.isnan(numbers), len(self), where)
        unseen = self.missing if self.unseen is None else self.unseen
        return np.concatenate([self._with_missing(), np.asarray(unseen)[np.newaxis]])[where]

    def _place_of_other(self, level: Any) -> int:
        """Return the place of a missing value behind the levels, or that of an unseen one."""
        are_words = all(isinstance(known, str) for known in self.levels or ())
        if are_words and not (is_missing(level) or isinstance(level, str)):
            raise ValueError(
                f"{self.feature_name!r} has words, such as {shown(self.levels)}; got {level!r}."
            )
        return len(self) + (not is_missing(level))

    def centered(self) -> "FeatureCurve":
        """Return the curve less its mean over the rows.

        In an additive model the mean raw prediction of these rows and the centred curves of all
        features add up to the raw prediction of any row.
        """
        mean = self.mean()
        unseen = None if self.unseen is None else self.unseen - mean
        return replace(self, values=self.values - mean, missing=self.missing - mean, unseen=unseen)

    def mean(self) -> Any:
        """Return the mean of the curve over the rows that were given."""
        return self._shares() @ np.nan_to_num(self._with_missing())

    def spread(self) -> Any:
        """Return the standard deviation of the curve over the rows that were given."""
        centered = np.nan_to_num(self._with_missing() - self.mean())
        return np.sqrt(self._shares() @ (centered * centered))

    def head(self, n: int = N_SHOWN) -> tables.ShownTable:
        """Return the first ``n`` steps as a table to look at."""
        edges = ["", *(f"{cut:.6g}" for cut in self.cuts), ""]
        where = [
            " ".join([f"> {low}"] * bool(low) + [f"<= {high}"] * bool(high)) or "all"
            for low, high in pairwise(edges)
        ]
        names = [*(where if self.levels is None else map(str, self.levels)), "missing"]
        if np.isnan(self.missing).all():
            names.pop()  # in front of a pipeline, if no row is missing
        shown = names[: whole(0, n=n)]
        of_outputs = np.atleast_2d(self._with_missing()[: len(shown)].T)
        outputs = self.output_names or range(len(of_outputs))
        headings = ["value"] if self.values.ndim == 1 else map(str, outputs)
        columns = [tables.words(self.feature_name, shown)]
        columns += tables.of_one_unit(headings, of_outputs)
        if self.shares is not None:
            columns.append(tables.numbers("share of rows", self.shares[: len(shown)]))
        return tables.ShownTable(
            self.method, columns, note=tables.more(len(names) - len(shown), "step")
        )

    def plot(self, *, ax: Any = None, title: Any = None, figsize: Any = None) -> CurveDisplay:
        """Draw the curve above the distribution of the feature's values.

        Parameters are those of ``GlobalAttribution.plot``. The display has ``lines_``.
        """
        return CurveDisplay(self).plot(ax, title=title, figsize=figsize)

    def _with_missing(self) -> np.ndarray:
        return np.concatenate([self.values, np.asarray(self.missing)[np.newaxis]])

    def _shares(self) -> np.ndarray:
        if self.shares is None:
            raise ValueError(
                "The curve was made without rows, and a mean over the feature's values needs some:"
                " give X to partial_dependence."
            )
        return self.shares
