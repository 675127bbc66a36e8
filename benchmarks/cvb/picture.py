"""The paper's figures in kind: shares of the gain over repetitions, a box a feature and method."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.cvb.methods import numbers
from benchmarks.cvb.real import AMAZON
from benchmarks.study.tables import chosen, values_of
from benchmarks.study.whole_tables import WHOLE

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#999999")


def boxes(ax, rows, names, title: str) -> None:
    """Draw boxes of shares; outliers are shown, which the paper hides."""
    methods = values_of(rows, "method")
    for i, method in enumerate(methods):
        shares = np.array([numbers(row["gain"]) for row in chosen(rows, method=method)])
        at = np.arange(len(names)) + (i - (len(methods) - 1) / 2) * 0.16
        ax.boxplot(
            shares, positions=at, widths=0.12, patch_artist=True, manage_ticks=False,
            flierprops={"marker": ".", "markersize": 2, "markeredgecolor": COLOURS[i]},
            medianprops={"color": "black"}, boxprops={"facecolor": COLOURS[i]},
        )  # fmt: skip
        ax.plot([], [], color=COLOURS[i], linewidth=6, label=method)
    ax.set_xticks(np.arange(len(names)), names, rotation=30 if len(names) > 5 else 0)
    ax.set_ylabel("share of the importance")
    ax.set_title(title, loc="left")
    ax.spines[["top", "right"]].set_visible(False)


def draw(tables: dict[str, list[dict]], path: Path) -> None:
    """Draw the null case, the power case and Amazon below each other."""
    figure, axes = plt.subplots(3, 1, figsize=(9, 11), layout="constrained")
    names = [f"x{k}" for k in range(5)]
    boxes(axes[0], tables["null"], names, "Null: no feature matters")
    boxes(axes[1], tables["power"], names, "Power: x1 alone matters")
    amazon = chosen(tables["real"], data=AMAZON)
    boxes(axes[2], amazon, WHOLE[AMAZON].categories, "Amazon employee access, 30 folds")
    figure.legend(*axes[0].get_legend_handles_labels(), ncols=5, loc="outside upper center")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
