"""Which columns a node may be split on: groups that may stand on one path, and what is drawn.

That trees of groups are the page's is tested in ``tests.gbt.training.test_growing``, that they are
XGBoost's in ``tests.gbt.training.test_parity_xgboost``, and judged trees in
``tests.gbt.training.test_judged_growth``.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attributions.refits.without_column import clone_for
from gbt import GBTClassifier, GBTRegressor
from gbt.reference.sets import drawn_columns
from gbt.splitting import Greedy, interactions
from gbt.splitting.interactions import following_of, groups_of
from gbt.splitting.policy import Limits

SPLITTERS = ["greedy", "unbiased", "cross_validated"]


def paths_of(tree, j=0, path=frozenset()):
    """Return the sets of columns on the paths from a node to the leaves below it."""
    if tree.left[j] < 0:
        return {path}
    below = path | {int(tree.feature[j])}
    return paths_of(tree, tree.left[j], below) | paths_of(tree, tree.right[j], below)


def table_of(asked, p, max_depth=None):
    return following_of(Limits(groups=groups_of(asked, range(p)), max_depth=max_depth), p)


def test_too_many_states_are_refused_by_name(monkeypatch):
    monkeypatch.setattr(interactions, "MOST_ENTRIES", 200_000)  # the limit itself takes seconds
    all_but_one = [[k for k in range(30) if k != left_out] for left_out in range(30)]
    with pytest.raises(ValueError, match=r"too many ways to go on.*fewer or smaller groups"):
        table_of(all_but_one, 30)
    assert len(table_of(all_but_one, 30, max_depth=3)) < 200_000
    table_of("no_interactions", 10_000)


# --------------------------------------------------------------------------------------- the trees


ASKED = {  # and which columns may then stand on one path
    "no_interactions": [{0}, {1}, {2}, {3}],
    "pairwise": [{a, b} for a in range(4) for b in range(a)],
    ((0, 1), (1, 2)): [{0, 1}, {1, 2}, {3}],
    (("x0", 3), ("x2",)): [{0, 3}, {2}, {1}],
}


@settings(max_examples=max(25, settings().max_examples))
@given(
    st.integers(0, 10**6), st.sampled_from([*ASKED]), st.sampled_from(SPLITTERS),
    st.sampled_from([None, 5]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_no_path_mixes_what_must_not_mix(seed, asked, splitter, max_leaves, has_words, of_classes):
    rng = np.random.default_rng(seed)
    X = rng.integers(6, size=(120, 4)).astype(float)
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 0] * X[:, 3] + rng.normal(size=120)
    model = (GBTClassifier if of_classes else GBTRegressor)(
        n_estimators=3, max_depth=None, max_leaves=max_leaves, splitter=splitter,
        interaction_constraints=asked, random_state=0, min_child_weight=0.0,
        categorical_features=[1] if has_words else None,
    ).fit(X, np.digitize(y, [4, 12]) if of_classes else y)  # fmt: skip
    for tree in model.ensemble_.trees:
        assert all(any(path <= group for group in ASKED[asked]) for path in paths_of(tree))


# ------------------------------------------------------------------------------------ what is drawn


def test_draws_by_hand():
    """Of three columns one is taken: the first with probability 1/3, else the second with 1/2."""
    drawn = [drawn_columns([2, 5, 7], 0.4, key) for key in range(3_000)]
    assert {len(columns) for columns in drawn} == {1}
    counts = np.bincount(np.ravel(drawn), minlength=8)[[2, 5, 7]]
    assert counts.sum() == 3_000
    assert (np.abs(counts - 1_000) < 5 * np.sqrt(3_000 * 2 / 9)).all()
    assert [len(drawn_columns([*range(10)], share, 1)) for share in (0.01, 0.5, 1.0)] == [1, 5, 10]
    pairs = [tuple(drawn_columns([0, 1, 2, 3], 0.5, key)) for key in range(3_000)]
    counts = np.unique(pairs, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert (np.abs(counts - 500) < 5 * np.sqrt(3_000 * 5 / 36)).all()


# ---------------------------------------------------------------------------------- the parameters


def test_a_policy_of_ones_own_is_told_what_is_open():
    class First:
        def split(self, frontier, limits, n_jobs):
            self.is_open = frontier.is_open
            splits = Greedy().split(frontier, limits, n_jobs)
            splits.feature[:] = np.where(splits.feature >= 0, 0, -1)
            return splits

    X = np.random.default_rng(0).normal(size=(50, 2))
    policy = First()
    with pytest.raises(ValueError, match=r"split a node on column 0; it may be split on \[1\]"):
        GBTRegressor(
            splitter=policy, interaction_constraints="no_interactions", n_estimators=3,
            colsample_bynode=0.5, random_state=1,
        ).fit(X, X[:, 1])  # fmt: skip
    assert policy.is_open.sum(axis=1).max() == 1


def test_without_a_column_groups_are_moved():
    names = ("a", "b", "c", "d")
    model = GBTRegressor(interaction_constraints=[["a", 2], [1, "d"], ["b"]])
    for left_out, expected in (
        (0, [[1], [0, 2], [0]]),
        (1, [[0, 1], [2]]),
        (3, [[0, 2], [1], [1]]),
    ):
        columns = [k for k in range(4) if k != left_out]
        assert clone_for(model, names, columns).interaction_constraints == expected
    whole = GBTRegressor(interaction_constraints="pairwise")
    assert clone_for(whole, names, [0, 1]).interaction_constraints == "pairwise"
