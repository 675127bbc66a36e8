"""Words on a picture: in letters that some installed font has, and cut to the room that there is.

Matplotlib takes ``$`` for the start of a formula; here nothing is a formula. Letters that the
style's font lacks are taken from another installed font that has them.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attributions.names import ELLIPSIS, cut_in_the_middle, on_one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontEntry
    from matplotlib.text import Text

UNASSIGNED = 0x0378  # no character has this number: a font that draws it draws placeholders
LEAST_LETTERS = 4


class Lettering:
    """Measures and fits words for one figure, on which ``words`` are going to be written.

    Every ``Text`` on the picture has its ``properties``.
    """

    def __init__(self, figure: "Figure", words: Iterable[str]):
        from matplotlib.text import Text

        families = families_for("".join(words) + ELLIPSIS)
        self.properties: dict[str, Any] = {"parse_math": False, "usetex": False, "family": families}
        self._text = Text(**self.properties)
        self._text.set_figure(figure)

    def size(self, text: str, fontsize: float) -> np.ndarray:
        """Return width and height in pixels."""
        self._text.set(text=text, fontsize=fontsize)
        extent = self._text.get_window_extent()
        return np.array([extent.width, extent.height])

    def cut(self, text: str, room: float, fontsize: float) -> str:
        """Return a text of at most ``room`` pixels, cut in the middle if need be.

        A few letters are kept even where there is no room at all.
        """
        fits = self.size(text, fontsize)[0] <= room
        return text if fits else self._without_middle(text, room, fontsize, ELLIPSIS, LEAST_LETTERS)

    def _without_middle(
        self, text: str, room: float, fontsize: float, mark: str, least: int
    ) -> str:
        """Return as much of both ends as fits into ``room``, with a mark between them."""
        high = max(len(text) - 1, 0)
        low = min(least, high)
        while low < high:
            middle = (low + high + 1) // 2
            fits = self.size(cut_in_the_middle(text, middle, mark), fontsize)[0] <= room
            low, high = (middle, high) if fits else (low, middle - 1)
        return cut_in_the_middle(text, low, mark)

    def wrap(self, text: "Text", words: str, room: float, along: str = "width") -> None:
        """Write words into a ``Text`` of Matplotlib in lines that fit into the room.

        A number and its per cent sign stay together; a word longer than a line loses its middle.
        """
        lines, fontsize = [], float(text.get_fontsize())
        for line in words.split("\n"):
            current = ""
            for whole in re.split(" (?!%)", line):
                word = self.cut(whole, room, fontsize)
                text.set_text(f"{current} {word}" if current else word)
                if current and getattr(text.get_window_extent(), along) > room:
                    lines.append(current)
                    text.set_text(word)
                current = text.get_text()
            lines.append(current)
        text.set_text("\n".join(lines))

    def names(
        self,
        feature_names: Sequence[str],
        columns: Collection[int],
        room: float | Sequence[float],
        fontsize: float,
    ) -> list[str]:
        """Return the texts for some columns, of which the room may differ.

        Those that would look alike lose what all of them begin with. If they look alike even so,
        they get their column numbers.
        """
        rooms = np.broadcast_to(room, len(columns))
        texts = [on_one_line(feature_names[k]) for k in columns]
        cuts = [self.cut(text, r, fontsize) for text, r in zip(texts, rooms, strict=True)]
        for cut in {cut for cut in cuts if cuts.count(cut) > 1}:
            alike = [j for j, other in enumerate(cuts) if other == cut]
            letters = enumerate(zip(*(texts[j] for j in alike), strict=False))
            start = next((at for at, those in letters if len({*those}) > 1), 0) - LEAST_LETTERS
            for j in alike if start > 0 else ():
                cuts[j] = self.cut(ELLIPSIS + texts[j][start:], rooms[j], fontsize)
        return [
            cut if cuts.count(cut) == 1 else self._numbered(text, k, r, fontsize)
            for text, cut, k, r in zip(texts, cuts, columns, rooms, strict=True)
        ]

    def _numbered(self, text: str, k: int, room: float, fontsize: float) -> str:
        """Return a text with the number of its column, in the middle where it has to be cut."""
        whole, number = f"{text} [{k}]", f"[{k}]"
        if self.size(whole, fontsize)[0] <= room:
            return whole
        cut = self._without_middle(text, room, fontsize, f"{ELLIPSIS}{number}{ELLIPSIS}", 0)
        return cut if self.size(cut, fontsize)[0] <= room else number


def families_for(letters: str) -> list[str]:
    """Return the style's font families, and others for letters that they lack."""
    from matplotlib import font_manager, rcParams
    from matplotlib.font_manager import FontProperties

    families = list(rcParams["font.family"])
    lacking = {letter for letter in on_one_line(letters) if not letter.isspace()}
    lacking -= letters_of(font_manager.findfont(FontProperties(family=families)), lacking)
    for font in sorted(font_manager.fontManager.ttflist, key=_is_unusual) if lacking else ():
        if own := letters_of(font.fname, lacking):
            families.append(font.name)
            lacking -= own
    return families


def letters_of(path: str, letters: set[str]) -> set[str]:
    """Return which of some letters a font has; none if it draws placeholders."""
    from matplotlib.font_manager import get_font

    try:
        font = get_font(path)
    except (OSError, RuntimeError):
        return set()  # a file that is gone, or one that FreeType cannot read
    if font.get_char_index(UNASSIGNED):
        return set()
    return {letter for letter in letters if font.get_char_index(ord(letter))}


def _is_unusual(font: "FontEntry") -> tuple[bool, float, str]:
    """Sort upright fonts of ordinary weight before others, then by name."""
    weight = font.weight if isinstance(font.weight, int | float) else 400
    return font.style != "normal", abs(weight - 400), font.name
