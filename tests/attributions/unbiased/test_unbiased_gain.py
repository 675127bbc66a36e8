"""Unbiased gain: its definition, its expectation by enumeration, its error by simulation."""

import warnings
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import SeenRowsWarning, unbiased_gain
from attributions.reference import definitions as reference
from attributions.testing import ensembles, rows_for
from attributions.unbiased import subsets as subset_ratios
from gbt import GBTClassifier, GBTRegressor
from gbt.losses.amounts import Poisson
from gbt.losses.squared_and_logistic import LOSSES, HalfLogistic, HalfSquaredError
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyRegressor
from tests.tree_cases import ensemble_of, fit_values, stump_on

ESTIMATORS = {"half_squared_error": GBTRegressor, "half_logistic": GBTClassifier}
both_losses = pytest.mark.parametrize("loss", ESTIMATORS)
exact_forms = pytest.mark.parametrize("form", ["symmetric", "paper"])


def silent(*arguments, **options):
    """Return the gain of rows that may be training rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return unbiased_gain(*arguments, **options)


@dataclass
class Judged:
    """A drawn model whose predictions are moderate, training rows and validation rows."""

    ensemble: object
    train: tuple
    valid: tuple

    @property
    def arguments(self):
        (X, y, _), (X_valid, y_valid, _) = self.train, self.valid
        return self.ensemble, X, y, X_valid, y_valid

    @property
    def weights(self):
        return {"sample_weight_train": self.train[2], "sample_weight_valid": self.valid[2]}

    def terms(self, min_samples, form="symmetric"):
        """Bound all that is added up: |g| at most b, and what rounding makes of predictions."""
        value = np.abs(self.ensemble.value).sum() + abs(self.ensemble.base_score)
        b = max(np.abs(self.train[1]).max(), np.abs(self.valid[1]).max()) + value + 1

        def of_split(train_l, train_r, valid_l, valid_r):
            train, valid = np.vstack([train_l, train_r]), np.vstack([valid_l, valid_r])
            n_l, n_r, n_t = (part[:, 2].sum() for part in (train_l, train_r, train))
            if form == "symmetric":
                _, h, v = valid.sum(axis=0)
                return n_l * n_r / n_t * (2 * b) ** 2 * v / h * (1 + value)
            # No ratio of sums is larger than the largest of a row could be.
            largest = b * valid[:, 2].max() / valid[:, 1].min()
            return 4 * n_t * b * largest * (1 + value)

        return reference.unbiased_gain(self.ensemble, self.train, self.valid, of_split, min_samples)


@st.composite
def judged(draw, max_rows=12, loss=None, weights=(0.5, 0.1, 1.0, 3.0), **options):
    ensemble = draw(ensembles(losses=[loss] if loss else tuple(LOSSES), **options))
    ensemble = replace(ensemble, value=np.clip(ensemble.value, -3, 3))
    targets = [0.0, 1.0] if ensemble.loss.name == "half_logistic" else [-2.0, 0.0, 0.1, 3.0]

    def some_rows():
        X = draw(rows_for(ensemble, n=draw(st.integers(2, max_rows))))
        n = len(X)
        y = np.array([0.0, 1.0, *(draw(st.sampled_from(targets)) for _ in range(n - 2))])
        return X, y, np.array([draw(st.sampled_from(weights)) for _ in range(n)])

    return Judged(ensemble, some_rows(), some_rows())


# ------------------------------------------------------------------------------- the definition


def test_a_stump_by_hand():
    # Base score 0: g = -y. Train: means of g -1 (2 rows) and 2 (1 row), contrast 2/3 * -3 = -2.
    ensemble = ensemble_of([stump_on(0, 0.0)], 2)
    X, y = np.array([[-1.0, 0], [-2, 0], [1, 0]]), np.array([0.5, 1.5, -2.0])
    # Validation: means -4 and 0 of g, h = 1: gain -2 * -4 = 8.
    X_valid, y_valid = np.array([[-1.0, 0], [2, 0], [3, 0]]), np.array([4.0, 1.0, -1.0])

    result = unbiased_gain(ensemble, X, y, X_valid, y_valid, min_samples=1, per_tree=True)

    assert_close(result.values, [8.0, 0.0], [8.0, 0.0], k=4)
    assert_close(result.per_tree, [[8.0, 0.0]], np.array([[8.0, 0.0]]), k=4)
    # Only the right mean has a spread: -2 * -(g_i - 0) / 2 = -1 and 1; sqrt(3/2 * 2).
    assert_close(result.standard_error, [np.sqrt(3.0), 0.0], [2.0, 0.0], k=4)
    assert result.n_samples == 3
    assert result.method == "unbiased_gain(symmetric)"
    assert result.feature_names == ensemble.feature_names
    # G = -2, 2, 0; means -4, 0, -4/3: 8 + 0 - 0.
    paper = unbiased_gain(ensemble, X, y, X_valid, y_valid, "paper", min_samples=1)
    assert_close(paper.values, [8.0, 0.0], [8.0, 0.0], k=4)
    # Too few rows on the left.
    none = unbiased_gain(ensemble, X, y, X_valid, y_valid, min_samples=2)
    assert_same(none.values, [0.0, 0.0])
    assert_same(none.standard_error, [0.0, 0.0])


@given(case=judged(max_rows=7, max_trees=2, max_depth=2), min_samples=st.integers(1, 2))
def test_the_paper_form_is_its_definition(case, min_samples):
    result = silent(*case.arguments, form="paper", **case.weights, min_samples=min_samples)
    expected = reference.unbiased_gain(
        case.ensemble, case.train, case.valid, reference.paper_gain, min_samples
    )
    assert_close(result.values, expected, case.terms(min_samples, "paper"))


def ratio_gain(train_left, train_right, valid_left, valid_right):
    """Return G_l r_l + G_r r_r - G_t r_t with plain ratios r, which is biased."""
    both = [(train_left, valid_left), (train_right, valid_right)]
    of_children = sum(G[:, 0].sum() * v[:, 0].sum() / v[:, 1].sum() for G, v in both)
    G, v = np.vstack([train_left, train_right]), np.vstack([valid_left, valid_right])
    return of_children - G[:, 0].sum() * v[:, 0].sum() / v[:, 1].sum()


def error_of(case, of_split):
    """Return the standard error by the derivatives of the gain by the weight of each row."""
    X, y, weight = case.valid
    derivative = []
    for i in range(len(y)):  # by a complex step, which rounds nothing
        moved = weight.astype(complex)
        moved[i] *= 1 + 1e-30j
        gain = reference.unbiased_gain(case.ensemble, case.train, (X, y, moved), of_split, 1)
        derivative.append(np.imag(gain) / 1e-30)
    return np.sqrt(len(y)) * np.std(derivative, axis=0, ddof=1)


@pytest.mark.parametrize(
    ("form", "of_split"), [("symmetric", reference.symmetric_gain), ("paper", ratio_gain)]
)
@given(case=judged(max_rows=6, max_trees=2, max_depth=2))
def test_the_standard_error_is_that_of_the_derivatives(form, of_split, case):
    result = silent(*case.arguments, form=form, **case.weights, min_samples=1)
    terms = 4 * len(case.valid[1]) * case.terms(1, form)
    assert_close(result.standard_error, error_of(case, of_split), terms)


@pytest.mark.parametrize("loss", [HalfSquaredError(), HalfLogistic(), Poisson()])
@pytest.mark.parametrize(("depth", "n"), [(1, 7), (4, 8), (4, 9), (9, 25)])
def test_trees_of_every_depth(depth, n, loss):
    """Half of the rows add up in a lane of their own where a tree is shallow, and one is left."""
    rng = np.random.default_rng(depth)
    X, weight = rng.normal(size=(n, 3)), rng.uniform(0.5, 2, size=n)
    y = (np.arange(n) % 3 == 0) * 1.0
    model = GreedyRegressor(n_estimators=3, max_depth=depth, min_child_weight=0.0, reg_lambda=0.1)
    ensemble = replace(model.fit(X, X[:, 0]).ensemble_, loss=loss, base_score=0.25, seen_rows=None)
    case = Judged(ensemble, (X, y, weight), (X, np.roll(y, 1), weight))
    found = silent(*case.arguments, **case.weights, min_samples=1)
    page = reference.unbiased_gain(ensemble, case.train, case.valid, reference.symmetric_gain, 1)
    assert_close(found.values, page, case.terms(1))
    error = error_of(case, reference.symmetric_gain)
    assert_close(found.standard_error, error, 4 * n * case.terms(1))


# --------------------------------------------------------------------- what makes it unbiased


def dealt_out(loss, seed):
    """Draw a model, training rows and five validation rows whose first column is to be dealt out.

    Trees 0 and 1 split on the second column, so that hessians differ; tree 2 cuts the first into
    its three values. How many rows have each of them is drawn, at least one.
    """
    rng = np.random.default_rng(seed)
    of_values = GreedyRegressor(1, max_depth=2, min_child_weight=0.0)
    (tree,) = of_values.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0]).ensemble_.trees
    trees = [stump_on(1, 0.5), stump_on(1, 1.5), tree]
    blank_model = ensemble_of(trees, 2, loss=LOSSES[loss], reg_lambda=0.5)

    def some_rows(n):
        X = np.column_stack([[*range(3), *rng.integers(3, size=n - 3)], rng.integers(3, size=n)])
        y = X[:, 1] + rng.normal(size=n)
        if loss == "half_logistic":
            y = (y > np.sort(y)[rng.integers(n - 1)]) * 1.0  # rows of both classes
        return X.astype(float), y

    X, y = some_rows(rng.integers(5, 41))
    return fit_values(blank_model, X, y), X, y, *some_rows(5)


@both_losses
@exact_forms
@given(seed=st.integers(0, 2**32 - 1))
def test_over_all_assignments_the_mean_is_exactly_0(loss, form, seed):
    """Theorem 2 of Zhang, Zhang and Li (2023): of rows of any number and kind.

    The first column is dealt out in all ways; the second, hence every pair (g', h'), stays.
    """
    ensemble, X, y, X_valid, y_valid = dealt_out(loss, seed)
    gains = []
    for first in sorted(set(permutations(X_valid[:, 0]))):
        rows = np.column_stack([first, X_valid[:, 1]])
        result = silent(ensemble, X, y, rows, y_valid, form, min_samples=1, per_tree=True)
        gains.append(result.per_tree[2, 0])
    assert len(gains) in (20, 30)  # 5! / 3! with values like 0 0 0 1 2, 5! / 2! 2! with 0 0 1 1 2
    before = ensemble.truncate(2).raw_predict(X_valid)
    _, hessian = ensemble.loss.gradient_hessian(y_valid, before)
    b = np.abs(ensemble.value).sum() + max(np.abs(y).max(), np.abs(y_valid).max()) + 1
    assert_close(np.mean(gains), 0.0, 8 * len(y) * b**2 / hessian.min())


def some_data(rng, n, loss, signal=0.0):
    """Return features that are continuous and of 2, 10 and 50 levels, and a target of the first."""
    X = np.column_stack([rng.normal(size=n), *(rng.integers(0, m, n) for m in (2, 10, 50))])
    y = signal * X[:, 0] + rng.normal(size=n)
    return X, (y > 0).astype(float) if loss == "half_logistic" else y


# ------------------------------------------------------------------------------ what it is made of


@given(case=judged(loss="half_squared_error"))
def test_on_the_training_rows_it_is_the_total_gain_without_regularisation(case):
    X, y, weight = case.train
    ensemble = replace(case.ensemble, reg_lambda=0.0).refit_statistics(X, y, weight)
    weights = {"sample_weight_train": weight, "sample_weight_valid": weight}
    result = silent(ensemble, X, y, X, y, min_samples=1, **weights)
    terms = replace(case, valid=case.train).terms(1) + np.abs(ensemble.total_gain())
    assert_close(result.values, ensemble.total_gain(), terms)


def test_certain_predictions_do_not_break_it():
    """Odds of e^800 are no number; neither is their hessian."""
    certain = ensemble_of([stump_on(1, 0.0), stump_on(0, 0.0)], 2, loss=LOSSES["half_logistic"])
    value = np.array([0.0, -800, 800, 0, -0.1, 0.1])
    certain = replace(certain, value=value)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    result = unbiased_gain(certain, X[:100], y[:100], X[100:], y[100:])
    assert np.isfinite(result.values).all()
    assert np.isfinite(result.standard_error).all()


def test_a_prediction_returns_from_odds_of_e_to_the_300():
    stumps = [
        replace(stump_on(k, 0.0), value=np.array([0.0, -v, v]), sum_hessian=np.ones(3))
        for v, k in ((150.0, 1), (150.0, 1), (-100.0, 1), (-100.0, 1), (-100.0, 1), (0.1, 0))
    ]
    model = ensemble_of(stumps, 2, loss=LOSSES["half_logistic"])
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60) * 1.0
    valid = Judged(model, (X[:30], y[:30], np.ones(30)), (X[30:], y[30:], np.ones(30)))
    expected = reference.unbiased_gain(model, valid.train, valid.valid, reference.symmetric_gain)
    found = unbiased_gain(model, X[:30], y[:30], X[30:], y[30:], min_samples=1)
    assert_close(found.values[0], expected[0], 60.0)


# ------------------------------------------------------------------------------ means over subsets


@pytest.mark.parametrize("k", [1, 2, 5, 9, 10])
def test_means_over_subsets_by_enumeration(k):
    rng = np.random.default_rng(k)
    a, b = rng.normal(size=10), 10.0 ** rng.uniform(-4, 0, size=10)
    ratios = [a[list(s)].sum() / b[list(s)].sum() for s in combinations(range(10), k)]
    assert_close(subset_ratios.mean_ratio(a, b, k), np.mean(ratios), np.mean(np.abs(ratios)), k=256)


def test_the_expansion_for_large_subsets(monkeypatch):
    rng = np.random.default_rng(0)
    f = rng.normal(scale=2, size=300)
    p = 1 / (1 + np.exp(-f))
    a, b = p - (rng.random(300) < p), p * (1 - p)
    for k in (40, 80, 160):
        expanded = subset_ratios.mean_ratio(a, b, k)
        with monkeypatch.context() as exactly:
            exactly.setattr(subset_ratios, "LARGEST_EXACT", 300)
            exact = subset_ratios.mean_ratio(a, b, k)
        naive = a.sum() / b.sum()
        assert abs(expanded - exact) < 4 / k**2
        assert abs(expanded - exact) < abs(naive - exact) / 5


def test_the_expansion_where_one_row_is_left_out():
    """Half of 34 rows have a = -1/2 and b = 1/2, the others a = 1/2 and b = 3/2.

    The sums without row i are -a_i and 34 - b_i = 33 - a_i. Their ratio is on average
    -(1/4) / 33^2, but for (1/66)^2 of it; the variance and the covariance of the 34 rows with the
    denominator 34 would make it a 34th less.
    """
    a = np.repeat([-0.5, 0.5], 17)
    b = 1 + a
    assert subset_ratios.LARGEST_EXACT < 33
    left_out = np.mean([(a.sum() - a[i]) / (b.sum() - b[i]) for i in range(34)])
    found = subset_ratios.mean_ratio(a, b, 33)
    assert found == pytest.approx(-0.25 / 33**2, rel=1e-9)
    assert found == pytest.approx(left_out, rel=1e-3)


@pytest.mark.slow
@both_losses
def test_sampling_comes_to_the_closed_form(loss, monkeypatch):
    monkeypatch.setattr(subset_ratios, "N_DRAWS", 5_000)
    rng = np.random.default_rng(6)
    X, y = some_data(rng, 80, loss, signal=1.0)
    stumps = ensemble_of([stump_on(0, 0.1), stump_on(3, 30.0)], 4, loss=LOSSES[loss])
    ensemble = fit_values(stumps, X, y)
    rows = X[:40], y[:40], X[40:], y[40:]
    paper = unbiased_gain(ensemble, *rows, "paper")
    sampled = [unbiased_gain(ensemble, *rows, "sampled", random_state=s).values for s in range(6)]
    used = [0, 3]
    error = np.std(sampled, axis=0, ddof=1)[used] / np.sqrt(6)
    distance = np.abs(np.mean(sampled, axis=0) - paper.values)[used]
    assert np.all(error > 0)
    assert np.all(distance < 5 * error)  # t with 5 degrees of freedom: 1 in 250
    assert np.all(distance < 0.01 * np.abs(paper.values).max())


# --------------------------------------------------------------------------------- around it


def fitted(loss="half_logistic"):
    rng = np.random.default_rng(7)
    X, y = some_data(rng, 200, loss, signal=1.0)
    return ESTIMATORS[loss](2, max_depth=2, splitter="greedy").fit(X[:100], y[:100]), X, y


def test_errors_are_left_out_where_they_are_not_wanted_or_not_known():
    model, X, y = fitted()
    rows = X[:100], y[:100], X[100:], y[100:]
    quick = unbiased_gain(model, *rows, standard_error=False)
    assert quick.standard_error is None
    assert_same(quick.values, unbiased_gain(model, *rows).values)
    assert unbiased_gain(model, *rows, "sampled").standard_error is None


@pytest.mark.parametrize("is_of_file", [False, True])
def test_training_rows_are_noticed(is_of_file):
    """Also of a model that does not know which rows it has seen, as one from another library."""
    model, X, y = fitted()
    model = replace(model.ensemble_, seen_rows=None) if is_of_file else model
    with pytest.warns(SeenRowsWarning, match="100 of the 120 rows") as caught:
        unbiased_gain(model, X[:100], y[:100], X[:120], y[:120])
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unbiased_gain(model, X[:100], y[:100], X[100:], y[100:])


@exact_forms
def test_groups_are_counted_instead_of_rows(form):
    model, X, y = fitted("half_squared_error")
    rows = X[:100], y[:100], np.repeat(X[100:], 3, axis=0), np.repeat(y[100:], 3)
    weight = np.ones(300)
    weight[:30] = 0
    result = unbiased_gain(
        model, *rows, form, sample_weight_valid=weight, groups_valid=np.repeat(np.arange(100), 3),
        min_samples=15,
    )  # fmt: skip
    # Three copies of every row say no more than one, with a third of its weight.
    single = unbiased_gain(model, X[:100], y[:100], X[110:], y[110:], form)
    assert_close(result.values, single.values, np.abs(single.values) + 1)
    assert_close(result.standard_error, single.standard_error, single.standard_error + 1)
    assert len(result.groups) == 90


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "plain"}, "form='plain'; use 'symmetric', 'paper' or 'sampled'"),
        ({"min_samples": 0}, "min_samples=0; it must be a whole number, from 1"),
        ({"y_valid": np.ones(100)}, "y_valid holds one class only"),
        ({"y_train": np.zeros(100)}, "y_train holds one class only"),
        ({"y_valid": np.full(100, 2.0)}, r"Of X_valid.*y holds 2"),
        ({"X_valid": np.zeros((100, 3))}, r"Of X_valid.*4 columns"),
        ({"X_train": np.zeros((0, 4))}, r"Of X_train.*no rows"),
        ({"X_valid": np.full((100, 4), np.inf)}, r"Of X_valid.*holds inf"),
        ({"y_valid": np.ones(99)}, r"Of X_valid.*y has shape \(99,\)"),
        ({"sample_weight_valid": -np.ones(100)}, r"sample_weight_valid.*must not be negative"),
        ({"sample_weight_train": np.ones(3)}, r"sample_weight_train.*shape \(3,\)"),
    ],
)
def test_unusable_arguments_are_refused_by_name(options, message):
    model, X, y = fitted()
    arguments = {
        "X_train": X[:100], "y_train": y[:100], "X_valid": X[100:], "y_valid": y[100:], **options
    }  # fmt: skip
    with pytest.raises(ValueError, match=message):
        unbiased_gain(model, **arguments)
