"""Where boosting starts: one base score for all rows, or a starting value of each.

A starting value (``init_score`` in LightGBM, a base margin in XGBoost, an offset in a generalised
linear model) is a raw prediction before the first tree: that of an older model, of a tariff, or the
logarithm of an exposure. The trees learn what it leaves unexplained::

    raw prediction  =  starting value of the row  +  values of the leaves that it reaches

It takes the place of the base score, which is then 0. A model that was fitted with starting values
cannot predict without them, and one that was fitted without has no use for them; either is refused.
Models of other libraries do not say how they were fitted, so for them starting values are optional.
"""

from typing import Any

import numpy as np

from gbt.tables.targets import as_init_score


def checked_init_score(model: Any, init_score: Any, n_rows: int) -> np.ndarray | None:
    """Return the starting values of rows, (n, K); None if they start from the base score."""
    if init_score is None and model.has_init_score:
        raise ValueError(
            "The model was fitted with starting values, init_score in fit, and its trees predict"
            " only what is to be added to these: give those of your rows, init_score=..., a raw"
            " prediction a row. (Zeros give the trees' part alone.) A function without init_score"
            " cannot take such a model."
        )
    if init_score is None:
        return None
    if model.has_init_score is False:
        raise ValueError(
            "init_score was given, but the model was fitted without, and starts from its base"
            " score. Give init_score to fit, or add it to raw predictions yourself."
        )
    return as_init_score(init_score, n_rows, model.n_outputs)


def raw_before(base_score: Any, n_rows: int, init_score: np.ndarray | None = None) -> np.ndarray:
    """Return the raw predictions before the first tree, a new float64 array of shape (K, n).

    ``init_score`` is what `checked_init_score` returns.
    """
    if init_score is not None:
        return np.array(init_score.T, order="C")
    return np.repeat(np.atleast_1d(base_score)[:, np.newaxis], n_rows, axis=1)
