"""Where bins begin where values are few; of many ``test_judged_growth`` asks the page."""

import numpy as np
import pytest

from gbt.tables.bins import first_codes


@pytest.mark.parametrize(
    ("n_rows", "most", "expected"),
    [
        ([2, 1, 3], 3, [0, 1, 2]),
        ([4], 1, [0]),
        ([100, 1, 1], 3, [0, 1, 2]),
        ([0, 2, 0, 0, 3, 0], 2, [0, 2]),  # a value that no row has belongs to the next
        ([0, 0], 2, [0]),
    ],
)
def test_few_values_have_a_bin_each(n_rows, most, expected):
    assert first_codes(np.cumsum(n_rows), most).tolist() == expected
