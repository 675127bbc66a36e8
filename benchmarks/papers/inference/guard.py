"""What flagged intervals cover, what the others cover, and what the bootstrap-t mends.

A model of 1,000 rows; contributions of 100,000 fresh rows are the population; tables of 300 and of
1,000 rows are drawn from it, and the bootstrap is tried on the smaller ones. A feature is flagged
by the kurtosis of its contributions to the training rows over the number of rows of a table.

``guard``        the paper's design, in all settings of ``benchmarks.papers.inference.paper``
``guard-other``  real tables, of which all rows that are not fitted on are the population, and
                 lognormal noise
"""

import numpy as np

from attributions import GlobalAttribution, LocalAttribution, partial_inner_rows, tree_inner_rows
from attributions.statistics.kurtosis import LIMIT
from benchmarks.papers.inference import judging
from benchmarks.papers.inference.judging import MEASURES
from benchmarks.papers.inference.paper import SETTINGS, Setting, Source, fit
from benchmarks.study import data
from benchmarks.study.part import Part
from benchmarks.study.tables import chosen, markdown, values_of

N_TRAIN = 1000
ROWS = {"tree_inner": tree_inner_rows, "partial_inner": partial_inner_rows}
DRAWN = {"full": {300: 300, 1000: 300}, "quick": {30: 3, 400: 2}}
MOST_RESAMPLED = 300
LEAST = 0.90
SKEWED = Setting("regression, .3, lognormal", "regression", 0.3)
REAL = ("bike_kaggle_train", "jm1", "magic_telescope")


class Skewed(Source):
    """A source whose noise is lognormal, of mean 0."""

    def _unit_noise(self, n_rows, rng):
        return (rng.lognormal(size=n_rows) - np.exp(0.5)) / np.sqrt(np.e**2 - np.e)


def of_design(cell, rng, size):
    """Judge a model of simulated rows by fresh ones."""
    setting = next(s for s in (*SETTINGS, SKEWED) if s.name == cell["setting"])
    source = (Skewed if setting is SKEWED else Source).drawn(setting, rng)
    X, y = source.draw(N_TRAIN, rng)
    model = fit(setting, X, y, 400 if size == "full" else 5)
    yield from judged(
        model, (X, y), source.draw(100_000 if size == "full" else 1000, rng), rng, size
    )


def of_other(cell, rng, size):
    """Judge a model of some rows of a real table by all others."""
    if cell["setting"] == SKEWED.name:
        yield from of_design(cell, rng, size)
        return
    X, y, is_class = data.drawn(cell["setting"], rng, None)
    kind = judging.classifier if is_class else judging.regressor
    n = N_TRAIN if size == "full" else 60
    model = kind(size, max_depth=4, n_estimators=200).fit(X[:n], y[:n])
    yield from judged(model, (X[:n], y[:n]), (X[n:], y[n:]), rng, size)


def judged(model, training, fresh, rng, size):
    """Count how often intervals of a model's features contain the truth, the mean of fresh rows."""
    X_fresh, y_fresh = fresh
    used = np.unique(model.ensemble_.feature[model.ensemble_.feature >= 0])
    for method, rows_of in ROWS.items():
        population = rows_of(model, X_fresh, y_fresh, n_jobs=1).values[:, used]
        few = MEASURES[method](model, X_fresh[:2], y_fresh[:2], training=training, n_jobs=1)
        kurtosis = few.kurtosis[used]
        for n_rows, n_draws in DRAWN[size].items():
            covered = count(population, n_rows, n_draws, rng)
            for k in range(len(used)):
                yield {
                    "method": method,
                    "n_rows": n_rows,
                    "feature": int(used[k]) + 1,
                    "kurtosis": float(kurtosis[k]),
                    "n_draws": n_draws,
                    "normal": int(covered["normal"][k]),
                    "bootstrap-t": int(covered["bootstrap-t"][k]),
                    "infinite": int(covered["infinite"][k]),
                    "n_resampled": n_draws * (n_rows <= MOST_RESAMPLED),
                }


def count(population, n_rows, n_draws, rng) -> dict[str, np.ndarray]:
    """Return, feature by feature, how many intervals contain the expectation."""
    expectation = n_rows * population.mean(axis=0)
    names = tuple(map(str, range(population.shape[1])))
    covered = {name: np.zeros(len(names), int) for name in ("normal", "bootstrap-t", "infinite")}
    methods = ("normal", "bootstrap-t") if n_rows <= MOST_RESAMPLED else ("normal",)
    for draw in range(n_draws):
        table = population[rng.integers(len(population), size=n_rows)]
        rows = LocalAttribution(table, np.zeros(n_rows), names, "tree_inner(predecomp)")
        result = GlobalAttribution.from_rows(rows)
        for method in methods:
            low, high = result.confidence_interval(method=method, random_state=draw).T
            covered[method] += (low <= expectation) & (expectation <= high)
        covered["infinite"] += np.isinf(low)
    return covered


def table(rows) -> str:
    """Coverage of flagged and of other features, by number of rows and measure."""
    lines = []
    for n_rows in values_of(rows, "n_rows"):
        for method in ROWS:
            found = chosen(rows, n_rows=n_rows, method=method)
            flagged = np.array([row["kurtosis"] > LIMIT * n_rows for row in found])
            for words, inside in (("not flagged", ~flagged), ("flagged", flagged)):
                if inside.any():
                    of_part = [row for row, is_in in zip(found, inside, strict=True) if is_in]
                    lines.append([n_rows, f"`{method}`", words, *coverage_cells(of_part)])
    names = ["rows", "measure", "features", "cases", "normal: mean (worst)", "cases below .90"]
    return markdown([*names, "bootstrap-t: mean (worst)", "cases below .90", "infinite"], lines)


def coverage_cells(rows) -> list[str]:
    """Return number of cases, and for both intervals mean, worst, and how many cover too rarely."""
    cells = [str(len(rows))]
    for method, drawn in (("normal", "n_draws"), ("bootstrap-t", "n_resampled")):
        n_draws = np.array([row[drawn] for row in rows])
        if not n_draws.any():
            return [*cells, "-", "-", "-"]
        c = np.array([row[method] for row in rows]) / n_draws
        cells += [f"{c.mean():.3f} ({c.min():.3f})", str(int((c < LEAST).sum()))]
    return [*cells, f"{sum(row['infinite'] for row in rows) / n_draws.sum():.3f}"]


PART = Part("guard", tuple({"setting": setting.name} for setting in SETTINGS), of_design, 1, table)
OTHER = Part(
    "guard-other",
    tuple({"setting": name} for name in (*REAL, SKEWED.name)),
    of_other,
    5,
    table,
    needs=REAL,
)
