"""What changed over time and by a column: periods, ranges, words, and what is said of them."""

import re

import numpy as np
import pandas as pd
import pytest

from attributions.command.page import page as of_page
from attributions.command.page import tables


@pytest.fixture(scope="module")
def sales(tmp_path_factory):
    """Write a table in whose last sixth price has no effect, and little in the west."""
    rng, n = np.random.default_rng(1), 2400
    table = pd.DataFrame(rng.normal(size=(n, 2)), columns=["price", "noise"])
    table["day"] = pd.date_range("2020-01-01", periods=n).astype(str)
    table["region"] = rng.choice(["east", "west"], n, p=[0.6, 0.4])
    effect = np.where(np.arange(n) < 2000, 2.0, 0.0) * np.where(table["region"] == "west", 0.3, 1)
    table["y"] = effect * table["price"] + rng.normal(size=n)
    path = tmp_path_factory.mktemp("sales") / "sales.csv"
    table.to_csv(path, index=False)
    return path


def test_what_changed_is_said_and_drawn(sales, run, monkeypatch):
    monkeypatch.setattr(tables, "N_OVER", 1)
    monkeypatch.setattr(of_page, "N_CHANGES", 1)
    page = sales.with_suffix(".html")
    asked = ["--data", sales, "--target", "y", "--report", page]
    said = run(*asked, "--time", "day", "--by", "region").said
    over = re.search(r"Over day: price is worth less than in the period from (\S+), .*?\.", said)
    assert over[1] == "2023-04-15"  # the first day of the later half
    for text in (over[0], "By region: price is worth less than in 'east'"):
        assert text in said
    assert "noise is worth" not in said
    assert "Over day: only the rows held out are compared" in said
    assert "By region: only" not in said
    changed = re.findall(r"from (\d{4}-\d\d-\d\d) \(", said)
    assert changed
    assert min(changed) >= "2025-02-17"  # the period in which it loses its effect
    html = page.read_text()
    # The first sentence stands on the first screen, too, which tells where all of them are.
    assert html.count(over[0]) == 2
    assert html.count("only the rows held out are compared") == 1
    assert re.findall('href="#(changes.)"', html) == re.findall('id="(changes.)"', html)[:1]
    assert html.count(" *</td>") == len(changed) + 1  # and one by region
    assert html.count('aria-label="Loss saved a row.') == 2
    assert re.search("Held-out gain by region, %, 1 of [4-9] features", html)
    assert not re.search(r">-0\.0+( \*)?<", html)


def test_columns_that_tell_nothing(sales, run):
    asked = ["--data", sales, "--target", "y"]
    assert "--by: " in run(*asked, "--by", "regio").err
    said = run(*asked, "--by", "noise").said
    assert "By noise: what features are worth differs from the range from" in said


def test_what_a_half_in_time_does_to_groups_and_classes_is_said(run, tmp_path):
    rng = np.random.default_rng(0)
    n = 600
    person = np.arange(n) % 100
    up = rng.normal(size=100)[person] > 0.3
    columns = {"day": np.arange(n), "person": person, "x": up + rng.normal(size=n)}
    table = pd.DataFrame(columns | {"y": np.where(up, "up", "down")})
    table.loc[17, "y"] = "sideways"
    table.to_csv(tmp_path / "visits.csv", index=False)
    asked = ["--data", tmp_path / "visits.csv", "--target", "y"]
    said = run(*asked, "--time", "day", "--groups", "person").said
    assert "they may stand in both halves of the time" in said
    assert "kept in one half" not in said
    assert "'sideways' is in one row alone" in said
