"""Trees with training rows for tests of linear models on their splits."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attributions.mdi.stump_problem import RawColumns, StumpProblem, TreeRows
from attributions.reference import definitions as reference
from attributions.reference import stumps as plain
from attributions.testing import trees
from gbt.model.tree import Tree

# Few values, at and beside those at which drawn trees split.
CELLS = (-3.0, -2.0, -1.0, -0.3, 0.0, 0.1, 1 / 3, 0.4, 0.5, 1.0, 2.0, 5.0, 7.0, 8.0)


@dataclass
class Case:
    """A tree, rows for it, and the problem that is made of both."""

    tree: Tree
    X: np.ndarray
    y: np.ndarray
    grown: np.ndarray
    weight: np.ndarray
    raw: bool
    problem: StumpProblem

    @property
    def columns(self):
        """The explicit columns by the definition, and their features."""
        return plain.mdi_columns(self.tree, self.X, self.grown, self.raw)

    def fitted(self, found):
        """Return the fitted values of the rows, by coefficients that were found."""
        columns = self.problem.columns(slice(0, len(self.X)))[1:]
        return found.value[self.problem.rows.leaves] + found.gamma @ columns


def case_of(tree, X, y, grown, weight, raw, fold_edges=None):
    """Make a case; the leaves are those of the reference."""
    leaves = np.array([reference.path(tree, x)[-1] for x in X], dtype=np.int32)
    columns = RawColumns.of(X) if raw else RawColumns.none(X.shape[1])
    edges = np.array([0, len(X)]) if fold_edges is None else fold_edges
    problem = StumpProblem(tree, TreeRows(leaves, y, grown, weight), columns, edges)
    return Case(tree, X, y, grown, weight, raw, problem)


@st.composite
def cases(draw, raw=None, missing=True, min_rows=3, max_rows=24, all_rows=False):
    """Draw a tree of any shape and rows; ``all_rows`` fits to the rows that grew the tree."""
    tree = draw(trees(max_depth=4, n_features=3))
    n = draw(st.integers(min_rows, max_rows))
    cell = st.sampled_from(CELLS)
    if missing:
        cell = cell | st.just(np.nan)
    X = np.array(draw(st.lists(st.lists(cell, min_size=3, max_size=3), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.floats(-5, 5, width=16), min_size=n, max_size=n)))
    counts = st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.0, 0.5]), min_size=n - 1, max_size=n - 1)
    grown = np.array([1.0, *draw(counts)])
    weight = grown if all_rows else np.array([1.0, *draw(counts)])
    raw = draw(st.booleans()) if raw is None else raw
    return case_of(tree, X, y, grown, weight, raw)


def assert_subgradients(slopes, coefficients, penalty, l1_ratio, slack):
    """Slopes equal the penalty's where a coefficient is not 0, else they are at most that of l1."""
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    is_used = np.abs(coefficients) > 1e-9
    assert (np.abs(slopes[~is_used]) <= l1 + slack).all()
    wanted = l1 * np.sign(coefficients) + l2 * coefficients
    assert (np.abs(slopes - wanted)[is_used] <= slack).all()


def drawn_by(forest):
    """Return how often each tree of a forest drew each row."""
    return [np.bincount(rows, minlength=len(rows)) * 1.0 for rows in forest.estimators_samples_]
