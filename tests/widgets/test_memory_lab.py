"""The memory timeline as a lab: its controls, its words, and its answers to bad input."""

import threading
from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.record import record
from autodiff_kit.utils.checkpoint import checkpoint
from autodiff_kit.widgets import MemoryTimeline
from tests.widgets.clock import the_clock_strikes

ROWS, WIDTH = 16, 4
SIZE = ROWS * WIDTH * 4  # bytes of a layer's result


@pytest.fixture
def weights() -> list[Any]:
    return [torch.ones(WIDTH, WIDTH, requires_grad=True) for _ in range(16)]


@pytest.fixture
def loss(weights: list[Any]) -> Any:
    x = torch.ones(ROWS, WIDTH)

    def layers(h: Any, start: int, end: int) -> Any:
        for w in weights[start:end]:
            h = torch.relu(h @ w)
        return h

    def loss(depth: int = 8, checkpointing: bool = False) -> Any:
        h = x
        for start in range(0, depth, 4):
            if checkpointing:
                h = checkpoint(layers, h, start, min(start + 4, depth), use_reentrant=False)
            else:
                h = layers(h, start, min(start + 4, depth))
        return h.sum()

    return loss


def most(lab: MemoryTimeline) -> int:
    return max(lab.timeline.bytes_saved)


def test_the_arguments_of_the_function_are_controls_and_turning_them_runs_it_again(
    loss: Any,
) -> None:
    lab = MemoryTimeline(loss)
    assert list(lab.controls) == ["depth", "checkpointing", "no_grad", "retain_graph", "before",
                                  "step"]  # fmt: skip
    assert most(lab) == 8 * SIZE

    lab.controls["depth"].value = 12
    assert most(lab) == 12 * SIZE

    lab.controls["checkpointing"].value = True
    assert most(lab) == (2 + 4) * SIZE


def test_no_grad_keeps_nothing_and_retain_graph_keeps_all_to_the_end(loss: Any) -> None:
    lab = MemoryTimeline(loss)

    lab.controls["retain_graph"].value = True
    assert lab.timeline.bytes_saved[-1] == 8 * SIZE
    assert "At the end: 2,048 bytes." in lab.canvas.caption

    lab.controls["no_grad"].value = True
    assert most(lab) == 0
    assert lab.canvas.caption.startswith("Nothing new was saved for backward.")


def test_a_control_that_is_turned_by_the_browser_gives_the_same_figures(loss: Any) -> None:
    # There no frame of the learner's is around the run, as in a cell: frames must not keep arrays.
    lab = MemoryTimeline(loss, depth=4)
    here = lab.timeline

    for depth in (8, 4):
        turning = threading.Thread(target=setattr, args=(lab.controls["depth"], "value", depth))
        turning.start()
        turning.join()

    assert lab.timeline.bytes_saved == here.bytes_saved
    assert lab.timeline.total == here.total


def test_the_gradients_of_the_learner_stay_as_they_were(loss: Any, weights: list[Any]) -> None:
    weights[0].grad = torch.full((WIDTH, WIDTH), 3.0)
    before = weights[0].grad

    MemoryTimeline(loss)

    assert weights[0].grad is before
    assert before.tolist() == [[3.0] * WIDTH] * WIDTH
    assert weights[1].grad is None


def test_the_mark_begins_at_the_peak_and_tells_of_the_step_it_is_moved_to(loss: Any) -> None:
    lab = MemoryTimeline(loss)
    assert lab.step.value == lab.timeline.peak + 1
    picture = lab.canvas.svg

    lab.step.value = 1

    assert lab.canvas.caption.startswith("Step 1 of ")
    assert lab.canvas.svg != picture


def test_a_band_that_is_picked_names_the_node_and_the_rule(loss: Any) -> None:
    lab = MemoryTimeline(loss)
    first = next(band for band in lab.timeline.bands if not band.before)

    lab.canvas.picked = first.id

    assert "because the rule for" in lab.canvas.caption
    assert "Backward has freed it." in lab.canvas.caption

    lab.canvas.picked = ""
    assert lab.canvas.caption.startswith("Step ")


def test_what_was_there_before_is_shown_on_demand(loss: Any) -> None:
    lab = MemoryTimeline(loss)
    count = lab.canvas.svg.count("data-id")

    lab.controls["before"].value = True

    assert lab.canvas.svg.count("data-id") > count


def test_a_function_may_call_backward_itself() -> None:
    x = torch.ones(10, requires_grad=True)

    def training_step() -> None:
        x.exp().sum().backward()

    lab = MemoryTimeline(training_step)

    assert lab.message == ""
    assert most(lab) == 40
    assert lab.timeline.bytes_saved[-1] == 0


def test_a_function_that_went_back_through_what_it_returns_is_not_run_back_again() -> None:
    x = torch.ones(10, requires_grad=True)

    def training_step() -> Any:
        loss = x.exp().sum()
        loss.backward()
        return loss

    lab = MemoryTimeline(training_step)

    assert lab.message == ""
    assert lab.timeline.words.count("backward through x.exp()") == 1


def test_through_a_result_made_of_gradients_the_lab_goes_back() -> None:
    x = torch.ones(10, requires_grad=True)

    def penalty() -> Any:
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        return (g**2).sum()

    lab = MemoryTimeline(penalty)

    assert lab.timeline.bytes_saved[-1] == 0
    assert "backward through g**2" in lab.timeline.words
    assert "It is still kept at the end." not in str(lab.timeline.bands)


def test_a_step_is_shown_without_a_run_and_after_an_error_the_function_runs_again() -> None:
    runs = []

    def loss(depth: int = 1) -> Any:
        runs.append(depth)
        if depth > 1:
            raise ValueError("too deep")
        return (torch.ones(3, requires_grad=True) * 2).exp().sum()

    lab = MemoryTimeline(loss)
    lab.controls["step"].value = 2
    lab.controls["before"].value = True
    assert runs == [1] and lab.canvas.caption.startswith("Step 2 of")

    lab.controls["depth"].value = 2
    assert "too deep" in lab.message
    lab.controls["depth"].value = 1
    assert runs == [1, 2, 1] and not lab.message


def test_an_argument_with_the_name_of_a_control_of_the_lab_is_refused() -> None:
    with pytest.raises(TypeError, match="control 'step' of its own"):
        MemoryTimeline(lambda x, step=3: (x * step).sum(), x=torch.ones(2, requires_grad=True))


def test_a_recording_is_shown_without_controls_that_would_run_it() -> None:
    x = torch.ones(10, requires_grad=True)
    with record() as recording:
        x.exp().sum().backward()

    lab = MemoryTimeline(recording)

    assert list(lab.controls) == ["before", "step"]
    assert most(lab) == 40


def test_the_repr_and_the_still_picture_are_the_same_every_time(loss: Any) -> None:
    one, two = MemoryTimeline(loss), MemoryTimeline(loss)

    assert repr(one) == repr(two)
    assert repr(one).startswith("MemoryTimeline(At most 2,048 bytes were saved for backward")
    assert one.still() == two.still() == one.canvas.svg


def explodes() -> Any:
    raise ValueError("too deep")


def never_ends() -> Any:
    while True:
        pass


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (explodes, "ValueError: too deep"),
        (lambda: None, "The lambda returned nothing"),
        (lambda: 3.0, "The lambda returned the float"),
        (lambda: torch.ones(3, requires_grad=True) * 2, "only for scalar outputs"),
        (lambda: torch.tensor(1.0, requires_grad=True), "The lambda did no operation on a tensor"),
    ],
)
def test_what_is_wrong_with_a_function_is_said_in_the_lab(function: Any, words: str) -> None:
    assert words in MemoryTimeline(function).message


@the_clock_strikes
def test_a_loop_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff_kit.widgets import memory

    run = memory.run
    monkeypatch.setattr(memory, "run", lambda function: run(function, seconds=0.2))

    lab = MemoryTimeline(never_ends)

    assert "never_ends was stopped" in lab.message


def test_after_an_error_the_last_good_picture_stays(loss: Any) -> None:
    lab = MemoryTimeline(loss)
    picture = lab.canvas.svg

    def broken() -> Any:
        raise ZeroDivisionError

    lab._source = broken
    lab.controls["depth"].value = 4

    assert "ZeroDivisionError" in lab.message or "TypeError" in lab.message
    assert lab.canvas.svg == picture


@pytest.mark.parametrize("source", [3, "loss", torch.ones(2)])
def test_what_is_neither_function_nor_recording_is_refused(source: Any) -> None:
    with pytest.raises(TypeError, match="a lab needs a function"):
        MemoryTimeline(source)


def test_arguments_that_are_not_there_are_refused(loss: Any) -> None:
    with pytest.raises(TypeError, match="no argument 'width'"):
        MemoryTimeline(loss, width=3)
    with record() as recording:
        torch.ones(1)
    with pytest.raises(TypeError, match="a recording takes no arguments"):
        MemoryTimeline(recording, depth=3)


def test_one_byte_was_saved() -> None:
    lab = MemoryTimeline(lambda x=1.0: torch.where(x > 0, x, -x))  # saves the condition

    assert lab.canvas.caption.startswith("At most 1 byte was saved for backward")


def test_there_is_no_timeline_before_a_run_has_ended() -> None:
    def failing(x: float = 1.0) -> Any:
        raise ValueError("not yet")

    assert MemoryTimeline(failing).timeline is None
