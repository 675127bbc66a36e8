"""The curve of one feature, above the distribution of its values."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from attributions.plots.captions import title_of
from attributions.plots.colors import BLUE, CURVES
from attributions.plots.sheet import Sheet
from attributions.plots.shown import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_BINS = 40  # of the distribution
HEIGHT_OF_BINS = 0.18  # of the axes
MOST_LEVELS = 30
MARGIN = 0.05  # of the range of the cuts, beyond the first and the last
VALUE = "raw prediction in the mean"
OF_ROWS = "\n(grey: how the rows are distributed)"


class CurveDisplay:
    """What predictions are in the mean, by the value of one feature.

    The curve of a feature of numbers is drawn as it is, step by step; the distribution of the rows
    stands below it. Levels of a categorical feature are rows, as wide as what they add to the
    smallest; the commonest are shown. A hollow ring at the right is where the feature is missing.

    Parameters
    ----------
    curve : FeatureCurve

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib artists
        One an output.
    """

    lines_: list[Any]

    def __init__(self, curve: Curve):
        self.curve = curve

    @classmethod
    def from_curve(
        cls,
        curve: Curve,
        *,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Self:
        """Make the display and draw it.

        Parameters
        ----------
        curve
            As for the class.
        ax, title, figsize
            As for ``GlobalAttribution.plot``.
        """
        return cls(curve).plot(ax, title=title, figsize=figsize)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Self:
        """Draw on ``ax``, or on a new figure of ``figsize`` inches; return the display.

        Parameters
        ----------
        ax, title, figsize
            As for ``GlobalAttribution.plot``.
        """
        curve = self.curve
        heading = title_of(curve.method) if title is None else title
        is_of_levels = curve.levels is not None
        shown = self._shown_levels() if is_of_levels else np.empty(0, dtype=int)
        words = [curve.feature_name, heading, *self._names_of_levels(shown)]
        sheet = Sheet(ax, figsize, words, 5.6, 1.4 if is_of_levels else 3.8, len(shown))
        name = sheet.lettering.writable(curve.feature_name)
        values = curve.values.reshape(len(curve.values), -1)
        if is_of_levels:
            self._draw_levels(sheet, values, shown)
            sheet.quieten(grid="x", left=False)
            sheet.caption(heading, f"{VALUE}, by {name}")
        else:
            self._draw_steps(sheet, values)
            sheet.quieten(grid="y")
            sheet.caption(heading, name + (OF_ROWS if curve.shares is not None else ""), VALUE)
        self.ax_, self.figure_ = sheet.ax, sheet.ax.figure
        return self

    def _draw_steps(self, sheet: Sheet, values: np.ndarray) -> None:
        """Draw one line an output, the distribution, and where the feature is missing."""
        curve, ax = self.curve, sheet.ax
        cuts = curve.cuts if len(curve.cuts) else np.zeros(1)
        margin = MARGIN * (cuts[-1] - cuts[0]) or 1.0
        edges = np.concatenate([[cuts[0] - margin], curve.cuts, [cuts[-1] + margin]])
        self.lines_ = []
        for k, of_output in enumerate(values.T):
            color = sheet.drawn_in(BLUE if values.shape[1] == 1 else CURVES[k % len(CURVES)])
            label = None if curve.output_names is None else str(curve.output_names[k])
            line = ax.stairs(of_output, edges, baseline=None, color=color, lw=1.8, label=label)
            self.lines_.append(line)
            if curve.shares is not None and curve.shares[-1] > 0:
                at_missing = np.ravel(curve.missing)[k]
                ax.plot(edges[-1], at_missing, "o", mfc="none", color=color, clip_on=False)
        if curve.output_names is not None:
            ax.legend(frameon=False, labelcolor=sheet.colors.ink)
        ax.set_xlim(edges[0], edges[-1])
        ax.margins(y=0.08)
        if curve.shares is not None:
            self._draw_distribution(sheet, edges)

    def _draw_distribution(self, sheet: Sheet, edges: np.ndarray) -> None:
        """Draw the shares of the intervals, each spread evenly, as bars at the foot of the axes."""
        shares = np.asarray(self.curve.shares)[: len(edges) - 1]
        up_to = np.concatenate([[0.0], np.cumsum(shares)])
        bins = np.linspace(edges[0], edges[-1], N_BINS + 1)
        heights = np.diff(np.interp(bins, edges, up_to))
        ax = sheet.ax
        low, high = ax.get_ylim()
        low -= HEIGHT_OF_BINS * (high - low)
        ax.set_ylim(low, high)
        tall = HEIGHT_OF_BINS * (high - low) * heights / max(heights.max(), 1e-300)
        ax.stairs(low + tall, bins, baseline=low, fill=True, color=sheet.colors.faint, zorder=0)

    def _shown_levels(self) -> np.ndarray:
        """Return the numbers of the levels that are drawn, in their order."""
        n, shares = len(self.curve.values), self.curve.shares
        if n <= MOST_LEVELS or shares is None:
            return np.arange(min(n, MOST_LEVELS))
        return np.sort(np.argsort(-shares[:n], kind="stable")[:MOST_LEVELS])

    def _draw_levels(self, sheet: Sheet, values: np.ndarray, shown: np.ndarray) -> None:
        """Draw a row a level, its name beside it."""
        ax = sheet.ax
        n_shown, fontsize = sheet.rows_that_fit(len(shown))
        shown = shown[:n_shown]
        start: Any = values.min()
        self.lines_ = [
            ax.plot(
                of_output[shown],
                np.arange(len(shown)),
                "o",
                color=sheet.drawn_in(BLUE if values.shape[1] == 1 else CURVES[k % len(CURVES)]),
            )[0]
            for k, of_output in enumerate(values.T)
        ]
        if values.shape[1] == 1:
            color = sheet.drawn_in(BLUE)
            ax.hlines(np.arange(len(shown)), start, values[shown, 0], color=color, lw=1.8)
        sheet.name_rows(self._names_of_levels(np.arange(len(values))), shown, fontsize)

    def _names_of_levels(self, numbers: np.ndarray) -> list[str]:
        return [str((self.curve.levels or ())[number]) for number in numbers]
