"""Plain data survives the way there and back; everything else is refused, from either side."""

import contextlib
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autodiff_kit.grading import wire
from tests.gate import IN_THE_GATE

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"]
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text()
    | st.sampled_from(DTYPES).flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0))),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)
    return bool(a == b)


@settings(max_examples=100 if IN_THE_GATE else 30)
@given(plain)
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    data = wire.encode(value)

    assert same(wire.decode(data, len(data)), value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_are_refused(data: bytes) -> None:
    with contextlib.suppress(wire.WireError):
        wire.decode(data, 200)


@given(plain, st.data())
def test_a_value_cut_short_is_refused(value: Any, data: st.DataObject) -> None:
    whole = wire.encode(value)
    cut = data.draw(st.integers(0, len(whole) - 1))

    with pytest.raises(wire.WireError):
        wire.decode(whole[:cut], len(whole))


def test_a_numpy_scalar_stays_one() -> None:
    back = wire.decode(wire.encode(np.float32(1.5)), 100)

    assert type(back) is np.float32
    assert back == 1.5


def test_an_array_of_another_byte_order_and_layout_arrives_in_ours() -> None:
    value = np.arange(6, dtype=">f8").reshape(2, 3).T

    back = wire.decode(wire.encode(value), 1000)

    assert back.dtype == np.float64
    assert back.dtype.isnative
    assert back.flags.c_contiguous
    assert (back == value).all()


def test_an_array_that_arrives_can_be_written_and_shares_nothing() -> None:
    back = wire.decode(wire.encode(np.zeros(3)), 1000)

    assert back.base is None
    assert back.flags.writeable


class Sly(np.ndarray):
    pass


class Number(float):
    pass


class Word(str):
    pass


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (object(), "object"),
        ({1, 2}, "set"),
        (b"bytes", "bytes"),
        (1j, "complex"),
        (Number(1.0), "Number"),
        (np.zeros(2).view(Sly), "Sly"),
        (np.array([object()]), "object"),
        (np.zeros(2, dtype="i4,f8"), "void|i4"),
        (np.array(["a"]), "<U1"),
        (np.uint64(1), "uint64"),
        ({1: 2}, "int"),
        ({Word("x"): 2}, "Word"),
        ({"x": Word("x")}, "Word"),
        (2**63, "64 bits"),
        ("\ud800", "surrogates"),
    ],
)
def test_what_is_not_plain_is_refused_by_the_name_of_its_type(value: Any, name: str) -> None:
    with pytest.raises(wire.WireError, match=name):
        wire.encode(value)


def test_a_list_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)

    with pytest.raises(wire.WireError, match="50 levels"):
        wire.encode(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"?",
        b"NN",
        b"l" + struct.pack("<I", 2**32 - 1),
        b"s" + struct.pack("<I", 2**32 - 1) + b"a",
        b"s" + struct.pack("<I", 1) + b"\xff",
        b"a" + bytes([99, 0]),
        b"a" + bytes([8, 33]) + bytes(8 * 33),
        b"a" + bytes([8, 2]) + struct.pack("<QQ", 2**63, 2**63),
        b"a" + bytes([8, 2]) + struct.pack("<QQ", 0, 2**63),
        b"a" + bytes([0, 1]) + struct.pack("<Q", 3) + b"\0\2\1",
        b"g" + bytes([8, 1]) + struct.pack("<Q", 1) + bytes(8),
        b"l\1\0\0\0" * 60 + b"N",
    ],
)
def test_bytes_of_no_honest_sender_are_refused(data: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.decode(data, 10_000)


def test_more_bytes_than_the_limit_are_refused_unread() -> None:
    with pytest.raises(wire.WireError, match="limit"):
        wire.decode(wire.encode("x" * 100), 50)


def test_a_million_and_one_items_are_refused() -> None:
    count = wire.MAX_ITEMS + 1

    with pytest.raises(wire.WireError, match="items"):
        wire.encode([None] * count)
    with pytest.raises(wire.WireError, match="items"):
        wire.decode(b"l" + struct.pack("<I", count) + b"N" * count, 2**30)


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ([0] * 9, 10),
        ({"a": 1, "b": ([], "text")}, 5),
        ([np.zeros(3), np.float32(1.0)], 11),
        (range(4), 5),
        ({"a": 1, "b": 2}.values(), 3),
        ([None], 2),
    ],
)
def test_what_can_be_sent_and_what_can_be_read_have_equal_limits(value: object, items: int) -> None:
    data = wire.encode([value], items + 1)

    wire.decode(data, 10_000, items + 1)
    with pytest.raises(wire.WireError, match="items"):
        wire.encode([value, 0], items + 1)
    with pytest.raises(wire.WireError, match="items"):
        wire.decode(wire.encode([value, 0]), 10_000, items + 1)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.array([[1.0, 2.0]]).view(np.matrix), np.array([[1.0, 2.0]])),
        (np.ma.array([1.0, 2.0]), np.array([1.0, 2.0])),
        (np.array([0.5], np.longdouble), np.array([0.5])),
        (range(3), [0, 1, 2]),
        ({"a": 1}.values(), [1]),
        ({"a": 1}.items(), [("a", 1)]),
    ],
    ids=["matrix", "masked", "longdouble", "range", "values", "items"],
)
def test_what_numpy_and_python_have_beside_plain_data_is_made_plain(
    value: object, plain: object
) -> None:
    result = wire.decode(wire.encode(value), 2**20)

    assert type(result) is type(plain) and same(result, plain)


def test_hidden_numbers_are_not_sent() -> None:
    with pytest.raises(wire.WireError, match="MaskedArray"):
        wire.encode(np.ma.array([1.0, 2.0], mask=[False, True]))
