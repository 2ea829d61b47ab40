"""A learner's function, stepped through again whenever an argument is turned."""

import pytest

import autodiff_kit as torch
from autodiff_kit.widgets import StepThrough
from tests.widgets.clock import the_clock_strikes


def power(x: float = 2.0, times: int = 3):
    h = x
    for _ in range(times):
        h = h * x
    return h


def leaf(value=2.0):
    return torch.tensor(value, requires_grad=True)


def last_step(lab):
    return len(lab.stepper.picture.payload()["frames"]) - 1


def gradient(lab):
    """Return what the run has left in the leaf's .grad, as the Stepper's last frame says it."""
    return lab.stepper.picture.payload()["frames"][-1]["caption"]


def test_the_function_runs_there_and_back_and_the_lines_around_it_can_be_seen():
    lab = StepThrough(power, x=leaf())

    texts = [source["text"].strip() for source in lab.recording.sources]
    assert texts[0] == "y = power(x=x, times=3)"
    assert texts[-1] == "y.backward()"
    assert gradient(lab) == "Backward is done: x.grad is 32.0."  # 4 x^3
    assert lab.message == ""


def test_a_turned_argument_gives_another_run_at_the_same_step():
    lab = StepThrough(power, x=leaf())
    lab.stepper.step = 5

    lab.controls["x"].value = 1.0

    assert lab.stepper.step == 5
    assert gradient(lab) == "Backward is done: x.grad is 4.0."


def test_a_shorter_run_is_shown_at_its_end_and_whoever_stands_at_the_end_stays_there():
    lab = StepThrough(power, x=leaf())
    lab.stepper.step = -2
    lab.controls["times"].value = 1
    assert lab.stepper.step == last_step(lab)

    lab.controls["times"].value = 5

    assert lab.stepper.step == last_step(lab)


def test_the_still_picture_and_the_words_are_those_of_the_latest_run():
    lab = StepThrough(power, x=leaf())
    before = lab.still()

    lab.controls["times"].value = 1

    assert lab.still() != before
    assert lab.still() == StepThrough(power, x=leaf(), times=1).still()
    assert repr(lab).startswith("StepThrough(Stepper(2 nodes, ")
    assert repr(lab).endswith("), at x = 2.0, times = 1)")


def test_a_function_that_goes_back_itself_is_not_sent_back_again_and_gradients_begin_anew():
    w = leaf()

    def train(times: int = 1):
        for _ in range(times):
            (w * w).backward()

    lab = StepThrough(train)
    lab.controls["times"].value = 2

    assert sum(event["kind"] == "backward" for event in lab.recording.events) == 2
    assert (
        gradient(lab) == "Backward is done: w.grad is 8.0."
    )  # 4 twice, and nothing of the first run
    assert w.grad is None


def test_more_than_one_number_is_not_followed_back():
    lab = StepThrough(lambda x: x * 2, x=torch.ones(3, requires_grad=True))

    assert not any(event["kind"] == "backward" for event in lab.recording.events)
    assert lab.message == ""


def test_an_error_is_said_and_the_stepper_shows_how_far_the_run_came():
    def fails(x, n: int = 1):
        y = x * x
        if n > 1:
            raise ValueError("too many")
        return y

    lab = StepThrough(fails, x=leaf())
    lab.controls["n"].value = 2

    assert lab.message.startswith("ValueError: too many\nIt came from line")
    assert lab.recording.error["message"] == "too many"
    assert [node["name"] for node in lab.recording.nodes] == ["x", "y"]
    assert "The Stepper shows how far this run came." in lab.alert
    lab.controls["n"].value = 1
    assert lab.message == ""


@the_clock_strikes
def test_an_endless_run_is_stopped_and_the_run_before_stays(monkeypatch):
    monkeypatch.setattr(
        "autodiff_kit.widgets.running.run.__kwdefaults__", {"seconds": 0.2, "operations": 20_000}
    )

    def loops(x, n: int = 1):
        y = x * x
        while n > 1:
            pass
        return y

    lab = StepThrough(loops, x=leaf())
    lab.controls["n"].value = 2

    assert "it was still running after 0.2 seconds" in lab.message
    assert "The Stepper shows the run before." in lab.alert
    assert gradient(lab) == "Backward is done: x.grad is 4.0."


def test_no_tensor_at_all_is_told_and_leaves_no_page(tmp_path):
    lab = StepThrough(lambda x: x * 2, x=2)

    assert "did nothing with tensors" in lab.message
    with pytest.raises(RuntimeError, match="There is no picture yet"):
        lab.to_html(tmp_path / "steps.html")
    assert lab.still() == ""
    assert "image/svg+xml" not in lab._repr_mimebundle_()[0]


def test_the_page_it_writes_steps_through_the_latest_run(tmp_path):
    lab = StepThrough(power, x=leaf(), then={"times": 1})

    text = lab.to_html(tmp_path / "steps.html").read_text(encoding="utf-8")

    assert "power(x=x, times=1)" in text


def test_names_of_arguments_do_not_clash_with_those_of_the_lines_around():
    def loss(y):
        return y * y

    lab = StepThrough(loss, y=leaf())

    assert lab.recording.sources[0]["text"].strip() == "result = loss(y=y)"


def test_it_is_said_why_no_backward_pass_was_run():
    def said(function):
        lab = StepThrough(function, x=2.0)
        return lab.note

    assert said(lambda x: x * 2) == ""
    assert said(lambda x: (x * 2, x * 3)).startswith(
        "the lambda returned a tuple of 2 items, so no"
    )
    assert "returned a tensor of shape [3]" in said(lambda x: x * torch.ones(3))
    assert "a tensor that does not require a gradient" in said(lambda x: (x * 2).detach())
    assert said(lambda x: (x * 2).backward()) == ""


def test_an_argument_is_told_as_the_function_got_it():
    def doubled_in_place(x=1.0):
        x.data.mul_(2)
        return x * x

    assert StepThrough(doubled_in_place).canvas.caption.endswith("at x = 1.0")


def test_a_function_may_have_the_name_of_its_argument():
    def x(x=3.0):
        return x * x

    assert StepThrough(x).recording.nodes[-1]["text"] == "x * x"


def test_there_is_no_stepper_before_a_run_has_begun():
    def failing(x=1.0):
        raise ValueError("not yet")

    assert StepThrough(failing).stepper is None
