"""One verdict a feature, its interval and its p-value, by one rule."""

import numpy as np
import pytest

from attributions.command.judging.verdicts import HELPS, HURTS, RULES, UNCLEAR, UNUSED, said_of
from attributions.results import GlobalAttribution


def said(values, errors, n_used=None, kurtosis=None, **options):
    """Return what is said of features of which nobody knows how they vary together."""
    n, names = len(values), [f"x{k}" for k in range(len(values))]
    useful = GlobalAttribution(
        np.array(values), np.array(errors), 100_001, names, "held_out_gain", kurtosis=kurtosis
    )
    return said_of(useful, np.arange(n) < (n if n_used is None else n_used), **options)


def test_verdicts_follow_the_rule_that_is_printed():
    """By hand: z = 5, 1, -5, 0 of four used features; the last has no split."""
    values, errors = [5.0, 1.0, -5.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 0.0]
    found = said(values, errors, n_used=4)
    assert found.verdicts == [HELPS, UNCLEAR, HURTS, UNCLEAR, UNUSED]
    assert set(found.verdicts) == set(RULES)
    worse = said(values, errors, n_used=4, may_help=False)
    assert worse.verdicts == [UNCLEAR, UNCLEAR, HURTS, UNCLEAR, UNUSED]
    assert np.isnan(worse.p_values).tolist() == [True, False, False, False, True]
    on_training_rows = said(values, errors, n_used=4, may_tell=False)
    assert on_training_rows.verdicts == [*[UNCLEAR] * 4, UNUSED]
    assert np.isnan(on_training_rows.intervals).all()
    assert said([0.0, 0.0], [0.0, 0.0]).verdicts == [UNCLEAR, UNCLEAR]


def test_intervals_and_p_values_allow_for_the_number_of_features_that_are_used():
    """By hand: 0.04 / 4 below, of those left 0.0375 / 3; a quarter of that above."""
    found = said([2.33, 2.24, -2.73, -2.81], [1.0] * 4)  # 2.326, 2.241, 2.734 and 2.807
    assert found.verdicts == [HELPS, UNCLEAR, UNCLEAR, HURTS]
    assert found.intervals[0] == pytest.approx([0.0, 2.33 + 2.7344], abs=1e-3)
    assert found.intervals[1] == pytest.approx([2.24 - 2.2414, 2.24 + 2.7344], abs=1e-3)
    assert found.p_values[[0, 3]] == pytest.approx([0.04952, 0.04954], abs=2e-5)
    # of 22 features 2.0 is not beyond chance, of two it is: .02275 / (.8 * .875)
    found = said([2.0, 2.33, *[0.0] * 20], [1.0, 1.0, *[0.0] * 20], n_used=2)
    assert found.p_values[0] == pytest.approx(0.0325, abs=1e-4)
    assert found.verdicts[:3] == [HELPS, HELPS, UNUSED]
    assert HELPS not in said([2.0, 2.33, *[0.0] * 20], [1.0] * 22).verdicts


@pytest.mark.parametrize("seed", range(5))
def test_verdict_interval_and_p_value_never_contradict_each_other(seed):
    rng = np.random.default_rng(seed)
    kurtosis = rng.choice([3.0, 1e6, np.inf], 40, p=[0.6, 0.3, 0.1])
    found = said(rng.normal(size=40) * 3, rng.uniform(0.5, 1, 40), kurtosis=kurtosis)
    low, high = found.intervals.T
    verdict = np.array(found.verdicts)
    assert ((verdict == HELPS) == (low > 0)).all()
    assert ((verdict == HURTS) == (high < 0)).all()
    assert ((verdict != UNCLEAR) == (np.nan_to_num(found.p_values, nan=1.0) <= 0.05)).all()
    assert {HELPS, HURTS, UNCLEAR} == {*found.verdicts}


def test_what_few_rows_carry_may_help_but_not_hurt():
    """Its interval has no upper end; a feature of which rows say nothing has neither end."""
    found = said([5.0, -5.0, 5.0], [1.0] * 3, kurtosis=np.array([1e6, 1e6, np.inf]))
    assert found.verdicts == [HELPS, UNCLEAR, UNCLEAR]
    assert found.intervals[:, 1].tolist() == [np.inf] * 3
    assert np.isinf(found.intervals[:, 0]).tolist() == [False, False, True]
    assert np.isnan(found.p_values).tolist() == [False, False, True]
