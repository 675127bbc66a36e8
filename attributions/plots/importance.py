"""Features by importance, as bars."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from attributions.plots.captions import (
    DOUBTED,
    are_doubtful,
    per_cent_of_one,
    share,
    title_of,
    value_label,
)
from attributions.plots.colors import BLUE, VERMILION
from attributions.plots.sheet import TWO_SIDED_95, Display, Sheet, as_max_display, is_crowded
from attributions.plots.shown import PerFeature

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
