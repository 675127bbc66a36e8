"""Rows to train on, to validate on and to test on: a third each, as in the authors' example."""

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.study.whole_tables import whole_table

MOST_ROWS = 3000  # of a table, drawn anew in every repetition
FEW_ROWS = 360  # a third is the least that unbiased splits with 20 rows in a leaf take


def split_table(name: str, rng: np.random.Generator, size: str):
    """Return three thirds of some rows of a table, each with the same share of either class."""
    X, y, _ = whole_table(name)
    rows = rng.permutation(len(y))[: MOST_ROWS if size == "full" else FEW_ROWS]
    seeds = rng.integers(2**31, size=2)
    rest, test = train_test_split(
        rows, test_size=1 / 3, random_state=int(seeds[0]), stratify=y[rows]
    )
    train, valid = train_test_split(
        rest, test_size=1 / 2, random_state=int(seeds[1]), stratify=y[rest]
    )
    return tuple((X.iloc[part], y[part]) for part in (train, valid, test))
