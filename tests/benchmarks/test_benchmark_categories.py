"""The table of categories beside other libraries: that of the file, made as the page says."""

import csv

import pytest

from benchmarks.speed import categories
from benchmarks.speed.categories import FIELDS, METHODS, OUT, PAGE, read_lines, report
from benchmarks.study.files import page_with


def test_the_page_has_the_table_of_the_file():
    page = PAGE.read_text()
    assert page_with({"libraries": report(OUT)}, page, PAGE.name) == page


def test_all_methods_have_all_splits_of_all_tables():
    lines = read_lines(OUT)
    done = {(line["table"], line["split"], line["method"]) for line in lines}
    tables, splits = ({line[name] for line in lines} for name in ("table", "split"))
    assert len(done) == len(lines) == len(tables) * len(splits) * len(METHODS)


def test_the_table_by_hand(tmp_path):
    """Two tables of classes, one of numbers; split 1 of b is left out: one method lacks it."""
    path = tmp_path / "few.csv"
    scores = {
        ("a", 0): (0.5, 0.7),
        ("a", 1): (0.7, 0.9),
        ("b", 0): (0.6, 0.6),
        ("c", 0): (2.0, 8.0),
    }
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for (table, split), pair in {**scores, ("b", 1): (0.9,)}.items():
            task = "RMSE" if table == "c" else "AUC"
            for method, score in zip(("greedy", "unbiased"), pair, strict=False):
                cells = (table, task, 9, 5, split, method, score, 1.0)
                writer.writerow(dict(zip(FIELDS, cells, strict=True)))
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in report(path).splitlines()]
    assert cells[0] == ["table", "largest number of levels", "greedy", "unbiased"]
    assert cells[2:] == [
        ["a (AUC)", "5", "0.6000", "0.8000"],
        ["b (AUC)", "5", "0.6000", "0.6000"],
        ["c (RMSE)", "5", "2.0000", "8.0000"],
        ["**mean AUC**", "", "**0.6000**", "**0.7000**"],
        ["**geometric mean RMSE**", "", "**2.0000**", "**8.0000**"],
    ]


def test_without_a_folder_of_data_nothing_runs(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["categories"])
    with pytest.raises(SystemExit):
        categories.main()
    assert "--data FOLDER is needed" in capsys.readouterr().err
