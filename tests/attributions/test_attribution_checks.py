"""The checks for attributions pass what is right, and each fails on the defect it is there for."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import Phase, settings

from attributions import (
    GlobalAttribution,
    absolute,
    forest_inner,
    partial_inner,
    predecomp,
    saabas,
    testing,
    tree_inner,
    tree_shap,
)
from attributions.per_row.individual import attribute
from attributions.testing import (
    ATTRIBUTION_CHECKS,
    IMPORTANCE_CHECKS,
    check_additivity,
    check_attribution,
    check_importance,
    check_sum_over_chunks,
    check_sum_over_trees,
    model_as_text,
)
from attributions.testing.shown import rows_as_text
from tests.conftest import PROFILE
from tests.tree_cases import example_1


def from_background(model, X):
    """Interventional TreeSHAP against three rows that any drawn model takes."""
    background = np.array([[-1.0], [0.4], [np.nan]]) * np.ones(model.n_features)
    return tree_shap(model, X, background=background)


def equal_shares(ensemble, m, X):
    """Leaf value minus root value, in equal parts to the features of the path."""
    tree, leaves = ensemble.trees[m], ensemble.apply(X)[:, m]
    above = {0: []}
    for t in np.flatnonzero(~tree.is_leaf):
        for child in (tree.left[t], tree.right[t]):
            above[int(child)] = [*above[int(t)], int(tree.feature[t])]
    values = np.zeros(X.shape)
    for i, leaf in enumerate(leaves):
        features = sorted(set(above[int(leaf)]))
        if features:
            values[i, features] = (tree.value[leaf] - tree.value[0]) / len(features)
    return values


ATTRIBUTIONS = {
    "predecomp": predecomp,
    "saabas": saabas,
    "saabas by count": partial(saabas, weights="count"),
    "tree_shap": tree_shap,
    "tree_shap by count": partial(tree_shap, cover="count"),
    "tree_shap with background": from_background,
    "a function": lambda model, X: attribute(model, X, equal_shares).values,
}


@pytest.mark.parametrize("check", ATTRIBUTION_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ATTRIBUTIONS)
def test_attributions_of_rows(name, check):
    check(ATTRIBUTIONS[name])


def without_target(model, X, y, sample_weight=None, level="tree"):
    return absolute(model, X, sample_weight=sample_weight, level=level)


IMPORTANCES = {
    "tree_inner": (tree_inner, []),
    "tree_inner by leaf": (partial(tree_inner, standard_error=False), []),
    "tree_inner of tree_shap": (partial(tree_inner, ifa="tree_shap"), []),
    "tree_inner of a function": (partial(tree_inner, ifa=equal_shares), []),
    "partial_inner": (partial_inner, []),
    "forest_inner": (forest_inner, [check_sum_over_trees]),
    "forest_inner of targets": (partial(forest_inner, variant="target"), [check_sum_over_trees]),
    "absolute": (without_target, [check_sum_over_trees]),
    "absolute of the forest": (partial(without_target, level="forest"), [check_sum_over_trees]),
}


@pytest.mark.parametrize("name", IMPORTANCES)
def test_importances(name):
    function, leave_out = IMPORTANCES[name]
    check_importance(function, leave_out=leave_out)


def test_what_is_left_out_is_a_check():
    with pytest.raises(ValueError, match=r"'additivity'.*check_additivity, check_unused"):
        check_attribution(predecomp, leave_out=["additivity"])


# ------------------------------------------------------------------------------------- defects


@pytest.fixture
def search():
    """Look long enough for a defect in every profile, always in the same places."""
    settings.register_profile("search", max_examples=500, deadline=None, derandomize=True)
    settings.load_profile("search")
    yield
    settings.load_profile(PROFILE)


@pytest.fixture
def find(search):
    """Be content with the first failure, however large: making it small takes seconds."""
    settings.register_profile("find", settings.get_profile("search"), phases=[Phase.generate])
    settings.load_profile("find")


def moved(model, X, by):
    """PreDecomp with something added to its values: of an array as it is, else of every row."""
    result = predecomp(model, X)
    return SimpleNamespace(values=result.values + by, base_values=result.base_values)


def tilted(model, X, weight):
    """PreDecomp, of which the column of the root's feature moves another one's way."""
    values = predecomp(model, X).values
    return values + np.outer(weight, np.r_[1.0, -1.0, np.zeros(X.shape[1] - 2)])


class Counter:
    """An attribution that counts how often it was asked."""

    def __init__(self):
        self.n_calls = 0

    def __call__(self, model, X):
        self.n_calls += 1
        return moved(model, X, 1e-9 * self.n_calls)


def writing(model, X):
    result = predecomp(model, X)
    X[np.isnan(X)] = 0.0
    return result


DEFECTS = {
    "check_additivity": lambda model, X: moved(model, X, 1e-9),
    "check_unused_features": lambda model, X: tilted(model, X, np.ones(len(X))),
    "check_independence_of_rows": lambda model, X: moved(model, X, float(len(X))),
    "check_order_of_rows": lambda model, X: moved(model, X, np.arange(len(X))[:, np.newaxis]),
    "check_determinism": Counter(),
    "check_scale": lambda model, X: moved(model, X, np.sign(model.value).sum()),
    "check_missing_values": lambda model, X: predecomp(model, np.nan_to_num(X, nan=0.0)),
    "check_dtypes": lambda model, X: moved(model, X, float(X.dtype == np.float32)),
    "check_input_is_kept": writing,
}


def test_every_check_has_a_defect():
    assert [*DEFECTS] == [check.__name__ for check in ATTRIBUTION_CHECKS]
    assert [*IMPORTANCE_DEFECTS] == [check.__name__ for check in IMPORTANCE_CHECKS]
    named = {check.__name__ for check in CHECKS}
    assert named == {name for name in testing.__all__ if name.startswith("check_")} - {
        "check_attribution",
        "check_importance",
    }


def tree_inner_and(by):
    """TreeInner with something added that is made of the rows and their weights."""

    def wrong(model, X, y, sample_weight=None, per_tree=False):
        result = tree_inner(model, X, y, sample_weight=sample_weight, per_tree=per_tree)
        values = result.values + by(X, sample_weight)
        return SimpleNamespace(values=values, per_tree=result.per_tree)

    return wrong


IMPORTANCE_DEFECTS = {
    "check_sum_over_chunks": tree_inner_and(lambda X, weight: 1.0),
    "check_weights_repeat_rows": lambda model, X, y, sample_weight: tree_inner(model, X, y),
    "check_importance_of_unused_features": tree_inner_and(lambda X, weight: weight.sum()),
    "check_importance_in_any_order": tree_inner_and(lambda X, w: w @ np.arange(len(X))),
    "check_importance_again": tree_inner_and(lambda X, w: np.random.default_rng().random()),
    "check_sum_over_trees": tree_inner_and(lambda X, weight: weight.sum()),
}


CHECKS = (*ATTRIBUTION_CHECKS, *IMPORTANCE_CHECKS)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_each_check_fails_on_its_defect(check, find):
    with pytest.raises(AssertionError, match=f"^{check.__name__}: ") as failure:
        check((DEFECTS | IMPORTANCE_DEFECTS)[check.__name__])
    assert "\ntree 0\n  " in str(failure.value)
    shown = "\nrow 0  [" if check in ATTRIBUTION_CHECKS else "  weight 2.0\n"
    assert shown in f"{failure.value}\n"


def test_standard_errors_of_merged_chunks_are_compared(find):
    def with_wrong_errors(model, X, y, sample_weight=None):
        result = tree_inner(model, X, y, sample_weight=sample_weight)
        error = None if result.standard_error is None else result.standard_error + len(X)
        names = model.feature_names
        return GlobalAttribution(result.values, error, len(X), names, "tree_inner(predecomp)")

    with pytest.raises(AssertionError, match="check_sum_over_chunks: "):
        check_sum_over_chunks(with_wrong_errors)


# ---------------------------------------------------------------------------- how it is reported


def test_an_error_of_the_function_says_where_it_happened(find):
    def refuses(model, X):
        if (model.left >= 0).any():
            raise ZeroDivisionError("no such thing")
        return predecomp(model, X)

    with pytest.raises(ZeroDivisionError, match="no such thing") as failure:
        check_additivity(refuses)
    assert any("in check_additivity" in note and " <= " in note for note in failure.value.__notes__)


def flat(X, base_values=0.0):
    return SimpleNamespace(values=0 * np.nan_to_num(X), base_values=base_values)


def one_tree(model, X, y, sample_weight, per_tree=False):
    return SimpleNamespace(values=np.zeros(X.shape[1]), per_tree=np.zeros(X.shape[1]))


WRONG = [  # a check, what it is given, and what it says
    (check_attribution, lambda model, X: X[0], r"values have shape \(4,\) for X of shape \(\d+, 4"),
    (check_attribution, lambda model, X: X + np.nan, "row 0 gets nan for feature 0"),
    (check_attribution, lambda model, X: flat(X), r"base_values have shape \(\) for \d+ rows"),
    (check_importance, lambda m, X, y, sample_weight: np.zeros(5), r"shape \(5,\) for 4 features"),
    (check_importance, lambda m, X, y, sample_weight: np.full(4, np.inf), r"are \[inf, inf, inf"),
    (check_sum_over_trees, one_tree, r"per_tree has shape \(4,\), not \(\d, 4\)"),
]


@pytest.mark.parametrize(("check", "function", "message"), WRONG)
def test_what_is_no_attribution_and_no_importance(check, function, message, find):
    with pytest.raises(AssertionError, match=message):
        check(function)


def test_models_and_rows_as_text():
    ensemble, X, _ = example_1(0)
    assert model_as_text(ensemble).splitlines() == [
        "base_score 0.0, learning_rate 1.0, reg_lambda 1.0, half_squared_error",
        "tree 0",
        "  x0 <= 0.5, missing right  value -0.0, G 0.0, H 3.0, n 3",
        "    leaf                    value 0.3333333333333333, G -1.0, H 2.0, n 2",
        "    leaf                    value -0.5, G 1.0, H 1.0, n 1",
    ]
    assert rows_as_text(X[:2], y=np.array([0.0, 1.0])) == (
        "row 0  [0.0, 0.0]  y 0.0\nrow 1  [0.0, 1.0]  y 1.0"
    )
