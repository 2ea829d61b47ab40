"""Autograd's slope beside the curve's own: kinks, jumps, detach, saddles; from mathematics."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.widgets import Descent, Slope
from autodiff_kit.widgets.one_sided import Curve, bends_of, sides_of

MINUS = "\N{MINUS SIGN}"
GONE = "part of the computation is not in the graph"


def words(lab: Any) -> str:
    assert lab.message == ""
    return str(lab.canvas.caption).replace(MINUS, "-")


def curve(function: Callable[[float], float]) -> Curve:
    def value(x: float) -> float:
        try:
            return function(x)
        except (ValueError, ZeroDivisionError):
            return math.nan

    return Curve(value, 6.0, 1.0, True)


@pytest.mark.parametrize(
    ("function", "x", "left", "right"),
    [
        (abs, 0.0, ("slope", -1.0), ("slope", 1.0)),
        (lambda x: max(x, 0.0), 0.0, ("slope", 0.0), ("slope", 1.0)),
        (math.sin, 1.0, ("slope", math.cos(1)), ("slope", math.cos(1))),
        (lambda x: x**3, 0.0, ("slope", 0.0), ("slope", 0.0)),
        (
            lambda x: math.exp(40 * x),
            1.0,
            ("slope", 40 * math.exp(40)),
            ("slope", 40 * math.exp(40)),
        ),
        (math.floor, 1.0, ("jump", None), ("slope", 0.0)),
        (lambda x: math.copysign(1, x), 0.0, ("jump", None), ("slope", 0.0)),
        (math.sqrt, 0.0, ("none", None), ("steep", math.inf)),
        (lambda x: -(abs(x) ** 0.5), 0.0, ("steep", math.inf), ("steep", -math.inf)),
        (lambda x: x * math.sin(1 / x) if x else 0.0, 0.0, ("unclear", None), ("unclear", None)),
        (lambda x: 1e30 * x, 2.0, ("slope", 1e30), ("slope", 1e30)),
        (lambda x: 1e6 + x, 2.0, ("slope", 1.0), ("slope", 1.0)),
        (lambda _: 5.0, 2.0, ("slope", 0.0), ("slope", 0.0)),
    ],
)
def test_a_side_is_told_by_its_difference_quotients(
    function: Any, x: float, left: tuple[str, Any], right: tuple[str, Any]
) -> None:
    for side, (kind, slope) in zip(sides_of(curve(function), x), (left, right), strict=True):
        assert side.kind == kind
        if slope is not None:
            assert side.slope == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(
    ("function", "x", "left", "right"),
    [
        (lambda x: x * x, 1.0, 2.0, 2.0),
        (lambda x: x * abs(x), 0.0, -2.0, 2.0),
        (math.cos, 0.0, -1.0, -1.0),
    ],
)
def test_second_derivatives_are_those_of_calculus(
    function: Any, x: float, left: float, right: float
) -> None:
    bends = bends_of(curve(function), x)

    assert bends[:2] == pytest.approx((left, right), abs=1e-3)


def jump(x: Any) -> Any:
    return x * x if x > 1 else 3 * x + 5


def after(x: Any) -> Any:
    return x * x if x >= 1 else 3 * x + 5


@pytest.mark.parametrize(
    ("function", "x", "sentences"),
    [
        (
            lambda x: x if x > 0 else -x * 3,
            0.0,
            [
                "slope is -3 on the left and 1 on the right",
                "Autograd gives -3, the slope on the left",
            ],
        ),
        (
            lambda x: x.abs(),
            0.0,
            [
                "slope is -1 on the left and 1 on the right",
                "Autograd gives 0, a number between the two",
            ],
        ),
        (torch.relu, 0.0, ["slope is 0 on the left and 1 on the right", "Autograd gives 0"]),
        (lambda x: x.clamp(-1, 1), 1.0, ["slope is 1 on the left and 0 on the right"]),
        (lambda x: x.detach() * x, 1.0, ["has the slope 2 here. Autograd gives 1", GONE]),
        (lambda x: x.item() * x, 1.0, ["has the slope 2 here. Autograd gives 1", GONE]),
        (lambda x: x.detach() ** 2, 1.0, ["autograd gives no slope. The curve has the slope 2"]),
        (jump, 1.0, ["jumps here: just right of it the value is 1", "Autograd gives 3"]),
        (lambda x: x.round(), 0.5, ["jumps here: just right of it the value is 1"]),
        (lambda x: x.floor(), 1.0, ["jumps here: just left of it the value is 0"]),
        (lambda x: x.sign(), 0.0, ["just left of it the value is -1 and just right of it the"]),
        (lambda x: x.round(), 0.2, ["the slope 0: going right, the curve is level here"]),
        (
            lambda x: x.sqrt(),
            0.0,
            [
                "On the left there is no value and on the right the curve is "
                "infinitely steep. Autograd gives inf, the slope on the right"
            ],
        ),
        (lambda x: x.abs().sqrt(), 0.0, ["infinitely steep here. Autograd gives nan"]),
        (
            lambda x: torch.where(x > 0, x.sqrt(), torch.zeros(())),
            -1.0,
            ["has the slope 0 here. Autograd gives nan"],
        ),
        (
            lambda x: x * x.abs(),
            0.0,
            ["second derivative is -2 on the left and 2 on the right", "Autograd gives 0"],
        ),
        (
            lambda x: (x - x.detach()) ** 2 / 2,
            1.0,
            ["Autograd's second derivative is 1, and that of the curve is 0"],
        ),
        (lambda x: x * 1.0 if x != 0 else 0 * x, 0.0, ["has the slope 1 here. Autograd gives 0"]),
        (lambda x: x**2 / 4, 1.0, ["The second derivative is 0.5: the curve bends up."]),
        (lambda x: 3 - x**2 / 4, 1.0, ["The second derivative is -0.5: the curve bends down."]),
        (lambda x: x**3, 0.0, ["is level here. The second derivative is 0."]),
        (lambda x: x**4, 0.0, ["is level here. The second derivative is 0."]),
        (
            lambda x: (torch.ones(1, 1) @ x.reshape(1, 1)).relu().sum(),
            0.0,
            ["slope is 0 on the left and 1 on the right"],
        ),  # in float32: a matrix wants its dtype
    ],
)
def test_what_is_said_of_a_slope_is_what_the_curve_does(
    function: Any, x: float, sentences: list[str]
) -> None:
    text = words(Slope(function, x=x))

    for part in sentences:
        assert part in text
    if "bends" not in " ".join(sentences):
        assert "does not bend" not in text or "level" in text


def same(x: Any) -> Any:
    if x == 0:
        return 0 * x
    return x


def same_by_number(x: Any) -> Any:
    return 0 * x if x.item() == 0 else x


@pytest.mark.parametrize("function", [same, same_by_number])
def test_a_branch_that_runs_at_one_point_alone_is_named_as_the_cause(function: Any) -> None:
    # Its values are those of x, with slope 1; at 0 the graph is that of 0 x, with slope 0.
    text = words(Slope(function, -1, 1, x=0.0))

    assert "The curve has the slope 1 here. Autograd gives 0" in text
    assert "a branch of the code is taken here alone" in text
    assert GONE not in text


@pytest.mark.parametrize(
    ("function", "slopes"),
    [  # PyTorch's relu, abs and sign have the slope 0 at 0, clamp at its ends the slope 1
        (lambda x: x.relu() - (-x).relu(), "has the slope 1 here. Autograd gives 0"),
        (lambda x: x.clamp(0, 9) + x.clamp(-9, 0), "has the slope 1 here. Autograd gives 2"),
        (lambda x: torch.where(x == 0, 0 * x, x), "has the slope 1 here. Autograd gives 0"),
        (lambda x: x.abs() ** 2, "second derivative is 0, and that of the curve is 2"),
    ],
)
def test_where_autograd_and_the_curve_agree_on_both_sides_nothing_is_missing_in_the_graph(
    function: Any, slopes: str
) -> None:
    text = words(Slope(function, -2, 2, x=0.0))

    assert slopes in text
    assert "Just left and right of this point, autograd and the curve agree" in text
    assert GONE not in text


def test_where_they_agree_at_the_point_alone_something_is_missing_in_the_graph() -> None:
    # x * c has the slope c and the second derivative 0; x * x, whose values it has, 2 x and 2.
    text = words(Slope(lambda x: x * x.detach(), -2, 2, x=0.0))

    assert "second derivative is 0, and that of the curve is 2" in text
    assert GONE in text


def test_a_small_kink_is_a_kink() -> None:
    # x + 0.001 |x| has slope 0.999 on the left of 0 and 1.001 on the right.
    text = words(Slope(lambda x: x + 1e-3 * x.abs(), -1, 1, x=0.0))

    assert "a kink here: its slope is 0.999 on the left and 1.001 on the right" in text
    assert "Autograd gives 1, a number between the two" in text
    assert "does not bend" not in text


def test_beside_a_jump_the_limit_is_told() -> None:
    def g(x: Any) -> Any:
        if x > 1:
            return x * x
        if x > 0:
            return 2 * x - 1
        return torch.tensor(0.0)

    # 2 x - 1 goes to -1 where x goes to 0.
    assert "just right of it the value is -1." in words(Slope(g, x=0.0))


@pytest.mark.parametrize(
    ("function", "x", "slope"),
    [
        (lambda x: x.floor() * x, 2.0, "2"),  # the slope of 2 x, as floor's own slope is 0
        (lambda x: x.round() * x, 0.5, "0"),
        (lambda x: x.ceil() * x, 1.0, "1"),
        (lambda x: x.trunc() * x, -2.0, "-2"),
        (lambda x: x.sign() + x, 0.0, "1"),
        (lambda x: (x > 1).float() * x, 1.0, "0"),
        (lambda x: x * math.floor(x.item()), 2.0, "2"),
    ],
)
def test_a_jump_of_what_runs_on_both_sides_is_in_the_operations(
    function: Any, x: float, slope: str
) -> None:
    text = words(Slope(function, -3, 3, x=x))

    assert f"Autograd gives {slope}, the slope of the operations that ran at this point" in text
    assert "The same ones run beside it: one of them jumps, or a number" in text


@pytest.mark.parametrize(("function", "x", "side"), [(jump, 1.0, "right"), (after, 1.0, "left")])
def test_a_jump_between_branches_is_one_of_the_code(function: Any, x: float, side: str) -> None:
    text = words(Slope(function, -3, 3, x=x))

    assert f"Just {side} of it the code takes another branch." in text


def test_a_point_begins_where_the_functions_own_argument_does() -> None:
    def f(x: float = 0.0) -> Any:
        return x * x  # type: ignore[return-value]

    def surface(x: float = 1.0, y: float = -0.5) -> Any:
        return x * x + y * y  # type: ignore[return-value]

    assert words(Slope(f)).startswith("At x = 0 ")
    assert words(Slope(f, x=1.5)).startswith("At x = 1.5 ")
    assert words(Slope(lambda x: x * x)).startswith("At x = -1 ")  # a third of the way
    assert Descent(surface, detail=5).start == (1.0, -0.5)
    assert Descent(surface, detail=5, start=(2.0, 1.0)).start == (2.0, 1.0)


SMOOTH: list[tuple[Any, Callable[[float], float], Callable[[float], float]]] = [
    (torch.sin, math.sin, math.cos),
    (lambda x: x**3 - x, lambda x: x**3 - x, lambda x: 3 * x * x - 1),
    (lambda x: (-x * x).exp(), lambda x: math.exp(-x * x), lambda x: -2 * x * math.exp(-x * x)),
    (lambda x: x.tanh() * 5, lambda x: 5 * math.tanh(x), lambda x: 5 / math.cosh(x) ** 2),
    (lambda x: (x * torch.ones(3)).sum(), lambda x: 3 * x, lambda _: 3.0),
]


@pytest.mark.parametrize(("function", "value", "slope"), SMOOTH)
@pytest.mark.parametrize("x", [-2.0, -0.5, 0.0, 1.5])
def test_where_a_curve_is_smooth_autograd_is_not_contradicted(
    function: Any, value: Any, slope: Any, x: float
) -> None:
    text = words(Slope(function, x=x))

    assert "Autograd" not in text
    numbers = re.match(r"At x = (.+?) the value is (.+?) and the slope (.+?): going right", text)
    assert numbers is not None
    values = [float(number) for number in numbers.groups()]
    assert values == pytest.approx([x, value(x), slope(x)], rel=1e-3, abs=1e-6)
    way = "rises" if slope(x) > 0 else "falls" if slope(x) < 0 else "is level here"
    assert f"the curve {way}" in text


def test_the_line_at_a_kink_is_not_called_a_tangent() -> None:
    lab = Slope(torch.relu, x=0.0)

    assert "line with autograd" in lab.canvas.svg
    assert ">tangent</text>" not in lab.canvas.svg
    assert 'class="adk-parabola"' not in lab.canvas.svg


def test_a_function_that_runs_backward_itself_is_told_so() -> None:
    def inside(x: Any) -> Any:
        y = x * x
        y.backward()
        return y

    assert Slope(inside).message.startswith("inside runs backward() or grad() itself")


# -- two variables ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "start", "sentence"),
    [
        (lambda x, y: x * x - y * y, (0.0, 0.0), "The gradient is 0 there. It is a saddle point"),
        (
            lambda x, y: x * x - y * y,
            (2.0, 0.0),
            "almost 0 there. Beside it is a saddle point, at (0, 0)",
        ),
        (lambda x, y: x**3 - 3 * x * y * y, (0.0, 0.0), "It is a saddle point"),
        (lambda x, y: -x * x - y * y, (0.0, 0.0), "It is a maximum"),
        (lambda x, y: x * x + 2 * y * y, (2.0, 1.0), "Beside it is a minimum, at (0, 0)"),
        (lambda x, y: x * x + 0 * y, (2.0, 1.0), "It is the floor of a valley"),
        (lambda x, y: torch.relu(x) + torch.relu(y), (-2.0, -1.0), "It is a plateau"),
        (lambda x, y: x.round() + y.round(), (-2.1, 1.2), "It is a plateau"),
        (
            lambda x, y: x.detach() * x + y * y,
            (1.0, 1.0),
            "autograd gives the slope 1 along x. The surface along x has the slope 2",
        ),
        (
            lambda x, y: x.abs() + y * y,
            (0.0, 1.0),
            "its slope is -1 on the left and 1 on the right",
        ),
        (lambda x, y: x * x + y.abs(), (1.0, 0.0), "its slope is -1 below and 1 above"),
        (lambda x, y: x.sqrt() + y * y, (0.5, 1.0), "the path from (0.5, 1) breaks off: at step"),
    ],
)
def test_the_end_of_a_path_is_called_what_it_is(
    function: Any, start: tuple[float, float], sentence: str
) -> None:
    text = words(Descent(function, start=start, detail=11))

    assert sentence in text
    assert "diverges" not in text


def rosenbrock(x: Any, y: Any) -> Any:
    return (1 - x) ** 2 + 10 * (y - x * x) ** 2


def plateau(x: Any, y: Any) -> Any:
    return y * y - (1 - torch.tanh(3 * x) ** 2)


UNNAMED: dict[str, tuple[Any, dict[str, Any]]] = {
    # Convex: no saddle is anywhere, and the minimum at (0, 0) is not where the path ends.
    "x4 + y4": (lambda x, y: x**4 + y**4, {"start": (1.0, 1.0), "lr": 0.05, "steps": 200}),
    "x4 + y2": (lambda x, y: x**4 + y**2, {"start": (1.0, 1.0), "lr": 0.05, "steps": 200}),
    "x6 + y6": (lambda x, y: x**6 + y**6, {"start": (1.0, 1.0), "lr": 0.05, "steps": 200}),
    "oblique": (lambda x, y: (x - y) ** 4 + x**4, {"start": (1.0, 1.0), "lr": 0.05, "steps": 200}),
    "Adam": (
        lambda x, y: x**4 + y**4,
        {"start": (1.0, 1.0), "optimizer": "Adam", "lr": 0.05, "steps": 300},
    ),
    # It goes on: the minimum is at (1, 1).
    "Rosenbrock": (
        rosenbrock,
        {"start": (-1.5, 1.5), "optimizer": "SGD, momentum 0.9", "lr": 0.01, "steps": 90},
    ),
    # The saddle is at (0, 0), half a unit away.
    "slow saddle": (lambda x, y: x * x - y * y * 0.001, {"start": (1.0, 0.5), "steps": 40}),
    # On one side of the floor there is a wall of 5.
    "wall": (
        lambda x, y: x * x if x > y else y * y + 5,
        {"start": (1.0, 0.0), "lr": 0.3, "steps": 30},
    ),
    # Nowhere stationary but at x = 0: it only flattens out.
    "plateau": (plateau, {"start": (-1.9, 1.0), "steps": 40}),
    "far plateau": (plateau, {"start": (-1.5, 1.0), "steps": 40}),
}


@pytest.mark.parametrize(("function", "options"), UNNAMED.values(), ids=UNNAMED)
def test_a_small_gradient_alone_names_no_place(function: Any, options: dict[str, Any]) -> None:
    text = words(Descent(function, x=(-2, 2), y=(-2, 2), detail=5, **options))

    assert "at (" in text
    for name in ("saddle", "minimum", "maximum", "valley", "plateau", "ridge"):
        assert name not in text


@pytest.mark.parametrize(
    ("function", "start", "sentence"),
    [
        (rosenbrock, (1.0, 1.0), "The gradient is 0 there. It is a minimum."),
        (lambda x, y: x**4 + y**4, (0.0, 0.0), "tried around it the surface is higher"),
        (lambda x, y: x * x - 0.001 * y * y, (1.0, 0.0), "a saddle point, at (0, 0)"),
        (lambda x, y: (x - 0.5) ** 2 + (y + 0.25) ** 2, (1.0, 1.0), "minimum, at (0.5, -0.25)"),
        (lambda x, y: torch.sin(3 * x) + y * y, (-1.0, 1.0), "a minimum, at (-0.5236, 0)"),
        (lambda x, y: -x * x + 0 * y, (0.0, 1.0), "It is the top of a ridge"),
    ],
)
def test_a_stationary_point_is_named_with_its_place(
    function: Any, start: tuple[float, float], sentence: str
) -> None:
    assert sentence in words(Descent(function, x=(-2, 2), y=(-2, 2), start=start, detail=5))


def test_only_a_path_that_has_not_moved_is_said_to_stay() -> None:
    def flat(x: Any, y: Any) -> Any:
        return 0 * x + 0 * y

    # AdamW decays (1, 1) although the gradient is 0.
    assert "stays" in words(Descent(flat, start=(1.0, 1.0), detail=5))
    assert "stays" not in words(Descent(flat, start=(1.0, 1.0), optimizer="AdamW", detail=5))


def test_a_wrong_gradient_and_not_the_step_is_blamed_where_the_path_climbs() -> None:
    # In the graph this is -(x - 2 c)^2 with c = x detached: autograd's slope has the wrong sign.
    text = words(Descent(lambda x, y: (2 * x.detach() - x) ** 2 + y * y, start=(1.0, 1.0)))

    assert "diverges" in text
    assert "Try smaller steps" not in text
    assert "autograd gives the slope -2 along x. The surface along x has the slope 2" in text


def test_away_from_a_stationary_point_no_place_is_named() -> None:
    text = words(Descent(lambda x, y: x + y, start=(-2.0, 1.0), steps=3, detail=11))

    assert "The gradient is" not in text
