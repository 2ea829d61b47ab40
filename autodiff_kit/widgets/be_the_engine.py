"""Be the engine: the learner performs the graph and the backward pass of their own code.

After reading you know that all answers are judged in the browser, by comparison with a script that
is made here once, so that the lab works without a kernel as well; and where the result can be read.
Read next: ``view/perform/__init__.py``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traitlets

from autodiff_kit.record.recording import Recording
from autodiff_kit.view.perform.page import LEVELS, PerformPayload, perform_payload, perform_to_html
from autodiff_kit.view.perform.walk import Walk
from autodiff_kit.view.svg import still_svg
from autodiff_kit.view.viewer import performing_script, static
from autodiff_kit.widgets.base import KitWidget
from autodiff_kit.widgets.running import with_article

__all__ = ["BeTheEngine"]

MANY = 60  # questions; those that lessons ask take minutes, and are less than 40


class BeTheEngine(KitWidget):
    """Perform what autograd does with your code: build the graph, pass gradients back, add up.

    At each step you answer: which node is next, what it passes on, what is in ``.grad``. A wrong
    answer says what went wrong and shows it in the graph; after two, a smaller question is offered.

    Parameters
    ----------
    recording : Recording
        What to perform: ``rec`` from ``with ak.record() as rec:``, of at most 60 nodes
        (or as many in ``lines``, of 400).
    only : str or sequence of str, optional
        ``"build"``, ``"backward"`` or ``"state"``, or several; by default all three.
    level : str
        ``"worked"`` shows each kind of step once, ``"guided"`` offers choices, ``"free"`` lets you
        type, ``"exam"`` says nothing until the end. It can be changed at any time.
    lines : (int, int), optional
        Of a recording with more nodes: the first and the last line whose nodes are asked about. The
        kit performs the others.

    Attributes
    ----------
    level : str
        As above.
    log : list
        What was answered so far: a view that is made anew stands where it stood.
    result : dict
        At the end, what was mastered and what to try again, as ``view/perform/walk.py`` has it;
        ``{}`` before.
    note : str
        Shown at the beginning: that this will be long, and how to ask for less. At the end: why the
        result could not be kept, for example.

    Raises
    ------
    TypeError
        If this is no recording; the message says how to make one.
    PerformError
        If it cannot be performed: with too many nodes, for example.
    ValueError
        If ``only`` names no part.
    TraitError
        If there is no such level.

    Examples
    --------
    >>> import autodiff_kit as ak
    >>> with ak.record() as rec:
    ...     w = ak.tensor(3.0, requires_grad=True)
    ...     x = ak.tensor(2.0, requires_grad=True)
    ...     loss = w * x + w
    ...     loss.backward()
    >>> BeTheEngine(rec, only="backward")
    BeTheEngine(backward: w, x, w * x, loss = w * x + w)
    """

    _esm = performing_script()
    _css = static("kit.css") + static("engine.css")

    level = traitlets.Enum(LEVELS, default_value="guided").tag(sync=True)
    log: traitlets.List[Any] = traitlets.List().tag(sync=True)
    result = traitlets.Dict().tag(sync=True)
    note = traitlets.Unicode("").tag(sync=True)
    _is_new = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self,
        recording: Recording,
        only: str | Sequence[str] | None = None,
        level: str = "guided",
        lines: tuple[int, int] | None = None,
        **traits: Any,
    ) -> None:
        if not isinstance(recording, Recording):
            raise TypeError(
                "BeTheEngine performs a recording, and this is "
                f"{with_article(type(recording).__name__)}.\n"
                "Make one with `with ak.record() as rec:` around your code, then "
                "`BeTheEngine(rec)`."
            )
        payload, self.picture = perform_payload(recording, only, lines)
        self.script = payload["script"]
        self._perform_payload = self._shown(payload)
        note = "" if traits.get("log") else self._note_on_length()
        super().__init__(self._perform_payload, **{"level": level, "note": note, **traits})
        titles = self._words.partition(": ")[2]
        self._words = f"{', '.join(self.script['parts'])}: {titles}"

    def _shown(self, payload: PerformPayload) -> PerformPayload:
        """Return what the browser gets: here, everything."""
        return payload

    def _note_on_length(self) -> str:
        """Return what to say of a performance of very many questions, else an empty text."""
        walk = Walk(self.script)
        while walk.task is not None:
            walk.show()
        count = len(walk.records)
        if count <= MANY:
            return ""
        return (
            f"There are up to {count} questions. Steps like those that you got right twice are "
            "performed for you, but not in an exam. To be asked less, choose a part or some lines: "
            "`%%engine --backward`, `%%engine --lines=3-5`, or "
            '`BeTheEngine(rec, only="backward", lines=(3, 5))`.'
        )

    def still(self) -> str:
        """Return the graph before anything is performed, as SVG text."""
        if "build" in self.script["parts"]:  # the graph is what is asked for
            return still_svg(self.picture, step=0)
        last = [k for k, frame in enumerate(self.picture.frames) if frame["phase"] == "forward"]
        return still_svg(self.picture, step=last[-1] if last else 0)

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write a page on which the same is performed: no kernel, no install, no network.

        Returns
        -------
        Path - the file written.
        """
        return perform_to_html(self._perform_payload, path, level=self.level)
