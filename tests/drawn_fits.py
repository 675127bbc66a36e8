"""Something to fit, drawn: an estimator, a table with targets, and what stands beside it."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from sklearn.base import clone

from gbt import GBTClassifier, GBTRegressor
from gbt.estimators.defaults import POOLED
from gbt.kernels.platform.compiling import IS_COMPILING
from gbt.splitting import CrossValidated, Unbiased

JUDGED = ["unbiased", "cross_validated", Unbiased(merged=True), POOLED, CrossValidated(7)]
OF_AMOUNTS = ["poisson", "gamma", "tweedie", "squared_log_error", "cross_entropy"]
OF_NUMBERS = ["half_squared_error", "huber", "pseudo_huber", "absolute", "quantile"]
OF_ORDER = ["pairwise", "ndcg"]
MANY = 150  # rows, of which judges and those held out are enough


class Fit(NamedTuple):
    """An estimator, rows and targets; ``beside`` are other arguments of ``fit``."""

    model: Any
    X: np.ndarray
    y: np.ndarray
    beside: dict[str, Any]
    rng: np.random.Generator  # for whoever fits otherwise

    def __repr__(self):
        """Return what fits on a screen."""
        weight, X = self.beside["sample_weight"], self.X
        weights = "no weights" if weight is None else f"weights {weight[:5]}"
        return f"{self.model!r}\nof {X.shape}: {X[:5]}\n{self.y[:5]}\n{weights} {[*self.beside]}"

    def estimator(self, **changed):
        """Return the estimator with some other parameters, not fitted."""
        return clone(self.model).set_params(**changed)

    def fitted(self, X=None, **changed):
        """Return the fitted estimator, on other rows if given."""
        X = self.X if X is None else X
        return self.estimator(**changed).fit(X, self.y, **self.beside)


def slow_down(told):
    """Take smaller steps from tree to tree."""
    told.learning_rate = 0.3 / (told.number + 1)


@st.composite
def fits(
    draw, *, has_levels=True, has_order=True, may_draw=True, has_rates=True, in_memory=True,
    directions=None,
):  # fmt: skip
    """Draw something to fit.

    Columns are of numbers, with ties, zeros and missing values, or of levels, and missing ones
    among them.

    Parameters
    ----------
    has_levels, has_order : bool
        Whether some columns may be categorical, and losses of queries.
    may_draw : bool
        Whether rows may be drawn: for trees, for judges, to be held out.
    has_rates : bool
        Whether a callback may change the step.
    in_memory : bool
        Whether what needs all rows in memory may be asked for.
    directions : strategy of bool, optional
        Whether columns have directions.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = st.integers(10, 400) | st.just(1300) if IS_COMPILING else st.integers(10, 60)
    n, p = draw(sizes), draw(st.integers(1, 9))
    X = table(draw, rng, n, p)
    asked = parameters(draw, n, p, may_draw, in_memory)
    if has_levels and draw(st.booleans()):
        asked |= with_levels(draw, rng, X)
    is_directed = in_memory and draw(st.booleans() if directions is None else directions)
    if is_directed:
        own = rng.integers(-1, 2, p) * ~np.isin(np.arange(p), asked.get("categorical_features", []))
        asked |= {"monotone_constraints": own.tolist()}
    weights = {
        "none": None,
        "whole": rng.integers(0, 4, n).astype(float) + (np.arange(n) < 4),
        "any": rng.uniform(0.1, 2, n),
    }
    weight = weights[draw(st.sampled_from(["none", "whole", "any"]))]
    losses = [*OF_NUMBERS, *OF_AMOUNTS, "two", "two", *(OF_ORDER if has_order else [])]
    losses += [] if is_directed else ["three", "three"]
    loss = draw(st.sampled_from(losses))
    beside = {"sample_weight": weight}
    y = np.exp(np.nan_to_num(X[:, 0].astype(float)) + rng.normal(size=n))
    if loss in OF_ORDER:
        groups = np.minimum(np.arange(n) // (size := draw(st.integers(2, 9))), n // size - 1)
        beside = {"groups": groups, "sample_weight": None if weight is None else weight[groups]}
        y = rng.integers(0, 4, n)
        y[:2] = 0, 1
    elif loss in ("two", "three"):
        y = np.argsort(np.argsort(y)) * (2 if loss == "two" else 3) // n
    elif loss == "cross_entropy":
        y = y / y.max()
    if n >= MANY and loss not in OF_ORDER and draw(st.booleans()):
        if not may_draw or draw(st.booleans()):
            beside |= {"X_val": X[::3], "y_val": y[::3]}
        asked |= {"early_stopping_rounds": 2, "callbacks": [slow_down] if has_rates else None}
        asked |= {
            "eval_metric": draw(st.sampled_from([None, "r2"])),
            "min_delta": draw(st.sampled_from([0.0, 1e-3])),
        }
    is_of_classes = loss in ("two", "three")
    model = GBTClassifier(**asked) if is_of_classes else GBTRegressor(loss=loss, **asked)
    return Fit(model, X, y, beside, rng)


def table(draw, rng, n, p):
    """Draw numbers: of few values or many, with zeros of both signs, with missing values."""
    X = rng.normal(size=(n, p)).astype(draw(st.sampled_from([np.float32, np.float64])))
    if draw(st.booleans()):
        X = np.round(X, draw(st.integers(0, 1)))
    for value, share in ((0.0, 0.8), (np.nan, 0.2)):
        if draw(st.booleans()):
            X[rng.random((n, p)) < share * rng.random(p)] = value
    X[(X == 0) & (rng.random((n, p)) < draw(st.sampled_from([0.0, 0.3])))] = -0.0
    return X


def with_levels(draw, rng, X):
    """Put levels in some columns of a table; return the parameters that say so."""
    columns = np.flatnonzero(rng.random(X.shape[1]) < 0.5).tolist()
    for k in columns:
        X[:, k] = rng.integers(0, draw(st.sampled_from([1, 2, 7, 200])), len(X))
        X[rng.random(len(X)) < draw(st.sampled_from([0.0, 0.2])), k] = np.nan
    smoothing = draw(st.sampled_from([0.0, 1.0, 20.0]))
    return {"categorical_features": columns, "categorical_smoothing": smoothing}


def parameters(draw, n, p, may_draw, in_memory):
    """Draw parameters of an estimator."""
    judged = [*JUDGED, *["greedy"] * len(JUDGED)] if may_draw and n >= MANY else ["greedy"]
    shares = [1.0, 0.6] if may_draw else [1.0]
    lists = [[0, p - 1]], [(0, p - 1), {p // 2}], [np.array([0, p - 1])]
    constraints = [None, None, "no_interactions", "pairwise", *lists]
    asked = {
        "learning_rate": draw(st.sampled_from([0.1, 0.3])),
        "n_estimators": 4, "splitter": draw(st.sampled_from(judged)), "random_state": 0,
        "max_depth": draw(st.sampled_from([1, 3, 6, None])),
        "subsample": draw(st.sampled_from(shares)),
        "colsample": draw(st.sampled_from([1.0, 0.5])),
        "colsample_bylevel": draw(st.sampled_from([1.0, 0.6])),
        "colsample_bynode": draw(st.sampled_from([1.0, 0.6])),
        "interaction_constraints": draw(st.sampled_from(constraints)),
        "min_samples_leaf": draw(st.sampled_from([1, 5])),
        "min_child_weight": draw(st.sampled_from([0.0, 1.0])),
        "reg_lambda": draw(st.sampled_from([0.0, 1.0])),
        "max_bins": draw(st.sampled_from([None, None, 2, 20, 256])),
    }  # fmt: skip
    return asked | ({"max_leaves": draw(st.sampled_from([None, 5]))} if in_memory else {})
