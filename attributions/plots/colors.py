"""Colours that are told apart and can be read on whatever they are drawn on.

Two colours carry a meaning and are the same in every style. All others are mixed from two colours
of the axes, their background and the ink of their labels. A colour of too little contrast is mixed
with black or white until it has what the Web Content Accessibility Guidelines 2.1 ask for: 3 to 1
for what is drawn (criterion 1.4.11), 4.5 to 1 for what is written (1.4.3).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.typing import ColorType

RGB = tuple[float, float, float]  # shares of red, green and blue, 0 to 1

BLUE, VERMILION, GREY, INK = "#0072B2", "#D55E00", "#9A9A9A", "#333333"
CURVES = (BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DRAWN, WRITTEN = 3.0, 4.5  # the least contrast


def mixed(color: "ColorType", other: "ColorType", share: float) -> RGB:
    """Return a colour with a share, 0 to 1, of another in it."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - share) * np.array(to_rgb(color)) + share * np.array(to_rgb(other))
    return red, green, blue


def seen_through(faces: Sequence["ColorType"], ink: "ColorType") -> RGB:
    """Return the colour that is seen where faces, the topmost first, lie over one another.

    Below the last is paper. If all faces are transparent, its colour is unknown, except that the
    ink can be read on it.
    """
    from matplotlib.colors import to_rgba

    seen = (1.0, 1.0, 1.0) if luminance(ink) < 0.5 else (0.0, 0.0, 0.0)
    for face in reversed(faces):
        red, green, blue, alpha = to_rgba(face)
        seen = mixed(seen, (red, green, blue), alpha)
    return seen


def readable(color: "ColorType", background: "ColorType", least: float = WRITTEN) -> "ColorType":
    """Return a colour, or its mixture with as little black or white as gives enough contrast."""
    if contrast(color, background) >= least:
        return color
    far = max(("black", "white"), key=lambda extreme: contrast(extreme, background))
    mixtures = (mixed(color, far, share) for share in np.linspace(0.1, 1, 10))
    return next(m for m in mixtures if contrast(m, background) >= least)


def contrast(color: "ColorType", other: "ColorType") -> float:
    """Return the ratio of luminances, from 1 (alike) to 21 (black and white)."""
    low, high = sorted((luminance(color), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(color: "ColorType") -> float:
    """Return the relative luminance, from 0 (black) to 1 (white), as the guidelines define it."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))
