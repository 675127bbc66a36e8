"""All of the report in the order of the page: the template filled with what the evidence says."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from string import Template

import numpy as np

import attributions.command.page.figures as figures
import attributions.command.page.tables as tables
from attributions.command.cautions import cautions, named
from attributions.command.page.cells import predicted_class
from attributions.command.page.evidence import MOST_ROWS, N_SAMPLED, Evidence
from attributions.command.page.markup import Markup, data, element, join
from attributions.command.page.row_explorer import MOST_FEATURES, row_data
from attributions.command.verdicts import HELPS, RARELY, RULES, UNCLEAR, USELESS

# Contributions are drawn against values for at most 6 features, the strongest, and for none that is
# weaker than 1 % of the strongest.
N_DRAWN, LEAST_DRAWN = 6, 0.01


def page(evidence: Evidence) -> str:
    """Return the report as the text of one HTML file."""
    folder = files("attributions.command.page")
    template, style, script = (
        folder.joinpath(f"page.{kind}").read_text(encoding="utf-8")
        for kind in ("html", "css", "js")
    )
    parts = {
        "title": join(_title(evidence)),
        "lead": join(_lead(evidence)),
        "summary": _summary(evidence),
        "warnings": _warnings(evidence),
        "description": element("ul", *(element("li", line) for line in evidence.task.description)),
        "columns": tables.columns(evidence),
        "scores": tables.scores(evidence),
        "about_scores": join(*(element("p", text) for text in _about_scores(evidence))),
        "counts": element("p", _counts(evidence)),
        "rules": join(
            *(join(element("dt", word), element("dd", rule)) for word, rule in RULES.items())
        ),
        "features": tables.features(evidence),
        "asterisk": _asterisk(evidence),
        "figures": join(*_figures(evidence)),
        "about_rows": element("p", _about_rows(evidence)),
        "made": _made(evidence),
        "row_data": data("row-data", row_data(evidence)),
        "style": style,
        "script": script,
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
    }
    return Template(template).substitute(parts)


def _title(evidence: Evidence) -> str:
    source = evidence.task.source
    if source is None:
        return "What a model uses, and what of it helps: simulated data"
    return f"What predicts {source.target} in {source.path.name}"


def _lead(evidence: Evidence) -> str:
    rows = f"{len(evidence.task.y_valid):,} rows that the model has not been trained on"
    if evidence.model_file:
        rows = f"{len(evidence.task.y_valid):,} rows"
        return f"The model of {evidence.model_file}, judged on {rows}."
    return f"A model of gradient boosted trees was fitted to the table and judged on {rows}."


def _loss(evidence: Evidence) -> str:
    known = {"half_logistic": "log-loss", "half_squared_error": "squared error"}
    return known.get(evidence.model.loss.name, evidence.model.loss.metric)


def _summary(evidence: Evidence) -> Markup:
    """Say the most important in a few sentences."""
    saved, useful = evidence.findings.saved, evidence.findings.inner
    better = (
        f"The model's {_loss(evidence)} on held-out rows is {abs(saved):.1f} %"
        f" {'below' if saved > 0 else 'above'} that of predicting the same for every row."
    )
    helping = [k for k in useful.ranking() if evidence.verdicts.words[k] == HELPS]
    lines = [better]
    lines.append(
        f"Beyond chance {len(helping)} of {len(useful)} features help: {named(evidence, helping)}."
        if helping
        else f"Of none of the {len(useful)} features can it be said beyond chance that it helps."
    )
    if rare := evidence.verdicts.rare_but_beyond_chance:
        lines.append(
            f"{len(rare)} more {'are' if len(rare) > 1 else 'is'} above 0 beyond chance but rarely"
            f" used: {named(evidence, rare)}."
        )
    useless = sorted(evidence.verdicts.of(USELESS), key=lambda k: -evidence.verdicts.gain_share[k])
    if useless:
        lines.append(f"Used but not useful on new rows: {named(evidence, useless)}.")
    n_warnings = len(cautions(evidence))
    if n_warnings:
        lines.append(
            f"There {'are' if n_warnings > 1 else 'is'} {n_warnings} warning"
            f"{'s' * (n_warnings > 1)}; read below."
        )
    return element("ul", *(element("li", line) for line in lines))


def _warnings(evidence: Evidence) -> Markup:
    found = cautions(evidence)
    if not found:
        return element("p", "None of the checks found anything.", class_="none")
    return element("ul", *(element("li", text) for text in found), class_="warnings")


def _about_scores(evidence: Evidence) -> Iterator[str]:
    """Say what the constant and XGBoost are."""
    given = bool(evidence.model_file)
    whose = "these" if given else "the training"
    what = (
        "the shares of the classes in" if evidence.task.classes else "the number that is best for"
    )
    yield f"The constant model gives every row {what} {whose} rows."
    if evidence.of_xgboost:
        yield (
            "XGBoost was fitted to the same rows with the same parameters; words are categories to"
            " it, too. Where it is clearly better or worse, something is odd."
        )
    yield (
        f"All importances below are in per cent of the constant model's {_loss(evidence)} on"
        f" held-out rows. To first order they add up to how far the model is below it: they add up"
        f" to {evidence.findings.inner.values.sum():.1f}, and the model is"
        f" {evidence.findings.saved:.1f} % below."
    )


def _counts(evidence: Evidence) -> str:
    counts = [
        f"{len(evidence.verdicts.of(word))} get \u201c{word}\u201d"
        for word in (HELPS, USELESS, UNCLEAR, RARELY)
    ]
    return f"Of {len(evidence.columns)} features {', '.join(counts)}."


def _asterisk(evidence: Evidence) -> str:
    if not evidence.doubtful.any():
        return ""
    return join(
        " An asterisk and a hollow circle mark features whose interval is not to be relied on,"
        " since a few rows may carry their importance."
    )


def _figures(evidence: Evidence) -> Iterator[Markup]:
    """Return the pictures with their headings and captions."""
    yield _figure(
        "Used against useful",
        figures.used_useful(evidence),
        "To the right: the feature's share of the gain that all splits promised in training."
        " Upwards: what it saved on held-out rows, in per cent of the constant model's"
        f" {_loss(evidence)}. Far right and above 0: used and useful. Far right and near 0 or"
        " below: used, but of no use on new rows. Lines are 95 % intervals; blue is"
        " \u201chelps\u201d, orange \u201cused but not useful\u201d, grey the other two verdicts.",
    )
    if evidence.findings.inner.per_tree is not None:
        yield _figure(
            "Importance along boosting",
            figures.boosting(evidence),
            "What a feature saved on held-out rows, in per cent of the constant model's"
            f" {_loss(evidence)}, as tree after tree is added. A curve that turns down has begun to"
            " learn what holds in the training rows only.",
        )
    strength = evidence.sample.strength
    least = LEAST_DRAWN * strength.max()
    strongest = [k for k in np.argsort(-strength, kind="stable")[:N_DRAWN] if strength[k] > least]
    for k in strongest:
        words = bool(evidence.columns[k].words)
        yield _figure(
            join(
                "How ",
                element("bdi", evidence.task.feature_names[k]),
                " moves the prediction",
                *_of_class(evidence, k),
            ),
            figures.dependence(evidence, k),
            f"Above 0 it raises the prediction, in {figures.raw_unit(evidence)}."
            if not words
            else f"Bars to the right raise the prediction, in {figures.raw_unit(evidence)}.",
        )


def _figure(heading: str, picture: Markup, caption: str) -> Markup:
    return element("figure", element("h3", heading), picture, element("figcaption", caption))


def _about_rows(evidence: Evidence) -> str:
    """Say what can be looked at."""
    n_rows = len(evidence.chosen.rows)
    whole = n_rows == len(evidence.task.y_valid)
    which = (
        f"All {n_rows:,} held-out rows can be looked at."
        if whole
        else f"{n_rows:,} of {len(evidence.task.y_valid):,} held-out rows can be looked at: those"
        " with the largest errors, the highest and the lowest predictions, and some at random."
    )
    return (
        f"{which} Each feature moves the prediction up or down, in {figures.raw_unit(evidence)};"
        f" from the start all moves add up to the prediction{_of_raw(evidence)}. A move"
        " towards the truth helped, one away from it hurt"
        f"{', all classes together' * bool(evidence.task.classes)}, in per cent of the constant"
        f" model's {_loss(evidence)} of an average row; the mean over all held-out rows is the"
        f" importance in the table above.{_most_features(evidence)} Rows are numbered as in the"
        " file: 1 is the first below the line of names."
    )


def _most_features(evidence: Evidence) -> str:
    """Say which features have a line of a row's own, where they are too many for all to have."""
    n_features = len(evidence.findings.inner)
    if n_features <= MOST_FEATURES:
        return ""
    return (
        f" Of the {n_features:,} features the {MOST_FEATURES} that move a row most have a line"
        " each; the moves of all others are added up in one more."
    )


def _of_raw(evidence: Evidence) -> str:
    """Say of what kind of prediction, where it is not the prediction itself."""
    if evidence.task.classes:
        return " of the most probable class, but for what the classes of a row have in common"
    return "'s log-odds" if evidence.task.is_classification else ""


def _of_class(evidence: Evidence, k: int) -> list[Markup | str]:
    """Say which of several classes a picture is about."""
    c = figures.drawn_class(evidence, k)
    return [] if c is None else [" of ", element("bdi", predicted_class(evidence.task, c))]


def _made(evidence: Evidence) -> Markup:
    """Say what was done, so that it can be done again."""
    origin = evidence.origin
    versions = ", ".join(f"{package} {version}" for package, version in origin.versions.items())
    if evidence.model_file:
        model = f"Read from {evidence.model_file}."
    else:
        model = ", ".join(f"{key}={value!r}" for key, value in origin.parameters.items())
    facts = [
        ("Command", element("pre", element("code", origin.command))),
        ("Date", origin.made_on),
        ("Seed", str(origin.seed)),
        ("Versions", versions),
        ("Model", model),
        *([("SHA-256 of the table's file", origin.checksum)] if origin.checksum else []),
        (
            "Importance",
            "TreeInner with PreDecomp on held-out rows (Sun 2022), in per cent of the constant"
            " model's loss; standard errors over rows with the model held fixed; one-sided p-values"
            " 1 - Phi(value / standard error), adjusted by Benjamini and Hochberg,"
            " rarely used features and the others each among themselves.",
        ),
        (
            "Limits",
            "Intervals and p-values hold for rows that are independent of each other and of the"
            " training. Rows of the same person, place or day in both halves make importances too"
            " good, and so do rows in the order of time where the model is to predict the future."
            " They describe this fitted model, not another fit.",
        ),
        (
            "Size",
            f"At most {MOST_ROWS} rows can be looked at one by one, and pictures are drawn from at"
            f" most {N_SAMPLED:,} rows and have at most {figures.MOST_POINTS} points, whatever the"
            " size of the table.",
        ),
    ]
    return element(
        "dl",
        *(join(element("dt", term), element("dd", what)) for term, what in facts),
        class_="rules",
    )
