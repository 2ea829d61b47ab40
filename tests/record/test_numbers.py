"""The elements of a value are a list, whether they were read before or not."""

import copy
import json
import pickle

import numpy as np
import pytest

import autodiff_kit as torch
from autodiff_kit.record.numbers import Unread, read_together

WHOLE = [0.1, -2.5, 3.0]


def unread(dtype="float32"):
    return Unread().hold(np.array(WHOLE, dtype))


@pytest.mark.parametrize(
    "read",
    [
        list, tuple, len, repr, str, sorted, max, json.dumps, np.array, bool, reversed,
        lambda x: [*x], lambda x: x[1:], lambda x: x[0], lambda x: [0.0, *x], lambda x: [*x, 0.0],
        lambda x: 2 * x, lambda x: x * 2, lambda x: -2.5 in x, lambda x: x.index(3.0),
        lambda x: x.count(0.1), lambda x: x == WHOLE, lambda x: x == WHOLE, lambda x: x != WHOLE,
        lambda x: x < [1.0], lambda x: copy.copy(x), copy.deepcopy, lambda x: x.copy(),
        lambda x: pickle.loads(pickle.dumps(x)), lambda x: json.dumps({"data": x}, indent=1),
        lambda x: "".join(map(str, x)), lambda x: list(zip(x, WHOLE, strict=True)),
        lambda x: [x.pop(), *x], lambda x: x.append(1.0) or [*x], lambda x: x.extend(x) or [*x],
    ],
)  # fmt: skip
def test_it_is_read_as_the_plain_list_is(read):
    actual, expected = read(unread()), read([*WHOLE])
    if read is reversed:
        actual, expected = [*actual], [*expected]

    assert np.array_equal(actual, expected)
    assert type(actual) is type(expected)


def test_two_that_were_not_read_are_compared_and_joined_as_lists_are():
    assert unread() == unread()
    assert {"data": unread()} == {"data": unread()}
    assert unread() + unread() == WHOLE + WHOLE


def test_what_is_read_together_is_what_is_read_one_by_one():
    some = Unread()
    arrays = [np.array(x, dtype) for x in (WHOLE, [[1.0, np.inf]], []) for dtype in ("f4", "f8")]
    values = [{"shape": [], "dtype": "", "data": some.hold(array)} for array in arrays]

    read_together(values)  # type: ignore[arg-type]

    assert [[*value["data"]] for value in values] == [
        *([WHOLE] * 2), *([[1.0, "inf"]] * 2), *([[]] * 2)
    ]  # fmt: skip


def test_a_recording_says_what_the_tensors_held_however_much_of_it_is_read():
    x = torch.tensor([0.1, 0.2], requires_grad=True)
    with torch.record() as rec:
        h = x
        for _ in range(1_200):  # more than is converted one by one
            h = h * 1.0
    values = [node["value"]["data"] for node in rec.nodes]

    assert all(value == [0.1, 0.2] for value in values)
