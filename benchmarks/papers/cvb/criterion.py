"""What the paper's criterion of splits does, which is not ours.

Trees for classes choose the split of largest gain G^2/H here, as everywhere in this package; those
of the paper the one that leaves the least squared error of the gradients, G^2/n. The two agree
where all hessians are one, as in the first tree. Later G^2/H favours rows whose class is nearly
certain, for which H is small: that is where levels of few rows overfit. Leaf values are Newton
steps G/H in both.

``criterion`` has the shares of the gain of greedy trees in the simulation with one feature of
effect, by either criterion. ``adult`` has the losses of adult by either criterion in 2 to 10 folds:
the paper's are those of fewer training rows than nine tenths of the table.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, train_test_split

from benchmarks.papers.cvb.folds import FoldsOfFeatures
from benchmarks.papers.cvb.measures import loss_of, numbers, scaled, words
from benchmarks.papers.cvb.methods import (
    CROSS_VALIDATED,
    DEPTH,
    GREEDY,
    LEARNING_RATE,
    LEAST_ROWS,
    N_FOLDS,
    N_TREES,
    TRAINERS,
)
from benchmarks.papers.cvb.real import PAPER as PAPER_REAL
from benchmarks.papers.cvb.simulations import NAMES, PAPER, TEST_SHARE, N, draw
from benchmarks.study.part import SEED, Part
from benchmarks.study.tables import chosen, markdown, values_of
from benchmarks.study.whole_tables import whole_table
from gbt import GBTRegressor

SPLITTERS = {
    CROSS_VALIDATED: FoldsOfFeatures(N_FOLDS),
    GREEDY: "greedy",
}
GAINS, ERRORS = "gain", "squared errors"
FOLDS = (2, 3, 5, 10)


@dataclass
class BoostedBySquaredErrors:
    """Boosting for two classes: regression trees on the gradients, and Newton steps at leaves.

    Parameters
    ----------
    splitter : str or object
        As of our estimators.
    n_trees : int
        At most; a tree without a split is the last.
    seed : int
    """

    splitter: Any
    n_trees: int
    seed: int
    start: float = 0.0
    gain: Any = 0.0
    trees: list[tuple[GBTRegressor, np.ndarray]] = field(default_factory=list)

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> "BoostedBySquaredErrors":
        """Grow tree after tree."""
        self.start = np.log(y.mean() / (1 - y.mean()))
        raw = np.full(len(y), self.start)
        for number in range(self.n_trees):
            p = 1 / (1 + np.exp(-raw))
            tree = GBTRegressor(
                n_estimators=1, max_depth=DEPTH, learning_rate=1.0, reg_lambda=0.0,
                min_child_weight=0.0, min_samples_leaf=LEAST_ROWS, splitter=self.splitter, n_jobs=1,
                categorical_smoothing=0.0, random_state=self.seed + number,
            ).fit(X, y - p)  # fmt: skip
            if not (tree.ensemble_.feature >= 0).any():
                break
            leaf = tree.apply(X)[:, 0]
            G, H = np.bincount(leaf, y - p), np.bincount(leaf, p * (1 - p))
            step = LEARNING_RATE * np.divide(G, H, out=np.zeros(len(G)), where=H > 0)
            # A leaf of levels alone that come up in no training row would have no number.
            value = np.zeros(len(tree.ensemble_.feature))
            value[: len(step)] = step
            raw += value[leaf]
            self.gain = self.gain + tree.ensemble_.total_gain()
            self.trees.append((tree, value))
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """Return the probabilities of both classes."""
        raw = self.start + sum(value[tree.apply(X)[:, 0]] for tree, value in self.trees)
        p = 1 / (1 + np.exp(-np.broadcast_to(raw, len(X))))
        return np.column_stack([1 - p, p])


def fitted(method: str, X, y, seed: int):
    """Yield either criterion, the model, its gains and how many trees it has."""
    model = TRAINERS[method](True, N_TREES, seed, None).fit(X, y)
    yield GAINS, model, model.ensemble_.total_gain(), model.ensemble_.n_trees
    other = BoostedBySquaredErrors(SPLITTERS[method], N_TREES, seed).fit(X, y)
    yield ERRORS, other, np.broadcast_to(other.gain, X.shape[1]), len(other.trees)


def simulated(cell, rng, size):
    """Draw the simulation in which x1 matters, and fit greedy trees."""
    X, y = draw(False, N if size == "full" else 200, rng)
    seed = int(rng.integers(2**31 - N_TREES))
    X, X_test, y, y_test = train_test_split(X, y, test_size=TEST_SHARE, random_state=seed)
    for criterion, model, gain, _ in fitted(GREEDY, X, y, seed):
        loss = loss_of(model, X_test, y_test, True)
        yield {"criterion": criterion, "loss": loss, "gain": words(scaled(gain))}


def table_of_shares(rows) -> str:
    """List a line a criterion: loss and mean shares of the gain, and the paper's."""
    lines = []
    for criterion in values_of(rows, "criterion"):
        found = chosen(rows, criterion=criterion)
        loss = np.array([row["loss"] for row in found])
        shares = np.mean([numbers(row["gain"]) for row in found], axis=0)
        cell = f"{loss.mean():.4f} ({loss.std(ddof=1):.4f})"
        lines.append([criterion, cell, *(f"{share:.3f}" for share in shares)])
    loss, shares, _ = PAPER["power"][GREEDY]
    lines.append(["the paper's", loss, *shares])
    return markdown(["criterion", "test log-loss", *(f"share of {name}" for name in NAMES)], lines)


def in_folds(cell, rng, size):
    """Fit all folds of adult but one, and measure on that."""
    X, y, _ = whole_table("adult")
    folds = KFold(cell["folds"], shuffle=True, random_state=SEED)
    train, test = list(folds.split(X))[cell["fold"]]
    if size != "full":
        train, test = train[:300], test[:60]
    seed = int(rng.integers(2**31 - N_TREES))
    for method in SPLITTERS:
        for criterion, model, _, n_trees in fitted(method, X.iloc[train], y[train], seed):
            loss = loss_of(model, X.iloc[test], y[test], True)
            yield {"method": method, "criterion": criterion, "loss": loss, "n_trees": n_trees}


def table_of_folds(rows) -> str:
    """List a line a method, criterion and number of folds, and the paper's."""
    lines = []
    for method, of_paper in zip(SPLITTERS, PAPER_REAL["adult"], strict=False):
        for criterion in values_of(rows, "criterion"):
            of_method = chosen(rows, method=method, criterion=criterion)
            cells = []
            for folds in values_of(of_method, "folds"):
                found = chosen(of_method, folds=folds)
                loss = np.array([row["loss"] for row in found])
                n_trees = np.median([row["n_trees"] for row in found])
                cells.append(f"{loss.mean():.4f} ({loss.std(ddof=1):.4f}), {n_trees:.0f}")
            lines.append([method, criterion, *cells, of_paper])
    names = [f"{folds} folds" for folds in values_of(rows, "folds")]
    return markdown(["method", "criterion", *names, "the paper's"], lines)


PARTS = (
    Part("criterion", ({"case": "power"},), simulated, 100, table_of_shares),
    Part(
        "adult",
        tuple({"folds": folds, "fold": fold} for folds in FOLDS for fold in range(folds)),
        in_folds, 1, table_of_folds, needs=("adult",),
    ),
)  # fmt: skip
