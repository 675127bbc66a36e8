"""What other libraries call the losses: one table for each library.

A line has the loss of an objective, and which of the objective's parameters are its first
arguments, in their order, with the library's defaults. Hessians are the libraries' (``is_newton``):
the second derivative, times e^0.7 of counts, and of K classes times 2 in XGBoost, K/(K - 1) in
LightGBM and scikit-learn's ``GradientBoosting*`` (Friedman 2001, equation 34), and 1 elsewhere.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.loss import Loss
from gbt.losses.ranking import NDCG, Pairwise
from gbt.losses.robust import Absolute, Huber, PseudoHuber, Quantile
from gbt.losses.several_outputs import SeveralTargets, Softmax
from gbt.losses.squared_and_logistic import LOSSES, CrossEntropy
from gbt.losses.survival import Aft, Cox

NEWTON_GAMMA, NEWTON_COX, NEWTON_AFT, NEWTON_TWEEDIE = (
    partial(loss, is_newton=True) for loss in (Gamma, Cox, Aft, Tweedie)
)
REFITTED = ("absolute", "quantile")  # losses whose leaves are quantiles: -G/(H + lambda) is lost
NONE: Mapping[str, Any] = {}


class Objective(NamedTuple):
    """A library's objective."""

    # The name of a loss that several targets may have side by side, or what makes a loss: of the
    # values of the parameters, or of the number of classes.
    of: Any
    parameters: Mapping[str, Any] = NONE  # with the library's defaults
    is_of_classes: bool = False  # every class is an output
    # Under which key XGBoost's files have the parameters, "" if nowhere; None if models of ours
    # are not written with it.
    record: str | None = None

    def loss(self, given: Mapping[str, Any] = NONE, n_outputs: int = 1) -> Loss:
        """Return the loss, with parameters as far as they are given."""
        if self.is_of_classes:
            return self.of(n_outputs)
        if isinstance(self.of, str):
            return LOSSES[self.of] if n_outputs == 1 else SeveralTargets(n_outputs, self.of)
        return self.of(*(given.get(name, default) for name, default in self.parameters.items()))


PLAIN_RECORD = "reg_loss_param"
DISTRIBUTION = "aft_loss_distribution"
XGBOOST: dict[str, Objective] = {
    "reg:squarederror": Objective("half_squared_error", record=PLAIN_RECORD),
    "binary:logistic": Objective("half_logistic", record=PLAIN_RECORD),
    "binary:logitraw": Objective("half_logistic"),  # predictions, and base_score, are raw
    "reg:logistic": Objective(CrossEntropy, record=PLAIN_RECORD),  # a single target may be a share
    "multi:softprob": Objective(Softmax, is_of_classes=True, record="softmax_multiclass_param"),
    "multi:softmax": Objective(Softmax, is_of_classes=True),
    "count:poisson": Objective(Poisson, {"max_delta_step": 0.7}, record="poisson_regression_param"),
    "reg:gamma": Objective(NEWTON_GAMMA, record=PLAIN_RECORD),
    "reg:tweedie": Objective(
        NEWTON_TWEEDIE, {"tweedie_variance_power": 1.5}, record="tweedie_regression_param"
    ),
    "reg:squaredlogerror": Objective(SquaredLogError, record=PLAIN_RECORD),
    "reg:pseudohubererror": Objective(
        PseudoHuber, {"huber_slope": 1.0}, record="pseudo_huber_param"
    ),
    "reg:absoluteerror": Objective(Absolute, record=""),
    "reg:quantileerror": Objective(Quantile, {"quantile_alpha": 0.5}, record="quantile_loss_param"),
    "survival:cox": Objective(NEWTON_COX),
    "survival:aft": Objective(
        NEWTON_AFT, {DISTRIBUTION: "normal", f"{DISTRIBUTION}_scale": 1.0}, record="aft_loss_param"
    ),
    "rank:pairwise": Objective(Pairwise),
    "rank:ndcg": Objective(NDCG),
    "rank:map": Objective(NDCG),
}
LIGHTGBM: dict[str, Objective] = {
    "regression": Objective("half_squared_error"),
    "binary": Objective("half_logistic"),
    "cross_entropy": Objective(CrossEntropy),
    "multiclass": Objective(lambda K: Softmax(K, K / (K - 1)), is_of_classes=True),
    "multiclassova": Objective(lambda K: SeveralTargets(K, "half_logistic"), is_of_classes=True),
    "lambdarank": Objective(NDCG),
    "rank_xendcg": Objective(NDCG),
    "poisson": Objective(Poisson, {"poisson_max_delta_step": 0.7}),
    "gamma": Objective(NEWTON_GAMMA),
    "tweedie": Objective(NEWTON_TWEEDIE, {"tweedie_variance_power": 1.5}),
    "quantile": Objective(Quantile, {"alpha": 0.9}),
    "regression_l1": Objective(Absolute),
    "huber": Objective(Huber, {"alpha": 0.9}),
}
CATBOOST: dict[str, Objective] = {
    "RMSE": Objective("half_squared_error"),
    "Logloss": Objective("half_logistic"),
    "Cox": Objective(NEWTON_COX),
    "PairLogit": Objective(Pairwise),
    "YetiRank": Objective(Pairwise),
    "QueryRMSE": Objective(Pairwise),
    "MultiClass": Objective(lambda K: Softmax(K, 1.0), is_of_classes=True),
    "SurvivalAft": Objective(NEWTON_AFT, {"dist": "normal", "scale": 1.0}),
}
OF_BOTH_BOOSTINGS: dict[str, Objective] = {
    "squared_error": Objective("half_squared_error"),
    "log_loss": Objective("half_logistic"),
    "absolute_error": Objective(Absolute),
    "quantile": Objective(Quantile, {"quantile": 0.5}),
}
GRADIENT_BOOSTING = OF_BOTH_BOOSTINGS  # of scikit-learn, as the next two
HIST_GRADIENT_BOOSTING = {
    **OF_BOTH_BOOSTINGS,
    "poisson": Objective(Poisson, {"max_delta_step": 0.0}),
    "gamma": Objective(NEWTON_GAMMA),
}
SURVIVAL_ANALYSIS = {"coxph": Objective(Cox)}  # of scikit-survival
