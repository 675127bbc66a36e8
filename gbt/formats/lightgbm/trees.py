"""The nodes of LightGBM's trees, read from a booster's text and put in preorder.

A tree of L leaves numbers its inner nodes from 0 to L - 2; child -1 is leaf 0, child -2 leaf 1. A
node says in ``decision_type`` whether it splits categories (bit 0), which way missing values go
(bit 1), and what they are (bits 2, 3):

====  =======================  ===================================================================
0     nothing; nan is 0        ``missing_left`` is whether 0 goes left
1     0 and nan                ``zero_is_missing``
2     nan                      as here
====  =======================  ===================================================================

If categories are split, ``threshold`` is the number of the tree's set that goes left: bits in words
of 32, one for every number of a level. All other levels go right, also unseen and missing ones.
Numbers are places in ``pandas_categorical``, if that is given, else the levels themselves.

**Penalties.** A split of a column of more than ``max_cat_to_onehot`` levels adds ``cat_l2`` to the
penalty lambda of its two children, so their values are -eta G / (H + lambda + cat_l2).
"""

from typing import Any

import numpy as np

from gbt.files.documents import InvalidModelError
from gbt.formats.imported import LibraryNodes
from gbt.formats.lightgbm.text import Text, lengths, numbers
from gbt.formats.listed_levels import Listed, bits_of
from gbt.formats.nodes import in_preorder
from gbt.model.ensemble import ZERO_WITHIN

OF_INNER: dict[str, type] = {
    "split_feature": np.int64,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int64,
    "right_child": np.int64,
    "internal_value": np.float64,
}
OF_LEAF: dict[str, type] = {
    "leaf_value": np.float64,
    "leaf_weight": np.float64,
    "leaf_count": np.int64,
}
LARGEST = float(np.finfo(np.float64).max)
IS_CATEGORICAL, DEFAULT_LEFT = 1, 2
NAN_IS_ZERO, ZERO_IS_MISSING = 0, 1
WORD = 32  # bits in a word


def read_trees(text: Text) -> tuple[LibraryNodes, bool]:
    """Read the nodes of all trees and put them in preorder; say whether 0 is missing to them."""
    n_leaves = lengths(text, "leaf_value")
    for m, (tree, n) in enumerate(zip(text.trees, n_leaves.tolist(), strict=True)):
        if tree.get("num_leaves") != str(n):
            raise InvalidModelError(
                f"Tree {m} of the LightGBM model has {n} numbers leaf_value, and num_leaves="
                f"{tree.get('num_leaves', '')[:20]!r}."
            )
        if tree.get("is_linear", "0") != "0":
            raise ValueError(
                f"Linear trees cannot be imported, and tree {m} is one: its leaves are functions of"
                " the row, where an Ensemble has one value. Train with linear_tree=False."
            )
    sizes = 2 * n_leaves - 1
    tree_of = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(tree_of)) - (np.cumsum(sizes) - sizes)[tree_of]
    is_leaf = place >= n_leaves[tree_of] - 1  # leaves are numbered after inner nodes here
    read: dict[str, np.ndarray] = {}
    for name, dtype in {**OF_INNER, **OF_LEAF}.items():
        expected = n_leaves if name in OF_LEAF else n_leaves - 1
        absent = name in ("leaf_weight", "leaf_count")
        read[name] = np.zeros(len(tree_of), dtype)
        read[name][is_leaf == (name in OF_LEAF)] = numbers(text, name, expected, dtype, absent)
    # A split between missing and present rows has the threshold nan; no number lies left of it.
    read["threshold"] = np.nan_to_num(read["threshold"], nan=-LARGEST)
    for name, array in read.items():
        if not np.isfinite(array).all():
            raise InvalidModelError(f"{name} of the LightGBM model are not finite numbers.")
    children = [read[name] for name in ("left_child", "right_child")]
    if any((np.clip(child, -len(child), len(child)) != child).any() for child in children):
        raise InvalidModelError("The LightGBM model has children that are not numbers of nodes.")
    of_leaf = n_leaves[tree_of] - 2
    children = [np.where(child >= 0, child, of_leaf - child) for child in children]
    nodes = in_preorder("LightGBM", sizes, *(np.where(is_leaf, -1, child) for child in children))
    node, level = _read_sets(text, read, tree_of)
    read = {name: array[nodes.order] for name, array in read.items()}
    feature, inner = read["split_feature"], ~nodes.is_leaf
    if (inner & ~((feature >= 0) & (feature < len(text.names)))).any():
        raise InvalidModelError(
            f"The LightGBM model splits on a column that is none of {len(text.names)}."
        )
    has_list = inner & ((read["decision_type"] & IS_CATEGORICAL) != 0)
    missing_left, zero_is_missing = _missing(read, inner, has_list)
    # LightGBM takes numbers within ZERO_WITHIN for 0 and cuts there: below it, not at it.
    threshold = read["threshold"]
    written = LibraryNodes(
        nodes,
        feature,
        np.where(threshold == -ZERO_WITHIN, np.nextafter(-ZERO_WITHIN, -np.inf), threshold),
        missing_left,
        np.where(inner, read["internal_value"], read["leaf_value"]),
        nodes.add_up(read["leaf_weight"]),
        nodes.add_up(read["leaf_count"]),
        Listed.of(nodes, has_list, node, level),
    )
    return written, zero_is_missing


def _read_sets(
    text: Text, read: dict[str, np.ndarray], tree_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return one entry for each level on the left of a node that splits categories.

    An entry is the node, counted through all trees, and the number of the level. The words of a
    tree's set s are those from ``cat_boundaries[s]`` on, up to the next set's.
    """
    node = np.flatnonzero((read["decision_type"] & IS_CATEGORICAL) != 0)
    tree, number = tree_of[node], read["threshold"][node]
    n_begins, n_words = (lengths(text, name) for name in ("cat_boundaries", "cat_threshold"))
    begins = numbers(text, "cat_boundaries", n_begins, np.int64)
    words = numbers(text, "cat_threshold", n_words, np.int64)
    first_begin, first_word = (np.cumsum(of) - of for of in (n_begins, n_words))
    is_there = (number >= 0) & (number < n_begins[tree] - 1) & (number % 1 == 0)
    are_words = (words >> WORD == 0).all()
    for m in np.unique(tree).tolist():
        own = begins[first_begin[m] :][: n_begins[m]]
        is_sound = is_there[tree == m].all() and own[0] == 0 and own[-1] == n_words[m]
        if not (is_sound and are_words and (np.diff(own) >= 0).all()):
            raise InvalidModelError(
                f"Tree {m} of the LightGBM model has sets of levels that do not fit together:"
                " cat_boundaries, cat_threshold, threshold."
            )
    place = first_begin[tree] + number.astype(np.int64)
    begin, end = begins[place], begins[place + 1]
    size = end - begin
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    own = words[np.repeat(first_word[tree] + begin, size) + within]
    word, bit = np.nonzero(bits_of(own[:, np.newaxis]))
    return np.repeat(node, size)[word], WORD * within[word] + bit


def _missing(
    read: dict[str, np.ndarray], inner: np.ndarray, has_list: np.ndarray
) -> tuple[np.ndarray, bool]:
    """Return whether missing values go left at every node, and whether 0 is missing."""
    decision, compared = read["decision_type"], inner & ~has_list
    kind = decision >> 2 & 3
    zero_is_missing = kind[compared] == ZERO_IS_MISSING
    if zero_is_missing.any() and not zero_is_missing.all():
        raise ValueError(
            "A model in which 0 is a missing value in some columns only cannot be imported."
        )
    if zero_is_missing.any() and has_list.any():
        raise ValueError(
            "zero_as_missing=True cannot be imported with categorical splits: there, 0 is a level."
        )
    missing_left = np.where(
        kind == NAN_IS_ZERO, read["threshold"] >= 0, (decision & DEFAULT_LEFT) != 0
    )
    return compared & missing_left, bool(zero_is_missing.any())


def levels_of(text: Text) -> dict[int, list[Any]]:
    """Return the levels of columns that were categories of a frame, in LightGBM's order.

    The text says which columns are categorical, and lists the levels of the frame's categories, but
    does not link the two. If there are equally many, they are in the same order.
    """
    if not text.levels:
        return {}
    n_features = len(text.names)
    said = text.parameters.get("categorical_feature", "")
    columns = [int(k) for k in said.split(",") if k.isdecimal() and int(k) < n_features]
    if len(columns) != len(text.levels):
        raise ValueError(
            f"The LightGBM model was trained on a frame with {len(text.levels)} columns of"
            f" categories, and {len(columns)} of its columns are categorical: which levels belong"
            " to which column cannot be told. Ordered categories, which LightGBM takes for numbers,"
            " make such models: train with numbers instead."
        )
    return dict(zip(columns, text.levels, strict=True))


def penalties(text: Text, nodes: LibraryNodes) -> np.ndarray:
    """Return what is added to H of every node in the formula of its value."""
    penalty = np.full(len(nodes.feature), text.parameter("lambda_l2", 0.0))
    if nodes.listed is None or not nodes.listed.has_list.any():
        return penalty
    infos = text.head.get("feature_infos", "").split(" ")
    n_levels = np.array([info.count(":") + 1 for info in infos])
    if len(infos) != len(text.names):
        raise InvalidModelError(
            "The LightGBM model has not one entry for each column in feature_infos."
        )
    is_sorted = n_levels[nodes.feature] > text.parameter("max_cat_to_onehot", 4.0)
    parent, left, right = nodes.tree.families
    is_penalised = (nodes.listed.has_list & is_sorted)[parent]
    for child in (left, right):
        penalty[child[is_penalised]] += text.parameter("cat_l2", 10.0)
    return penalty
