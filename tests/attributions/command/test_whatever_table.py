"""Whatever the target and the file: what is printed, written and shown is what is true.

What is true is told by scikit-learn's scores, by the public functions and by the table itself.
"""

import re

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_poisson_deviance,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from attributions import absolute, held_out_gain, total_gain
from attributions.command import run as command
from attributions.command.judging.findings import CONSTANT, MODEL
from attributions.command.judging.verdicts import HELPS, RULES
from tests.asserts import assert_close, assert_same
from tests.attributions.command.tables import columns, explored, several_classes, write_csv
from tests.html_checks import Page


def counts():
    rng = np.random.default_rng(0)
    table = columns(400)
    mean = np.exp(1 + table["x"] * 0.7 + (table["color"] == "red"))
    return table | {"visits": rng.poisson(mean).astype(str)}


def root_mean_squared_error(y, prediction):
    return np.sqrt(mean_squared_error(y, prediction))


def accuracy(y, probability):
    return accuracy_score(y, probability.argmax(axis=1))


def poisson_loss(y, prediction):
    return mean_poisson_deviance(y, prediction) / 2


# Of each target: the table, the other targets in it, what is asked, scores by name, the error of
# which per cent are, and what is said.
TARGETS = {
    "y": (
        columns, ["amount"], (), {"AUC": roc_auc_score, "log-loss": log_loss}, log_loss,
        ("classification of 'y', 'yes' (", "because it holds 2 different words.", "log-odds"),
    ),
    "amount": (
        columns, ["y"], (),
        {"R^2": r2_score, "root mean squared error": root_mean_squared_error}, mean_squared_error,
        ("Task: regression of 'amount', because it holds", "The model explains"),
    ),
    "kind": (
        several_classes, [], (), {"accuracy": accuracy, "log-loss": log_loss}, log_loss,
        ("3 classes", "shares of the classes", "300 trees (100 rounds of 3, one for each class)"),
    ),
    "visits": (
        counts, ["y", "amount"], ("--task", "counts"),
        {"Poisson loss, 0 at best": poisson_loss}, poisson_loss,
        ("regression of 'visits' by the Poisson loss, as asked for.",
         "in the logarithm of the count; from the start all moves add up to the prediction's log"),
    ),
}  # fmt: skip


@pytest.fixture
def judged(monkeypatch, quick):
    """Return the findings of every run; fits are small ones."""
    judged, seen = command.judged, []

    def remember(*given):
        seen.append(judged(*given))
        return seen[-1]

    monkeypatch.setattr(command, "judged", remember)
    return seen


@pytest.mark.parametrize("target", TARGETS)
def test_the_report_is_true(target, run, judged, tmp_path):
    make, others, asked, scores, error, sentences = TARGETS[target]
    table = {name: cells for name, cells in make().items() if name not in others}
    table[target] = table[target].astype(object)
    table[target][5] = ""
    path, page = write_csv(tmp_path / "t.csv", table), tmp_path / "page.html"

    ran = run("--data", path, "--target", target, *asked)
    assert run("--data", path, "--target", target, *asked, "--report", page).status == 0

    assert (ran.status, ran.err) == (0, "")
    found, again = judged
    assert_same(again.raw_prediction, found.raw_prediction)
    task, model, loss = found.task, found.model, found.model.loss
    y, n = task.y_valid, len(task.y_valid)
    assert f"t.csv: {len(table[target])} rows, {len(table)} columns (read as UTF-8" in ran.said
    assert f"{len(task.y_train)} to train on and {n} held out" in ran.said
    assert "; 1 without a target are left out." in ran.said

    raw = model.raw_predict(task.X_valid)
    constant = loss.best_constant(task.y_train, np.ones(1))
    of = {MODEL: raw, CONSTANT: np.broadcast_to(constant, np.shape(raw))}
    of = {who: loss.inverse_link(prediction) for who, prediction in of.items()}
    for name, score in scores.items():
        expected = [score(y, prediction) for prediction in of.values()]
        assert_close([found.scores[who][name] for who in of], expected, 1 + np.abs(expected))
        (line,) = re.findall(rf"^  {re.escape(name)}  +(\S+) +(\S+)", ran.out, flags=re.MULTILINE)
        np.testing.assert_allclose([float(n.replace(",", "")) for n in line], expected, atol=6e-5,
                                   rtol=6e-4)  # fmt: skip
    of_model, of_constant = (error(y, prediction) for prediction in of.values())
    assert_close(found.saved, 100 * (1 - of_model / of_constant), 100.0 * (1 + of_constant))

    gain = held_out_gain(model, task.X_valid, y)
    shares, moved = total_gain(model).normalized(), absolute(model, task.X_valid).values
    for told in (found.useful.values, found.useful.percent()):
        assert_close(told, gain.percent(), np.abs(gain.percent()))
    assert_close(found.gain_share, shares, shares)
    assert_close(found.moved, moved, moved)
    errors = gain.percent_of_one * gain.standard_error
    names = [*task.feature_names]
    written = ran.features
    assert [row["feature"] for row in written[:2]] == [names[k] for k in gain.ranking()[:2]]
    assert {row["feature"] for row in written[:2]} == {"x", "color"}
    for row in written:
        k = names.index(row["feature"])
        told = (row["held_out_gain_percent"], row["standard_error"])
        np.testing.assert_allclose([*map(float, told)], [gain.percent()[k], errors[k]], rtol=1e-9)
        assert row["verdict"] == found.said.verdicts[k]
        if row["low_percent"]:
            assert float(row["low_percent"]) == found.said.intervals[k, 0]

    of_page(page.read_text(encoding="utf-8"), ran, found, table, target, sentences)


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


def of_page(text, ran, found, table, target, sentences):
    """Check that the page is sound, says what is printed, and that its rows add up."""
    page, shown = Page(text), explored(text)
    assert page.problems == []
    for said in re.findall(r'aria-label="Mean predictions by ([^"]*)"', text):
        assert 0 < len(re.findall(" up to | above| for ", said)) <= 6  # values of a curve
    for sentence in sentences:
        assert sentence in f"{ran.said} {page.text}", sentence
    sections = re.split(r"\n(?:In short|What to do next|Warnings)\n", ran.out)[1:]
    sections = [each.split("\n\n")[0] for each in sections]
    printed = [each for part in sections for each in re.split(r"\n  (?=\S)", "\n" + part)[1:]]
    assert len(printed) > 5
    for sentence in printed:
        assert " ".join(sentence.split()) in " ".join(page.text.split())
    order = [
        'id="summary-title"', 'id="features"', 'id="warnings-title"', "<details>", RULES[HELPS],
    ]  # fmt: skip
    places = [text.index(words) for words in order]  # the answer comes first, and rules last
    assert places == sorted(places)
    verdicts = {name: cells(text, name)[1] for name in found.task.feature_names}
    assert [verdict.rstrip("*") for verdict in verdicts.values()] == found.said.verdicts
    assert ("An asterisk" in page.text) == ("*" in "".join(verdicts.values()))
    held_out, raw = [*found.task.held_out], np.atleast_2d(found.raw_prediction.T).T
    assert len(shown["rows"]) == min(200, len(held_out))
    for number, _, _, truth, features, others, *c in shown["rows"]:
        base = shown["base"][c[0]] if c else shown["base"]
        total = base + sum(feature[2] for feature in features) + others[0]
        row = held_out.index(number - 1)
        np.testing.assert_allclose(total, raw[row, c[0] if c else 0], atol=0.02)
        of_row = {name: str(cells[number - 1]) or "(missing)" for name, cells in table.items()}
        named = [(target, truth), *((shown["names"][k], value) for k, value, *_ in features)]
        for name, cell in named:
            assert cell == of_row[name] or float(cell) == float(of_row[name])
