"""The static/dynamic lab: right answers beside frozen ones."""

from typing import Any

import autodiff_kit as torch
from autodiff_kit.widgets import Compare, compare
from tests.widgets.clock import the_clock_strikes


def power(x, rounds=2):
    y = x
    for _ in range(rounds):
        y = y * x
    if y > 10:
        y = y - x
    return y


def lab(function=power, **more):
    return Compare(function, x=torch.tensor(2.0, requires_grad=True), **more)


def test_at_the_values_of_the_trace_both_agree():
    widget = lab()

    assert widget.dynamic.item() == widget.static.item() == 8
    assert widget.agrees
    assert widget.canvas.caption == "Both answer 8.0. Traced at x = 2.0, rounds = 2."


def test_a_frozen_branch_gives_the_wrong_answer_and_the_wrong_gradient():
    widget = lab()

    widget.controls["x"].value = 3.0

    # x^3 = 27 > 10, so 24; the trace: 27. Gradients 3 x^2 - 1 = 26 and 27.
    assert (widget.dynamic.item(), widget.static.item()) == (24, 27)
    assert not widget.agrees
    for number in ("24.0", "27.0", "26.0"):
        assert f">{number}</text>" in widget.canvas.svg
    assert "frozen\u00a0→\u00a0False;\u00a0now\u00a0True" in widget.canvas.svg
    assert "not in the trace</text>" in widget.canvas.svg


def test_a_number_that_is_no_tensor_is_frozen_without_a_question():
    widget = lab()

    widget.controls["rounds"].value = 1

    assert (widget.dynamic.item(), widget.static.item()) == (4, 8)
    assert "rounds = 2: not a tensor" in widget.canvas.svg


def test_tracing_again_makes_it_right_here():
    widget = lab()
    widget.controls["x"].value = 3.0

    widget.controls["trace again"].click()

    assert widget.agrees
    assert "Traced at x = 3.0" in widget.canvas.caption


def test_counts_are_those_of_the_two_runs():
    widget = lab()

    # Two products and the question, which the trace leaves out; questions build no node.
    assert (widget.nodes, widget.operations) == (2, 2)
    assert widget.bytes_saved == 8  # x and the first product, 4 bytes each


def test_other_values_are_asked_with_both():
    widget = lab()

    # Of -4, -2, 0, 2 and 4 only 4 goes the other way: 4^3 = 64, and 64 - 4 = 60.
    assert widget.canvas.svg.count(">wrong</text>") == 1
    assert ">60.0</text>" in widget.canvas.svg
    assert ">64.0</text>" in widget.canvas.svg


def test_times_are_measured_and_stay_out_of_the_picture():
    widget = lab()

    assert set(widget.seconds) == {"dynamic", "static"}
    assert "times as fast" in widget.note
    for text in (widget.still(), repr(widget)):
        assert "µs" not in text


def test_another_shape_is_refused_by_the_trace_alone():
    widget = Compare(lambda x: x.sum(), x=[torch.ones(2), torch.ones(3)])

    widget.controls["x"].value = 1

    assert widget.static is None
    assert widget.dynamic.item() == 3
    assert widget.canvas.caption.startswith("The trace cannot be replayed")


def test_what_cannot_be_traced_has_a_dynamic_answer_alone():
    def doubled(x):
        while x.item() < 20:
            x = x * 2
        return x

    widget = lab(doubled)

    assert "cannot be replayed" in widget.message
    assert widget.dynamic.item() == 32  # 2, 4, 8, 16, 32: four products
    assert widget.static is None
    assert (widget.nodes, widget.operations, widget.agrees) == (4, 0, False)


def test_what_cannot_be_traced_is_said_in_the_lab():
    widget = lab(lambda x: x * float(x.detach()))

    assert "float" in widget.message
    assert "lambda x: x * float(x.detach())" in widget.message


def test_an_answer_of_many_numbers_has_no_gradient_to_compare():
    widget = Compare(lambda x: x * 2, x=torch.ones(2, requires_grad=True))

    assert widget.agrees
    assert "gradient" not in widget.canvas.svg


def test_errors_at_other_values_leave_the_rest_of_the_table():
    def picky(x):
        if x < 0:
            raise ValueError("no")
        return x * 2

    widget = lab(picky)

    assert widget.message == ""
    assert widget.agrees


def test_the_same_values_give_the_same_picture():
    assert lab().still() == lab().still()


def test_a_function_that_gives_nothing_back_is_told_so_before_it_is_traced():
    assert lab(lambda x: None).message.startswith("The lambda returned nothing")


def test_a_function_that_prints_is_not_called_hundreds_of_times_to_time_it(capsys):
    def told(x):
        print("here")
        return x * 2

    widget = lab(told)

    assert widget.times_as_fast == 0
    assert "this function prints" in widget.note
    assert capsys.readouterr().out.count("here") < 20


@the_clock_strikes
def test_a_loop_without_an_end_at_another_value_is_said_to_have_none(monkeypatch):
    monkeypatch.setattr(compare, "PROBE", 0.05)

    def doubled(x=2.0):
        while x < 10:
            x = x * 2
        return x

    svg = Compare(doubled).canvas.svg.replace("\N{NO-BREAK SPACE}", " ")

    # Below 0 and at 0, doubling never reaches 10.
    assert "no end in 0.05 s" in svg


def test_nothing_is_known_before_a_run_has_ended():
    def failing(x):
        raise ValueError("not yet")

    widget = lab(failing)

    assert widget.message.startswith("ValueError: not yet")
    assert (widget.dynamic, widget.static, widget.agrees) == (None, None, False)
    assert widget.nodes == widget.operations == widget.bytes_saved == 0


def test_a_wrong_answer_that_looks_like_the_right_one_is_told_as_wrong_numbers():
    def signed(x):
        return torch.ones(2000) * (x if x > 0 else -x)

    widget = lab(signed)
    widget.controls["x"].value = -1.0

    assert widget.canvas.caption.startswith(
        "The static graph gives wrong numbers: both are shown as (2000,) tensor."
    )


def test_what_a_freed_node_saved_is_counted_with_the_nodes_that_were_built():
    def overwritten(x):
        y = x.exp()  # saves its result, until y is another tensor
        y = x * 2
        return y.sum()

    widget = Compare(overwritten, x=torch.ones(1000, requires_grad=True))

    assert (widget.nodes, widget.bytes_saved) == (3, 4000)


def test_a_layer_that_updates_itself_is_advised_to_be_evaluated() -> None:
    layer = torch.nn.BatchNorm1d(2)
    X = torch.tensor([[1.0, 2.0], [3.0, 5.0]])

    def f(x: float = 2.0) -> Any:
        return layer(X * x).square().sum()

    message = Compare(f).message
    assert "BatchNorm1d updates its own buffers" in message and ".eval()" in message
    layer.eval()
    assert Compare(f).agrees
