"""Held-out gain where rows depend on each other, by Cox's loss or an order, or weigh unequally."""

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

import attributions
from attributions import (
    held_out_gain,
    held_out_gain_rows,
    permutation,
    predecomp,
    tree_inner,
    tree_inner_rows,
)
from attributions.reference import held_out as reference
from gbt import GBTRegressor
from gbt.losses import NDCG, Cox, Gamma, Pairwise, Poisson, Tweedie
from gbt.model.credit import Credit
from gbt.reference import ranking as page
from gbt.reference import survival
from tests.asserts import assert_close, assert_same
from tests.gbt.losses.test_every_loss import by_query
from tests.greedy import GreedyRegressor
from tests.tree_cases import ensemble_of, stump_on

N = 30


def patients(n, seed):
    """Draw three columns, times in half units (with ties), and a third of the rows censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    time = np.ceil(4 * rng.exponential(np.exp(-np.nan_to_num(X[:, 0])))) / 2
    return X, np.column_stack([time, rng.random(n) < 0.7])


@pytest.fixture(scope="module")
def cox_model():
    options = {"n_estimators": 8, "max_depth": 3, "splitter": "greedy"}
    return GBTRegressor(loss="cox", **options).fit(*patients(200, 0))


@pytest.fixture(scope="module")
def judging_patients():
    X, y = patients(N, 1)
    return X, y, np.random.default_rng(2).integers(1, 4, N).astype(float)


def gain_of_page(model, X, y, weight, credit=None, derivatives=survival.cox_derivatives):
    """Return the gain by the plain page, with derivatives of all rows, which depend on weights.

    The second of them is what sides are divided by, as where rows have starting values.
    """
    ensemble = model.ensemble_
    names = ("trees", "is_forest", "learning_rate", "statistics")
    shown = {name: getattr(ensemble, name) for name in names}
    loss = SimpleNamespace(
        name="of all rows", n_outputs=1, inverse_link=lambda f: f,
        gradient_hessian=lambda _, f: derivatives(y, f, weight)[:2],
    )  # fmt: skip
    start = np.full((len(X), 1), ensemble.base_score)
    of_rows = SimpleNamespace(**shown, loss=loss, base_score=start)
    return reference.held_out_gain(of_rows, X, y, weight, credit=credit)


def assert_slopes(parts, gain_of):
    """Check that some rows of parts are the derivatives of the gain by the weights of draws."""
    n, step = len(parts), 1e-4
    for i in (0, n // 2, n - 1):
        move = step * np.eye(n)[i]
        slope = (gain_of(np.ones(n) + move) - gain_of(np.ones(n) - move)) / (2 * step)
        np.testing.assert_allclose(parts[i], slope, atol=1e-5)


def test_gain_and_parts_of_rows_are_those_of_the_definition(cox_model, judging_patients):
    """What a row adds is the derivative of the whole sum by its weight, times that weight."""
    X, y, weight = judging_patients
    result = held_out_gain(cox_model, X, y, sample_weight=weight)
    expected = gain_of_page(cox_model, X, y, weight)
    assert_close(result.values, expected, 100.0, k=1e4)
    parts = held_out_gain_rows(cox_model, X, y).values
    assert_close(parts.sum(axis=0), held_out_gain(cox_model, X, y).values, 100.0)
    assert_slopes(parts, lambda weight: gain_of_page(cox_model, X, y, weight))


def test_on_the_training_rows_the_first_tree_is_worth_its_gain():
    X, y = patients(150, 4)
    options = {"loss": "cox", "n_estimators": 1, "reg_lambda": 0.0, "splitter": "greedy"}
    cox_model = GBTRegressor(**options).fit(X, y)
    with pytest.warns(attributions.SeenRowsWarning):
        result = held_out_gain(cox_model, X, y)
    gain = attributions.total_gain(cox_model).values
    assert gain.min() > 1
    assert_close(result.values, gain, 150.0)


def test_columns_of_one_feature(cox_model, judging_patients):
    X, y, weight = judging_patients
    credit = (0, 0, 1)
    one = replace(cox_model.ensemble_, credit=Credit(credit, ("both", "other")))
    result = held_out_gain(one, X, y, sample_weight=weight)
    assert_close(result.values, gain_of_page(cox_model, X, y, weight, credit=credit), 100.0, k=1e4)
    assert held_out_gain_rows(one, X, y).values.shape == (N, 2)


def test_groups_and_threads(cox_model, judging_patients):
    X, y, weight = judging_patients
    one, two = (held_out_gain(cox_model, X, y, sample_weight=weight, n_jobs=j) for j in (1, 2))
    assert_same(two.values, one.values)
    each = held_out_gain(cox_model, X, y, groups=np.arange(N))
    alone = held_out_gain(cox_model, X, y)
    assert_close(each.standard_error, alone.standard_error, 10.0)


def test_per_cent_are_of_the_loss_of_the_null_model(judging_patients):
    """By hand: the sum over event times of D log(number at risk / D)."""
    X, y = judging_patients[:2]
    cox_model = GreedyRegressor(loss="cox", n_estimators=2).fit(*patients(100, 0))
    null = 0.0
    for time in np.unique(y[y[:, 1] == 1, 0]):
        n_deaths = ((y[:, 0] == time) & (y[:, 1] == 1)).sum()
        null += n_deaths * np.log((y[:, 0] >= time).sum() / n_deaths)
    result = held_out_gain(cox_model, X, y)
    assert_close(result.percent(), 100 * 0.1 * result.values / (2 * null), 10.0)


@pytest.mark.filterwarnings("ignore::attributions.LevelWarning")
def test_other_measures_say_that_rows_depend_on_each_other(cox_model):
    X, y = patients(60, 1)
    for name in ("tree_inner", "partial_inner", "forest_inner", "tree_inner_rows"):
        with pytest.raises(ValueError, match=r"Under the cox loss rows depend.*held_out_gain"):
            getattr(attributions, name)(cox_model, X, y)
    with pytest.raises(ValueError, match=r"Under the cox loss rows depend.*by=labels"):
        attributions.loss_change(cox_model, (X[:30], y[:30]), (X[30:], y[30:]))
    result = permutation(cox_model, X, y, random_state=0, n_repeats=2)
    assert result.method == "permutation(concordance)"
    assert result.values[0] == max(result.values) > 0.05
    raw = cox_model.predict(X)
    assert_close(predecomp(cox_model, X).residual(raw), 0 * raw, 1 + abs(raw))


def test_rows_of_training_are_recognised(cox_model):
    X, y = patients(200, 0)
    with pytest.warns(attributions.SeenRowsWarning, match="200 of the 200"):
        held_out_gain(cox_model, X, y)
    of_file = replace(cox_model.ensemble_, seen_rows=None, loss=Cox())
    with pytest.warns(attributions.SeenRowsWarning):
        held_out_gain(of_file, X, y)


each = pytest.mark.parametrize("loss", [Pairwise(), NDCG(at=3)], ids=["pairwise", "ndcg"])
N_QUERIES = 15


def lists(n_queries, seed):
    """Draw rows in any order, grades from 0 to 2, and the queries of the rows."""
    rng = np.random.default_rng(seed)
    query = rng.permutation(np.repeat(np.arange(n_queries), rng.integers(2, 7, n_queries)))
    X = rng.normal(size=(len(query), 3))
    grade = np.digitize(X[:, 0] + rng.normal(size=len(query)), [0.0, 1.0])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, grade.astype(float), query


def fitted(loss, **options):
    X, grade, query = lists(60, 0)
    asked = {"n_estimators": 8, "max_depth": 3, "splitter": "greedy", **options}
    return GBTRegressor(loss=loss, **asked).fit(X, grade, groups=query)


@pytest.fixture(scope="module")
def judging_lists():
    X, grade, query = lists(N_QUERIES, 1)
    return X, grade, query, np.random.default_rng(2).integers(1, 4, N_QUERIES).astype(float)


def in_any_order(y, f, i, j):
    """Return what a pair weighs in the NDCG of 3 places if all orders are equally probable."""
    places = [page.discount(r, 3) for r in range(len(y))]
    apart = np.mean([abs(a - b) for a, b in combinations(places, 2)])
    return abs(2 ** y[i] - 2 ** y[j]) * apart / page.dcg(sorted(y)[::-1], 3)


@each
def test_gain_and_parts_are_those_of_the_definition(loss, judging_lists):
    """What a query adds is the derivative of the whole sum by its weight, times that weight."""
    X, grade, query, weight = judging_lists
    model, y = fitted(loss), np.column_stack([grade, query])
    of_pair = page.even_weight if loss == Pairwise() else in_any_order
    shown = model.ensemble_
    if loss != Pairwise():  # whose means of leaves are weighted by rows
        shown = replace(shown, statistics=shown.statistics - {"hessians"})

    def derivatives(y, f, _):
        return by_query(y, f, lambda grade, f: page.of_pairs(grade, f, of_pair))[1:]

    def of_page(weight):
        page_model = SimpleNamespace(ensemble_=shown)
        return gain_of_page(page_model, X, y, weight[query], derivatives=derivatives)

    result = held_out_gain(model, X, grade, groups=query, sample_weight=weight[query])
    assert_close(result.values, of_page(weight), 100.0, k=1e4)
    assert result.values[0] > 5 * abs(result.values[1:]).max()
    parts = held_out_gain_rows(model, X, y).values
    assert_slopes(np.array([parts[query == q].sum(axis=0) for q in range(N_QUERIES)]), of_page)


@each
def test_tree_inner_asks_whole_queries(loss):
    """Over three blocks of rows: the sums of r g, with the gradients before each tree."""
    model = fitted(loss)
    X, grade, query = lists(700, 3)
    y, f = np.column_stack([grade, query]), np.zeros(len(X))
    expected = np.zeros((len(X), 3))
    for m, tree in enumerate(model.ensemble_.trees):
        gradient, _ = loss.gradient_hessian(y, f)
        alone = model.ensemble_.truncate(m + 1)
        before = model.ensemble_.truncate(m)
        step = attributions.predecomp(alone, X).values - attributions.predecomp(before, X).values
        expected -= step * gradient[:, np.newaxis] / 0.1
        f = f + tree.value[model.apply(X)[:, m]]
    assert_close(tree_inner_rows(model, X, y).values, expected, 10.0)
    result = tree_inner(model, X, grade, groups=query)
    assert_close(result.values, expected.sum(axis=0), 1e3)
    of_queries = np.array([expected[query == q].sum(axis=0) for q in range(700)])
    assert_close(result.standard_error, np.sqrt(700) * of_queries.std(axis=0, ddof=1), 1e3)
    fast = tree_inner(model, X, grade, groups=query, standard_error=False)
    assert_close(fast.values, result.values, 1e3)


def test_queries_are_the_draws_unless_groups_are_told_beside_them(judging_lists):
    X, grade, query, _ = judging_lists
    model, y = fitted("ndcg"), np.column_stack([grade, query])
    by_query = held_out_gain(model, X, grade, groups=query)
    words = held_out_gain(model, X, grade, groups=np.array([f"q{q:02}" for q in query]))
    assert_same(words.standard_error, by_query.standard_error)
    assert words.groups[3] == "q03"
    assert_same(held_out_gain(model, X, y).standard_error, by_query.standard_error)
    by_user = held_out_gain(model, X, y, groups=query // 3)
    assert_same(by_user.values, by_query.values)
    assert len(by_user.groups) == 5
    again = held_out_gain(model, X, grade, groups=query, n_jobs=1)
    assert_same(again.standard_error, by_query.standard_error)
    cut = query // 3
    cut[np.flatnonzero(query == query[-1])[-1]] = 99
    with pytest.raises(ValueError, match=r"in another group than other rows of its query"):
        held_out_gain(model, X, y, groups=cut)
    with pytest.raises(ValueError, match="give groups="):
        held_out_gain(model, X, grade)
    with pytest.raises(ValueError, match=r"where a function takes no groups.*np.column_stack"):
        held_out_gain_rows(model, X, grade)


@each
def test_per_cent_are_of_the_loss_where_all_rows_are_equal(loss, judging_lists):
    X, grade, query, _ = judging_lists
    weight = page.even_weight if loss == Pairwise() else page.swap_weight(3)
    null = sum(
        page.of_pairs(own, 0 * own, weight)[0].sum()
        for own in (grade[query == q] for q in range(N_QUERIES))
        if np.ptp(own) > 0
    )
    result = held_out_gain(fitted(loss), X, grade, groups=query)
    assert_close(result.percent(), 100 * 0.1 * result.values / (2 * null), 10.0)


def test_permutation_scores_the_ndcg_and_others_refuse(judging_lists):
    X, grade, query, _ = judging_lists
    model = fitted(NDCG(at=3))
    result = permutation(model, X, grade, groups=query, random_state=0, n_repeats=2)
    assert result.method == "permutation(NDCG)"
    assert result.values[0] == max(result.values) > 0.05
    y, first = np.column_stack([grade, query]), query < 7
    with pytest.raises(ValueError, match=r"Under the ndcg loss rows depend.*by=labels"):
        attributions.loss_change(model, (X[first], y[first]), (X[~first], y[~first]))
    with pytest.raises(ValueError, match=r"under the ndcg loss that is not one number"):
        attributions.forest_inner(model, X, grade, groups=query, variant="target")


def one_stump(loss):
    """Return a model of one split at 0.5, whose left side is 2 higher, with a step of 0.5."""
    value, sums = np.array([0.0, 1, -1]), np.array([2.0, 1, 1])
    tree = replace(stump_on(0, threshold=0.5), value=value, sum_hessian=sums)
    return ensemble_of([tree], n_features=1, loss=loss, learning_rate=0.5, has_init_score=None)


@pytest.mark.parametrize("d", [None, 0.7])
def test_counts_by_hand(d):
    """Exposures 1 2 | 4 4, counts 3 1 | 2 6: G = -1 | 0, U = 3 | 8.

    -(1/0.5) * 3*8/11 * 2 * (-1/3 - 0/8) = 32/11.
    """
    X, exposure = np.array([[0.0], [0], [1], [1]]), np.array([1.0, 2, 4, 4])
    model, y = one_stump(Poisson(d)), np.array([3.0, 1, 2, 6])
    result = held_out_gain(model, X, y, init_score=np.log(exposure))
    assert_close(result.values, [32 / 11], 100.0)


@pytest.mark.parametrize("loss", [Poisson(), Tweedie(1.0), Tweedie(1.3), Tweedie(2.0), Gamma()])
def test_one_factor_for_all_rows_is_no_contrast(loss):
    """Targets are 1.7 times what is expected, whatever the exposure, of which the column tells."""
    exposure = np.array([0.1, 0.5, 2.0, 7.0, 30.0])
    X = (exposure > 1)[:, np.newaxis] * 1.0
    model, start = one_stump(loss), np.log(exposure)
    result = held_out_gain(model, X, 1.7 * exposure, init_score=start)
    assert_close(result.values, [0.0], 100.0)
    assert_close(result.standard_error, [0.0], 1e3)
    assert held_out_gain(model, X, exposure ** [1, 1, 1, 1, 1.2], init_score=start).values < -0.01


def test_what_rows_add_is_the_slope_by_their_weight():
    rng = np.random.default_rng(0)
    X, exposure = rng.normal(size=(300, 3)), rng.lognormal(size=300)
    y, start = rng.poisson(exposure * np.exp(X[:, 0])), np.log(exposure)
    asked = {"n_estimators": 8, "max_depth": 3, "splitter": "greedy"}
    model = GBTRegressor(loss="poisson", **asked)
    model.fit(X[:200], y[:200], init_score=start[:200])
    X, y, start = X[200:], y[200:], start[200:]
    parts = held_out_gain_rows(model, X, y, init_score=start).values
    assert_slopes(
        parts, lambda w: held_out_gain(model, X, y, sample_weight=w, init_score=start).values
    )
    labels = np.arange(100) % 2
    by = held_out_gain(model, X, y, init_score=start, by=labels)
    alone = held_out_gain(model, X[::2], y[::2], init_score=start[::2])
    assert_close(by[0].values, alone.values, 1e3)
    assert_same(held_out_gain(model, X, y, init_score=start, n_jobs=1).values,
                held_out_gain(model, X, y, init_score=start, n_jobs=2).values)  # fmt: skip
