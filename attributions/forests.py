"""Forests of scikit-learn as an `Ensemble`: what their trees are, and which rows grew each.

A forest is the mean of its trees, each grown on y itself: an `Ensemble` whose learning rate is one
over the number of trees and whose trees all start from 0, with G = -(sum of w y) and H = sum of w.
Trees of a classifier predict the probability of the second class.
"""

from dataclasses import replace

import numpy as np

from gbt.losses import LOSSES
from gbt.model import NODE_DTYPES, Ensemble, Tree

LARGEST = np.finfo(np.float64).max


def is_forest(model) -> bool:
    """Say whether a model is a random forest or extra trees of scikit-learn."""
    names = {f"{cls.__module__}.{cls.__name__}" for cls in type(model).__mro__}
    return "sklearn.ensemble._forest.BaseForest" in names


def forest_ensemble(forest) -> Ensemble:
    """Return the trees of a fitted forest with one output and, of a classifier, two classes."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(forest)
    if forest.n_outputs_ != 1:
        raise ValueError(
            f"The forest has {forest.n_outputs_} outputs; one is supported. Fit a forest for each."
        )
    classes = getattr(forest, "classes_", None)
    if classes is not None and len(classes) != 2:
        raise ValueError(
            f"The forest has {len(classes)} classes; two are supported. Fit one against the others."
        )
    names = getattr(forest, "feature_names_in_", None)
    if names is None:
        names = [f"x{k}" for k in range(forest.n_features_in_)]
    rate = 1.0 / len(forest.estimators_)
    return Ensemble.from_trees(
        [_tree(estimator.tree_, rate) for estimator in forest.estimators_],
        base_score=0.0,
        learning_rate=rate,
        reg_lambda=0.0,
        loss=LOSSES["half_squared_error"],
        feature_names=tuple(map(str, names)),
        input_dtype=np.float32,
        is_forest=True,
    )


def for_labels(ensemble: Ensemble, forest) -> Ensemble:
    """Return the ensemble with the loss by which targets are read: labels, or numbers."""
    if not hasattr(forest, "classes_"):
        return ensemble
    return replace(ensemble, loss=LOSSES["half_logistic"])


def drawn_counts(forest, n_rows: int):
    """Yield how often each tree drew every row, float64 of shape (n,)."""
    for rows in forest.estimators_samples_:
        yield np.bincount(rows, minlength=n_rows).astype(np.float64)


def _tree(tree, rate: float) -> Tree:
    """Return a tree of scikit-learn in preorder; one that grew best first is not."""
    order, to_come = [], [0]
    while to_come:
        t = to_come.pop()
        order.append(t)
        if tree.children_left[t] >= 0:
            to_come += [tree.children_right[t], tree.children_left[t]]
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    place[-1] = -1  # where scikit-learn's -1 looks
    is_leaf = tree.children_left[order] < 0
    mean = tree.value[order, 0, -1]  # of a classifier the share of the second class
    weight = tree.weighted_n_node_samples[order]
    arrays = {
        "feature": np.where(is_leaf, -1, tree.feature[order]),
        # inf parts present values from missing ones
        "threshold": np.where(is_leaf, 0.0, np.minimum(tree.threshold[order], LARGEST)),
        "left": place[tree.children_left[order]],
        "right": place[tree.children_right[order]],
        "missing_left": np.where(is_leaf, False, tree.missing_go_to_left[order].astype(bool)),
        "sum_gradient": -weight * mean,
        "sum_hessian": weight,
        "n_samples": tree.n_node_samples[order],
        "gain": np.zeros(len(order)),
        "value": rate * mean,
    }
    return Tree(**{name: np.asarray(arrays[name], dtype=NODE_DTYPES[name]) for name in arrays})
