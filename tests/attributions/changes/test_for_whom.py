"""For whom a feature helps: groups found on half of the rows, confirmed on the other."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, RobustScaler

from attributions import for_whom
from gbt import GBTRegressor
from tests.asserts import assert_same
from tests.greedy import GreedyRegressor


def patients(n, rng):
    """Draw patients of whom the dose helps the old, at three of four places."""
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["dose", "age"])
    X["place"] = pd.Categorical(rng.choice(["a", "b", "c", "d"], n))
    helps = (X["age"] > 0.5) & (X["place"] != "c")
    return X, 3.0 * helps * X["dose"] + 0.3 * rng.normal(size=n)


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(1)
    model = GBTRegressor(60, max_depth=4, random_state=0).fit(*patients(1500, rng))
    return model, *patients(1500, rng)


def test_the_group_that_was_planted_is_found_and_confirmed(judged):
    result = for_whom(*judged, "dose", columns=["age", "place"])
    best = result.groups[0]
    assert "age > 0.5" in best
    assert "place in {" in best
    assert "c" not in best.partition("{")[2]
    frame = result.to_frame()
    assert frame["p_value"].iloc[0] < 1e-6
    assert frame["lower"].iloc[0] > 0
    assert (np.diff(frame["confirmed"]) <= 0).all()
    assert any("age <= " in group for group in result.groups)  # those whom it helps less
    overall = frame["confirmed"] @ frame["n_rows"] / frame["n_rows"].sum()
    assert frame["n_rows"].sum() == 750
    np.testing.assert_allclose(overall, result.overall, rtol=0.02)  # but for errors' factors
    assert best in repr(result)
    display = result.plot()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    n_first = f"{frame['n_rows'].iloc[0]:,}"
    assert labels[0] == best.replace(", place", "\nplace") + f"  ({n_first} rows)"
    assert [dot.get_xdata()[0] for dot in display.plot().points_] == list(result.values)  # again


def test_a_rule_has_the_digits_that_it_needs():
    """The years are told apart, and rows picked by the rules are those that were judged."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"dose": rng.normal(size=3000), "year": rng.integers(2010, 2025, 3000)})
    y = X["dose"] * np.select([X["year"] <= 2013, X["year"] <= 2018], [0.0, 1.0], 2.0)
    y += 0.3 * rng.normal(size=3000)
    model = GBTRegressor(30, random_state=0).fit(X[:1500], y[:1500])
    result = for_whom(model, X[1500:], y[1500:], "dose", columns="year", max_groups=3)
    rules = sorted(result.groups, key=lambda rule: rule.count("<"))
    assert [rule.replace("2013.5", "2013").replace("2018.5", "2018") for rule in rules] == [
        "year > 2018", "year <= 2013", "2013 < year <= 2018",
    ]  # fmt: skip
    # The float32 of 0.3 is larger than 0.3.
    x, close = rng.normal(size=3000), rng.choice([0.1, 0.3, 0.3006, 0.6], 3000)
    X = pd.DataFrame({"dose": x, "x": close})
    y = X["dose"] * (X["x"] > 0.3003) + 0.3 * rng.normal(size=3000)
    model = GBTRegressor(30, random_state=0).fit(X[:1500], y[:1500])
    frame = for_whom(model, X[1500:], y[1500:], "dose", columns="x", max_groups=2).to_frame()
    [rule] = [rule for rule in frame.index if ">" in rule]
    n = (X["x"][1500:] > 0.3003).sum() / 2  # of a random half
    assert rule.removeprefix("x > ") in ("0.3003", "0.3002", "0.3004")
    assert abs(frame.loc[rule, "n_rows"] - n) < 60


def test_rules_of_many_words_name_two_and_are_not_cut():
    """The dose helps in six of a dozen counties, in towns of six names there."""
    rng = np.random.default_rng(6)
    names = np.array([f"a long name, number {k:02}" for k in range(12)])
    county, town = rng.integers(12, size=(2, 3000))
    X = pd.DataFrame({"dose": rng.normal(size=3000), "county": names[county], "town": names[town]})
    y = 3.0 * X["dose"] * (county < 6) * (town < 6) + 0.3 * rng.normal(size=3000)
    model = GBTRegressor(30, max_depth=4, random_state=0).fit(X[:1500], y[:1500])
    result = for_whom(model, X[1500:], y[1500:], "dose", columns=["county", "town"], max_groups=3)
    conditions = result.groups[0].replace("}, ", "},\n").splitlines()
    two = r"\w+ in \{a long name, number 0\d, a long name, number 0\d, [234] more\},?"
    assert [bool(re.fullmatch(two, text)) for text in conditions] == [True, True]
    lines = repr(result).splitlines()
    assert lines[2].startswith(f"  {conditions[0]}  ")
    assert lines[3] == f"    {conditions[1]}"
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize(("is_up", "rule"), [(True, "age > "), (False, "age <= ")])
def test_rows_whose_column_is_missing_are_told(is_up, rule):
    """The dose helps the old or the young, and those whose age nobody knows."""
    rng = np.random.default_rng(4)

    def draw(n):
        X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["dose", "age"])
        X["age"] = X["age"].mask(rng.random(n) < 0.2)
        helps = (X["age"] > 0.5) == is_up
        helps[X["age"].isna()] = True
        return X, 3.0 * helps * X["dose"] + 0.3 * rng.normal(size=n)

    model = GBTRegressor(30, max_depth=4, random_state=0).fit(*draw(800))
    best, other = for_whom(model, *draw(800), "dose", columns="age", max_groups=2).groups
    assert best.startswith(rule)
    assert best.endswith(" or missing")
    assert not other.endswith(" or missing")


def test_groups_in_front_of_a_pipeline_are_told_by_its_users_columns():
    """Ages are in years, and days, which are all different, tell no groups apart."""
    rng = np.random.default_rng(1)

    def draw(n):
        X, y = patients(n, rng)
        years, day = 50 + 10 * X["age"], pd.Timestamp("2024-01-01") + pd.to_timedelta(X.index, "D")
        return X.assign(age=years, place=X["place"].astype(str), day=day), y

    X, y = draw(1500)
    words = OneHotEncoder(handle_unknown="ignore")
    steps = make_column_transformer((words, ["place"]), (RobustScaler(), ["dose", "age"]))
    pipeline = make_pipeline(steps, GBTRegressor(60, max_depth=4, random_state=0)).fit(X, y)
    X, y = draw(1500)
    found = [
        for_whom(pipeline, X, y, "dose", columns=c).groups[0] for c in (["age", "place"], None)
    ]
    for best in found:
        low = float(best.partition("age > ")[2].partition(",")[0])
        assert 53 < low < 57  # of a planted 55
        assert "c" not in best.partition("place in {")[2].partition("}")[0]
    weight, ask = np.tile([0, 1], 750), partial(for_whom, pipeline, feature="dose")
    X.loc[weight == 0, "place"] = [f"left out {k}" for k in range(750)]  # which are no levels
    for columns in ("place", None):
        given, left = (
            ask(*rows, columns=columns, sample_weight=own)
            for *rows, own in ((X, y, weight), (X[1::2], y[1::2], None))
        )
        assert_same(given.groups, left.groups)
        assert_same(given.to_frame(), left.to_frame())
        assert "place in {" in given.groups[0]
    of_days = make_pipeline(OneHotEncoder(), GBTRegressor(1)).fit(X[["day"]], -y)
    with pytest.raises(ValueError, match="All columns are words of which fewer than 30 rows"):
        for_whom(of_days, X[["day"]], y, "day")
    with pytest.raises(KeyError, match="'place_a'; did you mean 'place'"):
        for_whom(pipeline, X, y, "dose", columns="place_a")


def test_groups_of_rows_stay_in_one_half(judged):
    """Of five groups, of 100 to 500 rows, three confirm."""
    model, X, y = judged
    sizes = np.arange(100, 501, 100)
    subject = np.random.default_rng(3).permutation(np.repeat(np.arange(5), sizes))
    result = for_whom(model, X, y, "dose", groups=subject, max_groups=2, random_state=1)
    assert result.n_rows.sum() % 100 == 0
    assert result.n_rows.sum() != 750


def test_a_weight_is_that_many_rows_and_a_group_of_one_row_is_that_row(judged):
    model, X, y = judged
    ask = partial(for_whom, model, feature="dose", columns="place", max_groups=2)
    weight = np.where(X["place"] == "a", 4, 1)
    weighted = ask(X, y, sample_weight=weight)
    assert weighted.groups == ("place in {a, b, d}", "place in {c}")
    alone = ask(X, y, sample_weight=weight, groups=np.arange(1500)).to_frame()
    np.testing.assert_allclose(alone, weighted.to_frame(), rtol=1e-9)
    copies = np.repeat(np.arange(1500), weight)
    repeated = ask(X.iloc[copies], y.iloc[copies], groups=copies).to_frame()
    for name in ("found", "confirmed", "lower", "upper"):
        np.testing.assert_allclose(alone[name], repeated[name], rtol=0.01)  # errors' factors


def test_groups_in_noise_are_found_and_not_confirmed():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    model = GreedyRegressor(20, max_depth=3).fit(X[:200], rng.normal(size=200))
    n_confirmed = 0
    for _ in range(20):
        result = for_whom(model, rng.normal(size=(400, 3)), rng.normal(size=400), "x0")
        n_confirmed += bool(result.from_others.changed().any())
        assert np.ptp(result.found) > 0
    assert n_confirmed <= 3


def test_bad_input(judged):
    model, X, y = judged
    for wrong in (1, 2.5, "3"):
        with pytest.raises(ValueError, match=f"max_groups={wrong!r}; it must be a whole"):
            for_whom(model, X, y, "dose", max_groups=wrong)
    with pytest.raises(ValueError, match="columns is empty"):
        for_whom(model, X, y, "dose", columns=[])
    with pytest.raises(KeyError, match="'agee'; did you mean 'age'"):
        for_whom(model, X, y, "dose", columns="agee")
    with pytest.raises(ValueError, match=r"No groups differ.*with 40 rows"):
        for_whom(model, X[:40], y[:40], "dose")
    with pytest.raises(KeyError, match="'doze'; did you mean 'dose'"):
        for_whom(model, X, y, "doze")
