"""The printed report: findings in words, as a table and as a picture."""

import csv
import math
from collections.abc import Mapping
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np

from attributions.command.findings import Findings
from attributions.command.said.in_short import ranks
from attributions.command.said.sections import IN_SHORT, sections
from attributions.command.verdicts import UNUSED
from attributions.command.wording import (
    ABOVE_100,
    N_DECIMALS,
    elided_apart,
    lines_of,
    value_and_interval,
)
from gbt.files.whole_files import write_whole
from gbt.tables.spelled import plain_number

FEATURES, PICTURE = "features.csv", "used_useful.png"  # files of a folder of results
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets run begins so
N_LISTED = 10
N_TOP = 5
N_WORST = 5
N_SCORE_DECIMALS = 7


def report(found: Findings) -> list[str]:
    """Return the lines that say what was found, how good the model is, and what to mistrust.

    Its sentences are those of the page that ``--report`` writes.
    """
    said = sections(found)
    first = {IN_SHORT: said.pop(IN_SHORT)}
    return [
        *_section_lines(first),
        *_score_lines(found),
        "",
        *table_lines(found),
        "",
        *_section_lines(said)[:-1],
    ]


def _section_lines(said: Mapping[str, list[str]]) -> list[str]:
    """Return headings with their sentences, and an empty line after each section."""
    lines = []
    for title, texts in said.items():
        if texts:
            lines.append(title)
            for text in texts:
                lines += lines_of(text, "  ", "    ")
            lines.append("")
    return lines


def _score_lines(found: Findings) -> list[str]:
    """Say how good the model is beside the constant model."""
    task = found.task
    width = max(len(score.name) for score in found.scores)
    held_out = f"On {len(task.y_valid):,} held-out rows"
    width = max(width + 2, len(held_out))
    others = [*found.scores[0].of_others]
    lines = [
        f"{held_out:{width}}   {'model':>10}   {'constant':>10}"
        + "".join(f"   {name:>10}" for name in others)
    ]
    for score in found.scores:
        numbers = [score.of_model, score.of_constant, *score.of_others.values()]
        digits = _digits(max(map(abs, numbers[:2])), 4)
        form = f",.{digits}f" if digits <= N_SCORE_DECIMALS else ".3e"
        cells = (format(round(number, digits) + 0.0, form) for number in numbers)  # never -0
        lines.append(f"  {score.name:{width - 2}}" + "".join(f"   {text:>10}" for text in cells))
    average = "share of the class" if task.is_classification else "mean"
    average = "shares of the classes" if task.classes else average
    if not task.is_classification and found.loss_name != "squared error":
        average = "best constant"
    whose = "training rows'" if len(task.y_train) else "held-out rows'"  # a model from a file
    lines.append(f"  (The constant model predicts the {whose} {average} for every row.)")
    return lines


def table_lines(found: Findings) -> list[str]:
    """Return the best and the worst features, and those that gain or the truth puts on top."""
    task, doubtful, order = found.task, found.doubtful, found.order
    names = elided_apart(task.feature_names)
    gain_rank = ranks(found.gain)
    used = [k for k in order if found.is_used[k]]
    listed = {*used[:N_LISTED], *used[-N_WORST:], *found.gain.ranking()[:N_TOP]}
    if task.noise is not None:
        listed.add(task.noise)
    width = max(len("feature"), *(len(names[k]) for k in listed))
    lines = [
        f"Held-out gain in per cent of the constant model's {found.loss_name}",
        f"rank  {'feature':{width}}    {'held-out gain':>13}  {'95 % interval':18}{'verdict':16}"
        "  share of total gain  rank",
    ]
    for place, k in enumerate(order):
        label = f"{place + 1:>4}  {names[k]:{width}} {'*' if k == task.noise else ' '} "
        if k in listed and found.is_used[k]:
            value, interval = value_and_interval(found.useful.values[k], found.intervals[k])
            n_decimals = len(value.partition(".")[2])
            value += " " * (N_DECIMALS - n_decimals + (n_decimals == 0))
            share = round(100 * found.gain_share[k], 1) + 0.0  # never -0
            lines.append(
                f"{label} {value:>13}  {interval:18}{found.verdicts[k]:16}"
                f"  {share:>17.1f} %  {gain_rank[k]:>4}"
            )
        elif k in listed:
            twin = found.twins.get(k)
            why = "" if twin is None else f": {names[twin]} says what it says"
            lines.append(f"{label} {'':33}{UNUSED}{why}")
        elif found.is_used[k] and not lines[-1].endswith("..."):
            lines.append(f"{'...':>4}")
    if doubtful[sorted(listed)].any():
        lines += lines_of(
            "Where an interval has no upper end, a few rows may carry the gain: how much it may be"
            " cannot be told from these rows."
        )
    if found.useful.values.max() > 100:
        lines += lines_of(ABOVE_100)
    return lines


def write_table(found: Findings, folder: Path) -> Path:
    """Write all features, best first and unused ones last, as a CSV file."""
    path, task = folder / FEATURES, found.task
    gain_rank = ranks(found.gain)
    head = [
        "feature",
        "verdict",
        "held_out_gain_percent",
        "standard_error",
        "low_percent",
        "high_percent",
        "p_value_adjusted",
        "reliable",
    ]
    head += ["total_gain_share_percent", "total_gain_rank", "twin_of"]
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow(head)
    for k in found.order:
        values, errors = found.useful.values, np.asarray(found.useful.standard_error)
        row = [defused(task.feature_names[k]), found.verdicts[k], values[k], errors[k]]
        said = [*found.intervals[k], found.p_values[k]]
        row += [number if np.isfinite(number) else "" for number in said]
        row += [int(not found.doubtful[k])]
        twin = defused(task.feature_names[found.twins[k]]) if k in found.twins else ""
        writer.writerow([*row, 100 * found.gain_share[k], gain_rank[k], twin])
    write_whole(text.getvalue().encode("utf-8", "backslashreplace"), path)
    return path


def defused(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula to be run: one begins with a sign."""
    return f"'{name}" if name.startswith(FORMULAS) and np.isnan(plain_number(name)) else name


def draw(found: Findings, folder: Path) -> Path:
    """Draw what is used against what is useful, as the page does."""
    from matplotlib import pyplot

    from attributions.plots import UsedUsefulDisplay

    path, content = folder / PICTURE, BytesIO()
    display = UsedUsefulDisplay(found.gain, found.useful, intervals=found.intervals)
    figure = display.plot().figure_
    figure.savefig(content, dpi=150, format="png")
    pyplot.close(figure)
    write_whole(content.getvalue(), path)
    return path


def _digits(value: float, significant: int) -> int:
    """Return how many decimals show so many significant digits."""
    return max(0, significant - 1 - math.floor(math.log10(abs(value)))) if value else 0
