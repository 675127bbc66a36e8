"""Partitioning: stable, a permutation, and sums that are those of the left rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels.partition import partition_nodes
from tests.asserts import assert_same

pytestmark = pytest.mark.kernels


def partition(codes, missing_code, cut, missing_left, rows, gradient, start, stop):
    """Partition nodes that all split column 0; hessians are 1."""
    n_nodes = len(start)
    data = (
        np.array(rows, dtype=np.int32),
        np.array(gradient, dtype=np.int64),
        np.ones(len(rows), dtype=np.int64),
    )
    found = (*np.empty((3, n_nodes), dtype=np.int64), np.empty((n_nodes, 3), dtype=np.int64))
    partition_nodes(
        np.array([codes], dtype=np.int32),
        np.full(n_nodes, missing_code),
        np.zeros(n_nodes, dtype=np.int64),
        np.array(cut),
        np.array(missing_left),
        data,
        np.array(start),
        np.array(stop),
        found,
    )
    return data, found


def test_the_drawing_of_the_docstring():
    """Rows a to f, of which b, c and f go right: a d e | b c f."""
    data, (middle, low, high, sums) = partition(
        codes=[0, 3, 2, 1, 0, 2],
        missing_code=4,
        cut=[1],
        missing_left=[False],
        rows=range(6),
        gradient=[10, 20, 30, -40, 50, 60],
        start=[0],
        stop=[6],
    )
    assert_same(data[0], [0, 3, 4, 1, 2, 5])
    assert_same(data[1], [10, -40, 50, 20, 30, 60])
    assert_same([middle[0], low[0], high[0]], [3, 1, 2])
    assert_same(sums, [[20, 3, 100]])


@pytest.mark.parametrize(("missing_left", "expected"), [(True, [0, 2, 1]), (False, [0, 1, 2])])
def test_missing_rows_follow_their_flag(missing_left, expected):
    data, (_, low, high, _) = partition(
        [0, 1, 2], 2, [0], [missing_left], [0, 1, 2], [1, 1, 1], [0], [3]
    )
    assert_same(data[0], expected)
    assert_same([low[0], high[0]], [0, 1])


def test_present_against_missing_reports_the_code_of_missing():
    _, (middle, low, high, _) = partition(
        [0, 2, 1], 2, [1], [False], [0, 1, 2], [1, 1, 1], [0], [3]
    )
    assert_same([middle[0], low[0], high[0]], [2, 1, 2])


@given(data=st.data())
def test_against_list_comprehensions(data):
    codes = data.draw(st.lists(st.integers(0, 4), min_size=2, max_size=20))  # 4 is missing
    n = len(codes)
    rows = data.draw(st.permutations(range(n)))
    gradient = data.draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n))
    border = data.draw(st.integers(1, n - 1))
    start, stop = [0, border], [border, n]
    cut = data.draw(st.lists(st.integers(0, 3), min_size=2, max_size=2))
    missing_left = data.draw(st.lists(st.booleans(), min_size=2, max_size=2))
    moved, (middle, low, high, sums) = partition(
        codes, 4, cut, missing_left, rows, [gradient[r] for r in rows], start, stop
    )
    for j in range(2):
        own = rows[start[j] : stop[j]]

        def goes_left(row, j=j):
            return missing_left[j] if codes[row] == 4 else codes[row] <= cut[j]

        left, right = [r for r in own if goes_left(r)], [r for r in own if not goes_left(r)]
        assert_same(moved[0][start[j] : stop[j]], left + right)
        assert middle[j] == start[j] + len(left)
        g = [gradient[r] for r in left]
        assert_same(sums[j], [sum(g), len(g), sum(map(abs, g))])
        assert low[j] == max((codes[r] for r in left if codes[r] < 4), default=-1)
        assert high[j] == min((codes[r] for r in right), default=4)
    assert_same(moved[1], [gradient[r] for r in moved[0]])
