"""CatBoost's own binary format, as far as trees on numbers, levels and counters of levels need it.

After the letters CBM1 and a length, the model is a table of FlatBuffers. A table begins with the
distance to a list that has the place of every field in the table, 0 for absent ones::

    list of places   | size | size of the table | field 0 | field 1 | ...      uint16
    table            | distance | fields ...                                   int32, then any
    array            | length | values ...                                     uint32, then any

A field that is an array, a text or another table holds the distance to it. Fields have numbers in
the order of CatBoost's ``model.fbs`` and ``features.fbs``. Arrays of numbers are NumPy arrays over
the bytes, and nothing is copied. Bytes come from a model in memory, which CatBoost has checked.
"""

import struct
from typing import Any, NamedTuple

import numpy as np

START = 8  # where the first table's distance stands, after the letters and the length
TREES = 1  # the field of the model that has the trees
APPROX_DIMENSION, TREE_SPLITS, TREE_SIZES = 0, 1, 2
CAT_FEATURES, FLOAT_FEATURES, ONE_HOT_FEATURES, CTR_FEATURES = 4, 5, 6, 7
LEAF_VALUES, LEAF_WEIGHTS, STEP_NODES, LEAF_OF_NODE = 8, 9, 10, 11
TEXT_FEATURES, ESTIMATED_FEATURES, SCALE, BIAS, BIASES, EMBEDDINGS = 12, 13, 14, 15, 16, 18
FLAT_INDEX, BORDERS, FEATURE_ID, NAN_TREATMENT = 2, 3, 4, 5  # of a float feature
NAN_IS_LARGE = 2
FLAT_INDEX_OF_LEVELS, ID_OF_LEVELS = 1, 2  # of a categorical feature
CATEGORY, HASHES = 0, 1  # of a one-hot feature: which of the categorical ones, and its levels'
COUNTER, COUNTER_BORDERS = 0, 1  # of a counter feature; field 0 leads to what it counts
COUNTED, COMBINATION = 0, 0  # of a counter: its base; of that: what is combined
OF_CATEGORIES, OF_NUMBERS, OF_LEVELS = 0, 1, 2  # of a combination: what it is made of


class Model(NamedTuple):
    """What CatBoost keeps of a model."""

    n_outputs: int
    size: np.ndarray  # int32, of each tree: levels if trees are symmetric, else nodes
    split: np.ndarray  # int32, of all levels, the lowest first, or nodes of all trees
    # uint16 (n_nodes, 2), how far it is to the node of either side; none if trees are symmetric
    further: np.ndarray
    leaf_of_node: np.ndarray  # uint32, where the value of a node is that a walk ends at
    leaf_value: np.ndarray  # float64 of all leaves of all trees, their outputs side by side
    leaf_weight: np.ndarray  # float64
    feature: np.ndarray  # the column of each split
    border: np.ndarray  # float32, of each split
    nan_is_large: np.ndarray  # bool, for each split
    level: np.ndarray  # of each split, which of the hashes of its column; -1 of a number
    feature_names: tuple[str, ...]
    categorical: tuple[int, ...]  # columns, in the order in which CatBoost counts them
    scale: float
    bias: np.ndarray
    counter: np.ndarray  # of each split, which counter it asks; -1 of a number or level
    counted: list[tuple[int, ...]]  # the columns that each counter combines
    others: list[str]  # kinds of features that are statistics of text or embeddings


class _Table(NamedTuple):
    data: bytes
    at: int

    def place(self, field: int) -> int:
        """Return where a field is, 0 if it is absent."""
        places = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        if 4 + 2 * field >= struct.unpack_from("<H", self.data, places)[0]:
            return 0
        offset = struct.unpack_from("<H", self.data, places + 4 + 2 * field)[0]
        return self.at + offset if offset else 0

    def number(self, field: int, code: str, default: float = 0) -> Any:
        """Return a number; ``code`` is its type as the module struct has it."""
        place = self.place(field)
        return struct.unpack_from("<" + code, self.data, place)[0] if place else default

    def target(self, field: int) -> int:
        """Return where an array, a text or a table begins, 0 if it is absent."""
        place = self.place(field)
        return place + struct.unpack_from("<I", self.data, place)[0] if place else 0

    def array(self, field: int, dtype: str) -> np.ndarray:
        """Return an array of numbers."""
        at = self.target(field)
        length = struct.unpack_from("<I", self.data, at)[0] if at else 0
        return np.frombuffer(self.data, dtype, length, at + 4)

    def text(self, field: int) -> str:
        """Return a text."""
        return self.array(field, "u1").tobytes().decode()

    def table(self, field: int) -> "_Table":
        """Return a table."""
        return _Table(self.data, self.target(field))

    def tables(self, field: int) -> list["_Table"]:
        """Return an array of tables."""
        distances, at = self.array(field, "<u4"), self.target(field) + 4
        return [_Table(self.data, at + 4 * i + d) for i, d in enumerate(distances.tolist())]


class _Asked(NamedTuple):
    """A column of numbers, a column of levels, or a counter, and what splits ask of it."""

    column: int
    border: np.ndarray  # float32; 0 of levels
    nan_is_large: bool = True
    are_levels: bool = False
    counter: int = -1


def read_model(data: bytes) -> Model:
    """Return the model in CatBoost's bytes."""
    root = _Table(data, START + struct.unpack_from("<I", data, START)[0])
    trees = _Table(data, root.target(TREES))
    columns, of_levels = trees.tables(FLOAT_FEATURES), trees.tables(CAT_FEATURES)
    places = [column.number(FLAT_INDEX, "i", -1) for column in columns]
    categorical = [column.number(FLAT_INDEX_OF_LEVELS, "i", -1) for column in of_levels]
    names = {
        **{k: column.text(FEATURE_ID) for k, column in zip(places, columns, strict=True)},
        **{k: column.text(ID_OF_LEVELS) for k, column in zip(categorical, of_levels, strict=True)},
    }
    asked = [
        _Asked(k, column.array(BORDERS, "<f4"), column.number(NAN_TREATMENT, "b") == NAN_IS_LARGE)
        for k, column in zip(places, columns, strict=True)
    ]
    for column in trees.tables(ONE_HOT_FEATURES):
        none = np.zeros(len(column.array(HASHES, "<i4")), np.float32)
        asked.append(_Asked(categorical[column.number(CATEGORY, "i", -1)], none, are_levels=True))
    counters = trees.tables(CTR_FEATURES)
    counted = [_combined(counter, places, categorical) for counter in counters]
    for i, counter in enumerate(counters):
        border = counter.array(COUNTER_BORDERS, "<f4")
        asked.append(_Asked(counted[i][0], border, counter=i))
    n_splits = [len(one.border) for one in asked]
    column_of, nan_is_large, are_levels, counter_of = (
        np.repeat(np.array([one[field] for one in asked], dtype), n_splits)
        for field, dtype in ((0, np.int64), (2, bool), (3, bool), (4, np.int64))
    )
    within = np.concatenate([np.empty(0, np.int64), *map(np.arange, n_splits)])
    biases = trees.array(BIASES, "<f8")
    kinds = {"text": TEXT_FEATURES, "estimated": ESTIMATED_FEATURES, "embedding": EMBEDDINGS}
    return Model(
        n_outputs=trees.number(APPROX_DIMENSION, "i"),
        size=trees.array(TREE_SIZES, "<i4"),
        split=trees.array(TREE_SPLITS, "<i4"),
        further=trees.array(STEP_NODES, "<u4").view("<u2").reshape(-1, 2),
        leaf_of_node=trees.array(LEAF_OF_NODE, "<u4"),
        leaf_value=trees.array(LEAF_VALUES, "<f8"),
        leaf_weight=trees.array(LEAF_WEIGHTS, "<f8"),
        feature=column_of,
        border=np.concatenate([np.empty(0, np.float32), *(one.border for one in asked)]),
        nan_is_large=nan_is_large,
        level=np.where(are_levels, within, -1),
        feature_names=tuple(names.get(k) or str(k) for k in range(max(names, default=-1) + 1)),
        categorical=tuple(categorical),
        scale=trees.number(SCALE, "d", 1.0),
        bias=biases if len(biases) else np.array([trees.number(BIAS, "d")]),
        counter=counter_of,
        counted=counted,
        others=[kind for kind, field in kinds.items() if len(trees.array(field, "<u4"))],
    )


def _combined(counter: _Table, numbers: list[int], categorical: list[int]) -> tuple[int, ...]:
    """Return the columns that a counter combines: categories, and splits of numbers and levels."""
    made_of = counter.table(COUNTER).table(COUNTED).table(COMBINATION)
    categories = made_of.array(OF_CATEGORIES, "<i4").tolist()
    # Splits are pairs of four bytes each: which feature, and its border or level.
    pairs = [made_of.array(field, "<i8").view("<i4")[::2] for field in (OF_NUMBERS, OF_LEVELS)]
    own = {categorical[k] for k in (*categories, *pairs[1].tolist())}
    return tuple(sorted(own | {numbers[k] for k in pairs[0].tolist()}))
