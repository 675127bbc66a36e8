"""``python -m attributions``: what it prints, writes and refuses."""

import csv
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attributions.__main__ import as_numbers, main, read_columns
from attributions.simulated import simulated
from tests.asserts import assert_same


@pytest.fixture
def run(tmp_path, capsys):
    """Run the command line in this process; return the status, both outputs and the folder."""

    def run(*arguments):
        status = main([*map(str, arguments), "--out", str(tmp_path / "out")])
        output = capsys.readouterr()
        return status, output.out, output.err, tmp_path / "out"

    return run


def features(folder):
    """Read back the table of all features."""
    with (folder / "features.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def table_rows(text):
    """Return the printed lines that begin with a rank, cut into words."""
    lines = [line.split() for line in text.splitlines()]
    return [line for line in lines if line and line[0].isdigit()]


def write_csv(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def test_the_demonstration(run):
    status, out, err, folder = run("--seed", 3)
    assert status == 0
    assert err == ""
    truth = {f"x{k + 1}" for k in simulated(random_state=3).relevant}

    written = features(folder)
    assert len(written) == 50
    assert {row["feature"] for row in written if row["relevant"] == "1"} == truth
    inner = [float(row["tree_inner"]) for row in written]
    assert inner == sorted(inner, reverse=True)

    printed = table_rows(out)
    assert {row[1] for row in printed if row[2] == "*"} == truth
    assert [row[1] for row in printed[:10]] == [row["feature"] for row in written[:10]]
    by_gain = sorted(written, key=lambda row: -float(row["total_gain"]))
    assert {row["feature"] for row in by_gain[:5]} <= {row[1] for row in printed}
    for row in printed:
        values = written[int(row[0]) - 1]
        assert row[1] == values["feature"]
        assert row[-1] == values["total_gain_rank"]
        assert abs(float(row[-2]) - float(values["total_gain"])) <= 0.5
        numbers = [word for word in row[2:-2] if word not in ("*", "+-")]
        names = [
            f"{a}{b}" for a in ("tree_inner", "partial_inner") for b in ("", "_standard_error")
        ]
        for number, name in zip(numbers, names, strict=True):
            assert abs(float(number) - float(values[name])) <= 0.5

    by_partial = sorted(written, key=lambda row: -float(row["partial_inner"]))
    counts = [
        sum(row["feature"] in truth for row in rows[:5]) for rows in (written, by_partial, by_gain)
    ]
    sentence = "Truly relevant among the 5 best: {} by TreeInner, {} by partial TreeInner, {} by"
    assert sentence.format(*counts) + " total gain." in out
    assert "Total gain is what a feature's splits promised" in out

    picture = folder / "used_useful.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in out
    assert str(folder / "features.csv") in out


def test_the_same_seed_gives_the_same_text(run):
    assert run("--task", "regression")[1] == run("--task", "regression", "--seed", 0)[1]


def table(n=120):
    """Return rows of two useful columns (one of words, one with gaps) and one of noise."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        color, x, noise = rng.choice(["red", "blue"]), rng.normal(), rng.normal()
        signal = x + 2 * (color == "red")
        rows.append([f"{x:.3f}" if i % 10 else "NA", color, f"{noise:.3f}", signal > 1, signal])
    return rows


def test_a_file_with_two_labels(run, tmp_path):
    rows = [[x, color, noise, "yes" if label else "no"] for x, color, noise, label, _ in table()]
    rows[5][3] = ""
    path = write_csv(tmp_path / "t.csv", ["x", "color", "noise", "bought"], rows)

    status, out, _, folder = run("--data", path, "--target", "bought")

    assert status == 0
    assert "60 training and 59 held-out rows" in out
    assert "3 features, target 'bought', 'yes' against 'no'." in out.replace("\n", " ")
    assert "1 rows without a target" in out
    assert "color (2)" in out
    assert "noise (" not in out
    assert "relevant" not in out.lower()
    written = features(folder)
    assert {row["feature"] for row in written[:2]} == {"x", "color"}
    assert "relevant" not in written[0]
    assert (folder / "used_useful.png").exists()


def test_a_file_with_numbers_to_predict(run, tmp_path):
    rows = [[x, color, noise, 1e6 * target] for x, color, noise, _, target in table()]
    plain = write_csv(tmp_path / "t.csv", ["x", "color", "noise", "price"], rows)
    zipped = tmp_path / "t.csv.gz"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))

    status, out, _, folder = run("--data", zipped, "--target", "price")

    assert status == 0
    assert "target 'price'." in out
    assert "All values in units of 1e+1" in out  # squares of millions
    assert [row["feature"] for row in features(folder)][2] == "noise"


def test_without_matplotlib_there_is_no_picture(run, monkeypatch):
    monkeypatch.setattr("attributions.__main__.find_spec", lambda name: None)
    status, out, _, folder = run("--task", "regression")
    assert status == 0
    assert "No picture" in out
    assert "pip install matplotlib" in out
    assert not (folder / "used_useful.png").exists()
    assert (folder / "features.csv").exists()


@pytest.mark.parametrize(
    ("header", "rows", "why"),
    [
        (["x", "y"], [["1", "a"], ["2", "b"], ["3", "c"]], "two labels, or finite numbers"),
        (["x", "y"], [["1", "5"], ["2", "5"]], "two labels, or finite numbers"),
        (["x", "y"], [["1", ""], ["2", "NA"]], "two labels, or finite numbers"),
        (["x", "y"], [["1", "0"], ["2", "1"], ["3", "0"]], "too few"),
        (["x", "z"], [["1", "2"]], "no column 'y'"),
        (["y"], [["1"], ["2"]], "no column beside the target"),
        (["x", "x", "y"], [["1", "2", "3"]], "two columns of the same name"),
        (["x", "y"], [["1", "2"], ["1"]], "Row 3 of .* has 1 cells; there are 2"),
        (["x", "y"], [], "at least one row"),
    ],
)
def test_unusable_files_are_refused(run, tmp_path, header, rows, why):
    path = write_csv(tmp_path / "t.csv", header, rows)
    status, out, err, folder = run("--data", path, "--target", "y")
    assert status == 2
    assert out == ""
    assert err.startswith("python -m attributions: ")
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(err)
    assert not folder.exists()


def test_a_file_that_is_not_there(run, tmp_path):
    status, _, err, _ = run("--data", tmp_path / "none.csv", "--target", "y")
    assert status == 2
    assert "none.csv" in err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--data", "t.csv"], "--data and --target go together"),
        (["--target", "y"], "--data and --target go together"),
        (["--data", "t.csv", "--target", "y", "--task", "regression"], "does not go with --data"),
        (["--seed", "-1"], "must not be negative"),
        (["--task", "ranking"], "invalid choice"),
    ],
)
def test_options_that_do_not_fit(run, capsys, arguments, why):
    with pytest.raises(SystemExit, match="2"):
        run(*arguments)
    assert why in capsys.readouterr().err


def test_help_from_the_shell():
    done = subprocess.run(
        [sys.executable, "-m", "attributions", "--help"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    for word in ("python -m attributions", "--data", "--target", "--out", "--seed", "--task"):
        assert word in done.stdout


def test_cells():
    numbers, n_words = as_numbers(["1", " 2.5".strip(), "", "NA", "?", "-1e3", "inf"])
    assert_same(numbers, [1.0, 2.5, np.nan, np.nan, np.nan, -1000.0, np.nan])
    assert n_words == 0
    numbers, n_words = as_numbers(["red", "", "blue", "red"])
    assert_same(numbers, [1.0, np.nan, 0.0, 1.0])
    assert n_words == 2
    assert_same(as_numbers(["", ""])[0], [np.nan, np.nan])


def test_a_byte_order_mark_and_blank_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\ufeffa, b\n1, 2\n\n3, 4\n", encoding="utf-8")
    assert read_columns(path) == (["a", "b"], [["1", "3"], ["2", "4"]])
