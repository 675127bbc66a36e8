"""What an import could not find out about G is said to whoever needs G, and to nobody else."""

import pickle

import numpy as np
import pytest

from attributions import (
    absolute,
    partial_inner,
    permutation,
    predecomp,
    saabas,
    total_gain,
    tree_inner,
    tree_shap,
)
from attributions.plots import TreeDisplay
from gbt import load
from gbt.formats import as_ensemble
from tests.asserts import peer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=200)
UNKNOWN = r"G of the nodes of this LightGBM model is unknown: its first tree was grown on a sample"
DOUBT = r"G and H of the nodes of this XGBoost model are of unknown origin: rows were sampled, or"
ASK = r".*gbt\.formats\.as_ensemble\(model, X=X_train, y=y_train\)"


def unknown():
    """Return a model whose G cannot be worked out."""
    model = peer("lightgbm").LGBMRegressor(
        n_estimators=4, subsample=0.5, subsample_freq=1, verbose=-1
    )
    return model.fit(X, Y)


def doubtful():
    """Return a model whose G may be another loss's: the base score is given, rows are sampled."""
    model = peer("xgboost").XGBRegressor(
        n_estimators=4, max_depth=3, subsample=0.5, base_score=0.25
    )
    return model.fit(X, Y)


@pytest.mark.parametrize("make", [unknown, doubtful])
def test_whoever_needs_no_gradients_hears_nothing(make):
    model = make()
    as_ensemble(model)
    for explain in (predecomp, saabas, tree_shap, absolute):
        explain(model, X)
    for judge in (tree_inner, partial_inner, permutation):
        judge(model, X, Y)


@pytest.mark.parametrize("needs", [total_gain, lambda ensemble: ensemble.total_gain()])
def test_unknown_gradients_are_refused_with_the_reason(needs):
    ensemble = as_ensemble(unknown())
    for part in (ensemble, ensemble.truncate(2), pickle.loads(pickle.dumps(ensemble))):
        with pytest.raises(ValueError, match=f"total_gain needs the gradients .*{UNKNOWN}{ASK}"):
            needs(part)


def test_doubtful_gradients_are_used_with_a_warning(tmp_path):
    ensemble = as_ensemble(doubtful())
    for what, use in [
        ("total_gain", total_gain),
        ("total_gain", lambda model: model.total_gain()),
        ("A file", lambda model: model.save(tmp_path / "model.json")),
        ("A picture of a tree", TreeDisplay.from_model),
    ]:
        message = f"^{what} needs the gradients of the model's nodes. {DOUBT}{ASK}"
        with pytest.warns(UserWarning, match=message) as caught:
            use(ensemble)
        assert [warning.filename for warning in caught] == [__file__]
    assert load(tmp_path / "model.json").about_gradients is None  # a file does not tell
