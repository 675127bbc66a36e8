"""Every picture can be read: names as they are, apart and within the figure, in any style."""

import re
from functools import partial

import numpy as np
import pytest
from matplotlib import pyplot

from attributions import GlobalAttribution, LocalAttribution, PairAttribution
from attributions.plots import BoostingDisplay, TreeDisplay, UsedUsefulDisplay
from attributions.plots.colors import contrast, readable
from gbt.model.tree import Tree
from tests.asserts import assert_close, assert_same
from tests.pictures import (
    assert_apart,
    assert_inside,
    contrast_on,
    drawn,
    tick_labels,
    words_on,
    written,
)


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
    return drawn(BoostingDisplay, of_features(names, values, per_tree=per_tree), **options)


def used(names, values=None, **options):
    values = values_of(len(names)) if values is None else values
    absolute = of_features(names, np.abs(values), "absolute(predecomp, tree)")
    return drawn(UsedUsefulDisplay, absolute, of_features(names, values), **options)


def of_rows(names, values=None):
    p = len(names)
    values = values_of(p, (40,)) if values is None else np.tile(values, (40, 1))
    data = np.random.default_rng(1).normal(size=(40, p))
    return LocalAttribution(values, np.zeros(40), names, "predecomp", data=data)


def swarm(names, values=None, **options):
    return of_rows(names, values).plot(**options)


row, force = partial(swarm, row=1), partial(swarm, row=1, kind="force")


def pairs(names, values=None, **options):
    """Every feature earned a part alone and a part below the next one."""
    p = len(names)
    values = values_of(p) if values is None else values
    below = np.column_stack([np.arange(p), (np.arange(p) + 1) % p])
    alone = np.column_stack([np.arange(p), np.arange(p)])
    result = PairAttribution(
        values=np.concatenate([values, values / 2]), standard_error=None,
        pairs=np.concatenate([alone, below]), n_samples=1234, feature_names=names,
        method="tree_inner_pairs(predecomp)",
    )  # fmt: skip
    return result.plot(**options)


def tree(names, values=None, **options):
    """Three levels on the first three features."""
    values = np.arange(-3.0, 4.0) if values is None else np.zeros(7)
    fields = dict.fromkeys(("sum_gradient", "gain"), values)
    nodes = Tree(
        feature=np.array([0, 1, -1, -1, 2, -1, -1]),
        threshold=np.array([0.5, -1.25, 0, 0, 1e-7, 0, 0]),
        left=np.array([1, 2, -1, -1, 5, -1, -1]), right=np.array([4, 3, -1, -1, 6, -1, -1]),
        missing_left=np.array([True, False, False, False, True, False, False]),
        sum_hessian=np.full(7, 12.0), n_samples=np.full(7, 12_345), value=values, **fields,
    )  # fmt: skip
    options.pop("max_display", None)
    return drawn(TreeDisplay, nodes, feature_names=names, **options)


KINDS = {
    "bars": bars, "curves": curves, "used": used, "swarm": swarm,
    "row": row, "force": force, "pairs": pairs, "tree": tree,
}  # fmt: skip
LONG = tuple(f"mean_temperature_of_station_{k:03d}_in_degrees_celsius" for k in range(12))
MATH = ("$price$", "a_b^c", "cost in $", "$\\frac{", "new\nline", "100 %", "\\alpha_{", "#~&")
NAMES = {
    "short": tuple(f"x{k}" for k in range(12)),
    "math": MATH,
    "long": LONG,
    "hundred": tuple(f"x{k}" for k in range(100)),
    "hundred long": tuple(f"{LONG[0]}{k}" for k in range(100)),
}
FEW = ("age", "income", "rooms", "unused")
every_kind = pytest.mark.parametrize("draw", KINDS.values(), ids=KINDS)
kinds_of_features = pytest.mark.parametrize("draw", [bars, curves, used, swarm, row])


# ------------------------------------------------------------- names


READ = [
    ("math", None, "default"),
    ("long", None, "ggplot"),
    ("hundred", None, "grayscale"),
    ("short", (9.0, 2.5), "dark_background"),
    ("hundred long", (4.0, 3.0), "default"),
    ("hundred long", (3.5, 8.0), "default"),
]


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize(("names", "size", "style"), READ)
def test_every_picture_can_be_read(draw, names, size, style):
    """Texts are within the figure, apart, as they are, and stand out."""
    with pyplot.style.context(style):
        shown = 12 if size is None and draw is not bars else None
        figure = draw(NAMES[names], max_display=shown, figsize=size).figure_
        texts = written(figure)
    assert size or len(texts) > 5
    assert_inside(texts, figure.bbox.extents)
    assert_apart(texts)
    assert min(text.get_fontsize() for text in texts) >= 5.9
    for text in texts:
        assert contrast_on(figure, text) >= 3, f"{text.get_text()!r} is not seen"
    words = " | ".join(text.get_text().replace("\n", " ") for text in texts)
    assert "\\mathdefault" not in words
    if names == "math":
        assert all(name.replace("\n", " ") in words for name in MATH[:3])


@pytest.mark.parametrize("size", [None, (5.0, 4.0), (4.0, 5.0)])
def test_the_numbers_of_a_waterfall_stay_apart_from_names(size):
    figure = row(LONG, -values_of(12) / 100, figsize=size).figure_
    texts = written(figure)
    assert sum(text.get_text().startswith("\N{MINUS SIGN}0.0") for text in texts) >= 8
    assert_apart(texts)
    assert_inside(texts, figure.bbox.extents)


def test_long_names_are_cut_in_the_middle():
    shown = tick_labels(bars(("short", f"begin_{'x' * 50}_end")).ax_.yaxis)
    assert shown[0] == "short"
    cut = next(name for name in shown if "…" in name)
    assert cut.startswith("begin_")
    assert cut.endswith("_end")
    assert 15 < len(cut) < 50


def test_names_that_would_look_alike_show_where_they_differ_or_have_their_column_numbers():
    shown = tick_labels(bars((*LONG, "twice", "twice", "a\nb", "a b")).ax_.yaxis)
    assert len(set(shown)) == 16
    for k in range(12):
        assert sum(f"_{k:03d}_" in name for name in shown) == 1
    assert len(set(tick_labels(bars(("", "", "a")).ax_.yaxis))) == 3
    assert {"twice [12]", "twice [13]", "a b [14]", "a b [15]"} <= set(shown)


@pytest.mark.slow
def test_of_too_many_names_the_best_are_shown_and_counted():
    names = NAMES["hundred"]
    display = bars(names, figsize=(5, 3), max_display=None)
    n_shown = len(display.bars_)
    assert 10 < n_shown < 40
    assert f"What each feature is worth on these rows (best {n_shown} of 100 features)" in words_on(
        display.figure_
    )
    best = of_features(names).ranking()[:n_shown]
    assert tick_labels(display.ax_.yaxis) == [names[k] for k in best]
    tall = bars(names, max_display=None)
    assert len(tall.bars_) == 100
    display = swarm(names, figsize=(5, 3), max_display=None)
    shown = [name for name in tick_labels(display.ax_.yaxis) if name]
    assert f" ({len(shown)} of 100 features)" in " ".join(words_on(display.figure_))
    display = row(names, figsize=(5, 3), max_display=None)
    *shown, others = [name for name in tick_labels(display.ax_.yaxis) if name]
    assert others == f"{100 - len(shown)} other features"


# ------------------------------------------------------------- options


@pytest.mark.slow
@kinds_of_features
def test_every_picture_takes_the_same_options(draw):
    display = draw(FEW, title="Mine", figsize=(5.0, 4.0), max_display=2)
    assert_same(display.figure_.get_size_inches(), [5.0, 4.0])
    words = words_on(display.figure_)
    assert "Mine" in words
    assert not any("each feature" in line for line in words)
    named = {name for name in FEW for line in words if re.split(" = |  ", line)[0] == name}
    assert len(named) == 2
    assert draw(FEW, title="").ax_.get_title(loc="left") == ""

    figure, (left, right) = pyplot.subplots(1, 2, layout="constrained")
    display = draw(FEW, ax=left)
    assert display.ax_ is left
    assert display.figure_ is figure
    assert not right.has_data()
    assert display.plot(right, title="Again") is display
    assert display.ax_ is right
    assert right.has_data()
    assert "Again" in words_on(figure)


@kinds_of_features
def test_wrong_options_are_refused(draw):
    for wrong in (0, -1, 2.5, "5", True):
        with pytest.raises(ValueError, match=f"max_display={wrong!r}; it must be a whole number"):
            draw(FEW, max_display=wrong)
    axes = pyplot.subplots(1, 2)[1]
    with pytest.raises(ValueError, match="ax is a ndarray; it must be one Axes of Matplotlib"):
        draw(FEW, ax=axes)
    with pytest.raises(ValueError, match="figsize is the size of a new figure, but ax belongs to"):
        draw(FEW, ax=axes[0], figsize=(5, 4))


# ------------------------------------------------------------- colours


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


# ------------------------------------------------------------- values

SKEWED = np.array([5000.0, *np.linspace(-0.002, 0.002, 11)])


@pytest.mark.slow
@pytest.mark.parametrize("draw", [curves, used, swarm], ids=["curves", "used", "swarm"])
def test_values_at_the_origin_are_spread_on_a_symlog_axis(draw):
    for values, scale in ((SKEWED, "symlog"), (None, "linear")):
        display = draw(NAMES["short"], values)
        which = {curves: "y", used: "xy", swarm: "x"}[draw]
        assert all(getattr(display.ax_, f"get_{axis}scale")() == scale for axis in which)
        said = "(symlog axis, linear within ±0.00" in " ".join(words_on(display.figure_))
        assert said == (scale == "symlog")


@pytest.mark.slow
def test_bars_too_short_to_be_seen_have_numbers():
    display = bars(NAMES["short"], SKEWED)
    assert display.ax_.get_xscale() == "linear"  # lengths are what bars say
    shown = tick_labels(display.ax_.yaxis)
    assert shown[0] == "x0: 5,000"
    assert "x11: 0.002" in shown
    assert shown[-1] == "x1: \N{MINUS SIGN}0.002"
    assert not any(":" in name for name in tick_labels(bars(NAMES["short"]).ax_.yaxis))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bars", "curves", "used", "swarm", "row", "force", "pairs"])
def test_a_model_of_nothing_says_so(kind):
    display = KINDS[kind](NAMES["short"], np.zeros(12))
    words = words_on(display.figure_)
    assert "all values are 0" in words
    assert "all values are 0" not in words_on(KINDS[kind](NAMES["short"]).figure_)
    for limits in (display.ax_.get_xlim(), display.ax_.get_ylim()):
        assert abs(limits[1] - limits[0]) > 1e-3  # not 1e-17
