"""Importance along boosting, as curves."""

from typing import TYPE_CHECKING, Self

import numpy as np

from attributions.plots.captions import title_of, value_label
from attributions.plots.colors import CURVES, GREY, readable
from attributions.plots.places import spread
from attributions.plots.sheet import ROW_HEIGHT, Sheet, as_max_display
from attributions.plots.shown import PerFeature

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

DASHES = ("-", "--", ":", "-.")  # the colours begin again with the next


class BoostingDisplay:
    """How the importance of features adds up tree by tree.

    A curve that rises on held-out rows is a feature that is still learning something true; one that
    turns down has begun to fit noise.

    Parameters
    ----------
    attribution : GlobalAttribution
        Computed with ``per_tree=True``.
    max_display : int or None
        How many curves are coloured and named at most, those that end farthest from 0; the others
        are grey. None for all. Where the axes are too low for so many names, fewer are named.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib Line2D
        One a feature, in the order of the columns.
    """

    def __init__(self, attribution: PerFeature, *, max_display: int | None = 6):
        if attribution.per_tree is None:
            raise ValueError(
                f"{attribution.method} has no per_tree; compute it with per_tree=True to see"
                " importance along boosting."
            )
        self.max_display = as_max_display(max_display, len(attribution.values))
        self.attribution = attribution

    @classmethod
    def from_attribution(
        cls,
        attribution: PerFeature,
        *,
        max_display: int | None = 6,
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
        result, names = self.attribution, self.attribution.feature_names
        by_tree = np.asarray(result.per_tree)
        n_trees, n_features = by_tree.shape
        curves = np.concatenate([np.zeros((1, n_features)), np.cumsum(by_tree, axis=0)])
        named = np.argsort(-np.abs(curves[-1]), kind="stable")[: self.max_display]
        named = named[curves[:, named].any(axis=0)]
        heading = f"{title_of(result.method)} along boosting" if title is None else title
        words = [*(names[k] for k in named), heading]
        sheet = Sheet(ax, figsize, words, width=7.2, height=4.4)
        ax = sheet.ax
        below = f"trees{sheet.lettering.note(names, named)}"
        beside = value_label(result, intervals=False) + sheet.uncrowd("y", curves[:, named])
        sheet.caption(heading, below, beside)

        n_named, fontsize = sheet.rows_that_fit(len(named))
        named = named[:n_named]
        color = {k: sheet.drawn_in(CURVES[j % len(CURVES)]) for j, k in enumerate(named)}
        dashes = {k: DASHES[j // len(CURVES) % len(DASHES)] for j, k in enumerate(named)}
        self.lines_ = [
            ax.plot(
                np.arange(n_trees + 1),
                curves[:, k],
                color=color.get(k, GREY),
                linestyle=dashes.get(k, "-"),
                linewidth=1.8 if k in color else 0.7,
                alpha=1.0 if k in color else 0.5,
                zorder=3 if k in color else 2,
            )[0]
            for k in range(n_features)
        ]
        ax.axhline(0, color=sheet.colors.ink, linewidth=0.8)
        ax.set_xlim(0, max(n_trees, 1))
        sheet.say_if_nothing(curves)
        self._name_curves(sheet, named, curves[-1, named], color, fontsize)
        sheet.quieten(grid="y")
        sheet.caption(heading, below, beside)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _name_curves(
        self,
        sheet: Sheet,
        named: np.ndarray,
        ends: np.ndarray,
        color: dict[int, "ColorType"],
        fontsize: float,
    ) -> None:
        """Write the names at the right of the axes, near the ends of the curves."""
        ax, names = sheet.ax, self.attribution.feature_names
        n_trees = len(np.asarray(self.attribution.per_tree))
        texts = sheet.lettering.names(names, named, sheet.room("right"), fontsize)
        height = ax.get_window_extent().height
        gap = ROW_HEIGHT * fontsize * sheet.figure.dpi / 72 / height
        at_end = ax.transData.transform(np.column_stack([np.full(len(ends), n_trees), ends]))
        shares = ax.transAxes.inverted().transform(at_end)[:, 1]
        places = spread(shares, gap, gap / 2, 1 - gap / 2)
        for k, text, end, place in zip(named, texts, ends, places, strict=True):
            ax.annotate(
                text,
                (n_trees, end),
                xytext=(1.03, place),
                textcoords=ax.transAxes,
                fontsize=fontsize,
                va="center",
                annotation_clip=False,
                arrowprops={
                    "arrowstyle": "-",
                    "color": color[k],
                    "linewidth": 0.7,
                    "relpos": (0, 0.5),
                    "shrinkA": 1,
                    "shrinkB": 0,
                },
                **{
                    **sheet.lettering.properties,
                    "color": readable(color[k], sheet.colors.outside),
                },
            )
