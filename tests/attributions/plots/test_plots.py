"""Pictures hold the data, in order, with their intervals, and draw without a warning."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from attributions import GlobalAttribution, LocalAttribution, held_out_gain, held_out_gain_rows
from attributions.plots import (
    BLUE,
    VERMILION,
    BoostingDisplay,
    ImportanceDisplay,
    UsedUsefulDisplay,
)
from attributions.plots.curves import spread
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyRegressor
from tests.pictures import drawn, tick_labels, words_on

VALUES = np.array([0.5, -1.0, 3.0, 0.0])
ERRORS = np.array([0.1, 0.2, 1.0, 0.0])
NAMES = ("age", "income", "rooms", "unused")
PER_TREE = np.array([[0.0, -2.0, 1.0, 0.0], [0.5, 1.0, 2.0, 0.0]])


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
    return drawn(UsedUsefulDisplay, used, importance(), **options)


def fitted():
    """Return a model, rows that judge it, and their targets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    model = GreedyRegressor(n_estimators=20).fit(X[:100], y[:100])
    return model, X[100:], y[100:]


def test_bars_are_sorted_with_their_intervals():
    display = importance().plot()
    words = words_on(display.figure_)
    assert isinstance(display, ImportanceDisplay)
    assert_same([bar.get_width() for bar in display.bars_], [3.0, 0.5, 0.0, -1.0])
    assert tick_labels(display.ax_.yaxis) == ["rooms", "age", "unused", "income"]
    colors = [bar.get_edgecolor() for bar in display.bars_]
    assert colors[0] == to_rgba(BLUE)
    assert colors[3] == to_rgba(VERMILION)
    assert len({*colors}) == 3  # of an interval with 0 in it nothing can be told
    assert "grey: cannot be told" in " ".join(words)
    segments = display.bars_.errorbar.lines[2][0].get_segments()
    assert_close(segments[0][:, 0], [3 - 1.959963984540054, 3 + 1.959963984540054], 5.0)
    low, high = display.ax_.get_ylim()
    assert low > high  # the best on top
    assert "What each feature is worth on these rows" in words
    assert any("gain, sum over 1,234 rows, 95 % intervals" in line for line in words)


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
        assert all(bar.get_facecolor()[3] > 0 for bar in plain.bars_)
        assert "hollow" not in plain.ax_.get_xlabel()


def test_the_best_bars_only():
    display = importance(np.arange(50.0), None, "total_gain").plot(max_display=3)
    words = words_on(display.figure_)
    widths = [bar.get_width() for bar in display.bars_]
    assert_close(np.array(widths), [49 / 12.25, 48 / 12.25, 47 / 12.25], 4.0)  # % of 1,225
    assert display.bars_.errorbar is None
    assert "What each feature promised on the training rows (best 3 of 50 features)" in words
    assert "% of all gain, training rows" in words
    assert len(importance(np.arange(50.0), None).plot(max_display=None).bars_) == 50


def test_single_shuffles_are_dots():
    repeats = np.arange(12.0).reshape(4, 3)
    result = importance(repeats.mean(axis=1), None, "permutation(roc_auc)", repeats=repeats)
    display = result.plot(max_display=2)
    words = words_on(display.figure_)
    dots = [line.get_xdata() for line in display.ax_.lines]
    assert_same(dots, repeats[[3, 2]].T)
    assert "drop of the score (dots: single shuffles)" in words


def test_curves_add_up_the_trees():
    assert isinstance(importance(per_tree=PER_TREE).plot(), BoostingDisplay)
    display = drawn(BoostingDisplay, importance(per_tree=PER_TREE), max_display=2)
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
    """Absolute contributions are summed over 1,234 rows, and drawn as their mean."""
    display = used_useful(max_display=2)
    words = words_on(display.figure_)
    x = np.array([1.0, 2.0, 3.0, 0.0]) / 1234
    assert_close(np.asarray(display.points_.get_offsets()), np.column_stack([x, VALUES]), 1.0)
    blue, vermilion, also_blue, grey = map(tuple, display.points_.get_edgecolors())
    assert (blue, vermilion) == (to_rgba(BLUE), to_rgba(VERMILION))
    assert also_blue == blue
    assert len({*grey[:3]}) == 1
    assert {name for name in NAMES if name in words} == {"rooms", "income"}
    assert "TreeInner (useful)" in words
    used = "mean absolute contribution to the raw prediction (used)"
    assert any(line.startswith(used) for line in words)
    assert display.ax_.get_xlim()[0] == 0
    zero_lines = [line for line in display.ax_.lines if np.all(np.equal(line.get_ydata(), 0))]
    assert zero_lines
    segments = np.concatenate(
        [c.get_segments() for c in display.ax_.collections if hasattr(c, "get_segments")]
    )
    for value, error in zip(VALUES, ERRORS, strict=True):
        ends = [value - 1.959963984540054 * error, value + 1.959963984540054 * error]
        assert np.isclose(segments[:, :, 1], ends, rtol=0, atol=1e-12).all(axis=1).any()


def test_intervals_that_are_given_are_drawn_and_judge():
    """One without an end is as long as towards the other, and has an arrow; nan is not drawn."""
    given = np.array([[0.1, np.inf], [-2.0, 1.0], [np.nan, np.nan], [0.0, 0.0]])
    display = ImportanceDisplay(importance(), intervals=given).plot()
    rooms, age, unused, income = display.bars_.errorbar.lines[2][0].get_segments()
    assert_close(age[:, 0], [0.1, 0.9], 3.0)
    assert any(line.get_marker() == ">" and len(line.get_xdata()) for line in display.ax_.lines)
    assert_close(income[:, 0], [-2.0, 1.0], 2.0)
    assert_same(rooms[:, 0], [3.0, 3.0])
    assert_same(unused[:, 0], [0.0, 0.0])
    colors = [bar.get_edgecolor() for bar in display.bars_]
    assert colors[1] == to_rgba(BLUE)
    assert colors[0] == colors[2] == colors[3] != colors[1]


def test_used_against_useful_of_other_features_is_refused():
    with pytest.raises(ValueError, match="the same features"):
        UsedUsefulDisplay(importance(np.zeros(3), None), importance())


def bars_of(display):
    """Return where the bars of a waterfall start and how far they go."""
    return [[bar.get_x(), bar.get_width()] for bar in display.ax_.patches]


def test_one_row_as_a_waterfall():
    """Each bar starts where the one above has led to; what is not shown is one more bar."""
    attribution = rows()
    attribution = replace(attribution, base_values=np.full(30, 2.0))
    display = attribution.plot(row=2, max_display=2)
    words = words_on(display.figure_)
    moves = attribution.values[2]
    first, second, third = np.argsort(-np.abs(moves))[:3]  # the last moves nothing
    starts = [2.0, 2.0 + moves[first], 2.0 + moves[first] + moves[second]]
    expected = np.column_stack([starts, moves[[first, second, third]]])
    assert_close(np.array(bars_of(display)), expected, 10.0)
    labels = [f"{NAMES[k]} = {attribution.data[2, k]:.4g}" for k in (first, second)]
    labels = [label.replace("-", "\N{MINUS SIGN}") for label in labels]
    assert tick_labels(display.ax_.yaxis) == [*labels, "1 other feature"]
    for move in (moves[first], moves[second], moves[third]):
        assert f"{move:+.3g}".replace("-", "\N{MINUS SIGN}") in words
    assert "base value 2" in words
    assert f"prediction {2 + moves.sum():.4g}".replace("-", "\N{MINUS SIGN}") in words
    colors = [to_rgba(VERMILION if move > 0 else BLUE) for move in moves[[first, second, third]]]
    assert [bar.get_facecolor() for bar in display.ax_.patches] == colors
    assert "How each feature moves the prediction of row 2" in words
    assert len(bars_of(rows(data=False).plot(row=-1))) == 3  # no bar for a contribution of 0
    assert "income = missing" in words_on(attribution.plot(row=0).figure_)
    for row in (30, -31):
        with pytest.raises(ValueError, match=f"row={row}, but the attribution has 30 rows"):
            attribution.plot(row=row)


def test_one_row_in_one_line():
    """What raises ends at the prediction, and so does what lowers; ten have bars, others one."""
    values = np.append(np.arange(1.0, 13.0), [-3.0, -4.0])[np.newaxis]
    names = tuple(f"x{k}" for k in range(14))
    attribution = LocalAttribution(values, np.array([1.0]), names, "predecomp")
    display = attribution.plot(row=0, kind="force", max_display=None)
    words = words_on(display.figure_)
    ends = np.array([[bar.get_x(), bar.get_x() + bar.get_width()] for bar in display.ax_.patches])
    total = 1.0 + values.sum()
    assert len(ends) == 11
    up, down = ends[ends[:, 0] < total], ends[ends[:, 0] >= total]
    assert_close([up.min(), up.max(), down.min()], [total - 78.0 + 3, total, total], 80.0)
    assert f"prediction {total:.4g} (base value 1)" in words
    assert any(word.startswith("x11") and word.endswith("+12") for word in words)
    with pytest.raises(ValueError, match="kind='force' draws one row: say which"):
        attribution.plot(kind="force")
    with pytest.raises(ValueError, match="kind='pie'; use 'waterfall' or 'force'"):
        attribution.plot(row=0, kind="pie")


@pytest.mark.parametrize("kind", ["waterfall", "force"])
def test_amounts_are_in_full_with_the_minus_sign_of_the_axis(kind):
    data, base = np.array([[-1200.5, 3e-4]]), np.array([182_500.0])
    moves = np.array([[-275_500.0, 86.25]])
    price = LocalAttribution(moves, base, ("a", "b"), "predecomp", data=data)
    words = " ".join(words_on(price.plot(row=0, kind=kind).figure_))
    minus = "\N{MINUS SIGN}"
    for said in (f"a = {minus}1200.5", f"{minus}275,500", "+86.2", "base value 182,500"):
        assert said in words
    assert f"prediction {minus}92,914" in words
    assert "-" not in words
    assert "e+" not in words


def test_rows_that_are_judged_are_in_per_cent_blue_where_a_feature_helped():
    model, X, y = fitted()
    result = held_out_gain_rows(model, X, y)
    display = result.plot(row=5)
    whole = held_out_gain(model, X, y).percent()
    mean = result.percent_of_one * result.values.mean(axis=0)
    assert_close(mean, whole, np.abs(whole), k=100)
    assert "% of the loss of a constant prediction, of a row" in " ".join(words_on(display.figure_))
    for bar in display.ax_.patches:
        assert bar.get_facecolor() == to_rgba(BLUE if bar.get_width() > 0 else VERMILION)
    assert display.ax_.get_title(loc="left") == "How each feature helped row 5"


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
        assert len({*zip(x, y, strict=True)}) == 30  # none hides another, where all are 0, too
    assert ("feature value (rank), vermilion: missing" in words) == data  # "income" has such a row
    assert "How each feature moves predictions, 30 rows" in words
    assert "How each feature moves predictions, 1 row" in words_on(rows(1).plot().figure_)
    fewer = words_on(attribution.plot(max_display=3).figure_)
    assert "How each feature moves predictions, 30 rows (3 of 4 features)" in fewer


def test_no_rows_are_no_picture():
    nothing = LocalAttribution(np.zeros((0, 4)), np.zeros(0), NAMES, "predecomp")
    with pytest.raises(ValueError, match="The attribution has no rows"):
        nothing.plot()


def test_names_are_moved_apart_and_no_further():
    apart = np.array([0.0, 10.0, 5.0])
    assert_close(spread(apart, 1.0, -20.0, 20.0), apart, 20.0)
    assert_close(spread(np.array([5.0, 5.0, 5.0]), 1.0, 0.0, 9.0), [4.0, 5.0, 6.0], 6.0)
    # 0 and 1 part to -.5 and 1.5; that touches 2, and all three share.
    assert_close(spread(np.array([0.0, 1.0, 2.0]), 2.0, -5.0, 5.0), [-1.0, 1.0, 3.0], 3.0)
    # Kept between bounds, the first goes to its bound and pushes the second.
    assert_close(spread(np.array([0.0, 1.0, 2.0]), 2.0, 0.0, 5.0), [0.0, 2.0, 4.0], 4.0)
    assert_close(spread(np.array([9.0, 1.0, 9.0]), 2.0, 0.0, 9.0), [7.0, 1.0, 9.0], 9.0)
    assert len(spread(np.array([]), 0.1, 0.0, 1.0)) == 0


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        importance().plot()


def test_held_out_gain_is_drawn_in_per_cent():
    """Of the loss of the best constant: what `percent` returns, with intervals in the same unit."""
    result = held_out_gain(*fitted())
    display = result.plot()
    widths = [bar.get_width() for bar in display.bars_]
    assert_close(np.array(widths), result.percent()[result.ranking()], np.abs(result.percent()))
    label = display.ax_.get_xlabel()
    assert label.startswith("Held-out gain, % of the loss of a constant prediction, 100 rows")
    segments = display.bars_.errorbar[2][0].get_segments()
    half = np.array([np.ptp(segment[:, 0]) / 2 for segment in segments])
    expected = 1.959963984540054 * result.standard_error * result.percent() / result.values
    assert_close(half, np.abs(expected)[result.ranking()], np.abs(expected).max(), k=100)
