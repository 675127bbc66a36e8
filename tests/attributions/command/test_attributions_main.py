"""``python -m attributions``: what it prints, writes and refuses."""

import csv
import errno
import gzip
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attributions.command.run import main


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


def agrees(printed, exact):
    """Say whether a number is printed as exactly as its digits promise."""
    mantissa, _, exponent = printed.partition("e")
    half_a_digit = 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(printed) - float(exact)) <= 1.001 * half_a_digit


def write_csv(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def test_the_demonstration(run):
    status, out, err, folder = run("--seed", 3)
    assert status == 0
    assert err == ""

    written = features(folder)
    assert len(written) == 11
    gains = [float(row["held_out_gain_percent"]) for row in written]
    assert gains == sorted(gains, reverse=True)

    printed = table_rows(out)
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
    assert sentence.format(*places) in out
    said = out.replace("\n", " ")
    assert "Held-out gain in per cent of the constant model's squared error" in said

    picture = folder / "used_useful.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in out
    assert str(folder / "features.csv") in out


@pytest.mark.slow
def test_the_same_seed_gives_the_same_text(run):
    assert run()[1] == run("--seed", 0)[1]


def scores(text):
    """Return the measures of the model and of the constant model that are printed."""
    line = r"^  (\S+(?: \S+)*)  +(\S+) +(\S+)(?: +\S+)*$"  # behind them may be simpler models
    found = re.findall(line, text.split("rank")[0], flags=re.MULTILINE)
    return {name: tuple(float(number.replace(",", "")) for number in pair) for name, *pair in found}


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

    status, out, err, folder = run("--data", path, "--target", "bought")

    assert status == 0
    assert err == ""
    said = out.replace("\n", " ")
    assert "t.csv: 120 rows, 4 columns (read as UTF-8, commas)." in said
    assert "Task: classification of 'bought', 'yes' (" in said
    assert "because it holds 2 different words." in said
    assert "60 to train on and 59 held out" in said
    assert "; 1 without a target are left out." in said
    assert "Words are categories in 1 of 3 features, with so many" in said
    assert set(scores(out)) == {"AUC", "log-loss"}
    (auc, half), (log_loss, of_constant) = scores(out).values()
    assert half == 0.5 < auc <= 1
    assert 0 < log_loss < of_constant < np.log(2) + 0.05
    assert "no better than the constant" not in out
    written = features(folder)
    assert {row["feature"] for row in written[:2]} == {"x", "color"}
    assert (folder / "used_useful.png").exists()


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_file_with_numbers_to_predict(run, tmp_path, unit):
    rows = [[x, color, noise, unit * target] for x, color, noise, _, target in table()]
    plain = write_csv(tmp_path / "t.csv", ["x", "color", "noise", "price"], rows)
    zipped = tmp_path / "zipped"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))

    status, out, _, folder = run("--data", zipped, "--target", "price")

    assert status == 0
    assert "(read as gzip, UTF-8, commas)" in out
    assert "Task: regression of 'price', because it holds 120 different numbers." in out
    assert "Held-out gain in per cent of the constant model's squared error" in out
    r2, of_constant = scores(out)["R^2"]
    assert of_constant <= 0 < 0.5 < r2 < 1
    error, of_constant = scores(out)["root mean squared error"]
    assert 0 < error < of_constant
    assert 0.5 * unit < of_constant < 3 * unit
    assert [row["feature"] for row in features(folder)][2] == "noise"
    for row in table_rows(out)[:2]:  # of x and of color; noise may be used by no tree
        value, low, high = (float(row[k]) for k in (2, 3, 5))
        assert value != 0
        assert 0.001 < high - low < 100  # per cent, whatever the unit of the target


def test_counts_are_regressed_by_the_poisson_loss_if_asked(run, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2)).round(3)
    visits = rng.poisson(np.exp(1 + x[:, 0]))
    rows = np.column_stack([x, visits]).tolist()
    path = write_csv(tmp_path / "t.csv", ["x", "noise", "visits"], rows)
    status, out, _, _ = run("--data", path, "--target", "visits", "--task", "counts")
    said = out.replace("\n", " ")
    assert status == 0
    assert "Task: regression of 'visits' by the Poisson loss, as asked for." in said
    ((name, (of_model, of_constant)),) = scores(out).items()
    assert name == "Poisson loss, 0 at best"
    assert 0 < of_model < 0.5 * of_constant
    visits[0] = -1
    path = write_csv(tmp_path / "t.csv", ["x", "noise", "visits"], np.column_stack([x, visits]))
    status, _, err, _ = run("--data", path, "--target", "visits", "--task", "counts")
    assert status == 2
    assert "holds -1, and counts are not negative; give --task regression." in err


def test_a_model_that_is_no_better_than_the_constant_is_said_to_be(run, tmp_path):
    rng = np.random.default_rng(0)
    path = write_csv(tmp_path / "t.csv", ["a", "b", "y"], rng.normal(size=(60, 3)).tolist())
    _, out, _, _ = run("--data", path, "--target", "y")
    error, of_constant = scores(out)["root mean squared error"]
    assert error > of_constant
    assert "As a whole the model is no better than the constant: its squared error is" in out


@pytest.mark.slow
def test_classes_by_code_are_told_apart_and_not_silently(run, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=90)
    rows = [[value, 1 + int(value > -0.4) + int(value > 0.4)] for value in x]
    path = write_csv(tmp_path / "t.csv", ["x", "kind"], rows)

    page = tmp_path / "page.html"
    status, out, _, _ = run("--data", path, "--target", "kind", "--report", str(page))
    assert status == 0
    assert "classification of 'kind', 3 classes, the largest '3'" in out
    assert "--task says otherwise" in page.read_text()
    assert "the training rows' shares of the classes for every row" in out
    of_model, of_constant = scores(out)["accuracy"]
    counts = np.bincount([row[1] for row in rows])
    assert of_constant == pytest.approx(counts.max() / counts.sum(), abs=0.02)
    assert of_model > 0.9
    of_model, of_constant = scores(out)["log-loss"]
    shares = counts[1:] / counts.sum()
    assert of_constant == pytest.approx(-(shares * np.log(shares)).sum(), abs=0.02)
    assert of_model < of_constant / 2

    status, out, _, _ = run("--data", path, "--target", "kind", "--positive", "3")
    assert status == 0
    assert "against the other 2 classes, as asked for." in out
    assert scores(out)["AUC"][0] > 0.9
    status, out, _, _ = run("--data", path, "--target", "kind", "--task", "regression")
    assert status == 0
    assert scores(out)["R^2"][0] > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("as_type", ["category", "object", "Int8"])
def test_a_parquet_file_with_several_classes(run, tmp_path, as_type):
    """It is fitted and judged as a text file of the same table is."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame([row[:3] for row in table(180)], columns=["x", "color", "noise"])
    frame["x"] = frame["x"].replace("NA", None).astype(float)
    in_binary = (frame["noise"].astype(float) * 64).round() / 64  # exact in text, too
    frame["noise"] = in_binary.astype("float32")
    part = frame["x"].fillna(0) + 2 * (frame["color"] == "red")
    kind = pandas.cut(part, [-9, 0, 1.5, 9], labels=[3, 1, 2] if as_type == "Int8" else [*"uvw"])
    frame["kind"] = kind.astype(as_type)
    frame["color"] = frame["color"].astype("category")
    frame.loc[7, "kind"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")

    status, of_text, _, folder = run("--data", tmp_path / "t.csv", "--target", "kind")
    expected = features(folder)
    other, of_parquet, err, folder = run("--data", tmp_path / "t.parquet", "--target", "kind")

    assert (status, other, err) == (0, 0, "")
    said = " ".join(of_parquet.split())
    assert "t.parquet: 180 rows, 4 columns (read as Parquet)." in said
    assert "classification of 'kind', 3 classes, the largest '" in said
    assert "1 without a target are left out" in said
    assert "Words are categories in 1 of 3 features" in said
    assert scores(of_parquet) == scores(of_text)
    assert scores(of_parquet)["accuracy"][0] > 0.8
    assert features(folder) == expected
    assert {row["feature"] for row in expected[:2]} == {"x", "color"}


@pytest.mark.slow
def test_columns_that_say_which_row_it_is_are_left_out_unless_kept(run, tmp_path):
    rows = [[k, f"K{k:03}", *row[:3], int(row[3])] for k, row in enumerate(table())]
    header = ["", "code", "x", "color", "noise", "bought"]
    path = write_csv(tmp_path / "t.csv", header, rows)
    command = ["--data", path, "--target", "bought"]

    _, out, _, folder = run(*command)
    said = out.replace("\n", " ")
    assert "Left out: Unnamed: 0 (no name); code (120 different words in 120 rows, such as" in said
    assert "The rule" not in said  # it stands on the page
    assert {row["feature"] for row in features(folder)} == {"x", "color", "noise"}

    _, out, _, folder = run(*command, "--keep", "code", "--drop", "noise")
    assert "Left out, as asked for: noise." in out
    assert {row["feature"] for row in features(folder)} == {"x", "color", "code"}


def test_a_file_from_a_spreadsheet_of_another_country(run, tmp_path):
    rows = [
        ";".join([x.replace(".", ","), "grün" if color == "red" else "rot", str(int(label))])
        for x, color, _, label, _ in table()
    ]
    path = tmp_path / "t.csv"
    path.write_bytes("\n".join(["größe;farbe;kauf", *rows]).encode("latin-1"))
    status, out, _, folder = run("--data", path, "--target", "kauf")
    assert status == 0
    assert "(read as Latin-1, semicolons)" in out
    assert "Latin-1 was assumed" in out
    assert "Decimal commas were read in: größe." in out
    assert {row["feature"] for row in features(folder)} == {"größe", "farbe"}


def test_a_full_disk_leaves_what_was_there_before(run, tmp_path, monkeypatch, capsys):
    def refuse(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    places = [tmp_path / "out" / name for name in ("features.csv", "used_useful.png")]
    places.append(tmp_path / "report.html")
    places[0].parent.mkdir()
    for place in places:
        place.write_text("of before")
    monkeypatch.setattr("os.fsync", refuse)
    assert run()[0] == 2
    assert main(["--report", str(places[-1])]) == 2
    assert "report.html (No space left on device); name another" in capsys.readouterr().err
    assert {place.read_text() for place in places} == {"of before"}
    assert len([*tmp_path.rglob("*")]) == 1 + len(places)


def test_names_that_a_spreadsheet_would_run_are_defused(run, tmp_path):
    rng = np.random.default_rng(0)
    names = ["=cmd|'/C calc'!A0", "+sum", "-x", "@x", "-1", "x"]
    columns = rng.normal(size=(60, 4)).tolist()
    rows = [[*row, row[0], i % 7, row[0]] for i, row in enumerate(columns)]  # =cmd is a twin
    path = write_csv(tmp_path / "t.csv", [*names, "y"], rows)
    _, _, _, folder = run("--data", path, "--target", "y")
    written = features(folder)
    assert {row["feature"] for row in written} == {*(f"'{n}" for n in names[:4]), "-1", "x"}
    assert {row["twin_of"] for row in written} <= {"", f"'{names[0]}", "-1"}


def test_without_matplotlib_there_is_no_picture(run, monkeypatch):
    monkeypatch.setattr("attributions.command.run.find_spec", lambda name: None)
    status, out, _, folder = run()
    assert status == 0
    assert "No picture" in out
    assert "pip install matplotlib" in out
    assert not (folder / "used_useful.png").exists()
    assert (folder / "features.csv").exists()


@pytest.mark.parametrize(
    ("header", "rows", "why"),
    [
        (["x", "y"], [["1", "a"], ["1", "b"], ["3", "c"]], "too few to have every class"),
        (["x", "y"], [["1", "5"], ["2", "5"]], "two classes, or numbers that differ"),
        (["x", "y"], [["1", ""], ["2", "NA"]], "two classes, or numbers that differ"),
        (["x", "y"], [["1", "0"], ["1", "1"], ["3", "0"]], "too few"),
        (["x", "y"], [["1", "0"], ["2", "1"], ["3", "0"]], "No column is left .* --keep NAME"),
        (["x", "z"], [["1", "2"]], "no column 'y'"),
        (["y"], [["1"], ["2"]], "no column beside the target"),
        (["x", "x", "y"], [["1", "2", "3"]], "two columns of the same name"),
        (["x", "y"], [["1", "2"], ["1"]], "Line 3 of .* has 1 cells"),
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


def test_results_do_not_overwrite_the_table(run, tmp_path):
    (tmp_path / "out").mkdir()
    path = write_csv(tmp_path / "out" / "features.csv", ["x", "y"], [["1", "2"], ["2", "3"]])
    before = path.read_bytes()
    status, _, err, _ = run("--data", path, "--target", "y")
    assert status == 2
    assert f"would overwrite {path}, which is read; name another place" in err
    assert path.read_bytes() == before


def test_a_file_that_is_not_there(run, tmp_path):
    write_csv(tmp_path / "houses.csv", ["x", "y"], [])
    status, _, err, _ = run("--data", tmp_path / "house.csv", "--target", "y")
    assert status == 2
    assert "did you mean 'houses.csv'?" in err
    status, _, err, _ = run("--data", tmp_path, "--target", "y")
    assert status == 2
    assert "is a folder; give one file of 'houses.csv'" in err


def test_without_a_target_the_columns_are_named(run, tmp_path):
    path = write_csv(tmp_path / "t.csv", ["size", "color"], [["1", "red"]])
    status, _, err, _ = run("--data", path)
    assert status == 2
    assert "Say with --target which column of" in err
    assert "it has 'size', 'color'." in err


def test_results_go_to_a_folder(tmp_path, capsys):
    """Where they cannot, this is said before anything is fitted."""
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "folder"):
        assert main(["--out", str(out)]) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert f"--out takes a folder, and {tmp_path / 'file'} is a file" in output.err
    assert main(["--out", str(tmp_path / "a" / "b")]) == 0
    assert (tmp_path / "a" / "b" / "features.csv").exists()


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


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--target", "y"], "--target is about a table; name its file with --data"),
        (["--positive", "y"], "--positive is about a table"),
        (["--keep", "y"], "--keep is about a table"),
        (["--drop", "y"], "--drop is about a table"),
        (
            ["--data", "t.csv", "--target", "y", "--task", "regression", "--positive", "a"],
            "does not go with --task regression",
        ),
        (["--seed", "-1"], "must not be negative"),
        (["--task", "sorting"], "invalid choice"),
        (["--data", "t.csv", "--groups", "a", "--no-groups"], "contradict each other"),
    ],
)
def test_options_that_do_not_fit(run, capsys, arguments, why):
    with pytest.raises(SystemExit, match="2"):
        run(*arguments)
    assert why in capsys.readouterr().err
