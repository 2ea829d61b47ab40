"""A lab with a Stepper in its card: one widget, in which the Stepper has no model of its own.

After reading you know how ``lab.stepper`` can be asked and moved from Python like any Stepper,
while the browser knows it only as a part of the lab. Read next: ``step_through.py``.
"""

from __future__ import annotations

from typing import Any

import traitlets

from autodiff_kit.view.viewer import lab_script
from autodiff_kit.widgets.base import Message
from autodiff_kit.widgets.lab import Lab
from autodiff_kit.widgets.stepper import Stepper

__all__ = ["InnerStepper", "StepperLab"]

_SHARED = ("payload", "step", "selected")


class InnerStepper(Stepper):
    """A Stepper that is drawn by the lab around it; shown by itself, it is one like any other."""

    lab: StepperLab | None = None

    def open(self) -> None:
        """Send nothing to the browser: the lab does."""

    def send(self, content: Any, buffers: Any = None) -> None:
        """Answer through the lab."""
        if self.comm is not None:
            super().send(content, buffers)
        if self.lab is not None:
            self.lab.send(content, buffers)

    def __repr__(self) -> str:
        """Name it as what it is to its user."""
        return f"Stepper({self._words})"

    def _ipython_display_(self) -> None:
        Stepper.open(self)
        super()._ipython_display_()


class StepperLab(Lab):
    """A lab that holds a Stepper.

    Attributes
    ----------
    stepper : Stepper or None
        What is shown, if anything is.
    payload, step, selected : bytes, int, str
        As of the Stepper, which follows them.
    """

    _esm = lab_script(stepper=True)

    payload = traitlets.Bytes().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    _is_new = traitlets.Bool(False).tag(sync=True)

    stepper: InnerStepper | None = None

    def hold(self, stepper: InnerStepper | None) -> None:
        """Show a Stepper, or none, in place of the one before."""
        if self.stepper is not None:
            self.stepper.unobserve(self._follow_stepper, list(_SHARED))
            self.stepper.lab = None
        self.stepper = stepper
        with self.hold_sync():
            if stepper is None:
                self.payload = b""
                return
            stepper.lab = self
            for name in _SHARED:
                self.set_trait(name, getattr(stepper, name))
        stepper.observe(self._follow_stepper, list(_SHARED))

    def _follow_stepper(self, change: Message) -> None:
        self.set_trait(change["name"], change["new"])

    @traitlets.observe("step", "selected")
    def _lead_stepper(self, change: Message) -> None:
        stepper = self.stepper
        if stepper is None or getattr(stepper, change["name"]) == change["new"]:
            return
        value = change["new"]
        if change["name"] == "step":  # it may be one of a recording that is shown no more
            value = min(max(value, 0), stepper._steps - 1)
        stepper.set_trait(change["name"], value)
        self.set_trait(change["name"], getattr(stepper, change["name"]))

    def _handle_custom_msg(self, content: Any, buffers: Any) -> None:
        """Have the Stepper answer what the browser asks of it."""
        if self.stepper is not None:
            with self._turn, self.hold_sync():
                self.stepper._asked(self.stepper, content, buffers)
        super()._handle_custom_msg(content, buffers)
