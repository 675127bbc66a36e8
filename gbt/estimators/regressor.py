"""The estimator of numeric targets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array

from gbt.estimators.base import BaseGBT, CategoricalFeatures
from gbt.estimators.constraints import InteractionConstraints, MonotoneConstraints
from gbt.estimators.defaults import chosen
from gbt.estimators.other_names import says_what_serves
from gbt.losses.known import as_loss
from gbt.losses.loss import Loss
from gbt.losses.robust import warn_of_short_steps
from gbt.splitting.frontier import Policy
from gbt.training.evaluation import Callback, Metrics
from gbt.training.sampling import RandomState


class GBTRegressor(RegressorMixin, BaseGBT):
    """Gradient boosted trees for a numeric target, under half the squared error or another loss.

    ``random_state=0`` gives the same model at every fit. With None, as in scikit-learn, two fits of
    the default splitter differ.

    Parameters
    ----------
    n_estimators : int or None, default=None
        Number of trees. None means 100 if the trees are greedy, else 200.
    learning_rate : float, default=0.1
        Factor that multiplies the leaf values of every tree.
    max_depth : int or None, default=6
        Largest number of splits between the root and a leaf; None means no limit.
    max_leaves : int or None, default=None
        Largest number of leaves of a tree. If it is given, a tree always makes the split of largest
        gain next. max_depth still limits the tree; give max_depth=None if only the number of leaves
        should.
    min_child_weight : float or None, default=None
        Least sum of weighted hessians in a child; under the squared error, whose hessian is 1, this
        is the sum of weights. None means 1 with ``"greedy"``, 0.001 with the others.
    min_samples_leaf : int or None, default=None
        Least number of rows in a child, whatever their weights. None means 20 where ``"auto"``
        grows greedy trees, else 1.
    reg_lambda : float, default=1.0
        Added to the sum of hessians in every gain and every step: L2 penalty of leaf values.
    min_split_gain : float, default=0.0
        A split is made only if its gain is larger than this (the gain of Sun 2022, Definition 2,
        without the factor 1/2). With ``splitter="unbiased"`` it may be negative.
    subsample, colsample : float, default=1.0
        Fraction of rows and of columns that each tree sees, drawn without replacement.
    colsample_bylevel, colsample_bynode : float, default=1.0
        Fraction of the tree's columns that is drawn for every depth; and fraction that is drawn for
        every node, from the columns that its depth and the interaction constraints leave. At least
        one column is drawn.
    base_score : float or None, default=None
        Prediction before the first tree; None is the constant of least loss, for the squared error
        the weighted mean of the targets.
    splitter : {"auto", "greedy", "cross_validated", "unbiased"} or object, default="auto"
        How a node chooses its split. ``"greedy"`` takes the cut of largest gain: trees are those of
        XGBoost's exact method. ``"cross_validated"`` splits on the feature that does best on
        held-out folds of the node's rows. With ``"unbiased"`` three parts of these rows decide
        separately on the cut, on the feature and on whether to split. With ``"auto"`` trees that
        see at most 10,000 rows are unbiased, and larger ones are greedy with 20 rows a leaf, since
        these predicted best on real tables (docs/accuracy.md); monotone trees are greedy, too. An
        object is a splitter with options, such as
        ``gbt.splitting.cross_validated.CrossValidated(n_folds=10)``, or your own
        ``gbt.splitting.frontier.Policy``, which has the defaults of ``"greedy"``.
    categorical_features : str, list of names, indices or booleans, or None, default="from_dtype"
        Columns whose values are levels without an order: by default the columns of categories and
        of words. Levels are kept with the model and looked up by value. With None no column is
        categorical, and categories that are numbers are read as these numbers. Dates are always
        refused.
    categorical_smoothing : float or None, default=None
        A node orders the levels of a column by G / (H + smoothing) before it cuts them in two.
        Levels of fewer rows than this, and of fewer than an eighth of the node's rows, stay
        together. Rows count by their weights. None means 20 if the trees are greedy, else 5.
    monotone_constraints : dict, list or None, default=None
        By name or index of a column, or one number per column: 1 where predictions must not fall as
        its values rise and the others stay, -1 where they must not rise, 0 where they are free.
        Greedy trees keep them as XGBoost's do (``gbt.splitting.monotone``).
    interaction_constraints : str, list of lists or None, default=None
        Names or indices of columns that may stand on one path, as in scikit-learn's
        ``interaction_cst``; columns that no list names form one more list. "pairwise" allows all
        pairs. With "no_interactions" the model is additive: a sum of functions of one column each.
        Every splitter keeps to these constraints.
    loss : str, object or None, default=None
        "half_squared_error" (None), "cross_entropy" (the logistic loss, of targets from 0 to 1),
        "poisson", "gamma", "tweedie" (three that predict exp of the raw prediction),
        "squared_log_error", "quantile", "absolute", "huber" or "pseudo_huber".
        ``gbt.losses`` and ``gbt.losses.amounts`` have them as classes with their parameters, such
        as ``Quantile(alpha=0.9)``. Or an object of your own with the methods value,
        gradient_hessian, link and inverse_link, in NumPy. Leaf values are -learning_rate G/(H +
        reg_lambda) under every loss. So "absolute" and "quantile" move a prediction by at most
        learning_rate a tree, "huber" by delta times that: divide a target that ranges over
        thousands by its spread.
    early_stopping_rounds : int or None, default=None
        Stop when the last evaluation set has not improved for this many trees, and keep the trees
        up to the best.
    min_delta : float, default=0.0
        An improvement must beat the best loss (or metric) so far by more than this, in the same
        unit.
    validation_fraction : float, default=0.1
        Share of the rows held out for early stopping if ``fit`` is given no ``eval_set``.
    refit : bool, default=False
        Whether to fit once more, on all rows, after the rows held out by ``validation_fraction``
        have told how many trees are best; the second fit grows that many. ``evals_result_`` stays
        that of the first fit.
    eval_metric : str, function, list of these or None, default=None
        What else is recorded on evaluation sets, and decides early stopping in place of the loss:
        the name of a scikit-learn scorer, or a function (y, prediction) -> number; larger is
        better. All metrics of a list are recorded, and the last decides. If the weights of an
        evaluation set differ, the metric is given them as ``sample_weight``.
    train_score : bool, default=False
        Whether the mean loss of the training rows after every tree is recorded, as ``train_score_``
        and in ``evals_result_["train"]``; it costs one more prediction of all rows by every tree.
    callbacks : list of functions or None, default=None
        Called after every tree with a `gbt.training.evaluation.Round`: number, n_rounds, evals,
        model, and the learning_rate of the next tree, which a callback may set. Boosting ends with
        the tree after which one returns True.
    warm_start : bool, default=False
        Whether a further ``fit`` keeps the trees and adds more, up to n_estimators: the same as if
        all had been grown at once. Rows and their order, targets, weights, starting values, loss,
        learning_rate, reg_lambda, base_score and subsample must be those of the first fit, whose
        seed is used again; constraints may be lifted, not added. A model file does not keep the
        rows, so after ``gbt.load`` only their number and the base score are compared.
    n_jobs : int or None, default=None
        Threads; None and -1 are all cores that this process may use. Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of row and column sampling, of the rows held out for early stopping, of the folds of
        ``splitter="cross_validated"`` and of the parts of ``"unbiased"``. With None these, and so
        the trees, differ from fit to fit; a greedy fit without sampling and early stopping draws
        nothing.
    verbose : int, default=0
        Above 0, progress on standard error.

    Attributes
    ----------
    ensemble_ : gbt.Ensemble
        The trees.
    feature_importances_ : array of shape (p,)
        Normalised total gain; biased, see its own documentation.
    evals_result_ : dict of str to list of float
        Mean loss on ``eval_set[i]``, or on the rows held out, after every tree: key ``"eval_i"``,
        and, for each eval_metric, ``"eval_i_"`` and its name; ``"train"`` with train_score.
    train_score_ : array of float
        Mean loss of the training rows after every tree; only if train_score is set.
    best_iteration_ : int
        Number of the last tree kept, from 0.
    best_score_ : float or None
        The last evaluation set's metric, or else its loss, after that tree.
    split_scores_ : array of shape (p,) or None
        For each feature, what the splitter found the nodes' best splits to be worth, whether or not
        they were made. None for greedy splits, whose gains the nodes have, and where a warm start
        with early stopping kept fewer trees than there were. With ``splitter="unbiased"`` it is the
        importance of Zhang, Zhang and Li (2023), Algorithm 3.
    splitter_ : str or object
        What grew the trees: the splitter, or what ``"auto"`` chose.
    n_features_in_ : int
    feature_names_in_ : array of shape (p,)
        Only if fitted on a data frame with string column names.
    """

    def __init__(
        self,
        n_estimators: int | None = None,
        learning_rate: float = 0.1,
        max_depth: int | None = 6,
        max_leaves: int | None = None,
        min_child_weight: float | None = None,
        min_samples_leaf: int | None = None,
        reg_lambda: float = 1.0,
        min_split_gain: float = 0.0,
        subsample: float = 1.0,
        colsample: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        base_score: float | None = None,
        splitter: str | Policy = "auto",
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_smoothing: float | None = None,
        monotone_constraints: MonotoneConstraints = None,
        interaction_constraints: InteractionConstraints = None,
        loss: Any = None,
        early_stopping_rounds: int | None = None,
        min_delta: float = 0.0,
        validation_fraction: float = 0.1,
        refit: bool = False,
        eval_metric: Metrics = None,
        train_score: bool = False,
        callbacks: Sequence[Callback] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ):
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaves=max_leaves,
            min_child_weight=min_child_weight,
            min_samples_leaf=min_samples_leaf,
            reg_lambda=reg_lambda,
            min_split_gain=min_split_gain,
            subsample=subsample,
            colsample=colsample,
            colsample_bylevel=colsample_bylevel,
            colsample_bynode=colsample_bynode,
            base_score=base_score,
            splitter=splitter,
            categorical_features=categorical_features,
            categorical_smoothing=categorical_smoothing,
            monotone_constraints=monotone_constraints,
            interaction_constraints=interaction_constraints,
            early_stopping_rounds=early_stopping_rounds,
            min_delta=min_delta,
            validation_fraction=validation_fraction,
            refit=refit,
            eval_metric=eval_metric,
            train_score=train_score,
            callbacks=callbacks,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.loss = loss

    def _own_loss(self) -> Loss:
        return as_loss(self.loss)

    def _learn_target(self, y: Any) -> np.ndarray:
        target = self._as_target(y)
        n_trees = chosen(self._all_parameters(), len(target))["n_estimators"]
        warn_of_short_steps(self._own_loss(), target, n_trees, self.learning_rate, stacklevel=5)
        return target

    def _as_target(self, y: Any) -> np.ndarray:
        target = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        self._own_loss().check_target(target)
        return target

    @says_what_serves
    def score(self, X: Any, y: Any, sample_weight: Any = None, init_score: Any = None) -> float:
        """Return R^2 of the predictions.

        Parameters
        ----------
        X, y, sample_weight
            As everywhere in scikit-learn.
        init_score : optional
            As for `predict`.
        """
        return r2_score(y, self.predict(X, init_score), sample_weight=sample_weight)

    def _decide(self, raw_prediction: np.ndarray) -> np.ndarray:
        return self.ensemble_.loss.inverse_link(raw_prediction)
