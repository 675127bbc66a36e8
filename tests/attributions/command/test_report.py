"""What is printed about findings that are known."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from attributions.command.judging.findings import CONSTANT, MODEL, Findings
from attributions.command.judging.verdicts import rows_needed
from attributions.command.printed import report, table_lines
from attributions.command.question import Question
from attributions.command.rules.columns import column_of
from attributions.command.said.cautions import cautions
from attributions.command.said.in_short import how_good, in_short, ranks
from attributions.command.said.next_steps import next_steps
from attributions.command.table.task import Task
from attributions.names import elided
from attributions.results import GlobalAttribution
from tests.asserts import assert_same
from tests.greedy import GreedyRegressor

NAMES = ("large", "small", "tiny", "unused", "a name of more than thirty-two letters")
VALUES = [41.23, 0.1234, 1.2e-6, 0.0, -5.0]
ERRORS = [3.14, 0.0271, 3.3e-6, 0.0, 12.0]
GAINS = [50.0, 0.5, 2e-6, 0.0, 7.0]


def findings(score=("R^2", 0.5, 0.0), saved=50.0):
    useful = GlobalAttribution(VALUES, np.array(ERRORS), 100, NAMES, "held_out_gain")
    gain = GlobalAttribution(GAINS, None, 100, NAMES, "total_gain")
    name, of_model, of_constant = score
    scores = {MODEL: {name: of_model}, CONSTANT: {name: of_constant}}
    return Findings(model(), task(), scores, saved, useful, gain, np.zeros(100))


def task():
    nothing = np.zeros((100, len(NAMES)))
    return Task([], False, nothing, nothing[:, 0], nothing, nothing[:, 0], NAMES)


@cache
def model():
    """Return a model that splits at all features but the fourth."""
    X = np.random.default_rng(0).normal(size=(400, len(NAMES)))
    X[:, 3] = 0.0
    model = GreedyRegressor(n_estimators=50, max_depth=3).fit(X, X @ [1, 2, 3, 0, 4]).ensemble_
    assert set(model.feature[model.feature >= 0]) == {0, 1, 2, 4}
    return model


def test_numbers_and_intervals_have_the_digits_that_show_the_verdict():
    """Of 4 features and 100 rows the errors of those that help are multiplied by 2.87."""
    lines = table_lines(findings())[2:]
    assert [line[43:82].rstrip() for line in lines] == [
        "      41      32 to 50          helps",
        "       0.12   0.05 to 0.20      helps",
        "       0.000  <0 to >0          cannot",
        "      -5      -31 to 29         cannot",
        "                                not use",
    ]
    shares_and_ranks = [" ".join(line.split()[-3:]) for line in lines[:4]]
    assert shares_and_ranks == ["87.0 % 1", "0.9 % 3", "0.0 % 4", "12.2 % 2"]
    assert not any("e-" in line for line in lines)


def test_more_than_all_is_explained():
    found = findings()
    assert "above 100 %" not in " ".join(table_lines(found))
    values = np.array([273.8, *VALUES[1:]])
    above = replace(found, useful=replace(found.useful, values=values))
    assert "A gain above 100 % is no mistake" in " ".join(table_lines(above))


def test_the_worst_are_shown_beside_the_best_and_unused_ones_last():
    names = tuple(f"x{k}" for k in range(40))
    values = np.linspace(2, -2, 40)
    useful = GlobalAttribution(values, np.full(40, 0.1), 1000, names, "held_out_gain")
    gain = GlobalAttribution(np.ones(40), None, 1000, names, "total_gain")
    ensemble = SimpleNamespace(
        feature=np.r_[np.arange(39), -1], loss=model().loss
    )  # the last, of -2, is not used
    found = replace(findings(), model=ensemble, useful=useful, gain=gain)
    found = replace(found, task=replace(task(), feature_names=names))
    lines = table_lines(found)
    assert [line.split()[1] for line in lines[2:12]] == [*names[:10]]
    assert [line.split()[1] for line in lines[13:18]] == [*names[34:39]]
    assert found.order[-1] == 39
    said = " ".join(" ".join(report(found)).split())
    assert "helps, 17 of 40" in said  # z of the next is 2.56, and 3.10 is needed
    assert "hurts, 16 of 40" in said  # z of the next is -2.56, and -3.49 is needed
    assert "not used, 1 of 40: x39" in said


@pytest.mark.parametrize(
    ("score", "line"),
    [
        (("R^2", 0.5, -1e-9), "R^2 0.5000 0.0000"),
        (("R^2", -0.25, -0.001), "R^2 -0.2500 -0.0010"),
        (("root mean squared error", 28312.4, 84316.2), "root mean squared error 28,312 84,316"),
        (("root mean squared error", 2.5e-7, 3e-6), "root mean squared error 2.500e-07 3.000e-06"),
    ],
)
def test_scores_are_printed_beside_the_constant_model(score, line):
    lines = report(findings(score))
    assert lines[0] == "In short"
    first = lines.index("") + 1
    assert lines[first].split() == ["On", "100", "held-out", "rows", "model", "constant"]
    assert " ".join(lines[first + 1].split()) == line
    whole = "(The constant model predicts the training rows' mean for every row.)"
    assert lines[first + 2].strip() == whole


def test_a_model_that_saves_nothing_is_no_better_than_the_constant():
    assert "no better than the constant" not in " ".join(report(findings(saved=0.1)))
    for saved, by in ((0.0, "0.0"), (-3.14, "3.1")):
        text = " ".join(report(findings(saved=saved)))
        assert f"no better than the constant: its squared error is {by} % higher." in text


@pytest.mark.parametrize(
    ("raw", "score", "said"),
    [
        (
            [-1.0, -1.0, 1.0, 1.0],
            ("AUC", 0.875, 0.5),
            " Of two rows of different classes it tells which is which in 88 of 100 pairs;"
            " guessing is right in 50.",
        ),
        ([[0.0, 1.0], [2.0, 1.0], [2.0, 1.0], [0.0, 3.0]], ("accuracy", 0.75, 0.75), ""),
    ],
)
def test_how_many_of_a_hundred_a_classifier_tells_rightly(raw, score, said):
    """By hand: of one row in four it names the wrong class."""
    y = np.array([0.0, 0.0, 0.0, 1.0])
    classified = replace(task(), y_valid=y, is_classification=True)
    kind = SimpleNamespace(name="softmax" if np.ndim(raw) > 1 else "half_logistic", metric="")
    found = replace(
        findings(score), task=classified, raw_prediction=np.array(raw),
        model=SimpleNamespace(loss=kind, feature=model().feature),
    )  # fmt: skip
    assert how_good(found) == (
        "The model is right in 75 of 100 cases, on 4 rows that it has not seen; always naming the"
        f" commonest class would be right in 75.{said}"
    )


@pytest.mark.parametrize("names_the_rarer", [True, False])
def test_a_commonest_class_that_is_right_more_often_is_said(names_the_rarer):
    """Of 100 rows 25 are of the rarer class; a model that always names it is right in these."""
    y = np.repeat([0.0, 1.0], [75, 25])
    raw = np.ones(100) if names_the_rarer else 2 * y - 1
    classified = replace(task(), y_valid=y, is_classification=True)
    said = " ".join(cautions(replace(findings(), task=classified, raw_prediction=raw)))
    assert ("the commonest class would be right more often than the model" in said) == (
        names_the_rarer
    )
    assert "The rarer class has only 25 held-out rows, on which everything rests." in said
    rare = replace(classified, y_valid=1.0 * (np.arange(100) == 0))
    said = " ".join(cautions(replace(findings(), task=rare, raw_prediction=raw)))
    assert "The rarer class has only 1 held-out row, on which" in said


@pytest.mark.parametrize("time", [None, "day"])
def test_what_hurts_later_rows_is_another_advice(time):
    """What held before may hold no more; in rows at random the feature is noise."""
    hurting = GlobalAttribution([10.0, -10.0, 0, 0, 0], np.ones(5), 100, NAMES, "held_out_gain")
    asked = replace(task(), question=Question("y", time=time))
    said = " ".join(next_steps(replace(findings(), useful=hurting, task=asked)))
    assert ("small made predictions of later rows worse" in said) == (time is not None)
    assert ("the model without small, which made predictions worse" in said) == (time is None)


def test_what_a_regression_explains():
    said = "The model explains 50 % of the spread of y in 100 rows that it has not seen."
    assert how_good(findings()) == said
    assert "explains 99.7 % of" in how_good(findings(("R^2", 0.997, 0.0)))
    assert "in 100 rows." in how_good(replace(findings(), model_file="model.json"))


def test_rows_that_would_tell_by_hand():
    """An end 2 errors from the value must move to 0.84 errors beyond 0: (2.84) ** 2 as many."""
    needed = rows_needed(1.0, np.array([-1.0, 9.0]), 1.0, 100)
    assert needed == pytest.approx(100 * 2.8416212335729143**2)
    assert rows_needed(-1.0, np.array([-9.0, 1.0]), 1.0, 100) == pytest.approx(needed)
    assert rows_needed(0.5, np.array([-1.5, 9.0]), 1.0, 100) == pytest.approx(4 * needed)
    assert rows_needed(1.0, np.array([-np.inf, np.inf]), 1.0, 100) == np.inf
    assert rows_needed(0.0, np.array([-1.0, 1.0]), 1.0, 100) == np.inf


def test_the_rows_that_would_tell_are_said_of_the_nearest():
    found = findings()
    [text] = [text for text in in_short(found) if text.startswith("cannot be told")]
    nearest = [
        f"{name} {float(f'{needed:.2g}'):,.0f}"
        for needed, name in sorted(
            (rows_needed(VALUES[k], found.said.intervals[k], ERRORS[k], 100), elided(NAMES[k]))
            for k in (2, 4)
        )
    ]
    assert text.endswith(
        f"would tell (there are 100, about half of the table): {', '.join(nearest)}."
    )
    small = replace(found, useful=replace(found.useful, values=[41.23, 1e-4, *VALUES[2:]]))
    assert f"{NAMES[1]} " not in " ".join(in_short(small)).partition("would tell")[2]  # never
    doubtful = replace(found.useful, kurtosis=np.array([3.0, 3.0, 21.0, 21.0, 21.0]))
    assert "would tell" not in " ".join(in_short(replace(found, useful=doubtful)))


def test_ranks():
    assert_same(ranks(findings().useful), [1, 2, 3, 4, 5])
    assert_same(ranks(findings().gain), [1, 3, 4, 5, 2])


def test_the_terminal_gives_one_verdict_a_feature():
    """The verdicts of the page; none is that of two lists that contradict each other."""
    found = findings()
    text = " ".join(" ".join(report(found)).split())
    assert found.said.verdicts == ["helps", "helps", "cannot be told", "not used", "cannot be told"]
    assert "helps, 2 of 5: large, small hurts, 0 of 5 cannot be told, 2 of 5: tiny" in text
    assert "not used, 1 of 5: unused" in text
    for name in ("large", "small"):
        assert text.split("In short")[1].split("On 100 held-out rows")[0].count(name) == 1


def test_a_model_worse_than_a_constant_has_no_features_that_help():
    """What hurts is said all the same."""
    values = np.array([10.0, -10.0, 0.1, 0.0, 0.1])
    useful = GlobalAttribution(values, np.ones(5), 100, NAMES, "held_out_gain")
    better, worse = (replace(findings(saved=saved), useful=useful) for saved in (1.0, -1.0))
    others = ["hurts", "cannot be told", "not used", "cannot be told"]
    assert better.said.verdicts == ["helps", *others]
    assert worse.said.verdicts == ["cannot be told", *others]
    text = " ".join(" ".join(report(worse)).split())
    assert "helps: no feature, since the model is no better than a constant" in text
    assert "nothing is said of features that help" in text
    assert "helps, " not in text


def test_nothing_is_said_of_features_on_rows_of_the_training():
    found = replace(findings(), on_training_rows=True)
    assert found.said.verdicts == [*["cannot be told"] * 3, "not used", "cannot be told"]


def test_no_column_brings_more_than_all():
    """Others may hurt: 10 of the 12 that helping features bring, not 10 of 9."""
    useful = GlobalAttribution([10.0, 2.0, -3.0, 0.0, 0.0], np.ones(5), 100, NAMES, "held_out_gain")
    said = " ".join(cautions(replace(findings(saved=60.0), useful=useful)))
    assert "large alone brings 83 % of what all features that help bring" in said


def test_the_terminal_gives_every_warning_of_the_page():
    perfect = findings(saved=99.0)
    text = " ".join(" ".join(report(perfect)).split())
    warnings = cautions(perfect)
    assert any("The model is nearly perfect" in warning for warning in warnings)
    assert all(" ".join(warning.split()) in text for warning in warnings)
    assert "Warnings" in text


def test_what_few_rows_carry_is_said():
    """Of 100 rows a kurtosis of at most 20 is reliable; without an upper end nothing hurts."""
    found = findings()
    useful = replace(found.useful, kurtosis=np.array([21.0, 3.0, 21.0, 21.0, 3.0]))
    doubtful = replace(found, useful=useful)
    assert doubtful.said.verdicts == found.said.verdicts
    lines = table_lines(doubtful)
    assert [" or more" in line for line in lines[2:7]] == [True, False, True, False, False]
    said = " ".join(cautions(doubtful))
    assert "cannot be told whether it helps: tiny. Of 100 rows the 10 that count most bring" in said
    assert "a few rows may carry" in " ".join(lines)
    assert "a few rows may carry" not in " ".join([*table_lines(found), *cautions(found)])


def cautions_of(**changes):
    return " ".join(cautions(replace(findings(), task=replace(task(), **changes))))


def test_many_rows_without_a_time_are_warned_of():
    """Of 200 that have one, 51 are more than a fifth of all."""
    asked = Question("y", time="day")
    said = cautions_of(n_without_time=51, question=asked)
    assert "51 of 251 rows with a target have no 'day' and were left out" in said
    assert "were left out" not in cautions_of(n_without_time=50, question=asked)


def test_columns_of_values_that_the_model_has_not_learned_are_named():
    said = cautions_of(unseen=np.array([0.5, 0.1, 0.0, 0.0, 0.11]))
    assert (
        "Columns in which more than 10 % of the cells hold values that the model has not learned:"
        " large, a name of more than thirty-two letters. " in said
    )
    assert "has not learned" not in cautions_of(unseen=np.full(5, 0.1))


def test_numbers_that_can_be_read_in_two_ways_are_named():
    unclear = [column_of(n, pd.Series(["1.234", "5"]), True) for n in ("y", "large")]
    said = cautions_of(target=unclear[0], columns=dict(zip(NAMES, unclear[1:], strict=False)))
    assert "between thousands: y (such as '1.234'), large (such as '1.234'). If they do" in said
    assert "between thousands" not in cautions_of()


def test_features_that_repeat_another_are_named():
    """The fourth is not used, and says what the first says."""
    drawn = np.random.default_rng(0).normal(size=(5, 120))
    columns = dict(zip(NAMES, drawn, strict=True))
    columns["large"], columns["unused"] = np.arange(120) % 3, 7 - np.arange(120) % 3

    def said():
        return cautions_of(columns={n: column_of(n, pd.Series(x)) for n, x in columns.items()})

    assert "what another feature says, or less: unused (as large). A model needs one" in said()
    assert "tells the same rows apart" not in said()
    columns["small"], columns["unused"] = -columns["large"], drawn[3]
    assert "tells the same rows apart: small (as large). Which of" in said()
    assert "what another feature says" not in said()
