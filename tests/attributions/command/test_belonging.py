"""Rows that belong together: which columns say so, how halves are made, what is said and judged."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from attributions.command.judging.verdicts import said_of
from attributions.command.rules.belonging import (
    Agreement,
    agreement_along,
    agreement_within,
    belonging,
    columns_of_time,
    labels_of_groups,
)
from attributions.command.rules.columns import column_of
from attributions.command.said.cautions import cautions
from attributions.command.table.halves import halves_in_time, halves_of_groups
from attributions.results import GlobalAttribution
from benchmarks.papers.report.belonging import WITHOUT, panel, what_is_said
from benchmarks.papers.report.drawn import found_in
from tests.asserts import assert_close, assert_same
from tests.attributions.command.tables import write_csv


def columns(**cells):
    return {name: column_of(name, pd.Series(values)) for name, values in cells.items()}


PERSON = np.repeat(np.arange(12), 5)  # twelve persons, five years each
YEAR = np.tile(2000 + np.arange(5), 12)
BORN = (1950 + 7 * np.arange(12) % 5)[PERSON]  # not in the order of the persons
NOISE = np.random.default_rng(0).normal(size=60).round(3)


def test_a_panel_is_told_by_its_years_and_by_what_stays_the_same():
    (found,) = belonging(columns(v1=PERSON, year=YEAR, born=BORN, x=NOISE, y=NOISE), "y")
    assert (found.name, found.n_values, found.n_rows) == ("v1", 12, 60)
    assert found.constant == ("born",)
    assert found.times == "year"
    assert found.is_in_a_row
    assert found.is_alike
    assert not found.is_person
    assert found.is_built
    assert "each of its 12 values stands in 5 rows; born never changes within one" in found.reasons


@pytest.mark.parametrize("name", ["LotArea", "household_income", "state tax", "YearsAtCompany"])
def test_other_names_are_not(name):
    order = np.random.default_rng(1).permutation(60)
    assert belonging(columns(**{name: PERSON[order], "x": NOISE, "y": NOISE}), "y") == []


@pytest.mark.parametrize(
    "name",
    [
        "YearBuilt", "birth_year", "hours_per_week", "survival time", "TrainingTimesLastYear",
        "NumWebVisitsMonth",
    ],
)  # fmt: skip
def test_years_of_birth_and_durations_are_no_times(name):
    assert columns_of_time(columns(**{name: PERSON, "y": NOISE}), "y") == []


def test_words_whose_rows_stand_below_each_other_may_hold_them_together():
    """Wells in a file, one after the other; numbers in order are any column that was sorted."""
    words = np.char.add("w", (100 + PERSON).astype(str))
    (found,) = belonging(columns(drilled=words, x=NOISE, y=NOISE), "y")
    assert found.is_in_a_row
    assert found.is_built
    shuffled = np.random.default_rng(1).permutation(words)
    assert belonging(columns(drilled=shuffled, x=NOISE, y=NOISE), "y") == []
    assert belonging(columns(drilled=PERSON, x=NOISE, y=NOISE), "y") == []


def test_numbers_that_are_coded_once_more_hold_no_rows_together():
    """Every class of age holds an interval of ages, and a twin says the same as its column."""
    age = np.random.default_rng(2).integers(20, 60, 400)
    assert belonging(columns(age=age, age_class=age // 10, y=NOISE.repeat(7)[:400]), "y") == []
    assert belonging(columns(age=age, months=12 * age, y=NOISE.repeat(7)[:400]), "y") == []


def test_what_chance_makes_constant_says_nothing():
    """All but one row of a column are alike, so that it is constant within most of any values."""
    rare = np.where(np.arange(60) == 7, 1, 0)
    assert belonging(columns(v1=PERSON, rare=rare, y=NOISE), "y") == []


def test_columns_of_time_are_dates_and_whole_numbers_by_name():
    days = np.datetime64("2020-01-01") + np.arange(60)
    there = columns(day=days.astype(str), year=YEAR, year_mean=NOISE, month=YEAR // 2, y=NOISE)
    assert columns_of_time(there, "y") == ["day", "year"]  # three months are too few
    assert columns_of_time(columns(wave=PERSON, y=NOISE), "y") == ["wave"]


def test_rows_without_a_group_stand_alone():
    (column,) = columns(g=["b", "", "a", "b", ""]).values()
    assert_same(labels_of_groups(column), [1, 2, 0, 1, 3])


@given(st.lists(st.integers(0, 8), min_size=9, max_size=60), st.booleans(), st.integers(0, 3))
def test_groups_stay_whole_and_halves_are_even(groups, is_classification, seed):
    groups = np.array([*groups, *range(9)])
    y = (np.arange(len(groups)) % 2).astype(float)
    train, valid = halves_of_groups(groups, y, is_classification, seed)
    assert_same(np.sort(np.r_[train, valid]), np.arange(len(groups)))
    assert not set(groups[train]) & set(groups[valid])
    assert abs(len(train) - len(valid)) <= np.bincount(groups).max()


@given(st.lists(st.integers(0, 5), min_size=2, max_size=40))
def test_no_moment_is_on_both_sides(times):
    times = np.array([*times, 6], dtype=float)
    train, valid = halves_in_time(times)
    assert_same(np.sort(np.r_[train, valid]), np.arange(len(times)))
    assert len(train)
    assert len(valid)
    assert times[train].max() < times[valid].min()
    nearest = min(abs((times < t).sum() - len(times) / 2) for t in np.unique(times)[1:])
    assert abs(len(train) - len(times) / 2) == nearest


def test_the_share_that_errors_have_in_common_by_hand():
    """Groups (1, 3), (5, 7), ...: B = 2 * var of means, W = 2 within each."""
    groups = np.repeat(np.arange(5), 2)
    errors = 4.0 * groups + np.tile([-1.0, 1.0], 5)
    found = agreement_within(errors[:, np.newaxis], groups)
    between, within = 2 * 16 * np.var(np.arange(5), ddof=1), 2.0
    assert_close(found.share, (between - within) / (between + within), 1.0)
    assert found.is_clear
    assert agreement_within(errors[:, np.newaxis], np.arange(10)) == Agreement()  # no two rows


def test_rows_are_put_in_order_before_neighbours_are_compared():
    wave = np.sin(np.arange(200) / 10)[:, np.newaxis]
    order = np.random.default_rng(4).permutation(200)
    assert agreement_along(wave[order], order).share > 0.9
    assert abs(agreement_along(wave[order], np.arange(200)).share) < 0.3


@pytest.fixture(scope="module")
def a_panel():
    return panel("plain", 60, 0.5, np.random.default_rng(5))


@pytest.fixture
def panel_run(run, tmp_path, a_panel):
    """Run the command on the panel."""
    path = write_csv(tmp_path / "panel.csv", a_panel)
    return partial(run, "--data", path, "--target", "y")


@pytest.fixture
def said(panel_run):
    """Run the command on the panel; return what it prints, on one line."""

    def said(*arguments):
        ran = panel_run(*arguments)
        assert (ran.status, ran.err) == (0, "")
        return ran.said

    return said


def test_a_panel_is_judged_by_subjects_and_both_verdicts_are_told(said):
    text = said()
    assert "30 and 30 whole values of id, at random" in text
    assert "id says which rows belong together, so it is no feature." in text
    assert "Rows with the same 'id' belong together (its 60 values stand in" in text
    assert "born, height never change within one" in text
    assert "With random halves the model is" in text
    assert "On values of id that it has not seen the model is" in text
    assert "--no-groups judges with random halves alone" in text


def test_who_says_that_rows_are_independent_gets_random_halves(said):
    text = said("--no-groups")
    assert "at random (seed 0)." in text
    assert "belong together" not in text


def test_groups_that_are_named_are_heeded(said):
    text = said("--groups", "born")
    assert "whole values of born" in text
    assert "Rows with the same 'born' belong together" in text
    assert "With random halves the model is" in text
    assert "--no-groups" not in text


def test_the_later_rows_judge(said, a_panel):
    text = said("--time", "year")
    assert "the earlier and the later ones by year" in text
    assert "fits on the earlier rows" not in text
    assert "Rows with the same 'id' may belong together" in text


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--groups", "ido"], "--groups: .* has no column 'ido'; did you mean 'id'"),
        (["--groups", "y"], "--groups 'y' is the target"),
        (["--time", "y"], "--time 'y' is the target"),
    ],
)
def test_groups_that_cannot_be(arguments, why, panel_run):
    assert re.search(why, panel_run(*arguments).err)


def test_words_are_no_times(run, tmp_path):
    table = {"w": ["a", "b"] * 20, "x": range(40), "y": NOISE[:40]}
    ran = run("--data", write_csv(tmp_path / "t.csv", table), "--target", "y", "--time", "w")
    assert "2 different words there; it takes a column of dates" in ran.err


def test_p_values_of_few_groups_are_students():
    """Three groups with sums 1, 2 and 3: t = 6 / sqrt(3 / 2 * 2) with two degrees of freedom."""
    error = np.array([np.sqrt(3 / 2 * 2)])
    useful = GlobalAttribution(
        np.array([6.0]), error, 9, ("a",), "held_out_gain", groups=np.arange(3)
    )
    p_values = said_of(useful, np.array([True])).p_values
    assert_close(p_values, student.sf(6 / error, 2) / 0.8, 1.0)  # lower ends get four fifths


def test_few_groups_are_told():
    found = found_in(panel("plain", 20, 0.9, np.random.default_rng(6)))
    assert found.useful.n_draws == 10
    assert any("Only 10 values of 'id' are held out" in text for text in cautions(found))


@pytest.mark.parametrize("kind", WITHOUT)
def test_tables_of_independent_rows_are_not_judged_by_groups(kind):
    assert what_is_said(WITHOUT[kind](np.random.default_rng(7)), "")["judges"] == 0


@pytest.mark.parametrize("kind", ["plain", "bare", "unnamed"])
def test_panels_are_judged_by_their_subjects(kind):
    found = what_is_said(
        panel(kind, 100, 0.5, np.random.default_rng(8)), "v1" if kind == "unnamed" else "id"
    )
    assert found["judges_rightly"] == 1


def test_neighbours_in_a_file_without_a_telling_column_are_spoken_of():
    """A panel whose column of subjects was left away: its rows stand below each other."""
    table = panel("bare", 100, 0.8, np.random.default_rng(9))
    order = np.argsort(table.pop("id"), kind="stable")
    found = found_in({name: values[order] for name, values in table.items()})
    assert found.times == ()
    assert found.along.share > 0.3


@pytest.mark.parametrize("order", ["sorted", "positive first", "descending classes"])
def test_a_file_in_the_order_of_its_target_is_no_file_of_persons(order):
    """Its neighbours have similar errors because their targets are alike."""
    rng = np.random.default_rng(11)
    table = {f"x{k}": rng.normal(size=600).round(3) for k in range(3)}
    y = np.where(rng.random(600) < 1 / 3, np.exp(rng.normal(size=600)).round(3), 0.0)
    if order == "descending classes":
        y = np.array(["a", "b", "c"])[rng.integers(3, size=600)]
    rows = np.argsort(y == 0 if order == "positive first" else y, kind="stable")
    if order == "descending classes":
        rows = rows[::-1]
    found = found_in({**table, "y": y[rows]})
    assert found.along is None
    assert not any("one person" in text for text in cautions(found))
