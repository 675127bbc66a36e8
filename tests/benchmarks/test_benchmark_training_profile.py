"""Counting the steps of a fit: rows added, partitioned, and nodes surveyed."""

import numpy as np
import pytest

from benchmarks.speed.training_profile import searches_of
from gbt.model.tree import NODE_DTYPES, Tree


def tree_of(left, right, n_samples):
    """Return a tree of which only the links and the rows matter."""
    arrays = {name: np.zeros(len(left), dtype) for name, dtype in NODE_DTYPES.items()}
    arrays["left"][:], arrays["right"][:], arrays["n_samples"][:] = left, right, n_samples
    return Tree(**arrays)


@pytest.mark.parametrize(
    ("max_depth", "least_large", "expected"),
    [
        # the root alone is searched; its children are at the largest depth
        (1, 0, (100, 100 + 70, [100])),
        # of 70 and 30 the smaller is added, and 70 less it; 60 and 10 would be deeper
        (2, 50, (100 + 30, 100 + 70, [100, 30, 70])),
        # 10 is added; 60, its sibling, is large too
        (3, 50, (100 + 30 + 10, 100 + 70, [100, 30, 70, 10, 60])),
        # no node but the root is large: all rows are added
        (3, 99, (100 + 100 + 70, 100 + 70, [100, 30, 70, 10, 60])),
    ],
)
def test_steps_by_hand(max_depth, least_large, expected):
    """A root of 100 rows with children of 70 and 30; the former is split into 60 and 10."""
    tree = tree_of([1, 2, -1, -1, -1], [4, 3, -1, -1, -1], [100, 70, 60, 10, 30])
    found = searches_of(tree, max_depth, lambda n: n >= least_large)
    assert found == expected


@pytest.mark.parametrize(("larger", "expected"), [(1, (2, 2, [2])), (5, (11, 6, [6, 5]))])
def test_a_single_row_is_never_searched(larger, expected):
    tree = tree_of([1, -1, -1], [2, -1, -1], [1 + larger, 1, larger])
    assert searches_of(tree, 5, lambda n: False) == expected
