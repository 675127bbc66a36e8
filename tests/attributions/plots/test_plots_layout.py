"""Every picture can be read: names as they are, apart and within the figure, in any style."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import font_manager, pyplot

from attributions import GlobalAttribution, LocalAttribution, PairAttribution
from attributions.plots import BoostingDisplay, TreeDisplay, UsedUsefulDisplay, sheet
from attributions.plots.colors import contrast, readable, seen_through
from attributions.plots.lettering import Lettering
from gbt.model.tree import Tree
from tests.asserts import assert_close, assert_same
from tests.pictures import (
    assert_apart,
    assert_inside,
    box_of,
    contrast_on,
    tick_labels,
    words_on,
    written,
)

DEJAVU = [font for font in font_manager.fontManager.ttflist if font.name == "DejaVu Sans"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture
def only_dejavu(monkeypatch):
    """Make a machine on which no font has Chinese letters."""
    monkeypatch.setattr(font_manager.fontManager, "ttflist", DEJAVU)


@pytest.fixture
def chinese_font(tmp_path, monkeypatch, only_dejavu):
    """Install a font of black squares for four Chinese letters; return its name."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    builder = FontBuilder(1000, isTTF=True)
    pen = TTGlyphPen(None)
    for move, point in zip(
        [pen.moveTo, pen.lineTo, pen.lineTo, pen.lineTo],
        [(50, 0), (50, 900), (950, 900), (950, 0)],
        strict=True,
    ):
        move(point)
    pen.closePath()
    square = pen.glyph()
    builder.setupGlyphOrder([".notdef", "square"])
    builder.setupCharacterMap({ord(letter): "square" for letter in "年龄收入"})
    builder.setupGlyf({".notdef": square, "square": square})
    builder.setupHorizontalMetrics({".notdef": (1000, 50), "square": (1000, 50)})
    builder.setupHorizontalHeader(ascent=900, descent=-100)
    builder.setupNameTable({"familyName": "Squares", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=900, usWinAscent=900, usWinDescent=100)
    builder.setupPost()
    path = tmp_path / "squares.ttf"
    builder.save(path)
    monkeypatch.setattr(font_manager.fontManager, "ttflist", list(DEJAVU))
    font_manager.fontManager.addfont(path)
    return "Squares"


def values_of(p, shape=()):
    """Return values that fall off, of both signs."""
    signs = np.where(np.arange(p) % 3 == 2, -1, 1)
    spread = np.random.default_rng(0).normal(1.0, 0.3, size=(*shape, p))
    return signs * np.geomspace(3, 0.05, p) * spread


def of_features(names, values=None, method="tree_inner(predecomp)", **others):
    values = values_of(len(names)) if values is None else values
    return GlobalAttribution(values, np.abs(values) * 0.2, 1234, names, method, **others)


def bars(names, values=None, **options):
    return of_features(names, values).plot(**options)


def curves(names, values=None, **options):
    values = values_of(len(names)) if values is None else values
    per_tree = np.tile(values / 10, (10, 1))
    return BoostingDisplay.from_attribution(
        of_features(names, values, per_tree=per_tree), **options
    )


def used(names, values=None, **options):
    values = values_of(len(names)) if values is None else values
    absolute = of_features(names, np.abs(values), "absolute(predecomp, tree)")
    options = {"highlight": [0, 2], "highlight_label": "of interest", **options}
    return UsedUsefulDisplay.from_attributions(absolute, of_features(names, values), **options)


def of_rows(names, values=None):
    p = len(names)
    values = values_of(p, (40,)) if values is None else np.tile(values, (40, 1))
    data = np.random.default_rng(1).normal(size=(40, p))
    return LocalAttribution(values, np.zeros(40), names, "predecomp", data=data)


def swarm(names, values=None, **options):
    return of_rows(names, values).plot(**options)


def row(names, values=None, **options):
    return of_rows(names, values).plot(row=1, **options)


def pairs(names, values=None, **options):
    """Every feature earned a part alone and a part below the next one."""
    p = len(names)
    values = values_of(p) if values is None else values
    below = np.column_stack([np.arange(p), (np.arange(p) + 1) % p])
    alone = np.column_stack([np.arange(p), np.arange(p)])
    result = PairAttribution(
        values=np.concatenate([values, values / 2]),
        standard_error=None,
        pairs=np.concatenate([alone, below]),
        n_samples=1234,
        feature_names=names,
        method="tree_inner_pairs(predecomp)",
    )
    return result.plot(**options)


def tree(names, values=None, **options):
    """Three levels on the first three features."""
    values = np.arange(-3.0, 4.0) if values is None else np.zeros(7)
    fields = dict.fromkeys(("sum_gradient", "gain"), values)
    nodes = Tree(
        feature=np.array([0, 1, -1, -1, 2, -1, -1]),
        threshold=np.array([0.5, -1.25, 0, 0, 1e-7, 0, 0]),
        left=np.array([1, 2, -1, -1, 5, -1, -1]),
        right=np.array([4, 3, -1, -1, 6, -1, -1]),
        missing_left=np.array([True, False, False, False, True, False, False]),
        sum_hessian=np.full(7, 12.0),
        n_samples=np.full(7, 12_345),
        value=values,
        **fields,
    )
    options.pop("max_display", None)
    return TreeDisplay.from_tree(nodes, feature_names=names, **options)


KINDS = {
    "bars": bars,
    "curves": curves,
    "used": used,
    "swarm": swarm,
    "row": row,
    "pairs": pairs,
    "tree": tree,
}
LONG = tuple(f"mean_temperature_of_station_{k:03d}_in_degrees_celsius" for k in range(12))
MATH = ("$price$", "a_b^c", "cost in $", "$\\frac{", "new\nline", "100 %", "\\alpha_{", "#~&")
NAMES = {
    "short": tuple(f"x{k}" for k in range(12)),
    "math": MATH,
    "long": LONG,
    "hundred": tuple(f"x{k}" for k in range(100)),
    "hundred long": tuple(f"{LONG[0]}{k}" for k in range(100)),
}
every_kind = pytest.mark.parametrize("draw", KINDS.values(), ids=KINDS)


def lines_of(text):
    return text.get_text().replace("\n", " ")


# ------------------------------------------------------------- the helpers see planted defects


def test_overlapping_texts_are_seen():
    figure = pyplot.figure()
    figure.text(0.5, 0.5, "one")
    other = figure.text(0.52, 0.5, "two")
    with pytest.raises(AssertionError, match="'one' and 'two' overlap"):
        assert_apart(written(figure))
    other.set_y(0.6)
    assert_apart(written(figure))


def test_a_text_outside_is_seen():
    figure = pyplot.figure()
    text = figure.text(0.98, 0.5, "far too long")
    with pytest.raises(AssertionError, match=r"'far too long' at .* leaves"):
        assert_inside(written(figure), figure.bbox.extents)
    text.set_x(0.5)
    assert_inside(written(figure), figure.bbox.extents)


def test_hidden_and_empty_texts_are_not_written():
    figure = pyplot.figure()
    for text in ("one", "", "  "):
        figure.text(0.5, 0.5, text)
    figure.text(0.5, 0.5, "hidden", visible=False)
    assert words_on(figure) == ["one"]


def test_white_on_white_is_seen():
    figure = pyplot.figure(facecolor="white")
    texts = [figure.text(0.2, y, "some", color=c) for y, c in ((0.2, "white"), (0.6, "black"))]
    figure.canvas.draw()
    assert contrast_on(figure, texts[0]) < 1.1
    assert contrast_on(figure, texts[1]) > 15


# ------------------------------------------------------------- names


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_texts_are_within_the_figure_and_apart(draw, names):
    figure = draw(names, max_display=None if draw is bars else 12).figure_
    texts = written(figure)
    assert len(texts) > 5
    assert_inside(texts, figure.bbox.extents)
    assert_apart(texts)


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("size", [(4.0, 3.0), (9.0, 2.5), (3.5, 8.0)])
def test_small_figures_can_be_read_too(draw, size):
    figure = draw(NAMES["hundred long"], max_display=100, figsize=size).figure_
    texts = written(figure)
    assert_inside(texts, figure.bbox.extents)
    assert_apart(texts)
    assert min(text.get_fontsize() for text in texts) >= 5.9


@pytest.mark.slow
@every_kind
def test_names_are_drawn_as_they_are(draw):
    words = " | ".join(words_on(draw(MATH).figure_))
    for name in MATH[:3]:
        assert name.replace("\n", " ") in words
    assert "\\mathdefault" not in words


def test_a_line_break_is_a_space():
    assert "new line" in tick_labels(bars(MATH).ax_.yaxis)
    assert "new line = " in " ".join(tick_labels(row(MATH).ax_.yaxis))


def test_dollars_have_their_own_width():
    """Taken for a formula, the two dollars would not be drawn."""
    figure = pyplot.figure()
    lettering = Lettering(figure, ["$x$"])
    assert lettering.size("$x$", 20)[0] > 1.8 * lettering.size("x", 20)[0]
    labels = [label for label in bars(MATH).ax_.get_yticklabels() if label.get_text() == "$price$"]
    wide = labels[0].get_window_extent().width
    labels[0].set_parse_math(True)
    assert labels[0].get_window_extent().width < wide


def test_formulas_are_not_handed_to_latex():
    figure = pyplot.figure()
    expected = Lettering(figure, MATH).size("$price$ 100 %", 20)
    with mpl.rc_context({"text.usetex": True}):
        assert_same(Lettering(figure, MATH).size("$price$ 100 %", 20), expected)
    names = [label for label in bars(MATH).ax_.get_yticklabels() if label.get_text()]
    assert not any(text.get_usetex() or text.get_parse_math() for text in names)


def test_long_names_are_cut_in_the_middle():
    shown = tick_labels(bars(("short", f"begin_{'x' * 50}_end")).ax_.yaxis)
    assert shown[0] == "short"
    cut = next(name for name in shown if "…" in name)
    assert cut.startswith("begin_")
    assert cut.endswith("_end")
    assert 15 < len(cut) < 50


def test_names_that_would_look_alike_have_their_column_numbers():
    shown = tick_labels(bars((*LONG, "twice", "twice", "a\nb", "a b")).ax_.yaxis)
    assert len(set(shown)) == 16
    for k in range(12):
        assert sum(f"…[{k}]…" in name for name in shown) == 1
    assert len(set(tick_labels(bars(("", "", "a")).ax_.yaxis))) == 3
    assert {"twice [12]", "twice [13]", "a b [14]", "a b [15]"} <= set(shown)


def test_in_a_figure_without_a_layout_names_take_the_room_that_there_is():
    figure, (left, right) = pyplot.subplots(1, 2)
    for ax in (left, right):
        bars(LONG, ax=ax)
    written(figure)
    in_left = [label for label in left.get_yticklabels() if label.get_text()]
    in_right = [label for label in right.get_yticklabels() if label.get_text()]
    assert_inside(in_left, figure.bbox.extents)
    assert_inside(in_right, [left.get_window_extent().x1, *figure.bbox.extents[1:]])
    _, ax = pyplot.subplots(layout="constrained")
    bars(LONG, ax=ax)
    assert len(tick_labels(ax.yaxis)[0]) > len(in_left[0].get_text())


@pytest.mark.slow
def test_of_too_many_names_the_best_are_shown_and_counted():
    names = NAMES["hundred"]
    display = bars(names, figsize=(5, 3), max_display=None)
    n_shown = len(display.bars_)
    assert 10 < n_shown < 40
    assert f"TreeInner (PreDecomp): best {n_shown} of 100 features" in words_on(display.figure_)
    best = of_features(names).ranking()[:n_shown]
    assert tick_labels(display.ax_.yaxis) == [names[k] for k in best]
    tall = bars(names, max_display=None)
    assert len(tall.bars_) == 100
    for draw in (swarm, row):
        display = draw(names, figsize=(5, 3), max_display=None)
        shown = [name for name in tick_labels(display.ax_.yaxis) if name]
        assert f", {len(shown)} of 100 features" in " ".join(words_on(display.figure_))


def test_figures_do_not_grow_without_end(monkeypatch):
    monkeypatch.setattr(sheet, "TALLEST", 10.0)
    display = bars(tuple(f"x{k}" for k in range(300)), max_display=None)
    assert display.figure_.get_size_inches()[1] == 10
    assert 50 < len(display.bars_) < 100
    assert sheet.TALLEST * 400 < 2**16  # pixels, which Matplotlib's renderer can count


def test_long_titles_have_several_lines():
    title = "In $ and with 100 % of all that there is to say about it " * 3
    display = bars(LONG, title=title.strip())
    assert words_on(display.figure_).count(title.strip()) == 1
    assert display.ax_.get_title(loc="left").count("\n") > 1
    assert_inside(written(display.figure_), display.figure_.bbox.extents)


def test_what_is_blue_is_said_below_the_title_where_there_is_no_room_beside():
    wide, narrow = used(LONG), used(LONG, figsize=(3.2, 4))
    assert wide.ax_.get_title(loc="right") == "blue: of interest"
    assert narrow.ax_.get_title(loc="right") == ""
    assert narrow.ax_.get_title(loc="left").endswith("\nblue: of interest")


# ------------------------------------------------------------- letters

CHINESE = ("年龄", "收入", "age", "入年")


@pytest.mark.slow
@every_kind
def test_letters_come_from_any_font_that_has_them(draw, chinese_font):
    figure = draw(CHINESE, title="收入 in $").figure_
    texts = {text.get_text().split(" ")[0]: text for text in written(figure)}
    assert {"年龄", "收入"} <= set(texts)
    for name in ("年龄", "收入"):
        assert chinese_font in texts[name].get_fontfamily()
    assert contrast_on(figure, texts["收入"]) > 3


def test_squares_are_drawn_for_the_letters_of_squares(chinese_font):
    figure = bars(CHINESE).figure_
    label = next(text for text in written(figure) if text.get_text() == "年龄")
    left, bottom, right, top = np.round(box_of(label)).astype(int)
    pixels = np.asarray(figure.canvas.buffer_rgba())[::-1, :, 0][bottom:top, left:right]
    assert (pixels < 128).mean() > 0.5


@pytest.mark.slow
@every_kind
def test_letters_that_no_font_has_become_column_numbers(draw, only_dejavu):
    figure = draw(CHINESE, title="入 in $").figure_
    words = words_on(figure)
    joined = " | ".join(words)
    assert "column 0" in joined
    assert "age" in joined
    assert "no installed font has" in joined
    assert not set("年龄收入") & set(joined)
    assert "? in $" in words
    assert "no installed font has" not in " ".join(words_on(draw(NAMES["short"]).figure_))


def test_a_font_of_placeholders_is_not_asked(monkeypatch):
    fonts = font_manager.fontManager.ttflist
    last_resort = [font for font in fonts if "Last Resort" in font.name]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [*last_resort, *DEJAVU])
    assert Lettering(pyplot.figure(), ["年"]).missing == {"年"}


def test_a_style_may_name_fonts_that_are_not_there(only_dejavu):
    with mpl.rc_context({"font.family": ["No Such Font", "DejaVu Sans"]}):
        assert Lettering(pyplot.figure(), ["abc"]).missing == set()


# ------------------------------------------------------------- colours

STYLES = ["dark_background", "ggplot", "Solarize_Light2", "grayscale", "seaborn-v0_8-darkgrid"]


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("style", STYLES)
def test_every_style_can_be_read(draw, style):
    with pyplot.style.context(style):
        figure = draw(NAMES["short"]).figure_
        texts = written(figure)
    for text in texts:
        assert contrast_on(figure, text) >= 3, f"{text.get_text()!r} is not seen"


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("dark", ["figure", "axes"])
def test_axes_of_ones_own_colors_can_be_read(draw, dark):
    figure, ax = pyplot.subplots(layout="constrained")
    (figure if dark == "figure" else ax).set_facecolor("black")
    draw(NAMES["short"], ax=ax)
    for text in written(figure):
        assert contrast_on(figure, text) >= 3, f"{text.get_text()!r} is not seen"


@pytest.mark.slow
def test_axes_made_in_a_dark_style_stay_dark_outside_it():
    with pyplot.style.context("dark_background"):
        figure, ax = pyplot.subplots(layout="constrained")
    bars(NAMES["short"], ax=ax)
    for text in written(figure):
        assert contrast_on(figure, text) >= 3, f"{text.get_text()!r} is not seen"


def test_points_stand_out_from_a_dark_background():
    with pyplot.style.context("dark_background"):
        display = swarm(NAMES["short"])
        display.figure_.canvas.draw()
        for points in display.ax_.collections:
            for color in np.unique(points.get_facecolors(), axis=0):
                assert contrast(color[:3], "black") > 2


def test_contrast_by_hand():
    assert_close(contrast("white", "black"), 21.0, 21.0)
    # Grey of sRGB .5 has a luminance of .214.
    assert_close(
        contrast((0.5, 0.5, 0.5), "white"), 1.05 / (((0.5 + 0.055) / 1.055) ** 2.4 + 0.05), 4.0
    )


def test_only_what_cannot_be_read_is_changed():
    assert readable("#0072B2", "white") == "#0072B2"
    for color, background in (("white", "white"), ("#0072B2", "black"), ("#E69F00", "white")):
        changed = readable(color, background)
        assert contrast(changed, background) >= 4.5
    assert_same(readable("black", "black"), (0.5, 0.5, 0.5))  # 5.3 to 1; .4 has 3.7


def test_what_is_seen_through_transparent_faces():
    assert_same(seen_through([(1, 0, 0, 0.5), "black"], "white"), (0.5, 0.0, 0.0))
    assert_same(seen_through(["none"], "black"), (1.0, 1.0, 1.0))
    assert_same(seen_through(["none"], "white"), (0.0, 0.0, 0.0))


# ------------------------------------------------------------- values

SKEWED = np.array([5000.0, *np.linspace(-0.002, 0.002, 11)])


@pytest.mark.slow
@pytest.mark.parametrize("draw", [curves, used, swarm], ids=["curves", "used", "swarm"])
def test_values_at_the_origin_are_spread_on_a_symlog_axis(draw):
    display = draw(NAMES["short"], SKEWED)
    joined = " ".join(words_on(display.figure_))
    assert "(symlog axis, linear within ±0.00" in joined
    which = {curves: "y", used: "xy", swarm: "x"}[draw]
    for axis, values in (("x", SKEWED), ("y", SKEWED)):
        scale = getattr(display.ax_, f"get_{axis}scale")()
        assert scale == ("symlog" if axis in which else "linear")
        if axis in which:
            pixels = _along(display, axis, values)
            apart = np.ptp(pixels[1:]) / np.ptp(_along(display, axis, _limits(display, axis)))
            assert apart > 0.15
    assert_inside(written(display.figure_), display.figure_.bbox.extents)
    assert_apart(written(display.figure_))


def _along(display, axis, values):
    column = 0 if axis == "x" else 1
    points = np.ones((len(values), 2)) * getattr(display.ax_, f"get_{'yx'[column]}lim")()[1]
    points[:, column] = np.abs(values) if axis == "x" and display.ax_.get_xlim()[0] == 0 else values
    return display.ax_.transData.transform(points)[:, column]


def _limits(display, axis):
    return np.array(getattr(display.ax_, f"get_{axis}lim")())


def test_ordinary_values_keep_a_linear_axis():
    for draw in (curves, used, swarm):
        ax = draw(NAMES["short"]).ax_
        assert ax.get_xscale() == ax.get_yscale() == "linear"
        assert "symlog" not in ax.get_xlabel() + ax.get_ylabel()


@pytest.mark.slow
def test_bars_too_short_to_be_seen_have_numbers():
    display = bars(NAMES["short"], SKEWED)
    assert display.ax_.get_xscale() == "linear"  # lengths are what bars say
    shown = tick_labels(display.ax_.yaxis)
    assert shown[0] == "x0: 5e+03"
    assert "x11: 0.002" in shown
    assert shown[-1] == "x1: -0.002"
    assert not any(":" in name for name in tick_labels(bars(NAMES["short"]).ax_.yaxis))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bars", "curves", "used", "swarm", "row", "pairs"])
def test_a_model_of_nothing_says_so(kind):
    display = KINDS[kind](NAMES["short"], np.zeros(12))
    words = words_on(display.figure_)
    assert "all values are 0" in words
    assert "all values are 0" not in words_on(KINDS[kind](NAMES["short"]).figure_)
    for limits in (display.ax_.get_xlim(), display.ax_.get_ylim()):
        assert abs(limits[1] - limits[0]) > 1e-3  # not 1e-17
