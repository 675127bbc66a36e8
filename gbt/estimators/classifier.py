"""The estimator of classes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets

from gbt.estimators.base import BaseGBT
from gbt.estimators.other_names import says_what_serves
from gbt.estimators.parameters import ClassifierParameters, documented
from gbt.losses.loss import Loss
from gbt.losses.own import OwnLoss
from gbt.losses.several_outputs import Softmax
from gbt.losses.squared_and_logistic import LOSSES
from gbt.tables.targets import distinct_labels, weigh_classes


@documented
class GBTClassifier(ClassifierMixin, ClassifierParameters, BaseGBT):
    """Gradient boosted trees for classes: the logistic loss for two, softmax for three or more.

    With K > 2 classes every round grows K trees, one per class, on the derivatives before the round
    (``gbt.losses.several_outputs``); n_estimators and early_stopping_rounds count rounds.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted. With two, raw predictions are the log-odds of the second; with more,
        each label has a raw prediction of its own.
    """

    classes_: np.ndarray

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
        """Return the share of rows whose label is predicted."""
        predicted, labels = self.predict(X, init_score), np.asarray(y)
        if predicted.dtype == bool and {*map(type, labels.ravel())} <= {bool, np.bool_}:
            y = labels.astype(bool)  # of objects, as `fit` takes them
        return accuracy_score(y, predicted, sample_weight=sample_weight)

    @says_what_serves
    def decision_function(self, X: Any, init_score: Any = None) -> np.ndarray:
        """Return the raw predictions: log-odds of ``classes_[1]``, (n,), or those of K, (n, K)."""
        return self._predict("decision_function", X, init_score, np.asarray)

    @says_what_serves
    def staged_decision_function(self, X: Any, init_score: Any = None) -> Iterator[np.ndarray]:
        """Yield the `decision_function` after the first round, after two, ... after all rounds."""
        return self._predict_stages("decision_function", X, init_score, np.asarray)

    @says_what_serves
    def predict_proba(self, X: Any, init_score: Any = None) -> np.ndarray:
        """Return the probability of each class for every row, (n, K), in order of ``classes_``."""
        return self._predict("predict_proba", X, init_score, self._probabilities)

    @says_what_serves
    def predict_log_proba(self, X: Any, init_score: Any = None) -> np.ndarray:
        """Return the logarithm of `predict_proba`, -inf where float64 has 0 for a probability."""

        def of_raw(raw_prediction: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore"):
                return np.log(self._probabilities(raw_prediction))

        return self._predict("predict_log_proba", X, init_score, of_raw)

    @says_what_serves
    def staged_predict_proba(self, X: Any, init_score: Any = None) -> Iterator[np.ndarray]:
        """Yield `predict_proba` after the first round, after two, ... after all rounds."""
        return self._predict_stages("predict_proba", X, init_score, self._probabilities)
