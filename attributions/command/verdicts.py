"""The verdict on each feature in plain language, and its exact rule.

A verdict is about this model's use of the feature on rows that it has not seen. It follows from the
feature's held-out gain v and its standard error s alone. The first line that applies is the
verdict:

``not used``         no tree splits at the feature
``cannot be told``   a few rows may carry v, or the rows are those of the training
``helps``            v is above 0 beyond chance: the one-sided p-value 1 - Phi(v / s), adjusted by
                     Benjamini and Hochberg, is at most 0.1; and the model is better than a constant
``hurts``            v is below 0 beyond chance: the same of Phi(v / s)
``cannot be told``   all others

P-values are adjusted for the number of features that are used and not carried by few rows. So of
all features that get "helps" one in ten at most is a mistake, on average, and so it is with
"hurts". With many rows even the smallest effect is beyond chance: v says how much a feature helps,
not the verdict. Where rows belong together, s is over groups, and Phi is Student's distribution.
"""

import numpy as np
from scipy.special import stdtr
from scipy.stats import false_discovery_control

from attributions.results import GlobalAttribution

FALSE_DISCOVERIES = 0.1
HELPS, HURTS, UNCLEAR, UNUSED = "helps", "hurts", "cannot be told", "not used"
RULES = {
    HELPS: (
        "What the model learned from the feature holds on rows that it has not seen, beyond chance:"
        " the p-value, adjusted for the number of features (Benjamini and Hochberg), is at most"
        f" {FALSE_DISCOVERIES:g}. Of the features that get this verdict about one in ten at most is"
        " a mistake."
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
    UNUSED: "No tree splits at the feature: it may repeat another, or say nothing.",
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
        Whether a tree splits at the feature.
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
            p_values[together] = false_discovery_control(p_values[together])
    words = np.select(
        [
            ~is_used,
            can_be_told & (above <= FALSE_DISCOVERIES) & may_help,
            can_be_told & (below <= FALSE_DISCOVERIES),
        ],
        [UNUSED, HELPS, HURTS],
        UNCLEAR,
    )
    return words.tolist(), above


def _p_values(useful: GlobalAttribution) -> np.ndarray:
    """Return one-sided p-values; of groups by Student's distribution, since there may be few."""
    if useful.groups is None:
        return useful.p_values()
    z = np.zeros(len(useful))
    error = np.asarray(useful.standard_error)
    np.divide(useful.values, error, out=z, where=error > 0)
    return np.where(error > 0, stdtr(max(useful.n_draws - 1, 1), -z), 1.0)
