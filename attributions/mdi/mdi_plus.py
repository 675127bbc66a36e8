r"""MDI+ and MDI-oob: what each feature is worth to a forest, on rows that a fit has not used.

MDI, the gain importance of a forest, is the R^2 of least squares on the stumps of a feature, on the
very rows that chose the splits: n MDI_k = sum over splits on k of N_t beta_t^2. That favours
features which can be cut in many places. Both methods here judge features by other rows:

==============  ================================================================================
``mdi_plus``    (arXiv:2307.01932) For each tree a ridge or logistic fit to its stumps and raw
                columns; each row is predicted from feature k's columns alone by coefficients that
                were found without it. The importance is how far that beats the mean, as R^2,
                log-loss, or any metric; averaged over trees.
``mdi_oob``     (Li et al. 2019) The covariance of y and feature k's contribution on the rows that a
                tree did not draw. On the rows that it drew this would be MDI.
==============  ================================================================================

For boosted models use ``tree_inner``, which is their MDI-oob.
"""

from numbers import Integral
from typing import Any

import numpy as np

from attributions.kernels.stumps import trace_rows
from attributions.mdi.least_squares import Ridge, RidgeSolution
from attributions.mdi.linear_models import as_linear_model
from attributions.mdi.local_mdi import StumpModels, over_trees
from attributions.mdi.logistic import LogisticRidge, log_likelihood
from attributions.mdi.stump_problem import StumpProblem
from attributions.mdi.training_trees import TrainingTrees
from attributions.per_row.individual import as_individual
from attributions.results import GlobalAttribution
from attributions.statistics.row_sums import RowSums
from gbt.model.predictor import over_transposed
from gbt.model.stages import TREES_AT_ONCE, tree_blocks


def mdi_plus(
    model: Any,
    X_train: Any,
    y_train: Any,
    *,
    linear_model: Any = None,
    raw: bool = True,
    metric: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Return how well each feature's part of every tree predicts rows that are left out.

    Parameters
    ----------
    model : RandomForestRegressor, RandomForestClassifier or extra trees
        Of scikit-learn; one output, at most two classes.
    X_train, y_train, raw, sample_weight, n_jobs
        As for `local_mdi`; metrics do not use the weights.
    linear_model : {"ridge", "logistic_ridge"}, Ridge or LogisticRidge, optional
        None is a ridge for numbers (``attributions.mdi.least_squares``) and a logistic ridge for
        labels (``attributions.mdi.logistic``), with penalties chosen by leaving out single
        rows: exactly for the first, by one Newton step for the second.
    metric : callable, optional
        Takes (y, prediction) and returns a number that is larger for better predictions; for
        labels, 0 and 1, predictions are probabilities. None is the R^2, or for labels the negative
        log-loss.

    Returns
    -------
    GlobalAttribution
        The mean over trees of metric(y, predictions from feature k) - metric(y, mean of y); 0 for
        a feature that no tree uses. A value below 0, which all features of a forest may have, says
        that the feature's part alone predicts worse than the mean does, not that the feature does
        harm, as it does in `tree_inner`. ``per_tree`` has the trees' differences divided by their
        number. A metric is no sum over rows, so there is no standard error.
        Values are on the scale of the metric.

    Notes
    -----
    For boosted models, and for standard errors, use `held_out_gain`.

    A row that is left out of the linear model has still chosen the tree's splits: a feature of many
    values that only fits noise is penalised less than by `mdi_oob`.
    """
    training = _forest_training(
        model, X_train, y_train, sample_weight, "uniform", n_jobs, "mdi_plus"
    )
    is_labels = hasattr(model, "classes_")
    if linear_model is None:
        linear_model = LogisticRidge() if is_labels else Ridge(folds="loo")
    score = metric or (_negative_log_loss if is_labels else _r2)
    linear_model = as_linear_model(linear_model, training)
    if not isinstance(linear_model, Ridge):
        raise ValueError(
            f"linear_model={linear_model.name!r}; mdi_plus needs predictions of left-out rows, for"
            " which only a ridge and a logistic ridge have a formula. Use one of these."
        )
    if not isinstance(linear_model.folds, str | Integral):
        raise ValueError("mdi_plus needs the rows in their order: folds must be a number or 'loo'.")
    link = linear_model.is_for_labels
    y = training.y
    constant = score(y, np.full(len(y), np.average(y, weights=training.weight)))

    def importance(problem: StumpProblem) -> np.ndarray:
        values = np.zeros(training.ensemble.n_features)
        predictions = left_out_predictions(problem, linear_model)
        for k, prediction in zip(problem.features, predictions.T, strict=True):
            if link:
                prediction = 1 / (1 + np.exp(-prediction))
            values[k] = score(y, prediction) - constant
        return values

    _, found = over_trees(importance, training, linear_model, raw, n_jobs)
    per_tree = np.array(found) / training.ensemble.n_trees
    name = getattr(score, "__name__", type(score).__name__).lstrip("_")
    return GlobalAttribution(
        values=per_tree.sum(axis=0),
        standard_error=None,
        n_samples=len(y),
        feature_names=training.ensemble.feature_names,
        method=f"mdi_plus({linear_model.name}, {name})",
        per_tree=per_tree,
    )


def mdi_oob(
    model: Any,
    X_train: Any,
    y_train: Any,
    *,
    linear_model: Any = None,
    raw: bool = True,
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Return the covariance of target and contribution on the rows that each tree did not draw.

    Parameters
    ----------
    model : RandomForestRegressor, RandomForestClassifier or extra trees
        Of scikit-learn, fitted with ``bootstrap=True``; one output, at most two classes.
    X_train, y_train, raw, n_jobs
        As for `local_mdi`.
    linear_model : {"elastic_net", "ridge", "ols"} or LinearModel, optional
        The model whose contributions are taken, as for `local_mdi`; it is fitted to the rows that
        the tree drew. None takes those of Saabas, which makes this the MDI-oob of Li et al.

    Returns
    -------
    GlobalAttribution
        The mean over trees of the mean of (y_i - mean y) r_mk(x_i) over the rows that the tree did
        not draw, with standard errors.

    Notes
    -----
    The standard error takes the forest as given and rows as independent. Every row was drawn by
    some trees and not by the others, so it is an approximation.

    Contributions do not average 0 on rows that were not drawn, so a constant added to y would be
    credited to some feature. Subtracting the mean of y changes nothing on average and removes that
    noise.
    """
    training = _forest_training(model, X_train, y_train, None, "inbag", n_jobs, "mdi_oob")
    if not training.has_fresh_rows:
        raise ValueError(
            "mdi_oob needs rows that a tree did not draw, and every tree drew all of them; fit the"
            " forest with bootstrap=True."
        )
    ensemble = training.ensemble
    individual, name = as_individual("saabas"), "saabas"
    if linear_model is not None:
        linear_model = as_linear_model(linear_model, training)
        individual = StumpModels.fit(training, linear_model, raw, n_jobs)
        name = f"local_mdi({linear_model.name})"
    else:
        for _ in training:  # which checks the rows
            pass
    bound = individual.bind(ensemble)
    centred, rows_of = training.y - training.y.mean(), training.drawn()
    total = np.zeros(training.X.shape)
    for trees in tree_blocks(ensemble.n_trees):
        fresh = np.empty((TREES_AT_ONCE, len(centred)))
        for m in range(len(trees)):
            is_fresh = next(rows_of) == 0
            fresh[m] = is_fresh * centred / max(1, is_fresh.sum())

        def add(
            block: np.ndarray, rows: slice, trees: range = trees, fresh: np.ndarray = fresh
        ) -> None:
            out = np.zeros(block.shape[1:])
            bound.add(block, trees, np.ascontiguousarray(fresh[: len(trees), rows]), out)
            total[rows] += out.T

        over_transposed(add, training.X, n_jobs)
    names, method = ensemble.feature_names, f"mdi_oob({name})"
    return GlobalAttribution.of_sums(RowSums.of(total), len(total), names, method)


def left_out_predictions(problem: StumpProblem, linear_model: Any) -> np.ndarray:
    """Predict every row from each feature's columns, by coefficients found without the row.

    Returned, (n, features of the tree), is intercept plus block, in the units of the linear
    predictor; the other blocks are 0, which is their mean over the rows that grew the tree.

    Without row i the coefficients are theta - J^-1 x_i c_i with c_i = w_i e_i / (1 - h_i), so block
    k changes by its part of x_i' J^-1 x_i, which ``trace_rows`` finds on the row's path.
    """
    solution, _, problem = linear_model.solve(problem)  # of labels, that of the last Newton step
    n_rows, n_blocks = len(problem.rows.leaves), len(problem.features)
    out = np.empty((n_rows, n_blocks))
    for rows in problem.blocks():
        leaves, weight = problem.rows.leaves[rows], problem.rows.weight[rows]
        columns = problem.columns(rows)
        own = own_by_block(problem, solution, leaves, columns)
        say = np.minimum(weight * own.sum(axis=1), 1 - 1e-10)
        parts, fitted = parts_by_block(problem, solution, leaves, columns)
        taken = weight * (columns[0] - fitted) / (1 - say)
        left_out = parts - taken[:, np.newaxis] * own
        out[rows] = left_out[:, :-1] + left_out[:, -1:]
    return out


def parts_by_block(
    problem: StumpProblem, solution: RidgeSolution, leaves: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each block's part of the fitted values, the intercept's last, and their sum."""
    value = solution.value
    steps = np.zeros((len(value), len(problem.features) + 1))
    steps[0, -1] = value[0]
    for t in range(1, len(value)):  # parents come first
        above = problem.parent[t]
        steps[t] = steps[above]
        steps[t, problem.slot[above]] += value[t] - value[above]
    parts = steps[leaves]
    parts[:, problem.raw_blocks] += (columns[1:] * solution.gamma[:, np.newaxis]).T
    return parts, parts.sum(axis=1)


def own_by_block(
    problem: StumpProblem, solution: RidgeSolution, leaves: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Return each block's part of x_i' J^-1 x_i, the intercept's last: (n, blocks + 1)."""
    gamma = np.ascontiguousarray(solution.own_gamma(leaves, columns))
    own = np.empty((len(leaves), len(problem.features) + 1))
    smoothed = np.ascontiguousarray(solution.smoothed[:, 1:])
    fitted = (smoothed, solution.pull, solution.share, solution.variance[0])
    trace_rows(problem.stumps, (problem.parent, problem.slot), fitted, leaves, gamma, own)
    own[:, problem.raw_blocks] += gamma * columns[1:].T
    return own


def _forest_training(
    model: Any, X: Any, y: Any, sample_weight: Any, rows: str, n_jobs: int | None, name: str
) -> TrainingTrees:
    """Return the training rows of a forest, checked; refuse models that are no forest."""
    training = TrainingTrees.of(model, X, y, sample_weight, rows, n_jobs)
    if not training.is_forest:
        raise ValueError(
            f"{name} averages trees that were all grown on y, and takes a random forest or extra"
            f" trees of scikit-learn; got {type(model).__name__}. For boosted models use"
            " tree_inner."
        )
    if training.ensemble.n_outputs > 1:
        raise ValueError(
            f"{name} judges one target or two classes, and the forest has"
            f" {training.ensemble.n_outputs}: fit one forest for each class or target."
            " local_mdi and tree_inner take it as it is."
        )
    return training


def _r2(y: np.ndarray, prediction: np.ndarray) -> float:
    """Return 1 - sum of squared errors over the sum of squares about the mean."""
    return 1 - ((y - prediction) ** 2).sum() / ((y - y.mean()) ** 2).sum()


def _negative_log_loss(y: np.ndarray, prediction: np.ndarray) -> float:
    return np.mean(log_likelihood(y, prediction))
