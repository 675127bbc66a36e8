"""CatBoost's counters of levels and of combinations: against its predictions and its own leaves."""

import json

import numpy as np
import pandas as pd
import pytest

from attributions import given_others, predecomp, tree_inner, tree_shap
from gbt.formats import as_ensemble
from gbt.formats.catboost.answers import Questions
from gbt.formats.catboost.binary import read_model
from gbt.formats.checking import forget
from tests.asserts import peer
from tests.gbt.formats import test_formats_catboost_levels as of_levels
from tests.gbt.formats.test_formats_catboost_levels import LOSSES, POLICIES, target_of
from tests.greedy import GreedyRegressor

SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 22))]


def table(seed, n=300):
    """Return columns of eight, four and two words beside numbers, and targets of combinations."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "city": rng.choice([*"abcdefgh"], n),
        "x": rng.normal(size=n),
        "kind": rng.choice([*"uvwt"], n),
        "flag": rng.choice(["y", "n"], n),
        "z": rng.normal(size=n),
    })  # fmt: skip
    both = (frame.kind == "u") & frame.city.isin(["a", "b", "c"])
    y = frame.city.isin(["a", "d"]) + frame.x * both * 3 + both + 0.3 * rng.normal(size=n)
    return frame, y.to_numpy()


def fit(frame, y, loss="RMSE", policy="SymmetricTree", **options):
    """Train on counters of words and of combinations of columns."""
    asked = {"iterations": 12, "depth": 4, "max_ctr_complexity": 3, "model_size_reg": 0}
    return of_levels.fit(frame, y, loss, policy, **{"one_hot_max_size": 2} | asked | options)


def new_rows(seed, n=60):
    """Return rows with unseen levels and missing numbers."""
    frame, y = table(seed + 1000, n)
    frame.iloc[::7, 0] = "unseen"
    frame.iloc[::5, 1] = np.nan
    return frame, y


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_is_predicted_alike(loss, policy, seed):
    options = {"iterations": 3 + seed, "depth": 2 + seed % 5, "random_seed": seed}
    model = fit(*table(seed), loss, policy, **options, one_hot_max_size=2 + seed % 4)
    ensemble = as_ensemble(model)
    rows, _ = new_rows(seed)
    expected = model.predict(rows, prediction_type="RawFormulaVal")
    np.testing.assert_allclose(ensemble.raw_predict(rows), expected, rtol=0, atol=1e-12)
    cover = "hessian" if loss == "RMSE" else "count"
    shap = tree_shap(model, rows, cover=cover)
    whole = shap.values.sum(axis=1) + shap.base_values
    np.testing.assert_allclose(whole, expected, rtol=0, atol=1e-10)
    assert as_ensemble(model) is ensemble


def groups_of(model, tmp_path):
    """Return, of each tree, the names of the columns that its splits are on, from the JSON."""
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json")
    written = json.loads(path.read_text())
    info = written["features_info"]
    flat = {
        kind: {of["feature_index"]: of["flat_feature_index"] for of in info[f"{kind}_features"]}
        for kind in ("float", "categorical")
    }

    def column(part):
        if "float_feature_index" in part:
            return flat["float"][part["float_feature_index"]]
        return flat["categorical"][part["cat_feature_index"]]

    borders, first = [], 0
    for ctr in info["ctrs"]:
        borders.append((first, [column(part) for part in ctr["elements"]], len(ctr["borders"])))
        first += len(ctr["borders"])
    n_before = sum(len(of["borders"]) for of in info["float_features"])
    n_before += sum(len(of.get("values", ())) for of in info["categorical_features"])

    def group(split):
        if split["split_type"] != "OnlineCtr":
            return (column(split),)
        number = split["split_index"] - n_before
        (of,) = [columns for start, columns, n in borders if start <= number < start + n]
        return tuple(sorted(set(of)))

    names = np.array(["city", "x", "kind", "flag", "z"])
    return [
        [" x ".join(names[[*group(split)]]) for split in tree["splits"]]
        for tree in written["oblivious_trees"]
    ]


def test_every_split_is_credited_to_the_columns_that_catboost_asks(tmp_path):
    """What measures make of credits is tested in `tests.attributions.held_out.test_credit`."""
    model = fit(*table(3), iterations=8)
    ensemble, grouped = as_ensemble(model), groups_of(model, tmp_path)
    assert any(" x " in name for names in grouped for name in names)
    for m, tree in enumerate(ensemble.trees):
        nodes = ensemble.tree_offset[m] + np.flatnonzero(~tree.is_leaf)
        credited = [ensemble.credited_names[k] for k in ensemble.credited[nodes]]
        of_depth = grouped[m][::-1]  # the last split is the root's
        assert credited == [of_depth[depth] for depth in tree.depth[~tree.is_leaf]]


@pytest.mark.parametrize("loss", LOSSES)
def test_training_rows_give_what_new_rows_are_judged_by(loss):
    frame, y = table(5)
    model = fit(frame, y, loss)
    whole = as_ensemble(model, frame, target_of(y, loss))
    first = whole.trees[0]
    assert first.n_samples[0] == len(y)
    raw = np.zeros((len(y), whole.n_outputs)) + whole.base_score
    given = raw[:, 0] if whole.n_outputs == 1 else raw
    gradient, _ = whole.loss.gradient_hessian(target_of(y, loss).astype(float), given)
    root = gradient.reshape(len(y), -1)[:, 0].sum()
    np.testing.assert_allclose(first.sum_gradient[0], root, atol=1e-9)
    rows, y_new = new_rows(5)
    assert predecomp(whole, rows).values.shape[0] == len(rows)
    result = tree_inner(model, rows, target_of(y_new, loss), training=(frame, target_of(y, loss)))
    assert result.feature_names[:5] == ("city", "x", "kind", "flag", "z")


def test_borders_out_of_order_are_found():
    read = read_model(fit(*table(8))._serialize_model())
    assert (Questions.of(read).rank > 0).any()
    with pytest.raises(ValueError, match="borders of a question are not in ascending order"):
        Questions.of(read._replace(border=read.border[::-1]))


def test_leaves_that_are_misread_are_found():
    frame, y = table(7)
    model = fit(frame, y)
    ensemble = as_ensemble(model)
    answers = ensemble.preparation.steps[0][1]
    answers.values[0][:] = answers.values[0][::-1]
    with pytest.raises(ValueError, match="was misread: its leaves do not add up"):
        ensemble.raw_predict(frame)
    forget(model)
    with pytest.raises(ValueError, match=r"^CatBoost cannot transform X"):
        as_ensemble(model).raw_predict(frame[["city"]])


def test_another_learner_reads_the_words_by_itself():
    """CatBoost's own reading of words is no step that could be fitted anew."""
    frame, y = table(0, 600)
    rows, judges = frame[["x", "kind", "z"]], np.arange(600) >= 300
    model = peer("catboost").CatBoostRegressor(
        iterations=5, one_hot_max_size=2, cat_features=("kind",), verbose=0,
        allow_writing_files=False,
    ).fit(rows[~judges], y[~judges])  # fmt: skip
    assert as_ensemble(model).preparation is not None
    asked = {"training": (rows[~judges], y[~judges]), "regressor": GreedyRegressor(5)}
    found = given_others(model, rows[judges], y[judges], **asked)
    assert found.feature_names == ("x", "kind", "z")
    assert found.values[0] > found.values[2]
