"""What is measured: tables, their sizes, and how often; and data of any size."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.study import ours

SEED = 0


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

    def fits(self):
        """Yield every size and the fit of that size."""
        for size in self.sizes:
            # As many distinct values as rows: continuous.
            all_distinct = self.changes == "n_distinct" and size == self.others.n_rows
            yield size, Fit(**vars(self.others) | {self.changes: None if all_distinct else size})


@dataclass(frozen=True)
class Memory:
    """A table whose fit is weighed."""

    n_rows: int
    n_columns: int
    dtype: str = "float32"
    is_logistic: bool = False  # else half the squared error
    max_depth: int = 6
    n_rounds: int = 3

    @property
    def name(self) -> str:
        """Name it as in the tables."""
        loss = ", logistic" * self.is_logistic
        return f"{self.n_rows:,} x {self.n_columns} {self.dtype}{loss}"

    @property
    def estimator(self):
        """Return an estimator that fits it."""
        shape = {"n_estimators": self.n_rounds, "max_depth": self.max_depth}
        return ours(self.is_logistic, n_jobs=None, **shape)

    def data(self, n_rows: int, n_columns: int):
        """Return rows and targets of its kind."""
        X, y = data_of(n_rows, n_columns, self.dtype)
        return X, y > 0.0 if self.is_logistic else y


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    axes: tuple[Axis, ...]
    memory: tuple[Memory, ...]
    n_rounds: int = 10
    repeats: int = 3  # of fits
    starts: int = 5  # of processes that import, or find compiled kernels
    cold_starts: int = 3  # of processes that compile
    beside: Path | None = None  # another checkout, whose first calls are timed as well
    wheel: str | None = None  # the Python of an environment with a wheel that has machine code


GROWING = (10, 20, 50, 100, 200, 500, 1000, 2000)
DISTINCT = (2, 4, 16, 64, 256, 1024, 4096, 16_384, 50_000)
FULL = Plan(
    axes=(
        Axis("rows", "n_rows", Fit(), tuple(1000 * k for k in GROWING)),
        Axis("columns", "n_columns", Fit(5_000), GROWING),
        Axis("distinct values", "n_distinct", Fit(), DISTINCT),
        Axis("depth", "max_depth", Fit(), tuple(range(2, 13))),
        Axis("threads", "n_threads", Fit(200_000), (1, 2)),
    ),
    memory=(
        Memory(500_000, 28), Memory(200_000, 50), Memory(50_000, 500), Memory(2_000_000, 10),
        Memory(200_000, 50, "float64"), Memory(500_000, 28, is_logistic=True),
        Memory(1_000_000, 20, is_logistic=True),
    ),
)  # fmt: skip
QUICK = Plan(
    axes=(
        Axis("rows", "n_rows", Fit(), (200, 400, 800, 1600)),
        Axis("columns", "n_columns", Fit(200), (4, 8, 16, 32)),
        Axis("distinct values", "n_distinct", Fit(200), (2, 8, 32, 200)),
        Axis("depth", "max_depth", Fit(200), (1, 2, 3, 4)),
        Axis("threads", "n_threads", Fit(200), (1, 2)),
    ),
    memory=(Memory(20_000, 10),), n_rounds=2, repeats=1, starts=1, cold_starts=0,
)  # fmt: skip


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
