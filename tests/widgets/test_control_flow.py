"""The control-flow lab: turn a control, and see what came and what went."""

import re

import pytest

import autodiff_kit as torch
from autodiff_kit.widgets import ControlFlow
from autodiff_kit.widgets.running import run
from tests.widgets.clock import the_clock_strikes


def power(x, rounds=2):
    y = x
    for _ in range(rounds):
        y = y * x
    if y > 10:
        y = y - 10
    return y


def lab(function=power, **more):
    return ControlFlow(function, x=torch.tensor(2.0, requires_grad=True), **more)


def test_the_first_run_is_drawn_over_nothing():
    seen = lab()

    assert seen.answer.item() == 8
    line = power.__code__.co_firstlineno + 4
    assert (
        seen.canvas.caption == f"The answer is 8.0, with x.grad 12.0. Line {line}: y > 10 → False."
    )
    assert "added</text>" not in seen.canvas.svg


def test_another_loop_count_is_drawn_over_the_run_before():
    seen = lab()

    seen.controls["rounds"].value = 3

    assert seen.difference.came == ("y * x", "y - 10")
    # x^3 = 8 with 3 x^2 = 12, and x^4 - 10 = 6 with 4 x^3 = 32.
    words = "At rounds = 2 the answer was 8.0, with x.grad 12.0. Now it is 6.0, with x.grad 32.0."
    assert words in seen.canvas.caption
    assert seen.canvas.svg.count(">+ added</text>") == 2
    assert "→\u00a0True" in seen.canvas.svg


def test_the_run_it_is_compared_with_can_be_the_first_or_none():
    seen = lab()
    seen.controls["rounds"].value = 3
    seen.controls["rounds"].value = 4
    assert len(seen.difference.came) == 1

    seen.controls["over"].value = "the first run"
    assert len(seen.difference.came) == 3
    seen.controls["over"].value = "nothing"
    assert len(seen.difference.came) == 0


def test_the_frozen_trace_answers_wrongly_beside_it():
    seen = lab()

    seen.controls["frozen"].value = True
    assert "answers 8.0, the same" in seen.canvas.caption
    seen.controls["x"].value = 3.0

    # The function: 27 > 10, so 17. The trace went the other way: 27.
    assert (
        "The trace, made at x = 2.0, rounds = 2, answers 27.0. Wrong: the function gives 17.0."
        in (seen.canvas.caption)
    )


def test_switched_off_and_on_the_trace_is_made_anew_of_the_arguments_of_now():
    seen = lab(frozen=True)
    seen.controls["x"].value = 3.0
    assert "made at x = 2.0, rounds = 2," in seen.canvas.caption

    seen.controls["frozen"].value = False
    assert "trace" not in seen.canvas.caption
    seen.controls["x"].value = 4.0
    seen.controls["frozen"].value = True

    # 4 ** 3 is more than 10, so the trace and the function both take 10 away.
    assert "made at x = 4.0, rounds = 2, answers 54.0, the same." in seen.canvas.caption
    assert "The trace, frozen when it was switched on" in seen.canvas.svg


def test_below_each_other_the_panels_take_no_more_than_a_narrow_page():
    seen = lab(frozen=True)
    seen.controls["x"].value = 3.0

    width = int(re.search(r'data-narrow="(\d+) \d+"', seen.canvas.svg)[1])

    # A cell of JupyterLab in a window of 900 px, its file browser open: 468 px, and 14 around.
    assert width <= 454 / 0.92
    assert seen.canvas.svg.count('<g class="adk-panel"') == 4


def test_a_trace_that_cannot_be_replayed_says_why():
    seen = ControlFlow(lambda x: x.sum(), frozen=True, x=[torch.ones(2), torch.ones(3)])

    seen.controls["x"].value = 1

    assert "cannot answer" in seen.canvas.caption
    assert "[2]" in seen.canvas.caption


def test_what_cannot_be_traced_is_said_and_the_picture_stays():
    seen = lab(lambda x: x * float(x.detach()))

    seen.controls["frozen"].value = True

    assert seen.message
    assert "adk-stale" in seen.canvas._dom_classes


def wrong(x):
    if x > 2:
        raise ValueError("more than two")
    if x < 0:
        while True:
            pass
    if x == 0:
        return None
    return x * 2


def test_a_run_that_raises_leaves_the_last_picture():
    seen = lab(wrong)
    before = seen.canvas.svg

    seen.controls["x"].value = 3.0

    assert seen.message.startswith("ValueError: more than two\nIt came from line")
    assert 'raise ValueError("more than two")' in seen.message
    assert seen.canvas.svg == before
    assert seen.answer.item() == 4


@the_clock_strikes
def test_a_run_without_end_is_stopped(monkeypatch):
    monkeypatch.setitem(run.__kwdefaults__, "seconds", 0.1)
    seen = lab(wrong)

    seen.controls["x"].value = -1.0
    assert "still running after 0.1 seconds" in seen.message
    seen.controls["x"].value = 1.0
    assert seen.message == ""


def test_no_tensor_returned_is_said():
    seen = lab(wrong)

    seen.controls["x"].value = 0.0

    assert seen.message.startswith("wrong returned nothing")


def test_a_function_without_tensors_is_told_how_to_get_one():
    seen = ControlFlow(lambda n: torch.tensor(1.0), n=2)
    assert seen.message == ""

    assert ControlFlow(lambda n: n, n=2).message == (
        "The lambda did nothing with tensors and returned the int 2.\n"
        "-> Give it a float, which becomes a tensor: n=2.0, and not n=2."
    )


def test_names_that_the_lab_needs_itself_are_refused():
    with pytest.raises(TypeError, match="control 'over' of its own"):
        ControlFlow(lambda over: over, over=torch.tensor(1.0))


def test_same_controls_same_picture():
    def picture():
        seen = lab()
        seen.controls["rounds"].value = 5
        return seen.still(), repr(seen)

    assert picture() == picture()
    assert not re.search(r"0x[0-9a-f]{6}", picture()[0] + picture()[1])


def test_gradients_of_the_learners_tensors_are_left_alone():
    x = torch.tensor(2.0, requires_grad=True)
    (x * x).backward()

    ControlFlow(power, x=x).controls["x"].value = 1.0

    assert x.grad.item() == 4
    assert x.item() == 2


def test_no_round_at_all_is_a_run_like_any_other():
    seen = lab()

    seen.controls["rounds"].value = 0

    assert seen.message == ""
    assert seen.answer.item() == 2
    assert seen.difference.went == ("y * x", "y * x")


def test_a_module_is_turned_by_what_its_forward_takes():
    class Scaled(torch.nn.Module):
        def forward(self, x, factor=2.0):
            return x * factor

    seen = ControlFlow(Scaled(), x=torch.tensor(3.0))
    seen.controls["factor"].value = 4.0

    assert seen.answer.item() == 12
    assert "def\u00a0forward(self,\u00a0x,\u00a0factor=2.0):" in seen.canvas.svg


def test_a_detach_leaves_the_operations_and_takes_an_arrow() -> None:
    def f(x=2.0, cut=False):
        y = x * 3
        z = y.detach() if cut else y
        return z + x

    lab = ControlFlow(f, then={"cut": True})

    assert "2 operations unchanged. But arrows differ: 1 added, 1 removed." in lab.canvas.caption
    assert "with x.grad 4.0. Now it is 8.0, with x.grad 1.0." in lab.canvas.caption


def test_the_operations_of_a_function_without_source_are_the_same_ones_at_the_next_run():
    space = {}
    exec("def made(x=2.0):\n    y = x * x\n    return y * 3", space)
    seen = ControlFlow(space["made"])

    seen.controls["x"].value = -1.0

    # d/dx 3x^2 = 6x
    assert seen.canvas.caption == (
        "No operation was added or removed: 2 operations unchanged. At x = 2.0 the answer was 12.0,"
        " with x.grad 12.0. Now it is 3.0, with x.grad -6.0."
    )


def test_a_function_of_the_library_runs_and_its_operation_is_the_call():
    seen = ControlFlow(torch.sin, x=0.0)

    seen.controls["x"].value = 1.0

    assert seen.difference.came == seen.difference.went == ()
    assert [node["text"] for node in seen.recording.nodes][-1] == "sin(x)"


def test_large_answers_that_look_alike_are_not_called_the_same():
    seen = ControlFlow(lambda x: x * torch.ones(2000), x=1.0)

    seen.controls["x"].value = -1.0

    assert "still" not in seen.canvas.caption
    assert "The answer has changed, though it is shown as (2000,) tensor again." in (
        seen.canvas.caption
    )


def test_an_argument_is_told_as_it_was_before_the_function_changed_it():
    def doubled_in_place(x):
        x.data.mul_(2)
        return x * x

    seen = ControlFlow(doubled_in_place, x=1.0)
    seen.controls["x"].value = 3.0

    assert "At x = 1.0 the answer was 4.0" in seen.canvas.caption


def test_nothing_is_known_before_a_run_has_ended():
    def failing(x):
        raise ValueError("not yet")

    seen = lab(failing)

    assert (seen.answer, seen.difference, seen.grads) == (None, None, {})
    assert seen.recording.nodes == []


def test_minus_zero_is_zero_and_no_other_answer():
    seen = ControlFlow(lambda x: x * 0, x=1.0)

    seen.controls["x"].value = -1.0  # -1.0 * 0 is -0.0

    assert "The answer is still" in seen.canvas.caption


def test_a_tick_on_the_slider_marks_the_run_that_is_compared_with():
    lab = ControlFlow(lambda x, n=2: x * n, x=2.0)
    x, n = lab.controls["x"], lab.controls["n"]
    assert x.mark is None

    x.value = 3.0
    assert (x.mark, n.mark) == (2.0, None)
    x.value = 1.0
    assert x.mark == 3.0
    lab.controls["over"].value = "the first run"
    assert x.mark == 2.0
    lab.controls["over"].value = "nothing"

    assert x.mark is None
