"""One table in all clothes that users have: the same trees grow, and rows are predicted alike."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from gbt.kernels.trees.rounds import grow_trees
from tests.asserts import assert_same, assert_same_ensemble
from tests.greedy import GreedyRegressor

RNG = np.random.default_rng(0)
N = 80
GAPS = np.column_stack([RNG.integers(0, 9, N), RNG.integers(0, 9, N) / 4, RNG.random(N) < 0.5])
GAPS[RNG.random(GAPS.shape) < 0.15] = np.nan
WHOLE = RNG.integers(0, 60, (N, 3)).astype(float)
Y = RNG.normal(size=N)
WORDS = pd.DataFrame(
    {
        "size": RNG.normal(size=N).round(2),
        "color": pd.Series(RNG.choice(["red", "blue", "green", None], N), dtype=object),
        "zip": RNG.integers(100, 105, N),
    }
)


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def masked(dtype):
    """Hide the gaps of a table whose cells are numbers of a type."""
    return lambda X: np.ma.array(np.nan_to_num(X, nan=1).astype(dtype), mask=np.isnan(X))


def nullable(X):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    return frame.astype({"a": "Int64", "b": "Float32", "c": "boolean"})


def of_polars(X):
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}, nan_to_null=True)
    return frame.with_columns(pl.col("a").cast(pl.Int16), pl.col("c").cast(pl.Boolean))


WITH_GAPS = {
    "fortran": np.asfortranarray,
    "read-only": read_only,
    "view": lambda X: X[::-1][::-1],
    "list": lambda X: X.tolist(),
    "object": lambda X: X.astype(object),
    "float32": lambda X: X.astype(np.float32),
    "the other order of bytes": lambda X: X.astype(">f8"),
    "pandas": pd.DataFrame,
    "nullable": nullable,
    "polars": of_polars,
    **{f"masked {dtype.__name__}": masked(dtype) for dtype in (np.float64, np.float32, object)},
}
OF_WHOLE = {  # NumPy calls unsigned numbers >u4, and text of four letters >U4
    **{kind: lambda X, kind=kind: X.astype(kind) for kind in (">u2", ">u4", ">u8", ">i4", "<u4")},
    "masked int16": masked(np.int16),
    "a mask that is one False": np.ma.array,
    "frame": lambda X: pd.DataFrame(X.astype(">u4"), columns=["a", "b", "c"]),
}
OF_NUMBERS = [
    *[pytest.param(GAPS, spell, id=name) for name, spell in WITH_GAPS.items()],
    *[pytest.param(WHOLE, spell, id=name) for name, spell in OF_WHOLE.items()],
    pytest.param(np.where(WHOLE > 50, np.nan, WHOLE > 9), masked(bool), id="masked bool"),
]


@pytest.mark.parametrize(("X", "spell"), OF_NUMBERS)
def test_tables_of_numbers(X, spell):
    expected = GreedyRegressor(n_estimators=3).fit(X, Y)
    model = GreedyRegressor(n_estimators=3).fit(spell(X), Y)
    assert model.ensemble_.categories is None
    for name in ("feature", "threshold", "missing_left", "sum_gradient", "value"):
        assert_same(getattr(model.ensemble_, name), getattr(expected.ensemble_, name))
    for predict in (model.predict, model.ensemble_.raw_predict):
        assert_same(predict(spell(X)), expected.predict(X))


def colored(words):
    return lambda X: pl.DataFrame({name: X[name].tolist() for name in X}).with_columns(
        pl.col("color").cast(words)
    )


OF_WORDS = {
    "categories": lambda X: X.astype({"color": "category"}),
    "other codes": lambda X: X.astype(
        {"color": pd.CategoricalDtype(["unheard of", "red", "green", "blue"])}
    ),
    "rows of objects": lambda X: X.to_numpy(dtype=object),
    "lists": lambda X: X.to_numpy(dtype=object).tolist(),
    "floats": lambda X: X.astype({"zip": float}),
    "polars": colored(pl.String),
    "polars categories": colored(pl.Categorical),
    "polars enum": colored(pl.Enum(["red", "green", "blue", "unheard of"])),
    "pyarrow": pa.Table.from_pandas,
    "mask": lambda X: X,
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", OF_WORDS)
def test_tables_of_words(name):
    """Levels are looked up by value, and their columns are told by name, index or mask."""
    asked = GreedyRegressor(n_estimators=4, categorical_features=["color", "zip"], n_jobs=1)
    expected = asked.fit(WORDS, Y)
    table = OF_WORDS[name](WORDS)
    which = [1, -1] if name in ("rows of objects", "lists") else ("color", "zip")
    which = [False, True, True] if name == "mask" else which
    model = clone(asked).set_params(categorical_features=which, n_jobs=2).fit(table, Y)
    if name not in ("rows of objects", "lists"):
        assert_same_ensemble(model.ensemble_, expected.ensemble_)
    assert expected.ensemble_.has_set.any()
    predicted = expected.predict(WORDS)
    for reader in (model, expected):
        assert_same(reader.predict(table), predicted)
    assert_same(expected.predict(WORDS.iloc[::-1])[::-1], predicted)


def test_targets_and_weights_may_be_read_only_or_columns_of_a_table():
    """To Numba these are other types, and the largest kernel would be compiled once more."""
    weight = np.linspace(1.0, 2.0, N)
    plain = GreedyRegressor(n_estimators=2).fit(GAPS, Y, weight)
    n_compiled = len(grow_trees.signatures)
    beside = np.column_stack([Y, weight])
    for own_y, own_weight in ((read_only(Y), read_only(weight)), (beside[:, 0], beside[:, 1])):
        model = GreedyRegressor(n_estimators=2).fit(GAPS, own_y, own_weight)
        assert_same(model.predict(GAPS), plain.predict(GAPS))
    assert len(grow_trees.signatures) == n_compiled
