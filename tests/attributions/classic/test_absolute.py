import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import absolute
from attributions.reference import definitions as reference
from attributions.testing import ensembles, rows_for
from gbt.parallel.in_order import ROWS_PER_BLOCK
from tests.asserts import assert_close, assert_same
from tests.attributions.held_out.test_inner import INDIVIDUAL, fitted_rows
from tests.tree_cases import ensemble_of, example_1, fit_values, stump_on


def test_example_1_of_the_paper():
    ensemble, X, _ = example_1(split_on=0)
    # Two rows are moved by 1/3, one by -1/2.
    for level in ("tree", "forest"):
        result = absolute(ensemble, X, level=level)
        assert_close(result.values, [7 / 6, 0.0], np.array([7 / 6, 0.0]), k=4)
        assert result.method == f"absolute(predecomp, {level})"
        assert result.n_samples == 3


def test_opposite_steps_cancel_in_the_forest_only():
    forth = fit_values(ensemble_of([stump_on(0, 0.0)], 1), [[-1.0], [1.0]], np.array([-1.0, 1.0]))
    back = fit_values(ensemble_of([stump_on(0, 0.0)], 1), [[-1.0], [1.0]], np.array([1.0, -1.0]))
    both = ensemble_of([forth.trees[0], back.trees[0]], 1)
    assert_same(absolute(both, [[5.0]], level="tree").values, [2.0])
    assert_same(absolute(both, [[5.0]], level="forest").values, [0.0])


@pytest.mark.parametrize("level", ["tree", "forest"])
@pytest.mark.parametrize("ifa", INDIVIDUAL)
@given(data=st.data())
def test_it_is_its_definition(data, ifa, level):
    ensemble = data.draw(ensembles())
    X = data.draw(rows_for(ensemble))
    draw_weight = st.sampled_from([1.0, 0.5, 3.0, 0.0])
    weight = np.array([2.0, *(data.draw(draw_weight) for _ in X[1:])])
    alone = [reference.absolute(ensemble, X[[i]], INDIVIDUAL[ifa], level) for i in range(len(X))]
    rows = np.array(alone) * weight[:, np.newaxis]

    result = absolute(ensemble, X, ifa=ifa, level=level, sample_weight=weight)

    terms = np.abs(ensemble.value).sum() * weight.sum()
    assert_close(result.values, rows.sum(axis=0), terms)
    if len(X) > 1:
        assert_close(result.standard_error, np.sqrt(len(X)) * rows.std(axis=0, ddof=1), terms)
    by_loops = reference.absolute(ensemble, X, INDIVIDUAL[ifa], level)
    terms = np.abs(ensemble.value).sum() * len(X)
    assert_close(absolute(ensemble, X, ifa=ifa, level=level).values, by_loops, terms)


def test_a_function_may_fill_any_column():
    ensemble, X, _ = fitted_rows(5)
    result = absolute(ensemble, X, ifa=lambda ensemble, m, X: np.full(X.shape, -1.0))
    assert_same(result.values, np.full(4, 15.0))  # 5 rows, 3 trees


def test_threads_and_chunks():
    ensemble, X, _ = fitted_rows(3 * ROWS_PER_BLOCK + 5)
    one, two = absolute(ensemble, X, n_jobs=1), absolute(ensemble, X, n_jobs=2)
    assert_same(two.values, one.values)
    assert_same(two.standard_error, one.standard_error)
    merged = absolute(ensemble, X[:700]).merge(absolute(ensemble, X[700:]))
    assert_close(merged.values, one.values, one.values)
    assert_close(merged.standard_error, one.standard_error, one.standard_error)


def test_it_has_intervals_but_no_test():
    ensemble, X, _ = fitted_rows(20)
    result = absolute(ensemble, X)
    assert result.confidence_interval().shape == (4, 2)
    with pytest.raises(ValueError, match=r"absolute\(predecomp, tree\) has no p-values"):
        result.p_values()


def test_unusable_arguments_are_refused_by_name():
    ensemble, X, _ = fitted_rows(5)
    with pytest.raises(ValueError, match=r"level must be one of.*'leaf'"):
        absolute(ensemble, X, level="leaf")
    with pytest.raises(ValueError, match="no rows"):
        absolute(ensemble, X[:0])
    with pytest.raises(ValueError, match="sample_weight has shape"):
        absolute(ensemble, X, sample_weight=[1.0])
