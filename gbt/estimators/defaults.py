"""Defaults of a fit: the splitter, its limits, and the number of trees.

``splitter="auto"`` and parameters of None stand for what predicted best on real tables. That was
measured on half of the tables and confirmed on the other half: docs/accuracy.md has the numbers.
A splitter that is named brings defaults of its own:

    "greedy"             XGBoost's parameters, so that trees are those of its exact method
    "unbiased"           hardly any limits: rows that have not chosen a split guard against splits
                         that do not hold up, and a limit on hessians would end logistic trees
                         early. Trees with such a guard gain by more rounds
    "cross_validated"    as "unbiased"

The unbiased trees of "auto" are pooled (``gbt.kernels.trees.experience``). Many rounds of small
steps serve them best; where either number is given, the other is as for named splitters. With many
rows they go deeper, as far as leaves of equal size keep `ROWS_OF_LEAF`. Greedy trees that "auto"
grows have the limits of `CAREFUL`, because nothing else guards them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gbt.kernels.trees.experience import FEW
from gbt.splitting.cross_validated import CrossValidated
from gbt.splitting.policies_by_name import as_policy
from gbt.splitting.policy import Policy
from gbt.splitting.unbiased import Unbiased

AS_XGBOOST: dict[str, Any] = {
    "n_estimators": 100, "min_child_weight": 1.0, "min_samples_leaf": 1,
    "categorical_smoothing": 20.0, "max_bins": None,
}  # fmt: skip
GUARDED: dict[str, Any] = {
    "n_estimators": 200, "min_child_weight": 1e-3, "min_samples_leaf": 1,
    "categorical_smoothing": 5.0, "max_bins": 256,
}  # fmt: skip
POOLED = Unbiased(pooled=True)
# Rounds and learning rate of pooled trees that see fewer rows than this.
ROUNDS = {FEW: (1000, 0.02), np.inf: (700, 0.07)}
DEPTH = 6
ROWS_OF_LEAF = 32
CAREFUL = AS_XGBOOST | {"min_child_weight": 1e-3, "min_samples_leaf": 20, "max_bins": 256}
BY_SPLITTER = {"greedy": AS_XGBOOST, "unbiased": GUARDED, "cross_validated": GUARDED}
LARGEST_UNBIASED = 500_000  # rows, up to which "auto" grows unbiased trees


def chosen(asked: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """Return an estimator's parameters with a splitter in place of "auto", its defaults for None.

    Every tree sees ``n_rows`` rows.
    """
    splitter = asked["splitter"]
    if isinstance(splitter, str) and splitter == "auto":
        splitter = POOLED if _goes_unbiased(asked, n_rows) else "greedy"
        wanted = CAREFUL if splitter == "greedy" else GUARDED
    elif isinstance(splitter, str):
        wanted = BY_SPLITTER[splitter]
    else:
        wanted = GUARDED if isinstance(splitter, Unbiased | CrossValidated) else AS_XGBOOST
    wanted = {"learning_rate": 0.1} | wanted
    is_pooled = isinstance(splitter, Unbiased) and splitter.pooled
    if is_pooled and asked["n_estimators"] is asked["learning_rate"] is None:
        rounds, rate = next(ROUNDS[most] for most in ROUNDS if n_rows < most)
        wanted = wanted | {"n_estimators": rounds, "learning_rate": rate}
    left_open = {name: value for name, value in wanted.items() if asked[name] is None}
    if isinstance(asked["max_depth"], str):  # "auto"
        full = max(n_rows // ROWS_OF_LEAF, 1).bit_length() - 1
        left_open["max_depth"] = max(DEPTH, full) if is_pooled else DEPTH
    return {**asked, **left_open, "splitter": splitter}


def _goes_unbiased(asked: Mapping[str, Any], n_rows: int) -> bool:
    """Say whether unbiased trees are possible, and the better ones for so many rows."""
    on_a_side = asked["min_samples_leaf"] or GUARDED["min_samples_leaf"]
    is_constrained = has_directions(asked["monotone_constraints"])  # not measured with others
    return 6 * on_a_side <= n_rows <= LARGEST_UNBIASED and not is_constrained


def has_directions(asked: Any) -> bool:
    """Say whether ``monotone_constraints`` constrain any column."""
    of_columns = asked.values() if isinstance(asked, Mapping) else asked
    return asked is not None and any(of_columns)


def as_checked(splitter: str | Policy) -> Policy:
    """Return the policy by which parameters are checked while the number of rows is unknown.

    For "auto" that is greedy, because "auto" grows greedy trees if parameters allow no others.
    """
    is_auto = isinstance(splitter, str) and splitter == "auto"
    return as_policy("greedy" if is_auto else splitter)
