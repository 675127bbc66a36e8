"""What a fit does where its caller leaves it open: who splits, within which limits, how many trees.

``splitter="auto"`` and parameters of None mean what predicts best on tables that are not seen here.
That was measured on half of some real tables and confirmed on the other half: docs/accuracy.md has
the numbers. Whoever names a splitter gets what goes with it:

    "greedy"             XGBoost's parameters, so that trees are those of its exact method
    "unbiased"           hardly any limits: parts of the rows that chose nothing guard against
                         splits that do not hold up, and a limit on hessians would end logistic
                         trees early. So guarded, trees gain by more rounds
    "cross_validated"    the same

and greedy trees that "auto" grows have the limits of `CAREFUL`, because nothing else guards them.
"""

from collections.abc import Mapping
from typing import Any

from gbt.splitting.cross_validated import CrossValidated
from gbt.splitting.frontier import Policy
from gbt.splitting.policies import as_policy
from gbt.splitting.unbiased import Unbiased

AS_XGBOOST = {
    "n_estimators": 100, "min_child_weight": 1.0, "min_samples_leaf": 1,
    "categorical_smoothing": 20.0,
}  # fmt: skip
GUARDED = {
    "n_estimators": 200, "min_child_weight": 1e-3, "min_samples_leaf": 1,
    "categorical_smoothing": 5.0,
}  # fmt: skip
CAREFUL = AS_XGBOOST | {"min_child_weight": 1e-3, "min_samples_leaf": 20}
BY_SPLITTER = {"greedy": AS_XGBOOST, "unbiased": GUARDED, "cross_validated": GUARDED}
LARGEST_UNBIASED = 10_000  # rows, up to which "auto" grows unbiased trees


def chosen(asked: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """Return parameters with a splitter in place of "auto", and what goes with it for None.

    Parameters
    ----------
    asked : mapping of str to object
        All parameters of an estimator.
    n_rows : int
        That every tree sees.

    Returns
    -------
    dict of str to object
    """
    splitter = asked["splitter"]
    if isinstance(splitter, str) and splitter == "auto":
        splitter = "unbiased" if _goes_unbiased(asked, n_rows) else "greedy"
        wanted = CAREFUL if splitter == "greedy" else GUARDED
    elif isinstance(splitter, str):
        wanted = BY_SPLITTER[splitter]
    else:
        wanted = GUARDED if isinstance(splitter, Unbiased | CrossValidated) else AS_XGBOOST
    left_open = {name: value for name, value in wanted.items() if asked[name] is None}
    return {**asked, **left_open, "splitter": splitter}


def _goes_unbiased(asked: Mapping[str, Any], n_rows: int) -> bool:
    """Say whether unbiased trees can be grown, and are the better ones for so many rows."""
    on_a_side = asked["min_samples_leaf"] or GUARDED["min_samples_leaf"]
    is_constrained = asked["monotone_constraints"] is not None  # which greedy trees alone keep
    return 6 * on_a_side <= n_rows <= LARGEST_UNBIASED and not is_constrained


def as_checked(splitter: str | Policy) -> Policy:
    """Return the policy by which parameters are checked before it is known how many rows there are.

    For "auto" that is greedy, because "auto" grows greedy trees where others could not do what is
    asked.
    """
    is_auto = isinstance(splitter, str) and splitter == "auto"
    return as_policy("greedy" if is_auto else splitter)
