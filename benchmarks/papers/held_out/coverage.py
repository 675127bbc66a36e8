"""Intervals: how often they contain the population's value, and whether errors are of true size.

A model of 500 rows is judged on 50,000 new ones, which are the population, and then on many draws
of 100, 300 and 1,000 rows. Two columns matter; there are two normal columns of noise, one of 5
levels and one of 100.
"""

import numpy as np
import pandas as pd

from attributions import held_out_gain
from benchmarks.papers.held_out.noise import noise_columns
from benchmarks.papers.held_out.targets import TARGETS
from benchmarks.study import Part, crossed
from benchmarks.study.tables import by_values, chosen, markdown

N_FIT, N_POPULATION, N_DRAWS = 500, 50_000, 60
SIZES = (100, 300, 1000)


def drawn(target, n: int, rng) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw rows and their target."""
    useful = rng.normal(size=(n, 2))
    columns = {"strong": useful[:, 0], "weak": useful[:, 1]}
    columns |= noise_columns("continuous", n, 2, rng)
    columns |= {"5 levels": fixed_levels(n, 5, rng), "100 levels": fixed_levels(n, 100, rng)}
    return pd.DataFrame(columns), target.draw(useful @ [0.8, 0.4], rng)


def fixed_levels(n: int, n_levels: int, rng) -> pd.Categorical:
    """Draw levels that mean the same in all draws."""
    names = [f"level {code}" for code in range(n_levels)]
    return pd.Categorical.from_codes(rng.integers(n_levels, size=n), categories=names)


def experiment(cell, rng, size):
    """Fit one model, and judge it again and again."""
    full, target = size == "full", TARGETS[cell["target"]]
    model = target.model(size).fit(*drawn(target, N_FIT, rng))
    yield from judged_again(model, lambda n: drawn(target, n, rng), N_POPULATION, full)


def judged_again(model, draw, n_population, full, sizes=SIZES):
    """Judge one model by its population, and by many draws of each size."""
    n_population, n_draws = (n_population, N_DRAWS) if full else (1000, 3)
    population = held_out_gain(model, *draw(n_population), standard_error=False, n_jobs=1)
    for n in sizes:
        found = [held_out_gain(model, *draw(n), n_jobs=1) for _ in range(n_draws)]
        expected = population.values * n / n_population
        ends = np.array([result.confidence_interval() for result in found])
        covered = (ends[..., 0] <= expected) & (expected <= ends[..., 1])
        reliable = np.array([result.is_reliable for result in found])
        values = np.array([result.values for result in found])
        errors = np.array([result.standard_error for result in found])
        used = population.values != 0
        spread = values.std(axis=0, ddof=1)
        mean_error = np.sqrt((errors**2).mean(axis=0))
        for k, name in enumerate(population.feature_names):
            if used[k] and mean_error[k] > 0:
                bias = values[:, k].mean() - expected[k]
                yield {
                    "rows": n,
                    "feature": name,
                    "n_draws": n_draws,
                    "covered": int(covered[:, k].sum()),
                    "n_reliable": int(reliable[:, k].sum()),
                    "covered_reliable": int((covered & reliable)[:, k].sum()),
                    "spread_over_error": round(float(spread[k] / mean_error[k]), 4),
                    "bias_over_error": round(float(bias / mean_error[k]), 4),
                }


def heads_of(sizes, unit="rows") -> list[str]:
    """Return the heads of `of_sizes`."""
    asked = "coverage", "reliable", "spread / error"
    return [f"{what}, {n} {unit}" for n in sizes for what in asked]


def of_sizes(rows, sizes) -> list[str]:
    """Return the cells of some numbers of rows."""
    return [text for n in sizes for text in cell_texts(chosen(rows, rows=n))]


def cell_texts(rows) -> list[str]:
    """Return coverage of reliable draws with its error over models, and how wide the spread is."""
    covered = sum(row["covered_reliable"] for row in rows)
    n = sum(row["n_reliable"] for row in rows)
    if not n:
        return ["-", "0.00", "-"]
    parts = [
        sum(row["covered_reliable"] - covered / n * row["n_reliable"] for row in of_model)
        for _, of_model in by_values(rows, "replication")
    ]
    error = np.sqrt(np.sum(np.square(parts))) / n
    mostly = [row for row in rows if row["n_reliable"] * 2 > row["n_draws"]]
    ratio = f"{np.median([r['spread_over_error'] for r in mostly]):.2f}" if mostly else "-"
    share = n / sum(row["n_draws"] for row in rows)
    return [f"{covered / n:.3f} ({error:.3f})", f"{share:.2f}", ratio]


def table(rows) -> str:
    """List a line a loss, with coverage by number of rows."""
    lines = [[target, *of_sizes(own, SIZES)] for (target,), own in by_values(rows, "target")]
    return markdown(["target", *heads_of(SIZES)], [*lines, ["all", *of_sizes(rows, SIZES)]])


PART = Part("coverage", crossed(target=TARGETS), experiment, 8, table)
