"""Growing and boosting with few words, for tests of the trainer below the estimators."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import strategies as st

from gbt.kernels.cuts.memory import Training
from gbt.kernels.rows.derivatives import GIVEN
from gbt.losses.half import LOSSES
from gbt.model.tree import Tree, arrays_of
from gbt.splitting.frontier import Limits
from gbt.splitting.greedy import Greedy
from gbt.splitting.interactions import groups_of
from gbt.tables.columns import Columns
from gbt.training import histogram_growth as greedy_growth
from gbt.training.boosting import Parameters, boost
from gbt.training.growing import TreeGrowth, growth_of
from gbt.training.plan import Plan, Shape


def growth_for(
    columns,
    gradient,
    hessian,
    sample_weight=None,
    *,
    splitter=None,
    on_common_road=None,
    learning_rate=0.5,
    n_jobs=1,
    seed=0,
    **parameters,
):
    """Return the growth of trees on given derivatives, without limits but those named.

    Equal hessians or weights are handed over as one; parameters have the names of estimators'.
    """
    weight = np.ones(columns.n_rows) if sample_weight is None else sample_weight
    nothing = np.zeros((2, columns.n_rows))
    asked = {
        "max_depth": None,
        "max_leaves": None,
        "min_child_weight": 0.0,
        "min_samples_leaf": 1,
        "reg_lambda": 0.0,
        "min_split_gain": 0.0,
    } | parameters
    shape = Shape(asked.pop("max_depth"), asked.pop("max_leaves"))
    training = Training(
        nothing[0], one_if_equal(weight), nothing[1], np.array(gradient), one_if_equal(hessian)
    )
    plan = Plan(GIVEN, Limits(**asked), shape, learning_rate, n_jobs, seed)
    if on_common_road:
        growth = TreeGrowth(on_common_road, columns, training, plan)
    else:
        growth = growth_of(splitter or Greedy(), columns, training, plan)
    growth.training, growth.plan = training, plan
    return growth


def grow_with(growth, rows=None, features=None):
    """Return one tree and the leaf of each of its rows; None is all."""
    if features is None:
        features = np.arange(growth.columns.n_columns)
    grown = growth.grow(0, rows, features, 1)
    assert grown.sizes == [len(grown.nodes)]
    leaves = growth.leaf_of_row if rows is None else growth.leaf_of_row[rows]
    return Tree(**arrays_of(grown.nodes), level_sets=grown.level_sets), leaves.copy()


def one_if_equal(numbers):
    """Return a copy, of one number where all are the same."""
    return np.array(numbers[:1] if (numbers == numbers[0]).all() else numbers)


def grow_tree(columns, gradient, hessian, sample_weight=None, **parameters):
    """Grow one tree on all rows and columns; see ``growth_for``."""
    return grow_with(growth_for(columns, gradient, hessian, sample_weight, **parameters))


@contextmanager
def with_threads(least_values):
    """Let small tables be grown by several threads, each with so many values at least."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy_growth, "LEAST_VALUES_PER_THREAD", least_values)
        yield


def fit(
    X,
    y,
    sample_weight=None,
    *,
    loss="half_squared_error",
    base_score=None,
    eval_sets=(),
    splitter=None,
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
        splitter=splitter or Greedy(),
        eval_sets=list(eval_sets),
        feature_names=tuple(f"x{k}" for k in range(X.shape[1])),
        seed=seed,
        n_jobs=n_jobs,
    )


@st.composite
def narrowings(draw, n_columns):
    """Draw what leaves some columns closed to a node: groups, and shares by level and by node."""
    columns = st.frozensets(st.integers(0, n_columns - 1), min_size=1, max_size=n_columns)
    lists = st.lists(columns, max_size=3).map(lambda groups: [sorted(group) for group in groups])
    asked = draw(st.sampled_from([None, "no_interactions", "pairwise"]) | lists)
    return {
        "groups": groups_of(asked, range(n_columns)),
        "colsample_bylevel": draw(st.sampled_from([1.0, 1.0, 0.5])),
        "colsample_bynode": draw(st.sampled_from([1.0, 1.0, 0.4])),
    }


@st.composite
def coarse_columns(draw, X) -> Columns:
    """Draw any coarse bins for a table: the result of a search must not depend on them."""
    columns = Columns.from_table(X)
    for k in range(columns.n_columns):
        starts = np.flatnonzero(columns.order[k, : columns.n_present[k]] < 0)
        kept = draw(st.sets(st.integers(0, max(len(starts) - 1, 0)), max_size=4))
        columns.set_bins(k, starts[sorted({0, *kept})] if len(starts) else starts)
    return columns
