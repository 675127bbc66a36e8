"""The model: boosted trees as flat arrays of nodes that remember their gradient sums.

This is the one thing that passes between growing trees and attributing predictions. Each node t
keeps what the training rows in it added up to,

    sum_gradient  G_t = sum of w g        sum_hessian  H_t = sum of w h        n_samples

with g and h taken at the predictions before the tree was grown. From them follow

    value  p(t)    = -learning_rate * G_t / (H_t + reg_lambda)                  at every node
    gain   (Sun 2022, Definition 2)
                   = G_l^2/(H_l + reg_lambda) + G_r^2/(H_r + reg_lambda) - G_t^2/(H_t + reg_lambda)

The value of an inner node is what it would predict had growth stopped there; a leaf is a node where
the walk stops, nothing more. Gain has no factor 1/2, unlike the XGBoost paper's equation 7.

A row goes left where ``x <= threshold``; nan goes left where ``missing_left``. The raw prediction
is ``base_score`` plus the values of the leaves reached, added tree by tree in boosting order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from gbt.kernels import descent, walk
from gbt.kernels.descent import N_PLACES, N_TOP, Links
from gbt.losses import LOSSES, Loss
from gbt.parallel import over_blocks
from gbt.tables import as_floats, refuse_other_columns

NODE_DTYPES = {
    "feature": np.int32,  # -1 at a leaf
    "threshold": np.float64,  # 0 at a leaf
    "left": np.int32,  # counted from the tree's root; -1 at a leaf
    "right": np.int32,
    "missing_left": np.bool_,
    "sum_gradient": np.float64,
    "sum_hessian": np.float64,
    "n_samples": np.int64,  # rows, not their weights
    "gain": np.float64,  # 0 at a leaf
    "value": np.float64,
}
NODE_RECORD = np.dtype([*NODE_DTYPES.items()], align=True)  # as they are written down

ROWS_AT_ONCE = 480  # see gbt.kernels.descent

STATISTICS = ("sum_gradient", "sum_hessian", "n_samples", "gain")  # what rows tell of a tree


def arrays_of(nodes: np.ndarray) -> dict[str, Any]:
    """Return an array for each property of some nodes, which are records, as those of a model."""
    return {name: _sealed(np.ascontiguousarray(nodes[name])) for name in NODE_DTYPES}


def _sealed(array: np.ndarray) -> np.ndarray:
    """Return an array that nobody may write to, which to Numba is another type."""
    array.flags.writeable = False
    return array


def end_to_end(trees: Sequence[np.ndarray]) -> np.ndarray:
    """Return the nodes of some trees, which are records, in one array."""
    # As bytes: of records each field is copied by itself, in ten times the time.
    return np.concatenate([tree.view(np.uint8) for tree in trees]).view(NODE_RECORD)


class InvalidModelError(ValueError):
    """A model whose arrays do not describe trees."""


@dataclass(frozen=True, eq=False, repr=False)
class Nodes:
    """What is known of every node: one array a property, of the dtypes in ``NODE_DTYPES``."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    sum_gradient: np.ndarray
    sum_hessian: np.ndarray
    n_samples: np.ndarray
    gain: np.ndarray
    value: np.ndarray

    @property
    def structure(self) -> tuple[np.ndarray, ...]:
        """The arrays that say how to walk, in the order in which kernels take them."""
        return self.feature, self.threshold, self.left, self.right, self.missing_left


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Nodes):
    """One tree in preorder, the root at 0."""

    def __repr__(self):
        return f"<Tree of {self.n_nodes} nodes, depth {self.depth.max()}>"

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def is_leaf(self) -> np.ndarray:
        """Mark the nodes without children."""
        return self.left < 0

    @property
    def depth(self) -> np.ndarray:
        """Number of steps from the root, for every node."""
        depth = np.zeros(self.n_nodes, dtype=np.int64)
        for t in np.flatnonzero(~self.is_leaf):
            depth[[self.left[t], self.right[t]]] = depth[t] + 1
        return depth

    def add_values(self, X: np.ndarray, out: np.ndarray, n_jobs: int | None = None) -> None:
        """Add to ``out`` the value of the leaf that each row of ``X`` (float64) reaches."""
        out += self.value[self.find_leaves(X, n_jobs)]

    def find_leaves(self, X: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Return the leaf that each row of ``X`` (float64) reaches, int32 of shape (n,)."""
        leaves = np.empty(len(X), dtype=np.int32)

        def find(start, stop):
            for first in range(start, stop, ROWS_AT_ONCE):
                rows = slice(first, min(first + ROWS_AT_ONCE, stop))
                # Columns of a frame lie beside each other, for which there is no other kernel.
                walk.find_leaves(np.ascontiguousarray(X[rows]), *self.structure, leaves[rows])

        over_blocks(find, len(X), n_jobs)
        return leaves


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Nodes):
    """Trees end to end in flat arrays, one entry a node; see the module's docstring.

    Parameters
    ----------
    feature, threshold, left, right, missing_left, sum_gradient, sum_hessian, n_samples, gain, value
        One flat array each, of the dtypes in ``NODE_DTYPES``, every tree in preorder.
    tree_offset : int64 array of shape (n_trees + 1,)
        Tree m owns the nodes ``tree_offset[m]:tree_offset[m + 1]``.
    base_score : float
        Raw prediction before the first tree, in link space.
    learning_rate, reg_lambda : float
        Of all trees.
    loss : Loss
        One of ``gbt.losses.LOSSES``.
    feature_names : tuple of str
        One name a column.
    input_dtype : numpy.float64 or numpy.float32
        Rows are rounded to this dtype before they are compared with thresholds: float32 for models
        imported from libraries that compare float32 values.
    """

    tree_offset: np.ndarray
    base_score: float
    learning_rate: float
    reg_lambda: float
    loss: Loss
    feature_names: tuple[str, ...]
    input_dtype: type = np.float64

    def __post_init__(self):
        for name, dtype in {**NODE_DTYPES, "tree_offset": np.int64}.items():
            object.__setattr__(self, name, _sealed(np.array(getattr(self, name), dtype=dtype)))

    def __repr__(self):
        return (
            f"<Ensemble of {self.n_trees} trees, {len(self.feature)} nodes, on {self.n_features}"
            f" features; {self.loss.name}, base_score={self.base_score:.6g},"
            f" learning_rate={self.learning_rate:.6g}, reg_lambda={self.reg_lambda:.6g}>"
        )

    def __getstate__(self):
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.__post_init__()  # pickle forgets that arrays are read-only

    @classmethod
    def from_trees(cls, trees: Sequence[Tree], **others) -> "Ensemble":
        """Lay trees end to end; ``others`` are the fields that are not node arrays."""
        for name, dtype in NODE_DTYPES.items():
            of_trees = [getattr(tree, name) for tree in trees]
            others[name] = np.concatenate([np.empty(0, dtype), *of_trees])
        return cls(tree_offset=np.cumsum([0, *(tree.n_nodes for tree in trees)]), **others)

    def validate(self) -> None:
        """Raise `InvalidModelError` unless the arrays describe trees in preorder.

        A model that passes can be walked: there is no cycle, no node of two parents, none without
        a parent but the roots, and no index out of range. Values need not follow from G and H,
        nor G and H add up: refitted and imported models have values or sums from elsewhere.
        """
        shapes = {name: getattr(self, name).shape for name in NODE_DTYPES}
        n_nodes = len(self.feature)
        if set(shapes.values()) != {(n_nodes,)}:
            raise InvalidModelError(f"node arrays must have one length; got the shapes {shapes}")
        offset = self.tree_offset
        ends = offset[[0, -1]].tolist() if offset.ndim == 1 and len(offset) else []
        if ends != [0, n_nodes] or (np.diff(offset) < 1).any():
            raise InvalidModelError(
                f"tree_offset must rise from 0 to the number of nodes, {n_nodes}, and every tree"
                " must have a node"
            )
        for holds, demand in (
            (np.isfinite(self.base_score), f"base_score must be finite; got {self.base_score}"),
            (
                0 < self.learning_rate < np.inf,
                f"learning_rate must be in (0, inf); got {self.learning_rate}",
            ),
            (
                0 <= self.reg_lambda < np.inf,
                f"reg_lambda must be in [0, inf); got {self.reg_lambda}",
            ),
            (self.loss.name in LOSSES, f"loss must be one of {[*LOSSES]}; got {self.loss.name!r}"),
            (self.n_features > 0, "feature_names must name at least one column"),
            (
                self.input_dtype in (np.float64, np.float32),
                f"input_dtype must be float64 or float32; got {self.input_dtype}",
            ),
        ):
            if not holds:
                raise InvalidModelError(demand)

        inner = self.left >= 0
        left, right = _preorder_links(inner, offset)
        in_range = (self.feature >= 0) & (self.feature < self.n_features)
        for name, holds, demand in (
            ("left", self.left == left, "in preorder it is the next node, and -1 at a leaf"),
            (
                "right",
                self.right == right,
                "in preorder it is the first node after the left child's branch, and -1 at a leaf",
            ),
            (
                "feature",
                np.where(inner, in_range, self.feature == -1),
                f"an inner node has one in [0, {self.n_features}), a leaf -1",
            ),
            ("threshold", inner | (self.threshold == 0), "a leaf has 0"),
            ("missing_left", inner | ~self.missing_left, "a leaf has False"),
            ("gain", inner | (self.gain == 0), "a leaf has 0"),
            ("sum_hessian", self.sum_hessian >= 0, "it cannot be negative"),
            ("n_samples", self.n_samples >= 0, "it cannot be negative"),
            *(
                (name, np.isfinite(getattr(self, name)), "it must be finite")
                for name in ("threshold", "gain", "sum_gradient", "sum_hessian", "value")
            ),
        ):
            if not holds.all():
                node = int(np.argmin(holds))
                tree = int(np.searchsorted(offset, node, side="right")) - 1
                raise InvalidModelError(
                    f"node {node - offset[tree]} of tree {tree} has {name}"
                    f" {getattr(self, name)[node]}: {demand}"
                )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_offset) - 1

    @property
    def n_features(self) -> int:
        """Number of columns that the model was fitted on."""
        return len(self.feature_names)

    @property
    def trees(self) -> "_Trees":
        """The trees as a sequence of `Tree`, views into the flat arrays."""
        return _Trees(self)

    def truncate(self, n_trees: int) -> "Ensemble":
        """Return the model of the first ``n_trees`` trees."""
        if not 0 <= n_trees <= self.n_trees:
            raise ValueError(f"n_trees={n_trees} is not allowed; the model has {self.n_trees}.")
        stop = self.tree_offset[n_trees]
        arrays = {name: getattr(self, name)[:stop] for name in NODE_DTYPES}
        return replace(self, **arrays, tree_offset=self.tree_offset[: n_trees + 1])

    def as_input(self, X) -> np.ndarray:
        """Return ``X`` as C-contiguous rows whose numbers the trees compare with their thresholds.

        They are float32 if the model or the table is, else float64: what follows works with
        either, a block at a time, and the numbers are the same.
        """
        rows = as_floats(X)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(
                f"X has shape {rows.shape}; the model needs a table with {self.n_features} columns,"
                f" the first of them {self.feature_names[0]!r}."
            )
        refuse_other_columns(X, self.feature_names)
        single = np.float32 in (self.input_dtype, rows.dtype)
        return np.ascontiguousarray(rows, dtype=np.float32 if single else np.float64)

    def raw_predict(self, X, n_jobs: int | None = None) -> np.ndarray:
        """Return the raw prediction of every row, float64 of shape (n,)."""
        X = self.as_input(X)
        out = np.full(len(X), self.base_score)

        def add(block, rows):
            self.add_values(block, out[rows])

        over_transposed(add, X, n_jobs, dtype=X.dtype)
        return out

    def add_values(self, block: np.ndarray, out: np.ndarray) -> None:
        """Add the values of all trees to the raw predictions of a `transposed` block of rows."""
        links = self.links_for(block)
        descent.add_leaf_values(columns_of(block), links, self.reached_value, out)

    def staged_raw_predict(self, X, n_jobs: int | None = None) -> Iterator[np.ndarray]:
        """Yield the raw prediction after each tree in turn, each time a new array."""
        X = np.asarray(self.as_input(X), dtype=np.float64)
        out = np.full(len(X), self.base_score)
        for tree in self.trees:
            tree.add_values(X, out, n_jobs)
            yield out.copy()

    def apply(self, X, n_jobs: int | None = None) -> np.ndarray:
        """Return the number, within its tree, of every leaf reached: int32 of shape (n, M)."""
        X = self.as_input(X)
        out = np.empty((len(X), self.n_trees), dtype=np.int32)

        def find(block, rows):
            out[rows] = self.find_leaves(block, range(self.n_trees)).T - self.tree_offset[:-1]

        over_transposed(find, X, n_jobs, dtype=X.dtype)
        return out

    def find_leaves(self, block: np.ndarray, trees: range) -> np.ndarray:
        """Return the leaves that the rows of a `transposed` block reach in some trees.

        Unsigned integers of shape (T, n), counted through all trees: an index of the flat arrays.
        """
        links = self.links_for(block)
        leaves = np.empty((len(trees), block.shape[2]), dtype=links.node.dtype)
        descent.find_leaves(columns_of(block), links.of(trees), leaves)
        return leaves

    def predict_before(
        self, block: np.ndarray, trees: range, raw_prediction: np.ndarray, before: np.ndarray
    ) -> None:
        """Write down the raw predictions of a `transposed` block before each of some trees.

        That is ``before``, float64 of shape (T, n). ``raw_prediction`` is that before the first of
        them and becomes that after the last.
        """
        links = self.links_for(block).of(trees)
        descent.predict_before(columns_of(block), links, self.reached_value, raw_prediction, before)

    def sum_gradients(self, block: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the sum of w g over the rows that reach each node or place that `links` number.

        The rows are a `transposed` block, with float64 targets and weights; g is taken at the
        prediction before the tree. `of_nodes` turns it into sums of leaves.
        """
        links, value = self.links_for(block), self.reached_value
        sums = np.zeros((4, len(value)))
        raw_prediction = np.full(len(y), self.base_score)
        descent.add_up_gradients(
            columns_of(block), links, value, self.loss.kind, y, weight, raw_prediction, sums
        )
        return sums.sum(axis=0)

    def of_nodes(self, sums: np.ndarray) -> np.ndarray:
        """Return the sums of nodes, float64 of shape (n_nodes,), from those of nodes and places."""
        return np.bincount(self.links.node.astype(np.int64), sums)

    @cached_property
    def links(self) -> Links:
        """The nodes as rows go down them; made once, some 50 ns a node."""
        n_nodes = len(self.feature)
        column = np.empty(n_nodes, dtype=np.uint64)
        lower = np.empty((n_nodes, 2), dtype=np.uint64)
        levels = np.empty(self.n_trees, dtype=np.int64)
        descent.link_nodes(
            self.tree_offset,
            self.feature,
            self.left,
            self.right,
            self.missing_left,
            self.n_features,
            column,
            lower,
            levels,
        )
        roots = self.tree_offset[:-1].astype(np.uint64)
        level, above = roots[:, np.newaxis], []
        for _ in range(N_TOP):
            above.append(level)
            level = lower[level][:, :, ::-1].reshape(len(roots), 2 * level.shape[1])  # left first
        top = np.concatenate(above, axis=1)
        node = np.concatenate([np.arange(n_nodes, dtype=np.uint64), level.ravel()])
        return Links(
            roots=roots,
            levels=levels,
            places=np.arange(n_nodes, len(node), N_PLACES, dtype=np.uint64),
            top_column=column[top],
            top_threshold=self.threshold[top],
            column=column[node],
            threshold=self.threshold[node],
            lower=lower[node],
            node=node,
        )

    @cached_property
    def single_links(self) -> Links:
        """The nodes as blocks of float32 go down them, to the same leaves as in float64."""
        links = self.links
        return links._replace(
            places=links.places.astype(np.uint32),
            top_threshold=rounded_down(links.top_threshold),
            threshold=rounded_down(links.threshold),
            node=links.node.astype(np.uint32),
        )

    def links_for(self, block: np.ndarray) -> Links:
        """Return the nodes as a `transposed` block goes down them."""
        return self.single_links if block.dtype == np.float32 else self.links

    @cached_property
    def reached_value(self) -> np.ndarray:
        """The value of every node and place that `links` number."""
        return self.value[self.links.node]

    def total_gain(self) -> np.ndarray:
        """Return, for every feature, the sum of the gains of the nodes that split on it."""
        inner = self.left >= 0
        gain = np.bincount(self.feature[inner], self.gain[inner], minlength=self.n_features)
        return gain.astype(np.float64, copy=False)  # without any split it is one of integers

    def refit_statistics(self, X, y, sample_weight=None) -> "Ensemble":
        """Return the same splits and values with the G, H, counts and gains of other rows.

        Gradients are taken along the unchanged predictions, so the result says what these rows
        would have told each node. Values stay: they are no longer -learning_rate G/(H + lambda).
        """
        X = np.asarray(self.as_input(X), dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        if self.loss.name == "half_logistic" and not np.isin(y, (0.0, 1.0)).all():
            raise ValueError(f"y must hold 0 and 1 only; it holds {y[~np.isin(y, (0, 1))][0]:g}.")
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float)
        raw_prediction = np.full(len(X), self.base_score)
        refitted = []
        for tree in self.trees:
            gradient, hessian = self.loss.gradient_hessian(y, raw_prediction)
            leaves = tree.find_leaves(X)
            raw_prediction += tree.value[leaves]
            refitted.append(
                node_statistics(
                    tree.left,
                    tree.right,
                    leaves,
                    weight * gradient,
                    weight * hessian,
                    self.reg_lambda,
                )
            )
        statistics: dict[str, Any] = {
            name: np.concatenate([np.empty(0), *(of_tree[name] for of_tree in refitted)])
            for name in STATISTICS
        }
        return replace(self, **statistics)


def rounded_down(threshold: np.ndarray) -> np.ndarray:
    """Return the largest float32 that is not above each threshold.

    A float32 x is at most the one exactly when it is at most the other.
    """
    with np.errstate(over="ignore"):
        single = threshold.astype(np.float32)
        return np.where(single > threshold, np.nextafter(single, np.float32(-np.inf)), single)


def transposed(
    rows: np.ndarray, memory: np.ndarray | None = None, dtype: type | np.dtype = np.float64
) -> np.ndarray:
    """Return rows as trees take them in blocks: transposed, twice.

    Parameters
    ----------
    rows : float32 or float64 array of shape (n, p)
    memory : array of shape (2 n p,) or longer, optional
        Where to put them.
    dtype : numpy.float64 or numpy.float32
        float32 only for rows of float32, or they would be rounded.

    Returns
    -------
    array of shape (2, p, n)
        ``[0]`` has nan for a missing value, ``[1]`` has -inf, so that a node sends a row left if
        ``block[int(missing_left), feature] <= threshold``.
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
) -> None:
    """Call ``work(block, rows)`` for `transposed` blocks of rows, from several threads."""

    def over_range(start, stop):
        memory = np.empty(2 * X.shape[1] * min(rows_at_once, stop - start), dtype)
        for first in range(start, stop, rows_at_once):
            rows = slice(first, min(first + rows_at_once, stop))
            work(transposed(X[rows], memory, dtype), rows)

    over_blocks(over_range, len(X), n_jobs)


def node_statistics(left, right, leaves, gradient, hessian, reg_lambda) -> dict[str, np.ndarray]:
    """Return G, H, row count and gain of every node of a tree from the leaf each row reaches.

    Leaves are summed in row order in float64, parents by adding their two children, so that the
    sums of a parent are those of its children to the last bit.
    """
    n_nodes = len(left)
    sums = np.column_stack(
        [
            np.bincount(leaves, gradient, minlength=n_nodes),
            np.bincount(leaves, hessian, minlength=n_nodes),
            np.bincount(leaves, minlength=n_nodes),
        ]
    )
    walk.add_up_children(left, right, sums)
    sum_gradient, sum_hessian, n_samples = sums.T
    score = sum_gradient * node_step(sum_gradient, sum_hessian, reg_lambda)
    inner = left >= 0
    gain = np.zeros(n_nodes)
    gain[inner] = score[left[inner]] + score[right[inner]] - score[inner]
    return {
        "sum_gradient": sum_gradient,
        "sum_hessian": sum_hessian,
        "n_samples": n_samples.astype(np.int64),
        "gain": gain,
    }


def node_step(sum_gradient, sum_hessian, reg_lambda) -> np.ndarray:
    """Return G / (H + lambda), or 0 where that is 0 / 0: a node without weight moves nothing."""
    weight = sum_hessian + reg_lambda
    return np.divide(sum_gradient, weight, out=np.zeros_like(weight), where=weight > 0)


def _preorder_links(is_inner, tree_offset) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the children of all nodes of trees in preorder: the leaves alone settle them.

    An inner node promises two children, and every node keeps one promise, the latest. So before a
    root one promise waits, before any other node at least one, and after a tree none. The left
    child is the next node; the right child keeps the earlier promise of its parent, hence is the
    next node before which as many wait as before the parent::

              a          node     a   b   d   e   c
             / \         waiting  1   2   3   2   1   (0)
            b   c        left     b   d
           / \           right    c   e
          d   e
    """
    start = np.repeat(tree_offset[:-1], np.diff(tree_offset))
    change = np.where(is_inner, 1, -1)
    before = np.cumsum(change) - change
    waiting = 1 + before - before[start]
    for m in np.flatnonzero((waiting + change)[tree_offset[1:] - 1] != 0):
        raise InvalidModelError(f"tree {m} lacks nodes, or has some that no walk reaches")
    if (waiting < 1).any():
        m = np.searchsorted(tree_offset, np.argmax(waiting < 1), side="right") - 1
        raise InvalidModelError(f"tree {m} has nodes that no walk reaches")

    node = np.arange(len(start))
    next_alike = np.empty_like(node)
    by_waiting = np.argsort(waiting, kind="stable")
    next_alike[by_waiting] = np.roll(by_waiting, -1)
    return (
        np.where(is_inner, node + 1 - start, -1),
        np.where(is_inner, next_alike - start, -1),
    )


class _Trees(Sequence):
    """`Ensemble.trees`: made when asked for, so that an ensemble is arrays and nothing else."""

    def __init__(self, ensemble: Ensemble):
        self._ensemble = ensemble

    def __len__(self):
        return self._ensemble.n_trees

    def __getitem__(self, m):
        if isinstance(m, slice):
            return [self[i] for i in range(*m.indices(len(self)))]
        if not -len(self) <= m < len(self):
            raise IndexError(f"tree {m} of an ensemble of {len(self)} trees")
        start, stop = self._ensemble.tree_offset[m % len(self) :][:2]
        return Tree(*(getattr(self._ensemble, field.name)[start:stop] for field in fields(Tree)))
