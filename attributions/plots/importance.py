"""Importance: of all rows as bars, by label as lines, dots or heat, and of groups of rows."""

import re
from typing import Any

import numpy as np

from attributions.amounts import on_picture
from attributions.methods import facts_of
from attributions.names import first_of, on_one_line
from attributions.options import check_one_of
from attributions.plots.captions import (
    OF_CONSTANT,
    TWO_SIDED_95,
    are_doubtful,
    bounded,
    ends_of,
    notes,
    share,
    unit_of,
    verdict_colors,
)
from attributions.plots.colors import BLUE, CURVES, VERMILION, mixed
from attributions.plots.curves import name_curves
from attributions.plots.sheet import Display, Paper, Sheet, as_max_display, is_crowded
from gbt.tables.names import counted

PALE = 0.55  # how opaque a bar is, so that its interval is seen
N_LINES, N_ROWS = 5, 10  # features that are shown
MOST_DOTS = 6  # labels beside each other
MOST_TICKS = 12
N_NAMED = 3  # labels that were not judged
FOR_RULES = 1.3  # times the room of names
KINDS = ("lines", "dots", "heat")
BETWEEN_CONDITIONS = r", (?![^{]*\})"  # of a rule such as "age > 5, region in {north, east}"
UNITS = {"percent": OF_CONSTANT, "loss": "loss saved a row"}
MARKED, UNMARKED = "ringed: changed beyond chance", "nothing changed beyond chance"


class ImportanceDisplay(Display):
    """Bars of the most important features, with 95 % intervals where there are standard errors.

    The single shuffles of permutation importance are dots. If most bars would be too short to be
    seen, their values are written beside the names; the axis stays linear, since bars are compared
    by their lengths.

    Parameters
    ----------
    attribution : GlobalAttribution
    max_display
        As for ``GlobalAttribution.plot``.
    intervals : float64 array of shape (p, 2), optional
        Drawn in place of the 95 % intervals of single features: ends that hold together, say.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        From top to bottom.
    """

    def __init__(
        self,
        attribution: Any,
        *,
        max_display: int | None = 20,
        intervals: np.ndarray | None = None,
    ):
        self.max_display = as_max_display(max_display, len(attribution.values))
        self.attribution = attribution
        self.ends = ends_of(attribution) if intervals is None else intervals

    def _draw(self, paper: Paper) -> Sheet:
        from matplotlib.colors import to_rgba

        result, names = self.attribution, self.attribution.feature_names
        ranking, (factor, label) = result.ranking()[: self.max_display], unit_of(result)
        seen, words = facts_of(result.method).seen, [names[k] for k in ranking]
        sheet = Sheet(paper, seen, words, (6.4, 1.2), len(ranking))
        ax, doubtful = sheet.ax, are_doubtful(result)
        colors = verdict_colors(result.values, self.ends)
        label += " (dots: single shuffles)" * (result.repeats is not None)
        sheet.caption(label + notes([colors[k] for k in ranking], doubtful[ranking]))

        n_shown, fontsize = sheet.rows_that_fit(len(ranking))
        shown = ranking[:n_shown]
        places, values = np.arange(n_shown), factor * result.values[shown]
        reach = None
        if self.ends is not None:
            ends = factor * bounded(result.values, self.ends)[shown].T
            reach = np.abs(ends - values)
            is_open = self.ends[shown, 1] == np.inf
            ax.plot(ends[1][is_open], places[is_open], ">", color=sheet.ink, ms=4)
        self.bars_ = ax.barh(places, values, height=0.7, xerr=reach, ecolor=sheet.ink)
        for k, bar in zip(shown, self.bars_, strict=True):
            edge = sheet.drawn_in(colors[k])
            bar.set(edgecolor=edge, linewidth=1.2)
            bar.set_facecolor("none" if doubtful[k] else to_rgba(edge, PALE))
        if self.bars_.errorbar is not None:
            lines: Any = self.bars_.errorbar.lines[2]
            lines[0].set(linewidth=1.6, path_effects=sheet.halo())
        if result.repeats is not None:
            ax.plot(result.repeats[shown], places, "o", color=sheet.ink, ms=2.5, alpha=0.6)
        if ax.get_xlim()[0] < 0:
            sheet.zero_line("x")
        sheet.say_if_nothing(result.values, self.ends, result.repeats)
        written = [f": {on_picture(value, 3)}" for value in values] if is_crowded(values) else []
        sheet.name_rows(names, shown, fontsize, written)
        sheet.more = share(n_shown, len(names), best="best ")
        return sheet.finish(grid="x", left=False)


class ByLabelDisplay(Display):
    """Held-out gain of features, label by label, with 95 % intervals.

    Parameters
    ----------
    attribution : AttributionByLabel
    changes, kind, max_display
        As for ``AttributionByLabel.plot``.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One a feature, or of dots one a label that is drawn.
    """

    def __init__(
        self,
        attribution: Any,
        *,
        changes: Any = None,
        kind: str | None = None,
        max_display: int | None = None,
    ):
        if kind is None:
            few = len(attribution.labels) <= MOST_DOTS
            kind = "lines" if attribution.is_ordered else "dots" if few else "heat"
        check_one_of(KINDS, kind=kind)
        self.kind = kind
        usual = N_LINES if kind == "lines" else N_ROWS
        n_features = len(attribution.feature_names)
        self.max_display = as_max_display(max_display or min(usual, n_features), n_features)
        self.attribution, self.changes = attribution, changes
        self.unit = "percent" if changes is None else changes.unit
        self.marked = np.zeros((len(attribution.labels), n_features), bool)
        if changes is not None:
            self.marked[list(changes.about)] = changes.changed()

    def _draw(self, paper: Paper) -> Sheet:
        result, names = self.attribution, self.attribution.feature_names
        self.lines_: list[Any] = []
        ranking = result.ranking()[: self.max_display]
        values = np.where(result.is_judged[:, np.newaxis], result.values_in(self.unit), np.nan)
        reach = TWO_SIDED_95 * result.standard_error_in(self.unit)
        words = [*(names[k] for k in ranking), *result.label_texts]
        are_lines = self.kind == "lines"
        size, n_rows = ((7.2, 4.2), 0) if are_lines else ((7.2, 1.6), len(ranking))
        if self.kind == "dots":
            n_rows = max(n_rows, len(result.labels))  # which the legend lists
        sheet = Sheet(paper, "What each feature is worth by label", words, size, n_rows)
        sheet.more = share(len(ranking), len(names), best="best ")
        about = f"{result.n_samples.sum():,} held-out rows"
        if self.kind == "heat":
            about += f", darkest {_largest(values[:, ranking]):.3g}"
        else:
            about += ", 95 % intervals"
        if self.changes is not None:
            about += f"\n({MARKED if self.marked[:, ranking].any() else UNMARKED})"
        few = [result.label_texts[j] for j in np.flatnonzero(~result.is_judged)]
        if few:
            about += f"\n(not judged: {first_of(few, N_NAMED)})"
        unit = UNITS[self.unit]
        sheet.caption(*((about, unit) if are_lines else (f"{unit},\n{about}",)))
        draw = {"lines": self._lines, "dots": self._dots, "heat": self._heat}[self.kind]
        draw(sheet, ranking, values, reach)
        sheet.finish(grid="y" if are_lines else "x", left=are_lines)
        if self.kind == "heat":
            sheet.ax.grid(False)
        return sheet

    def _lines(self, sheet: Sheet, ranking: Any, values: np.ndarray, reach: np.ndarray) -> None:
        ax, texts, marked = sheet.ax, self.attribution.label_texts, self.marked
        at = np.arange(len(texts))
        color = {k: sheet.drawn_in(CURVES[j % len(CURVES)]) for j, k in enumerate(ranking)}
        for k in ranking:
            low, high = values[:, k] - reach[:, k], values[:, k] + reach[:, k]
            ax.fill_between(at, low, high, color=color[k], alpha=0.15, linewidth=0)
            self.lines_ += ax.plot(at, values[:, k], "o-", color=color[k], ms=3.5, lw=1.8)
            self._ring(sheet, at[marked[:, k]], values[marked[:, k], k])
        sheet.zero_line("y")
        self._name_labels(sheet)
        _, fontsize = sheet.rows_that_fit(len(ranking))
        known = [at[np.isfinite(values[:, k])] for k in ranking]
        last = np.array([own[-1] if len(own) else at[-1] for own in known])
        ends = np.nan_to_num(values[last, ranking])
        ax.set_xlim(-0.2, len(texts) - 0.8)
        name_curves(sheet, self.attribution.feature_names, ranking, ends, last, color, fontsize)

    def _dots(self, sheet: Sheet, ranking: Any, values: np.ndarray, reach: np.ndarray) -> None:
        ax, marked, texts = sheet.ax, self.marked, self.attribution.label_texts
        drawn = np.flatnonzero(np.isfinite(values[:, ranking]).any(axis=1))
        _, fontsize = sheet.rows_that_fit(len(ranking))
        rows = np.arange(len(ranking))
        for place, j in enumerate(drawn):
            y = rows + 0.7 * ((place + 0.5) / len(drawn) - 0.5)
            color = sheet.drawn_in(CURVES[place % len(CURVES)])
            x, half = values[j, ranking], reach[j, ranking]
            ax.hlines(y, x - half, x + half, color=color, linewidth=1.2)
            self.lines_ += ax.plot(x, y, "o", color=color, ms=4.5, label=texts[j])
            self._ring(sheet, x[marked[j, ranking]], y[marked[j, ranking]])
        sheet.zero_line("x")
        if self.lines_:
            ax.legend(frameon=False, fontsize=fontsize, loc="lower right", labelcolor=sheet.ink)
        sheet.name_rows(self.attribution.feature_names, ranking, fontsize)

    def _heat(self, sheet: Sheet, ranking: Any, values: np.ndarray, reach: np.ndarray) -> None:
        ax = sheet.ax
        _, fontsize = sheet.rows_that_fit(len(ranking))
        cells = values[:, ranking].T
        shares = cells / (_largest(cells) or 1.0)

        def color(share: float) -> Any:
            hue = BLUE if share > 0 else VERMILION
            known = np.isfinite(share)
            return mixed(sheet.background, hue, abs(share)) if known else sheet.faint

        picture = [[color(share) for share in row] for row in shares]
        ax.imshow(np.array(picture), aspect="auto", interpolation="nearest")
        feature, label = np.nonzero(self.marked[:, ranking].T)
        self._ring(sheet, label, feature)
        self._name_labels(sheet)
        sheet.name_rows(self.attribution.feature_names, ranking, fontsize)
        ax.set_ylim(len(ranking) - 0.5, -0.5)

    def _ring(self, sheet: Sheet, x: np.ndarray, y: np.ndarray) -> None:
        """Draw rings around what changed."""
        sheet.ax.plot(x, y, "o", ms=10, mfc="none", mec=sheet.ink, mew=1.3, ls="none", zorder=5)

    def _name_labels(self, sheet: Sheet) -> None:
        """Write labels below the axes: of words all that fit, else some at equal distances."""
        texts = self.attribution.label_texts
        most = MOST_TICKS if self.attribution.is_ordered else sheet.columns_that_fit()
        at = range(0, len(texts), -(-len(texts) // most))
        sheet.name_columns([texts[j] for j in at], at)


def _largest(values: np.ndarray) -> float:
    """Return the largest size of some numbers, nan aside."""
    return float(np.nanmax(np.abs(values), initial=0.0))


class LossChangeDisplay(Display):
    """How much parts of a loss add to its change, with intervals that hold together.

    Parameters
    ----------
    change : LossChange
    max_display : int or None
        How many parts to show at most, those that changed most; None for all.

    Attributes
    ----------
    points_ : list of matplotlib Line2D
    """

    def __init__(self, change: Any, *, max_display: int | None = 12):
        self.change = change
        self.max_display = as_max_display(max_display, len(change.values))

    def _draw(self, paper: Paper) -> Sheet:
        result, (before, after) = self.change, self.change.headings
        shown = np.argsort(-np.abs(result.values), kind="stable")[: self.max_display]
        words = [result.parts[k] for k in shown]
        sheet = Sheet(
            paper, f"Where the loss went, {after} - {before}", words, (7.2, 1.6), len(shown)
        )
        sheet.caption("change of a row's loss, 95 % intervals of all parts together")
        n_shown, fontsize = sheet.rows_that_fit(len(shown))
        shown = shown[:n_shown]
        values, ends = result.values[shown], result.changes.confidence_interval()[0, shown]
        colors = verdict_colors(-values, -ends[:, ::-1])  # less loss helps
        self.points_ = _points(sheet, values, ends, colors)
        sheet.name_rows(result.parts, shown, fontsize)
        sheet.more = share(len(shown), len(result.parts), of="parts")
        sheet.say_if_nothing(values)
        return sheet.finish(grid="x", left=False)


def _points(sheet: Sheet, values: np.ndarray, ends: np.ndarray, colors: list[str]) -> list[Any]:
    """Draw values as points on their intervals, from top to bottom, and the line at 0."""
    points: list[Any] = []
    drawn = map(sheet.drawn_in, colors)
    for y, (value, (low, high), color) in enumerate(zip(values, ends, drawn, strict=True)):
        sheet.ax.hlines(y, low, high, color=color, linewidth=1.5)
        points += sheet.ax.plot(value, y, "o", color=color, ms=6)
    sheet.zero_line("x")
    return points


class ForWhomDisplay(Display):
    """What a feature is worth to groups of rows, with intervals that hold together.

    Parameters
    ----------
    groups : ForWhom

    Attributes
    ----------
    points_ : list of matplotlib Line2D
    """

    def __init__(self, groups: Any):
        self.groups = groups

    def _draw(self, paper: Paper) -> Sheet:
        result, n = self.groups, len(self.groups.groups)
        rules = [re.split(BETWEEN_CONDITIONS, rule) for rule in result.groups]
        n_lines = n * max(map(len, rules))
        sheet = Sheet(paper, f"For whom {result.feature} helps", result.groups, (9.0, 1.6), n_lines)
        sheet.caption(f"{UNITS['loss']}, 95 % intervals of all groups together\n(dotted: all rows)")
        _, fontsize = sheet.rows_that_fit(n_lines)
        ends = result.worth.confidence_interval()[:, 0]
        self.points_ = _points(sheet, result.values, ends, verdict_colors(result.values, ends))
        sheet.ax.axvline(result.overall, color=sheet.ink, linewidth=0.8, linestyle=":")
        texts, room = [], FOR_RULES * sheet.room
        for conditions, n_rows in zip(rules, result.n_rows, strict=True):
            lines = [sheet.lettering.cut(on_one_line(c), room, fontsize) for c in conditions]
            texts.append("\n".join(lines) + f"  ({counted(n_rows, 'row')})")
        sheet.ax.set_yticks(range(n), texts, fontsize=fontsize, **sheet.lettering.properties)
        sheet.ax.set_ylim(n - 0.4, -0.6)
        return sheet.finish(grid="x", left=False)
