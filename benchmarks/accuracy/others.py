"""What ours are compared with: six libraries, a linear model, the constant.

Four libraries are fitted with their own defaults, with ours (100 trees of depth 6 or 31 leaves at a
learning rate of 0.1) and, alike for all, with up to 1,000 trees at 0.05 that end where 15 % of the
rows, which are held out, have seen nothing better for 50 trees. ChimeraBoost and Perpetual, which
choose their number of trees themselves, have their own defaults. With many rows ours also stand
behind target statistics of pairs of words, as CatBoost and ChimeraBoost have them.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)

from benchmarks.accuracy.ours import STOPPED
from benchmarks.study import model_of, ours
from benchmarks.study.whole_tables import with_words

LIBRARIES = ("LightGBM", "XGBoost", "CatBoost", "HistGradientBoosting")
WAYS = ("alike", "own defaults", "stopped")
CHOOSING = ("ChimeraBoost", "Perpetual")
LEVELS_OF_SKLEARN = 255
STATISTICS = "target statistics, then unbiased, pooled"
ROWS_OF_A_WORD = 100  # on average; columns with fewer make pairs
ALIKE = {"n_estimators": 100, "learning_rate": 0.1, "max_depth": 6}
LONG = {"n_estimators": STOPPED["n_estimators"], "learning_rate": STOPPED["learning_rate"]}
PATIENCE = STOPPED["early_stopping_rounds"]
OPTIONS: dict[tuple[str, str], dict] = {
    ("LightGBM", "alike"): ALIKE,
    ("XGBoost", "alike"): ALIKE,
    ("CatBoost", "alike"): {"n_estimators": 100, "learning_rate": 0.1, "depth": 6},
    ("HistGradientBoosting", "alike"): {"max_depth": 6, "early_stopping": False},
    ("LightGBM", "stopped"): {**LONG, "early_stopping_round": PATIENCE},
    ("XGBoost", "stopped"): {**LONG, "early_stopping_rounds": PATIENCE},
    ("CatBoost", "stopped"): {**LONG, "early_stopping_rounds": PATIENCE},
    ("HistGradientBoosting", "stopped"): {
        "max_iter": STOPPED["n_estimators"], "learning_rate": STOPPED["learning_rate"],
        "early_stopping": True, "n_iter_no_change": PATIENCE,
        "validation_fraction": STOPPED["validation_fraction"],
    },
}  # fmt: skip


def names() -> list[str]:
    """Return the names of all that are compared with ours."""
    ways = [f"{library}, {way}" for way in WAYS for library in LIBRARIES]
    return ["constant", "linear model", *ways, *(f"{name}, own defaults" for name in CHOOSING)]


def predict(
    name: str, kind: str, train: tuple[pd.DataFrame, np.ndarray], X: pd.DataFrame, seed: int
) -> np.ndarray:
    """Fit one of them; return numbers, or the probabilities of all classes."""
    X_train, y_train = train
    if name == "constant":
        if kind == "number":
            return np.full(len(X), y_train.mean())
        return np.tile(np.bincount(y_train.astype(int)) / len(y_train), (len(X), 1))
    if name in ("linear model", STATISTICS):
        made = linear(X_train, kind) if name != STATISTICS else with_statistics(X_train, kind, seed)
        model = made.fit(X_train, y_train)
    else:
        library, way = name.split(", ")
        X_train, X = as_taken(library, X_train, X)
        model = fitted(library, way, kind, X_train, y_train, seed)
    return model.predict(X) if kind == "number" else model.predict_proba(X)


def linear(X: pd.DataFrame, kind: str):
    """Return a linear or logistic regression of columns made into numbers, lightly penalised."""
    is_word = X.dtypes == "category"
    table = ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), X.columns[~is_word]),
        ("words", OneHotEncoder(handle_unknown="ignore", min_frequency=5), X.columns[is_word]),
    ])  # fmt: skip
    last = RidgeCV(np.logspace(-2, 4, 13)) if kind == "number" else LogisticRegression(max_iter=500)
    return make_pipeline(table, last)


def with_statistics(X: pd.DataFrame, kind: str, seed: int):
    """Return our default behind the mean target of each pair of words that have few rows.

    The mean is that of other folds' rows where a row is trained on.
    """
    words = [c for c in X if X[c].dtype == "category" and X[c].nunique() * ROWS_OF_A_WORD > len(X)]
    pairs = make_pipeline(FunctionTransformer(pairs_of), TargetEncoder(random_state=seed))
    table = ColumnTransformer([
        ("as they are", "passthrough", X.columns),
        ("pairs", pairs, words if len(words) > 1 else []),
    ])  # fmt: skip
    model = ours(kind != "number", splitter="auto", random_state=seed)
    return make_pipeline(table.set_output(transform="pandas"), model)


def pairs_of(X: pd.DataFrame) -> pd.DataFrame:
    """Return what every two columns of words say together."""
    words = with_words(X)
    pairs = combinations(words, 2)
    return pd.DataFrame({f"{a}, {b}": words[a] + ", " + words[b] for a, b in pairs}, X.index)


def as_taken(library: str, train: pd.DataFrame, test: pd.DataFrame):
    """Return two tables as a library takes them."""
    if library in ("CatBoost", "ChimeraBoost"):
        return with_words(train), with_words(test)
    if library == "HistGradientBoosting":
        many = [c for c in train if train[c].dtype == "category"
                and train[c].nunique() > LEVELS_OF_SKLEARN - 1]  # fmt: skip
        if many:  # it refuses them; codes in the order of the levels are what remains
            codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
            codes.fit(train[many])
            return tuple(
                X.drop(columns=many).join(
                    pd.DataFrame(codes.transform(X[many]), X.index, many)
                )
                for X in (train, test)
            )  # fmt: skip
    return train, test


def fitted(library: str, way: str, kind: str, X: pd.DataFrame, y: np.ndarray, seed: int):
    """Fit a library's model."""
    is_class, options, fitting = kind != "number", OPTIONS.get((library, way), {}), {}
    held_out = None
    if way == "stopped" and library != "HistGradientBoosting":  # which holds rows out itself
        share = STOPPED["validation_fraction"]
        X, X_held_out, y, y_held_out = train_test_split(
            X, y, test_size=share, random_state=seed, stratify=y if is_class else None
        )
        held_out = [(X_held_out, y_held_out)]
    words = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    if library in ("LightGBM", "XGBoost", "CatBoost"):
        fitting["eval_set"] = held_out
    if library == "XGBoost":
        options, fitting = {"enable_categorical": True, **options}, {**fitting, "verbose": False}
    if library == "CatBoost":
        fitting["cat_features"] = words
    if library == "ChimeraBoost":
        fitting["cat_features"] = [X.columns.get_loc(c) for c in words]
    of_seed = {"CatBoost": "random_seed", "Perpetual": "seed"}.get(library, "random_state")
    return model_of(library, is_class, **{of_seed: seed}, **options).fit(X, y, **fitting)
