"""Partitioning: stable, a permutation, and the rows between which the threshold will be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels.trees.partition import partition_rows
from tests.asserts import assert_same
from tests.kernel_call import call

pytestmark = pytest.mark.kernels


def partition(codes, missing_code, cut, missing_left, rows):
    """Return the rows after the partition, how many went left, and the rows at the cut."""
    done = call(
        partition_rows,
        codes=np.array(codes, dtype=np.int32),
        missing_code=missing_code,
        cut=cut,
        missing_left=missing_left,
        rows=np.array(rows, dtype=np.int32),
    )
    return done.rows, *done.result


def test_the_drawing_of_the_docstring():
    """Rows a to f, of which b, c and f go right: a d e | b c f."""
    moved, n_left, low, high = partition([0, 3, 2, 1, 0, 2], 4, 1, False, range(6))
    assert_same(moved, [0, 3, 4, 1, 2, 5])
    assert n_left == 3
    assert (low, high in (2, 5)) == (3, True)


@pytest.mark.parametrize(("missing_left", "expected"), [(True, [0, 2, 1]), (False, [0, 1, 2])])
def test_missing_rows_follow_their_flag(missing_left, expected):
    moved, n_left, low, high = partition([0, 1, 2], 2, 0, missing_left, [0, 1, 2])
    assert_same(moved, expected)
    assert (n_left, low, high) == (2 if missing_left else 1, 0, 1)


def test_present_against_missing_has_no_row_above_the_cut():
    moved, n_left, low, high = partition([0, 2, 1], 2, 1, False, [0, 1, 2])
    assert_same(moved, [0, 2, 1])
    assert (n_left, low, high) == (2, 2, -1)


def test_rows_of_other_nodes_are_neither_moved_nor_looked_at():
    """Node rows 5 1 3 of a table of six; rows 0, 2 and 4 lie nearer to the cut."""
    moved, n_left, low, high = partition([2, 0, 2, 5, 3, 1], 6, 2, False, [5, 1, 3])
    assert_same(moved, [5, 1, 3])
    assert (n_left, low, high) == (2, 5, 3)


@given(data=st.data())
def test_against_list_comprehensions(data):
    missing_code = 4
    codes = data.draw(st.lists(st.integers(0, missing_code), min_size=1, max_size=20))
    rows = data.draw(st.permutations(range(len(codes))))
    rows = rows[: data.draw(st.integers(1, len(codes)))]
    cut, missing_left = data.draw(st.integers(0, 3)), data.draw(st.booleans())
    moved, n_left, low, high = partition(codes, missing_code, cut, missing_left, rows)

    def goes_left(row):
        return missing_left if codes[row] == missing_code else codes[row] <= cut

    left = [r for r in rows if goes_left(r)]
    right = [r for r in rows if not goes_left(r)]
    assert_same(moved, left + right)
    assert n_left == len(left)
    lows = [codes[r] for r in left if codes[r] < missing_code]
    if lows:
        assert low in left
        assert codes[low] == max(lows)
    else:
        assert low == -1
    highs = [codes[r] for r in right if codes[r] < missing_code]
    if highs:
        assert high in right
        assert codes[high] == min(highs)
    else:
        assert high == -1
