"""The policies by their names, and their form in model files."""

from dataclasses import asdict, is_dataclass
from typing import Any

from gbt.splitting.cross_validated import CrossValidated
from gbt.splitting.greedy import Greedy
from gbt.splitting.policy import Policy
from gbt.splitting.unbiased import Unbiased

POLICIES: dict[str, type] = {
    "greedy": Greedy,
    "cross_validated": CrossValidated,
    "unbiased": Unbiased,
}


def as_policy(splitter: Any) -> Policy:
    """Return the policy called ``splitter``, with its defaults, or the given policy itself."""
    return POLICIES[splitter]() if isinstance(splitter, str) else splitter


def describe_policy(splitter: str | Policy) -> Any:
    """Return a policy as in a file, a name or a name and options; a user's own stays itself."""
    for name, policy in POLICIES.items():
        if type(splitter) is policy:
            return {name: asdict(splitter)} if is_dataclass(splitter) else name
    return splitter


def described_policy(description: Any) -> str | Policy:
    """Return the policy that a file describes; an error if it describes none."""
    if not isinstance(description, list):
        return description
    [(name, options)] = description
    return POLICIES[name](**dict(options))
