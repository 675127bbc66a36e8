"""The report for people who do not write Python: what it says, refuses, escapes, and how it is
built. What needs a browser is in ``tests.attributions.command.test_html_report_browser``."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gbt
from attributions.command.judging.verdicts import HELPS, RULES
from attributions.command.page.figures import as_markup
from attributions.command.page.markup import Markup, data, element, name
from attributions.command.page.rows import MOST_ROWS, choose_rows
from tests.asserts import peer
from tests.attributions.command.tables import (
    HOSTILE,
    columns,
    explored,
    several_classes,
    write_csv,
)
from tests.html_checks import Page


@pytest.fixture
def report(run, tmp_path):
    """Run the command on columns; return what it printed, and the text of a page that is sound."""

    def report(table, target, *options, name="table.csv"):
        path, out = write_csv(tmp_path / name, table), tmp_path / "out.html"
        ran = run("--data", path, "--target", target, *options, "--report", out)
        assert (ran.status, ran.err) == (0, "")
        assert f"Report: {out}" in ran.out
        text = out.read_text(encoding="utf-8")
        assert Page(text).problems == []
        return ran.out, text

    return report


def cells(text, row):
    """Return the texts of a row of the table of features, by its name."""
    table = text[text.index('id="features"') :]
    for found in re.findall(r"<tr>(.*?)</tr>", table[: table.index("</table>")]):
        parts = [
            re.sub("<svg.*?</svg>|<.*?>", "", c) for c in re.findall(r"<t[hd].*?</t[hd]>", found)
        ]
        if parts[0] == row:
            return parts
    raise KeyError(row)


def test_a_classification_with_words_and_gaps(report, tmp_path):
    said, text = report(columns(), "y", "--drop", "amount")
    assert not (tmp_path / "attributions_out").exists()
    page = Page(text)
    assert cells(text, "color")[1].rstrip("*") == HELPS
    assert cells(text, "noise")[1].rstrip("*") != HELPS
    stars = "".join(cells(text, feature)[1] for feature in ("color", "x", "noise", "gaps"))
    assert ("An asterisk" in page.text) == ("*" in stars)
    rows = explored(text)["rows"]
    assert len(rows) == 80  # all that are held out
    assert {row[3] for row in rows} == {"yes", "no"}
    values = {value for row in rows for k, value, *_ in row[4] if k == 0}
    assert values <= {"red", "green", "blue"}
    assert "(missing)" in {value for row in rows for k, value, *_ in row[4] if k == 3}
    for words in ("red", "green", "blue", "Only 80 rows are held out", "log-odds", "--target y"):
        assert words in page.text, words
    sections = re.split(r"\n(?:In short|What to do next|Warnings)\n", said)[1:]
    sections = [each.split("\n\n")[0] for each in sections]
    printed = [each for part in sections for each in re.split(r"\n  (?=\S)", "\n" + part)[1:]]
    assert len(sections) == 3
    assert len(printed) > 7
    for sentence in printed:
        assert " ".join(sentence.split()) in " ".join(page.text.split())
    assert report(columns(), "y", "--drop", "amount")[1] == text  # the same command, the same page


def test_a_regression_adds_up_to_its_predictions(report):
    table = columns()
    _, text = report(table, "amount", "--drop", "y")
    order = ['id="summary-title"', "The model explains", "The features that help most",
             "helps, 2 of 4: ", "hurts, ", 'id="features"', 'id="warnings-title"',
             "<details>", RULES[HELPS], "(The rule: words, two different"]  # fmt: skip
    places = [text.index(words) for words in order]  # the answer comes first, and rules last
    assert places == sorted(places)
    assert text.index("Task: regression") > text.index("<details>")
    found = explored(text)
    for number, _, predicted, truth, features, others in found["rows"]:
        total = found["base"] + sum(f[2] for f in features) + others[0]
        assert abs(total - float(predicted)) < 0.01
        assert float(truth) == table["amount"][number - 1]


def test_a_name_that_looks_like_markup_is_not_changed_in_a_picture():
    svg = '<svg viewBox="0 0 9 9"><g id="a"><text>fill: #ffffff &lt;g id="b"</text></g></svg>'
    assert as_markup(svg, "x") == (
        '<svg viewBox="0 0 9 9" role="img" aria-label="x">'
        '<g><text>fill: #ffffff &lt;g id="b"</text></g></svg>'
    )


def test_hostile_names_and_words_are_only_text(report):
    table = columns()
    hostile = {
        HOSTILE[0]: np.where(table["color"] == "red", HOSTILE[0], HOSTILE[1]),
        HOSTILE[1]: table["x"],
        HOSTILE[2]: table["noise"],
        HOSTILE[3]: np.where(table["y"] == "yes", HOSTILE[2], "no"),
    }
    _, text = report(hostile, HOSTILE[3], name="<b>.csv")
    page = Page(text)
    assert len(page.all("script")) == 2  # the data and the page's own
    assert not page.all("b")
    for hostile_name in HOSTILE:
        assert hostile_name in page.text
    found = explored(text)
    assert found["names"] == [*HOSTILE[:3]]
    assert HOSTILE[2] in {row[3] for row in found["rows"]}


def test_several_classes(report):
    table = several_classes()
    said, text = report(table, "kind")
    assert "3 classes" in said
    page = Page(text)
    assert cells(text, "color")[1].rstrip("*") == HELPS
    assert cells(text, "noise")[1].rstrip("*") != HELPS
    for words in ("accuracy", "shares of the classes", "unnormalised log-probability"):
        assert words in page.text
    assert "3,000 trees (1,000 rounds of 3, one for each class)" in page.text
    assert "that move a row most" not in page.text  # all three have a line
    found = explored(text)
    assert len(found["base"]) == 3
    names = ("ash", "birch", "cedar")
    right = 0
    for number, _, predicted, truth, *_, c in found["rows"]:
        assert predicted.endswith(f"% for kind = {names[c]}")
        assert float(predicted.split(" ")[0]) >= 33.3
        assert truth == table["kind"][number - 1]
        right += truth == names[c]
    assert right > 0.7 * len(found["rows"])


def test_a_saved_model_of_several_classes(report, tmp_path):
    """Its classes are found by name, also where the new rows have not all of them."""
    table = several_classes()
    model = gbt.GBTClassifier(n_estimators=30, splitter="greedy")
    model.fit(pd.DataFrame(table)[["x", "color"]], table["kind"]).save(tmp_path / "model.json")
    new = pd.DataFrame(several_classes(seed=1)).query("kind != 'ash'").reset_index(drop=True)
    _, text = report(new, "kind", "--model", tmp_path / "model.json")
    rows = new[["x", "color"]]
    expected, probability = model.predict(rows), model.predict_proba(rows).max(axis=1)
    raw, found = model.decision_function(rows), explored(text)
    for number, _, predicted, _, features, others, c in found["rows"]:
        assert predicted == (
            f"{100 * probability[number - 1]:.1f} % for kind = {expected[number - 1]}"
        )
        total = found["base"][c] + sum(feature[2] for feature in features) + others[0]
        assert total == pytest.approx(raw[number - 1, c], abs=0.01)
    assert "1 of 3 classes have fewer than 30 held-out rows, the rarest 0" in Page(text).text


@pytest.mark.parametrize("kind", ["classifier", "regressor", "poisson"])
def test_a_saved_model_is_judged_on_rows_it_has_not_seen(report, tmp_path, kind):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(600, 3)).round(3), columns=["a", "b", "c"])
    signal = rows.a + 0.5 * rows.b + 0.3 * rng.normal(size=600)
    y = {
        "classifier": (signal > 0) * 1,
        "regressor": signal,
        "poisson": rng.poisson(np.exp(rows.a)),
    }
    estimator = gbt.GBTClassifier if kind == "classifier" else gbt.GBTRegressor
    loss = {"loss": "poisson"} if kind == "poisson" else {}
    model = estimator(n_estimators=40, max_depth=3, splitter="greedy", **loss)
    model.fit(rows[:300], y[kind][:300]).save(tmp_path / "model.json")
    given, table = ("--model", tmp_path / "model.json"), rows.assign(y=y[kind])
    page = Page(report(table[300:], "y", *given)[1])
    assert "does not say on which rows it was trained" in page.text
    assert "These are the rows that the model was trained on" not in page.text
    assert "300 rows" in page.text
    assert ("Poisson loss, 0 at best" in page.text) == (kind == "poisson")
    assert ("root mean squared error" in page.text) == (kind == "regressor")
    page = Page(report(table[:300], "y", *given)[1])
    assert "These are the rows that the model was trained on" in page.text


def test_a_saved_model_that_has_learned_words_finds_them_by_value(report, tmp_path):
    table = pd.DataFrame(columns(400))
    model = gbt.GBTRegressor(n_estimators=40, max_depth=3, splitter="greedy")
    model.fit(table[["color", "x"]][:200], table.amount[:200]).save(tmp_path / "model.json")
    new = table[200:].reset_index(drop=True)
    new.loc[:4, "color"] = "violet"  # a new word, and another order
    _, text = report(new, "amount", "--model", tmp_path / "model.json")
    predicted, found = model.predict(new[["color", "x"]]), explored(text)["rows"]
    assert len(found) == 200
    for number, _, said, _, features, _ in found:
        assert float(said) == pytest.approx(predicted[number - 1], rel=1e-4, abs=1e-5)
        assert {value for k, value, *_ in features if k == 0} <= {new.color[number - 1]}


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        ({"a": [1.5, 2.2, 3.1], "y": [0, 1, 0]}, [], "too few to have every class in both halves"),
        ({"a": [1], "y": [0]}, [], "holds one value alone"),
        (None, ["--model", "nowhere.json"], "nowhere.json cannot be read"),
        (None, ["--model", "table.csv"], "is no model's file"),
        (None, ["--model", "broken.json"], "cannot be used"),
        (None, ["--model", "pickle.pkl"], "looks like a pickle"),
        (None, ["--model", "other.json"], "no column for 'a', 'b'"),
        (None, ["--model", "several.json"], "the model's classes are '0', '1', '2'"),
        (None, ["--model", "several.json", "--positive", "yes"], "tells 3 classes apart"),
        (None, ["--model", "two.json", "--positive", "no"], "predicts the probability of 'yes'"),
        (
            None,
            ["--model", "two.json", "--task", "regression"],
            "predicts classes; leave out --task",
        ),
        (
            None,
            ["--model", "number.json", "--positive", "no"],
            "predicts numbers; leave out --positive",
        ),
        (None, ["--model", "number.json", "--task", "classification"], "numbers; leave out --task"),
        (
            None,
            ["--model", "number.json"],
            "leave out the --task or --model that asks for a regression",
        ),
        (
            {"a": [1, 2], "b": [3, 4], "y": ["1", "2"]},
            ["--model", "two.json"],
            "holds no 'yes', the class to predict by --positive or --model; it holds '1', '2'",
        ),
        (None, ["--report", "table.csv"], "would overwrite table.csv, which is read"),
        (None, ["--model", "two.json", "--report", "./two.json"], "would overwrite two.json"),
        (None, ["--report", "."], "is a folder; name a file"),
        (None, ["--report", "nowhere/out.html"], "there is no folder"),
        (None, ["--data", "nowhere.csv"], "There is no file nowhere.csv"),
        (None, ["--model", "targets.json"], "has 2 targets; a report explains models of classes"),
    ],
)
def test_what_cannot_be_reported_is_refused_in_words(
    run, tmp_path, monkeypatch, table, arguments, message
):
    monkeypatch.chdir(tmp_path)
    write_csv(Path("table.csv"), table or columns(60))
    Path("broken.json").write_text('{"format": "gbt", "version": 2}')
    Path("pickle.pkl").write_bytes(b"\x80\x04\x95")
    X = np.arange(20.0).reshape(10, 2)
    large = X[:, 0] > 8
    classifier = gbt.GBTClassifier(n_estimators=2, splitter="greedy")
    replace(classifier.fit(X, large).ensemble_, feature_names=("a", "b")).save("other.json")
    classifier.fit(X, np.arange(10) % 3).save("several.json")
    classifier.fit(X, np.where(large, "yes", "no")).save("two.json")
    gbt.GBTRegressor(n_estimators=2, splitter="greedy").fit(X, X[:, 0]).save("number.json")
    if "targets.json" in arguments:
        peer("xgboost").XGBRegressor(n_estimators=2).fit(X, X).save_model("targets.json")
    given = ["--data", "table.csv", "--target", "y", "--report", "out.html", *arguments]
    ran = run(*given)
    assert ran.status == 2
    assert message in " ".join(ran.err.split())
    assert not Path("out.html").exists()


def test_rows_to_look_at_are_the_extremes_and_some_others():
    rng = np.random.default_rng(0)
    loss, prediction = rng.random(5_000), rng.random(5_000)
    kinds = choose_rows(loss, prediction, rng, ("high", "low"))
    rows, quarter = [*kinds], MOST_ROWS // 4
    assert len(rows) == MOST_ROWS
    assert set(rows[:quarter]) == set(np.argsort(-loss)[:quarter])
    assert kinds[np.argmax(prediction)] in ("high", "largest error")
    assert kinds[np.argmin(prediction)] in ("low", "largest error")
    assert {*Counter(kinds.values()).values()} == {quarter}
    assert [*choose_rows(loss[:30], prediction[:30], rng, ("", ""))] == [*range(30)]


@pytest.mark.slow
def test_the_size_does_not_grow_with_rows_and_is_bounded_for_500_columns(tmp_path, run):
    rng = np.random.default_rng(0)
    sizes = []
    for n, p in ((600, 20), (6_000, 20), (600, 500)):
        X = rng.normal(size=(n, p)).round(3)
        y = (X[:, :5].sum(axis=1) + rng.normal(size=n)).round(3)
        table = {f"an ordinary name of column {k}": X[:, k] for k in range(p)}
        path, out = write_csv(tmp_path / "t.csv", {**table, "y": y}), tmp_path / "out.html"
        model = gbt.GBTRegressor(n_estimators=30, max_depth=4, splitter="greedy").fit(
            X[:300], y[:300]
        )
        model.save(tmp_path / "m.json")
        options = ("--model", tmp_path / "m.json", "--target", "y", "--report", out)
        assert run("--data", path, *options).status == 0
        sizes.append(out.stat().st_size)
        text = Page(out.read_text(encoding="utf-8")).text
        assert f"Of the {p} features the 12 that move a row most have a line each" in text
    assert sizes[1] < 1.1 * sizes[0]
    assert sizes[2] < 2_000_000


def test_markup_escapes_what_is_no_markup():
    assert element("p", "<b>", Markup("<i></i>"), None, class_='a"b', hidden=True, id=None) == (
        '<p class="a&quot;b" hidden>&lt;b&gt;<i></i></p>'
    )
    assert element("br") == "<br>"
    assert name("a_b\nc") == "<bdi>a_<wbr>b <wbr>c</bdi>"
    assert name("a\u202eb") == r"<bdi>a\u202eb</bdi>"
    written = data("x", ["\u202e", r"\u202e"])[len('<script type="application/json" id="x">') : -9]
    assert json.loads(written) == [r"\u202e", r"\u202e"]
    assert "</" not in data("x", ["</script>"])[:-9].replace("</script>", "", 0)[30:]
    assert (
        json.loads(data("x", "<&>")[len('<script type="application/json" id="x">') : -9]) == "<&>"
    )
