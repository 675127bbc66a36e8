"""What the tests of pictures ask of a figure that is drawn for real: what is written, and where."""

from unittest import mock

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib.text import Text


def drawn(display, *results, **options):
    """Return a display of results, made with some of the options and drawn with the others."""
    drawing = {name: options.pop(name) for name in ("ax", "title", "figsize") if name in options}
    return display(*results, **options).plot(**drawing)


def written(figure):
    """Draw a figure and return the texts that are drawn, in the order in which they are."""
    texts = []
    draw = Text.draw

    def note(text, renderer):
        if text.get_visible() and text.get_text().strip():
            texts.append(text)
        return draw(text, renderer)

    with mock.patch.object(Text, "draw", note):
        figure.canvas.draw()
    return texts


def words_on(figure):
    """Draw a figure and return what is written on it, lines joined."""
    return [text.get_text().replace("\n", " ") for text in written(figure)]


def tick_labels(axis):
    """Return what is written beside an axis."""
    return [label.get_text() for label in axis.get_ticklabels()]


def box_of(text):
    """Return left, bottom, right and top of a text in pixels, with its frame if it has one."""
    frame = text.get_bbox_patch()
    extent = Text.get_window_extent(text) if frame is None else frame.get_window_extent()
    return np.array(extent.extents)


def assert_inside(texts, box, slack=1.0):
    """Check that texts lie within left, bottom, right and top."""
    left, bottom, right, top = box
    for text in texts:
        x0, y0, x1, y1 = box_of(text)
        is_inside = min(x0 - left, y0 - bottom, right - x1, top - y1) >= -slack
        assert is_inside, f"{text.get_text()!r} at {box_of(text)} leaves {box}"


def assert_apart(texts, slack=1.0):
    """Check that no two texts overlap by more than ``slack`` pixels in both directions."""
    boxes = [box_of(text) for text in texts]
    for j, one in enumerate(boxes):
        for k in range(j):
            other = boxes[k]
            common = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
            said = f"{texts[k].get_text()!r} and {texts[j].get_text()!r} overlap by {common} pixels"
            assert (common <= slack).any(), said


def contrast_on(figure, text):
    """Return the contrast of the darkest and the brightest pixel within a text's box.

    The definition is that of the Web Content Accessibility Guidelines 2.1.
    """
    pixels = np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3] / 255  # from below
    left, bottom, right, top = np.round(Text.get_window_extent(text).extents).astype(int)
    rgb = pixels[max(bottom, 0) : top, max(left, 0) : right]
    linear = np.where(rgb <= 0.03928, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    return (luminance.max() + 0.05) / (luminance.min() + 0.05)
