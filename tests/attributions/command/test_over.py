"""What changed over time and by a column: periods, ranges, words, and what is said of them."""

import re

import numpy as np
import pandas as pd
import pytest

from attributions.command.run import main


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


def test_what_changed_is_said_and_drawn(sales, capsys):
    page = sales.with_suffix(".html")
    arguments = ["--data", str(sales), "--target", "y", "--report", str(page)]
    assert main([*arguments, "--time", "day", "--by", "region"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    over = re.search(r"Over day: price is worth less than in the period from (\S+), .*?\.", said)
    assert over[1] == "2023-04-15"  # the first day of the later half
    for text in (over[0], "By region: price is worth less than in east"):
        assert text in said
    assert "noise is worth" not in said
    assert "Over day: only the rows held out are compared" in said
    assert "By region: only" not in said
    changed = re.findall(r"from (\d{4}-\d\d-\d\d) \(", said)
    assert changed
    assert min(changed) >= "2025-02-17"  # the period in which it loses its effect
    html = page.read_text()
    assert html.count(" *</td>") == len(changed) + 1  # and one by region
    assert html.count('aria-label="Loss saved a row.') == 2


def test_columns_that_tell_nothing(sales, capsys):
    arguments = ["--data", str(sales), "--target", "y", "--out", str(sales.parent)]
    assert main([*arguments, "--by", "regio"]) == 2
    assert "--by: " in capsys.readouterr().err
    assert main([*arguments, "--by", "noise"]) == 0
    assert "By noise: what features are worth differs from" in capsys.readouterr().out


def test_what_a_half_in_time_does_to_groups_and_classes_is_said(tmp_path, capsys):
    rng = np.random.default_rng(0)
    n = 600
    person = np.arange(n) % 100
    up = rng.normal(size=100)[person] > 0.3
    columns = {"day": np.arange(n), "person": person, "x": up + rng.normal(size=n)}
    table = pd.DataFrame(columns | {"y": np.where(up, "up", "down")})
    table.loc[17, "y"] = "sideways"
    path = tmp_path / "visits.csv"
    table.to_csv(path, index=False)
    asked = ["--data", str(path), "--target", "y", "--out", str(tmp_path)]
    assert main([*asked, "--time", "day", "--groups", "person"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "they may stand in both halves of the time" in said
    assert "kept in one half" not in said
    assert "'sideways' is in one row alone" in said
