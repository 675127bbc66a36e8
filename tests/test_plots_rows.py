"""Pictures of rows say what is known of them: words have no low and high."""

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgba

from attributions import LocalAttribution
from attributions.plots import VERMILION
from tests.asserts import assert_same
from tests.pictures import words_on


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def rows(categories):
    """Return four rows of a feature that is words, if it has levels, and of one of numbers."""
    data = np.array([[0.0, 10.0], [1.0, 20.0], [2.0, 30.0], [np.nan, 40.0]])
    values = np.array([[4.0, 1.0], [-3.0, 2.0], [2.0, -1.0], [1.0, 0.5]])
    return LocalAttribution(
        values, np.zeros(4), ("kitchen", "area"), "predecomp", data=data, categories=categories
    )


def colors_of(display):
    display.figure_.canvas.draw()
    return [points.get_facecolors() for points in display.ax_.collections]


def test_words_are_grey_in_a_swarm_and_numbers_coloured_by_rank():
    display = rows((("Ex", "Gd", "TA"), None)).plot()
    kitchen, area = colors_of(display)
    red, green, blue, _ = kitchen[:3].T
    assert_same(red, green)  # grey, and one grey alone
    assert_same(red, blue)
    assert len(np.unique(kitchen[:3], axis=0)) == 1
    assert_same(kitchen[3], to_rgba(VERMILION))
    assert len(np.unique(area, axis=0)) == 4
    assert "feature value (rank), grey: words, red: missing" in words_on(display.figure_)


def test_numbers_alone_have_no_word_of_words():
    kitchen, _ = colors_of(display := rows(None).plot())
    assert len(np.unique(kitchen, axis=0)) == 4
    assert "feature value (rank), red: missing" in words_on(display.figure_)


def test_a_swarm_of_words_alone_has_no_scale():
    levels = ("a", "b", "c")
    display = rows((levels, ("other",) * 41)).plot(max_display=1)
    words = words_on(display.figure_)
    assert not {"low", "high"} & set(words)
    assert any(line.endswith("(grey: words, red: missing)") for line in words)
