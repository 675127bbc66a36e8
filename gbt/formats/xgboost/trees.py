r"""The nodes of XGBoost's trees, read from its JSON and put in preorder; levels of categories.

A row goes left below a threshold, compared in float32. At a split of a column of categories it goes
left unless the number of its level is in the node's list::

    split_type          0            1                     x is the number of a level
                        |            |
                     x < 0.5     not in (1, 4)
                    /   \          /     \
                yes      no    others   1 or 4

A number that no node lists therefore goes left everywhere, also one that training has not seen, and
only nan goes where ``default_left`` says. An `Ensemble` sends the levels of a set left and all
others right, so such nodes change sides here: the listed levels are left, ``missing_left`` is the
opposite of ``default_left``, and the `Ensemble` has ``unseen_is_missing=False``.

XGBoost 3.1 keeps the levels themselves if it was trained on a frame of categories (``cats``), words
with all letters end to end. An older model, or one of arrays, has only numbers: they are the
levels.
"""

from typing import Any

import numpy as np

from gbt.files.documents import InvalidModelError, shown
from gbt.formats.imported import LibraryNodes
from gbt.formats.listed_levels import Listed
from gbt.formats.nodes import in_preorder
from gbt.formats.xgboost.document import numbers_of

NODE_ARRAYS: dict[str, type] = {
    "left_children": np.int32,
    "right_children": np.int32,
    "split_indices": np.int64,
    "split_conditions": np.float64,
    "split_type": np.int32,
    "default_left": np.int32,
    "base_weights": np.float64,
    "sum_hessian": np.float64,
}
SINGLE = ("split_conditions", "base_weights", "sum_hessian")
LEVEL_ARRAYS = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
LARGEST_32 = float(np.finfo(np.float32).max)
LEAST = np.finfo(np.float64).min
MOST_LEVELS = 2**24  # numbers of levels are float32 to XGBoost


def read_trees(trees: list[Any], n_features: int) -> LibraryNodes:
    """Read the nodes of some trees and put them in preorder; pruned ones are left out.

    Values of inner nodes are w = -G/(H + lambda), those of leaves eta w.
    """
    read = {
        name: [numbers_of(tree, name, f"tree {m}", dtype) for m, tree in enumerate(trees)]
        for name, dtype in NODE_ARRAYS.items()
    }
    sizes = [len(part) for part in read["sum_hessian"]]
    for m, n_nodes in enumerate(sizes):
        lengths = {name: len(parts[m]) for name, parts in read.items()}
        if n_nodes == 0 or {*lengths.values()} != {n_nodes}:
            raise InvalidModelError(
                f"Tree {m} of the XGBoost model has arrays of lengths {lengths}."
            )
    arrays = {
        name: np.concatenate([np.empty(0, NODE_ARRAYS[name]), *parts])
        for name, parts in read.items()
    }
    children = [arrays[name] for name in ("left_children", "right_children")]
    is_changed = arrays["split_type"] != 0  # whose sides are exchanged
    sides = (np.where(is_changed, *both) for both in (children[::-1], children))
    tree = in_preorder("XGBoost", sizes, *sides)
    arrays = {name: array[tree.order] for name, array in arrays.items()}
    inner, feature = ~tree.is_leaf, arrays["split_indices"]

    def refuse(wrong: np.ndarray, what: str) -> None:
        if wrong.any():
            m, node = tree.of_tree(int(np.argmax(wrong)))
            raise InvalidModelError(f"Tree {m} of the XGBoost model has {what} at node {node}.")

    for name in SINGLE:
        is_sound = np.abs(arrays[name]) <= LARGEST_32
        if name == "split_conditions":  # XGBoost 3.4 parts missing rows from all others by inf
            is_sound |= inner & np.isinf(arrays[name])
        refuse(~is_sound, f"infinite or nan {name}")
        arrays[name] = arrays[name].astype(np.float32).astype(np.float64)
    refuse(arrays["sum_hessian"] < 0, "a negative sum_hessian")
    refuse(
        inner & ((feature < 0) | (feature >= n_features)), f"a column that is none of {n_features}"
    )
    has_list = inner & (arrays["split_type"] != 0)
    node, level = _read_lists(trees, sizes) if has_list.any() else _NO_LISTS
    # x < t in float32, so x <= the number before; no number is below -inf, or the least threshold.
    single = arrays["split_conditions"].astype(np.float32)
    with np.errstate(over="ignore"):
        threshold = np.maximum(np.nextafter(single, np.float32(-np.inf)), LEAST)
    return LibraryNodes(
        tree,
        feature,
        threshold,
        (arrays["default_left"] != 0) != has_list,
        np.where(inner, arrays["base_weights"], arrays["split_conditions"]),
        arrays["sum_hessian"],
        listed=Listed.of(tree, has_list, node, level),
    )


_NO_LISTS = np.empty((2, 0), dtype=np.int64)


def _read_lists(trees: list[Any], sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes, counted through all trees, and the numbers of levels that they list.

    A tree has the lists of its nodes end to end, and for every list its node, where it begins and
    how long it is.
    """
    nodes, levels = [_NO_LISTS[0]], [_NO_LISTS[1]]
    starts = np.cumsum(sizes) - sizes
    for m, tree in enumerate(trees):
        level, node, begin, size = (
            numbers_of(tree, name, f"tree {m}", np.int64).astype(np.int64) for name in LEVEL_ARRAYS
        )
        is_sound = (
            len(node) == len(begin) == len(size)
            and ((node >= 0) & (node < sizes[m])).all()
            and (size >= 0).all()
            and size.sum() == len(level)
            and np.array_equal(begin, np.cumsum(size) - size)
            and ((level >= 0) & (level < MOST_LEVELS)).all()
        )
        if not is_sound:
            raise InvalidModelError(
                f"Tree {m} of the XGBoost model has lists of levels that do not fit together:"
                f" {', '.join(LEVEL_ARRAYS)}."
            )
        nodes.append(np.repeat(node + starts[m], size))
        levels.append(level)
    return np.concatenate(nodes), np.concatenate(levels)


def read_levels(model: Any, n_features: int) -> dict[int, list[Any]]:
    """Return the levels of the columns whose levels the model keeps, in XGBoost's order."""
    cats = model.get("cats")
    columns = _of_columns("cats", cats.get("enc", []) if isinstance(cats, dict) else [], n_features)
    found = {k: _levels_of(column, k) for k, column in enumerate(columns)}
    return {k: levels for k, levels in found.items() if levels}


def categorical_columns(learner: Any, n_features: int) -> list[int]:
    """Return the columns that were declared categories, whether or not a tree splits them."""
    types = _of_columns("feature_types", learner.get("feature_types", []), n_features)
    return [k for k, name in enumerate(types) if name == "c"]


def _of_columns(name: str, entries: Any, n_features: int) -> list[Any]:
    """Return a list that has an entry for each column, or none at all."""
    if not isinstance(entries, list) or len(entries) not in (0, n_features):
        raise InvalidModelError(
            f"The XGBoost model's {name} are {shown(entries)}, not one entry for each column."
        )
    return entries


def _levels_of(column: Any, k: int) -> list[Any]:
    """Return the levels of a column; none if it has no categories."""
    where = f"column {k}"
    if not isinstance(column, dict) or "offsets" not in column:
        return numbers_of(column, "values", where, np.int64).tolist()
    offsets = numbers_of(column, "offsets", where, np.int64).astype(np.int64)
    text = numbers_of(column, "values", where, np.int64).astype(np.int64)
    is_sound = ((text >= -128) & (text < 256)).all() and (np.diff(offsets) >= 0).all()
    if not is_sound or (len(offsets) and (offsets[0] != 0 or offsets[-1] != len(text))):
        raise InvalidModelError(f"The levels of column {k} of the XGBoost model are not text.")
    if (text < 0).any() or (text > 127).any():
        raise ValueError(
            f"Column {k} of the XGBoost model cannot be imported: it has levels with letters beyond"
            " ASCII, of which XGBoost (3.2) keeps too few bytes to tell where one ends."
            " Train with other words for them, or with numbers."
        )
    letters = text.astype(np.uint8).tobytes().decode("ascii")
    ends = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    return [letters[begin:end] for begin, end in ends]
