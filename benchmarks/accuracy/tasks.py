"""Tables and targets, the two halves that they fall into, and rows to train and to test on.

A table may have two targets, say a number and the class that was made of it: both are in the same
half, and neither sees the other. Defaults are chosen on the first half and confirmed on the second.
No column tells the target: alone, the best column of the real tables of two classes reaches an AUC
of 0.977 (breast_cancer_wdbc) and otherwise at most 0.871.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.model_selection import train_test_split

from benchmarks.study import SEED
from benchmarks.study.whole_tables import WHOLE, Whole, read_whole

SIZES = (300, 1000, 3000, 10000, 30000)  # rows to train on
MOST = "most"  # two thirds of a table
MOST_TEST_ROWS = 3000
LEAST_OF_A_CLASS = 30
FOLDED = "income_30162"  # the rows of adult that miss no value: one table, not two
# Numbers to predict in tables whose own target is a class; that class is left out.
NUMBERS = {
    "space_ga": Whole("ln(VOTES/POP)", ("binaryClass",)),
    "fri_c3_1000_10": Whole("target", ("binaryClass",)),
    "fri_c0_1000_50": Whole("target", ("binaryClass",)),
    "ibm_hr_attrition": Whole("MonthlyIncome", ("EmployeeNumber", "Attrition")),
    "credit_g": Whole("credit_amount", ("class",)),
    "av_loan_prediction": Whole("LoanAmount", ("Loan_ID", "Loan_Status")),
    "marketing_campaign": Whole("Income", ("ID", "Dt_Customer", "Response")),
    "estonia": Whole("Age", ("PassengerId", "Firstname", "Lastname", "Survived")),
}
CLASSES = {  # more than two, of tables of which other pages make two
    "well_log_facies": Whole("Facies"),
    "yeast": Whole("site"),
}
OF_SKLEARN: dict[str, tuple[Callable, str]] = {
    "diabetes": (datasets.load_diabetes, "number"),
    "iris": (datasets.load_iris, "classes"),
    "wine": (datasets.load_wine, "classes"),
    "digits": (datasets.load_digits, "classes"),
}


@dataclass(frozen=True)
class Task:
    """A table and what is to be predicted: "number", "class" (of two) or "classes"."""

    table: str
    kind: str

    def __str__(self) -> str:
        return f"{self.table}, {self.kind}"

    @lru_cache(maxsize=4)  # noqa: B019  tasks are few and stay
    def rows(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Return columns and target; classes are numbers from 0."""
        if self.table in OF_SKLEARN:
            X, y = OF_SKLEARN[self.table][0](return_X_y=True)
            return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]), y.astype(float)
        how = {"number": NUMBERS, "classes": CLASSES}.get(self.kind, WHOLE).get(self.table)
        X, y, _ = read_whole(self.table, how or WHOLE[self.table])
        X, y = X[~np.isnan(y)], y[~np.isnan(y)]
        if self.kind == "classes":
            labels, counts = np.unique(y, return_counts=True)
            is_kept = np.isin(y, labels[counts >= LEAST_OF_A_CLASS])
            X, y = X[is_kept], np.unique(y[is_kept], return_inverse=True)[1].astype(float)
        return X.reset_index(drop=True).set_axis([f"x{k}" for k in range(X.shape[1])], axis=1), y

    def rows_of(self, size: int | str) -> int:
        """Return how many rows a trainer gets, 0 if that size is not asked of the table.

        Sizes leave half as many rows to test on. Where these leave out a third of what there would
        be, two thirds of all are a size, too.
        """
        most = 2 * len(self.rows()[1]) // 3
        there = [size for size in SIZES if size <= most]
        if size != MOST:
            return int(size) if size in there else 0
        return most if most < SIZES[-1] and (not there or most > 1.5 * there[-1]) else 0

    def split(self, size: int, repetition: int):
        """Return (X, y) to train on and (X, y) to test on, the same for all trainers."""
        X, y = self.rows()
        key = np.random.SeedSequence([SEED, crc32(str(self).encode()), size, repetition])
        train, test = train_test_split(
            np.arange(len(y)),
            train_size=size,
            test_size=min(len(y) - size, MOST_TEST_ROWS),
            random_state=int(key.generate_state(1)[0]),
            stratify=None if self.kind == "number" else y,
        )
        return (X.iloc[train], y[train]), (X.iloc[test], y[test])


def all_tasks() -> list[Task]:
    """Return all tasks, in the order of their tables."""
    own = {
        name: "number" if how.is_positive is None else "class"
        for name, how in WHOLE.items()
        if name != FOLDED
    }
    pairs = [*own.items(), *((name, kind) for name, (_, kind) in OF_SKLEARN.items())]
    pairs += [(name, "number") for name in NUMBERS] + [(name, "classes") for name in CLASSES]
    return [Task(*pair) for pair in sorted(pairs)]


def halves() -> dict[str, str]:
    """Return of every table whether it is there to choose by or to confirm; drawn once.

    Half of the tables of which a number is predicted go to either side, and half of the others.
    """
    rng, found = np.random.default_rng(SEED), {}
    of_numbers = {task.table for task in all_tasks() if task.kind == "number"}
    others = {task.table for task in all_tasks()} - of_numbers
    for names in (of_numbers, others):
        drawn = rng.permutation(sorted(names)).tolist()
        n_first = (len(drawn) + 1) // 2
        found |= dict.fromkeys(drawn[:n_first], "choose")
        found |= dict.fromkeys(drawn[n_first:], "confirm")
    return found
