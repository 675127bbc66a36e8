"""Whether a column says something about y that the other columns do not say.

The other held-out measures ask about one model's use of a column, and a noisy copy of a useful
column is of use. This one asks about the column. What the model makes of column k for row i is its
sum of contributions F_ik over all trees (Saabas'). Both F and y are first rid of what the other
columns say of them, by two models that do not see column k, fitted to the training rows:

    q_ik = (F_ik - said of F_ik by the others) (-g_i)       g_i = dL(y_i, f)/df at the prediction f
                                                            of a model fitted without column k

If y does not depend on the column given the others, the expectation of q is the mean product of the
errors of the two models, which is small beside either. So neither has to be perfect, as the model
of a column would have to be from which copies are drawn. If it does depend, F points in the
direction in which it does, and the sum is positive.

With few rows that product is not small. Both models are fitted to the same training rows and follow
the same noise there: where the others take a part of it for y's, F_k took another part. An error of
the model of y is, for the most part, a multiple of its own prediction, which has followed too much
or too little. So over the judged rows, and by least squares, what is left of F and of g is rid of a
constant and of that prediction, u_i (a mean or a probability), before they are multiplied:

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
from sklearn.utils import _safe_indexing

from attributions.inputs import as_training
from attributions.per_row.saabas import saabas
from attributions.refits.measures import refuse_no_estimator
from attributions.refits.without_column import clone_for
from attributions.results import GlobalAttribution
from attributions.rows import Intake, Rows
from attributions.statistics.groups import labels_of
from attributions.statistics.row_sums import sum_over_rows
from gbt.parallel.chunks import Chunk
from gbt.tables.given import column_names


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
        without each column in turn; if it is ours, ``categorical_features`` and
        ``monotone_constraints`` go with their columns. Parameters of other libraries that say which
        columns they mean are refused; so it is with ``regressor``.
    X : array or DataFrame of shape (n, p)
        Rows that the model has not seen, of at least two columns.
    y : array of shape (n,)
    training : (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_score)
        The rows that the model was fitted on, on which the others are fitted, without weights:
        these serve only where the model's library did not keep the sums of its nodes. Starting
        values go with the rows into every fit without a column.
    regressor : estimator
        Learns what the other columns say of a column's contributions, which are numbers whatever
        the task; a clone is fitted for each column. It should follow both lines and curves: the
        simulations have a linear model and 50 small trees for what it leaves.
    groups : array of shape (n,), optional
        Labels of rows that belong together, as for `tree_inner`.
    init_score : array of shape (n,), or (n, K), optional
        Starting values of the rows (``gbt.model.starts``), where ``training`` has some. ``fit`` of
        the model takes them under this name, as our estimators' and LightGBM's does.
    n_jobs : int, optional
        Threads of what is computed here; the estimators have their own.

    Returns
    -------
    GlobalAttribution
        Sums over rows with standard errors and p-values, for single features and, by
        ``scipy.stats.false_discovery_control``, for all. Columns that the model does not use have
        the value 0 and p = 1.

    Notes
    -----
    The null hypothesis is that y does not depend on the column given the others. Of two columns
    that say the same neither is found, since each is spared by the other; look at those together.
    Both models should fit well: what an underfitted one leaves of the other columns, too few trees
    at too small a learning rate, say, is taken for the column's. With a few hundred rows, or
    groups, noise beside a signal has p < 0.05 in 7 to 10 % of cases (:doc:`docs/inference.md
    </inference>`).
    """
    refuse_no_estimator(regressor, "regressor")
    fitted_on = as_training(training)
    if (fitted_on.init_score is None) != (init_score is None):
        raise ValueError(
            "Starting values were given for the rows of the fit only, or for those that judge only:"
            " training=(X, y, sample_weight, init_score) goes with init_score=..."
        )
    of_fit = {} if init_score is None else {"init_score": fitted_on.init_score}
    given = Chunk(X, y, groups=groups, init_score=init_score)
    rows = Rows.of(Intake.of_model(model, training), given)
    ensemble, n_rows = rows.ensemble, len(rows.X)
    rows.warn_if_seen(n_jobs, stacklevel=2)
    n_features = ensemble.n_features
    if n_features < 2:
        raise ValueError("X has one column; what it says beyond others needs at least two.")
    contributed_fit, contributed = (
        saabas(ensemble, table, n_jobs=n_jobs).values.reshape(-1, n_features, ensemble.n_outputs)
        for table in (fitted_on.X, X)
    )
    names = column_names(fitted_on.X) or ensemble.feature_names
    product = np.zeros((n_rows, n_features))
    for k in np.unique(ensemble.feature[ensemble.left >= 0]):
        others = [j for j in range(n_features) if j != k]
        own_fit, own = (_safe_indexing(table, others, axis=1) for table in (fitted_on.X, X))
        without = clone_for(model, names, others).fit(own_fit, fitted_on.y, **of_fit)
        left, predicted = _residuals(without, given._replace(X=own), n_jobs)
        for output in range(left.shape[1]):
            learner = clone_for(regressor, names, others)
            said = learner.fit(own_fit, contributed_fit[:, k, output]).predict(own)
            own_part = rid_of(contributed[:, k, output] - said, predicted[:, output])
            product[:, k] += own_part * rid_of(left[:, output], predicted[:, output])
    sums = sum_over_rows(lambda block: (product[block], None), n_rows, 1, rows.groups)
    return GlobalAttribution(
        values=sums.total,
        standard_error=sums.standard_error,
        n_samples=n_rows,
        feature_names=ensemble.feature_names,
        method="given_others(saabas)",
        groups=labels_of(rows.groups),
    )


def rid_of(values: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Return values less the straight line that follows a prediction best."""
    values, moved = values - values.mean(), prediction - prediction.mean()
    square = moved @ moved
    return values if square == 0 else values - moved * (values @ moved / square)


def _residuals(model: Any, given: Chunk, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return minus the derivative of the loss at a model's predictions, and these, (n, K) each.

    Predictions are means or probabilities, in which the derivative of the squared, the logistic and
    the Poisson loss is a straight line. With starting values they are what the trees add.
    """
    rows = Rows.of(Intake.of_model(model), given)
    loss, start = rows.ensemble.loss, rows.init_score
    raw_prediction = rows.ensemble.raw_predict(rows.X, n_jobs, start)
    gradient, _ = loss.gradient_hessian(rows.y, raw_prediction)
    prediction = loss.inverse_link(raw_prediction)
    if start is not None:
        prediction = prediction - loss.inverse_link(start.reshape(raw_prediction.shape))
    return -gradient.reshape(len(rows.X), -1), prediction.reshape(len(rows.X), -1)
