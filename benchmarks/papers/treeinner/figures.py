"""Figures 1 to 3: three quantities over the depth of the trees, mean and standard error.

The paper's Figures 5 to 29 have the same kinds along all sweeps. Each has one panel a task. Colour
and shape tell the score, an empty marker TreeSHAP, a dotted line training rows: all of it can be
told without colour. Points of one value stand a little apart, so that their errors can be seen.
"""

from pathlib import Path
from typing import Any

import numpy as np

from attributions.plots import BLUE, GREY, INK, VERMILION
from benchmarks.papers.treeinner.claims import IDENTITY_ERROR
from benchmarks.papers.treeinner.methods import CELLS, MODEL, Cell
from benchmarks.papers.treeinner.protocol import SWEEPS, TASKS
from benchmarks.papers.treeinner.runs import Results
from benchmarks.study.pictures import picture
from benchmarks.study.tables import by_values, chosen, column, mean_and_error

SWEEP = SWEEPS["depth"]
QUANTITIES = {  # in the order of the figures
    "identity": "log10 of max |total gain \u2212 TreeInner|, both at unit l1 norm",
    "auc": "AUC, relevant against noisy",
    "noisy": "mean score of noisy features, at unit l2 norm",
}
SHORTEST_ERROR = 1e-17  # where total gain and TreeInner agree to the last bit

COLOR = {"TreeInner": INK, "ForestInner": VERMILION, "Abs": BLUE, "Permutation": "#E69F00"}
MARKER = {"TreeInner": "o", "ForestInner": "s", "Abs": "^", "Permutation": "D"}


def points(results: Results) -> list[dict]:
    """Return all markers of the figures, for the tasks that were run.

    A marker is a mean over replications at one depth.
    """
    found = []
    for value, setting in zip(SWEEP.values, SWEEP.settings, strict=True):
        for task in results.tasks_of(SWEEP):
            errors = results.of(task, MODEL, "identity_error", setting)
            values = {("identity", MODEL): np.log10(np.maximum(errors, SHORTEST_ERROR))}
            for quantity in ("auc", "noisy"):
                for cell in CELLS:
                    values[quantity, cell] = results.of(task, cell, quantity, setting)
            for (quantity, cell), of in values.items():
                mean, error = mean_and_error(of)
                found.append({
                    "sweep": SWEEP.name, "value": value, "data": task.data, "task": task.kind,
                    "quantity": quantity, **cell._asdict(), "mean": mean, "standard_error": error,
                })  # fmt: skip
    return found


def draw(shown: list[dict], number: int, path: Path) -> None:
    """Draw one figure into a file."""
    quantity = [*QUANTITIES][number - 1]
    found = chosen(shown, quantity=quantity)
    of_tasks = {task: chosen(found, data=task.data, task=task.kind) for task in TASKS}
    of_tasks = {task: own for task, own in of_tasks.items() if own}
    has_legend = quantity != "identity"
    style: Any = {"svg.hashsalt": "treeinner", "font.size": 9, "axes.edgecolor": GREY}
    n_lines = -(-len(of_tasks) // 2)
    height = 0.5 + (2.9 if has_legend else 2.2) * n_lines + (0.7 if has_legend else 0)
    shape = {"figsize": (5.8, height), "squeeze": False}
    with picture(path, n_lines, 2, style=style, **shape) as (figure, panels):
        for panel, (task, own) in zip(panels.flat, of_tasks.items(), strict=True):
            _draw_panel(panel, own, quantity)
            panel.set_title(f"{task.data}, {task.kind}", loc="left", fontsize=10, color=INK)
        figure.supylabel(QUANTITIES[quantity], color=INK, fontsize=9)
        figure.supxlabel(SWEEP.label, color=INK, fontsize=9)
        if has_legend:
            _draw_legend(figure)


def _draw_panel(panel, rows: list[dict], quantity: str) -> None:
    """Draw one line a score over the depths, which stand at equal distances."""
    place = {value: x for x, value in enumerate(SWEEP.values)}
    if quantity == "identity":
        panel.axhline(np.log10(IDENTITY_ERROR), color=GREY, linewidth=0.9, linestyle="--")
        panel.set_ylim(np.log10(SHORTEST_ERROR), -8)
    if quantity == "noisy":
        panel.axhline(0, color=GREY, linewidth=0.9)
    if quantity == "auc":
        panel.axhline(0.5, color=GREY, linewidth=0.9)
        panel.set_ylim(0, 1.02)
    lines = list(by_values(rows, *Cell._fields))
    for c, (cell, own) in enumerate(lines):
        own = sorted(own, key=lambda row: place[row["value"]])
        apart = 0.5 * (c / max(len(lines) - 1, 1) - 0.5) if len(lines) > 1 else 0.0
        x = [place[row["value"]] + apart for row in own]
        means, errors = (column(own, name) for name in ("mean", "standard_error"))
        panel.errorbar(x, means, yerr=errors, **line_style(Cell(*cell)))
    panel.set_xticks(range(len(SWEEP.values)), [f"{value:g}" for value in SWEEP.values])
    panel.set_xlim(-0.5, len(SWEEP.values) - 0.5)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(colors=INK, length=3)
    panel.grid(axis="y", color="#E8E8E8", linewidth=0.7)
    panel.set_axisbelow(True)


def line_style(cell: Cell) -> dict:
    """Return how a line looks."""
    color = COLOR.get(cell.score, INK)
    is_first = cell.score in ("TreeInner", "model")
    return {
        "color": color,
        "linestyle": ":" if cell.rows == "train" else "-",
        "linewidth": 1.6 if is_first else 1.0,
        "elinewidth": 0.8,
        "marker": MARKER.get(cell.score, "o"),
        "markersize": 4.5 if is_first else 4,
        "markerfacecolor": "white" if cell.attribution == "TreeSHAP" else color,
        "markeredgewidth": 0.9,
        "zorder": 3 if is_first else 2,
    }


def _draw_legend(figure) -> None:
    """Explain colours and shapes, then markers, then lines, each on its own."""
    from matplotlib.lines import Line2D

    plain: Any = {
        "linestyle": "", "marker": "o", "color": INK, "markersize": 5, "markeredgewidth": 0.9
    }  # fmt: skip
    looks: dict[str, dict] = {
        **{s: {"color": COLOR[s], "marker": MARKER[s], "markersize": 5} for s in COLOR},
        "held-out rows": {"linestyle": "-", "color": INK},
        "training rows": {"linestyle": ":", "color": INK, "linewidth": 1.6},
        "PreDecomp": plain,
        "TreeSHAP": {**plain, "markerfacecolor": "white"},
    }
    entries = [Line2D([], [], label=label, **look) for label, look in looks.items()]
    figure.legend(handles=entries, loc="outside upper center", ncols=4, frameon=False)
