"""Categories against other libraries: test AUC or RMSE on tables with columns of words.

    python -m benchmarks.speed.categories --data FOLDER --write

FOLDER holds ``NAME.csv.gz`` and ``MANIFEST.csv``, whose columns ``name``, ``target``, ``task`` and
``categorical`` (names between semicolons) say what is what. All tables with categorical columns and
one numeric target or two classes are there, each split at random into 3/4 for training and 1/4 for
testing, with the same splits for all. Every library treats categories in its own way, at its own
defaults; all else is alike: 100 trees, learning rate 0.1, depth 6, lambda 1, no row or column
sampling, one row is enough for a leaf, one thread. scikit-learn takes at most 255 levels: columns
of more are given to it as the numbers of their levels. Targets of regressions are logarithms, as in
the paper of Adler and Painsky; a library that is not installed is left out.

Part *seconds* wants a quiet machine, and has a file of its own because the other may have grown
beside other work.
"""

import sys
import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.study import Part, crossed, data, is_installed, model_of, ours
from benchmarks.study.command import Study, main
from benchmarks.study.tables import markdown
from benchmarks.study.whole_tables import with_words

TABLES = (
    "amazon_employee_access", "adult", "income_30162", "bike_kaggle_train", "house_prices_kaggle",
    "churn_modelling", "hr_analysis_jobchange", "credit_g", "av_loan_prediction",
    "ibm_hr_attrition", "lusitania", "marketing_campaign", "telecom_churn_2666", "estonia",
)  # fmt: skip
TIMED = ["greedy", "LightGBM", "XGBoost", "scikit-learn"]
# What tells rows apart and nothing else, and parts of the target.
DROPPED = {
    "bike_kaggle_train": ["casual", "registered"],
    "house_prices_kaggle": ["Id"],
    "churn_modelling": ["RowNumber", "CustomerId"],
    "hr_analysis_jobchange": ["enrollee_id"],
    "av_loan_prediction": ["Loan_ID"],
    "ibm_hr_attrition": ["EmployeeNumber"],
    "estonia": ["PassengerId"],
    "marketing_campaign": ["ID"],
}


class Table(NamedTuple):
    """A table to learn: frames whose categorical columns have the dtype of categories."""

    X: pd.DataFrame
    y: np.ndarray
    is_classification: bool

    @property
    def categorical(self) -> list[str]:
        """The names of the categorical columns."""
        return [name for name in self.X if self.X[name].dtype == "category"]

    @property
    def most_levels(self) -> int:
        """The largest number of levels of a column."""
        return max(self.X[name].nunique() for name in self.categorical)


@lru_cache(maxsize=2)
def table_of(name: str) -> Table:
    """Read one table as its line of the manifest says."""
    manifest = pd.read_csv(data.folder() / "MANIFEST.csv", index_col="name").fillna("")
    row, path = manifest.loc[name], data.folder() / f"{name}.csv.gz"
    frame = pd.read_csv(path, skipinitialspace=True, na_values=["?"], encoding="utf-8-sig")
    frame = frame.drop(columns=DROPPED.get(name, []))
    names = row.categorical.split(";")
    if "datetime_hour(derive)" in names:
        frame.insert(0, "hour", pd.to_datetime(frame.pop("datetime")).dt.hour)
        names = ["hour", *names[1:]]
    frame = frame[frame[row.target].notna()]
    y = frame.pop(row.target)
    for label in [n for n in names if n in frame]:
        words = frame[label].astype(object)
        words = words.map(lambda v: str(int(v)) if isinstance(v, float) and v == v else v)
        frame[label] = words.where(frame[label].isna(), words.astype(str)).astype("category")
    is_classification = row.task == "binary"
    target = (y == sorted(y.unique())[1]) if is_classification else np.log1p(y)
    frame = frame.select_dtypes(["number", "category", "bool"]).reset_index(drop=True)
    return Table(frame, np.asarray(target, dtype=float), is_classification)


def of_ours(splitter: str, table: Table, rows: np.ndarray) -> Any:
    """Fit this project's model."""
    model = ours(
        table.is_classification, splitter=splitter, n_estimators=100, min_child_weight=1.0,
        categorical_smoothing=20.0, random_state=0,
    )  # fmt: skip
    return model.fit(table.X.iloc[rows], table.y[rows]), table.X


MODULES = {"scikit-learn": "HistGradientBoosting"}
ALIKE = {"learning_rate": 0.1, "random_state": 0}
OPTIONS: dict[str, dict[str, Any]] = {
    "LightGBM": {  # whose leaves are as many as the depth allows
        "n_estimators": 100, "max_depth": 6, "num_leaves": 64, "reg_lambda": 1.0,
        "min_child_weight": 1.0, "min_child_samples": 1,
    },
    "CatBoost": {"iterations": 100, "depth": 6, "l2_leaf_reg": 1.0},
    "XGBoost": {
        "n_estimators": 100, "max_depth": 6, "reg_lambda": 1.0, "min_child_weight": 1.0,
        "tree_method": "hist", "enable_categorical": True,
    },
    "scikit-learn": {
        "max_iter": 100, "max_depth": 6, "max_leaf_nodes": None, "l2_regularization": 1.0,
        "min_samples_leaf": 1, "early_stopping": False, "categorical_features": "from_dtype",
    },
}  # fmt: skip


def of_peer(library: str, table: Table, rows: np.ndarray) -> Any:
    """Fit another library's model, to which CatBoost's missing categories are words."""
    X, options = table.X, {**ALIKE, **OPTIONS[library]}
    if library == "CatBoost":
        X, options["cat_features"] = with_words(X), table.categorical
    if library == "scikit-learn":
        many = [name for name in table.categorical if X[name].nunique() > 254]
        X = X.assign(**{name: X[name].cat.codes.astype(float) for name in many})
    model = model_of(MODULES.get(library, library), table.is_classification, **options)
    return model.fit(X.iloc[rows], table.y[rows]), X


METHODS: dict[str, Callable[[Table, np.ndarray], Any]] = {
    **{name: partial(of_ours, name) for name in ("greedy", "cross_validated", "unbiased")},
    **{name: partial(of_peer, name) for name in OPTIONS},
}


def judge(cell, rng, size):
    """Fit one model and yield its line: AUC or RMSE on the test rows, seconds of the fit."""
    table, split, method = table_of(cell["table"]), cell["split"], cell["method"]
    if method in OPTIONS and not is_installed(MODULES.get(method, method)):
        return
    how = {"random_state": split, "stratify": table.y if table.is_classification else None}
    train, test = train_test_split(np.arange(len(table.y)), test_size=0.25, **how)
    start = time.perf_counter()
    with threadpool_limits(1):  # scikit-learn has no parameter for it
        model, X = METHODS[method](table, train)
    seconds = time.perf_counter() - start
    rows = X.iloc[test]
    if table.is_classification:
        score = roc_auc_score(table.y[test], model.predict_proba(rows)[:, 1])
    else:
        score = float(np.sqrt(np.mean((model.predict(rows) - table.y[test]) ** 2)))
    yield {
        "task": "AUC" if table.is_classification else "RMSE",
        "rows": len(table.y),
        "most_levels": table.most_levels,
        "score": f"{score:.5f}",
        "seconds": f"{seconds:.2f}",
    }


def means_over_splits(rows: list[dict]) -> pd.DataFrame:
    """Return the mean scores of the splits that all methods have: a row a table, a column a method.

    Rows are known by task, table and largest number of levels.
    """
    lines = pd.DataFrame(rows)
    n_methods = lines.groupby(["table", "split"])["method"].transform("nunique")
    lines = lines[n_methods == lines["method"].nunique()]
    return lines.pivot_table(
        index=["task", "table", "most_levels"], columns="method", values="score", sort=False
    )[[m for m in METHODS if m in set(lines["method"])]]


def report(rows: list[dict]) -> str:
    """Return the page's table: means over the splits, and means of these over the tables.

    Targets of regressions have units of their own, hence a geometric mean.
    """
    means = means_over_splits(rows)
    lines = [
        [f"{table} ({task})", f"{int(most_levels):,}", *(f"{score:.4f}" for score in scores)]
        for (task, table, most_levels), scores in zip(means.index, means.to_numpy(), strict=True)
    ]
    of_tasks = {
        "mean AUC": means.loc["AUC"].mean(),
        "geometric mean RMSE": np.exp(np.log(means.loc["RMSE"]).mean()),
    }
    for words, scores in of_tasks.items():
        lines.append([f"**{words}**", "", *(f"**{score:.4f}**" for score in scores)])
    return markdown(["table", "largest number of levels", *means.columns], lines, 1)


def report_of_seconds(rows: list[dict]) -> str:
    """Return the table of seconds: medians over the splits, and means of ratios over the tables."""
    seconds = pd.DataFrame(rows)
    medians = seconds.pivot_table(
        index=["table", "rows"], columns="method", values="seconds", aggfunc="median", sort=False
    )[TIMED]
    lines = [
        [table, f"{n_rows:,}", *(f"{number:.2f}" for number in numbers)]
        for (table, n_rows), numbers in zip(medians.index, medians.to_numpy(), strict=True)
    ]
    ratios = np.exp(np.log(medians.div(medians["greedy"], axis=0)).mean())
    words = "**geometric mean, greedy is 1**"
    lines.append([words, "", *(f"**{ratio:.2f}**" for ratio in ratios)])
    return markdown(["seconds of a fit, one thread", "rows", *TIMED], lines, 1)


def cells_of(methods) -> tuple[dict, ...]:
    """Return a cell for each fit of some methods."""
    return crossed(table=TABLES, split=range(5), method=methods)


PARTS = (
    Part("libraries", cells_of(METHODS), judge, 1, report, TABLES),
    Part("seconds", cells_of(TIMED), judge, 1, report_of_seconds, TABLES, is_timed=True),
)
STUDY = Study("categories", __doc__, PARTS, folder="speed.", how="splits from 0")

if __name__ == "__main__":
    sys.exit(main(STUDY))
