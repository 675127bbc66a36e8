"""All of the report in the order of the page: the template filled with what the report says."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from string import Template

import numpy as np

import attributions.command.page.figures as figures
import attributions.command.page.tables as tables
from attributions.command.page.cells import predicted_class
from attributions.command.page.contents import MOST_ROWS, N_SAMPLED, Report
from attributions.command.page.markup import Markup, data, element, join
from attributions.command.page.row_explorer import MOST_FEATURES, row_data
from attributions.command.said.about_changes import about_changes
from attributions.command.said.cautions import cautions
from attributions.command.said.in_short import in_short
from attributions.command.said.next_steps import next_steps
from attributions.command.verdicts import RULES

# Contributions are drawn against values for at most 6 features, the strongest, and for none that is
# weaker than 1 % of the strongest.
N_DRAWN, LEAST_DRAWN = 6, 0.01


def page(report: Report) -> str:
    """Return the report as the text of one HTML file."""
    folder = files("attributions.command.page")
    template, style, script = (
        folder.joinpath(f"page.{kind}").read_text(encoding="utf-8")
        for kind in ("html", "css", "js")
    )
    parts = {
        "title": join(_title(report)),
        "lead": join(_lead(report)),
        "summary": _summary(report),
        "next": element("ul", *(element("li", text) for text in next_steps(report.found))),
        "warnings": _warnings(report),
        "description": element("ul", *(element("li", line) for line in report.task.description)),
        "columns": tables.columns(report),
        "scores": tables.scores(report),
        "about_scores": join(*(element("p", text) for text in _about_scores(report))),
        "rules": join(
            *(join(element("dt", word), element("dd", rule)) for word, rule in RULES.items())
        ),
        "features": tables.features(report),
        "asterisk": _asterisk(report),
        "figures": join(*_figures(report)),
        "about_rows": element("p", _about_rows(report)),
        "made": _made(report),
        "most_rows": str(MOST_ROWS),
        "n_sampled": f"{N_SAMPLED:,}",
        "most_points": str(figures.MOST_POINTS),
        "row_data": data("row-data", row_data(report)),
        "style": style,
        "script": script,
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
    }
    return Template(template).substitute(parts)


def _title(report: Report) -> str:
    task = report.task
    if task.path is None:
        return "What a model uses, and what of it helps: a demonstration"
    return f"What predicts {task.target.name} in {task.path.name}"


def _lead(report: Report) -> str:
    rows = f"{len(report.task.y_valid):,} rows that the model has not been trained on"
    if report.found.model_file:
        rows = f"{len(report.task.y_valid):,} rows"
        return f"The model of {report.found.model_file}, judged on {rows}."
    return f"A model of gradient boosted trees was fitted to the table and judged on {rows}."


def _summary(report: Report) -> Markup:
    """Say the most important in a few sentences."""
    lines = [*in_short(report.found), *about_changes(report.found)]
    n_warnings = len(cautions(report.found))
    if n_warnings:
        lines.append(
            f"There {'are' if n_warnings > 1 else 'is'} {n_warnings} warning"
            f"{'s' * (n_warnings > 1)}; read below."
        )
    return element("ul", *(element("li", line) for line in lines))


def _warnings(report: Report) -> Markup:
    found = cautions(report.found)
    if not found:
        return element("p", "None of the checks found anything.", class_="none")
    return element("ul", *(element("li", text) for text in found), class_="warnings")


def _about_scores(report: Report) -> Iterator[str]:
    """Say what the constant is, and what importances are counted in."""
    given = bool(report.found.model_file)
    whose = "these" if given else "the training"
    what = "the shares of the classes in" if report.task.classes else "the number that is best for"
    yield f"The constant model gives every row {what} {whose} rows."
    yield (
        "Held-out gain, below, is what the splits at a feature are worth on held-out rows, in per"
        f" cent of the {report.found.loss_name} of the best constant there. Values of features do"
        " not add up to what the model saves."
    )


def _asterisk(report: Report) -> str:
    if not report.found.doubtful.any():
        return ""
    return join(
        " An asterisk and a hollow circle mark features whose held-out gain a few rows may carry:"
        " how large it may be cannot be told, so that their intervals have no upper end."
    )


def _figures(report: Report) -> Iterator[Markup]:
    """Return the pictures with their headings and captions."""
    yield _figure(
        "Used against useful",
        figures.used_useful(report),
        "To the right: the feature's share of the gain that all splits promised in training."
        " Upwards: what they are worth on held-out rows, in per cent of the constant model's"
        f" {report.found.loss_name}. Far right and above 0: used and useful. Far right and near 0"
        " or below: used, but of no use on new rows. Lines are 95 % intervals, which hold"
        " together; blue is"
        " \u201chelps\u201d, orange \u201churts\u201d, grey all others.",
    )
    if report.found.useful.per_tree is not None:
        yield _figure(
            "Held-out gain along boosting",
            figures.boosting(report),
            "What its splits are worth on held-out rows, in per cent of the constant model's"
            f" {report.found.loss_name}, as tree after tree is added. A curve that turns down has"
            " begun to learn what holds in the training rows only.",
        )
    for over in report.found.over:
        other = over.result.label_texts[over.reference]
        marks = "rings in the picture and stars in the table" if over.is_time else "stars"
        yield _figure(
            join("What features are worth by ", element("bdi", over.column)),
            join(figures.over_time(report, over) if over.is_time else "", tables.over(over)),
            "What a feature saves of the loss of a row, first order, judged by the rows of each"
            f" {'period' if over.is_time else 'value'} alone. What differs beyond chance from"
            f" \u201c{other}\u201d has {marks}; numbers of the table are per cent of the loss of"
            " the best constant there.",
        )
    strength = report.sample.strength
    least = LEAST_DRAWN * strength.max()
    strongest = [k for k in np.argsort(-strength, kind="stable")[:N_DRAWN] if strength[k] > least]
    for k in strongest:
        words = bool(report.task.features[k].words)
        yield _figure(
            join(
                "How ",
                element("bdi", report.task.feature_names[k]),
                " moves the prediction",
                *_of_class(report, k),
            ),
            figures.dependence(report, k),
            f"Above 0 it raises the prediction, in {figures.raw_unit(report)}."
            if not words
            else f"Bars to the right raise the prediction, in {figures.raw_unit(report)}.",
        )


def _figure(heading: str, picture: Markup, caption: str) -> Markup:
    return element("figure", element("h3", heading), picture, element("figcaption", caption))


def _about_rows(report: Report) -> str:
    """Say what can be looked at."""
    n_rows = len(report.chosen.rows)
    whole = n_rows == len(report.task.y_valid)
    which = (
        f"All {n_rows:,} held-out rows can be looked at."
        if whole
        else f"{n_rows:,} of {len(report.task.y_valid):,} held-out rows can be looked at: those"
        " with the largest errors, the highest and the lowest predictions, and some at random."
    )
    return (
        f"{which} Each feature moves the prediction up or down, in {figures.raw_unit(report)};"
        f" from the start all moves add up to the prediction{_of_raw(report)}. Where the splits at"
        " the feature moved the row towards its truth, compared with the rows beside it, they"
        " helped, else they hurt"
        f"{', all classes together' * bool(report.task.classes)}, in per cent of the constant"
        f" model's {report.found.loss_name} of an average row; the mean over all held-out rows is"
        f" the held-out gain in the table above.{_most_features(report)} Rows are numbered as in"
        " the file: 1 is the first below the line of names."
    )


def _most_features(report: Report) -> str:
    """Say which features have a line of a row's own, where they are too many for all to have."""
    n_features = len(report.found.useful)
    if n_features <= MOST_FEATURES:
        return ""
    return (
        f" Of the {n_features:,} features the {MOST_FEATURES} that move a row most have a line"
        " each; the moves of all others are added up in one more."
    )


def _of_raw(report: Report) -> str:
    """Say of what kind of prediction, where it is not the prediction itself."""
    if report.task.classes:
        return " of the most probable class, but for what the classes of a row have in common"
    return "'s log-odds" if report.task.is_classification else ""


def _of_class(report: Report, k: int) -> list[Markup | str]:
    """Say which of several classes a picture is about."""
    c = figures.drawn_class(report, k)
    return [] if c is None else [" of ", element("bdi", predicted_class(report.task, c))]


def _made(report: Report) -> Markup:
    """Say what was done, so that it can be done again."""
    facts = [
        join(
            element("dt", term),
            element("dd", element("pre", element("code", what)) if term == "Command" else what),
        )
        for term, what in report.made.items()
    ]
    return join(*facts)
