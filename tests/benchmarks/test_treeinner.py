"""The paper's experiments: scores of one model from their definitions, and the command."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from attributions import permutation, predecomp, tree_shap
from benchmarks.papers.treeinner import methods, report, runs
from benchmarks.papers.treeinner.__main__ import NO_CHIP, main
from benchmarks.papers.treeinner.methods import CELLS, Cell
from benchmarks.papers.treeinner.paper import PUBLISHED, RISK
from benchmarks.papers.treeinner.protocol import STANDARD, TASKS, Protocol, fit, scaled_chip
from benchmarks.study.files import is_filled
from gbt import Ensemble
from tests.asserts import assert_close, assert_same

CHIP_R = TASKS[1]
TINY = Protocol(shrink=100)  # 4 trees, 200 rows


def test_all_56_published_cells_are_there():
    assert len(CELLS) == len(set(CELLS)) == 14
    assert PUBLISHED.keys() == {(task, cell) for task in TASKS for cell in (*CELLS, RISK)}
    for (task, cell), published in PUBLISHED.items():
        if cell != RISK:
            assert 0.2 < published.mean < 1
            assert 0.05 < published.deviation < 0.21
            assert abs(published.re_run - published.mean) < 0.11, (task, cell)
    # Typed from notes/treeinner.md once more, one cell a column.
    held_out = Cell("TreeInner", "valid", "TreeSHAP")
    typed = [(0.8756, 0.1021, 0.9119), (0.9528, 0.0734, 0.9696)]
    typed += [(0.7520, 0.1541, 0.7644), (0.6496, 0.1015, 0.6320)]
    found = [PUBLISHED[task, held_out] for task in TASKS]
    assert [(c.mean, c.deviation, c.re_run) for c in found] == typed
    assert PUBLISHED[TASKS[3], RISK].mean == 6.8457


def write_chip(folder, n_rows=60, suffix=".csv.gz"):
    """Write two files in the format of the ChIP data; return the features of both."""
    rng = np.random.default_rng(7)
    parts = []
    for part in ("chip_train", "chip_valid"):
        rows = rng.integers(0, 9, size=(n_rows, 80)).astype(float)
        rows[:, 3] = 2.0  # a constant column
        rows *= len(parts) + 1  # held-out rows beyond the extremes of the training rows
        lines = [[f"x{k:02}" for k in range(80)] + ["enhancer"]]
        lines += [[*row, 1] for row in rows.tolist()]
        opener = gzip.open if suffix.endswith(".gz") else open
        with opener(folder / f"{part}{suffix}", "wt", newline="") as file:
            csv.writer(file).writerows(lines)
        parts.append(rows)
    return parts


@pytest.fixture
def chip_folder(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    write_chip(folder)
    yield folder
    scaled_chip.cache_clear()


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_noisy_columns_are_shuffled_and_relevant_ones_are_not(tmp_path, suffix):
    train, valid = write_chip(tmp_path, suffix=suffix)
    low, high = train.min(axis=0), train.max(axis=0)
    span = np.where(high > low, high - low, 1)
    drawn = Protocol(folder=tmp_path).draw(CHIP_R, 0)
    assert drawn.is_relevant.sum() == 5
    for rows, X in ((train, drawn.X_train), (valid, drawn.X_valid)):
        scaled = (rows - low) / span
        assert_same(np.sort(X, axis=0), np.sort(scaled, axis=0))
        moved = (scaled != X).any(axis=0)
        moved[3] = not drawn.is_relevant[3]
        assert_same(moved, ~drawn.is_relevant)
    scaled_chip.cache_clear()


@pytest.mark.parametrize("level", ["tree", "forest"])
def test_every_line_of_table_4_is_what_it_says(level):
    data = TINY.draw(TASKS[3], 0)
    model = fit(TASKS[3], STANDARD, 4, data.X_train, data.y_train)
    seeds = {"train": 5, "valid": 6}
    clock = methods.Clock()
    found = methods.scores_of_table_4(model.ensemble_, data, seeds, level, clock)
    assert set(found) == set(CELLS)
    train, valid = (data.X_train, data.y_train), (data.X_valid, data.y_valid)
    for rows, (X, y) in (("train", train), ("valid", valid)):
        residual = y - model.ensemble_.base_score
        by_tree = {"PreDecomp": [], "TreeSHAP": []}
        for tree in model.ensemble_.trees:
            alone = Ensemble.from_trees([tree], **others_of(model.ensemble_))
            for attribution, function in (("PreDecomp", predecomp), ("TreeSHAP", tree_shap)):
                by_tree[attribution].append((function(alone, X).values, residual))
            residual = residual - alone.raw_predict(X)
        for attribution, pairs in by_tree.items():
            contributions = np.array([r for r, _ in pairs])
            residuals = np.array([g for _, g in pairs])
            forest = contributions.sum(axis=0)
            moved = contributions if level == "tree" else forest[np.newaxis]
            inner = contributions * residuals[:, :, np.newaxis] / 0.01
            outer = forest * residuals.sum(axis=0)[:, np.newaxis] / 0.01
            outer_terms = np.abs(contributions).sum(axis=0).T @ np.abs(residuals).sum(axis=0) / 0.01
            for score, expected, terms in (
                ("TreeInner", inner.sum(axis=(0, 1)), np.abs(inner).sum(axis=(0, 1))),
                ("ForestInner", outer.sum(axis=0), outer_terms),
                ("Abs", np.abs(moved).sum(axis=(0, 1)), np.abs(contributions).sum(axis=(0, 1))),
            ):
                assert_close(found[Cell(score, rows, attribution)], expected, terms)
            if (rows, attribution) == ("train", "PreDecomp"):  # Proposition 3
                gain = model.ensemble_.total_gain()
                assert_close(found[methods.GAIN], gain, np.abs(inner).sum(axis=(0, 1)))
        with methods.training_rows_are_meant():
            shuffled = permutation(model, X, y, n_repeats=1, random_state=seeds[rows])
        assert_same(found[Cell("Permutation", rows, "-")], shuffled.values)


def others_of(ensemble):
    names = ("learning_rate", "reg_lambda", "loss", "feature_names")
    return {name: getattr(ensemble, name) for name in names} | {"base_score": 0.0}


def run_command(*arguments):
    return main([*map(str, arguments), "--quick", "--replications", "2", "--jobs", "1"])


def csv_files(folder):
    return {path.name: path.read_text() for path in sorted(Path(folder).glob("*.csv"))}


@pytest.mark.slow
def test_table_4_without_and_with_chip(tmp_path, chip_folder, capsys, monkeypatch):
    monkeypatch.delenv("GBT_DATA", raising=False)
    out = tmp_path / "out"
    assert run_command("table4", "--out", out) == 0
    printed, errors = capsys.readouterr()
    assert NO_CHIP in printed
    assert NO_CHIP in errors
    assert "4/4 models" in errors
    alone = csv_files(out)
    assert set(alone) == {"table4.csv", "table4_models.csv", "table4_tests.csv", "claims.csv"}
    assert "ChIP c" not in alone["table4.csv"]
    header, names, *lines = alone["table4.csv"].splitlines()
    assert header.startswith(
        "# python -m benchmarks.papers.treeinner table4 --quick --protocol code"
    )
    assert "; seed 2022; " in header
    assert names == "data,task,relevant_of,replication,score,rows,attribution,auc,noisy,relevant"
    assert len(lines) == 2 * 2 * 17

    monkeypatch.setenv("GBT_DATA", str(chip_folder))
    assert run_command("table4", "--out", out, "--resume") == 0
    printed, errors = capsys.readouterr()
    assert NO_CHIP not in printed
    assert "4/4 models" in errors  # those of ChIP alone
    both = csv_files(out)
    lines = both["table4.csv"].splitlines()[2:]
    assert len(lines) == 4 * 2 * 17
    assert alone["table4.csv"].splitlines()[2:] == lines[2 * 2 * 17 :]


@pytest.mark.slow
def test_an_interrupted_run_goes_on_to_the_same_files(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("GBT_DATA", raising=False)
    assert run_command("table4", "--out", tmp_path / "whole") == 0
    run, n_left = runs.Piece.run, [3]

    def interrupted(piece, protocol):
        n_left[0] -= 1
        if n_left[0] < 0:
            raise KeyboardInterrupt
        return run(piece, protocol)

    monkeypatch.setattr(runs.Piece, "run", interrupted)
    assert run_command("table4", "--out", tmp_path / "parts") == 130
    assert "3 of 4 results are kept" in capsys.readouterr().err
    monkeypatch.setattr(runs.Piece, "run", run)
    with pytest.raises(SystemExit):
        run_command("table4", "--out", tmp_path / "parts")
    assert "Add --resume" in capsys.readouterr().err
    assert run_command("table4", "--out", tmp_path / "parts", "--resume") == 0
    assert "1/1 models" in capsys.readouterr().err
    assert csv_files(tmp_path / "parts") == csv_files(tmp_path / "whole")
    with pytest.raises(SystemExit):
        run_command("table4", "--out", tmp_path / "parts", "--resume", "--protocol", "text")
    assert "protocol was code and is text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table4", "--replications", "1"], "at least 2"),
        (["table4", "--jobs", "0"], "at least 1"),
        (["sweep", "gamma"], "invalid choice"),
        (["table4", "--data", "nowhere"], "neither chip_train.csv nor chip_train.csv.gz"),
        (["all", "--write", "--quick"], "full run"),
    ],
)
def test_what_cannot_be_run_is_said(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_the_page_says_what_the_files_say():
    assert is_filled(report.read_committed().sections(), report.PAGE)
