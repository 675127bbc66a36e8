"""``python -m attributions``: what it prints, writes and refuses."""

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attributions.command.run import main
from tests.attributions.command.tables import write_csv


def table_rows(text):
    """Return the printed lines that begin with a rank, cut into words."""
    lines = [line.split() for line in text.splitlines()]
    return [line for line in lines if line and line[0].isdigit()]


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
        assert (row[len(name) + 1] == "*") == (values["feature"] == "random numbers")
        assert row[-1] == values["total_gain_rank"]
        assert values["verdict"] in " ".join(row)

    (noise,) = (row for row in written if row["feature"] == "random numbers")
    places = noise["total_gain_rank"], written.index(noise) + 1
    sentence = "The random numbers have place {} of 11 by total gain, place {} by held-out gain."
    assert sentence.format(*places) in ran.out
    assert "Held-out gain in per cent of the constant model's squared error" in ran.said
    for name, begins in (("used_useful.png", b"\x89PNG"), ("features.csv", b"feature,")):
        assert (ran.folder / name).read_bytes().startswith(begins)
        assert str(ran.folder / name) in ran.out


def test_a_full_disk_leaves_what_was_there_before(run, quick, tmp_path, monkeypatch):
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


def test_names_that_a_spreadsheet_would_run_are_defused(run, quick, tmp_path):
    x = np.random.default_rng(0).normal(size=(60, 4))
    names = ["=cmd|'/C calc'!A0", "+sum", "-x", "@x", "-1", "x"]
    values = [*x.T, x[:, 0], np.arange(60) % 7, x[:, 0]]  # =cmd is a twin
    path = write_csv(tmp_path / "t.csv", dict(zip([*names, "y"], values, strict=True)))
    written = run("--data", path, "--target", "y").features
    assert {row["feature"] for row in written} == {*(f"'{n}" for n in names[:4]), "-1", "x"}
    assert {row["twin_of"] for row in written} <= {"", f"'{names[0]}", "-1"}


def test_without_matplotlib_there_is_no_picture_and_no_report_is_begun(
    run, quick, tmp_path, monkeypatch
):
    for module in ("run", "options"):
        monkeypatch.setattr(f"attributions.command.{module}.find_spec", lambda name: None)
    ran = run()
    assert ran.status == 0
    assert "No picture: Matplotlib is not installed (pip install matplotlib)" in ran.out
    assert [path.name for path in ran.folder.iterdir()] == ["features.csv"]
    ran = run("--report", tmp_path / "out.html")
    assert (ran.status, ran.out) == (2, "")
    assert "pip install matplotlib" in ran.err


def test_results_go_where_they_can_or_nothing_is_begun(run, quick, tmp_path):
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
        ("t.csv", "unrecognized: t.csv; a table is --data FILE --target NAME"),
    ],
)
def test_options_that_do_not_fit(capsys, arguments, why):
    with pytest.raises(SystemExit, match="2"):
        main(arguments.split())
    assert why in " ".join(capsys.readouterr().err.split())
