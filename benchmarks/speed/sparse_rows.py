"""Sparse rows: how much memory a fit of a large table takes that is mostly zeros.

    python -m benchmarks.speed.sparse_rows --write

First it is checked that small models of sparse rows are those of the dense table. Then every case
runs in a process of its own, whose memory at its peak is measured, that of Python, its libraries
and the table included. The dense table of the first case would take 8 GB.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from benchmarks.speed.resident import peak
from benchmarks.speed.timing import Page
from gbt import GBTRegressor

MOST_GIGABYTES = 1.5  # that we promise of the first case


class Case(NamedTuple):
    """A fit: its table and its splitter."""

    n_rows: int
    n_columns: int
    per_cent: float
    splitter: str = "greedy"
    n_rounds: int = 10


CASES = [
    Case(200_000, 5_000, 1.0),
    Case(200_000, 5_000, 1.0, "unbiased"),
    Case(20_000, 50_000, 0.1),
]


def data_of(case: Case) -> tuple[csr_array, np.ndarray]:
    """Return a table as sparse as asked, and targets that follow its first twenty columns."""
    rng = np.random.default_rng(0)
    in_a_row = round(case.n_columns * case.per_cent / 100)
    columns = np.sort(rng.integers(case.n_columns, size=(case.n_rows, in_a_row)), axis=1)
    start = np.arange(case.n_rows + 1) * in_a_row
    values = rng.exponential(size=columns.size)
    shape = case.n_rows, case.n_columns
    X = csr_array((values, columns.ravel().astype(np.int32), start), shape=shape)
    X.sum_duplicates()
    return X, X[:, :20].sum(axis=1) + rng.normal(size=case.n_rows)


def verify() -> None:
    """Stop unless models of sparse rows are those of the dense table."""
    for splitter in ("greedy", "unbiased", "cross_validated"):
        X, y = data_of(Case(2_000, 60, 10.0))
        model = GBTRegressor(n_estimators=5, splitter=splitter, random_state=0)
        dense = model.fit(X.toarray(), y).predict(X.toarray())
        if (model.fit(X, y).predict(X) != dense).any():
            raise SystemExit(f"{splitter}: not the model of the dense table; nothing measured")


def measure(case: Case) -> dict[str, float]:
    """Fit and predict; return gigabytes. Called in a process of its own."""
    X, y = data_of(case)
    found = {"before": peak()}
    model = GBTRegressor(n_estimators=case.n_rounds, splitter=case.splitter, random_state=0)
    model.fit(X, y)
    found["fit"] = peak()
    model.predict(X)
    found["predict"] = peak()
    return {when: 1e-9 * size for when, size in found.items()}


def main() -> None:
    """Measure all cases, each in a process of its own."""
    verify()
    with Page("sparse_rows", __doc__) as page:
        page.head(
            "rows x columns", "filled", "splitter", "table dense", "before the fit",
            "peak, 10 rounds", "peak, predicting",
        )  # fmt: skip
        for case in CASES:
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                found = process.submit(measure, case).result()
            shape = f"{case.n_rows:,} x {case.n_columns:,}", f"{case.per_cent:g} %", case.splitter
            dense = f"{8e-9 * case.n_rows * case.n_columns:.1f} GB"
            page.row(*shape, dense, *(f"{gigabytes:.2f} GB" for gigabytes in found.values()))
            if case is CASES[0] and found["fit"] > MOST_GIGABYTES:
                raise SystemExit(f"more than the {MOST_GIGABYTES} GB that docs promise")


if __name__ == "__main__":
    main()
