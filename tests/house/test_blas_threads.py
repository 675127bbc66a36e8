"""BLAS has one thread inside, and what it had before outside, whoever leaves first."""

import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from threadpoolctl import threadpool_info, threadpool_limits

from attributions import local_mdi
from attributions.mdi.least_squares import Ridge
from gbt.parallel.blas import one_blas_thread

HELD_OUT = Path(__file__).parents[2] / "attributions" / "held_out"


def threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if threads() != {2}:
            pytest.skip("no BLAS here whose threads can be set")
        yield


@pytest.mark.usefixtures("two_threads")
def test_two_callers_that_leave_in_any_order():
    for order in ((0, 1), (1, 0)):
        callers = [one_blas_thread(), one_blas_thread()]
        for caller in callers:
            caller.__enter__()
        assert threads() == {1}
        callers[order[0]].__exit__(None, None, None)
        assert threads() == {1}
        callers[order[1]].__exit__(None, None, None)
        assert threads() == {2}


@pytest.mark.usefixtures("two_threads")
def test_linear_models_are_fitted_on_one_thread_of_blas_and_errors_restore_it():
    X = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)
    forest = RandomForestRegressor(2, max_depth=2, random_state=0).fit(X, X[:, 0])
    seen = []

    class Spy(Ridge):
        def fit(self, problem):
            seen.append(threads())
            if len(seen) == 2:
                raise KeyError("spy")
            return super().fit(problem)

    with pytest.raises(KeyError, match="spy"):
        local_mdi(forest, X, X[:, 0], linear_model=Spy(1.0), n_jobs=1)
    assert seen == [{1}, {1}]
    assert threads() == {2}


def test_measures_of_held_out_rows_wake_no_threads_of_blas():
    """After a product they wait in a loop for the next: `tree_inner` then took 1.5 times as long.

    One product of 20,000 weights and losses, at its end, was enough.
    """
    found = [
        (path.name, node.lineno)
        for path in HELD_OUT.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult))
        or (isinstance(node, ast.Attribute) and node.attr in ("dot", "vdot", "matmul", "tensordot"))
    ]
    assert found == []
