"""The scikit-learn surface: parameters, validation, fit, predict. No arithmetic.

What goes in is a table as people have it: NumPy arrays of any number type, pandas and polars
frames, nan where a value is missing. It is checked here, once, and everything behind this file may
trust what it gets: rows of floats, float64 targets, positive weights. What comes out is an
`Ensemble`, and every prediction is its raw prediction seen through the link of the loss.

A fit works on a copy of the estimator and hands its attributes over at the very end. So an error,
or Ctrl-C, leaves the estimator as it was: unfitted, or with its former model.
"""

import os
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, fields
from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from gbt import boosting
from gbt.losses import LOSSES
from gbt.parallel import effective_n_jobs
from gbt.parameters import OF_CLASSIFIER, OF_REGRESSOR, Allowed
from gbt.saving import describe_estimator, save
from gbt.splitting.greedy import Greedy
from gbt.tables import refuse_categories


@dataclass(frozen=True, eq=False)
class Sampling:
    """Which rows of the table given to ``fit`` each tree has seen.

    ``left_out`` are the rows that no tree has seen, ascending: those of weight 0 and those held out
    for early stopping.
    """

    seed: int
    subsample: float
    n_rows: int
    left_out: np.ndarray

    def rows(self, m: int) -> np.ndarray:
        """Return the rows of tree ``m``, ascending."""
        seen = np.delete(np.arange(self.n_rows), self.left_out)
        return boosting.sampled_rows(self.seed, m, seen, self.subsample)


class _GBT(BaseEstimator):
    """What the two estimators share: all but the meaning of a target."""

    _allowed: ClassVar[dict[str, Allowed]] = OF_REGRESSOR
    _loss_name: ClassVar[str]

    def __init__(
        self,
        n_estimators=100,
        learning_rate=0.1,
        max_depth=6,
        max_leaves=None,
        min_child_weight=1.0,
        min_samples_leaf=1,
        reg_lambda=1.0,
        min_split_gain=0.0,
        subsample=1.0,
        colsample=1.0,
        base_score=None,
        splitter="greedy",
        categorical_features="from_dtype",
        early_stopping_rounds=None,
        validation_fraction=0.1,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_child_weight = min_child_weight
        self.min_samples_leaf = min_samples_leaf
        self.reg_lambda = reg_lambda
        self.min_split_gain = min_split_gain
        self.subsample = subsample
        self.colsample = colsample
        self.base_score = base_score
        self.splitter = splitter
        self.categorical_features = categorical_features
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "ensemble_")

    def check_parameters(self) -> None:
        """Raise ValueError for the first parameter out of range; ``fit`` does this first."""
        for name, allowed in self._allowed.items():
            value = getattr(self, name)
            if not allowed.admits(value):
                raise ValueError(f"{name} must be {allowed.words}; got {value!r}.")
        effective_n_jobs(self.n_jobs)

    def fit(self, X, y, sample_weight=None, eval_set=None):
        """Fit the trees.

        Parameters
        ----------
        X : table of shape (n, p)
            Numbers; nan is a missing value, infinities are refused.
        y : array of shape (n,)
            Targets.
        sample_weight : array of shape (n,), optional
            Not negative. Rows of weight 0 are dropped before anything else.
        eval_set : list of (X, y) or (X, y, sample_weight), optional
            Tables whose mean loss is recorded after every tree, in ``evals_result_``. The last one
            decides early stopping.

        Returns
        -------
        self
        """
        attempt = copy(self)
        attempt._fit(X, y, sample_weight, eval_set)
        self.__dict__ = vars(attempt)
        return self

    def _fit(self, X, y, sample_weight, eval_set):
        self.check_parameters()
        X, y, weight = self._check_rows(X, y, sample_weight, reset=True)
        n_rows = len(y)
        is_seen = weight > 0
        target = self._learn_target(y if is_seen.all() else y[is_seen])
        eval_sets = self._check_eval_set(eval_set)
        seed = _seed(self.random_state)
        if self.early_stopping_rounds is not None and not eval_sets:
            kept, held_out = self._hold_out(target, seed)
            held_out_rows = np.flatnonzero(is_seen)[held_out]
            eval_sets = [(X[held_out_rows], target[held_out], weight[held_out_rows])]
            is_seen[held_out_rows] = False
            target = target[kept]
        if not is_seen.all():
            X, weight = X[is_seen], weight[is_seen]
        left_out = np.flatnonzero(~is_seen)
        del is_seen  # before much else is in memory

        if weight.min() == weight.max():
            weight = weight[:1].copy()  # one stands for all rows
        boosted = self._boost(X, target, weight, eval_sets, seed)
        self.ensemble_ = boosted.ensemble
        self.evals_result_ = boosted.evals_result
        self.best_iteration_ = boosted.best_iteration
        self._sampling = Sampling(seed, float(self.subsample), n_rows, left_out)

    def _boost(self, X, target, weight, eval_sets, seed):
        """Hand over to the trainer, in its own words."""
        loss = LOSSES[self._loss_name]
        names = getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])
        asked = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params(deep=False).items()
        }
        base_score, splitter = asked["base_score"], asked["splitter"]
        try:
            with np.errstate(over="raise"):
                return boosting.boost(
                    X,
                    target,
                    weight,
                    loss=loss,
                    parameters=boosting.Parameters(
                        **{field.name: asked[field.name] for field in fields(boosting.Parameters)}
                    ),
                    base_score=None if base_score is None else loss.link(base_score),
                    splitter=Greedy() if isinstance(splitter, str) else splitter,
                    eval_sets=eval_sets,
                    feature_names=tuple(names),
                    seed=seed,
                    n_jobs=asked["n_jobs"],
                )
        except FloatingPointError as error:
            raise ValueError(
                f"Sums of gradients do not fit into float64 ({error}): y, sample_weight or"
                " base_score are too large or too small. Divide them by a constant."
            ) from error

    def _check_table(self, X, y="no_validation", **options):
        """Return a table as rows of float64 or float32, and the targets if any are given."""
        if self.categorical_features is not None:
            refuse_categories(X)
        return validate_data(
            self, X, y, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan", **options
        )

    def _check_rows(self, X, y, sample_weight, reset):
        """Return a table as rows of floats, its targets as they are, and its weights."""
        X, y = self._check_table(X, y, reset=reset, ensure_min_samples=2 if reset else 1)
        return X, y, _check_weight(sample_weight, len(y))

    def _check_eval_set(self, eval_set):
        """Return the evaluation sets as (rows of floats, float64 targets, weights)."""
        if eval_set is None:
            return []
        if not isinstance(eval_set, list) or not all(
            isinstance(part, tuple | list) and len(part) in (2, 3) for part in eval_set
        ):
            raise ValueError(
                "eval_set must be a list of (X, y) or (X, y, sample_weight); got"
                f" {type(eval_set).__name__}"
                + (f" of {len(eval_set)} parts." if isinstance(eval_set, tuple | list) else ".")
            )
        checked = []
        for i, (X, y, *weight) in enumerate(eval_set):
            try:
                X, y, w = self._check_rows(X, y, weight[0] if weight else None, reset=False)
                checked.append((X, self._as_target(y), w))
            except ValueError as error:
                raise ValueError(f"eval_set[{i}]: {error}") from error
        return checked

    def _hold_out(self, target, seed):
        """Return positions to train on and to hold out for early stopping, both ascending."""
        try:
            kept, held_out = train_test_split(
                np.arange(len(target)),
                test_size=self.validation_fraction,
                stratify=target if is_classifier(self) else None,
                random_state=seed,
            )
        except ValueError as error:
            raise ValueError(
                f"early_stopping_rounds without an eval_set holds out validation_fraction="
                f"{self.validation_fraction} of {len(target)} rows, which is impossible: {error}"
                " Pass an eval_set or change validation_fraction."
            ) from error
        return np.sort(kept), np.sort(held_out)

    def _raw_predict(self, X):
        check_is_fitted(self)
        return self.ensemble_.raw_predict(self._check_table(X, reset=False), self.n_jobs)

    def _staged_raw_predict(self, X):
        check_is_fitted(self)
        return self.ensemble_.staged_raw_predict(self._check_table(X, reset=False), self.n_jobs)

    def predict(self, X) -> np.ndarray:
        """Predict the target of every row.

        Parameters
        ----------
        X : table of shape (n, p)

        Returns
        -------
        array of shape (n,)
        """
        return self._decide(self._raw_predict(X))

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield the prediction of the first tree, of the first two, ... of all trees.

        Parameters
        ----------
        X : table of shape (n, p)

        Yields
        ------
        array of shape (n,)
        """
        return map(self._decide, self._staged_raw_predict(X))

    def apply(self, X) -> np.ndarray:
        """Return the leaf that every row reaches in every tree.

        Parameters
        ----------
        X : table of shape (n, p)

        Returns
        -------
        int32 array of shape (n, M)
            Numbers of nodes within their tree, in preorder; the root is 0.
        """
        check_is_fitted(self)
        return self.ensemble_.apply(self._check_table(X, reset=False), self.n_jobs)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Total gain of the splits on each feature, normalised to sum to 1; shape (p,).

        All zeros if no tree has a split. Gains are taken on the rows that the splits were chosen
        on, which favours features with many distinct values even if they are pure noise. For an
        honest ranking use ``attributions.tree_inner`` with rows that were not trained on.
        """
        check_is_fitted(self)
        gain = self.ensemble_.total_gain()
        return np.divide(gain, gain.sum(), out=np.zeros(len(gain)), where=gain.sum() > 0)

    def sampled_rows(self, m: int) -> np.ndarray:
        """Return which rows tree ``m`` was grown on.

        Rows of weight 0, rows held out for early stopping and rows left out by ``subsample`` are
        not among them.

        Parameters
        ----------
        m : int
            Number of a tree, from 0.

        Returns
        -------
        int array
            Positions in the table given to ``fit``, ascending.
        """
        check_is_fitted(self)
        if not isinstance(m, Integral) or not 0 <= m < self.ensemble_.n_trees:
            raise ValueError(
                f"m must be the number of a tree, an integer in [0, {self.ensemble_.n_trees});"
                f" got {m!r}."
            )
        return self._sampling.rows(int(m))

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted estimator to a JSON file, to be read by ``gbt.load``.

        Parameters
        ----------
        path : str or path-like
            An existing file keeps its permissions and is replaced once the new one is complete.
        """
        check_is_fitted(self)
        self.check_parameters()
        parts = {"ensemble": self.ensemble_.describe(), "estimator": describe_estimator(self)}
        save(type(self).__name__, parts, path)


class GBTRegressor(RegressorMixin, _GBT):
    """Gradient boosted trees for a numeric target, under half the squared error.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    learning_rate : float, default=0.1
        What the step of every tree is multiplied by.
    max_depth : int or None, default=6
        Largest number of splits on a path; None is without limit.
    max_leaves : int or None, default=None
        Largest number of leaves of a tree. If given, the split of largest gain is made first.
    min_child_weight : float, default=1.0
        Least sum of weighted hessians in a child: for this loss, of weights.
    min_samples_leaf : int, default=1
        Least number of rows in a child, whatever their weights.
    reg_lambda : float, default=1.0
        Added to the sum of hessians in every gain and every step: L2 penalty of leaf values.
    min_split_gain : float, default=0.0
        A split needs more gain than this (Sun 2022, Definition 2, without factor 1/2).
    subsample, colsample : float, default=1.0
        Fraction of rows and of columns that each tree sees, drawn without replacement.
    base_score : float or None, default=None
        Prediction before the first tree; None is the weighted mean of the targets.
    splitter : "greedy" or object, default="greedy"
        How a node chooses its split; an object has the method ``split`` of
        ``gbt.splitting.frontier.Policy``.
    categorical_features : "from_dtype" or None, default="from_dtype"
        "from_dtype" refuses columns of categories, strings and dates of a data frame, by name: they
        are not supported yet. None reads every column as numbers as far as it will go.
    early_stopping_rounds : int or None, default=None
        Stop when the loss on the last evaluation set has not improved for this many trees, and keep
        the trees up to the best.
    validation_fraction : float, default=0.1
        Share of the rows held out for early stopping if ``fit`` is given no ``eval_set``.
    n_jobs : int or None, default=None
        Threads; None is all cores this process may use. Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of row and column sampling and of the rows held out.
    verbose : int, default=0
        Above 0, a progress line on standard error.

    Attributes
    ----------
    ensemble_ : gbt.Ensemble
        The trees.
    feature_importances_ : array of shape (p,)
        Normalised total gain; biased, see its own documentation.
    evals_result_ : dict of str to list of float
        Mean loss on ``eval_set[i]``, or on the rows held out, after every tree: key ``"eval_i"``.
    best_iteration_ : int
        Number of the last tree kept, from 0.
    n_features_in_ : int
    feature_names_in_ : array of shape (p,)
        Only if fitted on a data frame with string column names.
    """

    _loss_name = "half_squared_error"

    def _learn_target(self, y):
        return self._as_target(y)

    def _as_target(self, y):
        return check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")

    def _decide(self, raw_prediction):
        return self.ensemble_.loss.inverse_link(raw_prediction)


class GBTClassifier(ClassifierMixin, _GBT):
    """Gradient boosted trees for two classes, under the logistic loss.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    learning_rate : float, default=0.1
        What the step of every tree is multiplied by.
    max_depth : int or None, default=6
        Largest number of splits on a path; None is without limit.
    max_leaves : int or None, default=None
        Largest number of leaves of a tree. If given, the split of largest gain is made first.
    min_child_weight : float, default=1.0
        Least sum of weighted hessians p (1 - p) in a child.
    min_samples_leaf : int, default=1
        Least number of rows in a child, whatever their weights.
    reg_lambda : float, default=1.0
        Added to the sum of hessians in every gain and every step: L2 penalty of leaf values.
    min_split_gain : float, default=0.0
        A split needs more gain than this (Sun 2022, Definition 2, without factor 1/2).
    subsample, colsample : float, default=1.0
        Fraction of rows and of columns that each tree sees, drawn without replacement.
    base_score : float or None, default=None
        Probability of ``classes_[1]`` before the first tree; None is its weighted share of the
        rows.
    splitter : "greedy" or object, default="greedy"
        How a node chooses its split; an object has the method ``split`` of
        ``gbt.splitting.frontier.Policy``.
    categorical_features : "from_dtype" or None, default="from_dtype"
        "from_dtype" refuses columns of categories, strings and dates of a data frame, by name: they
        are not supported yet. None reads every column as numbers as far as it will go.
    early_stopping_rounds : int or None, default=None
        Stop when the loss on the last evaluation set has not improved for this many trees, and keep
        the trees up to the best.
    validation_fraction : float, default=0.1
        Share of the rows, of each class, held out for early stopping if ``fit`` is given no
        ``eval_set``.
    n_jobs : int or None, default=None
        Threads; None is all cores this process may use. Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of row and column sampling and of the rows held out.
    verbose : int, default=0
        Above 0, a progress line on standard error.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The two labels, sorted; raw predictions are log-odds of the second.
    ensemble_ : gbt.Ensemble
        The trees.
    feature_importances_ : array of shape (p,)
        Normalised total gain; biased, see its own documentation.
    evals_result_ : dict of str to list of float
        Mean loss on ``eval_set[i]``, or on the rows held out, after every tree: key ``"eval_i"``.
    best_iteration_ : int
        Number of the last tree kept, from 0.
    n_features_in_ : int
    feature_names_in_ : array of shape (p,)
        Only if fitted on a data frame with string column names.
    """

    _allowed: ClassVar[dict[str, Allowed]] = OF_CLASSIFIER
    _loss_name = "half_logistic"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _learn_target(self, y):
        self.classes_ = _distinct_labels(y)
        check_classification_targets(y)
        n_classes = len(self.classes_)
        shown = ", ".join(map(repr, self.classes_[:10].tolist())) + ", ..." * (n_classes > 10)
        if n_classes > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass:"
                f" y has {n_classes} classes, {shown}. Fit one classifier a class, for instance"
                " with sklearn.multiclass.OneVsRestClassifier."
            )
        if n_classes < 2:
            raise ValueError(
                f"A classifier needs two classes; y has only the class {shown} in rows of positive"
                " weight."
            )
        return self._as_target(y)

    def _as_target(self, y):
        classes = self.classes_.tolist()
        unknown = [label for label in _distinct_labels(y).tolist() if label not in classes]
        if unknown:
            raise ValueError(f"y has labels {unknown}; the classes in training are {classes}.")
        return (y == self.classes_[1]).astype(np.float64)

    def _decide(self, raw_prediction):
        return self.classes_[(raw_prediction > 0).astype(np.intp)]

    def _probabilities(self, raw_prediction):
        inverse_link = self.ensemble_.loss.inverse_link
        return np.column_stack([inverse_link(-raw_prediction), inverse_link(raw_prediction)])

    def decision_function(self, X) -> np.ndarray:
        """Return the raw prediction of every row: the log-odds of ``classes_[1]``.

        Parameters
        ----------
        X : table of shape (n, p)

        Returns
        -------
        float64 array of shape (n,)
        """
        return self._raw_predict(X)

    def predict_proba(self, X) -> np.ndarray:
        """Return the probability of each class for every row.

        Parameters
        ----------
        X : table of shape (n, p)

        Returns
        -------
        float64 array of shape (n, 2)
            In the order of ``classes_``.
        """
        return self._probabilities(self._raw_predict(X))

    def staged_predict_proba(self, X) -> Iterator[np.ndarray]:
        """Yield the probabilities after the first tree, after two, ... after all trees.

        Parameters
        ----------
        X : table of shape (n, p)

        Yields
        ------
        float64 array of shape (n, 2)
        """
        return map(self._probabilities, self._staged_raw_predict(X))


def _seed(random_state) -> int:
    """Draw the seed of a fit, an integer that scikit-learn's own functions accept too."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    return int(check_random_state(random_state).randint(2**32, dtype=np.uint32))


def _check_weight(sample_weight, n_rows: int) -> np.ndarray:
    """Return the sample weights as float64, ones if None."""
    if sample_weight is None:
        return np.broadcast_to(1.0, n_rows)  # a read-only view of a single 1
    weight = check_array(
        sample_weight,
        dtype=np.float64,
        ensure_2d=False,
        ensure_min_samples=0,  # the shape is compared below
        input_name="sample_weight",
    )
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; one weight a row needs shape ({n_rows},)."
        )
    if weight.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative; row {weight.argmin()} has {weight.min()}."
        )
    if weight.max() == 0:
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weight


def _distinct_labels(y) -> np.ndarray:
    """Return the distinct labels, sorted; they must be of one kind, so None is refused."""
    try:
        return np.unique(y)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(
            f"The labels in y must be of one type; got {' and '.join(kinds)}. Missing labels are"
            " not allowed."
        ) from error
