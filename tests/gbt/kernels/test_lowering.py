"""Indices, slices, loops and calls of kernels mean what they mean in Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels.platform.compiling import kernel, uncounted
from gbt.kernels.trees.nodes import records
from tests.asserts import assert_same

HELD = np.dtype([("number", np.int64), ("table", np.float64, (3, 4))], align=True)


def index(a, b, held, i, j):
    b[i, j] = a[i] + b[j, i] + a[-1]
    b[0, j], a[j] = b[i][j], a[0]
    held[0].table[i, 3] += b[i][-1]
    held[1].number = held[0].number + len(a) + b.shape[1]


def cut(a, b, held, i, j):
    for part in (a[i:j], a[i:], a[:j], b[j], held[0].table[i][1:j], held[1].table[i, :j]):
        b[0, 0] += len(part) + part.size
        b[1, 1] += total(part) + b[i].size


def loop(a, b, held, i, j):
    for k in range(i, j):
        b[0, 0] += k
    for k in range(j):
        b[0, 1] += k
    for k in range(np.uint64(3)):
        a[k] += 1
    for k in range(j, i, -2):
        b[0, 2] += k
        if k == 0:
            break


def call(a, b, held, i, j):
    a[0], b[0, 0] = swapped(i, b[1, j])
    if i > j:
        refuse(a)


@uncounted
def total(part):
    found = 0.0
    for k in range(part.shape[0]):
        found += part[k]
    return found


@uncounted
def swapped(x, y):
    return y, x


@uncounted
def refuse(a):
    a[1] = 7
    raise ValueError("refused")


def outcome(function, i, j):
    """Return what a function does to arrays, and what it raises."""
    held = records(2, HELD)
    held["number"], held["table"] = [3, 4], np.arange(24.0).reshape(2, 3, 4)
    a, b, said = np.arange(3.0), np.arange(9.0).reshape(3, 3), ""
    try:
        function(a, b, held, i, j)
    except ValueError as error:
        said = str(error)
    return a, b, held["number"], held["table"], said


COMPILED = {f: (kernel(f), uncounted(f)) for f in (index, cut, loop, call)}


@pytest.mark.kernels
@pytest.mark.parametrize("function", COMPILED, ids=lambda f: f.__name__)
@given(st.integers(-3, 2), st.integers(-3, 2))
def test_kernels_do_what_python_does(function, i, j):
    expected = outcome(lambda a, b, held, *ij: function(a, b, held.view(np.recarray), *ij), i, j)
    for compiled in COMPILED[function]:
        for found, wanted in zip(outcome(compiled, i, j), expected, strict=True):
            assert_same(found, wanted)
