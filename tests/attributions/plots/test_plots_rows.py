"""Pictures of rows say what is known of them: words have no low and high."""

import numpy as np
from matplotlib.colors import to_rgba

from attributions import LocalAttribution
from attributions.plots import VERMILION
from tests.asserts import assert_same
from tests.pictures import words_on


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
    assert "feature value (rank), grey: words, vermilion: missing" in words_on(display.figure_)


def test_a_row_leads_from_the_base_value_to_the_prediction_of_its_output():
    values = np.array([[[0.0, 9.0], [1.5, 0.0], [-0.25, 0.0]]])
    result = LocalAttribution(
        values, np.array([[2.0, 7.0]]), ("a", "b", "c"), "predecomp", output_names=("x", 3)
    )
    display = result.output("x").plot(row=0)
    words = words_on(display.figure_)
    assert "How each feature moves the prediction of row 0, for x" in words
    bars = [(bar.get_x(), bar.get_width()) for bar in display.ax_.patches]
    assert bars == [(2.0, 1.5), (3.5, -0.25)]  # a bar of 0 is left out
    assert {"base value 2", "prediction 3.25"} <= set(words)
    helped = LocalAttribution(values[:, :, 0], np.ones(1), ("a", "b", "c"), "tree_inner")
    words = words_on(helped.plot(row=0).figure_)
    assert "sum 1.25" in words
    assert not any("base value" in line for line in words)
