"""What a row adds to the size of its bin: rows are counted, gradients never fall short."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels.cuts import histogram as histogram_kernels
from tests.compiled import FromPython
from tests.node_cases import added_by_definition, layout_of

kernels = FromPython(histogram_kernels)
pytestmark = pytest.mark.kernels


def rows_and_magnitude(size, count_bits):
    """Take a sum of sizes apart."""
    return size % 2**count_bits, size // 2**count_bits * 2**count_bits // 2


extreme = st.sampled_from([0, 1, -1, 2**60, -(2**60), 2**60 - 1]) | st.integers(-(2**60), 2**60)


@given(st.lists(extreme, min_size=1, max_size=40))
def test_sizes_count_rows_and_never_fall_short_of_the_gradient(gradient):
    total = sum(map(abs, gradient))
    gradient = np.array([g // (total // 2**60 + 1) for g in gradient])  # sum|g| is below 2^61
    layout = layout_of(np.ones(len(gradient), dtype=int))
    sizes = added_by_definition(gradient, gradient, layout)[:, 1].tolist()
    assert sum(sizes) < 2**63
    rows, magnitude = rows_and_magnitude(sum(sizes), layout.count_bits)
    assert kernels.magnitude_in(sum(sizes), layout.count_bits) == magnitude
    exact = sum(map(abs, gradient.tolist()))
    assert rows == len(gradient)
    assert exact <= magnitude < exact + len(gradient) * 2 ** (layout.count_bits - 1)


@pytest.mark.parametrize("n", [1, 2, 3, 255, 256, 2**20, 2**20 + 1, 2**31 - 1])
def test_the_sum_of_all_sizes_fits_whatever_the_gradients(n):
    """n rows that each round up by almost a unit, and sum|g| = 2^61: the most there can be."""
    count_bits = n.bit_length()
    most_units = 2 * 2**61 // 2**count_bits + n
    assert n < 2**count_bits
    assert most_units * 2**count_bits + n < 2**63
