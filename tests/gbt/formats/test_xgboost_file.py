"""Models of ours as XGBoost's JSON: the real XGBoost loads them, predicts alike, explains alike."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attributions import tree_shap
from attributions.testing import ensembles
from gbt import GBTClassifier, GBTRegressor
from gbt.formats import to_xgboost
from gbt.formats.xgboost.model import from_xgboost, import_xgboost
from gbt.formats.xgboost.trees import NODE_ARRAYS
from gbt.formats.xgboost.writing import LARGEST_32, _first_above
from gbt.losses.amounts import Gamma, Poisson, Tweedie
from tests.asserts import EPS_32, assert_close, assert_same, peer
from tests.drawn_models import OURS, draw_model
from tests.gbt.formats.read_models import rows_beside_thresholds
from tests.greedy import GreedyClassifier, GreedyRegressor

NAN = np.nan


@pytest.fixture
def xgboost():
    return peer("xgboost")


def test_a_set_without_any_level_on_the_right(xgboost, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(200, 1)).astype(float)
    X[rng.random(200) < 0.7] = NAN
    for sign in (1, -1):
        y = sign * np.isnan(X[:, 0]) + 0.01 * rng.normal(size=200)
        model = GreedyRegressor(2, max_depth=1, categorical_features=[0]).fit(X, y)
        to_xgboost(model, tmp_path / "model.json")
        rows = xgboost.DMatrix(X, feature_types=["c"], enable_categorical=True)
        found = xgboost.Booster(model_file=tmp_path / "model.json").predict(rows)
        assert_close(found, model.predict(X), 2.0, eps=EPS_32)


def table(n=300, p=4, seed=0, missing=0.15):
    """Return float32 rows with gaps, in float64, and a signal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32).astype(float)
    X[:, 1] = np.round(X[:, 1])
    signal = X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(size=n) / 2
    X[rng.random(X.shape) < missing] = NAN
    return X, signal


@pytest.fixture
def exported(tmp_path, xgboost):
    """Write a model and let XGBoost read it."""

    def exported(model, name="model.json"):
        path = tmp_path / name
        to_xgboost(model, path)
        return xgboost.Booster(model_file=path)

    return exported


def assert_same_leaves(theirs, ours):
    """Compare leaves that are numbered otherwise: rows are together in one as in the other."""
    theirs = theirs.reshape(ours.shape).astype(int)
    for m in range(ours.shape[1]):
        pairs = np.unique(np.column_stack([theirs[:, m], ours[:, m]]), axis=0)
        for leaves in (theirs[:, m], ours[:, m]):
            assert len(pairs) == len(np.unique(leaves)), f"tree {m}"


def assert_alike(xgboost, booster, ensemble, rows):
    """Compare leaves, which must be the same, and raw predictions within float32."""
    types = ["q" if levels is None else "c" for levels in ensemble.categories or ()] or None
    data = xgboost.DMatrix(
        rows, feature_names=booster.feature_names, feature_types=types, enable_categorical=True
    )
    leaves = np.column_stack([tree.find_leaves(rows) for tree in ensemble.trees])
    assert_same_leaves(booster.predict(data, pred_leaf=True), leaves)
    start = np.atleast_1d(ensemble.base_score)
    raw = np.tile(start, (len(rows), 1))
    for m, (tree, k) in enumerate(zip(ensemble.trees, ensemble.tree_output, strict=True)):
        raw[:, k] += tree.value[leaves[:, m]]
    raw = raw if ensemble.n_outputs > 1 else raw[:, 0]
    # The base score is rounded as a prediction: as a raw one by up to eps / (p (1 - p)).
    p = 1 / (1 + np.exp(-np.abs(start)))
    largest = sum(np.abs(tree.value).max() for tree in ensemble.trees)
    slack = EPS_32 * (largest + np.abs(start).max() + 1 / (p * (1 - p)).min())
    margin = booster.predict(data, output_margin=True)
    np.testing.assert_allclose(margin, raw, rtol=0, atol=4 * slack * np.log2(4 + ensemble.n_trees))
    predicted = ensemble.loss.inverse_link(raw)
    np.testing.assert_allclose(booster.predict(data), predicted, rtol=1e-5, atol=1e-5)


# Of amounts XGBoost has the second derivatives for hessians, Poisson's times e^max_delta_step.
OF_XGBOOST = {
    "ours, poisson": Poisson(0.0), "ours, gamma": Gamma(is_newton=True),
    "ours, tweedie": Tweedie(1.3, is_newton=True),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in OURS if name != "ours, huber"])
@pytest.mark.parametrize("number", range(4))
def test_every_row_reaches_the_same_leaf(name, number, exported, tmp_path, xgboost):
    """Of all losses, with words and gaps, seen or not, beside every threshold."""
    case = draw_model(number, [name])
    ensemble = case.model.ensemble_
    rows = np.asarray(ensemble.as_input(case.X)).astype(np.float32).astype(float)
    rows[np.isinf(rows)] = NAN  # levels that training has not seen
    rows = rows_beside_thresholds(ensemble, rows).astype(np.float32).astype(float)
    assert_alike(xgboost, exported(ensemble), ensemble, rows)
    if name == "ours, monotone":  # whose values do not follow from G and H
        return
    read = import_xgboost(tmp_path / "model.json", ensemble.reg_lambda, ensemble.learning_rate)
    expected = OF_XGBOOST.get(name, ensemble.loss)
    assert type(read.ensemble.loss) is type(expected)
    for parameter, value in vars(expected).items():
        if isinstance(value, float):
            assert getattr(read.ensemble.loss, parameter) == np.float32(value)


def fits_into_float32(ensemble):
    """Exclude numbers of which float32 has no digits left for -G/(H + lambda), or for a gain."""
    sizes = np.abs([ensemble.sum_gradient, ensemble.gain])
    return not ((sizes > 0) & (sizes < 1e-30)).any() and sizes.max(initial=0) < 1e30


@given(ensembles().filter(fits_into_float32), st.randoms())
def test_drawn_trees_come_back_in_whatever_order_their_nodes_are(
    tmp_path_factory, ensemble, random
):
    path = tmp_path_factory.getbasetemp() / "model.json"
    to_xgboost(ensemble, path)
    document = json.loads(path.read_text())
    trees = document["learner"]["gradient_booster"]["model"]["trees"]
    for tree in trees:
        n_nodes = len(tree["left_children"])
        others = list(range(1, n_nodes))
        random.shuffle(others)
        place = np.argsort([0, *others])
        for name in ("left_children", "right_children"):
            tree[name] = [-1 if child < 0 else place[child].item() for child in tree[name]]
        for name in NODE_ARRAYS:
            tree[name] = [tree[name][t] for t in (0, *others)]
    given = {"reg_lambda": ensemble.reg_lambda, "learning_rate": ensemble.learning_rate}
    for model in (path, document):
        back = from_xgboost(model, **given)
        for name in ("left", "right", "feature", "missing_left", "tree_offset"):
            assert_same(getattr(back, name), getattr(ensemble, name))
        known = ["sum_gradient", "gain"] * ("gradients" in back.statistics)
        score = np.abs(ensemble.sum_gradient) * np.abs(ensemble.value / ensemble.learning_rate)
        for name in ("value", "sum_hessian", *known):
            expected = getattr(ensemble, name)
            terms = (
                np.full(len(score), score.max(initial=0)) if name == "gain" else np.abs(expected)
            )
            assert_close(getattr(back, name), expected, terms, k=32, eps=EPS_32)
        assert back.loss is ensemble.loss
        assert_close(back.base_score, ensemble.base_score, terms=2.0, eps=EPS_32)
    written = [gain for tree in trees for gain in np.sort(tree["loss_changes"])]
    gains = [gain for tree in ensemble.trees for gain in np.sort(tree.gain)]
    assert_close(np.array(written), np.array(gains), np.abs(gains), eps=EPS_32)


def test_names_and_early_stopping(exported, xgboost):
    X, signal = table()
    names = ["age", "the city", "x2", "gr\N{LATIN SMALL LETTER U WITH DIAERESIS}n"]
    frame = pd.DataFrame(X, columns=names)
    model = GreedyRegressor(n_estimators=300, early_stopping_rounds=3, learning_rate=0.5)
    model.fit(frame[:200], signal[:200], eval_set=[(frame[200:], signal[200:])])
    assert model.ensemble_.n_trees < 300
    booster = exported(model)
    assert booster.num_boosted_rounds() == model.best_iteration_ + 1
    assert booster.feature_names == names
    with pytest.raises(ValueError, match="feature_names mismatch"):
        booster.predict(xgboost.DMatrix(X, feature_names=["a", "b", "c", "d"]))


def test_several_targets_come_back(exported, xgboost):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)).astype(np.float32)
    y = np.column_stack([X[:, 0], X[:, 1] ** 2])
    theirs = xgboost.XGBRegressor(n_estimators=5, max_depth=3).fit(X, y)
    again = exported(theirs)
    found = again.predict(xgboost.DMatrix(X))
    np.testing.assert_allclose(found, theirs.predict(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_xgboost_and_shap_explain_it_as_we_do(classes, exported, xgboost):
    X, signal = table(n=200)
    y = np.digitize(signal, [-0.5, 0.5][: classes - 1]) if classes else signal
    estimator = GBTClassifier if classes else GBTRegressor
    model = estimator(n_estimators=10, max_depth=4).fit(X, y)
    booster, ours = exported(model), tree_shap(model, X)
    by_shap = peer("shap").TreeExplainer(booster).shap_values(X)
    by_xgboost = booster.predict(xgboost.DMatrix(X), pred_contribs=True)[..., :-1]
    by_xgboost = np.moveaxis(by_xgboost, 1, 2) if classes == 3 else by_xgboost
    for theirs in (by_shap, by_xgboost):
        np.testing.assert_allclose(theirs, ours.values, atol=2e-5)


@settings(max_examples=300)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(width=32, allow_nan=False))
def test_float32_rows_are_routed_alike(threshold, x):
    """Against the definition: x <= threshold if and only if x < the number written."""
    (written,) = _first_above(np.array([threshold]))
    neighbours = [np.float32(x)]
    if abs(threshold) < 1e38:  # beyond, float32 numbers end
        near = np.float32(threshold)
        neighbours += [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, -near)]
    for number in neighbours:
        if np.isfinite(number) and number < LARGEST_32:
            assert (float(number) <= threshold) == (number < np.float32(written))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"loss": "huber"}, "the loss 'huber'"),
        ({"is_forest": True}, "a forest"),
        ({"zero_is_missing": True}, "0 is a missing value"),
        ({"feature_names": ("a", "a[1]")}, r"the column 'a\[1\]'"),
        ({"feature_names": ("a", "a")}, "two columns of the same name"),
        ({"base_score": 60.0, "loss": "half_logistic"}, "the base score 60"),
        ({"statistics": frozenset({"gradients"})}, "needs the hessians and values"),
    ],
)
def test_what_cannot_be_expressed_is_refused(change, words, tmp_path):
    X = np.arange(20.0).reshape(10, 2)
    loss = change.pop("loss", None)
    if loss == "half_logistic":
        model = GreedyClassifier(n_estimators=2).fit(X, X[:, 0] > 8).ensemble_
    else:
        model = GreedyRegressor(n_estimators=2, loss=loss).fit(X, X[:, 0]).ensemble_
    if "statistics" in change:
        nothing = np.zeros(len(model.feature))
        change |= {"sum_hessian": nothing, "n_samples": nothing, "gain": nothing}
        change["value"] = np.where(model.left < 0, model.value, 0.0)
    changed = replace(model, **change)
    with pytest.raises(ValueError, match=words):
        to_xgboost(changed, tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()


def test_the_name_of_the_file_says_what_it_holds(tmp_path):
    X = np.arange(20.0).reshape(10, 2)
    model = GreedyRegressor(n_estimators=2).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"must end in \.json; got .*model\.bin"):
        to_xgboost(model, tmp_path / "model.bin")
