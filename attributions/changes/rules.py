"""Groups of rows by a shallow tree, with rules in words."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from attributions.held_out.rows_at_splits import RowsAtSplits
from attributions.inputs import as_numbers
from attributions.names import find_feature
from gbt.tables.categories import Levels
from gbt.tables.sparse_rows import with_zeros
from gbt.tables.table import Table

FEWEST_IN_GROUP = 30  # rows on which it is found
LEVELS_NAMED, MOST_LEVELS = 2, 3  # of more than the most, so many are named


class Telling(NamedTuple):
    """The columns that may tell groups of rows apart."""

    names: tuple[str, ...]
    levels: tuple[Levels | None, ...]  # of each; None of numbers
    numbers: np.ndarray  # (n, len(names)); of levels their places, nan where missing

    @classmethod
    def of(cls, rows: RowsAtSplits, X: Any, names: Sequence[str] | None) -> Self:
        """Take columns as the user has them, in front of a pipeline those of X.

        Without names these are all but words and dates with too few rows each: ordered by their
        means they would tell any rows apart.
        """
        steps, of_trees = rows.ensemble.preparation, rows.ensemble.categories
        known = rows.ensemble.feature_names if steps is None else steps.names
        chosen = [*range(len(known))] if names is None else [find_feature(n, known) for n in names]
        if steps is None:
            numbers = with_zeros(rows.X)
            columns = [(numbers[:, k], of_trees[k] if of_trees else None) for k in chosen]
        else:
            table = Table(steps.in_order(X.toarray() if issparse(X) else X))
            columns = [as_numbers(table, k) for k in chosen]
        if names is None:
            most = len(rows.X) // FEWEST_IN_GROUP
            kept = [j for j, (_, levels) in enumerate(columns) if len(levels or ()) <= most]
            chosen, columns = [chosen[j] for j in kept], [columns[j] for j in kept]
        if not columns:
            raise ValueError(
                f"All columns are words of which fewer than {FEWEST_IN_GROUP} rows have the same;"
                " name in columns those that may tell groups apart."
            )
        of_columns, levels = zip(*columns, strict=True)
        return cls(tuple(known[k] for k in chosen), levels, np.column_stack(of_columns))

    def at(self, places: np.ndarray) -> Self:
        """Return the columns of some rows."""
        return self._replace(numbers=self.numbers[places])


def rules_of(
    columns: Telling, adds: np.ndarray, weight: np.ndarray, n: int
) -> tuple[list[str], Callable[[Telling], np.ndarray]]:
    """Grow a tree of what rows add; return the rule of each group, and what tells rows' groups.

    ``adds`` is times the weight. Levels are numbers in the order of what their rows add.
    """
    from sklearn.tree import DecisionTreeRegressor

    numbers = columns.numbers
    places = {
        j: _places(numbers[:, j], adds, weight, len(levels))
        for j, levels in enumerate(columns.levels)
        if levels is not None
    }

    def ordered(numbers: np.ndarray) -> np.ndarray:
        taken = np.array(numbers, dtype=np.float64)
        for j, place in places.items():
            known = np.isfinite(taken[:, j])
            taken[known, j] = place[taken[known, j].astype(int)]
        return taken

    tree = DecisionTreeRegressor(max_leaf_nodes=n, min_samples_leaf=FEWEST_IN_GROUP, random_state=0)
    tree.fit(ordered(numbers), adds / weight, weight)
    for node in np.flatnonzero(np.isin(tree.tree_.feature, [*places, -2], invert=True)):
        x = numbers[:, tree.tree_.feature[node]].astype(np.float32)  # as scikit-learn takes it
        x = x.astype(np.float64)  # or float32 would be asked below
        tree.tree_.threshold[node] = _shortest(x, tree.tree_.threshold[node])
    leaves = np.flatnonzero(tree.tree_.children_left < 0)
    has_missing = np.isnan(numbers).any(axis=0)

    def rule(leaf: int) -> str:
        texts = []
        for j, (low, high, missing) in _bounds(tree.tree_, leaf).items():
            text = _condition(columns.names[j], low, high, columns.levels[j], places.get(j))
            texts.append(text + " or missing" * (missing and bool(has_missing[j])))
        return ", ".join(texts)

    def group_of(others: Telling) -> np.ndarray:
        return np.searchsorted(leaves, tree.apply(ordered(others.numbers)))

    return [*map(rule, leaves.tolist())], group_of


def _shortest(x: np.ndarray, cut: float) -> float:
    """Return the number of fewest digits that parts the same values as a cut does."""
    low, high = x[x <= cut].max(initial=-np.inf), x[x > cut].min(initial=np.inf)
    rounded = (float(f"{cut:.{digits}g}") for digits in range(3, 10))
    return next((number for number in rounded if low <= number < high), cut)


def _places(codes: np.ndarray, adds: np.ndarray, weight: np.ndarray, n_levels: int) -> np.ndarray:
    """Return the place of every level in the order of the mean of what its rows add."""
    known = np.isfinite(codes)
    code = codes[known].astype(int)
    added, weighs = (np.bincount(code, of[known], minlength=n_levels) for of in (adds, weight))
    mean = np.divide(added, weighs, out=np.zeros(n_levels), where=weighs > 0)
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


def _condition(name: str, low: float, high: float, levels: Any, places: Any) -> str:
    """Return what a rule says of one column, in words."""
    if places is not None:
        inside = [str(levels[j]) for j in np.flatnonzero((places > low) & (places <= high))]
        if len(inside) > MOST_LEVELS:
            inside[LEVELS_NAMED:] = [f"{len(inside) - LEVELS_NAMED} more"]
        text = f"{name} in {{{', '.join(inside)}}}"
    elif np.isinf(low):
        text = f"{name} <= {high:.15g}"
    else:
        text = f"{name} > {low:.15g}" if np.isinf(high) else f"{low:.15g} < {name} <= {high:.15g}"
    return text
