"""What simpler models predict beside the model, what one column gives away, and what to do next."""

import re
import webbrowser
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score

from attributions.command.judging.findings import CONSTANT, MODEL, findings_of
from attributions.command.judging.other_models import LINEAR, TREE, LinearOrder, design
from attributions.command.rules.columns import column_of_numbers
from attributions.command.run import fit
from attributions.command.said.cautions import cautions
from attributions.command.said.next_steps import next_steps, vary_as_counts
from attributions.command.table.demonstration import GREEDY
from attributions.command.table.task import Task
from benchmarks.papers.report.drawn import found_in
from benchmarks.papers.report.leaks import honest, leak
from gbt.losses import Cox, Pairwise
from tests.asserts import assert_close, assert_same


def numbers(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(3)
    return X, (X @ [1.0, -1.0, 0.5] + 0.5 * rng.normal(size=n)).round(3)


def columns_of(X, y):
    return {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}


@pytest.mark.parametrize("is_class", [False, True])
def test_a_linear_model_is_judged_on_the_same_rows(is_class):
    X, y = numbers()
    found = found_in(columns_of(X, np.where(y > 0, "yes", "no") if is_class else y))
    task = found.task
    center, scale = task.X_train.mean(axis=0), task.X_train.std(axis=0)
    train, valid = ((rows - center) / scale for rows in (task.X_train, task.X_valid))
    assert {*found.scores} == {MODEL, CONSTANT, LINEAR, TREE}
    if is_class:
        model = LogisticRegression(max_iter=300).fit(train, task.y_train)
        expected = roc_auc_score(task.y_valid, model.predict_proba(valid)[:, 1])
        # Shares beyond .999 are alike here, which may tie a few pairs of rows.
        assert abs(found.scores[LINEAR]["AUC"] - expected) < 0.01
        return
    expected = r2_score(task.y_valid, Ridge(alpha=1.0).fit(train, task.y_train).predict(valid))
    assert_close(found.scores[LINEAR]["R^2"], expected, 1.0)
    assert found.scores[LINEAR]["R^2"] > found.scores[MODEL]["R^2"]
    assert any("a linear model predicts better" in text for text in cautions(found))


def test_simpler_models_do_not_depend_on_the_unit_of_the_target():
    X, y = numbers()
    whole, tiny = (found_in(columns_of(X, unit * y)).scores for unit in (1, 2**-30))
    for name in (LINEAR, TREE):
        assert_close(tiny[name]["R^2"], whole[name]["R^2"], 1.0)


@pytest.mark.parametrize("loss", [Cox(), Pairwise()])
def test_a_linear_model_of_an_order_is_where_the_loss_is_least(loss):
    X, signal = numbers()
    y = np.column_stack([np.exp(-signal), X[:, 0] > -1])
    if loss.has_queries:
        y = np.column_stack([np.digitize(signal, [-1, 1]), np.arange(500) // 10])
    model = LinearOrder(loss)
    model.fit(X, y)

    def penalised(slopes):
        return loss.value(loss.prepared(y, 1.0), X @ slopes).sum() + slopes @ slopes / 2

    for step in np.random.default_rng(1).normal(scale=1e-2, size=(20, 3)):
        assert penalised(model.slopes + step) > penalised(model.slopes)
    assert model.slopes[0] > 0 > model.slopes[1]


def test_with_few_rows_there_is_no_tree_and_columns_may_be_empty():
    columns = columns_of(*numbers(100)) | {"empty": np.full(100, np.nan)}
    assert {*found_in(columns).scores} == {MODEL, CONSTANT, LINEAR}


def test_missing_numbers_and_words_have_columns_of_their_own():
    X = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, np.nan]])
    columns = {
        "a": column_of_numbers("a", X[:, 0]),
        "b": replace(column_of_numbers("b", X[:, 1]), words=("x", "y")),
    }
    made = design(Task([], False, X, X[:, 0], X, X[:, 0], ("a", "b"), columns=columns)).fit(X)
    rows = made.transform(np.array([[3.0, 1.0], [np.nan, np.nan], [99.0, 0.0], [2.0, 5.0]]))
    assert_same(rows, [[1, 0, 0, 1, 0], [0, 1, 0, 0, 1], [10, 0, 1, 0, 0], [0, 0, 0, 0, 0]])


def of_leak(kind, is_class=False, seed=3):
    rng = np.random.default_rng(seed)
    columns, y = honest(is_class, 0.3, rng)
    if kind:
        columns["status"] = leak(kind, y, is_class, rng)
    return found_in({**columns, "y": np.array(["no", "yes"])[y] if is_class else y.round(3)})


@pytest.mark.parametrize("kind", ["copy", "code"])
@pytest.mark.parametrize("is_class", [False, True])
def test_a_column_that_gives_the_answer_away_is_named(kind, is_class):
    found = of_leak(kind, is_class)
    (warning,) = (text for text in cautions(found) if "known at the time" in text)
    assert "status" in warning
    assert "x1" not in warning
    assert any("--drop status" in text for text in next_steps(found))


@pytest.mark.parametrize("noise", [0.0, 0.6])
def test_every_column_that_gives_the_answer_away_alone_is_named(noise):
    """Two are 0 where the class is "no"; with noise a model of them is not nearly perfect."""
    rng = np.random.default_rng(3)
    columns, y = honest(True, 0.3, rng)
    told = np.where(rng.random(len(y)) < noise / 10, 1 - y, y)
    for name in ("paid", "fee"):
        columns[name] = (told * rng.uniform(1, 9, len(y))).round(3)
    found = found_in({**columns, "y": np.array(["no", "yes"])[y]})
    (warning,) = (text for text in cautions(found) if "known at the time" in text)
    assert "paid" in warning
    assert "fee" in warning
    assert "x1" not in warning
    said = "Each of (paid, fee|fee, paid) alone predicts" if noise else "nearly perfect"
    assert re.search(said, warning)
    assert any(
        {"--drop paid", "--drop fee"} <= set(re.findall("--drop \\w+", text))
        for text in next_steps(found)
    )


@pytest.mark.parametrize("noise", [0.4, 1.0])
def test_two_columns_are_warned_of_if_they_give_it_away_together(noise):
    """Where they explain two thirds they do not, though both predict nearly as well as all."""
    rng = np.random.default_rng(4)
    one, other, *rest = rng.normal(size=(5, 800))
    y = one + other + noise * rng.normal(size=800)
    table = {"one": one.round(3), "other": other.round(3), "y": y.round(3)}
    found = found_in(table | {f"x{k}": x.round(3) for k, x in enumerate(rest)})
    assert found.saved_by_best[1] > 0.9 * found.saved
    warnings = [text for text in cautions(found) if "known at the time" in text]
    if noise == 1.0:
        assert 60 < found.saved < 80
        assert warnings == []
        assert not any("--drop" in text for text in next_steps(found))
    else:
        named = warnings[0].split(" together predict nearly as well")[0]
        assert "one" in named
        assert "other" in named


def test_honest_columns_are_not_warned_of():
    assert not any("known at the time" in text for text in cautions(of_leak("")))


def test_what_to_do_next_depends_on_what_was_found():
    found = found_in(columns_of(*numbers()))
    assert any("knows the subject" in text for text in next_steps(found))
    useless = replace(found, saved=-1.0)
    assert any("Do not use this model" in text for text in next_steps(useless))
    assert not any("Try the model without" in text for text in next_steps(useless))
    seen = next_steps(replace(found, on_training_rows=True))
    assert "rows that it was not trained on" in seen[0]


def test_the_report_is_shown_in_a_browser(run, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(webbrowser, "open", lambda address: shown.append(address) or False)
    path = tmp_path / "a report.html"
    assert "No browser was found" in run("--report", path, "--open").out
    assert shown == [path.as_uri()]


@pytest.mark.parametrize(
    ("draw", "are_counts"),
    [
        (lambda rng, mean: rng.poisson(mean), True),
        (lambda rng, mean: rng.poisson(mean * rng.gamma(1, 1, size=len(mean))), True),
        (lambda rng, mean: np.maximum(np.round(mean + rng.normal(size=len(mean))), 0), False),
        (lambda rng, mean: rng.poisson(mean) + 0.5, False),  # no whole numbers
        (lambda rng, mean: rng.poisson(mean) + 1000, False),  # they count from elsewhere
        (lambda rng, mean: rng.poisson(np.full(len(mean), 3.0)), False),  # nothing is predicted
    ],
)
def test_counts_are_told_by_errors_that_grow(draw, are_counts):
    rng = np.random.default_rng(0)
    mean = np.exp(rng.normal(1, 0.7, size=2000))
    y = draw(rng, mean).astype(np.float64)
    y[0] = y[0] if y.min() > 100 else np.floor(y.min())
    assert vary_as_counts(y, mean) == are_counts


def test_the_poisson_loss_is_offered_for_counts_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2))
    for y, is_offered in (
        (rng.poisson(np.exp(1 + 0.7 * X[:, 0])).astype(np.float64), True),
        (X[:, 0] + rng.normal(size=800), False),
    ):
        task = Task([], False, X[:400], y[:400], X[400:], y[400:], ("a", "b"))
        found = findings_of(fit(task, GREEDY), task)
        assert any("--task counts" in text for text in next_steps(found)) == is_offered
    five = np.arange(400.0) % 5
    counts = replace(task, y_train=five, y_valid=five, loss="poisson")
    assert not any("--task" in t for t in next_steps(findings_of(fit(counts, GREEDY), counts)))
