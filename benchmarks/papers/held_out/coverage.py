"""Intervals: how often they contain the population's value, and whether errors are of true size.

A model of 500 rows is judged on 50,000 new ones, which are the population, and then on many draws
of 100, 300 and 1,000 rows. Two columns matter; there are two normal columns of noise, one of 5
levels and one of 100.
"""

from itertools import product

import numpy as np
import pandas as pd

from attributions import held_out_gain
from benchmarks.papers.held_out.noise import noise_columns
from benchmarks.papers.held_out.targets import TARGETS
from benchmarks.study.part import Part
from benchmarks.study.tables import chosen, markdown, values_of

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
                yield {
                    "rows": n,
                    "feature": name,
                    "n_draws": n_draws,
                    "covered": int(covered[:, k].sum()),
                    "n_reliable": int(reliable[:, k].sum()),
                    "covered_reliable": int((covered & reliable)[:, k].sum()),
                    "spread_over_error": round(float(spread[k] / mean_error[k]), 4),
                    "bias_over_error": round(
                        float((values[:, k].mean() - expected[k]) / mean_error[k]), 4
                    ),
                }


def cell_texts(rows) -> list[str]:
    """Return coverage of reliable draws with its error over models, and how wide the spread is."""
    covered = sum(row["covered_reliable"] for row in rows)
    n = sum(row["n_reliable"] for row in rows)
    if not n:
        return ["-", "0.00", "-"]
    models = values_of(rows, "replication")
    parts = [
        sum(r["covered_reliable"] - covered / n * r["n_reliable"] for r in rows
            if r["replication"] == model)
        for model in models
    ]  # fmt: skip
    error = np.sqrt(np.sum(np.square(parts))) / n
    mostly = [row for row in rows if row["n_reliable"] * 2 > row["n_draws"]]
    ratio = f"{np.median([r['spread_over_error'] for r in mostly]):.2f}" if mostly else "-"
    share = n / sum(row["n_draws"] for row in rows)
    return [f"{covered / n:.3f} ({error:.3f})", f"{share:.2f}", ratio]


def table(rows) -> str:
    """List a line a loss, with coverage by number of rows."""
    lines = []
    for target in (*values_of(rows, "target"), "all"):
        of_target = rows if target == "all" else chosen(rows, target=target)
        cells = [cell_texts(chosen(of_target, rows=n)) for n in SIZES]
        lines.append([target, *(text for cell in cells for text in cell)])
    heads = [
        f"{name}{n} rows"
        for n, name in product(SIZES, ("coverage, ", "reliable, ", "spread / error, "))
    ]
    return markdown(["target", *heads], lines)


PART = Part("coverage", tuple({"target": target} for target in TARGETS), experiment, 8, table)
