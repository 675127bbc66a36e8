"""The trainers that are ranked: our three policies and three other libraries, alike in shape.

All search the same space at random with the same budget: the configuration with the best AUC on
validation rows is tested. The space is Table 7 of Zhang, Zhang and Li (2023), but for two things
that a small budget asks for: learning rates are four times theirs, and the number of trees, up to
1,000, is where the validation loss has not fallen for 50 trees. Trees have 31 leaves at most, as
LightGBM's and the authors' have.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.study import is_installed, model_of, ours
from benchmarks.study.whole_tables import with_words

N_CONFIGURATIONS = 20
MOST_TREES, PATIENCE, LEAVES = 1000, 50, 31
OURS = {"unbiased": "unbiased", "greedy": "greedy", "cross-validated": "cross_validated"}
TRAINERS = (*OURS, *filter(is_installed, ("XGBoost", "LightGBM", "CatBoost")))


def drawn_configuration(rng: np.random.Generator) -> dict[str, float]:
    """Draw from the space that all trainers share."""
    return {
        "learning_rate": float(np.exp(rng.uniform(np.log(0.02), np.log(0.2)))),
        "min_rows": int(np.rint(np.exp(rng.uniform(np.log(2), np.log(20))))),
        "min_split_gain": float(rng.uniform(0, 0.1)),
        "seed": int(rng.integers(2**31)),
    }


def make(trainer: str, found: dict[str, float], most_trees: int):
    """Return an unfitted model of a configuration."""
    least, min_rows = found["min_split_gain"], found["min_rows"]
    alike = {"n_estimators": most_trees, "learning_rate": found["learning_rate"]}
    seed = {"random_state": found["seed"]}
    if trainer in OURS:
        return ours(
            True, **alike, max_depth=None, max_leaves=LEAVES, min_samples_leaf=min_rows,
            # Theirs is in [-0.1, 0.1] where the feature's score may be negative.
            min_split_gain=2 * least - 0.1 if trainer == "unbiased" else least,
            min_child_weight=1e-3, splitter=OURS[trainer], early_stopping_rounds=PATIENCE, **seed,
        )  # fmt: skip
    options = {
        "XGBoost": {
            "max_depth": 0, "max_leaves": LEAVES, "grow_policy": "lossguide", "gamma": least,
            "min_child_weight": min_rows / 4, "tree_method": "hist", "enable_categorical": True,
            "early_stopping_rounds": PATIENCE, **seed,
        },
        "LightGBM": {
            "num_leaves": LEAVES, "min_child_samples": min_rows, "min_split_gain": least,
            "early_stopping_round": PATIENCE, **seed,
        },
        "CatBoost": {
            "depth": 5, "min_data_in_leaf": min_rows, "early_stopping_rounds": PATIENCE,
            "random_seed": found["seed"],
        },
    }[trainer]  # fmt: skip
    return model_of(trainer, True, **alike, **options)


def fitted(trainer: str, found: dict[str, float], most_trees: int, train, valid):
    """Fit a configuration; the validation rows decide when to stop."""
    options = {"verbose": False} if trainer == "XGBoost" else {}
    if trainer == "CatBoost":
        options["cat_features"] = [*train[0].select_dtypes("category")]
    (X, y), *held_out = ((as_taken(trainer, X), y) for X, y in (train, valid))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # LightGBM renames columns
        return make(trainer, found, most_trees).fit(X, y, eval_set=held_out, **options)


def as_taken(trainer: str, X: pd.DataFrame) -> pd.DataFrame:
    """Return the table as a library takes it."""
    if trainer == "LightGBM":  # it refuses some characters in names
        return X.set_axis([f"x{k}" for k in range(X.shape[1])], axis=1)
    return with_words(X) if trainer == "CatBoost" else X


def auc(trainer: str, model, X: pd.DataFrame, y: np.ndarray) -> float:
    """Return the area under the ROC curve."""
    return roc_auc_score(y, model.predict_proba(as_taken(trainer, X))[:, 1])


def searched(trainer: str, rng: np.random.Generator, size: str, train, valid):
    """Return the model of the best of some configurations, and its validation AUC."""
    most_trees = MOST_TREES if size == "full" else 5
    best, best_auc = None, -np.inf
    for _ in range(N_CONFIGURATIONS if size == "full" else 1):
        model = fitted(trainer, drawn_configuration(rng), most_trees, train, valid)
        found = auc(trainer, model, *valid)
        if found > best_auc:
            best, best_auc = model, found
    return best, best_auc
