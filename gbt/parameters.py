"""What every parameter of the estimators may be, and what other libraries call it.

A first table says of every parameter what it may be, in words and as a test: the test decides, and
the words go into the error message. A second one has the names that XGBoost, LightGBM, CatBoost and
scikit-learn use, so that whoever passes one of these is told the name that it has here.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from gbt.losses.known import OF_REGRESSION, is_loss
from gbt.losses.own import OF_A_LOSS
from gbt.splitting.monotone import is_monotone_constraints
from gbt.splitting.policies import POLICIES
from gbt.training.evaluation import is_metric


@dataclass(frozen=True)
class Allowed:
    """What a parameter may be, in words and as a test."""

    words: str
    admits: Callable[[Any], bool]


def number_in(kind: Any, interval: str, *others: Any) -> Allowed:
    """Allow numbers of a kind in an interval written as in mathematics, and a few other values."""
    low, high = (float(end) for end in interval[1:-1].split(","))

    def admits(value: Any) -> bool:
        if isinstance(value, kind) and not isinstance(value, bool):
            above = value >= low if interval[0] == "[" else value > low
            below = value <= high if interval[-1] == "]" else value < high
            return above and below
        return any(value is other for other in others)

    noun = "an integer" if kind is Integral else "a number"
    return Allowed(" or ".join([f"{noun} in {interval}", *map(repr, others)]), admits)


OF_REGRESSOR = {
    "n_estimators": number_in(Integral, "[1, inf)"),
    "learning_rate": number_in(Real, "(0, inf)"),
    "max_depth": number_in(Integral, "[1, inf)", None),
    "max_leaves": number_in(Integral, "[2, inf)", None),
    "min_child_weight": number_in(Real, "[0, inf)"),
    "min_samples_leaf": number_in(Integral, "[1, inf)"),
    "reg_lambda": number_in(Real, "[0, inf)"),
    "min_split_gain": Allowed(
        "a number in [0, inf), or with splitter='unbiased', whose gains can be negative, any",
        number_in(Real, "(-inf, inf)").admits,
    ),
    "subsample": number_in(Real, "(0, 1]"),
    "colsample": number_in(Real, "(0, 1]"),
    "base_score": number_in(Real, "(-inf, inf)", None),
    "splitter": Allowed(
        "'greedy', 'cross_validated', 'unbiased', or an object with the method split of"
        " gbt.splitting.frontier.Policy",
        lambda value: value in POLICIES if isinstance(value, str) else is_splitter(value),
    ),
    "categorical_features": Allowed(
        "'from_dtype', None, or a list of names of columns, of their indices, or of a boolean for"
        " each",
        lambda value: (
            value is None
            or (isinstance(value, str) and value == "from_dtype")
            or is_list_of_columns(value)
        ),
    ),
    "categorical_smoothing": number_in(Real, "[0, inf)"),
    "monotone_constraints": Allowed(
        "None, a dict of names or indices of columns to -1, 0 or 1, or a list of one of these"
        " numbers for each column",
        is_monotone_constraints,
    ),
    "loss": Allowed(
        f"None, one of {[*OF_REGRESSION]}, a loss of gbt.losses such as Quantile(alpha=0.9), or an"
        f" object with the methods {', '.join(OF_A_LOSS)}; for classes there is GBTClassifier",
        is_loss,
    ),
    "early_stopping_rounds": number_in(Integral, "[1, inf)", None),
    "validation_fraction": number_in(Real, "(0, 1)"),
    "eval_metric": Allowed(
        "None, the name of a scikit-learn scorer such as 'neg_mean_absolute_error' or 'roc_auc'"
        " (sklearn.metrics.get_scorer_names() lists them), or a function (y, prediction) -> number"
        " that is larger for better predictions, which scikit-learn's ..._error, ..._loss and"
        " ..._deviance are not",
        lambda value: value is None or is_metric(value),
    ),
    "callbacks": Allowed(
        "None or a list of functions that are called after every tree",
        lambda value: (
            value is None or (isinstance(value, list | tuple) and all(map(callable, value)))
        ),
    ),
    "warm_start": Allowed("True or False", lambda value: isinstance(value, bool | np.bool_)),
    "n_jobs": number_in(Integral, "(-inf, inf)", None),
    "random_state": Allowed(
        "None, an integer in [0, 4294967295], a numpy RandomState or a numpy Generator",
        lambda value: (
            isinstance(value, np.random.RandomState | np.random.Generator)
            or number_in(Integral, "[0, 4294967295]", None).admits(value)
        ),
    ),
    "verbose": number_in(Integral, "[0, inf)", False, True),
}

OF_CLASSIFIER = {
    **{name: allowed for name, allowed in OF_REGRESSOR.items() if name != "loss"},
    "base_score": number_in(Real, "(0, 1)", None),
    "class_weight": Allowed(
        "None, 'balanced' or a dict of labels to positive weights",
        lambda value: (
            value is None
            or (isinstance(value, str) and value == "balanced")
            or (
                isinstance(value, Mapping)
                and all(map(number_in(Real, "(0, inf)").admits, value.values()))
            )
        ),
    ),
}

# Our name, or what to do instead in words, with the names that other libraries have for it.
OTHER_NAMES = {
    "n_estimators": (
        "num_boost_round", "num_round", "n_rounds", "num_iterations", "num_iteration", "n_iter",
        "num_trees", "iterations", "max_iter",
    ),
    "learning_rate": ("eta", "shrinkage", "shrinkage_rate"),
    "max_depth": ("depth",),
    "max_leaves": ("num_leaves", "max_leaf_nodes", "max_leaf", "n_leaves"),
    "min_child_weight": ("min_sum_hessian_in_leaf", "min_sum_hessian"),
    "min_samples_leaf": ("min_child_samples", "min_data_in_leaf", "min_data", "min_samples_split"),
    "reg_lambda": ("lambda", "lambda_", "lambda_l2", "l2_leaf_reg", "l2_regularization"),
    "min_split_gain": ("gamma", "min_split_loss", "min_gain_to_split", "min_impurity_decrease"),
    "subsample": ("bagging_fraction", "sub_row", "max_samples"),
    "colsample": (
        "colsample_bytree", "colsample_bylevel", "colsample_bynode", "feature_fraction", "rsm",
        "max_features", "sub_feature",
    ),
    "base_score": ("init", "init_score", "boost_from_average"),
    "splitter": ("criterion",),
    "categorical_features": ("cat_features", "categorical_feature", "enable_categorical"),
    "categorical_smoothing": ("cat_smooth",),
    "monotone_constraints": ("monotonic_cst", "monotone_constraint", "monotonic_constraints"),
    "early_stopping_rounds": (
        "early_stopping_round", "early_stopping", "n_iter_no_change", "od_wait", "od_pval",
    ),
    "validation_fraction": ("validation_size", "validation_split"),
    "eval_metric": ("metric", "scoring", "custom_metric"),
    "n_jobs": ("nthread", "num_threads", "n_threads", "thread_count", "nthreads"),
    "random_state": ("seed", "random_seed"),
    "verbose": ("verbosity", "silent", "verbose_eval", "logging_level"),
    "class_weight": ("scale_pos_weight", "is_unbalance", "auto_class_weights", "class_weights"),
    "every distinct value is a candidate, so there are no bins to set": (
        "max_bin", "max_bins", "border_count", "tree_method",
    ),
    "trees grow level by level or, where max_leaves is given, best first": ("grow_policy",),
    "loss": ("objective", "loss_function", "application"),
    "there is no L1 penalty": ("alpha", "reg_alpha", "lambda_l1", "l1_regularization"),
}  # fmt: skip
# The same for losses of a regressor.
OTHER_LOSSES = {
    "half_squared_error": (
        "squared_error", "mean_squared_error", "squared_loss", "mse", "rmse", "l2", "ls",
        "reg:squarederror", "regression", "friedman_mse",
    ),
    "absolute": (
        "absolute_error", "mean_absolute_error", "mae", "l1", "lad", "reg:absoluteerror",
        "regression_l1",
    ),
    "poisson": ("count:poisson", "poisson_deviance"),
    "gamma": ("reg:gamma", "gamma_deviance"),
    "tweedie": ("reg:tweedie", "tweedie_deviance"),
    "squared_log_error": ("reg:squaredlogerror", "mean_squared_log_error", "msle", "rmsle"),
    "quantile": ("reg:quantileerror", "pinball"),
    "pseudo_huber": ("reg:pseudohubererror",),
}  # fmt: skip
_LOSS_HERE = {other: here for here, others in OTHER_LOSSES.items() for other in others}
_HERE = {other: here for here, others in OTHER_NAMES.items() for other in others}


def explain_unknown(name: str, known: Collection[str]) -> str:
    """Say in a sentence what an unknown name may have meant, or which names there are."""
    near = get_close_matches(name.lower(), [*known, *_HERE, "loss"], n=1, cutoff=0.75)
    if not near:
        return f"The parameters are {', '.join(known)}."
    here = _HERE.get(near[0], near[0])
    if here in known:
        return f"Did you mean {here}?" if near[0] == here else f"The nearest here is {here}."
    if here == "loss":
        return "loss is a parameter of GBTRegressor only; a classifier's follows from the classes."
    if here in OF_CLASSIFIER:
        return f"{here} is a parameter of GBTClassifier only."
    return f"Here {here}."


def explain_loss(value: Any) -> str:
    """Say which loss an unknown name may have meant; nothing if it is no such name."""
    known = {**dict(zip(OF_REGRESSION, OF_REGRESSION, strict=True)), **_LOSS_HERE}
    near = get_close_matches(str(value).lower(), known, n=1, cutoff=0.75)
    return f" The nearest here is {known[near[0]]!r}." if near else ""


def is_splitter(value: Any) -> bool:
    """Say whether something is an object that splits nodes, not the class of one."""
    return callable(getattr(value, "split", None)) and not isinstance(value, type)


def is_list_of_columns(value: Any) -> bool:
    """Say whether something is a list or array of names, of integers or of booleans."""
    if not isinstance(value, list | tuple | np.ndarray) or np.ndim(value) != 1:
        return False
    kinds = ((str,), (bool, np.bool_), (Integral,))
    return any(all(isinstance(item, kind) for item in value) for kind in kinds)


class NamedParameters(BaseEstimator):
    """An estimator that says what was meant where it is given a parameter that it does not have."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Refuse unknown parameters; ``__init__`` takes the others."""
        for name in kwargs:
            if name not in cls._get_param_names():
                raise TypeError(
                    f"{cls.__name__} has no parameter {name!r}."
                    f" {explain_unknown(name, cls._get_param_names())}"
                )
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; unknown ones are refused before any is set."""
        for name in params:
            if name.partition("__")[0] not in self._get_param_names():
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}."
                    f" {explain_unknown(name, self._get_param_names())}"
                )
        return super().set_params(**params)
