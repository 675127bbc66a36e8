"""A file becomes named columns of cells, whatever kind of file its content says it is."""

import datetime
import gzip

import numpy as np
import pandas as pd
import polars
import pytest

from attributions.command.rules.columns import column_of
from attributions.command.table import file
from attributions.command.table.file import read_table
from attributions.command.unusable import UnusableTableError
from tests.asserts import assert_same

COLUMNS = {"name": ["Ann", "Bo"], "size": [1.5, np.nan]}
CSV = b"name,size\nAnn,1.5\nBo,\n"
WORKBOOK = b"PK\x03\x04" + bytes(26) + b"xl/workbook.xml"  # and nothing more


def cells_of(table):
    """Return the cells of each column: numbers, or words, "" where there is none."""
    found = {name: column_of(name, c, may_be_codes=True) for name, c in table.columns.items()}
    return {
        name: [c.words[int(x)] if x >= 0 else "" for x in c.numbers] if c.words else [*c.numbers]
        for name, c in found.items()
    }


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
    pd.testing.assert_frame_equal(pd.DataFrame(cells_of(table)), pd.DataFrame(COLUMNS))
    assert table.read_as == read_as


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        # Words, dates and decimals hold what separates elsewhere; the number of cells decides.
        ('a;b\n"1,5";x\n2,5;y\n', {"a": ["1,5", "2,5"], "b": ["x", "y"]}),
        ("a;b\n1,5;2,5\n3,5;4,5\n", {"a": ["1,5", "3,5"], "b": ["2,5", "4,5"]}),
        ("a\tb c, d\n1\t2, 3\n", {"a": [1.0], "b c, d": ["2, 3"]}),
        ("a,b;c;d\n1,2\n3,4\n", {"a": [1.0, 3.0], "b;c;d": [2.0, 4.0]}),
        ('a,b\n"x;y;z",2\n', {"a": ["x;y;z"], "b": [2.0]}),
        ('a,b\n"two\nlines",2\n', {"a": ["two\nlines"], "b": [2.0]}),
        ("a b\n1 2\n", {"a b": ["1 2"]}),
        # Columns without a name, of a table that was saved with its index, or twice.
        (",a,\n0,5,x\n", {"Unnamed: 0": [0.0], "a": [5.0], "Unnamed: 2": ["x"]}),
        (",Unnamed: 0,x\n0,0,5\n", {"Unnamed: 0.1": [0.0], "Unnamed: 0": [0.0], "x": [5.0]}),
        # Lines of nothing but separators; one object of columns.
        ("a,b\n,,,\n1,x\n , \n\n2,y\n,\n", {"a": [1.0, 2.0], "b": ["x", "y"]}),
        ("a;b\nx;1\n ; ; ;\ny;2\n", {"a": ["x", "y"], "b": [1.0, 2.0]}),
        ('{"a": [1, 2],\n "b": ["007", "x"]}', {"a": [1.0, 2.0], "b": ["007", "x"]}),
    ],
)
def test_names_and_cells_are_found_by_what_separates_them(read, text, columns):
    assert cells_of(read(text.encode())) == columns


def test_what_is_not_utf_8_is_of_windows(read):
    """A byte that stands for nothing there is no reason to refuse the file."""
    table = read("größe;preis;ort\n1,5;17 €;Köln".encode("cp1252") + b"\x9d\n")
    assert (table.read_as, table.has_decimal_commas) == ("Windows-1252, semicolons", True)
    assert cells_of(table) == {
        "größe": ["1,5"],
        "preis": [17.0],
        "ort": ["Köln\N{REPLACEMENT CHARACTER}"],
    }


def test_a_comma_may_be_a_decimal_mark_where_it_separates_nothing(read):
    assert read(b"a;b\n1,5;2\n").has_decimal_commas
    assert not read(CSV).has_decimal_commas
    assert read(b"a;b\n0.5;2\n").columns["a"].dtype == np.float64  # no text to be read again


ROWS = "".join(f"{k};\n" for k in range(20))


@pytest.mark.parametrize(
    ("text", "numbers", "unclear"),
    [
        ("a;b\n1.234;0,56\n987;12\n", [1234, 987], ""),
        ("a;b\n1.234;-0,5\n17.087 €;,5\n", [1234, 17_087], ""),
        ("a;b\n1.234;1.234.567\n-17.087;1\n", [1234, -17_087], ""),
        ("a;b\n1.234;€2.345,000\nn.a.;\n" + ROWS, [1234, np.nan, *range(20)], ""),
        ("a\tb\n1,234\t0.56\n987\t12\n", [1234, 987], ""),
        ("a|b\n1,234|1.5e3\n-17,087|1\n", [1234, -17_087], ""),
        ("a|b\n1,234|0.123\n17,087|1,5\n", [1234, 17_087], ""),
        # Decimals of this column, whatever others have; and what the file says decimals are.
        ("a;b;c\n1.234;0,56;1,5\n0.987;12;\n", [1.234, 0.987], ""),
        ("a;b\n1,234;0,56\n17,087;12\n", [1.234, 17.087], ""),
        ("a\tb\n1.234\t0.56\n17.087\t12\n", [1.234, 17.087], ""),
        # Nothing tells, or one column tells this and another one that.
        ("a;b\n1.234;1\n987;12\n", [1.234, 987], "1.234"),
        ("a\tb\n987\t1\n1,234\t12\n", [987, 1.234], "1,234"),
        ("a;b;c\n1.234;0,5;0.5\n987;12;1\n", [1.234, 987], "1.234"),
        ("a;b\n1.234;192.168.100.200\n987;10.115.255.192\n", [1.234, 987], "1.234"),
        ("a;b\n12;31.12.2020\n987;v1.25\n", [12, 987], ""),
    ],
)
def test_what_stands_between_thousands_is_told_by_the_rest_of_the_file(
    read, text, numbers, unclear
):
    table = read(text.encode())
    marks = table.has_decimal_commas, True, table.decimal
    column = column_of("a", table.columns["a"], *marks)
    assert_same(column.numbers, np.array(numbers, dtype=np.float64))
    assert column.unclear == unclear
    as_text = read_table(table.path, as_text=True).columns["a"]
    assert_same(column_of("a", as_text, *marks).numbers, column.numbers)


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
    assert ([*table.columns], table.comments) == (names, comments)


PARQUET = {
    "whole": [1, None],
    "real": [0.1, float("nan")],
    "word": [" Ann", "Bo"],
    "truth": [True, False],
    "day": [datetime.date(2020, 1, 31), None],
    "moment": [datetime.datetime(2020, 1, 31, 12), None],
}
DAY = 18_292 * 86_400.0  # to 31 January 2020 from 1 January 1970
HOLDS = {  # kind, numbers, words, where a model is fitted
    "whole": ("numbers", [1.0, np.nan], ()),
    "real": ("numbers", [0.1, np.nan], ()),
    "word": ("words", [0.0, 1.0], ("Ann", "Bo")),
    "truth": ("words", [1.0, 0.0], ("False", "True")),
    "day": ("dates", [DAY, np.nan], ()),
    "moment": ("dates", [DAY + 43_200, np.nan], ()),
}
EXAMPLES = {"day": "2020-01-31", "moment": "2020-01-31 12:00:00"}


def hide(monkeypatch, hidden):
    """Let a package seem not to be installed."""
    find_spec = file.find_spec
    monkeypatch.setattr(file, "find_spec", lambda name: None if name == hidden else find_spec(name))


def written_as(kind, path):
    """Write the table in a kind of file, as a program would that knows only this kind."""
    frame = pd.DataFrame(PARQUET)
    if kind == "Parquet":
        polars.DataFrame(PARQUET).write_parquet(path)
    elif kind == "Arrow":
        polars.DataFrame(PARQUET).write_ipc(path)
    elif kind == "Excel":
        pytest.importorskip("openpyxl")
        with path.open("wb") as opened:
            frame.to_excel(opened, index=False, engine="openpyxl")
    else:
        as_texts = frame.astype({"day": object, "moment": object}).map(
            lambda cell: str(cell) if isinstance(cell, datetime.date) else cell
        )
        as_texts[["day", "moment"]] = as_texts[["day", "moment"]].replace("NaT", None)
        as_texts.to_json(path, orient="records", lines=kind == "JSON Lines")


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("kind", ["Parquet", "Arrow", "Excel", "JSON", "JSON Lines"])
def test_files_that_know_the_types_of_their_columns(read, tmp_path, kind, is_packed):
    written_as(kind, tmp_path / "t")
    content = (tmp_path / "t").read_bytes()
    table = read(gzip.compress(content, mtime=0) if is_packed else content)
    assert table.read_as == "gzip, " * is_packed + kind
    assert [*table.columns] == [*PARQUET]
    for name, expected in HOLDS.items():
        column = column_of(name, table.columns[name], may_be_codes=True)
        assert (column.kind, column.words) == (expected[0], expected[2])
        assert_same(column.numbers, expected[1])
        assert column.example == EXAMPLES.get(name, column.example)


def test_columns_of_parquet_are_read_by_their_whole_names(read, tmp_path):
    """pyarrow takes "a" for the beginning of "a.b", too."""
    given = {"a.b": [1.5, 2.5], "a": [3.5, 4.5], "a.c": [5.5, 6.5]}
    polars.DataFrame(given).write_parquet(tmp_path / "t")
    assert cells_of(read((tmp_path / "t").read_bytes())) == given


def test_numbers_of_text_are_those_of_python_and_codes_are_found_wherever_they_stand(read):
    """The first code is in line 9,000; 0.1 + 0.2 has a digit that quick readers round away."""
    codes = [f"{1000 + k}" for k in range(10_000)]
    codes[9_000] = "007"
    numbers = [repr(0.1 * k + 0.2) for k in range(10_000)]
    rows = "".join(f"{c},{x},{c}\n" for c, x in zip(codes, numbers, strict=True))
    table = read(f"code,x,n\n{rows}".replace(",007\n", ",7\n").encode())
    columns = {n: column_of(n, c, may_be_codes=True) for n, c in table.columns.items()}
    assert columns["code"].kind == "words"
    assert columns["code"].words[0] == "007"
    assert columns["n"].kind == "numbers"
    assert_same(columns["x"].numbers, [float(x) for x in numbers])
    with pytest.raises(UnusableTableError, match=r"Line 10002 of .* has 1 cells"):
        read(f"code,x,n\n{rows}7\n".encode())


@pytest.mark.parametrize(
    ("content", "package"),
    [(CSV, "pandas"), (b"PAR1 and", "pyarrow"), (WORKBOOK, "openpyxl")],
)
def test_what_is_not_installed_is_named_with_the_extra(read, monkeypatch, content, package):
    hide(monkeypatch, package)
    with pytest.raises(UnusableTableError, match=rf"pip install {package}, or pip install '.\[com"):
        read(content)


def test_damaged_or_empty_files(read, tmp_path):
    for content in (b"PAR1 and so on", b"ARROW1 and", WORKBOOK, b'[{"a": 1}, {'):
        with pytest.raises(UnusableTableError, match=r"cannot be read: .+|openpyxl"):
            read(content)
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
        (b"PK\x03\x04 and so on", "a zip archive; save or unpack it"),
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
