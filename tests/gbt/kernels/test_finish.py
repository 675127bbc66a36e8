"""Writing down a grown tree: thresholds between any two floats, nodes in preorder."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gbt.reference.splits import threshold_between
from gbt.tables.columns import thresholds_between

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
    assert threshold == threshold_between(low, high)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.0, 2.0, 1.5),
        (1.0, 1.0 + EPS, 1.0),  # no float lies between, and the midpoint rounds to the even one,
        (1.0 + EPS, 1.0 + 2 * EPS, 1.0 + EPS),  # here the higher
        (0.75 * LARGEST, LARGEST, 0.875 * LARGEST),  # their sum overflows
        (-LARGEST, LARGEST, 0.0),
        (-5e-324, 0.0, -5e-324),
        (1.0, 1.0 + 2.0**-23, 1.0 + 2.0**-24),  # neighbours in float32
    ],
)
def test_thresholds_by_hand(low, high, expected):
    assert thresholds_between(low, high) == expected == threshold_between(low, high)
