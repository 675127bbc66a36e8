"""Categories of scikit-learn's gradient boosting on histograms.

Columns of categories come first there, whatever their place in the table, and levels are numbered
by their places among those that an ``OrdinalEncoder`` has learned. A node has eight words of 32
bits for the numbers that go left. An unknown number goes where missing values go, as an unseen
level does here.
"""

from typing import Any

import numpy as np

from gbt.formats.listed_levels import Listed, bits_of
from gbt.formats.nodes import Preorder
from gbt.tables.cells import is_missing


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
    model: Any, trees: list[Any], order: Preorder, records: np.ndarray, levels: dict[int, list[Any]]
) -> Listed:
    """Return the numbers of levels that go left.

    ``records`` are the nodes of scikit-learn's trees in preorder, with the columns of the table.
    """
    has_list = ~order.is_leaf & records["is_categorical"].astype(bool)
    node = np.flatnonzero(has_list)
    if not len(node):
        return Listed(has_list, node, node)
    sets = [tree.raw_left_cat_bitsets for tree in trees]
    first = order.by_node(np.cumsum([0, *map(len, sets)])[:-1])
    goes_left = bits_of(np.concatenate(sets)[(first + records["bitset_idx"])[node]])
    known_sets, place = model._bin_mapper.make_known_categories_bitsets()
    column = np.empty(model.n_features_in_, dtype=np.int64)
    column[columns_in_order(model)] = place
    is_known = bits_of(known_sets)[column[records["feature_idx"][node]]]
    goes_left = np.where(is_known, goes_left, records["missing_go_to_left"][node, np.newaxis] != 0)
    n_levels = np.zeros(model.n_features_in_, dtype=np.int64)
    n_levels[[*levels]] = [len(of_column) for of_column in levels.values()]
    of_node = n_levels[records["feature_idx"][node], np.newaxis]
    row, level = np.nonzero(goes_left & (np.arange(goes_left.shape[1]) < of_node))
    return Listed(has_list, node[row], level)
