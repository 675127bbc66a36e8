"""Tables of the names and columns of the real ones, made up: studies run on them in seconds."""

import numpy as np
import pandas as pd

from benchmarks.papers.treeinner.protocol import CHIP_PARTS, N_CHIP_FEATURES
from benchmarks.study import data
from benchmarks.study.whole_tables import WHOLE

N_ROWS = 160
LABELS = (
    ("CL3", "CL0"), (1, 0), (">50K", "<=50K"), ("P", "N"), ("bad", "good"), ("Y", "N"),
    ("Yes", "No"), ("Saved", "Lost"), ("VRAI", "FAUX"), (True, False),
)  # fmt: skip


def target_of(how, x: np.ndarray):
    """Return the target: the labels of its two classes where x is high and low, else numbers."""
    if how.is_positive is None:
        return np.exp(x)
    high, low = next(p for p in LABELS if how.is_positive(pd.Series(p)).tolist() == [True, False])
    return np.where(x > 0, high, low).astype(object)


def made_up(name: str) -> pd.DataFrame:
    """Return a table: four numbers, of which the first makes the target, a word, what it needs."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, 4)), columns=["one", "two", "three", "four"])
    frame["word"] = rng.choice(["x", "y", "z"], N_ROWS)
    numbers, left_out = data.SETS.get(name, (None, ()))
    how = WHOLE[name]
    for column in (*how.left_out, *left_out, *how.categories):
        frame[column] = rng.integers(0, 9, N_ROWS)
    if name == "bike_kaggle_train":
        frame["datetime"] = pd.date_range("2012-01-01", periods=N_ROWS, freq="h")
    if numbers not in (None, how.target):
        frame[numbers] = np.exp(frame["one"])
    frame[how.target] = target_of(how, frame["one"].to_numpy())
    return frame


def write_all(folder) -> None:
    """Write all tables, packed, as the folder of data has them."""
    for name in {*WHOLE, *data.SETS}:
        made_up(name).to_csv(folder / f"{name}.csv.gz", index=False)
    rng = np.random.default_rng(0)
    for part in CHIP_PARTS:
        counts = pd.DataFrame(rng.integers(9, size=(N_ROWS, N_CHIP_FEATURES + 1)))
        counts.to_csv(folder / f"{part}.csv.gz", index=False)
