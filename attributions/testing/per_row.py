"""What any attribution of rows must do, as checks: ``function(model, X)`` -> a row of numbers each.

    from attributions.testing import check_attribution

    check_attribution(my_attribution)

What comes back is a LocalAttribution, or anything with ``values`` of shape (n, p) and
``base_values`` of shape (n,), or ``values`` alone as an array. The checks need nothing but the
function: what they expect is what the same function says of another table or model, of which it is
known how the two results are related. Numbers may differ by rounding.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from attributions.testing.checking import Check, Models, check_on, run_all
from attributions.testing.comparing import assert_close, assert_same, sum_of_node_values
from attributions.testing.shown import model_as_text, rows_as_text
from attributions.testing.strategies import ensembles, rows_for
from gbt.model.ensemble import Ensemble

__all__ = [
    "ATTRIBUTION_CHECKS", "check_additivity", "check_attribution", "check_determinism",
    "check_dtypes", "check_independence_of_rows", "check_input_is_kept", "check_missing_values",
    "check_order_of_rows", "check_scale", "check_unused_features",
]  # fmt: skip

FITS_FLOAT32 = 1e30


@dataclass(frozen=True, eq=False, repr=False)
class Explained:
    """A model and rows to explain, float64 of shape (n, p)."""

    model: Ensemble
    X: np.ndarray

    def as_text(self) -> str:
        """Return the trees and the rows."""
        return f"{model_as_text(self.model)}\n{rows_as_text(self.X)}"

    def values(self, function: Callable, X: np.ndarray | None = None) -> np.ndarray:
        """Return what a function says of these rows, or others: finite numbers, (n, p)."""
        return self.values_and_base(function, self.X if X is None else X)[0]

    def values_and_base(
        self, function: Callable, X: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return what a function says of rows and what it starts from, None if it does not say."""
        result = function(self.model, X)
        values = np.asarray(getattr(result, "values", result), dtype=np.float64)
        if values.shape != X.shape:
            raise AssertionError(f"values have shape {values.shape} for X of shape {X.shape}")
        if not np.isfinite(values).all():
            row, feature = np.argwhere(~np.isfinite(values))[0]
            raise AssertionError(f"row {row} gets {values[row, feature]} for feature {feature}")
        base = getattr(result, "base_values", None)
        if base is not None:
            base = np.asarray(base, dtype=np.float64)
            if base.shape != (len(X),):
                raise AssertionError(f"base_values have shape {base.shape} for {len(X)} rows")
        return values, base

    def assert_alike(self, actual: np.ndarray, expected: np.ndarray) -> None:
        """Check that contributions are equal within rounding of node values, and their own."""
        assert_close(actual, expected, sum_of_node_values(self.model) + np.abs(expected))


def explained(models: Models) -> st.SearchStrategy[Explained]:
    """Draw a model, one of `ensembles` unless others are given, and rows for it."""

    def with_rows(model: Ensemble) -> st.SearchStrategy[Explained]:
        return rows_for(model).map(lambda X: Explained(model, X))

    return (ensembles() if models is None else models).flatmap(with_rows)


@check_on(explained)
def check_additivity(function: Callable, case: Explained) -> None:
    """Base value and contributions add up to the raw prediction of every row.

    Of values without base values: what they leave of the raw prediction is the same for all rows.
    """
    values, base = case.values_and_base(function, case.X)
    rest = case.model.raw_predict(case.X) - values.sum(axis=1)
    expected = np.full(len(rest), rest[0]) if base is None else base
    assert_close(rest, expected, sum_of_node_values(case.model) + np.abs(values).sum(axis=1))


@check_on(explained)
def check_unused_features(function: Callable, case: Explained) -> None:
    """A feature that no tree splits on gets exactly 0."""
    unused = np.setdiff1d(np.arange(case.model.n_features), case.model.feature)
    values = case.values(function)[:, unused]
    assert_same(values, np.zeros(values.shape))


@check_on(explained)
def check_independence_of_rows(function: Callable, case: Explained) -> None:
    """What a row gets does not depend on which other rows are explained with it."""
    alone = [case.values(function, case.X[[i]])[0] for i in range(len(case.X))]
    case.assert_alike(case.values(function), np.array(alone))


@check_on(explained)
def check_order_of_rows(function: Callable, case: Explained) -> None:
    """Rows in another order get the same."""
    case.assert_alike(case.values(function, case.X[::-1])[::-1], case.values(function))


@check_on(explained)
def check_determinism(function: Callable, case: Explained) -> None:
    """Asked again, it says the same to the last bit."""
    assert_same(case.values(function), case.values(function))


@check_on(explained)
def check_scale(function: Callable, case: Explained) -> None:
    """Twice the gradients and twice the values of all nodes double all contributions."""
    model = case.model
    doubled = replace(
        model,
        base_score=2 * model.base_score,
        sum_gradient=2 * model.sum_gradient,
        value=2 * model.value,
        gain=4 * model.gain,
    )
    twice = Explained(doubled, case.X)
    twice.assert_alike(twice.values(function), 2 * case.values(function))


@check_on(explained)
def check_missing_values(function: Callable, case: Explained) -> None:
    """Missing values count as the least of all numbers where they always go left, or the largest.

    The first row misses everything. Missing values go left at every node of one model, right at
    every node of another.
    """
    is_inner = case.model.left >= 0
    beyond = 2 * np.abs(case.model.threshold).max(initial=0) + 1
    X = case.X.copy()
    X[0] = np.nan
    for missing_left, number in ((is_inner, -beyond), (np.zeros_like(is_inner), beyond)):
        sent = Explained(replace(case.model, missing_left=missing_left), X)
        filled = np.where(np.isnan(X), number, X)
        sent.assert_alike(sent.values(function), sent.values(function, filled))


@check_on(explained)
def check_dtypes(function: Callable, case: Explained) -> None:
    """The same numbers get the same in a table of float32 and in one of float64."""
    single = np.clip(case.X, -FITS_FLOAT32, FITS_FLOAT32).astype(np.float32)
    expected = case.values(function, single.astype(np.float64))
    case.assert_alike(case.values(function, single), expected)


@check_on(explained)
def check_input_is_kept(function: Callable, case: Explained) -> None:
    """The table that is explained stays as it was."""
    X = case.X.copy()
    function(case.model, X)
    assert_same(X, case.X)


ATTRIBUTION_CHECKS: tuple[Check, ...] = (
    check_additivity,
    check_unused_features,
    check_independence_of_rows,
    check_order_of_rows,
    check_determinism,
    check_scale,
    check_missing_values,
    check_dtypes,
    check_input_is_kept,
)


def check_attribution(
    function: Callable, *, leave_out: Collection[Check] = (), models: Models = None
) -> None:
    """Put an attribution of rows through all checks; return if it passes them.

    Parameters
    ----------
    function : callable
        ``function(model, X)`` takes an Ensemble and float rows of shape (n, p) and returns a
        LocalAttribution or an array of shape (n, p).
    leave_out : collection of checks
        Some of ``ATTRIBUTION_CHECKS``: identities that this attribution is not meant to have.
    models : strategy, optional
        Of the models to draw, instead of ``ensembles()``: ``ensembles(max_trees=1)``, or those of
        one loss.

    Raises
    ------
    AssertionError
        By the first check that fails, with the smallest tree and rows that were found to fail it.
    """
    run_all(ATTRIBUTION_CHECKS, leave_out, function, models)
