"""What is drawn and what is fitted: the paper's four tasks, its settings, and the seeds.

A task is a data set and a kind of target. Both data sets know which five features matter:

``Simulated``  1000 + 1000 rows, 50 features of 2 to 51 values, made by ``attributions.simulated``;
               the relevant ones are among the first ten or, as a control, among all.
``ChIP``       3912 + 3897 rows of counts of a genomic experiment, 80 features, scaled to [0, 1] by
               their extremes in the training rows. Five columns drawn at random stay and make y;
               every other column is shuffled, in the training and the held-out rows.

With s the mean of the five columns, y is s plus noise of the standard deviation 100 Var(s), or a
class of log-odds 2 s (Simulated) or 4 s (ChIP). So was Table 4 of the paper made, whose text says
otherwise (docs/treeinner.md).

All settings of a task see the same data sets, as in the paper: replication r of a task has a seed
made from its number alone, so nothing depends on the order of work or on the number of processes.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from scipy.special import expit

from attributions.simulated import N_RELEVANT, simulated
from benchmarks.study import SEED, data, ours

N_CHIP_FEATURES = 80
CHIP_PARTS = ("chip_train", "chip_valid")
QUICK_SHRINKS = 40  # of a quick run: so many times fewer rounds, and fewer rows


@dataclass(frozen=True)
class Task:
    """A data set and what is predicted on it."""

    data: str  # "ChIP" or "Simulated"
    kind: str  # "classification" or "regression"
    relevant: str = "low"  # Simulated: features among the ten of fewest values; "all": among all

    @property
    def name(self) -> str:
        """For tables."""
        of_all = ", relevant of all" if self.relevant == "all" else ""
        return f"{self.data} {self.kind}{of_all}"

    @property
    def metric(self) -> str:
        """Risk on held-out rows."""
        return "1 - AUC" if self.kind == "classification" else "mean squared error"


TASKS = tuple(
    Task(data, kind) for data in ("ChIP", "Simulated") for kind in ("classification", "regression")
)
CONTROL = tuple(Task("Simulated", kind, "all") for kind in ("classification", "regression"))


@dataclass(frozen=True)
class Setting:
    """The parameters that the paper varies; the values here are its standard."""

    eta: float = 0.01
    depth: int = 4
    min_child_weight: float = 1.0
    rounds: int = 400
    reg_lambda: float = 1.0


@dataclass(frozen=True)
class Sweep:
    """One parameter varied, the others standard (the paper's Table 1)."""

    name: str
    field: str
    label: str
    values: tuple[float, ...]

    @property
    def settings(self) -> list[Setting]:
        """One setting a value."""
        return [self.at(value) for value in self.values]

    def at(self, value: float) -> Setting:
        """Return the standard setting with one parameter changed."""
        changed: dict[str, Any] = {self.field: value}
        return replace(STANDARD, **changed)


STANDARD = Setting()
SWEEPS = {
    sweep.name: sweep
    for sweep in (
        Sweep("eta", "eta", "learning rate eta", (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)),
        Sweep("depth", "depth", "maximal depth of the trees", (2, 4, 6, 8, 10)),
        Sweep("min_child_weight", *2 * ("min_child_weight",), (0.5, 1.0, 2.0, 4.0, 8.0)),
        Sweep("rounds", "rounds", "boosting rounds", (200, 400, 600, 800, 1000)),
        Sweep("lambda", "reg_lambda", "l2 penalty lambda", (0.0, 0.1, 1.0, 10.0, 100.0)),
    )
}


@dataclass(frozen=True, eq=False)
class DataSet:
    """Training and held-out rows, and which columns matter."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    is_relevant: np.ndarray


@dataclass(frozen=True)
class Protocol:
    """How everything is drawn."""

    shrink: int = 1  # by how much a run that only tries the machinery has fewer rounds

    def n_trees(self, rounds: int) -> int:
        """Trees that are grown for so many rounds of the paper."""
        return max(1, rounds // self.shrink)

    def draw(self, task: Task, replication: int) -> DataSet:
        """Draw the data set of one replication."""
        seed = self.seed_of(task, replication, purpose=0)
        if task.data == "ChIP":
            return self._draw_chip(task, seed)
        n = 1000 if self.shrink == 1 else 200
        drawn = simulated(task.kind, n, n, relevant=task.relevant, random_state=seed)
        is_relevant = np.isin(np.arange(drawn.X_train.shape[1]), drawn.relevant)
        return DataSet(drawn.X_train, drawn.y_train, drawn.X_valid, drawn.y_valid, is_relevant)

    def seed_of(self, task: Task, replication: int, purpose: int) -> int:
        """Return the seed of one replication; ``purpose`` separates its streams."""
        number = [(t.data, t.kind) for t in TASKS].index((task.data, task.kind))
        key = (number, replication, purpose)
        return int(np.random.SeedSequence(SEED, spawn_key=key).generate_state(1)[0])

    def _draw_chip(self, task: Task, seed: int) -> DataSet:
        choice, *streams = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
        parts = scaled_chip(data.folder())
        is_relevant = np.zeros(parts[0].shape[1], dtype=bool)
        is_relevant[choice.choice(len(is_relevant), size=N_RELEVANT, replace=False)] = True
        train, valid = (
            self._shuffle_and_draw(X, is_relevant, rng, task.kind)
            for X, rng in zip(parts, streams, strict=True)
        )
        return DataSet(*train, *valid, is_relevant)

    def _shuffle_and_draw(self, X, is_relevant, rng, kind) -> tuple[np.ndarray, np.ndarray]:
        """Return a copy of ChIP rows with noisy columns shuffled, and the target drawn from it."""
        X = X.copy()
        for k in np.flatnonzero(~is_relevant):
            rng.shuffle(X[:, k])
        return X, self._draw_target(rng, X[:, is_relevant].mean(axis=1), kind)

    def _draw_target(self, rng, s, kind):
        """Draw y of ChIP given the mean s of the relevant columns."""
        if kind == "regression":
            return s + rng.normal(0.0, 100 * np.var(s), size=len(s))
        return (rng.random(len(s)) < expit(4 * s)).astype(np.float64)


def fit(task: Task, setting: Setting, n_trees: int, X, y):
    """Fit a model with the paper's base score: 0, or probability 1/2."""
    is_class = task.kind == "classification"
    return ours(
        is_class, n_estimators=n_trees, learning_rate=setting.eta, max_depth=setting.depth,
        min_child_weight=setting.min_child_weight, reg_lambda=setting.reg_lambda,
        base_score=0.5 if is_class else 0.0,
    ).fit(X, y)  # fmt: skip


@lru_cache(maxsize=1)
def scaled_chip(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return both parts scaled by the extremes of the training rows.

    The last column, the label of the genomic experiment, is left out: the paper draws its y.
    """
    train, valid = (
        pandas.read_csv(folder / f"{part}.csv.gz").to_numpy(dtype=float)[:, :N_CHIP_FEATURES]
        for part in CHIP_PARTS
    )
    low, high = train.min(axis=0), train.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return (train - low) / span, (valid - low) / span
