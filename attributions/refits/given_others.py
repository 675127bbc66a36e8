"""Whether a column says something about y that the other columns do not say.

The other held-out measures ask about one model's use of a column, and a noisy copy of a useful
column is of use. This one asks about the column. Let F_ik be the sum over all trees of column k's
contributions to row i (Saabas'). From F and from y two models, fitted to the training rows without
column k, first take away what the other columns explain:

    q_ik = (F_ik - F_ik as predicted by the others) (-g_i)     g_i = dL(y_i, f)/df at the prediction
                                                               f of a model of y without column k

If y does not depend on the column given the others, the expectation of q is the mean product of the
errors of the two models, which is small beside either error. So neither model has to be perfect; a
model of the column, to draw copies from it, would have to be. If y does depend on the column, F
points in the direction of the dependence, and the sum is positive.

With few rows that product is not small. Both models are fitted to the same training rows and follow
the same noise there: the others explain a part of it, and F_k has taken another part. An error of
the model of y is, for the most part, a multiple of its own prediction, which has followed too much
or too little. So over the judged rows, and by least squares, a constant and that prediction, u_i (a
mean or a probability), are taken away from the residuals of F and from g before these are
multiplied:

    v_i - mean - (u_i - mean u) c        c = sum v_i (u_i - mean u) / sum (u_i - mean u)^2

Where y is nothing but noise, errors of its model *are* such multiples, and the expectation is 0 for
any number of rows. This is the projected covariance measure
(Lundborg, Kim, Shah and Samworth 2024) with the contributions of a boosted model as the projection,
and without its weights. It takes two more fits a column; docs/inference.md measures what they buy.

Of a model with starting values, u_i is what the trees make of the start, prediction less starting
prediction: what has followed too much or too little is what was fitted, not what was given. A start
that is the same for all rows is a base score, and changes u by a constant.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from attributions.inputs import as_training, refuse_credit
from attributions.per_row.saabas import saabas
from attributions.refits.measures import GivenRows, refuse_no_estimator
from attributions.refits.without_column import without_column
from attributions.results import GlobalAttribution
from attributions.rows import Intake, Rows
from attributions.statistics.row_sums import sum_over_rows
from gbt.model.credit import members_of
from gbt.model.ensemble import Ensemble
from gbt.parallel.chunks import Chunk
from gbt.tables.names import column_names
from gbt.tables.table import collected


def given_others(
    model: Any,
    X: Any,
    y: Any,
    *,
    training: Any,
    regressor: Any,
    groups: Any = None,
    init_score: Any = None,
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Test every column for what it says about y beyond the other columns.

    Parameters
    ----------
    model : estimator
        Fitted; of ours, or one that ``gbt.formats.as_ensemble`` takes. A clone of it is fitted
        without each column in turn. Where parameters name columns (``categorical_features``,
        constraints), those of our estimators are adapted to the columns that are left, and those of
        other libraries are refused; the same holds for ``regressor``. Of a pipeline all steps are
        fitted again, on tables in which the column has one value in all rows; the column's
        contributions are those of all that the steps make of it, groups included.
    X : array or DataFrame of shape (n, p)
        Rows that the model has not seen, of at least two columns.
    y : array of shape (n,)
    training : (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_score)
        The rows that the model was fitted on. The models without a column are fitted on them, too,
        and without weights: weights serve only where the model's library did not keep the sums of
        its nodes. Starting values go with the rows into every fit without a column.
    regressor : estimator
        Predicts a column's contributions, which are numbers whatever the task, from the other
        columns; a clone is fitted for each column. It should follow both lines and curves: the
        simulations have a linear model and 50 small trees fitted to its residuals. Where the model
        is a pipeline and this is none, it is fitted behind clones of the pipeline's steps.
    groups, init_score
        As for `cross_fit`; starting values where ``training`` has some.
    n_jobs : int, optional
        Threads of the attribution; the estimators use their own ``n_jobs``.

    Returns
    -------
    GlobalAttribution
        Sums over rows with standard errors and p-values, for single features and, by
        ``scipy.stats.false_discovery_control``, for all. Columns that the model does not use have
        the value 0 and p = 1.

    Notes
    -----
    The null hypothesis is that y does not depend on the column given the others. Of two columns
    that carry the same information neither is found, since the other makes up for it. Both models
    should fit well: what an underfitted one (with too few trees at too small a learning rate, say)
    fails to explain by the other columns is credited to this one. With a few hundred rows, or
    groups, noise beside a signal has p < 0.05 in 7 to 10 % of cases (:doc:`docs/inference.md
    </inference>`).
    """
    refuse_no_estimator(model, "model")
    refuse_no_estimator(regressor, "regressor")
    X, fitted_on = collected(X), as_training(training)
    if (fitted_on.init_score is None) != (init_score is None):
        raise ValueError(
            "Starting values were given for the rows of the fit only, or for those that judge only:"
            " training=(X, y, sample_weight, init_score) goes with init_score=..."
        )
    start_of_fit = None if init_score is None else fitted_on.init_score
    given = Chunk(X, y, groups=groups, init_score=init_score)
    rows = Rows.of(Intake.of_model(model, X, training), given)
    ensemble, n_rows = rows.ensemble, len(rows.X)
    rows.warn_if_seen(n_jobs)
    tables, names, steps = [fitted_on.X, X], ensemble.feature_names, ensemble.preparation
    if steps is not None:
        tables, names = [*map(steps.in_order, tables)], steps.names
        if not hasattr(regressor, "steps"):  # it is no pipeline
            fitted = [step for _, step in steps.steps if hasattr(step, "fit")]  # not CatBoost's own
            regressor = make_pipeline(*map(clone, fitted), regressor)
    else:
        refuse_credit(ensemble, "given_others")
    n_features = len(names)
    if n_features < 2:
        raise ValueError("X has one column; given_others compares it with others and needs two.")
    contributed_fit, contributed = (
        _by_column(ensemble, saabas(ensemble, table, n_jobs=n_jobs).values) for table in tables
    )
    product = np.zeros((n_rows, n_features))
    called = column_names(tables[0]) or names
    is_used = contributed_fit.any(axis=(0, 2)) | contributed.any(axis=(0, 2))
    for k in np.flatnonzero(is_used).tolist():
        (own_fit, own), (without, learner) = without_column(
            k, called, tables, (model, regressor), keeps_it=steps is not None
        )
        without = GivenRows(own_fit, fitted_on.y, init_score=start_of_fit).fitted(without)
        left, predicted = _residuals(without, given._replace(X=own), n_jobs)
        for output in range(left.shape[1]):
            target = contributed_fit[:, k, output]
            said = clone(learner).fit(own_fit, target).predict(own)
            own_part = residuals_of_line(contributed[:, k, output] - said, predicted[:, output])
            product[:, k] += own_part * residuals_of_line(left[:, output], predicted[:, output])
    sums = sum_over_rows(lambda block: (product[block], None), n_rows, 1, rows.groups)
    return GlobalAttribution.of_sums(sums, n_rows, names, "given_others(saabas)")


def _by_column(ensemble: Ensemble, values: np.ndarray) -> np.ndarray:
    """Return contributions, (n, p, K), of every column and of all groups that it is a member of."""
    values = values.reshape(len(values), ensemble.n_credited, ensemble.n_outputs)
    if ensemble.preparation is None:
        return values
    names = ensemble.credited_names
    by_column = values[:, : len(ensemble.preparation.names)].copy()
    for j in range(by_column.shape[1], len(names)):
        for member in members_of(names[j]):
            by_column[:, names.index(member)] += values[:, j]
    return by_column


def residuals_of_line(values: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Return the residuals of a straight line, fitted to values by a prediction."""
    values, moved = values - values.mean(), prediction - prediction.mean()
    square = moved @ moved
    return values if square == 0 else values - moved * (values @ moved / square)


def _residuals(model: Any, given: Chunk, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return minus the derivative of the loss at a model's predictions, and these, (n, K) each.

    Predictions are means or probabilities, in which the derivative of the squared, the logistic and
    the Poisson loss is a straight line. With starting values they are what the trees add.
    """
    rows = Rows.of(Intake.of_model(model, given.X), given)
    loss, start = rows.ensemble.loss, rows.init_score
    raw_prediction = rows.ensemble.raw_predict(rows.X, n_jobs, start)
    gradient, _ = loss.gradient_hessian(rows.y, raw_prediction)
    prediction = loss.inverse_link(raw_prediction)
    if start is not None:
        prediction = prediction - loss.inverse_link(start.reshape(raw_prediction.shape))
    return -gradient.reshape(len(rows.X), -1), prediction.reshape(len(rows.X), -1)
