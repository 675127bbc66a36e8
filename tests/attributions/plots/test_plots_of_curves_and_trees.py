"""Words in rows, the curve of a feature, a tree: what is drawn is what is known."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from matplotlib.colors import to_rgba

from attributions import FeatureCurve, LocalAttribution, partial_dependence
from attributions.plots import VERMILION, CurveDisplay, TreeDisplay
from gbt.model.tree import NODE_DTYPES, Tree
from tests.asserts import assert_close, assert_same, peer
from tests.greedy import GreedyClassifier, GreedyRegressor
from tests.pictures import assert_apart, assert_inside, box_of, words_on, written


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


def curve(**others):
    of_numbers = {
        "feature_name": "age", "cuts": np.array([1.0, 2.0, 5.0]),
        "values": np.array([0.0, 1.0, -1.0, 3.0]), "missing": 2.0,
        "shares": np.array([0.1, 0.2, 0.3, 0.3, 0.1]), "levels": None, "is_additive": True,
        "method": "partial_dependence",
        "quantiles": np.repeat([0.5, 1.5, 4.0, 6.0, 50.0], [220, 221, 331, 222, 7]),
    }  # fmt: skip
    return FeatureCurve(**of_numbers | others)


def test_steps_and_distribution():
    display = curve().plot()
    assert isinstance(display, CurveDisplay)
    [steps] = display.lines_
    values, edges, _ = steps.get_data()
    assert_same(values, [0.0, 1.0, -1.0, 3.0])
    ends = [0.5 - 0.05 * 5.5, 6.0 + 0.05 * 5.5]  # rows, but for the last hundredth
    assert_close(edges, [ends[0], 1.0, 2.0, 5.0, ends[1]], 5.0)
    *_, bars = display.ax_.patches
    heights, bins, low = bars.get_data()
    tall = (heights - low) / (heights - low).max()
    assert_close(bins[[0, -1]], ends, 5.0)
    filled = np.flatnonzero(tall)
    assert_close(tall[filled], [220 / 331, 221 / 331, 1.0, 222 / 331], 1.0)
    for i, value in zip(filled, (0.5, 1.5, 4.0, 6.0), strict=True):
        assert bins[i] <= value <= bins[i + 1]
    assert display.ax_.get_title(loc="left") == "How the prediction changes with age"
    [ring] = display.ax_.lines
    assert_same(ring.get_ydata(), [2.0])
    assert_inside(written(display.figure_), display.figure_.bbox.extents)


def test_a_column_without_cuts_is_drawn_where_its_rows_are():
    years = {"quantiles": np.linspace(2010, 2024, 1001), "shares": np.array([0.9, 0.1])}
    display = curve(cuts=np.empty(0), values=np.ones(1), **years).plot()
    low, high = display.ax_.get_xlim()
    assert 2009 < low < 2010.2 < 2023.8 < high < 2025
    unknown = {"quantiles": None, "shares": np.array([0.0, 1.0])}
    nothing = curve(cuts=np.empty(0), values=np.ones(1), **unknown)
    assert not any("grey" in word for word in words_on(nothing.plot().figure_))


@pytest.mark.parametrize("numbers", [np.arange(24), np.array([0, 1]), 50 * np.arange(7)])
def test_few_whole_numbers_have_a_bar_each(numbers):
    of_rows = np.sort(np.resize(numbers, 1001)).astype(float)
    display = curve(quantiles=of_rows, cuts=np.array([0.5]), values=np.eye(2)[0]).plot()
    *_, bars = display.ax_.patches
    heights, ends, low = bars.get_data()
    assert_close((ends[::2] + ends[1::2]) / 2, 1.0 * numbers, 50.0)
    assert_same(heights[1::2], np.full(len(numbers) - 1, low))  # nothing between two of them
    counts = np.unique(of_rows, return_counts=True)[1]
    tall = heights[::2] - low
    assert_close(tall / tall.max(), counts / counts.max(), 10.0)
    left, right = display.ax_.get_xlim()
    assert left <= ends[0] < ends[-1] <= right


def test_a_scale_is_shared_and_a_long_name_is_cut():
    named = curve(feature_name="n" * 200).plot().figure_
    assert_inside(written(named), named.bbox.extents)
    displays = [CurveDisplay(curve(values=v), scale=(-5.0, 9.0)).plot() for v in np.eye(4)]
    assert len({display.ax_.get_ylim() for display in displays}) == 1
    low, high = displays[0].ax_.get_ylim()
    assert low < -5.0 < 9.0 < high < 11.0
    of_levels = curve(cuts=np.empty(0), levels=tuple("abcd"), shares=None)
    assert CurveDisplay(of_levels, scale=(-5.0, 9.0)).plot().ax_.get_xlim()[0] < -5.0


def test_what_there_is_not_is_not_drawn_and_levels_are_rows():
    display = curve(shares=None, quantiles=None).plot(title="mine")
    assert len(display.ax_.patches) == 1
    assert not display.ax_.lines
    assert display.ax_.get_title(loc="left") == "mine"
    of_levels = {"cuts": np.empty(0), "levels": ("red", "green", "blue"), "shares": None}
    display = curve(**of_levels, values=np.array([0.0, 2.0, 1.0])).plot()
    assert {"red", "green", "blue"} <= set(words_on(display.figure_))
    assert_same(display.lines_[0].get_xdata(), [0.0, 2.0, 1.0])
    of_levels["shares"] = np.array([0.5, 0.1, 0.2, 0.2])
    display = curve(**of_levels, values=np.array([0.0, 2.0, 1.0]), missing=1.5).plot()
    assert_same(display.lines_[0].get_xdata(), [0.0, 2.0, 1.0, 1.5])
    assert "missing" in words_on(display.figure_)
    shares = np.append(np.arange(40.0), 0.0) / np.arange(40).sum()
    many = of_levels | {"levels": tuple(map(str, range(40))), "shares": shares}
    display = curve(**many, values=np.arange(40.0)).plot()
    assert_same(display.lines_[0].get_xdata(), np.arange(10.0, 40.0))  # the commonest
    assert "(30 of 40 levels)" in " ".join(words_on(display.figure_))
    [stems], [mean] = display.ax_.collections, display.ax_.lines[1:]
    assert_close(stems.get_segments()[0][:, 0], [shares[:40] @ np.arange(40), 10.0], 40.0)
    assert_close(mean.get_xdata(), [shares[:40] @ np.arange(40)] * 2, 40.0)
    nine = {"missing": np.zeros(9), "output_names": tuple(range(9))}
    steps = curve(values=np.outer(np.arange(4.0), np.arange(9)), **nine).plot().lines_
    assert len({(line.get_edgecolor(), line.get_linestyle()) for line in steps}) == 9
    points = curve(**of_levels, values=np.outer(np.arange(3.0), np.arange(9)), **nine).plot()
    assert len({(line.get_color(), line.get_marker()) for line in points.lines_}) == 9
    spelt = {"levels": ("10/49", "100-500", "50-99", "<10", ">500"), "shares": np.ones(6) / 6}
    display = curve(**of_levels | spelt, values=np.arange(5.0)).plot()
    assert_same(display.lines_[0].get_xdata(), [3.0, 0.0, 2.0, 1.0, 4.0, 2.0])  # at last: missing
    assert "(dotted: the mean over rows)" in " ".join(words_on(display.figure_))
    two = {"values": np.eye(3)[:, :2], "missing": np.zeros(2), "output_names": ("yes", "no")}
    axes = curve(**of_levels, **two).plot().ax_
    assert axes.get_legend().get_window_extent().x0 > axes.get_window_extent().x1


def test_of_models():
    pandas = peer("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"word": rng.choice([*"abc"], 90), "x": rng.normal(size=90)})
    model = GreedyClassifier(n_estimators=3).fit(frame, np.digitize(frame.x, [-0.5, 0.5]))
    for name in ("word", "x"):
        display = partial_dependence(model, name, frame).plot()
        assert len(display.lines_) == 3
        assert_inside(written(display.figure_), display.figure_.bbox.extents)
    stub = GreedyRegressor(n_estimators=1).fit(frame[["x"]], np.ones(90))
    assert len(partial_dependence(stub, "x", frame[["x"]]).plot().lines_) == 1


def by_hand():
    """Return a root, a leaf at its left, and at its right a split into two leaves."""
    return Tree(
        feature=np.array([1, -1, 0, -1, -1]), threshold=np.array([2.5, 0.0, -1250000.0, 0.0, 0.0]),
        left=np.array([1, -1, 3, -1, -1]), right=np.array([2, -1, 4, -1, -1]),
        missing_left=np.array([True, False, False, False, False]),
        sum_gradient=np.array([-3.0, 4.0, -7.0, -1.5, -5.5]),
        sum_hessian=np.array([2000.0, 1500.0, 500.0, 200.0, 300.0]),
        n_samples=np.array([2000, 1500, 500, 200, 300]), gain=np.array([1.0, 0.0, 1.0, 0.0, 0.0]),
        value=np.array([-0.0, -0.25, 1.4, 0.5, 2.0]),
    )  # fmt: skip


def grown(depth, n_rows=3000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.normal(size=n_rows)
    return GreedyRegressor(n_estimators=2, max_depth=depth).fit(X, y).ensemble_


def test_boxes_say_what_the_nodes_remember():
    display = TreeDisplay(by_hand(), feature_names=["income", "age"]).plot()
    texts = {t: text.get_text().split("\n") for t, text in display.boxes_.items()}
    assert texts == {
        0: ["age ≤ 2.5", "value 0   n 2,000", "G -3   H 2000"],
        1: ["value -0.25   n 1,500", "G 4   H 1500"],
        2: ["income ≤ -1.25e+06", "value 1.4   n 500", "G -7   H 500"],
        3: ["value 0.5   n 200", "G -1.5   H 200"],
        4: ["value 2   n 300", "G -5.5   H 300"],
    }
    assert display.ax_.get_title(loc="left") == "Tree"
    legend = " ".join(words_on(display.figure_))
    for explained in ("n: training rows", "G: sum of", "H: sum of", "value: what the node adds"):
        assert explained in legend


def test_answers_stand_before_their_boxes_and_say_where_missing_values_go():
    display = TreeDisplay(by_hand()).plot()
    written(display.figure_)
    answers = [text for text in display.ax_.texts if text not in display.boxes_.values()]
    found = {}
    for text in answers:
        _, y0, x1, y1 = box_of(text)
        for t, box in display.boxes_.items():
            left, bottom, _, top = box_of(box)
            if 0 <= left - x1 < 15 and bottom < (y0 + y1) / 2 < top:
                found[t] = text.get_text()
    assert found == {1: "yes, missing", 2: "no", 3: "yes", 4: "no, missing"}


def test_what_is_not_known_is_not_written():
    ensemble = grown(2)
    part = replace(ensemble, statistics=frozenset({"counts"}), value=_leaves_only(ensemble))
    display = TreeDisplay.from_model(part)
    written(display.figure_)
    assert display.boxes_[0].get_text().split("\n")[1:] == ["n 3,000"]
    leaf = next(t for t in display.boxes_ if part.trees[0].left[t] < 0)
    assert display.boxes_[leaf].get_text().startswith("value ")
    joined = " ".join(words_on(display.figure_))
    assert "G" not in joined
    assert "H" not in joined


def _leaves_only(ensemble):
    return np.where(ensemble.left < 0, ensemble.value, 0.0)


def test_trees_of_models_have_their_numbers_and_names():
    ensemble = replace(grown(2), feature_names=tuple("abcde"))
    display = TreeDisplay.from_model(ensemble, 1)
    assert display.ax_.get_title(loc="left") == "Tree 1 of 2, from 0"
    root = ensemble.trees[1]
    name = "abcde"[root.feature[0]]
    assert display.boxes_[0].get_text().startswith(f"{name} ≤ {root.threshold[0]:.6g}\n")
    for number in (2, -1):
        with pytest.raises(ValueError, match=f"number={number}, but the model has 2 trees"):
            TreeDisplay.from_model(ensemble, number)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [0, 1, 4, 7])
def test_trees_can_be_read_and_what_is_cut_is_counted(depth):
    tree = grown(max(depth, 1)).trees[0] if depth else _root_only()
    display = TreeDisplay(tree).plot()
    texts = written(display.figure_)
    assert_inside(texts, display.figure_.bbox.extents)
    assert_apart(texts)
    assert min(text.get_fontsize() for text in display.boxes_.values()) >= 8.5
    hidden = np.flatnonzero(tree.depth > 4)
    assert_same(sorted(display.boxes_), np.flatnonzero(tree.depth <= 4))
    title = display.ax_.get_title(loc="left")
    if len(hidden):
        assert title == f"Tree, depth 0 to 4 of 7: {len(hidden)} of {tree.n_nodes} nodes not shown"
        said = [text.get_text().split("\n")[-1] for text in display.boxes_.values()]
        below = [int(line.split()[1]) for line in said if line.endswith("nodes below")]
        assert sum(below) == len(hidden)
    else:
        assert title == "Tree"


def _root_only():
    arrays = {name: getattr(by_hand(), name)[1:2] for name in NODE_DTYPES}
    return Tree(**arrays)


def test_the_depth_is_chosen():
    tree = grown(6).trees[0]
    display = TreeDisplay(tree, max_depth=1).plot()
    assert len(display.boxes_) == 3
    assert len(TreeDisplay(tree, max_depth=None).plot().boxes_) == tree.n_nodes
    assert "... " in TreeDisplay(tree, max_depth=0).plot().boxes_[0].get_text()
    for wrong in (-1, 2.5, "3"):
        with pytest.raises(ValueError, match=f"max_depth={wrong!r}; it must be a whole number"):
            TreeDisplay(tree, max_depth=wrong)


def test_too_few_names_are_refused():
    with pytest.raises(ValueError, match="has 1 names, but the tree splits on column 1"):
        TreeDisplay(by_hand(), feature_names=["a"])


def test_what_rounding_leaves_of_0_is_0():
    tree = by_hand()
    tree = replace(
        tree,
        sum_gradient=np.array([-4.69e-14, 4.0, -4.0, -1.5, -2.5]),
        value=np.array([2.292e-16, -0.25, 1e-9, 0.5, 2.0]),
    )
    boxes = TreeDisplay(tree).plot().boxes_
    assert "value 0   " in boxes[0].get_text()
    assert "G 0   " in boxes[0].get_text()
    assert "value 1e-09   " in boxes[2].get_text()  # small, but no rounding


def test_a_tree_of_several_classes_says_whose_it_is():
    X = np.random.default_rng(0).normal(size=(90, 2))
    labels = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = GreedyClassifier(n_estimators=2, max_depth=1).fit(
        X, labels
    )  # classes: high, low, middle
    title = TreeDisplay.from_model(model, 4).ax_.get_title(loc="left")
    assert title == "Tree 4 of 6, from 0, for class low"
    title = TreeDisplay.from_model(model.ensemble_, 5).ax_.get_title(loc="left")
    assert title == "Tree 5 of 6, from 0, for output 2"


def test_a_question_that_missing_words_alone_answer_with_yes():
    table = pandas.DataFrame({"word": np.array(["u", "v", None] * 20, dtype=object)})
    y = 2.0 * table["word"].isna()
    model = GreedyRegressor(1, max_depth=1, categorical_smoothing=0).fit(table, y)
    words = words_on(TreeDisplay.from_model(model, 0).figure_)
    (question,) = [text for text in words if text.startswith("word ")]
    assert question.startswith("word is missing")
