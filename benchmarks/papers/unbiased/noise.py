"""How much of the total gain trainers give to columns of noise, and how well they predict.

Five of ten columns add .3 x to the target, five are noise.
"""

import numpy as np

from attributions import total_gain
from benchmarks.study import Part, crossed
from benchmarks.study.tables import by_values, listed, mean_and_error
from gbt import GBTRegressor

TRAINERS = {
    "default": {}, "default, depth 6": {"max_depth": 6},
    "each node decides": {"splitter": "unbiased"}, "greedy": {"splitter": "greedy"},
}  # fmt: skip


def experiment(cell, rng, size):
    """Return the share of noise in the gain, and the error of predictions, of every trainer."""
    n = cell["rows"] if size == "full" else cell["rows"] // 20
    X = rng.normal(size=(n + 10_000, 10))
    truth = 0.3 * X[:, :5].sum(axis=1)
    y, spread = truth[:n] + cell["noise"] * rng.normal(size=n), np.mean(truth[n:] ** 2)
    for name, parameters in TRAINERS.items():
        model = GBTRegressor(random_state=0, n_jobs=1, **parameters).fit(X[:n], y)
        gain = total_gain(model).values
        error = np.mean((model.predict(X[n:]) - truth[n:]) ** 2) / spread
        yield {"trainer": name, "share": gain[5:].sum() / gain.sum(), "loss": error}


def summary(rows) -> list[dict]:
    """Return means over data sets, and the error of the share."""
    names, lines = ("rows", "noise", "trainer"), []
    for key, own in by_values(rows, *names):
        mean, error = mean_and_error(np.array([[row["share"], row["loss"]] for row in own]))
        line = dict(zip(names, key, strict=True)) | {"repetitions": len(own)}
        lines.append(line | {"share": mean[0], "share_error": error[0], "loss": mean[1]})
    return lines


def table(rows) -> str:
    """Make a line for so many rows and so much noise."""
    heads = ["rows", "noise", *(f"{name}: share of noise; error" for name in TRAINERS)]
    return listed(
        rows, ("rows", "noise"), heads,
        lambda own: [f"{r['share']:.1%} ({r['share_error']:.1%}); {r['loss']:.3f}" for r in own],
    )  # fmt: skip


CELLS = crossed(rows=(1000, 8000, 30_000), noise=(1, 3))
PART = Part("noise", CELLS, experiment, 20, table, summary=summary)
