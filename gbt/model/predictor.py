"""The predictor: rows go down the trees of a model, a block of rows and all trees at a time.

Rows come as a `transposed` block, which holds every feature twice; ``gbt.kernels.rows.descent``
draws how a block goes down a tree without a branch. The kernels need the ``Links`` between a
model's nodes, which are made once, when the model first predicts.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from gbt.kernels.rows import descent, walk
from gbt.kernels.rows.descent import N_PLACES, N_TOP, Links
from gbt.parallel.threads import over_blocks
from gbt.tables.level_sets import LevelSets
from gbt.tables.sparse_rows import NUMBERS_AT_ONCE, SparseRows

ROWS_AT_ONCE = 480  # see gbt.kernels.rows.descent


class Predictor:
    """The trees of an `Ensemble`, which keeps this, ready for rows to go down them."""

    def __init__(self, model: Any):
        # Not the model itself: two objects that keep each other stay in memory for a while.
        self.tree_offset, self.structure = model.tree_offset, model.structure
        self.value, self.n_features = model.value, model.n_features
        self.sets = walk.node_sets(model.level_sets)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_offset) - 1

    def raw_predict(
        self, X: np.ndarray, start: float | np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """Return start and values of the leaves reached, added up for every row of floats."""
        out = np.full(len(X), start)

        def add(block: np.ndarray, rows: slice) -> None:
            self.add_values(block, out[rows])

        over_transposed(add, X, n_jobs, dtype=X.dtype)
        return out

    def add_values(self, block: np.ndarray, out: np.ndarray) -> None:
        """Add the values of all trees to the raw predictions of a `transposed` block of rows."""
        links = self.links_for(block)
        descent.add_leaf_values(columns_of(block), links, self.reached_value, out)

    def apply(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Return the leaf, numbered within its tree, of every row in every tree: int32 (n, M)."""
        out = np.empty((len(X), self.n_trees), dtype=np.int32)

        def find(block: np.ndarray, rows: slice) -> None:
            leaves = np.empty((self.n_trees, block.shape[2]), self.spot_dtype)
            descent.find_spots(
                columns_of(block), self.links_for(block), self.first_spot, self.leaf_of_spot, leaves
            )
            out[rows] = leaves.T

        over_transposed(find, X, n_jobs, dtype=X.dtype)
        return out

    @cached_property
    def leaf_of_spot(self) -> np.ndarray:
        """The node that stands at every node and place, numbered within its tree, int32."""
        node = self.links.node.astype(np.int64)
        tree = np.searchsorted(self.tree_offset, node, side="right") - 1
        return (node - self.tree_offset[tree]).astype(np.int32)

    @cached_property
    def first_spot(self) -> np.ndarray:
        """The number of every tree's first spot: of its first place or, if it is deep, its root."""
        return np.where(self.links.tree_depth <= N_TOP, self.links.places, self.links.roots)

    @cached_property
    def spot_dtype(self) -> np.dtype:
        """The smallest type of the spots of all trees, counted from the first."""
        n_nodes, is_shallow = np.diff(self.tree_offset), self.links.tree_depth <= N_TOP
        n_spots = np.where(is_shallow, N_PLACES, n_nodes)
        return np.min_scalar_type(n_spots.max(initial=1) - 1)

    def of_nodes(self, sums: np.ndarray) -> np.ndarray:
        """Return the sums of nodes, float64 of shape (n_nodes,), from those of nodes and places."""
        return np.bincount(self.links.node.astype(np.int64), sums)

    @cached_property
    def links(self) -> Links:
        """The `Links` between nodes for rows of float64; made once, in some 50 ns a node."""
        feature, threshold, left, right, missing_left = self.structure
        n_nodes = len(feature)
        column = np.empty(n_nodes, dtype=np.uint64)
        lower = np.empty((n_nodes, 2), dtype=np.uint64)
        tree_depth = np.empty(self.n_trees, dtype=np.int64)
        descent.link_nodes(
            self.tree_offset, feature, left, right, missing_left, self.n_features,
            np.zeros(n_nodes, dtype=np.int64), column, lower, tree_depth,
        )  # fmt: skip
        roots = self.tree_offset[:-1].astype(np.uint64)
        top, nodes = top_of_trees(roots, lower, N_TOP)
        node = np.concatenate([np.arange(n_nodes, dtype=np.uint64), nodes.ravel()])
        # A cut between present and missing values is stored as the largest number; inf is present,
        # too.
        threshold = np.where(threshold == np.finfo(np.float64).max, np.inf, threshold)
        sets = self.sets
        if sets is not None:
            threshold = np.where(sets.n_bits > 0, -np.inf, threshold)
            sets = walk.NodeSets(sets.first[node], sets.n_bits[node], sets.words)
        return Links(
            roots=roots,
            tree_depth=tree_depth,
            places=np.arange(n_nodes, len(node), N_PLACES, dtype=np.uint64),
            top_column=column[top],
            top_threshold=threshold[top],
            column=column[node],
            threshold=threshold[node],
            lower=lower[node],
            node=node,
            top=None if sets is None else top,
            sets=sets,
        )

    @cached_property
    def single_links(self) -> Links:
        """The `Links` for rows of float32, which reach the same leaves as in float64."""
        links = self.links
        return links._replace(
            places=links.places.astype(np.uint32),
            top_threshold=rounded_down(links.top_threshold),
            threshold=rounded_down(links.threshold),
            node=links.node.astype(np.uint32),
        )

    def links_for(self, block: np.ndarray) -> Links:
        """Return the `Links` for the dtype of a `transposed` block."""
        return self.single_links if block.dtype == np.float32 else self.links

    @cached_property
    def reached_value(self) -> np.ndarray:
        """The value of every node and place that `links` number."""
        return self.value[self.links.node]


def top_of_trees(
    roots: np.ndarray, lower: np.ndarray, n_depths: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes of the first depths of trees, depth by depth, and those below, left first.

    Trees are made complete by leaves that are their own children; M roots, (M, 2^n_depths - 1) and
    (M, 2^n_depths) nodes.
    """
    nodes, above = roots[:, np.newaxis], []
    for _ in range(n_depths):
        above.append(nodes)
        nodes = lower[nodes][:, :, ::-1].reshape(len(roots), 2 * nodes.shape[1])
    return np.concatenate(above, axis=1), nodes


def find_leaves_of_tree(
    structure: tuple[np.ndarray, ...],
    X: np.ndarray,
    n_jobs: int | None,
    level_sets: LevelSets | None = None,
) -> np.ndarray:
    """Return the leaf of one tree that each row of ``X`` (floats) reaches, int32 of shape (n,)."""
    leaves = np.empty(len(X), dtype=np.int32)
    sets = walk.node_sets(level_sets)
    rows_at_once, take_rows = ROWS_AT_ONCE, X.__getitem__
    if isinstance(X, SparseRows):  # of their columns only those that the tree splits on
        feature, *others = structure
        used = np.unique(feature[feature >= 0])
        structure = np.searchsorted(used, feature).astype(feature.dtype), *others
        rows_at_once = max(1, NUMBERS_AT_ONCE // max(len(used), 1))
        take_rows = partial(X.some_columns, used)

    def find(start: int, stop: int) -> None:
        for first in range(start, stop, rows_at_once):
            rows = slice(first, min(first + rows_at_once, stop))
            # A frame's values lie column by column; the kernel takes tables that lie row by row.
            walk.find_leaves_of_tree(
                np.ascontiguousarray(take_rows(rows)), *structure, sets, leaves[rows]
            )

    over_blocks(find, len(X), n_jobs)
    return leaves


def rounded_down(threshold: np.ndarray) -> np.ndarray:
    """Return the largest float32 that is not above each threshold.

    A float32 x is at most the threshold if and only if it is at most that number.
    """
    with np.errstate(over="ignore"):
        single = threshold.astype(np.float32)
        return np.where(single > threshold, np.nextafter(single, np.float32(-np.inf)), single)


def transposed(
    rows: np.ndarray, memory: np.ndarray | None = None, dtype: type | np.dtype = np.float64
) -> np.ndarray:
    """Return rows of floats as trees take them in blocks: transposed, twice, (2, p, n).

    The first has nan for a missing value and the second -inf, so that a node sends a row left if
    ``block[int(missing_left), feature] <= threshold``. They are put into ``memory``, of 2 n p
    numbers or more, if it is given, and are float32 only if the rows are, or they would be rounded.
    """
    n_rows, n_features = rows.shape
    n_numbers = 2 * n_features * n_rows
    if memory is None:
        memory = np.empty(n_numbers, dtype)
    block = memory[:n_numbers].reshape(2, n_features, n_rows)
    block[0] = rows.T
    np.fmax(block[0], -np.inf, out=block[1])
    return block


def columns_of(block: np.ndarray) -> np.ndarray:
    """Return a `transposed` block as (2 p, n), the columns with -inf after those with nan."""
    return block.reshape(2 * block.shape[1], block.shape[2])


def over_transposed(
    work: Callable[[np.ndarray, slice], None],
    X: np.ndarray,
    n_jobs: int | None,
    rows_at_once: int = ROWS_AT_ONCE,
    dtype: type | np.dtype = np.float64,
    min_rows: int = 1024,
) -> None:
    """Call ``work(block, rows)`` for `transposed` blocks of rows, from several threads.

    A thread gets at least ``min_rows`` of them, see ``gbt.parallel.threads.over_blocks``. Sparse
    rows are written over zeros, which are restored afterwards; with many columns fewer at once.
    """
    if isinstance(X, SparseRows):
        rows_at_once = max(1, min(rows_at_once, NUMBERS_AT_ONCE // max(X.shape[1], 1)))

    def over_range(start: int, stop: int) -> None:
        memory = np.empty(2 * X.shape[1] * min(rows_at_once, stop - start), dtype)
        for first in range(start, stop, rows_at_once):
            rows = slice(first, min(first + rows_at_once, stop))
            if not isinstance(X, SparseRows):
                work(transposed(X[rows], memory, dtype), rows)
                continue
            if first == start or rows.stop - first < rows_at_once:
                block = transposed(X.zeros(rows.stop - first), memory, dtype)
            X.write(rows, block)
            work(block, rows)
            X.erase(rows, block)

    over_blocks(over_range, len(X), n_jobs, min_rows)
