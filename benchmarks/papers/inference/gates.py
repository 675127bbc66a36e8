"""What the tables of the paper's design say, and what must hold there."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.papers.inference import nulls
from benchmarks.papers.inference.judging import FALSE_DISCOVERY_RATE, as_code
from benchmarks.papers.inference.paper import COUNTED, METHODS, SETTINGS
from benchmarks.study.tables import markdown

MOST_FALSE = 0.06  # share of features of noise with p < 0.05


@dataclass(frozen=True)
class Estimate:
    """A mean over independent replications and its simulation error."""

    value: float
    error: float

    @classmethod
    def of(cls, values):
        """Average."""
        values = np.asarray(values, dtype=float)
        return cls(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))

    def __str__(self):
        return f"{self.value:.3f} ({self.error:.3f})"


def coverage_of_features(rows):
    """Return {(setting, n_rows): coverage of every used feature}."""
    coverage = {}
    for row in rows:
        key = row["setting"], row["n_rows"]
        coverage.setdefault(key, []).append(row["n_covered"] / row["n_draws"])
    return {key: np.array(features) for key, features in coverage.items()}


def rates(rows, method, setting_names):
    """Return what one method does over all data sets of some settings, name: `Estimate`."""
    chosen = [r for r in rows if r["method"] == method and r["setting"] in setting_names]
    count = {name: np.array([r[name] for r in chosen], dtype=float) for name in COUNTED}
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
    gated = [setting.name for setting in SETTINGS if setting.is_gated]
    found = []
    for (setting, n_rows), coverage in coverage_of_features(tables["coverage"]).items():
        if setting in gated and n_rows >= 1000:
            rows = f"{n_rows} rows"
            found += [
                Gate(f"mean coverage, {rows}", setting, coverage.mean(), 0.94, 0.96),
                Gate(f"worst feature, {rows}", setting, coverage.min(), 0.92, 1.0),
            ]
    pooled = rates(tables["tests"], "tree_inner", gated)["FDR"].value
    return [
        *sorted(found, key=lambda gate: gate.kind),
        Gate("pooled FDR of tree_inner", "all settings", pooled, 0.0, FALSE_DISCOVERY_RATE),
        *gates_of_nulls(tables.get("nulls", [])),
    ]


def gates_of_nulls(rows):
    """Return that noise is found seldom enough in every cell, however y is distributed."""
    counts = {}
    for row in rows:
        if row["method"] in nulls.GATED:
            cell = ", ".join(f"{name} {row[name]}" for name in ("X", "y", "lambda", "depth"))
            n_false, n_null = counts.get((row["method"], cell), (0, 0))
            counts[row["method"], cell] = n_false + row["false"], n_null + row["n_null"]
    return [
        Gate(f"noise found by {method}, global nulls", cell, n_false / n_null, 0.0, MOST_FALSE)
        for (method, cell), (n_false, n_null) in sorted(counts.items(), reverse=True)
    ]


def coverage_table(tables):
    """Coverage of every model: mean and worst feature for every n."""
    coverage = coverage_of_features(tables["coverage"])
    sizes = list(dict.fromkeys(n_rows for _, n_rows in coverage))
    kurtosis = {}
    for row in tables["coverage"]:
        kurtosis.setdefault(row["setting"], []).append(row["kurtosis"])
    rows = []
    for setting, peaks in kurtosis.items():
        cells = [coverage[setting, n_rows] for n_rows in sizes]
        rows.append(
            [setting, len(cells[0])]
            + [f"{features.mean():.3f} ({features.min():.3f})" for features in cells]
            + [f"{np.median(peaks):.0f}, {max(peaks):.0f}"]
        )
    names = [f"{n_rows} rows" for n_rows in sizes]
    return markdown(["model", "used features", *names, "kurtosis: median, largest"], rows)


def kurtosis_table(tables):
    """Coverage of all features of all models by how heavy the tails of their rows are."""
    edges = (0.0, 0.01, 0.1, 1.0, np.inf)
    ratio = np.array([row["kurtosis"] / row["n_rows"] for row in tables["coverage"]])
    coverage = np.array([row["n_covered"] / row["n_draws"] for row in tables["coverage"]])
    rows = []
    for low, high in pairwise(edges):
        inside = (low <= ratio) & (ratio < high)
        if inside.any():
            words = f"{low:g} to {high:g}" if np.isfinite(high) else f"above {low:g}"
            chosen = coverage[inside]
            rows.append([words, inside.sum(), f"{chosen.mean():.3f}", f"{chosen.min():.3f}"])
    return markdown(["kurtosis / held-out rows", "cases", "mean coverage", "worst"], rows)


def tests_table(tables):
    """Rates of all tests, setting by setting and pooled."""
    gated = list(dict.fromkeys(row["setting"] for row in tables["tests"]))
    rows = []
    for words, names in [*((name, [name]) for name in gated), ("**all**", gated)]:
        for method in METHODS:
            found = rates(tables["tests"], method, names)
            rows.append([words, as_code(method), *found.values()])
    return markdown(["setting", "test", *found], rows)


def gates_table(tables):
    """Gates of one kind in one line."""
    kinds = {}
    for gate in gates(tables):
        kinds.setdefault(gate.kind, []).append(gate)
    rows = [
        [
            kind,
            f"{min(g.value for g in members):.4f} to {max(g.value for g in members):.4f}",
            f"{members[0].low:g} to {members[0].high:g}",
            f"{sum(g.holds for g in members)} of {len(members)}",
            f"{min(g.margin for g in members):.4f}",
        ]
        for kind, members in kinds.items()
    ]
    return markdown(["gate", "found", "needed", "holds", "least margin"], rows)
