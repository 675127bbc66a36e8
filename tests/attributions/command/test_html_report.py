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
from sklearn.ensemble import GradientBoostingClassifier

import gbt
from attributions.command.page.figures import as_markup
from attributions.command.page.markup import Markup, data, element, name, with_options
from attributions.command.page.rows import MOST_ROWS, choose_rows
from gbt.formats import as_ensemble
from tests.asserts import peer
from tests.attributions.command.tables import HOSTILE, columns, explored, several_classes, write_csv
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
    styled = re.findall(r"#([a-z-]+)\b(?=[^;{}]*\{)", text)
    assert [own for own in styled if f'id="{own}"' not in text] == []
    assert len(page.all("script")) == 2  # the data and the page's own
    assert not page.all("b")
    for hostile_name in HOSTILE:
        assert hostile_name in page.text
    found = explored(text)
    assert found["names"] == [*HOSTILE[:3]]
    assert HOSTILE[2] in {row[3] for row in found["rows"]}


def noisy_labels(table):
    noise = np.random.default_rng(2).normal(size=len(table))
    return np.where(table["amount"] + noise > 0.7, "yes", "no")


def counts(table):
    return np.random.default_rng(1).poisson(np.exp(table["x"]))


SAVED = {  # a target, what it is, and what is said of a model of it
    "two classes": ("y", noisy_labels, "AUC"),
    "several classes": ("kind", lambda table: table["kind"], "accuracy"),
    "numbers": ("amount", lambda table: table["amount"], "root mean squared error"),
    "counts": ("visits", counts, "Poisson loss, 0 at best"),
}


@pytest.mark.parametrize("kind", SAVED)
def test_a_saved_model_is_judged_on_rows_it_has_not_seen(kind, report, tmp_path):
    """Words are found by value; what is shown of a row is what the model predicts of it."""
    target, make, said = SAVED[kind]
    table = pd.DataFrame(several_classes() if target == "kind" else columns(400))
    table = table[["color", "x"]].assign(**{target: make(table)})
    estimator = gbt.GBTClassifier if "classes" in kind else gbt.GBTRegressor
    loss = {"loss": "poisson"} if kind == "counts" else {}
    model = estimator(n_estimators=40, max_depth=3, splitter="greedy", **loss)
    model.fit(table[:200][["color", "x"]], table[target][:200]).save(tmp_path / "model.json")
    given, new = ("--model", tmp_path / "model.json"), table[200:].reset_index(drop=True)
    new.loc[:29, "color"] = "violet"  # a new word, and another order
    text = report(new, target, *given)[1]
    rows, found = new[["color", "x"]], explored(text)
    raw = model.ensemble_.raw_predict(rows).reshape(200, -1)
    assert len(found["rows"]) == 200
    for number, _, predicted, _, features, others, *c in found["rows"]:
        base = found["base"][c[0]] if c else found["base"]
        total = base + sum(feature[2] for feature in features) + others[0]
        assert total == pytest.approx(raw[number - 1, c[0] if c else 0], abs=0.01)
        assert {value for k, value, *_ in features if k == 0} <= {new.color[number - 1]}
        row = rows[number - 1 : number]
        if "classes" in kind:
            (probability,), k = model.predict_proba(row), c[0] if c else 1
            chance, label = 100 * probability[k], model.classes_[k]
            assert predicted == f"{chance:.1f} % for {target} = {label}"
            assert not c or k == probability.argmax()
        else:
            assert float(predicted) == pytest.approx(model.predict(row)[0], rel=1e-4, abs=1e-5)
    page = Page(text)
    for words in (said, "200 rows", "does not say on which rows it was trained", "not learned"):
        assert words in page.text
    assert "These are the rows that the model was trained on" not in page.text
    page = Page(report(table[:200], target, *given)[1])
    assert "These are the rows that the model was trained on" in page.text


def test_classes_have_their_colors_in_all_pictures(report):
    text = report(several_classes(), "kind")[1]
    assert len(set(re.findall(r"fill: (#\w+)[^>]*>(ash|birch|cedar)<", text))) == 3


def test_a_file_that_names_no_classes_may_predict_the_other_one(report, tmp_path):
    table = pd.DataFrame(columns(400))
    model = gbt.GBTClassifier(n_estimators=20, splitter="greedy")
    model.fit(table[["x"]][:200], noisy_labels(table)[:200] == "no")
    model.ensemble_.save(tmp_path / "model.json")
    new = table[["x"]].assign(y=noisy_labels(table))[200:]
    said = "If it predicts the other class, name that: --positive LABEL"
    for asked, is_said in ([], True), (["--positive", "no"], False):
        _, text = report(new, "y", "--model", tmp_path / "model.json", *asked)
        assert (said in Page(text).text) == is_said


def test_classes_that_new_rows_lack_are_spoken_of(report, tmp_path):
    table = pd.DataFrame(several_classes())
    model = gbt.GBTClassifier(n_estimators=3, splitter="greedy")
    model.fit(table[["x", "color"]], table["kind"]).save(tmp_path / "model.json")
    new = pd.DataFrame(several_classes(seed=1)).query("kind != 'cedar'")  # the last of them
    _, text = report(new, "kind", "--model", tmp_path / "model.json")
    assert "1 of 3 classes have fewer than 30 held-out rows, the rarest 0" in Page(text).text
    assert re.search('aria-label="Mean predictions of class (ash|birch|cedar) by (x|color): ', text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--model nowhere.json", "nowhere.json cannot be read"),
        ("--model table.csv", "is no model's file"),
        ("--model broken.json", "cannot be used"),
        ("--model pickle.pkl", "looks like a pickle"),
        ("--model other.json", "no column for 'a', 'b'"),
        ("--model several.json", "the model's classes are '0', '1', '2'"),
        ("--model several.json --positive yes", "tells 3 classes apart"),
        ("--model two.json --positive no", "predicts the probability of 'yes'"),
        ("--model two.json --task regression", "predicts classes; leave out --task"),
        ("--model two.json --data ab.csv", "holds no 'yes', the class to predict by --positive or"),
        ("--model number.json --positive no", "predicts numbers; leave out --positive"),
        ("--model number.json --task classification", "numbers; leave out --task"),
        ("--model number.json", "leave out the --task or --model that asks for a regression"),
        ("--report table.csv", "would overwrite table.csv, which is read"),
        ("--model two.json --report ./two.json", "would overwrite two.json"),
        ("--report .", "is a folder; name a file"),
        ("--report nowhere/out.html", "there is no folder"),
        ("--model lost.json", "lack gradients and hessians and values. In Python, gbt."),
        ("--model targets.json", "has 2 targets; a report explains models of classes"),
    ],
)
def test_what_cannot_be_reported_is_refused_in_words(
    run, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    write_csv(Path("table.csv"), columns(60))
    write_csv(Path("ab.csv"), {"a": [1, 2], "b": [3, 4], "y": ["1", "2"]})
    Path("broken.json").write_text('{"format": "gbt", "version": 2}')
    Path("pickle.pkl").write_bytes(b"\x80\x04\x95")
    X = np.arange(20.0).reshape(10, 2)
    large = X[:, 0] > 8
    classifier = gbt.GBTClassifier(n_estimators=2, splitter="greedy")
    replace(classifier.fit(X, large).ensemble_, feature_names=("a", "b")).save("other.json")
    classifier.fit(X, np.arange(10) % 3).save("several.json")
    classifier.fit(X, np.where(large, "yes", "no")).save("two.json")
    gbt.GBTRegressor(n_estimators=2, splitter="greedy").fit(X, X[:, 0]).save("number.json")
    lost = GradientBoostingClassifier(n_estimators=2).fit(X, large)
    as_ensemble(lost).save("lost.json")
    if "targets.json" in arguments:
        peer("xgboost").XGBRegressor(n_estimators=2).fit(X, X).save_model("targets.json")
    given = "--data table.csv --target y --report out.html " + arguments
    ran = run(*given.split())
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


def test_markup_escapes_what_is_no_markup():
    assert element("p", "<b>", Markup("<i></i>"), None, class_='a"b', hidden=True, id=None) == (
        '<p class="a&quot;b" hidden>&lt;b&gt;<i></i></p>'
    )
    assert name("a_b\nc") == "<bdi>a_<wbr>b <wbr>c</bdi>"
    assert name("a\u202eb") == r"<bdi>a\u202eb</bdi>"
    written = data("x", ["\u202e", r"\u202e"])[len('<script type="application/json" id="x">') : -9]
    assert json.loads(written) == [r"\u202e", r"\u202e"]
    assert data("x", ["</script>"]).count("</") == 1  # its own end
    written = data("x", "<&>")[len('<script type="application/json" id="x">') : -9]
    assert json.loads(written) == "<&>"


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        (
            "with --drop a --drop 'a b'.",
            "with <code>--drop a</code> <code>--drop &#x27;a b&#x27;</code>.",
        ),
        ("(--no-groups judges)", "(<code>--no-groups</code> judges)"),
        ("--time a.b: later", "<code>--time a.b</code>: later"),
        ("--time ab < x--y", "<code>--time</code> ab &lt; x--y"),
    ],
)
def test_options_are_code_with_their_arguments(text, marked):
    assert with_options(text, ["a", "a.b", "'a b'"]) == marked
