"""The pictures of the report: those of ``plot()`` as SVG, with headings, captions and alternatives.

Matplotlib draws them on white; on a dark screen the page's style turns light and dark around.
Letters stay letters, so that they can be found, and are drawn in the reader's own font.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import StringIO
from textwrap import fill
from typing import Any

import numpy as np

from attributions.amounts import amount
from attributions.classic.partial_dependence import distribution, partial_dependence
from attributions.command.judging.findings import Findings
from attributions.command.judging.over import Over
from attributions.command.page.markup import Markup, element, join
from attributions.command.page.tables import over as table
from attributions.command.said.in_short import changes_of
from attributions.command.wording import LONGEST, cell
from attributions.names import elided
from attributions.plots import (
    BoostingDisplay,
    ByLabelDisplay,
    CurveDisplay,
    ImportanceDisplay,
    UsedUsefulDisplay,
)
from attributions.plots.curves import OF_MEAN
from attributions.plots.importance import UNITS
from attributions.plots.sheet import Display
from attributions.results import FeatureCurve
from gbt.tables.names import counted

N_BARS, N_NAMED = 10, 8  # features in a picture, and named there, at most
N_CURVES, LEAST_MOVE = 6, 0.01  # features of which the curve is drawn, and least share of the first
LOW = (6.4, 4.2)  # inches, of a picture as wide as others
N_CLASSES = 4  # of several, that have a curve
N_SAID_OF, N_SAID = 5, 6  # features, and values of a curve, in text alternatives
LINE = 34  # letters of a line beside a picture
LETTERS = 12.5  # so large, in points, that a phone shows pictures that can be read
OF_A_SCORE = "points of a score", " Rows of a group are put in the order of their scores."
OF_AN_AMOUNT = "the logarithm of the amount", " 0.7 more is about twice the amount."
RAW_UNITS = {  # by loss, and a sentence on those that few readers know
    "softmax": ("unnormalised log-probability", ""),
    "half_logistic": ("log-odds", ""),
    "cross_entropy": ("log-odds", ""),
    "poisson": ("the logarithm of the count", " 0.7 more is about twice the count."),
    "gamma": OF_AN_AMOUNT,
    "tweedie": OF_AN_AMOUNT,
    "cox": (
        "the logarithm of the hazard",
        " 0.7 more makes the event about twice as likely at any moment, for who is without it.",
    ),
    "aft": ("the logarithm of the time", " 0.7 more is about twice the time."),
    "pairwise": OF_A_SCORE,
    "ndcg": OF_A_SCORE,
}


def answer(found: Findings) -> Markup:
    """Draw the held-out gain of the best features with intervals that hold together."""
    label = "The features that help most, with held-out gain and interval: " + _listed(
        found, lambda k: f"{found.useful.values[k]:.2f} %, {found.said.verdicts[k]}"
    )
    bars = ImportanceDisplay(found.useful, max_display=N_BARS, intervals=found.said.intervals)
    return _drawn(bars, "answer", label)


def pictures(found: Findings) -> Iterator[Markup]:
    """Yield the other pictures with their headings and captions."""
    points = UsedUsefulDisplay(
        found.gain, found.useful, intervals=found.said.intervals, max_display=N_NAMED
    )
    label = "Used against useful: share of total gain and held-out gain. " + _listed(
        found,
        lambda k: f"{100 * found.gain_share[k]:.1f} % of gain, {found.useful.values[k]:.2f} %",
    )
    yield _figure(
        "What the model uses, and what of it helps",
        _drawn(points, "used", label, is_low=True),
        "To the right: the feature's share of the gain that all splits promised in training."
        " Upwards: what they are worth on held-out rows. Far right and above 0: used and useful."
        " Far right and near 0 or below: used, but of no use on new rows.",
    )
    curves = np.cumsum(np.asarray(found.useful.per_tree), axis=0)
    trees, n_classes = counted(len(curves), "tree"), len(found.task.classes)
    if n_classes:
        trees += f" ({found.model.n_rounds:,} rounds of {n_classes}, one for each class)"
    label = f"Held-out gain along {trees}. At the end: " + _listed(
        found, lambda k: f"{curves[-1, k]:.2f} %, highest {curves[:, k].max():.2f} %"
    )
    yield _figure(
        "What each feature is worth, tree by tree",
        _drawn(BoostingDisplay(found.useful), "trees", label, is_low=True),
        f"{trees}. A curve that turns down has begun to learn what holds in the training rows"
        " only.",
    )
    for number, over in enumerate(found.over):
        yield _by_label(found, over, number)
    first, least = np.argsort(-found.moved, kind="stable"), LEAST_MOVE * found.moved.max()
    movers = [int(k) for k in first[:N_CURVES] if found.moved[k] > least]
    drawn = [partial_dependence(found.model, k) for k in movers]
    if drawn and n_classes:  # the same ones in all pictures, so that they keep their colours
        changes = np.sum([np.ptp(curve.values, axis=0) for curve in drawn], axis=0)
        some = np.sort(np.argsort(-changes, kind="stable")[:N_CLASSES])
        drawn = [_of_classes(found, curve, some) for curve in drawn]
    ends = [end for curve in drawn for end in (curve.values.min(), curve.values.max())]
    for k, curve in zip(movers, drawn, strict=True):
        if np.isnan(found.task.X_valid[:, k]).any():  # whose mean has a ring
            ends.extend(np.ravel(curve.missing))
    for k, curve in zip(movers, drawn, strict=True):
        yield _dependence(found, k, curve, (min(ends), max(ends)))


def _by_label(found: Findings, over: Over, number: int) -> Markup:
    """Draw what the best features are worth by period or value, with rings where that changed.

    Below stands all that is said of it; the first screen has the first sentences.
    """
    values = over.result.values_in(over.changes.unit)
    label = f"{UNITS[over.changes.unit].capitalize()}. " + _listed(
        found,
        lambda k: f"{values[-1, k]:.3g} in the last, {values[0, k]:.3g} in the first",
        over.result.ranking(),
    )
    display = ByLabelDisplay(over.result, changes=over.changes)
    said = element("ul", *(element("li", text) for text in changes_of(found, over)))
    return _figure(
        join("What features are worth by ", element("bdi", over.column)),
        join(_drawn(display, f"labels{number}", label), table(over), said),
        "What a feature saves of the loss, first order, judged by the rows of each"
        f" {'period' if over.is_time else 'value'} alone. What differs beyond chance from"
        f" \u201c{over.result.label_texts[over.reference]}\u201d has rings in the picture and stars"
        " in the table; numbers of the table are per cent of the loss of the best constant there.",
        id=f"changes{number}",
    )


def _of_classes(found: Findings, curve: FeatureCurve, some: np.ndarray) -> FeatureCurve:
    values, missing = curve.values[:, some], np.asarray(curve.missing)[some]
    names = tuple(elided(found.task.classes[c], LONGEST) for c in some)
    return replace(curve, values=values, missing=missing, output_names=names)


def _dependence(found: Findings, k: int, curve: FeatureCurve, scale: tuple[float, float]) -> Markup:
    """Draw how the mean prediction changes with a feature, in the words and dates of the file."""
    column, name = found.task.features[k], found.task.feature_names[k]
    curve = replace(curve, **distribution(found.task.X_valid[:, k], curve.cuts, curve.levels))
    if curve.levels is not None:
        words = [w if isinstance(w, str) else cell(column, w) for w in curve.levels]
        curve = replace(curve, levels=words)

    def at(step: int) -> str:
        if curve.levels is not None:
            return f"for {curve.levels[step]}"
        return f"up to {cell(column, curve.cuts[step])}" if step < len(curve.cuts) else "above"

    unit, about_unit = raw_unit(found)
    unit = f"mean prediction, in {unit}"
    note = f"\n{OF_MEAN}" * (curve.levels is not None and not curve.output_names)

    def finish(ax: Any) -> None:
        (ax.set_xlabel if curve.levels is not None else ax.set_ylabel)(fill(unit, LINE) + note)
        if column.kind == "dates":
            ax.xaxis.set_major_formatter(lambda time, _: cell(column, time).split(" ")[0])

    steps = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), N_SAID)).round().astype(int))
    of_class = f" of class {curve.output_names[0]}" if curve.output_names else ""
    label = f"Mean predictions{of_class} by {name}: " + ", ".join(
        f"{amount(float(np.ravel(curve.values[j])[0]), 4)} {at(j)}" for j in steps
    )
    display = CurveDisplay(curve, scale=scale)
    of_classes = ", of the classes that change most" * (len(found.task.classes) > N_CLASSES)
    return _figure(
        join("How the prediction changes with ", element("bdi", name)),
        _drawn(display, f"curve{k}", label, finish, is_low=curve.levels is None),
        f"Partial dependence{of_classes}, all on one scale.{about_unit} Verdict:"
        f" {found.said.verdicts[k]}.",
    )


def _figure(heading: Any, picture: Markup, caption: str, **attributes: str) -> Markup:
    parts = element("h3", heading), picture, element("figcaption", caption)
    return element("figure", *parts, **attributes)


def raw_unit(found: Findings) -> tuple[str, str]:
    """Return the unit of contributions to a prediction, and a sentence on it, or nothing."""
    loss = found.model.loss
    if loss.name in RAW_UNITS:
        return RAW_UNITS[loss.name]
    is_link = loss.inverse_link(np.ones(1)) != 1.0
    own = f"units of {elided(found.task.target.name, LONGEST)}"
    return "the raw prediction's unit" if is_link else own, ""


def _drawn(
    display: Display,
    name: str,
    label: str,
    finish: Callable[[Any], None] | None = None,
    is_low: bool = False,
) -> Markup:
    """Draw a picture whose title is the page's, and return it with its text alternative."""
    from matplotlib import pyplot, style

    out = StringIO()
    own = {"font.size": LETTERS, "svg.fonttype": "none", "svg.hashsalt": name}
    with style.context(["default", own]):
        figure = display.plot(title="", figsize=LOW if is_low else None).figure_
        if finish is not None:
            finish(display.ax_)
        figure.savefig(out, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return as_markup(out.getvalue(), label)


def as_markup(svg: str, label: str) -> Markup:
    """Return an SVG of Matplotlib as a part of a page: groups have no names of their own.

    Names of parts that others refer to are digests, and stay.
    """
    box = re.search(r'viewBox="([^"]*)"', svg)
    body = re.sub(r'<g id="[^"]*"', "<g", svg[svg.index("<g") : svg.rindex("</svg>")])
    assert box is not None
    return element("svg", Markup(body), viewBox=box[1], role="img", aria_label=label)


def _listed(found: Findings, what: Callable[[int], str], order: Iterable[int] | None = None) -> str:
    """Return a sentence that says something of each of the first features."""
    first = [*(found.order if order is None else order)][:N_SAID_OF]
    said = [f"{elided(found.task.feature_names[k], LONGEST)}: {what(k)}" for k in first]
    return "; ".join(said) + "."
