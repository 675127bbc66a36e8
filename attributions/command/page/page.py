"""All of the report in the order of the page: the template filled with what the report says."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from importlib.resources import files
from string import Template

import attributions.command.page.figures as figures
import attributions.command.page.tables as tables
from attributions.command.judging.findings import Findings
from attributions.command.judging.verdicts import RULES
from attributions.command.page.markup import Markup, data, element, join, name, with_options
from attributions.command.page.rows import MOST_FEATURES, MOST_ROWS, row_data
from attributions.command.said import IN_SHORT, NEXT, WARNINGS, sections
from attributions.command.said.in_short import changes_of, of_constant
from attributions.command.wording import OPEN_ABOVE, argument
from gbt.tables.names import counted

PLACEHOLDERS = ("NAME", "LABEL", "counts")  # what options in sentences have beside names of columns
N_CHANGES = 2  # sentences on the first screen about changes over time, and by a column


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
    task, n_warnings = found.task, len(said[WARNINGS])
    title = "What a model uses, and what of it helps: a demonstration"
    if task.path is not None:
        title = f"What predicts {task.target.name} in {task.path.name}"
    lead = (
        "A model of gradient boosted trees was fitted to the table and judged on"
        f" {len(task.y_valid):,} rows that the model has not been trained on."
    )
    if found.model_file:
        lead = f"The model of {found.model_file}, judged on {len(task.y_valid):,} rows."
    listed = partial(_listed, [*PLACEHOLDERS, *map(argument, [*task.columns, *task.feature_names])])
    warned, warnings = "", element("p", "None of the checks found anything.", class_="none")
    if n_warnings:
        to_read = f"{counted(n_warnings, 'warning')} to read first"
        warned = element("p", element("a", to_read, href="#warnings"))
        warnings = listed(said[WARNINGS], class_="warnings")
    parts = {
        "title": join(title),
        "lead": join(lead),
        "answer": figures.answer(found),
        "good": join(said[IN_SHORT][0]),
        "said": listed([*said[IN_SHORT][1:], *_changes(found)]),
        "next": listed(said[NEXT]),
        "warnings": warnings,
        "n_warnings": str(n_warnings),
        "warned": warned,
        "description": listed(task.description),
        "columns": tables.columns(found),
        "scores": tables.scores(found),
        "about_scores": join(*(element("p", text) for text in (of_constant(found), of_gain))),
        "rules": _defined(RULES),
        "features": tables.features(found),
        "asterisk": join(marks if found.doubtful.any() else ""),
        "figures": join(*figures.pictures(found)),
        "about_rows": element("p", _about_rows(found, len(rows["rows"]))),
        "made": _defined(made),
        "most_rows": str(MOST_ROWS),
        "row_data": data("row-data", rows),
        "style": style,
        "script": script,
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
    }
    return Template(template).substitute(parts)


def _changes(found: Findings) -> Iterator[str]:
    """Yield the first changes over time and by a column, and where the others stand."""
    for number, over in enumerate(found.over):
        texts = [*changes_of(found, over)]
        yield from texts[:N_CHANGES]
        if len(texts) > N_CHANGES:
            how = "over" if over.is_time else "by"
            more = join(f"More on what changed {how} ", name(over.column))
            yield element("a", more, href=f"#changes{number}")


def _listed(arguments: Sequence[str], texts: Sequence[str], **attributes: str) -> Markup:
    """Return sentences as a list; ``arguments`` are those that their options may have."""
    said = (t if isinstance(t, Markup) else with_options(t, arguments) for t in texts)
    return element("ul", *(element("li", text) for text in said), **attributes)


def _about_rows(found: Findings, n_shown: int) -> str:
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
    unit, about_unit = figures.raw_unit(found)
    if unit.startswith("the logarithm") and found.model.loss.is_by_row:
        of_raw = "'s logarithm"
    return (
        f"{which} Each feature moves the prediction up or down, in {unit}; from the start all"
        f" moves add up to the prediction{of_raw}.{about_unit} Where the splits at"
        " the feature moved the row towards its truth, compared with the rows beside it, they"
        f" helped, else they hurt{', all classes together' * bool(task.classes)}, in per cent of"
        f" the constant model's {found.loss_name} of an average row; the mean over all held-out"
        f" rows is the held-out gain in the table above.{most} Rows are numbered as in the file: 1"
        " is the first below the line of names."
    )


def _defined(facts: Mapping[str, str]) -> Markup:
    """Return terms with what they stand for; the command can be copied as it is."""
    pieces = []
    for term, said in facts.items():
        value = element("pre", element("code", said)) if term == "Command" else said
        pieces += [element("dt", term), element("dd", value)]
    return join(*pieces)
