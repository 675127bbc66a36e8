"""Tests of the tests: every helper passes, and fails on planted defects; every strategy's branch
is reached."""

import ast
import builtins
import sys
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given

from attributions.testing import problems, trees
from gbt.model.ensemble import Ensemble
from gbt.model.tree import NODE_DTYPES, Tree
from tests.asserts import (
    EPS,
    EPS_32,
    assert_close,
    assert_same,
    assert_same_ensemble,
    assert_sums_of_rows,
    assert_valid_ensemble,
    assert_valid_tree,
    is_before,
    peer,
)
from tests.conftest import NotePassed, passed_before, versions
from tests.house import mutants
from tests.tree_cases import ensemble_of, tree_of
from tests.with_peers import names_that_reach_peers

# A tree to check by hand, lambda 1 and learning rate 1/2: five rows with h = 1 and the gradients
# 3 in b, -1 and -1 in d, 1 and 1 in e. With step G/(H + 1) and score G step:
#
#                  a                   node      G    H    step   score   gain
#     x0 <= 0.5  /   \                 a         3    5     1/2     3/2   9/2 + 0 - 3/2 = 3
#               b     c                b         3    1     3/2     9/2
#            x1 <= 2 / \               c         0    4       0       0   4/3 + 4/3 - 0 = 8/3
#                   d   e              d, e   -+ 2    2  -+ 2/3     4/3
HAND_TREE = tree_of(
    feature=[0, -1, 1, -1, -1], threshold=[0.5, 0, 2, 0, 0],
    left=[1, -1, 3, -1, -1], right=[2, -1, 4, -1, -1],
    missing_left=[True, False, False, False, False],
    sum_gradient=[3, 3, 0, -2, 2], sum_hessian=[5, 1, 4, 2, 2], n_samples=[5, 1, 4, 2, 2],
    gain=[3, 0, 8 / 3, 0, 0], value=[-1 / 4, -3 / 4, 0, 1 / 3, -1 / 3],
)  # fmt: skip


def hand_ensemble() -> Ensemble:
    """Two times the tree, and a single leaf between them."""
    leaf = replace(HAND_TREE, **{name: getattr(HAND_TREE, name)[3:4] for name in NODE_DTYPES})
    known = {"base_score": 0.25, "learning_rate": 0.5, "reg_lambda": 1.0}
    return ensemble_of([HAND_TREE, leaf, HAND_TREE], 2, **known)


def changed(nodes, **entries):
    """Return a tree or an ensemble with ``name={position: new}`` put in place in its arrays."""
    arrays = {}
    for name, new in entries.items():
        arrays[name] = getattr(nodes, name).copy()
        for position, number in new.items():
            arrays[name][position] = number
    return replace(nodes, **arrays)


def first_nodes(tree, n):
    return replace(tree, **{name: getattr(tree, name)[:n] for name in NODE_DTYPES})


# ------------------------------------------------------------------------------------- arrays


def fails(says):
    """Expect an assertion that says something, or none at all."""
    return pytest.raises(AssertionError, match=says) if says else nullcontext()


NUMBERS = {"actual": [1.0, 2.0], "expected": [1.0, 2.0], "terms": [1.0, 1.0]}
CLOSE = [  # two numbers or arrays, the sum of |terms|, and what is said where they are not close
    (1.0, 1.0 + 64 * EPS, 1.0, None),
    (1.0, 1.0 + 66 * EPS, 1.0, r"at \(\) got 1\.0"),
    ([1.0, 0.0], [1.0, 64 * EPS], [0.0, 1.0], None),
    ([1.0, 0.0], [1.0, 64 * EPS], [1.0, 0.5], r"1 of 2 differ too much; at \(1,\)"),
    ([0.0, 5.0], [0.0, 5.0], 0.0, None),
    ([1e-300], [0.0], 0.0, "differ too much"),  # there was nothing to round
    ([], [], 1.0, "empty"),
    (np.empty((3, 0)), np.empty((3, 0)), 1.0, "empty"),
    ([1.0], 1.0, 1.0, "shape"),
    ([1.0, 1.0], [1.0], 1.0, "shape"),
    ([[1.0], [1.0]], [[1.0, 1.0]], 1.0, "shape"),
    ([1.0, 1.0], [1.0, 1.0], [1.0], "terms have shape"),
    ([1.0], [1.0], [-1.0], "negative"),
    *[
        (*(NUMBERS | {side: [1.0, bad] for side in sides}).values(), r"not finite at \(1,\)")
        for sides in (["actual"], ["expected"], ["actual", "expected"], ["terms"])
        for bad in (np.nan, np.inf, -np.inf)
    ],
]
SAME = [
    ([1, 2], [1.0, 2.0], None),
    ([np.nan, 0.1], [np.nan, 0.1], None),
    ([0.0], [-0.0], None),
    (["a"], ["a"], None),
    ([], [], None),
    (True, True, None),
    ([1.0, 2.0], [1.0, np.nextafter(2.0, 3.0)], r"1 of 2 differ; at \(1,\)"),
    ([1.0, np.nan], [1.0, 2.0], "differ"),
    ([1.0, 2.0], [1.0, np.nan], "differ"),
    ([], [1.0], "shape"),
    ([1.0], 1.0, "shape"),
    ([[1.0, 1.0]], [[1.0], [1.0]], "shape"),
    (["a"], ["b"], "differ"),
]


@pytest.mark.parametrize(("actual", "expected", "terms", "says"), CLOSE)
def test_what_is_close(actual, expected, terms, says):
    with fails(says):
        assert_close(actual, expected, terms)


@pytest.mark.parametrize(("actual", "expected", "says"), SAME)
def test_what_is_the_same(actual, expected, says):
    with fails(says):
        assert_same(actual, expected)


def test_how_close_may_be_asked_for_and_sums_of_float32_are_not():
    assert_close(1.0, 1.0 + 2 * EPS, terms=1.0, k=2)
    with fails("differ too much"):
        assert_close(1.0, 1.0 + 3 * EPS, terms=1.0, k=2)
    assert_close(1.0, 1.0 + 64 * EPS_32, terms=1.0, eps=EPS_32)
    numbers = np.random.default_rng(0).normal(size=1000)
    exact = float(sum(map(Fraction, numbers.tolist())))
    terms = np.abs(numbers).sum()
    assert_close(numbers.cumsum()[-1], exact, terms)
    with fails("differ too much"):
        assert_close(numbers.astype(np.float32).cumsum()[-1], exact, terms)


# ---------------------------------------------------------------------------------- trees, defects

TREE_DEFECTS = {
    "swapped children": lambda tree: replace(tree, left=tree.right, right=tree.left),
    "child out of range": lambda tree: changed(tree, right={2: 5}),
    "last leaf cut off": lambda tree: first_nodes(tree, 4),
    "cycle": lambda tree: changed(tree, left={2: 0}),
    "shared child": lambda tree: changed(tree, right={0: 3}),
    "orphans": lambda tree: changed(
        tree, left={2: -1}, right={2: -1}, feature={2: -1}, threshold={2: 0}, gain={2: 0}
    ),
    "leaf with a feature": lambda tree: changed(tree, feature={1: 0}),
    "leaf with a way for missing": lambda tree: changed(tree, missing_left={1: True}),
    "inner node without feature": lambda tree: changed(tree, feature={2: -1}),
    "gradients do not add up": lambda tree: changed(tree, sum_gradient={0: 3 + 4 * EPS}),
    "counts do not add up": lambda tree: changed(tree, n_samples={2: 3}),
    "negative hessian": lambda tree: changed(
        tree, sum_hessian={0: 3.0, 2: 2.0, 3: -1.0, 4: 3.0, 1: 1.0}
    ),
    "nan value": lambda tree: changed(tree, value={4: np.nan}),
    "infinite threshold": lambda tree: changed(tree, threshold={0: np.inf}),
    "float32": lambda tree: replace(tree, value=tree.value.astype(np.float32)),
    "no nodes": lambda tree: Tree(*(np.empty(0, dtype) for dtype in NODE_DTYPES.values())),
}


def test_sums_known_in_float32_add_up_in_float32():
    tree = changed(HAND_TREE, sum_gradient={0: np.float32(3) * (1 + EPS_32)})
    assert_valid_tree(tree, sums_eps=EPS_32)
    with pytest.raises(AssertionError):
        assert_valid_tree(tree)
    with pytest.raises(AssertionError):
        assert_valid_tree(changed(tree, sum_gradient={0: 3.001}), sums_eps=EPS_32)


def without_lambda(ensemble):
    return replace(ensemble, value=-0.5 * ensemble.sum_gradient / ensemble.sum_hessian)


ENSEMBLE_DEFECTS = {
    "a tree's defect": lambda model: changed(model, right={8: 0}),
    "forgotten lambda": without_lambda,
    "value with the wrong sign": lambda model: replace(model, value=-model.value),
    "children counted from the flat start": lambda model: replace(
        model, left=model.left + np.repeat(model.tree_offset[:-1], np.diff(model.tree_offset))
    ),
    "offset one node late": lambda model: replace(model, tree_offset=[0, 6, 6, 11]),
    "last tree cut off": lambda model: replace(model, tree_offset=[0, 5, 6]),
    "feature without a name": lambda model: replace(model, feature_names=("age",)),
    "nan base score": lambda model: replace(model, base_score=np.nan),
    "learning rate of another model": lambda model: replace(model, learning_rate=0.25),
    "unknown loss": lambda model: replace(
        model, loss=SimpleNamespace(name="half_squared_error", metric="", n_outputs=1)
    ),
}


@pytest.mark.parametrize("defect", TREE_DEFECTS | ENSEMBLE_DEFECTS)
def test_defects_are_caught(defect):
    check, sound = assert_valid_tree, HAND_TREE
    if defect in ENSEMBLE_DEFECTS:
        check, sound = assert_valid_ensemble, hand_ensemble()
    check(sound)
    with pytest.raises(AssertionError):
        check((TREE_DEFECTS | ENSEMBLE_DEFECTS)[defect](sound))


def test_values_of_a_refitted_ensemble_need_not_follow_from_its_sums():
    refitted = without_lambda(hand_ensemble())
    assert_valid_ensemble(refitted, refitted=True)
    with pytest.raises(AssertionError):
        assert_valid_ensemble(replace(refitted, gain=refitted.gain / 2), refitted=True)


def test_sums_are_those_of_the_rows_that_pass_and_of_no_others():
    model = hand_ensemble().truncate(1)
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 3.0], [1.0, 3.0]])
    y = 0.25 - np.array([3.0, -1.0, -1.0, 1.0, 1.0])
    assert_sums_of_rows(model, X, y)
    wrong = [(model, X, y + 1), (model, X[::-1], y), (model, X, y, 2 * np.ones(5))]
    for name in ("sum_gradient", "sum_hessian", "n_samples"):
        wrong += [(changed(model, **{name: {t: 7}}), X, y) for t in (0, 3)]
    for asked in wrong:
        with pytest.raises(AssertionError):
            assert_sums_of_rows(*asked)


def test_one_difference_makes_another_ensemble():
    model = hand_ensemble()
    assert_same_ensemble(model, hand_ensemble())
    changes = [{"reg_lambda": 2.0}, {"feature_names": ("age", "size")}, {"is_forest": True}]
    for other in [changed(model, value={10: 9}), *[replace(model, **one) for one in changes]]:
        with pytest.raises(AssertionError):
            assert_same_ensemble(other, model)


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


@given(trees(max_depth=2, n_features=2, reg_lambda=3.0, learning_rate=0.25))
def test_values_and_gains_of_drawn_trees_are_those_of_their_parameters(tree):
    assert_same(tree.value, -0.25 * (tree.sum_gradient / (tree.sum_hessian + 3.0)))
    assert tree.depth.max() <= 2
    assert tree.feature.max() < 2


@given(problems(task="classification", weighted=True, missing=True))
def test_classification_has_both_labels_after_rows_of_weight_0_are_dropped(problem):
    assert set(problem.y[problem.sample_weight > 0]) == {0, 1}
    assert set(problem.y) == {0, 1}


def test_a_version_is_that_of_the_module_whatever_its_distribution_is_called(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", SimpleNamespace(__version__="3.10.1"))
    assert is_before("xgboost", 3, 11)
    assert not is_before("xgboost", 3, 10)
    assert not is_before("xgboost", 3, 9)


# ------------------------------------------------------------------------ what is run a second time


def test_tests_that_reach_peers_are_found_through_helpers_tables_and_fixtures():
    through_a_table = names_that_reach_peers("tests.gbt.training.test_same_model")
    assert {"WAYS", "in_shares", "test_one_model"} <= through_a_table
    through_another_module = names_that_reach_peers("tests.gbt.formats.test_formats_dart")
    assert "test_where_nothing_was_dropped_gradients_are_known" in through_another_module
    through_a_fixture = names_that_reach_peers("tests.attributions.per_row.test_tree_shap")
    assert "test_xgboost_of_its_own_trees" in through_a_fixture
    assert not any("additive" in name for name in through_a_fixture)


def test_what_passed_with_other_versions_is_run_again(tmp_path, monkeypatch):
    noted = NotePassed(tmp_path / "passed")
    for name, when, passed in (("a", "call", True), ("b", "call", False), ("c", "setup", True)):
        report = SimpleNamespace(nodeid=name, when=when, passed=passed)
        noted.pytest_runtest_logreport(report)
    noted.pytest_sessionfinish()
    assert passed_before(noted.path) == {"a"}
    older = {**versions(), "numpy": "0.1"}
    monkeypatch.setattr("tests.conftest.versions", lambda: older)
    assert passed_before(noted.path) == set()
    assert passed_before(tmp_path / "nothing was run") == set()


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
