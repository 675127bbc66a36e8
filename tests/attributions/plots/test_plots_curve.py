"""The curve of one feature: the steps that are drawn are those of the curve, the bars its rows."""

import numpy as np

from attributions import FeatureCurve, partial_dependence
from attributions.plots import CurveDisplay
from gbt import GBTClassifier, GBTRegressor
from tests.asserts import assert_close, assert_same, peer
from tests.pictures import assert_inside, words_on, written


def curve(**others):
    of_numbers = {
        "feature_name": "age", "cuts": np.array([1.0, 2.0, 5.0]),
        "values": np.array([0.0, 1.0, -1.0, 3.0]), "missing": 2.0,
        "shares": np.array([0.1, 0.2, 0.3, 0.3, 0.1]), "levels": None, "is_additive": True,
        "method": "partial_dependence",
    }  # fmt: skip
    return FeatureCurve(**of_numbers | others)


def test_steps_and_distribution():
    display = curve().plot()
    assert isinstance(display, CurveDisplay)
    [steps] = display.lines_
    values, edges, _ = steps.get_data()
    assert_same(values, [0.0, 1.0, -1.0, 3.0])
    assert_close(edges, [0.8, 1.0, 2.0, 5.0, 5.2], 5.0)
    *_, bars = display.ax_.patches
    heights, bins, low = bars.get_data()
    tall = (heights - low) / (heights - low).max()
    assert_close(bins[[0, -1]], [1.0, 5.0], 5.0)  # how far the other rows reach is not known
    late = bins[:-1] >= 2.0  # .3 over three years
    early = bins[1:] <= 2.0  # .2 over one
    assert_close(tall[late].mean() / tall[early].mean(), (0.3 / 3) / 0.2, 1.0)
    assert display.ax_.get_title(loc="left") == "How the prediction changes with age"
    [ring] = display.ax_.lines
    assert_same(ring.get_ydata(), [2.0])
    assert_inside(written(display.figure_), display.figure_.bbox.extents)


def test_without_rows_there_is_no_distribution_and_no_ring():
    display = curve(shares=None).plot(title="mine")
    assert len(display.ax_.patches) == 1
    assert not display.ax_.lines
    assert display.ax_.get_title(loc="left") == "mine"


def test_levels_are_rows():
    of_levels = {"cuts": np.empty(0), "levels": ("red", "green", "blue"), "shares": None}
    display = curve(**of_levels, values=np.array([0.0, 2.0, 1.0])).plot()
    assert {"red", "green", "blue"} <= set(words_on(display.figure_))
    assert_same(display.lines_[0].get_xdata(), [0.0, 2.0, 1.0])


def test_commonest_of_many_levels_are_shown():
    shares = np.append(np.arange(40.0), 0.0) / np.arange(40).sum()
    display = curve(
        cuts=np.empty(0), levels=tuple(map(str, range(40))), values=np.arange(40.0), shares=shares
    ).plot()
    assert_same(display.lines_[0].get_xdata(), np.arange(10.0, 40.0))


def test_of_models():
    pandas = peer("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"word": rng.choice([*"abc"], 90), "x": rng.normal(size=90)})
    model = GBTClassifier(n_estimators=3, splitter="greedy").fit(
        frame, np.digitize(frame.x, [-0.5, 0.5])
    )
    for name in ("word", "x"):
        display = partial_dependence(model, name, frame).plot()
        assert len(display.lines_) == 3
        assert_inside(written(display.figure_), display.figure_.bbox.extents)
    stub = GBTRegressor(n_estimators=1, splitter="greedy").fit(frame[["x"]], np.ones(90))
    assert len(partial_dependence(stub, "x", frame[["x"]]).plot().lines_) == 1
