"""The no_grad lab: what is not recorded, what that saves, and the error that it costs."""

import pytest

import autodiff_kit as torch
from autodiff_kit.widgets import GradMode


def loss(x, w, b):
    h = x * w
    s = h.mean()
    y = (h - s + b) ** 2
    return y.sum()


FIRST = loss.__code__.co_firstlineno
H, S, Y, RETURN = (FIRST + k for k in range(1, 5))


def lab(**more):
    arguments = {
        "x": torch.full((4,), 2.0),
        "w": torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True),
        "b": torch.tensor(0.5, requires_grad=True),
    }
    return GradMode(loss, **arguments, **more)


def set_line(widget, line, how):
    widget.controls[f"line {line}"].value = how


def test_as_written_all_is_recorded_and_gradients_arrive():
    widget = lab()

    # y = (2w - mean(2w) + b)^2; dL/db = sum of 2 (2w - 5 + 0.5) = 2 (-2.5 - 0.5 + 1.5 + 3.5) = 4
    assert widget.grads["b"] == "4."
    assert widget.error == ""
    assert widget.nodes == widget.nodes_as_written == 6
    # mul keeps x (16 bytes) for w, pow its base (16 bytes); nothing else is kept
    assert widget.bytes_saved == 32


def test_a_line_under_no_grad_becomes_a_ghost_and_changes_the_gradient_without_an_error():
    widget = lab()
    before = widget.grads["w"]

    set_line(widget, S, "no_grad")

    assert widget.nodes == 5
    assert widget.error == ""
    assert widget.grads["w"] != before
    assert widget.canvas.svg.count(">not recorded</text>") == 1
    assert f"Line {S}: no_grad." in widget.canvas.caption


def test_detach_leaves_a_leaf_without_gradient():
    widget = lab()

    set_line(widget, H, "detach")

    assert widget.grads == {"w": None, "b": "4."}
    assert "grad None</text>" in widget.canvas.svg
    assert "w.grad is None." in widget.canvas.caption


def test_the_error_of_backward_is_shown_in_place():
    widget = lab(switches={RETURN: "no_grad"})

    assert widget.error.startswith("RuntimeError: element 0 of tensors does not require grad")
    assert widget.message == ""  # the lab itself is well
    assert "backward()\u00a0fails" in widget.still()
    [remark] = [c.remark for n, c in widget.controls.items() if n.startswith("line") and c.remark]
    assert remark == "backward()\u00a0fails"


def test_an_error_of_the_function_is_shown_at_its_line():
    def wrong(x):
        y = x * 2
        y.requires_grad_(False)
        return y

    widget = GradMode(wrong, x=torch.tensor(1.0, requires_grad=True))

    assert "RuntimeError: you can only change requires_grad flags of leaf variables" in widget.error
    assert "fails" in widget.still()
    assert "x * 2" in widget.recording.nodes[1]["text"]


def test_requires_grad_of_an_argument_can_be_turned():
    widget = lab()

    widget.controls["x.requires_grad"].value = True

    assert set(widget.grads) == {"x", "w", "b"}
    assert widget.bytes_saved == 48  # now mul keeps w for x, too


def test_what_is_not_recorded_is_not_kept():
    widget = lab()

    set_line(widget, H, "no_grad")
    set_line(widget, Y, "no_grad")

    assert widget.bytes_saved == 0
    assert widget.bytes_saved_as_written == 32
    assert "Saved for backward: 0 bytes in 0 nodes. As written: 32 bytes in 6 nodes." in (
        widget.canvas.caption
    )


def test_nodes_that_are_freed_when_the_function_returns_are_not_counted():
    widget = lab()

    set_line(widget, H, "detach")

    # x * w is recorded, and goes when detach() is all that is left of it; h.mean() and h - s have
    # no graph; there are + b, ** 2, which saves its base of 4 floats, and sum.
    assert "Saved for backward: 16 bytes in 3 nodes." in widget.canvas.caption


def test_nodes_are_counted_where_the_loss_has_no_graph():
    source = "a = x * w\nb = a.tanh()\nb * 2"
    widget = GradMode(source, x=2.0, w=3.0, switches={3: "no_grad"})

    # x * w saves both floats, and tanh its result.
    assert widget.error.startswith("RuntimeError: element 0 of tensors does not require grad")
    assert (widget.bytes_saved, widget.nodes) == (12, 2)
    assert "at most 12 bytes in 2 nodes, and the loss has no graph." in widget.canvas.caption


def test_times_are_measured_and_stay_out_of_the_picture():
    widget = lab(switches={S: "no_grad"})

    assert 0 < widget.seconds < 1
    assert "times as long" in widget.note
    for text in (widget.still(), repr(widget), widget.canvas.caption):
        assert "µs" not in text


def test_a_loss_of_many_numbers_says_what_backward_says():
    widget = GradMode("x * 2", x=torch.ones(2, requires_grad=True))

    assert widget.error.startswith("RuntimeError: grad can be implicitly created only for scalar")


def test_gradients_from_outside_are_left_alone():
    outside = torch.tensor(3.0, requires_grad=True)
    outside.grad = torch.tensor(7.0)

    def product(x):
        return x * outside

    GradMode(product, x=torch.tensor(1.0))

    assert outside.grad.item() == 7


@pytest.mark.parametrize("switches", [{999: "no_grad"}, {H: "nograd"}])
def test_a_switch_that_is_not_there_is_refused_with_those_that_are(switches):
    with pytest.raises(TypeError, match="cannot be switched"):
        lab(switches=switches)


def test_no_tensor_returned_is_said_in_the_lab():
    widget = GradMode("float(x * 2)", x=torch.tensor(1.0))

    assert widget.message.startswith("cell returned the float")


def test_the_same_switches_give_the_same_picture():
    assert lab(switches={S: "no_grad"}).still() == lab(switches={S: "no_grad"}).still()


def fails_at_once(x):
    raise KeyError("k")


def test_what_fails_before_any_operation_is_told_as_it_is():
    message = GradMode(fails_at_once, x=torch.tensor(2.0)).message

    assert message.startswith("KeyError: 'k'\nIt came from line")


def told(x):
    print("here")
    return x * 2


def test_a_function_that_prints_is_not_called_hundreds_of_times_to_time_it(capsys):
    widget = GradMode(told, x=torch.tensor(2.0, requires_grad=True))

    assert "this function prints" in widget.note
    assert capsys.readouterr().out == "here\n" * 3


def test_the_line_of_words_holds_the_first_sentence_of_an_error_and_no_more():
    def f(w=1.0):
        z = w.exp()
        z.mul_(3)
        return z

    lab = GradMode(f)

    assert lab.canvas.caption.endswith("is at version 1; expected version 0 instead.")
    assert "Hint" in lab.error


def test_a_node_that_is_no_part_of_the_loss_saves_nothing_for_it():
    def loss_beside(x):
        unused = x.exp()  # its node saves the result: 4,000 bytes, until the function returns
        return (x * 2).sum() if unused is not x else unused

    widget = GradMode(loss_beside, x=torch.ones(1000, requires_grad=True))

    assert (widget.bytes_saved, widget.nodes) == (0, 2)
    assert "Saved for backward: 0 bytes in 2 nodes." in widget.canvas.caption


def test_a_node_that_lives_on_in_a_list_saves_nothing_for_the_loss():
    others = []

    def loss_and_another(x):
        others[:] = [x.exp()]
        return (x * 3).sum()

    widget = GradMode(loss_and_another, x=torch.ones(1000, requires_grad=True))

    assert (widget.bytes_saved, widget.nodes) == (0, 2)


def test_a_function_that_runs_backward_itself_is_told_who_runs_it_twice():
    def trained(x):
        y = x * x
        y.backward()
        return y

    widget = GradMode(trained, x=3.0)

    assert "backward through the graph a second time" in widget.error
    assert "trained runs backward() itself, and this lab runs it once more" in widget.error


def test_an_error_without_words_ends_without_a_colon():
    def never(x):
        assert x < 0
        return x

    widget = GradMode(never, x=3.0)

    assert "AssertionError." in widget.canvas.caption


def test_a_stop_while_the_lab_is_made_becomes_words():
    def interrupted(x=1.0):
        raise KeyboardInterrupt

    assert GradMode(interrupted).message.startswith("You stopped the run.")
