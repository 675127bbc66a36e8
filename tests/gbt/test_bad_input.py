"""What users get wrong, and what they are told: what was got, what is allowed, what to do.

Model files have their own tables, in test_saving.py.
"""

import datetime
import re
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.metrics import (
    check_scoring,
    log_loss,
    mean_absolute_error,
    mean_poisson_deviance,
    r2_score,
)
from sklearn.model_selection import KFold

from attributions import tree_inner
from gbt import GBTClassifier, GBTRegressor, load
from gbt.estimators.other_names import OTHER_LOSSES
from gbt.losses import Quantile
from gbt.splitting import CrossValidated, Unbiased
from tests.asserts import assert_same
from tests.greedy import GreedyClassifier, GreedyRegressor

X = np.arange(24.0).reshape(8, 3) % 7
y = np.arange(8.0)
labels = np.array(["no", "yes"] * 4)
ones = np.ones(8)


def with_cell(array, value):
    array = np.array(array, dtype=np.result_type(array, np.min_scalar_type(value)))
    array.flat[5] = value
    return array


def refused(message, error=ValueError):
    return pytest.raises(error, match=message)


BOTH = pytest.mark.parametrize("estimator", [GBTRegressor, GBTClassifier])


# Tables ---------------------------------------------------------------------------------------

WORDS = pd.DataFrame(X, columns=["age", "size", "weight"]).assign(town=["Ulm", "Bonn"] * 4)
DATES = pd.to_datetime(["2020-02-02"] * 8)
NO_NUMBERS = "not numbers: "


def beside_size(**column):
    return pd.DataFrame({"size": y, **column})


TABLES = {
    "one dimension": (X[:, 0], "X has one dimension, .*Reshape your data: one row is"),
    "a row of a frame": (WORDS.iloc[0], r"X has one dimension.*X.iloc\[\[i\]\]"),
    "no rows": (X[:0], "Found array with 0 sample"),
    "no columns": (X[:, :0], "0 feature"),
    "no columns of a frame": (pd.DataFrame(index=range(8)), "a frame of 0 feature"),
    "ragged": ([[1.0, 2.0], [3.0]], "inhomogeneous"),
    "infinity": (with_cell(X, np.inf), "X holds inf in row 1, column 2; numbers must be finite"),
    "infinity of a frame": (
        WORDS.drop(columns="town").assign(size=with_cell(y, np.inf)),
        "X holds inf in row 5, column 'size'; numbers must be finite, or nan where",
    ),
    "complex": (X + 1j, "Complex data not supported"),
    "dates": (beside_size(when=DATES), rf"{NO_NUMBERS}'when' \(datetime64.*\)"),
    "array of dates": (
        np.full((8, 2), "2020-02-02", dtype="datetime64[D]"),
        r"column 0 \(datetime64\[D\]\), column 1 \(datetime64\[D\]\)\. Turn dates into",
    ),
    "dates as categories": (
        beside_size(when=pd.Categorical(DATES)),
        rf"{NO_NUMBERS}'when' \(category of Timestamp.*\)\. Turn dates",
    ),
    "spans as categories": (
        beside_size(when=pd.Categorical(pd.to_timedelta(y, "D"))),
        rf"{NO_NUMBERS}'when' \(category of Timedelta.*\)\. Turn dates",
    ),
    "text that spells numbers": (
        beside_size(when=pd.Categorical(list("12341234"))),
        rf"{NO_NUMBERS}'when' \(category of '1'\)\. .* are named in .* Text that spells numbers",
    ),
    "sparse columns": (
        beside_size(rare=pd.arrays.SparseArray(y)),
        rf"{NO_NUMBERS}'rare' \(Sparse\[float64, .*\]\)\. Make sparse columns dense",
    ),
    "structs": (
        pl.DataFrame({"place": [{"x": 1.0, "y": 2.0}] * 8}),
        rf"{NO_NUMBERS}'place' \(Struct\(.*\)\)\. Give each place of a list",
    ),
    "bytes": (pl.DataFrame({"age": [b"1"] * 8}), rf"{NO_NUMBERS}'age' \(Binary\)"),
    "masked text": (np.ma.array(X.astype(str), mask=X > 3), r"column 0 \(<U"),
    "words": (beside_size(age=labels), rf"{NO_NUMBERS}'age' \(.*\)\. Categories are named in"),
}
NO_TABLES = {  # scikit-learn wants a TypeError here
    "NA among objects": (
        beside_size(age=with_cell(y.astype(object), pd.NA)),
        rf"{NO_NUMBERS}'age' \(object, <NA> in row 5\)\. A missing value is nan or None;"
        r" astype\('Float64'\) takes NA among numbers\. Any other",
    ),
    "name of a file": ("data.csv", "got a str. Read the file first"),
    "a table of XGBoost's": (object(), "got a object. Give the array or frame"),
    "a table of CatBoost's": (SimpleNamespace(shape=(8, 3)), "got a SimpleNamespace. Give the"),
    "lists by column": ({"age": [1.0] * 8}, r"got a dict. Give pandas.DataFrame\(X\)"),
    "rows by name": ([{"age": 1.0}] * 8, r"got a list. Give pandas.DataFrame\(X\)"),
}
READ = [
    *[(name, ValueError, *row) for name, row in TABLES.items()],
    *[(name, TypeError, *row) for name, row in NO_TABLES.items()],
]


@pytest.mark.parametrize(("name", "error", "table", "message"), READ, ids=[row[0] for row in READ])
@BOTH
def test_tables(estimator, name, error, table, message):
    """Whoever reads them: a fit, an evaluation set, a prediction, the trees alone, a measure."""
    target = labels if estimator is GBTClassifier else y
    asked = estimator(n_estimators=1, splitter="greedy", categorical_features=None)
    rows = X[:, :2] if getattr(table, "shape", ())[1:] == (2,) else X
    rows = WORDS.drop(columns="town") if name == "infinity of a frame" else rows
    if name != "words":
        with refused(message, error):
            asked.fit(table, target[: len(table)] if name == "ragged" else target)
    if name not in ("words", "no rows", "ragged"):
        with refused(r"^eval_set\[0\]: .*" * (error is ValueError) + message, error):
            asked.fit(rows, target, eval_set=[(table, target)])
    fitted = asked.fit(rows, target)
    of_trees = [fitted.ensemble_.raw_predict] * (name in NO_TABLES or "categories" in name)
    for read in (fitted.predict, *of_trees):
        with refused(message, error):
            read(table)
    if name in NO_TABLES and name != "NA among objects":
        of_words = estimator(n_estimators=1, splitter="greedy").fit(WORDS, target)
        for read in (of_words.predict, lambda table: tree_inner(of_words, table, target)):
            with refused(message, error):
                read(table)


@BOTH
def test_sparse_tables(estimator):
    S, y = sparse.csr_array(X), labels == "yes"
    with refused("Sparse data was passed for y.*toarray", TypeError):
        estimator().fit(S, sparse.csr_array(y[:, np.newaxis]))
    with refused("categorical_features names 1 columns, and X is sparse.*Give a frame"):
        estimator(categorical_features=[0]).fit(S, y)
    with refused("X holds inf in row 1, column 0; numbers must be finite"):
        estimator().fit(sparse.csr_array(np.where(np.arange(len(X))[:, None] == 1, np.inf, X)), y)
    with refused("X has one dimension"):
        estimator().fit(sparse.coo_array(X[:, 0]), y)
    model = estimator(n_estimators=1).fit(S, y)
    with refused("X has 1 features, but"):
        model.predict(S[:, :1])
    with refused("the model needs a table with"):
        model.ensemble_.raw_predict(S[:, :1])
    of_levels = estimator(n_estimators=1, categorical_features=[0]).fit(X.round(), y)
    with refused("Column 'x0' of the model is categorical, and X is sparse"):
        of_levels.predict(S)


# What is given beside the table ----------------------------------------------------------------

TARGETS = {
    "nan": (with_cell(y, np.nan), "y is nan in row 5. Leave out the rows"),
    "NA": (with_cell(y.astype(object), pd.NA), r"y is <NA> in row 5\. Leave out the rows"),
    "infinity": (with_cell(y, np.inf), "y is inf in row 5. Leave out the rows"),
    "times of events": (
        np.array([(True, 2.0)] * 8, dtype=[("event", bool), ("time", float)]),
        "y has the fields event, time, as times of events have, .*loss='cox'",
    ),
    "strings": (labels, r"y must be numbers, and holds text \(<U3\)"),
    "numbers spelt out in objects": (
        with_cell(y.astype(object), "5.0"),
        r"y must be numbers, and holds text \('5.0' in row 5\)",
    ),
    "a list of dates": ([datetime.date(2020, 2, 2)] * 8, "y holds dates .* in row 0"),
    "masked": (np.ma.array(y, mask=y == 3), "y is masked in row 3. Leave out the rows"),
    "two columns": (np.column_stack([y, y]), "y should be a 1d array"),
    "None at all": (None, "requires y to be passed"),
    "its name": ("x0", "y='x0' is one word. If it names a column of X, give X"),
    "too large": (y * 1e200, r"do not fit into float64.*y, sample_weight.*by a constant\.$"),
    "too few": (y[:7], "y has 7 rows and X has 8"),
}
LABELS = {
    "one class": (["a"] * 8, "needs two classes; y has only the class 'a'"),
    "fractions": (y / 3, "Unknown label type: continuous"),
    "nan": (with_cell(y % 2, np.nan), "y is nan in row 5. Leave out the rows"),
    "NA": (with_cell(labels.astype(object), pd.NA), "y is <NA> in row 5"),
    "None": (with_cell(labels.astype(object), None), "of one type; got NoneType and str"),
    "None at all": (None, "requires y to be passed"),
    "a list of dates": ([datetime.date(2020, 2, 1 + k % 2) for k in range(8)], "y holds dates"),
    "times of events": (np.array([(True, 2.0)] * 8, dtype="?,f8"), "y has the fields f0, f1"),
    "masked": (np.ma.array(labels, mask=y == 3), "y is masked in row 3"),
    "too few": (labels[:7], "y has 7 rows and X has 8"),
}
WEIGHTS = {
    "negative": (with_cell(ones, -1.0), "must not be negative; row 5 has -1.0"),
    "all zero": (0 * ones, "zero for every row"),
    "nan": (with_cell(ones, np.nan), "sample_weight is nan in row 5"),
    "too few": (ones[:7], r"shape \(7,\); it needs one weight for each row, \(8,\)"),
    "scalar": (2.0, r"shape \(\); it needs one weight for each row"),
    "strings": (labels, r"sample_weight must be numbers, and holds text \(<U3\)"),
    "NA": (with_cell(ones.astype(object), pd.NA), "sample_weight is <NA> in row 5"),
    "balanced": ("balanced", r"'balanced' is not one number for each row.*class_weight=\"bal"),
    "too large": (ones * 1e308, "do not fit into float64"),
    "evaluation sets": ([(X, y)], r"^sample_weight is a list of tuples, .*eval_set=\[\(X_valid, "),
}
EVAL_SETS = {
    "one pair": ((X, y), r"must be a list of .*; got tuple of 2 parts: a .*\[\(X_valid, y_v"),
    "five parts": ([(X, y, ones, ones, ones)], "must be a list of"),
    "an array": (X, "must be a list of .*; got ndarray"),
    "other columns": ([(X, y), (X[:, :2], y)], r"eval_set\[1\]: X has 2 features"),
    "nan": ([(X, with_cell(y, np.nan))], r"eval_set\[0\]: y is nan in row 5"),
    "weights": ([(X, y, ones[:7])], r"eval_set\[0\]: sample_weight has shape \(7,\)"),
    "text": ([(pd.DataFrame({"a": labels}), y)], r"eval_set\[0\]: X has columns that are not"),
}
FITS = [
    *[(GBTRegressor, {"y": given}, message) for given, message in TARGETS.values()],
    *[(GBTClassifier, {"y": given}, message) for given, message in LABELS.values()],
    *[(GBTRegressor, {"sample_weight": given}, message) for given, message in WEIGHTS.values()],
    *[(GBTClassifier, {"sample_weight": given}, message) for given, message in WEIGHTS.values()],
    *[(GBTRegressor, {"eval_set": given}, message) for given, message in EVAL_SETS.values()],
    (GBTClassifier, {"sample_weight": labels == "yes"}, "only the class 'yes' in rows of positive"),
    (
        GBTClassifier,
        {"sample_weight": np.where(labels == "yes", 1e300, 1e-300)},
        "the base score is infinite",
    ),
]


@pytest.mark.parametrize(("estimator", "given", "message"), FITS)
def test_targets_weights_and_evaluation_sets(estimator, given, message):
    target = labels if estimator is GBTClassifier else y
    with refused(message):
        estimator(splitter="greedy").fit(X, **{"y": target} | given)


@BOTH
def test_what_cuts_rows_for_cross_validation_is_no_splitter(estimator):
    with refused(r"^splitter must be 'auto', .* an object with .*; got KFold\(n_splits=5"):
        estimator(splitter=KFold(5)).fit(X, labels if estimator is GBTClassifier else y)


AT_LEAST = [  # of how many rows, with what splitter, the parts that it divides them into
    (5, {"splitter": "unbiased"}, "3 parts, .*_leaf=1 .*: at least 6 rows; got 5.$"),
    (8, {"splitter": Unbiased(), "min_samples_leaf": 2}, "3 parts, .*_leaf=2 on .*: at least 12 r"),
    (3, {"splitter": Unbiased(merged=True)}, "2 parts, .*: at least 4 rows; got 3.$"),
    (8, {"splitter": "unbiased", "subsample": 0.5}, "rows of a tree into 3 parts, .*rows; got 4.$"),
    (3, {"splitter": "cross_validated"}, "into n_folds=5 folds: at least 5 rows; got 3.$"),
    (8, {"splitter": CrossValidated(9)}, "n_folds=9 folds: at least 9 rows; got 8.$"),
]


@pytest.mark.parametrize(("n", "asked", "message"), AT_LEAST)
@BOTH
def test_few_rows(estimator, n, asked, message):
    target = labels if estimator is GBTClassifier else y
    with refused(f"^splitter='.*{message}"):
        estimator(**asked).fit(X[:n], target[:n])


OTHER_LABELS = [  # those of training, and those of an evaluation set
    (labels, np.where(labels == "no", "no", "maybe"), r"eval_set\[0\]: y has labels \['maybe'\]"),
    (np.array([0, 1] * 4), np.array(["0", "1"] * 4), r"labels \['0', '1'\]"),
    (labels, labels == "yes", r"labels \[False, True\]"),
    (y > 3, y, r"labels \[2.0, 3.0, 4.0, 5.0, 6.0\] and 1 more"),
]


@pytest.mark.parametrize(("trained", "others", "message"), OTHER_LABELS)
def test_other_labels(trained, others, message):
    with refused(f"{message}; the classes in"):
        GreedyClassifier().fit(X, trained, eval_set=[(X, others)])


def test_too_few_rows_to_be_held_out():
    impossible = "holds out validation_fraction=0.1 of . rows, which is impossible.*eval_set"
    with refused(impossible):  # one row left
        GreedyRegressor(early_stopping_rounds=5).fit(X, y, [1.0] + [0.0] * 7)
    with refused(impossible):  # one of each class
        GreedyClassifier(early_stopping_rounds=5).fit(X[:2], [0, 1])
    line, rare = np.arange(300.0)[:, np.newaxis], np.where(np.arange(300) < 2, "rare", "common")
    asked = {"early_stopping_rounds": 2, "validation_fraction": 0.8, "random_state": 0}
    with refused("validation_fraction=0.8 holds out all rows of a class.*eval_set"):
        GreedyClassifier(**asked).fit(line, rare)
    with refused("do not fit into float64.* Or learning_rate=1000 is too large"):
        GreedyRegressor(learning_rate=1000).fit(line, line[:, 0])


# Parameters -----------------------------------------------------------------------------------

REFUSED = {  # values, of every parameter
    "n_estimators": [0, -1, 1.5, "10", True],
    "learning_rate": [0.0, -0.1, np.inf, np.nan, "0.1"],
    "max_depth": [0, 2.5, "6"],
    "max_leaves": [1, 0, 3.0],
    "max_bins": [1, 257, 16.0],
    "min_child_weight": [-1, np.nan, np.inf],
    "min_samples_leaf": [0, 0.1],
    "reg_lambda": [-1e-9, np.nan, np.inf, [1.0]],
    "min_split_gain": [-1, np.nan, np.inf],
    "subsample": [0, 1.01, -0.5, np.nan],
    "colsample": [0, 1.01, "sqrt"],
    "colsample_bylevel": [0, 1.01, "sqrt"],
    "colsample_bynode": [0, 1.01, "sqrt"],
    "base_score": [np.nan, np.inf, "mean"],
    "splitter": ["best", "greedily", b"greedy", None, 3, type("Policy", (), {"split": print})],
    "categorical_features": ["auto", 3, [0.5], ["a", 0], [[0]]],
    "categorical_smoothing": [-1, "much"],
    "interaction_constraints": ["none", ["x0"], [[]], [[0.5]], [[True]], {0: 1}],
    "monotone_constraints": [1, "up", [2], [0.5], {"x0": 2}, {"a": 0.5}, {1.5: 1}, [True]],
    "loss": ["hinge", 3, Quantile],
    "early_stopping_rounds": [0, True, 2.0],
    "validation_fraction": [0, 1, 5, None],
    "n_jobs": [1.5, "all"],
    "random_state": [-1, 2**32, "seed", 1.0],
    "eval_metric": [
        "rmse", 3, mean_absolute_error, log_loss, mean_poisson_deviance, Fraction,
        check_scoring(GreedyRegressor(), scoring=["r2", "neg_max_error"]),
        [], ["r2", "r2"], [r2_score, "r2_score"], ["r2", None],
    ],
    "callbacks": [print, ["print"], "print", 3],
    "min_delta": [-0.1, np.nan, None, "0.1"],
    "refit": [None, 1, "all"],
    "train_score": [None, 1, "loss"],
    "warm_start": [None, 1, "yes"],
    "verbose": [-1, 0.5, None],
    "class_weight": ["even", 3, [1, 2], *({True: weight} for weight in (0, -1, np.nan, "2"))],
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@BOTH
def test_parameters(estimator, name):
    """The message has the words of the documentation, of which some are looked at here."""
    if name == "class_weight" and estimator is GBTRegressor:
        return
    for value in REFUSED[name]:
        with refused(rf"^{name} must be .*; got .*\."):
            estimator(**{name: value}).fit(X, labels == "yes")


SAID = [
    ({"n_estimators": 0}, "an integer in [1, inf) or None"),
    ({"subsample": 0}, "a number in (0, 1]"),
    ({"refit": 1}, "True or False"),
    ({"random_state": -1}, "None, an integer in [0, 4294967295]"),
    ({"base_score": "mean"}, "a number in (-inf, inf) or None"),
]


def test_what_a_parameter_may_be_is_said():
    of_classes = [({"base_score": share}, "a number in (0, 1) or None") for share in (0, 1, np.nan)]
    for estimator, said in ((GBTRegressor, SAID), (GBTClassifier, of_classes)):
        for asked, words in said:
            with refused(re.escape(f"{next(iter(asked))} must be {words}")):
                estimator(**asked).fit(X, labels == "yes")


def test_every_parameter_has_a_range():
    assert set(REFUSED) == set(GBTClassifier().get_params())
    assert set(REFUSED) - {"class_weight"} == set(GBTRegressor().get_params())


@pytest.mark.parametrize(
    ("name", "here"),
    [(other, here) for here, others in OTHER_LOSSES.items() for other in others]
    + [("poison", "poisson"), ("Huber", "huber"), ("squared_eror", "half_squared_error")],
)
def test_losses_of_other_libraries_are_told_what_they_are_called_here(name, here):
    with refused(rf"^loss must be None, one of .*; got '{name}'\. The nearest here is '{here}'\.$"):
        GreedyRegressor(loss=name).fit(X, y)
    target = (y + 1) / np.max(y + 1)  # some losses take no number below 0, one none above 1
    of_order = {"groups": 0 * y} if here in ("pairwise", "ndcg") else {}
    assert (
        GreedyRegressor(loss=here, n_estimators=1)
        .fit(X, target > 0.5 if of_order else target, **of_order)
        .ensemble_.loss.name
        == here
    )


UNKNOWN = {
    "n_estimator": "Did you mean n_estimators",
    "lerning_rate": "Did you mean learning_rate",
    "eta": "The nearest here is learning_rate",
    "gamma": "The nearest here is min_split_gain",
    "num_leafs": "The nearest here is max_leaves",
    "max_bin": "The nearest here is max_bins",
    "objective": "The nearest here is loss",
    "reg_alpha": "Here there is no L1 penalty",
    "rate_drop": "Here .*there is no DART",
    "tree_method": "Here splitter='greedy' finds the best of all cuts",
    "alpha": "Here there is no L1 penalty, and the level of a quantile belongs to a",
    "eval_set": "Here it is an argument of fit",
    "nonsense": "The parameters are .*n_estimators, .*random_state",
}


@pytest.mark.parametrize(("name", "hint"), UNKNOWN.items())
@BOTH
def test_unknown_parameters_are_told_what_they_are_called_here(estimator, name, hint):
    with refused(rf"^GBT\w+ has no parameter '{name}'\. {hint}.*[.?]$", TypeError):
        estimator(**{name: 1})
    model = estimator(n_estimators=100)
    with refused(f"Invalid parameter '{name}' for estimator GBT.*{hint}"):
        model.set_params(n_estimators=3, **{name: 1})
    assert model.n_estimators == 100  # nothing is half done


def test_parts_that_are_not_there_are_refused_before_any_is_set():
    model = GBTRegressor(100, loss=Quantile(0.9))
    with refused(r"^Invalid parameter 'loss__beta': loss=Quantile\(alpha=0\.9\) has alpha\.$"):
        model.set_params(n_estimators=3, loss__beta=0.1)
    with refused(r"alpha must be a number in \(0, 1\); got 2\."):
        model.set_params(n_estimators=3, loss__alpha=2)
    with refused("Set n_estimators as a whole, in a search to each of a list of objects"):
        model.set_params(n_estimators=1, n_estimators__x=1)
    with refused("^'loss__alpha' cannot be set: loss='absolute' has no parameters of its own"):
        model.set_params(n_estimators=3, loss="absolute", loss__alpha=0.2)
    assert model.n_estimators == 100
    assert model.loss == Quantile(0.9)
    assert model.set_params(loss=Quantile(0.1)).loss == Quantile(0.1)


def test_weights_of_classes_are_for_classifiers():
    for name in ("class_weight", "scale_pos_weight"):
        with refused("class_weight is a parameter of GBTClassifier only", TypeError):
            GBTRegressor(**{name: 3})
    with refused("The nearest here is class_weight", TypeError):
        GreedyClassifier(scale_pos_weight=3)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "a"])
def test_no_threads(n_jobs):
    with refused("n_jobs(=0 is not allowed| must be an integer)"):
        GreedyRegressor(n_jobs=n_jobs).fit(X, y)
    with refused(f"n_jobs={n_jobs!r} is not allowed"):
        GreedyRegressor().fit(X, y).ensemble_.raw_predict(X, n_jobs)


def test_limits_beyond_everything_are_none():
    at_most = GreedyRegressor(max_depth=10**20, max_leaves=10**20).fit(X, y)
    unlimited = GreedyRegressor(max_depth=None).fit(X, y)
    np.testing.assert_array_equal(at_most.predict(X), unlimited.predict(X))
    stump = GreedyRegressor(min_samples_leaf=10**20).fit(X, y)
    np.testing.assert_array_equal(stump.predict(X), np.full(8, y.mean()))


# Fitted and unfitted --------------------------------------------------------------------------


METHODS = ["predict", "staged_predict", "apply", "predict_proba", "staged_predict_proba"]
METHODS += ["decision_function", "sampled_rows", "save", "feature_importances_"]


@pytest.mark.parametrize("name", METHODS)
def test_unfitted(name):
    with refused("GBTClassifier instance is not fitted yet"):
        getattr(GreedyClassifier(), name)("never written" if name == "save" else X)


NUMBERED = pd.DataFrame(X, columns=[2005, 2001, 7])


@pytest.mark.parametrize("frame", [WORDS, WORDS.drop(columns="town"), NUMBERED], ids=len)
@BOTH
def test_a_column_that_is_missing_or_added_is_named(estimator, frame):
    """Whatever kinds of columns there are beside it, and whoever reads the table."""
    target = labels if estimator is GBTClassifier else y
    model = estimator(n_estimators=1, splitter="greedy").fit(frame, target)
    first = frame.columns[0]
    lacking, more = frame.drop(columns=first), frame.assign(extra="a").rename(columns=str)
    for read in (model.ensemble_.raw_predict, lambda X: tree_inner(model, X, target)):
        n = frame.shape[1]
        with refused(f"X has {n - 1} columns; the model needs {n}. Missing: '{first}'. Give"):
            read(lacking)
        with refused(f"X has {n + 1} columns; the model needs {n}. Not of the model: 'extra'"):
            read(more)
    with refused(f"yet now missing:\n- {first}|Missing: '{first}'|X has 2 features"):
        model.predict(lacking)
    with refused("Not of the model: 'extra'"):
        model.predict(more)


@pytest.mark.filterwarnings("error:X does not have valid feature names")
@BOTH
def test_columns_of_pyarrow_with_words_among_them_have_an_order(estimator):
    table = pa.Table.from_pandas(WORDS)
    model = estimator(n_estimators=1, splitter="greedy").fit(table, y > 3)
    assert_same(model.predict(table), model.predict(WORDS))
    for read in (model.predict, model.ensemble_.raw_predict):
        with refused("X has the columns of the model in another order"):
            read(table.select(["size", "age", "weight", "town"]))


@BOTH
def test_labels_that_are_no_text_are_names_and_have_an_order(estimator, tmp_path):
    target = labels if estimator is GBTClassifier else y
    for columns, names in (
        ([2005, 0, 1], ("2005", "0", "1")),
        ([0, 1, 2], ("x0", "x1", "x2")),
        ([2, 0, 1], ("x2", "x0", "x1")),
    ):
        frame = pd.DataFrame(X, columns=columns)
        model = estimator(n_estimators=2, min_child_weight=0, splitter="greedy").fit(frame, target)
        model.save(tmp_path / "model.json")
        for same in (model, load(tmp_path / "model.json")):
            assert same.ensemble_.feature_names == names
            np.testing.assert_array_equal(same.predict(frame), same.predict(X))
            for read in (same.predict, same.ensemble_.raw_predict):
                with refused("the columns of the model in another order"):
                    read(frame.iloc[:, [1, 0, 2]])


def test_booleans_among_objects_are_labels():
    given = np.array(labels == labels[0], dtype=object)
    model = GreedyClassifier(n_estimators=2, min_child_weight=0).fit(X, given)
    same = GreedyClassifier(n_estimators=2, min_child_weight=0).fit(X, given.astype(bool))
    assert model.classes_.dtype == bool
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    assert tree_inner(model, X + 0.1, given).values.shape == (X.shape[1],)
    assert model.score(X, given) == same.score(X, given.astype(bool))
    with pytest.raises(ValueError, match=r"[Mm]ix of"):
        model.score(X, given.astype(str).astype(object))


def test_numbers_are_scored_against_numbers():
    with pytest.raises(ValueError, match="y must be numbers, and holds text"):
        GreedyRegressor(n_estimators=2).fit(X, y).score(X, labels)


NO_COLUMN = "names 'z', which is no column of X; these are 'x0', 'x1'"


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("monotone_constraints", {"z": 1}, NO_COLUMN),
        ("monotone_constraints", {2: 1}, "has column 2; X has the columns 0 to 1"),
        ("monotone_constraints", [1], "has 1 numbers, and X has 2 columns"),
        ("monotone_constraints", np.array([1, 0, 0]), "has 3 numbers, and X has 2 columns"),
        ("interaction_constraints", [["z"]], NO_COLUMN),
        ("interaction_constraints", [[0, 2]], "has column 2; X has the columns 0 to 1"),
    ],
)
def test_constraints_of_a_table_of_two_columns(name, given, message):
    with refused(f"{name} {message}"):
        GBTRegressor(**{name: given}).fit(X[:, :2], y)


@pytest.mark.parametrize(("p", "last"), [(10, "'x9'."), (11, "'x9', ...")])
def test_a_message_lists_ten_columns(p, last):
    X = pd.DataFrame(np.eye(20, p), columns=[f"x{k}" for k in range(p)])
    with pytest.raises(ValueError, match="these are 'x0', 'x1', .*" + re.escape(last)):
        GBTRegressor(monotone_constraints={"z": 1}).fit(X, np.arange(20.0))
