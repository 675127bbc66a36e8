"""The command line that studies share: where tables come from, what is said meanwhile, headers."""

import csv
import os
from dataclasses import replace

import pytest

from benchmarks.study import command, data, files
from benchmarks.study.finished import Finished
from benchmarks.study.part import Part


def study(experiment, needs=()):
    part = Part("only", ({"case": "a"},), experiment, 4, lambda rows: f"{len(rows)} rows", needs)
    return command.Study("nothing", "A study.", (part,))


def test_the_folder_of_data_may_be_given(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(data.FOLDER, str(tmp_path / "elsewhere"))
    (tmp_path / "table.csv.gz").touch()

    def experiment(cell, rng, size):
        yield {"folder": os.environ[data.FOLDER], "is there": data.is_there(["table"])}

    asked = study(experiment, needs=("table",))
    assert command.main(asked, ["--quick", "--jobs", "1"]) == 0
    assert "only is skipped: $GBT_DATA has not all of ('table',)" in capsys.readouterr().out
    assert command.main(asked, ["--quick", "--jobs", "1", "--data", str(tmp_path)]) == 0
    assert "only\n\n2 rows" in capsys.readouterr().out
    assert data.folder() == tmp_path


def test_a_folder_that_is_not_there_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        command.main(study(lambda *_: []), ["--quick", "--data", str(tmp_path / "none")])
    assert "none: there is no such folder" in capsys.readouterr().err


def test_a_part_may_keep_a_summary_alone(tmp_path, capsys):
    """The file and the table have it; the folder of finished replications has all rows."""
    part = Part(
        "only", ({"case": "a"},), lambda *_: [{"x": 2}], 3, lambda rows: f"{rows}",
        summary=lambda rows: [{"sum": sum(row["x"] for row in rows)}],
    )  # fmt: skip
    asked = command.Study("nothing", "A study.", (part,))
    assert command.main(asked, ["--jobs", "1", "--out", str(tmp_path)]) == 0
    assert "only\n\n[{'sum': 6}]" in capsys.readouterr().out
    assert len((tmp_path / "only.jsonl").read_text().splitlines()) == 1 + 3


def test_a_table_gets_numbers_as_the_file_has_them(tmp_path, capsys):
    """An experiment says how many digits are written."""
    asked = study(lambda *_: [{"seconds": "0.50", "rows": 3}])
    part = replace(asked.parts["only"], table=lambda rows: f"{[*rows[0].values()]}")
    asked = replace(asked, all_parts=(part,))
    assert command.main(asked, ["--jobs", "1", "--out", str(tmp_path)]) == 0
    assert "only\n\n['a', 0, 0.5, 3]\n" in capsys.readouterr().out


def test_files_are_read_with_and_without_a_header(tmp_path):
    path = tmp_path / "some.csv"
    files.write_rows(path, [{"name": "a, b", "n": 3, "x": 0.5}], "python -m this")
    assert path.read_text().startswith("# python -m this; seed")
    assert files.read_rows(path) == [{"name": "a, b", "n": 3, "x": 0.5}]
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    assert files.read_rows(path) == [{"name": "a, b", "n": 3, "x": 0.5}]
    assert [*csv.reader(files.without_header(["# made by this\n", "a,b\n"]))] == [["a", "b"]]


def test_a_table_goes_where_its_comments_are(tmp_path, monkeypatch):
    """In the page or in that of its long tables; one without a place is no table of the page."""
    monkeypatch.setattr(files, "DOCS", tmp_path)
    (tmp_path / "results").mkdir()
    page, long = tmp_path / "one.md", tmp_path / "results" / "one.md"
    page.write_text("A\n<!-- a: begin -->\n<!-- a: end -->\n")
    long.write_text("B\n<!-- b: begin -->\nold\n<!-- b: end -->\n")
    tables = {"a": "| 1 |", "b": "| 2 |"}
    assert not files.is_filled(tables, "one")
    files.fill(tables, "one")
    assert page.read_text() == "A\n<!-- a: begin -->\n| 1 |\n<!-- a: end -->\n"
    assert long.read_text() == "B\n<!-- b: begin -->\n| 2 |\n<!-- b: end -->\n"
    assert files.is_filled(tables, "one")
    assert not files.is_filled({"b": "| 3 |"}, "one")
    with pytest.raises(ValueError, match="c: begin"):
        files.fill({"c": ""}, "one")


def test_a_part_goes_on_from_its_csv_file(tmp_path, monkeypatch, capsys):
    """Of three replications of two cells, those of the file are not made again."""
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    made = []

    def experiment(cell, rng, size):
        made.append(cell["case"])
        yield {"x": 0.1, "word": "w"}

    cells = ({"case": "a", "size": 1}, {"case": "b", "size": 0.5})
    part = Part("only", cells, experiment, 3, lambda rows: f"{len(rows)} rows")
    asked = command.Study("nothing", "A study.", (part,))
    of_file = [{**cells[1], "replication": r, "x": 7.5, "word": "old"} for r in (0, 2)]
    asked.write({"only": of_file})
    arguments = ["--more", "--jobs", "1", "--out", str(tmp_path / "out")]
    assert command.main(asked, arguments) == 0
    assert sorted(made) == ["a", "a", "a", "b"]
    assert "6 rows" in capsys.readouterr().out
    kept = Finished(tmp_path / "out", part, "full").rows
    assert [kept[1, r][0]["x"] for r in range(3)] == [7.5, 0.1, 7.5]
    assert kept[1, 2] == [of_file[1]]


@pytest.mark.parametrize("other", ["header", "summary"])
def test_a_part_does_not_go_on_from_another_file(tmp_path, monkeypatch, capsys, other):
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    summary = {"summary": lambda rows: rows} if other == "summary" else {}
    part = Part("only", ({"case": "a"},), lambda *_: [{"x": 1}], 1, len, **summary)
    asked = command.Study("nothing", "A study.", (part,))
    files.write_rows(
        tmp_path / "nothing_only.csv", [{"case": "a", "replication": 0, "x": 2}],
        "python -m other" if other == "header" else asked.command,
    )  # fmt: skip
    with pytest.raises(SystemExit):
        command.main(asked, ["--more", "--out", str(tmp_path / "out")])
    expected = {"header": "begins with '# python -m other", "summary": "has sums"}[other]
    assert expected in capsys.readouterr().err
