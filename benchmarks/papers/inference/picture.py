"""The picture of the page: coverage, false positives and power, a line a setting."""

from attributions.plots import BLUE, GREY, INK, VERMILION
from benchmarks.papers.inference.gates import coverage_of_features, rates
from benchmarks.papers.inference.judging import P_VALUE
from benchmarks.papers.inference.paper import LEVEL
from benchmarks.study.pictures import picture
from benchmarks.study.tables import chosen, values_of

SKY = "#56B4E9"
TESTS = {"tree_inner": (BLUE, -0.13), "partial_inner": (VERMILION, 0.13)}  # color, height


def draw(tables, path):
    """Draw coverage, false positives and power, a line a setting."""
    coverage = coverage_of_features(tables["coverage"])
    settings, sizes = (values_of(tables["coverage"], name) for name in ("setting", "n_rows"))
    style = {"font.size": 9, "legend.frameon": False}
    with picture(path, style=style, figsize=(5.6, 8)) as (figure, _):
        figure.clear()
        above, below = figure.subfigures(2, 1)
        intervals = above.subplots()
        noise, power = below.subplots(1, 2, sharey=True)
        _draw_coverage(intervals, coverage, settings, sizes)
        tested = [name for name in settings if chosen(tables["tests"], setting=name)]
        _draw_rates(noise, tables, tested, "noise, p < .05")
        noise.axvline(P_VALUE, color=GREY, linewidth=0.8, zorder=0)
        noise.set(xlim=(0, 0.1), xlabel="noise features with p < 0.05")
        noise.set(yticks=range(len(tested)), yticklabels=tested, ylim=(len(tested) - 0.4, -0.6))
        _draw_rates(power, tables, tested, "power, BH")
        power.set(xlim=(-0.03, 1.03), xlabel="relevant features found")
        for part, axes in ((above, intervals), (below, noise)):
            part.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        for axes in (intervals, noise, power):
            axes.grid(axis="x", color="#EEEEEE")
            axes.set_axisbelow(True)
            axes.spines[["top", "right", "left"]].set_visible(False)
            axes.tick_params(axis="y", length=0)


def _draw_coverage(axes, coverage, settings, sizes):
    """Draw the mean over features as a point, the way to the worst feature as a line."""
    lowest = 0.84
    for k, (n_rows, color) in enumerate(zip(sizes, (SKY, BLUE, INK), strict=False)):
        for line, setting in enumerate(settings):
            features = coverage[setting, n_rows]
            height = line + 0.22 * (k - (len(sizes) - 1) / 2)
            worst = max(features.min(), lowest)
            axes.plot([worst, features.mean()], [height] * 2, color=color, linewidth=1)
            if features.min() < lowest:
                axes.plot(lowest, height, marker="<", color=color, markersize=4, clip_on=False)
            label = f"{n_rows} rows" if line == 0 else None
            axes.plot(features.mean(), height, "o", color=color, markersize=4, label=label)
    axes.axvspan(0.94, 0.96, color="#F1F1F1", zorder=0)
    axes.axvline(LEVEL, color=GREY, linewidth=0.8, zorder=0)
    axes.set(
        yticks=range(len(settings)),
        yticklabels=settings,
        ylim=(len(settings) - 0.4, -0.6),
        xlim=(lowest, 0.965),
        xlabel="coverage of 95 % intervals",
    )


def _draw_rates(axes, tables, settings, rate):
    """Draw one rate of both tests with two simulation errors either way."""
    for method, (color, shift) in TESTS.items():
        for line, setting in enumerate(settings):
            found = rates(tables["tests"], method, [setting])[rate]
            axes.errorbar(
                found.value, line + shift, xerr=2 * found.error, fmt="o", color=color, markersize=4,
                elinewidth=1, label=method if line == 0 else None,
            )  # fmt: skip
