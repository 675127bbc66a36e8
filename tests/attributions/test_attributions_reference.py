"""The definitions against pencil and paper, and against one another."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions.reference import definitions as reference
from attributions.reference import shapley
from attributions.testing import ensembles
from tests.asserts import assert_close, assert_same
from tests.tree_cases import ensemble_of, example_1, fit_values

# ------------------------------------------------------------------------------------- Example 1


@pytest.mark.parametrize(
    ("split_on", "values", "mean_values"),
    [
        (0, ["0", "1/3", "-1/2"], ["1/18", "1/3", "-1/2"]),
        (1, ["0", "-1/3", "1/2"], ["-1/18", "-1/3", "1/2"]),
    ],
    ids=["I", "II"],
)
def test_node_values_of_example_1(split_on, values, mean_values):
    ensemble, _, _ = example_1(split_on)
    tree = ensemble.trees[0]
    values, mean_values = ([float(Fraction(v)) for v in vs] for vs in (values, mean_values))

    assert_same(tree.value, values)
    assert_close(reference.recurrence_23(tree, tree.sum_hessian, 1.0), values, 1.0, k=2)
    assert_close(reference.mean_of_leaves(tree, tree.sum_hessian), mean_values, 1.0, k=2)
    assert_close(reference.recurrence_23(tree, tree.sum_hessian, 0.0), mean_values, 1.0, k=2)


def test_per_feature_scores_of_two_rounds_by_hand():
    """Structure I twice. The second round meets f = 1/3, 1/3, -1/2, so g = 1/3, -2/3, 1/2.

    Left G, H = -1/3, 2 and p = 1/9; right 1/2, 1 and -1/4; root 1/6, 3 and -1/24. The second round
    contributes 1/9 + 1/24 = 11/72, twice, and -1/4 + 1/24 = -5/24.
    """
    ensemble, X, y = example_1(0)
    twice = ensemble_of([*ensemble.trees, *ensemble.trees], 2, reg_lambda=1.0)
    twice = fit_values(twice, X, y)

    second_gain = Fraction(1, 27) + Fraction(1, 8) - Fraction(1, 144)
    gain = float(Fraction(5, 6) + second_gain)
    assert_close(reference.total_gain(twice, 2), [gain, 0.0], [gain, 0.0], k=8)
    assert_close(reference.tree_inner(twice, X, y), [gain, 0.0], [gain, 0.0], k=8)
    # -g + F = 0, 1, -1 in the second round: 11/72 + 5/24.
    partial = reference.partial_inner(twice, X, y, reference.predecomp)
    assert_close(partial, [43 / 36, 0.0], [2.0, 0.0], k=8)
    # F = 35/72, 35/72, -17/24 and sum of -g = -1/3, 5/3, -3/2.
    residual = reference.forest_inner(twice, X, y)
    assert_close(residual, [739 / 432, 0.0], [2.0, 0.0], k=8)
    target = reference.forest_inner(twice, X, y, variant="target")
    assert_close(target, [43 / 36, 0.0], [2.0, 0.0], k=8)
    for level in ("tree", "forest"):
        score = reference.absolute(twice, X, level=level)
        assert_close(score, [121 / 72, 0.0], [2.0, 0.0], k=8)


def test_the_partial_form_in_centred_steps_by_hand():
    """Structure I twice, as above. The roots' mean leaf values are 1/18 and -1/108.

    So rows A, B move by 5/18 and 13/108, row C by -5/9 and -13/54, and in the second round -g + F
    is -1/3 + 5/18 = -1/18 for A and -1/2 - 5/9 = -19/18 for C.
    """
    ensemble, X, y = example_1(0)
    twice = fit_values(ensemble_of([*ensemble.trees, *ensemble.trees], 2, reg_lambda=1.0), X, y)

    steps = [reference.centred_steps(twice.trees[1], x)[0] for x in X]
    assert_close(steps, [13 / 108, 13 / 108, -13 / 54], 1.0, k=8)
    only_a = reference.partial_inner(twice, X[:1], y[:1])
    assert_close(only_a, [-13 / 1944, 0.0], [1.0, 0.0], k=8)
    only_c = reference.partial_inner(twice, X[2:], y[2:])
    assert_close(only_c, [5 / 9 + 13 / 54 * 19 / 18, 0.0], [1.0, 0.0], k=8)


# ---------------------------------------------------------------------------------- Shapley values


def test_shapley_values_of_games_that_are_known():
    def majority(S):
        return float(len(S) >= 2)

    def gloves(S):  # 0 and 1 have a left glove each, 2 a right one; a pair is worth 1
        return float(2 in S and len(S) >= 2)

    def sum_of_numbers(S):
        return float(sum(S))

    assert_close(shapley.shapley_values(majority, 3), [1 / 3] * 3, 1.0, k=4)
    assert_close(shapley.shapley_values(gloves, 3), [1 / 6, 1 / 6, 4 / 6], 1.0, k=4)
    assert_close(shapley.shapley_values(sum_of_numbers, 4), [0.0, 1, 2, 3], 3.0, k=8)


# -------------------------------------------------------------------------------- over drawn trees


@given(st.data())
def test_recurrences_23(data):
    ensemble = data.draw(ensembles())
    for tree in ensemble.trees:
        absolute = replace(tree, value=np.abs(tree.value))
        H, n = tree.sum_hessian, tree.n_samples.astype(float)

        terms = reference.recurrence_23(absolute, H, ensemble.reg_lambda)
        rebuilt = reference.recurrence_23(tree, H, ensemble.reg_lambda)
        assert_close(rebuilt, tree.value, terms)

        for weight in (H, n):
            terms = reference.mean_of_leaves(absolute, weight)
            rebuilt = reference.recurrence_23(tree, weight, 0.0)
            assert_close(rebuilt, reference.mean_of_leaves(tree, weight), terms)
