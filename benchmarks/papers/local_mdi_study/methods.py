"""What is compared: a number a tree, row and feature, put together over the trees in three ways.

==============  ====================================================================================
Saabas          Differences of node means along the path. In a forest it is PreDecomp, and local MDI
                by least squares on the rows that grew the tree. So it is in LightGBM's models,
                whose leaves have no penalty, except where they split words.
PreDecomp       Differences of node values.
TreeSHAP        Path-dependent.
least squares   Local MDI: in-bag rows, no raw columns.
elastic net     Local MDI+, all rows, raw columns, the defaults of ``local_mdi``.
held-out gain   What the row adds to the held-out gain. It is given the row's target.
LIME            See ``lime_by_tree``.
==============  ====================================================================================

Aggregates: the absolute value of the *sum*, the sum of *absolute* values, the mean of *ranks* (a
feature that a tree does not use shares the lowest). *global* gives every row the same scores, the
mean of the absolute sums over all rows that are scored. What the paper calls LMDI+ in its
experiments has ranks of another rule, that of the authors' program: a feature's ranks are averaged
over the trees that use it (`attributions.per_row.aggregates`). The simulations have them as well,
*ranks where used*.
"""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise

import numpy as np

from attributions.held_out.rows_at_splits import RowsAtSplits
from attributions.held_out.splits import StepsOfModel
from attributions.inputs import SeenRowsWarning
from attributions.kernels.stumps import add_ranks
from attributions.mdi.elastic_net import ElasticNet
from attributions.mdi.least_squares import OLS
from attributions.mdi.local_mdi import StumpModels
from attributions.mdi.training_trees import TrainingTrees
from attributions.per_row.individual import attribute_per_tree
from benchmarks.papers.local_mdi_study.lime_by_tree import N_SAMPLES, lime_by_tree
from benchmarks.papers.local_mdi_study.models import KINDS
from benchmarks.papers.local_mdi_study.tables import Table
from benchmarks.study.tables import by_values
from gbt.formats import as_ensemble
from gbt.parallel.chunks import Chunk

METHODS = {
    "saabas": "Saabas",
    "predecomp": "PreDecomp",
    "tree_shap": "TreeSHAP",
    "ols": "local MDI, least squares",
    "elastic_net": "local MDI+, elastic net",
    "held_out": "held-out gain of rows",
    "lime": "LIME",
}
OF_OURS = ("predecomp", "ols")  # which in the other models are Saabas
LADDER = {  # the paper's ablation: from local MDI, one thing at a time, to local MDI+
    "ols": ("least squares, in-bag rows", OLS, False, "inbag"),
    "ols_all": ("least squares, all rows", OLS, False, "all"),
    "ols_raw": ("least squares, all rows, raw columns", OLS, True, "all"),
    "elastic_net": ("elastic net, all rows, raw columns", ElasticNet, True, "all"),
}
LABELS = {**METHODS, **{name: f"local MDI, {words}" for name, (words, *_) in LADDER.items()},
          "elastic_net": METHODS["elastic_net"], "ols": METHODS["ols"]}  # fmt: skip
AGGREGATES = ("sum", "absolute", "rank", "global")
WHERE_USED = "rank where used"


def methods_of(kind: str, leave_out: Iterable[str] = ()) -> list[str]:
    """Return the methods of a kind of model, LIME among them if it is installed."""
    return [
        name
        for name in METHODS
        if name not in leave_out
        and (kind == "boosted" or name not in OF_OURS)
        and (name != "lime" or find_spec("lime"))
    ]


def by_score(rows) -> Iterator[tuple[tuple[str, str, str], list[dict]]]:
    """Yield what a model, method and aggregate are called in tables, and their rows."""
    for (kind,), of_kind in by_values(rows, "model"):
        for (method, aggregate), own in by_values(of_kind, "method", "aggregate"):
            yield (KINDS[kind], LABELS.get(method, method), aggregate), own


@dataclass(frozen=True)
class Scores:
    """What a method says of rows, each of shape (n, p)."""

    signed: np.ndarray
    absolute: np.ndarray
    rank: np.ndarray
    rank_where_used: np.ndarray

    @classmethod
    def of(cls, by_tree: np.ndarray) -> "Scores":
        """Put trees together; ``by_tree`` is (M, n, p)."""
        ranks = np.zeros(by_tree.shape[:0:-1])
        for values in by_tree:
            add_ranks(np.ascontiguousarray(values.T), ranks)
        absolute = np.abs(by_tree)
        where_used = ranks_where_used(absolute)
        return cls(by_tree.sum(axis=0), absolute.sum(axis=0), ranks.T / len(by_tree), where_used)

    def by(self, aggregate: str) -> np.ndarray:
        """Return scores that are not negative."""
        if aggregate == "sum":
            return np.abs(self.signed)
        if aggregate == "global":
            return np.broadcast_to(self.weights, self.signed.shape)
        return getattr(self, aggregate.replace(" ", "_"))

    @property
    def weights(self) -> np.ndarray:
        """The mean absolute sums, (p,)."""
        return np.abs(self.signed).mean(axis=0)


def ranks_where_used(absolute: np.ndarray) -> np.ndarray:
    """Return mean ranks over the trees that give a feature something, by the authors' rule."""
    total, n_used = np.zeros(absolute.shape[1:]), np.zeros(absolute.shape[2])
    for values in absolute:
        is_used = values.any(axis=0)
        order = np.argsort(np.where(is_used, values, -1.0), axis=1, kind="stable")
        total += np.argsort(order, axis=1) * is_used
        n_used += is_used
    return total / np.maximum(n_used, 1)


class Explained:
    """A model with the rows that it was fitted on, from which every method is asked."""

    def __init__(self, model, table: Table, seed: int, size: str = "full"):
        self.model, self.table, self.seed = model, table, seed
        self.ensemble = as_ensemble(model)
        self.n_samples = N_SAMPLES if size == "full" else 30

    def scores(self, method: str, X, y=None) -> Scores:
        """Return what a method says of rows; the held-out gain needs their targets."""
        if method == "lime":
            of_fit = self.table.X, self.table.is_word
            found = lime_by_tree(self.ensemble, *of_fit, X, self.seed, self.n_samples)
        elif method == "held_out":
            found = held_out_by_tree(self.model, X, y)
        elif method in LADDER:
            _, linear_model, raw, rows = LADDER[method]
            training = TrainingTrees.of(self.model, self.table.X, self.table.y, rows=rows)
            fitted = StumpModels.fit(training, linear_model(), raw=raw, n_jobs=1)
            found = stacked(training.ensemble, X, fitted)
        else:
            found = stacked(self.ensemble, X, method)
        return Scores.of(found)

    def of_all(self, methods: Iterable[str], X, y=None) -> Iterator[tuple[str, Scores]]:
        """Yield methods and what they say."""
        for method in methods:
            yield method, self.scores(method, X, y)


def stacked(ensemble, X, individual) -> np.ndarray:
    """Return the contributions of all trees, (M, n, p)."""
    return np.stack([values for _, values in attribute_per_tree(ensemble, X, individual, 1)])


def held_out_by_tree(model, X, y) -> np.ndarray:
    """Return what every tree's splits add to a row's part of the held-out gain, (M, n, p).

    What a row adds is linear in the slopes and constants of the steps that it takes. Those of all
    trees but one are put to 0 in turn.
    """
    steps = StepsOfModel.of(as_ensemble(model), getattr(model, "classes_", None))
    with warnings.catch_warnings():  # that these are training rows, where they are, as in the paper
        warnings.simplefilter("ignore", SeenRowsWarning)
        rows = RowsAtSplits.of(steps, Chunk(X, y))
        part = steps.judged(rows.node_sums(1, keep=True)).parts(for_error=False)
    edges, found = steps.ensemble.tree_offset, []
    for first, last in pairwise(edges):
        of_tree = np.zeros_like(part)
        of_tree[first:last] = part[first:last]
        found.append(rows.parts(of_tree, slice(0, len(X)))[0])
    return np.stack(found)
