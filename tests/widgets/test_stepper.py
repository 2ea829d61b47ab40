"""The Stepper without a browser: what it sends, what it says of itself, what it refuses."""

import json
import re
import zlib
from typing import Any
from urllib.parse import unquote

import pytest
import traitlets
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import autodiff_kit as ak
from autodiff_kit.record import Recording, record
from autodiff_kit.view.scene import build
from autodiff_kit.widgets import Stepper

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def recording() -> Recording:
    """Record y = x * x at x = 3: two boxes; backward ends with x.grad = 6."""
    with record() as rec:
        x = ak.tensor(3.0, requires_grad=True)
        y = x * x
        y.backward()
    return rec


def sent(widget: Stepper) -> dict[str, Any]:
    """Return the payload as a browser reads it."""
    return dict(json.loads(zlib.decompress(widget.payload)))


def bundle(widget: Stepper) -> dict[str, Any]:
    bundle = widget._repr_mimebundle_()
    assert bundle is not None
    return bundle[0]


def test_what_is_sent_is_the_payload_of_the_picture(recording: Recording) -> None:
    payload = json.loads(json.dumps(build(recording).payload()))

    assert sent(Stepper(recording)) == payload


def test_a_run_that_an_error_has_ended_opens_where_it_is_explained(recording: Recording) -> None:
    with pytest.raises(RuntimeError), record() as stopped:
        x = ak.tensor(3.0, requires_grad=True)
        y = x * x
        y.backward()
        y.backward()

    assert build(stopped).frames[Stepper(stopped).step]["kind"] == "error"
    assert Stepper(stopped, step=0).step == Stepper(recording).step == 0


def test_a_picture_is_shown_as_it_is(recording: Recording) -> None:
    picture = build(recording)

    assert Stepper(picture).picture is picture


def test_the_title_can_be_chosen(recording: Recording) -> None:
    assert sent(Stepper(recording, title="A square"))["title"] == "A square"
    assert build(recording).payload()["title"] != "A square"


def test_it_begins_at_the_first_step_with_nothing_pinned(recording: Recording) -> None:
    stepper = Stepper(recording)

    assert (stepper.step, stepper.selected) == (0, "")


def test_negative_steps_count_from_the_end(recording: Recording) -> None:
    last = len(build(recording).frames) - 1

    stepper = Stepper(recording, step=-1)
    assert stepper.step == last
    stepper.step = -2
    assert stepper.step == last - 1


@pytest.mark.parametrize("step", [99, -99])
def test_a_step_that_is_not_there_is_refused_with_those_that_are(
    recording: Recording, step: int
) -> None:
    last = len(build(recording).frames) - 1

    with pytest.raises(traitlets.TraitError, match=f"step {step} is not .* use 0 to {last}, or -1"):
        Stepper(recording, step=step)


def test_a_refused_step_leaves_the_old_one(recording: Recording) -> None:
    stepper = Stepper(recording, step=1)

    with pytest.raises(traitlets.TraitError):
        stepper.step = 99

    assert stepper.step == 1


def test_something_else_than_a_recording_is_refused_with_the_way_to_make_one() -> None:
    with pytest.raises(TypeError, match=r"this is a Tensor.\nMake one with `with ak.record\(\)"):
        Stepper(ak.tensor(1.0))  # type: ignore[arg-type]


def test_its_repr_names_what_is_shown(recording: Recording) -> None:
    steps = len(build(recording).frames)

    assert repr(Stepper(recording)) == f"Stepper(2 nodes, {steps} steps: x, y = x * x)"


def test_its_repr_is_the_same_for_the_same_run(recording: Recording) -> None:
    assert repr(Stepper(recording)) == repr(Stepper(recording))


def test_a_long_repr_is_cut_between_two_nodes() -> None:
    with record() as rec:
        h = ak.tensor(1.0)
        for _ in range(30):
            h = h + 1.0

    text = repr(Stepper(rec))

    assert len(text) < 110
    assert text.startswith("Stepper(31 nodes, 31 steps: h")
    assert text.endswith(", ...)")


def test_the_output_holds_the_widget_a_picture_and_words(recording: Recording) -> None:
    data = bundle(Stepper(recording))

    assert data.keys() >= {WIDGET, "image/svg+xml", "text/plain"}
    assert data["text/plain"] == repr(Stepper(recording))


def test_the_picture_of_the_same_run_is_the_same_byte_by_byte(recording: Recording) -> None:
    once, again = (bundle(Stepper(recording))["image/svg+xml"] for _ in range(2))

    assert once == again


def test_the_picture_shows_the_end_unless_a_step_is_asked_for(recording: Recording) -> None:
    end, start = (bundle(Stepper(recording, step=s))["image/svg+xml"] for s in (None, 0))

    assert ">= 6.</text>" in end  # x.grad = 3 + 3 = 2 * 3
    assert ">6.</text>" not in start


def displayed(widget: Stepper) -> list[dict[str, Any]]:
    """Return what a notebook stores when a cell ends with the widget."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(user_ns={"widget": widget})
    with capture_output() as captured:
        shell.run_cell("widget")
    InteractiveShell.clear_instance()
    return [output.data for output in captured.outputs]


def test_ahead_of_the_widget_stands_the_same_picture_which_a_style_sheet_hides(
    recording: Recording,
) -> None:
    stepper = Stepper(recording)

    sheet, picture = displayed(stepper)

    assert sheet.keys() == {"text/html"}
    [url] = re.findall(r' src="data:image/svg\+xml,([^"]*)"', sheet["text/html"])
    assert unquote(url) == stepper.still()
    assert picture == bundle(stepper)


def test_it_is_a_style_sheet_and_an_image_and_nothing_else(recording: Recording) -> None:
    sheet, _ = displayed(Stepper(recording))

    assert re.fullmatch(
        r'<style class="adk-[0-9a-f]{12}">[^<]*</style>'
        r'<img alt="Computation graph of y" width="[\d.]+" height="[\d.]+" src="[^"]*">',
        sheet["text/html"],
    )


def test_each_picture_has_a_style_sheet_of_its_own_and_the_same_one_every_time(
    recording: Recording,
) -> None:
    first, again, other = (displayed(Stepper(recording, step=s))[0] for s in (0, 0, -1))

    assert first == again
    assert first["text/html"].split(">")[0] != other["text/html"].split(">")[0]


def test_walking_does_not_change_the_picture(recording: Recording) -> None:
    stepper = Stepper(recording)
    before = bundle(stepper)["image/svg+xml"]

    stepper.step = 2

    assert bundle(stepper)["image/svg+xml"] == before


def test_a_recording_of_nothing_still_makes_a_widget() -> None:
    with record() as rec:
        pass

    stepper = Stepper(rec)

    assert sent(stepper)["frames"] == []
    assert repr(stepper) == "Stepper(0 nodes, 0 steps)"
    assert "<svg" in bundle(stepper)["image/svg+xml"]


def test_the_payload_of_a_long_run_is_less_than_a_kilobyte_for_an_op() -> None:
    with record() as rec:
        h = w = ak.tensor(1.01, requires_grad=True)
        for _ in range(299):
            h = h * w
        h.backward()

    assert len(Stepper(rec).payload) < 1000 * 299


# -- asked by the browser -----------------------------------------------------------------------


@pytest.fixture
def long() -> Recording:
    """Record 500 rounds of h = h * 1.01: drawn as a first one, a fold and a last one."""
    with record() as rec:
        h = x = ak.tensor(2.0, requires_grad=True)
        for _ in range(500):
            h = h * 1.01
        h.backward()
    assert x.grad is not None
    return rec


def asked(stepper: Stepper, content: dict[str, Any], monkeypatch: Any) -> list[Any]:
    """Send a message as the browser does; return the answers."""
    answers: list[Any] = []
    monkeypatch.setattr(stepper, "send", answers.append)
    stepper._handle_custom_msg(content, [])
    return answers


def test_a_condition_is_answered_with_steps_and_names(
    recording: Recording, monkeypatch: Any
) -> None:
    answers = asked(Stepper(recording), {"find": "grad == 6"}, monkeypatch)

    # dy/dx = 2 x = 6, complete in the last step but one
    assert answers == [{"find": "grad == 6", "steps": [(len(build(recording).frames) - 2, "x")]}]


def test_a_condition_that_is_none_is_answered_with_an_explanation(
    recording: Recording, monkeypatch: Any
) -> None:
    [answer] = asked(Stepper(recording), {"find": "vlaue > 3"}, monkeypatch)

    assert answer["find"] == "vlaue > 3"
    assert "Did you mean value?" in answer["error"]


def test_a_message_that_means_nothing_changes_nothing(
    recording: Recording, monkeypatch: Any
) -> None:
    stepper = Stepper(recording)
    before = stepper.payload

    assert asked(stepper, {"else": 1}, monkeypatch) == []
    assert stepper.payload == before


def test_steps_are_found_from_python_too(recording: Recording) -> None:
    stepper = Stepper(recording)

    (stepper.step,) = stepper.find("grad == 6")

    assert stepper.picture.frames[stepper.step]["kind"] == "accumulate"


def test_a_fold_is_opened_at_the_same_moment_and_closed_again(long: Recording) -> None:
    stepper = Stepper(long)
    still, closed = stepper.still(), sent(stepper)
    [fold] = [id for id, node in closed["nodes"].items() if "opens" in node]
    stepper.step = next(k for k, f in enumerate(closed["frames"]) if f["kind"] == "fold")
    stepper.selected = fold

    stepper.unfold(fold)

    opened = sent(stepper)
    assert len(opened["nodes"]) > len(closed["nodes"])
    assert opened["opened"] == 1
    assert "499" in opened["frames"][stepper.step]["caption"]  # as far as the fold had come
    assert stepper.still() == still  # what stands for the widget stays

    stepper._handle_custom_msg({"open": None}, [])

    assert sent(stepper) == closed
    assert closed["frames"][stepper.step]["kind"] == "fold"


def test_only_a_fold_can_be_opened(recording: Recording) -> None:
    with pytest.raises(KeyError, match="'0' is no folded box"):
        Stepper(recording).unfold("0")
