"""How stable `HeldOutSelector` is: one cut in halves beside folds in which every row judges.

    python -m benchmarks.papers.inference.selector_cuts --write     about two minutes of one core

Five of fifteen columns make y: 0.5 x0 + 0.35 x1 + 0.25 x2 where x3 > 0, 0.2 x4, and noise on top.
Each line: the false discoveries among what is kept (10 % are allowed), the share of useful
columns kept, and of what either of two seeds keeps the share that both keep, over four seeds.

Without ``--write`` the table is printed alone; with it, it goes to docs/inference.md, and the
numbers to benchmarks/results/selector_cuts.csv.
"""

from itertools import combinations

import numpy as np

from attributions import HeldOutSelector
from benchmarks.study.one_table import run
from benchmarks.study.tables import markdown
from gbt import GBTClassifier, GBTRegressor

SEED = 37
USEFUL = np.arange(15) < 5
WAYS = {"one cut in halves": None, "2 folds": 2, "5 folds (default)": 5, "10 folds": 10}
KINDS = ("number", "class")


def draw(kind: str, n_rows: int, rng: np.random.Generator):
    """Return rows and targets."""
    X = rng.normal(size=(n_rows, len(USEFUL)))
    X[:, 5], X[:, 6] = rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    score = 0.5 * X[:, 0] + 0.35 * X[:, 1] + 0.25 * X[:, 2] * (X[:, 3] > 0) + 0.2 * X[:, 4]
    if kind == "class":
        return X, (score + 0.6 * rng.logistic(size=n_rows) > 0).astype(int)
    return X, score + rng.normal(size=n_rows)


def kept(way: int | None, kind: str, X, y, seed: int) -> np.ndarray:
    """Return which columns a selector keeps."""
    make = GBTClassifier if kind == "class" else GBTRegressor
    estimator = make(n_estimators=50, max_depth=3, splitter="greedy")
    return HeldOutSelector(estimator, cv=way, random_state=seed).fit(X, y).support_


def simulate(n_rows=(300, 1000), n_data_sets: int = 20, n_seeds: int = 4) -> list[dict]:
    """Return one row for each kind of target, number of rows and way."""
    rows = []
    for kind in KINDS:
        for n in n_rows:
            tables = [
                draw(kind, n, np.random.default_rng([SEED, n, kind == "class", d]))
                for d in range(n_data_sets)
            ]
            for words, way in WAYS.items():
                sets = np.array(
                    [[kept(way, kind, *table, s) for s in range(n_seeds)] for table in tables]
                )
                rows.append({"target": kind, "rows": n, "way": words, **summary(sets)})
    return rows


def summary(sets: np.ndarray) -> dict[str, float]:
    """Return the shares, of what was kept by table, seed and column."""
    n_kept = sets.sum(axis=2)
    false = (sets & ~USEFUL).sum(axis=2) / np.maximum(n_kept, 1)
    agree = []
    for one, other in combinations(range(sets.shape[1]), 2):
        either = (sets[:, one] | sets[:, other]).sum(axis=1)
        both = (sets[:, one] & sets[:, other]).sum(axis=1)
        agree += [*np.where(either > 0, both / np.maximum(either, 1), 1.0)]
    return {
        "data_sets": len(sets),
        "false": round(float(false.mean()), 3),
        "found": round(float(sets[:, :, USEFUL].mean()), 3),
        "agree": round(float(np.mean(agree)), 3),
    }


def table(rows: list[dict]) -> str:
    """Return the table of the page, in per cent."""
    lines = [
        [row["target"], f"{row['rows']:,}", row["way"]]
        + [f"{100 * row[name]:.0f} %" for name in ("false", "found", "agree")]
        for row in rows
    ]
    names = ["target", "rows", "way", "useless of the kept", "useful ones kept", "seeds agree"]
    return markdown(names, lines)


def main(arguments=None) -> None:
    """Print the table, and write it if asked to."""
    run("selector_cuts", __doc__, simulate, table, SEED, arguments)


if __name__ == "__main__":
    main()
