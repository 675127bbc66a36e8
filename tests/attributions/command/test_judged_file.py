"""A saved model is judged on Arrow and Parquet files, a batch at a time."""

import datetime
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow
import pytest
from pyarrow import feather, parquet

from attributions import held_out_gain
from attributions.command import unusable
from attributions.command.judging.of_model import Reader
from attributions.command.table import file
from attributions.command.table.file import open_batches, read_table
from attributions.command.unusable import UnusableTableError
from gbt import GBTClassifier, GBTRegressor
from tests.asserts import assert_close, assert_same
from tests.greedy import GreedyRegressor

N = 700


def frame_of(n=N, seed=0):
    """Return columns of many types, some cells missing, and a target of numbers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "single": rng.normal(size=n).astype(np.float32),
            "count": pd.array(rng.integers(5, size=n), dtype="Int64"),
            "city": rng.choice(["Bath", "Cork", "Oslo"], n),
            "kind": pd.Categorical(rng.choice(["a", "b"], n)),
            "text": rng.integers(9, size=n).astype(str),
        }
    )
    frame["amount"] = frame["size"] + (frame.city == "Oslo") + rng.normal(size=n)
    frame.loc[rng.random(n) < 0.1, ["size", "count", "city"]] = None
    return frame


FEATURES = ["size", "single", "count", "city", "kind", "text"]


def as_fitted(frame):
    """Return the features as the model takes them in Python: digits as numbers."""
    return frame[FEATURES].assign(text=frame.text.astype(float))


def write(frame, path):
    """Write an Arrow or Parquet file in groups of rows that no batch ends with."""
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    if path.suffix == ".arrow":
        feather.write_feather(table, path, chunksize=130, compression="uncompressed")
    else:
        parquet.write_table(table, path, row_group_size=130)
    return path


@pytest.fixture(params=["file.parquet", "file.arrow"])
def path(request, tmp_path):
    return tmp_path / request.param


@pytest.fixture
def small_batches(monkeypatch):
    """Let batches of 6 columns have 100 rows, and more targets than the sums of batches keep."""
    monkeypatch.setattr(file, "LEAST_ROWS", 1)
    monkeypatch.setattr(file, "CELLS_AT_ONCE", 600)
    monkeypatch.setattr("attributions.held_out.constant_loss.MOST_DISTINCT", 50)


def gains(ran, features=tuple(FEATURES)):
    """Return the held-out gains that were written, with their errors, in the order of columns."""
    rows = {row["feature"]: row for row in ran.features}
    names = ("held_out_gain_percent", "standard_error")
    return np.array([[float(rows[feature][name]) for name in names] for feature in features]).T


@pytest.mark.slow
@pytest.mark.parametrize("labels", [None, ["low", "high"], ["a", "m", "z"]])
def test_batches_give_what_the_whole_table_gives(labels, run, path, tmp_path, small_batches):
    train, new = frame_of(seed=1), frame_of()
    estimator = GBTRegressor
    if labels:
        estimator, cuts = GBTClassifier, [-1, 1] if len(labels) > 2 else [0]
        for frame in (train, new):
            frame["amount"] = np.array(labels)[np.digitize(frame.amount, cuts)]
    model = estimator(n_estimators=9, max_depth=3, splitter="greedy")
    model.fit(as_fitted(train), train.amount).save(tmp_path / "model.json")
    new.loc[5:20, "amount"] = None
    asked = ("--target", "amount", "--model", tmp_path / "model.json")
    ran = run("--data", write(new, path), *asked)

    assert (ran.status, ran.err) == (0, "")
    assert f"{path.name}: 700 rows, 7 columns (read as" in ran.out
    assert "684 with a target" in ran.said
    judged = new.dropna(subset="amount")
    whole = held_out_gain(model, as_fitted(judged), judged.amount.to_numpy())
    written, errors = gains(ran)
    scale = 1e3 * np.abs(whole.percent()).max()
    assert_close(written, whole.percent(), scale)
    assert_close(errors, whole.percent_of_one * whole.standard_error, scale)
    y, loss = judged.amount.to_numpy(), model.ensemble_.loss
    y = np.searchsorted(model.classes_, y).astype(float) if labels else y.astype(float)
    constant = np.broadcast_to(best := loss.best_constant(y, np.ones(1)), (len(y), *np.shape(best)))
    raw = model.ensemble_.raw_predict(as_fitted(judged))
    is_worse = loss.value(y, raw).sum() >= loss.value(y, constant).sum()
    assert ("no better than the constant" in ran.out) == is_worse


def test_a_table_of_text_is_judged_as_well(run, tmp_path):
    """And so is a column of which a third of the cells hold a level that is not known."""
    train, new = frame_of(seed=1), frame_of()
    new["city"] = new.city.replace("Oslo", "OSLO")
    model = GreedyRegressor(n_estimators=5).fit(as_fitted(train), train.amount)
    model.save(tmp_path / "m.json")
    new.to_csv(tmp_path / "new.csv", index=False)
    paths = tmp_path / "new.csv", *(write(new, tmp_path / f"new.{t}") for t in ("parquet", "arrow"))
    asked = ("--target", "amount", "--model", tmp_path / "m.json")
    of_text, *of_batches = (run("--data", path, *asked) for path in paths)
    for ran in (of_text, *of_batches):
        assert_close(gains(ran), gains(of_batches[0]), 1e4)
        assert "that the model has not learned: city. To it" in ran.said


def reader_of(names, levels, is_missing=True):
    """Return a reader of what a model of these levels takes."""
    return Reader(SimpleNamespace(categories=levels, unseen_is_missing=is_missing), names)


def test_levels_are_looked_up_as_they_are_written_and_then_as_numbers():
    levels = ("007", "1E5", "2.50", "7", "A12", "nan")
    cells = ["007", "1E5", "2.50", "7", "7.0", "0007", "A12", "2.5", "x", "nan", None]
    found = [0, 1, 2, 3, 3, 3, 4, np.inf, np.inf, np.nan, np.nan]
    for column in (pd.Series(cells), pd.Series(pd.Categorical(cells))):
        reader = reader_of(["code"], [levels], is_missing=False)
        assert_same(reader.rows([column])[:, 0], found)
        assert (reader.n_known[0], reader.n_unseen[0]) == (9, 2)


def test_no_batch_is_larger_than_asked_for(path, small_batches):
    opened = open_batches(write(frame_of(), path))
    lengths = [len(columns[0]) for columns in opened.batches(FEATURES)]
    assert sum(lengths) == N
    assert max(lengths) <= 100
    kind, size = next(iter(opened.batches(["kind", "size"])))
    assert sorted(kind.cat.categories) == ["a", "b"]
    assert size.dtype == np.float64


def test_cells_of_every_type_by_hand(tmp_path):
    path = tmp_path / "file.parquet"
    day, decimal = datetime.date(1970, 1, 3), pyarrow.decimal128(4, 1)
    columns = {
        "whole": (pyarrow.array([1, None, 3]), None, [1, np.nan, 3]),
        "infinite": (pyarrow.array([1.5, np.inf, None]), None, [1.5, np.nan, np.nan]),
        "decimal": (pyarrow.array([Decimal(1), None, None], decimal), None, [1, np.nan, np.nan]),
        "is": (pyarrow.array([True, None, False]), None, [1, np.nan, 0]),
        "day": (pyarrow.array([day, None, day]), None, [172800, np.nan, 172800]),
        "written": (pyarrow.array([day, None, day]), ("1970-01-03",), [0, np.nan, 0]),
        "digits": (pyarrow.array([" 1.5", "?", "x"]), None, [1.5, np.nan, np.nan]),
        "word": (pyarrow.array(["b", None, "c"]), ("a", "b"), [1, np.nan, np.nan]),
        "code": (pyarrow.array([7, 5, None]), (5, 7), [1, 0, np.nan]),
        "float": (pyarrow.array([7.0, 5.0, None]), (5, 7), [1, 0, np.nan]),
        "flag": (pyarrow.array([True, None, False]), (False, True), [1, np.nan, 0]),
        "level": (pyarrow.array(["b", None, "a"]).dictionary_encode(), ("a", "b"), [1, np.nan, 0]),
    }
    arrays, levels, expected = zip(*columns.values(), strict=True)
    parquet.write_table(pyarrow.table(dict(zip(columns, arrays, strict=True))), path)
    opened = open_batches(path)
    reader = reader_of([*columns], levels)
    assert_same(reader.rows(next(opened.batches(columns))), np.transpose(expected).astype(float))
    counts = dict(zip(columns, zip(reader.n_known, reader.n_strays, strict=True), strict=True))
    assert counts["infinite"] == (2, 1)
    assert counts["digits"] == (2, 1)


def test_what_is_refused(run, path, tmp_path):
    train = frame_of()
    GreedyRegressor(n_estimators=2).fit(as_fitted(train), train.amount).save(tmp_path / "m.json")

    def refused(message, frame=train, target="amount"):
        asked = ("--data", write(frame, path), "--target", target, "--model", tmp_path / "m.json")
        ran = run(*asked)
        assert ran.status == 2
        assert message in ran.err

    refused("has no column 'amuont'; did you mean 'amount'", target="amuont")
    refused("the table has no column for 'size'", train.drop(columns="size"))
    refused("holds one value alone", train.assign(amount=[1.0, *[None] * (N - 1)]))
    refused("these columns hold words: 'size'", train.assign(size="big"))
    path.write_bytes(write(train, path).read_bytes()[:200])
    ran = run("--data", path, "--target", "amount", "--model", tmp_path / "m.json")
    assert ran.status == 2
    assert "cannot be read: " in ran.err


def test_what_does_not_fit_into_memory_says_so(path, monkeypatch):
    monkeypatch.setattr(unusable, "_memory_of_machine", lambda: 100_000)
    with pytest.raises(UnusableTableError, match=r"700 rows and 7 columns.*in batches, by --model"):
        read_table(write(frame_of(), path))
    monkeypatch.setattr(unusable, "_memory_of_machine", lambda: None)
    assert len(read_table(path).columns) == 7
