"""Designs in which something is uneven: rare classes, weights, clusters of rows, copies of columns.

Rows of noise are counted as elsewhere. A copy is a column that has the named correlation with a
column that matters and says nothing of its own: the model may use it, and then it is useful to the
model, so its rate is not a level.
"""

import numpy as np
import pandas as pd

from attributions import held_out_gain
from benchmarks.papers.held_out import noise
from benchmarks.papers.held_out.targets import RARE, TARGETS
from benchmarks.study import Part, crossed
from benchmarks.study.tables import chosen, listed

N = 600
WEIGHTS = ("weights of a gamma law", "weights, one row in ten counts ten times")
CLUSTERS = ("clusters of 10 rows, rows counted", "clusters of 10 rows, groups=")
COPIES = tuple(f"copies, correlation {rho}" for rho in (0.5, 0.8, 0.95))
DESIGNS = (*RARE, *WEIGHTS, *CLUSTERS, *COPIES)
COUNTED = (*noise.KINDS, "useful", "copy")


def columns_of(n: int, rng) -> tuple[dict[str, pd.Series], np.ndarray]:
    """Draw two columns that matter, eight of noise, and the signal."""
    useful = rng.normal(size=(n, 2))
    columns = {f"useful {i}": pd.Series(useful[:, i]) for i in range(2)}
    return columns | noise.of_all_kinds(n, 2, rng), useful @ [0.8, 0.8]


def experiment(cell, rng, size):
    """Draw the design, fit, and count."""
    n, design = N if size == "full" else 300, cell["design"]
    target = RARE.get(design, TARGETS["squared error"])
    in_fit, in_gain = {}, {}
    columns, signal = columns_of(2 * n, rng)
    if design in CLUSTERS:
        subject = np.repeat(np.arange(2 * n // 10), 10)
        columns = {name: column[subject * 10].reset_index(drop=True)
                   for name, column in columns.items()}  # fmt: skip
        signal = signal[subject * 10] + rng.normal(size=len(subject) // 10)[subject]
        if design.endswith("groups="):
            in_gain["groups"] = subject[n:]
    if design in COPIES:
        rho = float(design.split()[-1])
        for i in range(2):
            other = np.sqrt(1 - rho**2) * rng.normal(size=2 * n)
            columns[f"copy {i}"] = rho * columns[f"useful {i}"] + other
    if design in WEIGHTS:
        uneven = np.where(rng.random(2 * n) < 0.1, 10.0, 1.0)
        weight = rng.gamma(1.0, size=2 * n) if design == WEIGHTS[0] else uneven
        in_fit["sample_weight"], in_gain["sample_weight"] = weight[:n], weight[n:]
    X = noise.in_any_order(columns, rng)
    y = target.draw(signal, rng)
    if target.is_class and min(y[:n].sum(), y[n:].sum()) == 0:
        return
    model = target.model(size).fit(X[:n], y[:n], **in_fit)
    yield from noise.by_kind(held_out_gain(model, X[n:], y[n:], n_jobs=1, **in_gain), X, COUNTED)


def table(cells) -> str:
    """List a line a design."""
    return listed(
        cells, ("design",), ["design", *noise.KINDS, "useful", "copies"],
        lambda own: [noise.rate_text(chosen(own, kind=kind)) for kind in COUNTED],
    )  # fmt: skip


PART = Part(
    "dependence", crossed(design=DESIGNS), experiment, 60, table,
    summary=lambda rows: noise.added_up(rows, ("design", "kind")),
)  # fmt: skip
