"""Permutation importance: how much the score drops when a feature's values are shuffled.

One column at a time is shuffled among the rows, which cuts its tie to the target and to the other
columns, and the model is scored again (Breiman 2001; Sun 2022 uses one shuffle, of the negative
mean squared error or the ROC AUC). Each pair (feature, repeat) has a random stream of its own, so
the answer for a feature depends neither on the other features nor on the order of work. The table
is copied once.
"""

import numpy as np

from attributions.inner import as_rows, as_target
from attributions.results import GlobalAttribution
from gbt.formats import as_ensemble


def permutation(
    model,
    X,
    y,
    *,
    metric=None,
    n_repeats: int = 5,
    random_state=None,
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Return the mean drop of a score over shuffles of each feature.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Whatever ``gbt.formats.as_ensemble`` takes.
    X : array or DataFrame of shape (n, p)
        Rows; nan is a missing value.
    y : array of shape (n,)
        Targets, or labels of ``model.classes_``; 0 and 1 for a bare Ensemble with logistic loss.
    metric : None, str or callable
        None is the negative mean squared error or, for the logistic loss, the ROC AUC. A name is
        that of a scikit-learn scorer, computed with the model's own ``predict``; the model must be
        an estimator. A callable takes ``(y, prediction)`` and returns a number that is larger for
        better predictions; ``prediction`` is the predicted mean or the probability of 1, and the
        labels of ``y`` are 0 and 1.
    n_repeats : int
        Shuffles of each feature.
    random_state : int, RandomState or None
        An int gives the same shuffles again.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    GlobalAttribution
        ``values`` are the means of ``repeats``, of shape (p, n_repeats). There is no standard
        error: the spread of the repeats, ``result.repeats.std(axis=1, ddof=1)``, is that of
        shuffling these rows and says nothing about other rows.

    Notes
    -----
    Shuffling one of several correlated features asks the model about rows that do not occur.
    """
    if n_repeats < 1:
        raise ValueError(f"n_repeats={n_repeats}; at least one shuffle is needed.")
    ensemble = as_ensemble(model)
    if isinstance(metric, str):
        name, score, table = metric, _scorer(model, metric, y), _Table.of_scikit_learn(X)
        as_rows(ensemble, X)
    else:
        rows = as_rows(ensemble, X)
        table = _Table(rows.copy() if np.may_share_memory(rows, np.asarray(X)) else rows)
        target = as_target(model, ensemble, y, len(rows))
        name, metric = _metric_of(ensemble, metric, target)

        def score(rows):
            prediction = ensemble.loss.inverse_link(ensemble.raw_predict(rows, n_jobs))
            return metric(target, prediction)

    seed = _seed(random_state)
    intact = score(table.values)
    repeats = np.zeros((ensemble.n_features, n_repeats))
    for k in np.unique(ensemble.feature[ensemble.left >= 0]):  # shuffling others changes nothing
        column = table.get(k)
        for r in range(n_repeats):
            stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(k), r)))
            table.put(k, column[stream.permutation(len(column))])
            repeats[k, r] = intact - score(table.values)
        table.put(k, column)
    return GlobalAttribution(
        values=repeats.mean(axis=1),
        standard_error=None,
        n_samples=len(table.values),
        feature_names=ensemble.feature_names,
        method=f"permutation({name})",
        repeats=repeats,
    )


class _Table:
    """A copy of the rows whose columns can be exchanged: an array or a pandas.DataFrame."""

    def __init__(self, values):
        self.values = values

    @classmethod
    def of_scikit_learn(cls, X):
        """Keep a DataFrame, whose column names estimators check."""
        return cls(X.copy() if hasattr(X, "isetitem") else np.array(X))

    def get(self, k):
        """Return a copy of a column."""
        if hasattr(self.values, "isetitem"):
            return self.values.iloc[:, k].array.copy()
        return self.values[:, k].copy()

    def put(self, k, column):
        """Replace a column."""
        if hasattr(self.values, "isetitem"):
            self.values.isetitem(k, column)
        else:
            self.values[:, k] = column


def _scorer(model, name, y):
    """Return a function of the rows that is a scikit-learn score of the model."""
    from sklearn.metrics import get_scorer

    if not hasattr(model, "predict"):
        raise ValueError(
            f"metric={name!r} names a scikit-learn scorer, which needs an estimator, and the model"
            f" is {type(model).__name__}. Give a function (y, prediction) -> number instead."
        )
    scorer = get_scorer(name)
    return lambda rows: scorer(model, rows, y)


def _metric_of(ensemble, metric, target):
    """Return the name of the metric and a function (y, prediction), larger for better."""
    if callable(metric):
        return getattr(metric, "__name__", type(metric).__name__), metric
    if metric is not None:
        raise ValueError(
            f"metric={metric!r}; use None, the name of a scikit-learn scorer, or a function"
            " (y, prediction) -> number."
        )
    if ensemble.loss.name == "half_logistic":
        if len(np.unique(target)) < 2:
            raise ValueError(
                "y holds one class only, for which the ROC AUC does not exist; give rows of both"
                " classes, or another metric."
            )
        from sklearn.metrics import roc_auc_score

        return "roc_auc", roc_auc_score
    return "neg_mean_squared_error", lambda y, prediction: -np.mean((y - prediction) ** 2)


def _seed(random_state):
    """Turn scikit-learn's ``random_state`` into the entropy of a SeedSequence."""
    if random_state is None:
        return np.random.SeedSequence().entropy
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31))
