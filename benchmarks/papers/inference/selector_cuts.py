"""How stable `HeldOutSelector` is: one cut in halves beside folds in which every row judges.

Five of fifteen columns make y: 0.5 x0 + 0.35 x1 + 0.25 x2 where x3 > 0, 0.2 x4, and noise on top.
Each line: the false discoveries among what is kept (10 % are allowed), the share of useful
columns kept, and of what either of two seeds keeps the share that both keep, over four seeds.
"""

from itertools import combinations

import numpy as np

from attributions import HeldOutSelector
from benchmarks.study import NumberedPart, crossed
from benchmarks.study.tables import by_values, column, markdown
from gbt import GBTClassifier, GBTRegressor

SEED = 37
USEFUL = np.arange(15) < 5
WAYS = {"one cut in halves": None, "2 folds": 2, "5 folds (default)": 5, "10 folds": 10}
MEASURES = {"false": "useless of the kept", "found": "useful ones kept", "agree": "seeds agree"}
CELL = ("target", "rows", "way")


def draw(kind: str, n_rows: int, rng: np.random.Generator):
    """Return rows and targets."""
    X = rng.normal(size=(n_rows, len(USEFUL)))
    X[:, 5], X[:, 6] = rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    score = 0.5 * X[:, 0] + 0.35 * X[:, 1] + 0.25 * X[:, 2] * (X[:, 3] > 0) + 0.2 * X[:, 4]
    if kind == "class":
        return X, (score + 0.6 * rng.logistic(size=n_rows) > 0).astype(int)
    return X, score + rng.normal(size=n_rows)


def experiment(cell, replication: int, size: str):
    """Yield the shares of one table."""
    n, n_seeds = (cell["rows"], 4) if size == "full" else (60, 2)
    is_class = cell["target"] == "class"
    rng = np.random.default_rng([SEED, cell["rows"], is_class, replication])
    X, y = draw(cell["target"], n, rng)
    make = GBTClassifier if is_class else GBTRegressor
    estimator = make(n_estimators=50, max_depth=3, splitter="greedy")
    sets = np.array([
        HeldOutSelector(estimator, cv=WAYS[cell["way"]], random_state=seed).fit(X, y).support_
        for seed in range(n_seeds)
    ])  # fmt: skip
    agree = [
        (one & other).sum() / (one | other).sum() if (one | other).any() else 1.0
        for one, other in combinations(sets, 2)
    ]
    yield {
        "false": float(((sets & ~USEFUL).sum(axis=1) / np.maximum(sets.sum(axis=1), 1)).mean()),
        "found": float(sets[:, USEFUL].mean()),
        "agree": float(np.mean(agree)),
    }


def summary(rows) -> list[dict]:
    """Return the mean shares of each cell."""
    return [
        {**dict(zip(CELL, cell, strict=True)), "data_sets": len(own)}
        | {name: round(column(own, name).mean(), 3) for name in MEASURES}
        for cell, own in by_values(rows, *CELL)
    ]


def table(rows: list[dict]) -> str:
    """Return the table of the page, in per cent."""
    lines = [
        [row["target"], f"{row['rows']:,}", row["way"]]
        + [f"{100 * row[name]:.0f} %" for name in MEASURES]
        for row in rows
    ]
    return markdown([*CELL, *MEASURES.values()], lines)


CELLS = crossed(target=("number", "class"), rows=(300, 1000), way=WAYS)
PART = NumberedPart("selector-cuts", CELLS, experiment, 20, table, summary=summary)
