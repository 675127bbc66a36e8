"""Contributions to rows: one row as a waterfall or a force plot, or all rows as a swarm."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attributions.amounts import MINUS, amount, on_picture
from attributions.methods import facts_of
from attributions.names import find_row, on_one_line
from attributions.options import check_one_of
from attributions.plots.captions import OF_CONSTANT, share
from attributions.plots.colors import BLUE, GREY, VERMILION, luminance
from attributions.plots.sheet import Display, Paper, Sheet, as_max_display
from gbt.tables.names import counted

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

KINDS = ("waterfall", "force")
SHORT = 10  # letters of a number that is written in full
DARKEST = 0.35  # where a swarm's colours begin on a dark background: darker ones are not seen
PADDING = 4  # points from a bar to its number
LEAST_BARS = 0.1  # of the axes' width, however wide the numbers beside them are
BESIDE = 0.75  # of the bars' width, beside them, for names in a force plot
MOST_FORCES = 10  # features of a force plot
N_BINS, HALF_WIDTH = 100, 0.38  # of a swarm: of the values, and of the distance between rows


class Way(NamedTuple):
    """The way of one row from its start to its end: the strongest features, then all others."""

    names: tuple[str, ...]  # of all features, and one of those that are not shown
    columns: list[int]  # which of the names
    said: list[str]  # what stands behind them: the values of the features
    moves: np.ndarray
    start: float
    end: float


class LocalAttributionDisplay(Display):
    """One row as a waterfall or a force plot, or a swarm of all rows for each feature.

    Where numbers say whether a feature helped (``tree_inner_rows``, ``held_out_gain_rows``), blue
    helped and vermilion hurt.

    Parameters
    ----------
    attribution : LocalAttribution
    row, kind, max_display
        As for ``LocalAttribution.plot``.
    """

    def __init__(
        self,
        attribution: Any,
        *,
        row: Hashable | None = None,
        kind: str = "waterfall",
        max_display: int | None = 12,
    ):
        attribution.check_one_output("A picture")
        n_rows, n_features = attribution.values.shape
        if n_rows == 0:
            raise ValueError("The attribution has no rows; a picture needs at least one.")
        check_one_of(KINDS, kind=kind)
        if kind == "force" and row is None:
            raise ValueError("kind='force' draws one row: say which, as plot(row=0, kind='force').")
        self.row = None if row is None else find_row(row, n_rows, attribution.index)
        self.kind = kind
        self.max_display = as_max_display(max_display, n_features)
        self.attribution = attribution
        method, _, self.output = attribution.method.partition(" of ")  # of several
        self.facts = facts_of(method)
        self.is_whole = self.facts.is_whole_prediction and self.row is not None
        self.unit = attribution.percent_of_one or 1.0
        self.up, self.down = (BLUE, VERMILION) if self.facts.is_judged else (VERMILION, BLUE)

    def _draw(self, paper: Paper) -> Sheet:
        result = self.attribution
        rows = self.unit * (result.values if self.row is None else result.values[[self.row]])
        ranking = np.argsort(-np.abs(rows).mean(axis=0), kind="stable")[: self.max_display]
        if self.row is not None and rows.any():
            ranking = ranking[rows[0, ranking] != 0]  # bars of 0 would only use up room
        words = [*(result.feature_names[k] for k in ranking), MINUS]
        is_force = self.row is not None and self.kind == "force"
        n_rows = min(len(ranking), MOST_FORCES) / 2 + 5 if is_force else 1.4 * (len(ranking) + 1)
        sheet = Sheet(paper, self._heading(), words, (7.2, 1.5), n_rows)
        label = self._unit_label()
        if self.row is None:
            label += sheet.uncrowd("x", rows[:, ranking])
        sheet.caption(label)
        n_shown, fontsize = sheet.rows_that_fit(len(ranking))
        if self.row is None:
            sheet.x += self._swarm(sheet, rows, ranking[:n_shown], fontsize)
            sheet.more = share(n_shown, len(result.feature_names))
        elif is_force:
            self._force(sheet, rows[0], ranking[:MOST_FORCES])
        else:
            self._waterfall(sheet, rows[0], ranking)
        sheet.say_if_nothing(rows)
        return sheet.finish(grid="x", left=False)

    def _heading(self) -> str:
        """Return the title: all rows, or one row by its label, or by its number if it has none."""
        result, judged = self.attribution, self.facts.is_judged
        whose = f"output {self.output}" if self.output.isdigit() else self.output
        of = f", for {whose}" * bool(whose)  # a class has a name of its own
        if self.row is None:
            verb = "helps each row" if judged else "moves predictions"
            return f"How each feature {verb}{of}, {counted(len(result.values), 'row')}"
        label = self.row if result.index is None else list(result.index)[self.row]
        whom = f"row {on_one_line(label)}"
        verb = f"helped {whom}" if judged else f"moves the prediction of {whom}"
        return f"How each feature {verb}{of}"

    def _unit_label(self) -> str:
        """Return the unit of a row's numbers, and where they lead to."""
        if self.facts.is_judged:
            unit = f"{OF_CONSTANT}, of a row" if self.attribution.percent_of_one else "gain"
            return f"{unit} (above 0: helped)"
        return "raw prediction" if self.is_whole else self.facts.unit_of_row

    def _steps(self, contributions: np.ndarray, shown: np.ndarray) -> Way:
        """Return what leads from the base value, or from 0, to the sum of all contributions."""
        result = self.attribution
        start = float(result.base_values[self.row]) if self.is_whole else 0.0
        said = [""] * len(shown)
        if result.data is not None:
            said = [f" = {_in_words(value)}" for value in result.shown_data()[self.row, shown]]
        columns, moves = [*shown], contributions[shown]
        n_others = int(np.count_nonzero(contributions) - np.count_nonzero(moves))
        if n_others:
            columns, said = [*columns, len(contributions)], [*said, ""]
            moves = np.append(moves, contributions.sum() - moves.sum())
        names = (*result.feature_names, counted(n_others, "other feature"))
        return Way(names, columns, said, moves, start, start + float(contributions.sum()))

    def _color(self, sheet: Sheet, move: float) -> Any:
        return sheet.drawn_in(self.up if move > 0 else self.down)

    def _waterfall(self, sheet: Sheet, contributions: np.ndarray, ranking: np.ndarray) -> None:
        """Draw every move from where the one above has led to, with its number beside it."""
        ax = sheet.ax
        n_shown, fontsize = sheet.rows_that_fit(len(ranking) + 1)
        fits_all = n_shown > len(ranking)
        steps = self._steps(contributions, ranking if fits_all else ranking[: n_shown - 1])
        ends = steps.start + np.cumsum(steps.moves)
        lefts = np.concatenate([[steps.start], ends[:-1]])
        colors = [self._color(sheet, move) for move in steps.moves]
        places = np.arange(len(ends))
        bars = ax.barh(places, steps.moves, left=lefts, height=0.7, color=colors)
        ax.vlines(ends[:-1], places[:-1], places[1:], color=sheet.ink, lw=0.6, ls=":")
        numbers = [*map(_signed, steps.moves)]
        ax.bar_label(bars, numbers, padding=PADDING, fontsize=fontsize, **sheet.write)
        sheet.name_rows(steps.names, steps.columns, fontsize, steps.said)
        sheet.lay_out()
        width = ax.get_window_extent().width * 72 / sheet.figure.dpi
        room = max(sheet.lettering.size(number, fontsize)[0] for number in numbers)
        room = room * 72 / sheet.figure.dpi + 2 * PADDING
        low, high = min(steps.start, *ends), max(steps.start, *ends)
        margin = room / max(width - 2 * room, LEAST_BARS * width) * ((high - low) or 1.0)
        ax.set_xlim(low - margin, high + margin)
        self._write_sums(sheet, steps, fontsize)

    def _write_sums(self, sheet: Sheet, steps: Way, fontsize: float) -> None:
        """Mark where the way starts, above the first bar, and where it ends, below the last."""
        ax, n = sheet.ax, len(steps.moves)
        said = [("base value", steps.start, -1.1), ("prediction", steps.end, n + 0.1)]
        if not self.is_whole:
            sheet.zero_line("x")
            said = [("sum", steps.end, n + 0.1)]
        ax.set_ylim(n + 0.7, -1.7)
        middle = np.mean(ax.get_xlim())
        for word, value, place in said:
            ax.plot([value, value], [place, min(max(place, 0), n - 1)], lw=0.8,
                    color=sheet.ink, ls=":")  # fmt: skip
            side = 1 if value < middle else -1
            ax.annotate(
                f"{word} {on_picture(value, 4)}", (value, place), xytext=(4 * side, 0), va="center",
                textcoords="offset points", ha="left" if side > 0 else "right",
                fontsize=fontsize, fontweight="bold", **sheet.write,
            )  # fmt: skip

    def _force(self, sheet: Sheet, contributions: np.ndarray, shown: np.ndarray) -> None:
        """Draw all bars in one line: what raises from the left, what lowers from the right.

        The strongest are outside. So names can stand below one another, the strongest first, away
        from the middle, and no line to a name crosses another name.
        """
        ax, steps = sheet.ax, self._steps(contributions, shown)
        order = np.argsort(-np.abs(steps.moves), kind="stable")
        sides = [[j for j in order if steps.moves[j] * side > 0] for side in (1, -1)]
        n_rows = max(map(len, sides))
        low, high = (steps.end - steps.moves[members].sum() for members in sides)
        margin = BESIDE * ((high - low) or 1.0)
        ax.set(xlim=(low - margin, high + margin), ylim=(n_rows - 0.3, -2.6), yticks=[])
        _, fontsize = sheet.rows_that_fit(n_rows + 3)
        frame, dots = ax.get_window_extent(), sheet.figure.dpi / 72
        for side, members, place in zip((1, -1), sides, (low, high), strict=True):
            for row, j in enumerate(members):
                move, middle = steps.moves[j], place + steps.moves[j] / 2
                color, place = self._color(sheet, move), place + move
                ax.barh(-1, move, left=place - move, height=0.8, color=color,
                        edgecolor=sheet.background)  # fmt: skip
                ax.plot([middle] * 2, [-0.6, row], color=color, linewidth=0.7)
                at = ax.transData.transform((middle, row))[0]
                name = on_one_line(steps.names[steps.columns[j]]) + steps.said[j]
                number = f"  {_signed(move)}"
                room = abs(at - (frame.x0 if side > 0 else frame.x1)) - 4 * dots
                room -= sheet.lettering.size(number, fontsize)[0]
                ax.annotate(
                    sheet.lettering.cut(name, room, fontsize) + number, (middle, row),
                    xytext=(-3 * side, 0), textcoords="offset points", va="center",
                    ha="right" if side > 0 else "left", fontsize=fontsize, **sheet.write,
                )  # fmt: skip
        start, end = (on_picture(number, 4) for number in (steps.start, steps.end))
        said = f"prediction {end} (base value {start})" if self.is_whole else f"sum {end}"
        ax.plot([steps.end] * 2, [-1.5, -0.5], color=sheet.ink, linewidth=1.2)
        ax.annotate(said, (steps.end, -1.6), ha="center", va="bottom", fontsize=fontsize,
                    fontweight="bold", **sheet.write)  # fmt: skip

    def _swarm(self, sheet: Sheet, rows: np.ndarray, shown: np.ndarray, fontsize: float) -> str:
        """Draw every row as a point, pushed aside where many contributions are alike.

        Points are coloured by the rank of the feature's value, red where it is missing. Levels are
        grey, because their order is alphabetical and means nothing. Return what the label of the
        axis has to say about colours.
        """
        from matplotlib import colormaps
        from matplotlib.colors import ListedColormap, to_rgba
        from scipy.stats import rankdata

        result, ax = self.attribution, sheet.ax
        is_dark = luminance(sheet.background) < 0.2
        cividis = colormaps["cividis"](np.linspace(DARKEST * is_dark, 1, 256))
        ranked = ListedColormap(cividis).with_extremes(bad=VERMILION)
        red, grey = to_rgba(VERMILION), to_rgba(sheet.drawn_in(GREY))
        to_axis = ax.xaxis.get_transform()
        categories = result.categories or [None] * rows.shape[1]
        are_words = [categories[k] is not None for k in shown]
        for place, k in enumerate(shown):
            color: Any = sheet.drawn_in(BLUE)
            if result.data is not None and are_words[place]:
                color = np.where(np.isnan(result.data[:, [k]]), red, grey)
            elif result.data is not None:
                ranks = rankdata(result.data[:, k], "dense", nan_policy="omit") - 1
                color = ranked(ranks / np.nanmax(ranks, initial=1))
            aside = _swarm_offsets(to_axis.transform(rows[:, k]))
            ax.scatter(rows[:, k], place + aside, s=7, linewidths=0, zorder=2, c=color)
        sheet.name_rows(result.feature_names, shown, fontsize)
        sheet.zero_line("x")
        if result.data is None:
            return ""
        has_missing = bool(np.isnan(result.data[:, shown]).any())
        marks = ["grey: words"] * any(are_words) + ["vermilion: missing"] * has_missing
        if all(are_words):
            return f"\n({', '.join(marks)})"
        self._color_bar(sheet, ranked, ", ".join(["feature value (rank)", *marks]))
        return ""

    def _color_bar(self, sheet: Sheet, ranked: "Colormap", words: str) -> None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        scale = ScalarMappable(Normalize(0, 1), ranked)
        bar = sheet.figure.colorbar(scale, ax=sheet.ax, aspect=45, pad=0.02, ticks=[0, 1])
        ink = sheet.ax.xaxis.label.get_color()
        bar.ax.set_yticklabels(["low", "high"], color=ink)
        label = bar.ax.set_ylabel(words, color=ink, **sheet.lettering.properties)
        height = sheet.ax.get_window_extent().height
        sheet.lettering.wrap(label, words, 0.8 * height, along="height")
        if label.get_window_extent().height < 0.6 * height:
            bar.ax.yaxis.labelpad = -12  # between "low" and "high"
        bar.outline.set_visible(False)


def _signed(number: float) -> str:
    """Return a number with its sign and three digits."""
    return ("" if number < 0 else "+") + on_picture(number, 3)


def _in_words(value: object) -> str:
    """Return a number in full if that is short, a level as it is, and nan or None as missing."""
    if value is None or value != value:
        return "missing"
    if not isinstance(value, float):
        return on_one_line(value)
    in_full = f"{value:.15g}"
    text = in_full if len(in_full) <= SHORT else amount(value, 4).replace(",", "")
    return text.replace("-", MINUS)


def _swarm_offsets(values: np.ndarray) -> np.ndarray:
    """Return how far aside each point goes: alternately up and down within its bin."""
    share = (values - values.min()) / (np.ptp(values) or 1.0)
    bins = np.minimum((share * N_BINS).astype(np.int64), N_BINS - 1)
    order = np.argsort(bins, kind="stable")
    rank = np.argsort(order) - np.searchsorted(bins[order], bins)
    fullest = np.bincount(bins).max()
    step = HALF_WIDTH / max((fullest + 1) // 2, 10)
    return step * ((rank + 1) // 2) * np.where(rank % 2, 1, -1)
