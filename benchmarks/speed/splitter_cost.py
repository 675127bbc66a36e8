"""What a fit costs by the way in which nodes choose their splits, verified, then timed.

    python -m benchmarks.speed.splitter_cost --write          some ten minutes on two quiet cores

============  ======================================================================================
``search``    unbiased and cross-validated beside greedy and LightGBM, 1,000 to 500,000 rows
``policies``  20,000 x 50 continuous numbers, 100 rounds, beside XGBoost's exact method
``rows``      the same with ever more rows, 10 rounds: to what power of the rows time grows
``hundred``   20,000 x 50 of 100 levels, 20 rounds: as numbers and as categories
``levels``    100,000 x 8 of 10 to 10,000 levels, 10 rounds: as numbers and as categories
============  ======================================================================================

Trees have depth 6. Levels are uneven, as in real tables: of 10,000 in 100,000 rows the first has
1,000 rows and six hundred have twenty or more, so that they stand for themselves.

All grow by the histogram search. Cuts of the unbiased and the cross-validated policy lie at the
edges of bins, and greedy ones leave out none. Cross-validated trees do not stop at stubs here.

No time is printed unless all splits of a small draw of the case are those of the page of plain
loops (``benchmarks.speed.checked_trees``), and the first trees of the whole table are the same to
the last bit for one thread and two. Greedy trees are compared with XGBoost's, too.

Everyone prepares columns inside the time. The program says whether the targets that we set
ourselves are reached. Needs the extra ``peers``.
"""

import argparse
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gbt
from benchmarks.speed import training_speed
from benchmarks.speed.checked_trees import check_tree
from benchmarks.speed.growth.fit_time import exponent
from benchmarks.speed.timing import Seconds, conditions, in_turn, median
from benchmarks.study.files import fill, page_with
from benchmarks.study.tables import markdown
from gbt.parallel.cores import available_cores
from gbt.reference import boosting as reference
from gbt.splitting import CrossValidated, Greedy, Unbiased

RESULTS = Path(__file__).parents[1] / "results" / "splitter_cost.md"
PAGES = {
    "cvb": ("policies", "rows"),
    "categories": ("hundred", "levels"),
    "unbiased_gain": ("search",),
}
POLICIES = {
    "greedy": Greedy(),
    "unbiased": Unbiased(),
    "cross_validated": CrossValidated(stop_at_stub=False),
}
LIGHTGBM = "LightGBM"
EXACT = "XGBoost exact"
# What may be taken of greedy's time, and of LightGBM's, by rows of the table.
MOST_OF_GREEDY = {"unbiased": {20_000: 2.5, 500_000: 3.0}, "cross_validated": {20_000: 5.0}}
MOST_OF_LIGHTGBM = {"unbiased": {1_000: 1.0, 20_000: 1.5}}
MOST_OF_EXACT = {"cross_validated": 1.2, "unbiased": 0.9}  # of its time
MOST_OF_CONTINUOUS = {"cross_validated": 1.0}  # what columns of 100 levels take
LARGEST_POWER = 1.1  # of the rows: linear, but for what the caches do
MOST_OF_NUMBERS = 2.0  # what categories take, of the time of numbers
DEPTH = 6
NUMBERS, CATEGORIES, ALL_LEVELS = "numbers", "categories", "categories, smoothing 0"
CONTINUOUS = "continuous"
SMOOTHING = {CATEGORIES: 20.0, ALL_LEVELS: 0.0}
SECONDS = "seconds: on the clock, of processors"
Fits = dict[str, Callable[[], Any]]


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

    def small(self) -> "Table":
        """Return the same kind of table, small enough for the page."""
        return self.within(200, 4, 2, 40)


SEARCHED = Table(1_000, 20, 100), Table(20_000, 50, 100), Table(500_000, 28, 20)
OF_POLICIES = Table(20_000, 50, 100)
ROWS = (5_000, 20_000, 80_000, 320_000)
OF_ROWS = Table(0, 50, 10)
HUNDRED = Table(20_000, 50, 20, 100)
LEVELS = (10, 100, 1_000, 10_000)
OF_LEVELS = Table(100_000, 8, 10)


class Plan(NamedTuple):
    """How often everyone is timed, with how many threads, and whether on tiny tables."""

    repeats: int = 1
    n_jobs: int | None = 1
    is_quick: bool = False

    def table(self, table: Table) -> Table:
        """Return a table, or a tiny one of its kind."""
        return table.within(400, 6, 3, 40) if self.is_quick else table


def fit_ours(policy, kind, n_rounds, X, y, n_jobs, max_depth=DEPTH):
    """Fit, columns prepared inside, which are all of one kind."""
    return gbt.GBTRegressor(
        n_rounds, max_depth=max_depth, base_score=0.5, splitter=policy,
        categorical_features=None if kind == NUMBERS else list(range(X.shape[1])),
        categorical_smoothing=SMOOTHING.get(kind, 20.0), n_jobs=n_jobs, random_state=0,
    ).fit(X, y)  # fmt: skip


def fit_xgboost(n_rounds, X, y, n_jobs):
    """Fit XGBoost's exact method, DMatrix included."""
    import xgboost

    asked = {
        "tree_method": "exact", "max_depth": DEPTH, "eta": 0.1, "base_score": 0.5,
        "nthread": n_jobs or available_cores(),
    }  # fmt: skip
    return xgboost.train(asked, xgboost.DMatrix(X, y), n_rounds)


# ------------------------------------------------------------------------------------- verifying


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
    check_small(policy, kind, table.small())
    X, y = table.data()
    one, two = (fit_ours(policy, kind, 2, X, y, n_jobs).predict(X) for n_jobs in (1, 2))
    if (one != two).any():
        raise SystemExit(f"{policy}: trees depend on the number of threads; nothing timed")


def verify_beside_xgboost(table: Table) -> None:
    """Stop unless greedy trees are those of XGBoost's exact method."""
    if not training_speed.is_verified(table.case, *table.data()):
        raise SystemExit("greedy: not the trees of XGBoost exact; nothing timed")


# ---------------------------------------------------------------------------------------- timing


class Found(NamedTuple):
    """A table of results, and what was measured with what may be taken at most, if anything."""

    heads: list[str]
    lines: list[list[str]]
    targets: list[tuple[float, float | None]]

    @property
    def is_reached(self) -> bool:
        """Whether nothing takes more than it may."""
        return all(most is None or value <= most for value, most in self.targets)


def pair(seconds: Seconds, form: str) -> str:
    """Write two times, or two ratios, into one cell."""
    return f"{seconds.clock:{form}}, {seconds.processors:{form}}"


def times(runs: np.ndarray) -> str:
    """Write the medians of runs."""
    return pair(median(runs), ".3g")


def ratios(runs: np.ndarray, others: np.ndarray) -> str:
    """Write the medians of the ratios of neighbouring runs."""
    return pair(median(runs / others), ".2f")


def verified_fit(policy: Any, kind: str, table: Table, plan: Plan) -> Callable[[], Any]:
    """Return a fit of ours, once it is known to be right."""
    verify(policy, kind, table)
    return partial(fit_ours, policy, kind, table.n_rounds, *table.data(), plan.n_jobs)


def exact_fit(table: Table, plan: Plan) -> Callable[[], Any]:
    """Return the fit of XGBoost's exact method."""
    return partial(fit_xgboost, table.n_rounds, *table.data(), plan.n_jobs)


def fits_of_policies(table: Table, plan: Plan) -> Fits:
    """Return the fits of all policies to a table of continuous numbers."""
    return {name: verified_fit(policy, NUMBERS, table, plan) for name, policy in POLICIES.items()}


def measure_search(plan: Plan) -> Found:
    """Time the policies of the histogram search beside greedy and LightGBM."""
    peers = {"greedy": MOST_OF_GREEDY, LIGHTGBM: MOST_OF_LIGHTGBM}
    heads = ["continuous numbers", "", SECONDS, *(f"ratio to {peer}" for peer in peers)]
    found = Found(heads, [], [])
    for table in map(plan.table, SEARCHED):
        fits = fits_of_policies(table, plan)
        fits[LIGHTGBM] = partial(training_speed.fit_lightgbm, table.case, *table.data())
        runs = in_turn(fits, plan.repeats)
        for name, own in runs.items():
            for peer, most in peers.items():
                ratio = median(own / runs[peer]).clock
                found.targets.append((ratio, most.get(name, {}).get(table.n_rows)))
            beside = [ratios(own, runs[peer]) for peer in peers]
            found.lines.append([str(table), name, times(own), *beside])
    return found


def measure_policies(plan: Plan) -> Found:
    """Time all policies on one table of continuous numbers beside XGBoost."""
    table = plan.table(OF_POLICIES)
    verify_beside_xgboost(table)
    head = f"{table.n_rows:,} x {table.n_columns} continuous, {table.n_rounds} rounds"
    heads = [head, SECONDS, f"ratio to {EXACT}: on the clock, of processors"]
    found = Found(heads, [], [])
    runs = in_turn({**fits_of_policies(table, plan), EXACT: exact_fit(table, plan)}, plan.repeats)
    for name, own in runs.items():
        found.targets.append((median(own / runs[EXACT]).processors, MOST_OF_EXACT.get(name)))
        found.lines.append([name, times(own), ratios(own, runs[EXACT])])
    return found


def measure_rows(plan: Plan) -> Found:
    """Time all policies on more and more rows."""
    tables = [plan.table(OF_ROWS._replace(n_rows=n_rows)) for n_rows in ROWS]
    of_names: dict[str, list[Seconds]] = {}
    for table in tables:
        fits = {**fits_of_policies(table, plan), EXACT: exact_fit(table, plan)}
        for name, own in in_turn(fits, plan.repeats).items():
            of_names.setdefault(name, []).append(median(own))
    head = (
        f"seconds on the clock, of processors ({table.n_columns} columns, {table.n_rounds} rounds)"
    )
    sizes = [f"{table.n_rows:,} rows" for table in tables]
    found = Found([head, *sizes, "time grows with the power"], [], [])
    for name, of_sizes in of_names.items():
        grows = Seconds(*(exponent(np.array(ROWS, float), part) for part in np.array(of_sizes).T))
        most = LARGEST_POWER if name in MOST_OF_EXACT else None
        found.targets.append((grows.processors, most))
        shown = (pair(seconds, ".3g") for seconds in of_sizes)
        found.lines.append([name, *shown, pair(grows, ".2f")])
    return found


def measure_hundred(plan: Plan) -> Found:
    """Time columns of 100 levels beside continuous ones of the same size, and beside XGBoost."""
    levels = plan.table(HUNDRED)
    continuous, kinds = levels._replace(n_levels=None), (NUMBERS, CATEGORIES)
    heads = [
        f"{levels}; seconds on the clock, of processors", "100 levels as numbers",
        "as categories", CONTINUOUS, "numbers / continuous", "categories / continuous",
        f"numbers / {EXACT} with numbers", f"categories / {EXACT} with numbers",
    ]  # fmt: skip
    found = Found(heads, [], [])
    for name, policy in POLICIES.items():
        fits = {CONTINUOUS: verified_fit(policy, NUMBERS, continuous, plan)}
        fits |= {kind: verified_fit(policy, kind, levels, plan) for kind in kinds}
        runs = in_turn({**fits, EXACT: exact_fit(levels, plan)}, plan.repeats)
        for kind in kinds:
            ratio = median(runs[kind] / runs[CONTINUOUS]).processors
            found.targets.append((ratio, MOST_OF_CONTINUOUS.get(name)))
        taken = [times(runs[kind]) for kind in (*kinds, CONTINUOUS)]
        beside = [ratios(runs[k], runs[peer]) for peer in (CONTINUOUS, EXACT) for k in kinds]
        found.lines.append([name, *taken, *beside])
    return found


def measure_levels(plan: Plan) -> Found:
    """Time categorical columns against numeric ones of as many distinct values."""
    heads = [
        str(plan.table(OF_LEVELS)), "levels", "numbers, seconds on the clock, of processors",
        "categories / numbers", "the same with `categorical_smoothing=0`",
    ]  # fmt: skip
    found = Found(heads, [], [])
    for name, policy in POLICIES.items():
        for n_levels in LEVELS:
            table = plan.table(OF_LEVELS._replace(n_levels=n_levels))
            kinds = (NUMBERS, *SMOOTHING)
            fits = {kind: verified_fit(policy, kind, table, plan) for kind in kinds}
            runs = in_turn(fits, plan.repeats)
            ratio = median(runs[CATEGORIES] / runs[NUMBERS]).processors
            found.targets.append((ratio, MOST_OF_NUMBERS))
            beside = [ratios(runs[kind], runs[NUMBERS]) for kind in SMOOTHING]
            found.lines.append([name, f"{n_levels:,}", times(runs[NUMBERS]), *beside])
    return found


TABLES = {
    "search": measure_search,
    "policies": measure_policies,
    "rows": measure_rows,
    "hundred": measure_hundred,
    "levels": measure_levels,
}


def write(tables: dict[str, str], results: Path, pages: bool) -> None:
    """Put tables into the file of results, where others stay, and into the pages."""
    if not results.exists():
        marks = [f"<!-- {name}: begin -->\n<!-- {name}: end -->\n" for name in TABLES]
        results.write_text("\n".join(marks))
    results.write_text(page_with(tables, results.read_text(), results.name))
    for page, named in PAGES.items() if pages else ():
        fill({name: text for name, text in tables.items() if name in named}, page)


def main(arguments: list[str] | None = None) -> int:
    """Verify, time, print and, if asked, write; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed.splitter_cost", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--only", nargs="+", choices=TABLES, default=[*TABLES])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, help="threads of everyone; all cores if not given")
    parser.add_argument("--out", type=Path, help="a file for the tables")
    parser.add_argument("--write", action="store_true", help=f"{RESULTS.name} and the pages")
    parser.add_argument("--quick", action="store_true", help="tiny tables, which tell nothing")
    asked = parser.parse_args(arguments)
    if asked.quick and asked.write:
        parser.error("--quick measures nothing that a page should have")
    plan = Plan(asked.repeats, asked.n_jobs, asked.quick)
    is_reached = True
    heading = (
        f"`python -m benchmarks.speed.splitter_cost`: depth {DEPTH}; medians of {asked.repeats}"
        f" runs in turn; {conditions('xgboost', n_jobs=asked.n_jobs)}"
    )
    for name in asked.only:
        found = TABLES[name](plan)
        is_reached &= found.is_reached
        table = {name: f"{heading}\n\n{markdown(found.heads, found.lines)}"}
        print(table[name], end="\n\n", flush=True)
        if asked.write or asked.out:
            write(table, asked.out or RESULTS, asked.write)
    print(f"All targets reached: {is_reached}")
    return 0 if is_reached or asked.quick else 1


if __name__ == "__main__":
    sys.exit(main())
