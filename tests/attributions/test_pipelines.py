"""Pipelines: what trees do with prepared columns, added up by the columns that the user has.

Which columns of the table a prepared one depends on is found out by trying: one column of the table
is exchanged, and the steps are asked again. With these dependencies the results of the model behind
the steps, on the prepared rows, are added up here, or made by plain loops.
"""

import pickle
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

import attributions
from attributions import (
    SeenRowsWarning,
    held_out_gain,
    local_mdi,
    partial_dependence,
    predecomp,
    total_gain,
    tree_inner,
    tree_inner_rows,
    tree_shap,
)
from attributions.reference import held_out as reference
from attributions.testing import assert_close, assert_same
from gbt import GBTRegressor
from gbt.formats import as_ensemble, to_xgboost
from gbt.model.credit import Credit, members_of
from tests.asserts import peer
from tests.greedy import GreedyClassifier, GreedyRegressor

ROOT = Path(__file__).parents[2]
COLUMNS = ("city", "age", "height", "weight")
NUMBERS = list(COLUMNS[1:])


def draw(seed, n=150):
    """Return a table of words and numbers, some of them missing, and a target."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(1), columns=NUMBERS)
    X.insert(0, "city", rng.choice(["Bern", "Lima", "Oslo", "Rome"], n, p=[0.4, 0.3, 0.2, 0.1]))
    y = X["age"] * (X["city"] == "Bern") + np.abs(X["height"]) + 0.3 * rng.normal(size=n)
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    return X, y.to_numpy()


class Ratio(TransformerMixin, BaseEstimator):
    """A step of one's own: keeps its columns and adds a ratio of two, on a frame."""

    def fit(self, X, y=None):
        self.n_features_in_, self.feature_names_in_ = X.shape[1], X.columns.to_numpy()
        return self

    def transform(self, X):
        return X.assign(ratio=X["height"] / (2 + X["weight"].abs()))


def filled(*steps):
    return make_pipeline(SimpleImputer(), *steps)


def columns(city, numbers, **options):
    return ColumnTransformer([("words", city, ["city"]), ("numbers", numbers, NUMBERS)], **options)


def roots(table):
    return np.sqrt(np.abs(table))


HOT, ORDINAL = OneHotEncoder(handle_unknown="ignore"), OrdinalEncoder()
STEPS = {
    "one-hot": columns(HOT, filled()),
    "rare levels together": columns(OneHotEncoder(drop="first", min_frequency=30), filled()),
    "ordinal, scaled": columns(
        ORDINAL, filled(StandardScaler(), QuantileTransformer(n_quantiles=20))
    ),
    "target encoder": columns(TargetEncoder(smooth=5.0), filled(MinMaxScaler())),
    "indicators": columns(ORDINAL, SimpleImputer(add_indicator=True)),
    "bins": columns(HOT, filled(KBinsDiscretizer(3, encode="onehot", quantile_method="linear"))),
    "products": columns(ORDINAL, filled(PolynomialFeatures(2, include_bias=True))),
    "splines": columns(ORDINAL, filled(SplineTransformer(3))),
    "selected": make_pipeline(columns(HOT, filled(PolynomialFeatures(2))), SelectKBest(k=7)),
    "components": columns(ORDINAL, filled(StandardScaler(), PCA(2))),
    "function by names": columns(
        ORDINAL, filled(FunctionTransformer(roots, feature_names_out="one-to-one"))
    ),
    "union": columns(ORDINAL, filled(FeatureUnion([("a", MinMaxScaler()), ("b", PCA(1))]))),
    "passed through": ColumnTransformer(
        [("city", HOT, ["city"]), ("none", "drop", ["weight"])], remainder="passthrough"
    ).set_output(transform="default"),
    "of one's own": make_pipeline(
        make_column_transformer(
            (ORDINAL, ["city"]), remainder=SimpleImputer(), verbose_feature_names_out=False
        ).set_output(transform="pandas"),
        Ratio(),
    ),
    "frozen": FrozenEstimator(columns(HOT, filled(PolynomialFeatures(2))).fit(draw(2)[0])),
}
FEW = {"n_estimators": 4, "max_depth": 3, "learning_rate": 0.5}
OF_CATBOOST = {
    "iterations": 4, "depth": 3, "learning_rate": 0.5, "verbose": 0, "thread_count": 1,
    "allow_writing_files": False,
}  # fmt: skip
MODELS = {
    "ours": lambda: GreedyRegressor(**FEW),
    "unbiased": lambda: GBTRegressor(splitter="unbiased", **FEW),
    "classes": lambda: GreedyClassifier(**FEW),
    "xgboost": lambda: peer("xgboost").XGBRegressor(n_jobs=1, **FEW),
    "lightgbm": lambda: peer("lightgbm").LGBMRegressor(n_jobs=1, verbose=-1, **FEW),
    "catboost": lambda: peer("catboost").CatBoostRegressor(**OF_CATBOOST),
    "forest": lambda: RandomForestRegressor(4, max_depth=3, random_state=0),
    "gradient boosting": lambda: GradientBoostingRegressor(**FEW),
    "histograms": lambda: HistGradientBoostingRegressor(max_iter=4, max_depth=3),
    "xgboost, classes": lambda: peer("xgboost").XGBClassifier(n_jobs=1, **FEW),
    "lightgbm, classes": lambda: peer("lightgbm").LGBMClassifier(n_jobs=1, verbose=-1, **FEW),
    "catboost, classes": lambda: peer("catboost").CatBoostClassifier(**OF_CATBOOST),
    "histograms, classes": lambda: HistGradientBoostingClassifier(max_iter=4, max_depth=3),
}
ALL = [(steps, model) for steps in STEPS for model in MODELS]
N = len(MODELS)
IN_TURN = {pair for k, pair in enumerate(ALL) if k % N == 4 * (k // N) % N}
IN_TURN.add(("of one's own", "catboost"))  # which has no feature_names_in_
GRID = [pair if pair in IN_TURN else pytest.param(*pair, marks=pytest.mark.slow) for pair in ALL]


def dependencies(steps, X):
    """Return for each prepared column the columns of the table whose exchange changes it."""
    before = dense(steps.transform(X))
    origins = [set() for _ in range(before.shape[1])]
    for k, name in enumerate(X.columns):
        other = X.assign(**{name: X[name].sample(frac=1, random_state=k).to_numpy()})
        after = dense(steps.transform(other))
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        for place in np.flatnonzero(~same.all(axis=0)):
            origins[place].add(k)
    return [tuple(sorted(origin)) for origin in origins]


def dense(rows):
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def outcome(function, *given, **options):
    """Return what a function returns, or the text of its refusal."""
    try:
        return function(*given, **options), None
    except ValueError as error:
        return None, str(error)


@pytest.mark.parametrize(("steps", "model"), GRID)
@pytest.mark.filterwarnings("ignore")
def test_what_prepared_columns_do_is_added_up_by_the_columns_of_the_table(steps, model):
    (X, y), (X_new, y_new) = draw(0), draw(1, 40)
    if "classes" in model:
        y, y_new = y > 0.5, y_new > 0.5
    if steps == "passed through" and model == "gradient boosting":
        X, X_new = X.fillna(0.0), X_new.fillna(0.0)  # it takes no missing values
    pipeline = Pipeline([("prepare", STEPS[steps]), ("model", MODELS[model]())]).fit(X, y)
    rows, inside = pipeline[:-1].transform(X_new), pipeline[-1]
    origins = dependencies(pipeline[:-1], pd.concat([X, X_new]))
    if steps == "of one's own":  # which does not say what the column that it adds is made of
        assert origins[-1] == (2, 3)
        origins[-1] = (0, 1, 2, 3)
    groups = {(k,): k for k in range(4)}
    credit = np.array([groups.setdefault(o, len(groups)) if o else 0 for o in origins])
    added = np.eye(len(groups))[credit]
    names = [" x ".join(COLUMNS[k] for k in group) for group in groups]

    def check(own, of_columns, number="values"):
        known = [own.feature_names.index(name) for name in names]
        values = getattr(own, number)
        others = np.delete(values, known, axis=-1)
        assert not others.any()  # groups of which no column is read
        expected = getattr(of_columns, number) @ added
        scale = 1 + np.abs(getattr(of_columns, number)).sum()
        assert_close(values[..., known], expected, scale, k=1e5)

    for name, given, given_inside in (
        ("total_gain", (), ()),
        ("predecomp", (X_new,), (rows,)),
        ("saabas", (X_new,), (rows,)),
        ("tree_shap", (X_new,), (rows,)),
        ("tree_inner", (X_new, y_new), (rows, y_new)),
        ("forest_inner", (X_new, y_new), (rows, y_new)),
        ("unbiased_gain", (X, y, X_new, y_new), (pipeline[:-1].transform(X), y, rows, y_new)),
    ):
        function = getattr(attributions, name)
        own, refused = outcome(function, pipeline, *given)
        of_columns, refused_inside = outcome(function, inside, *given_inside)
        assert refused == refused_inside, name
        if own is not None:
            check(own, of_columns)
    own = held_out_gain(pipeline, X_new, y_new)
    known = [own.feature_names.index(name) for name in names]
    read = replace(as_ensemble(pipeline), credit=None)
    prepared = np.asarray(dense(rows), dtype=read.input_dtype).astype(np.float64)
    given = read, prepared, y_new.astype(float), np.ones(len(y_new))
    gain = reference.held_out_gain(*given, credit=credit)  # to the last of which a column is read
    error = reference.error_of_held_out_gain(*given, credit=credit)
    size = 1e-3 + np.abs(reference.row_parts(*given, credit=credit)).sum(axis=0)
    assert_close(own.values[known[: len(gain)]], gain, size, k=1e6)
    assert_close(own.standard_error[known[: len(gain)]], error, size, k=1e6)
    assert not own.values[known[len(gain) :]].any()
    transformed = held_out_gain(pipeline, X_new, y_new, columns="transformed")
    assert_same(transformed.values, held_out_gain(inside, rows, y_new).values)


@pytest.mark.parametrize("feature", ["city", "age", "height"])
def test_partial_dependence_is_the_mean_over_tables_with_one_value(feature):
    (X, y), (X_new, _) = draw(0), draw(1, 60)
    model = make_pipeline(STEPS["indicators"], GreedyClassifier(**FEW))
    pipeline = model.fit(X, np.digitize(y, [0, 1]))
    X_new["city"] = pd.Categorical(X_new["city"], ["Rome", "Lima", "Bern", "Oslo"])
    curve = partial_dependence(pipeline, feature, X_new)
    assert curve.feature_name == feature
    raw = as_ensemble(pipeline)
    seen = [value for value in X_new[feature].unique() if not pd.isna(value)]
    for value in [*seen, *[None] * (feature == "age")]:
        expected = raw.raw_predict(X_new.assign(**{feature: value})).mean(axis=0)
        found = curve.at(np.array([value], object if feature == "city" else float))[0]
        np.testing.assert_allclose(found, expected, atol=1e-12)
        if feature == "city":
            place = curve.levels.index(value)
            np.testing.assert_allclose(curve.shares[place], (X_new[feature] == value).mean())
    if feature == "city":
        assert np.isnan(curve.at("Cairo")).all()  # nobody knows what steps make of it
    else:
        between = pd.cut(X_new[feature], [-np.inf, *curve.cuts, np.inf]).value_counts(sort=False)
        np.testing.assert_allclose(curve.shares[:-1], between / 60)
        assert (curve.values[1:] != curve.values[:-1]).any(axis=1).all()  # each step is one
        assert len(curve.cuts) < len(seen) - 1
    assert np.isnan(curve.missing).all() == (feature != "age") == ("missing" not in str(curve))
    assert len(partial_dependence(pipeline, feature, X_new[:1])) == 1
    np.testing.assert_allclose(curve.centered().mean(), np.zeros(3), atol=1e-12)
    many = pd.DataFrame({**X_new, feature: np.linspace(-1, 1, 60)}) if feature == "age" else None
    if many is not None:
        longer = pd.concat([many.assign(age=many["age"] + k / 99) for k in range(3)])
        assert len(partial_dependence(pipeline, "age", longer)) <= 100


def test_what_groups_do_is_shared_by_their_columns():
    (X, y), (X_new, y_new) = draw(0), draw(1, 60)
    pipeline = make_pipeline(columns(ORDINAL, filled(PolynomialFeatures(2))), MODELS["ours"]())
    pipeline.fit(X, y)
    by_group = held_out_gain(pipeline, X_new, y_new)
    assert len(by_group) > len(COLUMNS)
    parts = [
        [(name in members_of(group)) / len(members_of(group)) for name in COLUMNS]
        for group in by_group.feature_names
    ]
    found = by_group.shared()
    assert found.feature_names == COLUMNS
    assert_close(found.values, by_group.values @ parts, np.abs(by_group.values).sum())
    of_rows = tree_inner_rows(pipeline, X_new, y_new).values @ parts
    of_tree_inner = tree_inner(pipeline, X_new, y_new, second_moments=True).shared()
    error = np.sqrt(len(of_rows) * of_rows.var(axis=0, ddof=1))
    np.testing.assert_allclose(of_tree_inner.standard_error, error, rtol=1e-9)
    shap = tree_shap(pipeline, X_new)
    assert_close(shap.shared().values, shap.values @ parts, np.abs(shap.values).sum())
    assert shap.shared().data.shape == (60, 4)
    with pytest.raises(ValueError, match="needs the contributions of single rows"):
        tree_inner(pipeline, X_new, y_new).shared()


# ------------------------------------------------------------------------------ what else is taken


def fitted(steps="one-hot"):
    X, y = draw(0)
    return Pipeline([("prepare", STEPS[steps]), ("model", MODELS["ours"]())]).fit(X, y)


class Half(BaseEstimator):
    """A sampler, as those of imbalanced-learn: acts in fits only, and transforms nothing."""

    def fit_resample(self, X, y):
        return X[::2], y[::2]


def test_searches_thresholds_samplers_and_pipelines_in_pipelines():
    (X, y), (X_new, y_new) = draw(0), draw(1, 60)
    inner = make_pipeline(StandardScaler(with_mean=False), MODELS["ours"]())
    nested = Pipeline([("hot", STEPS["one-hot"]), ("nothing", "passthrough"), ("inner", inner)])
    search = GridSearchCV(nested, {"inner__gbtregressor__max_depth": [2]}, cv=2).fit(X, y)
    own = held_out_gain(search, X_new, y_new)
    model = search.best_estimator_[-1][-1]
    rows = search.best_estimator_[-1][:-1].transform(search.best_estimator_[:-1].transform(X_new))
    assert own.feature_names == COLUMNS
    raw = as_ensemble(search).raw_predict(X_new)
    assert_same(raw, as_ensemble(model).raw_predict(rows))
    sampled = fitted()
    expected = held_out_gain(sampled, X_new, y_new)
    sampled.steps.insert(1, ("half", Half()))
    assert_same(held_out_gain(sampled, X_new, y_new).values, expected.values)


def test_labels_weights_and_rows_that_the_model_has_seen():
    X, y = draw(0)
    labels = np.where(y > 0.5, "yes", "no")
    pipeline = make_pipeline(STEPS["one-hot"], GreedyClassifier(**FEW))
    pipeline.fit(X, labels)
    with pytest.warns(SeenRowsWarning, match="9 of the 9 rows"):
        held_out_gain(pipeline, X[:10], labels[:10], sample_weight=np.arange(10))
    for steps in ("one-hot", "target encoder"):
        X_new, y_new = draw(1, 60)
        with warnings.catch_warnings():
            warnings.simplefilter("error", SeenRowsWarning)
            held_out_gain(fitted(steps), X_new, y_new)


def test_names_of_arrays_and_what_pictures_are_coloured_by():
    (X, y), (X_new, _) = draw(0), draw(1, 20)
    numbers = make_pipeline(SimpleImputer(), PCA(2), MODELS["ours"]())
    numbers.fit(X[NUMBERS].to_numpy(), y)
    group = "x0 x x1 x x2"
    assert predecomp(numbers, X_new[NUMBERS].to_numpy()).feature_names == ("x0", "x1", "x2", group)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        named = predecomp(numbers, X_new[NUMBERS])
    assert named.feature_names == (*NUMBERS, "age x height x weight")
    own = tree_shap(fitted(), X_new[[*reversed(COLUMNS)]])
    assert own.categories == (("Bern", "Lima", "Oslo", "Rome"), None, None, None)
    assert own.shown_data()[:, 0].tolist() == X_new["city"].tolist()
    assert_same(own.data[:, 1:], X_new[NUMBERS].to_numpy())
    assert np.isnan(named.data[:, 3]).all()
    wide = make_pipeline(StandardScaler(), PCA(2), MODELS["ours"]())
    wide.fit(np.random.default_rng(0).normal(size=(50, 40)), np.arange(50.0))
    assert total_gain(wide).feature_names[40] == "x0 x x1 x x2 x ... x x39 (40 columns)"


def test_columns_of_dates_leave_the_values_of_others_to_pictures():
    days = np.array(["2024-05-09", "2024-10-10", "NaT", "2024-05-09"], dtype="datetime64[s]")
    X = pd.DataFrame({"day": days, "age": [1.0, 2.0, np.nan, 4.0]})
    steps = make_column_transformer((FunctionTransformer(), ["age"]), remainder="drop")
    model = make_pipeline(steps, MODELS["ours"]()).fit(X, np.arange(4.0))
    shown = predecomp(model, X).shown_data()
    assert shown[:, 1].tolist()[:2] == [1.0, 2.0]
    assert shown[:, 0].tolist() == [pd.Timestamp(days[0]), pd.Timestamp(days[1]), None, shown[0, 0]]


def test_columns_of_a_sparse_frame_are_numbers_in_pictures():
    frame = pd.DataFrame({"a": [0.0, 10.0, 2.0, 0.0], "b": [1.0, 0.0, 0.0, 3.0]})
    sparse = frame.astype(pd.SparseDtype("float64", 0.0))
    model = make_pipeline(MaxAbsScaler(), MODELS["ours"]()).fit(sparse, np.arange(4.0))
    why = predecomp(model, sparse)
    assert why.categories is None
    assert_same(why.data, frame.to_numpy())


class Silent(TransformerMixin, BaseEstimator):
    """A step that says nothing about its columns."""

    def __init__(self, has_input=False):
        self.has_input = has_input

    def fit(self, X, y=None):
        if self.has_input:
            self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.asarray(X)[:, 1:]


class Halving(Silent):
    """A step that loses rows."""

    def transform(self, X):
        return np.asarray(X)[::2]


def test_what_cannot_be_traced_or_transformed_is_refused_with_the_name_of_the_step():
    (X, y), (X_new, y_new) = draw(0), draw(1, 20)
    numbers, new = X[NUMBERS].fillna(0.0), X_new[NUMBERS].fillna(0.0)
    nameless = Pipeline([("cut", Silent()), ("model", MODELS["ours"]())]).fit(numbers, y)
    with pytest.raises(ValueError, match=r"Step 'cut' \(Silent\) does not say which columns it"):
        tree_inner(nameless, new, y_new)
    pipeline = Pipeline([("cut", Silent(has_input=True)), ("model", MODELS["ours"]())])
    assert total_gain(pipeline.fit(numbers, y)).feature_names == ("x0", "x1", "x2", "x0 x x1 x x2")
    with pytest.raises(ValueError, match=r"Step 'prepare' \(ColumnTransformer\) .*: .*weight"):
        tree_inner(fitted(), X_new[["city", "age", "height"]], y_new)
    pipeline = Pipeline([("half", Halving(has_input=True)), ("model", MODELS["ours"]())])
    pipeline.steps[0][1].fit(numbers)
    pipeline.steps[1][1].fit(numbers, y)
    with pytest.raises(ValueError, match=r"Step 'half' \(Halving\) makes 10 rows of 20"):
        tree_inner(pipeline, new, y_new)
    with pytest.raises(ValueError, match="columns='own'; use 'given' or 'transformed'"):
        total_gain(fitted(), columns="own")
    with pytest.raises(ValueError, match=r"partial dependence of a pipeline .* give X"):
        partial_dependence(fitted(), "age")
    with pytest.raises(ValueError, match=r"X lacks columns .*: age, weight\. It has city, height"):
        partial_dependence(fitted(), "age", X_new[["city", "height"]])
    with pytest.raises(ValueError, match="All values of 'age' are missing"):
        partial_dependence(fitted(), "age", X_new.assign(age=np.nan))
    with pytest.raises(ValueError, match=r"mdi_oob\) is .* Or, of a pipeline, .* pipeline\[-1\]"):
        local_mdi(fitted(), X, y)
    with pytest.raises(ValueError, match="nor the steps of a pipeline"):
        as_ensemble(fitted()).save("model.json")
    with pytest.raises(ValueError, match=r"steps of a pipeline: give the model, pipeline\[-1\]"):
        to_xgboost(fitted(), "model.json")


def test_a_step_that_mixes_columns_is_not_told_apart_by_names():
    X, y = draw(0)
    numbers = X[NUMBERS].fillna(0.0)
    mixed = make_pipeline(Normalizer(), MODELS["ours"]()).fit(numbers, y)
    assert_same(total_gain(mixed).values[:3], np.zeros(3))
    alone = make_pipeline(FunctionTransformer(np.abs), VarianceThreshold(), MODELS["ours"]())
    assert total_gain(alone.fit(numbers, y)).feature_names == tuple(NUMBERS)
    group = make_pipeline(FunctionTransformer(lambda X: np.abs(X)), MODELS["ours"]())
    assert total_gain(group.fit(numbers.to_numpy(), y)).values[3] > 0


def test_a_column_may_have_the_name_of_a_group():
    X, y = draw(0)
    numbers = X[NUMBERS].fillna(0.0).set_axis(["a", "b", "a x b"], axis=1)
    steps = make_column_transformer((PCA(1), ["a", "b"]), remainder="passthrough")
    result = total_gain(make_pipeline(steps, MODELS["ours"]()).fit(numbers, y))
    assert result.feature_names == ("a", "b", "a x b", "a x b (2 columns)")
    values = dict(zip(result.feature_names, result.values, strict=True))
    for name, value in values.items():
        assert result[name] == value
    again = pickle.loads(pickle.dumps(result.feature_names))
    assert again == result.feature_names
    assert again[3].members == ("a", "b")


def test_groups_that_are_written_alike_are_not_the_same():
    """Names of many members leave some out; folds and selectors go by names."""
    names = tuple(f"a long name {k}" for k in range(7))
    one, other = Credit.by_origin([(0, 1, 2, 3, 4, 6), (0, 1, 2, 4, 5, 6)], names).names[7:]
    assert str(one) == str(other)
    assert one != other
    assert len({one: 1, other: 2}) == 2
    assert one == pickle.loads(pickle.dumps(one)) == str(one)


@pytest.mark.slow
def test_the_table_of_the_page_is_what_its_command_prints():
    for library in ("catboost", "lightgbm", "xgboost"):
        peer(library)
    from docs.pipeline_steps import written

    assert written() in (ROOT / "docs" / "models.md").read_text()
