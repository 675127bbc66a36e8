"""Contributions to rows: one row as signed bars, or all rows as a swarm."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from attributions.methods import facts_of
from attributions.names import find_row, on_one_line
from attributions.plots.captions import row_label, share, title_of
from attributions.plots.colors import BLUE, GREY, VERMILION, luminance
from attributions.plots.lettering import wrap
from attributions.plots.sheet import Display, Sheet, as_max_display
from attributions.plots.shown import PerRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

SHORT = 10  # letters of a number that is written in full
DARKEST = 0.35  # where a swarm's colours begin on a dark background: darker ones are not seen


class LocalAttributionDisplay(Display):
    """Signed bars for one row, or a swarm of all rows for each feature.

    Parameters
    ----------
    attribution : LocalAttribution
    row : label or int, optional
        The row to draw as bars: its label in the frame that was explained, or its number, from 0,
        where rows have no labels; None for the swarm.
    max_display : int or None
        How many features to show at most, those with the largest mean absolute contribution; None
        for all. Where the axes are too low for so many names, fewer are shown.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    def __init__(
        self,
        attribution: PerRow,
        *,
        row: Hashable | None = None,
        max_display: int | None = 12,
    ):
        attribution.check_one_output("A picture")
        n_rows, n_features = attribution.values.shape
        if n_rows == 0:
            raise ValueError("The attribution has no rows; a picture needs at least one.")
        self.row = None if row is None else find_row(row, n_rows, attribution.index)
        self.max_display = as_max_display(max_display, n_features)
        self.attribution = attribution

    @classmethod
    def from_attribution(
        cls,
        attribution: PerRow,
        *,
        row: Hashable | None = None,
        max_display: int | None = 12,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Self:
        """Make the display and draw it.

        Parameters
        ----------
        attribution, row, max_display
            As for the class.
        ax, title, figsize
            As for ``LocalAttribution.plot``.
        """
        display = cls(attribution, row=row, max_display=max_display)
        return display.plot(ax, title=title, figsize=figsize)

    def _draw(self, ax: "Axes | None", title: str | None, figsize: Any) -> "Axes":
        result = self.attribution
        rows = result.values if self.row is None else result.values[[self.row]]
        ranking = np.argsort(-np.abs(rows).mean(axis=0), kind="stable")[: self.max_display]
        heading = self._heading() if title is None else title
        if self.row is not None and rows.any():
            ranking = ranking[rows[0, ranking] != 0]  # bars of 0 would only use up room
        words = [*(result.feature_names[k] for k in ranking), heading]
        sheet = Sheet(ax, figsize, words, width=7.2, height=1.3, n_rows=1.4 * len(ranking))
        ax = sheet.ax
        label = row_label(result.method) + sheet.lettering.note(result.feature_names, ranking)
        label += sheet.uncrowd("x", rows[:, ranking]) if self.row is None else self._total()
        sheet.caption(heading, label)

        n_shown, fontsize = sheet.rows_that_fit(len(ranking))
        shown = ranking[:n_shown]
        if self.row is None:
            label += self._swarm(sheet, shown, fontsize)
        else:
            self._bars(sheet, shown, fontsize)
        ax.axvline(0, color=sheet.colors.ink, linewidth=0.8, zorder=1)
        sheet.say_if_nothing(rows)
        sheet.quieten(grid="x", left=False)
        some = share(n_shown, len(result.feature_names)) if title is None else ""
        sheet.caption(heading + (f", {some}" if some else ""), label)
        return ax

    def _heading(self) -> str:
        """Return the title: all rows, or one row by its label, or by its number if it has none."""
        result = self.attribution
        if self.row is None:
            return f"{title_of(result.method)} of {len(result.values):,} rows"
        label = self.row if result.index is None else list(result.index)[self.row]
        return f"Row {on_one_line(label)}: {title_of(result.method)}"

    def _total(self) -> str:
        """Return a line with base value, contributions and prediction, if they add up."""
        result = self.attribution
        if not facts_of(result.method.split(" of ")[0]).is_whole_prediction:
            return ""
        base, moved = result.base_values[self.row], result.values[self.row].sum()
        return (
            f"\nbase value {base:.6g}, all contributions {moved:+.6g}:"
            f" raw\N{NO-BREAK SPACE}prediction\N{NO-BREAK SPACE}{base + moved:.6g}"
        )

    def _bars(self, sheet: Sheet, shown: np.ndarray, fontsize: float) -> None:
        """Draw the contributions of one row, with the values of the features in their names."""
        result = self.attribution
        values = result.values[self.row, shown]
        sheet.ax.barh(
            np.arange(len(shown)),
            values,
            height=0.7,
            color=[sheet.drawn_in(VERMILION if value < 0 else BLUE) for value in values],
        )
        numbers = None
        if result.data is not None:
            x = result.shown_data()[self.row, shown]
            numbers = [f" = {_in_words(value)}" for value in x]
        sheet.name_rows(result.feature_names, shown, fontsize, numbers)

    def _swarm(self, sheet: Sheet, shown: np.ndarray, fontsize: float) -> str:
        """Draw every row as a point, pushed aside where many contributions are alike.

        Points are coloured by the rank of the feature's value, red where it is missing. Levels are
        grey, because their order is alphabetical and means nothing. Return what the label of the
        axis has to say about colours.
        """
        from matplotlib import colormaps
        from matplotlib.colors import ListedColormap, to_rgba

        result, ax = self.attribution, sheet.ax
        is_dark = luminance(sheet.colors.background) < 0.2
        cividis = colormaps["cividis"](np.linspace(DARKEST * is_dark, 1, 256))
        ranked = ListedColormap(cividis).with_extremes(bad=VERMILION)
        to_axis = ax.xaxis.get_transform()
        for place, k in enumerate(shown):
            coloring: dict[str, Any] = {"c": sheet.drawn_in(BLUE)}
            if result.data is not None and self._are_words(k):
                is_missing = np.isnan(result.data[:, [k]])
                red, grey = to_rgba(VERMILION), to_rgba(sheet.drawn_in(GREY))
                coloring = {"c": np.where(is_missing, red, grey)}
            elif result.data is not None:
                coloring = {
                    "c": _rank_share(result.data[:, k]),
                    "cmap": ranked,
                    "vmin": 0.0,
                    "vmax": 1.0,
                    "plotnonfinite": True,
                }
            values = result.values[:, k]
            aside = _swarm_offsets(to_axis.transform(values))
            ax.scatter(values, place + aside, s=7, linewidths=0, zorder=2, **coloring)
        sheet.name_rows(result.feature_names, shown, fontsize)
        if result.data is None:
            return ""
        are_words = [self._are_words(k) for k in shown]
        has_missing = bool(np.isnan(result.data[:, shown]).any())
        marks = ["grey: words"] * any(are_words) + ["vermilion: missing"] * has_missing
        if all(are_words):
            return f"\n({', '.join(marks)})"
        self._color_bar(sheet, ranked, ", ".join(["feature value (rank)", *marks]))
        return ""

    def _are_words(self, k: int) -> bool:
        """Say whether a feature's values are levels, which have no low and high."""
        categories = self.attribution.categories
        return categories is not None and categories[k] is not None

    def _color_bar(self, sheet: Sheet, ranked: "Colormap", words: str) -> None:
        """Draw the colour bar of a swarm."""
        from matplotlib.cm import ScalarMappable

        scale = ScalarMappable(cmap=ranked)
        scale.set_clim(0.0, 1.0)
        bar = sheet.figure.colorbar(scale, ax=sheet.ax, aspect=45, pad=0.02, ticks=[0, 1])
        ink = sheet.ax.xaxis.label.get_color()
        bar.ax.set_yticklabels(["low", "high"], color=ink)
        label = bar.ax.set_ylabel(words, color=ink, **sheet.lettering.properties)
        height = sheet.ax.get_window_extent().height
        wrap(label, words, height, along="height")
        if label.get_window_extent().height < 0.75 * height:
            bar.ax.yaxis.labelpad = -12  # between "low" and "high"
        bar.outline.set_visible(False)


def _in_words(value: object) -> str:
    """Return a number in full if that is short, a level as it is, and nan or None as missing."""
    if value is None or value != value:
        return "missing"
    if not isinstance(value, float):
        return on_one_line(value)
    in_full = f"{value:.15g}"
    return in_full if len(in_full) <= SHORT else f"{value:.4g}"


def _rank_share(column: np.ndarray) -> np.ndarray:
    """Return ranks scaled to [0, 1], equal values alike; nan stays nan."""
    known = ~np.isnan(column)
    ranks = np.full(len(column), np.nan)
    distinct, code = np.unique(column[known], return_inverse=True)
    ranks[known] = code / max(len(distinct) - 1, 1)
    return ranks


def _swarm_offsets(values: np.ndarray, n_bins: int = 100, half_width: float = 0.38) -> np.ndarray:
    """Return how far aside each point goes: alternately up and down within its bin."""
    low, high = values.min(), values.max()
    if low == high:
        bins = np.zeros(len(values), dtype=np.int64)
    else:
        bins = np.minimum(((values - low) / (high - low) * n_bins).astype(np.int64), n_bins - 1)
    order = np.argsort(bins, kind="stable")
    starts = np.searchsorted(bins[order], bins[order])
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - starts
    fullest = np.bincount(bins).max()
    step = half_width / max((fullest + 1) // 2, 10)
    return step * ((rank + 1) // 2) * np.where(rank % 2, 1, -1)
