"""Axes made ready for a picture: size, colours, lettering, captions, scales, layout."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from attributions.options import imported, whole
from attributions.plots.colors import DRAWN, mixed, readable, seen_through
from attributions.plots.lettering import Lettering

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

ROW_HEIGHT = 1.45  # font sizes from one name on the axis to the next: fewer, and names touch
ROOMY_HEIGHT = 1.87
LEAST_FONT = 6.0
TALLEST = 150.0  # inches: the highest figure that Matplotlib draws at 400 dots an inch
NAMES_SHARE = 0.45  # of the figure's width, for names beside the axes
LEAST_LINE = 0.5  # titles and labels are wrapped at no less than this share of the width
SLACK = 0.93  # letters are a little wider at fewer dots an inch
# An axis is crowded if all values but the largest quarter would share 2 % of it.
CROWDED, LONE = 0.02, 0.25
N_TICKS = 4  # on either side of a symlog axis
LETTER_WIDTH = 0.6  # font sizes from one letter to the next


class Paper(NamedTuple):
    """What a caller of ``plot`` gives to draw on, and the title instead of the usual one."""

    ax: "Axes | None"
    title: str | None
    figsize: tuple[float, float] | None


class Display:
    """A picture that keeps its data: ``plot`` draws it, as often as it is asked to.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the last drawing.
    """

    ax_: "Axes"
    figure_: Any

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
        self.ax_ = self._draw(Paper(ax, title, figsize)).ax
        self.figure_ = self.ax_.figure
        return self

    def _draw(self, paper: Paper) -> "Sheet":
        raise NotImplementedError


class Sheet:
    """Axes made ready for a picture, with its lettering and colours.

    ``heading`` is the usual title, and ``words`` is all else that is going to be written. A new
    figure has ``size`` inches if no other is given, and is higher by ``n_rows`` named rows.
    ``figure`` is the outermost one, ``x`` and ``y`` are the labels of the axes, and ``more`` is
    added to the usual title. What is drawn on the ``background`` of the axes is in ``ink`` or
    ``faint``; the figure around them has the colour ``outside``.
    """

    def __init__(
        self,
        paper: Paper,
        heading: str,
        words: Iterable[str],
        size: tuple[float, float],
        n_rows: float = 0,
    ):
        ax, given, figsize = paper
        self.ax = new_axes(figsize, size, n_rows) if ax is None else own_axes(ax, figsize)
        self.figure = self.ax.figure.canvas.figure
        self.title, self._is_usual = (heading, True) if given is None else (given, False)
        self.more = self.x = self.y = ""
        self.lettering = Lettering(self.figure, [self.title, *words])
        faces = [figure.get_facecolor() for figure in (self.ax.figure, self.figure)]
        label = self.ax.xaxis.label.get_color()
        self.outside = seen_through(faces, label)
        self.background = seen_through([self.ax.get_facecolor(), *faces], label)
        self.ink = readable(label, self.background)
        self.faint = mixed(self.background, self.ink, 0.13)

    @property
    def write(self) -> dict[str, Any]:
        """Properties of a text in ink within the axes."""
        return {**self.lettering.properties, "color": self.ink}

    def drawn_in(self, color: "ColorType") -> "ColorType":
        """Return a colour as it can be seen within the axes."""
        return readable(color, self.background, DRAWN)

    def lay_out(self) -> None:
        """Run the figure's layout, so that sizes can be measured."""
        if engine := self.figure.get_layout_engine():
            engine.execute(self.figure)

    def caption(self, x: str, y: str = "") -> None:
        """Write what the axes show, and lay the figure out: so much room is left."""
        self.x, self.y = x, y
        self._write_captions()
        self.lay_out()

    def finish(self, grid: Literal["both", "x", "y"], left: bool = True) -> "Sheet":
        """Remove frames and ticks that say nothing, and fit the captions; return the sheet."""
        ax, ink = self.ax, readable(self.ax.xaxis.label.get_color(), self.outside)
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(ink)
        ax.tick_params(which="both", color=ink, labelcolor=ink)
        if not left:
            ax.spines["left"].set_visible(False)
            ax.tick_params(axis="y", length=0)
        ax.grid(False)
        ax.grid(axis=grid, color=self.faint, linewidth=0.8)
        ax.set_axisbelow(True)
        self._write_captions()
        return self

    def _write_captions(self) -> None:
        """Write the title and what the axes show, in lines about as long as the axes."""
        ax, properties = self.ax, self.lettering.properties
        title = self.title + self.more * self._is_usual
        in_title = ax.set_title(title, loc="left", **properties)
        in_x, in_y = ax.set_xlabel(self.x, **properties), ax.set_ylabel(self.y, **properties)
        for text in (in_title, in_x, in_y):
            text.set_color(readable(text.get_color(), self.outside))
        width, height = self._cell_size()
        self.lettering.wrap(in_y, self.y, height, along="height")
        self.lettering.wrap(in_title, title, LEAST_LINE * width)
        self.lettering.wrap(in_x, self.x, LEAST_LINE * width)
        self.lay_out()
        width = max(LEAST_LINE * width, SLACK * ax.get_window_extent().width)
        self.lettering.wrap(in_title, title, width)
        self.lettering.wrap(in_x, self.x, width)

    def rows_that_fit(self, n_wanted: int) -> tuple[int, float]:
        """Return how many named rows fit into the height of the axes, and the names' font size.

        Letters shrink to `LEAST_FONT` before rows are left out.
        """
        largest = tick_size()
        height = self.ax.get_window_extent().height * 72 / self.figure.dpi / ROW_HEIGHT
        fontsize = max(min(largest, height / max(n_wanted, 1)), min(largest, LEAST_FONT))
        return max(min(n_wanted, int(height / fontsize + 1e-9)), 1), fontsize

    def name_rows(
        self,
        feature_names: Sequence[str],
        columns: Collection[int],
        fontsize: float,
        numbers: Sequence[str] = (),
    ) -> None:
        """Write the names of columns, and a number behind each, beside rows from top to bottom."""
        numbers = numbers or [""] * len(columns)
        room = [self.room - self.lettering.size(n, fontsize)[0] for n in numbers]
        names = self.lettering.names(feature_names, columns, room, fontsize)
        texts = [name + number for name, number in zip(names, numbers, strict=True)]
        places = np.arange(len(columns))
        self.ax.set_yticks(places, texts, fontsize=fontsize, **self.lettering.properties)
        self.ax.set_ylim(len(columns) - 0.4, -0.6)

    def columns_that_fit(self) -> int:
        """Return how many upright names fit below the axes."""
        width = self.ax.get_window_extent().width * 72 / self.figure.dpi
        return max(1, int(width / (ROW_HEIGHT * tick_size())))

    def name_columns(
        self, texts: Sequence[str], at: Sequence[float] | None = None, **style: Any
    ) -> None:
        """Write names below the axes, upright where they are long."""
        letters = (max(map(len, texts), default=0) + 1) * len(texts)
        is_long = letters * LETTER_WIDTH > ROW_HEIGHT * self.columns_that_fit()
        places = range(len(texts)) if at is None else at
        style |= {"rotation": 90 * is_long, **self.lettering.properties}
        self.ax.set_xticks(places, texts, **style)

    @property
    def room(self) -> float:
        """Pixels that names may take beside the axes, which give way in a constrained layout."""
        return NAMES_SHARE * self._cell_size()[0]

    def uncrowd(self, which: str, values: np.ndarray) -> str:
        """Make an axis symlog if nearly all values would coincide on it; return a note for a label.

        A linear part, of nearly half the axis, then shows the bulk of the values.
        """
        if not is_crowded(values):
            return ""
        from matplotlib import ticker

        size = _sizes(values)
        linear = float(f"{2 * np.quantile(size, 1 - LONE):.0e}")
        decades = np.log10(size.max() / linear)
        axis = getattr(self.ax, f"{which}axis")
        getattr(self.ax, f"set_{which}scale")(
            "symlog", linthresh=linear, linscale=max(1.0, 0.75 * decades)
        )
        far = linear * 10.0 ** np.unique(np.round(np.linspace(0, np.ceil(decades), N_TICKS)))
        axis.set_major_locator(ticker.FixedLocator([*-far[::-1], 0, *far]))
        axis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
        axis.set_minor_locator(ticker.NullLocator())
        return f"\n(symlog axis, linear within \N{PLUS-MINUS SIGN}{linear:g})"

    def zero_line(self, across: Literal["x", "y"]) -> None:
        """Draw the line at 0 of one axis."""
        draw = {"x": self.ax.axvline, "y": self.ax.axhline}[across]
        draw(0, color=self.ink, linewidth=0.8, zorder=1.5)

    def halo(self) -> list[Any]:
        """Return the effect that parts lines and letters from what they are drawn on."""
        from matplotlib.patheffects import withStroke

        return [withStroke(linewidth=2.5, foreground=self.background)]

    def say_if_nothing(self, *values: np.ndarray | None) -> None:
        """Write that all values are 0, if they are, since empty axes look like a defect."""
        if not any(np.any(v) for v in values):
            box = {"facecolor": self.background, "edgecolor": "none", "pad": 6}
            self.ax.text(
                0.5, 0.5, "all values are 0", bbox=box, zorder=6, ha="center", va="center",
                transform=self.ax.transAxes, **self.write,
            )  # fmt: skip

    def _cell_size(self) -> tuple[float, float]:
        """Return the size in pixels of the part of the figure that belongs to the axes."""
        cell = self.ax.get_subplotspec()
        if cell is None:
            return self.ax.get_window_extent().size
        figure: Any = self.ax.figure  # or one within a figure, which Matplotlib's types leave out
        (width, height), whole = cell.get_position(figure).size, figure.bbox.size
        return width * whole[0], height * whole[1]


def new_axes(
    figsize: tuple[float, float] | None, size: tuple[float, float], n_rows: float
) -> "Axes":
    """Return the axes of a new figure."""
    imported("matplotlib", "A picture")
    from matplotlib import pyplot

    if figsize is None:
        figsize = size[0], min(size[1] + ROOMY_HEIGHT * n_rows * tick_size() / 72, TALLEST)
    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def own_axes(ax: "Axes", figsize: tuple[float, float] | None) -> "Axes":
    """Return the caller's axes; refuse anything else."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ValueError(
            f"ax is a {type(ax).__name__}; it must be one Axes of Matplotlib, such as"
            " pyplot.subplots()[1] or one element of an array of them."
        )
    if figsize is not None:
        raise ValueError(
            "figsize is the size of a new figure, but ax belongs to a figure that has a size; give"
            " one of the two."
        )
    return ax


def tick_size() -> float:
    """Return the font size of the style's tick labels in points."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    return FontProperties(size=rcParams["ytick.labelsize"]).get_size_in_points()


def as_max_display(max_display: int | None, n_features: int) -> int:
    """Return how many features to show; refuse what is not a whole number from 1, or None."""
    return n_features if max_display is None else min(whole(1, max_display=max_display), n_features)


def is_crowded(values: np.ndarray) -> bool:
    """Say whether three quarters of the values that are not 0 would share 2 % of an axis."""
    size = _sizes(values)
    return len(size) > 2 and bool(np.quantile(size, 1 - LONE) < CROWDED * size.max())


def _sizes(values: np.ndarray) -> np.ndarray:
    """Return the absolute values of those that can be drawn and are not 0."""
    return np.abs(values[np.isfinite(values) & (values != 0)])
