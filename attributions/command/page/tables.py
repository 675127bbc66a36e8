"""The tables of the report: scores, features, columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attributions.command.judging.findings import MODEL, Findings
from attributions.command.judging.other_models import LINEAR
from attributions.command.judging.over import Over
from attributions.command.judging.verdicts import HELPS, HURTS
from attributions.command.page.markup import Markup, element, join, name
from attributions.command.rules.columns import Column
from attributions.command.said.in_short import ranks
from attributions.command.wording import (
    ABOVE_100,
    LONGEST,
    alike,
    cell,
    fixed,
    value_and_interval,
)
from attributions.names import elided

SCORES = {  # what each measure is, for readers who do not know it
    "AUC": "how often a row of the class gets a higher prediction than one of the others; best 1",
    "accuracy": "share of rows whose most probable class is the true one; best 1",
    "log-loss": "how surprised the predictions are by the truth; best 0",
    "concordance": "how often, of two rows, the one with the earlier event has the higher risk;"
    " best 1",
    "Cox loss, 0 at best": "how surprised the risks are by who of those left has the next event",
    "AFT loss, 0 at best": "how surprised the predicted times are by those of the events",
    "NDCG": "how much of the best order's worth the order of predictions has, early places counting"
    " most; best 1",
    "1 - NDCG": "what the order lacks of the best one; best 0",
    "R^2": "share of the target's variance that is explained; best 1",
    "root mean squared error": "a typical error, in the unit of the target; best 0",
}

MARKS = {HELPS: "good", HURTS: "bad"}  # classes of the page's style
N_OVER = 8  # features in a table of labels
LAST = 1e300  # by which what is not known is sorted
WHOSE = {MODEL: "this model", LINEAR: "linear model"}


def scores(found: Findings) -> Markup:
    """Return how good the model is beside a constant."""
    rows = [
        [
            join(name, element("small", SCORES.get(name, ""))),
            *alike([of[name] for of in found.scores.values()]),
        ]
        for name in found.scores[MODEL]
    ]
    head = ["measure", *(WHOSE.get(who, who) for who in found.scores)]
    n_rows = len(found.task.y_valid)
    return table(f"How good predictions of {n_rows:,} held-out rows are", head, rows)


def over(found: Over) -> Markup:
    """Return held-out gains by label: of the best features, and of those that have stars."""
    result, best = found.result, found.result.ranking()
    has_star = np.zeros(result.values.shape, dtype=bool)
    has_star[list(found.changes.about)] = found.changes.changed()
    ranking = [*best[:N_OVER], *(k for k in best[N_OVER:] if has_star[:, k].any())]
    rows = [
        [
            text,
            f"{result.n_samples[j]:,}",
            *(fixed(result.values[j, k], 2) + " *" * bool(has_star[j, k]) for k in ranking),
        ]
        for j, text in enumerate(result.label_texts)
    ]
    head = [found.column, "rows", *(result.feature_names[k] for k in ranking)]
    which = f", {len(ranking)} of {len(best)} features" * (len(ranking) < len(best))
    return table(f"Held-out gain by {found.column}, %{which}", head, rows)


def features(found: Findings) -> Markup:
    """Return all features with held-out gain, interval and verdict; the script sorts them."""
    head = {  # and whether it holds numbers
        "feature": False, "verdict": False, "held-out gain, %": True, "95 % interval": True,
        "p-value, adjusted": True, "share of gain, %": True, "rank by gain": True,
    }  # fmt: skip
    headings = [
        element(
            "th",
            element("button", text, type="button", data_numbers=is_number),
            scope="col",
            aria_sort="descending" if text.startswith("held-out") else "none",
        )
        for text, is_number in head.items()
    ]
    axis, gain_rank = _range_of(found), ranks(found.gain)
    rows = [_row_of(found, k, axis, int(gain_rank[k]), [*head][2:]) for k in found.order]
    caption = (
        f"All {len(rows):,} features, the most helpful first, unused ones last. Held-out gain is"
        " in per cent of the constant model's loss; below 0 the feature made predictions worse."
    )
    if found.useful.values.max() > 100:
        caption += f" {ABOVE_100}"
    return _scrolled(
        "All features",
        element("caption", caption),
        element("thead", element("tr", *headings)),
        element("tbody", *rows),
        id="features",
    )


def _row_of(
    found: Findings, k: int, axis: tuple[float, float], gain_rank: int, labels: Sequence[str]
) -> Markup:
    """Return what is said of one feature; one that is not used has no numbers to be read."""
    value, ends, is_used = found.useful.values[k], found.said.intervals[k], bool(found.is_used[k])
    shown_value, shown_ends = value_and_interval(value, ends)
    interval = join(interval_bar(found, k, axis), element("span", shown_ends, class_="ends"))
    start = np.nan_to_num(ends[0], nan=value, neginf=-LAST)
    p_value, verdict = float(found.said.p_values[k]), found.said.verdicts[k]
    shown_p = "" if np.isnan(p_value) else "<0.0001" if p_value < 1e-4 else f"{p_value:.4f}"
    told = join(verdict, "*" * bool(found.doubtful[k]))
    if k in found.twins:
        twin = name(found.task.feature_names[found.twins[k]])
        told = join(told, element("span", " (twin of ", twin, ")", class_="twin"))
    shown = [
        ("number", float(value), shown_value if is_used else ""),
        ("number", float(start), interval if is_used else ""),
        (None, float(np.nan_to_num(p_value, nan=LAST)), shown_p),
        ("number", float(found.gain_share[k]), f"{100 * found.gain_share[k]:.2f}"),
        ("number", gain_rank, gain_rank),
    ]
    return element(
        "tr",
        element("th", name(found.task.feature_names[k]), scope="row"),
        element("td", told, class_=f"verdict {MARKS.get(verdict, 'other')}"),
        *(
            element("td", text, data_value=number, class_=kind, data_label=label)
            for (kind, number, text), label in zip(shown, labels, strict=True)
        ),
        class_=None if is_used else "unused",
    )


def interval_bar(found: Findings, k: int, axis: tuple[float, float]) -> Markup:
    """Draw one feature's importance with its interval, beside its numbers in the table.

    The point has the colour of the verdict, and is hollow where a few rows may carry the value.
    """
    low, high = found.said.intervals[k]
    shares = (np.clip([0, low, found.useful.values[k], high], *axis) - axis[0]) / np.diff(axis)
    zero, start, middle, end = (3 + 94 * shares).round(1)
    parts = [element("line", x1=zero, x2=zero, y1=1, y2=15, class_="zero")]
    if start < end:
        parts.append(element("line", x1=start, x2=end, y1=8, y2=8, class_="interval"))
    kind = MARKS.get(found.said.verdicts[k], "other") + " hollow" * bool(found.doubtful[k])
    parts.append(element("circle", cx=middle, cy=8, r=4, class_=kind))
    return element("svg", *parts, class_="bar", viewBox="0 0 100 16", aria_hidden="true")


def _range_of(found: Findings) -> tuple[float, float]:
    """Return the least and the largest of values and of ends of intervals that are bounded, or 0.

    With an interval that has no end there is as much room again beyond its value.
    """
    values, ends = found.useful.values, found.said.intervals
    low, high = ends.T
    open_above = 2 * values - np.where(np.isfinite(low), low, values)
    high = np.where(np.isposinf(high), open_above, high)
    numbers = np.concatenate([values, low[np.isfinite(low)], high[np.isfinite(high)], [0.0]])
    least, most = float(numbers.min()), float(numbers.max())
    return (least, most) if most > least else (-1.0, 1.0)


def columns(found: Findings) -> Markup:
    """Return what the columns of the table hold, and what became of them."""
    task, rows = found.task, []
    for label, column in {**task.columns, **task.of_dates}.items():
        role = f"left out: {task.left_out.get(label, '')}"
        if column is task.target:
            role = "target"
        elif label in task.feature_names:
            role = "feature"
        missing = f"{100 * np.isnan(column.numbers).mean():.1f}"
        distinct = f"{column.n_distinct:,}"
        rows.append([name(label), column.kind, distinct, missing, _range(column), role])
    head = ["column", "holds", "different values", "missing, %"]
    head += ["from ... to, or examples", "used as"]
    return table("Columns of the table", head, rows)


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """Return a table whose rows begin with a heading."""
    body = [
        element("tr", element("th", first, scope="row"), *(element("td", text) for text in others))
        for first, *others in rows
    ]
    return _scrolled(
        caption,
        element("caption", caption),
        element("thead", element("tr", *(element("th", text, scope="col") for text in head))),
        element("tbody", *body),
    )


def _scrolled(label: str, *parts: Markup, **attributes: Any) -> Markup:
    """Return a table in a region of its own, which small screens move sideways."""
    inner = element("table", *parts, **attributes)
    return element("div", inner, class_="scroll", role="region", aria_label=label, tabindex=0)


def _range(column: Column) -> str:
    known = column.known
    if not len(known):
        return ""
    if column.words:
        counts = np.bincount(known.astype(np.int64))
        frequent = np.argsort(-counts, kind="stable")[:3]
        shown = ", ".join(elided(column.words[j], LONGEST) for j in frequent if counts[j])
        return shown + ", ..." * (column.n_distinct > len(frequent))
    return f"{cell(column, known.min())} to {cell(column, known.max())}"
