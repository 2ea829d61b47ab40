"""The Stepper: walk through the graph your code built, and through the way of the gradient back.

After reading you can show any recording in a notebook. All that moves is in
``view/static/kit.js``; all that is said is computed in ``view/``. Read next: ``view/scene.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.record.recording import Recording
from autodiff_kit.view.scene import Picture, build
from autodiff_kit.view.svg import still_svg
from autodiff_kit.widgets.base import KitWidget

__all__ = ["Stepper"]


class Stepper(KitWidget):
    """Step forward and backward through a recording: code, graph, numbers and rules side by side.

    Parameters
    ----------
    source : Recording or Picture
        What to show: ``rec`` from ``with ak.record() as rec:``, or a picture built from one.
    step : int, optional
        Step to begin at; ``-1`` is the last. The still picture shows this step too. Without it the
        widget begins at the first step, and the still picture shows the end, where all is told.
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
                f"Stepper shows a recording, and this is a {type(source).__name__}.\n"
                "Make one with `with ak.record() as rec:` around your code, then `Stepper(rec)`."
            )
        self.picture = source
        payload = source.payload()
        if title is not None:
            payload = {**payload, "title": title}
        super().__init__(payload, step=step or 0, **traits)
        self._still_step = -1 if step is None else self.step

    def still(self) -> str:
        """Return the graph at the step asked for, or at the end, as SVG text."""
        return still_svg(self.picture, step=self._still_step)
