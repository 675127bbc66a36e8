"""The report for people who do not write Python: what it says, refuses, escapes, and how it is
built. What needs a browser is in ``tests.attributions.command.test_html_report_browser``."""

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gbt
from attributions.command.judging.verdicts import HELPS, HURTS, RULES, UNCLEAR, UNUSED, said_of
from attributions.command.page.figures import as_markup
from attributions.command.page.markup import Markup, data, element, name
from attributions.command.page.rows import MOST_ROWS, choose_rows
from attributions.command.run import main
from attributions.plots.colors import contrast
from attributions.results import GlobalAttribution
from tests.asserts import peer
from tests.html_checks import Page

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" 'name' & more",
    "</script><!-- \N{GRINNING FACE}",
    "$style ${title} %s {0}",
)


@pytest.fixture
def run(capsys):
    """Run the command line in this process; return the status and both outputs."""

    def run(*arguments):
        status = main([*map(str, arguments)])
        output = capsys.readouterr()
        return status, output.out, re.sub("Fitting: .*\n", "", output.err)  # of a busy machine

    return run


def write_csv(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([[*columns], *zip(*columns.values(), strict=True)])
    return path


def columns(n=160, seed=0):
    """Return columns of which words and a number decide; one is noise, one has gaps."""
    rng = np.random.default_rng(seed)
    word = rng.choice(["red", "green", "blue"], n)
    x, noise = rng.normal(size=n).round(3), rng.normal(size=n).round(3)
    gaps = np.where(rng.random(n) < 0.3, "", rng.integers(0, 9, n).astype(str))
    signal = 2 * (word == "red") + x
    return {
        "color": word,
        "x": x,
        "noise": noise,
        "gaps": gaps,
        "y": np.where(signal > 0.7, "yes", "no"),
        "amount": (signal + 0.1 * rng.normal(size=n)).round(3),
    }


def explored(text):
    """Return the data of the row explorer."""
    found = re.search(r'<script type="application/json" id="row-data">(.*?)</script>', text)
    return json.loads(found[1])


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


def test_a_classification_with_words_and_gaps(run, tmp_path):
    path = write_csv(tmp_path / "table.csv", columns())
    out = tmp_path / "out.html"
    status, said, error = run("--data", path, "--target", "y", "--drop", "amount", "--report", out)
    assert (status, error) == (0, "")
    assert f"Report: {out}" in said
    assert not (tmp_path / "attributions_out").exists()
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert page.problems == []
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
    for text in ("red", "green", "blue", "Only 80 rows are held out", "log-odds", "--target y"):
        assert text in page.text, text
    sections = re.split(r"\n(?:In short|What to do next|Warnings)\n", said)[1:]
    sections = [each.split("\n\n")[0] for each in sections]
    printed = [text for each in sections for text in re.split(r"\n  (?=\S)", "\n" + each)[1:]]
    assert len(sections) == 3
    assert len(printed) > 7
    for text in printed:
        assert " ".join(text.split()) in " ".join(page.text.split())


def test_the_answer_comes_first_and_rules_last(run, tmp_path):
    path, out = write_csv(tmp_path / "table.csv", columns()), tmp_path / "out.html"
    assert run("--data", path, "--target", "amount", "--drop", "y", "--report", out)[0] == 0
    text = out.read_text(encoding="utf-8")
    order = ['id="summary-title"', "The model explains", "The features that help most",
             "helps, 2 of 4: ", "hurts, ", 'id="features"', 'id="warnings-title"',
             "<details>", RULES[HELPS], "(The rule: words, two different"]  # fmt: skip
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert text.index("Task: regression") > text.index("<details>")


def test_pictures_have_the_colours_of_the_page(run, tmp_path):
    """None is Matplotlib's alone, and each has one for dark screens."""
    path, out = write_csv(tmp_path / "table.csv", columns()), tmp_path / "out.html"
    assert run("--data", path, "--target", "y", "--drop", "amount", "--report", out)[0] == 0
    text = out.read_text(encoding="utf-8")
    pictures = "".join(re.findall(r'<svg[^>]*role="img".*?</svg>', text, flags=re.DOTALL))
    drawn = re.findall(r"(?:fill|stroke): ([^;\"]*)", pictures)
    used = {*re.findall(r"var\(--x([0-9a-f]{6}), #\1\)", pictures)}
    assert {*drawn} - {"none"} == {f"var(--x{color}, #{color})" for color in used}
    dark = dict(re.findall(r"--x([0-9a-f]{6}):(#[0-9a-f]{6});", text))
    assert used == {*dark}
    assert dark["ffffff"] == "#16181b"  # paper
    for color in used:
        least = min(contrast(f"#{color}", "white"), 4.5)
        assert contrast(dark[color], "#16181b") >= least - 0.01


def test_a_name_that_looks_like_markup_is_not_changed_in_a_picture():
    svg = '<svg viewBox="0 0 9 9"><g id="a"><text>fill: #ffffff &lt;g id="b"</text></g></svg>'
    assert as_markup(svg, "x") == (
        '<svg viewBox="0 0 9 9" role="img" aria-label="x">'
        '<g><text>fill: #ffffff &lt;g id="b"</text></g></svg>'
    )
    assert 'style="fill: var(--xffffff, #ffffff)"' in as_markup(
        svg.replace("<text>", '<text style="fill: #ffffff">'), "x"
    )


def test_without_matplotlib_no_report_is_begun(run, tmp_path, monkeypatch):
    monkeypatch.setattr("attributions.command.run.find_spec", lambda name: None)
    status, said, error = run("--report", tmp_path / "out.html")
    assert (status, said) == (2, "")
    assert "pip install matplotlib" in error


def test_a_regression_adds_up_to_its_predictions(run, tmp_path):
    table = columns()
    path = write_csv(tmp_path / "table.csv", table)
    out = tmp_path / "out.html"
    assert run("--data", path, "--target", "amount", "--drop", "y", "--report", out)[0] == 0
    text = out.read_text(encoding="utf-8")
    assert Page(text).problems == []
    found = explored(text)
    for number, _, predicted, truth, features, others in found["rows"]:
        total = found["base"] + sum(f[2] for f in features) + others[0]
        assert abs(total - float(predicted)) < 0.01
        assert float(truth) == table["amount"][number - 1]


def test_the_same_command_gives_the_same_report(run, tmp_path):
    path, out = write_csv(tmp_path / "table.csv", columns(60)), tmp_path / "out.html"
    texts = []
    for _ in range(2):
        assert run("--data", path, "--target", "y", "--report", out)[0] == 0
        texts.append(out.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]


def test_hostile_names_and_words_are_only_text(run, tmp_path):
    table = columns()
    table["x"], table["y"] = table["x"].astype(str), table["y"]
    hostile = {
        HOSTILE[0]: np.where(table["color"] == "red", HOSTILE[0], HOSTILE[1]),
        HOSTILE[1]: table["x"],
        HOSTILE[2]: table["noise"],
        HOSTILE[3]: np.where(table["y"] == "yes", HOSTILE[2], "no"),
    }
    path = write_csv(tmp_path / "<b>.csv", hostile)
    out = tmp_path / "out.html"
    assert run("--data", path, "--target", HOSTILE[3], "--report", out)[0] == 0
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert page.problems == []
    assert len(page.all("script")) == 2  # the data and the page's own
    assert not page.all("b")
    for hostile_name in HOSTILE:
        assert hostile_name in page.text
    found = explored(text)
    assert found["names"] == [*HOSTILE[:3]]
    assert HOSTILE[2] in {row[3] for row in found["rows"]}


def model_and_rows(tmp_path, kind):
    """Return estimators that were fitted to rows, and a file of others."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3)).round(3)
    signal = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=600)
    y = (signal > 0).astype(int) if kind == "classifier" else signal.round(3)
    names = ["a", "b", "c"]
    tables = [
        write_csv(
            tmp_path / f"{part}.csv", {**dict(zip(names, X[rows].T, strict=True)), "y": y[rows]}
        )
        for part, rows in (("training", slice(0, 300)), ("new", slice(300, None)))
    ]
    return X[:300], y[:300], *tables


def several_classes(n=400, seed=0):
    """Return columns of which a word and a number decide between three classes."""
    table = columns(n, seed)
    del table["y"]
    table["kind"] = np.array(["ash", "birch", "cedar"])[np.digitize(table.pop("amount"), [0, 1.2])]
    return table


def test_several_classes(run, tmp_path):
    table = several_classes()
    path, out = write_csv(tmp_path / "table.csv", table), tmp_path / "out.html"
    status, said, error = run("--data", path, "--target", "kind", "--report", out)
    assert (status, error) == (0, "")
    assert "3 classes" in said
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert page.problems == []
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


def test_a_saved_model_of_several_classes(run, tmp_path):
    """Its classes are found by name, also where the new rows have not all of them."""
    pandas = peer("pandas")
    table = several_classes()
    frame = pandas.DataFrame({name: table[name] for name in ("x", "color")})
    model = gbt.GBTClassifier(n_estimators=30, splitter="greedy").fit(frame, table["kind"])
    model.save(tmp_path / "model.json")
    new = several_classes(seed=1)
    kept = new["kind"] != "ash"
    new = {name: values[kept] for name, values in new.items()}
    path, out = write_csv(tmp_path / "new.csv", new), tmp_path / "out.html"
    options = ("--model", tmp_path / "model.json", "--target", "kind", "--report", out)
    assert run("--data", path, *options)[0] == 0
    text = out.read_text(encoding="utf-8")
    assert Page(text).problems == []
    rows = pandas.DataFrame({name: new[name] for name in ("x", "color")})
    expected, probability = model.predict(rows), model.predict_proba(rows).max(axis=1)
    raw = model.decision_function(rows)
    found = explored(text)
    for number, _, predicted, _, features, others, c in found["rows"]:
        assert predicted == (
            f"{100 * probability[number - 1]:.1f} % for kind = {expected[number - 1]}"
        )
        total = found["base"][c] + sum(feature[2] for feature in features) + others[0]
        assert total == pytest.approx(raw[number - 1, c], abs=0.01)
    assert "1 of 3 classes have fewer than 30 held-out rows, the rarest 0" in Page(text).text


def test_a_model_of_several_targets_is_refused(run, tmp_path, monkeypatch):
    xgboost = peer("xgboost")
    monkeypatch.chdir(tmp_path)
    X = np.arange(40.0).reshape(20, 2)
    xgboost.XGBRegressor(n_estimators=2).fit(X, X).save_model("targets.json")
    write_csv(Path("t.csv"), {"a": X[:, 0], "b": X[:, 1], "y": X[:, 0]})
    options = ("--model", "targets.json", "--target", "y", "--report", "out.html")
    status, _, error = run("--data", "t.csv", *options)
    assert status == 2
    assert "has 2 targets; a report explains models of classes" in error


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_a_saved_model_is_judged_on_rows_it_has_not_seen(run, tmp_path, kind):
    pandas = peer("pandas")
    X, y, training, new = model_and_rows(tmp_path, kind)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    estimator = gbt.GBTClassifier if kind == "classifier" else gbt.GBTRegressor
    estimator(n_estimators=40, max_depth=3, splitter="greedy").fit(frame, y).save(
        tmp_path / "model.json"
    )
    out = tmp_path / "out.html"
    options = ("--model", tmp_path / "model.json", "--target", "y", "--report", out)
    assert run("--data", new, *options)[0] == 0
    page = Page(out.read_text(encoding="utf-8"))
    assert page.problems == []
    assert "does not say on which rows it was trained" in page.text
    assert "These are the rows that the model was trained on" not in page.text
    assert "300 rows" in page.text

    assert run("--data", training, *options)[0] == 0
    page = Page(out.read_text(encoding="utf-8"))
    assert "These are the rows that the model was trained on" in page.text


def test_a_saved_model_that_has_learned_words_finds_them_by_value(run, tmp_path):
    pandas = peer("pandas")
    table = columns(400)
    frame = pandas.DataFrame({"color": table["color"], "x": table["x"]})
    model = gbt.GBTRegressor(n_estimators=40, max_depth=3, splitter="greedy").fit(
        frame[:200], table["amount"][:200]
    )
    model.save(tmp_path / "model.json")
    new = {name: values[200:] for name, values in table.items()}
    new["color"] = np.where(np.arange(200) < 5, "violet", new["color"])  # a new word, and an order
    path, out = write_csv(tmp_path / "new.csv", new), tmp_path / "out.html"
    options = ("--model", tmp_path / "model.json", "--target", "amount", "--report", out)
    assert run("--data", path, *options)[0] == 0
    text = out.read_text(encoding="utf-8")
    predicted = model.predict(pandas.DataFrame({name: new[name] for name in ("color", "x")}))
    found = explored(text)["rows"]
    assert len(found) == 200
    for number, _, said, _, features, _ in found:
        assert float(said) == pytest.approx(predicted[number - 1], rel=1e-4, abs=1e-5)
        assert {value for k, value, *_ in features if k == 0} <= {new["color"][number - 1]}


def test_a_model_of_counts_is_scored_by_its_own_loss(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)).round(3)
    y = rng.poisson(np.exp(X[:, 0]))
    model = gbt.GBTRegressor(n_estimators=40, loss="poisson", splitter="greedy").fit(
        X[:150], y[:150]
    )
    model.save(tmp_path / "model.json")
    path = write_csv(tmp_path / "new.csv", {"a": X[150:, 0], "b": X[150:, 1], "y": y[150:]})
    out = tmp_path / "out.html"
    options = ("--model", tmp_path / "model.json", "--target", "y", "--report", out)
    assert run("--data", path, *options)[0] == 0
    page = Page(out.read_text(encoding="utf-8"))
    assert page.problems == []
    assert "Poisson loss, 0 at best" in page.text
    assert "root mean squared error" not in page.text


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
        (None, ["--target", "z"], "has no column 'z'"),
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
    model = gbt.GBTClassifier(n_estimators=2, splitter="greedy").fit(X, X[:, 0] > 8).ensemble_
    replace(model, feature_names=("a", "b")).save("other.json")
    gbt.GBTClassifier(n_estimators=2, splitter="greedy").fit(X, np.arange(10) % 3).save(
        "several.json"
    )
    gbt.GBTClassifier(n_estimators=2, splitter="greedy").fit(
        X, np.where(X[:, 0] > 8, "yes", "no")
    ).save("two.json")
    gbt.GBTRegressor(n_estimators=2, splitter="greedy").fit(X, X[:, 0]).save("number.json")
    given = ["--data", "table.csv", "--target", "y", "--report", "out.html", *arguments]
    status, _, error = run(*given)
    assert status == 2
    assert message in " ".join(error.split())
    assert not Path("out.html").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--model", "m.json", "--report", "out.html"],
        ["--data", "t.csv", "--target", "y", "--model", "m.json", "--report", "r", "--out", "f"],
    ],
)
def test_options_that_do_not_go_together(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert "error: --" in capsys.readouterr().err


def said(values, errors, n_used=None, kurtosis=None, **options):
    """Return what is said of features of which nobody knows how they vary together."""
    n, names = len(values), [f"x{k}" for k in range(len(values))]
    useful = GlobalAttribution(
        np.array(values), np.array(errors), 100_001, names, "held_out_gain", kurtosis=kurtosis
    )
    return said_of(useful, np.arange(n) < (n if n_used is None else n_used), **options)


def test_verdicts_follow_the_rule_that_is_printed():
    """By hand: z = 5, 1, -5, 0 of four used features; the last has no split."""
    values, errors = [5.0, 1.0, -5.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 0.0]
    found = said(values, errors, n_used=4)
    assert found.verdicts == [HELPS, UNCLEAR, HURTS, UNCLEAR, UNUSED]
    assert set(found.verdicts) == set(RULES)
    worse = said(values, errors, n_used=4, may_help=False)
    assert worse.verdicts == [UNCLEAR, UNCLEAR, HURTS, UNCLEAR, UNUSED]
    assert np.isnan(worse.p_values).tolist() == [True, False, False, False, True]
    on_training_rows = said(values, errors, n_used=4, may_tell=False)
    assert on_training_rows.verdicts == [*[UNCLEAR] * 4, UNUSED]
    assert np.isnan(on_training_rows.intervals).all()
    assert said([0.0, 0.0], [0.0, 0.0]).verdicts == [UNCLEAR, UNCLEAR]


def test_intervals_and_p_values_allow_for_the_number_of_features_that_are_used():
    """By hand: 0.04 / 4 below, of those left 0.0375 / 3; a quarter of that above."""
    found = said([2.33, 2.24, -2.73, -2.81], [1.0] * 4)  # 2.326, 2.241, 2.734 and 2.807
    assert found.verdicts == [HELPS, UNCLEAR, UNCLEAR, HURTS]
    assert found.intervals[0] == pytest.approx([0.0, 2.33 + 2.7344], abs=1e-3)
    assert found.intervals[1] == pytest.approx([2.24 - 2.2414, 2.24 + 2.7344], abs=1e-3)
    assert found.p_values[[0, 3]] == pytest.approx([0.04952, 0.04954], abs=2e-5)
    # of 22 features 2.0 is not beyond chance, of two it is: .02275 / (.8 * .875)
    found = said([2.0, 2.33, *[0.0] * 20], [1.0, 1.0, *[0.0] * 20], n_used=2)
    assert found.p_values[0] == pytest.approx(0.0325, abs=1e-4)
    assert found.verdicts[:3] == [HELPS, HELPS, UNUSED]
    assert HELPS not in said([2.0, 2.33, *[0.0] * 20], [1.0] * 22).verdicts


@pytest.mark.parametrize("seed", range(5))
def test_verdict_interval_and_p_value_never_contradict_each_other(seed):
    rng = np.random.default_rng(seed)
    kurtosis = rng.choice([3.0, 1e6, np.inf], 40, p=[0.6, 0.3, 0.1])
    found = said(rng.normal(size=40) * 3, rng.uniform(0.5, 1, 40), kurtosis=kurtosis)
    low, high = found.intervals.T
    verdict = np.array(found.verdicts)
    assert ((verdict == HELPS) == (low > 0)).all()
    assert ((verdict == HURTS) == (high < 0)).all()
    assert ((verdict != UNCLEAR) == (np.nan_to_num(found.p_values, nan=1.0) <= 0.05)).all()
    assert {HELPS, HURTS, UNCLEAR} == {*found.verdicts}


def test_what_few_rows_carry_may_help_but_not_hurt():
    """Its interval has no upper end; a feature of which rows say nothing has neither end."""
    found = said([5.0, -5.0, 5.0], [1.0] * 3, kurtosis=np.array([1e6, 1e6, np.inf]))
    assert found.verdicts == [HELPS, UNCLEAR, UNCLEAR]
    assert found.intervals[:, 1].tolist() == [np.inf] * 3
    assert np.isinf(found.intervals[:, 0]).tolist() == [False, False, True]
    assert np.isnan(found.p_values).tolist() == [False, False, True]


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
        assert run("--data", path, *options)[0] == 0
        sizes.append(out.stat().st_size)
        said = f"Of the {p} features the 12 that move a row most have a line each"
        assert said in Page(out.read_text(encoding="utf-8")).text
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
