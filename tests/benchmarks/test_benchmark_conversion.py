"""The benchmark of conversions verifies predictions before it times, and writes what it prints."""

import pytest

from benchmarks.speed import conversion
from benchmarks.study.files import RESULTS, read_rows
from tests.asserts import peer


@pytest.fixture
def few_rows(monkeypatch):
    for library in ("xgboost", "lightgbm", "catboost"):
        peer(library)
    monkeypatch.setattr(conversion, "N_ROWS", 300)


@pytest.mark.slow
def test_every_library_has_a_row(few_rows, monkeypatch, tmp_path, capsys):
    path = tmp_path / "conversion.csv"
    asked = ["conversion", "--trees", "3", "--repeats", "1", "--out", str(path)]
    monkeypatch.setattr("sys.argv", asked)
    assert conversion.main() == 0
    assert path.read_text().startswith("# python -m benchmarks.speed.conversion --out")
    rows = read_rows(path)
    assert [row["library"] for row in rows] == list(conversion.LIBRARIES)
    assert all(row["trees"] == 3 and row["nodes"] > 9 for row in rows)
    assert capsys.readouterr().out.count("\n") == len(rows)


def test_other_predictions_are_not_timed(few_rows, monkeypatch):
    def wrong(model):
        ensemble = conversion_of(model)
        return type("Wrong", (), {"raw_predict": lambda _, X: ensemble.raw_predict(X) + 1e-9})()

    conversion_of = conversion.as_ensemble
    monkeypatch.setattr(conversion, "as_ensemble", wrong)
    with pytest.raises(SystemExit, match=r"CatBoost: predictions differ by .*; nothing timed"):
        conversion.measure("CatBoost", 2, 1)


def test_the_committed_table_is_of_whole_models():
    rows = read_rows(RESULTS / "conversion.csv")
    assert {row["library"] for row in rows} == {*conversion.LIBRARIES}
    assert {row["trees"] for row in rows} == {500}
    assert max(row["difference"] for row in rows) < 1e-5
