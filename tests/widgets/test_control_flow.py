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
    widget = lab()

    assert widget.answer.item() == 8
    line = power.__code__.co_firstlineno + 4
    assert (
        widget.canvas.caption
        == f"The answer is 8.0, with x.grad 12.0. Line {line}: y > 10 → False."
    )
    assert "added</text>" not in widget.canvas.svg


def test_another_loop_count_is_drawn_over_the_run_before():
    widget = lab()

    widget.controls["rounds"].value = 3

    assert widget.difference.came == ("y * x", "y - 10")
    # x^3 = 8 with 3 x^2 = 12, and x^4 - 10 = 6 with 4 x^3 = 32.
    words = "At rounds = 2 the answer was 8.0, with x.grad 12.0. Now it is 6.0, with x.grad 32.0."
    assert words in widget.canvas.caption
    assert widget.canvas.svg.count(">+ added</text>") == 2
    assert "→\u00a0True" in widget.canvas.svg


def test_the_run_it_is_compared_with_can_be_the_first_or_none():
    widget = lab()
    widget.controls["rounds"].value = 3
    widget.controls["rounds"].value = 4
    assert len(widget.difference.came) == 1

    widget.controls["over"].value = "the first run"
    assert len(widget.difference.came) == 3
    widget.controls["over"].value = "nothing"
    assert len(widget.difference.came) == 0


def test_the_frozen_trace_answers_wrongly_beside_it():
    widget = lab()

    widget.controls["frozen"].value = True
    assert "answers 8.0, the same" in widget.canvas.caption
    widget.controls["x"].value = 3.0

    # The function: 27 > 10, so 17. The trace went the other way: 27.
    assert (
        "The trace, made at x = 2.0, rounds = 2, answers 27.0. Wrong: the function gives 17.0."
        in (widget.canvas.caption)
    )


def test_switched_off_and_on_the_trace_is_made_anew_of_the_arguments_of_now():
    widget = lab(frozen=True)
    widget.controls["x"].value = 3.0
    assert "made at x = 2.0, rounds = 2," in widget.canvas.caption

    widget.controls["frozen"].value = False
    assert "trace" not in widget.canvas.caption
    widget.controls["x"].value = 4.0
    widget.controls["frozen"].value = True

    # 4 ** 3 is more than 10, so the trace and the function both take 10 away.
    assert "made at x = 4.0, rounds = 2, answers 54.0, the same." in widget.canvas.caption
    assert "The trace, frozen when it was switched on" in widget.canvas.svg


def test_below_each_other_the_panels_take_no_more_than_a_narrow_page():
    widget = lab(frozen=True)
    widget.controls["x"].value = 3.0

    width = int(re.search(r'data-narrow="(\d+) \d+"', widget.canvas.svg)[1])

    # A cell of JupyterLab in a window of 900 px, its file browser open: 468 px, and 14 around.
    assert width <= 454 / 0.92
    assert widget.canvas.svg.count('<g class="adk-panel"') == 4


def test_a_trace_that_cannot_be_replayed_says_why():
    widget = ControlFlow(lambda x: x.sum(), frozen=True, x=[torch.ones(2), torch.ones(3)])

    widget.controls["x"].value = 1

    assert "cannot answer" in widget.canvas.caption
    assert "[2]" in widget.canvas.caption


def test_what_cannot_be_traced_is_said_and_the_picture_stays():
    widget = lab(lambda x: x * float(x.detach()))

    widget.controls["frozen"].value = True

    assert widget.message
    assert "adk-stale" in widget.canvas._dom_classes


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
    widget = lab(wrong)
    before = widget.canvas.svg

    widget.controls["x"].value = 3.0

    assert widget.message.startswith("ValueError: more than two\nIt came from line")
    assert 'raise ValueError("more than two")' in widget.message
    assert widget.canvas.svg == before
    assert widget.answer.item() == 4


@the_clock_strikes
def test_a_run_without_end_is_stopped(monkeypatch):
    monkeypatch.setitem(run.__kwdefaults__, "seconds", 0.1)
    widget = lab(wrong)

    widget.controls["x"].value = -1.0
    assert "still running after 0.1 seconds" in widget.message
    widget.controls["x"].value = 1.0
    assert widget.message == ""


def test_no_tensor_returned_is_said():
    widget = lab(wrong)

    widget.controls["x"].value = 0.0

    assert widget.message.startswith("wrong returned nothing")


def test_a_function_without_tensors_is_told_how_to_get_one():
    widget = ControlFlow(lambda n: torch.tensor(1.0), n=2)
    assert widget.message == ""

    assert ControlFlow(lambda n: n, n=2).message == (
        "The lambda did nothing with tensors and returned the int 2.\n"
        "-> Give it a float, which becomes a tensor: n=2.0, and not n=2."
    )


def test_names_that_the_lab_needs_itself_are_refused():
    with pytest.raises(TypeError, match="control 'over' of its own"):
        ControlFlow(lambda over: over, over=torch.tensor(1.0))


def test_same_controls_same_picture():
    def picture():
        widget = lab()
        widget.controls["rounds"].value = 5
        return widget.still(), repr(widget)

    assert picture() == picture()
    assert not re.search(r"0x[0-9a-f]{6}", picture()[0] + picture()[1])


def test_gradients_of_the_learners_tensors_are_left_alone():
    x = torch.tensor(2.0, requires_grad=True)
    (x * x).backward()

    ControlFlow(power, x=x).controls["x"].value = 1.0

    assert x.grad.item() == 4
    assert x.item() == 2


def test_no_round_at_all_is_a_run_like_any_other():
    widget = lab()

    widget.controls["rounds"].value = 0

    assert widget.message == ""
    assert widget.answer.item() == 2
    assert widget.difference.went == ("y * x", "y * x")


def test_a_module_is_turned_by_what_its_forward_takes():
    class Scaled(torch.nn.Module):
        def forward(self, x, factor=2.0):
            return x * factor

    widget = ControlFlow(Scaled(), x=torch.tensor(3.0))
    widget.controls["factor"].value = 4.0

    assert widget.answer.item() == 12
    assert "def\u00a0forward(self,\u00a0x,\u00a0factor=2.0):" in widget.canvas.svg


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
    widget = ControlFlow(space["made"])

    widget.controls["x"].value = -1.0

    # d/dx 3x^2 = 6x
    assert widget.canvas.caption == (
        "No operation was added or removed: 2 operations unchanged. At x = 2.0 the answer was 12.0,"
        " with x.grad 12.0. Now it is 3.0, with x.grad -6.0."
    )


def test_a_function_of_the_library_runs_and_its_operation_is_the_call():
    widget = ControlFlow(torch.sin, x=0.0)

    widget.controls["x"].value = 1.0

    assert widget.difference.came == widget.difference.went == ()
    assert [node["text"] for node in widget.recording.nodes][-1] == "sin(x)"


def test_large_answers_that_look_alike_are_not_called_the_same():
    widget = ControlFlow(lambda x: x * torch.ones(2000), x=1.0)

    widget.controls["x"].value = -1.0

    assert "still" not in widget.canvas.caption
    assert "The answer has changed, though it is shown as (2000,) tensor again." in (
        widget.canvas.caption
    )


def test_an_argument_is_told_as_it_was_before_the_function_changed_it():
    def doubled_in_place(x):
        x.data.mul_(2)
        return x * x

    widget = ControlFlow(doubled_in_place, x=1.0)
    widget.controls["x"].value = 3.0

    assert "At x = 1.0 the answer was 4.0" in widget.canvas.caption


def test_nothing_is_known_before_a_run_has_ended():
    def failing(x):
        raise ValueError("not yet")

    widget = lab(failing)

    assert (widget.answer, widget.difference, widget.grads) == (None, None, {})
    assert widget.recording.nodes == []


def test_minus_zero_is_zero_and_no_other_answer():
    widget = ControlFlow(lambda x: x * 0, x=1.0)

    widget.controls["x"].value = -1.0  # -1.0 * 0 is -0.0

    assert "The answer is still" in widget.canvas.caption


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


def test_the_graph_shows_what_backward_computes():
    widget = ControlFlow(lambda x, w=3.0: x * w if x > 0 else -x, x=2.0)

    # y = x * w: dy/dw = 2 and dy/dx = 3.
    for text in ("w.grad", "x.grad", "\N{MULTIPLICATION SIGN} 2.", "\N{MULTIPLICATION SIGN} 3."):
        assert f">{text}</" in widget.canvas.svg
    widget.controls["x"].value = -2.0
    assert ">\N{MULTIPLICATION SIGN} -1.</" in widget.canvas.svg  # and nothing of the run before
    assert ">w.grad</" not in widget.canvas.svg
    widget.controls["gradients"].value = False
    assert ">x.grad</" not in widget.canvas.svg


def test_the_recording_can_be_stepped_through_with_its_backward_pass():
    widget = lab()

    kinds = [event["kind"] for event in widget.recording.events]

    assert kinds.count("backward") == 1
    assert kinds[-1] == "finish"


def test_a_backward_pass_of_the_functions_own_is_no_part_of_the_picture():
    def with_backward(x):
        (x * x).backward()
        return x * 5

    widget = lab(with_backward)

    # d/dx 5x = 5, and no 4 of the first pass is added.
    assert widget.grads["x"].item() == 5
    assert ">\N{MULTIPLICATION SIGN} 5.</" in widget.canvas.svg
    assert ">\N{MULTIPLICATION SIGN} 2.</" not in widget.canvas.svg


def test_where_backward_fails_no_gradient_is_drawn():
    def changed(x):
        y = x.exp()
        z = y * 2
        y.add_(1.0)
        return z

    widget = lab(changed)

    assert "There is no gradient: backward() on it raises RuntimeError" in widget.canvas.caption
    assert ">x.grad</" not in widget.canvas.svg
