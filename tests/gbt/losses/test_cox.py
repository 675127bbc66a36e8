"""Cox's loss: against its page and by hand; the forms of its targets, and fits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.losses import Cox
from gbt.losses.survival.times import bounds_of
from gbt.reference import survival as page

rows_of_ties = st.lists(
    st.tuples(st.integers(0, 5), st.booleans(), st.integers(-3, 3), st.integers(1, 3)),
    min_size=1,
    max_size=9,
)


def test_three_rows_by_hand():
    """Events at 1 and 2; hazards 1, 2 and 3, of which 6 and then 5 are at risk."""
    y, f = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 0.0]]), np.log([1.0, 2.0, 3.0])
    expected = [1 / 6, 2 / 6 + 2 / 5, 3 / 6 + 3 / 5]
    gradient, hessian = Cox().gradient_hessian(y, f)
    np.testing.assert_allclose(gradient, np.subtract(expected, [1, 1, 0]), rtol=1e-14)
    np.testing.assert_allclose(hessian, expected, rtol=1e-14)
    np.testing.assert_allclose(Cox().value(y, f), [np.log(6), np.log(5 / 2), 0], rtol=1e-14)


def test_hazards_far_apart_by_hand():
    """At the second event two rows are at risk, with 1/2 each; their hazards' squares underflow."""
    y, f = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]), np.array([0.0, -400.0, -400.0])
    gradient, hessian = Cox(is_newton=True).gradient_hessian(y, f)
    np.testing.assert_allclose(gradient, [0, -1 / 2, 1 / 2], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(hessian, [0, 1 / 4, 1 / 4], rtol=1e-12, atol=1e-12)


@given(rows_of_ties)
def test_loss_derivatives_and_concordance_are_those_of_the_page(rows):
    time, event, f, weight = np.array(rows, dtype=float).T
    y = np.column_stack([time, event])
    prepared = Cox().prepared(y, weight)
    of_page = page.cox_loss(y, f, weight)
    np.testing.assert_allclose(Cox().value(prepared, f), of_page, rtol=1e-12, atol=1e-13)
    of_page = page.cox_derivatives(y, f, weight)
    for ours, expected in zip(Cox().gradient_hessian(prepared, f), of_page, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-13)
    try:
        expected = page.concordance(bounds_of(y), f, weight, np.ones(len(y)))
    except ZeroDivisionError:
        with pytest.raises(ValueError, match="not defined"):
            Cox().score(y, f, weight)
    else:
        assert Cox().score(y, f, weight) == pytest.approx(expected, abs=1e-12)
