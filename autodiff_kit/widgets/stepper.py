"""The Stepper: walk through the graph that your code built, and through its backward pass.

After reading you can show any recording in a notebook. All that moves is in
``view/static/kit``; all that is said is computed in ``view/``. Read next: ``view/scene.py``.
"""

from __future__ import annotations

from typing import Any

import traitlets

from autodiff_kit.free_form import Json
from autodiff_kit.record.recording import Recording
from autodiff_kit.view.conditions import ConditionError
from autodiff_kit.view.payload import Payload, deflate
from autodiff_kit.view.scene import Picture, build
from autodiff_kit.view.svg import still_svg
from autodiff_kit.widgets.base import KitWidget, words_of
from autodiff_kit.widgets.running import with_article

__all__ = ["Stepper"]


class Stepper(KitWidget):
    """Step forward and backward through a recording: code, graph, numbers and rules side by side.

    Parameters
    ----------
    source : Recording or Picture
        What to show: ``rec`` from ``with ak.record() as rec:``, or a picture built from one.
    step : int, optional
        Step to begin at; ``-1`` is the last. The still picture shows this step too. Without it the
        widget begins at the first step, or, if an error has ended the run, at the last one, which
        explains it; the still picture shows the end, where all is told.
    title : str, optional
        Heading; that of the picture by default.

    Raises
    ------
    TypeError
        If ``source`` is neither a recording nor a picture; the message says how to make one.
    TraitError
        If there is no such step.

    Examples
    --------
    >>> import autodiff_kit as ak
    >>> with ak.record() as rec:
    ...     x = ak.tensor(3.0, requires_grad=True)
    ...     y = x * x
    ...     y.backward()
    >>> stepper = Stepper(rec)
    """

    # Until a browser has drawn it for the first time: then it comes into view, and only then.
    _is_new = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self,
        source: Recording | Picture,
        *,
        step: int | None = None,
        title: str | None = None,
        **traits: Any,
    ) -> None:
        if isinstance(source, Recording):
            source = build(source)
        if not isinstance(source, Picture):
            raise TypeError(
                f"Stepper shows a recording, and this is {with_article(type(source).__name__)}.\n"
                "Make one with `with ak.record() as rec:` around your code, then `Stepper(rec)`."
            )
        self.picture = self._drawn_still = source
        self._title = title
        is_stopped = bool(source.frames) and source.frames[-1]["kind"] == "error"
        first = -1 if is_stopped else 0
        super().__init__(self._payload(source), step=first if step is None else step, **traits)
        self._still_step = -1 if step is None else self.step
        self.on_msg(self._asked)

    def find(self, condition: str) -> list[int]:
        """Return the steps at which a condition holds, as the line below the slider finds them.

        Parameters
        ----------
        condition : str
            For example ``"abs(grad) > 1e3"`` or ``"value.isnan().any()"``; a tensor counts as true
            if any of its elements is. It is read, never run.

        Raises
        ------
        ConditionError
            If it cannot be understood; the message says why.

        Examples
        --------
        >>> import autodiff_kit as ak
        >>> with ak.record() as rec:
        ...     x = ak.tensor(3.0, requires_grad=True)
        ...     y = x * x
        ...     y.backward()
        >>> Stepper(rec).find("grad > 5")
        [6]
        """
        return [step for step, _ in self.picture.find(condition)]

    def unfold(self, node: str) -> None:
        """Draw a folded box open: ``"fold0"``; the step shown stays at the same moment.

        Raises
        ------
        KeyError
            If there is no such box, or nothing to open in it.
        """
        box = self.picture.payload()["nodes"].get(node)
        key = None if box is None else box.get("opens")
        if key is None:
            raise KeyError(f"{node!r} is no folded box that can be opened")
        self._redraw(self.picture.opened(key))

    def fold(self, part: str) -> None:
        """Fold a part that is drawn open, by its title: ``"net.1"``; the moment stays the same.

        Raises
        ------
        KeyError
            If no part of this title is open; the message says which are.
        """
        parts = self.picture.payload()["parts"]
        key = next((open_["key"] for open_ in parts if open_["title"] == part), None)
        if key is None:
            titles = ", ".join(repr(open_["title"]) for open_ in parts) or "none"
            raise KeyError(f"{part!r} is no part that is open; those are: {titles}")
        self._redraw(self.picture.closed(key))

    def show(self, source: Recording | Picture) -> None:
        """Show another recording in place, at the same step, or at its last one if it has fewer.

        At the last step it stays at the last step.
        """
        picture = build(source) if isinstance(source, Recording) else source
        self._drawn_still = picture
        is_at_end = self.step == self._steps - 1
        self._replace(picture, -1 if is_at_end else self.step)

    def _payload(self, picture: Picture) -> Payload:
        payload = picture.payload()
        return payload if self._title is None else {**payload, "title": self._title}

    def _asked(self, widget: Any, content: Any, buffers: Any) -> None:
        """Answer the browser, which has the words of all steps but not the numbers."""
        if "find" in content:
            answer: Json = {"find": content["find"]}
            try:
                answer["steps"] = self.picture.find(str(content["find"]))
            except ConditionError as error:
                answer["error"] = str(error)
            self.send(answer)
        elif "open" in content:
            self._redraw(self.picture.opened(content["open"]))
        elif "close" in content:
            self._redraw(self.picture.closed(content["close"]))

    def _redraw(self, picture: Picture) -> None:
        """Draw the same recording in another way, at the moment that is shown now."""
        folds = {box: key for key, box in _folds(self.picture).items()}
        with self.hold_sync():
            if self.selected in folds:  # folds are numbered anew
                self.selected = _folds(picture).get(folds[self.selected], "")
            self._replace(picture, self.picture.same_moment(self.step, picture))

    def _replace(self, picture: Picture, step: int) -> None:
        payload = self._payload(picture)
        self.picture, self._steps = picture, max(len(payload["frames"]), 1)
        self._words = words_of(payload)
        with self.hold_sync():
            self.payload, self.step = deflate(payload), min(step, self._steps - 1)
            if self.selected not in payload["nodes"]:
                self.selected = ""

    def still(self) -> str:
        """Return the graph at the step asked for, or at the end, as SVG text."""
        return still_svg(self._drawn_still, step=self._still_step)


def _folds(picture: Picture) -> dict[tuple[int, int], str]:
    """Return the folded boxes by their keys."""
    parts = picture.outline.parts
    boxes = picture.outline.boxes
    return {} if parts is None else {parts.key(b.part): b.id for b in boxes if b.part}
