"""The table of docs/models.md: what steps of a pipeline do, and where their columns are credited.

Run ``python -m docs.pipeline_steps``. Every step is fitted in front of a model of each library, and
held-out gain is asked of all of them; a refusal would stand in the table in its own words.
"""

import warnings
from collections.abc import Iterator

import catboost
import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

from attributions import held_out_gain
from gbt import GBTRegressor
from gbt.formats import as_ensemble

WORDS, NUMBERS = ["city"], ["age", "height"]
STEPS = {  # as the page shows it: the step, the columns that it is given, and a remark
    "OneHotEncoder()": (OneHotEncoder(), WORDS, ""),
    "OneHotEncoder(drop='first', min_frequency=30)": (
        OneHotEncoder(drop="first", min_frequency=30),
        WORDS,
        "rare levels together are still the city",
    ),
    "OrdinalEncoder()": (OrdinalEncoder(), WORDS, ""),
    "TargetEncoder()": (TargetEncoder(), WORDS, "of several classes: a column each"),
    "SimpleImputer(add_indicator=True)": (
        SimpleImputer(add_indicator=True),
        ["age"],
        "also of `KNNImputer`, `IterativeImputer`: a filled column is its own",
    ),
    "StandardScaler()": (
        StandardScaler(),
        NUMBERS,
        "all scalers, and transforms to normal or uniform",
    ),
    "Normalizer()": (Normalizer(), NUMBERS, "a row is divided by its length"),
    "KBinsDiscretizer(3)": (
        KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
        ["height"],
        "",
    ),
    "SplineTransformer(n_knots=2, degree=2)": (
        SplineTransformer(n_knots=2, degree=2),
        ["height"],
        "",
    ),
    "PolynomialFeatures(include_bias=False)": (
        PolynomialFeatures(include_bias=False),
        NUMBERS,
        "a power is its column's",
    ),
    "PCA(2)": (PCA(2), NUMBERS, "every component is made of all"),
    "SelectKBest(f_regression, k=1)": (
        SelectKBest(f_regression, k=1),
        NUMBERS,
        "all selectors; what is dropped is listed with 0",
    ),
    "FunctionTransformer(np.exp)": (
        FunctionTransformer(np.exp),
        NUMBERS,
        "NumPy's functions of single numbers",
    ),
    "FunctionTransformer(f, feature_names_out='one-to-one')": (
        FunctionTransformer(np.cbrt, feature_names_out="one-to-one"),
        NUMBERS,
        "names say what is made of what",
    ),
    "FunctionTransformer(f)": (
        FunctionTransformer(lambda table: np.asarray(table) ** 3),
        NUMBERS,
        "f says nothing; a step of one's own, too",
    ),
}
FEW = {"n_estimators": 3, "max_depth": 2}
MODELS = {
    "ours": GBTRegressor(splitter="greedy", **FEW),
    "XGBoost": xgboost.XGBRegressor(**FEW),
    "LightGBM": lightgbm.LGBMRegressor(verbose=-1, **FEW),
    "CatBoost": catboost.CatBoostRegressor(
        iterations=3, depth=2, verbose=0, allow_writing_files=False
    ),
    "scikit-learn": RandomForestRegressor(3, max_depth=2, random_state=0),
}


def table(seed: int, n: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    """Return words and numbers, and a target."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=NUMBERS)
    X["city"] = rng.choice(["Bern", "Oslo", "Rome"], n, p=[0.6, 0.3, 0.1])
    y = X["age"] * X["height"] + X["age"] + X["height"] + (X["city"] == "Bern")
    return X, (y + rng.normal(size=n)).to_numpy()


def rows() -> Iterator[str]:
    """Yield the rows of the table."""
    for shown, (step, columns, remark) in STEPS.items():
        (X, y), (X_new, y_new) = table(0), table(1)
        X, X_new = X[columns], X_new[columns]
        if "Imputer" in shown:
            X = X.mask(X > 1)
        taken, refused, out, credited = [], [], "", ""
        for name, model in MODELS.items():
            pipeline = make_pipeline(clone(step), clone(model)).fit(X, y)
            try:
                held_out_gain(pipeline, X_new, y_new)
            except (TypeError, ValueError) as error:
                refused.append(f"{name}: {error}")
                continue
            taken.append(name)
            ensemble = as_ensemble(pipeline)
            out = ", ".join(f"`{column}`" for column in ensemble.feature_names)
            used = dict.fromkeys(ensemble.credit.of_column.tolist())
            credited = ", ".join(f"`{ensemble.credited_names[k]}`" for k in used)
        models = "all" if len(taken) == len(MODELS) else "; ".join([", ".join(taken), *refused])
        yield f"| `{shown}` | {out} | {credited} | {remark} | {models} |"


def written() -> str:
    """Return the table as the page has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        head = "| step | columns that come out | credited to | remark | models |"
        return "\n".join([head, "|---|---|---|---|---|", *rows()])


if __name__ == "__main__":
    print(written())
