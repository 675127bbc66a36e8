"""The table and the picture of the ladder."""

from itertools import pairwise

from benchmarks.ladder.measuring import PEERS, RUNGS
from benchmarks.study.pictures import TEXT, picture
from benchmarks.study.tables import markdown


def of_sizes(rows) -> tuple[dict[int, str], dict[str, dict[int, float]]]:
    """Return the tables by their rows, and the seconds of rungs and peers, by name and rows."""
    sizes, seconds = {}, {}
    for row in rows:
        sizes[row["rows"]] = f"{row['rows']:,} x {row['columns']}"
        seconds.setdefault(row["rung"], {})[row["rows"]] = row["seconds"]
    return sizes, seconds


def ratio(above, below):
    """Write a ratio of times at the largest size that both have, nothing if there is none."""
    both = above.keys() & below.keys()
    return f"{above[max(both)] / below[max(both)]:.3g}" if both else ""


def table(rows) -> str:
    """List a line a rung, and what XGBoost takes."""
    sizes, seconds = of_sizes(rows)
    lines, before = [], {}
    for number, rung in enumerate(RUNGS, start=1):
        own = seconds[rung.name]
        link = f"[{number}](../benchmarks/ladder/{rung.name}.py)"
        times = [milliseconds(own.get(size)) for size in sizes]
        ratios = [ratio(other, own) for other in (before, *(seconds.get(p, {}) for p in PEERS))]
        lines.append([link, rung.idea, *times, *ratios])
        before = own
    for peer, name in PEERS.items():
        if peer in seconds:
            times = (milliseconds(seconds[peer].get(size)) for size in sizes)
            lines.append([name, "", *times, "", "", ""])
    heads = [f"{name}, ms a tree" for name in sizes.values()]
    peers = [f"{name} / it" for name in PEERS.values()]
    return markdown(["rung", "idea", *heads, "rung before / it", *peers], lines)


def milliseconds(seconds):
    """Write a time, a dash if there is none."""
    if seconds is None:
        return "-"
    return f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"


COLORS = ("#56B4E9", "#0072B2", "#1B2A49")
INK, LIGHT = "#333333", "#E6E6E6"


def draw(rows, path):
    """Draw a row a rung, time on a log scale, and a stair a size; below them what XGBoost takes."""
    sizes, seconds = of_sizes(rows)
    names = [rung.name.removeprefix("rung_").replace("_", " ") for rung in RUNGS]
    peers = {peer: len(RUNGS) + 0.3 + 0.8 * i for i, peer in enumerate(PEERS) if peer in seconds}
    with picture(path, style=TEXT, figsize=(5.6, 6)) as (_, ax):
        for k, ((size, label), color) in enumerate(zip(sizes.items(), COLORS, strict=True)):
            steps = [(seconds[rung.name].get(size), i) for i, rung in enumerate(RUNGS)]
            steps = [(time, i) for time, i in steps if time]
            draw_stair(ax, steps, label, color, -17 - 10 * (k % 2))
            for peer, height in peers.items():
                draw_peer(ax, seconds[peer][size], height, color)
        dress(ax, [*range(len(RUNGS)), *peers.values()], [*names, *map(PEERS.get, peers)])


def draw_stair(ax, steps, size, color, below):
    """Draw one size: a stair whose steps are as long as what a rung gains.

    Its last time is written ``below`` points under its foot; neighbouring feet are close.
    """
    for (x, i), (next_x, j) in pairwise(steps):
        ax.plot([x, next_x, next_x], [i, i, j], color=color, linewidth=1.6, alpha=0.55, zorder=1)
    ax.plot(*zip(*steps, strict=True), "o", color=color, markersize=7, zorder=2)
    (first, top), (last, bottom) = steps[0], steps[-1]
    note(ax, f"{size}\n{as_text(first)}", first, top, (0, 8), color)
    note(ax, as_text(last), last, bottom, (0, below), color)


def draw_peer(ax, seconds, height, color):
    """Draw what a peer takes, and a faint line upwards, to where a rung is as fast."""
    ax.plot(seconds, height, "D", color=color, markersize=6)
    ax.plot([seconds, seconds], [0, height], ":", color=color, linewidth=0.9, alpha=0.5, zorder=0)


def note(ax, text, x, y, offset, color):
    """Write something above or below a mark."""
    ax.annotate(
        text, (x, y), offset, textcoords="offset points", color=color, ha="center", fontsize=9
    )  # fmt: skip


def as_text(seconds):
    """Write a time in seconds or milliseconds."""
    return f"{seconds:,.0f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def dress(ax, heights, names):
    """Give the picture its axes."""
    ax.axhline(len(RUNGS) - 0.3, color=LIGHT, linewidth=0.8)
    ax.set_yticks(heights, names, fontsize=10)
    ax.set_ylim(max(heights) + 0.6, -1.1)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(
        lambda value, _: f"{value:,g} s" if value >= 1 else f"{1000 * value:g} ms"
    )
    ax.minorticks_off()
    ax.margins(x=0.1)
    ax.grid(axis="x", color=LIGHT, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="both", colors=INK, length=0)
    ax.set_xlabel("time a tree; dotted: where XGBoost is", color=INK)
    ax.set_title("The same tree, rung by rung", loc="left", color=INK)
