"""``--task ranking``: what is said of a table of grades within groups, and what is refused."""

import re
from datetime import date, timedelta

import numpy as np
import pytest

from attributions.command import run as command
from attributions.command.table.demonstration import GREEDY
from gbt import GBTRegressor
from tests.html_checks import Page

GRADES = ("--target", "grade")
RANKING = (*GRADES, "--task", "ranking", "--groups", "search")


def drawn(n_groups=80, seed=0):
    """Draw searches of four to eight results; the first column makes good ones."""
    rng = np.random.default_rng(seed)
    search = np.repeat(np.arange(n_groups), rng.integers(4, 9, n_groups))
    x, noise = rng.normal(size=(2, len(search))).round(3)
    shift = rng.normal(size=n_groups)[search]  # says nothing of the order within a search
    grade = np.digitize(x + shift + 0.7 * rng.normal(size=len(search)), [-1, 0, 1])
    return {"x": x, "noise": noise, "search": [f"s{q}" for q in search], "grade": grade}


def test_a_table_of_grades(judge):
    status, out = judge(drawn(), *RANKING)
    assert status == 0
    assert "Task: the order of the rows of each of 80 groups by 'grade', larger first." in out
    assert "40 and 40 whole values of search, at random" in out
    said = r"worth (\d+) % of the best there is.*a random order is worth (\d+) %"
    of_model, of_random = map(int, re.search(said, out).groups())
    assert of_random + 5 < of_model <= 100
    assert "helps, 1 of 2: x" in out


def test_its_page_and_a_given_model(judge, tmp_path):
    columns, page = drawn(), tmp_path / "report.html"
    X = np.column_stack([columns["x"], columns["noise"]])
    model = GBTRegressor(loss="ndcg", n_estimators=20, max_depth=2, splitter="greedy")
    model.fit(X, columns["grade"], groups=columns["search"]).save(tmp_path / "model.json")
    new, given = drawn(60, seed=1), (*GRADES, "--model", tmp_path / "model.json")
    assert judge(new, *given, "--groups", "search", "--report", page)[0] == 0
    read = Page(page.read_text(encoding="utf-8"))
    assert read.problems == []
    score = model.score(
        np.column_stack([new["x"], new["noise"]]), new["grade"], groups=new["search"]
    )
    assert f"worth {100 * score:.0f} % of the best there is" in read.text
    status, err = judge(new, *given)
    assert status == 2
    assert "The model puts the rows of a group in order: name with --groups" in err
    status, err = judge(
        new, *GRADES, *given, "--groups", "search", "--by", "noise", "--report", page
    )
    assert status == 2
    assert "--by noise: row 2 differs from others of its group there" in err


def test_what_changed_by_device_and_over_time(judge, monkeypatch):
    """x orders results in the first 330 of 400 searches, and only where they are on a desk."""
    fit = command.fit
    monkeypatch.setattr(command, "fit", lambda task, parameters: fit(task, GREEDY))  # is faster
    columns = drawn(400)
    number = np.array([int(search[1:]) for search in columns["search"]])
    desk = np.random.default_rng(1).random(400)[number] < 0.6
    x = np.where((number < 330) & desk, columns["x"], 0.0)
    columns["grade"] = np.digitize(x + 0.3 * columns["noise"], [-0.5, 0, 0.5])
    columns["device"] = np.where(desk, "desk", "phone")
    columns["day"] = [str(date(2020, 1, 1) + timedelta(day)) for day in number.tolist()]
    status, out = judge(columns, *RANKING, "--time", "day", "--by", "device")
    assert status == 0
    assert "the earlier and the later ones by day" in out
    over = re.search(r"Over day: x is worth less than in the period from (\S+), where", out)
    assert over[1] == "2020-07-18"  # that of the 200th search
    saved = re.search(r"By device: x is worth less than in desk, where it saves (\S+) %", out)
    assert float(saved[1]) > 10
    assert "By device: noise is worth more" in out
    assert judge(columns, *RANKING, "--time", "x")[0] == 2


def test_rows_alone_in_their_group_are_left_out(judge):
    columns = drawn(40)
    columns["search"][-3:] = ["a", "b", ""]
    status, out = judge(columns, *RANKING)
    assert status == 0
    assert "larger first; 3 rows alone in theirs are left out" in out


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"grade": lambda of: of["grade"] + 0.5}, (), r"\.5 in row 1. Grades are whole numbers"),
        ({"search": lambda of: np.arange(len(of["x"]))}, (), "No two rows of one group have"),
        ({"search": lambda of: ["s"] * len(of["x"])}, (), "too few to have rows of one group with"),
        ({}, ("--groups", "grade"), "--groups 'grade' is the target"),
    ],
)
def test_bad_tables_are_refused(change, options, message, judge):
    columns = drawn(40)
    columns |= {name: make(columns) for name, make in change.items()}
    status, err = judge(columns, *RANKING, *options)
    assert status == 2
    assert re.search(message, err), err


def test_a_half_without_an_order_is_refused(judge):
    columns = drawn(40)
    search, grade = np.array(columns["search"]), columns["grade"] // 2  # groups differ in grades
    for q in set(search) - {"s0"}:
        grade[search == q] = grade[search == q][0]
    grade[:2] = 0, 1
    status, err = judge(columns | {"grade": grade}, *RANKING)
    assert status == 2
    assert "too few to have rows of one group with different grades in both halves" in err
