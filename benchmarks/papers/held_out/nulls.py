"""Nulls of every loss: what is found among columns that have nothing to do with the target.

As many rows to judge on as to fit on; three columns of each of four kinds, which are 12 of noise;
50 trees of depth 3, or the default trainer. "Beside a signal" there are two normal columns that
matter.
"""

import numpy as np
import pandas as pd

from attributions import held_out_gain
from benchmarks.papers.held_out import noise
from benchmarks.papers.held_out.targets import TARGETS
from benchmarks.study import Part, crossed
from benchmarks.study.tables import by_values, chosen, listed, markdown

OF_A_KIND = 3
BY = ("target", "signal", "rows", "lambda", "kind")
DEFAULT = {"splitter": "auto", "n_estimators": None, "max_depth": "auto", "random_state": 0}


def table_of_noise(n: int, has_signal: bool, rng) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw columns in an order drawn at random, and the signal of every row."""
    columns, signal = {}, np.zeros(n)
    if has_signal:
        useful = rng.normal(size=(n, 2))
        columns = {f"useful {i}": pd.Series(useful[:, i]) for i in range(2)}
        signal = useful @ [0.8, 0.4]
    columns |= noise.of_all_kinds(n, OF_A_KIND, rng)
    return noise.in_any_order(columns, rng), signal


def experiment(cell, rng, size, **options):
    """Fit noise, and count what is found in it."""
    n, target = cell["rows"], TARGETS[cell["target"]]
    X, signal = table_of_noise(2 * n, cell["signal"] == "beside a signal", rng)
    y = target.draw(signal, rng)
    model = target.model(size, **options or {"reg_lambda": cell["lambda"]}).fit(X[:n], y[:n])
    yield from noise.by_kind(held_out_gain(model, X[n:], y[n:], n_jobs=1), X, noise.KINDS)


def of_default(cell, rng, size):
    """Do the same with the default trainer."""
    n = cell["rows"] if size == "full" else cell["rows"] // 20
    yield from experiment({**cell, "rows": n}, rng, size, **DEFAULT)


def rates(cells) -> list[str]:
    """Return how often columns of each kind are found."""
    return [noise.rate_text(chosen(cells, kind=kind)) for kind in noise.KINDS]


def table(cells) -> str:
    """List a line a loss and number of rows, over all penalties."""
    return listed(
        cells, ("target", "signal", "rows"), ["target", "null", "rows", *noise.KINDS], rates
    )  # fmt: skip


def over_all_losses(tables) -> dict[str, str]:
    """Return the table over all losses, by number of rows and by penalty."""
    cells, lines = tables.get("nulls", []), []
    for name in ("rows", "lambda", "signal"):
        for (value,), own in by_values(cells, name):
            lines.append([value if name == "signal" else f"{name} {value}", *rates(own)])
    return {"nulls summary": markdown(["over all losses", *noise.KINDS], lines)} if cells else {}


def verdict(tables) -> tuple[list[str], int]:
    """Return the cells in which noise is found more often than is allowed."""
    cells = [cell for part in PARTS for cell in tables.get(part.name, [])]
    missed = [cell for cell in cells if noise.is_too_high([cell])]
    names = (", ".join(str(cell[name]) for name in BY if name in cell) for cell in missed)
    rates = (noise.rate_text([cell]) for cell in missed)
    return [f"noise found too often: {n}: {rate}" for n, rate in zip(names, rates, strict=True)], 0


CELLS = crossed(
    target=TARGETS, signal=("complete null", "beside a signal"), rows=(100, 300, 1000),
    **{"lambda": (0, 1, 10)},
)  # fmt: skip
OF_DEFAULT = crossed(
    target=TARGETS, signal=("complete null", "beside a signal"), rows=(1000, 6000)
)  # fmt: skip
PARTS = (
    Part("nulls", CELLS, experiment, 20, table, summary=lambda rows: noise.added_up(rows, BY)),
    Part(
        "nulls-default", OF_DEFAULT, of_default, 10, table,
        summary=lambda rows: noise.added_up(rows, [name for name in BY if name != "lambda"]),
    ),
)  # fmt: skip
