"""The verdict on each feature in plain language, its interval and its p-value, by one rule.

A verdict is about this model's use of the feature on rows that it has not seen. It is read off the
interval of the feature's held-out gain, as ``RULES`` says.

The intervals of all used features hold together in at least 19 of 20 tables
(``attributions.statistics.together``). So at most one table in twenty has a false verdict, and a
p-value is at most 0.05 where the verdict is helps or hurts, and only there. Where a verdict is
withheld, because the rows are those of the training, or the model is no better than a constant and
the interval lies above 0, there is neither interval nor p-value. Where few rows may carry the gain,
an interval has no upper end, so that a feature may help but not hurt; where nothing is known, it
has neither end.

Whoever reads a list of features that help takes each of them for granted, so that the share of
mistakes among them, which Benjamini and Hochberg bound, is not enough. With many rows the smallest
of effects is beyond chance: the gain says how much a feature helps, the verdict does not.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from attributions.results import GlobalAttribution

MISTAKEN = 0.05  # of tables, in which any interval misses
FOUND = 0.8  # of tables with so many rows, in which the feature gets a verdict
HELPS, HURTS, UNCLEAR, UNUSED = "helps", "hurts", "cannot be told", "not used"
RULES = {
    HELPS: (
        "What the model learned from the feature holds on rows that it has not seen, beyond chance:"
        " the whole interval lies above 0. All intervals of the table hold together in at least 19"
        " of 20 tables, so that hardly any table has a false verdict."
    ),
    HURTS: (
        "What the model learned from the feature makes predictions of new rows worse: the whole"
        " interval lies below 0. Without it this model should predict better."
    ),
    UNCLEAR: (
        "The interval has 0 in it: chance would explain what was measured, or a few rows may carry"
        " it. More held-out rows would tell. It is not thereby noise. Where there is no interval,"
        " the model is no better than a constant, or the rows are those of the training."
    ),
    UNUSED: "No tree splits on the feature: it may repeat another, or say nothing.",
}


@dataclass(frozen=True, eq=False)
class Said:
    """What is said of every feature."""

    verdicts: list[str]
    intervals: np.ndarray  # (p, 2), hold together; infinite: not bounded; nan: nothing is said
    p_values: np.ndarray  # (p,), adjusted for all features; nan: nothing is said, or known


def said_of(
    useful: GlobalAttribution, is_used: np.ndarray, may_help: bool = True, may_tell: bool = True
) -> Said:
    """Return verdicts, intervals and p-values of held-out gains with standard errors, in any unit.

    ``is_used`` says on which features a tree splits, ``may_help`` whether the model is better than
    a constant, and ``may_tell`` whether the rows are others than those of the training.
    """
    ends = useful.confidence_interval(1 - MISTAKEN, simultaneous=True)
    p_values = useful.p_values(adjust="joint")
    low, high = ends.T
    withheld = ~is_used | (not may_tell) | ((low > 0) & (not may_help))
    ends[withheld] = p_values[withheld] = np.nan
    p_values[np.isinf(ends).all(axis=1)] = np.nan
    words = np.select([~is_used, low > 0, high < 0], [UNUSED, HELPS, HURTS], UNCLEAR)
    return Said(words.tolist(), ends, p_values)


def rows_needed(value: float, ends: np.ndarray, error: float, n_rows: int) -> float:
    """Return how many rows would probably give a verdict, if the value is what was measured.

    There is one if the interval leaves out 0: the value lies ``a`` errors from 0, where ``a`` is
    the distance of the value from the nearer end, in errors. In 4 of 5 tables a value is at most
    0.84 errors nearer to 0 than its expectation, and errors fall as the root of the rows:

        n_needed = n_rows * ((a + 0.84) * error / value) ** 2

    Infinite if the value is 0, or if nothing bounds its interval on the side of 0.
    """
    if value == 0:
        return np.inf
    near = ends[0] if value > 0 else ends[1]
    reach = abs(value - near) + ndtri(FOUND) * error
    return float(n_rows * (reach / value) ** 2)
