r"""Held-out gain: what the splits on a feature are worth to rows that the model has not seen.

    held-out gain(k)  =  (1/alpha)  sum over splits  W_l W_r / W_t  *  d  *  (mean e_l - mean e_r)

The split says that the raw prediction is higher by d on its left side, and the rows say how much
more is left to explain there: e = -dL/df at the raw prediction before the round, less all that
feature k has itself contributed before. ``attributions.reference.held_out`` explains both in plain
loops.

It is a ratio of sums over rows, one a split, and the standard error is that of its first
derivatives (the delta method), row by row:

    q_ik  =  (1/alpha) sum over splits on k on its path  w_i (v_child - mean v) (e_i - mean e)

For the error each split's part of q is multiplied by sqrt(n_t / (n_t - 1)), n_t the rows of its
node. The q add up to the held-out gain; ``held_out_gain_rows`` has them.
"""

from functools import partial
from typing import Any

import numpy as np

from attributions.held_out.constant_loss import Targets, percent_of_one
from attributions.held_out.rows_at_splits import RowsAtSplits
from attributions.held_out.rows_before_trees import Wanted
from attributions.held_out.splits import StepsOfModel
from attributions.inputs import explained_data, labels_by, row_labels
from attributions.results import GlobalAttribution, LocalAttribution
from attributions.rows import AllRows, Tally
from attributions.statistics.row_sums import RowSums
from attributions.statistics.together import MOST_FEATURES
from attributions.walk.rows_at_spots import NodeTotals
from gbt.parallel.chunks import Chunk, refuse_chunks


def held_out_gain(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    init_score: Any = None,
    by: Any = None,
    per_tree: bool = False,
    per_output: bool = False,
    second_moments: bool | None = None,
    standard_error: bool = True,
    columns: str = "given",
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Sum, over the splits on each feature, the gain that held-out rows confirm.

    ``held_out_gain(model, X_held_out, y_held_out)`` says which features help on rows that the model
    has not seen, with standard errors and p-values that hold for every loss and every kind of
    column. It needs neither training rows nor hessians.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Any fitted model that ``gbt.formats.as_ensemble`` takes.
    X : array of shape (n, p)
        Rows; nan is a missing value. They must not have been used for fitting, tuning or early
        stopping. A `SeenRowsWarning` says how many of them one of our models was fitted or stopped
        on; of a model of another library it can only say that they are the training rows as a whole
        (``gbt.model.known_by_leaves`` says what cannot be told). Arrays and frames of Dask are
        judged chunk by chunk, on the workers that hold them (`gbt.parallel.chunks`), in two passes,
        and the result is that of all rows; ``y`` and all else that has one entry a row may then be
        of Dask, too.
    y : array of shape (n,)
        Targets, or labels of ``model.classes_``; 0 and 1 for a bare Ensemble with logistic loss.
        Under Cox's loss times of events, in any form that ``fit`` takes. Under the losses of an
        order grades, with the queries of the rows as ``groups``; or two columns, the grade and the
        number of the query.
    sample_weight : array of shape (n,), optional
        Not negative; rows of weight 0 are left out. In values a row of weight 3 counts as three
        rows, in standard errors it is one draw that contributes three times as much.
    groups : array of shape (n,), optional
        Labels of rows that belong together, such as those of one patient or of one day. Standard
        errors then count groups as independent, not rows; values do not change. With fewer than
        some 30 groups normal intervals are too narrow and p-values too small: asking for them gives
        a `FewGroupsWarning`. A single group has no standard error. Under the losses of an order
        they are the queries; where ``y`` has these already, groups are of whole queries, such as
        those of one user, and by default each query is one.
    init_score : array of shape (n,), or (n, K), optional
        Raw predictions from which the rows start, if the model was fitted with such
        (``gbt.model.starting_values``): features are judged at the true predictions, and sides of a
        split are divided by the events to be expected of their rows, so that a column that only
        tells the start, as an exposure does, has no contrast (``attributions.held_out.exposures``).
    by : array of shape (n,), or the name of a column of X, optional
        A label for each row, such as its month or its region; a column that is named stays a
        feature. The result is then an
        `AttributionByLabel`: the held-out gain of each label, judged by its own rows alone, and
        what changed between labels.
    per_tree : bool
        Also return the (M, p) held-out gains of the trees: importance along boosting.
    per_output : bool
        Also return the (K, p) parts of the K outputs, of which values are the sum: for which
        classes a feature helps.
    second_moments : bool, optional
        Also return how contributions of features vary together, of shape (p, p): sums over features
        (``grouped``) then have standard errors, and intervals that hold together are narrower.
        None for up to 128 features, where they fit into float64. Needs ``standard_error``.
    standard_error : bool
        Whether to return standard errors, which take a second pass over the rows.
    columns : {"given", "transformed"}
        For pipelines: whether splits are credited to the columns of ``X``, each with all that the
        steps before the model make of it, or to the columns that the model reads. A column that
        is made of several is credited to these together, "a x b".
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    GlobalAttribution, or AttributionByLabel with ``by``
        In the units of total gain: the loss that the splits save to first order, divided by the
        learning rate, summed over rows. Positive means helped. ``percent()`` relates it to the loss
        of a constant prediction. Two results cannot be merged, since the means of nodes are those
        of all rows: give rows in chunks as a table of Dask.

    Notes
    -----
    A split is worth 0 if no row reaches it, or if all rows that reach it go to one side.

    The trees of a forest do not build on each other: all are judged at what the forest predicts
    before any split, where no feature has done anything yet that could be removed.

    With several outputs a tree is judged by the derivative of its own output, at predictions from
    which the feature's work is removed in all outputs.

    Under Cox's loss a side of a split is divided by its expected events, not by its rows, and under
    the losses of an order by its hessians. There rows depend on each other: they must be in memory
    (``attributions.held_out.among_rows``).

    It describes this fitted model, not the data's mechanism: a noisy copy of a useful column
    that the trees split on is useful.

    Examples
    --------
    Benjamini-Hochberg on the one-sided p-values, with scipy's own function::

        result = held_out_gain(model, X_held_out, y_held_out)
        keep = scipy.stats.false_discovery_control(result.p_values()) <= 0.1
    """
    wanted = Wanted(per_tree, per_output, second_moments, standard_error)
    steps, by = StepsOfModel.of_model(model, X, columns=columns), labels_by(by, X)
    rows = AllRows.of(RowsAtSplits, steps, Chunk(X, y, sample_weight, groups, init_score), n_jobs)
    if by is not None:
        from attributions.changes.by_label import each_label  # which imports this folder

        rows.check(rows.over(Tally.of))
        return each_label(rows, by, partial(gain_by, wanted=wanted))
    totals, _ = rows.sum(partial(NodeTotals.of, keep=standard_error))
    return gain_by(rows, wanted, totals)


def gain_by(rows: AllRows, wanted: Wanted, totals: NodeTotals | None = None) -> GlobalAttribution:
    """Return the held-out gain that rows confirm; standard errors take a second walk over them.

    Nobody is warned of rows that the model has seen. ``totals`` are those of a first walk.
    """
    steps: StepsOfModel = rows.model
    if totals is None:
        totals = rows.over(partial(NodeTotals.of, keep=wanted.standard_error))
    ensemble, gains = steps.ensemble, steps.judged(totals.of_node)
    by_tree = gains.add_up(gains.gain)
    of_spread: dict[str, Any] = {"standard_error": None}
    if wanted.standard_error:
        few = ensemble.n_credited <= MOST_FEATURES
        with_moments = few if wanted.second_moments is None else wanted.second_moments
        part = gains.parts(for_error=True)
        spread_of = partial(RowsAtSplits.spread, part=part, second_moments=with_moments)
        spread = rows.over(spread_of)
        error = spread.standard_error
        if error is not None and totals.n_rows == 2:  # they lie equally far from their mean
            error = np.where(by_tree.any(axis=0), np.nan, 0.0)
        of_spread = {
            "standard_error": error,
            "kurtosis": kurtosis_of(steps, spread),
            "second_moments": _moments_of(spread, wanted),
        }
    return GlobalAttribution(
        values=by_tree.sum(axis=0),
        n_samples=totals.n_rows,
        feature_names=ensemble.credited_names,
        method=steps.method,
        groups=totals.groups,
        percent_of_one=percent_of_one(ensemble, totals.targets, removes_own_work=True),
        **wanted.beside(ensemble, by_tree),
        **of_spread,
    )


def kurtosis_of(steps: StepsOfModel, spread: RowSums) -> np.ndarray:
    """Return the kurtosis of rows' contributions to every feature, from the model and the rows.

    Rows that have missed the rare large contributions cannot know that there are any. The model
    can: a row contributes steps times gradients, and the model has the rare large steps, with the
    number of their training rows. The kurtosis of a product of independent factors is the product
    of theirs. `kurtosis_of_steps` looks at trees one by one, as if a row met large steps in few of
    them; the factor 3 allows for rows that meet them in many. Returned is the larger of this and
    the kurtosis of the given rows' own contributions. It is infinite for a feature of which the
    rows say nothing at all, because none of its splits has rows on both sides: a value of 0 with
    an error of 0 is no finding. Gradients of a query add up to 0, so its rows are not alike, and of
    n rows only 1/n of the excess over 3 is left in their sum.
    """
    of_steps, of_gradients = steps.kurtosis_of_steps(), spread.beside.kurtosis.max()
    is_mute = (of_steps > 0) & (spread.squares == 0)
    told = 3 * of_steps * of_gradients
    if steps.ensemble.loss.has_queries:
        told = np.minimum(told, 3 + told * spread.n_rows / spread.beside.n_rows)
    told = np.maximum(told, spread.kurtosis)
    return np.where(is_mute, np.inf, told)


def _moments_of(spread: RowSums, wanted: Wanted) -> np.ndarray | None:
    """Return second moments; None if they do not fit into float64, and nobody asked for them."""
    try:
        return spread.second_moments
    except ValueError:
        if wanted.second_moments:
            raise
        return None


def held_out_gain_rows(
    model: Any,
    X: Any,
    y: Any,
    *,
    init_score: Any = None,
    columns: str = "given",
    n_jobs: int | None = None,
) -> LocalAttribution:
    """Return what every row adds to the held-out gain of every feature: q_ik.

    Parameters
    ----------
    model, X, y, init_score, columns, n_jobs
        As for `held_out_gain`, but rows in memory: the means of nodes are those of all rows.

    Returns
    -------
    LocalAttribution
        ``values`` are q_ik: above 0 where the row confirms the splits on the feature, below where
        it contradicts them. Their sums over the rows are `held_out_gain`. ``base_values`` are 0.

    Notes
    -----
    ``GlobalAttribution.from_rows`` of the result has the values of `held_out_gain`, whose standard
    errors are a little larger where nodes have few rows: these correct for means that come from the
    rows themselves.
    """
    refuse_chunks(X)
    steps = StepsOfModel.of_model(model, X, columns=columns)
    rows_at_splits = RowsAtSplits.of(steps, Chunk(X, y, init_score=init_score))
    rows_at_splits.warn_if_seen(n_jobs)
    part = steps.judged(rows_at_splits.node_sums(n_jobs, keep=True)).parts(for_error=False)
    values = rows_at_splits.parts_of_all(part, n_jobs)
    targets = Targets(rows_at_splits.y, rows_at_splits.weight)
    percent = percent_of_one(steps.ensemble, targets, removes_own_work=True)
    return LocalAttribution(
        values=values,
        base_values=np.zeros(len(values)),
        feature_names=steps.ensemble.credited_names,
        method=steps.method,
        index=row_labels(X),
        percent_of_one=None if percent is None else len(values) * percent,
        **explained_data(steps.ensemble, rows_at_splits.X, X),
    )
