"""``python -m attributions``: what it prints, writes and refuses."""

import errno
import gzip
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attributions.command.run import main
from tests.attributions.command.tables import columns, write_csv


def table_rows(text):
    """Return the printed lines that begin with a rank, cut into words."""
    lines = [line.split() for line in text.splitlines()]
    return [line for line in lines if line and line[0].isdigit()]


def agrees(printed, exact):
    """Say whether a number is printed as exactly as its digits promise."""
    mantissa, _, exponent = printed.partition("e")
    half_a_digit = 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(printed) - float(exact)) <= 1.001 * half_a_digit


def scores(text):
    """Return the measures of the model and of the constant model that are printed."""
    line = r"^  (\S+(?: \S+)*)  +(\S+) +(\S+)(?: +\S+)*$"  # behind them may be simpler models
    found = re.findall(line, text.split("rank")[0], flags=re.MULTILINE)
    return {name: tuple(float(number.replace(",", "")) for number in pair) for name, *pair in found}


def test_the_demonstration(run):
    ran = run("--seed", 3)
    assert (ran.status, ran.err) == (0, "")
    written = ran.features
    assert len(written) == 11
    gains = [float(row["held_out_gain_percent"]) for row in written]
    assert gains == sorted(gains, reverse=True)

    printed = table_rows(ran.out)
    assert [int(row[0]) for row in printed] == [*range(1, 12)]  # all eleven are used
    for row, values in zip(printed, written, strict=True):
        name = values["feature"].split()
        assert row[1 : len(name) + 1] == name
        rest = row[len(name) + 1 :]
        assert (rest[0] == "*") == (values["feature"] == "random numbers")
        assert rest[-1] == values["total_gain_rank"]
        assert values["verdict"] in " ".join(rest)
        numbers = [word for word in rest[:-1] if word.replace(".", "").lstrip("-").isdigit()]
        names = ["held_out_gain_percent", "low_percent", "high_percent"]
        names = [name for name in names if values[name]] + ["total_gain_share_percent"]
        for number, column in zip(numbers, names, strict=True):
            assert agrees(number, values[column])

    (noise,) = (row for row in written if row["feature"] == "random numbers")
    places = noise["total_gain_rank"], written.index(noise) + 1
    sentence = "The random numbers have place {} of 11 by total gain, place {} by held-out gain."
    assert sentence.format(*places) in ran.out
    assert "Held-out gain in per cent of the constant model's squared error" in ran.said
    for name, begins in (("used_useful.png", b"\x89PNG"), ("features.csv", b"feature,")):
        assert (ran.folder / name).read_bytes().startswith(begins)
        assert str(ran.folder / name) in ran.out


def test_a_file_with_two_labels(run, tmp_path):
    table = columns()
    del table["amount"]
    table["y"][5] = ""
    ran = run("--data", write_csv(tmp_path / "t.csv", table), "--target", "y")
    assert (ran.status, ran.err) == (0, "")
    assert "t.csv: 160 rows, 5 columns (read as UTF-8, commas)." in ran.said
    assert "Task: classification of 'y', 'yes' (" in ran.said
    assert "because it holds 2 different words." in ran.said
    assert "The rule" not in ran.said  # it stands on the page
    assert "80 to train on and 79 held out" in ran.said
    assert "; 1 without a target are left out." in ran.said
    assert "Words are categories in 1 of 4 features, with so many" in ran.said
    assert set(scores(ran.out)) == {"AUC", "log-loss"}
    (auc, half), (log_loss, of_constant) = scores(ran.out).values()
    assert half == 0.5 < auc <= 1
    assert 0 < log_loss < of_constant < np.log(2) + 0.05
    assert {row["feature"] for row in ran.features[:2]} == {"x", "color"}


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_file_with_numbers_to_predict(run, tmp_path, unit):
    table = columns(120)
    del table["y"], table["gaps"]
    table["amount"] = unit * table["amount"]
    zipped = tmp_path / "zipped"
    zipped.write_bytes(gzip.compress(write_csv(tmp_path / "t.csv", table).read_bytes()))

    ran = run("--data", zipped, "--target", "amount")

    assert ran.status == 0
    assert "(read as gzip, UTF-8, commas)" in ran.out
    assert "Task: regression of 'amount', because it holds" in ran.out
    r2, of_constant = scores(ran.out)["R^2"]
    assert of_constant <= 0 < 0.5 < r2 < 1
    error, of_constant = scores(ran.out)["root mean squared error"]
    assert 0 < error < of_constant
    assert 0.5 * unit < of_constant < 3 * unit
    assert [row["feature"] for row in ran.features][2] == "noise"
    for row in table_rows(ran.out)[:2]:  # of x and of color; noise may be used by no tree
        value, low, high = (float(row[k]) for k in (2, 3, 5))
        assert value != 0
        assert 0.001 < high - low < 100  # per cent, whatever the unit of the target


def test_counts_are_regressed_by_the_poisson_loss_if_asked(run, tmp_path):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 600)).round(3)
    table = {"x": x, "noise": noise, "visits": rng.poisson(np.exp(1 + x))}
    asked = ("--target", "visits", "--task", "counts")
    ran = run("--data", write_csv(tmp_path / "t.csv", table), *asked)
    assert ran.status == 0
    assert "Task: regression of 'visits' by the Poisson loss, as asked for." in ran.said
    ((name, (of_model, of_constant)),) = scores(ran.out).items()
    assert name == "Poisson loss, 0 at best"
    assert 0 < of_model < 0.5 * of_constant
    table["visits"][0] = -1
    ran = run("--data", write_csv(tmp_path / "t.csv", table), *asked)
    assert ran.status == 2
    assert "holds -1, and counts are not negative; give --task regression." in ran.err


@pytest.mark.slow
def test_classes_by_code_are_told_apart_and_not_silently(run, tmp_path):
    x = np.random.default_rng(0).normal(size=90)
    kinds = 1 + np.digitize(x, [-0.4, 0.4])
    path = write_csv(tmp_path / "t.csv", {"x": x, "kind": kinds})

    ran = run("--data", path, "--target", "kind")
    assert ran.status == 0
    assert "classification of 'kind', 3 classes, the largest '3'" in ran.out
    assert "the training rows' shares of the classes for every row" in ran.out
    shares = np.bincount(kinds)[1:] / 90
    of_model, of_constant = scores(ran.out)["accuracy"]
    assert of_constant == pytest.approx(shares.max(), abs=0.02)
    assert of_model > 0.9
    of_model, of_constant = scores(ran.out)["log-loss"]
    assert of_constant == pytest.approx(-(shares * np.log(shares)).sum(), abs=0.02)
    assert of_model < of_constant / 2

    ran = run("--data", path, "--target", "kind", "--positive", "3")
    assert "against the other 2 classes, as asked for." in ran.out
    assert scores(ran.out)["AUC"][0] > 0.9
    assert scores(run("--data", path, "--target", "kind", "--task", "regression").out)["R^2"][0] > 0


@pytest.mark.slow
@pytest.mark.parametrize("as_type", ["category", "Int8"])
def test_a_parquet_file_with_several_classes(run, tmp_path, as_type):
    """It is fitted and judged as a text file of the same table is."""
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(columns(180)).drop(columns=["y", "gaps"])
    frame["x"] = frame.x.where(np.arange(180) % 10 > 0)
    in_binary = (frame.noise * 64).round() / 64  # exact in text, too
    frame["noise"] = in_binary.astype("float32")
    kind = pd.cut(frame.pop("amount"), [-9, 0, 1.5, 9], labels=[3, 1, 2])
    frame["kind"] = kind.astype(as_type)
    frame["color"] = frame.color.astype("category")
    frame.loc[7, "kind"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")

    of_text = run("--data", tmp_path / "t.csv", "--target", "kind")
    expected = of_text.features
    of_parquet = run("--data", tmp_path / "t.parquet", "--target", "kind")

    assert (of_text.status, of_parquet.status, of_parquet.err) == (0, 0, "")
    assert "t.parquet: 180 rows, 4 columns (read as Parquet)." in of_parquet.said
    assert "classification of 'kind', 3 classes, the largest '" in of_parquet.said
    assert "1 without a target are left out" in of_parquet.said
    assert "Words are categories in 1 of 3 features" in of_parquet.said
    assert scores(of_parquet.out) == scores(of_text.out)
    assert scores(of_parquet.out)["accuracy"][0] > 0.8
    assert of_parquet.features == expected
    assert {row["feature"] for row in expected[:2]} == {"x", "color"}


def test_a_file_from_a_spreadsheet_of_another_country(run, tmp_path):
    table = columns(120)
    colors = np.where(table["color"] == "red", "grün", "rot")
    numbers = [str(x).replace(".", ",") for x in table["x"]]
    rows = map(";".join, zip(numbers, colors, table["y"], strict=True))
    path = tmp_path / "t.csv"
    path.write_bytes("\n".join(["größe;farbe;kauf", *rows]).encode("latin-1"))
    ran = run("--data", path, "--target", "kauf")
    assert ran.status == 0
    assert "(read as Latin-1, semicolons)" in ran.out
    assert "Latin-1 was assumed" in ran.out
    assert "Decimal commas were read in: größe." in ran.out
    assert {row["feature"] for row in ran.features} == {"größe", "farbe"}


def test_a_full_disk_leaves_what_was_there_before(run, tmp_path, monkeypatch):
    def refuse(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    places = [tmp_path / "out" / name for name in ("features.csv", "used_useful.png")]
    places.append(tmp_path / "report.html")
    places[0].parent.mkdir()
    for place in places:
        place.write_text("of before")
    monkeypatch.setattr("os.fsync", refuse)
    assert run().status == 2
    ran = run("--report", str(places[-1]))
    assert ran.status == 2
    assert "report.html (No space left on device); name another" in ran.err
    assert {place.read_text() for place in places} == {"of before"}
    assert len([*tmp_path.rglob("*")]) == 1 + len(places)


def test_names_that_a_spreadsheet_would_run_are_defused(run, tmp_path):
    x = np.random.default_rng(0).normal(size=(60, 4))
    names = ["=cmd|'/C calc'!A0", "+sum", "-x", "@x", "-1", "x"]
    values = [*x.T, x[:, 0], np.arange(60) % 7, x[:, 0]]  # =cmd is a twin
    path = write_csv(tmp_path / "t.csv", dict(zip([*names, "y"], values, strict=True)))
    written = run("--data", path, "--target", "y").features
    assert {row["feature"] for row in written} == {*(f"'{n}" for n in names[:4]), "-1", "x"}
    assert {row["twin_of"] for row in written} <= {"", f"'{names[0]}", "-1"}


def test_without_matplotlib_there_is_no_picture_and_no_report_is_begun(run, tmp_path, monkeypatch):
    for module in ("run", "options"):
        monkeypatch.setattr(f"attributions.command.{module}.find_spec", lambda name: None)
    ran = run()
    assert ran.status == 0
    assert "No picture: Matplotlib is not installed (pip install matplotlib)" in ran.out
    assert [path.name for path in ran.folder.iterdir()] == ["features.csv"]
    ran = run("--report", tmp_path / "out.html")
    assert (ran.status, ran.out) == (2, "")
    assert "pip install matplotlib" in ran.err


def test_results_go_where_they_can_or_nothing_is_begun(run, tmp_path):
    (tmp_path / "out").mkdir()
    path = write_csv(tmp_path / "out" / "features.csv", {"x": [1, 2], "y": [2, 3]})
    before = path.read_bytes()
    ran = run("--data", path, "--target", "y")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("python -m attributions: ")
    assert f"would overwrite {path}, which is read; name another place" in ran.err
    assert path.read_bytes() == before
    for out in (path, path / "folder"):
        ran = run("--out", str(out))
        assert (ran.status, ran.out) == (2, "")
        assert f"--out takes a folder, and {path} is a file" in ran.err
    assert run("--out", str(tmp_path / "a" / "b")).status == 0
    assert (tmp_path / "a" / "b" / "features.csv").exists()


def test_without_a_target_the_columns_are_named(run, tmp_path):
    path = write_csv(tmp_path / "t.csv", {"size": [1], "color": ["red"]})
    ran = run("--data", path)
    assert ran.status == 2
    assert "Say with --target which column of" in ran.err
    assert "it has 'size', 'color'." in ran.err
    assert not ran.folder.exists()


@pytest.mark.slow
def test_whoever_reads_the_output_may_stop(tmp_path):
    done = subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -m attributions --out '{tmp_path}/out' | head -1"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.startswith("Diabetes: 442 patients")
    assert "Error" not in done.stderr
    assert "Broken pipe" not in done.stderr


TABLE = "--data t.csv --target y "


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("--target y", "--target is about a table; name its file with --data"),
        ("--positive y", "--positive is about a table"),
        ("--drop y", "--drop is about a table"),
        ("--model m.json --report out.html", "--model is about a table"),
        (TABLE + "--task regression --positive a", "does not go with --task regression"),
        (TABLE + "--task ranking", "name with --groups the column"),
        (TABLE + "--task ranking --groups a --positive 3", "does not go with --task ranking"),
        (TABLE + "--task survival", "name with --event the column"),
        (TABLE + "--event a --task counts", "does not go with --task counts"),
        (TABLE + "--groups a --no-groups", "contradict each other"),
        (TABLE + "--model m.json --report r --out f", "goes with --report or with --out"),
        (TABLE + "--model m.json --time day", "judge --model on a table of later rows"),
        (TABLE + "--model m.json --by day", "takes rows in memory: write a report with --report"),
        ("--open", "name its file with --report"),
        ("--seed -1", "must not be negative"),
        ("--task sorting", "invalid choice"),
    ],
)
def test_options_that_do_not_fit(capsys, arguments, why):
    with pytest.raises(SystemExit, match="2"):
        main(arguments.split())
    assert why in " ".join(capsys.readouterr().err.split())
