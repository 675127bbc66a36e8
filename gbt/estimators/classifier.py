"""The estimator of classes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gbt.estimators.base import BaseGBT, CategoricalFeatures
from gbt.estimators.constraints import InteractionConstraints, MonotoneConstraints
from gbt.estimators.other_names import says_what_serves
from gbt.estimators.parameters import OF_CLASSIFIER, Allowed
from gbt.losses.half import LOSSES
from gbt.losses.loss import Loss
from gbt.losses.own import OwnLoss
from gbt.losses.several_outputs import Softmax
from gbt.parallel.chunks import is_in_chunks
from gbt.splitting.frontier import Policy
from gbt.tables.targets import distinct_labels, weigh_classes
from gbt.training.evaluation import Callback, Metrics
from gbt.training.sampling import RandomState


class GBTClassifier(ClassifierMixin, BaseGBT):
    """Gradient boosted trees for classes: the logistic loss for two, softmax for three or more.

    With K > 2 classes every round grows K trees, one per class, on the derivatives before the round
    (``gbt.losses.several_outputs``); n_estimators and early_stopping_rounds count rounds.

    ``random_state=0`` gives the same model at every fit. With None, as in scikit-learn, two fits of
    the default splitter differ.

    Parameters
    ----------
    n_estimators : int or None, default=None
        Number of rounds, each of one tree or, for K > 2 classes, of K trees. None means 100 rounds
        if the trees are greedy, else 200.
    learning_rate : float, default=0.1
        Factor that multiplies the leaf values of every tree.
    max_depth : int or None, default=6
        Largest number of splits between the root and a leaf; None means no limit.
    max_leaves : int or None, default=None
        Largest number of leaves of a tree. If it is given, a tree always makes the split of largest
        gain next. max_depth still limits the tree; give max_depth=None if only the number of leaves
        should.
    min_child_weight : float or None, default=None
        Least sum of weighted hessians in a child. The hessian of a row is p (1 - p) for two
        classes, 2 p (1 - p) for more. None means 1 with ``"greedy"``, 0.001 with the others.
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
        Probability of ``classes_[1]`` before the first tree; None is its weighted share of the
        rows. With more than two classes it must be None.
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
        Greedy trees keep them as XGBoost's do (``gbt.splitting.monotone``). Needs two classes.
    interaction_constraints : str, list of lists or None, default=None
        Names or indices of columns that may stand on one path, as in scikit-learn's
        ``interaction_cst``; columns that no list names form one more list. "pairwise" allows all
        pairs. With "no_interactions" the model is additive: a sum of functions of one column each.
        Every splitter keeps to these constraints.
    early_stopping_rounds : int or None, default=None
        Stop when the last evaluation set has not improved for this many rounds, and keep the trees
        up to the best round.
    min_delta : float, default=0.0
        An improvement must beat the best loss (or metric) so far by more than this, in the same
        unit.
    validation_fraction : float, default=0.1
        Share of the rows, of each class, held out for early stopping if ``fit`` is given no
        ``eval_set``.
    refit : bool, default=False
        Whether to fit once more, on all rows, after the rows held out by ``validation_fraction``
        have told how many rounds are best; the second fit has that many. ``evals_result_`` stays
        that of the first fit.
    eval_metric : str, function, list of these or None, default=None
        What else is recorded on evaluation sets, and decides early stopping in place of the loss:
        the name of a scikit-learn scorer, or a function (y, prediction) -> number; larger is
        better. All metrics of a list are recorded, and the last decides. A function is given y as 0
        and 1, and probabilities of 1; with K > 2 classes y as 0 to K - 1, and K probabilities a
        row. If the weights of an evaluation set differ, the metric is given them as
        ``sample_weight``.
    train_score : bool, default=False
        Whether the mean loss of the training rows is recorded after every round, as
        ``train_score_`` and in ``evals_result_["train"]``; it costs one more prediction of all rows
        by every tree.
    callbacks : list of functions or None, default=None
        Called after every round with a `gbt.training.evaluation.Round`: number, n_rounds, evals,
        model, and the learning_rate of the next round, which a callback may set. Boosting ends with
        the round after which one returns True.
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
    class_weight : dict, "balanced" or None, default=None
        What the weights of the rows of a class are multiplied by; "balanced" gives all classes the
        same sum if rows weigh the same. A class that a dict does not name has 1.
    loss : object or None, default=None
        A loss of your own in place of the logistic one and softmax: an object with the methods
        ``value``, ``gradient_hessian``, ``link`` and ``inverse_link``, see ``gbt.losses.own``.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted. With two, raw predictions are the log-odds of the second; with more,
        each label has a raw prediction of its own.
    ensemble_ : gbt.Ensemble
        The trees.
    feature_importances_ : array of shape (p,)
        Normalised total gain; biased, see its own documentation.
    evals_result_ : dict of str to list of float
        Mean loss on ``eval_set[i]``, or on the rows held out, after every round: key ``"eval_i"``,
        and, for each eval_metric, ``"eval_i_"`` and its name; ``"train"`` with train_score.
    train_score_ : array of float
        Mean loss of the training rows after every round; only if train_score is set.
    best_iteration_ : int
        Number of the last round kept, from 0.
    best_score_ : float or None
        The last evaluation set's metric, or else its loss, after that round.
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

    classes_: np.ndarray
    class_weight: Mapping[Any, float] | str | None

    _allowed: ClassVar[dict[str, Allowed]] = OF_CLASSIFIER

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
        class_weight: Mapping[Any, float] | str | None = None,
        loss: Any = None,
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
        self.class_weight = class_weight
        self.loss = loss

    def _own_loss(self) -> Loss:
        n_classes = len(self.classes_)
        if self.loss is not None:
            return OwnLoss(self.loss, n_classes)
        return LOSSES["half_logistic"] if n_classes == 2 else Softmax(n_classes)

    def _learn_target(self, y: Any) -> np.ndarray:
        self.classes_ = distinct_labels(y)
        if {type(label) for label in self.classes_.tolist()} == {bool}:
            y, self.classes_ = y.astype(bool), self.classes_.astype(bool)  # they may be objects
        check_classification_targets(y)
        if len(self.classes_) < 2:
            raise ValueError(
                "A classifier needs two classes; y has only the class"
                f" {self.classes_.tolist()[0]!r} in rows of positive weight."
            )
        return self._as_target(y)

    def _as_target(self, y: Any) -> np.ndarray:
        classes = self.classes_.tolist()
        unknown = [label for label in distinct_labels(y).tolist() if label not in classes]
        if unknown:
            more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            raise ValueError(
                f"y has labels {unknown[:5]}{more}; the classes in training are {classes}."
            )
        return np.searchsorted(self.classes_, y).astype(np.float64)

    def _weigh(self, weight: np.ndarray, is_seen: np.ndarray, target: np.ndarray) -> np.ndarray:
        if self.class_weight is None:
            return weight
        weighed = weight.copy()
        weighed[is_seen] = weigh_classes(weight[is_seen], target, self.classes_, self.class_weight)
        return weighed

    def _decide(self, raw_prediction: np.ndarray) -> np.ndarray:
        if isinstance(self.ensemble_.loss, OwnLoss):
            return self.classes_[self._probabilities(raw_prediction).argmax(axis=1)]
        if raw_prediction.ndim > 1:
            return self.classes_[raw_prediction.argmax(axis=1)]
        return self.classes_[(raw_prediction > 0).astype(np.intp)]

    def _probabilities(self, raw_prediction: np.ndarray) -> np.ndarray:
        inverse_link = self.ensemble_.loss.inverse_link
        if raw_prediction.ndim > 1:
            return inverse_link(raw_prediction)
        if isinstance(self.ensemble_.loss, OwnLoss):
            of_1 = inverse_link(raw_prediction)
            return np.column_stack([1 - of_1, of_1])
        return np.column_stack([inverse_link(-raw_prediction), inverse_link(raw_prediction)])

    @says_what_serves
    def score(self, X: Any, y: Any, sample_weight: Any = None, init_score: Any = None) -> float:
        """Return the share of rows whose label is predicted.

        Parameters
        ----------
        X, y, sample_weight
            As everywhere in scikit-learn.
        init_score : optional
            As for `predict`.
        """
        return accuracy_score(y, self.predict(X, init_score), sample_weight=sample_weight)

    @says_what_serves
    def decision_function(self, X: Any, init_score: Any = None) -> np.ndarray:
        """Return the raw predictions: the log-odds of ``classes_[1]``, or those of K classes.

        Parameters
        ----------
        X : table of shape (n, p)
            With the columns of the fit.
        init_score : optional
            As for `predict`.

        Returns
        -------
        float64 array of shape (n,), or (n, K) for more than two classes
        """
        if is_in_chunks(X):
            check_is_fitted(self)
            n_outputs = self.ensemble_.n_outputs
            width = None if n_outputs == 1 else n_outputs
            return self._lazily("decision_function", X, init_score, np.float64, width)
        return self._raw_predict(X, init_score)

    @says_what_serves
    def staged_decision_function(self, X: Any, init_score: Any = None) -> Iterator[np.ndarray]:
        """Yield the raw predictions after the first round, after two, ... after all rounds.

        Parameters
        ----------
        X : table of shape (n, p)
        init_score : optional
            As for `predict`.

        Yields
        ------
        float64 array of shape (n,), or (n, K) for more than two classes
        """
        if is_in_chunks(X):
            return (stage.decision_function(X, init_score) for stage in self._stages())
        return self._staged_raw_predict(X, init_score)

    @says_what_serves
    def predict_proba(self, X: Any, init_score: Any = None) -> np.ndarray:
        """Return the probability of each class for every row.

        Parameters
        ----------
        X : table of shape (n, p)
        init_score : optional
            As for `predict`.

        Returns
        -------
        float64 array of shape (n, K)
            In the order of ``classes_``.
        """
        if is_in_chunks(X):
            check_is_fitted(self)
            n_classes = len(self.classes_)
            return self._lazily("predict_proba", X, init_score, np.float64, n_classes)
        return self._probabilities(self._raw_predict(X, init_score))

    @says_what_serves
    def predict_log_proba(self, X: Any, init_score: Any = None) -> np.ndarray:
        """Return the logarithm of `predict_proba`, -inf where float64 has 0 for a probability.

        Parameters
        ----------
        X : table of shape (n, p)
        init_score : optional
            As for `predict`.

        Returns
        -------
        float64 array of shape (n, K)
        """
        if is_in_chunks(X):
            check_is_fitted(self)
            n_classes = len(self.classes_)
            return self._lazily("predict_log_proba", X, init_score, np.float64, n_classes)
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, init_score))

    @says_what_serves
    def staged_predict_proba(self, X: Any, init_score: Any = None) -> Iterator[np.ndarray]:
        """Yield the probabilities after the first round, after two, ... after all rounds.

        Parameters
        ----------
        X : table of shape (n, p)
        init_score : optional
            As for `predict`.

        Yields
        ------
        float64 array of shape (n, K)
        """
        if is_in_chunks(X):
            return (stage.predict_proba(X, init_score) for stage in self._stages())
        return map(self._probabilities, self._staged_raw_predict(X, init_score))
