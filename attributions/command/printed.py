"""The printed report: findings in words, as a table and as a picture."""

import csv
import math
from dataclasses import replace
from pathlib import Path
from textwrap import wrap

import numpy as np

from attributions.command.cautions import cautions
from attributions.command.findings import FALSE_DISCOVERIES, HELPS, Findings
from attributions.methods import kind_of
from attributions.names import elided
from attributions.results import GlobalAttribution

TITLES = {
    "tree_inner": "TreeInner",
    "partial_inner": "partial TreeInner",
    "total_gain": "total gain",
}
FEATURES, PICTURE = "features.csv", "used_useful.png"  # files of a folder of results
WIDTH = 100
N_LISTED = 10
N_TOP = 5
N_DECIMALS = 4  # of importances; smaller ones are written with exponents
N_SCORE_DECIMALS = 7


def report(found: Findings) -> list[str]:
    """Return the lines that say how good the model is, what its features do, and what to mistrust.

    Verdicts and warnings are those of the page that ``--report`` writes.
    """
    return [
        *_score_lines(found),
        "",
        *table_lines(found),
        "",
        *_reading(found),
        *_warnings(found),
    ]


def _score_lines(found: Findings) -> list[str]:
    """Say how good the model is beside the constant model."""
    task = found.task
    width = max(len(score.name) for score in found.scores)
    held_out = f"On {len(task.y_valid):,} held-out rows"
    width = max(width + 2, len(held_out))
    lines = [f"{held_out:{width}}   {'model':>10}   {'constant':>10}"]
    for score in found.scores:
        digits = _digits(max(abs(score.of_model), abs(score.of_constant)), 4)
        form = f",.{digits}f" if digits <= N_SCORE_DECIMALS else ".3e"
        of_model, of_constant = (
            format(round(value, digits) + 0.0, form)  # + 0.0: never -0
            for value in (score.of_model, score.of_constant)
        )
        lines.append(f"  {score.name:{width - 2}}   {of_model:>10}   {of_constant:>10}")
    average = "share of the class" if task.is_classification else "mean"
    average = "shares of the classes" if task.classes else average
    if not task.is_classification and _loss(found) != "squared error":
        average = "best constant"
    whose = "training rows'" if len(task.y_train) else "held-out rows'"  # a model from a file
    lines.append(f"  (The constant model predicts the {whose} {average} for every row.)")
    if found.saved <= 0:
        lines.append(
            f"As a whole the model is no better than the constant: its {_loss(found)} is"
            f" {abs(found.saved):.1f} % higher."
        )
    return lines


def table_lines(found: Findings) -> list[str]:
    """Return the best features, and those that gain or the truth puts among the best."""
    task, doubtful = found.task, found.doubtful
    relevant = set(task.relevant or ())
    names = [elided(name) for name in task.feature_names]
    gain_rank = ranks(found.gain)
    ranking = found.inner.ranking()
    listed = {*ranking[:N_LISTED], *found.gain.ranking()[:N_TOP], *relevant}
    width = max(len("feature"), *(len(names[k]) for k in listed))
    lines = [
        f"Importance in per cent of the constant model's {_loss(found)}",
        f"{'':{width + 6}}      {'on held-out rows':^41}     on training rows",
        f"rank  {'feature':{width}}      {'TreeInner +- s.e.':^19}   {'partial +- s.e.':^19}"
        "     total gain  rank",
    ]
    for place, k in enumerate(ranking):
        if k in listed:
            numbers = [_with_error(values[k], errors[k]) for values, errors in found.held_out]
            inner_error = found.held_out[0][1][k]
            gain = _aligned(found.gain.values[k], _digits(inner_error, 2))
            lines.append(
                f"{place + 1:>4}  {names[k]:{width}} {'*' if k in relevant else ' '} "
                f"{'?' if doubtful[k] else ' '}"
                f"{'  '.join(numbers)}  {gain}  {gain_rank[k]:>4}"
            )
        elif not lines[-1].endswith("..."):
            lines.append(f"{'...':>4}")
    if doubtful[sorted(listed)].any():
        lines.append(
            "?: the standard error is not to be relied on, since few rows may carry the sum."
        )
    return lines


def _reading(found: Findings) -> list[str]:
    """Say in words what the table shows."""
    task = found.task
    loss, n_rows = _loss(found), len(task.y_valid)
    own_unit = "" if len(task.y_train) else ", in its own unit, since the model came without them"
    lines = wrap(
        f"TreeInner is how much of the constant model's {loss} the feature's part of all boosting"
        f" steps took away on {n_rows:,} rows that the model has not seen, to first order (below 0:"
        f" it made it larger). All features together: {found.inner.values.sum():.1f}; the"
        f" model's {loss} is {abs(found.saved):.1f} %"
        f" {'below' if found.saved > 0 else 'above'} the constant model's. Total gain is what"
        f" the same steps promised on the rows that chose them{own_unit}. Partial TreeInner does"
        " not hold a feature's own earlier work against it; its values do not add up.",
        WIDTH,
    )
    lines += wrap(
        "Features that help: of those that have at least a tenth of an even share of the total"
        " gain, so that they are not rarely used, the ones above 0 beyond chance, at a"
        f" false-discovery rate of {100 * FALSE_DISCOVERIES:.0f} % (a feature not named is not"
        " thereby noise):",
        WIDTH,
    )
    for result in (found.inner, found.partial):
        said = replace(found, inner=result)
        helping = [k for k in result.ranking() if said.verdicts[k] == HELPS]
        names = ", ".join(elided(task.feature_names[k]) for k in helping)
        n_rare = len(said.rare_but_beyond_chance)
        rare = f"; {n_rare} more above 0, but rarely used" * (n_rare > 0)
        count = f"{len(helping)} of {len(said.verdicts)}"
        text = f"{_title(result)}, {count}{': ' * bool(helping)}{names}{rare}"
        lines += wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
    if task.relevant is not None:
        counts = [
            f"{len(set(result.ranking()[:N_TOP]) & set(task.relevant))} by {_title(result)}"
            for result in (found.inner, found.partial, found.gain)
        ]
        lines.append(f"Truly relevant among the {N_TOP} best: {', '.join(counts)}.")
    return lines


def _warnings(found: Findings) -> list[str]:
    """Say what should be mistrusted."""
    lines = []
    for text in cautions(found):
        lines += wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return ["", "Warnings", *lines] if lines else []


def write_table(found: Findings, folder: Path) -> Path:
    """Write all features, best first, as a CSV file; in the unit of the report."""
    path, task = folder / FEATURES, found.task
    gain_rank = ranks(found.gain)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            [
                "feature",
                "tree_inner_percent",
                "tree_inner_standard_error",
                "partial_inner_percent",
                "partial_inner_standard_error",
                "total_gain_percent",
                "total_gain_rank",
                *(["relevant"] if task.relevant is not None else []),
            ]
        )
        for k in found.inner.ranking():
            row = [task.feature_names[k]]
            for values, errors in found.held_out:
                row += [values[k], errors[k]]
            row += [found.gain.values[k], gain_rank[k]]
            if task.relevant is not None:
                row.append(int(k in task.relevant))
            writer.writerow(row)
    return path


def draw(found: Findings, folder: Path) -> Path:
    """Draw what is used against what is useful."""
    from matplotlib.figure import Figure

    from attributions.plots import UsedUsefulDisplay

    path, task = folder / PICTURE, found.task
    figure = Figure(figsize=(7.6, 5.2), layout="constrained")
    unit = "log-odds" if task.is_classification else "the target's unit"
    unit = "log-probabilities of all classes" if task.classes else unit
    UsedUsefulDisplay.from_attributions(
        found.used,
        found.inner,
        highlight=task.relevant or (),
        highlight_label="truly relevant",
        used_label=f"used: absolute contribution to the prediction, in {unit},\nsum over trees,"
        f" mean over {len(task.y_valid):,} held-out rows, 95 % intervals",
        useful_label="useful: TreeInner on held-out rows,\n% of the constant model's"
        f" {_loss(found)}, 95 % intervals",
        ax=figure.subplots(),
    )
    figure.savefig(path, dpi=150)
    return path


def ranks(result: GlobalAttribution) -> np.ndarray:
    """Return the place of every feature, from 1."""
    places = np.empty(len(result.values), dtype=np.int64)
    places[result.ranking()] = np.arange(1, len(places) + 1)
    return places


def _loss(found: Findings) -> str:
    """Return what the model lowers, as a reader calls it."""
    name = found.scores[-1].name
    if name in ("AUC", "log-loss", "R^2", "root mean squared error"):
        return "log-loss" if found.task.is_classification else "squared error"
    return name  # a model from a file may have another loss


def _title(result: GlobalAttribution) -> str:
    return TITLES[kind_of(result.method)]


def _digits(value: float, significant: int) -> int:
    """Return how many decimals show so many significant digits."""
    return max(0, significant - 1 - math.floor(math.log10(abs(value)))) if value else 0


def _with_error(value: float, error: float) -> str:
    """Write a value and its standard error, of which two digits are shown."""
    if value == error == 0:  # no tree cuts at this feature
        return f"{'not used':^20}"
    digits = _digits(error or value, 2)
    return f"{_aligned(value, digits)} +- {_aligned(error, digits).lstrip():7}"


def _aligned(value: float, digits: int) -> str:
    """Write a number so that decimal points of several lines stand in one column."""
    if digits > N_DECIMALS:
        return f"{value:9.1e}"
    text = f"{value:.{digits}f}"
    return f"{text:{len(text) + N_DECIMALS - digits + (digits == 0)}}".rjust(9)
