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
    given = {
        "x": torch.full((4,), 2.0),
        "w": torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True),
        "b": torch.tensor(0.5, requires_grad=True),
    }
    return GradMode(loss, **given, **more)


def set_line(seen, line, how):
    seen.controls[f"line {line}"].value = how


def test_as_written_all_is_recorded_and_gradients_arrive():
    seen = lab()

    # y = (2w - mean(2w) + b)^2; dL/db = sum of 2 (2w - 5 + 0.5) = 2 (-2.5 - 0.5 + 1.5 + 3.5) = 4
    assert seen.grads["b"] == "4."
    assert seen.error == ""
    assert seen.nodes == seen.nodes_as_written == 6
    # mul keeps x (16 bytes) for w, pow its base (16 bytes); nothing else is kept
    assert seen.kept == 32


def test_a_line_under_no_grad_becomes_a_ghost_and_changes_the_gradient_without_an_error():
    seen = lab()
    before = seen.grads["w"]

    set_line(seen, S, "no_grad")

    assert seen.nodes == 5
    assert seen.error == ""
    assert seen.grads["w"] != before
    assert seen.canvas.svg.count(">not recorded</text>") == 1
    assert f"Line {S}: no_grad." in seen.canvas.caption


def test_detach_leaves_a_leaf_without_gradient():
    seen = lab()

    set_line(seen, H, "detach")

    assert seen.grads == {"w": None, "b": "4."}
    assert "grad None</text>" in seen.canvas.svg
    assert "w.grad is None." in seen.canvas.caption


def test_the_error_of_backward_is_shown_in_place():
    seen = lab(switches={RETURN: "no_grad"})

    assert seen.error.startswith("RuntimeError: element 0 of tensors does not require grad")
    assert seen.message == ""  # the lab itself is well
    assert "backward()\u00a0fails" in seen.still()
    [remark] = [c.remark for n, c in seen.controls.items() if n.startswith("line") and c.remark]
    assert remark == "backward()\u00a0fails"


def test_an_error_of_the_function_is_shown_at_its_line():
    def wrong(x):
        y = x * 2
        y.requires_grad_(False)
        return y

    seen = GradMode(wrong, x=torch.tensor(1.0, requires_grad=True))

    assert "RuntimeError: you can only change requires_grad flags of leaf variables" in seen.error
    assert "fails" in seen.still()
    assert "x * 2" in seen.recording.nodes[1]["text"]


def test_requires_grad_of_an_argument_can_be_turned():
    seen = lab()

    seen.controls["x.requires_grad"].value = True

    assert set(seen.grads) == {"x", "w", "b"}
    assert seen.kept == 48  # now mul keeps w for x, too


def test_what_is_not_recorded_is_not_kept():
    seen = lab()

    set_line(seen, H, "no_grad")
    set_line(seen, Y, "no_grad")

    assert seen.kept == 0
    assert seen.kept_as_written == 32
    assert "Saved for backward: 0 bytes in 0 nodes. As written: 32 bytes in 6 nodes." in (
        seen.canvas.caption
    )


def test_nodes_that_are_freed_when_the_function_returns_are_not_counted():
    seen = lab()

    set_line(seen, H, "detach")

    # x * w is recorded, and goes when detach() is all that is left of it; h.mean() and h - s have
    # no graph; there are + b, ** 2, which saves its base of 4 floats, and sum.
    assert "Saved for backward: 16 bytes in 3 nodes." in seen.canvas.caption


def test_nodes_are_counted_where_the_loss_has_no_graph():
    source = "a = x * w\nb = a.tanh()\nb * 2"
    seen = GradMode(source, x=2.0, w=3.0, switches={3: "no_grad"})

    # x * w saves both floats, and tanh its result.
    assert seen.error.startswith("RuntimeError: element 0 of tensors does not require grad")
    assert (seen.kept, seen.nodes) == (12, 2)
    assert "at most 12 bytes in 2 nodes, and the loss has no graph." in seen.canvas.caption


def test_times_are_measured_and_stay_out_of_the_picture():
    seen = lab(switches={S: "no_grad"})

    assert 0 < seen.seconds < 1
    assert "times as long" in seen.note
    for text in (seen.still(), repr(seen), seen.canvas.caption):
        assert "µs" not in text


def test_a_loss_of_many_numbers_says_what_backward_says():
    seen = GradMode("x * 2", x=torch.ones(2, requires_grad=True))

    assert seen.error.startswith("RuntimeError: grad can be implicitly created only for scalar")


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
    seen = GradMode("float(x * 2)", x=torch.tensor(1.0))

    assert seen.message.startswith("cell returned the float")


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
    seen = GradMode(told, x=torch.tensor(2.0, requires_grad=True))

    assert "this function prints" in seen.note
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

    seen = GradMode(loss_beside, x=torch.ones(1000, requires_grad=True))

    assert (seen.kept, seen.nodes) == (0, 2)
    assert "Saved for backward: 0 bytes in 2 nodes." in seen.canvas.caption


def test_a_node_that_lives_on_in_a_list_saves_nothing_for_the_loss():
    others = []

    def loss_and_another(x):
        others[:] = [x.exp()]
        return (x * 3).sum()

    seen = GradMode(loss_and_another, x=torch.ones(1000, requires_grad=True))

    assert (seen.kept, seen.nodes) == (0, 2)


def test_a_function_that_runs_backward_itself_is_told_who_runs_it_twice():
    def trained(x):
        y = x * x
        y.backward()
        return y

    seen = GradMode(trained, x=3.0)

    assert "backward through the graph a second time" in seen.error
    assert "trained runs backward() itself, and this lab runs it once more" in seen.error


def test_an_error_without_words_ends_without_a_colon():
    def never(x):
        assert x < 0
        return x

    seen = GradMode(never, x=3.0)

    assert "AssertionError." in seen.canvas.caption


def test_a_stop_while_the_lab_is_made_becomes_words():
    def interrupted(x=1.0):
        raise KeyboardInterrupt

    assert GradMode(interrupted).message.startswith("You stopped the run.")
