"""Models that are no sum of trees, as `permutation` takes them: a table in, predictions out.

Stacked models, neural networks, votes, pipelines whose steps change the rows, calibrated models and
functions are asked for predictions of tables in which one of the user's own columns is shuffled.
These are their predictions, and the scores unless the caller asks for others:

=====================================  ==============================  ============================
model                                  prediction                      score
=====================================  ==============================  ============================
two classes, ``predict_proba``         probability of the second       ROC AUC
more classes, ``predict_proba``        all probabilities, (n, K)       log of that of the true class
classes, no ``predict_proba``          the number of the class         share of rows that are right
no ``classes_``, or a function         ``predict(X)``, numbers         negative mean squared error
=====================================  ==============================  ============================
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError

from attributions.classic.scores import (
    Score,
    auc_of_rows,
    is_scorer,
    negative_squares,
    score_of,
    scorer_of,
)
from gbt.formats import import_model, labels_of
from gbt.formats.wrappers import scale_of
from gbt.model.ensemble import Ensemble
from gbt.tables.table import Table
from gbt.tables.targets import as_column, as_floats

LEAST_PROBABILITY = float(np.finfo(np.float64).eps)  # as in scikit-learn's log_loss


def only_predicts(model: Any) -> bool:
    """Say whether a model's own predictions are needed, which its trees do not tell, if any."""
    predicts = hasattr(model, "predict") or callable(model)
    if isinstance(model, Ensemble | type) or not predicts:
        return False
    if scale_of(model) is not None:
        return True
    try:
        imported = import_model(model)
    except NotFittedError:
        return False
    except (ValueError, TypeError):
        return True
    return imported.ensemble.preparation is not None


class Predictions(NamedTuple):
    """A model and the rows that it predicts."""

    model: Any  # with ``predict``, or a function of a table
    classes: list[Any] | None  # the labels of a classifier
    target: np.ndarray  # (n,), or (n, K) for K targets; of labels, their numbers in ``classes``
    names: tuple[str, ...]  # of the columns

    @classmethod
    def of(cls, model: Any, X: Any, y: Any) -> "Predictions":
        """Check a model's rows and their targets."""
        shape = np.shape(X)
        if len(shape) != 2 or not all(shape):
            raise ValueError(
                f"X has shape {shape}; it must be a table with at least one row and column."
            )
        names = Table(X).names or getattr(model, "feature_names_in_", None)
        if names is None:
            names = [f"x{k}" for k in range(shape[1])]
        y = np.asarray(as_column(y))
        labels = labels_of(model) if y.ndim == 1 else None  # several targets are numbers
        classes = None if labels is None or not len(labels) else np.asarray(labels).tolist()
        if len(y) != shape[0]:
            raise ValueError(f"y has shape {y.shape}; it needs one target for each row of X.")
        target = as_floats(y, "y") if classes is None else numbers_of(y, classes)
        return cls(model, classes, target, tuple(map(str, names)))

    def score(self, metric: Any, y: Any) -> tuple[str, Score]:
        """Return the name of a score, and a function of a table."""
        if is_scorer(metric):
            return str(metric), scorer_of(self.model, metric, y)
        default: tuple[str, Any] = "neg_log_loss", _log_probability
        if self.classes is None:
            default = "neg_mean_squared_error", negative_squares
        elif not hasattr(self.model, "predict_proba"):
            default = "accuracy", np.equal
        elif len(self.classes) == 2:
            default = "roc_auc", auc_of_rows
        return score_of(metric, default, self.target, self.predict)

    def predict(self, table: Any) -> np.ndarray:
        """Return the predictions of a table's rows as scores take them."""
        if self.classes is None:
            predict = getattr(self.model, "predict", self.model)
            predicted = np.asarray(predict(table), dtype=np.float64)
            if predicted.size != self.target.size:
                raise ValueError(
                    f"The model predicts shape {predicted.shape}, and y has {self.target.shape}."
                )
            return predicted.reshape(self.target.shape)
        if not hasattr(self.model, "predict_proba"):
            return numbers_of(np.asarray(self.model.predict(table)), self.classes)
        p = np.asarray(self.model.predict_proba(table), dtype=np.float64)
        return p[:, 1] if len(self.classes) == 2 else p


def numbers_of(y: np.ndarray, classes: list[Any]) -> np.ndarray:
    """Return the numbers of labels among classes."""
    is_class = np.array([y == label for label in classes])
    if is_class.shape != (len(classes), len(y)) or not is_class.any(axis=0).all():
        unknown = [label for label in np.unique(y).tolist() if label not in classes]
        raise ValueError(
            f"y must hold labels of the model, one a row, some of {classes}; got shape {y.shape}"
            f" with {unknown[:5]} among them."
        )
    return is_class.argmax(axis=0).astype(np.float64)


def _log_probability(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the log of the probability that every row's own class was given."""
    own = p[np.arange(len(y)), y.astype(np.int64)] / p.sum(axis=1)
    return np.log(np.maximum(own, LEAST_PROBABILITY))
