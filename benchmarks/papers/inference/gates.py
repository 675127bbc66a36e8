"""What the tables of the paper's design say, and what must hold there."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.papers.inference import nulls, paper
from benchmarks.papers.inference.judging import FALSE_DISCOVERY_RATE, as_code
from benchmarks.papers.inference.paper import COUNTED, METHODS, SETTINGS
from benchmarks.study import NumberedPart, crossed
from benchmarks.study.claims import Claim, summary
from benchmarks.study.tables import by_values, column, markdown, mean_and_error, values_of

PAPER = ("coverage", "tests")  # the parts that gates are about
MOST_FALSE = 0.06  # share of features of noise with p < 0.05


@dataclass(frozen=True)
class Estimate:
    """A mean over independent replications and its simulation error."""

    value: float
    error: float

    @classmethod
    def of(cls, values):
        """Average."""
        return cls(*map(float, mean_and_error(values)))

    def __str__(self):
        return f"{self.value:.3f} ({self.error:.3f})"


def coverage_of_features(rows):
    """Return {(setting, n_rows): coverage of every used feature}."""
    return {
        cell: column(own, "n_covered") / column(own, "n_draws")
        for cell, own in by_values(rows, "setting", "n_rows")
    }


def rates(rows, method, setting_names):
    """Return what one method does over all data sets of some settings, name: `Estimate`."""
    own = [r for r in rows if r["method"] == method and r["setting"] in setting_names]
    count = {name: column(own, name).astype(float) for name in COUNTED}
    n_discovered = count["discovered_noise"] + count["discovered_relevant"]
    return {
        "FDR": Estimate.of(count["discovered_noise"] / np.maximum(n_discovered, 1)),
        "power, BH": Estimate.of(count["discovered_relevant"] / count["n_relevant"]),
        "noise, p < .05": Estimate.of(count["single_noise"] / count["n_noise"]),
        "relevant, p < .05": Estimate.of(count["single_relevant"] / count["n_relevant"]),
        "noise, E/s.e.": Estimate.of(count["location_noise"]),
        "relevant, E/s.e.": Estimate.of(count["location_relevant"]),
    }


def gate(statement: str, case: str, margin: float) -> Claim:
    """Claim that a number is no further than its bound."""
    return Claim(statement, case, float(margin), at_zero=True)


def gates(tables) -> list[Claim]:
    """Return what must hold: at the paper's number of trees, without heavy tails."""
    found = []
    for (setting, n_rows), coverage in coverage_of_features(tables["coverage"]).items():
        if setting in GATED and n_rows >= 1000:
            mean = f"{n_rows:,} rows: mean coverage is 0.94 to 0.96"
            worst = f"{n_rows:,} rows: the worst feature is covered in 0.92 or more"
            found += [
                gate(mean, setting, 0.01 - abs(coverage.mean() - 0.95)),
                gate(worst, setting, coverage.min() - 0.92),
            ]
    pooled = rates(tables["tests"], "tree_inner", GATED)["FDR"].value
    words = f"the pooled FDR of tree_inner is at most {FALSE_DISCOVERY_RATE}"
    return [
        *sorted(found, key=lambda claim: claim.statement),
        gate(words, "all settings", FALSE_DISCOVERY_RATE - pooled),
        *gates_of_nulls(tables.get("nulls", [])),
    ]


def gates_of_nulls(rows) -> Iterator[Claim]:
    """Yield that noise is found seldom enough in every cell, however y is distributed."""
    names = ("X", "y", "lambda", "depth")
    for (method, *values), own in by_values(rows, "method", *names):
        if method in nulls.GATED:
            cell = ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
            rate = column(own, "false").sum() / column(own, "n_null").sum()
            words = f"{method} finds at most {MOST_FALSE} of noise where there is nothing else"
            yield gate(words, cell, MOST_FALSE - rate)


def coverage_table(rows) -> str:
    """Coverage of every model: mean and worst feature for every n."""
    coverage = coverage_of_features(rows)
    sizes = list(dict.fromkeys(n_rows for _, n_rows in coverage))
    lines = []
    for (setting,), own in by_values(rows, "setting"):
        cells, peaks = [coverage[setting, n_rows] for n_rows in sizes], column(own, "kurtosis")
        shown = [f"{features.mean():.3f} ({features.min():.3f})" for features in cells]
        lines.append([setting, len(cells[0]), *shown, f"{np.median(peaks):.0f}, {max(peaks):.0f}"])
    names = [f"{n_rows} rows" for n_rows in sizes]
    return markdown(["model", "used features", *names, "kurtosis: median, largest"], lines)


def kurtosis_table(rows) -> str:
    """Coverage of all features of all models by how heavy the tails of their rows are."""
    edges = (0.0, 0.01, 0.1, 1.0, np.inf)
    ratio, coverage = (
        column(rows, part) / column(rows, whole)
        for part, whole in (("kurtosis", "n_rows"), ("n_covered", "n_draws"))
    )
    lines = []
    for low, high in pairwise(edges):
        inside = (low <= ratio) & (ratio < high)
        if inside.any():
            words = f"{low:g} to {high:g}" if np.isfinite(high) else f"above {low:g}"
            chosen = coverage[inside]
            lines.append([words, inside.sum(), f"{chosen.mean():.3f}", f"{chosen.min():.3f}"])
    return markdown(["kurtosis / held-out rows", "cases", "mean coverage", "worst"], lines)


def tests_table(rows) -> str:
    """Rates of all tests, setting by setting and pooled."""
    gated, lines = values_of(rows, "setting"), []
    for words, names in [*((name, [name]) for name in gated), ("**all**", gated)]:
        for method in METHODS:
            found = rates(rows, method, names)
            lines.append([words, as_code(method), *found.values()])
    return markdown(["setting", "test", *found], lines)


def sections(tables: dict[str, list[dict]]) -> dict[str, str]:
    """Return the tables beside those of the parts."""
    found = {"kurtosis": kurtosis_table(tables["coverage"])} if "coverage" in tables else {}
    return found | ({"gates": summary(gates(tables))} if set(PAPER) <= set(tables) else {})


def verdict(tables: dict[str, list[dict]]) -> tuple[list[str], int]:
    """Return every gate with its margin, and 1 if one of them does not hold."""
    found = gates(tables) if set(PAPER) <= set(tables) else []
    lines = [f"{c.holds!s:5} margin {c.margin:7.4f}  {c.statement}: {c.case}" for c in found]
    return lines, 0 if all(claim.holds for claim in found) else 1


NAMES = [setting.name for setting in SETTINGS]
GATED = [setting.name for setting in SETTINGS if setting.is_gated]
PARTS = (
    NumberedPart("coverage", crossed(setting=NAMES), paper.coverage_of_model, 1, coverage_table),
    NumberedPart("tests", crossed(setting=GATED), paper.tests_of_data_set, 80, tests_table),
)
