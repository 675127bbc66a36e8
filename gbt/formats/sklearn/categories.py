"""Categories of scikit-learn's gradient boosting on histograms.

Columns of categories come first there, whatever their place in the table, and levels are numbered
by their places among those that an ``OrdinalEncoder`` has learned. A node has eight words of 32
bits for the numbers that go left. An unknown number goes where missing values go, as an unseen
level does here.
"""

from typing import Any

import numpy as np

from gbt.formats.listed_levels import Listed
from gbt.formats.nodes import Preorder
from gbt.tables.given import is_missing


def columns_in_order(model: Any) -> np.ndarray:
    """Return for each of the model's columns its number in the table."""
    columns = np.arange(model.n_features_in_)
    if model.is_categorical_ is None:
        return columns
    is_categorical = np.asarray(model.is_categorical_, dtype=bool)
    return np.concatenate([columns[is_categorical], columns[~is_categorical]])


def levels_of(model: Any) -> dict[int, list[Any]]:
    """Return the levels of categorical columns, in scikit-learn's order."""
    if model.is_categorical_ is None or not np.any(model.is_categorical_):
        return {}
    encoder = model._preprocessor.named_transformers_["encoder"]
    columns = np.flatnonzero(model.is_categorical_).tolist()
    return {
        k: [level for level in np.asarray(levels).tolist() if not is_missing(level)]
        for k, levels in zip(columns, encoder.categories_, strict=True)
    }


def listed_levels(
    model: Any, tree: Preorder, records: np.ndarray, levels: dict[int, list[Any]]
) -> Listed:
    """Return the numbers of levels that go left.

    ``records`` are scikit-learn's nodes, in preorder, with the columns of the table.
    """
    has_list = ~tree.is_leaf & records["is_categorical"].astype(bool)
    node = np.flatnonzero(has_list)
    if not len(node):
        return Listed(has_list, node, node)
    n_of_tree = [len(tree.raw_left_cat_bitsets) for of in model._predictors for tree in of]
    sets = np.concatenate([p.raw_left_cat_bitsets for of in model._predictors for p in of])
    m = np.searchsorted(tree.tree_offset, node, side="right") - 1
    own = sets[(np.cumsum(n_of_tree) - n_of_tree)[m] + records["bitset_idx"][node]]
    goes_left = _bits(own)
    known_sets, place = model._bin_mapper.make_known_categories_bitsets()
    column = np.empty(model.n_features_in_, dtype=np.int64)
    column[columns_in_order(model)] = place
    is_known = _bits(known_sets)[column[records["feature_idx"][node]]]
    goes_left = np.where(is_known, goes_left, records["missing_go_to_left"][node, np.newaxis] != 0)
    n_levels = np.zeros(model.n_features_in_, dtype=np.int64)
    n_levels[[*levels]] = [len(of_column) for of_column in levels.values()]
    of_node = n_levels[records["feature_idx"][node], np.newaxis]
    row, level = np.nonzero(goes_left & (np.arange(goes_left.shape[1]) < of_node))
    return Listed(has_list, node[row], level)


def _bits(words: np.ndarray) -> np.ndarray:
    """Return the bits of rows of words of 32 bits, the lowest first."""
    rows = np.ascontiguousarray(words).astype("<u4").view(np.uint8)
    return np.unpackbits(rows, axis=1, bitorder="little").astype(bool)
