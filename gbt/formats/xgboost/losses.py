"""Objectives of XGBoost as losses, with parameters from a model's JSON.

====================================  ============================================================
objective                             loss
====================================  ============================================================
``reg:squarederror``                  ``half_squared_error``, of several targets side by side
``binary:logistic``, ``...:logitraw``,  ``half_logistic``, of several targets side by side
``reg:logistic``
``multi:softprob``, ``multi:softmax``   ``softmax`` with the hessian 2 p (1 - p)
``count:poisson``                     ``poisson``, its hessian times e^max_delta_step
``reg:gamma``                         ``gamma``, its hessian the second derivative
``reg:tweedie``                       ``tweedie`` with its variance power
``reg:squaredlogerror``               ``squared_log_error``
``reg:pseudohubererror``              ``pseudo_huber``
``reg:absoluteerror``                 ``absolute``; leaves are refitted to medians, until 3.3
``reg:quantileerror``                 ``quantile``; leaves are refitted to quantiles, until 3.3
``survival:cox``                      ``cox``, its hessian the second derivative
``rank:pairwise``                     ``pairwise``
``rank:ndcg``, ``rank:map``           ``ndcg``
====================================  ============================================================
"""

from typing import Any

from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.half import LOSSES, CrossEntropy
from gbt.losses.loss import Loss
from gbt.losses.ranking import NDCG, Pairwise
from gbt.losses.robust import Absolute, PseudoHuber, Quantile
from gbt.losses.several_outputs import SeveralTargets, Softmax
from gbt.losses.survival import Cox

LOSS_OF_OBJECTIVE = {
    "reg:squarederror": "half_squared_error",
    "binary:logistic": "half_logistic",
    "reg:logistic": "half_logistic",  # of several targets; a single one may be a share
    "binary:logitraw": "half_logistic",  # the prediction, and with it base_score, is raw
}
OTHERS = (
    "multi:softprob", "multi:softmax", "count:poisson", "reg:gamma", "reg:tweedie",
    "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror", "reg:quantileerror",
    "survival:cox", "rank:pairwise", "rank:ndcg", "rank:map",
)  # fmt: skip
OF_CLASSES = ("multi:softprob", "multi:softmax")
WITHOUT_CURVATURE = ("reg:absoluteerror", "reg:quantileerror")
FIRST_SMOOTHED = (
    3,
    4,
)  # the version that trains these on smoothed derivatives; others refit leaves


def loss_of(
    objective: str, numbers: dict[str, list[float]], n_classes: int, n_targets: int
) -> Loss:
    """Return the loss of an objective; ``numbers`` are its parameters."""
    if objective in LOSS_OF_OBJECTIVE and not (objective == "reg:logistic" and n_targets < 2):
        name = LOSS_OF_OBJECTIVE[objective]
        return LOSSES[name] if n_targets < 2 else SeveralTargets(n_targets, name)
    if n_targets > 1:
        raise ValueError(
            f"objective={objective!r} cannot be imported with several targets, here {n_targets}."
        )
    if objective in OF_CLASSES:
        return Softmax(n_classes)

    def only(name: str, default: float) -> Any:
        found = numbers.get(name, [default])
        if len(found) != 1:
            raise ValueError(f"objective={objective!r} cannot be imported with several {name}.")
        return found[0]

    if objective == "count:poisson":
        return Poisson(only("max_delta_step", 0.7))
    if objective == "reg:tweedie":
        return Tweedie(only("tweedie_variance_power", 1.5), is_newton=True)
    if objective == "reg:pseudohubererror":
        return PseudoHuber(only("huber_slope", 1.0))
    if objective == "reg:quantileerror":
        return Quantile(only("quantile_alpha", 0.5))
    others: dict[str, Loss] = {
        "reg:logistic": CrossEntropy(),
        "reg:gamma": Gamma(is_newton=True),
        "reg:squaredlogerror": SquaredLogError(),
        "reg:absoluteerror": Absolute(),
        "survival:cox": Cox(is_newton=True),
        "rank:pairwise": Pairwise(),
        "rank:ndcg": NDCG(),
        "rank:map": NDCG(),
    }
    return others[objective]
