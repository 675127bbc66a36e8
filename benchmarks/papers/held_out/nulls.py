"""Nulls of every loss: what is found among columns that have nothing to do with the target.

As many rows to judge on as to fit on; three columns of each of four kinds, which are 12 of noise;
50 trees of depth 3. "Beside a signal" there are two normal columns that matter.
"""

from itertools import product

import numpy as np
import pandas as pd

from attributions import held_out_gain
from benchmarks.papers.held_out.noise import (
    KINDS,
    added_up,
    counted,
    is_too_high,
    noise_columns,
    rate_text,
)
from benchmarks.papers.held_out.targets import TARGETS
from benchmarks.study.part import Part
from benchmarks.study.tables import by_values, chosen, markdown, values_of

OF_A_KIND = 3
BY = ("target", "signal", "rows", "lambda", "kind")


def table_of_noise(n: int, has_signal: bool, rng) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw columns in an order drawn at random, and the signal of every row."""
    columns, signal = {}, np.zeros(n)
    if has_signal:
        useful = rng.normal(size=(n, 2))
        columns = {f"useful {i}": pd.Series(useful[:, i]) for i in range(2)}
        signal = useful @ [0.8, 0.4]
    for kind in KINDS:
        columns |= noise_columns(kind, n, OF_A_KIND, rng)
    return pd.DataFrame({name: columns[name] for name in rng.permutation(list(columns))}), signal


def experiment(cell, rng, size):
    """Fit noise, and count what is found in it."""
    n, target = cell["rows"], TARGETS[cell["target"]]
    X, signal = table_of_noise(2 * n, cell["signal"] == "beside a signal", rng)
    y = target.draw(signal, rng)
    model = target.model(size, reg_lambda=cell["lambda"]).fit(X[:n], y[:n])
    result = held_out_gain(model, X[n:], y[n:], n_jobs=1)
    for kind in KINDS:
        yield {"kind": kind, **counted(result, X.columns.str.startswith(kind))}


def table(cells) -> str:
    """List a line a loss and number of rows, over all penalties."""
    lines = []
    for cell, of_line in by_values(cells, "target", "signal", "rows"):
        lines.append([*cell, *(rate_text(chosen(of_line, kind=kind)) for kind in KINDS)])
    return markdown(["target", "null", "rows", *KINDS], lines)


def summary_table(cells) -> str:
    """List the same over all losses, by number of rows and by penalty."""
    lines = []
    for name in ("rows", "lambda", "signal"):
        for value in values_of(cells, name):
            of_line = chosen(cells, **{name: value})
            by_kind = [rate_text(chosen(of_line, kind=kind)) for kind in KINDS]
            lines.append([value if name == "signal" else f"{name} {value}", *by_kind])
    return markdown(["over all losses", *KINDS], lines)


def missed(cells) -> list[str]:
    """Name cells in which noise is found more often than is allowed."""
    return [
        ", ".join(str(cell[name]) for name in BY) + f": {rate_text([cell])}"
        for cell in cells
        if is_too_high([cell])
    ]


PART = Part(
    "nulls",
    tuple(
        {"target": target, "signal": signal, "rows": rows, "lambda": reg_lambda}
        for target, signal, rows, reg_lambda in product(
            TARGETS, ("complete null", "beside a signal"), (100, 300, 1000), (0, 1, 10)
        )
    ),
    experiment,
    20,
    table,
    summary=lambda rows: added_up(rows, BY),
)
