"""A lab whose picture is a plot: on the screen, and as a figure for a page or a slide.

After reading you know that both are drawn from one description (``view/plots.py``), so that they
show the same. Read next: ``figures.py``, or a lab such as ``histogram.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import traitlets

from autodiff_kit.view.charts import chart_svg
from autodiff_kit.view.plots import Drawing
from autodiff_kit.widgets.lab import Lab

if TYPE_CHECKING:
    from autodiff_kit.widgets.figures import PlotFigure

__all__ = ["Plotted"]


class Plotted(Lab):
    """A lab whose picture is a plot; in its figure, each plot is one of ``figure.axes``."""

    _controls_beside = traitlets.Bool(True).tag(sync=True)
    _drawing: Drawing | None = None  # the picture as it is now

    def show(self, drawing: Drawing, caption: str, point: Sequence[float] = ()) -> None:
        """Set picture, words and the point to drag in one message to the browser."""
        self._drawing = drawing
        with self.canvas.hold_sync():
            self.canvas.svg, self.canvas.caption = chart_svg(drawing), caption
            self.canvas.point = [float(v) for v in point]

    def figure(self) -> PlotFigure:
        """Return the picture as it is now as a matplotlib Figure of its own, without pyplot.

        Each plot is one of ``figure.axes``, in the coordinates of its data.

        Raises
        ------
        RuntimeError
            If there is no picture, because of what stands in the lab.
        """
        from autodiff_kit.widgets.figures import figure_of  # and with it matplotlib

        if self._drawing is None:
            raise RuntimeError(f"There is no picture yet.\n{self.message}")
        return figure_of(self._drawing)
