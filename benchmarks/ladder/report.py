"""The table and the picture, both made from benchmarks/results/ladder.json."""

import ast
import io
import tokenize
from itertools import pairwise
from pathlib import Path

from benchmarks.ladder.measuring import PEERS, RUNGS, SIZES
from benchmarks.study.pictures import TEXT, picture

ROOT = Path(__file__).parents[2]
OF_SIZES = [f"{size}, ms a tree" for size in SIZES]
HEADER = ("rung", "idea", "lines, own (all)", *OF_SIZES, "rung before / it", "XGBoost exact / it",
          "XGBoost hist / it")  # fmt: skip
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
NO_CODE |= {tokenize.ENDMARKER, tokenize.ENCODING}


def code_lines(path):
    """Return how many lines of a file are code: not empty, no comment, no docstring."""
    text = path.read_text()
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        is_documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if is_documented and ast.get_docstring(node):
            lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def path_of(module):
    """Return the file of a module of ours, None for others."""
    stem = ROOT / module.replace(".", "/")
    candidates = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((path for path in candidates if path.exists()), None)


def files_used_by(module):
    """Return the files of a module and of all of ours that it imports, directly or through others.

    What every rung is given, its problem, does not count.
    """
    found, waiting = set(), [module]
    while waiting:
        path = path_of(waiting.pop())
        if path is None or path in found or path.name == "problems.py":
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                waiting.extend(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                waiting.append(node.module)
                waiting.extend(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def ratio(above, below):
    """Write a ratio of times at the largest size that both have, nothing if there is none."""
    for size in reversed([str(size) for size in SIZES]):
        if size in above and size in below:
            return f"{above[size] / below[size]:.3g}"
    return ""


def lines_of_rungs():
    """Return for every rung how many lines of code its file has, and all that it uses."""
    modules = {rung.name: f"benchmarks.ladder.{rung.name}" for rung in RUNGS}
    return {
        name: [code_lines(path_of(module)), sum(map(code_lines, files_used_by(module)))]
        for name, module in modules.items()
    }


def table(seconds, lines_of):
    """Return the lines of the table.

    ``seconds`` are by name of rung or peer, then by size; ``lines_of`` is by name of rung.
    """
    lines = [HEADER, ["---"] * len(HEADER)]
    before = {}
    for number, rung in enumerate(RUNGS, start=1):
        own, (n_own, n_all) = seconds[rung.name], lines_of[rung.name]
        link = f"[{number}](../benchmarks/ladder/{rung.name}.py)"
        times = [milliseconds(own.get(str(size))) for size in SIZES]
        ratios = [ratio(other, own) for other in (before, *(seconds.get(p, {}) for p in PEERS))]
        lines.append([link, rung.idea, f"{n_own:,} ({n_all:,})", *times, *ratios])
        before = own
    for peer, name in PEERS.items():
        if peer in seconds:
            times = (milliseconds(seconds[peer].get(str(size))) for size in SIZES)
            lines.append([name, "", "", *times, "", "", ""])
    return ["| " + " | ".join(line) + " |" for line in lines]


def milliseconds(seconds):
    """Write a time, a dash if there is none."""
    if seconds is None:
        return "-"
    return f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"


COLORS = ("#56B4E9", "#0072B2", "#1B2A49")
INK, LIGHT = "#333333", "#E6E6E6"


def draw(seconds, path):
    """Draw a row a rung, time on a log scale, and a stair a size; below them what XGBoost takes."""
    names = [rung.name.removeprefix("rung_").replace("_", " ") for rung in RUNGS]
    peers = {peer: len(RUNGS) + 0.3 + 0.8 * i for i, peer in enumerate(PEERS) if peer in seconds}
    with picture(path, style=TEXT, figsize=(5.6, 6)) as (_, ax):
        for k, (size, color) in enumerate(zip(map(str, SIZES), COLORS, strict=True)):
            steps = [(seconds[rung.name].get(size), i) for i, rung in enumerate(RUNGS)]
            steps = [(time, i) for time, i in steps if time]
            if steps:
                draw_stair(ax, steps, size, color, -17 - 10 * (k % 2))
            for peer, height in peers.items():
                if size in seconds[peer]:
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
