"""The paper's real tables, as many as are at hand: losses in folds, and what is important.

Shuffled folds, 30 for Amazon and 10 for the others; a replication is a fold. Targets that are
numbers are taken as logarithms: what the paper's Table 1 calls RMSE is the mean squared error of
these.
"""

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.papers.cvb.measures import TREE_INNER, measured, numbers, scaled
from benchmarks.papers.cvb.methods import CATBOOST, CROSS_VALIDATED, GREEDY, LIGHTGBM
from benchmarks.study import SEED, Part
from benchmarks.study.tables import by_values, chosen, column, listed, markdown, spread_of
from benchmarks.study.whole_tables import WHOLE, whole_table

N_FOLDS = {
    "amazon_employee_access": 30, "adult": 10, "breast_cancer_wdbc": 10, "bike_kaggle_train": 10,
    "boston_housing": 10, "house_prices_kaggle": 10,
}  # fmt: skip
AMAZON = "amazon_employee_access"
COMPARED = (CROSS_VALIDATED, GREEDY, LIGHTGBM, CATBOOST)
# Mean and standard deviation over folds, Tables 1 and 2, in the order of ``COMPARED``.
PAPER = {
    AMAZON: (".1716 (.0186)", ".2795 (.0355)", ".1724 (.0243)", ".1606 (.0216)"),
    "adult": (".2982 (.0043)", ".2917 (.0038)", ".2892 (.0088)", ".3021 (.0095)"),
    "breast_cancer_wdbc": (".1091 (.0872)", ".1043 (.1008)", ".1080 (.1008)", ".0933 (.0682)"),
    "bike_kaggle_train": (".2554 (.0210)", ".2470 (.0173)", ".2376 (.0096)", ".4484 (.0415)"),
    "boston_housing": (".0276 (.0143)", ".0243 (.0115)", ".0238 (.0108)", ".0241 (.0102)"),
    "house_prices_kaggle": (".0185 (.0038)", ".0159 (.0034)", ".0162 (.0034)", ".0187 (.0042)"),
}
# Mean shares of the importance on Amazon, read off Figure 3 in the order of its columns; "" where
# a bar cannot be told from 0 or from another one.
PAPER_SHARES = {
    "gain": {
        CROSS_VALIDATED: ("0", ".49", ".01", ".05", ".16", ".05", ".16", ".015", ".045"),
        GREEDY: (".455", ".46", "", "", "", "", ".085", "", ""),
        LIGHTGBM: (".13", ".375", "", ".07", ".205", ".10", ".12", "", "0"),
        CATBOOST: (".175", ".46", "", "", ".08", "", ".12", "", ""),
    },
    "permuted": {
        CROSS_VALIDATED: ("0", ".41", "", ".075", ".17", ".10", ".11", ".04", ".075"),
        GREEDY: (".175", ".685", "", "", "", "", ".13", "", ""),
        LIGHTGBM: (".105", ".295", "", ".09", ".23", ".15", ".125", "", "0"),
        CATBOOST: (".11", ".68", "", "", ".03", "", ".125", "", ""),
    },
    "trained": {
        CROSS_VALIDATED: ("0", ".44", "", ".07", ".145", ".10", ".115", ".04", ".08"),
        GREEDY: (".43", ".51", "", "", "", "", ".06", "", ""),
        LIGHTGBM: (".16", ".275", "", ".085", ".215", ".145", ".12", "", "0"),
        CATBOOST: (".215", ".61", "", "", ".02", "", ".125", "", ""),
    },
    "shap": {
        LIGHTGBM: (".275", ".155", "", ".10", ".195", ".17", ".105", "", "0"),
        CATBOOST: (".18", ".38", "", "", ".08", "", ".12", "", ""),
    },
}


def experiment(cell, rng, size):
    """Fit everyone on all folds but one, and measure on that."""
    name, fold = cell["data"], cell["fold"]
    X, y, is_class = whole_table(name)
    folds = KFold(N_FOLDS[name], shuffle=True, random_state=SEED)
    train, test = list(folds.split(X))[fold]
    if size != "full":
        train, test = train[:200], test[:60]
    target = y if is_class else np.log(y)
    yield from measured(
        (X.iloc[train], target[train]), (X.iloc[test], target[test]), is_class, size,
        int(rng.integers(2**31)), ("permuted", "trained", "shap") if name == AMAZON else (),
    )  # fmt: skip


def table(rows) -> str:
    """List a line a table and method: loss beside the paper's, and trees."""

    def cells(own):
        of_paper = dict(zip(COMPARED, PAPER[own[0]["data"]], strict=True))
        n_trees = f"{np.median(column(own, 'n_trees')):.0f}"
        return [spread_of(column(own, "loss")), of_paper.get(own[0]["method"], ""), n_trees]

    rows = [row for row in rows if row["method"] != TREE_INNER]
    heads = ["data", "method", "loss (over folds)", "the paper's", "trees"]
    return listed(rows, ("data", "method"), heads, cells)


def amazon_table(rows, measure: str) -> str:
    """List the mean share of every feature of Amazon by one measure, ours and the paper's.

    Of the gain of cross-validated boosting also the medians: a few folds split on RESOURCE.
    """
    lines = []
    for (method,), found in by_values(chosen(rows, data=AMAZON), "method"):
        if method == TREE_INNER and measure != "gain":
            continue
        shares = np.array([scaled(numbers(row[measure])) for row in found])
        lines.append([method, *(f"{share:.3f}" for share in shares.mean(axis=0))])
        if method == CROSS_VALIDATED and measure == "gain":
            medians = np.median(shares, axis=0)
            lines.append([f"{method}, medians", *(f"{share:.3f}" for share in medians)])
        if method in PAPER_SHARES[measure]:
            lines.append([f"{method}, the paper's", *PAPER_SHARES[measure][method]])
    return markdown(["method", *WHOLE[AMAZON].categories], lines)


CELLS = tuple(
    {"data": name, "fold": fold} for name, n_folds in N_FOLDS.items() for fold in range(n_folds)
)
PART = Part("real", CELLS, experiment, 1, table, needs=tuple(N_FOLDS))
