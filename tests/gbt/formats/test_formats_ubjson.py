"""UBJSON by hand, and damaged; that XGBoost's is read ``test_readers`` tells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.files.documents import InvalidModelError
from gbt.formats.xgboost.ubjson import parse_ubjson
from tests.asserts import assert_same
from tests.gbt.formats.read_models import fitted

LONG = b"L\0\0\0\0\0\0\0"


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"i\xfe", -2),
        (b"U\xfe", 254),
        (LONG + b"\x07", 7),
        (b"d\x3f\x80\0\0", 1.0),
        (b"D\x3f\xf8\0\0\0\0\0\0", 1.5),
        (b"T", True),
        (b"F", False),
        (b"Z", None),
        (b"S" + LONG + b"\x02\xc3\xa9", "\u00e9"),
        (b"[]", []),
        (b"[i\x01[T]]", [1, [True]]),
        (b"[#i\x02i\x01F", [1, False]),
        (b"{}", {}),
        (b"{" + LONG + b"\x01ai\x05i\x01b{}}", {"a": 5, "b": {}}),
    ],
)
def test_by_hand(data, value):
    assert parse_ubjson(data) == value


def test_typed_arrays_by_hand():
    array = parse_ubjson(b"[$d#" + LONG + b"\x03\x3f\x80\0\0\x40\0\0\0\x40\x40\0\0")
    assert_same(array, [1, 2, 3])
    assert array.dtype == ">f4"
    assert_same(parse_ubjson(b"[$I#i\x02\x01\0\xff\xff"), [256, -1])
    assert_same(parse_ubjson(b"[$U#i\0"), [])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "index out of range"),
        (b"q", "no type 'q'"),
        (b"i", "unpack_from requires"),
        (b"[$q#i\x01", "no array of numbers"),
        (b"[$d#d\0\0\0\0", "has the type 'd'"),
        (b"[$d#" + LONG[:1] + b"\x7f" + b"\xff" * 7, "ends before the 9223372036854775807"),
        (b"S" + LONG + b"\x09abc", "ends before the 9"),
        (b"Si\x01\xff", "codec can't decode"),
        (b"[" * 10**6, "recursion"),
    ],
)
def test_damaged_by_hand(data, message):
    with pytest.raises(InvalidModelError, match=message):
        parse_ubjson(data)


@given(data=st.data())
def test_changed_bytes_are_harmless(data):
    binary = bytearray(fitted("xgboost numbers, stumps").model.save_raw("ubj"))
    for _ in range(data.draw(st.integers(1, 4))):
        binary[data.draw(st.integers(0, len(binary) - 1))] = data.draw(st.integers(0, 255))
    binary = binary[: data.draw(st.integers(0, len(binary)))]
    try:
        parse_ubjson(bytes(binary))
    except InvalidModelError as error:
        assert "UBJSON" in str(error)  # noqa: PT017
