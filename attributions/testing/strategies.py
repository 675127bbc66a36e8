"""What property tests draw: trees first, then rows for them, then tables and data sets to fit.

Trees are drawn node by node, not fitted: a fitted tree hardly ever splits the same feature twice
with thresholds that contradict each other, has a gain of exactly zero, or a leaf that weighs next
to nothing, and that is where attributions go wrong. The statistics of a drawn tree are consistent
all the same: parents are the float64 sums of their children, values and gains follow by definition.

``tests/house/test_meta.py`` shows that every peculiarity named here does come up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gbt.losses.squared_and_logistic import LOSSES
from gbt.model.ensemble import Ensemble
from gbt.model.tree import NODE_DTYPES, Tree

__all__ = [
    "MEETING_POINTS", "REG_LAMBDAS", "Judged", "Problem", "ensembles", "judged", "problems",
    "rows_for", "tables", "trees",
]  # fmt: skip

REG_LAMBDAS = (0.0, 0.1, 1.0, 10.0, 100.0)

# Few, so that thresholds repeat and meet data; integers, and decimals that no float represents.
MEETING_POINTS = (0.0, -2.0, -1.0, -0.3, 0.1, 1 / 3, 0.5, 1.0, 2.0, 7.0)
_numbers = st.sampled_from(MEETING_POINTS) | st.floats(-10.0, 10.0, width=32) | st.floats(-1e6, 1e6)
# Squares of smaller gradients vanish: fits refuse them (`gbt.losses.overflow`).
_targets = _numbers.filter(lambda target: target == 0 or abs(target) > 1e-100)

Draw = Callable[[st.SearchStrategy[Any]], Any]  # what Hypothesis hands to a composite strategy

# width=32: next to the smallest float64 a product has fewer digits than any tolerance allows for.
_leaf_gradients = st.sampled_from([0.0, 1.0, -1.0, 0.1, -3.0]) | st.floats(-100.0, 100.0, width=32)
_leaf_hessians = st.sampled_from([1.0, 2.0, 0.1, 2.0**-20]) | st.floats(2.0**-20, 100.0)


@st.composite
def trees(
    draw: Draw,
    max_depth: int = 4,
    n_features: int = 4,
    reg_lambda: float = 1.0,
    learning_rate: float = 0.5,
) -> Tree:
    """Draw a tree in preorder, from a single leaf to a full tree of ``max_depth`` levels."""
    nodes: list[dict[str, Any]] = []

    def grow(depth: int) -> tuple[int, tuple[float, ...]]:
        """Append a subtree and return the position and the sums G, H, n of its root."""
        t = len(nodes)
        node: dict[str, Any] = dict.fromkeys(NODE_DTYPES, 0)
        nodes.append(node)
        if depth < max_depth and draw(st.booleans()):
            node["feature"] = draw(st.integers(0, n_features - 1))
            node["threshold"] = draw(_numbers)
            node["missing_left"] = draw(st.booleans())
            node["left"], left_sums = grow(depth + 1)
            node["right"], right_sums = grow(depth + 1)
            sums = tuple(a + b for a, b in zip(left_sums, right_sums, strict=True))
        else:
            node.update(feature=-1, left=-1, right=-1, missing_left=False)
            sums = draw(_leaf_gradients), draw(_leaf_hessians), draw(st.integers(1, 30))
        node.update(sum_gradient=sums[0], sum_hessian=sums[1], n_samples=sums[2])
        node["value"] = learning_rate * step(node)
        if node["left"] > 0:
            node["gain"] = score(nodes[node["left"]]) + score(nodes[node["right"]]) - score(node)
        return t, sums

    def step(node: dict[str, Any]) -> float:
        return -node["sum_gradient"] / (node["sum_hessian"] + reg_lambda)

    def score(node: dict[str, Any]) -> float:
        return -node["sum_gradient"] * step(node)

    grow(0)
    arrays: dict[str, Any] = {
        name: np.array([node[name] for node in nodes], dtype=dtype)
        for name, dtype in NODE_DTYPES.items()
    }
    return Tree(**arrays)


@st.composite
def ensembles(
    draw: Draw,
    max_trees: int = 3,
    max_depth: int = 4,
    n_features: int = 4,
    losses: tuple[str, ...] = tuple(LOSSES),
    reg_lambda: float | None = None,
) -> Ensemble:
    """Draw a model of 1 to ``max_trees`` trees; ``losses`` are names, lambda is drawn if None."""
    if reg_lambda is None:
        reg_lambda = draw(st.sampled_from(REG_LAMBDAS))
    learning_rate = draw(st.sampled_from([0.5, 0.1, 1.0]))
    one_tree = trees(max_depth, n_features, reg_lambda, learning_rate)
    return Ensemble.from_trees(
        draw(st.lists(one_tree, min_size=1, max_size=max_trees)),
        base_score=draw(st.sampled_from([0.0, 0.5, -1.3])),
        learning_rate=learning_rate,
        reg_lambda=reg_lambda,
        loss=LOSSES[draw(st.sampled_from(losses))],
        feature_names=tuple(f"x{k}" for k in range(n_features)),
    )


@st.composite
def rows_for(draw: Draw, ensemble: Ensemble, n: int | None = None) -> np.ndarray:
    """Draw ``n`` rows (1 to 12 if None) that meet the thresholds of a model.

    Cells are thresholds of their own column, one ulp to either side of them (in the model's
    ``input_dtype``), missing, huge, or anything else. At most 8 rows are drawn cell by cell; more
    rows repeat them in turn.
    """
    if n is None:
        n = draw(st.integers(1, 12))
    dtype = ensemble.input_dtype
    huge = float(np.finfo(dtype).max) / 2
    elsewhere = _numbers | st.sampled_from([np.nan, huge, -huge])

    columns = []
    for k in range(ensemble.n_features):
        on: np.ndarray = np.unique(ensemble.threshold[ensemble.feature == k]).astype(dtype)
        beside = [np.nextafter(on, dtype(direction)) for direction in (-np.inf, np.inf)]
        near = np.concatenate([on, *beside]).astype(np.float64).tolist()
        columns.append(st.sampled_from(near) | elsewhere if near else elsewhere)
    distinct = draw(st.lists(st.tuples(*columns), min_size=1, max_size=min(n, 8)))
    return np.resize(np.array(distinct), (n, ensemble.n_features))


@dataclass(eq=False)
class Judged:
    """A model, rows that meet its thresholds, targets of shape (n,) and weights of shape (n,)."""

    ensemble: Ensemble
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray

    @property
    def terms(self) -> float:
        """Bound, for every feature, of all that is added up in sum_i w_i sum_m |r g| / alpha."""
        value = np.abs(self.ensemble.value).sum()
        gradient = np.abs(self.y) + abs(self.ensemble.base_score) + value + 1
        return float(value * (self.weight * gradient).sum() / self.ensemble.learning_rate)


@st.composite
def judged(
    draw: Draw,
    max_rows: int = 12,
    models: st.SearchStrategy[Ensemble] | None = None,
    weights: tuple[float, ...] = (0.5, 0.1, 1.0, 3.0, 0.0),
) -> Judged:
    """Draw a model (one of `ensembles` unless ``models`` are given) and rows to judge it by.

    Targets are 0 and 1 for the logistic loss. The first row weighs 2, the others some of
    ``weights``.
    """
    ensemble = draw(ensembles() if models is None else models)
    X = draw(rows_for(ensemble, n=draw(st.integers(1, max_rows))))
    n = len(X)
    targets = [0.0, 1.0] if ensemble.loss.name == "half_logistic" else [-2.0, 0.0, 0.1, 3.0]
    y = np.array(draw(st.lists(st.sampled_from(targets), min_size=n, max_size=n)))
    others = draw(st.lists(st.sampled_from(weights), min_size=n - 1, max_size=n - 1))
    return Judged(ensemble, X, y, np.array([2.0, *others]))


@st.composite
def tables(draw: Draw, n: int, max_features: int = 3, missing: bool = True) -> np.ndarray:
    """Draw a table of n rows and 1 to ``max_features`` columns.

    Columns are constant, have few distinct values, are all different, or are missing in places
    (or everywhere) unless ``missing`` is False.
    """
    few = st.sampled_from([0.0, 1.0, 0.1])
    kinds = [few, _numbers, st.just(0.1)]
    if missing:
        kinds += [few | st.just(np.nan), st.just(np.nan)]
    column = st.sampled_from(kinds).flatmap(lambda cell: st.lists(cell, min_size=n, max_size=n))
    return np.column_stack(draw(st.lists(column, min_size=1, max_size=max_features)))


@dataclass(frozen=True, eq=False)
class Problem:
    """Something to fit: (n, p) rows, targets of shape (n,), weights of shape (n,) or None."""

    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None


@st.composite
def problems(
    draw: Draw,
    max_rows: int = 30,
    max_features: int = 3,
    task: str = "regression",
    weighted: bool | None = None,
    missing: bool | None = None,
) -> Problem:
    """Draw a small data set; ``weighted`` and ``missing`` are drawn if None.

    Its rows are those of `tables`. Targets are any numbers for ``task="regression"``; for
    ``"classification"`` they are 0 and 1. Weights may be 0, but those of the first two rows, which
    have both labels, are 1: what is left when rows of weight 0 are dropped can be fitted.
    """
    n = draw(st.integers(2, max_rows))
    weighted = draw(st.booleans()) if weighted is None else weighted
    missing = draw(st.booleans()) if missing is None else missing
    X = draw(tables(n, max_features, missing))
    if task == "regression":
        y = np.array(draw(st.lists(_targets, min_size=n, max_size=n)))
    else:
        labels = draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))
        y = np.array([0.0, 1.0, *labels])
    sample_weight = None
    if weighted:
        weights = st.sampled_from([1.0, 2.0, 0.5, 0.1, 0.0])
        others = draw(st.lists(weights, min_size=n - 2, max_size=n - 2))
        sample_weight = np.array([1.0, 1.0, *others])
    return Problem(X, y, sample_weight)
