"""The paper's figures in kind: gain and permutation, a box a feature and method.

The paper's panels of SHAP values are not here: it has them for LightGBM and CatBoost alone.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.cvb.methods import TREE_INNER, numbers
from benchmarks.cvb.real import AMAZON
from benchmarks.study.tables import chosen, values_of
from benchmarks.study.whole_tables import WHOLE

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#999999")
LABELS = {"gain": "share of the importance", "permuted": "permutation importance, test rows"}


def boxes(ax, rows, names, what: str, title: str) -> None:
    """Draw boxes of one of ``LABELS``; outliers are shown, which the paper hides."""
    methods = values_of(rows, "method")
    for i, method in enumerate(methods):
        if what == "permuted" and method == TREE_INNER:
            continue  # it has other values in this place
        values = np.array([numbers(row[what]) for row in chosen(rows, method=method)])
        at = np.arange(len(names)) + (i - (len(methods) - 1) / 2) * 0.16
        ax.boxplot(
            values, positions=at, widths=0.12, patch_artist=True, manage_ticks=False,
            flierprops={"marker": ".", "markersize": 2, "markeredgecolor": COLOURS[i]},
            medianprops={"color": "black"}, boxprops={"facecolor": COLOURS[i]},
        )  # fmt: skip
        ax.plot([], [], color=COLOURS[i], linewidth=6, label=method)
    ax.set_xticks(np.arange(len(names)), names, rotation=30 if len(names) > 5 else 0)
    ax.set_ylabel(LABELS[what])
    ax.set_title(title, loc="left")
    ax.spines[["top", "right"]].set_visible(False)


def draw(tables: dict[str, list[dict]], path: Path) -> None:
    """Draw the null case, the power case and Amazon below each other, gain beside permutation."""
    figure, axes = plt.subplots(3, 2, figsize=(15, 11), layout="constrained")
    names = [f"x{k}" for k in range(5)]
    amazon = chosen(tables["real"], data=AMAZON)
    panels = [
        (tables["null"], names, "Null: no feature matters"),
        (tables["power"], names, "Power: x1 alone matters"),
        (amazon, WHOLE[AMAZON].categories, "Amazon employee access, 30 folds"),
    ]
    for line, panel in zip(axes, panels, strict=True):
        for ax, what in zip(line, LABELS, strict=True):
            boxes(ax, *panel[:2], what, panel[2])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), ncols=5, loc="outside upper center")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
