"""Tables of any size, and the fits that grow along one of their sizes."""

from dataclasses import dataclass

import numpy as np

SEED = 0
GROWING = (10, 20, 50, 100, 200, 500, 1000, 2000)


@dataclass(frozen=True)
class Fit:
    """A table and how it is fitted; without ``n_distinct`` its values are continuous."""

    n_rows: int = 50_000
    n_columns: int = 20
    n_distinct: int | None = None
    max_depth: int = 6
    n_threads: int | None = None


@dataclass(frozen=True)
class Axis:
    """One size that grows while the others stay: a panel of the picture."""

    name: str  # as it stands in the files
    changes: str  # the field of `Fit`
    others: Fit
    sizes: tuple[int, ...]

    @property
    def constant(self) -> str:
        """Say what stays."""
        stays = {
            "n_rows": f"{self.others.n_rows:,} rows",
            "n_columns": f"{self.others.n_columns} columns",
            "max_depth": f"depth {self.others.max_depth}",
        }
        return ", ".join(stays[name] for name in stays if name != self.changes)

    def fit_of(self, size: int) -> Fit:
        """Return the fit of a size."""
        # As many distinct values as rows: continuous.
        all_distinct = self.changes == "n_distinct" and size == self.others.n_rows
        return Fit(**vars(self.others) | {self.changes: None if all_distinct else size})


AXES = (
    Axis("rows", "n_rows", Fit(), tuple(1000 * k for k in GROWING)),
    Axis("columns", "n_columns", Fit(5_000), GROWING),
    Axis("distinct values", "n_distinct", Fit(), (2, 4, 16, 64, 256, 1024, 4096, 16_384, 50_000)),
    Axis("depth", "max_depth", Fit(), tuple(range(2, 13))),
    Axis("threads", "n_threads", Fit(200_000), (1, 2)),
)


def data_of(n_rows: int, n_columns: int, dtype="float32", n_distinct: int | None = None):
    """Return rows and targets of ``benchmarks.speed.training_speed``, without large temporaries."""
    rng = np.random.default_rng(SEED)
    X = np.empty((n_rows, n_columns), dtype)
    y = rng.standard_normal(n_rows)
    if n_distinct is None:
        rng.standard_normal(out=X, dtype=X.dtype)
    else:  # as wide as the continuous ones
        X[:] = (rng.integers(n_distinct, size=X.shape) / (n_distinct - 1) - 0.5) * np.sqrt(12)
    for start in range(0, n_rows, 1000):
        rows = X[start : start + 1000]
        y[start : start + 1000] += rows[:, :5].sum(axis=1) + rows[:, 0] * rows[:, 1]
    return X, y
