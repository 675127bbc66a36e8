"""All of the report in the order of the page: the template filled with what the report says."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

import attributions.command.page.figures as figures
import attributions.command.page.tables as tables
from attributions.command.judging.findings import Findings
from attributions.command.judging.verdicts import RULES
from attributions.command.page.markup import Markup, data, element, join
from attributions.command.page.rows import MOST_FEATURES, MOST_ROWS, row_data
from attributions.command.said.in_short import of_constant
from attributions.command.said.sections import CHANGED, IN_SHORT, NEXT, WARNINGS, sections
from attributions.command.wording import OPEN_ABOVE

N_CURVES, LEAST_MOVE = 6, 0.01  # features of which the curve is drawn, and least share of the first


def page(found: Findings, made: Mapping[str, str], seed: int) -> str:
    """Return the report as the text of one HTML file; ``made`` says how it can be repeated."""
    folder = files("attributions.command.page")
    template, style, script = (
        folder.joinpath(f"page.{kind}").read_text(encoding="utf-8")
        for kind in ("html", "css", "js")
    )
    said, rows = sections(found), row_data(found, seed)
    of_gain = (
        "Held-out gain is what the splits at a feature are worth on held-out rows, in per cent of"
        f" the {found.loss_name} of the best constant there. Values of features do not add up to"
        " what the model saves."
    )
    marks = f" {OPEN_ABOVE} An asterisk and a hollow circle mark such features."
    warned, warnings = _warnings(said[WARNINGS])
    parts = {
        "title": join(_title(found)),
        "lead": join(_lead(found)),
        "answer": figures.answer(found),
        "good": join(said[IN_SHORT][0]),
        "said": _listed(said[IN_SHORT][1:] + said[CHANGED]),
        "next": _listed(said[NEXT]),
        "warnings": warnings,
        "n_warnings": str(len(said[WARNINGS])),
        "warned": warned,
        "description": _listed(found.task.description),
        "columns": tables.columns(found),
        "scores": tables.scores(found),
        "about_scores": join(*(element("p", text) for text in (of_constant(found), of_gain))),
        "rules": _defined(RULES),
        "features": tables.features(found),
        "asterisk": join(marks if found.doubtful.any() else ""),
        "figures": join(*_figures(found)),
        "about_rows": element("p", _about_rows(found, len(rows["rows"]))),
        "made": _defined(made),
        "most_rows": str(MOST_ROWS),
        "row_data": data("row-data", rows),
        "script": script,
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
    }
    drawn = figures.dark_colors(parts["answer"] + parts["figures"])
    return Template(template).substitute(parts, style=style.replace("/*pictures*/", drawn))


def _title(found: Findings) -> str:
    task = found.task
    if task.path is None:
        return "What a model uses, and what of it helps: a demonstration"
    return f"What predicts {task.target.name} in {task.path.name}"


def _lead(found: Findings) -> str:
    rows = f"{len(found.task.y_valid):,} rows"
    if found.model_file:
        return f"The model of {found.model_file}, judged on {rows}."
    return (
        "A model of gradient boosted trees was fitted to the table and judged on"
        f" {rows} that the model has not been trained on."
    )


def _listed(texts: Sequence[str], **attributes: str) -> Markup:
    return element("ul", *(element("li", text) for text in texts), **attributes)


def _warnings(texts: Sequence[str]) -> tuple[Markup, Markup]:
    """Return a link to the warnings, to be followed before anything is believed, and these."""
    if not texts:
        return Markup(), element("p", "None of the checks found anything.", class_="none")
    said = f"{len(texts)} warning{'s' * (len(texts) > 1)} to read first"
    link = element("p", element("a", said, href="#warnings"))
    return link, _listed(texts, class_="warnings")


def _figures(found: Findings) -> Iterator[Markup]:
    """Return the pictures with their headings and captions."""
    yield _figure(
        "What the model uses, and what of it helps",
        figures.used_useful(found),
        "To the right: the feature's share of the gain that all splits promised in training."
        " Upwards: what they are worth on held-out rows. Far right and above 0: used and useful."
        " Far right and near 0 or below: used, but of no use on new rows.",
    )
    if found.useful.per_tree is not None:
        yield _figure(
            "What each feature is worth, tree by tree",
            figures.boosting(found),
            f"{found.model.n_trees:,} trees{figures.in_rounds(found)}. A curve that turns down"
            " has begun to learn what holds in the training rows only.",
        )
    for number, over in enumerate(found.over):
        other = over.result.label_texts[over.reference]
        yield _figure(
            join("What features are worth by ", element("bdi", over.column)),
            join(figures.by_label(found, over, number), tables.over(over)),
            "What a feature saves of the loss, first order, judged by the rows of each"
            f" {'period' if over.is_time else 'value'} alone. What differs beyond chance from"
            f" \u201c{other}\u201d has rings in the picture and stars in the table; numbers of the"
            " table are per cent of the loss of the best constant there.",
        )
    strength = found.used.values
    strongest = np.argsort(-strength, kind="stable")[:N_CURVES]
    for k in strongest[strength[strongest] > LEAST_MOVE * strength.max()]:
        yield _figure(
            join("How the prediction changes with ", element("bdi", found.task.feature_names[k])),
            figures.dependence(found, k),
            f"Partial dependence: the mean prediction, in {figures.raw_unit(found)}"
            f"{', of the classes that change most' * bool(found.task.classes)}."
            + figures.about_unit(found),
        )


def _figure(heading: Any, picture: Markup, caption: str) -> Markup:
    return element("figure", element("h3", heading), picture, element("figcaption", caption))


def _about_rows(found: Findings, n_shown: int) -> str:
    """Say what can be looked at."""
    task, n_rows, n_features = found.task, len(found.task.y_valid), len(found.useful)
    which, of_raw, most = f"All {n_rows:,} held-out rows can be looked at.", "", ""
    if n_shown < n_rows:
        which = (
            f"{n_shown:,} of {n_rows:,} held-out rows can be looked at: those with the largest"
            " errors, the highest and the lowest predictions, and some at random."
        )
    if task.classes:
        of_raw = " of the most probable class, but for what the classes of a row have in common"
    elif task.is_classification:
        of_raw = "'s log-odds"
    if n_features > MOST_FEATURES:
        most = (
            f" Of the {n_features:,} features the {MOST_FEATURES} that move a row most have a line"
            " each; the moves of all others are added up in one more."
        )
    unit = figures.raw_unit(found)
    return (
        f"{which} Each feature moves the prediction up or down, in {unit}; from the start all"
        f" moves add up to the prediction{of_raw}.{figures.about_unit(found)} Where the splits at"
        " the feature moved the row towards its truth, compared with the rows beside it, they"
        f" helped, else they hurt{', all classes together' * bool(task.classes)}, in per cent of"
        f" the constant model's {found.loss_name} of an average row; the mean over all held-out"
        f" rows is the held-out gain in the table above.{most} Rows are numbered as in the file: 1"
        " is the first below the line of names."
    )


def _defined(facts: Mapping[str, str]) -> Markup:
    """Return terms with what they stand for; the command can be copied as it is."""
    return join(
        *(
            join(
                element("dt", term),
                element("dd", element("pre", element("code", said)) if term == "Command" else said),
            )
            for term, said in facts.items()
        )
    )
