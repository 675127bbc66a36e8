"""Checks of what any importance that is a sum over rows must do.

    from attributions.testing import check_importance

    check_importance(my_importance)

A function takes ``(model, X, y, sample_weight=w)`` and returns a GlobalAttribution, or an array of
shape (p,). Measures that are no sums over rows, such as a permutation importance, leave out the
checks that say so; ``check_sum_over_trees`` is for functions that take ``per_tree=True``.
"""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attributions.testing.checking import Check, Models, check_on, run_all
from attributions.testing.comparing import assert_close, assert_same
from attributions.testing.shown import model_as_text, rows_as_text
from attributions.testing.strategies import Judged, judged

__all__ = [
    "IMPORTANCE_CHECKS", "check_importance", "check_importance_again",
    "check_importance_in_any_order", "check_importance_of_unused_features",
    "check_sum_over_chunks", "check_sum_over_trees", "check_weights_repeat_rows",
]  # fmt: skip


class Weighted(Judged):
    """A model and rows to judge it by, with their text."""

    def as_text(self) -> str:
        """Return the trees and the rows."""
        rows = rows_as_text(self.X, y=self.y, weight=self.weight)
        return f"{model_as_text(self.ensemble)}\n{rows}"

    def importance(self, function: Callable, rows: Any = slice(None), **others: Any) -> Any:
        """Return the result of a function for some of the rows."""
        weight = self.weight[rows]
        return function(self.ensemble, self.X[rows], self.y[rows], sample_weight=weight, **others)

    def values(self, function: Callable, rows: Any = slice(None)) -> np.ndarray:
        """Return the importance of every feature on some of the rows: finite numbers."""
        return self.checked(self.importance(function, rows))

    def checked(self, result: Any) -> np.ndarray:
        """Return the values of a result, if they are finite and one a feature."""
        values = np.asarray(getattr(result, "values", result), dtype=np.float64)
        if values.shape != (self.ensemble.n_features,):
            raise AssertionError(f"values have shape {values.shape} for {self.X.shape[1]} features")
        if not np.isfinite(values).all():
            raise AssertionError(f"the values are {values.tolist()}")
        return values

    def assert_alike(self, actual: np.ndarray, expected: np.ndarray) -> None:
        """Check that importances are equal within rounding of the products they are sums of."""
        terms = self.terms * self.ensemble.n_trees + np.abs(expected)
        assert_close(actual, expected, terms)


def weighted(models: Models) -> st.SearchStrategy[Weighted]:
    """Draw a model and rows of weight 1, 2 or 3."""
    drawn = judged(models=models, weights=(1.0, 2.0, 3.0))
    return drawn.map(lambda case: Weighted(case.ensemble, case.X, case.y, case.weight))


@check_on(weighted)
def check_sum_over_chunks(function: Callable, case: Weighted) -> None:
    """The importances on two parts of the rows add up to that on all of them.

    Results that have ``merge`` are merged; their standard errors must then agree, too.
    """
    n = len(case.X)
    parts = [rows for rows in (slice(0, n // 2), slice(n // 2, n)) if len(case.X[rows])]
    results = [case.importance(function, rows) for rows in parts]
    whole = case.importance(function)
    case.assert_alike(np.sum([case.checked(part) for part in results], axis=0), case.checked(whole))
    if len(results) == 2 and hasattr(whole, "merge"):
        merged = results[0].merge(results[1])
        case.assert_alike(case.checked(merged), case.checked(whole))
        if whole.standard_error is not None:
            # A root of squares that cancel: rounded by eps of the squares.
            terms = (case.terms * case.ensemble.n_trees) ** 2 + whole.standard_error**2
            assert_close(merged.standard_error**2, whole.standard_error**2, terms)


@check_on(weighted)
def check_weights_repeat_rows(function: Callable, case: Weighted) -> None:
    """A row of weight 2 counts as two rows of weight 1."""
    twice = np.repeat(np.arange(len(case.X)), case.weight.astype(int))
    repeated = Weighted(case.ensemble, case.X[twice], case.y[twice], np.ones(len(twice)))
    case.assert_alike(case.values(function), repeated.values(function))


@check_on(weighted)
def check_importance_of_unused_features(function: Callable, case: Weighted) -> None:
    """A feature that no tree splits on has exactly the importance 0."""
    unused = np.setdiff1d(np.arange(case.ensemble.n_features), case.ensemble.feature)
    assert_same(case.values(function)[unused], np.zeros(len(unused)))


@check_on(weighted)
def check_importance_in_any_order(function: Callable, case: Weighted) -> None:
    """Rows in another order give the same importance."""
    case.assert_alike(case.values(function, slice(None, None, -1)), case.values(function))


@check_on(weighted)
def check_importance_again(function: Callable, case: Weighted) -> None:
    """Asked again, it says the same to the last bit, and the rows stay as they were."""
    copy = Weighted(case.ensemble, case.X.copy(), case.y.copy(), case.weight.copy())
    assert_same(copy.values(function), copy.values(function))
    for name in ("X", "y", "weight"):
        assert_same(getattr(copy, name), getattr(case, name))


@check_on(weighted)
def check_sum_over_trees(function: Callable, case: Weighted) -> None:
    """What the trees add, ``per_tree`` of shape (M, p), adds up to the importance."""
    result = case.importance(function, per_tree=True)
    per_tree = np.asarray(result.per_tree)
    shape = (case.ensemble.n_trees, case.ensemble.n_features)
    if per_tree.shape != shape:
        raise AssertionError(f"per_tree has shape {per_tree.shape}, not {shape}")
    case.assert_alike(per_tree.sum(axis=0), case.checked(result))


IMPORTANCE_CHECKS: tuple[Check, ...] = (
    check_sum_over_chunks,
    check_weights_repeat_rows,
    check_importance_of_unused_features,
    check_importance_in_any_order,
    check_importance_again,
    check_sum_over_trees,
)


def check_importance(
    function: Callable, *, leave_out: Collection[Check] = (), models: Models = None
) -> None:
    """Put an importance that is a sum over rows through all checks; return if it passes them.

    Parameters
    ----------
    function : callable
        ``function(model, X, y, sample_weight=w)`` takes an Ensemble, float rows of shape (n, p),
        targets and weights of shape (n,), and returns a GlobalAttribution or an array of shape
        (p,).
    leave_out : collection of checks
        Some of ``IMPORTANCE_CHECKS``: identities that this importance is not meant to have.
    models
        As for `check_attribution`, and so is the error of the first check that fails.
    """
    run_all(IMPORTANCE_CHECKS, leave_out, function, models)
