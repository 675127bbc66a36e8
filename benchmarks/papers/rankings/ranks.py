"""Ranks over tables, the Nemenyi test, and its picture (Demsar 2006)."""

from pathlib import Path
from textwrap import fill

import numpy as np
from scipy.stats import rankdata, studentized_range

from benchmarks.study.pictures import picture

LEVEL = 0.05


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    """Return the mean rank of every method, 1 the best; scores have a row a table."""
    return rankdata(-scores, axis=1).mean(axis=0)


def critical_difference(n_methods: int, n_tables: int) -> float:
    """Return by how much two mean ranks must differ to differ significantly."""
    q = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_tables)))


def wrapped(name: str) -> str:
    """Return a name in lines that leave room for the picture on a phone."""
    return fill(name, 30)


def pitch(names) -> float:
    """Return how far names stand below each other: half a unit for each of their lines."""
    return 0.5 * max(len(wrapped(name).splitlines()) for name in names)


def draw_ranks(ax, names, ranks: np.ndarray, difference: float, title: str) -> None:
    """Draw mean ranks on a line; bars join methods that do not differ significantly."""
    order = np.argsort(ranks)
    ranks, names, step = np.asarray(ranks)[order], [wrapped(names[i]) for i in order], pitch(names)
    ax.set_xlim(0.8, len(names) + 0.2)
    ax.set_ylim(-step * len(names) - 1.2, 1.4)
    ax.axhline(0, color="black", linewidth=1)
    for tick in range(1, len(names) + 1):
        ax.plot([tick, tick], [0, 0.12], color="black", linewidth=1)
        ax.text(tick, 0.25, str(tick), ha="center", va="bottom")
    for i, (rank, name) in enumerate(zip(ranks, names, strict=True)):
        y = -step * (i + 1) - 0.8
        ax.plot([rank, rank], [0, y], color="0.4", linewidth=1)
        ax.plot(rank, 0, "o", color="#0072b2", markersize=6)
        # On the left, since the stems of worse ones, on the right, are longer.
        ax.text(rank - 0.06, y, f"{name}  {rank:.2f}", ha="right", va="center")
    joined, y = -1, -0.25
    for i, rank in enumerate(ranks):
        last = int(np.flatnonzero(ranks <= rank + difference)[-1])
        if last > i and last > joined:
            ax.plot([rank, ranks[last]], [y, y], color="#d55e00", linewidth=3, alpha=0.8)
            joined, y = last, y - 0.15
    ax.plot([1, 1 + difference], [1, 1], color="#d55e00", linewidth=3, alpha=0.8)
    ax.text(1 + difference + 0.06, 1, f"critical difference {difference:.2f}", va="center")
    ax.set_title(fill(title, 45), loc="left", fontsize=10)
    ax.axis("off")


def draw(panels: dict[str, tuple[list[str], np.ndarray, float]], path: Path, **style) -> None:
    """Draw some sets of ranks below each other."""
    heights = [0.6 * (2.6 + pitch(names) * len(names)) for names, *_ in panels.values()]
    shape = {"figsize": (5.8, sum(heights)), "height_ratios": heights, "squeeze": False}
    with picture(path, len(panels), 1, layout=None, style=style, **shape) as (figure, axes):
        for ax, (title, panel) in zip(axes[:, 0], panels.items(), strict=True):
            draw_ranks(ax, *panel, title)
        figure.tight_layout()
