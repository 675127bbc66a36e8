"""The pictures of the report, each with a text alternative."""

from collections.abc import Callable, Iterable
from typing import SupportsFloat

import numpy as np

from attributions.command.over import Over
from attributions.command.page.axes import (
    LETTER,
    LINE,
    SIZE,
    Axes,
    Margins,
    path,
    place,
    svg,
    title,
    write,
)
from attributions.command.page.cells import (
    amount,
    cell,
    held_out_numbers,
    shortened,
    shortened_apart,
)
from attributions.command.page.contents import Report
from attributions.command.page.markup import Markup, element, join
from attributions.command.verdicts import HELPS, HURTS
from attributions.command.wording import value_and_interval
from attributions.plots.places import Box, place_beside, spread

MOST_POINTS = 400  # in a picture
N_CURVES = 6
LEAST_CURVE = 0.005  # a curve within this share of the farthest looks like 0: not drawn
N_NAMED = 10  # at most so many points have names
NAME_LENGTH = 18  # letters of a name in a picture
AXIS_LENGTH = 34
N_BINS = 16
MOST_WORDS = 10  # a bar for each, at most so many
UNIT = "held-out gain, %"  # of the constant model's, as captions say
MARKS = {HELPS: "good", HURTS: "bad"}


def used_useful(report: Report) -> Markup:
    """Draw the share of total gain (to the right) against held-out gain (upwards)."""
    x, y = 100 * report.found.gain_share, report.found.useful.values
    strongest = np.argsort(-(np.abs(y) / _size(y) + x / _size(x)), kind="stable")
    shown = strongest[:MOST_POINTS]
    low, high = _range_of(report, shown)
    axes = Axes((0, 1.08 * x.max()), (low, 1.04 * high))
    intervals = [
        path(axes.x([x[k]] * 2), axes.y(np.clip(ends, *axes.y_range)), class_="interval")
        for k in shown
        if (ends := report.found.intervals[k])[0] < ends[1]
    ]
    points = [
        _point(axes.x(x[k]), axes.y(y[k]), report, k)
        for k in shown[::-1]  # the strongest above the others
    ]
    label = (
        "Used against useful, one point a feature: to the right its share of total gain, upwards"
        " its held-out gain with its 95 % interval. "
        + _listed(
            report, strongest[:5], lambda k: f"{x[k]:.1f} % of gain, held-out gain {y[k]:.2f} %"
        )
    )
    return svg(
        label,
        axes.frame("used: share of total gain in training, %", f"useful: {UNIT}"),
        *intervals,
        *points,
        _names_beside(report, axes, x, y, [k for k in strongest[:N_NAMED] if x[k] > 0]),
    )


def boosting(report: Report) -> Markup:
    """Draw how held-out gain adds up tree by tree, for the features that end farthest."""
    by_tree = np.asarray(report.found.useful.per_tree)
    curves = np.concatenate([np.zeros((1, by_tree.shape[1])), np.cumsum(by_tree, axis=0)])
    named = np.argsort(-np.abs(curves[-1]), kind="stable")[:N_CURVES]
    farthest = np.abs(curves).max(axis=0)
    named = named[farthest[named] > LEAST_CURVE * farthest.max()]
    steps = np.unique(np.linspace(0, len(by_tree), min(len(by_tree), 100) + 1).round()).astype(int)
    axes, lines = _curves(report, steps, curves[np.ix_(steps, named)], named, " %")
    trees = f"{len(by_tree):,} trees{in_rounds(report)}"
    label = f"Held-out gain along {trees}. At the end: " + _listed(
        report, named, lambda k: f"{curves[-1, k]:.2f}, highest {curves[:, k].max():.2f}"
    )
    return svg(label, axes.frame(f"trees{in_rounds(report)}", UNIT), *lines)


def over_time(report: Report, over: Over) -> Markup:
    """Draw what the best features are worth in each period, with rings where that changed."""
    result, at = over.result, np.arange(len(over.result))
    named = result.ranking()[:N_CURVES]
    values = result.values_in("loss")
    axes, lines = _curves(report, at, values[:, named], named, "")
    changed = over.changes.changed()
    rings = [
        element("circle", cx=place(axes.x(j)), cy=place(axes.y(values[j, k])), r=6, class_="ring")
        for j, of_label in zip(over.changes.about, changed, strict=True)
        for k in named[of_label[named]]
    ]
    label = "Loss saved a row, period by period. In the last: " + _listed(
        report, named, lambda k: f"{values[-1, k]:.3g}, in the first {values[0, k]:.3g}"
    )
    texts = [text.removeprefix("from ") for text in result.label_texts]
    some = range(0, len(at), 1 + len(at) // 6)
    frame = axes.frame(f"periods by {shortened(over.column)}", "loss saved a row",
                       [(j, texts[j]) for j in some])  # fmt: skip
    return svg(label, frame, *lines, *rings)


def _curves(
    report: Report, x: np.ndarray, y: np.ndarray, named: np.ndarray, unit: str
) -> tuple[Axes, list[Markup]]:
    """Return the curves of some features, with names at their ends, and the axes."""
    names = shortened_apart([report.task.feature_names[k] for k in named], NAME_LENGTH)
    margins = Margins(right=max([LETTER * len(name) for name in names], default=0.0) + 16)
    axes = Axes((x[0], x[-1]), (min(y.min(initial=0), 0), max(y.max(initial=0), 0)), margins)
    ends = spread(axes.y(y[-1]), LINE, axes.margins.top + LINE / 2, axes.bottom)
    lines = [
        join(
            path(
                axes.x(x),
                axes.y(y[:, j]),
                title(f"{report.task.feature_names[named[j]]}: {y[-1, j]:.2f}{unit} at the end"),
                class_=f"curve c{j}",
            ),
            path([axes.right, axes.right + 10], [axes.y(y[-1, j]), end], class_=f"thin c{j}"),
            write(name, axes.right + 12, end + 4, class_=f"t{j}"),
        )
        for j, (name, end) in enumerate(zip(names, ends, strict=True))
    ]
    return axes, lines


def in_rounds(report: Report) -> str:
    """Return a note on rounds, if several classes have a tree in each; else nothing."""
    n_classes = len(report.task.classes)
    if not n_classes:
        return ""
    return f" ({report.model.n_rounds:,} rounds of {n_classes}, one for each class)"


def dependence(report: Report, k: int) -> Markup:
    """Draw a feature's contribution to the raw prediction against its value."""
    column, sample = report.task.features[k], report.sample
    values = held_out_numbers(report.task, k)[sample.rows]
    contributions = sample.to_class(drawn_class(report, k))[:, k]
    if column.words:
        return _dependence_on_words(report, k, values, contributions)
    known = ~np.isnan(values)
    if not known.any():
        return svg(f"{report.task.feature_names[k]} is missing in all rows.")
    return _dependence_on_numbers(
        report, k, values[known], contributions[known], contributions[~known]
    )


def drawn_class(report: Report, k: int) -> int | None:
    """Return the class, of several, whose prediction a feature moves most; None if there is one."""
    if not report.task.classes:
        return None
    return int(np.abs(report.sample.contributions[:, k]).mean(axis=0).argmax())


def raw_unit(report: Report) -> str:
    """Return the unit of contributions to a prediction, in words."""
    if report.task.classes:
        return "unnormalised log-probability"
    if report.task.is_classification:
        return "log-odds"
    if report.task.event:
        return "the logarithm of the " + ("hazard" if report.model.loss.name == "cox" else "time")
    if report.model.loss.inverse_link(np.ones(1)) != 1.0:
        return "the raw prediction's unit"
    target = report.task.target.name if report.task.path else "the target"
    return f"the unit of {shortened(target)}"


def interval_bar(report: Report, k: int, low: float, high: float) -> Markup:
    """Draw one feature's importance with its interval, beside its numbers in the table."""
    ends = report.found.intervals[k]
    numbers = np.clip([0, ends[0], report.found.useful.values[k], ends[1]], low, high)
    zero, start, middle, end = 3 + 94 * (numbers - low) / (high - low)
    parts = [element("line", x1=place(zero), x2=place(zero), y1=1, y2=15, class_="zero")]
    if start < end:
        parts.append(
            element("line", x1=place(start), x2=place(end), y1=8, y2=8, class_="interval wide")
        )
    return element(
        "svg",
        *parts,
        _point(middle, 8, report, k),
        class_="bar",
        viewBox="0 0 100 16",
        aria_hidden="true",
    )


def interval_range(report: Report) -> tuple[float, float]:
    """Return the ends of the axis on which all intervals of the table are drawn."""
    low, high = _range_of(report, np.arange(len(report.found.useful)))
    return (low, high) if high > low else (-1.0, 1.0)


def _range_of(report: Report, features: np.ndarray) -> tuple[float, float]:
    """Return the least and the largest of values and of ends of intervals that are bounded, or 0.

    With an interval that has no end there is as much room again beyond its value.
    """
    values, ends = report.found.useful.values[features], report.found.intervals[features]
    low, high = ends.T
    open_above = 2 * values - np.where(np.isfinite(low), low, values)
    high = np.where(np.isposinf(high), open_above, high)
    numbers = np.concatenate([values, low[np.isfinite(low)], high[np.isfinite(high)], [0.0]])
    return float(numbers.min()), float(numbers.max())


def _dependence_on_numbers(
    report: Report, k: int, x: np.ndarray, y: np.ndarray, of_missing: np.ndarray
) -> Markup:
    """Draw single rows, and their mean in bins of equally many rows."""
    drawn = np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(int)
    low, high = np.quantile(x, [0.005, 0.995]) if len(x) > MOST_POINTS else (x.min(), x.max())
    inside = drawn[(x[drawn] >= low) & (x[drawn] <= high)]
    order = np.argsort(x, kind="stable")
    bins = _runs(x[order])
    centers = np.array([x[order[rows]].mean() for rows in bins])
    means = np.array([y[order[rows]].mean() for rows in bins])
    is_shown = (centers >= low) & (centers <= high)
    margin = 0.02 * (high - low)
    axes = Axes((low - margin, high + margin), (min(y[inside].min(), 0), max(y[inside].max(), 0)))
    column = report.task.features[k]
    marks = None
    if column.kind == "dates":
        marks = [(t, cell(column, t).split(" ")[0]) for t in np.linspace(*axes.x_range, 3)]
    missing = f"; missing: {of_missing.mean():+.3g}" if len(of_missing) else ""
    label = (
        f"Contribution of {report.task.feature_names[k]} to the prediction, in"
        f" {raw_unit(report)}. Mean from low to high values: "
        + ", ".join(f"{m:+.3g} at {cell(column, c)}" for c, m in _some(centers, means, n_shown=6))
        + missing
        + "."
    )
    points = [
        element(
            "circle",
            title(f"{cell(column, x[i])}: {amount(y[i], 3)}"),
            cx=place(axes.x(x[i])),
            cy=place(axes.y(y[i])),
            r=2,
            class_="row",
        )
        for i in inside
    ]
    return svg(
        label,
        axes.frame(
            shortened(report.task.feature_names[k], AXIS_LENGTH) + missing, raw_unit(report), marks
        ),
        *points,
        path(axes.x(centers[is_shown]), axes.y(means[is_shown]), class_="curve c0"),
    )


def _dependence_on_words(
    report: Report, k: int, codes: np.ndarray, contributions: np.ndarray
) -> Markup:
    """Draw the mean contribution of every word, the most frequent ones, and of missing cells."""
    column = report.task.features[k]
    levels, place_of, counts = np.unique(codes, return_inverse=True, return_counts=True)
    means = np.bincount(place_of, weights=contributions) / counts
    frequent = np.argsort(-counts, kind="stable")[:MOST_WORDS]
    shown = frequent[np.argsort(-means[frequent], kind="stable")]
    names = [cell(column, levels[j]) for j in shown]
    cut = shortened_apart(names, NAME_LENGTH)
    left = max(LETTER * len(name) for name in cut) + 10
    height = 22.0 * len(shown) + 46
    axes = Axes(
        (min(means[shown].min(), 0), max(means[shown].max(), 0)),
        (-len(shown) + 0.4, 0.6),
        Margins(left=left, right=18),
        height,
    )
    caption = f"{raw_unit(report)}, mean"
    if len(levels) > len(shown):
        caption += f"; the {len(shown)} most frequent of {len(levels):,}"
    parts = [axes.frame(caption, "", y_ticks=())]
    zero = axes.x(0.0)
    for j, (name, level) in enumerate(zip(cut, shown, strict=True)):
        end, y = axes.x(means[level]), axes.y(-j)
        parts.append(
            element(
                "rect",
                title(f"{names[j]}: {means[level]:+.3g}, {counts[level]:,} rows"),
                x=place(min(zero, end)),
                y=place(y - 7),
                width=place(abs(end - zero)),
                height=14,
                class_="good" if means[level] >= 0 else "bad",
            )
        )
        parts.append(write(name, left - 6, y + 4, "end"))
    label = (
        f"Mean contribution of {report.task.feature_names[k]} to the prediction, in"
        f" {raw_unit(report)}: "
        + ", ".join(f"{name} {means[j]:+.3g}" for name, j in zip(names, shown, strict=True))
        + "."
    )
    return svg(label, *parts, height=height)


def _names_beside(
    report: Report, axes: Axes, x: np.ndarray, y: np.ndarray, named: Iterable[int]
) -> Markup:
    """Write names beside points where they hide neither points nor each other."""
    pixels = np.column_stack([axes.x(x), -axes.y(y)])  # the second axis upwards
    frame = Box(
        np.array([axes.margins.left, -axes.bottom]),
        np.array([axes.right + 8, -axes.margins.top + 8]),
    )
    taken: list[Box] = []
    parts = []
    named = [*named]
    texts = shortened_apart([report.task.feature_names[k] for k in named], NAME_LENGTH)
    for k, text in zip(named, texts, strict=True):
        size = np.array([LETTER * len(text), SIZE])
        found = place_beside(pixels[k], size, pixels, 7.0, taken, frame, is_needed=False)
        if found is None:
            continue
        taken.append(found[0])
        center = (found[0].low + found[0].high) / 2
        parts.append(write(text, center[0], -center[1] + 4, "middle", class_="name"))
    return join(*parts)


def _point(x: SupportsFloat, y: SupportsFloat, report: Report, k: int) -> Markup:
    """Return a feature's point, coloured by its verdict, hollow where few rows carry it."""
    kind = MARKS.get(report.found.verdicts[k], "other")
    if report.found.doubtful[k]:
        kind += " hollow"
    value, ends = value_and_interval(report.found.useful.values[k], report.found.intervals[k])
    said = (
        f"{report.task.feature_names[k]}: {report.found.verdicts[k]}; held-out gain {value} %"
        f"{f' ({ends})' * bool(ends)}, share of gain {100 * report.found.gain_share[k]:.1f} %"
    )
    return element("circle", title(said), cx=place(x), cy=place(y), r=4, class_=kind)


def _size(values: np.ndarray) -> float:
    """Return the largest size, 1 if all are 0."""
    return np.abs(values).max(initial=0.0) or 1.0


def _runs(x: np.ndarray) -> list[np.ndarray]:
    """Return the rows of bins of ordered values.

    A value that many rows share has a bin of its own, and the other rows are cut into bins of about
    the same number.
    """
    starts = np.flatnonzero(np.append(True, x[1:] > x[:-1]))
    runs = np.split(np.arange(len(x)), starts[1:])
    if len(runs) <= N_BINS:
        return runs
    is_large = [len(run) > len(x) / N_BINS for run in runs]
    n_others = sum(len(run) for run, large in zip(runs, is_large, strict=True) if not large)
    bins: list[np.ndarray] = []
    waiting: list[np.ndarray] = []
    for run, large in zip(runs, is_large, strict=True):
        if not large:
            waiting.append(run)
        if waiting and (large or sum(map(len, waiting)) >= n_others / N_BINS):
            bins.append(np.concatenate(waiting))
            waiting = []
        if large:
            bins.append(run)
    return [*bins, np.concatenate(waiting)] if waiting else bins


def _some(x: np.ndarray, y: np.ndarray, n_shown: int) -> list[tuple[float, float]]:
    """Return a few of many pairs, the first and the last among them."""
    some = np.unique(np.linspace(0, len(x) - 1, min(len(x), n_shown)).round().astype(int))
    return [(x[j], y[j]) for j in some]


def _listed(report: Report, features: Iterable[int], what: Callable[[int], str]) -> str:
    """Return a sentence that says something of each of some features."""
    said = [f"{shortened(report.task.feature_names[k])}: {what(k)}" for k in features]
    return "; ".join(said) + "."
