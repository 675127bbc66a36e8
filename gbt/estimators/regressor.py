"""The estimator of numeric targets."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array

from gbt.estimators.base import BaseGBT
from gbt.estimators.other_names import says_what_serves
from gbt.estimators.parameters import documented
from gbt.losses.by_name import as_loss
from gbt.losses.loss import Loss
from gbt.losses.ranking.queries import with_queries
from gbt.parallel.chunks import in_memory
from gbt.tables.targets import as_pairs, as_weight, refuse_other_targets


@documented
class GBTRegressor(RegressorMixin, BaseGBT):
    """Gradient boosted trees for a numeric target, under half the squared error or another loss."""

    def _own_loss(self) -> Loss:
        return as_loss(self.loss)

    def _as_target(self, y: Any) -> np.ndarray:
        if self._has_pairs:
            return y  # already checked, with the rows
        target = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        self._own_loss().check_target(target)
        return target

    @says_what_serves
    def score(
        self, X: Any, y: Any, sample_weight: Any = None, init_score: Any = None, groups: Any = None
    ) -> float:
        """Return R^2 of the predictions; of times to an event Harrell's concordance; of ranks NDCG.

        The NDCG is the mean over the queries that have rows of different grades, with the gains
        2^grade - 1, and of the first k places under the loss ``NDCG(at=k)``; ``groups`` are the
        queries, as in `fit`.
        """
        prediction, loss = in_memory(self.predict(X, init_score)), self._own_loss()
        y = with_queries(loss, y, groups)
        if not loss.has_pairs:
            refuse_other_targets(y)
            return r2_score(y, prediction, sample_weight=sample_weight)
        pairs = as_pairs(loss, y, len(prediction))
        return loss.score(pairs, prediction, as_weight(sample_weight, len(pairs)))

    def _decide(self, raw_prediction: np.ndarray) -> np.ndarray:
        return self.ensemble_.loss.inverse_link(raw_prediction)
