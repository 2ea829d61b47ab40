"""Each argument of a learner's function gets the control that fits it."""

import enum
import functools
from typing import Literal

import pytest

import autodiff_kit as torch
from autodiff_kit.widgets.arguments import Arguments
from autodiff_kit.widgets.controls import Slider, Switch
from autodiff_kit.widgets.function_source import source_of_function


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def everything(
    x: torch.Tensor,
    data,
    n: int = 3,
    rate=0.5,
    flag=True,
    act: Literal["relu", "tanh"] = "tanh",
    colour: Colour = Colour.BLUE,
    size: int = [1, 2, 5],  # one of them, as ipywidgets has it
    rounds=range(2, 6),
    name="w",
    *,
    w: torch.Tensor = 2.0,
):
    return x


def test_every_kind_of_argument_gets_the_control_that_fits():
    arguments = Arguments(everything, {"data": torch.ones(2, 3)})

    kinds = {
        name: (type(control).__name__, type(control.value).__name__)[: 1 + hasattr(control, "step")]
        for name, control in arguments.controls.items()
    }
    assert kinds == {
        "x": ("Slider", "float"),
        "n": ("Slider", "int"),
        "rate": ("Slider", "float"),
        "flag": ("Switch",),
        "act": ("Choice",),
        "colour": ("Choice",),
        "size": ("Choice",),
        "rounds": ("Slider", "int"),
        "name": ("Text",),
        "w": ("Slider", "float"),
    }
    assert arguments.tensors == ["x", "data", "rate", "w"]


def test_values_are_of_the_kind_that_the_function_takes():
    arguments = Arguments(everything, {"data": torch.ones(2, 3)})

    values = arguments.values()

    assert isinstance(values["x"], torch.Tensor) and values["x"].requires_grad
    assert values["w"].item() == 2
    assert values["colour"] is Colour.BLUE
    assert (values["n"], values["flag"]) == (3, True)
    assert isinstance(values["rate"], torch.Tensor) and values["rate"].requires_grad
    assert (values["act"], values["size"], values["rounds"]) == ("tanh", 1, 2)


def test_tensors_keep_their_dtype_shape_and_whether_they_require_grad():
    values = {
        "x": torch.tensor([[1.5]], dtype=torch.float64),
        "n": torch.tensor(3),
        "f": torch.tensor(True),
        "w": torch.ones(2, requires_grad=True),
    }
    arguments = Arguments(lambda x, n, f, w: x, values)

    for name, value in arguments.values().items():
        assert value.dtype == values[name].dtype
        assert value.shape == values[name].shape
        assert value.requires_grad == values[name].requires_grad
        assert value is not values[name]
    assert isinstance(arguments.controls["n"], Slider)
    assert isinstance(arguments.controls["f"], Switch)
    assert "w" not in arguments.controls


def test_a_slider_reaches_its_beginning_whatever_that_is():
    for value in (0.0, 3.7, -250.0, 1e6, 1e-5):
        slider = Arguments(lambda x: x, {"x": value}).controls["x"]
        assert slider.min <= value <= slider.max
        assert slider.value == value


def test_a_float_that_stays_one_keeps_all_its_digits():
    values = []

    def f(x=1.0, lr=0.1):
        values.append(lr)
        return x * 2

    arguments = Arguments(f, {})
    arguments.settled(lambda: arguments.call(f, arguments.values()))

    assert values[-1] == 0.1


def test_missing_and_unknown_arguments_are_named():
    with pytest.raises(TypeError, match="needs something to begin with for x"):
        Arguments(lambda x: x, {})
    with pytest.raises(TypeError, match=r"has no argument 'y'\.\n-> It has: x"):
        Arguments(lambda x: x, {"x": 1.0, "y": 2.0})
    with pytest.raises(TypeError, match="without calling it"):
        Arguments(torch.ones(1), {})
    with pytest.raises(TypeError, match="does not say what its arguments are"):
        Arguments(max, {})


def test_words_say_what_can_be_turned():
    arguments = Arguments(everything, {"data": torch.ones(2, 3), "x": torch.tensor(1.5)})

    text = arguments.words(arguments.values())

    assert text.startswith("x = 1.5, n = 3, rate = 0.5, flag = True, act = tanh, colour = BLUE")
    assert "data" not in text


def test_positional_only_arguments_are_given_by_position():
    def power(x, /, n):
        return x**n

    arguments = Arguments(power, {"x": torch.tensor(3.0), "n": 2})

    assert arguments.call(power, arguments.values()).item() == 9


def test_the_source_is_that_of_the_function_or_of_what_a_module_runs():
    class Model(torch.nn.Module):
        def forward(self, x):
            return x

    lines, first = source_of_function(Model())
    assert lines[0].strip() == "def forward(self, x):"
    assert first > 1
    assert source_of_function(len) == ([], 1)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_where_no_slider_can_stand_the_value_stays_what_it_is(value):
    arguments = Arguments(lambda x, w: x, {"x": torch.tensor(value), "w": value})

    assert arguments.controls == {}
    assert arguments.tensors == ["x", "w"]
    assert str(arguments.values()["x"].item()) == str(value)


def test_a_range_of_nothing_is_an_argument_as_it_is():
    assert Arguments(lambda n: n, {"n": range(0)}).values() == {"n": range(0)}


def test_a_partial_takes_what_is_still_open():
    def scaled(x, times):
        return x * times

    arguments = Arguments(functools.partial(scaled, times=3), {"x": torch.tensor(2.0)})

    assert list(arguments.controls) == ["x", "times"]
    assert source_of_function(functools.partial(scaled, times=3)) == source_of_function(scaled)
