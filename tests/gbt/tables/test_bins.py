"""Where bins begin: after the values at their ends; heavy values have bins of their own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.tables import bins


def first_codes(n_rows_of_values, ends, most):
    """Return with which codes the bins begin that should have these ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bins, "bin_ends", lambda n_rows, most: np.array(ends))
        return bins.first_codes(np.cumsum(n_rows_of_values), most).tolist()


def test_few_values_have_a_bin_each():
    assert first_codes([2, 1, 3], [3, 6], 3) == [0, 1, 2]
    assert first_codes([4], [4], 1) == [0]


def test_a_value_that_no_row_has_belongs_to_the_next():
    assert first_codes([0, 2, 0, 0, 3, 0], [5], 2) == [0, 2]
    assert first_codes([0, 0], [], 2) == [0]


def test_many_values_share_bins_and_heavy_ones_do_not():
    # Bins should end after 2, 4, 6, 8 and 10 rows. Values do not cross their ends:
    assert first_codes([1] * 10, [2, 4, 6, 8, 10], 5) == [0, 2, 4, 6, 8]
    assert first_codes([1, 2, 1, 1, 1, 1, 3], [2, 4, 6, 8, 10], 5) == [0, 2, 3, 5, 6]
    # rows 1 to 6 have one value, in which three bins should end: it has one of its own
    assert first_codes([1, 6, 1, 1, 1], [2, 4, 6, 8, 10], 4) == [0, 1, 2, 3]
    # the same at both ends of the column
    assert first_codes([5, 1, 1, 1, 1, 1], [2, 4, 6, 8, 10], 5) == [0, 1, 2, 4]
    assert first_codes([1, 1, 1, 1, 1, 5], [2, 4, 6, 8, 10], 5) == [0, 2, 4, 5]


@given(st.lists(st.integers(1, 6), min_size=3, max_size=40), st.data())
def test_bins_against_sets(n_rows, data):
    """First codes: 0, those after the value at an end, and those of two ends or more."""
    n = sum(n_rows)
    ends = sorted(data.draw(st.sets(st.integers(1, n), max_size=len(n_rows) - 2)) | {n})
    most = data.draw(st.integers(len(ends), len(n_rows) - 1))
    after = np.cumsum(n_rows).tolist()  # positions after the rows of each value
    at_ends = [next(v for v, end in enumerate(after) if end >= e) for e in ends]
    first = {0} | {v + 1 for v in at_ends} | {v for v in at_ends if at_ends.count(v) > 1}
    assert first_codes(n_rows, ends, most) == sorted(v for v in first if v < len(n_rows))
