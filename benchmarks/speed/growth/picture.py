"""The picture of the page: time over every size, with exponents."""

from pathlib import Path

import numpy as np

from benchmarks.speed.growth.fit_time import exponent, is_upper, series_of
from benchmarks.speed.growth.tables import AXES, Axis
from benchmarks.study.pictures import TEXT, picture

BLUE, GREY, INK = "#0072B2", "#7A7A7A", "#333333"


def draw(rows, path: Path) -> None:
    """Draw one log-log panel an axis, exponents at the lines; the last panel explains."""
    with picture(path, 3, 2, style=TEXT, figsize=(5.8, 8)) as (_, panels):
        *panels, last = panels.flat
        for ax, axis in zip(panels, AXES, strict=True):
            for quantity, color, dashes in (("ranking", GREY, "--"), ("fit", BLUE, "-")):
                draw_line(ax, *series_of(rows, axis.name, quantity), color, dashes)
            dress(ax, axis, series_of(rows, axis.name, "fit")[0])
        explain(last)


def explain(ax) -> None:
    """Say in an empty panel what is drawn in the others."""
    ax.axis("off")
    words = (
        ("whole fit", BLUE),
        ("ranking the columns alone", GREY),
        ("numbers at the lines:\nexponents, slopes through\nthe filled points", INK),
    )
    for height, (text, color) in zip((0.8, 0.65, 0.3), words, strict=True):
        ax.text(0.05, height, text, color=color, fontsize=10)


def draw_line(ax, sizes, values, color, dashes) -> None:
    """Draw a series, filled points where it is fitted, with its exponent at the end."""
    upper = is_upper(sizes) if len(sizes) > 2 else np.ones(len(sizes), dtype=bool)
    ax.loglog(sizes, values, dashes, color=color, linewidth=1.5)
    ax.plot(sizes[upper], values[upper], "o", markersize=4, color=color)
    ax.plot(sizes[~upper], values[~upper], "o", markersize=4, color=color, markerfacecolor="white")
    slope = exponent(sizes[upper], values[upper])
    ax.annotate(
        f"{slope:.2f}".replace("-", "\u2212"), (sizes[-1], values[-1]), (6, 0),
        textcoords="offset points", color=color, va="center", fontsize=9,
    )  # fmt: skip


def dress(ax, axis: Axis, sizes) -> None:
    """Give a panel its labels."""
    from matplotlib.ticker import LogLocator

    ax.set_title(f"{axis.name}\n", loc="left", fontsize=11, color=INK)
    ax.text(0, 1.04, axis.constant, transform=ax.transAxes, fontsize=8, color=INK)
    ax.set_ylabel("seconds", color=INK, fontsize=9)
    ticks = [sizes[0]]
    for size in sizes:  # where there is room for a number
        if np.log(size / ticks[-1]) > 0.3 * np.log(sizes[-1] / sizes[0]):
            ticks.append(size)
    ax.set_xticks(ticks, [f"{size:,}" for size in ticks])
    ax.margins(x=0.16)
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=(1,) if high > 50 * low else (1, 2, 5)))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.minorticks_off()
    ax.grid(color="#E6E6E6", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK, labelsize=8)
