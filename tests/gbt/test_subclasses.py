"""Estimators derived from ours: constructors of their own, and what a file keeps of them."""

import inspect
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import gbt
from attributions import tree_inner
from gbt import GBTClassifier, GBTRegressor
from tests.asserts import assert_same


class Plain(GBTClassifier):
    """No constructor of its own."""


class Named(GBTClassifier):
    """Names a parameter of its own and one of ours, and leaves the others out."""

    def __init__(self, mine=1, n_estimators=3):
        super().__init__(n_estimators=n_estimators, splitter="greedy")
        self.mine = mine


class Others(GBTClassifier):
    """Adds a parameter and hands on all others."""

    def __init__(self, mine=1, **others):
        super().__init__(**others)
        self.mine = mine


class OthersOfOthers(Others):
    """The same once more, by name only, with another default."""

    def __init__(self, *, yours=2, mine=5, **others):
        super().__init__(mine=mine, **others)
        self.yours = yours


class HandedOn(GBTClassifier):
    """Hands on whatever it is given."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


OURS = set(GBTClassifier().get_params())
PARAMETERS = {
    Plain: OURS, Named: {"mine", "n_estimators"}, Others: {"mine", *OURS},
    OthersOfOthers: {"yours", "mine", *OURS}, HandedOn: OURS,
}  # fmt: skip
each = pytest.mark.parametrize("estimator", PARAMETERS)


def table(n=120, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, np.where(X[:, 0] > 0, "yes", "no")


X, Y = table()


def greedy(estimator):
    """Return an estimator of trees that draw nothing; not every constructor takes a splitter."""
    model = estimator(n_estimators=4)
    model.splitter = "greedy"
    return model


@each
def test_its_parameters_are_those_of_every_constructor_that_gets_them(estimator):
    assert set(estimator().get_params()) == PARAMETERS[estimator]
    assert set(inspect.signature(estimator).parameters) == PARAMETERS[estimator]
    model = estimator(n_estimators=2)
    assert clone(model.set_params(n_estimators=7)).get_params() == model.get_params()
    assert clone(model).n_estimators == 7
    assert "n_estimators=7" in repr(model)
    assert model._repr_html_()
    with pytest.raises(TypeError, match=f"^{estimator.__name__} has no parameter 'nonsense'"):
        estimator(nonsense=3)


@each
def test_it_fits_the_model_that_ours_fits_and_a_file_keeps_what_makes_it_ours(estimator, tmp_path):
    model = greedy(estimator).fit(X, Y)
    ours = greedy(GBTClassifier).fit(X, Y)
    X_new, y_new = table(seed=1)
    assert_same(tree_inner(model, X_new, y_new).values, tree_inner(ours, X_new, y_new).values)
    model.save(tmp_path / "model.json")
    loaded = gbt.load(tmp_path / "model.json")
    assert type(loaded) is GBTClassifier
    assert loaded.get_params() == {name: getattr(model, name) for name in OURS}
    pickled = pickle.loads(pickle.dumps(model))
    assert type(pickled) is estimator
    for same in (model, clone(model).fit(X, Y), pickled, loaded):
        assert_same(same.predict_proba(X), ours.predict_proba(X))


def test_a_search_finds_its_parameters():
    asked = {"n_estimators": [1, 30], "mine": [3]}
    search = GridSearchCV(OthersOfOthers(), asked, cv=2, scoring="neg_log_loss").fit(X, Y)
    assert search.best_params_ == {"n_estimators": 30, "mine": 3}
    assert search.best_estimator_.ensemble_.n_trees == 30


def test_a_file_holds_no_code(tmp_path):
    class Doubled(GBTRegressor):
        def predict(self, X):
            return 2 * super().predict(X)

        def describe(self):
            return "twice"

    class Further(Doubled):
        @property
        def feature_importances_(self):
            return np.ones(3)

    path = tmp_path / "model.json"
    for estimator, names in ((Doubled, "predict"), (Further, "feature_importances_, predict")):
        model = estimator(n_estimators=2).fit(X, X[:, 0])
        message = f"A {estimator.__name__} cannot be saved: it overrides {names} of GBTRegressor"
        with pytest.raises(ValueError, match=re.escape(message) + r".*ensemble_\.save\(path\)"):
            model.save(path)
        assert not path.exists()
    model.ensemble_.save(path)
    assert_same(2 * gbt.load(path).raw_predict(X), model.predict(X))


def test_a_constructor_that_does_not_call_ours_leaves_our_defaults():
    class Silent(GBTRegressor):
        def __init__(self, n_estimators=3):
            self.n_estimators = n_estimators

    ours = GBTRegressor(n_estimators=3, random_state=0).fit(X, X[:, 0])
    silent = Silent()
    silent.random_state = 0
    assert_same(silent.fit(X, X[:, 0]).predict(X), ours.predict(X))


def test_what_no_estimator_can_be_made_of_is_told():
    with pytest.raises(TypeError, match=r"constructor of Nameless takes \*args, which has no name"):

        class Nameless(GBTRegressor):
            def __init__(self, *args):
                super().__init__(*args)


def test_methods_that_are_extended_take_what_ours_take():
    class Told(GBTRegressor):
        def fit(self, X, y, note="", **others):
            self.note = note
            return super().fit(X, y, **others)

    model = Told(n_estimators=2).fit(X, X[:, 0], note="first", eval_set=[(X, X[:, 0])])
    assert model.note == "first"
    assert list(model.evals_result_) == ["eval_0"]
    with pytest.raises(TypeError, match=r"^Told\.fit takes no 'base_margin'"):
        model.fit(X, X[:, 0], base_margin=X[:, 0])
