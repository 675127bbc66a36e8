"""The paper's simulation: one continuous feature, and four categories of 10 to 100 levels.

6,000 rows, of which 900 test. In the *null* case y is a fair coin; in the *power* case it depends
on x1, of 10 levels: P(y = 1) is 0.7 for the first five levels and 0.3 for the others.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from benchmarks.papers.cvb.measures import TREE_INNER, measured, numbers
from benchmarks.papers.cvb.methods import CATBOOST, CROSS_VALIDATED, GREEDY, LIGHTGBM
from benchmarks.study import Part
from benchmarks.study.tables import by_values, column, markdown, spread_of

N, TEST_SHARE = 6000, 0.15
LEVELS = (10, 20, 50, 100)
NAMES = tuple(f"x{k}" for k in range(len(LEVELS) + 1))
STRENGTH = 0.2
# What the paper and its notebook have: log-loss, mean and standard deviation; shares of x0 to x4,
# medians read off the figures (x1 in the power case is printed); the permutation importance of x1.
PAPER = {
    "null": {
        CROSS_VALIDATED: ("0.6933 (0.0004)", ("0", "0", "0", "0", "0"), "0"),
        GREEDY: ("0.7472 (0.0118)", (".01", ".005", ".04", ".485", ".45"), ""),
        LIGHTGBM: ("0.7313 (0.0102)", (".04", ".01", ".065", ".485", ".395"), ""),
        CATBOOST: ("0.6939 (0.0013)", (".19", ".13", ".18", ".23", ".255"), ""),
    },
    "power": {
        CROSS_VALIDATED: ("0.6126 (0.0117)", (".0015", ".995", "0", "0", "0"), "0.145"),
        GREEDY: ("0.6716 (0.0199)", (".007", ".37", ".02", ".33", ".275"), "0.186"),
        LIGHTGBM: ("0.6534 (0.0170)", (".02", ".42", ".04", ".31", ".207"), "0.181"),
        CATBOOST: ("0.6116 (0.0112)", (".021", ".91", ".019", ".023", ".024"), "0.166"),
    },
}
# Shares of the SHAP values, medians; x1 in the power case is printed, the others read off.
PAPER_SHAP = {
    "null": {
        LIGHTGBM: (".13", ".105", ".148", ".27", ".355"),
        CATBOOST: (".255", ".11", ".16", ".187", ".227"),
    },
    "power": {
        LIGHTGBM: (".05", ".553", ".067", ".14", ".188"),
        CATBOOST: (".03", ".900", ".017", ".02", ".021"),
    },
}


def draw(is_null: bool, n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw rows and their class."""
    X = pd.DataFrame({"x0": rng.normal(size=n)})
    for k, n_levels in enumerate(LEVELS, start=1):
        X[f"x{k}"] = pd.Categorical(rng.integers(1, n_levels + 1, size=n))
    shift = np.where(X["x1"].astype(int) <= LEVELS[0] // 2, STRENGTH, -STRENGTH)
    p = 0.5 + (0 if is_null else shift)
    return X, (rng.random(n) < p).astype(float)


def experiment(cell, rng, size):
    """Draw a data set, fit everyone, and measure on the test rows."""
    X, y = draw(cell["case"] == "null", N if size == "full" else 200, rng)
    seed = int(rng.integers(2**31))
    X, X_test, y, y_test = train_test_split(X, y, test_size=TEST_SHARE, random_state=seed)
    yield from measured((X, y), (X_test, y_test), True, size, seed, asked=("permuted", "shap"))


def table(rows) -> str:
    """List loss, trees, shares of the gain, permutation importance of x1; and the paper's."""
    lines = []
    for (method,), found in by_values(rows, "method"):
        gain = np.array([numbers(row["gain"]) for row in found])
        n_trees = f"{np.median(column(found, 'n_trees')):.0f}"
        shares = (f"{share:.3f}" for share in np.mean(gain, axis=0))
        any_above = f"{np.mean(gain.any(axis=1)):.2f}"
        of_x1 = "-"
        if method != TREE_INNER:
            permuted = np.array([numbers(row["permuted"])[1] for row in found])
            of_x1 = f"{permuted.mean():.3f} ({permuted.std():.3f})"
        loss = spread_of(column(found, "loss"))
        lines.append([method, loss, n_trees, *shares, any_above, of_x1])
        if method in PAPER[rows[0]["case"]]:
            of_paper, medians, permuted = PAPER[rows[0]["case"]][method]
            lines.append([f"{method}, the paper's", of_paper, "", *medians, "", permuted])
    shares = [f"share of {name}" for name in NAMES]
    return markdown(
        ["method", "test log-loss", "trees", *shares, "any above 0", "permutation of x1"], lines
    )


def shap_table(rows) -> str:
    """List mean shares of the absolute SHAP values in a case, ours and the paper's."""
    lines = []
    for (method,), found in by_values(rows, "method"):
        if method == TREE_INNER:
            continue
        shares = [numbers(row["shap"]) for row in found]
        lines.append([method, *(f"{share:.3f}" for share in np.mean(shares, axis=0))])
        if method in PAPER_SHAP[rows[0]["case"]]:
            lines.append([f"{method}, the paper's", *PAPER_SHAP[rows[0]["case"]][method]])
    return markdown(["method", *(f"share of {name}" for name in NAMES)], lines)


PARTS = tuple(Part(case, ({"case": case},), experiment, 100, table) for case in PAPER)
