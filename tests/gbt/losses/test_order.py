"""Losses of an order: by hand, and against peers; forms of queries, and fits.

That derivatives and values are those of the page `test_every_loss` tells.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import ndcg_score

from gbt import GBTClassifier, GBTRegressor
from gbt.formats import as_ensemble
from gbt.losses import NDCG, Pairwise
from tests.asserts import assert_same, peer


def table(n_queries=60, seed=0, sizes=(2, 12)):
    """Draw a search log: measurements with gaps, grades from 0 to 3, labels of queries."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), rng.integers(*sizes, n_queries))
    X = rng.normal(size=(len(query), 4))
    signal = X[:, 0] + (X[:, 1] > 0.3) + rng.normal(size=n_queries)[query]
    grade = np.digitize(signal + rng.normal(size=len(query)) / 2, [0.5, 1.2, 2.0])
    X[rng.random(X.shape) < 0.1] = np.nan
    order = rng.permutation(len(query))
    return X[order], grade[order], query[order]


def pairs_of(grade, query):
    return np.column_stack([grade, query])


def ranker(loss="ndcg", **parameters):
    asked = {"n_estimators": 12, "max_depth": 3, "splitter": "greedy", **parameters}
    return GBTRegressor(loss=loss, **asked)


def test_three_rows_by_hand():
    """Odds of 2 against 1, and of 4 against 1, that the best row comes first."""
    y, f = pairs_of([2, 0, 0], [7, 7, 7]).astype(float), np.log([4.0, 2.0, 1.0])
    gradient, hessian = Pairwise().gradient_hessian(y, f)
    np.testing.assert_allclose(gradient, np.array([-1 / 3 - 1 / 5, 1 / 3, 1 / 5]) / 3, rtol=1e-14)
    np.testing.assert_allclose(hessian, np.array([2 / 9 + 4 / 25, 2 / 9, 4 / 25]) / 3, rtol=1e-14)
    loss = (np.log(3 / 2) + np.log(5 / 4)) / 3
    np.testing.assert_allclose(Pairwise().value(y, f), [loss, 0, 0], rtol=1e-14)
    second = 1 / np.log2(3)
    gradient, _ = NDCG().gradient_hessian(y, f)
    np.testing.assert_allclose(gradient[1:], [(1 - second) / 3, (1 - 1 / 2) / 5], rtol=1e-14)
    assert NDCG().score(y, -f, np.ones(3)) == pytest.approx(1 / 2)
    assert NDCG().score(y, 0 * f, np.ones(3)) == pytest.approx((1 + second + 1 / 2) / 3)
    assert NDCG(at=1).score(y, f[::-1], np.ones(3)) == 0


@pytest.mark.parametrize("at", [None, 3])
def test_the_score_is_scikit_learns_of_the_gains(at):
    _, grade, query = table(seed=3)
    f = np.random.default_rng(0).integers(0, 4, len(query)).astype(float)
    expected = [
        ndcg_score([2.0 ** grade[own] - 1], [f[own]], k=at)
        for own in (query == q for q in np.unique(query))
        if np.ptp(grade[own]) > 0
    ]
    score = NDCG(at=at).score(pairs_of(grade, query).astype(float), f, np.ones(len(f)))
    assert score == pytest.approx(np.mean(expected), abs=1e-12)


@pytest.mark.parametrize("loss", [Pairwise(), NDCG(), NDCG(at=2)])
def test_threads_share_the_queries(loss, monkeypatch):
    monkeypatch.setattr("gbt.losses.ranking.queries.PAIRS_OF_THREAD", 1)
    rng = np.random.default_rng(0)
    y = np.column_stack([rng.integers(0, 4, 300), np.sort(rng.integers(0, 30, 300))])
    f = rng.normal(size=300).round(1)
    by_one, by_three = (loss.gradient_hessian(loss.prepared(y, 1.0, n), f) for n in (1, 3))
    assert_same(by_three, by_one)


def test_all_forms_of_queries_are_one():
    X, grade, query = table(30)
    words = np.array([f"shoes {q}" for q in query])
    models = [
        ranker().fit(X, grade, groups=query),
        ranker().fit(X, pairs_of(grade, query)),
        ranker().fit(X, grade.tolist(), groups=words.tolist()),
        ranker().fit(pd.DataFrame(X), pd.Series(grade), groups=pd.Series(words)),
        ranker().fit(X, pd.DataFrame({"grade": grade}), groups=query + 2**60),
    ]
    for model in models:
        assert_same(model.predict(X), models[0].predict(X))
    expected = models[0].score(X, grade, groups=query)
    assert models[0].score(X, grade, groups=words) == expected > 0.8
    assert models[0].score(X, pairs_of(grade, query)) == expected
    with pytest.raises(ValueError, match="give groups="):
        models[0].score(X, grade)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y, q: (y, None), r"y has shape \(\d+,\).*give groups=.*eval_groups="),
        (lambda y, q: (np.where(np.arange(len(y)) == 7, np.nan, y), q), "in row 7 the grade nan"),
        (lambda y, q: (np.where(np.arange(len(y)) == 7, 2.5, y), q), "row 7 the grade 2.5.*whole"),
        (lambda y, q: (y - 1, q), "the grade -1; grades are whole numbers from 0 to 31"),
        (lambda y, q: (y + 40, q), "the grade 4[0-3]; grades are whole"),
        (lambda y, q: (0 * y + 2, q), "None of the 60 queries has rows of different grades"),
        (lambda y, q: (y, np.where(np.arange(len(y)) == 7, 99, q)), "Row 7 .* is alone, 1 row of"),
        (lambda y, q: (y, [None if i == 7 else w for i, w in enumerate(q)]), "missing in row 7"),
        (lambda y, q: (y, [pd.NA if i == 7 else w for i, w in enumerate(q)]), "missing in row 7"),
        (lambda y, q: (y, pd.Series([str(w) if w else w for w in q])), "of one type"),
        (lambda y, q: (y, np.bincount(q)), r"groups.* has shape \(60,\).*np.repeat"),
        (lambda y, q: (y.astype(str).astype(object) + "x", q), "grades, which are numbers"),
        (lambda y, q: (pairs_of(y, y), q), r"y has shape .* one grade for each row"),
    ],
)
def test_bad_grades_and_queries_are_named(change, message):
    X, grade, query = table()
    with pytest.raises(ValueError, match=message):
        ranker().fit(X, change(grade, query)[0], groups=change(grade, query)[1])
    bad, groups = change(grade, query)
    with pytest.raises(ValueError, match=message):
        ranker().fit(X, grade, groups=query, eval_set=[(X, bad)], eval_groups=[groups])


def test_what_goes_with_what():
    X, grade, query = table(20)
    with pytest.raises(ValueError, match=r"groups says .*only the losses 'pairwise' and 'ndcg'"):
        GBTRegressor().fit(X, grade, groups=query)
    with pytest.raises(ValueError, match="groups says which rows are ordered"):
        GBTClassifier().fit(X, grade > 1, groups=query)
    with pytest.raises(ValueError, match="one for each of the 1 evaluation sets"):
        ranker().fit(X, grade, groups=query, eval_set=[(X, grade)], eval_groups=query)
    with pytest.raises(ValueError, match=r"sample_weight is .* of the same query"):
        ranker().fit(X, grade, np.arange(1.0, 1 + len(X)), groups=query)
    with pytest.raises(ValueError, match=r"sample_weight is .* and leave out rows that are not"):
        ranker().fit(X, grade, 1.0 * (np.arange(len(X)) > 0), groups=query)
    grade[query == 3] = 2
    with pytest.raises(ValueError, match="zero for every query that has rows of different grades"):
        ranker().fit(X, grade, groups=query).score(X, grade, 1.0 * (query == 3), groups=query)
    with pytest.raises(ValueError, match="at=0; it must be a whole number"):
        NDCG(at=0)


@pytest.mark.parametrize("loss", ["pairwise", "ndcg"])
def test_whole_queries_are_held_out(loss):
    X, grade, query = table(120)
    model = ranker(loss, early_stopping_rounds=5, random_state=0)
    seen = model.fit(X, grade, groups=query).sampled_rows(0)
    assert set(query[seen]).isdisjoint(np.delete(query, seen))
    assert len(np.unique(query[seen])) == 108


def test_evaluation_sets_have_queries_beside_them():
    X, grade, query = table(120)
    new, old = query >= 90, query < 90
    for groups, y in ((query, grade), (None, pairs_of(grade, query))):
        beside = {} if groups is None else {"groups": groups[old], "eval_groups": [groups[new]]}
        model = ranker().fit(X[old], y[old], eval_set=[(X[new], y[new])], **beside)
        score = model.score(X[new], pairs_of(grade, query)[new])
        assert model.evals_result_["eval_0"][-1] == pytest.approx(1 - score, rel=1e-10)


@pytest.mark.parametrize(("share", "use"), [(0.1, "to be held out"), (0.9, "to train on")])
def test_queries_without_order_do_not_stop_a_fit(share, use):
    """Of 20 queries one has an order, and by this seed it is on the larger side."""
    X, grade, query = table(20)
    only = np.flatnonzero(query == 3)
    grade[:] = 0
    grade[only[0]] = 1
    model = ranker(early_stopping_rounds=3, validation_fraction=share, random_state=0)
    with pytest.raises(ValueError, match=f"no query with rows of different grades {use}"):
        model.fit(X, grade, groups=query)


def xgboost_derivatives(objective, X, grade, query, start):
    xgboost = peer("xgboost")
    rows = xgboost.DMatrix(X, grade, qid=query, base_margin=start)
    asked = {
        "objective": objective, "max_depth": 3, "tree_method": "exact",
        "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 100,
        "lambdarank_normalization": False, "lambdarank_score_normalization": False,
    }  # fmt: skip
    return xgboost.train(asked, rows, 1)


def lightgbm_derivatives(objective, X, grade, query, start):
    lightgbm = peer("lightgbm")
    sizes = np.unique(query, return_counts=True)[1]
    rows = lightgbm.Dataset(X, grade, group=sizes, init_score=start)
    asked = {
        "objective": objective, "lambdarank_norm": False, "lambdarank_truncation_level": 100,
        "min_data_in_leaf": 10, "verbose": -1, "num_leaves": 8, "lambda_l2": 1.0,
    }  # fmt: skip
    return lightgbm.train(asked, rows, 1)


@pytest.mark.parametrize(
    ("train", "objective", "loss", "of_gradient", "of_hessian"),
    [
        (xgboost_derivatives, "rank:pairwise", Pairwise(), 6, 12),
        (xgboost_derivatives, "rank:ndcg", NDCG(), 1, 2),
        (lightgbm_derivatives, "lambdarank", NDCG(), 1, 1),
    ],
)
def test_derivatives_are_the_peers_without_their_options(
    train, objective, loss, of_gradient, of_hessian
):
    """In queries of 6 rows, from predictions of which no two are equal."""
    X, grade, query = table(50, sizes=(6, 7))
    order = np.argsort(query, kind="stable")
    X, grade, query = X[order].astype(np.float32), grade[order], query[order]
    start = np.random.default_rng(1).normal(size=len(X))
    theirs = as_ensemble(train(objective, X, grade, query, start))
    assert theirs.loss == loss
    ours = theirs.refit_statistics(X, pairs_of(grade, query), init_score=start)
    assert len(theirs.feature) > 5
    expected = of_gradient * ours.sum_gradient
    np.testing.assert_allclose(theirs.sum_gradient, expected, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(theirs.sum_hessian, of_hessian * ours.sum_hessian, rtol=1e-4)
