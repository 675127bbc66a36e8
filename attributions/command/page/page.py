"""All of the report in the order of the page: the template filled with what the report says."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

import attributions.command.page.figures as figures
import attributions.command.page.tables as tables
from attributions.command.page.contents import MOST_ROWS, Report
from attributions.command.page.markup import Markup, data, element, join
from attributions.command.page.row_explorer import MOST_FEATURES, row_data
from attributions.command.said.sections import CHANGED, IN_SHORT, NEXT, WARNINGS, sections
from attributions.command.verdicts import RULES

N_CURVES, LEAST_MOVE = 6, 0.01  # features of which the curve is drawn, and least share of the first


def page(report: Report) -> str:
    """Return the report as the text of one HTML file."""
    folder = files("attributions.command.page")
    template, style, script = (
        folder.joinpath(f"page.{kind}").read_text(encoding="utf-8")
        for kind in ("html", "css", "js")
    )
    said = sections(report.found)
    parts = {
        "title": join(_title(report)),
        "lead": join(_lead(report)),
        "answer": figures.answer(report),
        "good": join(said[IN_SHORT][0]),
        "said": _listed(said[IN_SHORT][1:] + said[CHANGED]),
        "next": _listed(said[NEXT]),
        "warnings": _warnings(said[WARNINGS]),
        "n_warnings": str(len(said[WARNINGS])),
        "warned": _warned(len(said[WARNINGS])),
        "description": _listed(report.task.description),
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
        "row_data": data("row-data", row_data(report)),
        "script": script,
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
    }
    drawn = figures.dark_colors(parts["answer"] + parts["figures"])
    return Template(template).substitute(parts, style=style.replace("/*pictures*/", drawn))


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


def _listed(texts: Sequence[str]) -> Markup:
    return element("ul", *(element("li", text) for text in texts))


def _warned(n_warnings: int) -> Markup:
    """Say how many warnings are to be read before any of this is believed."""
    if not n_warnings:
        return Markup()
    said = f"{n_warnings} warning{'s' * (n_warnings > 1)} to read first"
    return element("p", element("a", said, href="#warnings"))


def _warnings(texts: Sequence[str]) -> Markup:
    if not texts:
        return element("p", "None of the checks found anything.", class_="none")
    return element("ul", *(element("li", text) for text in texts), class_="warnings")


def _about_scores(report: Report) -> Iterator[str]:
    """Say what the constant is, and what importances are counted in."""
    given = bool(report.found.model_file)
    whose = "these" if given else "the training"
    what = "the shares of the classes in" if report.task.classes else "the number that is best for"
    yield f"The constant model gives every row {what} {whose} rows."
    yield (
        "Held-out gain is what the splits at a feature are worth on held-out rows, in per"
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
        "What the model uses, and what of it helps",
        figures.used_useful(report),
        "To the right: the feature's share of the gain that all splits promised in training."
        " Upwards: what they are worth on held-out rows. Far right and above 0: used and useful."
        " Far right and near 0 or below: used, but of no use on new rows.",
    )
    if report.found.useful.per_tree is not None:
        yield _figure(
            "What each feature is worth, tree by tree",
            figures.boosting(report),
            f"{report.model.n_trees:,} trees{figures.in_rounds(report)}. A curve that turns down"
            " has begun to learn what holds in the training rows only.",
        )
    for number, over in enumerate(report.found.over):
        other = over.result.label_texts[over.reference]
        yield _figure(
            join("What features are worth by ", element("bdi", over.column)),
            join(figures.by_label(report, over, number), tables.over(over)),
            "What a feature saves of the loss of a row, first order, judged by the rows of each"
            f" {'period' if over.is_time else 'value'} alone. What differs beyond chance from"
            f" \u201c{other}\u201d has rings in the picture and stars in the table; numbers of the"
            " table are per cent of the loss of the best constant there.",
        )
    strength = report.found.used.values
    strongest = np.argsort(-strength, kind="stable")[:N_CURVES]
    for k in strongest[strength[strongest] > LEAST_MOVE * strength.max()]:
        yield _figure(
            join("How the prediction changes with ", element("bdi", report.task.feature_names[k])),
            figures.dependence(report, k),
            f"Partial dependence: the mean prediction, in {figures.raw_unit(report)}"
            f"{', of the classes that change most' * bool(report.task.classes)}.",
        )


def _figure(heading: Any, picture: Markup, caption: str) -> Markup:
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
