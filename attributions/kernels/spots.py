"""Spots: which leaf every row of a block reaches in every tree, and the state that it carries.

Rows go down all trees once. A spot is a place of a tree of depth 4 or less, see
``gbt.kernels.rows.descent``, and otherwise a leaf, counted from the first of its tree: a byte or
two.

From tree to tree a row carries a *state*: its raw prediction f or, with the logistic loss, its odds
e^f. A leaf of value v multiplies odds by e^v, a number of the leaf, so that no row needs an
exponential of its own, which would take as long as all the rest. Rounding adds up to half an eps a
tree.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.platform.compiling import internal, kernel

# Beyond these odds, e^345, a probability is long 0 or 1 in float64; a product of two is finite.
MAX_ODDS = 1e150


def odds(log_odds: np.ndarray) -> np.ndarray:
    """Return e to the power of log-odds, cut off at `MAX_ODDS` and its reciprocal."""
    most = np.log(MAX_ODDS)
    return np.exp(np.clip(log_odds, -most, most))


class Spots(NamedTuple):
    """Which leaves the n rows of a block reach in M trees, and what these do to rows' states."""

    of_row: np.ndarray  # (M, n) unsigned
    first: np.ndarray  # (M,) uint64, number of the tree's first place, or of its root
    tree_depth: np.ndarray  # (M,) int64, steps from the root to the lowest leaf
    value: np.ndarray  # (N + 16 M,) float64, of nodes and places; e^value for odds


@internal
def stand_at_spots(m, spots, at):
    """Write the numbers of the nodes or places where rows are in tree m; ``at`` is uint64 (n,)."""
    spot, first = spots.of_row[m], spots.first[m]
    for i in range(at.shape[0]):
        at[i] = first + np.uint64(spot[i])


@kernel
def predict_before(spots, begin, raw, before):
    """Write the raw predictions of rows before each of T trees, which adds to one of K outputs.

    spots              ``Spots``  IN     not of odds
    begin              int64      IN     the first of the trees
    raw      (K, n)    float64    INOUT  before the first tree; then after the last
    before   (T, n)    float64    OUT
    """
    for j in range(before.shape[0]):
        m = begin + j
        own, spot, first = m % raw.shape[0], spots.of_row[m], spots.first[m]
        for i in range(np.uint64(before.shape[1])):
            before[j, i] = raw[own, i]
            raw[own, i] += spots.value[first + np.uint64(spot[i])]
