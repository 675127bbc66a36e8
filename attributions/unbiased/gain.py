r"""Unbiased gain: one of the two factors of a split's gain comes from rows that did not choose it.

A gain is a square, which is above 0 also where both children have the same expectation: that is the
bias. Zhang, Zhang and Li (2023) take one factor from the training rows, which chose the split, and
the other from validation rows (marked '). The forms differ in that other factor:

==============  ====================================================================================
``symmetric``   n_l n_r / n_t * (mean g_l - mean g_r) * (mean g'_l - mean g'_r) / mean h'_t
``paper``       G_l U'_l + G_r U'_r - G_t U'_t, with U' the mean of sum g' / sum h' over *all*
                subsets of k = min(n'_l, n'_r) validation rows of the node (equations 5 and 7)
``sampled``     the same with the mean over 100 random subsets, as in the authors' code
==============  ====================================================================================

All are without the paper's factor 1 / (2 n), in the units of total gain. If, within a node, the
pairs (g', h') of the validation rows do not depend on which child a row goes to, all have the
expectation 0 (docs/unbiased_gain.md). The symmetric form is the default because it also does not
change when a constant is added to every g: without exchangeability, from the second tree on, its
expectation is the gain in a population whose hessian is everywhere that of the parent.

The cost is one pass of training and validation rows down the trees, in which leaves add up their
rows, and for standard errors another pass of the validation rows along their paths.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from attributions.inputs import with_changes
from attributions.options import check_one_of, whole
from attributions.results import GlobalAttribution
from attributions.rows import Intake
from attributions.unbiased.closed_forms import JudgedSplits
from attributions.unbiased.rows import SplitRows, SplitTable
from attributions.unbiased.subsets import gain_of_subsets, mean_ratio, mean_ratio_of_draws
from attributions.walk.rows_at_spots import NodeTotals
from gbt.model.seen_rows import SeenRows
from gbt.parallel.chunks import Chunk

FORMS = ("symmetric", "paper", "sampled")


def unbiased_gain(
    model: Any,
    X_train: Any,
    y_train: Any,
    X_valid: Any,
    y_valid: Any,
    form: str = "symmetric",
    *,
    sample_weight_train: Any = None,
    sample_weight_valid: Any = None,
    groups_valid: Any = None,
    init_score_train: Any = None,
    init_score_valid: Any = None,
    min_samples: int = 5,
    per_tree: bool = False,
    standard_error: bool = True,
    random_state: int | None = None,
    columns: str = "given",
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Sum, over the splits on each feature, the gain that validation rows confirm.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Whatever ``gbt.formats.as_ensemble`` takes. Its splits and predictions are used; gradients
        and hessians are those of the given rows at its predictions.
    X_train, y_train : arrays of shape (n, p) and (n,)
        The rows that the model was fitted on; nan is a missing value. Targets, or labels of
        ``model.classes_``; 0 and 1 for a bare Ensemble with logistic loss. Both tables may be of
        Dask: chunks are summed by the workers that hold them, and the result is that of all rows.
        Forms other than ``"symmetric"`` need the validation rows in memory.
    X_valid, y_valid : arrays of shape (n', p) and (n',)
        Rows that were not used for fitting, tuning or early stopping. A `SeenRowsWarning` is given
        if they are found among the training rows.
    form : {"symmetric", "paper", "sampled"}
        See the module's docstring. ``"paper"`` is slow unless all hessians and weights are equal;
        ``"sampled"`` is always slow, and is there to check the other two.
    sample_weight_train, sample_weight_valid : arrays of shape (n,) and (n',), optional
        Not negative; rows of weight 0 are left out. In the symmetric form a row of weight 2 counts
        as two rows. The other forms draw rows, whose g' and h' are multiplied by their weight.
    groups_valid, init_score_train, init_score_valid, columns, n_jobs
        As ``groups``, ``init_score``, ``columns`` and ``n_jobs`` of `held_out_gain`.
    min_samples : int
        A split counts 0 if a child has fewer validation rows; 5 in the authors' code.
        Since the rule depends on sizes alone, expectations of 0 remain 0.
    per_tree : bool
        Also return the (M, p) contributions of the trees. Only in the first one does a feature
        without effect have the expectation 0.
    standard_error : bool
        Whether to return standard errors, which takes about as long as all the rest, and a byte or
        two for every validation row and tree, up to 512 MB.
    random_state : int, optional
        Seed of the random subsets of ``"sampled"``.

    Returns
    -------
    GlobalAttribution
        In the units of total gain. Standard errors are over draws of the validation rows, with
        model and training rows held fixed, to first order in them (the delta method); there are
        none for ``"sampled"``. ``n_samples`` counts validation rows. Two results cannot be merged,
        since ratios of sums are not sums over rows: give rows in chunks as a table of Dask.

    Notes
    -----
    A feature without effect has the expectation 0 in the first tree only, so there are no p-values;
    ``attributions.held_out_gain`` has them.
    """
    check_one_of(FORMS, form=form)
    min_samples = whole(1, min_samples=min_samples)
    intake = Intake.of_model(model, X_valid, columns=columns)
    ensemble = intake.ensemble
    given_train = Chunk(X_train, y_train, sample_weight_train, None, init_score_train)
    given_valid = Chunk(X_valid, y_valid, sample_weight_valid, groups_valid, init_score_valid)
    train = SplitTable.named("train", intake, given_train, n_jobs)
    if ensemble.seen_rows is None and train.rows is not None:
        seen = SeenRows.of((train.rows.X, train.rows.y), None, n_jobs)
        intake = replace(intake, ensemble=with_changes(ensemble, seen_rows=seen))
    valid = SplitTable.named("valid", intake, given_valid, n_jobs)
    if form != "symmetric":
        valid.in_memory()  # refuses chunks before any work is done
    has_errors = standard_error and form != "sampled"
    of_train = train.at_nodes(train.over(NodeTotals.of))
    totals, n_rows = valid.sum(partial(NodeTotals.of, keep=has_errors))
    splits = JudgedSplits.of(ensemble, of_train, valid.at_nodes(totals), min_samples)
    if form == "symmetric":
        gain = splits.symmetric_gain()
    else:
        gain = _gain_by_ratios(splits, valid.in_memory(), form, random_state)
    of_trees = splits.add_up(gain)
    errors = None
    if has_errors:
        part = splits.symmetric_parts() if form == "symmetric" else splits.ratio_parts()
        errors = valid.over(partial(SplitRows.spread, part=part)).standard_error
    return GlobalAttribution(
        values=of_trees.sum(axis=0),
        standard_error=errors,
        n_samples=n_rows,
        feature_names=ensemble.credited_names,
        method=f"unbiased_gain({form})",
        per_tree=of_trees if per_tree else None,
        groups=totals.groups,
    )


def _gain_by_ratios(
    splits: JudgedSplits, valid: SplitRows, form: str, random_state: int | None
) -> np.ndarray:
    """Return the gain of every split by one of the paper's forms."""
    if form == "sampled":
        drawn = partial(mean_ratio_of_draws, np.random.default_rng(random_state))
        return gain_of_subsets(splits, valid, drawn)
    if valid.ensemble.loss.has_one_hessian and np.ptp(valid.weight) == 0:  # all ratios are means
        return splits.ratio_gain()
    return gain_of_subsets(splits, valid, mean_ratio)
