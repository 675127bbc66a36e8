"""What flagged intervals cover, what the others cover, and what the bootstrap-t mends.

A model of 1,000 rows; contributions of 100,000 fresh rows are the population; tables of 300 and of
1,000 rows are drawn from it, and the bootstrap is tried on the smaller ones. A feature is flagged
by the kurtosis of its contributions to the training rows over the number of rows of a table.

``guard``        the paper's design, in all settings of ``benchmarks.papers.inference.paper``
``guard-other``  real tables, of which all rows that are not fitted on are the population, and
                 lognormal noise
"""

import numpy as np

from attributions import partial_inner_rows, tree_inner_rows
from attributions.methods import facts_of
from benchmarks.papers.inference import judging
from benchmarks.papers.inference.judging import MEASURES
from benchmarks.papers.inference.paper import SETTINGS, Setting, Source, drawn_table, fit
from benchmarks.study import Part, crossed, data
from benchmarks.study.tables import by_values, column, markdown

N_TRAIN = 1000
LIMIT = facts_of("tree_inner").kurtosis_limit
ROWS = {"tree_inner": tree_inner_rows, "partial_inner": partial_inner_rows}
DRAWN = {"full": {300: 300, 1000: 300}, "quick": {30: 3, 400: 2}}
MOST_RESAMPLED = 300
INTERVALS = ("normal", "bootstrap-t")
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
    fresh = source.draw(100_000 if size == "full" else 1000, rng)
    yield from judged(model, (X, y), fresh, rng, size)


def of_other(cell, rng, size):
    """Judge a model of some rows of a real table by all others."""
    if cell["setting"] == SKEWED.name:
        yield from of_design(cell, rng, size)
        return
    X, y, is_class = data.drawn(cell["setting"], rng, None)
    n = N_TRAIN if size == "full" else 60
    model = judging.model(size, is_class, 200, max_depth=4).fit(X[:n], y[:n])
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
            is_resampled = n_rows <= MOST_RESAMPLED
            covered = count(population, n_rows, n_draws, rng, is_resampled)
            for k in range(len(used)):
                yield {
                    "method": method,
                    "n_rows": n_rows,
                    "feature": int(used[k]) + 1,
                    "kurtosis": float(kurtosis[k]),
                    "n_draws": n_draws,
                    **{name: int(of[k]) for name, of in covered.items()},
                    "n_resampled": n_draws * is_resampled,
                }


def count(population, n_rows, n_draws, rng, is_resampled) -> dict[str, np.ndarray]:
    """Return, feature by feature, how many intervals contain the expectation."""
    expectation = n_rows * population.mean(axis=0)
    covered = {name: np.zeros(population.shape[1], int) for name in (*INTERVALS, "infinite")}
    for draw in range(n_draws):
        result = drawn_table(population, n_rows, rng)
        for method in INTERVALS if is_resampled else INTERVALS[:1]:
            low, high = result.confidence_interval(method=method, random_state=draw).T
            covered[method] += (low <= expectation) & (expectation <= high)
        covered["infinite"] += np.isinf(low)
    return covered


def table(rows) -> str:
    """Coverage of flagged and of other features, by number of rows and measure."""
    lines = []
    for (n_rows, method), found in by_values(rows, "n_rows", "method"):
        flagged = [row for row in found if row["kurtosis"] > LIMIT * n_rows]
        others = [row for row in found if not row["kurtosis"] > LIMIT * n_rows]
        for words, part in (("not flagged", others), ("flagged", flagged)):
            if part:
                lines.append([n_rows, f"`{method}`", words, *coverage_cells(part)])
    names = ["rows", "measure", "features", "cases", "normal: mean (worst)", "cases below .90"]
    return markdown([*names, "bootstrap-t: mean (worst)", "cases below .90", "infinite"], lines)


def coverage_cells(rows) -> list[str]:
    """Return number of cases, and for both intervals mean, worst, and how many cover too rarely."""
    cells = [str(len(rows))]
    for method, drawn in (("normal", "n_draws"), ("bootstrap-t", "n_resampled")):
        n_draws = column(rows, drawn)
        if not n_draws.any():
            return [*cells, "-", "-", "-"]
        c = column(rows, method) / n_draws
        cells += [f"{c.mean():.3f} ({c.min():.3f})", str(int((c < LEAST).sum()))]
    return [*cells, f"{sum(row['infinite'] for row in rows) / n_draws.sum():.3f}"]


PARTS = (
    Part("guard", crossed(setting=[setting.name for setting in SETTINGS]), of_design, 1, table),
    Part("guard-other", crossed(setting=(*REAL, SKEWED.name)), of_other, 5, table, needs=REAL),
)
