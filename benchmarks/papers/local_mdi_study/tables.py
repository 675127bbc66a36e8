"""Twelve tables, half of them with a number for a target: numbers standardised, words as codes.

A word's code is its place in alphabetical order. Models that know categories are told which columns
are words; to a forest a code is a number. Missing numbers become the median, missing words a level
of their own, since neither LIME nor every model takes them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes

from benchmarks.study.whole_tables import WHOLE, Whole, read_whole, whole_table

OTHER_TARGETS = {  # of tables that WHOLE reads as classes
    "space_ga": Whole("ln(VOTES/POP)", ("binaryClass",)),
    "fri_c0_1000_50": Whole("target", ("binaryClass",)),
}
OF_SCIKIT_LEARN: dict[str, Callable] = {
    "diabetes": load_diabetes,
    "breast_cancer": load_breast_cancer,
}
NUMBERS = (
    "diabetes", "boston_housing", "bike_kaggle_train", "house_prices_kaggle", "space_ga",
    "fri_c0_1000_50",
)  # fmt: skip
CLASSES = (
    "breast_cancer", "credit_g", "magic_telescope", "ibm_hr_attrition", "diabetic_retinopathy",
    "drug_consumption",
)  # fmt: skip
NEEDED = tuple(name for name in (*NUMBERS, *CLASSES) if name not in OF_SCIKIT_LEARN)


@dataclass(frozen=True)
class Table:
    """Rows and a target."""

    X: np.ndarray  # (n, p) float
    y: np.ndarray  # (n,) float, 0 and 1 where it is a class
    is_word: np.ndarray  # (p,) bool
    is_class: bool

    def rows(self, which) -> "Table":
        """Return some of the rows."""
        return replace(self, X=self.X[which], y=self.y[which])


@lru_cache(maxsize=12)
def whole(name: str) -> Table:
    """Read a table; words become codes."""
    if name in OF_SCIKIT_LEARN:
        frame, y = OF_SCIKIT_LEARN[name](return_X_y=True, as_frame=True)
        is_class = name in CLASSES
    elif name in OTHER_TARGETS:
        frame, y, is_class = read_whole(name, OTHER_TARGETS[name])
    else:
        frame, y, is_class = whole_table(name)
    is_word = np.array([isinstance(kind, pd.CategoricalDtype) for kind in frame.dtypes])
    columns = [as_codes(frame[label]) if word else as_numbers(frame[label])
               for label, word in zip(frame, is_word, strict=True)]  # fmt: skip
    return Table(np.column_stack(columns), np.asarray(y, dtype=float), is_word, is_class)


def as_codes(column: pd.Series) -> np.ndarray:
    """Return the places of words in alphabetical order, of missing ones among them."""
    words = column.astype(object).where(column.notna(), "missing").astype(str)
    return words.astype("category").cat.codes.to_numpy(dtype=float)


def as_numbers(column: pd.Series) -> np.ndarray:
    """Return numbers; missing ones are the median."""
    numbers = column.to_numpy(dtype=float)
    return np.where(np.isnan(numbers), np.nanmedian(numbers), numbers)


def halves(name: str, rng, size: str, n_rows: int, share: float) -> tuple[Table, Table]:
    """Draw rows, at most ``n_rows``, and split them: the first ``share`` of them to fit.

    Numbers are standardised by the rows to fit, whose order is that of the draw. A quick run draws
    some rows of a table that comes with scikit-learn, which needs no folder of data.
    """
    if size == "quick":
        name, n_rows = ("breast_cancer" if name in CLASSES else "diabetes"), 60
    table = whole(name)
    rows = rng.permutation(len(table.y))[:n_rows]
    n_fit = round(share * len(rows))
    fit, new = table.rows(rows[:n_fit]), table.rows(rows[n_fit:])
    centre = np.where(table.is_word, 0.0, fit.X.mean(axis=0))
    spread = fit.X.std(axis=0)
    spread = np.where(table.is_word | (spread == 0), 1.0, spread)
    return tuple(replace(part, X=(part.X - centre) / spread) for part in (fit, new))


def with_columns_of_words(table: Table, like: Table) -> np.ndarray:
    """Return numbers, and for every level of a word in ``like`` a column of 0 and 1."""
    parts = []
    for k, word in enumerate(table.is_word):
        column = table.X[:, [k]]
        parts.append((column == np.unique(like.X[:, k])) * 1.0 if word else column)
    return np.hstack(parts)


TASKS = {**dict.fromkeys(NUMBERS, "number"), **dict.fromkeys(CLASSES, "class")}
assert set(NEEDED) <= set(WHOLE)
