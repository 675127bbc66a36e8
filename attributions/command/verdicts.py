"""The verdict on each feature in plain language, and its exact rule.

A verdict is about this model's use of the feature on rows that it has not seen. It follows from the
feature's held-out gain v and its standard error s alone. The first line that applies is the
verdict:

``not used``         no tree splits on the feature
``cannot be told``   a few rows may carry v, or the rows are those of the training
``helps``            v is above 0 beyond chance: the one-sided p-value 1 - Phi(v / s), adjusted by
                     Holm, is at most 0.05; and the model is better than a constant
``hurts``            v is below 0 beyond chance: the same of Phi(v / s)
``cannot be told``   all others

P-values are adjusted for the number m of used features whose v is not carried by a few rows: the
smallest is multiplied by m, the next by m - 1, and so on (Holm, 1979, Scandinavian Journal of
Statistics 6, 65-70). So at most one table in twenty has a feature that gets "helps" by mistake, and
of "hurts" that holds, too. Whoever reads a list of features that help takes each of them for
granted, so that the share of mistakes among them, which Benjamini and Hochberg bound, is not
enough: at 0.1 seven of sixty tables named a column that had been drawn at random, by Holm four
(``benchmarks.papers.report.reading``), and 165 features helped in place of 195. With many rows the
smallest of effects is beyond chance: v says how much a feature helps, the verdict does not. Where
rows belong together, s is over groups, and Phi is Student's distribution.
"""

import numpy as np
from scipy.special import stdtr

from attributions.results import GlobalAttribution

MISTAKEN = 0.05  # of tables, in which any feature gets a verdict by chance
HELPS, HURTS, UNCLEAR, UNUSED = "helps", "hurts", "cannot be told", "not used"
RULES = {
    HELPS: (
        "What the model learned from the feature holds on rows that it has not seen, beyond chance:"
        f" the p-value, adjusted for the number of features (Holm), is at most {MISTAKEN:g}. In at"
        " most one table of twenty a feature gets this verdict by mistake."
    ),
    HURTS: (
        "What the model learned from the feature makes predictions of new rows worse, by the same"
        " rule. Without it this model should predict better."
    ),
    UNCLEAR: (
        "Chance would explain what was measured, or a few rows may carry it, so that more held-out"
        " rows would tell; or the model as a whole is no better than a constant. It is not thereby"
        " noise."
    ),
    UNUSED: "No tree splits on the feature: it may repeat another, or say nothing.",
}


def verdicts(
    useful: GlobalAttribution, is_used: np.ndarray, may_help: bool = True
) -> tuple[list[str], np.ndarray]:
    """Return the verdict on every feature, and adjusted p-values.

    Parameters
    ----------
    useful : GlobalAttribution
        Held-out gain with standard errors, in any unit.
    is_used : bool array of shape (p,)
        Whether a tree splits on the feature.
    may_help : bool
        Whether the model is better than a constant.
    """
    above = _p_values(useful)
    is_reliable = np.ones(len(above), dtype=bool)
    if useful.is_reliable is not None:
        is_reliable = useful.is_reliable
    can_be_told = is_used & is_reliable & (np.asarray(useful.standard_error) > 0)
    below = np.where(can_be_told, 1 - above, 1.0)
    for p_values in (above, below):
        for together in (can_be_told, ~can_be_told):
            p_values[together] = adjusted(p_values[together])
    words = np.select(
        [
            ~is_used,
            can_be_told & (above <= MISTAKEN) & may_help,
            can_be_told & (below <= MISTAKEN),
        ],
        [UNUSED, HELPS, HURTS],
        UNCLEAR,
    )
    return words.tolist(), above


def adjusted(p_values: np.ndarray) -> np.ndarray:
    """Return p-values for the smallest of several, the next, and so on, as Holm adjusts them."""
    order = np.argsort(p_values, kind="stable")
    n_left = np.arange(len(order), 0, -1)  # of which each is the smallest
    in_order = np.maximum.accumulate(n_left * p_values[order])
    result = np.empty(len(order))
    result[order] = np.minimum(in_order, 1.0)
    return result


def _p_values(useful: GlobalAttribution) -> np.ndarray:
    """Return one-sided p-values; of groups by Student's distribution, since there may be few."""
    if useful.groups is None:
        return useful.p_values()
    z = np.zeros(len(useful))
    error = np.asarray(useful.standard_error)
    np.divide(useful.values, error, out=z, where=error > 0)
    return np.where(error > 0, stdtr(max(useful.n_draws - 1, 1), -z), 1.0)
