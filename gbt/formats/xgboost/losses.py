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
``survival:aft``                      ``aft``, its derivatives clipped
====================================  ============================================================
"""

from collections.abc import Callable
from typing import Any

from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.half import LOSSES, CrossEntropy
from gbt.losses.loss import Loss
from gbt.losses.ranking import NDCG, Pairwise
from gbt.losses.robust import Absolute, PseudoHuber, Quantile
from gbt.losses.several_outputs import SeveralTargets, Softmax
from gbt.losses.survival import Aft, Cox

LOSS_OF_OBJECTIVE = {
    "reg:squarederror": "half_squared_error",
    "binary:logistic": "half_logistic",
    "reg:logistic": "half_logistic",  # of several targets; a single one may be a share
    "binary:logitraw": "half_logistic",  # the prediction, and with it base_score, is raw
}
OTHERS = (
    "multi:softprob", "multi:softmax", "count:poisson", "reg:gamma", "reg:tweedie",
    "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror", "reg:quantileerror",
    "survival:cox", "survival:aft", "rank:pairwise", "rank:ndcg", "rank:map",
)  # fmt: skip
OF_CLASSES = ("multi:softprob", "multi:softmax")
DISTRIBUTION = "aft_loss_distribution"  # the only parameter of an objective that is a word
WITHOUT_CURVATURE = ("reg:absoluteerror", "reg:quantileerror")
FIRST_SMOOTHED = (
    3,
    4,
)  # the version that trains these on smoothed derivatives; others refit leaves


def loss_of(objective: str, numbers: dict[str, Any], n_classes: int, n_targets: int) -> Loss:
    """Return the loss of an objective; ``numbers`` are its parameters, and its distribution."""
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

    law = numbers.get(DISTRIBUTION, "normal")
    makers: dict[str, Callable[[], Loss]] = {
        "reg:logistic": CrossEntropy,
        "count:poisson": lambda: Poisson(only("max_delta_step", 0.7)),
        "reg:gamma": lambda: Gamma(is_newton=True),
        "reg:tweedie": lambda: Tweedie(only("tweedie_variance_power", 1.5), is_newton=True),
        "reg:squaredlogerror": SquaredLogError,
        "reg:pseudohubererror": lambda: PseudoHuber(only("huber_slope", 1.0)),
        "reg:absoluteerror": Absolute,
        "reg:quantileerror": lambda: Quantile(only("quantile_alpha", 0.5)),
        "survival:cox": lambda: Cox(is_newton=True),
        "survival:aft": lambda: Aft(law, only(f"{DISTRIBUTION}_scale", 1.0), is_newton=True),
        "rank:pairwise": Pairwise,
        "rank:ndcg": NDCG,
        "rank:map": NDCG,
    }
    return makers[objective]()
