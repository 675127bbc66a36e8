"""A file becomes named columns of cells, whatever kind of file its content says it is."""

import datetime
import gzip

import numpy as np
import polars
import pytest

from attributions.command.table import arrow
from attributions.command.table.columns import column_of
from attributions.command.table.file import read_table
from attributions.command.table.unusable import UnusableTableError, listed, nearest
from tests.asserts import assert_same

COLUMNS = {"name": ["Ann", "Bo"], "size": ["1.5", ""]}
CSV = b"name,size\nAnn,1.5\nBo,\n"


def cells_of(table):
    """Return the cells of each column of text, as the file has them."""
    return {name: [cells.texts[k] for k in cells.values] for name, cells in table.cells.items()}


@pytest.fixture
def read(tmp_path):
    """Read a file of the given bytes, under a name that says nothing."""

    def read(content):
        path = tmp_path / "file"
        path.write_bytes(content)
        return read_table(path)

    return read


@pytest.mark.parametrize(
    ("content", "read_as"),
    [
        (CSV, "UTF-8, commas"),
        (CSV.replace(b",", b";"), "UTF-8, semicolons"),
        (CSV.replace(b",", b"\t"), "UTF-8, tabs"),
        (CSV.replace(b",", b"|"), "UTF-8, bars"),
        (CSV.replace(b"\n", b"\r\n"), "UTF-8, commas"),
        (CSV.replace(b",", b" , ") + b"\n , \n", "UTF-8, commas"),
        (b"\xef\xbb\xbf" + CSV, "UTF-8, commas"),
        (CSV.decode().encode("utf-16"), "UTF-16, commas"),
        (gzip.compress(CSV, mtime=0), "gzip, UTF-8, commas"),
        (gzip.compress(CSV.replace(b",", b"\t"), mtime=0), "gzip, UTF-8, tabs"),
    ],
)
def test_text_is_recognised_by_its_content(read, content, read_as):
    table = read(content)
    assert cells_of(table) == COLUMNS
    assert table.read_as == read_as
    assert not table.is_latin_1_assumed


def test_latin_1_is_assumed_where_nothing_else_fits(read):
    table = read("größe,ort\n1,Köln\n".encode("latin-1"))
    assert cells_of(table) == {"größe": ["1"], "ort": ["Köln"]}
    assert table.is_latin_1_assumed
    assert table.read_as == "Latin-1, commas"
    assert not read("größe,ort\n1,Köln\n".encode()).is_latin_1_assumed


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        # Words, dates and decimals hold what separates elsewhere; the number of cells decides.
        ('a;b\n"1,5";x\n2,5;y\n', {"a": ["1,5", "2,5"], "b": ["x", "y"]}),
        ("a;b\n1,5;2,5\n3,5;4,5\n", {"a": ["1,5", "3,5"], "b": ["2,5", "4,5"]}),
        ("a\tb c, d\n1\t2, 3\n", {"a": ["1"], "b c, d": ["2, 3"]}),
        ("a,b;c;d\n1,2\n3,4\n", {"a": ["1", "3"], "b;c;d": ["2", "4"]}),
        ('a,b\n"x;y;z",2\n', {"a": ["x;y;z"], "b": ["2"]}),
        ('a,b\n"two\nlines",2\n', {"a": ["two\nlines"], "b": ["2"]}),
        ("a b\n1 2\n", {"a b": ["1 2"]}),
    ],
)
def test_the_separator_is_sniffed(read, text, columns):
    assert cells_of(read(text.encode())) == columns


def test_a_comma_may_be_a_decimal_mark_where_it_separates_nothing(read):
    assert read(b"a;b\n1,5;2\n").has_decimal_commas
    assert not read(CSV).has_decimal_commas


@pytest.mark.parametrize(
    ("text", "names", "comments"),
    [
        ("# exported, 2020\n#\na,b\n1,2\n", ["a", "b"], ("# exported, 2020", "#")),
        ("# of a, b\na,b\nx,y\n", ["a", "b"], ("# of a, b",)),  # names are below it
        ("# by hand\n#a,b\n1,x\n", ["#a", "b"], ("# by hand",)),  # it has the names
        ("a,b\n#1,2\n", ["a", "b"], ()),
    ],
)
def test_lines_before_the_names_may_be_comments(read, text, names, comments):
    table = read(text.encode())
    assert ([*table.cells], table.comments) == (names, comments)


def test_columns_without_a_name_get_their_number(read):
    table = read(b",a,\n0,5,x\n")
    assert cells_of(table) == {"Unnamed: 0": ["0"], "a": ["5"], "Unnamed: 2": ["x"]}


def test_a_table_that_was_saved_twice_with_its_index(read):
    table = read(b",Unnamed: 0,x\n0,0,5\n")
    assert cells_of(table) == {"Unnamed: 0.1": ["0"], "Unnamed: 0": ["0"], "x": ["5"]}


PARQUET = {
    "whole": [1, None],
    "real": [0.1, float("nan")],
    "word": [" Ann", "Bo"],
    "truth": [True, False],
    "day": [datetime.date(2020, 1, 31), None],
    "moment": [datetime.datetime(2020, 1, 31, 12), None],
}
DAY = 18_292 * 86_400.0  # to 31 January 2020 from 1 January 1970
PARQUET_HOLDS = {  # kind, numbers, texts
    "whole": ("numbers", [1.0, np.nan], []),
    "real": ("numbers", [0.1, np.nan], []),
    "word": ("texts", [np.nan, np.nan], ["Ann", "Bo"]),
    "truth": ("booleans", [1.0, 0.0], ["True", "False"]),
    "day": ("moments", [DAY, np.nan], []),
    "moment": ("moments", [DAY + 43_200, np.nan], []),
}


def hide(monkeypatch, *hidden):
    """Let some packages seem not to be installed."""
    find_spec = arrow.find_spec
    monkeypatch.setattr(
        arrow, "find_spec", lambda name: None if name in hidden else find_spec(name)
    )


@pytest.mark.parametrize("absent", ["polars", "pyarrow"])
def test_parquet_is_read_by_pyarrow_or_polars(read, tmp_path, monkeypatch, absent):
    polars.DataFrame(PARQUET).write_parquet(tmp_path / "t")
    hide(monkeypatch, absent)
    table = read((tmp_path / "t").read_bytes())
    assert table.read_as == "Parquet"
    assert [*table.cells] == [*PARQUET]
    for name, (holds, numbers, texts) in PARQUET_HOLDS.items():
        cells = table.cells[name]
        assert cells.holds == holds
        assert_same(cells.numbers()[0], numbers)
        assert [*cells.texts] == texts
    examples = {name: cells.example for name, cells in table.cells.items() if cells.example}
    assert examples == {"day": "2020-01-31", "moment": "2020-01-31 12:00:00"}


def test_columns_of_parquet_are_read_by_their_whole_names(read, tmp_path):
    """pyarrow takes "a" for the beginning of "a.b", too."""
    given = {"a.b": [1.5, 2.5], "a": [3.5, 4.5], "a.c": [5.5, 6.5]}
    polars.DataFrame(given).write_parquet(tmp_path / "t")
    cells = read((tmp_path / "t").read_bytes()).cells
    assert {name: column.values.tolist() for name, column in cells.items()} == given


def test_numbers_of_a_typed_file_are_kept_once(read, tmp_path):
    """A column is the array that the file was read into, unless a cell of it is infinite."""
    polars.DataFrame({"x": [1.5, None], "y": [1.5, np.inf]}).write_parquet(tmp_path / "t")
    cells = read((tmp_path / "t").read_bytes()).cells
    assert np.shares_memory(column_of("x", cells["x"]).numbers, cells["x"].values)
    assert_same(column_of("y", cells["y"]).numbers, [1.5, np.nan])
    assert_same(cells["y"].values, [1.5, np.inf])


def test_lines_beyond_the_first_block_are_read_and_counted(read):
    """A block has 4,096 lines; the last line of this file, the 10,002nd, lacks a cell."""
    rows = b"".join(b"%d,w%d\n" % (k, k % 3) for k in range(10_000))
    cells = read(b"x,w\n" + rows).cells
    assert_same(cells["x"].numbers()[0], np.arange(10_000.0))
    assert cells["w"].texts == ["w0", "w1", "w2"]
    assert_same(cells["w"].values, np.arange(10_000) % 3)
    with pytest.raises(UnusableTableError, match=r"Line 10002 of .* has 1 cells"):
        read(b"x,w\n" + rows + b"7\n")


def test_parquet_without_a_library_says_which_one_reads_it(read, monkeypatch):
    hide(monkeypatch, "pyarrow", "polars")
    with pytest.raises(UnusableTableError, match="pip install pyarrow, or save the table as CSV"):
        read(b"PAR1 and so on")


@pytest.mark.parametrize("absent", ["polars", "pyarrow"])
def test_damaged_or_empty_parquet(read, tmp_path, monkeypatch, absent):
    hide(monkeypatch, absent)
    with pytest.raises(UnusableTableError, match=r"cannot be read by (pyarrow|polars): .+"):
        read(b"PAR1 and so on")
    polars.DataFrame({"a": []}).write_parquet(tmp_path / "t")
    with pytest.raises(UnusableTableError, match="has no rows"):
        read((tmp_path / "t").read_bytes())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (gzip.compress(CSV, mtime=0)[:-4], "packed by gzip and damaged"),
        (b"\x1f\x8bnonsense", "packed by gzip and damaged"),
        (b"PK\x03\x04 and so on", "an Excel workbook or another zip archive; save or unpack it"),
        (b"BZh9 and so on", "packed by bzip2"),
        (b"a,b\n\0,2\n", "neither text nor Parquet"),
        (b"a,b\n", "has no rows; it needs a line of column names and at least one row"),
        (gzip.compress(b"", mtime=0), "has no rows"),
        (b"a,b\n1,2\n\n3\n", "Line 4 of .* has 1 cells between commas; its first line names 2 col"),
        (b"a,b\n1,2\n3,4,5\n", "Line 3 of .* has 3 cells"),
        (b"a,b,a\n1,2,3\n", "two columns of the same name, 'a'; rename one"),
        (b'a,b\n1,"' + b"x" * 200_000, "quotation mark that is not closed"),
    ],
)
def test_unusable_content_is_refused_in_one_line(read, content, why):
    with pytest.raises(UnusableTableError, match=why) as caught:
        read(content)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_has_a_hint(tmp_path):
    for name in ("houses.csv", "zebra.parquet"):
        (tmp_path / name).write_bytes(CSV)
    with pytest.raises(UnusableTableError, match=r"did you mean 'houses\.csv'\?$"):
        read_table(tmp_path / "house.csv.gz")
    with pytest.raises(UnusableTableError, match=r"no file .*; check its name and its folder"):
        read_table(tmp_path / "quite_another.csv")
    with pytest.raises(UnusableTableError, match=r"no folder .*nowhere, so no file"):
        read_table(tmp_path / "nowhere" / "houses.csv")
    with pytest.raises(UnusableTableError, match=r"a folder; give one file of 'houses\.csv', 'zeb"):
        read_table(tmp_path)
    with pytest.raises(UnusableTableError, match="cannot be read: Not a directory"):
        read_table(tmp_path / "houses.csv" / "x")


def test_names_in_messages():
    assert nearest("Targt", ["id", "target", "tariff"], ".") == "; did you mean 'target'?"
    assert nearest("id", ["apple"], "; none.") == "; none."
    assert listed([]) == "nothing"
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed([*"abcdefghijkl"]).endswith("'j' and 2 more")
    assert listed(["0123456789" * 4]) == "'0123456789012345…567890123456789'"
