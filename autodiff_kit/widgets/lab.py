"""What every lab shares: one card with controls and pictures, and an answer to whatever code does.

After reading you can write a lab of your own: give ``Lab`` the controls, and say in ``draw`` how
the picture follows from them. What goes wrong in the learner's code becomes words in the lab; the
last good picture stays. Read next: ``controls.py``, ``running.py``, then a lab such as
``compare.py``.
"""

from __future__ import annotations

import os
import textwrap
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import traitlets
from IPython.display import display

from autodiff_kit.files import written_whole
from autodiff_kit.view.page import whole_page
from autodiff_kit.view.stand_in import outputs
from autodiff_kit.view.viewer import lab_script, static
from autodiff_kit.widgets.base import REPR_WIDTH, Message, picture_stand_in
from autodiff_kit.widgets.canvas import Canvas
from autodiff_kit.widgets.controls import Button, Control
from autodiff_kit.widgets.failures import in_words

if TYPE_CHECKING:
    from autodiff_kit.widgets.figures import PlotFigure

__all__ = ["Lab", "SecondPicture", "Settings"]

Settings = Mapping[str, Any]  # what controls are set to, by their names

SENDING = 0.001  # seconds in which the kernel's own thread can send what was drawn
SLOW = 0.25  # seconds; when a picture takes longer, sliders wait until they are released

_PAGE_STYLE = """
.adk-page { color: light-dark(#1d2530, #e7ebf0); font: 15px/1.5 system-ui, sans-serif; }
.adk-page > * { max-width: 1100px; margin-inline: auto; }
h1 { font-size: 18px; } p { white-space: pre-line; }
svg { display: block; max-width: 100%; height: auto; }
"""


# The colours of the kit, for the card around the picture, too.
_COLOURS = static("kit.css").partition("/* ---- 2.")[0].replace(".adk-root", ".adk-lab")


class Lab(Canvas):
    """A card with controls and one or more pictures; it is drawn anew when a control changes.

    A lab is one widget: its controls, pictures and words are traits of its own. A subclass sets up
    what ``draw`` needs, and calls this constructor last: it draws at once.

    Parameters
    ----------
    controls : dict from str to Control
        Each is named by its key where it has no ``description``. Any change calls ``refresh``.
    title : str
        Heading; none if empty.

    Attributes
    ----------
    controls : dict from str to Control
        By name; each can be set, observed and linked: ``lab.controls["x"].value = 2.0``.
    state : dict from str to anything
        What all controls are set to. Setting some of them draws once: ``lab.state = {"x": 2.0}``.
    message : str
        What went wrong the last time, in words; ``""`` if nothing did.
    note : str
        Words below the picture that are no part of the still picture, such as times.

    Examples
    --------
    >>> from autodiff_kit.widgets.controls import Slider
    >>> class Square(Lab):
    ...     def draw(self):
    ...         side = self.controls["side"].value
    ...         self.svg = f'<svg width="{side}" height="{side}"><rect/></svg>'
    ...         self.caption = f"A square of side {side}."
    >>> lab = Square({"side": Slider(3)})
    >>> lab.controls["side"].value = 4
    >>> lab
    Square(A square of side 4.)
    >>> lab.state = {"side": 5}
    >>> lab
    Square(A square of side 5.)

    The value of a control is a trait like any other: two labs follow each other.

    >>> import ipywidgets
    >>> other = Square({"side": Slider(1)})
    >>> link = ipywidgets.link((lab.controls["side"], "value"), (other.controls["side"], "value"))
    >>> other
    Square(A square of side 5.)
    """

    _esm = lab_script()
    _css = _COLOURS + static("kit.css") + static("canvas.css") + static("labs/lab.css")

    revival = "To use this lab, run the notebook again."  # below the picture that stands for it

    heading = traitlets.Unicode("").tag(sync=True)
    state = traitlets.Dict().tag(sync=True, to_json=lambda _, lab: lab._sent())
    note = traitlets.Unicode("").tag(sync=True)
    alert = traitlets.Unicode("").tag(sync=True)
    second_svg = traitlets.Unicode("").tag(sync=True)
    second_caption = traitlets.Unicode("").tag(sync=True)
    _controls: Any = traitlets.List().tag(sync=True)  # their looks
    # By control: how often it was moved in the browser and to what; how many of these are answered.
    _moves = traitlets.Dict().tag(sync=True)
    _answered = traitlets.Dict().tag(sync=True)
    _has_picture = traitlets.Bool(True).tag(sync=True)
    _has_note = traitlets.Bool(False).tag(sync=True)  # then it has its room at any time
    _are_beside = traitlets.Bool(False).tag(sync=True)  # the two pictures
    _controls_beside = traitlets.Bool(False).tag(sync=True)  # the picture, where there is room

    # One for all labs: linked ones change each other, and could wait for each other for ever.
    _turn = threading.RLock()

    def __init__(self, controls: Mapping[str, Control], *, title: str = "") -> None:
        for name, control in controls.items():
            if not isinstance(control, Control):
                raise TypeError(
                    f"{name!r} is no control of a lab: it is {type(control).__name__}.\n"
                    "-> Take one of autodiff_kit.widgets.controls, such as Slider(3, 0, 10)."
                )
            control.description = control.description or name
        self.controls = dict(controls)
        self._initial: Settings = {}
        self.message = ""
        self._is_busy = False
        self._rest: Callable[[], object] | None = None  # what is done once the picture is sent
        super().__init__(heading=title)
        for control in self.controls.values():
            looks = [name for name in control.trait_names() if name != "value"]
            control.observe(self._draw_controls, looks)
            if control.has_trait("value"):
                self.hear(control, "value", lambda _: self.refresh())
        self.refresh()
        self._initial = self._sent()
        self._draw_controls()

    @property
    def canvas(self) -> Canvas:
        """The main picture, which is the lab itself."""
        return self

    def hear(
        self, subject: traitlets.HasTraits, trait: str, answer: Callable[[Message], object]
    ) -> None:
        """Have ``answer`` called when a trait changes, each change in its turn.

        Two changes may come in two threads: JupyterLab sends what its widgets do past the cell
        that runs, by a subshell of the kernel. The second waits until the first is answered.
        """

        def heard(change: Message) -> None:
            with self._turn:
                answer(change)

        subject.observe(heard, trait)

    def turn(self, to: Settings) -> None:
        """Set controls, as a learner would, one after the other.

        Raises
        ------
        TypeError
            If there is no such control; the message names those that there are.
        """
        for name, value in to.items():
            self._control(name).value = value

    def _control(self, name: str) -> Control:
        if name not in self.controls:
            raise TypeError(
                f"there is no control {name!r} to set.\n-> There are: {', '.join(self.controls)}."
            )
        return self.controls[name]

    # ---- what the browser is told, and tells ----

    def _sent(self) -> Settings:
        return {name: control.sent() for name, control in self.controls.items()}

    def _control_values(self) -> Settings:
        return {n: c.value for n, c in self.controls.items() if c.has_trait("value")}

    def _draw_controls(self, _: Any = None) -> None:
        self._controls = [
            {"name": name, "first": self._initial.get(name), **control.look()}
            for name, control in self.controls.items()
        ]

    @traitlets.validate("state")
    def _set_state(self, proposal: Message) -> Settings:
        """Set controls to what is given, and complete it."""
        settings = proposal["value"]
        for name in settings:
            self._control(name)
        news = {n: v for n, v in settings.items() if not _is_same(self.controls[n].value, v)}
        if news:
            with self._turn, self._together():
                for name, value in news.items():
                    self.controls[name].value = value
        return self._control_values()

    @traitlets.observe("_moves")
    def _moved(self, change: Message) -> None:
        """Set controls as they were moved in the browser; answer all moves at once."""
        with self._turn:
            self._answer_moves(change)
            self._finish()

    def _answer_moves(self, change: Message) -> None:
        with self.hold_sync():
            counts, before = dict(self._answered), self._sent()
            buttons = []
            with self._together() as changes:
                for name, (count, value) in change["new"].items():
                    if name not in self.controls or count <= counts.get(name, 0):
                        continue
                    counts[name] = count
                    control = self.controls[name]
                    if isinstance(control, Button):
                        buttons.append(control)
                        continue
                    with suppress(traitlets.TraitError):  # such as a choice that is there no more
                        control.receive(value)
                changes.append(self._sent() != before)
            for button in buttons:
                button.click()
            self._answered = counts

    @contextmanager
    def _together(self) -> Iterator[list[bool]]:
        """Draw once for all controls that are set inside, unless the last thing noted is False."""
        changes: list[bool] = []
        outer, self._is_busy = self._is_busy, True
        try:
            yield changes
        finally:
            self._is_busy = outer
        if not changes or changes[-1]:
            self.refresh()

    # ---- drawing ----

    def draw(self) -> None:
        """Run what there is to run, and set ``svg`` and ``caption``.

        Whatever is raised here is shown in the lab; set the picture last, so that it stays whole.
        """
        raise NotImplementedError

    def refresh(self) -> None:
        """Draw anew; an error becomes words in the lab, and the last good picture stays."""
        with self._turn:
            if not self._is_busy:  # else draw() has set a control
                with self.hold_sync():  # all of it comes to the browser in one message
                    self._refresh()
                    self.set_trait("state", self._control_values())
                self._finish()

    def afterwards(self, rest: Callable[[], object]) -> None:
        """Have this done after ``draw``, when the browser has the picture: timings, for example."""
        self._rest = rest

    def _refresh(self) -> None:
        self._rest = None
        start = perf_counter()
        self._tried(self.draw)
        if perf_counter() - start > SLOW:
            self._follow_drags(False)

    def _finish(self) -> None:
        """Do what ``afterwards`` was told, unless the picture has not been sent yet."""
        if self._rest is None or self._holding_sync:
            return
        rest, self._rest = self._rest, None
        if self.comm is not None:
            sleep(SENDING)
        with self.hold_sync():
            self._tried(rest)

    def _tried(self, task: Callable[[], object]) -> None:
        """Do something; an error becomes words in the lab."""
        self._is_busy = True
        try:
            task()
            message = ""
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            message = in_words(error, has_run=bool(self.svg), controls=bool(self.controls))
        finally:
            self._is_busy = False
        self.tell(message)

    def _follow_drags(self, is_live: bool, controls: Collection[Control] | None = None) -> None:
        """Have sliders follow each step of a drag, or wait until they are released."""
        for control in self.controls.values() if controls is None else controls:
            if control.has_trait("continuous_update"):
                control.set_trait("continuous_update", is_live)

    def tell(self, message: str) -> None:
        """Show what went wrong, and the picture greyed; with ``""``, that all is well."""
        self.message = message
        stale = bool(message and self.svg)
        if stale:
            message += "\nThe picture below, in grey, is that of the last run that succeeded."
        (self.add_class if stale else self.remove_class)("adk-stale")
        self.alert = message

    def shown(self) -> str:
        """Return the picture as it is seen now, as SVG text."""
        return self.still()

    def figure(self) -> PlotFigure:
        """Return the picture as it is now as a matplotlib Figure of its own, without pyplot.

        Raises
        ------
        RuntimeError
            If there is no picture, because of what stands in the lab.
        """
        from autodiff_kit.widgets.svg_figures import figure_of_svg  # and with it matplotlib

        return figure_of_svg(self._shown_picture())

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file; its ending says the kind: ``.png``, ``.svg``, ``.pdf``.

        Raises
        ------
        RuntimeError
            If there is no picture.
        ValueError
            If matplotlib does not know the ending; the message names those it knows.
        """
        target = Path(path)
        dated = target.suffix != ".svg"
        self.figure().savefig(target, dpi=160, metadata=None if dated else {"Date": None})
        return target

    def _shown_picture(self) -> str:
        """Return what is shown, and refuse if that is nothing."""
        still = self.shown()
        if not still:
            raise RuntimeError(f"There is no picture yet.\n{self.message}")
        return still

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
        still = self._shown_picture()
        words = "".join(f"<p>{escape(w)}</p>" for w in (self.caption, self.message) if w)
        title = escape(self.heading or type(self).__name__)
        with written_whole(path) as file:
            body = f"<h1>{title}</h1>\n{still}\n{words}"
            file.write(whole_page(title, body, style=_PAGE_STYLE).encode())
        return Path(path)

    def __repr__(self) -> str:
        """Say what is shown: the same words for the same picture, without address or time."""
        words = self.message.split("\n")[0] or self.caption
        short = textwrap.shorten(words, REPR_WIDTH, placeholder=" ...")
        return f"{type(self).__name__}({short})"

    def _ipython_display_(self) -> None:
        """Show the lab, and have the still picture ready where it cannot come back."""
        still = self.still()
        words = picture_stand_in(still, self.revival) if still else ""
        for data, metadata in outputs(words, self._repr_mimebundle_()):
            display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]


class SecondPicture:
    """The other picture of a lab, below the main one or beside it: nothing in it can be picked.

    Attributes
    ----------
    svg, caption : str
        As of a ``Canvas``.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    @property
    def svg(self) -> str:
        """The picture."""
        return str(self._lab.second_svg)

    @svg.setter
    def svg(self, text: str) -> None:
        self._lab.second_svg = text

    @property
    def caption(self) -> str:
        """Its words."""
        return str(self._lab.second_caption)

    @caption.setter
    def caption(self, text: str) -> None:
        self._lab.second_caption = text


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two settings are equal, and of one type: True is not 1."""
    return type(one) is type(other) and bool(one == other)
