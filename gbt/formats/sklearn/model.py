"""scikit-learn's trees: gradient boosting of both kinds, forests and single trees.

===========================  ==========================================================  ==========
model                        what its nodes keep, and what follows                       x is
===========================  ==========================================================  ==========
``GradientBoosting*``        weights W, counts, means of the negative gradients; leaves  float32
                             the step s. Squared error: s = -G/H with H = W, so all.
                             Log loss: G and H of leaves are lost.
``HistGradientBoosting*``    counts, and eta times the step at leaves. Squared error     float64
                             without weights: H is the count, so all, if these sums
                             give the values of inner nodes. Else G and H are lost.
scikit-survival's            as the first; leaves are means of Cox's negative gradients  float32
``GradientBoosting-          too, so that G = -W mean is known and H is lost.
SurvivalAnalysis``
``RandomForest*``            W, counts, means of the targets: the step from b under      float32
``ExtraTrees*``              half the squared error (of 0 and 1 for two classes, whose
``DecisionTree*``            mean is the probability), G = -W (mean - b) and H = W.
===========================  ==========================================================  ==========

A forest of M trees predicts their mean: they are M trees with learning rate 1/M, each grown on the
gradients at b = 0 (``is_forest``). A single tree is boosting of one round: b is the mean of its
root, the base score. Both are judged at what they predict before any split (``gbt.model.stages``).
With K > 2 classes, or K targets, every tree counts K times, once an output, with the same splits.
Training rows supply lost sums (``as_ensemble(model, X=X_train, y=y_train)``).
"""

from typing import Any

import numpy as np
from sklearn import ensemble, tree
from sklearn.utils.validation import check_is_fitted

from gbt.formats.checking import kept
from gbt.formats.imported import STEPS, SUMS, Imported, LibraryNodes
from gbt.formats.nodes import EPS_32, in_preorder
from gbt.formats.objectives import (
    GRADIENT_BOOSTING,
    HIST_GRADIENT_BOOSTING,
    REFITTED,
    SURVIVAL_ANALYSIS,
    Objective,
)
from gbt.formats.sklearn.categories import columns_in_order, levels_of, listed_levels
from gbt.formats.which_loss import Start, doubts_of
from gbt.formats.wrappers import names_in
from gbt.losses.loss import Loss
from gbt.losses.several_outputs import Softmax
from gbt.model.soundness import STATISTICS
from gbt.model.statistics import node_step

BOOSTED = ensemble.GradientBoostingRegressor, ensemble.GradientBoostingClassifier
HISTOGRAMS = ensemble.HistGradientBoostingRegressor, ensemble.HistGradientBoostingClassifier
FORESTS = (
    ensemble.RandomForestRegressor, ensemble.RandomForestClassifier,
    ensemble.ExtraTreesRegressor, ensemble.ExtraTreesClassifier,
)  # fmt: skip
TREES = tree.DecisionTreeRegressor, tree.DecisionTreeClassifier  # ExtraTree* inherit from these
SQUARED_ERRORS = ("squared_error", "friedman_mse")
IS_CLASSIFIER = "classes_"
NOT_KEPT = "scikit-learn does not keep it under loss={!r}"
OF_TIMES = "GradientBoostingSurvivalAnalysis"  # of scikit-survival, which need not be installed
FOLLOWS_WITHIN = 1024 * EPS_32  # of the largest step of a tree: gradients are added up in float32


def import_sklearn(model: Any) -> Imported | None:
    """Turn a model of scikit-learn's trees into an `Ensemble`; None for other models.

    Losses and criteria without an equivalent here, several targets that are classes, an estimator
    as ``init``, and ``IsolationForest`` are refused.
    """
    if isinstance(model, ensemble.IsolationForest):
        raise ValueError(
            "An IsolationForest cannot be imported: it predicts from depths of leaves and has no"
            " loss."
        )
    if _is_of_survival(model, "RandomSurvivalForest", "ExtraSurvivalTrees", "SurvivalTree"):
        raise ValueError(
            f"A {type(model).__name__} cannot be imported: its leaves hold hazards at many times,"
            " its splits are chosen by log-rank tests, and no loss belongs to them."
            f" {OF_TIMES} can be imported."
        )
    is_of_times = _is_of_survival(model, OF_TIMES)
    if not (is_of_times or isinstance(model, (*BOOSTED, *HISTOGRAMS, *FORESTS, *TREES))):
        return None
    check_is_fitted(model)
    classes = getattr(model, IS_CLASSIFIER, (0, 1))
    if len(classes) < 2 or (hasattr(model, IS_CLASSIFIER) and getattr(model, "n_outputs_", 1) > 1):
        raise ValueError(
            f"A {type(model).__name__} with several targets that are classes, or with a single"
            " class, cannot be imported."
        )
    if isinstance(model, HISTOGRAMS):
        trees = [tree for of_round in model._predictors for tree in of_round]
        return kept(model, tuple(trees), lambda: _histograms(model, trees))
    if is_of_times or isinstance(model, BOOSTED):
        state = *model.estimators_.ravel(), model.learning_rate
        return kept(model, state, lambda: _boosted(model))
    estimators = [model] if isinstance(model, TREES) else model.estimators_
    state = tuple(estimator.tree_ for estimator in estimators)
    return kept(model, state, lambda: _averaged(model, estimators))


def _averaged(model: Any, estimators: Any) -> Imported:
    """Import a forest, or a single tree."""
    if not hasattr(model, IS_CLASSIFIER) and model.criterion not in SQUARED_ERRORS:
        raise ValueError(
            f"criterion={model.criterion!r} cannot be imported, only {SQUARED_ERRORS} can: with"
            " others, values are not means, or splits are not chosen by the squared error."
        )
    n_outputs = len(getattr(model, IS_CLASSIFIER, ())) or model.n_outputs_
    n_outputs = 1 if n_outputs == 2 and hasattr(model, IS_CLASSIFIER) else n_outputs
    # A tree of K outputs becomes K trees of the same splits, each with the values of one output.
    nodes = _read_trees([one.tree_ for one in estimators for _ in range(n_outputs)], n_outputs)
    is_forest, offset = isinstance(model, FORESTS), nodes.tree.tree_offset
    base_score = np.zeros(n_outputs) if is_forest else nodes.value[offset[:-1]]
    step = nodes.value - nodes.tree.by_node(np.tile(base_score, len(estimators)))
    constrained = np.any(model.monotonic_cst if model.monotonic_cst is not None else 0)
    return nodes.imported(
        "scikit-learn",
        "it was trained with monotonic_cst" if constrained else None,
        step / len(estimators),
        -nodes.sum_hessian * step,
        STATISTICS,
        is_sampled=bool(getattr(model, "bootstrap", False)),
        base_score=base_score,
        learning_rate=1 / len(estimators),
        reg_lambda=0.0,
        loss=GRADIENT_BOOSTING["squared_error"].loss(n_outputs=n_outputs),
        feature_names=names_in(model),
        input_dtype=np.float32,
        is_forest=is_forest,
    )


def _boosted(model: Any) -> Imported:
    """Import gradient boosting, whose leaves are the step, and whose inner nodes are means."""
    n_outputs = model.estimators_.shape[1]
    is_of_times = _is_of_survival(model, OF_TIMES)
    kinds = SURVIVAL_ANALYSIS if is_of_times else GRADIENT_BOOSTING
    loss = _loss_of(model, kinds, getattr(model, "alpha", 0.5), n_outputs)
    if model.init is not None and model.init != "zero":
        raise ValueError(
            f"init={model.init!r} cannot be imported: the trees start from the predictions of"
            " another model. Train with init=None or init='zero'."
        )
    if is_of_times and model.dropout_rate > 0:
        raise ValueError("dropout_rate cannot be imported: trees are rescaled in training.")
    nodes = _read_trees([tree.tree_ for tree in model.estimators_.ravel()], 1)
    known = {"counts"}
    if is_of_times or model.loss == "squared_error":  # means of negative gradients
        known |= {"gradients", "values"} if is_of_times else {*STATISTICS}
    are_steps = loss.name not in REFITTED and not is_of_times
    return nodes.imported(
        "scikit-learn",
        None if "gradients" in known else NOT_KEPT.format(model.loss),
        model.learning_rate * nodes.value,
        -nodes.sum_hessian * nodes.value,
        known,
        compared=SUMS | {STEPS} if are_steps else SUMS,
        is_sampled=model.subsample < 1,
        base_score=model._raw_predict_init(np.zeros((1, model.n_features_in_), np.float32))[0],
        learning_rate=float(model.learning_rate),
        reg_lambda=0.0,
        loss=loss,
        feature_names=names_in(model),
        input_dtype=np.float32,
    )


def _is_of_survival(model: Any, *names: str) -> bool:
    """Say whether a model is of one of these classes of scikit-survival."""
    return type(model).__module__.startswith("sksurv.") and type(model).__name__ in names


def _histograms(model: Any, trees: list[Any]) -> Imported:
    """Import gradient boosting on histograms, whose leaves are eta times the step."""
    n_outputs = len(model._predictors[0])
    loss = _loss_of(model, HIST_GRADIENT_BOOSTING, getattr(model, "quantile", None), n_outputs)
    eta, reg_lambda = float(model.learning_rate), float(model.l2_regularization)
    levels = levels_of(model)
    nodes = _read_histograms(model, trees, levels)
    leaf, roots = nodes.tree.is_leaf, nodes.tree.tree_offset[:-1]
    nodes = nodes._replace(value=np.where(leaf, nodes.value, eta * nodes.value))
    G = nodes.gradients(eta, reg_lambda)
    follows = eta * node_step(G, nodes.sum_hessian, reg_lambda)
    # Roots keep no value. Those of the other nodes follow from G and the counts if rows weigh 1.
    stated = nodes.value.copy()
    stated[roots] = follows[roots]
    constraints = model.monotonic_cst
    constraints = [*constraints.values()] if isinstance(constraints, dict) else constraints
    is_constrained = constraints is not None and np.any(constraints)
    base_score = np.ravel(model._baseline_prediction).astype(np.float64)
    if model.loss != "squared_error":
        unknown: str | None = NOT_KEPT.format(model.loss)
    elif is_constrained:
        unknown = "it was trained with monotonic_cst"
    elif nodes.tree.first_far(follows, stated, FOLLOWS_WITHIN) is not None:
        unknown = "the rows were weighted: counts do not make the values of its nodes"
    else:
        unknown, _ = doubts_of(nodes, G, loss, Start(base_score[0], True))
    are_steps = loss.name not in REFITTED and not is_constrained
    return nodes.imported(
        "scikit-learn",
        unknown,
        np.where(leaf, nodes.value, follows),
        G,
        STATISTICS if unknown is None else ("counts",),
        compared=SUMS | {STEPS} if are_steps else SUMS,
        levels=levels,
        base_score=base_score,
        learning_rate=eta,
        reg_lambda=reg_lambda,
        loss=loss,
        feature_names=names_in(model),
    )


def _loss_of(model: Any, kinds: dict[str, Objective], quantile: Any, n_outputs: int) -> Loss:
    """Return the loss of boosting."""
    if model.loss not in kinds:
        raise ValueError(f"loss={model.loss!r} cannot be imported, only {[*kinds]} can.")
    if model.loss == "log_loss" and n_outputs > 1:
        is_first = isinstance(model, BOOSTED)  # see `gbt.formats.objectives`
        return Softmax(n_outputs, n_outputs / (n_outputs - 1) if is_first else 1.0)
    return kinds[model.loss].loss({"quantile": quantile})


def _read_trees(trees: list[Any], n_outputs: int) -> LibraryNodes:
    """Read the nodes of all trees; scikit-learn has them in preorder or by gain.

    With K outputs, tree m gives the values of output m mod K, with two classes those of the second.
    """

    def together(name: str) -> np.ndarray:
        return np.concatenate([getattr(tree, name) for tree in trees])

    children = map(together, ("children_left", "children_right"))
    preorder = in_preorder("scikit-learn", [tree.node_count for tree in trees], *children)
    names = ("feature", "threshold", "missing_go_to_left", "weighted_n_node_samples")
    feature, threshold, missing_left, weight, n_samples = (
        together(name)[preorder.order] for name in (*names, "n_node_samples")
    )
    value = np.concatenate(
        [
            tree.value.reshape(tree.node_count, -1)[:, m % n_outputs if n_outputs > 1 else -1]
            for m, tree in enumerate(trees)
        ]
    )[preorder.order]
    threshold = np.nan_to_num(threshold)  # inf between present and missing
    return LibraryNodes(
        preorder, feature, threshold, missing_left.astype(bool), value, weight, n_samples
    )


def _read_histograms(model: Any, trees: list[Any], levels: dict[int, list[Any]]) -> LibraryNodes:
    """Read the nodes of all trees of boosting on histograms; counts stand for weights."""
    records = np.concatenate([tree.nodes for tree in trees])
    is_leaf = records["is_leaf"].astype(bool)
    children = (np.where(is_leaf, -1, records[side].astype(np.int64)) for side in ("left", "right"))
    preorder = in_preorder("scikit-learn", [len(tree.nodes) for tree in trees], *children)
    records = records[preorder.order]
    records["feature_idx"] = columns_in_order(model)[records["feature_idx"]]
    counts = records["count"].astype(np.float64)
    return LibraryNodes(
        preorder,
        records["feature_idx"],
        np.nan_to_num(records["num_threshold"]),  # inf between present and missing
        records["missing_go_to_left"].astype(bool),
        records["value"],
        counts,
        counts,
        listed_levels(model, trees, preorder, records, levels),
    )
