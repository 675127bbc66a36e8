"""Instructions do what their plain Python says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config, njit

from gbt.kernels import instructions
from gbt.kernels.compiling import kernel
from tests.asserts import assert_same

pytestmark = pytest.mark.kernels


def in_a_loop(convert):
    @njit
    def floats_of(integers, floats):
        for i in range(len(integers)):
            floats[i] = convert(integers[i])

    return floats_of


CONVERSIONS = [in_a_loop(instructions.float_of)]
if not config.DISABLE_JIT:  # either may be what another processor uses
    CONVERSIONS += [in_a_loop(instructions.convert), in_a_loop(instructions.convert_halves)]


@kernel
def add_pairs(array, places, first, second):
    for place in places:
        instructions.add_pair(array, place, first, second)


WORD = 2**63
around_powers = st.builds(
    lambda exponent, step, sign: max(-WORD, min(WORD - 1, sign * (2**exponent + step))),
    st.integers(0, 63), st.integers(-3, 3), st.sampled_from([-1, 1]),
)  # fmt: skip


@given(st.lists(st.integers(-WORD, WORD - 1) | around_powers, min_size=1, max_size=40))
def test_integers_become_the_nearest_floats(integers):
    """Python rounds integers to the nearest float, of two equally near the even one."""
    for floats_of in CONVERSIONS:
        floats = np.empty(len(integers))
        floats_of(np.array(integers, dtype=np.int64), floats)
        assert_same(floats, [float(i) for i in integers])


@pytest.mark.parametrize("integer", [2**53 + 1, 2**53 + 3, 2**62 + 2**9, 2**62 + 3 * 2**9, -1, 0])
def test_ties_round_to_even_on_both_sides_of_zero(integer):
    for floats_of in CONVERSIONS:
        floats = np.empty(2)
        floats_of(np.array([integer, -integer], dtype=np.int64), floats)
        assert floats.tolist() == [float(integer), float(-integer)]


def test_pairs_are_added_to_where_they_overlap_too():
    array = np.array([10, 20, 30, 40])
    add_pairs(array, np.array([0, 1, 1, 2], dtype=np.uint64), 1, -5)
    assert_same(array, [11, 20 - 5 + 2, 30 - 10 + 1, 40 - 5])
