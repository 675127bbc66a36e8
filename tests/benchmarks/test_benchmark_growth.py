"""Fitting exponents, adding up memory, judging claims, and the page against the file beside it."""

import importlib
import sys
import tracemalloc

import numpy as np
import pytest

from benchmarks.speed.growth import __main__ as growth
from benchmarks.speed.growth import first_call, fit_time, memory
from benchmarks.speed.growth.__main__ import PARTS
from benchmarks.speed.growth.plan import FULL, QUICK, Memory, data_of
from gbt.tables.columns import Columns
from tests.asserts import assert_close
from tests.trainer import growth_for

# ----------------------------------------------------------------------------------------- time


def test_exponent_of_a_power_law():
    sizes = np.array([1, 10, 100, 1000])
    assert_close(fit_time.exponent(sizes, 3.0 * sizes**1.5), 1.5, 10.0)
    assert_close(fit_time.exponent(sizes, 2.0 / sizes), -1.0, 10.0)


def test_exponent_is_that_of_the_upper_half():
    """Of 1 .. 1000 the upper half on the log scale begins at the root of 1000, 31.6."""
    sizes = np.array([1, 10, 31, 32, 100, 1000])
    assert fit_time.is_upper(sizes).tolist() == [False, False, False, True, True, True]
    flat_below = np.where(sizes > 31, sizes**2.0, 1000.0)
    assert_close(fit_time.upper_exponent(sizes, flat_below), 2.0, 10.0)
    assert 1.0 < fit_time.exponent(sizes, flat_below) < 1.9
    assert fit_time.is_upper(np.array([2, 4, 8])).tolist() == [False, True, True]  # its middle too


def test_exponent_by_hand():
    """Logs 0, 1, 2 of size and 0, 1, 4 of value: the slope through three points is (4 - 0) / 2."""
    sizes = np.array([2.0, 4.0, 8.0]) * 1e6
    values = 2.0 ** np.array([0, 1, 4])
    assert_close(fit_time.exponent(sizes, values), 2.0, 10.0)
    below = np.array([1e5, *sizes])  # the root of 1e5 * 8e6 is 0.9e6
    assert_close(fit_time.upper_exponent(below, np.array([50.0, *values])), 2.0, 10.0)


def times(exponent_of):
    """Return records of three repeats, of which the middle one follows power laws."""
    return [
        ("time", axis.name, size, repeat, quantity, factor * size ** exponent_of.get(axis.name, 0))
        for axis in FULL.axes
        for size in axis.sizes
        for repeat, factor in enumerate((0.1, 5.0, 0.03))
        for quantity in ("fit", "ranking")
    ]


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [(1.0, 0.5, [True, True]), (1.12, 1.0, [False, True]), (1.09, 1.2, [True, False])],
)
def test_claims_about_time(rows, columns, expected):
    claims = fit_time.time_claims(times({"rows": rows, "columns": columns}))
    assert [holds for _, holds in claims] == [expected[0]] * 2 + [expected[1]] * 2
    assert [words[-4:] for words, _ in claims] == [f"{rows:.2f}"] * 2 + [f"{columns:.2f}"] * 2
    assert [words.split(" time")[0] for words, _ in claims] == [
        "from 10,000 to 2,000,000 rows", "from 200,000 to 2,000,000 rows",
        "from 10 to 2,000 columns", "from 200 to 2,000 columns",
    ]  # fmt: skip


def test_where_time_grows_faster_only_large_sizes_fail():
    """Linear up to 100,000 rows, then with the power 1.15: 1.09 over all sizes."""
    records = [
        (*r[:5], r[5] * (max(r[2], 1e5) / 1e5) ** 0.15 if r[1] == "rows" else r[5])
        for r in times({"rows": 1.0})
    ]
    assert [holds for _, holds in fit_time.time_claims(records)][:2] == [True, False]


def test_table_of_times():
    table = fit_time.time_table(times({"rows": 1.0, "depth": 2.0, "threads": -1.0}))
    assert "| rows (20 columns, depth 6) | 10,000 | 20,000 |" in table
    assert "| fit, s | 1.00e+03 | 2.00e+03 |" in table  # the median factor is .1
    assert "Exponent from 200,000 to 2,000,000: **1.00**; over all sizes 1.00; of" in table
    assert "Exponent from 5 to 12: **2.00**" in table
    assert "2 threads are 2.00 times as fast as one." in table
    assert all(f"| {axis.name} (" in table for axis in FULL.axes)


def test_axes_change_one_size():
    for axis in (*FULL.axes, *QUICK.axes):
        for size, fit in axis.fits():
            changed = {name for name in vars(fit) if vars(fit)[name] != vars(axis.others)[name]}
            assert changed <= {axis.changes}
            assert vars(fit)[axis.changes] == size or axis.name == "distinct values"
    *_, (size, fit) = next(a for a in FULL.axes if a.name == "distinct values").fits()
    assert (size, fit.n_distinct) == (50_000, None)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_data(dtype):
    X, y = data_of(5_000, 7, dtype)
    assert (X.shape, X.dtype, y.dtype) == ((5_000, 7), np.dtype(dtype), np.dtype(float))
    signal = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1]
    noise = y - signal
    assert abs(noise.std() - 1) < 0.05  # five standard errors of 5,000 rows
    assert abs(np.corrcoef(noise, signal)[0, 1]) < 0.07
    levels, _ = data_of(5_000, 7, dtype, n_distinct=9)
    assert [len(np.unique(column)) for column in levels.T] == [9] * 7
    assert (np.abs(levels.std(axis=0) - np.sqrt(1.25)) < 0.05).all()  # (d + 1) / (d - 1) = 1.25


def test_wrong_trees_are_not_timed(monkeypatch):
    fit_time.verify()
    boost = fit_time.reference.boost
    monkeypatch.setattr(
        fit_time.reference, "boost", lambda *a, **kw: boost(*a, **kw | {"max_depth": 2})
    )
    with pytest.raises(SystemExit, match="nothing timed"):
        fit_time.measure_time(QUICK)


# --------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize("is_logistic", [False, True])
@pytest.mark.parametrize("n_columns", [3, 8, 17])
def test_parts_are_the_sizes_of_the_arrays(n_columns, is_logistic):
    X, _ = data_of(4_000, n_columns)
    columns = Columns.from_table(X, n_jobs=1)
    hessian = np.ones(4_000) / (np.arange(4_000) + 1 if is_logistic else 1)
    grown = growth_for(columns, np.zeros(4_000), hessian, max_depth=3)
    parts = memory.bytes_by_part(4_000, n_columns, 3, n_threads=1, is_logistic=is_logistic)
    assert parts["entries"] == grown.rows.entries.nbytes
    assert parts["codes"] == columns.codes.nbytes
    assert parts["order"] == columns.order.nbytes
    assert parts["packed bins"] == columns.packed_bins.nbytes
    of_bins = columns.bin_start.nbytes + columns.first_code.nbytes
    assert parts["where bins start and with which code"] == of_bins
    assert parts["scratch"] == grown.searching.scratch.nbytes
    # A thread's and four nodes', of all that are there; columns have at most so many bins.
    assert len(grown.slots.histogram) > 5
    assert 0.95 < 5 * grown.slots.histogram[0].nbytes / parts["histograms"] <= 1


def peak_of_fit(case, n_rows):
    X, y = case.data(n_rows, 16)
    model = case.estimator.set_params(n_jobs=1)
    model.fit(X[:100], y[:100])
    tracemalloc.start()
    try:
        model.fit(X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("is_logistic", [False, True])
def test_parts_add_up_to_what_a_fit_allocates(is_logistic):
    """By how much the peak grows with the rows; Python's own objects do not grow with them."""
    case, sizes = Memory(0, 16, is_logistic=is_logistic, max_depth=1), (20_000, 40_000)
    calculated = [sum(memory.bytes_by_part(n, 16, 1, 1, is_logistic).values()) for n in sizes]
    peaks = [peak_of_fit(case, n) for n in sizes]
    share = np.diff(peaks).item() / np.diff(calculated).item()
    assert 0.8 < share <= 1.005  # no array is forgotten, few are counted that are not there


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="compares two sources of Linux")
def test_peak_is_in_bytes():
    resource = importlib.import_module("resource")  # not there on all systems
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert 1e7 < memory.peak_so_far() <= 1024 * 1.01 * kilobytes


def weights(multiple):
    """Return records of one case whose fit takes a multiple of 10 MB beyond the input."""
    peaks = {"interpreter": 100e6, "data": 115e6, "fit": 115e6 + multiple * 10e6}
    calculated = {"calculated: codes": 10e6, "calculated: order": 15e6}
    quantities = peaks | {"float32 size": 10e6} | calculated
    return [("memory", "a table", 0, 0, quantity, quantities[quantity]) for quantity in quantities]


def test_claims_about_memory():
    for multiple, expected in ((3.4, True), (3.6, False)):
        ((words, holds),) = memory.memory_claims(weights(multiple))
        assert holds is expected
        assert words.endswith(f": {multiple:.2f}")


def test_table_of_memory():
    table = memory.memory_table(weights(3.0))
    assert "| a table | 10.0 | 30.0 | **3.00** | 25.0 | 2.50 | 45.0 |" in table
    assert "| order | 15.0 |" in table


# ----------------------------------------------------------------------------------- first call


def calls(**seconds):
    return [
        ("first-call", series, 0, repeat, "seconds", value)
        for series in seconds
        for repeat, value in enumerate(seconds[series])
    ]


def test_claims_about_first_calls():
    found = {"import": [0.05, 9.0, 0.05], "fit empty": [29.0], "shap empty": [35.0, 1.0, 35.0]}
    claims = first_call.first_call_claims(calls(**found))
    assert [holds for _, holds in claims] == [True, False, True]  # a lucky run does not count
    table = first_call.first_call_table(calls(**found))
    assert "| a default fit | 29.0 (29.0 to 29.0) |" in table
    assert "wheel" not in table


# -------------------------------------------------------------------------------- files and page


@pytest.mark.slow
def test_the_command_from_end_to_end(tmp_path, capsys):
    assert growth.main(["--quick", "--out", str(tmp_path / "picture.svg")]) == 0
    printed = capsys.readouterr().out
    for part in PARTS:
        assert f"## {part}\n" in printed
        assert f"python -m benchmarks.speed.growth {part} --write; seed 0;" in printed
    assert printed.count("* Claim: ") == 4 + len(QUICK.memory) + 1  # kernels are not compiled anew
    assert f"| {QUICK.memory[0].name} |" in printed
    assert "All claims hold: " in printed
    assert (tmp_path / "picture.svg").stat().st_size < 50_000
    with pytest.raises(SystemExit):
        growth.main(["--quick", "--write"])


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Let the command write into a folder, with made-up measurements."""
    for name, file in (("PAGE", "page.md"), ("RESULTS", "r.csv"), ("PICTURE", "picture.svg")):
        monkeypatch.setattr(growth, name, tmp_path / file)
    page = "".join(f"a\n<!-- {p}: begin -->\nold\n<!-- {p}: end -->\nb\n" for p in PARTS)
    growth.PAGE.write_text(page)
    made_up = {
        "time": times({"rows": 1.0, "columns": 0.9}),
        "memory": weights(3.0),
        "first-call": calls(**{"import": [0.01], "libraries": [1.0], "fit filled": [1.0 + 1 / 3]}),
    }

    def measure(part, records):
        _, table, claims = PARTS[part]
        monkeypatch.setitem(growth.PARTS, part, (lambda plan: records, table, claims))

    for part, records in made_up.items():
        measure(part, records)
    return measure


@pytest.mark.slow
def test_everything_is_written(files, tmp_path):
    assert growth.main(["--write"]) == 0
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert growth.main(["--write", "--from-results"]) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == written

    page = growth.PAGE.read_text()
    assert "old" not in page
    assert page.count("a\n<!--") == page.count("-->\nb\n") == 3
    assert "![Time over rows, columns, values, depth, threads](picture.svg)" in page
    assert page.count("**True**") == 6
    lines = growth.RESULTS.read_text().splitlines()
    assert [line.split(";")[0] for line in lines[:3]] == [
        f"# python -m benchmarks.speed.growth {part} --write" for part in PARTS
    ]
    assert lines[-1] == "first-call,fit filled,0,0,seconds,1.33333"


@pytest.mark.slow
def test_one_part_leaves_the_others(files):
    growth.main(["time", "--write"])
    page = growth.PAGE.read_text()
    assert page.count("old") == 2
    growth.main(["memory", "--write"])
    assert growth.PAGE.read_text().count("old") == 1
    times_before, said = growth.read_csv(growth.RESULTS)
    files("memory", weights(4.0))
    assert growth.main(["memory", "--write"]) == 1  # the claim is false now
    assert growth.PAGE.read_text().count("**False**") == 1
    records, said_now = growth.read_csv(growth.RESULTS)
    assert said_now == said
    assert list(said) == ["time", "memory"]
    assert [r for r in records if r[0] == "time"] == [r for r in times_before if r[0] == "time"]
    assert [r[-1] for r in records if r[4] == "fit" and r[0] == "memory"] == [155e6]


def test_without_write_nothing_is_written(files, tmp_path):
    growth.main([])
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
    assert growth.PAGE.read_text().count("old") == 3


def test_the_page_shows_the_numbers_of_the_file():
    page = growth.PAGE.read_text()
    records, said = growth.read_csv(growth.RESULTS)
    assert growth.insert_sections(page, records, said) == page
    for part in PARTS:
        assert (part in said) != (f"benchmarks.speed.growth {part} --write` puts" in page)


def test_names_of_cases_differ():
    names = [case.name for case in FULL.memory]
    assert len(set(names)) == len(names)
    assert Memory(2_000_000, 10).name == "2,000,000 x 10 float32"
