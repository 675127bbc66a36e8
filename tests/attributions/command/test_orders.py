"""``--task survival`` and ``--task ranking``: what is said of times and grades, and refused."""

import re
from datetime import date, timedelta

import numpy as np
import pytest

from gbt.losses import Aft
from tests.attributions.command.tables import explored
from tests.greedy import GreedyRegressor
from tests.html_checks import Page

TIMES = ("--target", "days", "--event", "status")


def patients(n=400, seed=0):
    """Draw patients; the first column shortens their times."""
    rng = np.random.default_rng(seed)
    x, noise = rng.normal(size=(2, n)).round(3)
    time, end = rng.exponential(300 * np.exp(-x)), rng.uniform(50, 900, n)
    days, dead = np.minimum(time, end).round(1), time <= end
    return {
        "x": x, "noise": noise, "visits": np.floor(days / 20), "days": days,
        "status": np.where(dead, "dead", "alive"),
    }  # fmt: skip


def test_a_table_of_times(judge):
    status, out = judge(patients(), *TIMES, "--task", "survival", "--drop", "visits")
    assert status == 0
    share = 100 * np.mean(patients()["status"] == "dead")
    assert f"the event had come where 'status' is 'dead' ({share:.1f} % of rows)" in out
    assert "with the same share of events" in out
    right = int(re.search(r"expects the right one first in (\d+); guessing is right in 50", out)[1])
    assert 65 < right < 80
    of_model, of_constant = re.search(r"concordance (\S+) (\S+) .*? Cox", out).groups()
    assert float(of_constant) == 0.5
    assert round(100 * float(of_model)) == right
    assert "helps, 1 of 2: x" in out
    n_censored = int(re.search(r"(\d+) of the 200 held-out rows are censored", out)[1])
    assert n_censored == pytest.approx(200 - 2 * share, abs=1)
    assert "no table can show it" in out


@pytest.mark.parametrize("is_censored", [True, False])
def test_a_column_made_of_the_time_is_told(is_censored, judge):
    columns = patients(400 if is_censored else 200)
    if not is_censored:
        columns["status"] = np.ones(200, dtype=int)
    status, out = judge(columns, *TIMES)
    assert status == 0
    assert ("(100.0 % of rows)" in out) == (not is_censored)
    assert "visits alone puts the held-out rows nearly in the order of their events" in out
    assert "run it again with --drop visits" in out
    assert "x alone puts" not in out


def test_what_changed_by_region_and_over_time(judge, quick):
    """x shortens times in the east of the first 2000 patients; the north has hardly an event."""
    rng, n = np.random.default_rng(1), 2400
    x, noise = rng.normal(size=(2, n)).round(3)
    region = rng.choice(["east", "west", "north"], n, p=[0.5, 0.4, 0.1])
    effect = np.where((np.arange(n) < 2000) & (region == "east"), 1.5, 0.0)
    time, end = rng.exponential(300 * np.exp(-effect * x)), rng.uniform(50, 900, n)
    end[region == "north"] = 1
    columns = {
        "x": x, "noise": noise, "region": region, "days": np.minimum(time, end).round(1),
        "status": (time <= end) * 1,
        "came": [str(date(2018, 1, 1) + timedelta(day)) for day in range(n)],
    }  # fmt: skip
    status, out = judge(columns, *TIMES, "--time", "came", "--by", "region")
    assert status == 0
    over = r"Over came: x is worth less than in the period from 2021-04-15, where it saves"
    periods = re.search(over + r" \S+ % of the constant model's loss: (.*?)\.  ?By", out)[1]
    changed = re.findall(r"from (\d{4}-\d\d-\d\d) \(", periods)
    assert min(changed) > "2023-06"  # the period from about the 2000th patient on
    assert "By region: x is worth less than in 'east', where it saves" in out
    assert "west (" in out
    assert "too few events to judge: north" in out
    assert "noise is worth" not in out


def test_simpler_models_are_judged_beside(judge):
    """The true hazard is linear in x, so that Cox's linear model is not to be beaten."""
    status, out = judge(patients(1600), *TIMES, "--drop", "visits")
    assert status == 0
    row = re.search(r"one tree concordance (\S+) 0.5\S* (\S+) (\S+) Cox", out)
    of_model, linear, tree = map(float, row.groups())
    assert linear >= of_model >= tree > 0.6
    assert "a linear model predicts better than the model" in out


def test_a_half_whose_only_event_is_the_last_is_refused(judge):
    columns = {name: values[:60] for name, values in patients().items()}
    last = np.argsort(columns["days"])[-3:]
    columns["status"] = np.isin(np.arange(60), last).astype(int)
    columns["days"][last] = columns["days"].max()
    status, err = judge(columns, *TIMES)
    assert status == 2
    assert "too few to have an event before another row's in both halves" in err


def test_a_date_made_of_the_time_is_told(judge):
    columns = patients(200)
    days = columns.pop("visits")
    columns["seen"] = [date(2020, 1, 1) + timedelta(day) for day in days]
    status, out = judge(columns, *TIMES)
    assert status == 0
    assert "seen: days since the first alone puts the held-out rows nearly in the order" in out


def test_a_column_that_is_hardly_ever_filled_is_no_leak(judge):
    """Its few known rows are all censored, so that none can be put in order."""
    columns = patients(200) | {"late": np.full(200, "", dtype=object)}
    del columns["visits"]
    last = np.argsort(columns["days"])[-12:]
    columns["late"][last], columns["status"][last] = np.arange(12), "alive"
    status, out = judge(columns, *TIMES)
    assert status == 0
    assert "late alone puts" not in out


def test_the_page_and_rows_of_a_table_of_times(judge, tmp_path):
    page = tmp_path / "report.html"
    assert judge(patients(), *TIMES, "--drop", "visits", "--report", page)[0] == 0
    read = Page(page.read_text(encoding="utf-8"))
    assert read.problems == []
    for text in ("the same risk", "one scale. 0.7 more makes", "it says whether the event came"):
        assert text in read.text
    assert re.search(r'"\d[\d.]* or later"', page.read_text(encoding="utf-8"))
    shown = explored(page.read_text(encoding="utf-8"))
    assert shown["base"] == 0.0  # not what rounding leaves of it
    assert all(row[2].endswith(" in the logarithm of the hazard") for row in shown["rows"])


@pytest.mark.parametrize("loss", ["cox", Aft("extreme", 0.8)])
def test_a_given_model_of_times(loss, judge, tmp_path):
    columns = patients()
    X = np.column_stack([columns["x"], columns["noise"]])
    y = np.empty(400, dtype=[("dead", bool), ("days", float)])
    y["dead"], y["days"] = columns["status"] == "dead", columns["days"]
    model = GreedyRegressor(loss=loss, n_estimators=30, max_depth=2).fit(X, y)
    model.save(tmp_path / "model.json")
    new = patients(300, seed=1)
    del new["visits"]
    given = ("--target", "days", "--model", tmp_path / "model.json")
    status, out = judge(new, *given, "--event", "status")
    assert status == 0
    y_new = np.empty(300, dtype=y.dtype)
    y_new["dead"], y_new["days"] = new["status"] == "dead", new["days"]
    score = model.score(np.column_stack([new["x"], new["noise"]]), y_new)
    assert f"expects the right one first in {100 * score:.0f}" in out
    assert "helps, 1 of 2: x" in out
    status, err = judge(new, *given)
    assert status == 2
    assert "name with --event what says whether it had come by the time in days" in err
    new["days"][0], new["status"][0] = 0, "dead"
    status, err = judge(new, *given, "--event", "status")
    assert (status == 2) == isinstance(loss, Aft)
    assert ("knows no event at time 0" in err) == isinstance(loss, Aft)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"days": lambda days: -days}, (), "in row .* times from the beginning of observation on"),
        ({"status": lambda status: status * 0}, (), "--event status holds '0'. It must hold two"),
        ({"status": lambda status: np.arange(400) % 3}, (), "holds '0', '1', '2'.*--positive"),
        ({}, ("--positive", "ill"), "--event status holds no 'ill'"),
        ({}, ("--event", "days"), "--event 'days' is the target; .*whether the event came"),
        ({}, ("--event", "death"), "no column 'death'"),
        ({}, ("--drop", "status"), "leaves out a column that --target, --event or --keep asks"),
        ({"days": lambda days: np.where(days > 200, "long", "short")}, (), "words such as 'long'"),
    ],
)
def test_bad_tables_of_times_are_refused(change, options, message, judge):
    columns = patients() | {"status": (patients()["status"] == "dead").astype(int)}
    columns |= {name: make(columns[name]) for name, make in change.items()}
    status, err = judge(columns, *TIMES, *options)
    assert status == 2
    assert re.search(message, err), err


GRADES = ("--target", "grade")
RANKING = (*GRADES, "--task", "ranking", "--groups", "search")


def searches(n_groups=80, seed=0):
    """Draw searches of four to eight results; the first column makes good ones."""
    rng = np.random.default_rng(seed)
    search = np.repeat(np.arange(n_groups), rng.integers(4, 9, n_groups))
    x, noise = rng.normal(size=(2, len(search))).round(3)
    shift = rng.normal(size=n_groups)[search]  # says nothing of the order within a search
    grade = np.digitize(x + shift + 0.7 * rng.normal(size=len(search)), [-1, 0, 1])
    return {"x": x, "noise": noise, "search": [f"s{q}" for q in search], "grade": grade}


def test_a_table_of_grades(judge):
    status, out = judge(searches(), *RANKING)
    assert status == 0
    assert "Task: the order of the rows of each of 80 groups by 'grade', larger first." in out
    assert "40 and 40 whole values of search, at random" in out
    said = r"worth (\d+) % of the best there is.*a random order is worth (\d+) %"
    of_model, of_random = map(int, re.search(said, out).groups())
    assert of_random + 5 < of_model <= 100
    assert "helps, 1 of 2: x" in out


def test_its_page_and_a_given_model(judge, tmp_path):
    columns, page = searches(), tmp_path / "report.html"
    X = np.column_stack([columns["x"], columns["noise"]])
    model = GreedyRegressor(loss="ndcg", n_estimators=20, max_depth=2)
    model.fit(X, columns["grade"], groups=columns["search"]).save(tmp_path / "model.json")
    new, given = searches(60, seed=1), (*GRADES, "--model", tmp_path / "model.json")
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
    new["day"] = np.where(np.arange(len(new["x"])) == 2, 1, 0)  # the third row of its group
    status, err = judge(new, *given, "--groups", "search", "--by", "day", "--report", page)
    assert status == 2
    assert "--by day: row 3 differs from others of its group there" in err


def test_rows_alone_in_their_group_are_left_out(judge):
    columns = searches(40)
    columns["search"][-3:] = ["a", "b", ""]
    status, out = judge(columns, *RANKING)
    assert status == 0
    assert "larger first; without 3 rows alone in a group" in out


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"grade": lambda of: of["grade"] + 0.5}, (), r"\.5 in row 1. Grades are whole numbers"),
        ({"search": lambda of: np.arange(len(of["x"]))}, (), "No two rows of one group have"),
        ({"search": lambda of: ["s"] * len(of["x"])}, (), "too few to have rows of one group with"),
        ({}, ("--groups", "grade"), "--groups 'grade' is the target"),
    ],
)
def test_bad_tables_of_grades_are_refused(change, options, message, judge):
    columns = searches(40)
    columns |= {name: make(columns) for name, make in change.items()}
    status, err = judge(columns, *RANKING, *options)
    assert status == 2
    assert re.search(message, err), err


def test_a_half_without_an_order_is_refused(judge):
    columns = searches(40)
    search, grade = np.array(columns["search"]), columns["grade"] // 2  # groups differ in grades
    for q in set(search) - {"s0"}:
        grade[search == q] = grade[search == q][0]
    grade[:2] = 0, 1
    status, err = judge(columns | {"grade": grade}, *RANKING)
    assert status == 2
    assert "too few to have rows of one group with different grades in both halves" in err
