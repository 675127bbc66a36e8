"""The paper's Figure 1 in kind, and the notebook's mean ranks."""

from pathlib import Path

from benchmarks.papers.unbiased import example1, notebook
from benchmarks.papers.unbiased.models import TASKS
from benchmarks.study.pictures import picture
from benchmarks.study.tables import chosen, values_of

COLOURS = {"gain": "#d55e00", "unbiased": "#0072b2"}
SHOWN = {"gain": "total gain", "unbiased, symmetric": "unbiased gain"}


def example_1(rows, path: Path) -> None:
    """Draw a panel a model and importance: boxes of quartiles, whiskers from 5 % to 95 %."""
    settings = values_of(rows, "setting")
    keys = ("whislo", "q1", "med", "q3", "whishi")
    keys = dict(zip(keys, (f"q{q}" for q in example1.QUANTILES), strict=True))
    ticks = ["x1\n2 values\nuseful", "x2\n6 values", "x3\ncontinuous"]
    with picture(path, len(settings), 2, figsize=(5.8, 6)) as (_, axes):
        for line, setting in zip(axes, settings, strict=True):
            for ax, (method, label) in zip(line, SHOWN.items(), strict=True):
                found = chosen(rows, setting=setting, method=method)
                boxes = ax.bxp(
                    [{key: row[name] for key, name in keys.items()} for row in found],
                    showfliers=False, patch_artist=True, medianprops={"color": "black"},
                )  # fmt: skip
                for patch in boxes["boxes"]:
                    patch.set_facecolor(COLOURS[method.split(",")[0]])
                ax.plot([1, 2, 3], [row["mean"] for row in found], "D", color="white", mec="black")
                ax.axhline(0, color="0.5", linewidth=1)
                ax.set_xticks([1, 2, 3], ticks, fontsize=9)
                ax.set_ylabel(label)
                ax.set_title(setting, loc="left", fontsize=10)
                ax.spines[["top", "right"]].set_visible(False)


def ranks(rows, path: Path) -> None:
    """Draw the mean rank of every feature as the effect of one of them grows."""
    shape = {"figsize": (5.8, 6.4), "sharex": True, "sharey": True}
    with picture(path, 2, 2, **shape) as (_, axes):
        for line, task in zip(axes, TASKS, strict=True):
            for ax, method in zip(line, COLOURS, strict=True):
                draw_ranks(ax, chosen(rows, task=task, method=method), method)
                title = f"{task}, {SHOWN.get(method, 'unbiased gain')}"
                ax.set_title(title, loc="left", fontsize=10)
                ax.spines[["top", "right"]].set_visible(False)
        for ax in axes[:, 0]:
            ax.set_ylabel("mean rank, 5 the first")
        for ax in axes[-1]:
            ax.set_xlabel("effect of x2, rho")


def draw_ranks(ax, rows, method: str) -> None:
    """Draw a line a feature, and name those that can be told apart."""
    for feature, level in zip(notebook.FEATURES, ("", *notebook.LEVELS), strict=True):
        found = chosen(rows, feature=feature)
        is_informative = feature == notebook.INFORMATIVE
        ax.plot(
            notebook.RHO, [row["mean_rank"] for row in found],
            color=COLOURS[method] if is_informative else "0.6",
            linewidth=2.5 if is_informative else 1,
        )  # fmt: skip
        if method == "gain" or is_informative:
            # The line of x2 rises from below, so its name stands under the flat end.
            at, below = (-3, -14) if is_informative else (0, 3)
            ax.annotate(
                f"{feature} ({level or 'continuous'})", (notebook.RHO[at], found[at]["mean_rank"]),
                xytext=(3, below), textcoords="offset points", fontsize=8,
            )  # fmt: skip
    if method != "gain":
        ax.annotate("all others", (0.5, 2.7), fontsize=8)


def draw(tables: dict[str, list[dict]], folder: Path) -> None:
    """Draw ``unbiased_example1.svg`` and ``unbiased_ranks.svg``."""
    example_1(tables["example1"], folder / "unbiased_example1.svg")
    ranks(tables["ranks"], folder / "unbiased_ranks.svg")
