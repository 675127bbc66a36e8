"""Pictures hold the data, in order, with their intervals, and draw without a warning."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

from attributions import GlobalAttribution, LocalAttribution
from attributions.plots import (
    BLUE,
    VERMILION,
    BoostingDisplay,
    ImportanceDisplay,
    UsedUsefulDisplay,
    _spread,
    _swarm_offsets,
)
from tests.asserts import assert_close, assert_same

mpl.use("Agg")
from matplotlib import pyplot
from matplotlib.colors import to_rgba

VALUES = np.array([0.5, -1.0, 3.0, 0.0])
ERRORS = np.array([0.1, 0.2, 1.0, 0.0])
NAMES = ("age", "income", "rooms", "unused")
PER_TREE = np.array([[0.0, -2.0, 1.0, 0.0], [0.5, 1.0, 2.0, 0.0]])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def importance(values=VALUES, errors=ERRORS, method="tree_inner(predecomp)", **others):
    names = NAMES if len(values) == 4 else tuple(f"x{k}" for k in range(len(values)))
    return GlobalAttribution(values, errors, 1234, names, method, **others)


def rows(n=30, data=True):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, 4)) * [1, 3, 2, 0]
    table = rng.normal(size=(n, 4))
    table[0, 1] = np.nan
    return LocalAttribution(values, np.zeros(n), NAMES, "predecomp", data=table if data else None)


def drawn(display):
    """Draw the picture for real and return all that is written in it."""
    display.figure_.canvas.draw()
    return [text.get_text() for text in display.figure_.findobj(mpl.text.Text) if text.get_text()]


def tick_labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_bars_are_sorted_with_their_intervals():
    display = importance().plot()
    text = drawn(display)
    assert isinstance(display, ImportanceDisplay)
    assert_same([bar.get_width() for bar in display.bars_], [3.0, 0.5, 0.0, -1.0])
    assert tick_labels(display.ax_.yaxis) == ["rooms", "age", "unused", "income"]
    colors = [bar.get_facecolor() for bar in display.bars_]
    assert colors[0] == to_rgba(BLUE)
    assert colors[3] == to_rgba(VERMILION)
    segments = display.bars_.errorbar.lines[2][0].get_segments()
    assert_close(segments[0][:, 0], [3 - 1.959963984540054, 3 + 1.959963984540054], 5.0)
    low, high = display.ax_.get_ylim()
    assert low > high  # the best on top
    assert "TreeInner (PreDecomp)" in text
    assert any("sum over 1,234 rows, 95 % intervals" in line for line in text)


def test_the_best_bars_only():
    display = importance(np.arange(50.0), None, "total_gain").plot(n_features=3)
    text = drawn(display)
    assert_same([bar.get_width() for bar in display.bars_], [49.0, 48.0, 47.0])
    assert display.bars_.errorbar is None
    assert "Total gain: best 3 of 50 features" in text
    assert "95 %" not in " ".join(text)
    assert len(importance(np.arange(50.0), None).plot(n_features=None).bars_) == 50


def test_single_shuffles_are_dots():
    repeats = np.arange(12.0).reshape(4, 3)
    result = importance(repeats.mean(axis=1), None, "permutation(roc_auc)", repeats=repeats)
    display = result.plot(n_features=2)
    text = drawn(display)
    dots = [line.get_xdata() for line in display.ax_.lines]
    assert_same(dots, repeats[[3, 2]].T)
    assert "drop of the score (dots: single shuffles)" in text


def test_curves_add_up_the_trees():
    display = BoostingDisplay.from_attribution(importance(per_tree=PER_TREE), n_features=2)
    text = drawn(display)
    for k, line in enumerate(display.lines_):
        assert_same(line.get_xdata(), [0, 1, 2])
        assert_same(line.get_ydata(), [0.0, PER_TREE[0, k], PER_TREE[:, k].sum()])
    assert {"rooms", "income"} <= set(text)
    assert "age" not in text
    assert "95 %" not in " ".join(text)
    with pytest.raises(ValueError, match="per_tree=True"):
        BoostingDisplay(importance())


def test_used_against_useful():
    used = importance(np.array([1.0, 2.0, 3.0, 0.0]), ERRORS, "absolute(predecomp, tree)")
    display = UsedUsefulDisplay.from_attributions(
        used, importance(), highlight=[2], highlight_label="of interest", n_labels=1
    )
    text = drawn(display)
    assert_same(display.points_.get_offsets(), np.column_stack([used.values, VALUES]))
    assert [tuple(c) == to_rgba(BLUE) for c in display.points_.get_facecolors()] == [
        False, False, True, False,
    ]  # fmt: skip
    assert "rooms" in text
    assert "blue: of interest" in text
    assert sum(name in text for name in NAMES) == 2
    assert any(line.startswith("used: ") for line in text)
    assert any(line.startswith("useful: ") for line in text)
    assert display.ax_.get_xlim()[0] == 0
    zero_lines = [line for line in display.ax_.lines if np.all(np.equal(line.get_ydata(), 0))]
    assert zero_lines
    segments = np.concatenate(
        [c.get_segments() for c in display.ax_.collections if hasattr(c, "get_segments")]
    )
    for value, error in zip(VALUES, ERRORS, strict=True):
        ends = [value - 1.959963984540054 * error, value + 1.959963984540054 * error]
        assert np.isclose(segments[:, :, 1], ends, rtol=0, atol=1e-12).all(axis=1).any()


def test_used_against_useful_of_other_features_is_refused():
    with pytest.raises(ValueError, match="the same features"):
        UsedUsefulDisplay(importance(np.zeros(3), None), importance())


def test_one_row_as_signed_bars():
    attribution = rows()
    display = attribution.plot(row=2, n_features=3)
    text = drawn(display)
    order = np.argsort(-np.abs(attribution.values[2]))[:3]
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert_same(widths, attribution.values[2, order])
    labels = [f"{NAMES[k]} = {attribution.data[2, k]:.4g}" for k in order]
    assert tick_labels(display.ax_.yaxis) == labels
    assert "Row 2: PreDecomp, 3 of 4 features" in text
    assert len(rows(data=False).plot(row=-1).ax_.patches) == 4
    for row in (30, -31):
        with pytest.raises(ValueError, match=f"row={row}, but the attribution has 30 rows"):
            attribution.plot(row=row)


@pytest.mark.parametrize("data", [True, False])
def test_all_rows_as_a_swarm(data):
    attribution = rows(data=data)
    display = attribution.plot()
    text = drawn(display)
    order = np.argsort(-np.abs(attribution.values).mean(axis=0))
    assert tick_labels(display.ax_.yaxis) == [NAMES[k] for k in order]
    for place, (k, points) in enumerate(zip(order, display.ax_.collections, strict=True)):
        x, y = points.get_offsets().T
        assert_same(x, attribution.values[:, k])
        assert (np.abs(y - place) <= 0.4).all()
    assert ("feature value (rank), red: missing" in text) == data  # "income" has such a row
    assert "PreDecomp of 30 rows" in text
    assert "PreDecomp of 30 rows, 3 of 4 features" in drawn(attribution.plot(n_features=3))


def test_a_missing_value_is_a_red_point():
    display = rows().plot()
    display.figure_.canvas.draw()
    place = tick_labels(display.ax_.yaxis).index("income")
    assert_same(display.ax_.collections[place].get_facecolors()[0], to_rgba(VERMILION))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: importance(np.zeros(4), np.zeros(4)).plot(),
        lambda: importance(np.zeros(1), None).plot(),
        lambda: rows(1).plot(),
        lambda: rows(1).plot(row=0),
        lambda: BoostingDisplay.from_attribution(importance(per_tree=np.zeros((0, 4)))),
        lambda: BoostingDisplay.from_attribution(importance(per_tree=np.zeros((5, 4)))),
        lambda: UsedUsefulDisplay.from_attributions(importance(np.zeros(4)), importance()),
        lambda: UsedUsefulDisplay.from_attributions(
            importance(np.ones(1), None), importance(np.ones(1), None)
        ),
    ],
)
def test_extreme_cases_draw_without_a_warning(draw):
    drawn(draw())


def test_on_axes_of_ones_own_and_again_elsewhere():
    figure, (left, right) = pyplot.subplots(1, 2)
    display = importance().plot(ax=left)
    assert display.ax_ is left
    assert display.figure_ is figure
    assert display.plot(right) is display
    assert display.ax_ is right
    assert len(right.patches) == 4


def test_labels_are_moved_apart_and_no_further():
    apart = np.array([0.0, 10.0, 5.0])
    assert_same(_spread(apart, gap=1.0), apart)
    assert_close(_spread(np.array([5.0, 5.0, 5.0]), 1.0), [4.0, 5.0, 6.0], 6.0)
    # 0 and 1 part to -.5 and 1.5; that touches 2, and all three share.
    assert_close(_spread(np.array([0.0, 1.0, 2.0]), 2.0), [-1.0, 1.0, 3.0], 3.0)
    places = np.random.default_rng(0).normal(size=40)
    moved = _spread(places, 0.1)
    assert (np.diff(np.sort(moved)) > 0.1 - 1e-12).all()
    assert_same(np.argsort(moved), np.argsort(places))


def test_points_of_a_swarm_do_not_coincide():
    values = np.repeat([0.0, 1.0, 5.0], [40, 1, 2])
    offsets = _swarm_offsets(values)
    for value in (0.0, 1.0, 5.0):
        here = offsets[values == value]
        assert len(np.unique(here)) == len(here)
    assert np.abs(offsets).max() <= 0.38 + 1e-12


def test_matplotlib_is_imported_only_to_draw():
    code = (
        "import sys, attributions.plots;"
        "attributions.GlobalAttribution([1.0], None, 1, ('a',), 'total_gain');"
        "sys.exit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        importance().plot()
