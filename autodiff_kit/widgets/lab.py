"""What every lab shares: controls around a picture, and an answer to whatever the code does.

After reading you can write a lab of your own: give ``Lab`` the controls, and say in ``draw`` how
the picture follows from them. What goes wrong in the learner's code becomes words in the lab; the
last good picture stays. Read next: ``running.py``, then a lab such as ``compare.py``.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import textwrap
import threading
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import anywidget
import ipywidgets
import traitlets
from IPython.display import display

from autodiff_kit.files import written_whole
from autodiff_kit.free_form import Bundle
from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.view.page import whole_page
from autodiff_kit.view.viewer import joined, static
from autodiff_kit.widgets.base import REPR_WIDTH, Message, picture_stand_in
from autodiff_kit.widgets.canvas import Canvas
from autodiff_kit.widgets.running import OTHER_TENSORS, Refused

__all__ = ["Lab", "Settings", "mixed_libraries"]

Settings = Mapping[str, Any]  # what controls are set to, by their names

SLOW = 0.25  # seconds; when a picture takes longer, sliders wait until they are released

_PAGE_STYLE = """
.adk-page { color: light-dark(#1d2530, #e7ebf0); font: 15px/1.5 system-ui, sans-serif; }
.adk-page > * { max-width: 1100px; margin-inline: auto; }
h1 { font-size: 18px; } p { white-space: pre-line; }
svg { display: block; max-width: 100%; height: auto; }
"""


# The colours of the kit, for the card around the picture, too.
_COLOURS = static("kit.css").partition("/* ---- 2.")[0].replace(".adk-root", ".adk-lab")


class _Words(anywidget.AnyWidget):
    """The line of words between controls and picture; its script also equips the controls."""

    _esm = joined(static("kit/keys.mjs"), static("lab.js"))
    _css = _COLOURS + static("lab.css")

    words = traitlets.Unicode("").tag(sync=True)


class Lab(ipywidgets.VBox):  # type: ignore[misc]
    """Controls of ordinary ipywidgets around one or more pictures; reruns when a control changes.

    A subclass sets up what ``draw`` needs, and calls this constructor last: it draws at once.

    Parameters
    ----------
    controls : dict from str to Widget
        Whatever has a ``value`` is observed: any change calls ``refresh``.
    title : str
        Heading; none if empty.
    extra : sequence of Widget
        Shown below the picture: a second picture, a Stepper.

    Attributes
    ----------
    controls : dict from str to Widget
        By name.
    canvas : Canvas
        The main picture.
    message : str
        What went wrong the last time, in words; ``""`` if nothing did.

    Examples
    --------
    >>> class Square(Lab):
    ...     def draw(self):
    ...         side = self.controls["side"].value
    ...         self.canvas.svg = f'<svg width="{side}" height="{side}"><rect/></svg>'
    ...         self.canvas.caption = f"A square of side {side}."
    >>> lab = Square({"side": ipywidgets.IntSlider(3)})
    >>> lab.controls["side"].value = 4
    >>> lab
    Square(A square of side 4.)

    A control is a trait like any other: two labs follow each other.

    >>> other = Square({"side": ipywidgets.IntSlider(1)})
    >>> link = ipywidgets.link((lab.controls["side"], "value"), (other.controls["side"], "value"))
    >>> other
    Square(A square of side 4.)
    """

    revival = "To use this lab, run the notebook again."  # below the picture that stands for it

    # One for all labs: linked ones change each other, and could wait for each other for ever.
    _turn = threading.RLock()

    def __init__(
        self,
        controls: Mapping[str, ipywidgets.Widget],
        *,
        title: str = "",
        extra: Sequence[ipywidgets.Widget] = (),
    ) -> None:
        self.controls = dict(controls)
        self._heading = title
        self.canvas = Canvas()
        self.message = ""
        self._is_busy = False
        self._message_line = _Words()
        row = ipywidgets.HBox(list(self.controls.values()))
        row.add_class("adk-lab-controls")
        heading = ipywidgets.HTML(escape(title))
        heading.add_class("adk-lab-title")
        above = [heading] * bool(title) + [row] * bool(self.controls)
        super().__init__([*above, self._message_line, self.canvas, *extra])
        self.add_class("adk-lab")
        for control in self.controls.values():
            if control.has_trait("style") and control.style.has_trait("description_width"):
                width = control.style.description_width
                control.style.description_width = width or "initial"
            if control.has_trait("value"):
                self.hear(control, "value", lambda _: self.refresh())
        self.refresh()

    def hear(
        self, widget: ipywidgets.Widget, trait: str, answer: Callable[[Message], object]
    ) -> None:
        """Have ``answer`` called when a trait of a widget changes, each change in its turn.

        Two changes may come in two threads: JupyterLab sends what its widgets do past the cell
        that runs, by a subshell of the kernel. The second waits until the first is answered.
        """

        def heard(change: Message) -> None:
            with self._turn:
                answer(change)

        widget.observe(heard, trait)

    def turn(self, to: Settings) -> None:
        """Set controls, as a learner would, one after the other.

        Raises
        ------
        TypeError
            If there is no such control; the message names those that there are.
        """
        for name, value in to.items():
            if name not in self.controls:
                raise TypeError(
                    f"there is no control {name!r} to set.\n-> There are: "
                    f"{', '.join(self.controls)}."
                )
            self.controls[name].value = value

    def draw(self) -> None:
        """Run what there is to run, and set ``canvas.svg`` and ``canvas.caption``.

        Whatever is raised here is shown in the lab; set the picture last, so that it stays whole.
        """
        raise NotImplementedError

    def refresh(self) -> None:
        """Draw anew; an error becomes words in the lab, and the last good picture stays."""
        with self._turn:
            if not self._is_busy:  # else draw() has set a control
                self._refresh()

    def _refresh(self) -> None:
        self._is_busy = True
        start = perf_counter()
        try:
            self.draw()
            message = ""
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            message = _in_words(error, has_run=bool(self.canvas.svg), controls=bool(self.controls))
        finally:
            self._is_busy = False
        self.tell(message)
        if perf_counter() - start > SLOW:
            for control in self.controls.values():
                if control.has_trait("continuous_update"):
                    control.continuous_update = False

    def tell(self, message: str) -> None:
        """Show what went wrong, and the picture greyed; with ``""``, that all is well."""
        self.message = message
        stale = bool(message and self.canvas.svg)
        if stale:
            message += "\nThe picture below, in grey, is that of the last run that succeeded."
        (self.canvas.add_class if stale else self.canvas.remove_class)("adk-stale")
        self._message_line.words = message

    def still(self) -> str:
        """Return the picture, as SVG text, that stands for the lab where no widget can run."""
        return str(self.canvas.svg)

    def shown(self) -> str:
        """Return the picture as it is seen now, as SVG text."""
        return self.still()

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write a page with the picture and its words; it needs a browser and nothing else.

        To step through the run of a lab that has a ``recording``: ``lab.recording.to_html(path)``.

        Parameters
        ----------
        path : path
            File to write. It is replaced as a whole or not at all.

        Returns
        -------
        Path - the file written.

        Raises
        ------
        RuntimeError
            If there is no picture; the message says why.
        OSError
            If the file cannot be written.
        """
        still = self.shown()
        if not still:
            raise RuntimeError(f"There is no picture yet.\n{self.message}")
        words = "".join(f"<p>{escape(w)}</p>" for w in (self.canvas.caption, self.message) if w)
        title = escape(self._heading or type(self).__name__)
        with written_whole(path) as file:
            body = f"<h1>{title}</h1>\n{still}\n{words}"
            file.write(whole_page(title, body, style=_PAGE_STYLE).encode())
        return Path(path)

    def __repr__(self) -> str:
        """Say what is shown: the same words for the same picture, without address or time."""
        words = self.message.split("\n")[0] or self.canvas.caption
        short = textwrap.shorten(words, REPR_WIDTH, placeholder=" ...")
        return f"{type(self).__name__}({short})"

    def _ipython_display_(self) -> None:
        """Show the lab, and have the still picture ready where it cannot come back."""
        still = self.still()
        if still:
            display({"text/html": picture_stand_in(still, self.revival)}, raw=True)  # type: ignore[no-untyped-call]
        data = self._repr_mimebundle_()
        if data is not None:
            display(data, raw=True)  # type: ignore[no-untyped-call]

    def _repr_mimebundle_(self, **kwargs: Any) -> Bundle | None:
        """Add the still picture: nbval compares it, and pages without Python show it."""
        data = super()._repr_mimebundle_(**kwargs)
        if data is None:
            return None
        still = {"image/svg+xml": self.still()} if self.still() else {}
        return {**data, **still, "text/plain": repr(self)}


def _in_words(error: BaseException, *, has_run: bool, controls: bool) -> str:
    """Return what is to be said of an error: its class, its words, the learner's line."""
    if isinstance(error, Refused):
        words = str(error)
        return f"T{words[1:]}" if words.startswith("the lambda ") else words
    if isinstance(error, KeyboardInterrupt):
        again = "Change a control to run it again." if controls else "Run the cell again."
        return f"You stopped the run.\n-> {again}"
    _, line = _place_of(error)
    words = mixed_libraries(error) or f"{type(error).__name__}: {error}".rstrip(": ")
    if line and OTHER_TENSORS not in words:
        words += f"\nIt came from line {line}"
    if OTHER_TENSORS in words:
        return words
    if has_run and controls:  # else no control has led here
        return f"{words}\n-> Change the control back, or fix the code and run its cell."
    return f"{words}\n-> Fix the code and run its cell again."


def _place_of(error: BaseException) -> tuple[FrameType | None, str]:
    """Return the learner's innermost frame that an error came through, and its line in words."""
    traceback, frame, words = error.__traceback__, None, ""
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        line = linecache.getline(name, traceback.tb_lineno).strip()
        module = traceback.tb_frame.f_globals.get("__name__", "autodiff_kit")
        if line and not is_foreign(name) and not module.startswith("autodiff_kit"):
            frame, words = traceback.tb_frame, f"{traceback.tb_lineno} of your code: {line}"
        traceback = traceback.tb_next
    return frame, words


_BETWEEN_TENSORS = re.compile(r"for (\+|-|\*|@|/|//|%|\*\* or pow\(\)): 'Tensor' and 'Tensor'")


def mixed_libraries(error: BaseException) -> str:
    """Say that a line mixes tensors of PyTorch with those of the kit; ``""`` if it does not.

    PyTorch's own words, "must be Tensor, not Tensor", do not tell the two apart.
    """
    frame, line = _place_of(error)
    pytorch = sys.modules.get("torch")
    if frame is None or pytorch is None or not isinstance(error, TypeError):
        return ""
    values = [frame.f_globals.get(name) for name in frame.f_code.co_names]
    is_between = _BETWEEN_TENSORS.search(str(error))  # which the kit can do, with its own
    if "Tensor" not in str(error) or not (is_between or any(v is pytorch for v in values)):
        return ""
    return (
        "PyTorch itself and tensors of the kit are mixed in your code.\n"
        f"It came from line {line}\n{OTHER_TENSORS}"
    )
