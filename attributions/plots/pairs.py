"""Pairs of features as a matrix of squares."""

from typing import Any

import numpy as np

from attributions.methods import facts_of
from attributions.plots.captions import share
from attributions.plots.colors import BLUE, INK, VERMILION
from attributions.plots.sheet import ROW_HEIGHT, Display, Paper, Sheet, as_max_display, tick_size
from gbt.tables.names import counted

WORTH_A_SQUARE = 0.02  # of the largest: smaller squares are hardly seen
COLUMN_NAME = 10  # font sizes that a name below the axes may be long
SQUARE = 0.8  # the side of the largest, of the distance between rows


class PairsDisplay(Display):
    """What the features in rows earned below splits on those in columns, or do with these.

    The area of a square is the size of its value; blue helped, vermilion hurt, and dark is the mean
    size of an effect. Features without a square that can be seen are left out.

    Parameters
    ----------
    attribution : PairAttribution or LocalPairAttribution
    max_display : int or None
        How many features to show at most, those of the largest squares; None for all.

    Attributes
    ----------
    squares_ : matplotlib PathCollection
    """

    def __init__(self, attribution: Any, *, max_display: int | None = 10):
        self.max_display = as_max_display(max_display, len(attribution.feature_names))
        self.attribution = attribution

    def _draw(self, paper: Paper) -> Sheet:
        result, names = self.attribution, self.attribution.feature_names
        facts, is_of_rows = facts_of(result.method), hasattr(result, "base_values")
        over = counted(len(result.values) if is_of_rows else result.n_samples, "row")
        if is_of_rows:
            matrix, colors = result.importance(), (INK, INK)
            told = f"together with (diagonal: alone)\narea: mean |{facts.unit_of_row}|, {over}"
        else:
            matrix, colors = result.matrix(), (VERMILION, BLUE)
            told = (
                f"below splits on (diagonal: below no other)\nblue: helped, vermilion: hurt; area:"
                f" {facts.unit}, sum over {over}"
            )
        size = np.abs(matrix)
        largest = size.max(initial=0)
        of_feature = np.maximum(size.max(axis=0), size.max(axis=1))
        shown = np.argsort(-of_feature, kind="stable")[: self.max_display]
        shown = shown[of_feature[shown] >= WORTH_A_SQUARE * largest]
        sheet = Sheet(paper, facts.seen, [names[k] for k in shown], (6.4, 2.8), len(shown))
        sheet.more = share(1, len(names))
        sheet.caption(told)
        self._name_columns(sheet, shown, tick_size())
        sheet.lay_out()
        n_shown, fontsize = sheet.rows_that_fit(len(shown))
        across = sheet.ax.get_window_extent().width - sheet.room
        across *= 72 / sheet.figure.dpi / fontsize / ROW_HEIGHT
        shown = shown[: max(1, min(n_shown, int(across)))]
        table = matrix[np.ix_(shown, shown)]
        table = np.tril(table) if is_of_rows else table  # both halves stand in either place
        table[np.abs(table) < WORTH_A_SQUARE * largest] = 0
        rows, columns = np.nonzero(table)
        values = table[rows, columns]
        cell = min(sheet.ax.get_window_extent().size) / len(shown) * 72 / sheet.figure.dpi
        areas = (SQUARE * cell) ** 2 * np.abs(values) / (largest or 1.0)
        drawn = [sheet.drawn_in(colors[int(value > 0)]) for value in values]
        self.squares_ = sheet.ax.scatter(columns, rows, areas, drawn, marker="s", linewidths=0)
        sheet.say_if_nothing(table)
        sheet.name_rows(names, shown, fontsize)
        self._name_columns(sheet, shown, fontsize)
        sheet.ax.set_xlim(-0.6, len(shown) - 0.4)
        sheet.more = share(len(shown), len(names))
        return sheet.finish(grid="both", left=False)

    def _name_columns(self, sheet: Sheet, shown: np.ndarray, fontsize: float) -> None:
        """Write the names of features below the axes too, where a quarter of the height is left."""
        names, dots = self.attribution.feature_names, sheet.figure.dpi / 72
        room = min(COLUMN_NAME * fontsize * dots, sheet.figure.bbox.height / 4)
        sheet.name_columns(sheet.lettering.names(names, shown, room, fontsize), fontsize=fontsize)
