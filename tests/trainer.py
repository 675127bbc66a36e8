"""Growing and boosting with few words, for tests of the trainer below the estimators."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from gbt.boosting import Parameters, boost
from gbt.columns import Columns
from gbt.growing import Shape, grow
from gbt.losses import LOSSES
from gbt.splitting.frontier import Limits
from gbt.splitting.greedy import Greedy


def grow_tree(
    columns, gradient, hessian, sample_weight=None, *, learning_rate=0.5, n_jobs=1, **parameters
):
    """Grow one tree on all rows and columns; parameters have the names of the estimators'."""
    asked = {
        "max_depth": None,
        "max_leaves": None,
        "min_child_weight": 0.0,
        "min_samples_leaf": 1,
        "reg_lambda": 0.0,
        "min_split_gain": 0.0,
    } | parameters
    shape = Shape(asked.pop("max_depth"), asked.pop("max_leaves"))
    return grow(
        columns,
        gradient,
        hessian,
        np.ones(columns.n_rows) if sample_weight is None else sample_weight,
        rows=np.arange(columns.n_rows),
        features=np.arange(columns.n_columns),
        splitter=Greedy(),
        limits=Limits(**asked),
        shape=shape,
        learning_rate=learning_rate,
        n_jobs=n_jobs,
    )


def fit(
    X,
    y,
    sample_weight=None,
    *,
    loss="half_squared_error",
    base_score=None,
    eval_sets=(),
    seed=0,
    n_jobs=1,
    **parameters,
):
    """Boost; base_score is in link space."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    return boost(
        X,
        np.asarray(y, dtype=np.float64),
        np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float),
        loss=LOSSES[loss],
        parameters=Parameters(**{"n_estimators": 5, "max_depth": 3} | parameters),
        base_score=base_score,
        splitter=Greedy(),
        eval_sets=list(eval_sets),
        feature_names=tuple(f"x{k}" for k in range(X.shape[1])),
        seed=seed,
        n_jobs=n_jobs,
    )


def with_bins_that_end_at(columns: Columns, ends: list[np.ndarray]) -> Columns:
    """Return the columns with other coarse bins: ``ends[k]`` are the last codes of column k's."""
    bins = np.empty_like(columns.bins)
    n_bins = np.array([len(e) for e in ends])
    last_code_of_bin = np.zeros_like(columns.last_code_of_bin)
    for k, e in enumerate(ends):
        bins[k] = np.searchsorted(e, columns.codes[k])
        last_code_of_bin[k, : len(e)] = e
    return replace(columns, bins=bins, n_bins=n_bins, last_code_of_bin=last_code_of_bin)


@st.composite
def coarse_columns(draw, X) -> Columns:
    """Draw any coarse bins for a table: the result of a search must not depend on them."""
    columns = Columns.from_table(X)
    ends = []
    for n_distinct in columns.missing_code.tolist():
        cuts = draw(st.sets(st.integers(0, max(n_distinct - 2, 0)), max_size=4))
        ends.append(np.array(sorted({*cuts, n_distinct - 1}))[: n_distinct or None])
    return with_bins_that_end_at(columns, [e[e >= 0] for e in ends])
