"""Categories of imported models: the levels that a library lists at its nodes, as sets of ours.

A library numbers the levels of a column in an order of its own, and stores at every node that
splits them which numbers go to one side. Here levels are sorted (``gbt.tables.categories``), so
numbers change; a node's list becomes a set with a bit for every level of its column::

    the library's levels   red 0   blue 1   green 2       a node lists 0, 1
    here                   blue 0  green 1  red 2         its set is {0, 2}

If a library keeps only numbers, these are the levels: all that any node lists. A number that no
node lists is treated as an unseen one, because no node distinguishes the two.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from gbt.files.documents import InvalidModelError
from gbt.formats.nodes import Preorder
from gbt.tables.categories import KINDS, Levels, check_levels, kind_of
from gbt.tables.level_sets import BITS, LevelSets, n_words_for


class Listed(NamedTuple):
    """The numbers of levels that go left at the nodes that split categories."""

    has_list: np.ndarray  # for every node, in preorder
    node: np.ndarray  # for every number that is listed: the node that lists it
    level: np.ndarray  # and the number

    @classmethod
    def of(
        cls, tree: Preorder, has_list: np.ndarray, node: np.ndarray, level: np.ndarray
    ) -> "Listed":
        """Return lists of nodes in preorder, given lists of nodes as the library numbers them.

        Entries of nodes that no tree reaches, or that have no list, are left out.
        """
        place = np.full(max(tree.order.max(initial=-1), node.max(initial=-1)) + 1, -1)
        place[tree.order] = np.arange(len(tree.order))
        node = place[node]
        is_kept = (node >= 0) & has_list[node]
        return cls(has_list, node[is_kept], level[is_kept])

    def as_sets(
        self,
        library: str,
        feature: np.ndarray,
        names: tuple[str, ...],
        known: dict[int, list[Any]],
        declared: Collection[int] = (),
    ) -> dict[str, Any]:
        """Return ``categories`` and ``level_sets`` of an `Ensemble`; nothing if there are none.

        The library keeps the levels of the columns in ``known``, in its order. No node need split
        columns that are ``declared`` categories, and no level of theirs need be known.
        """
        columns = {*known, *declared, *np.unique(feature[self.has_list]).tolist()}
        if not columns:
            return {}
        categories: list[Levels | None] = [None] * len(names)
        of_list = feature[self.node]
        number = np.empty_like(self.level)  # the number that each listed level has here
        for k in sorted(columns):
            is_own = of_list == k
            listed, own = self.level[is_own], known.get(k)
            if own is None:
                distinct, listed = np.unique(listed, return_inverse=True)
                own = distinct.tolist()
            categories[k], place = _sorted(own, library, names[k])
            if len(listed) and listed.max() >= len(place):
                raise InvalidModelError(
                    f"The {library} model splits level {listed.max()} of column {names[k]!r}, which"
                    f" has {len(place)}."
                )
            number[is_own] = place[listed]
        n_words = np.array([0 if c is None else n_words_for(len(c)) for c in categories])
        column = np.where(self.has_list, feature, 0)  # files may have anything at other nodes
        return {
            "categories": tuple(categories),
            "level_sets": self._packed(number, n_words[column]),
        }

    def _packed(self, number: np.ndarray, n_words: np.ndarray) -> LevelSets:
        """Return the sets, given our number of each listed level, and the words of each node."""
        begin = np.cumsum(np.concatenate([[0], np.where(self.has_list, n_words, 0)]))
        words = np.zeros(begin[-1], dtype=np.uint64)
        bit = np.uint64(1) << (number % BITS).astype(np.uint64)
        np.bitwise_or.at(words, begin[self.node] + number // BITS, bit)
        of_node = np.where(self.has_list, np.cumsum(self.has_list) - 1, -1).astype(np.int32)
        return LevelSets(of_node, np.append(begin[:-1][self.has_list], begin[-1]), words)


def bits_of(words: np.ndarray) -> np.ndarray:
    """Return the bits of rows of words of 32 bits, the lowest first."""
    rows = np.ascontiguousarray(words).astype("<u4").view(np.uint8)
    return np.unpackbits(rows, axis=1, bitorder="little").astype(bool)


def _sorted(own: list[Any], library: str, name: str) -> tuple[Levels, np.ndarray]:
    """Return a library's levels sorted, and the new place of each."""
    try:
        levels = [*map(_as_level, own)]
        by_kind = {kind_of(level): level for level in levels}
        if len(by_kind) > 1:
            some = " and ".join(map(repr, by_kind.values()))
            raise ValueError(f"its levels are of several kinds, such as {some}")
        order = sorted(range(len(levels)), key=levels.__getitem__)
        checked = check_levels([levels[i] for i in order])
    except ValueError as error:
        raise ValueError(
            f"Column {name!r} of the {library} model cannot be imported: {error}."
        ) from error
    return checked, np.argsort(order)


def _as_level(level: Any) -> Any:
    """Return a library's level as the word, whole number or boolean that it is."""
    kind = kind_of(level)
    if kind and (kind != "numbers" or level == np.floor(level)):
        return KINDS[kind](level)
    raise ValueError(f"it has the level {level!r}, and levels are words, whole numbers or booleans")
