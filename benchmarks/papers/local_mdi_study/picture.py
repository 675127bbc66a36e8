"""The page's picture: what every method is worth for four tasks, and what it costs.

A panel a task, a line a method, a row of panels a kind of model. Bars are standard errors of the
difference between a method and the mean of all that are in the panel, in the same repetitions or on
the same tables.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from attributions.plots.colors import BLUE, VERMILION
from benchmarks.papers.local_mdi_study.counterfactuals import COLUMNS
from benchmarks.papers.local_mdi_study.methods import LABELS, METHODS
from benchmarks.papers.local_mdi_study.selection import mean_over_shares
from benchmarks.papers.local_mdi_study.subgroups import measures_of
from benchmarks.study.tables import chosen, values_of, values_there

STYLES = {"": ("#333333", "#ffffff"), "_dark": ("#e6e6e6", "#0d1117")}
LIKE_ALWAYS = {"svg.hashsalt": "gbt", "svg.fonttype": "none"}  # the same file at each run
KINDS = {"forest": "Random forest", "boosted": "Boosted, ours"}
MARKS = {"sum": ("o", BLUE, "signed sums"), "rank": ("D", VERMILION, "mean ranks"),
         "global": ("x", "#888888", "one score for all rows")}  # fmt: skip


class Panel(NamedTuple):
    """A task: its part, title, units, value of a row, and the aggregates that are shown."""

    part: str
    title: str
    unit: str
    value: Callable
    aggregates: tuple[str, ...]


def distances(rows) -> Callable:
    """Return a function that divides a distance by the least possible one."""
    least = {
        (row["data"], row["model"], row["replication"]): row["distance"]
        for row in chosen(rows, method=COLUMNS)
    }
    return lambda row: row["distance"] / least[row["data"], row["model"], row["replication"]]


def panels(tables) -> list[Panel]:
    """Return the panels of the parts that are there."""
    found = []
    if "ranking" in tables:
        title = "Features that matter\nranked first: AUC (more is better)"
        found.append(Panel("ranking", title, "replication", lambda r: r["auc"], tuple(MARKS)))
    if "selection" in tables:
        title = "Best features kept, model\nfitted again: score (more is better)"
        found.append(Panel("selection", title, "data", mean_over_shares, tuple(MARKS)))
    if "counterfactuals" in tables:
        title = "Counterfactual: distance,\nnearest row is 1 (less is better)"
        value = distances(tables["counterfactuals"])
        found.append(Panel("counterfactuals", title, "data", value, ("sum", "global")))
    if "subgroups" in tables:
        title = "Linear models in groups:\nerror, all rows are 1 (less is better)"
        measures = measures_of(tables["subgroups"])

        def error(row):
            return np.mean([row[name] for name in measures])

        found.append(Panel("subgroups", title, "data", error, ("sum", "global")))
    return found


def points(rows, panel: Panel) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the mean of every method and aggregate, and the error of its difference from all."""
    pairs = [
        (method, aggregate)
        for method in METHODS
        for aggregate in panel.aggregates
        if chosen(rows, method=method, aggregate=aggregate)
    ]
    units = values_of(rows, panel.unit)
    values = np.array(
        [
            [
                np.mean([panel.value(r) for r in chosen(rows, method=m, aggregate=a)
                         if r[panel.unit] == unit])
                for m, a in pairs
            ]
            for unit in units
        ]
    )  # fmt: skip
    apart = values - values.mean(axis=1, keepdims=True)
    errors = np.zeros(len(pairs))
    if len(units) > 1:
        errors = apart.std(axis=0, ddof=1) / np.sqrt(len(units))
    return dict(zip(pairs, zip(values.mean(axis=0), errors, strict=True), strict=True))


def draw_panel(ax, rows, panel: Panel, names, ink: str) -> None:
    """Draw a task: a line a method."""
    for (method, aggregate), (mean, error) in points(rows, panel).items():
        mark, color, _ = MARKS[aggregate]
        y = names.index(method) + {"sum": -0.18, "rank": 0.0, "global": 0.18}[aggregate]
        ax.errorbar(mean, y, xerr=error, fmt=mark, color=color, markersize=5, elinewidth=1.2)
    dress(ax, panel.title, ink)


def draw_seconds(ax, rows, names, ink: str) -> None:
    """Draw the milliseconds of a row after the first."""
    for name in values_there(rows, "method", METHODS):
        times = [1000 * row["each further row"] for row in chosen(rows, method=name)]
        ax.plot(max(np.mean(times), 1e-3), names.index(name), "o", color=ink, markersize=5)
    ax.set_xscale("log")
    dress(ax, "Time of a further row, ms\n(less is better)", ink)


def dress(ax, title: str, ink: str) -> None:
    """Give a panel its title and plain axes."""
    ax.set_title(title, color=ink, fontsize=9, loc="left")
    ax.tick_params(colors=ink, length=0, labelsize=8)
    ax.grid(axis="y", color=ink, alpha=0.15)
    ax.spines[:].set_visible(False)


def picture(tables, ink: str, paper: str):
    """Draw all panels."""
    found, names = panels(tables), list(METHODS)
    n = len(found) + ("seconds" in tables)
    size = 3.1 * n + 1.6, 6.2
    figure, axes = plt.subplots(
        len(KINDS), n, figsize=size, sharey=True, layout="constrained", facecolor=paper,
        squeeze=False,
    )  # fmt: skip
    for line, (kind, label) in zip(axes, KINDS.items(), strict=True):
        for ax, panel in zip(line, found, strict=False):
            draw_panel(ax, chosen(tables[panel.part], model=kind), panel, names, ink)
        if "seconds" in tables:
            draw_seconds(line[-1], chosen(tables["seconds"], model=kind), names, ink)
        line[0].set_yticks(range(len(names)), [LABELS[name] for name in names])
        line[0].set_ylim(len(names) - 0.5, -0.5)
        line[0].set_ylabel(label, color=ink, fontsize=11, fontweight="bold")
        for ax in line:
            ax.set_facecolor(paper)
    for mark, color, label in MARKS.values():
        axes[0, 0].plot([], [], mark, color=color, label=label)
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), ncols=3, loc="outside upper center", frameon=False,
        labelcolor=ink,
    )  # fmt: skip
    return figure


def draw(tables: dict[str, list[dict]], folder: Path) -> None:
    """Write ``local_mdi.svg`` and ``local_mdi_dark.svg``."""
    if not panels(tables):
        return
    for suffix, (ink, paper) in STYLES.items():
        with plt.rc_context(LIKE_ALWAYS):
            figure = picture(tables, ink, paper)
            figure.savefig(folder / f"local_mdi{suffix}.svg", metadata={"Date": None})
            plt.close(figure)
