"""Real tables from the folder of data: numeric columns, and a target."""

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas

FOLDER = "GBT_DATA"  # the environment variable that names the folder
# Name: target, and columns that tell the target or number the rows.
SETS = {
    "bike_kaggle_train": ("count", ("casual", "registered")),
    "house_prices_kaggle": ("SalePrice", ("Id",)),
    "space_ga": ("ln(VOTES/POP)", ()),
    "magic_telescope": ("target", ()),
    "churn_modelling": ("Exited", ("RowNumber", "CustomerId")),
    "jm1": ("defects", ()),
    "pc4": ("c", ()),
    "telecom_churn_2666": ("Churn", ()),
}


def folder() -> Path | None:
    """Return the folder that the environment variable names."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else None


def is_there(names) -> bool:
    """Return whether all of these tables are in the folder."""
    where = folder()
    return all(where is not None and (where / f"{name}.csv.gz").is_file() for name in names)


@lru_cache(maxsize=2)
def table(name: str) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the numeric columns, the target, and whether that is a class, 0 or 1."""
    target, left_out = SETS[name]
    frame = pandas.read_csv(folder() / f"{name}.csv.gz")
    y, is_class = frame[target], frame[target].nunique() == 2
    columns = frame.drop(columns=[target, *left_out, *frame.filter(like="binaryClass")])
    X = columns.select_dtypes("number").to_numpy(dtype=float)
    labels = (y == y.value_counts().index[-1]) if is_class else y
    return X, labels.to_numpy(dtype=float), is_class


def drawn(name: str, rng, n_rows: int | None) -> tuple[np.ndarray, np.ndarray, bool]:
    """Draw rows of a table without replacement, as many as there are at most; None for all."""
    X, y, is_class = table(name)
    rows = rng.permutation(len(X))[:n_rows]
    return X[rows], y[rows], is_class
