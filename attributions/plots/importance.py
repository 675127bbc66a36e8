"""Importance: of all rows as bars, by label as lines, dots or heat, and of groups of rows."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from attributions.plots.captions import (
    DOUBTED,
    PER_CENT,
    are_doubtful,
    per_cent_of_one,
    share,
    title_of,
    value_label,
)
from attributions.plots.colors import BLUE, CURVES, VERMILION, mixed
from attributions.plots.curves import name_curves
from attributions.plots.sheet import TWO_SIDED_95, Display, Sheet, as_max_display, is_crowded
from attributions.plots.shown import PerFeature, PerGroup, PerLabel
from gbt.tables.names import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_LINES, N_ROWS = 5, 10  # features that are shown
MOST_DOTS = 6  # labels beside each other
MOST_TICKS = 12
KINDS = ("lines", "dots", "heat")
UNITS = {"percent": PER_CENT, "loss": "loss that the feature saves a row"}
MARKED = "ringed: changed beyond chance"


class ImportanceDisplay(Display):
    """Bars of the most important features, with 95 % intervals where there are standard errors.

    A hollow bar is one whose interval is not to be relied on (``is_reliable``).

    The single shuffles of permutation importance are dots. If most bars would be too short to be
    seen, their values are written beside the names; the axis stays linear, since bars are compared
    by their lengths.

    Parameters
    ----------
    attribution : GlobalAttribution
    max_display : int or None
        How many features to show at most, best first; None for all. Where the axes are too low for
        so many names, fewer are shown.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib BarContainer
        From top to bottom.
    """

    def __init__(self, attribution: PerFeature, *, max_display: int | None = 20):
        self.max_display = as_max_display(max_display, len(attribution.values))
        self.attribution = attribution

    @classmethod
    def from_attribution(
        cls,
        attribution: PerFeature,
        *,
        max_display: int | None = 20,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Self:
        """Make the display and draw it.

        Parameters
        ----------
        attribution, max_display
            As for the class.
        ax, title, figsize
            As for ``GlobalAttribution.plot``.
        """
        display = cls(attribution, max_display=max_display)
        return display.plot(ax, title=title, figsize=figsize)

    def _draw(self, ax: "Axes | None", title: str | None, figsize: Any) -> "Axes":
        result, names = self.attribution, self.attribution.feature_names
        ranking = result.ranking()[: self.max_display]
        heading = title_of(result.method) if title is None else title
        words = [*(names[k] for k in ranking), heading]
        sheet = Sheet(ax, figsize, words, width=6.4, height=1.1, n_rows=len(ranking))
        ax, ink = sheet.ax, sheet.colors.ink
        per_cent = per_cent_of_one(result)
        unit = 1.0 if per_cent is None else per_cent
        label = value_label(result, in_percent=per_cent is not None)
        label += " (dots: single shuffles)" * (result.repeats is not None)
        label += sheet.lettering.note(names, ranking)
        label += DOUBTED * bool(are_doubtful(result)[ranking].any())
        sheet.caption(heading, label)

        n_shown, fontsize = sheet.rows_that_fit(len(ranking))
        shown = ranking[:n_shown]
        places, values = np.arange(n_shown), unit * result.values[shown]
        intervals = result.standard_error
        self.bars_ = ax.barh(
            places,
            values,
            height=0.7,
            color=[sheet.drawn_in(VERMILION if value < 0 else BLUE) for value in values],
            xerr=None if intervals is None else TWO_SIDED_95 * unit * intervals[shown],
            error_kw={"ecolor": ink, "elinewidth": 1.0},
        )
        doubts = are_doubtful(result)[shown]
        for bar, is_doubtful in zip(self.bars_, doubts, strict=True):
            if is_doubtful:
                bar.set(edgecolor=bar.get_facecolor(), facecolor="none", linewidth=1.2)
        if result.repeats is not None:
            ax.plot(result.repeats[shown], places, "o", color=ink, markersize=2.5, alpha=0.6)
        if ax.get_xlim()[0] < 0:
            ax.axvline(0, color=ink, linewidth=0.8)
        sheet.say_if_nothing(result.values, intervals, result.repeats)
        written = [f": {value:.3g}" for value in values] if is_crowded(values) else None
        sheet.name_rows(names, shown, fontsize, written)
        sheet.quieten(grid="x", left=False)
        some = share(n_shown, len(names), best="best ") if title is None else ""
        sheet.caption(heading + (f": {some}" if some else ""), label)
        return ax


class ByLabelDisplay(Display):
    """Held-out gain of features, label by label, with 95 % intervals.

    Parameters
    ----------
    attribution : AttributionByLabel
    changes : Differences or None
        Which labels to mark, and in which unit to draw.
    kind : {"lines", "dots", "heat"} or None
        None chooses.
    max_display : int or None
        How many features; None for 5 as lines and 10 otherwise.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib Line2D
        One a feature, or of dots one a label.
    """

    def __init__(
        self,
        attribution: PerLabel,
        *,
        changes: Any = None,
        kind: str | None = None,
        max_display: int | None = None,
    ):
        if kind not in (None, *KINDS):
            raise ValueError(f"kind={shown(kind)}; use 'lines', 'dots' or 'heat'.")
        if kind is None:
            few = len(attribution.labels) <= MOST_DOTS
            kind = "lines" if attribution.is_ordered else "dots" if few else "heat"
        self.kind = kind
        usual = N_LINES if kind == "lines" else N_ROWS
        n_features = len(attribution.feature_names)
        self.max_display = as_max_display(max_display or min(usual, n_features), n_features)
        self.attribution, self.changes = attribution, changes
        self.unit = "percent" if changes is None else changes.unit
        self.lines_: list[Any] = []

    @classmethod
    def from_attribution(
        cls,
        attribution: PerLabel,
        *,
        changes: Any = None,
        kind: str | None = None,
        max_display: int | None = None,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Self:
        """Make the display and draw it.

        Parameters
        ----------
        attribution, changes, kind, max_display
            As for the class.
        ax, title, figsize
            As for ``GlobalAttribution.plot``.
        """
        display = cls(attribution, changes=changes, kind=kind, max_display=max_display)
        return display.plot(ax, title=title, figsize=figsize)

    def _draw(self, ax: "Axes | None", title: str | None, figsize: Any) -> "Axes":
        result, names = self.attribution, self.attribution.feature_names
        ranking = result.ranking()[: self.max_display]
        values = result.values_in(self.unit)
        reach = TWO_SIDED_95 * result.standard_error_in(self.unit)
        heading = f"{title_of(result.method)} by label" if title is None else title
        words = [*(names[k] for k in ranking), *result.label_texts, heading]
        n_rows = 0 if self.kind == "lines" else len(ranking)
        sheet = Sheet(ax, figsize, words, 7.2, 4.2 if self.kind == "lines" else 1.6, n_rows)
        unit = f"{UNITS[self.unit]},\n{result.n_samples.sum():,} held-out rows, 95 % intervals"
        unit = unit.removesuffix(", 95 % intervals") if self.kind == "heat" else unit
        unit += f"\n({MARKED})" if self.changes is not None else ""
        unit += sheet.lettering.note(names, ranking)
        some = share(len(ranking), len(names), best="best ") if title is None else ""
        heading += f": {some}" if some else ""
        captions = (heading, "", unit) if self.kind == "lines" else (heading, unit)
        sheet.caption(*captions)
        draw = {"lines": self._draw_lines, "dots": self._draw_dots, "heat": self._draw_heat}
        draw[self.kind](sheet, ranking, values, reach)
        sheet.caption(*captions)
        return sheet.ax

    def _is_marked(self) -> np.ndarray:
        """Return which labels are marked for which feature, (L, p)."""
        marked = np.zeros((len(self.attribution.labels), len(self.attribution.feature_names)), bool)
        if self.changes is not None:
            marked[list(self.changes.about)] = self.changes.changed()
        return marked

    def _draw_lines(
        self, sheet: Sheet, ranking: np.ndarray, values: np.ndarray, reach: np.ndarray
    ) -> None:
        ax, texts = sheet.ax, self.attribution.label_texts
        at, marked = np.arange(len(texts)), self._is_marked()
        color = {k: sheet.drawn_in(CURVES[j % len(CURVES)]) for j, k in enumerate(ranking)}
        for k in ranking:
            low, high = values[:, k] - reach[:, k], values[:, k] + reach[:, k]
            ax.fill_between(at, low, high, color=color[k], alpha=0.15, linewidth=0)
            self.lines_ += ax.plot(at, values[:, k], "o-", color=color[k], ms=3.5, lw=1.8)
            self._ring(sheet, at[marked[:, k]], values[marked[:, k], k])
        ax.axhline(0, color=sheet.colors.ink, linewidth=0.8)
        self._name_labels(sheet)
        _, fontsize = sheet.rows_that_fit(len(ranking))
        ends = np.array([_last_known(values[:, k]) for k in ranking])
        ax.set_xlim(-0.2, len(texts) - 0.8)
        name_curves(sheet, self.attribution.feature_names, ranking, ends, at[-1], color, fontsize)
        sheet.quieten(grid="y")

    def _draw_dots(
        self, sheet: Sheet, ranking: np.ndarray, values: np.ndarray, reach: np.ndarray
    ) -> None:
        ax, marked, n_labels = sheet.ax, self._is_marked(), len(values)
        _, fontsize = sheet.rows_that_fit(len(ranking))
        rows = np.arange(len(ranking))
        for j, text in enumerate(self.attribution.label_texts):
            y = rows + 0.7 * ((j + 0.5) / n_labels - 0.5)
            color = sheet.drawn_in(CURVES[j % len(CURVES)])
            x, half = values[j, ranking], reach[j, ranking]
            ax.hlines(y, x - half, x + half, color=color, linewidth=1.2)
            self.lines_ += ax.plot(x, y, "o", color=color, ms=4.5, label=text)
            self._ring(sheet, x[marked[j, ranking]], y[marked[j, ranking]])
        ax.axvline(0, color=sheet.colors.ink, linewidth=0.8)
        ax.legend(frameon=False, fontsize=fontsize, loc="lower right", labelcolor=sheet.colors.ink)
        sheet.name_rows(self.attribution.feature_names, ranking, fontsize)
        sheet.quieten(grid="x", left=False)

    def _draw_heat(
        self, sheet: Sheet, ranking: np.ndarray, values: np.ndarray, reach: np.ndarray
    ) -> None:
        ax, marked = sheet.ax, self._is_marked()
        _, fontsize = sheet.rows_that_fit(len(ranking))
        cells = values[:, ranking].T
        sizes = np.abs(cells) / np.nanmax(np.abs(cells), initial=np.finfo(float).tiny)
        picture = np.array(
            [
                [
                    mixed(sheet.colors.background, BLUE if value > 0 else VERMILION, size)
                    if np.isfinite(size)
                    else sheet.colors.faint
                    for value, size in zip(*row, strict=True)
                ]
                for row in zip(cells, sizes, strict=True)
            ]
        )
        ax.imshow(picture, aspect="auto", interpolation="nearest")
        feature, label = np.nonzero(marked[:, ranking].T)
        self._ring(sheet, label, feature)
        self._name_labels(sheet)
        sheet.name_rows(self.attribution.feature_names, ranking, fontsize)
        ax.set_ylim(len(ranking) - 0.5, -0.5)
        sheet.quieten(grid="x", left=False)
        ax.grid(False)

    def _ring(self, sheet: Sheet, x: np.ndarray, y: np.ndarray) -> None:
        """Draw rings around what changed."""
        ink = sheet.colors.ink
        sheet.ax.plot(x, y, "o", ms=10, mfc="none", mec=ink, mew=1.3, ls="none", zorder=5)

    def _name_labels(self, sheet: Sheet) -> None:
        """Write labels below the axes, all of them or some at equal distances."""
        texts = self.attribution.label_texts
        at = np.arange(0, len(texts), -(-len(texts) // MOST_TICKS))
        slant: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        longest = max(len(text) for text in texts)
        style = slant if longest * len(at) > 60 else {}
        sheet.ax.set_xticks(at, [texts[j] for j in at], **style, **sheet.lettering.properties)


def _last_known(values: np.ndarray) -> float:
    """Return the last number that is not nan; 0 if there is none."""
    known = values[np.isfinite(values)]
    return float(known[-1]) if len(known) else 0.0


class ForWhomDisplay(Display):
    """What a feature is worth to groups of rows, with intervals that hold together.

    Parameters
    ----------
    groups : ForWhom

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    points_ : list of matplotlib Line2D
    """

    def __init__(self, groups: PerGroup):
        self.groups = groups
        self.points_: list[Any] = []

    @classmethod
    def from_groups(
        cls,
        groups: PerGroup,
        *,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Self:
        """Make the display and draw it.

        Parameters
        ----------
        groups
            As for the class.
        ax, title, figsize
            As for ``GlobalAttribution.plot``.
        """
        return cls(groups).plot(ax, title=title, figsize=figsize)

    def _draw(self, ax: "Axes | None", title: str | None, figsize: Any) -> "Axes":
        result = self.groups
        heading = f"For whom {result.feature} helps" if title is None else title
        n = len(result.groups)
        sheet = Sheet(ax, figsize, [*result.groups, heading], 9.0, 1.6, n)
        label = f"{UNITS['loss']}, 95 % intervals of all groups together\n(line: all rows)"
        sheet.caption(heading, label)
        _, fontsize = sheet.rows_that_fit(n)
        low, high = result.worth.confidence_interval()[:, 0].T
        for y, (value, left, right) in enumerate(zip(result.values, low, high, strict=True)):
            color = sheet.drawn_in(BLUE if value > 0 else VERMILION)
            sheet.ax.hlines(y, left, right, color=color, linewidth=1.5)
            self.points_ += sheet.ax.plot(value, y, "o", color=color, ms=6)
        sheet.ax.axvline(0, color=sheet.colors.ink, linewidth=0.8)
        sheet.ax.axvline(result.overall, color=sheet.colors.ink, linewidth=0.8, linestyle=":")
        sheet.name_rows(
            result.groups, range(n), fontsize, [f"  ({rows:,} rows)" for rows in result.n_rows]
        )
        sheet.quieten(grid="x", left=False)
        sheet.caption(heading, label)
        return sheet.ax
