"""The policies by name."""

from gbt.splitting.cross_validated import CrossValidated
from gbt.splitting.frontier import Policy
from gbt.splitting.greedy import Greedy
from gbt.splitting.unbiased import Unbiased

POLICIES: dict[str, type] = {
    "greedy": Greedy,
    "cross_validated": CrossValidated,
    "unbiased": Unbiased,
}


def as_policy(splitter: str | Policy) -> Policy:
    """Return the policy of a name, with its own defaults, or the one that is given."""
    return POLICIES[splitter]() if isinstance(splitter, str) else splitter
