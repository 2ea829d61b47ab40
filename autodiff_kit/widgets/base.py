"""What every widget of the kit shares: the script, a repr that says something, a still picture.

After reading you can say what travels between Python and the browser (one payload, one step, one
selection), and why a notebook that is read without Python still shows the graph. Read next:
``view/static/kit/kit.mjs``, the other end of these traits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import anywidget
import traitlets
from IPython.display import display

from autodiff_kit.free_form import Bundle
from autodiff_kit.view.payload import Payload, deflate
from autodiff_kit.view.stand_in import outputs, stand_in, with_stills
from autodiff_kit.view.viewer import script, static

__all__ = ["KitWidget", "Message", "picture_stand_in", "words_of"]

Message = Mapping[str, Any]  # what traitlets says of a trait that changes

REPR_WIDTH = 90
_PLAIN = " !$'()*+,/:;=>?@[]^`{|}~"  # what may stand in a quoted address as it is


class KitWidget(anywidget.AnyWidget):
    """A picture on a canvas that is stepped through in the browser, with no kernel needed.

    Everything that can be seen is computed here and sent once. Traits are replaced, never changed
    in place. Subclasses say what the still picture is.

    Attributes
    ----------
    payload : bytes
        What the browser draws (``view/payload.py``: ``deflate``).
    step : int
        Frame shown, from 0; can be set and linked (``jslink``) like any trait.
    selected : str
        Id of the node the learner has pinned, ``""`` for none.
    """

    _esm = script()
    _css = static("kit.css")

    payload = traitlets.Bytes().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)

    def __init__(self, payload: Payload, **traits: Any) -> None:
        self._steps = max(len(payload["frames"]), 1)  # with none, step 0 says that there is none
        self._words = words_of(payload)
        super().__init__(payload=deflate(payload), **traits)

    @traitlets.validate("step")
    def _step_in_range(self, proposal: Message) -> int:
        """Count negative steps from the end, as in a list, and refuse what is not there."""
        step = int(proposal["value"])
        if not -self._steps <= step < self._steps:
            raise traitlets.TraitError(
                f"step {step} is not in this recording: it has {self._steps} steps, "
                f"so use 0 to {self._steps - 1}, or -1 for the last one"
            )
        return step % self._steps

    def still(self) -> str:
        """Return the picture, as SVG text, that stands for the widget where no widget can run."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Name what is shown: the same words for the same recording, without any address."""
        return f"{type(self).__name__}({self._words})"

    def _ipython_display_(self) -> None:
        """Show the widget, and have the still picture ready where it cannot come back."""
        for data, metadata in outputs(picture_stand_in(self.still()), self._repr_mimebundle_()):
            display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[Bundle, Bundle] | None:
        """Add the still picture: nbval compares it, and pages without Python show it."""
        stills = {"image/svg+xml": self.still(), "text/plain": repr(self)}
        return with_stills(super()._repr_mimebundle_(**kwargs), stills)


def picture_stand_in(still: str, note: str = "To step through it, run the notebook again.") -> str:
    """Return what stands for a picture, given as SVG text, where its widget is not alive."""
    size = re.search(r' width="([\d.]+)" height="([\d.]+)"', still)
    width, height = size.groups() if size else ("600", "300")
    title = re.search("<title>([^<]*)</title>", still)
    words = title[1].replace('"', "&quot;") if title else "a picture"
    return stand_in(
        f'<img alt="{words}" width="{width}" height="{height}" src="{_address(still)}">',
        note,
    )


def _address(still: str) -> str:
    return f"data:image/svg+xml,{quote(still, safe=_PLAIN)}"


def words_of(payload: Payload) -> str:
    """Return ``"5 nodes, 20 steps: x, w, h1 = h * w, ..."``, cut at a comma where it gets long."""
    nodes = sorted(payload["nodes"].values(), key=lambda node: node["since"])
    words = f"{len(nodes)} nodes, {len(payload['frames'])} steps"
    for number, node in enumerate(nodes):
        longer = f"{words}{', ' if number else ': '}{' '.join(node['title'].split())}"
        if len(longer) > REPR_WIDTH:
            return words + (", ..." if number else "")
        words = longer
    return words
