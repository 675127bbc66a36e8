"""Names of arguments in other libraries, and what to use here in their place.

The error for an argument of XGBoost, LightGBM, CatBoost or scikit-learn gives its name here, or
what to call in its place, or says that there is no such thing. A table has one line for each
equivalent, a name of ours or a sentence, with the names that others have for it.
"""

import inspect
import re
from collections.abc import Callable, Collection
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar, cast

from gbt.losses.by_name import OF_REGRESSION

Method = TypeVar("Method", bound=Callable[..., Any])


def _read(table: str) -> dict[str, tuple[str, ...]]:
    """Return what serves here, in the order of the table, with what others call it."""
    entries = (" ".join(entry.split()).split(" <- ") for entry in re.split(r"\n(?=\w)", table))
    return {here: tuple(others.split()) for here, others in (e for e in entries if len(e) > 1)}


# Arguments of constructors. A sentence follows the word "Here".
OTHER_NAMES = _read("""
n_estimators <- num_boost_round num_round n_rounds num_iterations num_iteration n_iter num_trees
    iterations max_iter
learning_rate <- eta shrinkage shrinkage_rate
max_depth <- depth
max_leaves <- num_leaves max_leaf_nodes max_leaf n_leaves
min_child_weight <- min_sum_hessian_in_leaf min_sum_hessian
min_samples_leaf <- min_child_samples min_data_in_leaf min_data min_samples_split
reg_lambda <- lambda lambda_ lambda_l2 l2_leaf_reg l2_regularization
min_split_gain <- gamma min_split_loss min_gain_to_split min_impurity_decrease
subsample <- bagging_fraction sub_row max_samples
colsample <- colsample_bytree feature_fraction rsm sub_feature
colsample_bynode <- feature_fraction_bynode max_features
base_score <- init boost_from_average
splitter <- criterion
categorical_features <- cat_features categorical_feature enable_categorical feature_types
categorical_smoothing <- cat_smooth
monotone_constraints <- monotonic_cst monotone_constraint monotonic_constraints
interaction_constraints <- interaction_cst
early_stopping_rounds <- early_stopping_round early_stopping n_iter_no_change od_wait od_pval
validation_fraction <- validation_size validation_split
eval_metric <- metric scoring custom_metric
n_jobs <- nthread num_threads n_threads thread_count nthreads
random_state <- seed random_seed bagging_seed feature_fraction_seed data_random_seed
verbose <- verbosity silent verbose_eval logging_level
class_weight <- scale_pos_weight is_unbalance auto_class_weights class_weights
loss <- objective loss_function application
max_bins <- max_bin border_count
bins are quantiles of 131,072 rows at most, and a heavy value has one of its own <- min_data_in_bin
    subsample_for_bin
splitter='greedy' finds the best of all cuts, and there is no other method to find it <- tree_method
    updater force_col_wise force_row_wise
trees grow level by level or, where max_leaves is given, best first <- grow_policy
there is no L1 penalty <- reg_alpha lambda_l1 l1_regularization
there is no L1 penalty, and the level of a quantile belongs to a regressor's loss:
    loss=gbt.losses.Quantile(alpha=0.9) <- alpha
it belongs to a regressor's loss: gbt.losses.Quantile(alpha=0.9), gbt.losses.Huber(delta=1.0),
    gbt.losses.Tweedie(power=1.5) <- quantile quantile_alpha huber_slope delta
    tweedie_variance_power variance_power
trees are boosted; there is no DART and no linear booster <- booster boosting boosting_type
    rate_drop skip_drop one_drop drop_rate max_drop sample_type normalize_type xgboost_dart_mode
    uniform_drop
every round grows one tree, or one for each of several classes: no random forests are grown, but
    attributions explain those of scikit-learn <- num_parallel_tree bootstrap oob_score
    multi_strategy
leaf values have no bound; a smaller learning_rate or a larger reg_lambda shortens them <-
    max_delta_step
training runs on the processor's cores, n_jobs of them, and on no GPU <- device device_type gpu_id
    task_type devices predictor
nan and None are missing values, and no others are <- missing use_missing zero_as_missing nan_mode
feature_importances_ is total gain; package attributions has other measures, such as held-out gain,
    attributions.tree_inner <- importance_type
all rows are as likely to be drawn, subsample of them for every tree <- sampling_method
    data_sample_strategy top_rate other_rate subsample_freq bagging_freq bootstrap_type
    bagging_temperature
all features are as likely to be drawn, colsample of them for every tree <- feature_weights
levels are ordered by their gradients and cut in two; categorical_smoothing says how many rows a
    level needs <- max_cat_to_onehot max_cat_threshold min_data_per_group cat_l2 one_hot_max_size
min_delta <- tol early_stopping_min_delta
a callback sets the learning rate of the next tree: callbacks=[...] <- learning_rates
leaves hold constants, no linear models <- linear_tree linear_lambda
trees are not pruned; a split needs more gain than min_split_gain <- ccp_alpha
classes are found in y, labels of any type <- num_class n_classes use_label_encoder classes_count
it is an argument of fit <- sample_weight eval_set init_score X_val y_val groups eval_groups
""")

# Arguments of fit, predict and their like that no constructor has.
OTHER_ARGUMENTS = _read("""
sample_weight <- weight weights sample_weights
eval_set <- evals valid_sets eval_sets
init_score <- base_margin baseline offset
warm_start=True, a parameter of the constructor, adds trees to those of an earlier fit <- xgb_model
    init_model
groups <- group qid group_id query_id
eval_groups <- eval_group eval_qid
pairs are all rows of a query that have different grades <- subgroup_id pairs
how many places of a list count belongs to the loss, gbt.losses.NDCG <- eval_at
X_val <- X_valid eval_X X_validation
y_val <- y_valid eval_y y_validation
sample_weight_val <- sample_weight_valid weight_val
an evaluation set is a pair in a list: eval_set=[(X_valid, y_valid)] <- validation_data
weights of an evaluation set stand behind its targets: eval_set=[(X_valid, y_valid, sample_weight)]
    <- sample_weight_eval_set eval_sample_weight eval_class_weight
starting values of an evaluation set stand last: eval_set=[(X_valid, y_valid, sample_weight,
    init_score)], where sample_weight may be None <- base_margin_eval_set eval_init_score
evaluation sets are called eval_0, eval_1, ... in evals_result_ <- eval_names
features are called what the columns of a data frame are called <- feature_name feature_names
early_stopping_rounds, a parameter of the constructor, keeps the trees up to the best <-
    use_best_model
functions that are told of every tree are given to the constructor: callbacks=[...] <- monitor
ensemble_.raw_predict(X), or decision_function(X) of a classifier, returns raw predictions <-
    output_margin raw_score prediction_type
staged_predict(X), or staged_predict_proba(X) of a classifier, yields predictions after one round,
    after two, ...; ensemble_.truncate(n).raw_predict(X) returns raw predictions of the first n
    rounds <- iteration_range ntree_limit num_iteration start_iteration ntree_start ntree_end
attributions.tree_shap(model, X) returns what each feature contributed <- pred_contrib pred_contribs
attributions.saabas(model, X) returns what each feature contributed, along the row's path <-
    approx_contribs
attributions.tree_shap_pairs(model, X) returns what pairs of features contributed <-
    pred_interactions
apply(X) returns the leaf that each row reaches in each tree <- pred_leaf
every table is checked <- validate_features check_input predict_disable_shape_check
the result has one entry a row <- strict_shape
all trees are asked for every row <- pred_early_stop pred_early_stop_freq pred_early_stop_margin
predictions come without an interval; a regressor with loss=gbt.losses.Quantile(alpha=0.9) predicts
    one end of it <- return_std return_cov
""")

# Values of a regressor's loss.
OTHER_LOSSES = _read("""
half_squared_error <- squared_error mean_squared_error squared_loss mse rmse l2 ls reg:squarederror
    regression friedman_mse
absolute <- absolute_error mean_absolute_error mae l1 lad reg:absoluteerror regression_l1
poisson <- count:poisson poisson_deviance
cross_entropy <- reg:logistic binary:logistic xentropy
gamma <- reg:gamma gamma_deviance
tweedie <- reg:tweedie tweedie_deviance
squared_log_error <- reg:squaredlogerror mean_squared_log_error msle rmsle
quantile <- reg:quantileerror pinball
pseudo_huber <- reg:pseudohubererror
cox <- survival:cox coxph cox_ph
pairwise <- rank:pairwise PairLogit ranknet
ndcg <- rank:ndcg rank:map lambdarank rank_xendcg YetiRank lambdamart
aft <- survival:aft survivalaft weibull lognormal loglogistic accelerated_failure_time
""")

# Values of eval_metric; errors and losses are negated here, because larger is better.
OTHER_METRICS = _read("""
neg_root_mean_squared_error <- rmse root_mean_squared_error
neg_mean_squared_error <- mse l2 mean_squared_error
neg_mean_absolute_error <- mae l1 mean_absolute_error
neg_mean_absolute_percentage_error <- mape mean_absolute_percentage_error
neg_root_mean_squared_log_error <- rmsle
neg_mean_poisson_deviance <- poisson-nloglik poisson
neg_mean_gamma_deviance <- gamma-deviance gamma_deviance
neg_log_loss <- logloss log_loss binary_logloss mlogloss multi_logloss cross_entropy
roc_auc <- auc
average_precision <- aucpr
accuracy <- error merror binary_error multi_error acc
""")


def _by_other_name(table: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {other: here for here, others in table.items() for other in others}


_PARAMETERS = _by_other_name(OTHER_NAMES)
_ARGUMENTS = _by_other_name(OTHER_ARGUMENTS)
_LOSSES = _by_other_name(OTHER_LOSSES)
_METRICS = _by_other_name(OTHER_METRICS)


def explain_unknown(name: str, known: Collection[str]) -> str:
    """Return a sentence on what an unknown parameter may have meant, or on the known ones."""
    near = _nearest(name, [*known, *_PARAMETERS, "class_weight"])
    here = _PARAMETERS.get(near, near)
    if here == "class_weight" and here not in known:
        return f"{here} is a parameter of GBTClassifier only."
    return _advice(near, here, known) or f"The parameters are {', '.join(known)}."


def explain_argument(name: str, takes: Collection[str], parameters: Collection[str]) -> str:
    """Return a sentence on what to use in place of an argument that a method does not take.

    The method ``takes`` some arguments, and the constructor has ``parameters``.
    """
    near = _nearest(name, [*takes, *_ARGUMENTS, *parameters, *_PARAMETERS])
    here = _ARGUMENTS.get(near, near)
    if here not in takes:
        here = _PARAMETERS.get(here, here)
        if here in parameters:
            return (
                f"{here} is a parameter of the constructor, and set_params({here}=...) changes it."
            )
    return _advice(near, here, takes) or f"It takes {', '.join(takes)}."


def _advice(near: str, here: str, takes: Collection[str]) -> str:
    """Say what is called here as another library calls it, or is near; empty if nothing is."""
    if here in takes:
        return f"Did you mean {here}?" if near == here else f"The nearest here is {here}."
    return f"Here {here}." if " " in here else ""


def explain_loss(value: Any) -> str:
    """Return a sentence on the loss that an unknown name may have meant; empty if none is near.

    A long name may have a wrong letter, a short one none: "mape" is not a misspelled "mae".
    """
    if value in [*OF_REGRESSION]:  # a name that a regressor takes: a classifier was given it
        return f" {value!r} is a loss of GBTRegressor."
    near = _nearest(str(value), [*OF_REGRESSION, *_LOSSES], cutoff=0.87)
    return f" The nearest here is {_LOSSES.get(near, near)!r}." if near else ""


def explain_metric(value: Any) -> str:
    """Return a sentence on the scorer that is another library's metric; empty if none is."""
    names = map(str, value) if isinstance(value, list | tuple) else (str(value),)
    near = [_METRICS[name.lower()] for name in names if name.lower() in _METRICS]
    return f" The nearest here is {' and '.join(map(repr, near))}." if near else ""


def _nearest(name: str, names: Collection[str], cutoff: float = 0.75) -> str:
    """Return the name that is the same but for capitals, or nearly; empty if none is."""
    lowered = name.lower()
    for same in (name, lowered):
        if same in names:
            return same
    return next(iter(get_close_matches(lowered, [*names], n=1, cutoff=cutoff)), "")


def says_what_serves(method: Method) -> Method:
    """Make a method's error for an unknown argument say what to use in its place.

    Python's own error only says that there is no such argument, and names the class that defines
    the method, not that of the object.
    """
    takes = inspect.signature(method)

    @wraps(method)
    def checked(self: Any, *args: Any, **others: Any) -> Any:
        try:
            return method(self, *args, **others)
        except TypeError:
            try:
                takes.bind(self, *args, **others)
            except TypeError as error:
                reason = str(error)
            else:
                raise  # the call was well-formed
        called = f"{type(self).__name__}.{method.__name__}"
        names = [name for name in takes.parameters if name != "self"]
        for name in others:
            if name not in names:
                advice = explain_argument(name, names, self._get_param_names())
                raise TypeError(f"{called} takes no {name!r}. {advice}")
        raise TypeError(f"{called}({', '.join(names)}): {reason}.")

    return cast(Method, checked)
