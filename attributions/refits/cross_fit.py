"""Cross-fitting: every row judges the features, by a model that has not seen it.

The rows are cut into K folds. K models are fitted, each on all folds but one, and each is judged on
the fold that it has not seen. Compared with a single split in halves, each model is fitted on more
rows and every row judges; the price is K fits.

What is estimated is no single model's number. It is what the K models are worth on new rows, on
average, and the standard error is that of all rows about their common mean, which has a part within
folds and one between them (Bayle, Bayle, Janson and Mackey 2020, the all-pairs estimator). The
models share training rows, so this holds for large tables and learners that one row changes little;
docs/inference.md measures it.
"""

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from attributions.held_out.gain import held_out_gain
from attributions.inputs import as_random_state
from attributions.refits.measures import needed_option, refuse_no_estimator, refuse_no_measure
from attributions.results import GlobalAttribution
from attributions.results.merging import added
from gbt.tables.targets import distinct_labels


def cross_fit(
    estimator: Any,
    X: Any,
    y: Any,
    measure: Any = held_out_gain,
    *,
    cv: Any = 5,
    groups: Any = None,
    init_score: Any = None,
    random_state: Any = 0,
) -> GlobalAttribution:
    """Fit a model for each fold on the other folds, judge it on the fold, and sum over the folds.

    Parameters
    ----------
    estimator : estimator
        Not fitted; a clone of it is, for every fold.
    X : array or DataFrame of shape (n, p)
    y : array of shape (n,)
    measure : callable
        Takes a fitted model, X and y, returns a GlobalAttribution that adds up over models:
        ``held_out_gain``, ``tree_inner``, ``partial_inner``, ``forest_inner``, ``given_others``,
        ``absolute``, or ``functools.partial`` of one. As ``training`` it gets the rows that were
        fitted on, if it cannot do without them, or takes them and the estimator's library does not
        keep its sums of gradients.
    cv : int or splitter of scikit-learn
        A number of folds: of shuffled rows, with equal shares of classes for a classifier, or of
        whole groups where ``groups`` is given. A splitter must put every row into one fold.
    groups : array of shape (n,), optional
        Labels of rows that belong together: no group is both fitted and judged, and standard errors
        count groups.
    init_score : array of shape (n,), or (n, K), optional
        Raw predictions from which the rows start (``gbt.model.starts``): given to ``fit`` and to
        the measure under this name, as our estimators and LightGBM's take it.
    random_state : int, RandomState or Generator
        Seed of the folds; not used where a splitter is given.

    Returns
    -------
    GlobalAttribution
        Of all rows, merged over the folds. It has no ``is_reliable``, see the notes.

    Notes
    -----
    Intervals of 95 % covered .91 to .93 in simulations: they leave out how folds vary together,
    whose rows both judge a model and are fitted by others (:doc:`docs/inference.md
    </inference>`). P-values of ``tree_inner`` stay conservative. Those of ``partial_inner`` come
    out too small here; use it for ranking.

    ``is_reliable`` compares the tails of one model's contributions with the number of rows that
    judge this model. A sum over K models may be carried by the rows of one of them, the only one
    that uses a feature. Ask about single models.
    """
    refuse_no_estimator(estimator, "estimator")
    beside = {"groups": groups, "init_score": init_score}
    beside = {name: rows for name, rows in beside.items() if rows is not None}
    refuse_no_measure(measure, *beside)
    splitter = _splitter(estimator, cv, y, groups, random_state)
    folds = list(splitter.split(X, y, groups))
    judged = np.concatenate([held_out for _, held_out in folds])
    if len(judged) != len(y) or len(np.unique(judged)) != len(y):
        raise ValueError(
            f"{splitter!r} judges {len(judged)} rows of {len(y)}, {len(np.unique(judged))} of them"
            " different; cross_fit needs every row in exactly one fold, as KFold has them."
        )
    results = [_of_fold(estimator, X, y, measure, beside, fold) for fold in folds]
    total = reduce(added, results)
    name, _, details = total.method.partition("(")
    details = f", {details}" if details else ")"
    return replace(total, method=f"{name}({len(folds)} fits{details}")


def _of_fold(
    estimator: Any, X: Any, y: Any, measure: Any, beside: dict[str, Any], fold: Any
) -> GlobalAttribution:
    """Fit on one side of a fold and judge on the other."""
    fitted_on, held_out = fold
    training: tuple = _safe_indexing(X, fitted_on), _safe_indexing(y, fitted_on)
    starts = {name: _safe_indexing(beside[name], fitted_on) for name in beside if name != "groups"}
    model = clone(estimator).fit(*training, **starts)
    if starts:
        training = *training, None, starts["init_score"]
    options = {name: _safe_indexing(rows, held_out) for name, rows in beside.items()}
    options |= needed_option(training, measure, model)
    result = measure(model, _safe_indexing(X, held_out), _safe_indexing(y, held_out), **options)
    return replace(result, kurtosis=None)  # that of one model, which tells nothing of several


def _splitter(estimator: Any, cv: Any, y: Any, groups: Any, random_state: Any) -> Any:
    """Turn a number of folds into a splitter."""
    if not isinstance(cv, int | np.integer):
        if not hasattr(cv, "get_n_splits"):
            raise TypeError(
                "cv must be a number of folds or a splitter of scikit-learn, such as GroupKFold(5);"
                f" got {cv!r}."
            )
        return cv
    if groups is not None:
        return GroupKFold(cv)
    kind = KFold
    if is_classifier(estimator):
        distinct_labels(y)  # says what is wrong with them; the folds would not
        kind = StratifiedKFold
    return kind(cv, shuffle=True, random_state=as_random_state(random_state))
