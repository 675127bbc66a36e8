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

from benchmarks.papers.cvb.measures import loss_of, numbers, scaled, words
from benchmarks.papers.cvb.methods import CROSS_VALIDATED, GREEDY, LEARNING_RATE, N_TREES, TRAINERS
from benchmarks.papers.cvb.real import COMPARED
from benchmarks.papers.cvb.real import PAPER as PAPER_REAL
from benchmarks.papers.cvb.simulations import NAMES, PAPER, TEST_SHARE, N, draw
from benchmarks.study import SEED, Part
from benchmarks.study.tables import by_values, column, markdown, spread_of, values_of
from benchmarks.study.whole_tables import whole_table
from gbt import GBTRegressor

GAINS, ERRORS = "gain", "squared errors"
FOLDS = (2, 3, 5, 10)


@dataclass
class BoostedBySquaredErrors:
    """Boosting for two classes: regression trees on the gradients, and Newton steps at leaves.

    Trees are those of a method, at most ``n_trees``; one without a split is the last.
    """

    method: str
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
            tree = TRAINERS[self.method](False, 1, self.seed + number, None)
            tree.set_params(learning_rate=1.0).fit(X, y - p)
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


def fitted(method: str, X, y, seed: int, size: str):
    """Yield either criterion, the model, its gains and how many trees it has."""
    n_trees = N_TREES if size == "full" else 5
    model = TRAINERS[method](True, n_trees, seed, None).fit(X, y)
    yield GAINS, model, model.ensemble_.total_gain(), model.ensemble_.n_trees
    other = BoostedBySquaredErrors(method, n_trees, seed).fit(X, y)
    yield ERRORS, other, np.broadcast_to(other.gain, X.shape[1]), len(other.trees)


def simulated(cell, rng, size):
    """Draw the simulation in which x1 matters, and fit greedy trees."""
    X, y = draw(False, N if size == "full" else 200, rng)
    seed = int(rng.integers(2**31 - N_TREES))
    X, X_test, y, y_test = train_test_split(X, y, test_size=TEST_SHARE, random_state=seed)
    for criterion, model, gain, _ in fitted(GREEDY, X, y, seed, size):
        loss = loss_of(model, X_test, y_test, True)
        yield {"criterion": criterion, "loss": loss, "gain": words(scaled(gain))}


def table_of_shares(rows) -> str:
    """List a line a criterion: loss and mean shares of the gain, and the paper's."""
    lines = []
    for (criterion,), own in by_values(rows, "criterion"):
        shares = np.mean([numbers(row["gain"]) for row in own], axis=0)
        loss = spread_of(column(own, "loss"))
        lines.append([criterion, loss, *(f"{share:.3f}" for share in shares)])
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
    for method in (CROSS_VALIDATED, GREEDY):
        for criterion, model, _, n_trees in fitted(method, X.iloc[train], y[train], seed, size):
            loss = loss_of(model, X.iloc[test], y[test], True)
            yield {"method": method, "criterion": criterion, "loss": loss, "n_trees": n_trees}


def table_of_folds(rows) -> str:
    """List a line a method, criterion and number of folds, and the paper's."""
    lines, of_paper = [], dict(zip(COMPARED, PAPER_REAL["adult"], strict=True))
    for (method, criterion), own in by_values(rows, "method", "criterion"):
        cells = [
            f"{spread_of(column(found, 'loss'))}, {np.median(column(found, 'n_trees')):.0f}"
            for _, found in by_values(own, "folds")
        ]
        lines.append([method, criterion, *cells, of_paper[method]])
    names = [f"{folds} folds" for folds in values_of(rows, "folds")]
    return markdown(["method", "criterion", *names, "the paper's"], lines)


CELLS = tuple({"folds": folds, "fold": fold} for folds in FOLDS for fold in range(folds))
PARTS = (
    Part("criterion", ({"case": "power"},), simulated, 100, table_of_shares),
    Part("adult", CELLS, in_folds, 1, table_of_folds, needs=("adult",)),
)
