"""Categories of other libraries' models: levels looked up by value, missing, unseen and damaged."""

import json
from functools import partial

import numpy as np
import pandas
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from attributions import permutation, tree_shap
from attributions.command.judging.of_model import Reader
from gbt.files.documents import InvalidModelError
from gbt.formats import as_ensemble
from gbt.formats.xgboost.model import from_xgboost
from gbt.model.soundness import STATISTICS
from tests.asserts import EPS, EPS_32, assert_close, assert_same, peer
from tests.gbt.formats.read_models import MODELS, WORDS, fitted, imported, lgb, some, table, xgb
from tests.spoilt import put

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")


XGBOOST = "xgboost levels, defaults"


def frame_and_target():
    frame, y = table("levels")
    return frame.copy(), y


def codes_of(frame):
    """Return the places of levels in the frame's own order, nan where missing, as an array."""
    columns = [
        np.where(frame[name].isna(), np.nan, frame[name].cat.codes)
        if name != "x"
        else frame[name].to_numpy(dtype=np.float64)
        for name in frame
    ]
    return np.column_stack(columns)


def shuffled(frame):
    """Return the same values whose levels have another order, and so other numbers."""
    other = frame.copy()
    for name in ("city", "code", "many"):
        other[name] = frame[name].cat.set_categories([*frame[name].cat.categories[::-1]])
    return other


def with_unseen(frame):
    """Return rows of which some have a level that training has not seen."""
    other = frame.copy()
    other["city"] = other["city"].cat.add_categories(["quito"])
    other.iloc[::5, 0] = "quito"
    return other


def xgboost_of_codes(X, y, **asked):
    library, types = peer("xgboost"), ["c", "q", "c", "c"]

    def rows(X, y=None):
        return library.DMatrix(X, y, feature_types=types, enable_categorical=True)

    booster = library.train({"nthread": 1, "max_depth": 5, **asked}, rows(X, y), 12)
    return booster, lambda X: booster.predict(rows(X), output_margin=True)


def lightgbm_of_codes(X, y):
    library = peer("lightgbm")
    rows = library.Dataset(X, y, categorical_feature=[0, 2, 3])
    asked = {"num_threads": 1, "verbosity": -1, "min_data_per_group": 5, "cat_smooth": 1.0}
    booster = library.train(asked, rows, 8)
    return booster, booster.predict


def sklearn_of_codes(X, y):
    model = HistGradientBoostingRegressor(max_iter=6, categorical_features=[0, 3]).fit(X, y)
    return model, model.predict


@pytest.mark.parametrize(
    "train",
    [xgboost_of_codes, partial(xgboost_of_codes, max_cat_to_onehot=1), sklearn_of_codes,
     partial(xgboost_of_codes, max_cat_to_onehot=100), lightgbm_of_codes],
)  # fmt: skip
def test_arrays_of_numbers(train):
    """Unseen numbers go left in XGBoost, whatever missing ones do, and are missing to the others.

    Columns of categories come first to scikit-learn itself.
    """
    frame, y = frame_and_target()
    X = codes_of(frame)
    model, predict = train(X, y)
    ensemble = as_ensemble(model, X, y)
    assert ensemble.statistics == set(STATISTICS)
    assert ensemble.categories[1] is None
    assert {*ensemble.categories[3]} <= {*range(90)}
    new, as_missing = X.copy(), X.copy()
    new[::4, 0], new[1::4, 3], new[2::4, 0], new[3::8, 3] = 7, 200, -1, 1e6
    as_missing[::2, 0], as_missing[1::4, 3], as_missing[3::8, 3] = np.nan, np.nan, np.nan
    terms = 1 + np.abs(ensemble.value).sum()
    for rows in (X, new):
        eps = EPS if ensemble.unseen_is_missing else EPS_32
        assert_close(ensemble.raw_predict(rows), predict(rows), np.full(len(X), terms), eps=eps)
    is_same = (ensemble.raw_predict(as_missing) == ensemble.raw_predict(new)).all()
    assert is_same == ensemble.unseen_is_missing


@pytest.mark.parametrize("name", some("xgboost levels", "lightgbm levels", "sklearn levels"))
def test_levels_are_those_of_the_training_sorted_and_looked_up_by_value(name):
    """XGBoost sends unseen ones left, and refuses them in frames; others take them for missing."""
    frame, ensemble = fitted(name).X, imported(name)
    assert ensemble.feature_names == tuple(frame)
    assert ensemble.categories[:3] == (tuple(sorted(WORDS)), None, (10, 20, 30))
    assert len(ensemble.categories[3]) == 90
    assert {*ensemble.feature[ensemble.has_set].tolist()} <= {0, 2, 3}
    assert_same(ensemble.apply(frame), ensemble.apply(shuffled(frame)))
    assert ensemble.unseen_is_missing == ("xgboost" not in name)
    if ensemble.unseen_is_missing:
        rows = with_unseen(frame)
        raw = MODELS[name].raw(fitted(name).model, rows)
        assert_close(ensemble.raw_predict(rows), raw, 1 + np.abs(ensemble.value).sum())


def test_levels_that_lightgbm_does_not_split_are_looked_up_beside_zeros_that_are_missing():
    frame, y = frame_and_target()
    numbers = frame.select_dtypes("number").columns
    frame.loc[::3, numbers] = 0.0
    asked = {"zero_as_missing": True, "min_data_per_group": 1000, "max_cat_to_onehot": 1}
    case = lgb(others=asked)
    model, raw = case.fit(frame, y, None), case.raw
    ensemble = as_ensemble(model)
    assert ensemble.zero_is_missing
    assert ensemble.categories is not None
    rows = ensemble.as_input(frame)
    assert_same(ensemble.as_input(rows), rows)  # rows that were looked up stay as they are
    assert_close(ensemble.raw_predict(rows), raw(model, frame), np.full(len(y), np.abs(y).max()))
    splits = np.isin(frame.columns, numbers)
    assert not permutation(model, frame, y).values[~splits].any()
    explained = tree_shap(model, frame, background=frame[:5])
    terms = np.full(len(y), np.abs(ensemble.value).sum())
    assert_close(explained.residual(raw(model, frame)), np.zeros(len(y)), terms)


def test_lightgbm_refuses_ordered_categories_and_zeros_that_are_missing():
    lightgbm = peer("lightgbm")
    frame, y = frame_and_target()
    with pytest.raises(ValueError, match="zero_as_missing=True cannot be imported with categor"):
        as_ensemble(lgb(others={"zero_as_missing": True}).fit(frame, y, None))
    frame["code"] = frame["code"].cat.as_ordered()
    with pytest.raises(ValueError, match="3 columns of categories, and 2 of its columns are"):
        as_ensemble(lightgbm.LGBMRegressor(n_estimators=2, verbose=-1).fit(frame, y))


def test_scikit_learn_refuses_levels_that_are_no_levels_here():
    frame, y = frame_and_target()
    X = codes_of(frame) + 0.5
    model = HistGradientBoostingRegressor(max_iter=2, categorical_features=[0]).fit(X, y)
    with pytest.raises(ValueError, match=r"Column 'x0' of the scikit-learn .* level 0\.5"):
        as_ensemble(model)


def test_xgboost_before_3_1_has_numbers_alone():
    (model, frame, *_), ensemble = fitted(XGBOOST), imported(XGBOOST)
    document = json.loads(model.save_raw("json"))
    del document["learner"]["gradient_booster"]["model"]["cats"]
    again = from_xgboost(document, reg_lambda=1, learning_rate=0.3)
    assert set(again.categories[0]) <= set(range(5))
    assert_same(again.raw_predict(codes_of(frame)), ensemble.raw_predict(frame))
    with pytest.raises(ValueError, match="in training its levels were numbers"):
        again.raw_predict(frame)


def test_xgboost_refuses_letters_beyond_ascii():
    frame, y = frame_and_target()
    frame["city"] = frame["city"].cat.rename_categories({"rome": "roma è"})
    model = xgb().fit(frame, y, None)
    with pytest.raises(ValueError, match=r"Column 0 .* letters beyond ASCII"):
        as_ensemble(model)


FIRST_TREE, LEVELS = ("trees", 0), ("cats", "enc", 0)
MALFORMED = [
    ((*FIRST_TREE, "categories_sizes"), [1], "lists of levels that do not fit together"),
    ((*FIRST_TREE, "categories_nodes", 0), 10**6, "lists of levels that do not fit"),
    ((*FIRST_TREE, "categories", 0), 10**6, "splits level 1000000 of column"),
    ((*FIRST_TREE, "split_type", 0), 0, "level_sets must be given for splits of categorical"),
    (LEVELS, {"offsets": [0, 2], "values": [97]}, "levels of column 0 .* are not text"),
    (LEVELS, {"values": ["a"]}, "values of column 0"),
    (LEVELS, {"offsets": [0, 1, 2], "values": [97, 97]}, "Column 'city' .* none of them twice"),
]


@pytest.mark.parametrize(("path", "value", "message"), MALFORMED)
def test_malformed_lists_of_xgboost(path, value, message):
    document = json.loads(fitted(XGBOOST).model.save_raw("json"))
    spoilt = put(document, ("learner", "gradient_booster", "model", *path), value)
    with pytest.raises(ValueError if path == LEVELS else InvalidModelError, match=message):
        from_xgboost(spoilt, reg_lambda=1, learning_rate=0.3)


@pytest.mark.parametrize("column", [999, -5])
def test_what_xgboost_says_of_the_columns_of_leaves_does_not_matter(column):
    (model, frame, *_), ensemble = fitted(XGBOOST), imported(XGBOOST)
    document = json.loads(model.save_raw("json"))
    for tree in document["learner"]["gradient_booster"]["model"]["trees"]:
        is_leaf = np.array(tree["left_children"]) < 0
        tree["split_indices"] = np.where(is_leaf, column, tree["split_indices"]).tolist()
    again = from_xgboost(document, reg_lambda=1, learning_rate=0.3)
    assert_same(again.raw_predict(frame), ensemble.raw_predict(frame))


def test_the_command_line_tells_unseen_levels_from_missing_ones():
    """Columns of a file, whose words are looked up there, give the rows that a frame gives."""
    frame, ensemble = fitted(XGBOOST).X, imported(XGBOOST)
    rows = with_unseen(frame)
    reader = Reader(ensemble, ensemble.feature_names)
    cells = rows.astype(object).where(rows.notna(), None)
    taken = reader.rows([cells[name] for name in rows])
    assert reader.unseen_shares[0] == 120 / (~np.isnan(taken[:, 0])).sum()
    assert np.isinf(taken[:, 0]).sum() == 120
    assert_same(np.isnan(taken[:, 0]), rows["city"].isna().to_numpy())
    assert_same(ensemble.raw_predict(taken), ensemble.raw_predict(rows))


def test_columns_of_categories_that_no_tree_of_xgboost_splits():
    """Levels are no numbers there either: of no rounds, and where the column says nothing."""
    xgboost = peer("xgboost")
    frame, y = frame_and_target()
    rows = xgboost.DMatrix(frame, y, enable_categorical=True)
    for n_rounds, asked in ((0, {}), (3, {"max_depth": 1, "colsample_bytree": 0.25, "seed": 1})):
        booster = xgboost.train({"nthread": 1, **asked}, rows, n_rounds)
        ensemble = as_ensemble(booster)
        assert [levels is None for levels in ensemble.categories] == [False, True, False, False]
        raw = booster.predict(rows, output_margin=True)
        assert_close(ensemble.raw_predict(frame), raw, np.abs(raw) + 4, eps=EPS_32)


def test_histograms_on_categories_of_booleans():
    """Their encoder keeps 0 and 1, among which booleans are found, and so are numbers."""
    rng = np.random.default_rng(0)
    is_so = rng.random(200) < 0.5
    frame = pandas.DataFrame({"is_so": pandas.Categorical(is_so), "x": rng.normal(size=200)})
    y = np.where(is_so, 1.0, -1.0) + 0.1 * rng.normal(size=200)
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=["is_so"]).fit(frame, y)
    ensemble = as_ensemble(model, frame, y)
    assert ensemble.categories == ((0, 1), None)
    expected = model.predict(frame)
    for column in (frame["is_so"], is_so, is_so.astype(int), is_so.astype(object)):
        rows = frame.assign(is_so=column)
        assert_close(ensemble.raw_predict(rows), expected, np.abs(expected) + 2)
    with pytest.raises(ValueError, match="has words such as 'False'"):
        ensemble.raw_predict(frame.assign(is_so=is_so.astype(str)))
