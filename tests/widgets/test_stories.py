"""``ErrorStory`` in a notebook: what it runs, what it shows, and what it says when nothing is."""

from typing import Any

import pytest

import autodiff_kit as torch
from autodiff_kit.record import record
from autodiff_kit.widgets import ErrorStory
from tests.widgets.clock import the_clock_strikes


def twice() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    y.backward()
    y.backward()


def fine() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    (x * x).backward()


def test_a_function_is_run_and_its_error_told() -> None:
    lab = ErrorStory(twice)

    assert lab.story is not None
    assert lab.message == ""
    assert lab.still() == lab.story.svg
    assert "How to fix it" in lab.canvas.svg
    assert "data-node" in lab.graph.svg
    assert repr(lab) == (
        "ErrorStory(The graph was freed by the first backward, and needed by a second)"
    )


def test_a_recording_is_told_as_it_is() -> None:
    with pytest.raises(RuntimeError), record() as rec:
        twice()

    lab = ErrorStory(rec)

    assert lab.recording is rec
    assert lab.story is not None and len(lab.story.chapters) == 3


def test_picking_a_sentence_marks_its_places_and_says_it() -> None:
    lab = ErrorStory(twice)
    assert lab.story is not None

    lab.canvas.picked = "2"

    marked = lab.canvas.svg + lab.graph.svg
    assert marked.count('adk-place-picked" data-place="2"') == 3  # in code, words and graph
    assert lab.canvas.caption.startswith("2. The first backward")
    assert 'adk-place-picked"' not in lab.still()  # the still picture stays

    lab.canvas.picked = ""

    assert 'adk-place-picked"' not in lab.canvas.svg + lab.graph.svg
    assert lab.canvas.caption.endswith("a story of 3 places.")


def test_all_is_in_the_output_that_a_notebook_keeps() -> None:
    data: Any = ErrorStory(twice)._repr_mimebundle_()[0]

    assert data["image/svg+xml"] == ErrorStory(twice).still()
    assert data["text/plain"].startswith("ErrorStory(The graph was freed")


def test_why_a_leaf_has_no_gradient_can_be_asked() -> None:
    def lost() -> None:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x.detach() * w
        y.sum().backward()

    lab = ErrorStory(lost, leaf="x")

    assert repr(lab) == "ErrorStory(No gradient flows to x)"
    assert lab.graph.caption == "The graph at the end of the run."


def test_where_nothing_went_wrong_it_says_so() -> None:
    lab = ErrorStory(fine)

    assert lab.story is None
    assert lab.still() == ""
    assert lab.message.startswith("Nothing went wrong in fine: no error")
    assert "leaf='x'" in lab.message
    assert repr(lab).startswith("ErrorStory(Nothing went wrong")


def test_an_error_that_is_none_of_the_graph_is_named() -> None:
    def broken() -> None:
        torch.tensor(1.0) + {}  # type: ignore[operator]

    lab = ErrorStory(broken)

    assert lab.message.startswith("TypeError: ")
    assert "The graph tells no more of this error" in lab.message


def test_a_leaf_that_is_not_there_is_named() -> None:
    lab = ErrorStory(fine, leaf="q")

    assert lab.message.startswith("In fine, there is no q. The leaves that require a gradient: x.")
    assert ErrorStory(fine, leaf="x").message.startswith("In fine, x got its gradient.")


@the_clock_strikes
def test_a_function_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff_kit.widgets import running, stories

    monkeypatch.setattr(stories, "run", lambda f, **more: running.run(f, seconds=0.2, **more))

    def forever() -> None:
        while True:
            pass

    lab = ErrorStory(forever)

    assert lab.message.startswith("forever was stopped: it was still running after 0.2 seconds")


@pytest.mark.parametrize("wrong", [None, 3, "f"])
def test_what_is_neither_function_nor_recording_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"def f\(\)"):
        ErrorStory(wrong)


@pytest.mark.parity
def test_a_function_of_real_pytorch_has_the_same_story() -> None:
    from tests.parity import require_torch

    real = require_torch()

    def again() -> None:
        x = real.tensor(3.0, requires_grad=True)
        y = x * x
        y.backward()
        y.backward()

    assert repr(ErrorStory(again, library=real)) == repr(ErrorStory(twice))


def test_without_a_backward_pass_nothing_is_said_of_leaves():
    def forward():
        x = torch.tensor(3.0, requires_grad=True)
        return x * x  # x.grad is None, as it should be

    message = ErrorStory(forward).message

    assert message.startswith("Nothing went wrong in forward: no error, and no backward pass.")
