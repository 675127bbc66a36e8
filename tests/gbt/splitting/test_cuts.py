"""The best cuts of nodes and sums of sets, against the page's own list of all cuts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.reference import splits as reference
from gbt.splitting.cuts import Sets, best_cuts
from gbt.splitting.frontier import Derivatives, Frontier, Limits
from gbt.tables.columns import Columns
from tests.asserts import assert_same

pytestmark = pytest.mark.kernels
NAN = np.nan


@st.composite
def questions(draw):
    """Draw a frontier of up to three nodes, sets of their rows, and limits."""
    n, p = draw(st.integers(2, 24)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(draw(st.integers(1, 12)), size=(n, p)).astype(np.float64)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.3]))] = NAN
    derivatives = Derivatives(rng.integers(-3, 4, size=n), rng.integers(0, 4, size=n), 1.0, 1.0)
    edges = np.sort(
        rng.choice(np.arange(n + 1), size=draw(st.integers(2, min(4, n + 1))), replace=False)
    )
    frontier = Frontier(
        Columns.from_table(X),
        np.arange(draw(st.integers(0, p - 1)), p),
        derivatives,
        np.concatenate([np.sort(part) for part in np.split(rng.permutation(n), edges)]).astype(
            np.int32
        ),
        edges[:-1],
        edges[1:],
        rng,
    )
    n_sets, n_sums = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    differ = draw(st.booleans())
    of_row = rng.integers(n_sets, size=(len(frontier.features), n), dtype=np.uint8)
    sums = rng.integers(2, size=(n_sums, n_sets)).astype(np.bool_)
    sets = Sets(of_row if differ else of_row[0], sums, n_searched=draw(st.integers(1, n_sums)))
    limits = Limits(
        draw(st.sampled_from([0.0, 1.0])),
        draw(st.sampled_from([0.0, 3.0])),
        draw(st.integers(1, 3)),
        0.0,
    )
    return X, frontier, sets, limits


def by_the_page(X, frontier, sets, limits, i, j, q):
    """Return the preferred cut for sum q, and what every sum has on its left."""
    rows, k, own = frontier.rows_of(j), frontier.features[i], frontier.derivatives
    carried = np.column_stack([own.gradient, own.hessian, np.ones(len(X), np.int64)])[rows]
    is_in = sets.sums[:, sets.for_column(i)[rows]]
    parameters = reference.Parameters(
        reg_lambda=limits.reg_lambda,
        min_child_weight=limits.min_child_weight,
        min_samples_leaf=limits.min_samples_leaf,
    )
    # Cuts between values of the node, whatever sets these are in; a zero row takes no part in q.
    cut = reference.best_allowed(k, X[rows], carried.astype(object), parameters, of=is_in[q])
    if cut is None:
        return -np.inf, None, None
    left = np.array([reference.goes_left(x, cut) for x in X[rows]], dtype=bool)
    score = reference.score(cut.left, cut.right, limits.reg_lambda)
    return score, left, np.array([carried[of_sum & left].sum(axis=0) for of_sum in is_in])


@given(questions())
def test_cuts_are_those_of_the_page(question):
    X, frontier, sets, limits = question
    found = best_cuts(frontier, limits, 1, sets)
    for i, k in enumerate(frontier.features):
        for j in range(len(frontier)):
            rows = frontier.rows_of(j)
            for q in range(sets.n_searched):
                score, left, sums = by_the_page(X, frontier, sets, limits, i, j, q)
                assert found.score[i, j, q] == score
                if score == -np.inf:
                    continue
                codes = frontier.columns.codes[k, rows]
                is_missing = codes == frontier.columns.n_values[k]
                went_left = np.where(
                    is_missing, found.missing_left[i, j, q], codes <= found.code[i, j, q]
                )
                assert_same(went_left, left)
                assert_same(found.left[i, j, q], sums)
