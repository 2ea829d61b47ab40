"""Every lab answers whatever the learner's code does."""

import contextlib
import threading

import ipywidgets
import pytest

import autodiff_kit as torch
from autodiff_kit.widgets import ControlFlow, Costs
from autodiff_kit.widgets import lab as lab_module
from autodiff_kit.widgets.controls import Slider
from autodiff_kit.widgets.lab import SLOW, Lab
from autodiff_kit.widgets.running import Refused


class Bars(Lab):
    """So many bars; 13 brings bad luck."""

    def __init__(self, count=3, error=None):
        self.error, self.drawn = error or RuntimeError("thirteen\n-> Take another."), 0
        super().__init__({"count": Slider(count, 0, 20)}, title="Bars < & >")

    def draw(self):
        count = self.controls["count"].value
        self.drawn += 1
        if count == 13:
            raise self.error
        self.canvas.svg = f'<svg width="{count}" height="1"><path d="M0 0"/></svg>'
        self.canvas.caption = f"{count} bars."


def test_a_lab_draws_at_once_and_after_each_change():
    lab = Bars()
    assert lab.canvas.caption == "3 bars."

    lab.controls["count"].value = 5

    assert lab.canvas.caption == "5 bars."
    assert 'width="5"' in lab.canvas.svg


def test_what_takes_time_is_done_when_the_picture_has_been_sent(monkeypatch):
    log = []

    class Timed(Bars):
        def draw(self):
            super().draw()
            self.afterwards(self.measure)

        def measure(self):
            log.append("measured")
            self.note = f"{self.drawn} ms"

    lab = Timed()
    monkeypatch.setattr(
        lab,
        "send_state",
        lambda key=None: log.append([*([key] if isinstance(key, str) else key or ())]),
    )
    log.clear()

    lab.set_state({"_moves": {"count": [1, 5]}})  # as the browser does
    moved = [*log]
    log.clear()
    lab.state = {"count": 7}

    for steps in (moved, log):
        at = steps.index("measured")
        assert any("svg" in keys for keys in steps[:at])
        assert any("note" in keys for keys in steps[at:])
    assert lab.note == "3 ms"


def test_an_error_in_what_is_done_afterwards_is_told_and_the_picture_stays():
    class Failing(Bars):
        def draw(self):
            super().draw()
            self.afterwards(lambda: 1 / 0)

    lab = Failing()

    assert "ZeroDivisionError" in lab.message
    assert 'width="3"' in lab.canvas.svg


def test_the_picture_of_a_lab_that_is_not_alive_says_what_a_run_brings_back(monkeypatch):
    pictures = []
    monkeypatch.setattr(lab_module, "display", lambda data, **_: pictures.append(data))

    Bars()._ipython_display_()
    Costs([torch.ones(2)], sine=torch.sin)._ipython_display_()

    notes = [data["text/html"] for data in pictures if "<style" in data.get("text/html", "")]
    assert "To use this lab, run the notebook again." in notes[0]
    assert "to see the times, run the notebook again." in notes[1]
    assert "step through" not in notes[0] + notes[1]


def test_an_error_becomes_words_and_the_picture_stays_in_grey():
    lab = Bars()

    lab.controls["count"].value = 13

    assert lab.message.startswith("RuntimeError: thirteen")
    assert "raise self.error" in lab.message
    assert lab.canvas.caption == "3 bars."
    assert "adk-stale" in lab.canvas._dom_classes
    assert "in grey" in lab.alert


def test_after_an_error_the_next_good_run_clears_it():
    lab = Bars(13)
    assert "in grey" not in lab.alert  # there has been no picture

    lab.controls["count"].value = 4

    assert lab.message == lab.alert == ""
    assert "adk-stale" not in lab.canvas._dom_classes


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Refused("No.\n-> Do not."), "No.\n-> Do not."),
        (KeyboardInterrupt(), "You stopped the run."),
        (SystemExit(1), "SystemExit: 1"),
        (ValueError(), "ValueError\nIt came from line"),
        (ValueError("<b>"), "ValueError: <b>"),
    ],
)
def test_whatever_ends_a_run_is_said_in_words(error, words):
    lab = Bars(13, error)

    assert lab.message.startswith(words)


def test_the_repr_says_what_is_shown():
    lab = Bars()
    assert repr(lab) == "Bars(3 bars.)"

    lab.controls["count"].value = 13

    assert repr(lab) == "Bars(RuntimeError: thirteen)"


def test_the_bundle_holds_the_still_picture():
    lab = Bars()

    bundle, _ = lab._repr_mimebundle_()

    assert bundle["image/svg+xml"] == lab.canvas.svg == lab.still()
    assert bundle["text/plain"] == "Bars(3 bars.)"
    assert "image/svg+xml" not in Bars(13)._repr_mimebundle_()[0]


def test_a_control_set_while_drawing_does_not_draw_again():
    class Even(Bars):
        def draw(self):
            super().draw()
            self.controls["count"].value += self.controls["count"].value % 2

    assert Even(3).drawn == 1


def test_two_controls_turned_in_two_threads_at_once_are_both_obeyed():
    is_drawing, may_go_on = threading.Event(), threading.Event()

    class Both(Bars):
        def draw(self):
            super().draw()
            if self.controls["count"].value == 4:
                is_drawing.set()
                assert may_go_on.wait(10)

    lab = Both()
    first = threading.Thread(target=lambda: lab.turn({"count": 4}))
    second = threading.Thread(target=lambda: lab.turn({"count": 5}))
    first.start()
    assert is_drawing.wait(10)
    second.start()
    while lab.controls["count"].value != 5:
        pass
    may_go_on.set()
    first.join()
    second.join()

    assert lab.canvas.caption == "5 bars."


def test_two_labs_that_turn_each_other_in_two_threads_do_not_wait_for_ever():
    together = threading.Barrier(2)

    class Turning(Bars):
        other = None

        def draw(self):
            super().draw()
            if self.other is not None:
                with contextlib.suppress(threading.BrokenBarrierError):
                    together.wait(0.5)
                self.other.controls["count"].value = 1

    labs = Turning(2), Turning(2)
    labs[0].other, labs[1].other = labs[1], labs[0]
    threads = [threading.Thread(target=lab.turn, args=({"count": 5},), daemon=True) for lab in labs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)

    assert not any(thread.is_alive() for thread in threads)


def test_sliders_of_a_slow_lab_wait_until_they_are_let_go(monkeypatch):
    assert Bars().controls["count"].continuous_update
    monkeypatch.setattr("autodiff_kit.widgets.lab.SLOW", 0)

    assert not Bars().controls["count"].continuous_update
    assert SLOW > 0


def test_only_where_a_control_was_changed_is_it_to_be_changed_back():
    def fails_at_three(x: int = 3):
        if x == 3:
            raise ValueError
        return torch.tensor(float(x), requires_grad=True) * 2

    first = ControlFlow(fails_at_three)
    changed = ControlFlow(fails_at_three, x=2)
    changed.controls["x"].value = 3
    without_controls = Costs([torch.ones(2)], fails=lambda x: 1 / 0)

    assert "Change the control back" in changed.message
    for lab in (first, without_controls):
        assert "Change" not in lab.message
        assert lab.message.endswith("-> Fix the code and run its cell again.")


def test_a_heading_is_shown_as_it_is_written():
    assert Bars().heading == "Bars < & >"  # the browser puts it in as text


def test_controls_can_be_turned_from_python_and_unknown_ones_are_named():
    lab = Bars()

    lab.turn({"count": 7})
    assert lab.canvas.caption == "7 bars."
    with pytest.raises(TypeError, match=r"no control 'size' to set.\n-> There are: count"):
        lab.turn({"size": 1})


def test_a_page_shows_the_picture_and_its_words(tmp_path):
    lab = Bars(13)
    with pytest.raises(RuntimeError, match="no picture yet"):
        lab.to_html(tmp_path / "none.html")
    lab.controls["count"].value = 4
    lab.controls["count"].value = 13

    page = lab.to_html(tmp_path / "bars.html").read_text("utf-8")

    assert page.count("Bars &lt; &amp; &gt;") == 2  # as its title and as its heading
    assert lab.still() in page
    assert "<p>4 bars.</p>" in page
    assert "<p>RuntimeError: thirteen" in page
    assert [file.name for file in tmp_path.iterdir()] == ["bars.html"]
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_the_labs_of_two_linked_controls_show_the_same():
    one, other = Bars(3), Bars(7)

    link = ipywidgets.link((one.controls["count"], "value"), (other.controls["count"], "value"))
    assert other.canvas.caption == "3 bars."
    other.controls["count"].value = 9
    assert one.canvas.caption == "9 bars."

    link.unlink()
    one.controls["count"].value = 1
    assert other.canvas.caption == "9 bars."


def test_a_picture_follows_what_is_picked_in_another_lab_without_python():
    """`jslink` joins traits in the browser: both must be there, and of one type."""
    one, other = Bars(), Bars()

    link = ipywidgets.jslink((one, "picked"), (other, "picked"))

    assert link.source == (one, "picked")
    assert link.target == (other, "picked")
