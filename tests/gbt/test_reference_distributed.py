"""The page for rows in parts: its trees are those of rows in one place, and the product's."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gbt.reference import boost
from gbt.reference.distributed import boost_shares


@st.composite
def problems(draw):
    """Rows with ties and missing values, or levels, weights, where they are cut, and parameters."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(4, 30)), draw(st.integers(1, 3))
    X = np.round(rng.normal(size=(n, p)), draw(st.integers(0, 3)))
    categorical = tuple(k for k in range(p) if draw(st.booleans()))
    for k in categorical:
        X[:, k] = np.unique(rng.integers(0, 6, n), return_inverse=True)[1]
    X[rng.random((n, p)) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    kind = draw(st.sampled_from(["ones", "whole", "any"]))
    weight = {"ones": np.ones(n), "whole": rng.integers(1, 4, n) * 1.0, "any": rng.random(n) + 0.1}
    asked = {
        "n_estimators": 3, "max_depth": draw(st.integers(1, 3)),
        "min_samples_leaf": draw(st.integers(1, 3)),
        "reg_lambda": draw(st.sampled_from([0.0, 1.0])),
        "min_child_weight": draw(st.sampled_from([0.0, 1.0])),
    }  # fmt: skip
    if categorical:
        asked |= {"categorical": categorical}
        asked |= {"categorical_smoothing": draw(st.sampled_from([0.0, 2.0]))}
    edges = sorted(draw(st.lists(st.integers(0, n), max_size=4)))
    return X, rng.normal(size=n), weight[kind], edges, asked


@settings(max_examples=25)
@given(problems(), st.sampled_from(["half_squared_error", "half_logistic"]))
def test_parts_grow_the_trees_of_the_whole(problem, loss):
    X, y, weight, edges, asked = problem
    if loss == "half_logistic":
        y = (np.arange(len(y)) % 2).astype(float)
    whole = boost(X, y, loss=loss, sample_weight=weight, fixed_point=True, **asked)
    cut = [np.split(array, edges) for array in (X, y, weight)]
    shared = boost_shares(list(zip(*cut, strict=True)), loss=loss, **asked)
    assert shared == whole


def test_two_shares_by_hand():
    """Values 1, 2 here and 3 there; the cut lies between 2 and 3, that is between the shares."""
    parts = [([[1.0], [2.0]], [0.0, 0.0]), ([[3.0]], [3.0])]
    model = boost_shares(
        parts, n_estimators=1, learning_rate=1.0, reg_lambda=0.0, min_child_weight=0.0, max_depth=1
    )
    root, left, right = model.trees[0]
    assert (model.base_score, root.threshold, root.gain) == (1.0, 2.5, 2.0 + 4.0 - 0.0)
    assert (left.sum_gradient, left.sum_hessian, left.value) == (2.0, 2.0, -1.0)
    assert (right.sum_gradient, right.sum_hessian, right.value) == (-2.0, 1.0, 2.0)
