"""Rows in shares: the model of a table of Dask is that of the same rows in memory, to the bit.

That it is for any table, cut anywhere, is tested in ``tests.gbt.training.test_same_model``.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone

from gbt import GBTClassifier, GBTRegressor
from gbt.estimators.defaults import LARGEST_UNBIASED, POOLED
from gbt.splitting.greedy import Greedy
from gbt.training.distributed import exact_search
from gbt.training.distributed import table as tables
from gbt.training.distributed.leader import _nearest
from gbt.training.distributed.member import Member
from gbt.training.distributed.packing import packed
from gbt.training.distributed.table import SharedRows
from tests.asserts import assert_same, assert_same_model, peer
from tests.gbt.training.test_same_model import cut
from tests.greedy import GreedyRegressor

RNG = np.random.default_rng(0)


def test_a_query_in_several_chunks_is_refused_and_shuffled_into_one():
    dd = peer("dask.dataframe")
    table = pd.DataFrame(RNG.normal(size=(200, 2)), columns=["a", "b"])
    table["query"] = [f"shoes {q}" for q in RNG.integers(0, 20, 200)]
    table["grade"] = RNG.integers(0, 3, 200)
    asked = {"loss": "ndcg", "n_estimators": 5, "splitter": "greedy", "random_state": 0}
    model = GBTRegressor(**asked, early_stopping_rounds=3, n_jobs=2)

    def fitted_and_score(rows):
        X, beside = rows[["a", "b"]], {"groups": rows["query"]}
        fitted = clone(model).fit(X, rows["grade"], **beside)
        return fitted, fitted.score(X, rows["grade"], **beside)

    frame = dd.from_pandas(table, npartitions=3)
    with pytest.raises(ValueError, match="are of one query, but lie in chunks 0 and ") as caught:
        fitted_and_score(frame)
    first, second = (int(word) for word in str(caught.value).split()[1:4:2])
    assert table["query"][first] == table["query"][second]
    shuffled = frame.shuffle("query").persist()
    (shared, score), (in_memory, expected) = map(fitted_and_score, (shuffled, shuffled.compute()))
    assert_same_model(shared, in_memory)
    assert_same(shared.sampled_rows(0), in_memory.sampled_rows(0))
    assert score == expected


@pytest.mark.parametrize("splitter", ["greedy", "cross_validated"])
@pytest.mark.parametrize(("least", "n_nodes"), [(79.0, 3), (80.0, 1)])
def test_a_split_has_to_gain_more_than_the_least(least, n_nodes, splitter):
    """Gradients of 2 and -2, ten rows on either side: 20^2 / 10 twice."""
    x = np.repeat([0.0, 1.0], 10)[:, np.newaxis]
    asked = {"max_depth": 1, "splitter": splitter, "reg_lambda": 0.0, "min_split_gain": least}
    asked["monotone_constraints"] = [0]  # which constrains nothing
    for rows in (x, cut(x, [7])):
        assert len(GBTRegressor(1, **asked).fit(rows, 4 * x[:, 0]).ensemble_.feature) == n_nodes


def test_bins_are_not_looked_into_where_no_cut_gains_the_least(monkeypatch):
    """The best gains 75: 150 rows on either side, 1/2 from the mean. The least is twice that."""
    monkeypatch.setattr(Member, "look_at_values", None)
    x = np.arange(300.0)[:, np.newaxis]
    stump = GreedyRegressor(1, max_depth=1, reg_lambda=0.0, min_split_gain=150.0)
    assert len(stump.fit(cut(x, [7]), x[:, 0] >= 150).ensemble_.feature) == 1


@pytest.mark.parametrize(("doubt", "known"), [(2.0**-60, 1.5), (2.0**-52, None)])
def test_a_sum_whose_last_bit_is_in_doubt_is_added_up_exactly(doubt, known):
    """Numbers next to 1.5 are 2^-52 away; each of two members may be off by half of the doubt."""
    assert _nearest(np.array([[doubt / 2, 0.5], [doubt / 2, 1.0]])) == known


def test_a_gain_that_may_be_rounding_splits_nothing():
    """Both sides have the same sum of y, but for last bits."""
    x, left = np.repeat([0.0, 1.0], 30)[:, np.newaxis], np.random.default_rng(0).random(30)
    y = np.r_[left, left + 0.3 * np.r_[1.0, -1.0, np.zeros(28)]]
    for rows in (x, cut(x, [7])):
        stump = GreedyRegressor(1, max_depth=1, reg_lambda=0.0, min_child_weight=0.0).fit(rows, y)
        assert len(stump.ensemble_.feature) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["continuous", "heavy ties", "few values in the sample"])
def test_columns_of_more_values_than_bins(dtype, kind, monkeypatch):
    """Coarse bins, fine ones and single values are all looked into.

    Where the sample has few values there are no fine bins, but other rows have other values.
    """
    monkeypatch.setattr(exact_search, "FEW_IN_ALL", 0)
    if kind == "few values in the sample":
        monkeypatch.setattr(tables, "SAMPLED", 100)
        monkeypatch.setattr(Member, "look_into_bins", None)
    X = RNG.normal(size=(20_000, 3)).astype(dtype)
    if kind == "heavy ties":
        X[RNG.random(X.shape) < 0.5] = 0.25
    y = X[:, 0] * X[:, 1] + RNG.normal(size=len(X))
    in_memory = GreedyRegressor(n_estimators=3).fit(X, y)
    shared = GreedyRegressor(n_estimators=3, n_jobs=2)
    assert_same_model(in_memory, shared.fit(cut(X, [10, 7_000, 7_000, 15_001]), y))


@pytest.mark.parametrize("n_rows", [60, LARGEST_UNBIASED * 5 // 4])
def test_auto_grows_the_trees_that_it_grows_in_memory(n_rows):
    """Few rows are brought here, for unbiased trees; many stay where they are."""
    X = RNG.normal(size=(n_rows, 2))
    y = X[:, 0] + RNG.normal(size=n_rows)
    asked = {"n_estimators": 3, "random_state": 0, "early_stopping_rounds": 2, "refit": True}
    tables = X, cut(X, [17, n_rows // 2])
    in_memory, shared = (GBTRegressor(**asked).fit(rows, y) for rows in tables)
    assert in_memory.splitter_ == shared.splitter_ == (POOLED if n_rows == 60 else "greedy")
    assert_same_model(in_memory, shared)


def test_auto_gathers_no_large_table_of_which_trees_see_few_rows(monkeypatch):
    """These trees are unbiased, and their rows stay where they are."""
    monkeypatch.setattr(SharedRows, "in_memory", None)
    X = RNG.normal(size=(LARGEST_UNBIASED + 1, 2))
    asked = {"n_estimators": 3, "subsample": 0.1, "random_state": 0}
    in_memory, shared = (GBTRegressor(**asked).fit(rows, X[:, 0]) for rows in (X, cut(X, [17])))
    assert shared.splitter_ == POOLED
    assert_same_model(in_memory, shared)


def test_predictions_are_lazy_and_the_same():
    X = RNG.normal(size=(60, 2))
    label = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    model, table = GBTClassifier(n_estimators=3).fit(X, label), cut(X, [5, 5, 41])
    methods = ("predict", "predict_proba", "predict_log_proba", "decision_function", "apply")
    for name in methods:
        lazy = getattr(model, name)(table)
        assert isinstance(lazy, peer("dask.array").Array)
        assert_same(lazy.compute(), getattr(model, name)(X))
        assert lazy.dtype == getattr(model, name)(X).dtype
    for name in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
        stages = getattr(model, name)
        for lazy, now in zip(stages(table), stages(X), strict=True):
            assert_same(lazy.compute(), now)


class OfTheirOwn(Greedy):
    """A policy that is asked node by node."""


IN_MEMORY, Y = r".*X\.compute\(\)", np.arange(20.0)
REFUSED = [  # parameters, rows, other arguments of fit, what is said
    ({"splitter": OfTheirOwn()}, np.eye(20), {}, "splitter=" + IN_MEMORY),
    ({"monotone_constraints": [1, *[0] * 19]}, np.eye(20), {}, "monotone_constraints=" + IN_MEMORY),
    ({"max_leaves": 4}, np.eye(20), {}, "max_leaves=" + IN_MEMORY),
    ({"warm_start": True}, np.eye(20), {}, "warm_start=" + IN_MEMORY),
    ({"train_score": True}, np.eye(20), {}, "train_score=" + IN_MEMORY),
    ({"loss": "cox"}, np.eye(20), {"y": np.ones((20, 2))}, "loss='cox' is not .* all rows at risk"),
    ({}, np.eye(20), {"init_score": Y}, r"init_score needs rows in memory: X\.compute\(\)"),
    ({}, np.ones((20, 2)), {"y": Y[1:]}, "y has 19 rows and X has 20"),
    ({}, np.ones((20, 2)), {"y": np.full(20, np.nan)}, "y is nan in row 0"),
    ({}, np.full((20, 2), np.inf), {}, "inf"),
    ({}, np.ones((1, 2)), {"y": Y[:1]}, "at least two"),
]


@pytest.mark.parametrize(("parameters", "X", "others", "said"), REFUSED)
def test_what_is_refused_by_name(parameters, X, others, said):
    model = GBTRegressor(**{"splitter": "greedy"} | parameters)
    with pytest.raises(ValueError, match=said):
        model.fit(cut(X, [len(X) // 2]), **{"y": Y} | others)
    assert not hasattr(model, "ensemble_")


def test_sparse_chunks_are_refused_by_name():
    sparse = cut(np.eye(20), [10]).map_blocks(csr_matrix)
    with pytest.raises(ValueError, match=r"sparse rows.*X\.compute\(\)"):
        GreedyRegressor().fit(sparse, Y)


def words(n=600):
    """Return a frame of words, categories, numbers with few values and others, and targets."""
    rng = np.random.default_rng(3)
    towns = pd.Categorical.from_codes(rng.integers(-1, 5, n), list("zyxwv"))
    word = rng.choice([f"w{i}" for i in range(60)], n)
    frame = pd.DataFrame({"a": rng.normal(size=n), "town": towns, "word": word})
    frame["b"] = np.round(rng.normal(size=n), 1)
    is_high = frame["word"].isin([f"w{i}" for i in range(0, 60, 3)]).to_numpy()
    y = frame["a"] + 2.0 * frame["town"].isin(["z", "v"]) + is_high + rng.normal(size=n)
    return frame, y.to_numpy(), rng.random(n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("of", ["numbers", "three classes"])
@pytest.mark.parametrize("splitter", ["greedy", "unbiased"])
@pytest.mark.parametrize("n_partitions", [1, 7])
def test_categories_have_one_dictionary_for_all_partitions(n_partitions, splitter, of, weighted):
    frame, y, weight = words()
    dd = peer("dask.dataframe")
    weight = weight if weighted else None
    estimator, target = GBTRegressor, y
    if of == "three classes":
        estimator, target = GBTClassifier, np.digitize(y, [0.0, 1.5])
    asked = {"n_estimators": 15, "splitter": splitter, "random_state": 0}
    in_memory = estimator(**asked).fit(frame, target, weight)
    table = dd.from_pandas(frame.assign(target=target, weight=weight), npartitions=n_partitions)
    rows, beside = table[[*frame]], table["weight"] if weighted else None
    shared = estimator(**asked, n_jobs=3).fit(rows, table["target"], beside)
    assert_same_model(in_memory, shared)
    assert shared.feature_names_in_.tolist() == [*frame]
    has_set = in_memory.ensemble_.level_sets.of_node >= 0
    found = set(in_memory.ensemble_.feature[has_set].tolist())
    assert found == ({1, 2} if splitter == "greedy" else found | {1})
    assert_same(shared.predict(rows).compute(), in_memory.predict(frame))


def test_partitions_may_number_their_categories_each_in_its_own_way():
    dd = peer("dask.dataframe")
    frame, y, _ = words()
    parts = [frame[:200], frame[200:250], frame[250:]]
    for part in parts:
        part["town"] = pd.Categorical(part["town"], part["town"].dropna().unique()[::-1])
    table = dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])
    asked = {"n_estimators": 5, "splitter": "greedy"}
    in_memory = GBTRegressor(**asked).fit(frame, y)
    assert_same_model(in_memory, GBTRegressor(**asked, n_jobs=2).fit(table, y))


def test_what_levels_may_not_be_is_refused_by_name():
    dd = peer("dask.dataframe")
    model = GreedyRegressor()
    many = pd.DataFrame({"a": np.arange(256.0), "town": [f"t{i}" for i in range(256)]})
    with pytest.raises(ValueError, match=r"'town' has 256 levels.*255.*X\.compute\(\)"):
        model.fit(dd.from_pandas(many, npartitions=2), np.arange(256.0))
    mixed = cut(np.array([[1, 2], ["a", 3]], dtype=object), [1])
    model.categorical_features = [0]
    with pytest.raises(ValueError, match="words such as 'a' and numbers such as 1"):
        model.fit(mixed, np.arange(2.0))


def test_dask_tells_models_with_the_same_parameters_apart():
    """Results are cached by these tokens; to Dask a dataclass is nothing but its parameters."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    tokenize = peer("dask.base").tokenize
    one, other = (GBTRegressor(n_estimators=2, random_state=0).fit(X, y) for y in X.T)
    assert tokenize(one) == tokenize(clone(one).fit(X, X[:, 0])) != tokenize(other)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=64, max_size=64), st.integers(0, 62))
def test_numbers_are_sent_in_as_few_bytes_as_they_need_and_arrive(numbers, shift):
    sums = (np.array(numbers) >> shift).reshape(2, 8, 4)
    word, (arrived,) = pickle.loads(packed(("as it is", [sums])))
    assert_same(arrived, sums)
    assert word == "as it is"
    assert len(packed(sums)) - len(packed(0 * sums)) <= 64 * (8 - shift // 8)
