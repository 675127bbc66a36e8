"""Training rows given with a model: they supply sums that a library did not keep, and check others.

The rows go down the trees along the model's own predictions (`Ensemble.refit_statistics`). They
must add up to the sums that the library kept, within the rounding of float32. If they do not, the
model was trained on other rows or weights, on a sample, with another loss or from another start
than it says. A mixture of its sums and those of the rows would belong to neither, so then all sums
are those of the rows.

Counts do not depend on the targets, and neither does H, given the predictions. If G is not kept but
a leaf's value v is one step of the library, G in training was -(v / learning_rate) (H + lambda),
with the H of the rows. So wrong targets and weights are found there, too.
"""

import warnings
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _num_samples, has_fit_parameter

from gbt.formats.averages import PROBABILITIES, Several
from gbt.formats.imported import STEPS, SUMS, Imported, moved_start
from gbt.formats.merging import merged
from gbt.formats.nodes import EPS_32
from gbt.losses.survival.aft import Aft
from gbt.model.ensemble import Ensemble
from gbt.model.soundness import NEEDED_FOR, STATISTICS
from gbt.parallel.chunks import is_in_chunks
from gbt.tables.targets import as_target, as_weight

KEPT_WITHIN = 1e-3  # of the sums of a tree; another loss or sample changes them by per cents
LEAST_HESSIAN = 1e-9  # of the tree's largest; float64 has larger ones within KEPT_WITHIN


def complete(
    imported: Imported, model: Any, X: Any, y: Any, sample_weight: Any, init_score: Any = None
) -> Ensemble:
    """Return the ensemble with all statistics, from the rows where it lacks or contradicts them."""
    ensemble = imported.ensemble
    if is_in_chunks(X) or is_in_chunks(y):
        raise ValueError(
            "Training rows of Dask cannot be compared with what a model keeps; their statistics are"
            " as_ensemble(model).refit_statistics(X, y), with targets as the loss takes them: 0 and"
            " 1 for two classes."
        )
    X = ensemble.as_input(X)  # once, and not at each of several looks
    target = as_target(model, ensemble, y, len(X))
    if sample_weight is None and (of_classes := _class_weight(model)) is not None:
        sample_weight = compute_sample_weight(of_classes, y)
    weight = as_weight(sample_weight, len(X))
    if imported.is_sampled and ensemble.statistics == set(STATISTICS):
        return ensemble
    # CatBoost's counts are sums of weights that happen to be whole.
    if imported.library == "CatBoost" and not np.isin(weight, (0, 1)).all():
        nothing, known = np.zeros_like(ensemble.n_samples), ensemble.statistics - {"counts"}
        ensemble = replace(ensemble, n_samples=nothing, statistics=known)
    if imported.start_weight_of_1 is not None:
        ensemble = _from_mean(ensemble, target, weight, imported.start_weight_of_1)
    of_rows = ensemble.refit_statistics(X, target, weight, init_score)
    ensemble = _with_single_leaves(ensemble, of_rows)
    if not weight.all():  # LightGBM counts rows of weight 0, too
        of_all = ensemble.refit_statistics(X, target, None, init_score).n_samples
        if np.array_equal(ensemble.n_samples, of_all):
            of_rows = replace(of_rows, n_samples=of_all)
    as_trained = of_rows
    if imported.trained_on is not None:
        own = replace(ensemble, loss=imported.trained_on(weight[weight > 0]))
        as_trained = own.refit_statistics(X, target, weight, init_score)
    is_other = _warn_of_others(imported, ensemble, as_trained, np.abs(target).max(initial=0.0))
    if is_other or imported.trained_on is not None or not imported.compared >= SUMS:
        return of_rows  # the library's sums belong to other predictions, nodes or derivatives
    known = ensemble.statistics
    kept = {
        array: getattr(ensemble, array)
        for array, statistic in NEEDED_FOR.items()
        if statistic in known and (array != "gain" or "hessians" in known)
    }
    return replace(of_rows, **kept)


def complete_several(
    as_ensemble: Callable[..., Ensemble],
    several: Several,
    given: Ensemble,
    X: Any,
    y: Any,
    sample_weight: Any,
    init_score: Any,
) -> Ensemble:
    """Return the trees of several models, each completed by the rows that it was fitted on.

    ``given`` is the model as it is without them. Where gains do not add up to one total, G is that
    at the predictions of the average.
    """
    target = as_target(several, given, y, _num_samples(X))  # refuses labels that no model knows
    parts = []
    for j, model in enumerate(several.models):
        own = [
            several.given_to(j, X),
            y if several.weights is not None else np.asarray(y)[:, j],
            sample_weight,
        ]
        if several.mean_of == PROBABILITIES:  # members know numbers of classes
            own[1] = np.searchsorted(several.classes_, np.asarray(y))
        if several.rows is not None:  # weights have told how often each is drawn, and no more
            drawn, own[2] = several.rows[j], None
            if has_fit_parameter(model, "sample_weight"):
                own[2] = np.bincount(drawn, minlength=len(y)).astype(np.float64)
            else:  # such as a pipeline, which is given a row as often as it is drawn
                own[:2] = own[0][drawn], np.asarray(own[1])[drawn]
        parts.append(as_ensemble(model, *own, init_score))
    whole = merged(several, parts)
    if "gradients" not in whole.statistics:
        whole = whole.refit_statistics(X, target, sample_weight, init_score)
    return replace(
        whole, feature_names=given.feature_names, credit=given.credit, preparation=given.preparation
    )


def _warn_of_others(
    imported: Imported, ensemble: Ensemble, of_rows: Ensemble, largest_target: float
) -> bool:
    """Say whether the rows contradict a model, and warn if they do."""
    facts = imported.compared & (ensemble.statistics | {STEPS})
    wrong = discrepancy(ensemble, of_rows, largest_target, facts)
    if wrong is not None:
        limits = (  # XGBoost's H of a row that survives with p of 4e-16 is 1e-16, not 15
            "; or rows far from their predictions got limits in place of derivatives, as the"
            " library's AFT gives them" * isinstance(ensemble.loss, Aft)
        )
        warnings.warn(
            f"The {imported.library} model is not what these rows make of it: {wrong}. It was"
            " trained on other rows or weights (scale_pos_weight is one), on samples of them, with"
            " another loss (an objective of one's own), or from other predictions than it says (a"
            f" base margin, which init_score is for){limits}. G, H and counts are now those of"
            f" these rows under {ensemble.loss.name}, along its own predictions.",
            UserWarning,
            stacklevel=4,
        )
    return wrong is not None


def _from_mean(
    ensemble: Ensemble, target: np.ndarray, weight: np.ndarray, weight_of_1: float
) -> Ensemble:
    """Return a model of the same predictions whose base score is the mean of the targets."""
    if weight_of_1 != 1:
        weight = weight / np.where(target == 1, weight_of_1, 1.0)
    mean = ensemble.loss.best_constant(target, weight)
    return moved_start(ensemble, mean) if np.isfinite(mean).all() else ensemble


def _class_weight(model: Any) -> Any:
    """Return weights of classes that a model knows to have been fitted with; None without any."""
    if not hasattr(model, "get_all_params"):
        asked = getattr(model, "class_weight", None)
        return asked if asked == "balanced" else None
    weights = model.get_all_params().get("class_weights")  # CatBoost's, however they were asked for
    return dict(zip(model.classes_.tolist(), weights, strict=True)) if weights else None


def _with_single_leaves(ensemble: Ensemble, of_rows: Ensemble) -> Ensemble:
    """Return a model with the H of trees of a single leaf, which LightGBM does not keep."""
    sizes = np.diff(ensemble.tree_offset)
    is_lost = np.repeat(sizes == 1, sizes) & (ensemble.sum_hessian == 0)
    H = np.where(is_lost, of_rows.sum_hessian, ensemble.sum_hessian)
    return replace(ensemble, sum_hessian=H) if "hessians" in ensemble.statistics else ensemble


def discrepancy(
    kept: Ensemble, of_rows: Ensemble, largest_target: float, facts: Collection[str]
) -> str | None:
    """Return where a model's statistics of nodes differ from those of rows, None if nowhere.

    Compared are some of the model's statistics, and "steps", the G that follows from the leaves'
    values. Left out of these are trees of a single leaf, whose value scikit-learn leaves at 0, and
    leaves whose rows have probabilities of 0 and 1, whose H is only rounding errors.
    """
    n_nodes = np.diff(kept.tree_offset)
    roots = kept.tree_offset[:-1]
    if not len(roots):
        return None
    leaf = kept.left < 0
    of_tree = np.add.reduceat(np.where(leaf, np.abs(of_rows.sum_gradient), 0.0), roots)
    H = of_rows.sum_hessian[roots]
    largest_score = np.abs(kept.base_score).max()
    of_G = KEPT_WITHIN * of_tree + 256 * EPS_32 * H * (largest_score + largest_target + 1)
    of_value = -kept.value / kept.learning_rate * (of_rows.sum_hessian + kept.reg_lambda)
    is_step = leaf & (of_rows.sum_hessian > LEAST_HESSIAN * H.max())
    is_step[roots] = False
    G = of_rows.sum_gradient
    for fact, name, theirs, ours, allowed in (
        ("counts", "rows", kept.n_samples, of_rows.n_samples, 0 * H),
        ("hessians", "H", kept.sum_hessian, of_rows.sum_hessian, KEPT_WITHIN * H),
        ("gradients", "G", kept.sum_gradient, G, of_G),
        ("steps", "G (as its value says)", np.where(is_step, of_value, G), G, of_G),
    ):
        too_far = np.abs(ours - theirs) > np.repeat(allowed, n_nodes)
        if fact in facts and too_far.any():
            node = int(np.argmax(too_far))
            m = int(np.searchsorted(kept.tree_offset, node, side="right")) - 1
            return (
                f"at node {node - roots[m]} of tree {m} it has {name} = {theirs[node]:.6g}, they"
                f" give {ours[node]:.6g}"
            )
    return None
