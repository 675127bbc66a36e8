"""CatBoost's splits of single levels: against CatBoost, its own list of hashes, and the rows."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from attributions import held_out_gain, tree_inner
from gbt import load
from gbt.formats import as_ensemble, to_xgboost
from gbt.formats.checking import forget
from gbt.model.soundness import STATISTICS
from tests.asserts import EPS_32, assert_close, assert_same, assert_sums_of_rows, peer
from tests.gbt.formats.read_models import size_of

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")

WORDS = ["rome", "oslo", "lima", "bern", "kyiv é"]  # not sorted, not all ASCII
POLICIES = ("SymmetricTree", "Depthwise", "Lossguide")
LOSSES = {"RMSE": 1, "Logloss": 1, "MultiClass": 3}  # with the number of outputs
every_policy = pytest.mark.parametrize("policy", POLICIES)
every_loss = pytest.mark.parametrize("loss", LOSSES)


def table(seed=0, n=500):
    """Return words, whole numbers and booleans beside numbers with gaps; and targets."""
    rng = np.random.default_rng(seed)
    city, code, flag = rng.integers(0, 5, n), rng.choice([30, 10, 20], n), rng.random(n) < 0.5
    x = rng.normal(size=n).astype(np.float32)
    y = (city % 3) + x + (code == 20) * flag + 0.5 * rng.normal(size=n)
    x[::9] = np.nan
    words = np.array(WORDS)[city]
    frame = pd.DataFrame({"city": words, "x": x, "code": code, "flag": flag, "z": y[::-1]})
    return frame, y


def target_of(y, loss):
    """Return y, or which of the loss's classes it is in."""
    return {"RMSE": y, "Logloss": y > 1, "MultiClass": np.digitize(y, [0.5, 1.5])}[loss]


def fit(frame, y, loss="RMSE", policy="SymmetricTree", **options):
    """Train on all levels of all columns of levels, as CatBoost does not by default."""
    catboost = peer("catboost")
    kind = catboost.CatBoostRegressor if loss == "RMSE" else catboost.CatBoostClassifier
    levels = [name for name in frame if name in ("city", "code", "flag", "kind", "same")]
    asked = {"iterations": 30, "depth": 5, "one_hot_max_size": 99, "thread_count": 1, **options}
    model = kind(
        loss_function=loss, grow_policy=policy, verbose=0, allow_writing_files=False, **asked
    )
    return model.fit(frame, target_of(y, loss), cat_features=levels)


@cache
def fitted(loss, policy):
    """Return a model, its rows and targets, and what it was imported as with the rows alone."""
    frame, y = table()
    model = fit(frame, y, loss, policy)
    ensemble = as_ensemble(model, frame)
    assert (ensemble.about_gradients is None) == (loss == "RMSE")
    return model, frame, y, ensemble


def raw_of(model, rows):
    return model.predict(rows, prediction_type="RawFormulaVal")


@every_loss
@every_policy
def test_every_row_is_predicted_alike(loss, policy):
    """Levels that training has not seen, too: a split asks whether x is one level, and no is no."""
    model, frame, _, ensemble = fitted(loss, policy)
    assert ensemble.n_outputs == LOSSES[loss]
    assert {*ensemble.feature[ensemble.has_set].tolist()} == {0, 2, 3}
    unseen = frame.copy()
    unseen.loc[::5, "city"], unseen.loc[::3, "code"] = "quito", 77
    for rows in (frame, table(seed=1)[0], unseen):
        raw = raw_of(model, rows)
        assert_close(ensemble.raw_predict(rows), raw, size_of(ensemble))
        assert np.abs(ensemble.raw_predict(rows) - raw).max() <= 1e-12


@every_policy
def test_a_missing_level_is_none_of_those_split(policy):
    """CatBoost takes no missing level; here it goes where an unseen one goes."""
    model, frame, _, ensemble = fitted("RMSE", policy)
    missing, unseen = frame.copy(), frame.copy()
    missing.loc[::5, "city"], unseen.loc[::5, "city"] = None, "quito"
    with pytest.raises(Exception, match="cat_features must be integer or string"):
        model.predict(missing)
    raw = raw_of(model, unseen)
    assert_close(ensemble.raw_predict(missing), raw, size_of(ensemble))
    assert (ensemble.raw_predict(missing) != ensemble.raw_predict(frame))[::5].any()


@every_loss
@every_policy
def test_sums_are_those_of_the_training_rows(loss, policy):
    """CatBoost keeps them under RMSE, and else they are the rows' own."""
    model, frame, y, kept = fitted(loss, policy)
    target = target_of(y, loss)
    ensemble = kept if loss == "RMSE" else as_ensemble(model, frame, target)
    assert ensemble.statistics == set(STATISTICS)
    assert_sums_of_rows(ensemble, frame, target, eps=EPS_32)


# ------------------------------------------------------------------ levels, and the rows with them


def test_levels_are_those_of_the_rows_whatever_type_they_have():
    """Frames of words and of categories, arrays of objects, other rows: all looked up by value."""
    model, frame, _, ensemble = fitted("RMSE", "SymmetricTree")
    assert ensemble.categories == (tuple(sorted(WORDS)), None, (10, 20, 30), (False, True), None)
    assert as_ensemble(model, frame) is ensemble
    as_categories = frame.astype({"city": pd.CategoricalDtype(WORDS), "code": "category"})
    more = frame.assign(city="quito")
    more.loc[: len(frame) // 2, "city"] = frame["city"]
    for rows in (as_categories, frame.to_numpy(dtype=object), frame[::-1][:200], more):
        again = as_ensemble(model, rows)
        words = [*WORDS, *["quito"] * (rows is more)]
        assert again.categories == (tuple(sorted(words)), *ensemble.categories[1:])
        for asked in (frame, more):
            assert_same(again.raw_predict(asked), ensemble.raw_predict(asked))


def test_two_levels_of_one_hash_are_one_to_catboost():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"city": rng.choice(["w68636", "w11080", "other", "third"], 300)})
    y = np.isin(frame["city"], ["w68636", "other"]) + rng.normal(size=300)
    model = fit(frame, y, iterations=3)
    ensemble = as_ensemble(model, frame)
    raw = raw_of(model, frame)
    assert_close(ensemble.raw_predict(frame), raw, size_of(ensemble))
    assert ("w11080", "w68636") in set(ensemble.to_frame()["levels_left"].dropna())


def test_a_column_of_levels_that_no_node_splits_needs_no_rows():
    frame, y = table()
    frame = frame[["x", "z"]].assign(same="a")
    model = fit(frame, y)
    ensemble = as_ensemble(model)
    assert ensemble.categories == (None, None, ())
    assert ensemble.feature_names == ("x", "z", "same")
    raw = raw_of(model, frame)
    assert_close(ensemble.raw_predict(frame), raw, size_of(ensemble))
    assert as_ensemble(model, frame).categories == (None, None, ("a",))


def test_files_keep_the_levels(tmp_path):
    catboost = peer("catboost")
    model, frame, _, ensemble = fitted("RMSE", "Lossguide")
    ensemble.save(tmp_path / "ours.json")
    assert_same(load(tmp_path / "ours.json").raw_predict(frame), ensemble.raw_predict(frame))
    model.save_model(str(tmp_path / "model.cbm"))
    again = as_ensemble(catboost.CatBoost().load_model(str(tmp_path / "model.cbm")), frame)
    assert_same(again.raw_predict(frame), ensemble.raw_predict(frame))
    xgboost = peer("xgboost")
    to_xgboost(ensemble, tmp_path / "xgboost.json")
    types = ["c", "q", "c", "c", "q"]
    rows = xgboost.DMatrix(
        np.asarray(ensemble.as_input(frame)), feature_types=types, enable_categorical=True
    )
    rows.feature_names = list(frame)
    raw = xgboost.Booster(model_file=tmp_path / "xgboost.json").predict(rows, output_margin=True)
    assert_close(ensemble.raw_predict(frame), raw, size_of(ensemble), eps=EPS_32)


def test_what_rows_are_asked_for():
    model, frame, y, ensemble = fitted("RMSE", "SymmetricTree")
    forget(model)
    for explain in (as_ensemble, lambda model: tree_inner(model, frame, y)):
        with pytest.raises(ValueError, match=r"splits levels of 'city', 'code', 'flag' and keeps"):
            explain(model)
    assert tree_inner(ensemble, frame, y).values.shape == (5,)
    few = frame[frame["city"].isin(["rome", "oslo"])]
    with pytest.raises(ValueError, match=r"splits \d levels of 'city', and .* lack \d of them"):
        as_ensemble(model, few)
    with pytest.raises(ValueError, match=r"needs a table with 5 columns"):
        as_ensemble(model, frame[["city", "x"]])
    with pytest.raises(ValueError, match=r"other columns than the model: column 0 is 'town'"):
        as_ensemble(model, frame.rename(columns={"city": "town"}))
    as_words = frame.astype({"code": str})
    with pytest.raises(ValueError, match=r"'code' has words .* but in training its levels were"):
        ensemble.raw_predict(as_words)
    with pytest.raises(ValueError, match="need both X and y"):
        as_ensemble(model, frame, sample_weight=np.ones(len(frame)))
    with pytest.raises(ValueError, match="need both X and y"):
        as_ensemble(ensemble, frame)
    with pytest.raises(ValueError, match="need both X and y"):
        as_ensemble(fit(frame[["x", "z"]], y), frame[["x", "z"]])
    numbers, scaler = frame[["x", "z"]], StandardScaler().set_output(transform="pandas")
    behind = Pipeline([("s", scaler), ("m", fit(scaler.fit_transform(numbers), y))])
    with pytest.raises(ValueError, match="need both X and y"):
        as_ensemble(behind, numbers)


def test_rows_that_were_given_once_let_the_model_be_read_with_its_labels():
    frame, y = table()
    labels, words = np.where(y > 1, "much", "little"), ["city", "code", "flag", "kind", "same"]
    model = peer("catboost").CatBoostClassifier(
        iterations=5, one_hot_max_size=99, verbose=0, allow_writing_files=False,
        cat_features=[name for name in words if name in frame],
    ).fit(frame, labels)  # fmt: skip
    ensemble = as_ensemble(model, frame)
    found = held_out_gain(model, frame[:20], labels[:20])
    assert_same(found.values, held_out_gain(ensemble, frame[:20], labels[:20] == "much").values)


def test_text_is_refused_by_name():
    catboost = peer("catboost")
    frame, y = table()
    notes = frame[["x"]].assign(note=frame["city"] + " is a city of " + frame["code"].astype(str))
    model = catboost.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False)
    model.fit(notes, y > 1, text_features=["note"])
    with pytest.raises(ValueError, match="A CatBoost model with text and estimated features"):
        as_ensemble(model, notes)


def test_rows_of_dask_are_refused():
    dask = pytest.importorskip("dask.dataframe")
    model, frame, _, _ = fitted("RMSE", "SymmetricTree")
    with pytest.raises(ValueError, match=r"[Dd]ask"):
        as_ensemble(model, dask.from_pandas(frame, npartitions=2))
