"""How much of a sum a few rows may carry: the kurtosis of contributions of *training* rows.

A normal interval is right only where a sum is not decided by a few rows. The kurtosis m4 / m2^2 of
the contributions, divided by the number of held-out rows, bounds the error of the normal
approximation. The held-out rows cannot tell their own kurtosis, because a table that has missed the
rare large contributions has short tails for that very reason. The training rows can, because the
rare ones among them have made the small nodes.
"""

from attributions.methods import kind_of

LIMIT = 0.1  # kurtosis / number of held-out rows: above it, intervals are not to be relied on
LIMIT_OF_MODEL = 0.2  # the same where kurtosis comes from the model, not from training rows


def limit_of(method: str) -> float:
    """Return the limit of a method; kurtosis comes from the model in ``held_out_gain`` alone."""
    return LIMIT_OF_MODEL if kind_of(method) == "held_out_gain" else LIMIT
