"""Axes of a small picture in SVG: the places of numbers, ticks and captions.

Pictures are ``WIDTH`` units wide. A phone shows about as many pixels, so that letters of ``SIZE``
units can be read there; a large screen shows them larger. All colours are classes of the page's
style sheet, which knows whether the reader's screen is dark.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from attributions.command.page.cells import amount
from attributions.command.page.markup import Markup, element, join

WIDTH, HEIGHT = 400.0, 290.0
SIZE = 12.0  # the font's
LINE = 14.5  # from one line of text to the next
LETTER = 0.62 * SIZE  # the mean width of a letter in wide fonts
N_TICKS = 5


class Margins(NamedTuple):
    """What lies around the axes, in units."""

    left: float = 50.0
    right: float = 12.0
    top: float = 10.0
    bottom: float = 42.0


class Axes:
    """Turns numbers into places.

    Parameters
    ----------
    x_range, y_range : (float, float)
        Numbers at the ends of the axes.
    margins : Margins
    height : float
    """

    def __init__(
        self,
        x_range: tuple[float, float],
        y_range: tuple[float, float],
        margins: Margins | None = None,
        height: float = HEIGHT,
    ):
        self.x_range, self.y_range = _widened(*x_range), _widened(*y_range)
        self.margins, self.height = margins or Margins(), height
        self.right, self.bottom = WIDTH - self.margins.right, height - self.margins.bottom

    def x(self, numbers: ArrayLike) -> np.ndarray:
        """Return how far right numbers stand."""
        low, high = self.x_range
        share = (np.asarray(numbers, dtype=np.float64) - low) / (high - low)
        return self.margins.left + share * (self.right - self.margins.left)

    def y(self, numbers: ArrayLike) -> np.ndarray:
        """Return how far down numbers stand."""
        low, high = self.y_range
        share = (np.asarray(numbers, dtype=np.float64) - low) / (high - low)
        return self.bottom - share * (self.bottom - self.margins.top)

    def frame(
        self,
        x_label: str,
        y_label: str,
        x_ticks: Iterable[tuple[float, str]] | None = None,
        y_ticks: Iterable[tuple[float, str]] | None = None,
    ) -> Markup:
        """Return grid lines, ticks and captions.

        Ticks are pairs of a number and its label; where they are None, round numbers.
        """
        parts = []
        for number, text in labelled(ticks(*self.y_range)) if y_ticks is None else y_ticks:
            y = place(self.y(number))
            parts.append(self._line(self.margins.left, y, self.right, y, number))
            parts.append(write(text, self.margins.left - 5, y + 4, "end", class_="tick"))
        for number, text in labelled(ticks(*self.x_range)) if x_ticks is None else x_ticks:
            x = place(self.x(number))
            parts.append(self._line(x, self.margins.top, x, self.bottom, number))
            parts.append(write(text, x, self.bottom + 15, "middle", class_="tick"))
        middle = (self.margins.top + self.bottom) / 2
        parts.append(write(x_label, self.right, self.height - 6, "end"))
        if y_label:
            turned = f"rotate(-90 12 {middle:g})"
            parts.append(write(y_label, 12, middle, "middle", transform=turned))
        return join(*parts)

    def _line(self, x1: float, y1: float, x2: float, y2: float, number: float) -> Markup:
        """Return a line of the grid; that of 0 is stronger."""
        return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="zero" if number == 0 else "grid")


def svg(label: str, *parts: Markup, height: float = HEIGHT) -> Markup:
    """Return a picture with its text alternative."""
    box = f"0 0 {WIDTH:g} {height:g}"
    return element("svg", *parts, viewBox=box, role="img", aria_label=label)


def write(
    text: str, x: SupportsFloat, y: SupportsFloat, anchor: str = "start", **attributes: Any
) -> Markup:
    """Return letters."""
    return element("text", text, x=place(x), y=place(y), text_anchor=anchor, **attributes)


def title(text: str) -> Markup:
    """Return the tooltip of a mark."""
    return element("title", text)


def path(
    x: Iterable[SupportsFloat], y: Iterable[SupportsFloat], *children: Markup, **attributes: Any
) -> Markup:
    """Return a line through points."""
    points = [f"{place(a):g} {place(b):g}" for a, b in zip(x, y, strict=True)]
    return element("path", *children, d=f"M{'L'.join(points)}", **attributes)


def place(number: SupportsFloat) -> float:
    """Return a place, rounded to digits that can be seen."""
    return round(float(number), 1)


def labelled(numbers: np.ndarray) -> list[tuple[float, str]]:
    """Return ticks with their labels; thousands and millions are short."""
    size = np.abs(numbers).max(initial=0.0)
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= 10 * unit:
            return [
                (n, f"{amount(n / unit, 4).replace(',', '')}{sign}" if n else "0") for n in numbers
            ]
    return [(n, amount(n, 4).replace(",", "")) for n in numbers]


def ticks(low: float, high: float) -> np.ndarray:
    """Return about five round numbers between two others."""
    rough = (high - low) / N_TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(k * unit for k in (1, 2, 5, 10) if k * unit >= rough)
    return step * np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)


def _widened(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis, moved apart if they are equal."""
    if high > low:
        return float(low), float(high)
    half = max(abs(high), 1.0) / 2
    return float(low) - half, float(high) + half
