"""What a fit costs by the way in which nodes choose their splits, verified, then timed.

    python -m benchmarks.speed.splitter_cost --write          some ten minutes on two quiet cores

*search*  unbiased and cross-validated trees beside greedy ones and LightGBM, continuous numbers
*levels*  100,000 x 8 of 10 to 10,000 levels: as numbers and as categories

Trees have depth 6. Levels are uneven, as in real tables: of 10,000 in 100,000 rows the first has
1,000 rows and six hundred have twenty or more, so that they stand for themselves. All grow by the
histogram search. Cuts of the unbiased and the cross-validated policy lie at the edges of bins, and
greedy ones leave out none. Cross-validated trees do not stop at stubs here.

No time is printed unless all splits of a small draw of the case are those of the page of plain
loops (``benchmarks.speed.checked_trees``), and the first trees of the whole table are the same to
the last bit for one thread and two. Everyone prepares columns inside the time. Needs the extra
``peers``.
"""

import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

import gbt
from benchmarks.speed import training_speed
from benchmarks.speed.checked_trees import check_tree
from benchmarks.speed.timing import in_turn, machine, median
from benchmarks.study import Part, crossed, markdown
from benchmarks.study.command import Study, main
from benchmarks.study.tables import by_values
from gbt.reference import boosting as reference
from gbt.splitting import CrossValidated, Greedy, Unbiased

POLICIES = {
    "greedy": Greedy(),
    "unbiased": Unbiased(),
    "cross_validated": CrossValidated(stop_at_stub=False),
}
LIGHTGBM = "LightGBM"
PEERS = "greedy", LIGHTGBM
DEPTH, REPEATS = 6, 3
NUMBERS, CATEGORIES, ALL_LEVELS = "numbers", "categories", "categories, smoothing 0"
SMOOTHING = {CATEGORIES: 20.0, ALL_LEVELS: 0.0}
CLOCK, PROCESSORS = "on the clock", "of processors"


class Table(NamedTuple):
    """A table of numbers, continuous or whole, of so many levels; and rounds to fit."""

    n_rows: int
    n_columns: int
    n_rounds: int = 2
    n_levels: int | None = None

    def __str__(self) -> str:
        return f"{self.n_rows:,} x {self.n_columns}, {self.n_rounds} rounds"

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Return float32 rows and targets."""
        if self.n_levels is None:
            return training_speed.data_of(self.case)
        rng = np.random.default_rng(self.n_levels)
        place = rng.random(size=(self.n_rows, self.n_columns))
        X = np.floor(self.n_levels * place**2).astype(np.float32)
        y = 4 * place[:, :5].sum(axis=1) + place[:, 0] * place[:, 1] + rng.normal(size=self.n_rows)
        return X, y

    @property
    def case(self) -> training_speed.Case:
        """The table as other libraries are given it."""
        return training_speed.Case("", self.n_rows, self.n_columns, DEPTH, self.n_rounds)

    def within(self, *most: int) -> "Table":
        """Return the same kind of table, with at most so many rows, columns, rounds and levels."""
        pairs = zip(self, most, strict=True)
        return Table(*(None if of is None else min(of, limit) for of, limit in pairs))

    def of_size(self, size: str) -> "Table":
        """Return the table, or for a quick run a tiny one of its kind."""
        return self if size == "full" else self.within(400, 6, 3, 40)


OF_LEVELS = Table(100_000, 8, 10)


def fit_ours(policy, kind, n_rounds, X, y, n_jobs=None, max_depth=DEPTH):
    """Fit, columns prepared inside, which are all of one kind."""
    return gbt.GBTRegressor(
        n_rounds, max_depth=max_depth, base_score=0.5, splitter=policy,
        categorical_features=None if kind == NUMBERS else list(range(X.shape[1])),
        categorical_smoothing=SMOOTHING.get(kind, 20.0), n_jobs=n_jobs, random_state=0,
    ).fit(X, y)  # fmt: skip


@cache
def check_small(policy: Any, kind: str, table: Table) -> None:
    """Stop unless all splits of two small trees are those of the page."""
    X, y = table.data()
    if not isinstance(policy, Greedy):
        n_levels = None if kind == NUMBERS else X.max(axis=0).astype(np.int64) + 1
        check_tree(policy, X, y, n_levels, SMOOTHING.get(kind, 20.0))
        return
    levels: dict[str, Any] = {}
    if kind != NUMBERS:
        levels = {"categorical": range(X.shape[1]), "categorical_smoothing": SMOOTHING[kind]}
    shape = {"n_estimators": 2, "max_depth": 3, "base_score": 0.5, "fixed_point": True}
    expected = reference.boost(X, y, **shape, **levels).raw_predict(X)
    own = fit_ours(policy, kind, 2, X, y, 1, max_depth=3).predict(X)
    if np.abs(own - expected).max() > 1e-12 * np.abs(y).max():
        raise SystemExit("greedy: not the trees of the page; nothing timed")


def verify(policy: Any, kind: str, table: Table) -> None:
    """Stop unless a small draw is right and the whole table is the same for 1 and 2 threads."""
    check_small(policy, kind, table.within(200, 4, 2, 40))
    X, y = table.data()
    one, two = (fit_ours(policy, kind, 2, X, y, n_jobs).predict(X) for n_jobs in (1, 2))
    if (one != two).any():
        raise SystemExit(f"{policy}: trees depend on the number of threads; nothing timed")


def verified_fit(policy: Any, kind: str, table: Table) -> Callable[[], Any]:
    """Return a fit of ours, once it is known to be right."""
    verify(policy, kind, table)
    return partial(fit_ours, policy, kind, table.n_rounds, *table.data())


def search(cell, rng, size):
    """Time all policies and LightGBM on a table of continuous numbers."""
    table = Table(cell["rows"], cell["columns"], cell["rounds"]).of_size(size)
    fits = {name: verified_fit(policy, NUMBERS, table) for name, policy in POLICIES.items()}
    fits[LIGHTGBM] = partial(training_speed.fit_lightgbm, table.case, *table.data())
    yield from measured(fits, PEERS, size)


def levels(cell, rng, size):
    """Time categorical columns against numeric ones of as many distinct values."""
    table = OF_LEVELS._replace(n_levels=cell["levels"]).of_size(size)
    policy = POLICIES[cell["policy"]]
    fits = {kind: verified_fit(policy, kind, table) for kind in (NUMBERS, *SMOOTHING)}
    yield from measured(fits, [NUMBERS], size)


def measured(fits, peers, size):
    """Yield the medians of each fit's seconds, and of its ratios to neighbouring runs of peers."""
    runs = in_turn(fits, REPEATS if size == "full" else 1)
    for name, own in runs.items():
        found = {"seconds": median(own), **{peer: median(own / runs[peer]) for peer in peers}}
        yield {"fit": name} | {
            f"{what} {which}": float(f"{number:.3g}")
            for what, both in found.items()
            for which, number in zip((CLOCK, PROCESSORS), both, strict=True)
        }


def pair(row, what: str, form: str) -> str:
    """Write two times, or two ratios, into one cell."""
    return ", ".join(f"{row[f'{what} {which}']:{form}}" for which in (CLOCK, PROCESSORS))


def table_of_search(rows) -> str:
    """List a line a table and fit."""
    lines = []
    for row in rows:
        name = str(Table(row["rows"], row["columns"], row["rounds"]))
        ratios = (pair(row, peer, ".2f") for peer in PEERS)
        lines.append([name, row["fit"], pair(row, "seconds", ".3g"), *ratios])
    heads = ["continuous numbers", "", f"seconds: {CLOCK}, {PROCESSORS}"]
    return markdown([*heads, *(f"ratio to {peer}" for peer in PEERS)], lines)


def table_of_levels(rows) -> str:
    """List a line a policy and number of levels."""
    lines = []
    for (policy, n_levels), (numbers, *others) in by_values(rows, "policy", "levels"):
        ratios = (pair(row, NUMBERS, ".2f") for row in others)
        lines.append([policy, f"{n_levels:,}", pair(numbers, "seconds", ".3g"), *ratios])
    heads = [str(OF_LEVELS), "levels", f"numbers, seconds {CLOCK}, {PROCESSORS}"]
    heads += ["categories / numbers", "the same with `categorical_smoothing=0`"]
    return markdown(heads, lines)


SEARCHED = (1_000, 20, 100), (20_000, 50, 100), (500_000, 28, 20)
SIZES = tuple({"rows": n, "columns": p, "rounds": r} for n, p, r in SEARCHED)
PARTS = (
    Part("search", SIZES, search, 1, table_of_search, is_timed=True),
    Part(
        "levels", crossed(policy=POLICIES, levels=(10, 100, 1_000, 10_000)), levels, 1,
        table_of_levels, is_timed=True,
    ),
)  # fmt: skip
STUDY = Study(
    "splitter_cost", __doc__, PARTS, pages={"search": "unbiased_gain", "levels": "categories"},
    folder="speed.", how=f"depth {DEPTH}; medians of {REPEATS} runs in turn; {machine()}",
    is_signed=True,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(STUDY))
