"""What studies calculate of models and rows, by hand.

What pages calculate from committed rows `tests.benchmarks.test_studies` compares with the pages.
"""

import numpy as np
import pandas as pd
import pytest

from benchmarks.papers import propositions
from benchmarks.papers.cvb import measures, methods
from benchmarks.papers.cvb.methods import GREEDY, SCIKIT_LEARN, TRAINERS
from benchmarks.papers.held_out import noise
from benchmarks.papers.inference import judging
from benchmarks.papers.inference.paper import count_covered
from benchmarks.papers.propositions import POPULATION, Design
from benchmarks.papers.rankings.ranks import critical_difference
from benchmarks.papers.treeinner.methods import identity_error, worth
from tests.asserts import assert_close

N_DRAWS, N_FEATURES = 500, 8


def test_worth_by_hand():
    # Norm of (3, -4, 0): 5.
    found = worth(np.array([3.0, -4.0, 0.0]), np.array([True, False, False]))
    assert found == {"auc": 1.0, "noisy": -0.4, "relevant": 0.6}
    nothing = worth(np.zeros(2), np.array([True, False]))
    assert nothing == {"auc": 0.5, "noisy": 0.0, "relevant": 0.0}


def test_identity_error_by_hand():
    # (1, 3) / 4 and (4, 6) / 10; a common factor makes no difference.
    assert_close(identity_error(np.array([1.0, 3.0]), np.array([4.0, 6.0])), 0.15, 1)
    assert identity_error(np.array([1.0, 3.0]), np.array([2.0, 6.0])) == 0
    assert identity_error(np.zeros(2), np.zeros(2)) == 0


def coverage_of_normal_rows():
    """Return the mean coverage of features whose intervals hold by construction."""
    population = np.random.default_rng(0).normal(0.3, 1.0, size=(20_000, N_FEATURES))
    n_covered = count_covered(population, 400, N_DRAWS, np.random.default_rng(1))
    assert n_covered.shape == (N_FEATURES,)
    return n_covered.mean() / N_DRAWS


def test_intervals_of_normal_rows_cover_as_they_should():
    # 4000 independent intervals: standard deviation .0034; t with 399 degrees of freedom: -.0005.
    assert abs(coverage_of_normal_rows() - 0.95) < 4 * 0.0035


def test_false_positives_are_counted_by_hand():
    class Result:
        values = np.array([3.0, 0.0, -2.0, 9.0])
        standard_error = np.array([1.0, 0.0, 1.0, 1.0])

        def p_values(self):
            return np.array([0.001, 1.0, 0.9, 0.0001])

    row = judging.counted(Result(), np.array([True, True, True, False]))
    assert (row["n_null"], row["false"], row["false_bh"]) == (3, 1, 1)
    assert (row["n_other"], row["true"], row["true_bh"]) == (1, 1, 1)
    assert (row["sum_z"], row["n_used"]) == (1.0, 2)


class Result:
    """Four features: found and reliable, found and not reliable, neither, reliable alone."""

    is_reliable = np.array([True, False, False, True])

    def p_values(self):
        return np.array([0.01, 0.04, 0.5, 0.06])


def test_counts_by_hand():
    every = np.ones(4, dtype=bool)
    expected = {"n": 4, "found": 2, "n_reliable": 2, "found_reliable": 1}
    assert noise.counted(Result(), every) == expected
    last = np.array([False, False, True, True])
    expected = {"n": 2, "found": 0, "n_reliable": 1, "found_reliable": 0}
    assert noise.counted(Result(), last) == expected


def test_distance_of_one_stump_by_hand(monkeypatch):
    """The first component is (a, 0, -a) with a^2 = 3/2; its cuts tie, the higher one is taken.

    The stump gives a/2, a/2, -a: a mean square distance of a^2/6 = 1/4. What is left of the other
    components is all of them, 1/2, 1/4 and 0; so the mean over the four features is 1/4.
    """
    design = Design("one stump", "", max_depth=1, n_estimators=1, learning_rate=1.0)
    monkeypatch.setattr(propositions, "DESIGNS", [design])
    found = propositions.recovery(design, POPULATION, 0)
    assert_close(found["distance"], 0.5, 1e8)  # lambda = 1 beside a weight of 1e8
    assert_close(found["prediction"], 1.0, 1e8)  # independent: 1/4 + 1/2 + 1/4


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_critical_differences_are_those_of_demsar(n_methods, q):
    """Table 5 (a) of Demsar (2006), which rounds to three decimals."""
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    assert critical_difference(n_methods, 30) == pytest.approx(expected, rel=5e-4)


def test_gain_and_shap_values_of_one_split():
    """Of two groups of rows, one split apart: a gain of n (difference / 2)^2, equal shares."""
    X = pd.DataFrame({"x": [0.0, 1.0] * 20, "noise": [0.0] * 40})
    y = np.array([0.0, 3.0] * 20)
    model = methods.of_scikit_learn(False, 1, 0, []).fit(X, y)
    assert measures.gain_of(SCIKIT_LEARN, model, X, y).tolist() == pytest.approx([40 * 1.5**2, 0])
    rate = methods.LEARNING_RATE
    expected = pytest.approx([1.5 * rate, 0])
    assert measures.shap_of(SCIKIT_LEARN, model, X).tolist() == expected
    model = TRAINERS[GREEDY](False, 1, 0, []).fit(X, y)
    assert measures.shap_of(GREEDY, model, X).tolist() == expected
