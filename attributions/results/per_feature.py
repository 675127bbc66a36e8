"""Attributions of features: one number each, over all rows.

Where that number is a sum over rows it comes with the standard error of the sum, and the results of
separate chunks of rows merge into the result of all rows (``attributions.results.merging``).
``attributions.results.certainty`` makes intervals and p-values of errors.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from attributions.inputs import as_weight
from attributions.methods import facts_of, is_testable
from attributions.names import find_feature
from attributions.options import check_one_of, imported, whole
from attributions.plots import BoostingDisplay, ImportanceDisplay
from attributions.results import tables
from attributions.results.certainty import WithErrors
from attributions.results.grouping import Shareable, grouped
from attributions.results.merging import merged
from attributions.results.per_row import LocalAttribution, as_floats
from attributions.statistics.groups import Groups
from attributions.statistics.powers_of_two import exponent_of_columns
from attributions.statistics.row_sums import RowSums, sum_over_rows
from gbt.tables.names import counted

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

N_SHOWN = 12  # features in the text of a result
N_CURVES = 6  # that can be told apart
N_WORST = 3  # of these, where there are more and a feature can have done harm


@dataclass(frozen=True, eq=False, repr=False)
class GlobalAttribution(WithErrors, Shareable, tables.ShownAsTable):
    """One number per feature, with a standard error where rows can give one.

    Parameters
    ----------
    values : float64 array of shape (p,)
        Importance of every feature, in the unit of the function that returned it: most sums over
        rows have that of total gain, and `percent` gives per cent of a constant's loss. Of held-out
        measures a positive value helped, a negative one hurt.
    standard_error : float64 array of shape (p,) or None
        Standard errors of ``values`` as sums over independently drawn rows, the model held fixed;
        None where a measure has none.
    n_samples : int
        Rows that were summed over.
    feature_names : tuple of str
    method : str
        What was computed, with its individual attribution: ``"tree_inner(predecomp)"``.
    per_tree : float64 array of shape (M, p), optional
        What every tree adds to ``values``: importance along boosting.
    per_output : float64 array of shape (K, p), optional
        What every output adds to ``values``, in the order of the classes.
    repeats : float64 array of shape (p, n_repeats), optional
        The single shuffles of ``permutation``, of which ``values`` are the means. They shuffle the
        same rows, and their spread says nothing about other rows.
    groups : array of shape (G,), optional
        The distinct labels of rows that belong together, where standard errors count these.
    contributions : float64 array of shape (n or G, p), optional
        What every row or group adds to ``values``; kept by `from_rows`, and by ``tree_inner`` and
        its relatives where rows belong to groups.
    kurtosis : float64 array of shape (p,), optional
        Kurtosis of the contributions of training rows, or as estimated from the model; see
        `is_reliable`.
    second_moments : float64 array of shape (p, p), optional
        Over rows, or groups, the sum of products of two contributions' distances from their means.
    percent_of_one : float, optional
        What a value of 1 is in per cent of the loss of a constant prediction; see `percent`.
    """

    values: np.ndarray
    standard_error: np.ndarray | None
    n_samples: int
    feature_names: tuple[str, ...]
    method: str
    per_tree: np.ndarray | None = None
    repeats: np.ndarray | None = None
    groups: np.ndarray | None = None
    contributions: np.ndarray | None = None
    kurtosis: np.ndarray | None = None
    per_output: np.ndarray | None = None
    second_moments: np.ndarray | None = None
    percent_of_one: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        p = len(self.feature_names)
        repeats: Any = self.repeats
        shapes: dict[str, tuple] = dict.fromkeys(("values", "standard_error", "kurtosis"), (p,))
        for name in ("per_tree", "per_output"):
            shapes[name] = (*np.shape(getattr(self, name))[:1], p)
        shapes |= {"second_moments": (p, p), "repeats": (p, *np.shape(repeats)[1:])}
        for name, shape in shapes.items():
            as_floats(self, name, shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self.feature_names)

    def __getitem__(self, name: str) -> float:
        """Return the value of the feature called ``name``."""
        return float(self.values[find_feature(name, self.feature_names)])

    def head(self, n: int = N_SHOWN) -> tables.ShownTable:
        """Return the best ``n`` features as a table to look at.

        It has rank, feature, value and, where there are any, standard error, p-value and doubt
        (`is_reliable`); ``to_frame`` has them to calculate with.
        """
        return self._table(np.arange(min(whole(0, n=n), len(self))))

    def _shown(self) -> tables.ShownTable:
        """Return the best and the worst features, or all where they are few."""
        p, n_best = len(self), N_SHOWN - N_WORST
        if p <= N_SHOWN + 1:
            return self.head(p)
        if not is_testable(self.method):
            return self.head()
        return self._table(np.r_[:n_best, p - N_WORST : p], note_after=n_best)

    @property
    def _shown_percent(self) -> float | None:
        """What a value of 1 is in per cent, for methods whose tables and frames say so."""
        return self.percent_of_one if facts_of(self.method).is_in_percent else None

    def _table(self, places: np.ndarray, note_after: int | None = None) -> tables.ShownTable:
        """Return a table of the features at some places of the ranking, which count from 0."""
        shown = self.ranking()[places]
        errors = None if self.standard_error is None else self.standard_error[shown]
        columns = [
            tables.ShownColumn("rank", [str(place + 1) for place in places]),
            tables.words("feature", [self.feature_names[k] for k in shown]),
            *tables.with_errors(self.values[shown], errors, self._shown_percent),
        ]
        if errors is not None and is_testable(self.method):
            columns.append(tables.p_values("p-value", self.p_values()[shown]))
        if self.is_reliable is not None:
            doubts = ["" if reliable else "unreliable" for reliable in self.is_reliable[shown]]
            columns.append(tables.words("", doubts))
        title = f"{self.method}, {counted(len(self), 'feature')}"
        if not facts_of(self.method).no_sum:
            title += f", sum over {counted(self.n_samples, 'row')}"
        if self.groups is not None:
            title += f", {counted(self.n_draws, 'group')}"
            title += ": no standard errors" * (self.n_draws == 1)
        hidden = len(self) - len(shown)
        return tables.ShownTable(title, columns, tables.more(hidden, "feature"), note_after)

    @classmethod
    def from_rows(
        cls,
        rows: LocalAttribution,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> "GlobalAttribution":
        """Sum an attribution of rows; subsets of rows say for whom a feature helped or hurt.

        ``from_rows(tree_inner_rows(model, X, y))`` is ``tree_inner(model, X, y)`` to the last bit.

        Parameters
        ----------
        rows : LocalAttribution
            Contributions of n >= 1 rows.
        sample_weight : array of shape (n,), optional
            Multiplies contributions. Rows of weight 0 are left out.
        groups : array of shape (n,), optional
            Labels of rows that belong together, as for `held_out_gain`.
        """
        if not isinstance(rows, LocalAttribution):
            raise TypeError(
                "from_rows sums a LocalAttribution, such as tree_inner_rows(model, X, y); got"
                f" {type(rows).__name__}."
            )
        rows.check_one_output("A sum over rows")
        values = np.ascontiguousarray(rows.values)
        if not len(values):
            raise ValueError("The attribution has no rows; a sum needs at least one.")
        draws = None if groups is None else Groups.of(groups, len(values))
        if sample_weight is not None:
            weight = as_weight(sample_weight, len(values))
            values, counts = values * weight[:, np.newaxis], np.flatnonzero(weight)
            values, draws = values[counts], None if draws is None else draws.at(counts)
        sums = sum_over_rows(lambda block: (values[block], None), len(values), 1, draws)
        result = cls.of_sums(sums, len(values), rows.feature_names, rows.method)
        return result if draws is not None else replace(result, contributions=values)

    @classmethod
    def of_sums(
        cls, sums: RowSums, n_rows: int, names: tuple, method: str, has_error: bool = True
    ) -> "GlobalAttribution":
        """Return sums over rows with what these tell of the sums; errors only where asked for."""
        error = sums.standard_error if has_error else None
        more: dict[str, Any] = {"groups": sums.labels, "second_moments": sums.second_moments}
        more["contributions"] = sums.by_group if has_error else None
        return cls(sums.total, error, n_rows, names, method, **more)

    def percent(self) -> np.ndarray:
        """Return ``values`` in per cent of the loss of the best constant prediction on these rows.

        The constant is the mean of these rows, the shares of their classes or their quantile, and
        its loss counts from that of a perfect prediction. Values are first order, and so are these
        numbers, which ``attributions.held_out.constant_loss.percent_of_one`` derives. They do not
        add up to 100, nor to what the model saves.
        """
        if self.percent_of_one is None:
            raise ValueError(
                f"{self.method} cannot be given in per cent of the loss of a constant prediction:"
                " it does not measure loss on given rows, or it was made of several results or of"
                " tables of Dask, or a constant prediction has no loss on these rows."
            )
        return self.values * self.percent_of_one

    def ranking(self) -> np.ndarray:
        """Return the feature numbers, best first; equal values in the order of the columns."""
        return np.argsort(-self.values, kind="stable")

    def normalized(self, ord: int = 1) -> np.ndarray:
        """Return ``values`` divided by their norm, to compare methods of different units.

        The norm is the sum of absolute values or, with ``ord=2``, the root of the sum of squares.
        """
        check_one_of((1, 2), ord=ord)
        values = np.ldexp(self.values, -exponent_of_columns(self.values))  # to be squared
        norm = np.linalg.norm(values, ord)
        return values / norm if norm > 0 else self.values.copy()

    def merge(self, other: "GlobalAttribution") -> "GlobalAttribution":
        """Return the attribution of the rows of both: sums add up, standard errors combine.

        Chunks of a long table or parts of a parallel job give what one call over all rows would
        have given, but for the rounding of another order of addition.

        Parameters
        ----------
        other : GlobalAttribution
            The same method, of the same model, on other rows. A group may have rows in both. A
            result keeps neither model nor rows: nobody notices where the model is another or rows
            are counted twice. ``attributions.results.merging`` says how errors combine.
        """
        if not isinstance(other, GlobalAttribution):
            raise ValueError(f"Only a GlobalAttribution can be merged; got {type(other).__name__}.")
        return merged(self, other)

    def grouped(self, members: Mapping[str, Iterable[str]]) -> "GlobalAttribution":
        """Return exact sums over groups of features; see ``attributions.results.grouping``.

        Parameters
        ----------
        members : dict of str to list of str
            The features of every group, as in ``{"weather": ["rain", "wind"]}``. Features that are
            in none stay as they are.

        Returns
        -------
        GlobalAttribution
            With standard errors that allow for how members vary together, if `from_rows` made this
            result or it has ``second_moments``.
        """
        return grouped(self, members)

    def to_frame(self, *, level: float | None = None) -> "pandas.DataFrame":
        """Return a pandas.DataFrame, indexed by feature name, best feature first.

        It has the columns ``value`` and, where there are any, ``percent``, ``standard_error``,
        ``p_value`` and ``is_reliable``. A ``level``, such as 0.95, adds ``lower`` and ``upper``,
        the ends of `confidence_interval`, and where there is a per cent, both in per cent, too.
        """
        pandas = imported("pandas", "to_frame", ", or use .values and .feature_names")
        columns = {"value": self.values}
        if self._shown_percent is not None:
            columns["percent"] = self.percent()
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error
        if level is not None:
            columns["lower"], columns["upper"] = ends = self.confidence_interval(level).T
            if (unit := self._shown_percent) is not None:
                columns["percent_lower"], columns["percent_upper"] = unit * ends
        if self.standard_error is not None and is_testable(self.method):
            columns["p_value"] = self.p_values()
        if self.is_reliable is not None:
            columns["is_reliable"] = self.is_reliable
        index = pandas.Index(self.feature_names, name="feature")
        return pandas.DataFrame(columns, index=index).iloc[self.ranking()]

    def plot(
        self,
        *,
        max_display: int | None = 20,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> ImportanceDisplay | BoostingDisplay:
        """Draw the best features as bars, with 95 % intervals where there are standard errors.

        A result with ``per_tree`` is drawn as curves along boosting, at most six of them named.

        Parameters
        ----------
        max_display : int or None
            How many features to show at most, best first; None for all. Where the axes are too low
            for so many names, fewer are shown.
        ax : matplotlib Axes, optional
            Where to draw; a new figure without it.
        title : str, optional
            Instead of the one that says what is seen; drawn as it is.
        figsize : (float, float), optional
            Of the new figure, in inches.

        Returns
        -------
        ImportanceDisplay or BoostingDisplay
            With ``ax_``, ``figure_`` and ``bars_`` or ``lines_``. ``attributions.plots`` has more
            pictures.
        """
        if self.per_tree is not None:
            n_named = N_CURVES if max_display is None else min(max_display, N_CURVES)
            curves = BoostingDisplay(self, max_display=n_named)
            return curves.plot(ax, title=title, figsize=figsize)
        bars = ImportanceDisplay(self, max_display=max_display)
        return bars.plot(ax, title=title, figsize=figsize)
