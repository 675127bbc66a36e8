"""An address reads as the tuple that stands there, tuples in it and None included."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import config, njit

from gbt.kernels.platform.compiling import called_at, internal, uncounted
from gbt.kernels.platform.handing import address_of, call_at, handed
from tests.asserts import assert_same

pytestmark = pytest.mark.kernels


class Inner(NamedTuple):
    many: np.ndarray
    few: np.ndarray


class Outer(NamedTuple):
    number: int
    table: np.ndarray
    inner: Inner  # two arrays of one type, which Numba lays out as an array of arrays
    nothing: None


@internal
def add_up(some, out):
    inner = some.inner
    for i in range(len(inner.many)):
        out[i] = some.number * inner.many[i] + inner.few[0] + some.table[i, 1]
    if some.nothing is None:
        out[0] += 1000.0


@uncounted
def by_address(some, out):
    add_up(handed(some), out)


@uncounted
def by_value(some, out):
    add_up(some, out)


@uncounted
def of_none(some, out):
    there = handed(some)
    out[0] = 1.0 if there is None else 2.0


@called_at
def add_numbers(kind, task, thread, work):
    work.many[task] += 100 * kind + thread


@called_at
def take_numbers(kind, task, thread, work):
    work.many[task] -= 100 * kind + thread


@uncounted
def by_address_of_kernel(work, kernel):
    there, two = handed(work), np.int64(2)
    for task in range(len(there.many)):
        call_at(kernel, two, np.int64(task), np.int64(3), there)


GIVEN = Outer(
    3, np.arange(8.0).reshape(4, 2), Inner(np.array([5.0, 6, 7, 8]), np.array([100.0])), None
)


@pytest.mark.parametrize("kernel", [by_address, by_value])
def test_fields_are_read_where_they_are(kernel):
    out = np.zeros(4)
    kernel(GIVEN, out)
    # By hand: 3 * 5 + 100 + 1 + 1000, 3 * 6 + 100 + 3, ...
    assert_same(out, np.array([1116.0, 121, 126, 131]))


def test_what_is_at_an_address_may_change():
    """Arrays are not copied: what one kernel writes to them the caller sees."""
    given = Outer(0, np.zeros((1, 2)), Inner(np.zeros(1), np.zeros(1)), None)
    by_address(given, given.inner.many)
    assert_same(given.inner.many, np.array([1000.0]))


def test_none_stays_none():
    out = np.zeros(1)
    of_none(None, out)
    assert out[0] == 1.0


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_kernels_take_one_number_in_place_of_many():
    """Compiled anew, because of a caller that is read from the cache nothing is known."""
    njit(by_address.py_func)(GIVEN, np.zeros(4))
    kinds = [str(kinds[0]) for kinds in add_up.signatures]
    assert any(kind.startswith("Address(") for kind in kinds)


def test_one_kernel_calls_whichever_it_is_given_the_address_of():
    """By hand: 5 + 203 and 7 + 203, 5 - 203 and 7 - 203; the caller is compiled once."""
    for kernel, expected in ((add_numbers, [208.0, 210.0]), (take_numbers, [-198.0, -196.0])):
        given = Inner(np.array([5.0, 7.0]), np.zeros(1))
        by_address_of_kernel(given, address_of(kernel, given))
        assert_same(given.many, np.array(expected))
    if not config.DISABLE_JIT:
        assert len(by_address_of_kernel.signatures) == 1
