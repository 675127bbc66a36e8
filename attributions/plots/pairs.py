"""Pairs of features as a matrix of squares."""

from typing import Any

import numpy as np

from attributions.plots.captions import share, title_of, value_label
from attributions.plots.colors import BLUE, VERMILION
from attributions.plots.sheet import Display, Sheet, as_max_display
from attributions.plots.shown import PerPair

ABOVE = "below splits on this number (diagonal: no other)"
COLORS = "blue helped, vermilion hurt"
DIGITS = 2.5  # letters of width that a column's number takes, with the gap to the next


class PairsDisplay(Display):
    """What the features in rows earned below splits on the features in columns.

    Columns have the numbers of their features, which stand beside the names of the rows. The area
    of a mark is the size of its value; blue helped, vermilion hurt.

    Parameters
    ----------
    attribution : PairAttribution
    max_display : int or None
        How many features to show at most, best first; None for all.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    squares_ : matplotlib PatchCollection
    """

    def __init__(self, attribution: PerPair, *, max_display: int | None = 10):
        self.max_display = as_max_display(max_display, len(attribution.feature_names))
        self.attribution = attribution

    @classmethod
    def from_attribution(
        cls,
        attribution: PerPair,
        *,
        max_display: int | None = 10,
        ax: Any = None,
        title: str | None = None,
        figsize: Any = None,
    ) -> "PairsDisplay":
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

    def _draw(self, ax: Any, title: str | None, figsize: Any) -> Any:
        result, names = self.attribution, self.attribution.feature_names
        ranking = np.argsort(-result.importance(), kind="stable")[: self.max_display]
        heading = title_of(result.method) if title is None else title
        words = [*(names[k] for k in ranking), heading]
        sheet = Sheet(ax, figsize, words, width=6.4, height=2.4, n_rows=len(ranking))
        from matplotlib.collections import PatchCollection
        from matplotlib.patches import Rectangle

        label = f"{ABOVE}\n{COLORS}\narea: {value_label(result, intervals=False)}"
        label += sheet.lettering.note(names, ranking)
        sheet.caption(heading, label)
        n_shown, fontsize = sheet.rows_that_fit(len(ranking))
        in_row = sheet.ax.get_window_extent().width - sheet.room("left")
        in_row /= DIGITS * sheet.lettering.size("0", fontsize)[0]
        n_shown = max(1, min(n_shown, int(in_row)))
        shown = ranking[:n_shown]
        table = result.matrix()[np.ix_(shown, shown)]
        side = np.sqrt(np.abs(table) / max(np.abs(table).max(initial=0), np.finfo(float).tiny))
        rows, columns = np.nonzero(table)
        squares = [
            Rectangle((c - 0.45 * side[r, c], r - 0.45 * side[r, c]), *[0.9 * side[r, c]] * 2)
            for r, c in zip(rows, columns, strict=True)
        ]
        colors = [
            sheet.drawn_in(BLUE if table[r, c] > 0 else VERMILION)
            for r, c in zip(rows, columns, strict=True)
        ]
        self.squares_ = sheet.ax.add_collection(PatchCollection(squares, facecolor=colors))
        sheet.say_if_nothing(table)
        numbers = [str(number) for number in range(1, n_shown + 1)]
        sheet.name_rows(names, shown, fontsize, [f"  {number}" for number in numbers])
        sheet.ax.set_xticks(
            range(n_shown), numbers, fontsize=fontsize, **sheet.lettering.properties
        )
        sheet.ax.set_xlim(-0.6, n_shown - 0.4)
        sheet.quieten(grid="both", left=False)
        some = share(n_shown, len(names), best="best ") if title is None else ""
        sheet.caption(heading + (f": {some}" if some else ""), label)
        return sheet.ax
