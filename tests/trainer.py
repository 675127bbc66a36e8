"""Growing and boosting with few words, for tests of the trainer below the estimators."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from gbt.kernels.cuts.memory import Training
from gbt.kernels.rows.derivatives import GIVEN
from gbt.kernels.trees.tasks import LARGE
from gbt.model.tree import Tree, arrays_of
from gbt.splitting.greedy import Greedy
from gbt.splitting.interactions import groups_of
from gbt.splitting.policy import Limits
from gbt.tables.columns import Columns
from gbt.training import histogram_growth as greedy_growth
from gbt.training.plan import Plan
from gbt.training.policy_growth import PolicyGrowth, growth_of


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
    asked = {"min_child_weight": 0.0, "reg_lambda": 0.0} | parameters
    training = Training(
        nothing[0], one_if_equal(weight), nothing[1], np.array(gradient), one_if_equal(hessian)
    )
    plan = Plan(GIVEN, Limits(**asked), learning_rate, n_jobs, seed)
    if on_common_road:
        growth = PolicyGrowth(on_common_road, columns, training, plan)
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


# What is drawn --------------------------------------------------------------------------------


@dataclass
class GrowthCase:
    """A tree to grow: on some rows and columns of a table, with parameters of ``growth_for``."""

    columns: Columns
    gradient: np.ndarray
    hessian: np.ndarray
    weight: np.ndarray
    rows: np.ndarray | None  # None is all
    features: np.ndarray
    asked: dict[str, Any] = field(default_factory=dict)

    def growth(self, **others):
        """Return what grows it."""
        return growth_for(
            self.columns, self.gradient, self.hessian, self.weight, **self.asked | others
        )

    def grow(self, **others):
        """Return the tree, and the leaves of its rows."""
        return grow_with(self.growth(**others), self.rows, self.features)


@st.composite
def growths(draw, policy="greedy", least_rows=1, has_levels=None):
    """Draw a tree to grow, for greedy or for judged splits.

    Small tables; ones of many values in one bin; ones whose root and larger child keep a histogram,
    which takes few bins for many rows; ones in which every cut has equals; ones with levels, unless
    ``has_levels`` is False, and these alone if it is True.
    """
    kind = draw(st.sampled_from(["any"] if has_levels else ["any", "any", "large", "ties"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(61, 130) | st.integers(least_rows, 12 if kind == "any" else 60))
    n = max(n, 61) if kind == "large" else n
    p = draw(st.integers(1, 4) | st.sampled_from([5, 9]))  # nine fill another word of bins
    if kind == "large" and draw(st.booleans()):
        n, p = 600, min(p, 2)  # more values than a byte tells apart
    n_levels = np.zeros(p, dtype=int)
    if kind == "any" and (draw(st.booleans()) if has_levels is None else has_levels):
        n_levels = rng.choice([0, 1, 2, 3, 9, 40, 300], p)
    n_distinct, missing = draw(st.sampled_from([[1, 2, 5, 30], [10**9], [2, 5, 10**9]])), [0.0, 0.2]
    if draw(st.booleans()):
        missing = [0.0, 0.3, 1.0]
    X = [column_of(rng, n, rng.choice(n_distinct), rng.choice(missing)) for _ in range(p)]
    X = np.column_stack(X)
    for k in np.flatnonzero(n_levels):
        X[:, k] = np.where(np.isnan(X[:, k]), np.nan, rng.integers(n_levels[k], size=n))
    gradient, hessian = draw(gradients(n, HESSIANS[: 3 if policy == "judged" else 4]))
    if kind == "ties":
        sign, of_missing = draw(st.sampled_from([1, -1])), draw(st.sampled_from([0.0, 1.0]))
        X, gradient, hessian = with_ties(X, gradient, hessian, sign, of_missing)
        n, p, n_levels = *X.shape, np.zeros(X.shape[1], dtype=int)
    columns = Columns.from_table(X.astype(draw(st.sampled_from(DTYPES))), n_levels=n_levels)
    if kind == "large" or draw(st.booleans()):
        for k in np.flatnonzero(n_levels == 0):
            coarsen(columns, k, rng, most=5)
    # The larger child of the root has half of its rows at least.
    assert kind != "large" or -(-n // 2) * p > LARGE * (columns.n_bins + 1).sum()
    weights = draw(st.sampled_from([[1.0], [1.0], [3.0], [0.3], [1.0, 2.0, 3.0], [0.5, 1.3]]))
    asked = draw(parameters_of_trees(p)) | draw(narrowings(p))
    if policy == "greedy":  # whose page draws no columns
        asked |= {"colsample_bylevel": 1.0, "colsample_bynode": 1.0}
    if asked["directions"] is not None:
        asked["directions"] = asked["directions"] * (n_levels == 0).astype(np.int8)
    some = np.flatnonzero(rng.random(n) < draw(st.sampled_from([0.3, 0.7])))
    return GrowthCase(
        columns, gradient, hessian, rng.choice(weights, n),
        some.astype(np.int32) if len(some) >= least_rows and draw(st.booleans()) else None,
        np.sort(rng.permutation(p)[: p if draw(st.booleans()) else rng.integers(1, p + 1)]),
        asked | {"categorical_smoothing": draw(st.sampled_from([0.0, 0.5, 3.0, 20.0]))},
    )  # fmt: skip


def column_of(rng, n, n_distinct, share_missing):
    """Return a column of so many distinct values at most."""
    column = rng.integers(0, n_distinct, size=n) / 7
    column[rng.random(n) < share_missing] = np.nan
    return column


def coarsen(columns, k, rng, most=6):
    """Give a column any bins, ``most`` at most."""
    starts = np.flatnonzero(columns.order[k, : columns.n_present[k]] < 0)
    if len(starts):
        others = rng.permutation(starts[1:])[: rng.integers(0, most)]
        starts = np.sort(np.append(starts[0], others))
    columns.set_bins(k, starts)


DTYPES = [np.float64, np.float64, np.float32]
HESSIANS = ("one", "few", "any", "tiny")


@st.composite
def gradients(draw, n, kinds=HESSIANS):
    """Draw g and h: few distinct ones, so that gains tie, or all different."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    few = draw(st.booleans())
    gradient = rng.integers(-2, 3, size=n).astype(float) if few else rng.normal(size=n)
    hessian = {
        "one": np.ones(n),
        "few": rng.integers(0, 3, size=n) / 2,
        "any": rng.uniform(0, 1, size=n),
        "tiny": 10.0 ** rng.uniform(-12, 0, size=n),
    }[draw(st.sampled_from(kinds))]
    return gradient, hessian


def with_ties(X, gradient, hessian, sign, of_missing):
    """Return a problem in which every cut has equals, so that every rule about ties decides.

    Each row has a mirror image, so the cuts at c and at -c separate alike. The columns stand there
    twice, once negated, so features tie. Missing rows score alike on either side without weight,
    and at the cut at 0 with any weight, if the images' gradients are negated, too.
    """
    X = np.vstack([X, -X, np.full((1, X.shape[1]), np.nan)])
    X = np.hstack([X, -X])
    gradient = np.concatenate([gradient, sign * gradient, [0.0]])
    return X, gradient, np.concatenate([hessian, hessian, [of_missing]])


@st.composite
def parameters_of_trees(draw, n_columns):
    """Draw limits; with so many columns also their directions."""
    directions = draw(
        st.none() | st.lists(st.sampled_from([-1, 0, 1]), min_size=n_columns, max_size=n_columns)
    )
    return {
        "directions": np.array(directions, dtype=np.int8) if directions else None,
        "max_depth": draw(st.sampled_from([None, 1, 2, 4])),
        "max_leaves": draw(st.sampled_from([None, None, 2, 5])),
        "min_child_weight": draw(st.sampled_from([0.0, 1.0, 3.0])),
        "min_samples_leaf": draw(st.sampled_from([1, 2, 5])),
        "reg_lambda": draw(st.sampled_from([0.0, 0.1, 1.0, 10.0])),
        "min_split_gain": draw(st.sampled_from([0.0, 0.0, 0.5])),
    }


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
