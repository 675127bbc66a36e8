"""Pictures hold the data, in order, with their intervals, and draw without a warning."""

import sys

import numpy as np
import pandas
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgba

from attributions import GlobalAttribution, LocalAttribution, held_out_gain
from attributions.plots import (
    BLUE,
    VERMILION,
    BoostingDisplay,
    ImportanceDisplay,
    UsedUsefulDisplay,
)
from attributions.plots.places import Box, place_beside, spread
from attributions.plots.rows import _swarm_offsets
from gbt import GBTRegressor
from tests.asserts import assert_close, assert_same
from tests.pictures import tick_labels, words_on

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


def rows(n=30, data=True, index=None):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, 4)) * [1, 3, 2, 0]
    table = rng.normal(size=(n, 4))
    table[0, 1] = np.nan
    table = table if data else None
    return LocalAttribution(values, np.zeros(n), NAMES, "predecomp", data=table, index=index)


def used_useful(**options):
    used = importance(np.array([1.0, 2.0, 3.0, 0.0]), ERRORS, "absolute(predecomp, tree)")
    return UsedUsefulDisplay.from_attributions(used, importance(), **options)


def test_bars_are_sorted_with_their_intervals():
    display = importance().plot()
    words = words_on(display.figure_)
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
    assert "TreeInner (PreDecomp)" in words
    assert any("sum over 1,234 rows, 95 % intervals" in line for line in words)


def test_bars_whose_intervals_are_doubtful_are_hollow():
    """Of 1,234 rows a kurtosis of at most 123.4 is reliable."""
    result = importance(kurtosis=[3.0, 124.0, 3.0, 3.0])
    display = result.plot()
    is_hollow = [bar.get_facecolor()[3] == 0 for bar in display.bars_]
    assert is_hollow == [k == 1 for k in result.ranking()]
    assert display.bars_[is_hollow.index(True)].get_edgecolor() == to_rgba(VERMILION)
    assert "hollow" in display.ax_.get_xlabel()
    for known in (importance(), importance(kurtosis=[3.0] * 4)):
        plain = known.plot()
        assert all(bar.get_facecolor()[3] == 1 for bar in plain.bars_)
        assert "hollow" not in plain.ax_.get_xlabel()


def test_the_best_bars_only():
    display = importance(np.arange(50.0), None, "total_gain").plot(max_display=3)
    words = words_on(display.figure_)
    assert_same([bar.get_width() for bar in display.bars_], [49.0, 48.0, 47.0])
    assert display.bars_.errorbar is None
    assert "Total gain: best 3 of 50 features" in words
    assert "95 %" not in " ".join(words)
    assert len(importance(np.arange(50.0), None).plot(max_display=None).bars_) == 50


def test_single_shuffles_are_dots():
    repeats = np.arange(12.0).reshape(4, 3)
    result = importance(repeats.mean(axis=1), None, "permutation(roc_auc)", repeats=repeats)
    display = result.plot(max_display=2)
    words = words_on(display.figure_)
    dots = [line.get_xdata() for line in display.ax_.lines]
    assert_same(dots, repeats[[3, 2]].T)
    assert "drop of the score (dots: single shuffles)" in words


def test_a_result_along_boosting_is_drawn_as_curves():
    display = importance(per_tree=PER_TREE).plot()
    assert isinstance(display, BoostingDisplay)
    for line, terms in zip(display.lines_, PER_TREE.T, strict=True):
        assert list(line.get_ydata()) == [0.0, *np.cumsum(terms)]


def test_curves_add_up_the_trees():
    display = BoostingDisplay.from_attribution(importance(per_tree=PER_TREE), max_display=2)
    words = words_on(display.figure_)
    for k, line in enumerate(display.lines_):
        assert_same(line.get_xdata(), [0, 1, 2])
        assert_same(line.get_ydata(), [0.0, PER_TREE[0, k], PER_TREE[:, k].sum()])
    assert {"rooms", "income"} <= set(words)
    assert "age" not in words
    assert "95 %" not in " ".join(words)
    with pytest.raises(ValueError, match="per_tree=True"):
        BoostingDisplay(importance())


def test_used_against_useful():
    display = used_useful(highlight=[2], highlight_label="of interest", max_display=1)
    words = words_on(display.figure_)
    assert_same(display.points_.get_offsets(), np.column_stack([[1.0, 2.0, 3.0, 0.0], VALUES]))
    assert [tuple(c) == to_rgba(BLUE) for c in display.points_.get_facecolors()] == [
        False, False, True, False,
    ]  # fmt: skip
    assert "rooms" in words
    assert "blue: of interest" in words
    assert sum(name in words for name in NAMES) == 2
    assert any(line.startswith("used: ") for line in words)
    assert any(line.startswith("useful: ") for line in words)
    assert display.ax_.get_xlim()[0] == 0
    zero_lines = [line for line in display.ax_.lines if np.all(np.equal(line.get_ydata(), 0))]
    assert zero_lines
    segments = np.concatenate(
        [c.get_segments() for c in display.ax_.collections if hasattr(c, "get_segments")]
    )
    for value, error in zip(VALUES, ERRORS, strict=True):
        ends = [value - 1.959963984540054 * error, value + 1.959963984540054 * error]
        assert np.isclose(segments[:, :, 1], ends, rtol=0, atol=1e-12).all(axis=1).any()


def test_features_are_highlighted_by_name_or_number():
    by_name, by_number = used_useful(highlight=["rooms"]), used_useful(highlight=[2])
    assert by_name.highlight == by_number.highlight == (2,)
    with pytest.raises(ValueError, match="did you mean 'rooms'"):
        used_useful(highlight=["room"])


def test_used_against_useful_of_other_features_is_refused():
    with pytest.raises(ValueError, match="the same features"):
        UsedUsefulDisplay(importance(np.zeros(3), None), importance())


def test_one_row_as_signed_bars():
    attribution = rows()
    display = attribution.plot(row=2, max_display=3)
    words = words_on(display.figure_)
    order = np.argsort(-np.abs(attribution.values[2]))[:3]
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert_same(widths, attribution.values[2, order])
    labels = [f"{NAMES[k]} = {attribution.data[2, k]:.4g}" for k in order]
    assert tick_labels(display.ax_.yaxis) == labels
    assert "Row 2: PreDecomp, 3 of 4 features" in words
    assert len(rows(data=False).plot(row=-1).ax_.patches) == 3  # no bar for a contribution of 0
    assert "income = missing" in words_on(attribution.plot(row=0).figure_)
    for row in (30, -31):
        with pytest.raises(ValueError, match=f"row={row}, but the attribution has 30 rows"):
            attribution.plot(row=row)


def test_a_row_by_its_label():
    attribution = rows(4, index=pandas.Index(["r1", "r2", "r3", "r4"]))
    display = attribution.plot(row="r3")
    assert "Row r3: PreDecomp, 3 of 4 features" in words_on(display.figure_)
    order = np.argsort(-np.abs(attribution.values[2]))[:3]  # the last is 0, and has no bar
    assert_same([bar.get_width() for bar in display.ax_.patches], attribution.values[2, order])
    shuffled = rows(4, index=pandas.Index([3, 2, 1, 0]))
    display = shuffled.plot(row=1)
    assert "Row 1: PreDecomp, 3 of 4 features" in words_on(display.figure_)
    assert_same([bar.get_width() for bar in display.ax_.patches], attribution.values[2, order])
    with pytest.raises(ValueError, match="row='r9', but no row has this label"):
        attribution.plot(row="r9")


@pytest.mark.parametrize("data", [True, False])
def test_all_rows_as_a_swarm(data):
    attribution = rows(data=data)
    display = attribution.plot()
    words = words_on(display.figure_)
    order = np.argsort(-np.abs(attribution.values).mean(axis=0))
    assert tick_labels(display.ax_.yaxis) == [NAMES[k] for k in order]
    for place, (k, points) in enumerate(zip(order, display.ax_.collections, strict=True)):
        x, y = points.get_offsets().T
        assert_same(x, attribution.values[:, k])
        assert (np.abs(y - place) <= 0.4).all()
    assert ("feature value (rank), vermilion: missing" in words) == data  # "income" has such a row
    assert "PreDecomp of 30 rows" in words
    fewer = words_on(attribution.plot(max_display=3).figure_)
    assert "PreDecomp of 30 rows, 3 of 4 features" in fewer


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [
        lambda: importance(np.zeros(1), None).plot(),
        lambda: rows(1).plot(),
        lambda: rows(1).plot(row=0),
        lambda: BoostingDisplay.from_attribution(importance(per_tree=np.zeros((0, 4)))),
        lambda: UsedUsefulDisplay.from_attributions(importance(np.zeros(4)), importance()),
        lambda: UsedUsefulDisplay.from_attributions(
            importance(np.ones(1), None), importance(np.ones(1), None)
        ),
    ],
)
def test_extreme_cases_draw_without_a_warning(draw):
    words_on(draw().figure_)


def test_no_rows_are_no_picture():
    nothing = LocalAttribution(np.zeros((0, 4)), np.zeros(0), NAMES, "predecomp")
    with pytest.raises(ValueError, match="The attribution has no rows"):
        nothing.plot()


ALL_KINDS = {
    "bars": lambda **options: importance().plot(**options),
    "curves": lambda **options: BoostingDisplay.from_attribution(
        importance(per_tree=PER_TREE), **options
    ),
    "used": used_useful,
    "swarm": lambda **options: rows().plot(**options),
    "row": lambda **options: rows().plot(row=1, **options),
}


@pytest.mark.slow
@pytest.mark.parametrize("draw", ALL_KINDS.values(), ids=ALL_KINDS)
def test_every_picture_takes_the_same_options(draw):
    display = draw(title="Mine", figsize=(5.0, 4.0), max_display=2)
    assert_same(display.figure_.get_size_inches(), [5.0, 4.0])
    words = words_on(display.figure_)
    assert "Mine" in words
    assert not any("PreDecomp" in line for line in words)
    named = {name for name in NAMES for line in words if line.split(" = ")[0] == name}
    assert len(named) == 2
    assert draw(title="").ax_.get_title(loc="left") == ""

    figure, (left, right) = pyplot.subplots(1, 2, layout="constrained")
    display = draw(ax=left)
    assert display.ax_ is left
    assert display.figure_ is figure
    assert not right.has_data()
    assert display.plot(right, title="Again") is display
    assert display.ax_ is right
    assert right.has_data()
    assert "Again" in words_on(figure)


@pytest.mark.parametrize("draw", ALL_KINDS.values(), ids=ALL_KINDS)
def test_wrong_options_are_refused(draw):
    for wrong in (0, -1, 2.5, "5", True):
        with pytest.raises(ValueError, match=f"max_display={wrong!r}; it must be a whole number"):
            draw(max_display=wrong)
    axes = pyplot.subplots(1, 2)[1]
    with pytest.raises(ValueError, match="ax is a ndarray; it must be one Axes of Matplotlib"):
        draw(ax=axes)
    with pytest.raises(ValueError, match="figsize is the size of a new figure, but ax belongs to"):
        draw(ax=axes[0], figsize=(5, 4))


def test_names_are_moved_apart_and_no_further():
    apart = np.array([0.0, 10.0, 5.0])
    assert_same(spread(apart, 1.0, -20.0, 20.0), apart)
    assert_close(spread(np.array([5.0, 5.0, 5.0]), 1.0, 0.0, 9.0), [4.0, 5.0, 6.0], 6.0)
    # 0 and 1 part to -.5 and 1.5; that touches 2, and all three share.
    assert_close(spread(np.array([0.0, 1.0, 2.0]), 2.0, -5.0, 5.0), [-1.0, 1.0, 3.0], 3.0)
    # Kept between bounds, the first goes to its bound and pushes the second.
    assert_close(spread(np.array([0.0, 1.0, 2.0]), 2.0, 0.0, 5.0), [0.0, 2.0, 4.0], 4.0)
    assert_close(spread(np.array([9.0, 1.0, 9.0]), 2.0, 0.0, 9.0), [7.0, 1.0, 9.0], 9.0)
    places = np.random.default_rng(0).normal(size=40)
    moved = spread(places, 0.1, -3.0, 3.0)
    assert (np.diff(np.sort(moved)) > 0.1 - 1e-12).all()
    assert moved.min() >= -3
    assert moved.max() <= 3 + 1e-12
    assert_same(np.argsort(moved), np.argsort(places))
    assert len(spread(np.array([]), 0.1, 0.0, 1.0)) == 0


def place(points, taken=(), is_needed=False, frame=(0, 0, 100, 100)):
    frame = Box(np.array(frame[:2]), np.array(frame[2:]))
    points, size = np.array(points, dtype=float), np.array([20.0, 10.0])
    return place_beside(points[0], size, points, 2.0, list(taken), frame, is_needed)


def test_a_name_stands_beside_its_point_where_nothing_is():
    box, is_far = place([(50, 50)])
    assert_same(box.low, [51.0, 51.0])  # to the upper right, clear of intervals
    assert not is_far
    below, _ = place([(50, 50), (60, 56)])  # which that would hide
    assert_same(below.high, [71.0, 49.0])
    at_the_edge, _ = place([(95, 95)])
    assert (at_the_edge.high <= 95).all()


def test_points_of_a_swarm_do_not_coincide():
    values = np.repeat([0.0, 1.0, 5.0], [40, 1, 2])
    offsets = _swarm_offsets(values)
    for value in (0.0, 1.0, 5.0):
        here = offsets[values == value]
        assert len(np.unique(here)) == len(here)
    assert np.abs(offsets).max() <= 0.38 + 1e-12


def test_the_package_shows_what_it_is_for():
    import attributions

    names = {name for name in dir(attributions) if not name.startswith("__")}
    assert names == set(attributions.__all__)
    assert "plots" in names
    for name in names:
        assert f"``{name}``" in attributions.__doc__


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        importance().plot()


def test_held_out_gain_is_drawn_in_per_cent():
    """Of the loss of the best constant: what `percent` returns, with intervals in the same unit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    model = GBTRegressor(n_estimators=20, splitter="greedy").fit(X[:100], y[:100])
    result = held_out_gain(model, X[100:], y[100:])
    display = result.plot()
    widths = [bar.get_width() for bar in display.bars_]
    assert_close(np.array(widths), result.percent()[result.ranking()], np.abs(result.percent()))
    assert display.ax_.get_xlabel().startswith("per cent of the loss of a constant prediction")
    segments = display.bars_.errorbar[2][0].get_segments()
    half = np.array([np.ptp(segment[:, 0]) / 2 for segment in segments])
    expected = 1.959963984540054 * result.standard_error * result.percent() / result.values
    assert_close(half, np.abs(expected)[result.ranking()], np.abs(expected).max(), k=100)
