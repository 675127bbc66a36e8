"""Groups of rows by a shallow tree, with rules in words."""

from collections.abc import Callable
from typing import Any

import numpy as np

from attributions.held_out.rows_at_splits import RowsAtSplits
from gbt.tables.categories import Levels
from gbt.tables.sparse_rows import with_zeros

FEWEST_IN_GROUP = 30  # rows on which it is found
LEVELS_NAMED = 4


def rules_of(
    rows: RowsAtSplits, adds: np.ndarray, columns: list[int], n: int
) -> tuple[list[str], Callable[[Any], np.ndarray]]:
    """Grow a tree of what rows add; return the rule of each group, and what tells rows' groups.

    Levels are numbers in the order of what their rows add.
    """
    from sklearn.tree import DecisionTreeRegressor

    ensemble, X = rows.ensemble, with_zeros(rows.X)
    levels = [of or () for of in ensemble.categories or ((),) * ensemble.n_features]
    places = {k: _places(X[:, k], adds, len(levels[k])) for k in columns if levels[k]}

    def table(X: np.ndarray) -> np.ndarray:
        taken = np.array(X[:, columns], dtype=np.float64)
        for j, k in enumerate(columns):
            if k in places:
                known = np.isfinite(taken[:, j])
                taken[known, j] = places[k][taken[known, j].astype(int)]
        return taken

    tree = DecisionTreeRegressor(max_leaf_nodes=n, min_samples_leaf=FEWEST_IN_GROUP, random_state=0)
    tree.fit(table(X), adds, rows.weight)
    leaves = np.flatnonzero(tree.tree_.children_left < 0)
    has_missing = np.isnan(X).any(axis=0)

    def rule(leaf: int) -> str:
        texts = []
        for j, (low, high, missing) in _bounds(tree.tree_, leaf).items():
            k = columns[j]
            text = _condition(ensemble.feature_names[k], low, high, levels[k], places.get(k))
            texts.append(text + " or missing" * (missing and bool(has_missing[k])))
        return ", ".join(texts)

    def group_of(X: Any) -> np.ndarray:
        return np.searchsorted(leaves, tree.apply(table(with_zeros(X))))

    return [*map(rule, leaves.tolist())], group_of


def _places(codes: np.ndarray, adds: np.ndarray, n_levels: int) -> np.ndarray:
    """Return the place of every level in the order of the mean of what its rows add."""
    known = np.isfinite(codes)
    code = codes[known].astype(int)
    count = np.bincount(code, minlength=n_levels)
    mean = np.bincount(code, adds[known], minlength=n_levels) / np.maximum(count, 1)
    places = np.empty(n_levels)
    places[np.argsort(mean, kind="stable")] = np.arange(n_levels)
    return places


def _bounds(tree: Any, leaf: int) -> dict[int, tuple[float, float, bool]]:
    """Return which numbers of a column get to a leaf: above, up to, and whether missing ones do."""
    parent = {
        int(child): node
        for node in range(tree.node_count)
        for child in (tree.children_left[node], tree.children_right[node])
        if child >= 0
    }
    bounds: dict[int, tuple[float, float, bool]] = {}
    node = leaf
    while node in parent:
        above = parent[node]
        j, cut = int(tree.feature[above]), float(tree.threshold[above])
        is_left = bool(tree.children_left[above] == node)
        low, high, missing = bounds.get(j, (-np.inf, np.inf, True))
        missing = missing and bool(tree.missing_go_to_left[above] == is_left)
        bounds[j] = (low, min(high, cut), missing) if is_left else (max(low, cut), high, missing)
        node = above
    return dict(reversed(bounds.items()))


def _condition(name: str, low: float, high: float, levels: Levels, places: Any) -> str:
    """Return what a rule says of one column, in words."""
    if places is not None:
        inside = [str(levels[j]) for j in np.flatnonzero((places > low) & (places <= high))]
        more = [f"{len(inside) - LEVELS_NAMED} more"] * (len(inside) > LEVELS_NAMED)
        text = f"{name} in {{{', '.join([*inside[:LEVELS_NAMED], *more])}}}"
    elif np.isinf(low):
        text = f"{name} <= {high:.3g}"
    else:
        text = f"{name} > {low:.3g}" if np.isinf(high) else f"{low:.3g} < {name} <= {high:.3g}"
    return text
