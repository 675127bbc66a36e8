"""What is said of a feature in plain language, and the exact rule.

A verdict speaks of what this model makes of the feature, on rows that it has not seen. It is drawn
from three numbers of a feature: its importance v there (TreeInner, in per cent of the constant
model's loss), the standard error s of v, and its share g of the total gain, which is what its
splits promised in training. With T the sum of v over all features, and 0 where that is negative:

``rarely used``           g is less than a tenth of an even share: g < .1 / number of features
``helps``                 not that, and v is above 0 beyond chance: the one-sided p-value
                          1 - Phi(v / s), adjusted by Benjamini and Hochberg for the number of
                          features that are not rarely used, is at most .1
``used but not useful``   neither, and even the upper end of the 95 % interval, v + 1.96 s, is below
                          half of what the gain promised, g T / 2
``cannot tell``           none of the above: the interval reaches from nothing to half the promise

What is rarely used comes first because with many rows the smallest of effects is beyond chance, and
says nothing that anybody needs. A feature that does not help may be of use to another model.

Of all that Benjamini and Hochberg find, one in ten at most is a mistake, on average. That is so for
what was adjusted together. If some of it is then set aside, the mistakes may all be among the rest:
a hundred rare features that are certain let noise among twenty others pass at p-values of .08. So
the rarely used features are set aside first, in which the held-out rows have no say, since g comes
from the rows of training. Each of the two sets is adjusted for itself.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import false_discovery_control

from attributions.results import GlobalAttribution

FALSE_DISCOVERIES = 0.1
RARE = 0.1  # of an even share of the gain
HELPS, RARELY, USELESS, UNCLEAR = (
    "helps", "rarely used", "used but not useful", "cannot tell"
)  # fmt: skip
RULES = {
    HELPS: (
        "The model uses it, and its importance is above 0 beyond chance: the p-value, adjusted for"
        " the number of features that are not rarely used (Benjamini and Hochberg), is at most"
        f" {FALSE_DISCOVERIES:g}. Of the features that get this verdict about one in ten at most is"
        " a mistake."
    ),
    USELESS: (
        "The model uses it, but it does not pay: even the upper end of the 95 % interval is below"
        " half of what the training promised (half of the share of total gain times the importance"
        " of all features together). Leaving it out should cost this model little."
    ),
    UNCLEAR: (
        "The interval reaches from nothing to at least half of what the training promised. More"
        " held-out rows would tell. It is not thereby noise."
    ),
    RARELY: (
        "The model hardly uses it: its share of total gain is less than a tenth of an even share"
        " (0.1 divided by the number of features). Whether it helps or not, it matters little. A"
        " feature with a share of 0 is never used."
    ),
}


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What is said of every feature, and the numbers that it is drawn from.

    Parameters
    ----------
    words : list of str
    p_values : float64 array of shape (p,)
        Adjusted for the number of features that are rarely used, or of those that are not.
    gain_share : float64 array of shape (p,)
        Of the total gain; 0 everywhere if no tree has a split.
    """

    words: list[str]
    p_values: np.ndarray
    gain_share: np.ndarray

    def of(self, word: str) -> list[int]:
        """Return the features that got a verdict."""
        return [k for k, said in enumerate(self.words) if said == word]

    @property
    def rare_but_beyond_chance(self) -> list[int]:
        """The features that are above 0 beyond chance, and do not matter: they are rarely used."""
        return [k for k in self.of(RARELY) if self.p_values[k] <= FALSE_DISCOVERIES]


def verdicts(useful: GlobalAttribution, gain: GlobalAttribution) -> Verdicts:
    """Judge every feature by the rule of this module.

    Parameters
    ----------
    useful : GlobalAttribution
        TreeInner on held-out rows, with standard errors.
    gain : GlobalAttribution
        Total gain of the same model, in any unit.
    """
    value, error = useful.values, np.asarray(useful.standard_error)
    share = gain.normalized()
    is_rare = share < RARE / len(value)
    adjusted = useful.p_values()
    for together in (is_rare, ~is_rare):
        adjusted[together] = false_discovery_control(adjusted[together])
    total = max(value.sum(), 0.0)
    upper_end = useful.confidence_interval()[:, 1]
    words = np.select(
        [
            is_rare,
            (adjusted <= FALSE_DISCOVERIES) & (error > 0),
            upper_end < share * total / 2,
        ],
        [RARELY, HELPS, USELESS],
        UNCLEAR,
    )
    return Verdicts(words.tolist(), adjusted, share)
