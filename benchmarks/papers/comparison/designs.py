"""Tables in which it is known which columns have nothing to do with the target.

A design draws rows, a target, and for every column a kind: ``useful``, or one of the kinds of noise
in ``KINDS``. In the simulated designs useful columns truly matter. In real tables they are the
columns that were there, some of which may be useless themselves; only the planted ones are known.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from attributions.simulated import simulated
from benchmarks.study import data

USEFUL = "useful"
KINDS = ("continuous", "few levels", "many levels")
N_ROWS = 2000
N_FEW, N_MANY = 4, 100  # levels
REAL = (
    "bike_kaggle_train", "house_prices_kaggle", "space_ga", "magic_telescope", "churn_modelling",
    "telecom_churn_2666",
)  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """Rows, their target, whether it is a class, and the kind of every column."""

    X: pd.DataFrame
    y: np.ndarray
    is_class: bool
    kind: np.ndarray


def noise(n: int, rng: np.random.Generator) -> dict[str, tuple[str, pd.Series]]:
    """Draw nine columns of noise, three of each kind, with their kinds."""
    columns = {}
    for i in range(3):
        columns[f"continuous {i}"] = KINDS[0], pd.Series(rng.normal(size=n))
        for kind, n_levels in zip(KINDS[1:], (N_FEW, N_MANY), strict=True):
            columns[f"{kind} {i}"] = kind, levels(rng.integers(n_levels, size=n))
    return columns


def levels(codes: np.ndarray) -> pd.Series:
    """Return levels whose names are not in the order of their codes."""
    return pd.Series(codes).map(lambda code: f"level {code * 37 % 101}").astype("category")


def mixed(target: str, n: int, rng: np.random.Generator) -> Drawn:
    """Draw five useful columns of all kinds, an interaction among them, and nine of noise."""
    continuous = rng.normal(size=(n, 3))
    few, many = rng.integers(N_FEW, size=n), rng.integers(30, size=n)
    of_few, of_many = rng.normal(size=N_FEW), rng.normal(size=30)
    signal = (
        continuous[:, 0] + continuous[:, 1] * (continuous[:, 2] > 0) + of_few[few] + of_many[many]
    ) / 2
    useful = {
        **{f"x{k}": (USEFUL, pd.Series(continuous[:, k])) for k in range(3)},
        "few": (USEFUL, levels(few)),
        "many": (USEFUL, levels(many)),
    }
    columns = {**useful, **noise(n, rng)}
    if target == "class":
        y = (rng.random(n) < 1 / (1 + np.exp(-signal))).astype(float)
    elif target == "heavy tails":
        y = signal + rng.standard_t(2, size=n)
    else:
        y = signal + 1.5 * rng.normal(size=n)
    return collected(columns, y, target == "class", rng)


def nothing(target: str, n: int, rng: np.random.Generator) -> Drawn:
    """Draw noise alone; the target has nothing to do with any column."""
    y = rng.normal(size=n) if target == "number" else (rng.random(n) < 0.5).astype(float)
    return collected(noise(n, rng), y, target == "class", rng)


def of_the_paper(task: str, relevant: str, n: int, rng: np.random.Generator) -> Drawn:
    """Draw the simulation of Sun (2022): 50 columns of 2 to 51 values, of which 5 matter.

    In the paper these are five of the ten of fewest values (``relevant="low"``), so that a score
    that does not look at y and counts values ranks nearly best. ``"all"`` takes any five.
    """
    seed = int(rng.integers(2**31))
    drawn = simulated(task, n_train=n, n_valid=1, relevant=relevant, random_state=seed)
    X = pd.DataFrame(drawn.X_train, columns=[f"x{k}" for k in range(drawn.X_train.shape[1])])
    kind = np.where(np.arange(X.shape[1]) < 10, KINDS[1], KINDS[2]).astype(object)
    kind[np.asarray(drawn.relevant)] = USEFUL
    return Drawn(X, drawn.y_train, task == "classification", kind)


def real(name: str, n: int, rng: np.random.Generator) -> Drawn:
    """Draw rows of a real table and plant noise among its columns."""
    X, y, is_class = data.drawn(name, rng, n)
    columns = {f"of the table {k}": (USEFUL, pd.Series(X[:, k])) for k in range(X.shape[1])}
    return collected({**columns, **noise(len(y), rng)}, y, is_class, rng)


def collected(columns, y, is_class, rng) -> Drawn:
    """Put columns together in an order drawn at random: ties prefer the first."""
    names = rng.permutation(list(columns))
    X = pd.DataFrame({name: columns[name][1] for name in names})
    return Drawn(X, y, is_class, np.array([columns[name][0] for name in names], dtype=object))
