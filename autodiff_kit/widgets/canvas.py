"""A picture drawn by Python that can be picked from and dragged in, with a line of words below it.

After reading you can put any SVG of your own into a notebook and hear what is done with it: which
element was clicked, where the point was dragged. The labs' plots on it come from
``view/charts.py``, their graphs from ``view/svg.py``. Read next: ``view/static/canvas.js``, the
other end of these traits.
"""

from __future__ import annotations

import math
from typing import Any

import anywidget
import traitlets

from autodiff_kit.free_form import Bundle
from autodiff_kit.view.stand_in import with_stills
from autodiff_kit.view.viewer import joined, static
from autodiff_kit.widgets.base import Message

__all__ = ["Canvas"]


class Canvas(anywidget.AnyWidget):
    """One SVG picture, replaced whole whenever Python draws it anew.

    What the picture may contain, besides its drawing:

    - elements with ``data-id`` can be clicked and reached by keyboard; what a screen reader says
      of them is their ``aria-label`` or ``<title>``;
    - one ``<g class="adk-axes">`` with the scale of a plot: ``data-x0``, ``data-x1``, ``data-y0``,
      ``data-y1`` in data coordinates, which lie at ``data-left``, ``data-right``, ``data-bottom``,
      ``data-top`` in its own pixels (and ``data-step-x``, ``data-step-y``: one key press);
    - one ``<g class="adk-handle" data-x="..." data-y="...">``: the point that can be dragged,
      sideways only with ``data-along="x"``.

    Attributes
    ----------
    svg : str
        The picture. Colours: ``var(--adk-ink)`` and the others of ``view/static/kit.css``.
    caption : str
        What it shows, in words.
    picked : str
        ``data-id`` of the element picked last; picking it again gives ``""``.
    point : list of float
        Data coordinates of the draggable point, or nothing.

    Examples
    --------
    >>> canvas = Canvas(caption="A square.")
    >>> canvas.svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'
    >>> canvas
    Canvas(A square.)
    """

    _esm = joined(static("kit/keys.mjs"), static("canvas.js"))
    _css = static("kit.css") + static("canvas.css")

    svg = traitlets.Unicode("").tag(sync=True)
    caption = traitlets.Unicode("").tag(sync=True)
    picked = traitlets.Unicode("").tag(sync=True)
    point = traitlets.List(traitlets.Float()).tag(sync=True)

    @traitlets.validate("point")
    def _a_point_or_nothing(self, proposal: Message) -> list[float]:
        point = list(proposal["value"])
        if len(point) not in (0, 2) or not all(map(math.isfinite, point)):
            raise traitlets.TraitError(
                f"point is [x, y] with finite numbers, or [] for none, and not {point}"
            )
        return point

    def still(self) -> str:
        """Return the picture, as SVG text, that stands for it where no widget can run."""
        return str(self.svg)

    def __repr__(self) -> str:
        """Return the words below the picture: the same for the same picture."""
        return f"{type(self).__name__}({' '.join(self.caption.split())})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[Bundle, Bundle] | None:
        """Add the picture itself: nbval compares it, and pages without Python show it."""
        still = self.still()
        pictures = {"image/svg+xml": still} if still else {}
        bundle = super()._repr_mimebundle_(**kwargs)
        return with_stills(bundle, {**pictures, "text/plain": repr(self)})
