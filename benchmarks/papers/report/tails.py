"""Which ends of an interval hold where few rows may carry a feature's held-out gain.

A model is fitted to rows whose target has many zeros, a long tail, or a rare class, and judged on
sixty tables of as many rows. Of nine features four matter, one is rare and matters, and four are
noise, of which one is rare and one has a long tail. A feature's truth is its mean over the tables.

An interval of one feature spends 4 % on its lower end and 1 % on its upper one. Counted is how
often the truth lies below, or above, and how often noise has its interval above 0. TreeInner's
lower ends stand beside them.
"""

from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from attributions import held_out_gain, tree_inner
from benchmarks.study import Part, crossed, ours
from benchmarks.study.tables import by_values, chosen, markdown

N_TABLES = {"full": 60, "quick": 4}
NOISE = [4, 5, 7, 8]
RARE = 0.02
LOW, HIGH = ndtri(0.96), ndtri(0.99)
EDGES = [0.0, 0.2, 1.0, 5.0, np.inf]  # of kurtosis / rows; at most 0.2 is called reliable
COUNTS = ("judged", "below", "above", "noise", "noise_helps", "inner_below")
RATES = ("below", "above", "noise_helps", "inner_below")
TARGETS = (
    "normal", "zeros, long tail", "zeros, very long tail", "both tails long", "a class of 1 %"
)  # fmt: skip


def draw(target: str, n: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Draw features and a target."""
    X = rng.normal(size=(n, 9))
    X[:, 6:8] = rng.random((n, 2)) < RARE
    X[:, 8] = rng.exponential(size=n) ** 2.5
    mean = 0.8 * X[:, 0] + 0.4 * X[:, 1] + 0.4 * X[:, 2] * (X[:, 3] > 0) + 2 * X[:, 6]
    if target == "normal":
        return X, mean + rng.normal(size=n)
    if target == "a class of 1 %":
        return X, (rng.random(n) < 1 / (1 + np.exp(5.5 - mean))).astype(float)
    if target == "both tails long":
        return X, mean + rng.standard_t(2.5, size=n)
    is_more = rng.random(n) < 1 / (1 + np.exp(0.9 - mean))
    spread = 1.5 if target == "zeros, very long tail" else 0.8
    return X, is_more * np.exp(0.3 * mean + spread * rng.normal(size=n))


def experiment(cell, rng, size):
    """Fit a model and judge it on many tables; count by how few rows may carry a gain."""
    target, n = cell["target"], cell["rows"]
    X, y = draw(target, n, rng)
    model = ours("class" in target, n_estimators=40, max_depth=5).fit(X, y)
    tables = [draw(target, n, rng) for _ in range(N_TABLES[size])]
    results = [held_out_gain(model, *rows, n_jobs=1) for rows in tables]
    inner = [tree_inner(model, *rows, n_jobs=1) for rows in tables]
    ratios = np.array([result.kurtosis / n for result in results])
    (values, errors, t), (_, _, t_inner) = of_truth(results), of_truth(inner)
    is_noise = np.isin(np.arange(values.shape[1]), NOISE) & (errors > 0)
    is_above = values > LOW * errors
    for first, last in pairwise(EDGES):
        here = (ratios > first) & (ratios <= last) & np.isfinite(ratios) & (errors > 0)
        marks = (here, t > LOW, t < -HIGH, is_noise, is_noise & is_above, t_inner > LOW)
        counts = [int((here & mark).sum()) for mark in marks]
        yield {"ratio": first, **dict(zip(COUNTS, counts, strict=True))}


def of_truth(results) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values, errors, and how far values are from their mean over the tables, in errors.

    Where errors are 0 that is 0.
    """
    values, errors = (
        np.array([getattr(result, name) for result in results])
        for name in ("values", "standard_error")
    )
    far = values - values.mean(axis=0)
    return values, errors, np.divide(far, errors, np.zeros_like(values), where=errors > 0)


def table(rows) -> str:
    """Return the rates of each target, and of all by kurtosis."""
    lines = []
    for cell, there in by_values(rows, "target", "rows"):
        for words, doubtful in (("up to 0.2", False), ("more than 0.2", True)):
            part = [row for row in there if (row["ratio"] > 0) == doubtful]
            lines.append([*cell, words, *rates(part)])
    for first, last in pairwise(EDGES):
        between = f"{first:g} to {last:g}" if np.isfinite(last) else f"more than {first:g}"
        lines.append(["all", "all", between, *rates(chosen(rows, ratio=first))])
    head = ["target", "rows", "kurtosis / rows", "judged", "truth is below, 4 %", "above, 1 %"]
    return markdown([*head, "noise helps", "TreeInner: below, 4 %"], lines)


def rates(rows) -> list[str]:
    """Return how many features were judged, and the rates in per cent."""
    sums = {name: sum(row[name] for row in rows) for name in COUNTS}
    whole = {name: "noise" if name == "noise_helps" else "judged" for name in RATES}
    shares = (f"{100 * sums[a] / sums[b]:.1f}" if sums[b] >= 100 else "-" for a, b in whole.items())
    return [f"{sums['judged']:,}", *shares]


TAILS = Part("tails", crossed(target=TARGETS, rows=(500, 1500, 5000)), experiment, 6, table)
