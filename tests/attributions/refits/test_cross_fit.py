"""Every row judges the features, by a model that has not seen it."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from attributions import (
    HeldOutSelector,
    absolute,
    cross_fit,
    forest_inner,
    held_out_gain,
    partial_inner,
    partial_inner_rows,
    permutation,
    predecomp,
    tree_inner,
    tree_inner_rows,
)
from attributions.reference import definitions as reference
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same, peer
from tests.attributions.refits.test_selector import table
from tests.greedy import GreedyClassifier, GreedyRegressor

MODEL = GreedyRegressor(n_estimators=10, max_depth=2)
WIDER = 1.2  # than independent rows would have it: folds vary together (docs/inference.md)


def out_of_fold(rows, folds, X, y):
    """Return the contributions of all rows, each by the model that has not seen it."""
    values = np.empty(X.shape)
    for fitted_on, held_out in folds:
        model = clone(MODEL).fit(X[fitted_on], y[fitted_on])
        values[held_out] = rows(model, X[held_out], y[held_out]).values
    return values


@pytest.mark.parametrize(
    ("measure", "rows"), [(tree_inner, tree_inner_rows), (partial_inner, partial_inner_rows)]
)
def test_it_is_the_sum_of_out_of_fold_rows(measure, rows):
    """The standard error is 1.2 times that about the common mean, within folds and between them."""
    X, y = table(n=90, p=3)
    folds = KFold(4)
    values = out_of_fold(rows, folds.split(X), X, y)

    result = cross_fit(MODEL, X, y, measure, cv=folds)

    assert not hasattr(MODEL, "ensemble_")
    terms = np.abs(values).sum(axis=0)
    assert_close(result.values, values.sum(axis=0), terms)
    expected = WIDER * reference.standard_error(values, np.arange(90))
    assert_close(result.standard_error, expected, terms)
    assert result.n_samples == 90


@pytest.mark.parametrize("cv", [KFold(3), TimeSeriesSplit(2, test_size=30)])
def test_held_out_gain_of_several_models_adds_up(cv):
    """Each model's value on the rows that it has not seen; per cent are of the folds' constants."""
    X, y = table(n=90, p=3)
    folds = [*cv.split(X)]
    alone = [
        held_out_gain(clone(MODEL).fit(X[fitted_on], y[fitted_on]), X[held_out], y[held_out])
        for fitted_on, held_out in folds
    ]
    result = cross_fit(MODEL, X, y, cv=cv)
    size = sum(np.abs(one.values) for one in alone)
    assert_close(result.values, sum(one.values for one in alone), size)
    constant = sum(((y[held_out] - y[held_out].mean()) ** 2).sum() / 2 for _, held_out in folds)
    per_cent = 100 * 0.1 * result.values / (2 * constant)
    assert_close(result.percent(), per_cent, np.abs(per_cent).sum())
    squares = sum(one.standard_error**2 * 29 / 30 for one in alone)
    means = np.array([one.values / 30 for one in alone])
    squares = squares + 30 * ((means - means.mean(axis=0)) ** 2).sum(axis=0)
    expected = WIDER * np.sqrt(squares / (1 - 1 / (30 * len(folds))))
    assert_close(result.standard_error, expected, result.standard_error)


def test_a_number_of_folds_shuffles_and_is_seeded():
    X, y = table(n=90, p=3)
    order = np.argsort(y)
    X, y = X[order], y[order]  # folds of neighbours would each miss a range of y
    result = cross_fit(MODEL, X, y, cv=3)
    folds = KFold(3, shuffle=True, random_state=0)
    assert_same(result.values, cross_fit(MODEL, X, y, cv=folds).values)
    assert (result.values != cross_fit(MODEL, X, y, cv=3, random_state=1).values).any()
    assert result.method == "held_out_gain(3 fits)"
    named = cross_fit(MODEL, X, y, tree_inner, cv=3)
    assert named.method == "tree_inner(3 fits, predecomp)"
    assert (result.p_values()[:2] < 0.01).all()
    target = partial(forest_inner, variant="target")
    named = cross_fit(MODEL, X, y, target, cv=3)
    assert named.method == "forest_inner(3 fits, predecomp, target)"
    with pytest.raises(ValueError, match="has no p-values"):
        named.p_values()


def lists(n_queries=30):
    """Return rows in any order, their grades and queries of four rows."""
    rng = np.random.default_rng(0)
    query = rng.permutation(np.repeat(np.arange(n_queries), 4))
    X = rng.normal(size=(len(query), 3))
    return X, (X[:, 0] + rng.normal(size=len(X)) > 0) * 1.0, query


@pytest.mark.parametrize("loss", ["ndcg", "pairwise"])
def test_rankers_are_fitted_to_whole_queries_and_judged_by_others(loss):
    X, grade, query = lists()
    ranker, pairs = clone(MODEL).set_params(loss=loss), np.column_stack([grade, query])
    expected = 0.0
    for fitted_on, held_out in GroupKFold(3).split(X, grade, query):
        model = clone(ranker).fit(X[fitted_on], grade[fitted_on], groups=query[fitted_on])
        judged = X[held_out], grade[held_out]
        expected += held_out_gain(model, *judged, groups=query[held_out]).values
    result = cross_fit(ranker, X, grade, groups=query, cv=3)
    assert_same(result.values, expected)
    assert result.groups.tolist() == [*range(30)]
    for given in (pairs, pandas.DataFrame(pairs)):
        assert_same(cross_fit(ranker, X, given, cv=3).standard_error, result.standard_error)
    step = make_pipeline(StandardScaler(), ranker)
    assert_close(cross_fit(step, X, grade, groups=query, cv=3).values, expected, 100.0)
    by_user = cross_fit(ranker, X, pairs, groups=query // 3, cv=3)
    assert by_user.groups.tolist() == [*range(10)]
    for options in ({"cv": [*KFold(3).split(X)]}, {"groups": np.arange(120) // 6}):
        with pytest.raises(ValueError, match=r"Row \d+ is to be fitted, and others of its query"):
            cross_fit(ranker, X, pairs, **options)
    with pytest.raises(ValueError, match="give groups="):
        cross_fit(ranker, X, grade)


def test_a_class_in_a_single_fold_is_named_with_what_to_do():
    X, y = table(n=60, p=2)
    labels, rows = np.where(y > 0, "high", "low"), [np.arange(30), np.arange(30, 60)]
    classifier = GreedyClassifier(n_estimators=2)
    message = "All rows of the class rare judge in the same fold.* Leave out classes of a single"
    with pytest.raises(ValueError, match=message), pytest.warns(UserWarning, match="least populat"):
        cross_fit(classifier, X, np.append(labels[:59], "rare"), cv=3)
    of_half = np.where(np.arange(60) < 30, "rare", labels)
    with pytest.raises(ValueError, match=message):
        cross_fit(classifier, X, of_half, cv=[rows[::-1]])
    assert len(cross_fit(classifier, X, of_half, cv=3)) == 2

    def looks_at_no_targets(model, X, y):
        return absolute(model, X)

    cross_fit(classifier, X, of_half, looks_at_no_targets, cv=[rows[::-1]])


RANKERS = {
    "lightgbm": ("LGBMRanker", {"n_estimators": 5, "min_child_samples": 3, "verbose": -1}),
    "xgboost": ("XGBRanker", {"n_estimators": 5}),
    "catboost": (
        "CatBoostRanker",
        {"iterations": 5, "verbose": 0, "allow_writing_files": False, "loss_function": "QueryRMSE"},
    ),
}


@pytest.mark.parametrize("library", RANKERS)
def test_rankers_of_other_libraries_are_told_of_queries_in_their_own_words(library):
    X, grade, query = lists()
    name, parameters = RANKERS[library]
    ranker, weight = getattr(peer(library), name)(**parameters), 1.0 + query % 2
    expected = 0.0
    for fitted_on, held_out in GroupKFold(3).split(X, grade, query):
        rows = fitted_on[np.argsort(query[fitted_on], kind="stable")]
        told = {
            "lightgbm": {"group": np.repeat(4, len(rows) // 4), "sample_weight": weight[rows]},
            "xgboost": {"qid": query[rows], "sample_weight": weight[rows][::4]},
            "catboost": {"group_id": query[rows], "sample_weight": weight[rows]},
        }
        model = clone(ranker).fit(X[rows], grade[rows], **told[library])
        given = {"groups": query[held_out], "sample_weight": weight[held_out]}
        expected += held_out_gain(model, X[held_out], grade[held_out], **given).values
    own = {"sample_weight": weight, "cv": 3}
    assert_same(cross_fit(ranker, X, grade, groups=query, **own).values, expected)
    step = make_pipeline(StandardScaler(with_mean=False, with_std=False), ranker)
    assert_same(cross_fit(step, X, np.column_stack([grade, query]), **own).values, expected)
    with pytest.raises(ValueError, match="give groups="):
        cross_fit(ranker, X, grade)


def test_a_selector_cuts_no_query_in_two():
    X, grade, query = lists(60)
    ranker = clone(MODEL).set_params(loss="ndcg")
    selector = HeldOutSelector(ranker, cv=None).fit(X, grade, groups=query)
    judges = np.isin(query, selector.attribution_.groups)
    assert judges.sum() == 120
    model = clone(ranker).fit(X[~judges], grade[~judges], groups=query[~judges])
    assert_same(selector.estimator_.predict(X), model.predict(X))
    expected = held_out_gain(model, X[judges], grade[judges], groups=query[judges]).p_values()
    assert_same(selector.p_values_, expected)
    pairs = np.column_stack([grade, query])
    assert_same(HeldOutSelector(ranker, cv=None).fit(X, pairs).p_values_, expected)


@pytest.mark.parametrize("cv", [4, LeaveOneGroupOut()])
def test_groups_are_kept_whole_and_counted(cv):
    X, y = table(n=90, p=3)
    groups = np.arange(90) % 6
    result = cross_fit(MODEL, X, y, tree_inner, cv=cv, groups=pandas.Series(groups))
    assert_same(np.sort(result.groups), np.arange(6))
    if cv != 4:
        values = out_of_fold(tree_inner_rows, cv.split(X, y, groups), X, y)
        expected = WIDER * reference.standard_error(values, groups)
        assert_close(result.standard_error, expected, np.abs(values).sum(axis=0))


def test_what_is_made_of_the_result_allows_for_folds_too():
    """Sums of features and merged results: by second moments, and by the sums of groups."""
    X, y = table(n=90, p=3)
    groups, folds = np.arange(90) % 6, LeaveOneGroupOut()
    values = out_of_fold(tree_inner_rows, folds.split(X, y, groups), X, y)
    size = np.abs(values).sum(axis=0)
    both = values[:, [0, 1]].sum(axis=1, keepdims=True)
    for options, labels in (
        ({"cv": [*folds.split(X, y, groups)]}, np.arange(90)),
        ({"cv": folds, "groups": groups}, groups),
    ):
        measure = partial(tree_inner, second_moments=labels is not groups)
        result = cross_fit(MODEL, X, y, measure, **options)
        assert_close(result.values, values.sum(axis=0), size)
        of_both = result.grouped({"both": ["x0", "x1"]})
        expected = WIDER * reference.standard_error(both, labels)
        assert_close(of_both.standard_error[0], expected[0], size.sum())
    assert_close(result.contributions.sum(axis=0), result.values, size)
    twice = result.merge(replace(result, groups=result.groups + 6))
    n = len(result.groups)
    factor = np.sqrt(2 * (2 * n / (2 * n - 1)) * ((n - 1) / n))  # of sums of squares about one mean
    assert_close(twice.standard_error, factor * result.standard_error, size)


def test_results_without_errors_stay_without():
    X, y = table(n=60, p=2)
    measure = partial(tree_inner, standard_error=False)
    result = cross_fit(MODEL, X, y, measure, cv=KFold(3))
    assert result.standard_error is None
    expected = cross_fit(MODEL, X, y, tree_inner, cv=KFold(3)).values
    assert_close(result.values, expected, np.abs(expected) + 1)


@pytest.mark.parametrize(
    ("measure", "ask", "words"),
    [
        (None, "grouped", r"from_rows\(held_out_gain_rows\(.*held_out_gain\(.*second_moments"),
        (held_out_gain, "grouped", r"cross_fit\(.*partial\(held_out_gain, second_moments=True\)"),
        (tree_inner, "grouped", r"cross_fit\(.*partial\(tree_inner, second_moments=True\)"),
        (None, "bootstrap-t", r"from_rows\(held_out_gain_rows\("),
        (held_out_gain, "bootstrap-t", "Take method='normal', which allows for several fits"),
    ],
)
def test_errors_tell_how_to_keep_what_is_needed(measure, ask, words):
    X, y = table(n=60, p=2)
    if measure is None:
        model = clone(MODEL).fit(X[:30], y[:30])
        result = held_out_gain(model, X[30:], y[30:], second_moments=False)
    else:
        result = cross_fit(MODEL, X, y, partial(measure, second_moments=False), cv=3)
    asked = {
        "grouped": lambda: result.grouped({"both": ["x0", "x1"]}),
        "bootstrap-t": lambda: result.confidence_interval(method="bootstrap-t"),
    }
    with pytest.raises(ValueError, match=words):
        asked[ask]()


def test_what_no_targets_judge_has_the_error_of_independent_rows():
    X, y = table(n=90, p=3)
    folds = KFold(3)
    values = np.abs(out_of_fold(lambda model, X, y: predecomp(model, X), folds.split(X), X, y))
    result = cross_fit(MODEL, X, y, lambda m, X, y: absolute(m, X, level="forest"), cv=folds)
    assert_close(result.values, values.sum(axis=0), values.sum(axis=0))
    expected = reference.standard_error(values, np.arange(90))
    assert_close(result.standard_error, expected, values.sum(axis=0))


def test_folds_that_share_rows_are_refused():
    X, y = table(n=40, p=2)
    with pytest.raises(ValueError, match=r"80 rows, 40 of them different; .* no row may be in two"):
        cross_fit(MODEL, X, y, cv=[*KFold(2).split(X)] * 2)
    with pytest.raises(ValueError, match="80 rows, 40 of them different"):  # counted from the end
        cross_fit(
            MODEL, X, y, cv=[(np.arange(9), np.arange(40)), (np.arange(9), np.arange(-40, 0))]
        )
    with pytest.raises(ValueError, match="of several models cannot be added"):
        cross_fit(MODEL, X, y, permutation, cv=2)
    with pytest.raises(TypeError, match=r"cv must be a number of folds, a splitter .* got '5'"):
        cross_fit(MODEL, X, y, cv="5")
    with pytest.raises(ValueError, match="cv has no folds"):
        cross_fit(MODEL, X, y, cv=[])
    with pytest.raises(TypeError, match="measure returned AttributionByLabel"):
        cross_fit(MODEL, X, y, partial(held_out_gain, by=np.repeat([0, 1], 10)), cv=2)


def test_the_doubts_of_single_models_are_no_doubts_of_their_sum():
    X, y = table(n=90, p=3)
    result = cross_fit(MODEL, X, y, partial(tree_inner, training=(X, y)), cv=3)
    assert result.is_reliable is None
    assert_same(result.p_values(), cross_fit(MODEL, X, y, tree_inner, cv=3).p_values())


def test_missing_labels_are_refused_before_rows_are_cut():
    X = np.arange(24.0).reshape(12, 2)
    y = np.array(["a", "b", None] * 4, dtype=object)
    for cut in (partial(cross_fit, GreedyClassifier()), HeldOutSelector(GreedyClassifier()).fit):
        with pytest.raises(ValueError, match=r"got NoneType and str. Missing labels are not"):
            cut(X, y)


def test_a_list_that_catboost_copies_is_to_be_a_tuple():
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(
        {"a": rng.normal(size=90), "city": rng.choice(["Bern", "Lima", "Oslo"], 90)}
    )
    y = X["a"] + (X["city"] == "Oslo")
    model = catboost.CatBoostRegressor(
        iterations=3, depth=2, verbose=0, allow_writing_files=False, cat_features=["city"]
    )
    with pytest.raises(ValueError, match=r"If it is a list, as of cat_features of CatBoost"):
        cross_fit(model, X, y, cv=3)
    model.set_params(cat_features=("city",))
    assert cross_fit(model, X, y, cv=3).feature_names == ("a", "city")
    model.set_params(one_hot_max_size=3)  # levels of which the model keeps hashes alone
    found, expected = cross_fit(model, X, y, cv=KFold(3)), 0.0
    for train, test in KFold(3).split(X):
        fitted = as_ensemble(clone(model).fit(X.iloc[train], y[train]), X.iloc[train])
        expected = expected + held_out_gain(fitted, X.iloc[test], y[test]).values
    assert_close(found.values, expected, 99.0)
