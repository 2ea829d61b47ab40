"""Controls of a lab: what they take, and what Python and the browser tell each other."""

import ipywidgets
import pytest
import traitlets
from ipywidgets.widgets.widget import _instances

import autodiff_kit as torch
from autodiff_kit.widgets import ControlFlow, Costs, Stepper, StepThrough
from autodiff_kit.widgets.controls import (
    Button,
    Choice,
    CodeLine,
    Number,
    SelectionSlider,
    Slider,
    Switch,
    Text,
)
from autodiff_kit.widgets.lab import Lab


class All(Lab):
    """One of each control, and a count of how often it was drawn."""

    def __init__(self):
        self.drawn = self.pressed = 0
        button = Button(description="again")
        button.on_click(self._press)
        super().__init__(
            {
                "n": Slider(3, 0, 10),
                "x": Slider(0.5, -1.0, 1.0, 0.25),
                "lr": SelectionSlider([("0.1", 0.1), ("1", 1.0)]),
                "kind": Choice(["SGD", "Adam"]),
                "line 1": CodeLine(["as written", "no_grad"], number=1, code="y = x * x"),
                "on": Switch(),
                "seed": Number(7, 0, 1000),
                "words": Text("5, 2"),
                "again": button,
            }
        )

    def _press(self, button):
        self.pressed += 1

    def draw(self):
        self.drawn += 1
        self.svg, self.caption = '<svg width="1" height="1"/>', f"{self.state}"


def moved(lab, **moves):
    """Do what the browser does: set `_moves` to counts and values."""
    lab.set_state({"_moves": {**lab._moves, **{n: list(move) for n, move in moves.items()}}})


@pytest.mark.parametrize(
    ("control", "value", "becomes"),
    [
        (Slider(3, 0, 10), 12, 10),
        (Slider(3, 0, 10), -1, 0),
        (Slider(3, 0, 10), 4.0, 4),
        (Slider(0.5, -1.0, 1.0), 2, 1.0),
        (Slider(0.5, -1.0, 1.0, 0.25), 0.3, 0.3),  # between two steps
        (Number(7, 0, 1000), 2000, 1000),
        (Choice(["a", "b"]), "b", "b"),
        (Choice([("one", 1), ("two", 2)]), 2, 2),
        (Switch(), True, True),
    ],
)
def test_a_control_takes_what_fits(control, value, becomes):
    control.value = value

    assert control.value == becomes
    assert type(control.value) is type(becomes)


@pytest.mark.parametrize(
    ("control", "value", "words"),
    [
        (Slider(3, 0, 10), "4", "the value is an integer"),
        (Slider(0.5, 0.0, 1.0), float("nan"), "the value is a finite number"),
        (Choice(["a", "b"]), "c", "'c' cannot be chosen; there are: a, b"),
        (Switch(), 2, "boolean"),
    ],
)
def test_a_control_refuses_what_does_not(control, value, words):
    before = control.value

    with pytest.raises(traitlets.TraitError, match=words):
        control.value = value

    assert control.value == before


def test_bounds_that_change_take_the_value_along():
    slider = Slider(8, 0, 10)

    slider.max = 5

    assert slider.value == 5


def test_the_browser_is_told_one_look_and_one_value_for_each_control():
    lab = All()

    kinds = {look["name"]: look["kind"] for look in lab._controls}
    assert kinds == {
        **{"n": "slider", "x": "slider", "lr": "slider", "kind": "choice", "line 1": "line"},
        **{"on": "switch", "seed": "number", "words": "text", "again": "button"},
    }
    sent = lab.get_state("state")["state"]
    assert sent["kind"] == sent["lr"] == 0  # places, as the values may be any
    assert (sent["n"], sent["x"], sent["words"]) == (3, 0.5, "5, 2")


def test_moves_in_the_browser_are_answered_once_and_together():
    lab = All()

    moved(lab, n=(1, 5), kind=(2, 1), on=(1, True))

    assert (lab.controls["n"].value, lab.controls["kind"].value) == (5, "Adam")
    assert lab.drawn == 2
    assert lab._answered == {"n": 1, "kind": 2, "on": 1}


def test_a_move_that_was_answered_does_not_undo_what_python_has_set_since():
    lab = All()
    moved(lab, n=(1, 5))
    lab.controls["n"].value = 9

    moved(lab, x=(1, -0.5))  # which brings the move of n along

    assert (lab.controls["n"].value, lab.controls["x"].value) == (9, -0.5)


def test_a_move_to_what_is_there_no_more_changes_nothing_and_is_answered():
    lab = All()

    moved(lab, kind=(1, 7), nothing=(1, 1))

    assert lab.controls["kind"].value == "SGD"
    assert lab.drawn == 1
    assert lab._answered == {"kind": 1}


def test_a_button_is_pressed_once_for_each_count():
    lab = All()

    moved(lab, again=(1, True))
    moved(lab, again=(1, True))

    assert lab.pressed == 1


def test_a_change_comes_to_the_browser_in_one_message(monkeypatch):
    lab = All()
    messages = []
    monkeypatch.setattr(
        type(lab), "_send", lambda self, message, buffers=None: messages.append(message)
    )

    lab.controls["n"].value = 4

    [message] = [m for m in messages if m["method"] == "update"]
    assert {"caption", "state"} <= set(message["state"])


def test_the_state_can_be_read_set_in_part_and_observed():
    lab, numbers = All(), []
    lab.observe(lambda change: numbers.append(change["new"]["n"]), "state")

    lab.state = {"n": 6, "kind": "Adam"}

    assert lab.drawn == 2
    assert numbers == [6]
    assert lab.state["kind"] == lab.controls["kind"].value == "Adam"
    assert lab.state["x"] == 0.5
    with pytest.raises(TypeError, match="there is no control 'size' to set"):
        lab.state = {"size": 1}


def test_two_labs_that_are_linked_by_their_states_show_the_same():
    one, other = All(), All()

    traitlets.link((one, "state"), (other, "state"))
    one.controls["n"].value = 8

    assert other.controls["n"].value == 8


def test_what_is_no_control_is_refused_with_what_to_write():
    class Own(Lab):
        def draw(self):
            pass

    with pytest.raises(TypeError, match=r"'n' is no control of a lab: it is IntSlider.\n-> Take"):
        Own({"n": ipywidgets.IntSlider(3)})


def test_a_lab_is_one_widget_that_a_box_holds():
    def opened(make):
        before = set(_instances)
        lab = make()
        names = {type(widget).__name__ for key, widget in _instances.items() if key not in before}
        return lab, names - {"Layout"}

    lab, names = opened(lambda: ControlFlow(lambda x: x * 2, x=2.0))
    assert names == {"ControlFlow"}
    assert ipywidgets.HBox([lab]).children == (lab,)
    for make in (
        lambda: StepThrough(lambda x: x * 2, x=2.0),
        lambda: Costs([torch.ones(2)], sine=torch.sin),
    ):
        lab, names = opened(make)
        assert names == {type(lab).__name__}


def test_the_stepper_of_a_lab_goes_where_the_browser_leads_it_and_the_other_way():
    lab = StepThrough(lambda x: x * x, x=2.0)
    assert isinstance(lab.stepper, Stepper)

    lab.set_state({"step": 2})
    assert lab.stepper.step == 2
    lab.stepper.step = -1
    assert lab.step == lab.stepper.step > 2
    lab.set_state({"step": 10**6})  # of a recording that is shown no more

    assert lab.stepper.step < 10**6
    assert lab.step == lab.stepper.step


def test_the_stepper_of_a_lab_answers_what_the_browser_asks(monkeypatch):
    lab = StepThrough(lambda x: x * x, x=3.0)
    answers = []
    monkeypatch.setattr(
        type(lab), "send", lambda self, content, buffers=None: answers.append(content)
    )

    lab._handle_custom_msg({"find": "grad > 5"}, [])

    assert [step for step, _ in answers[0]["steps"]] == lab.stepper.find("grad > 5") != []
