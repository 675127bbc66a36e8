"""How much the model uses each feature, and how far that helps, as points."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from attributions.names import find_feature
from attributions.plots.captions import DOUBTED, are_doubtful, value_label
from attributions.plots.colors import BLUE, GREY, RGB
from attributions.plots.places import Box, place_beside
from attributions.plots.sheet import TWO_SIDED_95, Display, Sheet, as_max_display
from attributions.plots.shown import PerFeature

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

TITLE = "What the model uses, and what that is good for"
NAMES_WIDTH = 0.3  # of the axes


class UsedUsefulDisplay(Display):
    """How much the model uses each feature (to the right), and how far that helps (upwards).

    A feature far to the right and above 0 is used and useful. One far to the right and below 0 is
    used, and makes predictions of new rows worse. A hollow point has an interval
    that is not to be relied on (``is_reliable``).

    Parameters
    ----------
    used : GlobalAttribution
        As ``attributions.absolute`` gives it.
    useful : GlobalAttribution
        As ``attributions.held_out_gain`` or ``tree_inner`` gives it, on held-out rows.
    highlight : sequence of int or str
        Features to draw in blue and to name, by their number or name.
    highlight_label : str
        What the highlighted features are.
    used_label, useful_label : str, optional
        Labels of the axes, in place of those that the methods' units give.
    max_display : int or None
        How many other features are named, at most: those that stand out from the bulk. None for
        all. A name that would meet another or hide a point is left out.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    points_ : matplotlib PathCollection
        One a feature, in the order of the columns.
    """

    def __init__(
        self,
        used: PerFeature,
        useful: PerFeature,
        *,
        highlight: Iterable[int | str] = (),
        highlight_label: str = "highlighted",
        used_label: str | None = None,
        useful_label: str | None = None,
        max_display: int | None = 8,
    ):
        if used.feature_names != useful.feature_names:
            raise ValueError(
                "used and useful must be attributions of the same features, in the same order;"
                f" they begin with {used.feature_names[:3]} and {useful.feature_names[:3]}."
            )
        self.used = used
        self.useful = useful
        self.highlight = tuple(
            find_feature(k, used.feature_names) if isinstance(k, str) else int(k) for k in highlight
        )
        self.highlight_label = highlight_label
        self.used_label = f"used: {value_label(used)}" if used_label is None else used_label
        self.useful_label = (
            f"useful: {value_label(useful)}" if useful_label is None else useful_label
        )
        self.max_display = as_max_display(max_display, len(used.values))

    @classmethod
    def from_attributions(
        cls,
        used: PerFeature,
        useful: PerFeature,
        *,
        highlight: Iterable[int | str] = (),
        highlight_label: str = "highlighted",
        used_label: str | None = None,
        useful_label: str | None = None,
        max_display: int | None = 8,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Self:
        """Make the display and draw it.

        Parameters
        ----------
        used, useful, highlight, highlight_label, used_label, useful_label, max_display
            As for the class.
        ax, title, figsize
            As for ``GlobalAttribution.plot``.
        """
        display = cls(
            used,
            useful,
            highlight=highlight,
            highlight_label=highlight_label,
            used_label=used_label,
            useful_label=useful_label,
            max_display=max_display,
        )
        return display.plot(ax, title=title, figsize=figsize)

    def _draw(self, ax: "Axes | None", title: str | None, figsize: Any) -> "Axes":
        x, y = self.used.values, self.useful.values
        marked = np.isin(np.arange(len(x)), self.highlight)
        named = self._named(marked)
        names = self.used.feature_names
        heading = TITLE if title is None else title
        aside = f"blue: {self.highlight_label}" if marked.any() else ""
        words = [*(names[k] for k in named), heading, aside]
        sheet = Sheet(ax, figsize, words, width=7.6, height=5.2)
        ax = sheet.ax
        below = f"{self.used_label}{sheet.uncrowd('x', x)}{sheet.lettering.note(names, named)}"
        doubtful = are_doubtful(self.used) | are_doubtful(self.useful)
        beside = f"{self.useful_label}{sheet.uncrowd('y', y)}{DOUBTED * bool(doubtful.any())}"
        for part, color, alpha, zorder in ((~marked, GREY, 0.4, 2), (marked, BLUE, 0.8, 3)):
            ax.errorbar(
                x[part],
                y[part],
                xerr=_interval(self.used, part),
                yerr=_interval(self.useful, part),
                fmt="none",
                ecolor=sheet.drawn_in(color),
                elinewidth=1.0,
                alpha=alpha,
                zorder=zorder,
            )
        self.points_ = ax.scatter(
            x,
            y,
            s=30,
            c=[sheet.drawn_in(BLUE) if is_marked else GREY for is_marked in marked],
            edgecolors=[sheet.colors.background],
            linewidths=0.6,
            clip_on=False,  # points of unused features lie on the axis, and are drawn whole
            zorder=4,
        )
        self._hollow(doubtful, sheet.colors.background)
        ax.axhline(0, color=sheet.colors.ink, linewidth=0.8)
        ax.margins(x=0.1, y=0.05)
        ax.autoscale_view()
        ax.set_xlim(left=0)
        if not np.any(y) and not np.any(self.useful.standard_error):
            ax.set_ylim(-1, 1)
        sheet.say_if_nothing(x, y, self.used.standard_error, self.useful.standard_error)
        sheet.quieten(grid="both")
        sheet.caption(heading, below, beside, aside, BLUE)
        self._name_points(sheet, named, marked)
        return ax

    def _hollow(self, doubtful: np.ndarray, background: RGB) -> None:
        """Hollow out the points whose interval is not to be relied on."""
        if doubtful.any():
            colors = self.points_.get_facecolor()
            self.points_.set(
                edgecolor=np.where(doubtful[:, np.newaxis], colors, (*background, 1)),
                facecolor=np.where(doubtful[:, np.newaxis], (*background, 1), colors),
                linewidth=np.where(doubtful, 1.4, 0.6),
            )

    def _named(self, marked: np.ndarray) -> list[int]:
        """Return the features to name: highlighted ones, and used ones that stand out."""
        x, y = self.used.values, self.useful.values
        if not (x.any() or y.any()):
            return []
        outstanding = np.abs(x) / _bulk(x) + np.abs(y) / _bulk(y)
        others = np.argsort(-outstanding, kind="stable")
        others = others[~marked[others] & ((x != 0) | (y != 0))[others]]
        return [*np.flatnonzero(marked), *others[: self.max_display]]

    def _name_points(self, sheet: Sheet, named: list[int], marked: np.ndarray) -> None:
        """Write names beside their points, each where it hides least."""
        from matplotlib.patheffects import withStroke

        ax = sheet.ax
        fontsize = 0.9 * float(ax.xaxis.label.get_fontsize())
        taken = [Box.of(text.get_window_extent()) for text in self._write_halves(sheet, fontsize)]
        frame = Box.of(ax.get_window_extent())
        pixels = ax.transData.transform(np.column_stack([self.used.values, self.useful.values]))
        room = NAMES_WIDTH * (frame.high - frame.low)[0]
        texts = sheet.lettering.names(self.used.feature_names, named, room, fontsize)
        gap = 0.6 * fontsize * sheet.figure.dpi / 72
        for k, text in zip(named, texts, strict=True):
            size = sheet.lettering.size(text, fontsize)
            found = place_beside(pixels[k], size, pixels, gap, taken, frame, is_needed=marked[k])
            if found is None:
                continue
            box, is_far = found
            taken.append(box)
            color = sheet.written_in(BLUE) if marked[k] else sheet.colors.ink
            ax.annotate(
                text,
                (self.used.values[k], self.useful.values[k]),
                xytext=((box.low + box.high) / 2 - pixels[k]) * 72 / sheet.figure.dpi,
                textcoords="offset points",
                fontsize=fontsize,
                ha="center",
                va="center",
                zorder=5,
                path_effects=[withStroke(linewidth=2.5, foreground=sheet.colors.background)],
                arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.6}
                if is_far
                else None,
                **{**sheet.lettering.properties, "color": color},
            )

    def _write_halves(self, sheet: Sheet, fontsize: float) -> list["Annotation"]:
        """Write beside the axis on which side of 0 features helped, and on which they hurt."""
        return [
            sheet.ax.annotate(
                word,
                (1, 0),
                xytext=(-2, offset),
                xycoords=sheet.ax.get_yaxis_transform(),
                textcoords="offset points",
                fontsize=fontsize,
                style="italic",
                ha="right",
                va=side,
                **sheet.write,
            )
            for word, offset, side in (("helped", 3, "bottom"), ("hurt", -3, "top"))
        ]


def _interval(result: PerFeature, part: np.ndarray) -> np.ndarray | None:
    """Return half the 95 % intervals of some features; None without standard errors."""
    return None if result.standard_error is None else TWO_SIDED_95 * result.standard_error[part]


def _bulk(values: np.ndarray) -> float:
    """Return the width of the middle half of the values, 1 where it has none."""
    low, high = np.quantile(values, [0.25, 0.75])
    return high - low if high > low else 1.0
