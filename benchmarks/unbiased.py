"""What unbiased gain does in the simulations of Zhang, Zhang and Li (2023), and what it costs.

    python -m benchmarks.unbiased example1|ranks|drift|cost [--jobs 2] [--write]

============  ======================================================================================
``example1``  the paper's Example 1 and Figure 1: y = 0.1 x1 + noise, x1 of 2 values, x2 of 6, x3
              continuous. Gain ranks x3 first, because it has most cuts to choose from
``ranks``     the authors' notebook: five features of which the second, of 2 levels, is informative
              with strength rho; its mean rank as rho goes from 0 to 1. One tree, learning rate 1
``drift``     features without any effect, tree by tree: where "unbiased" stops being true
``cost``      1,000,000 rows and 400 trees against one prediction of the rows, runs in pairs
============  ======================================================================================

The paper states neither n nor the model of its Figure 1 and prints no numbers; here n is 1000 rows
for training and 1000 for validation, as in the notebook. Models are this library's with LightGBM's
defaults (31 leaves, at least 20 rows each, no regularisation); levels are cut as numbers. Where
LightGBM is installed, ``ranks`` also has its trees, with levels as categories, as in the notebook.

The paper's Table 1 and Table 8, trainers and importances ranked over real tables, are parts of
another study: ``python -m benchmarks.rankings datasets`` and ``selection``.

Every repetition has a seed of its own, so results do not depend on ``--jobs``. Tables go to
``benchmarks/results`` and into ``docs/unbiased_gain.md``.
"""

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import joblib
import numpy as np
from scipy.stats import rankdata

from attributions import total_gain, unbiased_gain
from benchmarks.settling import settle
from benchmarks.study.files import page_with
from gbt import GBTClassifier, GBTRegressor
from gbt.formats import as_ensemble

SEED = 2333
N = 1000  # rows for training, and as many for validation
LEVELS = (2, 4, 10, 20)  # of x2 to x5 in the notebook
RHO = tuple(round(0.1 * i, 1) for i in range(11))
TASKS = ("regression", "binary")
LIKE_LIGHTGBM = {
    "max_leaves": 31,
    "max_depth": None,
    "min_samples_leaf": 20,
    "min_child_weight": 1e-3,
    "reg_lambda": 0.0,
}
HOME = Path(__file__).parent
PAGE = HOME.parent / "docs" / "unbiased_gain.md"

Rows = list[dict]


def results_of(command: str) -> Path:
    """Return the file that keeps what a command found."""
    return HOME / "results" / f"unbiased_{command}.csv"


def estimator(task: str, **parameters):
    """Return an unfitted model of LightGBM's shape, for one thread."""
    cls = GBTRegressor if task == "regression" else GBTClassifier
    return cls(**{**LIKE_LIGHTGBM, **parameters}, n_jobs=1)


def stream(command: str, case: int, repetition: int) -> np.random.Generator:
    """Return the random numbers of one repetition."""
    return np.random.default_rng([SEED, list(COMMANDS).index(command), case, repetition])


def repeat(one: Callable[[int], dict], n_repetitions: int, n_jobs: int, what: str) -> list[dict]:
    """Call ``one`` with the number of each repetition, in several processes."""
    run = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
    found = []
    started = time.perf_counter()
    for result in run(joblib.delayed(one)(r) for r in range(n_repetitions)):
        found.append(result)
        if len(found) % 100 == 0 or len(found) == n_repetitions:
            spent = time.perf_counter() - started
            left = spent / len(found) * (n_repetitions - len(found))
            print(
                f"{what}: {len(found)} of {n_repetitions}, {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )
    return found


def mean_and_error(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means over the repetitions, the first axis, and their standard errors."""
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


# ---- Example 1


EXAMPLE_1 = {
    "1 tree, learning rate 1": {"n_estimators": 1, "learning_rate": 1.0},
    "100 trees, learning rate .1": {"n_estimators": 100, "learning_rate": 0.1},
}


def draw_example_1(rng):
    """Draw x1 of 2 values, x2 of 6, x3 continuous, and y = 0.1 x1 + noise."""
    X = np.column_stack([rng.integers(0, 2, N), rng.integers(0, 6, N), rng.normal(size=N)])
    return X, 0.1 * X[:, 0] + rng.normal(size=N)


def example_1_once(case: int, repetition: int) -> dict:
    """Return the importances of one data set by every method."""
    rng = stream("example1", case, repetition)
    train, valid = draw_example_1(rng), draw_example_1(rng)
    model = estimator("regression", **list(EXAMPLE_1.values())[case]).fit(*train)
    rows = (model, *train, *valid)
    return {
        "gain": total_gain(model).values,
        "unbiased, symmetric": unbiased_gain(*rows, standard_error=False).values,
        "unbiased, paper": unbiased_gain(*rows, "paper", standard_error=False).values,
    }


def example_1(n_repetitions: int, n_jobs: int) -> Rows:
    """Repeat Example 1."""
    rows = []
    for case, setting in enumerate(EXAMPLE_1):
        found = repeat(partial(example_1_once, case), n_repetitions, n_jobs, setting)
        for method in found[0]:
            values = np.array([one[method] for one in found])
            first = (values == values.max(axis=1, keepdims=True)).mean(axis=0)
            mean, error = mean_and_error(values)
            rows += [
                {
                    "setting": setting,
                    "method": method,
                    "feature": f"x{k + 1}",
                    "repetitions": n_repetitions,
                    "mean": mean[k],
                    "error": error[k],
                    "median": np.median(values[:, k]),
                    "first": first[k],
                }
                for k in range(values.shape[1])
            ]
    return rows


def example_1_table(rows: Rows) -> list[list[str]]:
    """Make a line a setting and method: mean with its error, and how often ranked first."""
    lines = [["model", "method", *(f"x{k}: mean (error), first" for k in (1, 2, 3))]]
    for of_line in by_line(rows, "setting", "method"):
        cells = [f"{r['mean']:.2f} ({r['error']:.2f}), {r['first']:.0%}" for r in of_line]
        lines.append([of_line[0]["setting"], of_line[0]["method"], *cells])
    return lines


# ---- the notebook


def draw_notebook(rng, task, rho):
    """Draw x1 continuous and four features of few levels, of which x2 is informative."""
    X = np.column_stack([rng.normal(size=N), *(rng.integers(0, m, N) for m in LEVELS)])
    if task == "regression":
        return X, rho * (X[:, 1] - 0.5) + rng.normal(size=N)
    return X, np.where(rng.random(N) < (1 - rho) / 2, 1 - X[:, 1], X[:, 1])


def on_trees_of_lightgbm(task, train, valid):
    """Return importances on LightGBM's trees, levels as categories, as in the notebook.

    LightGBM adds ``cat_l2``, 10, to the hessians of a split between sets of levels, and its own
    gain is what is left. The gain from G and H alone is larger. Empty without LightGBM.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import lightgbm
    except ImportError:
        return {}
    cls = lightgbm.LGBMRegressor if task == "regression" else lightgbm.LGBMClassifier
    model = cls(n_estimators=1, learning_rate=1.0, importance_type="gain", verbose=-1, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*train, categorical_feature=list(range(1, 1 + len(LEVELS))))
        trees = as_ensemble(model, *train)
    return {
        "gain, LightGBM's own": model.feature_importances_.astype(float),
        "gain, LightGBM's trees": total_gain(trees).values,
        "unbiased, LightGBM's trees": unbiased_of(trees, train, valid),
    }


def unbiased_of(model, train, valid):
    """Return the unbiased gain of every feature."""
    return unbiased_gain(model, *train, *valid, standard_error=False).values


def notebook_once(task: str, rho: float, repetition: int) -> dict:
    """Return the importances of one data set by every method."""
    rng = stream("ranks", TASKS.index(task) * len(RHO) + RHO.index(rho), repetition)
    train, valid = draw_notebook(rng, task, rho), draw_notebook(rng, task, rho)
    model = estimator(task, n_estimators=1, learning_rate=1.0).fit(*train)
    return {
        "gain": total_gain(model).values,
        "unbiased": unbiased_of(model, train, valid),
        **on_trees_of_lightgbm(task, train, valid),
    }


def ranks(n_repetitions: int, n_jobs: int) -> Rows:
    """Repeat the notebook's protocol for every rho."""
    rows = []
    for task in TASKS:
        for rho in RHO:
            once = partial(notebook_once, task, rho)
            found = repeat(once, n_repetitions, n_jobs, f"{task}, rho {rho}")
            for method in found[0]:
                values = np.array([one[method] for one in found])
                mean_rank = rankdata(values, axis=1).mean(axis=0)  # the largest has the last
                q25, median, q75 = np.percentile(values, [25, 50, 75], axis=0)
                rows += [
                    {
                        "task": task,
                        "rho": rho,
                        "method": method,
                        "feature": f"x{k + 1}",
                        "repetitions": n_repetitions,
                        "mean_rank": mean_rank[k],
                        "q25": q25[k],
                        "median": median[k],
                        "q75": q75[k],
                    }
                    for k in range(values.shape[1])
                ]
    return rows


def ranks_table(rows: Rows) -> list[list[str]]:
    """List the mean rank of the informative feature, a column a rho."""
    lines = [["task", "method", *(f"rho {rho:g}" for rho in RHO)]]
    for of_line in by_line([r for r in rows if r["feature"] == "x2"], "task", "method"):
        first = of_line[0]
        lines.append([first["task"], first["method"], *(f"{r['mean_rank']:.2f}" for r in of_line)])
    return lines


def null_table(rows: Rows) -> list[list[str]]:
    """List the quartiles of every feature at rho 0."""
    names = ("x1 (continuous)", *(f"x{k + 2} ({m})" for k, m in enumerate(LEVELS)))
    lines = [["task", "method", *names]]
    for of_line in by_line([r for r in rows if r["rho"] == 0], "task", "method"):
        cells = [f"{r['median']:.1f} ({r['q25']:.1f} to {r['q75']:.1f})" for r in of_line]
        lines.append([of_line[0]["task"], of_line[0]["method"], *cells])
    return lines


# ---- later trees


@dataclass(frozen=True)
class Noise:
    """Models of noise: task, learning rate and number of trees."""

    task: str
    learning_rate: float
    n_trees: int

    @property
    def name(self):
        """Words for the table."""
        return f"{self.task}, learning rate {self.learning_rate:g}, {self.n_trees} trees"


NOISE = tuple(Noise(task, *shape) for task in TASKS for shape in ((0.1, 30), (1.0, 5)))


def noise_once(case: int, repetition: int) -> dict:
    """Return what the trees of one model of noise add, all features together."""
    rng, noise = stream("drift", case, repetition), NOISE[case]

    def draw():
        X, y = rng.normal(size=(N, 3)), rng.normal(size=N)
        return X, y if noise.task == "regression" else (y > 0).astype(float)

    train, valid = draw(), draw()
    model = estimator(
        noise.task, n_estimators=noise.n_trees, learning_rate=noise.learning_rate, max_leaves=8
    ).fit(*train)
    unbiased = unbiased_gain(model, *train, *valid, per_tree=True, standard_error=False)
    return {
        "gain": total_gain(model, per_tree=True).per_tree.sum(axis=1),
        "unbiased": unbiased.per_tree.sum(axis=1),
    }


def drift(n_repetitions: int, n_jobs: int) -> Rows:
    """Repeat models of noise."""
    rows = []
    for case, noise in enumerate(NOISE):
        found = repeat(partial(noise_once, case), n_repetitions, n_jobs, noise.name)
        for method in found[0]:
            values = np.array([one[method] for one in found])
            parts = {str(m + 1): values[:, m] for m in range(values.shape[1])}
            for tree, part in {**parts, "all": values.sum(axis=1)}.items():
                mean, error = mean_and_error(part)
                rows.append(
                    {
                        "model": noise.name,
                        "method": method,
                        "tree": tree,
                        "repetitions": n_repetitions,
                        "mean": mean,
                        "error": error,
                    }
                )
    return rows


def drift_table(rows: Rows) -> list[list[str]]:
    """List some trees and the sum of all."""
    shown = ("1", "2", "5", "30", "all")
    names = [f"tree {tree}" for tree in shown[:-1]]
    lines = [["model", *names, "all trees", "total gain of all"]]
    for noise in NOISE:
        of_model = {(r["method"], r["tree"]): r for r in rows if r["model"] == noise.name}
        cells = []
        for tree in shown:
            r = of_model.get(("unbiased", tree))
            cells.append(f"{r['mean']:.1f} ({r['error']:.1f})" if r else "")
        lines.append([noise.name, *cells, f"{of_model['gain', 'all']['mean']:.0f}"])
    return lines


# ---- cost


def seconds(run: Callable) -> float:
    """Return the time of one run."""
    settle()
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def cost(n_repetitions: int, n_jobs: int, n_rows: int = 1_000_000, n_trees: int = 400) -> Rows:
    """Time unbiased gain against one prediction of its rows, half of them for validation."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n_rows, 50)).astype(np.float32)
    target = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=n_rows)
    half, few = n_rows // 2, min(20_000, n_rows // 2)
    rows = []
    for task in TASKS:
        y = target if task == "regression" else (target > 0).astype(float)
        cls = GBTRegressor if task == "regression" else GBTClassifier
        for max_depth in (4, 6):
            model = cls(n_estimators=n_trees, max_depth=max_depth).fit(X[:few], y[:few])
            for standard_error in (False, True):
                ours = partial(
                    unbiased_gain, model, X[:half], y[:half], X[half:], y[half:],
                    standard_error=standard_error, n_jobs=n_jobs,
                )  # fmt: skip
                ours()
                pairs = [
                    (seconds(ours), seconds(lambda m=model: m.ensemble_.raw_predict(X, n_jobs)))
                    for _ in range(n_repetitions)
                ]
                own, ratio = np.median([(a, a / b) for a, b in pairs], axis=0).tolist()
                rows.append(
                    {
                        "task": task,
                        "max_depth": max_depth,
                        "standard_error": int(standard_error),
                        "rows": n_rows,
                        "trees": n_trees,
                        "threads": n_jobs,
                        "repetitions": n_repetitions,
                        "seconds": own,
                        "times_predicting": ratio,
                    }
                )
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def cost_table(rows: Rows) -> list[list[str]]:
    """Make a line a model."""
    lines = [["model", "standard errors", "times predicting the rows"]]
    for r in rows:
        words = "with" if r["standard_error"] else "without"
        model = f"{r['task']}, {r['trees']:g} trees of depth {r['max_depth']:g}"
        lines.append([model, words, f"{r['times_predicting']:.1f}"])
    return lines


# ---- files and pages


@dataclass(frozen=True)
class Command:
    """A simulation, its usual number of repetitions, and the tables that the page has of it."""

    run: Callable[[int, int], Rows]
    repetitions: int
    tables: dict[str, Callable[[Rows], list[list[str]]]]


COMMANDS = {
    "example1": Command(example_1, 1000, {"example1": example_1_table}),
    "ranks": Command(ranks, 100, {"ranks": ranks_table, "null": null_table}),
    "drift": Command(drift, 300, {"drift": drift_table}),
    "cost": Command(cost, 5, {"cost": cost_table}),
}


def by_line(rows: Rows, *keys: str) -> list[Rows]:
    """Group rows that share the values of some keys, in order of appearance."""
    lines: dict[tuple, Rows] = {}
    for row in rows:
        lines.setdefault(tuple(row[key] for key in keys), []).append(row)
    return list(lines.values())


def as_markdown(lines: list[list[str]]) -> str:
    """Return a table whose first line is its head."""
    head, *body = lines
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *body])


def read(command: str) -> Rows:
    """Return the rows of a file, numbers as numbers."""
    words = {"setting", "method", "feature", "task", "model", "tree"}
    with open(results_of(command), newline="") as file:
        return [
            {key: value if key in words else float(value) for key, value in row.items()}
            for row in csv.DictReader(file)
        ]


def write(command: str, rows: Rows) -> None:
    """Write the rows to their file, numbers to six digits."""
    with open(results_of(command), "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


def main(arguments=None):
    """Simulate, or read what was simulated, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.unbiased", description=__doc__.splitlines()[0]
    )
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--jobs", type=int, default=2, help="processes, or threads of `cost`")
    parser.add_argument("--repetitions", type=int, help="other than the usual number")
    parser.add_argument("--write", action="store_true", help="write the CSV file and the page")
    parser.add_argument(
        "--from-results", action="store_true", help="read the CSV file instead of simulating"
    )
    options = parser.parse_args(arguments)
    command = COMMANDS[options.command]
    if options.from_results:
        rows = read(options.command)
    else:
        rows = command.run(options.repetitions or command.repetitions, options.jobs)
        if options.write:
            write(options.command, rows)
            rows = read(options.command)  # so that tables do not depend on where numbers come from
    tables = {name: as_markdown(table(rows)) for name, table in command.tables.items()}
    print("\n\n".join(tables.values()))
    if options.write:
        PAGE.write_text(page_with(tables, PAGE.read_text(), PAGE.name))
    return 0


if __name__ == "__main__":
    # Worker processes look functions up by module, and would not find "__main__".
    from benchmarks import unbiased

    sys.exit(unbiased.main())
