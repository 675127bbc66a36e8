"""Held-out gain by label: each as if called by hand, and differences with errors that hold."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import t as student

from attributions import GlobalAttribution, held_out_gain, loss_change
from attributions.changes import worth
from gbt import GBTClassifier
from tests.asserts import assert_close, assert_same, peer
from tests.attributions.held_out.test_held_out_gain import two_stumps
from tests.greedy import GreedyRegressor

N_FIT, P = 400, 4


def rows(n, rng, effect=1.5):
    """Draw rows of which x0 matters, and x1 with x2."""
    X = rng.normal(size=(n, P))
    return X, effect * X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)


@pytest.fixture(scope="module")
def model():
    X, y = rows(N_FIT, np.random.default_rng(1))
    return GreedyRegressor(30, max_depth=3, random_state=0).fit(X, y)


@pytest.mark.parametrize("given", [(), ("sample_weight",), ("groups",)], ids=str)
def test_each_label_is_what_a_call_by_hand_returns(model, given):
    rng = np.random.default_rng(2)
    X, y = rows(300, rng)
    month = rng.permutation(np.repeat([3, 1, 2], 100))
    beside = {"sample_weight": rng.gamma(2.0, size=300), "groups": rng.integers(0, 40, 300)}
    options = {name: beside[name] for name in given}
    result = held_out_gain(model, X, y, by=month, **options)
    assert result.labels == (1, 2, 3)
    for label in result:
        at = month == label
        alone = held_out_gain(model, X[at], y[at], **{k: v[at] for k, v in options.items()})
        for name in ("values", "standard_error", "second_moments", "kurtosis", "groups"):
            assert_same(getattr(result[label], name), getattr(alone, name))
        assert result[label].percent_of_one == alone.percent_of_one
        assert_same(result[label].p_values("joint"), alone.p_values("joint"))
    by_hand = [held_out_gain(model, X[month == m], y[month == m], per_tree=True) for m in (1, 2, 3)]
    together = held_out_gain(model, X, y, by=month, per_tree=True)
    assert_same([r.per_tree for r in together.results], [r.per_tree for r in by_hand])


def test_a_column_of_the_table_has_the_labels():
    X, y = rows(300, np.random.default_rng(3))
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["region"] = pd.Categorical(np.where(X[:, 0] > 0, "north", "south"))
    fitted = GreedyRegressor(5, max_depth=2).fit(frame, y - y.mean())
    named = held_out_gain(fitted, frame, y, by="region")
    given = held_out_gain(fitted, frame, y, by=frame["region"])
    assert named.labels == ("north", "south")
    assert "region" in named.feature_names
    assert_same(named.values, given.values)
    with pytest.raises(ValueError, match="X has no column 'regio' to judge by; its columns are 'a"):
        held_out_gain(fitted, frame, y, by="regio")
    with pytest.raises(ValueError, match="by='a' names a column, and those of X have no names"):
        held_out_gain(fitted, frame.iloc[:, :4].to_numpy(), y, by="a")


def derivative(model, X, y, unit):
    """Return by how much each row moves a value, from weights a little larger and smaller."""
    h, n = 1e-5, len(y)

    def value(i, step):
        weight = np.ones(n)
        weight[i] += step
        result = held_out_gain(model, X, y, sample_weight=weight)
        to_loss = model.learning_rate / 2
        return result.percent() if unit == "percent" else to_loss * result.values / weight.sum()

    return np.array([(value(i, h) - value(i, -h)) / (2 * h) for i in range(n)])


@pytest.mark.parametrize("unit", ["percent", "loss"])
def test_the_error_of_a_difference_is_that_of_its_derivative(unit):
    """In stumps all rows judge each split: parts of gains count sqrt(n / (n - 1)) times."""
    rng, n = np.random.default_rng(4), 60
    X = rng.choice([-1.0, 1.0], size=(2 * n, 1))
    y = 2 * X[:, 0] + rng.normal(size=2 * n) * np.repeat([1.0, 1.3], n)
    found = held_out_gain(two_stumps(), X, y, by=np.repeat([0, 1], n)).changes(unit=unit)
    halves = (X[:n], y[:n]), (X[n:], y[n:])
    moved = [derivative(two_stumps(), *half, unit) for half in halves]
    own = np.array([n / (n - 1) * (m**2).sum() for m in moved])
    least = np.maximum(own, own.mean()).sum()
    np.testing.assert_allclose(found.standard_error[0, 0] ** 2, least, rtol=1.01 / (n - 1))


def test_the_difference_of_equal_labels_by_hand(model):
    rng, n = np.random.default_rng(5), 100
    X, y = rows(2 * n, rng)
    result = held_out_gain(model, X, y, by=np.repeat(["a", "b"], n))
    found = result.changes("a")
    to_loss = model.ensemble_.learning_rate / 2 / n
    a, b = (result[label] for label in "ab")
    own = np.array([r.standard_error for r in (a, b)]) ** 2 * to_loss**2
    variance = np.maximum(own, own.mean(axis=0)).sum(axis=0)
    difference = to_loss * (b.values - a.values)
    assert_close(found.values[0], difference, np.abs(difference) + to_loss * np.abs(a.values), 64)
    assert_close(found.standard_error[0] ** 2, variance, variance, k=1e6)
    parts = np.maximum(own, own.mean(axis=0))
    degrees = variance**2 / (parts**2 / (n - 1)).sum(axis=0)
    p = 2 * student.sf(np.abs(difference) / np.sqrt(variance), degrees)
    np.testing.assert_allclose(found.p_values()[0], 1 - (1 - p) ** P, rtol=1e-6)
    np.testing.assert_allclose(result.changes("a", adjust=None).p_values()[0], p, rtol=1e-6)


def test_intervals_leave_out_0_where_p_values_are_small(model):
    rng = np.random.default_rng(6)
    (X, y), (X_lost, y_lost) = rows(400, rng), rows(200, rng, effect=0.3)
    X, y = np.concatenate([X, X_lost]), np.concatenate([y, y_lost])
    for adjust in ("joint", None):
        found = held_out_gain(model, X, y, by=np.repeat([0, 1, 2], 200)).changes(adjust=adjust)
        for level in (0.5, 0.95, 0.999):
            low, high = np.moveaxis(found.confidence_interval(level), -1, 0)
            assert_same((low > 0) | (high < 0), found.p_values() < 1 - level)
    assert found.labels == ("1 - 0", "2 - 1")
    assert_same(found.changed(), [[False] * P, [True] + [False] * (P - 1)])
    assert "2 - 1" in repr(found).splitlines()[2]


def test_a_small_label_is_worth_as_much_as_a_large_one():
    """In nodes of few rows less is seen: values differ, and differences allow for it."""
    rng = np.random.default_rng(7)
    deep = GreedyRegressor(30, max_depth=6, random_state=0).fit(*rows(600, rng))
    as_they_are, found = np.empty((2, 40))
    for i in range(40):
        result = held_out_gain(deep, *rows(440, rng), by=np.repeat([0, 1], [400, 40]))
        values = result.values_in("loss")[:, 1:3].sum(axis=1)
        as_they_are[i] = values[1] - values[0]
        found[i] = result.changes().values[0, 1:3].sum()
    for differences, is_biased in ((as_they_are, True), (found, False)):
        error = differences.std() / np.sqrt(40)
        assert (differences.mean() < -3 * error) == is_biased


def test_rows_that_no_piece_needs_do_not_count_as_draws(model, monkeypatch):
    X, y = rows(1640, np.random.default_rng(16))
    by = np.repeat([0, 1], [40, 1600])
    errors, sets = [], ((X[:40], y[:40]), (X[40:], y[40:]))
    for most in (4, 40):  # pieces
        monkeypatch.setattr(worth, "MOST_PIECES", most)
        of_labels = held_out_gain(model, X, y, by=by).changes().standard_error[0, 0]
        errors.append([of_labels, *loss_change(model, *sets).changes.standard_error[0, :4]])
    np.testing.assert_allclose(*errors, rtol=0.25)


def test_groups_may_be_longer_than_a_piece(model):
    """No group begins in most pieces; the last of the groups is judged as well as the first."""
    X, y = rows(1212, np.random.default_rng(17))
    by, group = np.repeat([0, 1], [12, 1200]), np.r_[np.arange(12), 100 + np.arange(1200) // 100]
    result = held_out_gain(model, X, y, by=by, groups=group)
    found = worth.worth_of(result.rows.of_label(1).rows, "loss", None, 12)
    assert (found.moved_by[:, 0] != 0).all()
    assert_same(found.n_draws, np.full(P, 12))
    assert np.isfinite(result.changes().standard_error).all()


def test_labels_without_anything_to_tell_under_a_loss_of_rows_together_are_not_judged():
    rng = np.random.default_rng(18)
    X, _ = rows(300, rng)
    time = rng.exponential(np.exp(-X[:, 0]))
    has_event = rng.random(300) < 0.6
    cox = GreedyRegressor(10, loss="cox").fit(X[:100], np.where(has_event, time, -time)[:100])
    has_event[200:] = False
    by = np.repeat(["before", "after"], 100)
    result = held_out_gain(cox, X[100:], np.where(has_event, time, -time)[100:], by=by)
    assert result.labels == ("after", "before")
    assert result.is_judged.tolist() == [False, True]
    assert "nothing to compare" in repr(result)
    assert np.isnan(result.changes("before").p_values()).all()


def test_a_constant_whose_loss_is_that_of_a_few_rows_is_no_unit():
    rng = np.random.default_rng(15)
    X, y = rows(900, rng)
    is_case = y > np.quantile(y, 0.95)
    fitted = GBTClassifier(10, max_depth=2, random_state=0).fit(X[:300], is_case[:300])
    found = held_out_gain(fitted, X[300:], is_case[300:], by=np.repeat([0, 1], [550, 50]))
    assert np.isnan(found.changes(unit="percent").p_values()).all()
    assert np.isfinite(found.changes().p_values()).all()


def test_groups_with_rows_in_two_labels_are_paired(model):
    """The same subjects with the same rows differ by nothing, and nothing is left to chance."""
    X, y = rows(60, np.random.default_rng(8))
    X, y = np.concatenate([X, X]), np.concatenate([y, y])
    by, subject = np.repeat([0, 1], 60), np.tile(np.arange(60), 2)
    apart = held_out_gain(model, X, y, by=by).changes()
    paired = held_out_gain(model, X, y, by=by, groups=subject).changes()
    assert (apart.standard_error[0, :3] > 0).all()
    assert (paired.standard_error < 1e-7 * (apart.standard_error + 1e-300)).all()
    assert_same(paired.values, np.zeros((1, P)))


def test_a_trend_is_the_weighted_line_through_the_labels(model):
    """The first label is the smallest, so that differences from it are judged as a trend is."""
    rng, n = np.random.default_rng(9), np.array([60, 80, 80, 80, 160])
    parts = [rows(size, rng, effect=1.5 - 0.3 * month) for month, size in enumerate(n)]
    X, y = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    result = held_out_gain(model, X, y, by=np.repeat(np.arange(5), n))
    from_first = np.concatenate([np.zeros((1, P)), result.changes(0).values])
    slope = np.polyfit(np.arange(5), from_first, 1, w=np.sqrt(n))[0]
    found = result.trend()
    np.testing.assert_allclose(found.values[0], slope, rtol=1e-9, atol=1e-15)
    assert_same(found.changed()[0], [True, False, False, False])


@pytest.mark.parametrize(
    ("by", "labels", "is_ordered"),
    [
        (pd.Series(pd.Categorical(["hi", "lo"] * 30, ["lo", "hi", "no"], ordered=True)),
         ("lo", "hi"), True),
        (pd.Series(pd.period_range("2024-01", periods=2, freq="M").repeat(30)),
         tuple(pd.period_range("2024-01", periods=2, freq="M")), True),
        (np.array(["2024-02-01", "2024-01-01"] * 30, "M8[ns]"),
         (np.datetime64("2024-01-01"), np.datetime64("2024-02-01")), True),
        (["b", "a"] * 30, ("a", "b"), False),
        ([True, False] * 30, (False, True), False),
        (pl.Series(["b", "a"] * 30, dtype=pl.Categorical), ("a", "b"), False),
        (pa.array(["b", "a"] * 30), ("a", "b"), False),
        ([0.5, 0.25] * 30, (0.25, 0.5), True),
        (np.array(["2024-01-01T00:00:00.9", "2024-01-01T00:00:00.1"] * 30, "M8[ms]"),
         tuple(np.array(["2024-01-01T00:00:00.1", "2024-01-01T00:00:00.9"], "M8[ms]")), True),
    ],
    ids=["categories", "periods", "dates", "words", "booleans", "polars", "pyarrow", "numbers",
         "milliseconds"],
)  # fmt: skip
def test_labels_of_all_kinds(model, by, labels, is_ordered):
    X, y = rows(60, np.random.default_rng(10))
    result = held_out_gain(model, X, y, by=by)
    assert (result.labels, result.is_ordered) == (labels, is_ordered)
    assert result.changes(result.labels[0]).values.shape == (1, P)
    assert result.changes(result.label_texts[1]).values.shape == (1, P)
    assert [result[label] for label in labels] == list(result.results)
    assert len(set(result.label_texts)) == 2


def test_labels_of_few_rows_are_listed(model):
    X, y = rows(69, np.random.default_rng(11))
    numbers = held_out_gain(model, X, y, by=np.repeat([2023.0, 2024.0], [30, 39]))
    assert numbers[2024] is numbers.results[1]  # though it is shown as 2024.0
    result = held_out_gain(model, X, y, by=np.repeat([0, 1, 2], [30, 9, 30]))
    assert_same(result.n_samples, [30, 9, 30])
    assert_same(result.values[1], held_out_gain(model, X[30:39], y[30:39]).percent())
    assert np.isnan(result[1].standard_error).all()
    [_, line, *_] = lines = repr(result).splitlines()[2:]
    assert line.split() == ["1", "9", *"-" * P, "too", "few", "rows"]
    assert "-" not in lines[0].split()
    y_alike = np.where(np.arange(69) < 30, 1.0, y)  # of which no share can be saved
    alike = held_out_gain(model, X, y_alike, by=np.repeat([0, 1], [30, 39]))
    assert repr(alike).splitlines()[2].split()[2:] == [*"-" * P, "targets", "are", "alike"]
    with pytest.raises(ValueError, match="by has 23 labels, none of them of 10 rows"):
        held_out_gain(model, X, y, by=np.arange(69) // 3)
    found = result.changes(0)
    assert_same(np.isnan(found.p_values()), [[True] * P, [False] * P])
    assert_same(found.p_values()[1], result.changes(2).p_values()[0])  # they do not count
    assert len(result.to_frame()) == 3 * P


def test_what_is_refused(model):
    X, y = rows(60, np.random.default_rng(12))
    words = np.repeat(["a", "b"], 30)
    result, no_weight = (
        held_out_gain(model, X, y, by=words),
        {"sample_weight": (words == "a") * 1.0},
    )
    for by, message, options in (
        (np.where(np.arange(60) == 3, np.nan, 1.0), "by has missing labels", {}),
        (pd.Categorical([None] + ["a"] * 59), "by has missing labels", {}),
        (np.array(["NaT"] + ["2024"] * 59, "M8[D]"), "by has missing labels", {}),
        (words[1:], r"by has shape \(59,\)", {}),
        (words, "All rows of the label b have a weight of 0; leave them", no_weight),
    ):
        with pytest.raises(ValueError, match=message):
            held_out_gain(model, X, y, by=by, **options)
    for changes, options, message in (
        (result.changes, {"reference": "c"}, r"reference='c' is not there; the labels are a, b\."),
        (result.changes, {}, r"labels with an order.*reference=, one of them"),
        (result.trend, {}, "A trend needs labels with an order"),
        (result.changes, {"reference": "a", "unit": "per mille"}, "'per mille'; use 'percent'"),
        (result.changes, {"reference": "a", "adjust": "holm"}, "adjust='holm'; use 'joint' or N"),
        (held_out_gain(model, X, y, by=np.zeros(60)).changes, {}, "one label only"),
    ):
        with pytest.raises(ValueError, match=message):
            changes(**options)


@pytest.mark.parametrize("kind", ["memory", "arrays of Dask", "frames of Dask"])
def test_rows_in_chunks_and_rows_without_weight_which_are_no_rows_of_a_label(model, kind):
    X, y = rows(120, np.random.default_rng(13))
    by, weight = np.repeat(["a", "b", "c"], 40), np.ones(120)
    weight[45:74] = 0.0  # of b all but 11
    weight[85:117] = 0.0  # of c all but 8
    given = X, y, by, weight
    if kind == "arrays of Dask":
        da = peer("dask.array")
        given = [da.from_array(one, chunks=(50, *one.shape[1:])) for one in given]
        with pytest.raises(ValueError, match="by and sample_weight must be of Dask, too"):
            held_out_gain(model, *given[:2], by=by)
    elif kind == "frames of Dask":
        frame = pd.DataFrame(X).assign(y=y, by=by, weight=weight)
        frame = peer("dask.dataframe").from_pandas(frame, npartitions=3)
        given = frame[list(range(P))], *(frame[name] for name in ("y", "by", "weight"))
    *table, labels, weights = given
    result = held_out_gain(model, *table, by=labels, sample_weight=weights)
    left = weight > 0
    expected = held_out_gain(model, X[left], y[left], by=by[left])
    assert result.labels == expected.labels
    assert_same(result.n_samples, [40, 11, 8])
    assert_same(result.is_judged, [True, True, False])
    for label in "abc":
        assert isinstance(result[label], GlobalAttribution)
        for name in ("values", "standard_error"):
            found, wanted = (getattr(r[label], name) for r in (result, expected))
            np.testing.assert_allclose(found, wanted, rtol=1e-8)
    for name in ("values", "standard_error", "degrees"):
        found, wanted = (getattr(r.changes("a"), name) for r in (result, expected))
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-12)


def test_dots_lines_and_heat(model):
    X, y = rows(240, np.random.default_rng(14))
    month = np.repeat(np.arange(8), 30)
    result = held_out_gain(model, X, y, by=month)
    lines = result.plot(max_display=3)
    for line, k in zip(lines.lines_, result.ranking(), strict=False):
        assert_same(line.get_ydata(), result.values[:, k])
    short = held_out_gain(model, X[:-55], y[:-55], by=month[:-55]).plot(max_display=1)
    (line,), (name,) = short.lines_, short.ax_.texts
    assert name.xy[0] == len(short.attribution.labels) - 2  # the last label has too few rows
    assert name.xy[1] == line.get_ydata()[-2]
    words = held_out_gain(model, X, y, by=np.where(month < 4, "old", "new"))
    changes = words.changes("old")
    dots = words.plot(changes=changes)
    rings = [line for line in dots.ax_.lines if line.get_markersize() == 10]
    assert sum(len(line.get_xdata()) for line in rings) == changes.changed().sum() > 0
    assert_same(dots.lines_[1].get_xdata(), words.values_in("loss")[1, words.ranking()])
    assert (lines.kind, dots.kind) == ("lines", "dots")
    assert held_out_gain(model, X, y, by=month.astype(str)).plot().kind == "heat"
    with pytest.raises(ValueError, match="kind='pie'; use 'lines', 'dots' or 'heat'"):
        result.plot(kind="pie")


def test_pictures_say_what_did_not_change_and_what_could_not_be_judged(model):
    X, y = rows(126, np.random.default_rng(17))
    word = np.array([*np.repeat([f"word {k}" for k in range(12)], 10), *["few"] * 6])
    result = held_out_gain(model, X, y, by=word)
    for figsize in ((7, 3), (4, 4)):
        heat = result.plot(changes=result.changes("word 0"), figsize=figsize)
        axis = heat.ax_.xaxis
        assert "nothing changed beyond chance" in axis.label.get_text()
        assert "(not judged: few)" in " ".join(axis.label.get_text().split())
        assert [text.get_text() for text in axis.get_ticklabels()] == result.label_texts
        heat.figure_.draw_without_rendering()
        boxes = [text.get_window_extent() for text in axis.get_ticklabels()]
        assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))
    dots = result.plot(kind="dots").plot()  # again: what was drawn before is forgotten
    drawn = np.array([line.get_xdata() for line in dots.lines_])
    assert_same(drawn, result.values[result.is_judged][:, result.ranking()])
    listed = [text.get_text() for text in dots.ax_.get_legend().get_texts()]
    assert listed == [text for text in result.label_texts if text != "few"]
    alike = held_out_gain(model, X, np.ones(126), by=np.arange(126) % 2 > 0)
    assert alike.plot(kind="dots").ax_.get_legend() is None  # no per cent of nothing
    many = np.array([*np.repeat(["a", "b"], 50), *np.repeat([*"klmno"], 5), "k"])
    said = held_out_gain(model, X, y, by=many).plot(kind="dots").ax_.get_xlabel()
    assert "(not judged: k, l, m and 2 more)" in " ".join(said.split())
