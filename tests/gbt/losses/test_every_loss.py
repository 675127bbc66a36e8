"""What holds of every loss: of numbers, shares, times and orders, each by its page or by itself."""

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import gbt
from attributions import held_out_gain
from gbt.losses import NDCG, Aft, Cox, CrossEntropy, Pairwise
from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.by_name import OF_REGRESSION, as_loss, is_same
from gbt.losses.robust import Huber, PseudoHuber, Quantile
from gbt.losses.squared_and_logistic import HalfSquaredError
from gbt.reference import ranking, survival
from tests.asserts import assert_close, assert_same
from tests.gbt.losses.test_losses import GIVEN
from tests.greedy import GreedyRegressor

N, OF_QUERY = 600, 5
QUERY = np.arange(N) // OF_QUERY


class Kind(NamedTuple):
    """A loss, its targets, and what it and its derivatives are by definition."""

    loss: Any
    targets: Callable[..., np.ndarray]  # of a generator and what shortens, raises or lifts them
    value: Callable[..., float]  # the mean, of targets, raw predictions and weights
    derivatives: Callable[..., tuple[np.ndarray, np.ndarray]]


def of_rows(loss, targets):
    """Return a loss whose rows know nothing of each other; `test_losses` has its formulas."""
    return Kind(
        loss,
        targets,
        lambda y, f, w: np.average(loss.value(y, f), weights=w),
        lambda y, f, w: loss.gradient_hessian(y, f),
    )


def amounts(rng, signal):
    return rng.gamma(2.0, np.exp(0.5 * signal))


def shares(rng, signal):
    return expit(signal + rng.normal(size=N))


def times(rng, signal):
    time, end = rng.exponential(np.exp(-signal)), rng.exponential(1.5, size=N)
    return np.column_stack([np.minimum(time, end), time <= end])


def as_bounds(y):
    return np.column_stack([y[:, 0], np.where(y[:, 1] == 1, y[:, 0], np.inf)])


def bounds(rng, signal):
    return as_bounds(times(rng, -signal))


def grades(rng, signal):
    grade = np.digitize(signal + rng.normal(size=N) / 2, [0.5, 1.2, 2.0])
    return np.column_stack([grade, QUERY]).astype(float)


def by_query(y, f, of_query):
    """Return a function's numbers for the rows of each query, put together; 0 without an order."""
    out = np.zeros((3, len(y)))
    for q in np.unique(y[:, 1]):
        own = y[:, 1] == q
        if np.ptp(y[own, 0]) > 0:
            out[:, own] = of_query(y[own, 0], f[own])
    return out


def of_order(loss, weight):
    def parts(y, f):
        return by_query(y, f, lambda grade, f: ranking.of_pairs(grade, f, weight))

    def value(y, f, w):
        by_pairs = np.average(parts(y, f)[0], weights=w)
        return by_pairs if loss == Pairwise() else 1 - loss.score(y, f, w)

    return Kind(loss, grades, value, lambda y, f, w: parts(y, f)[1:])


def of_law(law):
    return of_rows(Aft(law, 0.5), bounds)._replace(
        value=lambda y, f, w: np.average(survival.aft_loss(y, f, law, 0.5), weights=w)
    )


KINDS = {
    **{repr(loss): of_rows(loss, amounts) for loss in GIVEN},
    "cross entropy": of_rows(CrossEntropy(), shares),
    "cox of Newton": Kind(
        Cox(is_newton=True), times,
        lambda y, f, w: np.average(survival.cox_loss(y, f, w), weights=w),
        lambda y, f, w: Cox(is_newton=True).gradient_hessian(Cox().prepared(y, w), f),
    ),
    "cox": Kind(
        Cox(), times, lambda y, f, w: np.average(survival.cox_loss(y, f, w), weights=w),
        survival.cox_derivatives,
    ),
    **{law: of_law(law) for law in survival.LAWS},
    "pairwise": of_order(Pairwise(), ranking.even_weight),
    "ndcg": of_order(NDCG(), ranking.swap_weight(None)),
    "ndcg at 2": of_order(NDCG(at=np.int64(2)), ranking.swap_weight(2)),
}  # fmt: skip
every = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def table(kind, weighted=True):
    """Return numbers with gaps beside a word, targets, and weights that are alike in a query."""
    rng = np.random.default_rng(0)
    x, z, ward = rng.normal(size=N), rng.normal(size=N), rng.integers(3, size=N)
    y = kind.targets(rng, x + (ward == 1) + 0.3 * rng.normal(size=N))
    x[rng.random(N) < 0.1] = np.nan
    frame = pd.DataFrame({"x": x, "z": z, "ward": pd.Categorical.from_codes(ward, ["c", "a", "b"])})
    return frame, y, np.random.default_rng(2).integers(1, 4, N)[QUERY] * 1.0 if weighted else None


SLOPED = [name for name in KINDS if "ndcg" not in name]  # whose value has a slope
BENT = ("pairwise", "cross entropy", "of Newton")  # whose hessian is the second derivative
BOUNDED = (Poisson(), Gamma(), Tweedie(1.2))  # by the second derivative all the way to the target


def hessian_of(loss, bend, bend_at_target):
    """Return what a hessian is by definition, of second derivatives here and at the target."""
    if loss.has_one_hessian:
        return 1.0  # in place of a curvature
    if loss in BOUNDED:
        return max(bend, bend_at_target)
    least = 1e-6 if loss == SquaredLogError() else -np.inf
    return max(np.exp(getattr(loss, "max_delta_step", None) or 0.0) * bend, least)


@pytest.mark.parametrize("name", SLOPED)
@given(st.integers(0, 2**32 - 1))
def test_derivatives_are_the_slopes_of_the_summed_value(name, seed):
    """Beside kinks of the losses of a number; the hessian is what `hessian_of` says."""
    kind, rng, step = KINDS[name], np.random.default_rng(seed), 1e-4
    _, y, weight = (part[:30] for part in table(kind))
    weight = np.ones(30) if kind.targets is grades else weight
    f = rng.normal(size=30)
    prepared = kind.loss.prepared(y, weight)
    gradient, hessian = kind.loss.gradient_hessian(prepared, f)
    for i, move in enumerate(step * np.eye(30)):
        if y.ndim == 1 and np.abs(np.abs(y[i] - f[i]) - [0.0, 0.9]).min() < 10 * step:
            continue
        if abs(f[i] + 1) < 0.03:  # where SquaredLogError has its logarithm of 0
            continue
        a, b, c, d, e = (kind.loss.value(prepared, f + s * move) for s in (-2, -1, 0, 1, 2))
        slope = weight @ (8 * (d - b) - (e - a)) / (12 * step)  # 0 of rows that do not move
        bend = weight @ ((d - c) - (c - b)) / step**2
        assert weight[i] * gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-4)
        if name.endswith(BENT):
            assert weight[i] * hessian[i] == pytest.approx(bend, rel=1e-3, abs=1e-4)
        elif kind.loss in GIVEN and (kind.loss != SquaredLogError() or f[i] > -1):
            near = np.array([np.log(y[i])]) + step * np.array([[-1], [0], [1]])
            before, there, after = kind.loss.value(y[[i]], near)[:, 0]
            at_target = (after - 2 * there + before) / step**2
            expected = hessian_of(kind.loss, bend / weight[i], at_target)
            assert hessian[i] == pytest.approx(expected, rel=1e-3, abs=1e-4)


@every
@pytest.mark.parametrize("weighted", [False, True])
def test_nodes_keep_the_sums_of_the_definition(kind, weighted):
    """And values are -rate G/(H + lambda), at the predictions of the trees before."""
    rows = slice(0, 90)
    frame, y, weight = table(kind, weighted)
    frame, y, w = frame[rows], y[rows], np.ones(90) if weight is None else weight[rows]
    model = GreedyRegressor(loss=kind.loss, n_estimators=3, max_depth=2, reg_lambda=0.5)
    ensemble = model.fit(frame, y, None if weight is None else w).ensemble_
    f = np.full(90, ensemble.base_score)
    leaves = ensemble.apply(frame)
    for m, tree in enumerate(ensemble.trees):
        g, h = kind.derivatives(y, f, w)
        for t in np.unique(leaves[:, m]):
            own = leaves[:, m] == t
            G, H = (w * g)[own].sum(), (w * h)[own].sum()
            assert tree.sum_gradient[t] == pytest.approx(G, abs=1e-10 * (1 + np.abs(w * g).sum()))
            assert tree.sum_hessian[t] == pytest.approx(H, rel=1e-10)
            assert tree.value[t] == pytest.approx(-0.1 * G / (H + 0.5), rel=1e-8, abs=1e-10)
        f = f + tree.value[leaves[:, m]]
    assert_close(model.predict(frame), kind.loss.inverse_link(f), 1 + np.abs(f) + np.exp(f))
    again = ensemble.refit_statistics(frame, y, w)
    terms = np.abs(w * g).sum() + 0 * again.gain + 1e3
    assert_close(again.sum_gradient, ensemble.sum_gradient, terms)


@every
def test_a_fit_with_words_stops_early_and_comes_back_from_files_and_pickles(kind, tmp_path):
    frame, y, weight = table(kind)
    model = GreedyRegressor(
        loss=kind.loss, n_estimators=400, learning_rate=0.3, max_depth=2, early_stopping_rounds=5
    )
    new = (frame[400:].astype({"ward": object}), y[400:], weight[400:])
    model.fit(frame[:400], y[:400], weight[:400], eval_set=[new])
    assert 0 < model.best_iteration_ < 390
    assert model.ensemble_.n_trees == model.best_iteration_ + 1
    raw = model.ensemble_.raw_predict(frame[400:])
    best = model.evals_result_["eval_0"][model.best_iteration_]
    assert best == model.best_score_ == pytest.approx(kind.value(y[400:], raw, weight[400:]))
    model.save(tmp_path / "model.json")
    for again in (gbt.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert is_same(as_loss(again.loss), kind.loss)
        assert is_same(again.ensemble_.loss, kind.loss)
        assert_same(again.predict(frame), model.predict(frame))
        again.set_params(n_jobs=2).fit(frame[:400], y[:400], weight[:400], eval_set=[new])
        assert_same(again.ensemble_.value, model.ensemble_.value)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "cox of Newton"])
def test_whole_weights_are_repeated_rows_in_any_order(name):
    """Of queries, repeated queries; rows stand by their targets, so that order would show.

    Under Cox's loss the second derivative of a row of weight 2 is not that of two rows.
    """
    kind = KINDS[name]
    frame, y, _ = table(kind)
    weight = np.random.default_rng(1).integers(0, 4, N // OF_QUERY)[QUERY]
    copy, rows = np.nonzero(weight > np.arange(3)[:, np.newaxis])
    order = np.argsort(-y[rows] if y.ndim == 1 else -y[rows, 0], kind="stable")
    copy, rows = copy[order], rows[order]
    repeated = y[rows]
    if kind.targets is grades:
        repeated[:, 1] += 1000 * copy
    asked = {"loss": kind.loss, "n_estimators": 6, "max_depth": 3}
    one = GreedyRegressor(**asked).fit(frame, y, weight)
    other = GreedyRegressor(**asked).fit(frame.iloc[rows].reset_index(drop=True), repeated)
    assert_same(one.ensemble_.feature, other.ensemble_.feature)
    assert_close(one.predict(frame), other.predict(frame), 10.0)
    seen = weight > 0
    score = one.score(frame[seen], y[seen], weight[seen])
    assert score == pytest.approx(other.score(frame.iloc[rows], repeated), abs=1e-10)


@pytest.mark.parametrize("name", ["cox", *survival.LAWS, "pairwise", "ndcg"])
def test_predictions_far_apart_stay_finite(name):
    kind = KINDS[name]
    y, rng = table(kind)[1][:30], np.random.default_rng(3)
    for far in (3.0, 900.0, 1e9):
        f = rng.choice([-far, 0.0, 3.0, far], 30)
        for part in (kind.loss.value(y, f), *kind.loss.gradient_hessian(y, f)):
            assert np.isfinite(part).all()


def fields(y):
    """Return times and events under names, the event first."""
    structured = np.empty(len(y), dtype=[("dead", bool), ("days", float)])
    structured["dead"], structured["days"] = y[:, 1], y[:, 0]
    return structured


def signed(y):
    return np.where(y[:, 1] == 1, y[:, 0], -y[:, 0])


FORMS = {  # of times and whether the event came, (n, 2)
    "cox": [
        lambda y: y, lambda y: y.tolist(), fields, signed,
        lambda y: pd.DataFrame({"days": y[:, 0], "dead": y[:, 1].astype(bool)}),
        lambda y: pd.Series(signed(y)),
    ],
    "aft": [
        as_bounds, lambda y: as_bounds(y).tolist(), fields, signed,
        lambda y: pd.DataFrame(as_bounds(y), columns=["low", "high"]),
        lambda y: np.where(np.isinf(as_bounds(y)), -1, as_bounds(y)),  # as CatBoost has it
    ],
}  # fmt: skip


@pytest.mark.parametrize("loss", FORMS)
def test_all_forms_of_times_are_one(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 1))
    y = times(rng, X[:, 0])
    forms = [form(y) for form in FORMS[loss]]
    models = [GreedyRegressor(loss=loss, n_estimators=4).fit(X, form) for form in forms]
    for model, form in zip(models, forms, strict=True):
        assert_same(model.predict(X), models[0].predict(X))
        assert model.score(X, form) == models[0].score(X, forms[0])


# -- What is refused -------------------------------------------------------------------------------


def in_row_7(*row):
    """Put something else into one row."""

    def changed(y):
        is_7 = np.arange(len(y)) == 7
        return np.where(is_7[:, None], row, y) if y.ndim == 2 else np.where(is_7, *row, y)

    return changed


BAD = [  # a loss, what is wrong with its targets, and what is said of them wherever they are given
    ("poisson", in_row_7(-1.0), "not negative.*least is -1"),
    ("gamma", in_row_7(0.0), "above 0; the least is 0"),
    ("tweedie", in_row_7(-1.0), "not negative.*least is -1"),
    ("squared_log_error", in_row_7(-1.0), "above -1; the least is -1"),
    ("cross_entropy", in_row_7(1.01), r"must be within \[0, 1\] under cross_entropy; it holds 1.0"),
    ("cross_entropy", in_row_7(-0.01), "it holds -0.01"),
    ("cox", in_row_7(-1.0, 1), "in row 7 the time -1; .*negat"),
    ("cox", in_row_7(np.nan, 1), "row 7 the time nan"),
    ("cox", lambda y: y * np.array([1, 0]), "no event: all 60 rows are censored"),
    ("cox", lambda y: y + np.array([0, 1]), r"in row \d+ 2 for whether.*and 1 is none, subtract 1"),
    ("cox", lambda y: np.column_stack([y[:, 1], 2 + y[:, 0]]), r"event\. .* swapped\.$"),
    ("cox", lambda y: np.append(0.0, signed(y)[1:]), "is 0 in row 0: a time of 0 has no sign"),
    ("cox", lambda y: np.column_stack([y, y]), "shape .60, 4.*structured array"),
    ("cox", lambda y: y.astype(str).astype(object) + "x", "are numbers: give a structured"),
    ("cox", lambda y: y[1:], "59 targets.* 60"),
    ("aft", in_row_7(3.0, 1.0), "row 7 the bounds 3 and 1; the lower one must not be .*np.where"),
    ("aft", in_row_7(-3.0, 1.0), "row 7 the bounds -3 and 1; times must not be negative"),
    ("aft", in_row_7(np.nan, 1.0), "bounds nan and 1; a bound that is not known is 0 or infinity"),
    ("aft", in_row_7(np.inf, np.inf), "row 7 the bounds inf and inf; the lower one must be finite"),
    ("aft", in_row_7(0.0, 0.0), "row 7 an event at time 0"),
]
OF_BAD = {"cox": times, "aft": bounds, "cross_entropy": shares}


@pytest.mark.parametrize(("loss", "change", "message"), BAD)
def test_bad_targets_are_named_wherever_they_are_given(loss, change, message):
    y = OF_BAD.get(loss, amounts)(np.random.default_rng(0), np.linspace(-2, 2, N))[::10]
    X = np.arange(60.0)[:, np.newaxis]
    model = GreedyRegressor(loss=loss, n_estimators=2)
    with pytest.raises(ValueError, match=message):
        model.fit(X, change(y))
    with pytest.raises(ValueError, match=r"eval_set\[0\]: .*" + message):
        model.fit(X, y, eval_set=[(X, change(y))])
    with pytest.raises(ValueError, match=message):
        held_out_gain(model.fit(X, y), X + 0.1, change(y))


def test_events_and_orders_of_weight_zero_are_none():
    """Rows of weight 0 are no rows: a fit without events learned nothing, and did not say so."""
    X = np.arange(24.0).reshape(12, 2)
    of_rows = np.tile([1.0, 0.0], 6)
    patients = np.column_stack([np.arange(1.0, 13.0), of_rows])
    lists = np.column_stack([np.r_[of_rows[:6], np.ones(6)], np.repeat([0, 1, 2], 4)])
    zeros_where = {"cox": (patients, of_rows == 1), "ndcg": (lists, lists[:, 1] < 2)}
    for loss, message in (("cox", "no event: all 6 rows"), ("ndcg", "None of the 1 queries")):
        y, is_zero = zeros_where[loss]
        model = GreedyRegressor(loss=loss, n_estimators=1)
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, sample_weight=1.0 - is_zero)
        with pytest.raises(ValueError, match=message):
            held_out_gain(model.fit(X, y), X + 0.1, y, sample_weight=1.0 - is_zero)


def test_a_last_event_of_weight_zero_changes_nothing():
    """At its time nobody of any weight is left at risk."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.column_stack([np.exp(X[:, 0] + rng.normal(size=60)), np.ones(60)])
    weight = np.ones(60)
    weight[np.argsort(y[:, 0])[-2:]] = 0.0
    kept = weight > 0
    model = GreedyRegressor(loss="cox", n_estimators=3).fit(X, y)
    told = held_out_gain(model, X + 0.1, y, sample_weight=weight).values
    assert_close(told, held_out_gain(model, X[kept] + 0.1, y[kept]).values, np.abs(told), k=64)
    watched = model.fit(X, y, X_val=X, y_val=y, sample_weight_val=weight)
    assert np.isfinite([*watched.evals_result_.values()]).all()


UNFIT = [  # what no model begins with, though other rows may have it
    ({"loss": "poisson"}, np.zeros(60), "not all 0"),
    ({"loss": "cross_entropy"}, np.zeros(60), "probability between 0 and 1; got 0: all of y"),
    ({"loss": "cross_entropy"}, np.ones(60), "got 1: all of y is that number"),
    ({"loss": "cross_entropy", "base_score": 2.0}, np.full(60, 0.5), "base_score is outside"),
    ({"loss": "aft"}, [[1, np.inf]] * 60, "no row with an upper bound: no event"),
    (
        {"loss": "aft"},
        [[0, 1]] * 60,
        "no row with a lower bound: no event is known to have come after any",
    ),
    (
        {"loss": "aft", "base_score": -1.0},
        [[1, 1]] * 60,
        "aft loss predicts numbers above 0; got -1",
    ),
    ({"loss": "hinge"}, np.ones(60), "loss must be None, one of.*'hinge'"),
    ({"loss": Quantile}, np.ones(60), "loss must be"),
    ({"loss": object()}, np.ones(60), "loss must be"),
]


@pytest.mark.parametrize(("asked", "y", "message"), UNFIT)
def test_what_no_model_begins_with(asked, y, message):
    with pytest.raises(ValueError, match=message):
        GreedyRegressor(**asked).fit(np.arange(60.0)[:, np.newaxis], y)


def test_parameters_of_losses_are_checked():
    for make in (
        lambda: Quantile(1.0), lambda: Huber(0.0), lambda: PseudoHuber(-1.0), lambda: Tweedie(0.9),
        lambda: Tweedie(2.1), lambda: Tweedie(np.nan), lambda: Aft(scale=0.0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must be a number in"):
            make()
    with pytest.raises(ValueError, match=r"distribution must be one of .*; got 'weibull'"):
        Aft("weibull")
    assert {name: type(as_loss(name)) for name in OF_REGRESSION} == OF_REGRESSION
    assert isinstance(as_loss(None), HalfSquaredError)
