"""How much of the total gain trainers give to columns of noise, and how well they predict.

Five of ten columns add .3 x to the target, five are noise.
"""

import numpy as np

from attributions import total_gain
from benchmarks.study import Part, crossed
from benchmarks.study.tables import by_values, listed, mean_and_error
from gbt import GBTRegressor

DIVISOR = {"full": 1, "quick": 20}  # of the number of rows
TRAINERS = {
    "default": {}, "default, depth 6": {"max_depth": 6},
    "each node decides": {"splitter": "unbiased"}, "greedy": {"splitter": "greedy"},
}  # fmt: skip
CELLS = crossed(rows=(1000, 8000, 30_000), noise=(1, 3))


def draw(n: int, scale: float, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Draw columns, what the useful ones say, and that with noise."""
    X = rng.normal(size=(n, 10))
    truth = 0.3 * X[:, :5].sum(axis=1)
    return X, truth, truth + scale * rng.normal(size=n)


def experiment(cell, rng, size):
    """Return the share of noise in the gain, and the error of predictions, of every trainer."""
    X, _, y = draw(cell["rows"] // DIVISOR[size], cell["noise"], rng)
    X_new, truth, _ = draw(10_000, 1.0, rng)
    for name, parameters in TRAINERS.items():
        model = GBTRegressor(random_state=0, n_jobs=1, **parameters).fit(X, y)
        gain = total_gain(model).values
        error = np.mean((model.predict(X_new) - truth) ** 2) / np.mean(truth**2)
        yield {"trainer": name, "share": gain[5:].sum() / gain.sum(), "loss": error}


def summary(rows) -> list[dict]:
    """Return means over data sets with their errors."""
    lines = []
    for (n, noise, trainer), own in by_values(rows, "rows", "noise", "trainer"):
        line = {"rows": n, "noise": noise, "trainer": trainer, "repetitions": len(own)}
        for name in ("share", "loss"):
            mean, error = mean_and_error(np.array([[row[name]] for row in own]))
            line |= {name: mean[0], f"{name}_error": error[0]}
        lines.append(line)
    return lines


def table(rows) -> str:
    """Make a line for so many rows and so much noise."""
    heads = ["rows", "noise", *(f"{name}: share of noise; error" for name in TRAINERS)]
    return listed(
        rows, ("rows", "noise"), heads,
        lambda own: [f"{r['share']:.1%} ({r['share_error']:.1%}); {r['loss']:.3f}" for r in own],
    )  # fmt: skip


PART = Part("noise", CELLS, experiment, 20, table, summary=summary)
