"""Instructions do what their plain Python says.

Those that add to several places at once, and that tell bits, are in every tree with categories.
"""

import numpy as np
import pytest

from gbt.kernels.platform import instructions
from gbt.kernels.platform.compiling import kernel
from tests.asserts import assert_same

pytestmark = pytest.mark.kernels


@kernel
def add_gradients(array, g, h, m):
    for i in range(len(g)):
        instructions.add_g(array, np.uint64(0), g[i], m)
        instructions.add_g_and_h(array, np.uint64(2), g[i], h[i], m)


@pytest.mark.parametrize("bits", [0, 3, 31])
def test_gradients_are_added_with_their_sizes(bits):
    """The size is 2 |g|, rounded up to a multiple of 2^(bits + 1), and 1."""
    g, h, array = [5, -5, 0, -8, 2**57 - 1, -(2**57)], [1, 0, 7, 2**40, 3, 9], np.zeros(7, int)
    sizes = [-(-2 * abs(x) // 2 ** (bits + 1)) * 2 ** (bits + 1) + 1 for x in g]
    add_gradients(array, np.array(g), np.array(h), np.int64(2**bits - 1))
    assert_same(array, [sum(g), sum(sizes), sum(g), sum(sizes), sum(h), 0, 0])


@kernel
def smaller_and_larger(first, second, found):
    for i in range(len(first)):
        found[i, 0] = instructions.min(first[i], second[i])
        found[i, 1] = instructions.max(first[i], second[i])


NUMBERS = [0, 1, -1, 7, -(2**31), 2**31 - 1]
FLOATS = [0.0, -0.0, 1.5, -np.inf, np.inf, np.nan]


@pytest.mark.parametrize(
    ("some", "others", "dtype"),
    [
        (np.array(NUMBERS), np.array(NUMBERS), np.int64),
        (np.array(NUMBERS, dtype=np.int32), np.array(NUMBERS), np.int64),
        (np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64),) * 2 + (np.uint64,),
        (np.array(FLOATS), np.array(FLOATS), np.float64),
        (np.array(NUMBERS), np.array(FLOATS), np.float64),
    ],
)
def test_the_smaller_and_the_larger_are_those_of_python(some, others, dtype):
    """Whatever the types, and of equals, or beside nan, the same of the two."""
    first, second = (grid.ravel() for grid in np.meshgrid(some, others))
    found = np.zeros((len(first), 2), dtype)
    smaller_and_larger(first, second, found)
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    expected = np.array([(min(a, b), max(a, b)) for a, b in pairs], dtype)
    assert_same(found, expected)
    assert (np.signbit(found.astype(float)) == np.signbit(expected.astype(float))).all()
