"""TreeInner and its relatives: what each feature's work is worth on given rows (Sun 2022).

Boosting adds one tree m at a time, each a step against the gradients g_im = dL(y_i, f)/df taken at
the prediction before it, f_[m-1](x_i); in a forest every tree is a step from what the forest
predicts before any split (``gbt.model.stages``). An individual attribution says how much feature k
moved row i in that step, r_mk(x_i). A move against the gradient lowers the loss, a move along it
raises it:

    q_ik          = -(1/alpha) sum_m r_mk(x_i) g_im             alpha = learning_rate
    TreeInner(k)  = sum_i w_i q_ik

On the training rows, with PreDecomp, this is the total gain (Proposition 3), on rows that the model
has not seen it says how much of that gain holds up. There the TreeInner of a feature without effect
is on average below 0: what its earlier steps learned of the training noise is an error in the
predictions that later steps start from, and the later steps add to it. ``partial_inner`` adds the
feature's own work back to the residual, ``forest_inner`` looks at the whole forest at once.

All are sums over rows: ``attributions.statistics.row_sums`` makes their errors. Where none is
wanted, the rows of a leaf share one r_mk of a path attribution, so only the sum of their gradients
is needed (``RowsBeforeTrees.by_tree``).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from attributions.held_out.constant_loss import Targets, percent_of_one
from attributions.held_out.rows_before_trees import RowsBeforeTrees, Wanted
from attributions.inputs import as_training, warn_caller
from attributions.options import check_one_of
from attributions.per_row.bound import BoundModel
from attributions.results import GlobalAttribution
from attributions.rows import AllRows
from attributions.statistics.row_sums import RowSums, sum_over_rows
from gbt.losses.amounts import SquaredLogError
from gbt.losses.own import OwnLoss
from gbt.losses.robust import PseudoHuber
from gbt.losses.several_outputs import SeveralTargets
from gbt.losses.squared_and_logistic import HalfLogistic, HalfSquaredError
from gbt.parallel.chunks import Chunk

FOREST_VARIANTS = ("residual", "target")


def tree_inner(
    model: Any,
    X: Any,
    y: Any,
    *,
    ifa: Any = "predecomp",
    sample_weight: Any = None,
    groups: Any = None,
    init_score: Any = None,
    training: Any = None,
    per_tree: bool = False,
    per_output: bool = False,
    second_moments: bool = False,
    standard_error: bool = True,
    columns: str = "given",
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Sum, over rows and trees, how much each feature's steps lowered the loss.

    ``tree_inner(model, X_held_out, y_held_out)`` ranks features by how much their steps in the
    trees lowered the loss of rows that the model has not seen. It is the TreeInner of Sun (2022);
    `held_out_gain` is the measure to begin with. On exactly the rows that the trees were grown on,
    with the weights of the fit (``sample_weight`` times those of ``class_weight``), it equals the
    total gain, if ``ifa`` is the default and the model has neither ``subsample`` nor
    ``monotone_constraints`` nor learning rates that a callback has set.

    Parameters
    ----------
    model, X, y, groups, init_score
        As for `held_out_gain`; rows of Dask are gone through once.
    ifa : {"predecomp", "saabas", "tree_shap"}, object, or callable
        The individual attribution r_mk. An object is one with options, such as
        ``attributions.per_row.Saabas(weights="count")`` or
        ``attributions.per_row.TreeShap(background=rows)``, or your own, see
        ``attributions.per_row.individual``. A callable takes ``(ensemble, m, X)`` and returns an
        array of shape (n, p).
    sample_weight : array of shape (n,), optional
        Not negative; multiplies a row's contribution. Class weights of the fit are not applied by
        themselves: give the weights of these rows to judge by the loss that the fit minimised.
        Weights of 0 and 1 pick a subset, as if only its rows were given.
    training : (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_score), optional
        The rows that the model was fitted on, with the weights that they had. They tell whether a
        few rows may carry a feature's sum, so that its interval and p-value are not to be relied
        on: the result then has ``is_reliable``. Costs a pass over these rows. From them also comes
        what the model's library did not keep of its nodes, H and the values of inner nodes, as in
        `as_ensemble`; but labels are still those of ``model.classes_``.
    per_tree, per_output, second_moments, columns, n_jobs
        As for `held_out_gain`.
    standard_error : bool
        Whether to return standard errors. They mean nothing on training rows. Without them
        PreDecomp and Saabas take some six tenths of the time, and values may differ in the
        last bits: gradients are added up by leaf before they are multiplied.

    Returns
    -------
    GlobalAttribution
        In the units of total gain: the loss that the feature saved to first order, divided by the
        learning rate, summed over rows. Positive means helped.

    Notes
    -----
    The measure is first order: it asks in which direction a step went, not whether it went too far.
    It describes this fitted model, not the data's mechanism. Correlated features share credit
    in the way in which the trees happened to use them.
    """
    bound = BoundModel.of(model, X, ifa, training, columns)
    wanted = Wanted(per_tree, per_output, second_moments, standard_error)
    given = Chunk(X, y, sample_weight, groups, init_score)
    return _measure(RowsBeforeTrees.tree_inner, bound, given, wanted, training, n_jobs, False)


def partial_inner(
    model: Any,
    X: Any,
    y: Any,
    *,
    ifa: Any = "saabas",
    sample_weight: Any = None,
    groups: Any = None,
    init_score: Any = None,
    training: Any = None,
    per_tree: bool = False,
    per_output: bool = False,
    second_moments: bool = False,
    standard_error: bool = True,
    columns: str = "given",
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Compute TreeInner with each feature's own earlier contributions added back to the residual.

    q_ik = (1/alpha) sum_m r_mk(x_i) (-g_im + h_im F_imk), with F_imk the sum of r_qk(x_i) over the
    trees q before m and h_im the hessian. Where TreeInner asks whether the feature's steps lowered
    the loss, this asks whether its learned shape points the right way given all other features: a
    step that repeats what earlier steps of the same feature have already achieved is not held
    against it.

    Parameters
    ----------
    model, X, y, groups, init_score, per_tree, per_output, second_moments, columns, n_jobs
        As for `held_out_gain`.
    sample_weight, training, standard_error
        As for `tree_inner`.
    ifa : {"saabas", "predecomp", "tree_shap"}, object, or callable
        As for `tree_inner`, but Saabas unless asked otherwise, because its steps average 0 over the
        training rows of every node and PreDecomp's do not; see the notes.

    Returns
    -------
    GlobalAttribution
        In the units of `tree_inner`; not a decomposition of the total gain on any rows.

    Notes
    -----
    With a penalty lambda both children of a node are shrunk more than the node itself, so even a
    split on noise moves its rows towards 0 on average by PreDecomp's count. Where the node's value
    was overfitted that is a move in the right direction, and the feature of the split is paid for
    it. Saabas starts from the mean of the leaves below the node, so what the leaves share is the
    node's and not the feature's (:doc:`docs/attributions.md </attributions>`, section 7).

    `held_out_gain` answers this question without hessians, with centred steps, and is recommended.
    `partial_inner` keeps its level for the squared and the logistic loss and columns of numbers.
    Where the hessians of a fit are not the loss's second derivatives it gives a `LevelWarning`, and
    on columns of many words it calls too much noise significant.

    At weak signals the test finds several times as many features as that of `tree_inner`, but it is
    not conservative: :doc:`docs/inference.md </inference>` has its false positives and false
    discoveries, simulated with independent features. Nothing is promised for correlated ones.
    """
    bound = BoundModel.of(model, X, ifa, training, columns)
    bound.refuse_forest()
    if standard_error:
        _warn_of_level(bound.ensemble.loss)
    wanted = Wanted(per_tree, per_output, second_moments, standard_error)
    given = Chunk(X, y, sample_weight, groups, init_score)
    return _measure(RowsBeforeTrees.partial_inner, bound, given, wanted, training, n_jobs, True)


def forest_inner(
    model: Any,
    X: Any,
    y: Any,
    *,
    ifa: Any = "predecomp",
    variant: str = "residual",
    sample_weight: Any = None,
    groups: Any = None,
    init_score: Any = None,
    training: Any = None,
    standard_error: bool = True,
    columns: str = "given",
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Inner product of a feature's whole contribution F_ik = sum_m r_mk(x_i) with the residuals.

    Definition 5 of Sun 2022 has two lines that are not equal; both are offered:

    * ``"residual"``: (1/alpha) sum_i F_ik sum_m -g_im, the first line, which made the paper's
      Table 4;
    * ``"target"``: (1/alpha) sum_i F_ik y_i, where the second line has the target in place of the
      second bracket. The factor 1/alpha is kept; it changes no ranking. y is not centred, so a
      feature whose contributions do not average 0 is credited with the mean of y.

    Parameters
    ----------
    model, X, y, groups, init_score, columns, n_jobs
        As for `held_out_gain`.
    ifa, sample_weight, training, standard_error
        As for `tree_inner`.
    variant : {"residual", "target"}
        Which of the two lines above is computed.

    Notes
    -----
    In the population, with independent features, a feature without effect has the value 0
    (Proposition 4). A model fitted to finitely many rows is another matter: on new rows the first
    line is below 0 for such a feature, as `tree_inner` is, because its own work is part of the
    residuals; the second is centred on 0 if y averages 0. Over 20 of the paper's simulated data
    sets noise features averaged -0.44 (classification) and -0.51 (regression) standard errors by
    the first line, -0.06 and 0.02 by the second with y centred.
    """
    check_one_of(FOREST_VARIANTS, variant=variant)
    bound = BoundModel.of(model, X, ifa, training, columns)
    if variant == "target" and bound.ensemble.loss.has_pairs:
        raise ValueError(
            f"variant='target' multiplies by the target, and under the {bound.ensemble.loss.name}"
            " loss that is not one number: use variant='residual'."
        )
    wanted = Wanted(standard_error=standard_error)
    given = Chunk(X, y, sample_weight, groups, init_score)
    measure = RowsBeforeTrees.forest_inner
    return _measure(measure, bound, given, wanted, training, n_jobs, variant=variant)


class LevelWarning(UserWarning):
    """P-values are too small: for such a model the measure calls too much noise significant."""


# Losses whose hessians are their second derivatives; a user's own loss is trusted to be one.
EXACT_HESSIANS = (
    HalfSquaredError,
    HalfLogistic,
    PseudoHuber,
    SquaredLogError,
    SeveralTargets,
    OwnLoss,
)


def _warn_of_level(loss: Any) -> None:
    """Warn where the hessians of the fit are not the second derivatives of the loss."""
    is_newton = getattr(loss, "is_newton", False) or getattr(loss, "max_delta_step", None) == 0
    if not (isinstance(loss, EXACT_HESSIANS) or is_newton):
        warn_caller(
            "partial_inner adds a feature's own work back by the hessians of the fit, which for the"
            f" {loss.name} loss are not its second derivatives: noise then has p < 0.05 far more"
            " often than in 5 % of cases. Use held_out_gain, which needs no hessians.",
            LevelWarning,
        )


def _measure(
    contributions: Callable,
    bound: BoundModel,
    given: Chunk,
    wanted: Wanted,
    training: Any,
    n_jobs: int | None,
    removes_own_work: bool | None = None,
    **options: str,
) -> GlobalAttribution:
    """Return the sum of a measure's contributions; in per cent if it says what it removes."""
    ensemble, name = bound.ensemble, contributions.__name__
    rows = AllRows.of(RowsBeforeTrees, bound, given, n_jobs)
    sums, n_rows = rows.sum(partial(_sums, contributions, options, wanted))
    if not np.isfinite(sums.total).all():
        raise ValueError(
            f"What rows add to {name} is not finite: either {bound.ifa_name} returned values that"
            " are not, or the targets are so large that their squares do not fit into float64. Then"
            " fit a model to targets that are divided by a constant."
        )
    kurtosis = percent = None
    if training is not None:
        seen = AllRows.of(RowsBeforeTrees, bound, as_training(training), n_jobs)
        moments = partial(_moments, partial(contributions, **options))
        kurtosis = seen.over(moments).kurtosis
    if removes_own_work is not None and rows.rows is not None:
        targets = Targets(rows.rows.y, rows.rows.weight)
        percent = percent_of_one(ensemble, targets, removes_own_work)
    method = f"{name}({', '.join([bound.ifa_name, *options.values()])})"
    names, has_error = ensemble.credited_names, wanted.standard_error
    return replace(
        GlobalAttribution.of_sums(sums, n_rows, names, method, has_error),
        kurtosis=kurtosis,
        percent_of_one=percent,
        **wanted.beside(ensemble, sums.beside),
    )


def _sums(
    measure: Callable, options: dict, wanted: Wanted, rows: RowsBeforeTrees, n_jobs: int | None
) -> RowSums:
    """Return the sums of some rows, with sums by tree beside."""
    n_rows, by_tree = len(rows.X), wanted.per_tree or wanted.per_output
    share_leaves = rows.have_paths and rows.ensemble.loss.is_by_row
    if measure is RowsBeforeTrees.tree_inner and share_leaves and not wanted.standard_error:
        of_trees = rows.by_tree(rows.node_sums(n_jobs)[:, 0])
        total = of_trees.sum(axis=0)
        labels = None if rows.groups is None else rows.groups.labels
        return RowSums(n_rows, total, np.zeros(len(total)), of_trees, labels)
    own = partial(measure, rows, **options, **({"per_tree": True} if by_tree else {}))
    moments = bool(wanted.second_moments)
    at_once = rows.rows_at_once
    return sum_over_rows(own, n_rows, n_jobs, rows.groups, at_once, second_moments=moments)


def _moments(contributions: Callable, rows: RowsBeforeTrees, n_jobs: int | None) -> RowSums:
    """Return sums of powers of rows' contributions."""
    own, at_once = partial(contributions, rows), rows.rows_at_once
    return sum_over_rows(own, len(rows.X), n_jobs, None, at_once, higher=True)
