"""The printed report: findings in words, as a table and as a picture."""

import csv
from collections.abc import Mapping
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np

from attributions.command.judging.findings import MODEL, Findings
from attributions.command.judging.verdicts import UNUSED
from attributions.command.said import IN_SHORT, sections
from attributions.command.said.in_short import of_constant, ranks
from attributions.command.wording import (
    ABOVE_100,
    N_DECIMALS,
    OPEN_ABOVE,
    alike,
    apart,
    lines_of,
    value_and_interval,
)
from attributions.names import NAME_WIDTH
from gbt.files.whole_files import write_whole
from gbt.tables.spelled import plain_number

FEATURES, PICTURE = "features.csv", "used_useful.png"  # files of a folder of results
HEAD = (
    "feature", "verdict", "held_out_gain_percent", "standard_error", "low_percent", "high_percent",
    "p_value_adjusted", "reliable", "total_gain_share_percent", "total_gain_rank", "twin_of",
)  # fmt: skip
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets run begins so
N_LISTED, N_WORST, N_TOP = 10, 5, 5  # features: the best, the worst, the first by total gain


def report(found: Findings) -> list[str]:
    """Return the lines that say what was found, how good the model is, and what to mistrust.

    Its sentences are those of the page that ``--report`` writes.
    """
    said, scores = sections(found), found.scores
    first = {IN_SHORT: said.pop(IN_SHORT)}
    rows = {f"On {len(found.task.y_valid):,} held-out rows": [*scores]}
    rows |= {f"  {name}": alike([of[name] for of in scores.values()]) for name in scores[MODEL]}
    width = max(map(len, rows))
    return [
        *_section_lines(first),
        *(f"{name:{width}}" + "".join(f"   {of:>10}" for of in row) for name, row in rows.items()),
        f"  ({of_constant(found)})",
        "",
        *table_lines(found),
        "",
        *_section_lines(said)[:-1],
    ]


def _section_lines(said: Mapping[str, list[str]]) -> list[str]:
    lines = []
    for title, texts in said.items():
        if texts:
            below = (line for text in texts for line in lines_of(text, "  ", "    "))
            lines += [title, *below, ""]
    return lines


def table_lines(found: Findings) -> list[str]:
    """Return the best and the worst features, and those that gain or the truth puts on top."""
    task, doubtful, order = found.task, found.doubtful, found.order
    names = apart(task.feature_names, NAME_WIDTH)
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
            value, interval = value_and_interval(found.useful.values[k], found.said.intervals[k])
            n_decimals = len(value.partition(".")[2])
            value += " " * (N_DECIMALS - n_decimals + (n_decimals == 0))
            share = round(100 * found.gain_share[k], 1) + 0.0  # never -0
            lines.append(
                f"{label} {value:>13}  {interval:18}{found.said.verdicts[k]:16}"
                f"  {share:>17.1f} %  {gain_rank[k]:>4}"
            )
        elif k in listed:
            twin = found.twins.get(k)
            why = "" if twin is None else f": {names[twin]} says what it says"
            lines.append(f"{label} {'':33}{UNUSED}{why}")
        elif found.is_used[k] and not lines[-1].endswith("..."):
            lines.append(f"{'...':>4}")
    if doubtful[sorted(listed)].any():
        lines += lines_of(OPEN_ABOVE)
    if found.useful.values.max() > 100:
        lines += lines_of(ABOVE_100)
    return lines


def write_table(found: Findings, folder: Path) -> Path:
    """Write all features, best first and unused ones last, as a CSV file."""
    path, text = folder / FEATURES, StringIO()
    writer = csv.writer(text)
    writer.writerow(HEAD)
    names = [defused(name) for name in found.task.feature_names]
    errors, gain_rank = np.asarray(found.useful.standard_error), ranks(found.gain)
    for k in found.order:
        said = [*found.said.intervals[k], found.said.p_values[k]]
        row = [names[k], found.said.verdicts[k], found.useful.values[k], errors[k]]
        row += [number if np.isfinite(number) else "" for number in said]
        row += [int(not found.doubtful[k]), 100 * found.gain_share[k], gain_rank[k]]
        writer.writerow([*row, names[found.twins[k]] if k in found.twins else ""])
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
    display = UsedUsefulDisplay(found.gain, found.useful, intervals=found.said.intervals)
    figure = display.plot().figure_
    figure.savefig(content, dpi=150, format="png")
    pyplot.close(figure)
    write_whole(content.getvalue(), path)
    return path
