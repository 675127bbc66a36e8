"""Tests of the tests: every helper passes, and fails on planted defects; every strategy's branch
is reached."""

import ast
import builtins
import sys
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from attributions.testing import REG_LAMBDAS, ensembles, problems, rows_for, trees
from gbt.losses.half import LOSSES
from gbt.model.ensemble import Ensemble
from gbt.model.tree import NODE_DTYPES, Tree
from tests.asserts import (
    EPS,
    EPS_32,
    assert_close,
    assert_same,
    assert_valid_ensemble,
    assert_valid_tree,
    is_before,
    peer,
)
from tests.house import mutants

# A tree to check by hand, lambda 1 and learning rate 1/2: five rows with h = 1 and the gradients
# 3 in b, -1 and -1 in d, 1 and 1 in e. With step G/(H + 1) and score G step:
#
#                  a                   node      G    H    step   score   gain
#     x0 <= 0.5  /   \                 a         3    5     1/2     3/2   9/2 + 0 - 3/2 = 3
#               b     c                b         3    1     3/2     9/2
#            x1 <= 2 / \               c         0    4       0       0   4/3 + 4/3 - 0 = 8/3
#                   d   e              d, e   -+ 2    2  -+ 2/3     4/3
HAND_TREE = {
    "feature": [0, -1, 1, -1, -1],
    "threshold": [0.5, 0, 2, 0, 0],
    "left": [1, -1, 3, -1, -1],
    "right": [2, -1, 4, -1, -1],
    "missing_left": [True, False, False, False, False],
    "sum_gradient": [3, 3, 0, -2, 2],
    "sum_hessian": [5, 1, 4, 2, 2],
    "n_samples": [5, 1, 4, 2, 2],
    "gain": [3, 0, 8 / 3, 0, 0],
    "value": [-1 / 4, -3 / 4, 0, 1 / 3, -1 / 3],
}


def hand_tree() -> Tree:
    return Tree(**{name: np.array(HAND_TREE[name], NODE_DTYPES[name]) for name in NODE_DTYPES})


def hand_ensemble() -> Ensemble:
    """Two times the tree, and a single leaf between them."""
    leaf = replace(hand_tree(), **{name: getattr(hand_tree(), name)[3:4] for name in NODE_DTYPES})
    return Ensemble.from_trees(
        [hand_tree(), leaf, hand_tree()],
        base_score=0.25,
        learning_rate=0.5,
        reg_lambda=1.0,
        loss=LOSSES["half_squared_error"],
        feature_names=("age", "height"),
    )


def changed(tree, **entries):
    """Return the tree with ``name={position: new}`` put in place."""
    arrays = {}
    for name, new in entries.items():
        arrays[name] = getattr(tree, name).copy()
        for position, number in new.items():
            arrays[name][position] = number
    return replace(tree, **arrays)


def first_nodes(tree, n):
    return replace(tree, **{name: getattr(tree, name)[:n] for name in NODE_DTYPES})


# ------------------------------------------------------------------------------------ assert_close


def test_assert_close_allows_k_eps_of_the_terms_and_no_more():
    assert_close(1.0, 1.0 + 64 * EPS, terms=1.0)
    with pytest.raises(AssertionError, match=r"at \(\) got 1\.0"):
        assert_close(1.0, 1.0 + 66 * EPS, terms=1.0)
    assert_close([1.0, 0.0], [1.0, 64 * EPS], terms=[0.0, 1.0])
    with pytest.raises(AssertionError, match=r"1 of 2 differ too much; at \(1,\)"):
        assert_close([1.0, 0.0], [1.0, 64 * EPS], terms=[1.0, 0.5])
    assert_close(1.0, 1.0 + 2 * EPS, terms=1.0, k=2)
    with pytest.raises(AssertionError):
        assert_close(1.0, 1.0 + 3 * EPS, terms=1.0, k=2)
    assert_close(1.0, 1.0 + 64 * EPS_32, terms=1.0, eps=EPS_32)


def test_assert_close_demands_equality_where_there_was_nothing_to_round():
    assert_close([0.0, 5.0], [0.0, 5.0], terms=0.0)
    with pytest.raises(AssertionError):
        assert_close([1e-300], [0.0], terms=0.0)


def test_assert_close_knows_cancellation_from_error():
    """1e16 + 1 - 1e16 is 0 in float64: right to rounding of its terms, wrong for terms near 1."""
    terms = np.array([1e16, 1.0, -1e16])
    assert_close(terms.cumsum()[-1], 1.0, np.abs(terms).sum())
    with pytest.raises(AssertionError):
        assert_close(terms.cumsum()[-1], 1.0, terms=1.0)


def test_assert_close_catches_a_float32_accumulator():
    numbers = np.random.default_rng(0).normal(size=1000)
    exact = float(sum(map(Fraction, numbers.tolist())))
    terms = np.abs(numbers).sum()
    assert_close(numbers.cumsum()[-1], exact, terms)
    with pytest.raises(AssertionError, match="differ too much"):
        assert_close(numbers.astype(np.float32).cumsum()[-1], exact, terms)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", ["actual", "expected", "both", "terms"])
def test_assert_close_fails_on_numbers_that_are_not_finite(which, bad):
    sides = {"actual": [1.0, 2.0], "expected": [1.0, 2.0], "terms": [1.0, 1.0]}
    for side in ("actual", "expected") if which == "both" else (which,):
        sides[side] = [1.0, bad]
    with pytest.raises(AssertionError, match=r"is not finite at \(1,\)"):
        assert_close(**sides)


@pytest.mark.parametrize(
    ("actual", "expected", "terms", "message"),
    [
        ([], [], 1.0, "empty"),
        (np.empty((3, 0)), np.empty((3, 0)), 1.0, "empty"),
        ([1.0], 1.0, 1.0, "shape"),
        ([1.0, 1.0], [1.0], 1.0, "shape"),
        ([[1.0], [1.0]], [[1.0, 1.0]], 1.0, "shape"),
        ([1.0, 1.0], [1.0, 1.0], [1.0], "terms have shape"),
        ([1.0], [1.0], [-1.0], "negative"),
    ],
)
def test_assert_close_fails_on_shapes_that_do_not_agree(actual, expected, terms, message):
    with pytest.raises(AssertionError, match=message):
        assert_close(actual, expected, terms)


# ------------------------------------------------------------------------------------- assert_same


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ([1, 2], [1.0, 2.0]),
        ([np.nan, 0.1], [np.nan, 0.1]),
        ([0.0], [-0.0]),
        (["a"], ["a"]),
        ([], []),
        (True, True),
    ],
)
def test_assert_same_passes(actual, expected):
    assert_same(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        ([1.0, 2.0], [1.0, np.nextafter(2.0, 3.0)], r"1 of 2 differ; at \(1,\)"),
        ([1.0, np.nan], [1.0, 2.0], "differ"),
        ([1.0, 2.0], [1.0, np.nan], "differ"),
        ([], [1.0], "shape"),
        ([1.0], 1.0, "shape"),
        ([[1.0, 1.0]], [[1.0], [1.0]], "shape"),
        (["a"], ["b"], "differ"),
    ],
)
def test_assert_same_fails(actual, expected, message):
    with pytest.raises(AssertionError, match=message):
        assert_same(actual, expected)


# ---------------------------------------------------------------------------------- trees, defects

TREE_DEFECTS = {
    "swapped children": lambda tree: replace(tree, left=tree.right, right=tree.left),
    "off by one child": lambda tree: changed(tree, right={2: 3}),
    "child out of range": lambda tree: changed(tree, right={2: 5}),
    "left child not next": lambda tree: changed(tree, left={0: 2}),
    "both children the same": lambda tree: changed(tree, left={2: 4}),
    "last leaf cut off": lambda tree: first_nodes(tree, 4),
    "last two leaves cut off": lambda tree: first_nodes(tree, 3),
    "negative child": lambda tree: changed(tree, left={0: -2}),
    "cycle": lambda tree: changed(tree, left={2: 0}),
    "cycle to the right": lambda tree: changed(tree, right={2: 0}),
    "own child": lambda tree: changed(tree, right={0: 0}),
    "shared child": lambda tree: changed(tree, right={0: 3}),
    "orphans": lambda tree: changed(
        tree, left={2: -1}, right={2: -1}, feature={2: -1}, threshold={2: 0}, gain={2: 0}
    ),
    "leaf with one child": lambda tree: changed(tree, right={1: 4}),
    "right child missing": lambda tree: changed(tree, right={2: -1}),
    "leaf with a feature": lambda tree: changed(tree, feature={1: 0}),
    "leaf with a threshold": lambda tree: changed(tree, threshold={1: 0.5}),
    "leaf with a gain": lambda tree: changed(tree, gain={1: 0.5}),
    "leaf with a way for missing": lambda tree: changed(tree, missing_left={1: True}),
    "inner node without feature": lambda tree: changed(tree, feature={2: -1}),
    "gradients do not add up": lambda tree: changed(tree, sum_gradient={0: 3 + 4 * EPS}),
    "hessians do not add up": lambda tree: changed(tree, sum_hessian={2: 4 + 8 * EPS}),
    "counts do not add up": lambda tree: changed(tree, n_samples={2: 3}),
    "negative hessian": lambda tree: changed(
        tree, sum_hessian={0: 3.0, 2: 2.0, 3: -1.0, 4: 3.0, 1: 1.0}
    ),
    "negative count": lambda tree: changed(tree, n_samples={3: -1, 4: 5}),
    "nan value": lambda tree: changed(tree, value={4: np.nan}),
    "nan gradients": lambda tree: replace(tree, sum_gradient=np.full(5, np.nan)),
    "infinite threshold": lambda tree: changed(tree, threshold={0: np.inf}),
    "float32": lambda tree: replace(tree, value=tree.value.astype(np.float32)),
    "column instead of array": lambda tree: replace(tree, gain=tree.gain[:, None]),
    "one node short": lambda tree: replace(tree, n_samples=tree.n_samples[:-1]),
    "no nodes": lambda tree: Tree(*(np.empty(0, dtype) for dtype in NODE_DTYPES.values())),
}


@pytest.mark.parametrize("defect", TREE_DEFECTS)
def test_assert_valid_tree_catches(defect):
    assert_valid_tree(hand_tree())
    with pytest.raises(AssertionError):
        assert_valid_tree(TREE_DEFECTS[defect](hand_tree()))


def test_sums_known_in_float32_add_up_in_float32():
    tree = changed(hand_tree(), sum_gradient={0: np.float32(3) * (1 + EPS_32)})
    assert_valid_tree(tree, sums_eps=EPS_32)
    with pytest.raises(AssertionError):
        assert_valid_tree(tree)
    with pytest.raises(AssertionError):
        assert_valid_tree(changed(tree, sum_gradient={0: 3.001}), sums_eps=EPS_32)


def replanted(ensemble, **entries):
    """Return the ensemble with ``name={position: new}`` put in place in the flat arrays."""
    arrays = {}
    for name, new in entries.items():
        arrays[name] = getattr(ensemble, name).copy()
        for position, number in new.items():
            arrays[name][position] = number
    return replace(ensemble, **arrays)


def without_lambda(ensemble):
    return replace(ensemble, value=-0.5 * ensemble.sum_gradient / ensemble.sum_hessian)


ENSEMBLE_DEFECTS = {
    "a tree's defect": lambda model: replanted(model, right={8: 0}),
    "forgotten lambda": without_lambda,
    "value with the wrong sign": lambda model: replace(model, value=-model.value),
    "unshrunk values": lambda model: replace(model, value=2 * model.value),
    "half the gain": lambda model: replace(model, gain=model.gain / 2),
    "gain of another node": lambda model: replanted(model, gain={0: 8 / 3, 2: 3}),
    "children counted from the flat start": lambda model: replace(
        model, left=model.left + np.repeat(model.tree_offset[:-1], np.diff(model.tree_offset))
    ),
    "offset one node late": lambda model: replace(model, tree_offset=[0, 6, 6, 11]),
    "tree without nodes": lambda model: replace(model, tree_offset=[0, 5, 5, 6, 11]),
    "offset not from 0": lambda model: replace(model, tree_offset=[5, 6, 11]),
    "last tree cut off": lambda model: replace(model, tree_offset=[0, 5, 6]),
    "feature without a name": lambda model: replace(model, feature_names=("age",)),
    "name that is a number": lambda model: replace(model, feature_names=("age", 1)),
    "nan base score": lambda model: replace(model, base_score=np.nan),
    "learning rate of another model": lambda model: replace(model, learning_rate=0.25),
    "learning rate 0": lambda model: replace(
        model, learning_rate=0.0, value=np.zeros_like(model.value)
    ),
    "lambda of another model": lambda model: replace(model, reg_lambda=0.0),
    "negative lambda": lambda model: replace(model.truncate(0), reg_lambda=-1.0),
    "unknown loss": lambda model: replace(
        model, loss=SimpleNamespace(name="half_squared_error", metric="", n_outputs=1)
    ),
    "half precision": lambda model: replace(model, input_dtype=np.float16),
}


@pytest.mark.parametrize("defect", ENSEMBLE_DEFECTS)
def test_assert_valid_ensemble_catches(defect):
    assert_valid_ensemble(hand_ensemble())
    with pytest.raises(AssertionError):
        assert_valid_ensemble(ENSEMBLE_DEFECTS[defect](hand_ensemble()))


def test_values_of_a_refitted_ensemble_need_not_follow_from_its_sums():
    refitted = without_lambda(hand_ensemble())
    assert_valid_ensemble(refitted, refitted=True)
    with pytest.raises(AssertionError):
        assert_valid_ensemble(replace(refitted, gain=refitted.gain / 2), refitted=True)


def test_an_ensemble_without_trees_is_valid():
    assert_valid_ensemble(hand_ensemble().truncate(0))


# -------------------------------------------------------------------------------------------- peer


def test_a_missing_peer_is_skipped_or_a_failure(monkeypatch):
    monkeypatch.delenv("GBT_REQUIRE_PEERS", raising=False)
    assert peer("json").loads("1") == 1
    with pytest.raises(pytest.skip.Exception, match="no_such_peer"):
        peer("no_such_peer")
    monkeypatch.setenv("GBT_REQUIRE_PEERS", "1")
    assert peer("json").loads("1") == 1
    with pytest.raises(pytest.fail.Exception, match="GBT_REQUIRE_PEERS=1, but no_such_peer"):
        peer("no_such_peer")


# -------------------------------------------------------------------------------------- strategies


@given(trees())
def test_drawn_trees_are_valid(tree):
    assert_valid_tree(tree)
    assert tree.depth.max() <= 4


@given(ensembles())
def test_drawn_ensembles_are_valid(ensemble):
    assert_valid_ensemble(ensemble)


@given(trees(max_depth=2, n_features=2, reg_lambda=3.0, learning_rate=0.25))
def test_values_and_gains_of_drawn_trees_are_those_of_their_parameters(tree):
    assert_same(tree.value, -0.25 * (tree.sum_gradient / (tree.sum_hessian + 3.0)))
    assert tree.depth.max() <= 2
    assert tree.feature.max() < 2


@given(st.data())
def test_rows_have_the_shape_that_was_asked_for(data):
    ensemble = data.draw(ensembles(max_trees=1, max_depth=2, n_features=3))
    assert data.draw(rows_for(ensemble, n=300)).shape == (300, 3)
    n, p = data.draw(rows_for(ensemble)).shape
    assert 1 <= n <= 12
    assert p == 3


def repeats_on_a_path(tree):
    """Yield (went left, upper threshold, lower threshold) where a path splits a feature twice."""
    ancestors = {0: ()}
    for t in np.flatnonzero(~tree.is_leaf):
        for feature, threshold, went_left in ancestors[t]:
            if feature == tree.feature[t]:
                yield went_left, threshold, tree.threshold[t]
        here = tree.feature[t], tree.threshold[t]
        ancestors[tree.left[t]] = (*ancestors[t], (*here, True))
        ancestors[tree.right[t]] = (*ancestors[t], (*here, False))


def cells_beside_thresholds(drawn, direction):
    """Say whether a row has a threshold of its column, or its neighbour in that direction."""
    ensemble, X = drawn
    inner = np.flatnonzero(ensemble.left >= 0)
    thresholds = ensemble.threshold[inner]
    if direction:
        thresholds = np.nextafter(thresholds, direction * np.inf)
    return (X[:, ensemble.feature[inner]] == thresholds).any()


MODELS_AND_ROWS = ensembles(max_trees=2, max_depth=3).flatmap(
    lambda ensemble: st.tuples(st.just(ensemble), rows_for(ensemble))
)

TREE_BRANCHES = {
    "single leaf": lambda tree: tree.n_nodes == 1,
    "stump": lambda tree: tree.n_nodes == 3,
    "full tree": lambda tree: tree.depth.min(where=tree.is_leaf, initial=9) == 3,
    "chain": lambda tree: tree.n_nodes == 7 and tree.depth.max() == 3,
    "feature twice on a path": lambda tree: any(repeats_on_a_path(tree)),
    "same threshold twice": lambda tree: any(a == b for _, a, b in repeats_on_a_path(tree)),
    "consistent repetition": lambda tree: any(
        a > b if went_left else a < b for went_left, a, b in repeats_on_a_path(tree)
    ),
    "contradictory repetition": lambda tree: any(
        a < b if went_left else a > b for went_left, a, b in repeats_on_a_path(tree)
    ),
    "zero gain": lambda tree: (tree.gain[~tree.is_leaf] == 0).any(),
    "negative gain": lambda tree: (tree.gain < 0).any(),
    "positive gain": lambda tree: (tree.gain > 0).any(),
    "missing goes left": lambda tree: tree.missing_left.any(),
    "missing goes right": lambda tree: not tree.missing_left[~tree.is_leaf].all(),
    "tiny leaf": lambda tree: (tree.sum_hessian < 1e-3).any(),
    "equal leaves": lambda tree: len(set(tree.sum_hessian[tree.is_leaf])) < tree.is_leaf.sum(),
    "leaf of one row": lambda tree: (tree.n_samples == 1).any(),
    "integer threshold": lambda tree: (tree.threshold % 1 == 0)[~tree.is_leaf].any(),
    "threshold that no float32 is": lambda tree: (
        tree.threshold.astype(np.float32) != tree.threshold
    ).any(),
    "threshold that is a float32": lambda tree: (
        (tree.threshold % 1 != 0) & (tree.threshold.astype(np.float32) == tree.threshold)
    ).any(),
}
ROW_BRANCHES = {
    "on a threshold": lambda drawn: cells_beside_thresholds(drawn, 0),
    "one ulp below": lambda drawn: cells_beside_thresholds(drawn, -1),
    "one ulp above": lambda drawn: cells_beside_thresholds(drawn, 1),
    "missing": lambda drawn: np.isnan(drawn[1]).any(),
    "huge": lambda drawn: (drawn[1] > 1e300).any(),
    "huge negative": lambda drawn: (drawn[1] < -1e300).any(),
    "repeated rows": lambda drawn: len({row.tobytes() for row in drawn[1]}) < len(drawn[1]),
    "one row": lambda drawn: len(drawn[1]) == 1,
}
ENSEMBLE_BRANCHES = {
    **{f"lambda {c}": lambda model, c=c: model.reg_lambda == c for c in REG_LAMBDAS},
    **{name: lambda model, name=name: model.loss.name == name for name in LOSSES},
    "one tree": lambda model: model.n_trees == 1,
    "several trees": lambda model: model.n_trees == 3,
    "shrinkage": lambda model: model.learning_rate < 1,
    "no shrinkage": lambda model: model.learning_rate == 1,
    "a feature that no tree uses": lambda model: set(model.feature) < {-1, 0, 1, 2, 3},
}
PROBLEM_BRANCHES = {
    "weights": lambda problem: problem.sample_weight is not None,
    "no weights": lambda problem: problem.sample_weight is None,
    "weight 0": lambda problem: (
        problem.sample_weight is not None and not all(problem.sample_weight)
    ),
    "missing": lambda problem: np.isnan(problem.X).any(),
    "missing column": lambda problem: np.isnan(problem.X).all(axis=0).any(),
    "nothing missing": lambda problem: not np.isnan(problem.X).any(),
    "constant column": lambda problem: (np.ptp(problem.X, axis=0) == 0).any(),
    "column of different values": lambda problem: any(
        len(np.unique(column)) == len(column) > 4 for column in problem.X.T
    ),
    "two rows": lambda problem: len(problem.X) == 2,
}
BRANCHES = {
    **{("tree", name): (trees(max_depth=3), hit) for name, hit in TREE_BRANCHES.items()},
    **{("rows", name): (MODELS_AND_ROWS, hit) for name, hit in ROW_BRANCHES.items()},
    **{("ensemble", name): (ensembles(), hit) for name, hit in ENSEMBLE_BRANCHES.items()},
    **{("problem", name): (problems(), hit) for name, hit in PROBLEM_BRANCHES.items()},
}
SEARCH = settings(
    max_examples=20_000, phases=[Phase.generate], database=None, derandomize=True, deadline=None
)


@pytest.mark.slow
@pytest.mark.parametrize("branch", BRANCHES, ids=" ".join)
def test_strategies_reach(branch):
    strategy, is_hit = BRANCHES[branch]
    find(strategy, is_hit, settings=SEARCH)


@given(problems(task="classification", weighted=True, missing=True))
def test_classification_has_both_labels_after_rows_of_weight_0_are_dropped(problem):
    assert set(problem.y[problem.sample_weight > 0]) == {0, 1}
    assert set(problem.y) == {0, 1}


def test_a_version_is_that_of_the_module_whatever_its_distribution_is_called(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", SimpleNamespace(__version__="3.10.1"))
    assert is_before("xgboost", 3, 11)
    assert not is_before("xgboost", 3, 10)
    assert not is_before("xgboost", 3, 9)


# ----------------------------------------------------------------------------------------- mutants

LINE = """def f(a, i: int = 0):
    a[i] = max(a[i], 1.5)
"""


def test_what_may_be_wrong_with_a_line():
    said = {
        mutants.with_defect(LINE, defect).splitlines()[1].strip()
        for defect in mutants.defects(ast.parse(LINE), set(dir(builtins)))
    }
    assert said == {
        "pass", "a[i + 1] = max(a[i], 1.5)", "a[i] = min(a[i], 1.5)", "a[i] = max(1.5, a[i])",
        "a[i] = max(a[i + 1], 1.5)", "a[i] = max(a[i], 3.0)",
    }  # fmt: skip
