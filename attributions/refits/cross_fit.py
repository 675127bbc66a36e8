"""Cross-fitting: every row judges the features of a model that has not seen it.

The rows are cut into K folds. K models are fitted, each on all folds but one, and each is judged on
the fold that it has not seen. Compared with a single split in halves, each model is fitted on more
rows and every row judges; the price is K fits.

The estimate is not that of a single model but the average of K models on new rows. Its standard
error begins with that of all rows about their common mean, which has a part within folds and one
between them (Bayle, Bayle, Janson and Mackey 2020, the all-pairs estimator). But folds vary
together: of two rows in different folds each judges a model that the other one trained. To a first
approximation a contribution of noise is a sum of products, one for each training row, of the row
that judges with that training row. If the product were the same both ways round, the variance of
the sum would be twice what single rows tell; if the two had nothing to do with each other, once.
Trees lie between: `WIDER`, which docs/inference.md measures.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, check_cv

from attributions.held_out.gain import held_out_gain
from attributions.inputs import as_random_state
from attributions.methods import facts_of
from attributions.refits.measures import GivenRows, needed_option, refuse_no_estimator
from attributions.results import GlobalAttribution
from attributions.results.merging import added, with_all_features
from gbt.tables.names import shown
from gbt.tables.table import as_given
from gbt.tables.targets import distinct_labels

WIDER = 1.2  # between 1 and sqrt(2): python -m benchmarks.papers.inference cross-fit


def cross_fit(
    estimator: Any,
    X: Any,
    y: Any,
    measure: Any = held_out_gain,
    *,
    cv: Any = 5,
    sample_weight: Any = None,
    groups: Any = None,
    init_score: Any = None,
    random_state: Any = 0,
) -> GlobalAttribution:
    """Fit a model for each fold on the other folds, judge it on the fold, and sum over the folds.

    Parameters
    ----------
    estimator : estimator
        Stays unfitted; a clone of it is fitted for every fold. Of a pipeline that is a clone of all
        its steps, so that no step sees the rows that judge: an encoder of targets cannot tell them
        to the model.
    X : array or DataFrame of shape (n, p)
    y : array of shape (n,)
        Targets, or labels, as ``estimator.fit`` takes them.
    measure : callable
        Takes a fitted model, X and y, returns a GlobalAttribution that adds up over models:
        ``held_out_gain``, ``tree_inner``, ``partial_inner``, ``forest_inner``, or
        ``functools.partial`` of one, such as ``partial(given_others, regressor=...)``; also
        ``lambda model, X, y: absolute(model, X)``. It is given the rows that were fitted on as
        ``training`` if it requires them, or if it accepts them and the estimator's library does not
        keep sums of gradients.
    cv : int, splitter of scikit-learn, or list of (rows to fit, rows to judge)
        A number stands for folds of shuffled rows, with equal shares of classes for a classifier,
        or of whole groups where ``groups`` is given. No row may judge twice; some need not at all.
    sample_weight : array of shape (n,), optional
        Not negative; used in the fits, by the model of a pipeline, and where rows judge.
    groups : array of shape (n,), optional
        Labels of rows that belong together: no group is both fitted and judged, and standard errors
        count groups. Of a ranker they are the queries; where ``y`` has these beside the grades,
        groups of whole queries. Rankers of other libraries are told of queries in their own words.
    init_score : array of shape (n,), or (n, K), optional
        Raw predictions from which the rows start (``gbt.model.starting_values``): given to ``fit``
        and to the measure under this name, as our estimators and LightGBM's take it.
    random_state : int, RandomState or Generator
        Seed of the folds; not used where a splitter is given.

    Returns
    -------
    GlobalAttribution
        Of all rows that judge, merged over the folds. It has no ``is_reliable``.

    Notes
    -----
    Since folds vary together, standard errors are 1.2 times those of independent rows, but for
    ``absolute``, which no targets judge: 95 % intervals then cover in 94 to 98 % of cases, and else
    in 88 to 95 % (:doc:`docs/inference.md </inference>`). Where the result has ``contributions`` or
    ``second_moments``, these are spread about their means by the same factor.

    ``is_reliable`` compares the tails of one model's contributions with the number of rows that
    judge this model. A sum over K models may be carried by the rows of the only model that uses the
    feature. Call the measure on single models for it.
    """
    refuse_no_estimator(estimator, "estimator")
    X = as_given(X)
    rows = GivenRows.of(estimator, measure, X, y, sample_weight, groups, init_score)
    splitter = _splitter(estimator, cv, y, rows.kept_whole, random_state)
    folds = list(splitter.split(X, y, rows.kept_whole))
    if not folds:
        raise ValueError("cv has no folds; give pairs of (rows to fit, rows to judge).")
    judged = np.concatenate([np.arange(len(y))[held_out] for _, held_out in folds])
    if len(judged) != len(np.unique(judged)):
        raise ValueError(
            f"{splitter!r} judges {len(judged)} rows, {len(np.unique(judged))} of them different;"
            " in cross_fit no row may be in two folds, as in KFold or TimeSeriesSplit."
        )
    # A measure of one's own need not look at targets, nor a model of one's own have tags.
    tells_classes = (
        np.shape(y)[1:] in ((), (1,))
        and getattr(measure, "func", measure).__module__.startswith("attributions.")
        and hasattr(estimator, "__sklearn_tags__")
        and is_classifier(estimator)
    )
    results = []
    for fold in folds:
        fitted_on, held_out = rows.sides(fold)
        if tells_classes:
            _refuse_unseen_labels(fitted_on.y, held_out.y)
        model = fitted_on.fitted(estimator)
        options = held_out.beside | needed_option(fitted_on.training, measure, model)
        result = measure(model, held_out.X, held_out.y, **options)
        if not isinstance(result, GlobalAttribution):
            raise TypeError(
                f"cross_fit adds up one number a feature; measure returned {type(result).__name__}."
                " Call the measure on single models for by= or for single rows."
            )
        # The kurtosis is that of one model, and no guide to the sum over several.
        results.append(replace(result, kurtosis=None))
    total = reduce(added, with_all_features(results))
    if facts_of(total.method).is_testable:  # targets judge, which also trained the other models
        total = _widened(total)
    name, _, details = total.method.partition("(")
    details = f", {details}" if details else ")"
    return replace(total, method=f"{name}({len(folds)} fits{details}")


def _refuse_unseen_labels(of_fit: Any, of_judges: Any) -> None:
    """Raise ValueError if rows judge a class of which no row is fitted."""
    fitted, judging = (np.unique(np.asarray(y).astype(str)) for y in (of_fit, of_judges))
    if len(unseen := np.setdiff1d(judging, fitted)):
        raise ValueError(
            f"All rows of the class {unseen[0]} judge in the same fold, so that the model of this"
            " fold does not know it. Leave out classes of a single row, or put rare classes"
            " together; or give a cv that has each class in two folds."
        )


def _widened(total: GlobalAttribution) -> GlobalAttribution:
    """Return the result with standard errors that allow for folds that vary together."""
    error, rows, moments = total.standard_error, total.contributions, total.second_moments
    if rows is not None:
        mean = total.values / len(rows)
        rows = mean + WIDER * (rows - mean)
    return replace(
        total,
        standard_error=None if error is None else WIDER * error,
        contributions=rows,
        second_moments=None if moments is None else WIDER**2 * moments,
    )


def _splitter(estimator: Any, cv: Any, y: Any, groups: Any, random_state: Any) -> Any:
    if not isinstance(cv, int | np.integer):
        if isinstance(cv, str) or not (hasattr(cv, "get_n_splits") or isinstance(cv, Iterable)):
            raise TypeError(
                "cv must be a number of folds, a splitter of scikit-learn, such as GroupKFold(5),"
                f" or pairs of the rows to fit and those to judge; got {shown(cv)}."
            )
        return check_cv(cv)
    kind = kind_of_split(estimator, y, groups, (GroupKFold, StratifiedKFold, KFold))
    shuffled = {"shuffle": True, "random_state": as_random_state(random_state)}
    return kind(cv, **({} if groups is not None else shuffled))


def kind_of_split(estimator: Any, y: Any, groups: Any, kinds: Sequence[Any]) -> Any:
    """Return the first kind of splitter for groups, the second for classes, else the third."""
    if groups is not None:
        return kinds[0]
    if is_classifier(estimator):
        distinct_labels(y)  # its errors name what is wrong with labels, those of splitters do not
        return kinds[1]
    return kinds[2]
