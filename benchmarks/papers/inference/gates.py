"""What the tables of the paper's design say, and what must hold there."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.papers.inference import nulls, paper
from benchmarks.papers.inference.judging import FALSE_DISCOVERY_RATE, as_code
from benchmarks.papers.inference.paper import COUNTED, METHODS, SETTINGS
from benchmarks.study import NumberedPart, crossed
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


@dataclass(frozen=True)
class Gate:
    """A number that must lie between two others."""

    kind: str
    case: str
    value: float
    low: float
    high: float

    @property
    def margin(self):
        """Distance to the nearer bound; below 0 outside."""
        return min(self.value - self.low, self.high - self.value)

    @property
    def holds(self):
        """Whether the number is where it must be."""
        return bool(self.margin >= 0)


def gates(tables):
    """Return what must hold: at the paper's number of trees, without heavy tails."""
    found = []
    for (setting, n_rows), coverage in coverage_of_features(tables["coverage"]).items():
        if setting in GATED and n_rows >= 1000:
            rows = f"{n_rows} rows"
            found += [
                Gate(f"mean coverage, {rows}", setting, coverage.mean(), 0.94, 0.96),
                Gate(f"worst feature, {rows}", setting, coverage.min(), 0.92, 1.0),
            ]
    pooled = rates(tables["tests"], "tree_inner", GATED)["FDR"].value
    return [
        *sorted(found, key=lambda gate: gate.kind),
        Gate("pooled FDR of tree_inner", "all settings", pooled, 0.0, FALSE_DISCOVERY_RATE),
        *gates_of_nulls(tables.get("nulls", [])),
    ]


def gates_of_nulls(rows):
    """Return that noise is found seldom enough in every cell, however y is distributed."""
    names, found = ("X", "y", "lambda", "depth"), []
    for (method, *values), own in by_values(rows, "method", *names):
        if method in nulls.GATED:
            cell = ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
            rate = column(own, "false").sum() / column(own, "n_null").sum()
            kind = f"noise found by {method}, global nulls"
            found.append(Gate(kind, cell, rate, 0.0, MOST_FALSE))
    return sorted(found, key=lambda gate: (gate.kind, gate.case), reverse=True)


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


def gates_table(tables):
    """Gates of one kind in one line."""
    rows, found = [], gates(tables)
    for kind in dict.fromkeys(gate.kind for gate in found):
        members = [gate for gate in found if gate.kind == kind]
        values = [gate.value for gate in members]
        needed = f"{members[0].low:g} to {members[0].high:g}"
        holds = f"{sum(gate.holds for gate in members)} of {len(members)}"
        least = f"{min(gate.margin for gate in members):.4f}"
        rows.append([kind, f"{min(values):.4f} to {max(values):.4f}", needed, holds, least])
    return markdown(["gate", "found", "needed", "holds", "least margin"], rows)


def sections(tables: dict[str, list[dict]]) -> dict[str, str]:
    """Return the tables beside those of the parts."""
    found = {"kurtosis": kurtosis_table(tables["coverage"])} if "coverage" in tables else {}
    return found | ({"gates": gates_table(tables)} if set(PAPER) <= set(tables) else {})


def verdict(tables: dict[str, list[dict]]) -> tuple[list[str], int]:
    """Return every gate with its margin, and 1 if one of them does not hold."""
    found = gates(tables) if set(PAPER) <= set(tables) else []
    lines = [f"{g.holds!s:5} margin {g.margin:7.4f}  {g.kind}: {g.case}" for g in found]
    return lines, 0 if all(gate.holds for gate in found) else 1


NAMES = [setting.name for setting in SETTINGS]
GATED = [setting.name for setting in SETTINGS if setting.is_gated]
PARTS = (
    NumberedPart("coverage", crossed(setting=NAMES), paper.coverage_of_model, 1, coverage_table),
    NumberedPart("tests", crossed(setting=GATED), paper.tests_of_data_set, 80, tests_table),
)
