"""Curves: importance along boosting, and predictions by the value of one feature."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attributions.methods import METHODS, facts_of
from attributions.names import by_numbers, on_one_line
from attributions.plots.captions import share, unit_of
from attributions.plots.colors import BLUE, CURVES, GREY, readable
from attributions.plots.sheet import ROW_HEIGHT, Display, Paper, Sheet, as_max_display

if TYPE_CHECKING:
    from matplotlib.typing import ColorType

# The next ones are used when the colours start over.
DASHES, MARKS = ("-", "--", ":", "-."), "osD^"
# Of a feature's curve.
N_BINS = 40  # of the distribution
MOST_BARS, BAR = 50, 0.4  # of whole numbers; half the width, of the distance between two
HEIGHT_OF_BINS = 0.18  # of the axes
MOST_LEVELS = 30
MARGIN = 0.05  # of the range that is drawn, beyond its ends
BEYOND = 10  # of a thousand rows on either side may lie outside of it
SEEN = METHODS["partial_dependence"].seen
VALUE = "mean raw prediction"
OF_ROWS, OF_MISSING = "grey: where the rows are", "ring: missing"
OF_MEAN = "(dotted: the mean over rows)"


class BoostingDisplay(Display):
    """How the importance of features adds up tree by tree.

    A curve that rises on held-out rows is a feature that is still learning something true; one that
    turns down has begun to fit noise.

    Parameters
    ----------
    attribution : GlobalAttribution
        Computed with ``per_tree=True``.
    max_display : int or None
        How many curves are coloured and named at most: those that end farthest from 0; the others
        are grey. None for all. Where the axes are too low for so many names, fewer are named.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One a feature, in the order of the columns.
    """

    def __init__(self, attribution: Any, *, max_display: int | None = 6):
        if attribution.per_tree is None:
            raise ValueError(
                f"{attribution.method} has no per_tree; compute it with per_tree=True to see"
                " importance along boosting."
            )
        self.max_display = as_max_display(max_display, len(attribution.values))
        self.attribution = attribution

    def _draw(self, paper: Paper) -> Sheet:
        result, names = self.attribution, self.attribution.feature_names
        factor, label = unit_of(result, intervals=False)
        by_tree = factor * np.asarray(result.per_tree)
        n_trees, n_features = by_tree.shape
        curves = np.concatenate([np.zeros((1, n_features)), np.cumsum(by_tree, axis=0)])
        named = np.argsort(-np.abs(curves[-1]), kind="stable")[: self.max_display]
        named = named[curves[:, named].any(axis=0)]
        seen = f"{facts_of(result.method).seen}, tree by tree"
        sheet = Sheet(paper, seen, [names[k] for k in named], (7.2, 4.4))
        sheet.caption("trees", label + sheet.uncrowd("y", curves[:, named]))

        n_named, fontsize = sheet.rows_that_fit(len(named))
        named = named[:n_named]
        color = {k: sheet.drawn_in(CURVES[j % len(CURVES)]) for j, k in enumerate(named)}
        dashes = {k: at_turn(DASHES, j) for j, k in enumerate(named)}
        self.lines_ = []
        for k in range(n_features):
            drawn: dict[str, Any] = {"color": GREY, "linewidth": 0.7, "alpha": 0.5, "zorder": 2}
            if k in color:
                drawn = {"color": color[k], "linestyle": dashes[k], "linewidth": 1.8, "zorder": 3}
            self.lines_ += sheet.ax.plot(np.arange(n_trees + 1), curves[:, k], **drawn)
        sheet.zero_line("y")
        sheet.ax.set_xlim(0, max(n_trees, 1))
        sheet.say_if_nothing(curves)
        name_curves(sheet, names, named, curves[-1, named], n_trees, color, fontsize)
        return sheet.finish(grid="y")


def at_turn(styles: Sequence[str], number: int) -> str:
    """Return the style of a curve, the next one when the colours start over."""
    return styles[number // len(CURVES) % len(styles)]


def name_curves(
    sheet: Sheet,
    names: Sequence[str],
    named: np.ndarray,
    ends: np.ndarray,
    last: float | np.ndarray,
    color: dict[int, "ColorType"],
    fontsize: float,
) -> None:
    """Write names at the right of the axes, near the ends of the curves, which lie at ``last``."""
    ax = sheet.ax
    texts = sheet.lettering.names(names, named, sheet.room, fontsize)
    height = ax.get_window_extent().height
    gap = ROW_HEIGHT * fontsize * sheet.figure.dpi / 72 / height
    points = np.column_stack(np.broadcast_arrays(last, ends))
    at_end = ax.transData.transform(points)
    shares = ax.transAxes.inverted().transform(at_end)[:, 1]
    places = spread(shares, gap, gap / 2, 1 - gap / 2)
    for k, text, point, place in zip(named, texts, points, places, strict=True):
        line = {"arrowstyle": "-", "color": color[k], "linewidth": 0.7, "relpos": (0, 0.5)}
        ax.annotate(
            text, point, xytext=(1.03, place), textcoords=ax.transAxes, fontsize=fontsize,
            va="center", annotation_clip=False, color=readable(color[k], sheet.outside),
            arrowprops={**line, "shrinkA": 1, "shrinkB": 0}, **sheet.lettering.properties,
        )  # fmt: skip


def spread(places: np.ndarray, gap: float, low: float, high: float) -> np.ndarray:
    """Move places of names, as little as needed, until neighbours are ``gap`` apart.

    With the gaps before it subtracted, no name may be lower than the name before: what is nearest
    to the names' own places is their isotonic regression. At last, all are moved between ``low``
    and ``high``, which does not bring neighbours closer.
    """
    from sklearn.isotonic import isotonic_regression

    if not len(places):
        return places
    order, steps = np.argsort(places, kind="stable"), gap * np.arange(len(places))
    level = isotonic_regression(places[order] - steps)
    moved = np.empty(len(places))
    moved[order] = np.clip(level, low, max(high - steps[-1], low)) + steps
    return moved


def whole_bars(of_rows: np.ndarray, low: float, high: float) -> np.ndarray | None:
    """Return where bars of whole numbers begin and end, one a number; None if these are many.

    Bins of one width would hold one number here and two there.
    """
    whole = np.unique(of_rows[(of_rows >= low) & (of_rows <= high)])
    if len(whole) < 2 or (whole % 1).any():
        return None
    gap = np.diff(whole).min()
    if np.ptp(whole) > MOST_BARS * gap:
        return None
    return np.ravel(np.column_stack([whole - BAR * gap, whole + BAR * gap]))


class CurveDisplay(Display):
    """The mean raw prediction as a function of one feature.

    The curve of a feature of numbers is drawn step by step, above the distribution of the rows.
    Levels of a categorical feature are points, of one output with lines from the mean over rows;
    the commonest levels are shown, of which missing values count as one, and those that spell
    numbers by these. Of numbers, a hollow ring at the right is the mean where the feature is
    missing.

    Parameters
    ----------
    curve : FeatureCurve
    scale : pair of floats, optional
        Predictions up to which the axis reaches at least: pictures of one scale can be compared.

    Attributes
    ----------
    lines_ : list of matplotlib artists
        One an output.
    """

    lines_: list[Any]

    def __init__(self, curve: Any, *, scale: tuple[float, ...] = ()):
        self.curve, self.scale = curve, scale
        self.outputs = [str(name) for name in curve.output_names or ()]
        self.has_missing = curve.shares is not None and bool(curve.shares[-1] > 0)
        self.levels = [str(level) for level in curve.levels or ()]
        self.levels += ["missing"] * (self.has_missing and curve.levels is not None)
        self._has_mean = curve.shares is not None and not self.outputs

    def _draw(self, paper: Paper) -> Sheet:
        curve, is_of_levels = self.curve, self.curve.levels is not None
        shown = self._shown_levels() if is_of_levels else np.empty(0, dtype=int)
        name, size = on_one_line(curve.feature_name), (5.6, 1.4 if is_of_levels else 3.8)
        words = [name, *(self.levels[k] for k in shown), *self.outputs]
        sheet = Sheet(paper, f"{SEEN} {name}", words, size, len(shown))
        values = curve.values.reshape(len(curve.values), np.size(curve.missing))
        if is_of_levels:
            values = np.vstack([values, np.atleast_2d(curve.missing)])[: len(self.levels)]
        n_outputs = values.shape[1]
        usual = CURVES if n_outputs > 1 else (BLUE,)
        colors = [sheet.drawn_in(usual[k % len(usual)]) for k in range(n_outputs)]
        if self.scale:
            sheet.ax.update_datalim([(end, end) for end in self.scale])  # along either axis
        if is_of_levels:
            self._draw_levels(sheet, values, colors, shown)
            sheet.x = VALUE + f"\n{OF_MEAN}" * self._has_mean
            return sheet.finish(grid="x", left=False)
        said = [OF_ROWS] * (curve.quantiles is not None) + [OF_MISSING] * self.has_missing
        sheet.caption(name + f"\n({'; '.join(said)})" * bool(said), VALUE)
        self._draw_steps(sheet, values, colors)
        return sheet.finish(grid="y")

    def _draw_steps(self, sheet: Sheet, values: np.ndarray, colors: Sequence["ColorType"]) -> None:
        """Draw one line an output, the distribution, and where the feature is missing."""
        curve, ax = self.curve, sheet.ax
        ends, of_rows = [*curve.cuts[:1], *curve.cuts[-1:]], curve.quantiles
        if of_rows is not None:
            ends += [of_rows[BEYOND], of_rows[-1 - BEYOND]]
        low, high = min(ends, default=0.0), max(ends, default=0.0)
        bars = None if of_rows is None else whole_bars(of_rows, low, high)
        margin = MARGIN * (high - low) or 1.0
        if bars is not None:
            margin = max(margin, low - bars[0], bars[-1] - high)
        edges = np.concatenate([[low - margin], curve.cuts, [high + margin]])
        self.lines_ = [
            ax.stairs(of_output, edges, baseline=None, color=color, lw=1.8, ls=at_turn(DASHES, k))
            for k, (of_output, color) in enumerate(zip(values.T, colors, strict=True))
        ]
        if self.has_missing:
            for at_missing, color in zip(np.ravel(curve.missing), colors, strict=True):
                ax.plot(edges[-1], at_missing, "o", mfc="none", color=color, clip_on=False)
        ax.set_xlim(edges[0], edges[-1])
        ax.margins(y=0.08)
        if of_rows is not None:
            usual = np.linspace(edges[0], edges[-1], N_BINS + 1)
            self._draw_distribution(sheet, of_rows, usual if bars is None else bars)
        if self.outputs:
            numbered, (_, fontsize) = dict(enumerate(colors)), sheet.rows_that_fit(len(colors))
            numbers, last = np.arange(len(colors)), edges[-1]
            name_curves(sheet, self.outputs, numbers, values[-1], last, numbered, fontsize)

    def _draw_distribution(self, sheet: Sheet, of_rows: np.ndarray, bins: np.ndarray) -> None:
        """Draw how many of the rows' quantiles lie in each bin, as bars at the foot of the axes."""
        heights, ax = np.histogram(of_rows, bins)[0], sheet.ax
        low, high = ax.get_ylim()
        low -= HEIGHT_OF_BINS * (high - low)
        ax.set_ylim(low, high)
        tall = HEIGHT_OF_BINS * (high - low) * heights / max(heights.max(), 1)
        ax.stairs(low + tall, bins, baseline=low, fill=True, color=sheet.faint, zorder=0)

    def _shown_levels(self) -> np.ndarray:
        """Return the numbers of the levels that are drawn.

        Sorted words are sorted by the numbers in them; another order, as that of a Categorical,
        stays. Missing values come last.
        """
        n, shares = len(self.levels), self.curve.shares
        shown = np.arange(min(n, MOST_LEVELS))
        if n > MOST_LEVELS and shares is not None:
            shown = np.sort(np.argsort(-shares[:n], kind="stable")[:MOST_LEVELS])
        words = self.levels[: len(self.curve.levels)]
        if words != sorted(words):
            return shown
        known = sorted(shown[shown < len(words)], key=lambda k: by_numbers(words[k]))
        return np.array([*known, *shown[shown >= len(words)]], dtype=int)

    def _draw_levels(
        self, sheet: Sheet, values: np.ndarray, colors: Sequence["ColorType"], shown: np.ndarray
    ) -> None:
        """Draw a row for every level, with its name beside it."""
        ax = sheet.ax
        n_shown, fontsize = sheet.rows_that_fit(len(shown))
        shown = shown[:n_shown]
        places, outputs = np.arange(n_shown), self.outputs or [""] * len(colors)
        self.lines_ = [
            ax.plot(values[shown, k], places, at_turn(MARKS, k), color=color, label=name)[0]
            for k, (color, name) in enumerate(zip(colors, outputs, strict=True))
        ]
        if self.outputs:
            ax.legend(frameon=False, labelcolor=sheet.ink, loc="upper left", bbox_to_anchor=(1, 1))
        elif self._has_mean:
            base = self.curve.mean()
            ax.hlines(places, base, values[shown, 0], color=colors[0], lw=1.8)
            ax.axvline(base, color=sheet.ink, linewidth=0.8, linestyle=":", zorder=1.5)
        sheet.more = share(n_shown, len(self.levels), of="levels")
        sheet.name_rows(self.levels, shown, fontsize)
