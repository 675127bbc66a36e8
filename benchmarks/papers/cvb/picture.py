"""The paper's figures in kind: a box for each feature and method, a picture for each kind of data.

Gain and permutation importances on test rows of both simulations are its Figures 1 and 2, the four
measures on Amazon its Figure 3. SHAP values, which the paper has for LightGBM and CatBoost, are
here for every method.
"""

from pathlib import Path

import numpy as np

from benchmarks.papers.cvb import simulations
from benchmarks.papers.cvb.measures import TREE_INNER, numbers, scaled
from benchmarks.papers.cvb.real import AMAZON
from benchmarks.study.pictures import picture
from benchmarks.study.tables import chosen, values_of
from benchmarks.study.whole_tables import WHOLE

WIDTH = 5.6  # inches; letters of 9 points can then be read on a phone
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#999999", "#e69f00")
LABELS = {
    "gain": "share of the gain",
    "permuted": "permutation importance,\ntest rows",
    "trained": "permutation importance,\ntraining rows",
    "shap": "share of the\nabsolute SHAP values",
}


def boxes(ax, rows, names, measure: str, as_shares: bool) -> None:
    """Draw boxes of one of ``LABELS``; outliers are shown, which the paper hides."""
    methods = values_of(rows, "method")
    for i, method in enumerate(methods):
        if measure != "gain" and method == TREE_INNER:
            continue
        values = np.array([numbers(row[measure]) for row in chosen(rows, method=method)])
        if as_shares:
            values = np.apply_along_axis(scaled, 1, values)
        at = np.arange(len(names)) + (i - (len(methods) - 1) / 2) * 0.14
        ax.boxplot(
            values, positions=at, widths=0.11, patch_artist=True, manage_ticks=False,
            flierprops={"marker": ".", "markersize": 2, "markeredgecolor": COLOURS[i]},
            medianprops={"color": "black"}, boxprops={"facecolor": COLOURS[i]},
        )  # fmt: skip
        ax.plot([], [], color=COLOURS[i], linewidth=6, label=method)
    ax.set_xticks(np.arange(len(names)), names)
    ax.set_ylabel(LABELS[measure])
    ax.spines[["top", "right"]].set_visible(False)


def draw_simulations(tables, path: Path) -> None:
    """Draw the null case above the power case, a panel for each measure."""
    cases = {"null": "Null: no feature matters", "power": "Power: x1 alone matters"}
    measures = ("gain", "permuted", "shap")
    with picture(path, 6, 1, figsize=(WIDTH, 13)) as (figure, axes):
        for panels, (case, title) in zip((axes[:3], axes[3:]), cases.items(), strict=True):
            panels[0].set_title(title, loc="left", fontweight="bold")
            for ax, measure in zip(panels, measures, strict=True):
                boxes(ax, tables[case], simulations.NAMES, measure, as_shares=False)
        name_methods(figure, axes[0])


def draw_amazon(rows, path: Path) -> None:
    """Draw Amazon, a panel for each measure; permutation importances as shares, as in the paper."""
    with picture(path, 4, 1, figsize=(WIDTH, 13)) as (figure, axes):
        axes[0].set_title("Amazon employee access, 30 folds", loc="left")
        for ax, measure in zip(axes, LABELS, strict=True):
            boxes(ax, rows, WHOLE[AMAZON].categories, measure, as_shares=True)
            for label in ax.get_xticklabels():
                label.set(rotation=30, ha="right", fontsize=8)
            ax.set_ylabel(LABELS[measure].replace("permutation", "share of the\npermutation"))
        name_methods(figure, axes[0])


def name_methods(figure, ax) -> None:
    """Put the names of the methods above the panels."""
    figure.legend(*ax.get_legend_handles_labels(), ncols=2, loc="outside upper center")


def draw(tables: dict[str, list[dict]], folder: Path) -> None:
    """Draw ``cvb.svg`` from the simulations and ``cvb_amazon.svg``."""
    draw_simulations(tables, folder / "cvb.svg")
    draw_amazon(chosen(tables["real"], data=AMAZON), folder / "cvb_amazon.svg")
