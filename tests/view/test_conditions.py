"""Breakpoints: which steps a condition finds, and what is said of one that cannot be understood."""

from __future__ import annotations

from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.view.conditions import ConditionError, find_steps
from autodiff_kit.view.scene import Picture, build
from tests.record.cells import run


def value(*numbers: Any, shape: list[int] | None = None) -> dict[str, Any]:
    return {"shape": shape or [len(numbers)], "dtype": "float32", "data": list(numbers)}


LARGE = {
    "shape": [10, 10],
    "dtype": "float32",
    "data": [0.0] * 8,
    "stats": {"min": -5.0, "max": 3.0, "mean": 1.0, "std": 2.0, "nan": 1, "inf": 0},
}


def holds(condition: str, **subject: Any) -> bool:
    texts = {"kind": "op", "name": "h", "op": "mul", "shape": (2,), "dtype": "float32", **subject}
    return bool(find_steps(condition, [[texts]]))


# -- what holds ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("value.isnan().any()", True),
        ("torch.isnan(value).any()", True),
        ("isnan(value)", True),  # any element is enough
        ("value.isnan().all()", False),
        ("not value.isfinite().all()", True),
        ("value > 2.5", True),
        ("value > 3", False),
        ("abs(value) >= 4", True),
        ("abs(value) > 4", False),
        ("-5 < value < -3", True),
        ("value + 1 == -3", True),
        ("value[0] == 3", True),
        ("value ** 2 == 16", True),
        ("len(shape) == 1 and shape[0] == 3", True),
        ("value.ndim == 1 and value.shape == (3,)", True),
        ("op in ('mul', 'mm')", True),
        ("op == 'add' or name == 'h'", True),
        ("name.startswith('h') and 'x' not in name", True),
        ("kind == 'op'", True),
        ("step == 1", True),
        ("dtype == 'float64'", False),
    ],
)
def test_conditions_mean_what_they_mean_in_python(condition: str, expected: bool) -> None:
    assert holds(condition, value=value(3.0, -4.0, "nan"), shape=(3,)) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("value > 2.9", True),
        ("value > 3", False),
        ("value < -4.9", True),
        ("-4.9 > value", True),
        ("abs(value) > 4.9", True),
        ("abs(value) > 5", False),
        ("value.max() == 3 and value.min() == -5", True),
        ("value.mean() == 1", True),
        ("value.std() == 2", True),
        ("value.sum() == 99", True),  # of 99 numbers, mean 1
        ("22 < value.norm() < 22.3", True),  # sqrt(99 * (2 ** 2 + 1 ** 2)) = 22.2
        ("value.isnan().any()", True),
        ("value.isnan().all()", False),
        ("value.isinf().any()", False),
        ("value.isfinite().all()", False),
        ("value.isfinite().any()", True),
    ],
)
def test_of_a_large_tensor_the_statistics_answer(condition: str, expected: bool) -> None:
    assert holds(condition, value=LARGE) == expected


@pytest.mark.parametrize("condition", ["value == 0", "value + 1 > 2", "0 < value < 1"])
def test_what_statistics_cannot_answer_is_refused(condition: str) -> None:
    with pytest.raises(ConditionError, match="with 100 elements a recording holds statistics only"):
        holds(condition, value=LARGE)


def test_a_condition_that_can_be_worked_out_somewhere_is_not_refused() -> None:
    small = {"kind": "op", "name": "s", "value": value(0.0)}
    large = {"kind": "op", "name": "l", "value": LARGE}

    assert find_steps("value == 0", [[large], [small]]) == [(1, "s")]


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("", "Type a condition, for example: abs(grad) > 1e3"),
        ("vlaue > 3", "nothing called vlaue here. Did you mean value?"),
        ("loss > 3", "nothing called loss here. There are value, grad, sent, name"),
        ("value = 3", "One = gives a value; to compare, write =="),
        ("value >", "no whole expression. It goes wrong at: value >"),
        ("(value > 3", "no whole expression. It goes wrong at: (value > 3"),
        ("value > 'a'", "value > 'a': numbers and text do not go together."),
        ("'a' + 'b'", "Only numbers can be added or multiplied here."),
        ("'a' * 999999999", "Only numbers can be added or multiplied here."),
        ("value.isnam()", "There is no isnam() here. Did you mean isnan()?"),
        ("value.__class__", "There is no .__class__ here. A tensor can be asked for abs()"),
        ("value.max(dim=0)", "value.max(dim=0): give no arguments; the whole tensor is meant."),
        ("__import__('os').system('ls')", "There is no __import__() here."),
        ("open('x')", "There is no open() here."),
        ("(lambda: 1)()", "(lambda: 1)() cannot be called."),
        ("[x for x in value]", "[x for x in value] is of a kind that a condition cannot have."),
        ("10 ** 10 ** 10", "is of a kind that a condition cannot have."),
        ("9 ** 99", "Powers up to 10 will do."),
        ("value[7] > 0", "value[7] cannot be worked out"),
        ("(" * 250, "That is longer than 200 characters: shorten it."),
        ("-" * 190 + "1", ""),  # deep, and harmless
    ],
)
def test_what_cannot_be_understood_is_explained(condition: str, message: str) -> None:
    try:
        holds(condition, value=value(3.0))
    except ConditionError as error:
        assert message and message in str(error)
    else:
        assert not message


# -- over a recording ---------------------------------------------------------------------------


def found(picture: Picture, condition: str) -> list[tuple[str, str]]:
    return [(picture.frames[k]["kind"], name) for k, name in picture.find(condition)]


@pytest.fixture(scope="module")
def picture() -> Picture:
    x = torch.tensor(2.0, requires_grad=True)
    w = torch.tensor(3.0, requires_grad=True)
    return build(run("h = x * w\nz = h * w\nz.backward()", x=x, w=w))


def test_a_value_is_found_where_it_is_made(picture: Picture) -> None:
    assert found(picture, "value > 5") == [("op", "h"), ("op", "z")]  # 6 and 18


def test_a_gradient_is_found_where_it_is_complete(picture: Picture) -> None:
    # z = x * w * w: dz/dh = w = 3, dz/dx = w * w = 9, dz/dw = 2 x w = 12
    assert found(picture, "grad >= 3") == [
        ("visit", "h"),
        ("accumulate", "x"),
        ("accumulate", "w"),
    ]


def test_what_a_rule_sends_is_found_at_its_step(picture: Picture) -> None:
    assert found(picture, "sent == 9") == [("contribution", "h")]  # to x: 3 * 3


def test_by_name_every_step_about_the_node_is_found(picture: Picture) -> None:
    assert {kind for kind, _ in found(picture, "name == 'h'")} == {"op", "visit", "contribution"}


def test_a_value_that_is_changed_in_place_is_found_again() -> None:
    w = torch.tensor(1.0, requires_grad=True)
    opt = torch.optim.SGD([w], lr=1.0)

    changed = build(run("(w * 2.).backward()\nopt.step()", w=w, opt=opt))

    assert found(changed, "value == -1") == [("modified", "w")]


def test_what_happens_inside_a_fold_is_found_at_its_step() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    source = "h = x\nfor i in range(500):\n    h = h * 1.01\nh.backward()"
    picture = build(run(source, x=x))

    (step, name), *_ = picture.find("value > 20")

    # 2 * 1.01 ** n > 20 for the first time at n = 232
    assert (picture.frames[step]["kind"], name) == ("fold", "h232")


def test_who_asks_for_the_grad_of_a_variable_is_told_how_to_ask_and_that_works() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    with torch.record() as rec:
        (x * x).backward()
    picture = build(rec)

    with pytest.raises(ConditionError, match=r'name == "x" and grad > 5') as caught:
        picture.find("x.grad > 5")

    advised = str(caught.value).partition("gradient: ")[2].rstrip(".")
    assert [name for _, name in picture.find(advised)] == ["x"]  # 2 * 3 = 6
