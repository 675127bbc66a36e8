"""What is printed about findings that are known."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from attributions.command.cautions import cautions
from attributions.command.findings import Findings, Score
from attributions.command.printed import ranks, report, table_lines
from attributions.command.table.cells import Cells
from attributions.command.table.columns import column_of
from attributions.command.table.task import Task
from attributions.results import GlobalAttribution
from gbt import GBTRegressor
from tests.asserts import assert_same

NAMES = ("large", "small", "tiny", "unused", "a name of more than thirty-two letters")
VALUES = [41.23, 0.1234, 1.2e-6, 0.0, -5.0]
ERRORS = [3.14, 0.0271, 3.3e-6, 0.0, 12.0]
GAINS = [50.0, 0.5, 2e-6, 0.0, 7.0]


def findings(score=None, saved=50.0, is_classification=False):
    inner, partial, gain = (
        GlobalAttribution(np.array(values), errors, 100, NAMES, method)
        for values, errors, method in (
            (VALUES, np.array(ERRORS), "tree_inner(predecomp)"),
            (VALUES, np.array(ERRORS), "partial_inner(predecomp)"),
            (GAINS, None, "total_gain"),
        )
    )
    scores = [score or Score("R^2", 0.5, 0.0)]
    return Findings(
        model(), task(is_classification), scores, saved, inner, partial, gain, inner, 1.0
    )


def task(is_classification=False):
    nothing = np.zeros((100, len(NAMES)))
    return Task([], is_classification, nothing, nothing[:, 0], nothing, nothing[:, 0], NAMES)


@cache
def model():
    """Return any model of so many features; what is printed of it comes from the findings."""
    X = np.random.default_rng(0).normal(size=(50, len(NAMES)))
    return GBTRegressor(n_estimators=1, max_depth=1).fit(X, X[:, 0]).ensemble_


def test_two_digits_of_every_standard_error_are_shown_and_points_stand_below_each_other():
    lines = [line[41:65] for line in table_lines(findings())[3:]]
    assert lines == [
        "   41.2    +- 3.1       ",
        "    0.123  +- 0.027     ",
        "   1.2e-06 +- 3.3e-06   ",
        "       not used         ",
        "   -5      +- 12        ",
    ]


def test_what_was_promised_has_the_digits_of_what_was_delivered():
    gains = [line.split()[-2:] for line in table_lines(findings())[3:]]
    assert gains == [["50.0", "1"], ["0.500", "3"], ["2.0e-06", "4"], ["0", "5"], ["7", "2"]]


def test_long_names_are_elided():
    assert "a name of more t…rty-two letters " in " ".join(table_lines(findings()))


@pytest.mark.parametrize(
    ("score", "line"),
    [
        (Score("R^2", 0.5, -1e-9), "R^2 0.5000 0.0000"),
        (Score("R^2", -0.25, -0.001), "R^2 -0.2500 -0.0010"),
        (
            Score("root mean squared error", 28312.4, 84316.2),
            "root mean squared error 28,312 84,316",
        ),
        (
            Score("root mean squared error", 2.5e-7, 3e-6),
            "root mean squared error 2.500e-07 3.000e-06",
        ),
    ],
)
def test_scores_are_printed_beside_the_constant_model(score, line):
    lines = report(findings(score))
    assert lines[0].split() == ["On", "100", "held-out", "rows", "model", "constant"]
    assert " ".join(lines[1].split()) == line
    assert (
        lines[2].strip() == "(The constant model predicts the training rows' mean for every row.)"
    )


def test_a_model_that_saves_nothing_is_no_better_than_the_constant():
    assert "no better than the constant" not in " ".join(report(findings(saved=0.1)))
    for saved, by in ((0.0, "0.0"), (-3.14, "3.1")):
        text = " ".join(report(findings(saved=saved, is_classification=True)))
        assert f"no better than the constant: its log-loss is {by} % higher." in text
        assert f"the model's log-loss is {by} % above the constant model's" in text


def test_ranks():
    assert_same(ranks(findings().inner), [1, 2, 3, 4, 5])
    assert_same(ranks(findings().gain), [1, 3, 4, 5, 2])


def test_the_terminal_counts_the_features_that_get_the_verdict_of_the_page():
    """Of gains that sum to 100 a tenth of an even share is 2, and 1 is rarely used."""
    found = findings()
    sure = replace(found.inner, values=np.full(5, 10.0), standard_error=np.ones(5))
    partial = replace(found.partial, values=np.full(5, -10.0), standard_error=np.ones(5))
    gain = replace(found.gain, values=np.array([95.0, 3.0, 1.0, 1.0, 0.0]))
    result = replace(found, inner=sure, partial=partial, gain=gain)
    assert result.verdicts == ["helps", "helps", *["rarely used"] * 3]
    text = " ".join(" ".join(report(result)).split())
    assert "TreeInner, 2 of 5: large, small; 3 more above 0, but rarely used" in text
    assert "partial TreeInner, 0 of 5 " in text


def test_the_terminal_gives_every_warning_of_the_page():
    perfect = findings(saved=99.0)
    text = " ".join(" ".join(report(perfect)).split())
    warnings = cautions(perfect)
    assert any("The model is nearly perfect" in warning for warning in warnings)
    assert all(" ".join(warning.split()) in text for warning in warnings)
    assert "Warnings" in text


def test_errors_not_to_be_relied_on_are_marked():
    """Of 100 rows a kurtosis of at most 10 is reliable."""
    found = findings()
    inner = replace(found.inner, kurtosis=np.array([11.0, 11.0, 3.0, 3.0, 3.0]))
    lines = table_lines(replace(found, inner=inner))
    marked = ["?" in line.split() for line in lines[3:8]]
    assert marked == [True, False, False, False, False]  # the second is rarely used
    assert lines[-1].startswith("?: the standard error is not to be relied on")
    assert not any("?" in line for line in table_lines(findings()))


def cautions_of(**changes):
    return " ".join(cautions(replace(findings(), task=replace(task(), **changes))))


def test_only_classes_can_be_rare():
    few = {"X_valid": np.zeros((20, len(NAMES))), "y_valid": np.arange(20.0)}
    assert "Only 20 rows are held out" in cautions_of(**few)
    assert "rarer class" not in cautions_of(**few)
    of_two = {"y_valid": np.repeat([0.0, 1.0], [80, 20]), "is_classification": True}
    assert "The rarer class has only 20 held-out rows" in cautions_of(**of_two)


def test_columns_of_values_that_the_model_has_not_learned_are_named():
    said = cautions_of(unseen=np.array([0.5, 0.1, 0.0, 0.0, 0.11]))
    assert (
        "Columns in which more than 10 % of the cells hold values that the model has not learned:"
        " large, a name of more than thirty-two letters. " in said
    )
    assert "has not learned" not in cautions_of(unseen=np.full(5, 0.1))


def test_a_value_that_is_sometimes_missing_is_not_alone():
    """There a tree can part the rows that have it from those that have not."""
    cells = {"large": ["5"], "small": ["yes", "", "NA"], "tiny": ["yes", "yes", ""], "unused": [""]}
    columns = {name: column_of(name, Cells.of(values * 60)) for name, values in cells.items()}
    said = cautions_of(columns=columns)
    assert "Features with one value alone, which tell nothing: large, unused." in said
    assert "Features that are missing in more than half of the rows: small." in said
