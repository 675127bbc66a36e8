"""Attributions of models that split on levels: the page, additivity, Propositions 1 and 3.

Models are fitted to small tables that are drawn. The rows explained are others, and some of their
levels have not been seen in training.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attributions
from attributions.per_row.individual import attribute_per_tree
from attributions.reference import definitions as reference
from attributions.testing import Judged, sum_of_node_values
from gbt import GBTClassifier, GBTRegressor
from tests.asserts import assert_close
from tests.attributions.per_row.test_tree_shap import assert_same_as_enumeration
from tests.attributions.unbiased.test_unbiased_gain import Judged as TrainedAndJudged
from tests.gbt.tables.test_categories import POLICIES, frame_and_target

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

drawn = given(
    seed=st.integers(0, 2**32 - 1),
    splitter=st.sampled_from(POLICIES),
    is_class=st.booleans(),
    reg_lambda=st.sampled_from([0.0, 1.0]),
)


def table(n, seed, is_class):
    X, y = frame_and_target(n, seed)
    return X, (y > np.median(y)).astype(int) if is_class else y


def fitted(seed, splitter, is_class, reg_lambda):
    X, y = table(60, seed, is_class)
    model = (GBTClassifier if is_class else GBTRegressor)(
        n_estimators=3, max_depth=3, reg_lambda=reg_lambda, min_child_weight=0.0, random_state=0,
        splitter=splitter, categorical_features=["color", "zip"], categorical_smoothing=1.0,
    ).fit(X, y)  # fmt: skip
    return model, X, y


def new_rows(seed, is_class):
    """Return rows that no model is fitted to, six of them with a level that none has seen."""
    X, y = table(24, seed + 1, is_class)
    X.loc[:2, "color"], X.loc[3:5, "zip"] = "violet", 99
    return X, y


@pytest.mark.parametrize("is_class", [False, True])
@pytest.mark.parametrize("splitter", POLICIES)
def test_most_models_drawn_split_on_levels(splitter, is_class):
    models = [fitted(seed, splitter, is_class, 1.0)[0].ensemble_ for seed in range(20)]
    assert sum((model.level_sets.of_node >= 0).any() for model in models) > 10


@drawn
def test_contributions_are_those_of_the_page(seed, splitter, is_class, reg_lambda):
    ensemble = fitted(seed, splitter, is_class, reg_lambda)[0].ensemble_
    rows = ensemble.as_input(new_rows(seed, is_class)[0])
    for name, of_page in (
        ("predecomp", reference.predecomp),
        ("saabas", lambda tree, x: reference.saabas(tree, x, tree.sum_hessian)),
    ):
        for m, values in attribute_per_tree(ensemble, rows, name):
            tree = ensemble.trees[m]
            expected = [of_page(tree, x) for x in np.asarray(rows)]
            assert_close(values, expected, np.full(values.shape, np.abs(tree.value).sum()))


@drawn
def test_shapley_values_are_the_enumeration_of_all_coalitions(seed, splitter, is_class, reg_lambda):
    ensemble = fitted(seed, splitter, is_class, reg_lambda)[0].ensemble_
    rows = ensemble.as_input(new_rows(seed, is_class)[0])
    for cover in ("hessian", "count"):
        assert_same_as_enumeration(ensemble, rows[:8], cover)
    assert_same_as_enumeration(ensemble, rows[:8], background=rows[8:14])


@drawn
def test_attributions_add_up(seed, splitter, is_class, reg_lambda):
    """Proposition 1 of Sun 2022, and its like for the means of leaves and for Shapley values."""
    ensemble = fitted(seed, splitter, is_class, reg_lambda)[0].ensemble_
    X, _ = new_rows(seed, is_class)
    raw, terms = ensemble.raw_predict(X), np.full(len(X), sum_of_node_values(ensemble))
    for result in (
        attributions.predecomp(ensemble, X),
        attributions.saabas(ensemble, X),
        attributions.tree_shap(ensemble, X),
        attributions.tree_shap(ensemble, X, background=X[:10]),
    ):
        assert_close(result.residual(raw), np.zeros(len(X)), terms)


@drawn
def test_proposition_3_holds_with_categories(seed, splitter, is_class, reg_lambda):
    """TreeInner of PreDecomp on the training rows is total gain; Sun 2022, Proposition 3."""
    model, X, y = fitted(seed, splitter, is_class, reg_lambda)
    gain = attributions.total_gain(model).values
    terms = Judged(model.ensemble_, X, y, np.ones(len(y))).terms + gain.sum()
    assert_close(gain, reference.total_gain(model.ensemble_, 3), terms)
    assert_close(attributions.tree_inner(model, X, y).values, gain, terms)


@drawn
def test_measures_of_new_rows_are_those_of_the_page(seed, splitter, is_class, reg_lambda):
    model, X, y = fitted(seed, splitter, is_class, reg_lambda)
    ensemble, (X_new, y_new) = model.ensemble_, new_rows(seed, is_class)
    train, new = (
        (np.asarray(ensemble.as_input(table)), target * 1.0, np.ones(len(target)))
        for table, target in ((X, y), (X_new, y_new))
    )
    inner = reference.tree_inner(ensemble, *new[:2])
    terms = Judged(ensemble, *new).terms
    assert_close(attributions.tree_inner(model, X_new, y_new).values, inner, terms)
    gain = reference.unbiased_gain(ensemble, train, new, reference.symmetric_gain, 2)
    terms = TrainedAndJudged(ensemble, train, new).terms(2)
    found = attributions.unbiased_gain(model, X, y, X_new, y_new, min_samples=2)
    assert_close(found.values, gain, terms)
