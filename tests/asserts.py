"""What the tests mean by "a valid tree", and peers to compare with.

When two arrays are equal stands in ``attributions.testing.comparing``, and is passed on from here.
``test_meta.py`` shows every helper passing, and failing on planted defects.
"""

import os
import warnings
from importlib import import_module

import numpy as np
import pytest

from attributions.testing import EPS, EPS_32, assert_close, assert_same
from gbt.losses.by_name import is_same
from gbt.losses.squared_and_logistic import LOSSES
from gbt.model.ensemble import Ensemble
from gbt.model.tree import NODE_DTYPES, Tree


def assert_valid_tree(tree: Tree, sums_eps: float = 0.0):
    """Check one tree: dtypes, preorder, what leaves hold, parents that add up their children.

    ``sums_eps`` is the precision to which G and H are known: 0 for trees that we grew, whose
    parents are the sum of their children to the last bit; ``EPS_32`` for those of XGBoost.
    """
    arrays = {name: getattr(tree, name) for name in NODE_DTYPES}
    n_nodes = len(tree.feature)
    assert n_nodes > 0, "a tree has at least a root"
    for name, array in arrays.items():
        assert array.shape == (n_nodes,), f"{name} has shape {array.shape}, not ({n_nodes},)"
        assert array.dtype == NODE_DTYPES[name], f"{name} is {array.dtype}"
        assert np.isfinite(array).all(), f"{name} is not finite at {_where(~np.isfinite(array))}"

    assert_preorder(tree.left, tree.right)
    leaf = tree.left < 0
    for name, empty in {"feature": -1, "threshold": 0, "missing_left": False, "gain": 0}.items():
        assert (arrays[name][leaf] == empty).all(), f"{name} of a leaf is not {empty}"
    assert (tree.feature[~leaf] >= 0).all(), "an inner node has no feature"

    assert (tree.sum_hessian >= 0).all(), "a sum of hessians is negative"
    assert (tree.n_samples >= 0).all(), "a number of rows is negative"
    left, right = tree.left[~leaf], tree.right[~leaf]
    assert_same(tree.n_samples[~leaf], tree.n_samples[left] + tree.n_samples[right])
    if not leaf.all():
        for sums in (tree.sum_gradient, tree.sum_hessian):
            terms = np.abs(sums[left]) + np.abs(sums[right]) + np.abs(sums[~leaf])
            assert_close(sums[~leaf], sums[left] + sums[right], terms, eps=sums_eps)


def assert_valid_ensemble(ensemble: Ensemble, refitted: bool = False):
    """Check every tree and what the trees have in common.

    Values and gains must follow from G, H, the learning rate and lambda. Values need not where the
    statistics are those of other rows than the model was fitted on (``refitted=True``).
    """
    assert ensemble.input_dtype in (np.float64, np.float32)
    eps = EPS_32 if ensemble.input_dtype == np.float32 else EPS
    offset = ensemble.tree_offset
    assert offset[0] == 0, "the first tree does not start at node 0"
    assert offset[-1] == len(ensemble.feature), "the last tree does not end at the last node"
    for tree in ensemble.trees:
        assert_valid_tree(tree, sums_eps=eps if eps == EPS_32 else 0.0)

    assert (ensemble.feature < len(ensemble.feature_names)).all(), "a feature without a name"
    assert all(isinstance(name, str) for name in ensemble.feature_names)
    assert ensemble.loss is LOSSES[ensemble.loss.name]
    assert np.isfinite(ensemble.base_score)
    assert 0 < ensemble.learning_rate < np.inf
    assert 0 <= ensemble.reg_lambda < np.inf
    if ensemble.n_trees == 0:
        return

    G, H = ensemble.sum_gradient, ensemble.sum_hessian
    weight = H + ensemble.reg_lambda
    step = np.where(weight > 0, G / np.where(weight > 0, weight, 1.0), 0.0)
    if not refitted:
        value = -ensemble.learning_rate * step
        assert_close(ensemble.value, value, np.abs(value), k=8, eps=eps)
    score = G * step
    inner = np.flatnonzero(ensemble.left >= 0)
    if len(inner):
        root = np.repeat(offset[:-1], np.diff(offset))[inner]
        score_left = score[root + ensemble.left[inner]]
        score_right = score[root + ensemble.right[inner]]
        assert_close(
            ensemble.gain[inner],
            score_left + score_right - score[inner],
            score_left + score_right + score[inner],
        )


def assert_sums_of_rows(ensemble: Ensemble, X, target, weight=None, eps: float = EPS):
    """Check G, H and the counts of all nodes: sums over the rows that pass, by the definition.

    Rows are told by the leaves that they reach; derivatives are those of the loss at what the
    trees before predict, in a forest at its base score.
    """
    K, leaves, target = ensemble.n_outputs, ensemble.apply(X), np.asarray(target, dtype=float)
    weight = np.ones(len(target)) if weight is None else weight
    raw = np.tile(np.atleast_1d(ensemble.base_score), (len(target), 1))
    if ensemble.loss.name == "several_targets" and target.ndim == 1:
        target = (target[:, np.newaxis] == np.arange(K)) * 1.0
    largest = np.abs(target[np.isfinite(target)]).max()  # a bound of a time may be infinite
    for m, tree in enumerate(ensemble.trees):
        k = m % K
        if k == 0:
            pair = ensemble.loss.gradient_hessian(target, raw.copy() if K > 1 else raw[:, 0])
        g, h = (part[:, k] if K > 1 else part for part in pair)
        size = largest + (1 + np.abs(raw[:, k])) * (1 + np.abs(g) + h)
        columns = [weight * g, weight * h, np.ones(len(target)), weight * size]
        sums = np.array([np.bincount(leaves[:, m], c, tree.n_nodes) for c in columns])
        for t in np.flatnonzero(tree.left >= 0)[::-1]:
            sums[:, t] = sums[:, tree.left[t]] + sums[:, tree.right[t]]
        assert_close(tree.sum_gradient, sums[0], sums[3], eps=eps)
        assert_close(tree.sum_hessian, sums[1], sums[3], eps=eps)
        assert_same(tree.n_samples, sums[2])
        if not ensemble.is_forest:
            raw[:, k] += tree.value[leaves[:, m]]


def assert_same_trees(actual, expected):
    """Check that nodes are the same to the last bit: of trees, ensembles or fitted estimators."""
    one, other = (getattr(model, "ensemble_", model) for model in (actual, expected))
    for name in (*NODE_DTYPES, *["tree_offset"] * hasattr(other, "tree_offset")):
        assert_same(getattr(one, name), getattr(other, name))
        assert getattr(one, name).dtype == getattr(other, name).dtype


def assert_same_as_page(tree, nodes, names=tuple(NODE_DTYPES)):
    """Compare a tree with the plain page's list of nodes, every array bit by bit."""
    for name in names:
        assert_same(getattr(tree, name), np.array([getattr(node, name) for node in nodes]))


def assert_same_ensemble(actual, expected):
    """Check that two models are the same to the last bit; what they remember of rows may differ."""
    assert_same_trees(actual, expected)
    assert_same(actual.base_score, expected.base_score)
    assert is_same(actual.loss, expected.loss)
    for name in (
        "learning_rate", "reg_lambda", "feature_names", "input_dtype", "statistics",
        "is_forest", "zero_is_missing", "unstored_is_missing", "has_init_score",
        "unseen_is_missing", "categories",
    ):  # fmt: skip
        assert getattr(actual, name) == getattr(expected, name), name
    assert (actual.level_sets is None) == (expected.level_sets is None)
    if expected.level_sets is not None:
        for part in ("of_node", "start", "words"):
            assert_same(getattr(actual.level_sets, part), getattr(expected.level_sets, part))


def assert_same_model(actual, expected):
    """Check that two estimators have the same trees, and all that is kept beside them."""
    one, other = actual.ensemble_, expected.ensemble_
    assert_same_ensemble(one, other)
    assert actual.evals_result_ == expected.evals_result_
    if actual.split_scores_ is None or expected.split_scores_ is None:
        assert actual.split_scores_ is expected.split_scores_
    else:
        assert_same(actual.split_scores_, expected.split_scores_)
    assert_same(one.seen_rows.trained, other.seen_rows.trained)
    assert one.seen_rows.in_order == other.seen_rows.in_order


def peer(name: str):
    """Import a library to compare with; skip the test where it is not installed.

    With ``GBT_REQUIRE_PEERS=1`` in the environment a missing library is a failure instead, so that
    a job whose purpose is the comparison cannot pass by comparing nothing.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a peer's deprecations are not ours to fix
            return import_module(name)
    except ImportError as error:
        if os.environ.get("GBT_REQUIRE_PEERS") == "1":
            pytest.fail(f"GBT_REQUIRE_PEERS=1, but {name} cannot be imported: {error}")
        pytest.skip(f"compares with {name}, which cannot be imported: {error}")


def is_before(name: str, *parts: int) -> bool:
    """Say whether the version of a library that is installed is below this one.

    The module is asked, because its distribution may have another name, such as xgboost-cpu.
    """
    return tuple(map(int, import_module(name).__version__.split(".")[: len(parts)])) < parts


def assert_preorder(left, right):
    """Read the nodes as root, left subtree, right subtree; they must come out even.

    After a leaf the next node is the right child of the last inner node whose right child has not
    come yet. Cycles, shared children, orphans and indices out of range all fail this.
    """
    n_nodes = len(left)
    right_to_come = []
    for t in range(n_nodes):
        if left[t] != -1:
            assert left[t] == t + 1 < n_nodes, f"the left child of node {t} is {left[t]}"
            right_to_come.append(right[t])
            continue
        assert right[t] == -1, f"node {t} has a right child only"
        if right_to_come:
            following = right_to_come.pop()
            assert following == t + 1 < n_nodes, f"after node {t} node {following} was to come"
        else:
            assert t + 1 == n_nodes, f"node {t + 1} has no parent"


def _where(mask) -> tuple[int, ...]:
    """Return the first position at which a mask is true."""
    return tuple(int(i) for i in np.argwhere(mask)[0])
