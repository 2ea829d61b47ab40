"""The gradient plots without a browser: numbers from mathematics, and words for whatever fails."""

import math
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.quiver import Quiver

import autodiff_kit as torch
from autodiff_kit.widgets import (
    Batching,
    BesidePyTorch,
    Descent,
    ErrorStory,
    GradientFlow,
    GradientHistogram,
    GradMode,
    MemoryTimeline,
    Slope,
    Stepper,
    slope,
)
from autodiff_kit.widgets.at_points import bounded
from autodiff_kit.widgets.descent import OPTIMIZERS, descend
from autodiff_kit.widgets.gradient_sizes import measure_training
from autodiff_kit.widgets.running import Refused
from autodiff_kit.widgets.slope import touch
from tests.gate import some
from tests.widgets.clock import OwnTime, the_clock_strikes

MINUS = "\N{MINUS SIGN}"


def words(lab: Any) -> str:
    return str(lab.canvas.caption).replace(MINUS, "-")


# -- one variable -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (lambda x: x**3, 2.0, (8.0, 12.0, 12.0)),
        (lambda x: x.exp(), 0.0, (1.0, 1.0, 1.0)),
        (lambda x: x.sin(), 0.0, (0.0, 1.0, 0.0)),
        (lambda x: 3 * x - 1, 5.0, (14.0, 3.0, 0.0)),  # its slope is a constant: no second graph
        (lambda x: x.abs(), -2.0, (2.0, -1.0, 0.0)),
        (lambda x: x * x if x > 0 else -x, -2.0, (2.0, -1.0, 0.0)),
        (lambda x: (x * torch.ones(3)).sum().reshape(1, 1), 2.0, (6.0, 3.0, 0.0)),
    ],
)
def test_value_slope_and_second_derivative_are_those_of_calculus(
    function: Any, x: float, expected: tuple[float, float, float]
) -> None:
    assert touch(function, x)[1:] == pytest.approx(expected, abs=1e-6)


def test_the_words_say_the_numbers_and_which_way_the_curve_goes() -> None:
    lab = Slope(lambda x: x**3, x=-1.0)

    assert words(lab) == (
        "At x = -1 the value is -1 and the slope 3: going right, the curve rises. "
        "The second derivative is -6: the curve bends down."
    )


def test_moving_the_slider_moves_the_point_and_moving_the_point_the_slider() -> None:
    lab = Slope(lambda x: x * x)

    lab.controls["x"].value = 2.0
    assert lab.canvas.point == [2.0, 4.0]
    lab.canvas.point = [-1.0, 4.0]  # as the mouse sends it: the height is still the old one

    assert lab.controls["x"].value == -1.0
    assert lab.canvas.point == [-1.0, 1.0]
    assert "the slope -2" in words(lab)


def test_the_curve_is_computed_once_and_not_for_every_move() -> None:
    calls = []

    def f(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x * x

    lab = Slope(f)
    before = len(calls)
    lab.controls["x"].value = 0.5

    # 161 points of the curve; else what stands in the docstring: the point, and places beside it.
    assert 161 < before < 161 + 40
    assert 1 < len(calls) - before < 30


def test_peaks_between_the_points_of_a_grid_are_drawn() -> None:
    # 96 half periods of sin(50 x) from -3 to 3, each with a peak of height 1 or -1.
    lab = Slope(lambda x: torch.sin(50 * x), -3, 3, x=0.3)

    ys = np.array(lab._ys)
    turns = np.flatnonzero((ys[1:-1] - ys[:-2]) * (ys[2:] - ys[1:-1]) < 0) + 1
    assert len(turns) == 96  # pi / 2 + k pi is between -150 and 150 for k = -48 ... 47
    assert np.abs(ys[turns]).min() > 0.97  # at most 0.22 beside a peak: cos(0.22)
    assert "cannot show" not in words(lab)


def test_a_function_that_is_too_fast_for_the_picture_is_said_to_be() -> None:
    # Points 6 / 160 apart are 6.28 apart in 167.5 x: they all meet the sine at the same phase.
    lab = Slope(lambda x: torch.sin(167.5 * x), -3, 3, x=0.3)

    assert max(lab._ys) > 0.9
    assert min(lab._ys) < -0.9
    assert "This picture cannot show all of the lambda: it changes too fast" in words(lab)


@pytest.mark.parametrize(
    "function",
    [
        *(torch.floor, torch.sign, torch.abs, torch.tan, torch.sqrt),
        *(lambda x: 1 / x, lambda x: (40 * x).exp(), lambda x: (-500 * x * x).exp()),
        lambda x: x.detach() + 1000 * (x - x.detach()),  # the values of x, with a slope of 1000
    ],
)
def test_jumps_poles_and_wrong_slopes_are_not_taken_for_oscillations(function: Any) -> None:
    assert "cannot show" not in words(Slope(function, -3, 3, x=0.3))


def test_tangent_and_parabola_can_be_switched_off() -> None:
    lab = Slope(lambda x: x.cos())
    assert lab.canvas.svg.count('class="adk-tangent"') == 2  # in the plot and in the legend

    lab.controls["tangent"].value = False
    lab.controls["bend"].value = False

    assert 'class="adk-tangent"' not in lab.canvas.svg
    assert 'class="adk-parabola"' not in lab.canvas.svg


def test_the_same_lab_draws_the_same_picture_character_by_character() -> None:
    one, two = (Slope(lambda x: x.sin(), x=0.5) for _ in range(2))

    assert one.canvas.svg == two.canvas.svg
    assert repr(one) == repr(two)


def test_places_without_a_value_are_gaps_and_are_told() -> None:
    lab = Slope(lambda x: x.sqrt(), -2.0, 2.0, x=1.0)

    assert "At 80 of 161 points the value is nan or inf: a gap." in words(lab)  # all below 0
    lab.controls["x"].value = -1.0
    assert "At x = -1 the value is nan: there is no slope." in words(lab)
    assert lab.message == ""


def test_a_function_that_raises_at_some_places_is_drawn_at_the_others() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        if x > 2:
            raise ValueError("too far")
        return x * x

    lab = Slope(f, x=1.0)
    assert "No value at 27 of 161 points: ValueError: too far" in words(lab)
    good = lab.canvas.svg
    lab.controls["x"].value = 2.5

    assert "ValueError: too far" in lab.message
    assert "raise ValueError" in lab.message  # the learner's line
    assert lab.canvas.svg == good


def test_a_value_without_a_graph_has_no_slope_and_it_is_said_why() -> None:
    for f in (lambda x: x.detach() ** 2, lambda x: torch.tensor(2.0)):
        lab = Slope(f)

        assert "no path in the graph leads from it back to x: autograd gives no slope" in words(lab)
        assert 'class="adk-tangent"' not in lab.canvas.svg


def test_a_constant_that_is_in_the_graph_has_slope_nought() -> None:
    assert "the slope 0: going right, the curve is level" in words(Slope(lambda x: 0 * x + 2))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: 1 / 0, "ZeroDivisionError"),
        (lambda x: None, "returned nothing"),
        (lambda x: x.item(), "returned the float"),
        (lambda x: x * torch.ones(3), "returned a tensor of shape [3], and a plot needs one"),
        (lambda: 1.0, "calls the lambda with x, and it takes something else"),
        (lambda x: x.add_(1), "a leaf Variable that requires grad is being used in an in-place"),
    ],
)
def test_a_function_that_cannot_be_drawn_is_answered_in_the_lab(
    function: Any, message: str
) -> None:
    lab = Slope(function)

    assert message in lab.message
    assert lab.canvas.svg == ""
    assert repr(lab).startswith("Slope(")


@the_clock_strikes
def test_a_loop_without_an_end_is_stopped() -> None:
    def forever(x: torch.Tensor) -> torch.Tensor:
        while True:
            pass

    with pytest.raises(Refused, match=r"forever was stopped: it was still running after 0\.2 sec"):
        bounded(0.2, forever, torch.tensor(1.0))


def test_a_run_is_unseen_by_a_recorder_and_has_gradients_on() -> None:
    with torch.no_grad(), torch.record() as recording:
        value, slope, *_ = _touch_by_lab(2.0)

    assert (value, slope) == (4.0, 4.0)
    assert recording.nodes == []


def _touch_by_lab(x: float) -> tuple[float, ...]:
    return tuple(bounded(5.0, touch, lambda x: x * x, x)[1:])


def test_huge_and_tiny_values_have_a_picture() -> None:
    for f in (lambda x: x * 1e30, lambda x: x * 1e-30, lambda x: (40 * x).exp(), lambda x: 1 / x):
        lab = Slope(f, x=0.5)
        assert lab.canvas.svg
        lab.figure().draw_without_rendering()  # a warning of matplotlib's is an error


@pytest.mark.parametrize("ends", [(1, 1), (2, 1), (0, math.inf), (math.nan, 1)])
def test_ends_that_are_none_are_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="x goes from a smaller to a larger number"):
        Slope(lambda x: x, *ends)


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        # float32 has 24 digits of two: near 1e15, between 2^49 and 2^50, numbers are 2^26 apart.
        ((1e15, 1e15 + 100), "are 6.7e+07 apart"),
        ((1e-300, 2e-300), "are 1.4e-45 apart"),  # the smallest number is 2^-149
        ((0.0, 1e300), "where float32 has only inf"),
    ],
)
def test_ends_between_which_a_tensor_holds_too_few_numbers_are_refused(
    ends: tuple[float, float], reason: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        Slope(lambda x: x * x, *ends)


@pytest.mark.parametrize("ends", [(-1e30, 1e30), (1e4, 1e4 + 1), (-1e-30, 1e-30)])
def test_ends_between_which_there_are_enough_have_a_curve(ends: tuple[float, float]) -> None:
    assert Slope(lambda x: 2 * x, *ends).message == ""


def test_what_is_no_function_is_refused_in_words() -> None:
    with pytest.raises(TypeError, match="Slope shows a function, and this is a Tensor"):
        Slope(torch.tensor(1.0))
    with pytest.raises(TypeError, match="Descent shows a function, and this is an int"):
        Descent(3)


@pytest.mark.parametrize(
    "lab",
    [Stepper, GradMode, GradientFlow, GradientHistogram, ErrorStory, BesidePyTorch, Batching],
)
def test_what_a_lab_refuses_has_the_article_of_its_first_letter(lab: Any) -> None:
    with pytest.raises(TypeError, match="this is an int"):
        lab(3)


def test_of_a_flat_surface_no_colour_is_named() -> None:
    text = words(Descent(lambda x, y: x * 0 + y * 0))

    assert "The surface is flat: 0 everywhere." in text
    assert "more blue" not in text


# -- further arguments --------------------------------------------------------------------------


def test_further_arguments_of_a_curve_have_controls_and_stay_what_they_are() -> None:
    calls: list[Any] = []

    def line(x: Any, a: Any = 0.1, times: Any = 2, flip: Any = False) -> Any:
        calls.append((a, times, flip))
        return -x * a * times if flip else x * a * times

    lab = Slope(line, x=1.0)

    assert set(calls) == {(0.1, 2, False)}  # a float stays a float, with all its digits
    message = "With a = 0.1, times = 2, flip = False: at x = 1 the value is 0.2 and the slope 0.2:"
    assert message in words(lab)
    lab.controls["a"].value = 3.0
    lab.controls["flip"].value = True
    assert "at x = 1 the value is -6 and the slope -6:" in words(lab)
    assert set(calls[-100:]) == {(3.0, 2, True)}


def test_an_argument_that_begins_with_nothing_begins_with_1_or_what_is_given() -> None:
    def line(x: Any, a: Any) -> Any:
        return x * a

    assert "With a = 1.0: at x = 2 the value is 2 and the slope 1" in words(Slope(line, x=2.0))
    assert "With a = 5.0: at x = 2 the value is 10" in words(Slope(line, x=2.0, a=5.0))
    with pytest.raises(TypeError, match="line has no argument 'b'"):
        Slope(line, b=5.0)


def test_a_curve_is_drawn_over_the_first_argument_by_its_own_name() -> None:
    def loss(w: Any, x: Any = 2.0) -> Any:
        return (w * x - 1) ** 2

    lab = Slope(loss, x=1.0)  # slope 2 (2 w - 1) 2 = 4

    assert "With x of loss = 2.0: at w = 1 the value is 1 and the slope 4" in words(lab)
    assert ">w</text>" in lab.canvas.svg
    lab.controls["x of loss"].value = 1.0
    assert "at w = 1 the value is 0" in words(lab)


def test_a_function_of_a_library_keeps_its_own_defaults_unless_they_are_given() -> None:
    leaky = torch.nn.functional.leaky_relu

    assert [*Slope(leaky).controls] == ["x", "tangent", "bend"]
    lab = Slope(leaky, x=-1.0, negative_slope=0.5)
    assert "With negative_slope = 0.5: at x = -1 the value is -0.5" in words(lab)


def test_further_arguments_of_a_surface_have_controls() -> None:
    def bowl(u: Any, v: Any, scale: Any = 1.0) -> Any:
        return scale * (u * u + v * v)

    lab = Descent(bowl, start=(1.0, 1.0), steps=1, lr=0.25)

    # One step of 0.25 (2, 2) leads from (1, 1) to (0.5, 0.5); from 2 to 0.5.
    assert "with scale = 1.0, after 1 step from (1, 1) the value has gone from 2 to 0.5" in words(
        lab
    )
    assert ">u</text>" in lab.canvas.svg and ">v</text>" in lab.canvas.svg
    lab.controls["scale"].value = 2.0  # then to (0, 0)
    assert "the value has gone from 4 to 0, at (0, 0)" in words(lab)
    assert "from 0 to 26;" in words(lab)  # the map: 2 (3 * 3 + 2 * 2)


# -- two variables ------------------------------------------------------------------------------


def bowl(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * x + 2 * y * y


def test_gradient_descent_on_a_bowl_goes_where_arithmetic_says() -> None:
    # x -= 0.1 * 2 x and y -= 0.1 * 4 y: times 0.8 and times 0.6 at each step.
    path = descend(bowl, (2.0, 1.0), "SGD", 0.1, 3)

    expected = [(2 * 0.8**k, 0.6**k) for k in range(4)]
    assert np.array(path.points) == pytest.approx(np.array(expected), rel=1e-5)
    assert path.values == pytest.approx([x * x + 2 * y * y for x, y in expected], rel=1e-5)


def test_momentum_remembers_the_steps_before() -> None:
    # g = 2 x; buffer 4, then 0.9 * 4 + 2 * 1.6 = 6.8: x = 2 - 0.4 = 1.6, then 1.6 - 0.68 = 0.92.
    path = descend(lambda x, y: x * x + 0 * y, (2.0, 0.0), "SGD, momentum 0.9", 0.1, 2)

    assert [x for x, _ in path.points] == pytest.approx([2.0, 1.6, 0.92], rel=1e-5)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_comes_down(optimizer: str) -> None:
    path = descend(bowl, (2.0, 1.0), optimizer, 0.1, 40)

    assert path.values[-1] < path.values[0]
    assert path.reason == ""


def test_steps_that_are_too_large_are_said_to_diverge_and_marked() -> None:
    # The step along y multiplies it by 1 - 0.7 * 4 = -1.8: it grows.
    lab = Descent(bowl, start=(0.0, 1.0), lr=0.7, steps=30)

    assert "the path from (0, 1) diverges" in words(lab)
    assert "It leaves the map at step 2." in words(lab)  # 1, -1.8, 3.24; the map ends at 2
    assert "diverges</text>" in lab.canvas.svg
    lab.controls["lr"].value = 0.1
    assert "diverges" not in words(lab) + lab.canvas.svg


def test_values_that_leave_the_numbers_end_the_path() -> None:
    lab = Descent(lambda x, y: x**4 + y**4, start=(2.0, 1.0), lr=10.0, steps=60)

    assert "diverges: at step" in words(lab)
    assert "the value is inf" in words(lab) or "the value is nan" in words(lab)


def test_dragging_the_start_draws_the_path_from_there() -> None:
    lab = Descent(bowl, start=(2.0, 1.0), lr=0.1, steps=5)

    lab.canvas.point = [-1.0, 0.5]

    assert lab.start == (-1.0, 0.5)
    assert "from (-1, 0.5)" in words(lab)
    assert 'data-x="-1" data-y="0.5"' in lab.canvas.svg


def test_a_flat_surface_is_said_to_be_flat_and_the_path_stays() -> None:
    lab = Descent(lambda x, y: 0 * x + 0 * y + 3)

    assert "The surface is flat: 3 everywhere." in words(lab)
    assert lab.message == ""


def test_a_surface_without_a_graph_says_that_there_is_no_way() -> None:
    lab = Descent(lambda x, y: x.detach() ** 2 + y.detach() ** 2)

    assert "the value has no grad_fn" in words(lab)


def test_one_variable_that_is_not_used_stays_where_it_is() -> None:
    lab = Descent(lambda x, y: x * x, start=(2.0, 1.0), lr=0.1, steps=3)

    assert ", 1)." in words(lab)
    assert lab.message == ""


def test_a_map_with_holes_is_drawn_around_them() -> None:
    lab = Descent(lambda x, y: x.log() ** 2 + y * y, start=(2.0, 1.0))

    assert "of the map the value is nan or inf: a gap" in words(lab)
    assert lab.canvas.svg.count('class="adk-band"') == 12


def test_where_the_surface_has_no_value_there_is_no_arrow() -> None:
    lab = Descent(lambda x, y: x.log() + y, start=(2.0, 1.0))  # nan to the left of 0, slope 1 / x

    (arrows,) = (quiver for axes in lab.figure().axes for quiver in axes.findobj(Quiver))
    assert len(arrows.X) > 10
    assert min(arrows.X) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimizer": "Adamm"}, "no optimizer 'Adamm' here"),
        ({"lr": 0.0}, "lr is the learning rate"),
        ({"steps": 0}, "steps is a number from 1 to 300"),
        ({"detail": 2}, "detail is a number from 5 to 81"),
        ({"x": (1, 0)}, "x goes from a smaller to a larger"),
    ],
)
def test_wrong_options_are_refused_in_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Descent(bowl, **options)


@pytest.mark.parametrize("function", [lambda x: x, lambda x, y: None, lambda x, y: x + "no"])
def test_a_surface_that_cannot_be_drawn_is_answered_in_the_lab(function: Any) -> None:
    lab = Descent(function)

    assert lab.message
    assert lab.canvas.svg == ""


def test_a_function_of_one_number_is_told_that_a_surface_takes_two() -> None:
    assert "-> Write def f(x, y): ... around it." in Descent(lambda x: x).message


# -- networks -----------------------------------------------------------------------------------


def network(depth: int = 6, activation: Any = torch.nn.Sigmoid) -> torch.nn.Module:
    torch.manual_seed(0)
    layers: list[Any] = []
    for _ in range(depth):
        layers += [torch.nn.Linear(4, 4), activation()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(4, 1))


def train(model: Any, steps: int = 5) -> None:
    x = torch.ones(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        (model(x) - 3).pow(2).mean().backward()
        optimizer.step()


def test_the_size_of_a_gradient_is_the_root_of_the_mean_of_its_squares() -> None:
    # loss = 3 w0 + 4 w1: the gradient is (3, 4), and the root of (9 + 16) / 2 is 3.5355.
    model = torch.nn.Linear(2, 1, bias=False)

    sizes = measure_training(
        model, lambda m: m(torch.tensor([[3.0, 4.0]])).sum().backward()
    ).gradients

    assert sizes == {"weight": [pytest.approx(math.sqrt(12.5))]}


def test_sizes_of_a_run_are_what_stands_in_grad_after_each_step() -> None:
    model, sizes = network(2), []

    def noted(model: Any) -> None:
        for _ in range(3):
            train(model, 1)
            grad = model[0].weight.grad.numpy()
            sizes.append(float(np.sqrt((grad.astype("float64") ** 2).mean())))

    assert measure_training(model, noted).gradients["0.weight"] == pytest.approx(sizes, rel=1e-6)


def test_the_gradient_of_a_deep_network_of_sigmoids_vanishes_and_is_said_to() -> None:
    lab = GradientFlow(network(10), train)

    assert "Step 4 (of 5, counted from 0)." in words(lab)
    assert "In the first it is 9.9e8 times smaller." in words(lab)
    assert "It vanishes in" in words(lab)
    assert "below 1e-6" in words(lab)


def test_an_exploding_gradient_is_said_to_explode_and_one_that_is_nan_to_be_nan() -> None:
    lab = GradientFlow({"first": [1.0, math.inf], "middle": [1.0, math.nan], "last": [1.0, 5e3]})

    assert "It explodes in 2 of 3 layers, first, last, above 1000" in words(lab)
    assert "It is nan in 1 of 3 layers, middle" in words(lab)
    lab.controls["step"].value = 0
    assert "It neither vanishes nor explodes." in words(lab)


@pytest.mark.parametrize("rest", [{}, {"4.weight": [1.0], "4.bias": [1.0]}])
def test_what_is_said_of_the_weights_is_not_said_of_biases_that_learn(rest: Any) -> None:
    # Units with a large negative bias give 0: the next weights get the gradient 0, their bias not.
    sizes = {"0.weight": [0.0], "0.bias": [0.0], "2.weight": [0.0], "2.bias": [2.07]}
    lab = GradientFlow({**sizes, **rest})

    assert "the weights shown: the gradient of 2.bias is not so small" in words(lab)
    assert "hardly" not in words(lab)

    lab.controls["kind"].value = "biases"

    assert "a step of gradient descent hardly changes them" in words(
        lab
    )  # (0): its weights do not, either


def test_where_no_parameter_gets_a_gradient_hardly_anything_changes() -> None:
    lab = GradientFlow({"0.weight": [1e-9], "0.bias": [1e-8], "2.weight": [0.0], "2.bias": [None]})

    assert "below 1e-6 everywhere: a step of gradient descent changes hardly" in words(lab)


def test_the_step_is_chosen_by_dragging_too() -> None:
    lab = GradientFlow({"a": [1.0, 2.0, 3.0], "b": [1.0, 1.0, 1.0]})

    lab.canvas.point = [0.9, 0.5]

    assert lab.controls["step"].value == 1
    assert "Step 1 (of 3, counted from 0)" in words(lab)


def test_weights_biases_or_all_can_be_shown() -> None:
    lab = GradientFlow(network(2), train)
    assert "first layer, (0)" in words(lab)

    lab.controls["kind"].value = "all parameters"

    assert "first layer, 0.weight" in words(lab)
    assert "the last, 4.bias" in words(lab)


@pytest.mark.parametrize(
    "sizes",
    [
        *({"one": [0.5]}, {"zero": [0.0, 0.0]}, {"nan": [math.nan]}),
        {"a": [1e-30, 1e30], "b": [1.0]},
        {f"layer number {i} of a long name": [0.1 * i] * 4 for i in range(40)},
    ],
)
def test_odd_sizes_have_a_picture_too(sizes: dict[str, list[float]]) -> None:
    lab = GradientFlow(sizes)

    assert lab.message == ""
    assert lab.canvas.svg
    lab.figure().draw_without_rendering()


@pytest.mark.parametrize(
    ("training", "message"),
    [
        (lambda model: None, "The lambda ran, but no gradient reached any parameter"),
        (lambda model: 1 / 0, "ZeroDivisionError"),
        (lambda: None, "positional argument"),
    ],
)
def test_a_training_that_goes_wrong_is_answered_in_the_lab(training: Any, message: str) -> None:
    model = network(1)

    lab = GradientFlow(model, training)

    assert message in lab.message


def test_the_signal_is_how_much_the_results_for_different_examples_differ() -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    x = torch.tensor([[1.0], [3.0]])

    def noted(model: Any) -> float:
        with torch.no_grad():
            model.weight.fill_(2.0)
        model(x).sum().backward()
        with torch.no_grad():
            model(100 * x)  # as when the accuracy is asked for: no backward follows
            model.weight.fill_(-1.0)
        model(x).sum().backward()
        model(x[:1]).sum().backward()  # one example alone differs from no other
        return 0.5

    run = measure_training(model, noted)

    # Results 2 and 6, then -1 and -3: standard deviations of two numbers that are 4 and 2 apart.
    expected = [pytest.approx(math.sqrt(8)), pytest.approx(math.sqrt(2)), None]
    assert run.signals == {"": expected}
    assert run.value == 0.5


def test_the_signal_stands_beside_the_gradient() -> None:
    lab = GradientFlow(network(2), lambda model: model(torch.eye(4)).sum().backward())

    assert "forward: how much results differ from example to example" in lab.canvas.svg
    assert lab.canvas.svg.count('class="adk-bar"') == len(lab.signals) == 3
    assert lab.canvas.svg.count('class="adk-grad-bar"') == 3
    assert "Forward, the results for different examples differ by" in words(lab)


def test_a_frozen_layer_keeps_its_weights_and_those_before_it_still_learn() -> None:
    model = network(2)
    first = {name: value.clone() for name, value in model.state_dict().items()}
    lab = GradientFlow(model, train)
    sizes = lab.sizes

    lab.controls["frozen"].value = "(2)"

    assert lab.sizes["2.weight"] == [None] * 5
    assert lab.sizes["0.weight"][0] == sizes["0.weight"][0]  # the start is the same
    assert torch.equal(model[2].weight, first["2.weight"])
    assert not torch.equal(model[0].weight, first["0.weight"])
    assert "requires_grad is False in 1 of 3 layers, (2)" in words(lab)
    assert all(parameter.requires_grad for parameter in model.parameters())

    lab.controls["frozen"].value = "all but (4)"
    assert [name for name, values in lab.sizes.items() if values[0] is not None] == [
        *("4.weight", "4.bias")
    ]

    lab.controls["frozen"].value = "nothing"
    assert lab.sizes == sizes


def test_what_the_training_returns_is_told_beside_that_without_frozen_layers() -> None:
    losses = []

    def counted(model: Any) -> float:
        train(model, 1)
        losses.append(float(len(losses)))
        return losses[-1]

    lab = GradientFlow(network(2), counted)
    assert words(lab).endswith("counted returned 0.")

    lab.controls["frozen"].value = "(0)"
    assert words(lab).endswith("counted returned 1, and 0 with no layer frozen.")


def test_no_hook_stays_on_the_model() -> None:
    model = network(1)

    sizes = measure_training(model, train).gradients
    train(model)

    assert all(len(values) == 5 for values in sizes.values())


def test_a_model_without_a_training_and_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match="needs a function that trains the model"):
        GradientFlow(network(1))
    with pytest.raises(TypeError, match="this is a list"):
        GradientFlow([1.0, 2.0])
    assert "There are no sizes to show" in GradientFlow({}).message


def test_a_histogram_counts_every_number_of_the_gradient() -> None:
    x = torch.arange(10.0, requires_grad=True)
    (x * x / 2).sum().backward()  # the gradient is x itself: 0 ... 9

    lab = GradientHistogram(x, bins=10)

    assert "10 numbers from 0 to 9, mean 4.5" in words(lab)
    assert "Exactly 0: 1 of them (10 %)." in words(lab)
    assert lab.canvas.svg.count("<title>1 from") == 10


def test_a_histogram_says_what_is_no_number() -> None:
    x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
    x.sqrt().sum().backward()  # 1 / (2 sqrt(x)): inf, 0.5, 0.25

    text = words(GradientHistogram(x))
    # As of PyTorch's std(): the root of (0.125^2 + 0.125^2) / (2 - 1).
    assert text.startswith(
        "2 finite numbers from 0.25 to 0.5, mean 0.375, standard deviation 0.1768."
    )
    assert "nan or inf, and not drawn: 1." in text


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ([3.0], "1 number: 3."),
        ([math.nan, 2.0], "1 finite number: 2. Besides, nan or inf, and not drawn: 1."),
        ([math.inf], "No finite numbers. Besides, nan or inf, and not drawn: 1."),
        ([], "No numbers."),
        ([0.0, 0.0], "2 numbers, all of them 0, mean 0, standard deviation 0. Exactly 0: 2 of"),
    ],
)
def test_a_histogram_of_few_numbers_says_no_more_than_there_is(numbers: Any, sentence: str) -> None:
    x = torch.zeros(len(numbers), requires_grad=True)
    (x * torch.tensor(numbers)).sum().backward()

    assert words(GradientHistogram(x)).startswith(sentence)


def test_one_of_several_gradients_is_chosen_by_name_and_drawn_by_powers_of_ten() -> None:
    model = network(2)
    train(model)
    lab = GradientHistogram(model)

    lab.controls["tensor"].value = "2.bias"
    lab.controls["log"].value = True

    assert words(lab).startswith("2.bias: 4 numbers from")


@pytest.mark.parametrize("numbers", [[2.0], [2.0, 2.0], [0.0, 0.0], [1e-30, 1e30], []])
def test_odd_gradients_have_a_picture_too(numbers: list[float]) -> None:
    x = torch.zeros(len(numbers), requires_grad=True)
    (x * torch.tensor(numbers)).sum().backward()

    lab = GradientHistogram(x)

    assert lab.message == ""
    assert lab.canvas.svg
    lab.figure().draw_without_rendering()


def test_a_gradient_that_is_not_there_is_explained_and_shown_when_it_is() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    lab = GradientHistogram(x)
    assert "no gradient yet" in lab.message
    assert "does not ask for a gradient" in GradientHistogram(torch.ones(3)).message
    assert "is not a leaf" in GradientHistogram(y).message

    y.sum().backward()
    lab.refresh()

    assert lab.message == ""
    assert "3 numbers, all of them 2" in words(lab)


@pytest.mark.parametrize("source", [3, {}, {"a": 1.0}, None])
def test_what_has_no_gradient_is_refused_in_words(source: Any) -> None:
    with pytest.raises(TypeError, match="GradientHistogram shows the gradient of a tensor"):
        GradientHistogram(source)


# -- for a page ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def labs() -> list[Any]:
    model = network(2)
    return [
        Slope(lambda x: x.sin()),
        Descent(bowl, detail=11, steps=5),
        GradientFlow(model, train),
        GradientHistogram(model),
        MemoryTimeline(lambda: (torch.ones(9, requires_grad=True).exp() * 2).sum()),
        Batching(lengths=[2, 1]),
    ]


@pytest.mark.parametrize("number", some(range(6), 2))
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_picture_can_be_saved_for_a_page(
    number: int, ending: str, labs: list[Any], tmp_path: Path
) -> None:
    file = labs[number].save(tmp_path / f"picture.{ending}")

    begin = file.read_bytes()[:5]
    assert begin == (b"\x89PNG\r" if ending == "png" else b"<?xml")


def test_the_figure_is_matplotlibs_and_nothing_of_pyplot_is_used(labs: list[Any]) -> None:
    from matplotlib import _pylab_helpers

    figure = labs[0].figure()

    assert [axes.get_ylabel() for axes in figure.axes] == ["value", "autograd's slope"]
    assert _pylab_helpers.Gcf.get_all_fig_managers() == []


def test_an_ending_that_nobody_knows_and_a_picture_that_is_not_there_are_refused(
    labs: list[Any], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="xyz"):
        labs[0].save(tmp_path / "picture.xyz")
    with pytest.raises(RuntimeError, match=r"There is no picture yet.\nZeroDivisionError"):
        Slope(lambda x: 1 / 0).figure()


def test_no_thread_stays_behind(labs: list[Any]) -> None:
    labs[0].controls["x"].value = 0.5

    clocks = [thread for thread in threading.enumerate() if thread.name == "clock of a lab"]
    for clock in clocks:
        clock.join(2)
    assert not any(clock.is_alive() for clock in clocks)


def test_where_the_value_is_nan_no_path_begins_and_none_diverges():
    lab = Descent(lambda x, y: (x * y).log(), start=(-1.0, 1.0))

    assert "no path begins at (\N{MINUS SIGN}1, 1), where the value is nan" in lab.canvas.caption
    assert "diverges" not in lab.canvas.svg


# -- functions that are not what they seem --------------------------------------------------------


class Tripled(torch.autograd.Function):
    """x squared, with a rule that is wrong: 3x, and not 2x."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x


class Through(torch.autograd.Function):
    """A step with the straight-through rule: its slope is 0, and the rule says 1."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return (x > 0).float()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


def test_a_wrong_rule_is_one_of_the_reasons_for_a_wrong_second_derivative() -> None:
    lab = Slope(Tripled.apply, -2, 2, x=0.0)

    assert "Autograd's second derivative is 3, and that of the curve is 2" in words(lab)
    assert words(lab).endswith("or a hook or a rule of your own changes it.")


def test_a_made_up_slope_at_a_jump_is_not_called_that_of_the_operations() -> None:
    lab = Slope(Through.apply, -2, 2, x=0.0)

    assert "just right of it the value is 1." in words(lab)
    assert "Autograd gives 1. Beside the jump, too, its slope is not that of the curve" in (
        words(lab)
    )


def test_a_slow_function_is_not_taken_for_an_infinite_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own_time = OwnTime(monkeypatch)

    def slow(x: Any) -> Any:
        own_time.spend(slope.SECONDS / 10)
        return x * x

    lab = Slope(slow)

    assert lab.message.startswith("slow takes too long for this picture")
    assert "loop" not in lab.message


def test_a_loop_that_begins_after_many_calls_is_still_taken_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own_time = OwnTime(monkeypatch)

    def endless_on_the_right(x: Any) -> Any:
        while x > 2.9:
            own_time.spend(slope.SECONDS / 100)
        return x * x

    assert "Look for a loop that never ends" in Slope(endless_on_the_right, x=0.0).message


def test_a_path_begins_where_it_was_asked_to_even_if_the_function_moves_the_point() -> None:
    def moving(x: Any, y: Any) -> Any:
        x.data.mul_(0.5)
        return x * x + y * y

    path = descend(moving, (1.0, 1.0), "SGD", 0.1, 1)

    assert path.points[0] == (1.0, 1.0)


def test_descent_refuses_a_function_that_runs_backward_itself() -> None:
    def trained(x: Any, y: Any) -> Any:
        value = x * x + y * y
        value.backward()
        return value

    assert Descent(trained).message.startswith("trained runs backward() or grad() itself")


@pytest.mark.parametrize("size", [1e-9, 1e9, math.nan])
def test_gradients_that_are_not_shown_do_not_go_unmentioned(size: float) -> None:
    lab = GradientFlow({"0.weight": [0.5], "0.bias": [size], "2.weight": [0.5], "2.bias": [1.0]})

    assert words(lab).endswith(
        "It neither vanishes nor explodes in the weights shown; it does, or is nan, in 0.bias."
    )


def test_no_gradient_is_said_of_the_parameters_shown_alone() -> None:
    lab = GradientFlow({"0.weight": [None], "0.bias": [1.0]})

    assert words(lab).endswith("No gradient reached any layer at this step, of the weights shown.")


def test_a_size_between_steps_without_any_is_a_dot_in_the_colour_of_its_layer() -> None:
    lab = GradientFlow({"first": [1.0, None, 1.0], "middle": [1.0, None], "last": [None, 1.0]})

    dots = re.findall(r'<circle class="adk-(\w+)"[^>]*r="3"', lab.canvas.svg)
    # First and last layer are orange, dashed and solid; those between them are grey.
    assert dots == ["dot", "dot", "frame", "dot"]


def test_a_size_is_no_negative_number() -> None:
    lab = GradientFlow({"first": [-1.0, 2.0]})

    assert lab.message.startswith("first has the size -1.0, which is not a number from 0 on.")


def test_an_exploding_gradient_throws_weights_far_off_only_without_clipping() -> None:
    lab = GradientFlow({"first": [1e9], "last": [1.0]})  # noted before the loop could clip it

    assert "without clipping, a step of gradient descent throws these weights far off." in (
        words(lab)
    )


def test_a_slope_that_exists_is_not_denied_where_it_cannot_be_measured() -> None:
    def wavy(x: Any) -> Any:  # its slope at 0 is 0
        return torch.where(x == 0, x * 0, x * x * (1 / x).sin())

    lab = Slope(wavy, -1, 1, x=0.0)

    assert "No slope can be measured here: it depends on how near one looks." in words(lab)
