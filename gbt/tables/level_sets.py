"""Level sets: which levels of a categorical column go left at each node that splits one.

Levels are numbered (``gbt.tables.categories``), so a set is a string of bits, one a level, 64 to a
word::

    node        a    b    c                         b splits a column of 70 levels
    of_node    -1    0   -1                         -1: a leaf, or a split on numbers
    start       0    2                              set 0 owns words 0 and 1
    words       levels 0 to 63, levels 64 to 69     bit 1: left

Every level of the column has its bit: one that no training row of the node had goes where missing
values go. A model without such splits has no level sets at all, so numbers pay nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

BITS = 64  # in a word


@dataclass(frozen=True, eq=False)
class LevelSets:
    """The level sets of some nodes."""

    of_node: np.ndarray  # (n_nodes,) int32, the number of a node's set, -1 where it has none
    start: np.ndarray  # (n_sets + 1,) int64, set s owns words[start[s]:start[s + 1]]
    words: np.ndarray  # uint64

    @classmethod
    def of(cls, goes_left: Sequence[np.ndarray | None]) -> "LevelSets":
        """Make the sets of nodes from a boolean a level, or None where a node has no set."""
        return cls.of_words([None if bits is None else as_words(bits) for bits in goes_left])

    @classmethod
    def of_words(cls, words: Sequence[np.ndarray | None]) -> "LevelSets":
        """Make the sets of nodes from their words, or None where a node has no set."""
        has_set = np.array([of_node is not None for of_node in words], dtype=bool)
        packed = [of_node for of_node in words if of_node is not None]
        return cls(
            np.where(has_set, np.cumsum(has_set) - 1, -1).astype(np.int32),
            np.cumsum([0, *map(len, packed)]),
            np.concatenate([np.empty(0, np.uint64), *packed]),
        )

    @classmethod
    def end_to_end(cls, parts: Sequence["LevelSets"]) -> "LevelSets":
        """Return the sets of some trees as those of all their nodes."""
        return cls.of_words([words for part in parts for words in part.of_each()])

    def of_each(self) -> list[np.ndarray | None]:
        """Return the words of every node's set, None where it has none."""
        start = self.start.tolist()
        return [
            None if s < 0 else self.words[start[s] : start[s + 1]] for s in self.of_node.tolist()
        ]

    def within(self, start: int, stop: int) -> "LevelSets":
        """Return the sets of the nodes of a range, such as a tree's; words are shared."""
        return LevelSets(self.of_node[start:stop], self.start, self.words)

    def takes_left(self, node: np.ndarray, level: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """Say which levels are in the sets of nodes; ``otherwise`` where a node has no set, or nan.

        All three have one shape. A level beyond a set is not in it.
        """
        number = self.of_node[node]
        asked = (number >= 0) & ~np.isnan(level)
        first, last = self.start[number[asked]], self.start[number[asked] + 1]
        word, bit = np.divmod(level[asked].astype(np.int64), BITS)
        is_there = word < last - first
        words = self.words[np.where(is_there, first + word, 0)]
        goes_left = np.array(otherwise)
        goes_left[asked] = is_there & (words >> bit.astype(np.uint64) & np.uint64(1)).astype(bool)
        return goes_left

    def in_order(self, nodes: np.ndarray) -> "LevelSets":
        """Return the sets of some nodes, in any order."""
        own = self.of_each()
        return LevelSets.of_words([own[node] for node in nodes.tolist()])

    def problem(self, feature: np.ndarray, n_words: np.ndarray) -> str:
        """Return why these cannot be the sets of nodes that split these columns; empty if they can.

        ``n_words`` is the number of words in a set of each column, -1 for columns of numbers.
        """
        if len(self.of_node) != len(feature):
            return f"must have one number a node, {len(feature)}; got {len(self.of_node)}"
        if len(self.start) == 0 or self.start[0] != 0 or self.start[-1] != len(self.words):
            return f"must start at 0 and end with the words, {len(self.words)}"
        needed = np.where(feature < 0, -1, n_words[np.minimum(feature, len(n_words) - 1)])
        if ((self.of_node >= 0) != (needed >= 0)).any():
            node = int(np.argmax((self.of_node >= 0) != (needed >= 0)))
            return f"must be given for splits of categorical columns alone: node {node} is wrong"
        if not np.array_equal(self.of_node[needed >= 0], np.arange(len(self.start) - 1)):
            return "must be numbered in the order of the nodes that have them"
        if not np.array_equal(np.diff(self.start), needed[needed >= 0]):
            return "must have a bit for every level of their column, and no more words than that"
        return ""

    def goes_left(self, node: int, n_levels: int) -> np.ndarray:
        """Return for every level whether it goes left at a node that has a set."""
        s = self.of_node[node]
        words = np.ascontiguousarray(self.words[self.start[s] : self.start[s + 1]])
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        return bits[:n_levels].astype(bool)


def as_words(goes_left: np.ndarray) -> np.ndarray:
    """Pack a boolean a level into words of 64 bits, the first level in the lowest bit."""
    bits = np.zeros(n_words_for(len(goes_left)) * BITS, dtype=np.uint8)
    bits[: len(goes_left)] = goes_left
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def n_words_for(n_levels: Any) -> Any:
    """Return how many words hold a bit a level, for a number or an array."""
    return -(-n_levels // BITS)
