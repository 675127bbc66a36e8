"""Writing down a grown tree: thresholds between any two floats, nodes in preorder."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gbt.kernels.trees.finish import put_in_preorder
from gbt.kernels.trees.nodes import NODE, records
from gbt.model.tree import NODE_RECORD
from gbt.reference import boosting as reference
from gbt.tables.columns import Columns, thresholds_between
from tests.asserts import assert_same
from tests.kernel_call import call

pytestmark = pytest.mark.kernels
LARGEST = np.finfo(np.float64).max
EPS = 2.0**-52
floats = st.floats(allow_nan=False, allow_infinity=False)


@given(floats, floats)
def test_a_threshold_separates_two_values(one, other):
    low, high = min(one, other), max(one, other)
    assume(low < high)
    threshold = thresholds_between(low, high)
    assert low <= threshold < high
    assert threshold == reference.threshold_between(low, high)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.0, 2.0, 1.5),
        (1.0, 1.0 + EPS, 1.0),  # no float lies between, and the midpoint rounds to the even one,
        (1.0 + EPS, 1.0 + 2 * EPS, 1.0 + EPS),  # here the higher
        (0.75 * LARGEST, LARGEST, 0.875 * LARGEST),  # their sum overflows
        (1.0, 1.0 + 2.0**-23, 1.0 + 2.0**-24),  # neighbours in float32
    ],
)
def test_thresholds_by_hand(low, high, expected):
    assert thresholds_between(low, high) == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thresholds_of_nodes_that_split(dtype):
    """Where no value goes right it is the largest float. Leaves keep what they have."""
    X = np.array([[0.1, -5.0], [3.0, np.nan], [0.2, 7.0]], dtype=dtype)
    nodes = records(4, NODE_RECORD)
    nodes["feature"], nodes["threshold"] = [0, -1, 1, 1], 9.0
    rows_at_cut = np.array([[2, 1], [-1, -1], [2, -1], [0, 2]], dtype=np.int32)
    Columns.from_table(X).write_thresholds(nodes, rows_at_cut)
    assert_same(nodes["threshold"], [(float(dtype(0.2)) + 3.0) / 2, 9.0, LARGEST, 1.0])


@pytest.mark.parametrize(
    ("left", "right", "place"),
    [
        ([-1], [-1], [0]),
        ([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [0, 1, 2, 3, 4]),
        #     0        opened level by level; the left child's branch stands before the right child
        #    / \
        #   1   2
        #  / \ / \
        # 3  4 5  6
        ([1, 3, 5, -1, -1, -1, -1], [2, 4, 6, -1, -1, -1, -1], [0, 1, 4, 2, 3, 5, 6]),
        # best first: the right child is split first
        ([1, 5, 3, -1, -1, -1, -1], [2, 6, 4, -1, -1, -1, -1], [0, 1, 4, 5, 6, 2, 3]),
    ],
)
def test_preorder_by_hand(left, right, place):
    nodes = records(len(left), NODE)
    nodes["left"], nodes["right"] = left, right
    call(put_in_preorder, nodes=nodes)
    assert_same(nodes["place"], place)
