"""The page's pictures: what every method is worth for four tasks, what it costs, and mean ranks.

Of the first, a row of panels is a task, a line a method, a column of panels a kind of model. Bars
are standard errors of the difference between a method and the mean of all that are in the panel, in
the same repetitions or on the same tables.
"""

from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attributions.plots.colors import BLUE, VERMILION
from benchmarks.papers.local_mdi_study.counterfactuals import excess_of
from benchmarks.papers.local_mdi_study.methods import LABELS, METHODS, OF_OURS
from benchmarks.papers.local_mdi_study.selection import STEPS, mean_over_shares, tables_and_scores
from benchmarks.papers.local_mdi_study.subgroups import mean_over_counts
from benchmarks.papers.rankings import ranks
from benchmarks.papers.rankings.ranks import critical_difference, mean_ranks
from benchmarks.study.pictures import picture
from benchmarks.study.tables import chosen, column, means_by, values_there

STYLES = {"": ("#333333", "#ffffff"), "_dark": ("#e6e6e6", "#0d1117")}
LIKE_ALWAYS = {"svg.hashsalt": "gbt", "svg.fonttype": "none"}  # the same file at each run
KINDS = {"forest": "Random forest", "boosted": "Boosted, ours"}
MARKS = {"sum": ("o", BLUE, "signed sums"), "rank": ("D", VERMILION, "mean ranks"),
         "global": ("x", "#888888", "one score for all rows")}  # fmt: skip


NEEDS_TARGETS = ("Distance", "Error")  # how titles begin where the held-out gain is left out


class Panel(NamedTuple):
    """A task: its part, title, units, value of a row, and the aggregates that are shown."""

    part: str
    title: str
    unit: str
    value: Callable
    aggregates: tuple[str, ...]


def panels(tables) -> list[Panel]:
    """Return the panels of the parts that are there."""
    of_all, signed = tuple(MARKS), ("sum", "global")
    excess = excess_of(tables.get("counterfactuals", []))
    found = (
        Panel("ranking", "Features that matter ranked first, AUC: more is better", "replication",
              itemgetter("auc"), of_all),
        Panel("selection", "Each row keeps its best features, model fitted again, score: more is"
              " better", "data", mean_over_shares, of_all),
        Panel("counterfactuals", "Distance of counterfactuals, the nearest row has 1: less is"
              " better", "data", excess, signed),
        Panel("subgroups", "Error of linear models in groups, one model for all has 1: less is"
              " better", "data", mean_over_counts, signed),
    )  # fmt: skip
    return [panel for panel in found if panel.part in tables]


def points(rows, panel: Panel) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the mean of every method and aggregate, and the error of its difference from all."""
    pairs = [
        (method, aggregate)
        for method in METHODS
        if method not in OF_OURS or chosen(rows, method="predecomp")
        for aggregate in panel.aggregates
        if chosen(rows, method=method, aggregate=aggregate)
    ]
    own = [chosen(rows, method=method, aggregate=aggregate) for method, aggregate in pairs]
    values = np.column_stack([means_by(of, panel.unit, panel.value) for of in own])
    apart = values - values.mean(axis=1, keepdims=True)
    errors = np.zeros(len(pairs))
    if len(values) > 1:
        errors = apart.std(axis=0, ddof=1) / np.sqrt(len(values))
    return dict(zip(pairs, zip(values.mean(axis=0), errors, strict=True), strict=True))


def draw_panel(ax, rows, panel: Panel, names) -> None:
    """Draw a task: a line a method."""
    for (method, aggregate), (mean, error) in points(rows, panel).items():
        mark, color, _ = MARKS[aggregate]
        y = names.index(method) + {"sum": -0.2, "rank": 0.0, "global": 0.2}[aggregate]
        ax.errorbar(mean, y, xerr=error, fmt=mark, color=color, markersize=5, elinewidth=1.2)


def draw_seconds(ax, rows, names, ink: str) -> None:
    """Draw the milliseconds of a row after the first."""
    for name in values_there(rows, "method", METHODS):
        times = 1000 * column(chosen(rows, method=name), "each further row")
        ax.plot(np.mean(times), names.index(name), "o", color=ink, markersize=5)
    ax.set_xscale("log")


def entitle(line, title: str, names, ink: str) -> None:
    """Write the title of a row of panels, and why lines are empty."""
    what, best = title.rsplit(": ", 1)
    line[0].annotate(
        f"{what}\n({best})", (0, 1.03), xycoords="axes fraction", color=ink, fontsize=9,
        fontweight="bold",
    ).set_in_layout(False)  # fmt: skip
    for k, name in enumerate(names):
        if name in OF_OURS:
            say(line[:1], k, "is Saabas", ink)
        if name == "held_out" and title.startswith(NEEDS_TARGETS):
            say(line, k, "would need the targets", ink)


def say(axes, y: int, words: str, ink: str) -> None:
    """Write why a line is empty."""
    for ax in axes:
        ax.text(0.01, y, words, color=ink, fontsize=8, backgroundcolor=ax.figure.get_facecolor(),
                va="center", alpha=0.6, transform=ax.get_yaxis_transform())  # fmt: skip


def dress(ax, ink: str, paper: str) -> None:
    """Give a panel plain axes."""
    ax.set_facecolor(paper)
    ax.tick_params(colors=ink, length=0, labelsize=9)
    ax.grid(axis="y", color=ink, alpha=0.15)
    ax.spines[:].set_visible(False)


def draw_panels(tables, ink: str, paper: str, path: Path) -> None:
    """Draw all panels."""
    found, names = panels(tables), list(METHODS)
    titles = [panel.title for panel in found]
    if "seconds" in tables:
        titles.append("Time of a further row, ms: less is better")
    n = len(titles)
    shape = {"figsize": (6.2, 2.3 * n + 0.8), "sharey": True, "sharex": "row", "squeeze": False}
    with picture(path, n, len(KINDS), style=LIKE_ALWAYS, facecolor=paper, **shape) as drawn:
        figure, axes = drawn
        for below, (kind, label) in zip(axes.T, KINDS.items(), strict=True):
            for ax, panel in zip(below, found, strict=False):
                draw_panel(ax, chosen(tables[panel.part], model=kind), panel, names)
            if "seconds" in tables:
                draw_seconds(below[-1], chosen(tables["seconds"], model=kind), names, ink)
            below[0].set_title(label, color=ink, fontsize=11, fontweight="bold", pad=30)
        for line, title in zip(axes, titles, strict=True):
            entitle(line, title, names, ink)
        axes[0, 0].set_yticks(range(len(names)), [LABELS[name] for name in names])
        axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
        for ax in axes.flat:
            dress(ax, ink, paper)
        for mark, color, label in MARKS.values():
            axes[0, 0].plot([], [], mark, color=color, label=label)
        height = figure.get_figheight()
        figure.get_layout_engine().set(h_pad=0.2, rect=(0, 0, 1, 1 - 0.15 / height))
        figure.legend(
            *axes[0, 0].get_legend_handles_labels(), ncols=3, loc="upper center", frameon=False,
            labelcolor=ink,
        )  # fmt: skip


def draw_mean_ranks(rows, path: Path) -> None:
    """Draw the mean ranks of the ablation's steps over tables; bars join what does not differ."""
    found = {}
    for kind in values_there(rows, "model", KINDS):
        pairs, names, scores = tables_and_scores(rows, kind, STEPS)
        title = f"{KINDS[kind]}: mean rank over {len(names)} tables, a mean of four shares each"
        difference = critical_difference(len(pairs), len(names))
        found[title] = [STEPS[pair] for pair in pairs], mean_ranks(scores), difference
    ranks.draw(found, path, **{"svg.fonttype": "none"})


def draw(tables: dict[str, list[dict]], folder: Path) -> None:
    """Write ``local_mdi.svg`` and ``local_mdi_dark.svg``, and ``local_mdi_ranks.svg``."""
    if "selection" in tables:
        draw_mean_ranks(tables["selection"], folder / "local_mdi_ranks.svg")
    for suffix, colors in STYLES.items() if panels(tables) else ():
        draw_panels(tables, *colors, folder / f"local_mdi{suffix}.svg")
