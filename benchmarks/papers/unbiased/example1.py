"""Example 1 and Figure 1 of the paper: gain ranks the feature first that has most cuts.

y = 0.1 x1 + noise of variance 1; x1 has 2 values, x2 has 6, x3 is continuous. The paper states
neither n nor the model and prints no numbers; here n is that of the authors' notebook, and there is
one tree at learning rate 1 as in the notebook, or an ordinary model.
"""

import numpy as np

from attributions import total_gain
from benchmarks.papers.unbiased.models import N_ROWS, estimator, unbiased_of
from benchmarks.study import Part, crossed
from benchmarks.study.tables import by_values, listed, mean_and_error

SETTINGS = {
    "1 tree, learning rate 1": {"n_estimators": 1, "learning_rate": 1.0},
    "100 trees, learning rate .1": {"n_estimators": 100, "learning_rate": 0.1},
}
FEATURES = ("x1", "x2", "x3")
QUANTILES = (5, 25, 50, 75, 95)  # for the picture's boxes and whiskers


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw x1 of 2 values, x2 of 6, x3 continuous, and y = 0.1 x1 + noise."""
    X = np.column_stack([rng.integers(0, 2, n), rng.integers(0, 6, n), rng.normal(size=n)])
    return X, 0.1 * X[:, 0] + rng.normal(size=n)


def experiment(cell, rng, size):
    """Return the importances of one data set by every method."""
    train, valid = draw(N_ROWS[size], rng), draw(N_ROWS[size], rng)
    model = estimator("regression", **SETTINGS[cell["setting"]]).fit(*train)
    yield {"method": "gain", "values": total_gain(model).values.tolist()}
    for form in ("symmetric", "paper"):
        values = unbiased_of(model, train, valid, form)
        yield {"method": f"unbiased, {form}", "values": values.tolist()}


def summary(rows) -> list[dict]:
    """Return mean, quantiles and the share of first places of every feature."""
    lines = []
    for (setting, method), own in by_values(rows, "setting", "method"):
        values = np.array([row["values"] for row in own])
        first = (values == values.max(axis=1, keepdims=True)).mean(axis=0)
        mean, error = mean_and_error(values)
        quantiles = np.percentile(values, QUANTILES, axis=0)
        cell = {"setting": setting, "method": method}
        found = {"mean": mean, "error": error, "first": first}
        found |= {f"q{q}": of for q, of in zip(QUANTILES, quantiles, strict=True)}
        lines += [
            {**cell, "feature": feature, "repetitions": len(values)}
            | {name: of[k] for name, of in found.items()}
            for k, feature in enumerate(FEATURES)
        ]
    return lines


def table(rows) -> str:
    """Make a line a setting and method: mean with its error, and how often ranked first."""
    heads = ["model", "method", *(f"{x}: mean (error), first" for x in FEATURES)]
    return listed(
        rows, ("setting", "method"), heads,
        lambda own: [f"{r['mean']:.2f} ({r['error']:.2f}), {r['first']:.0%}" for r in own],
    )  # fmt: skip


PART = Part("example1", crossed(setting=SETTINGS), experiment, 1000, table, summary=summary)
