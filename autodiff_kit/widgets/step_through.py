"""Stepping through a function of your own: change an argument, and step through the next run.

After reading you know how a lab makes lines of code around the learner's function, so that the
Stepper can show where its arguments came from and where backward began. Read next:
``stepper.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import traitlets

from autodiff_kit.record import Recording, record
from autodiff_kit.tensor import Tensor
from autodiff_kit.widgets.arguments import Arguments, Values, no_tensors
from autodiff_kit.widgets.calls import call_name, run_line
from autodiff_kit.widgets.function_lab import FunctionLab
from autodiff_kit.widgets.lab import Settings
from autodiff_kit.widgets.running import Refused, described, fresh_grads, name_of, ran, run
from autodiff_kit.widgets.stepper_lab import InnerStepper, StepperLab

__all__ = ["StepThrough"]


class StepThrough(StepperLab, FunctionLab):
    """A function with controls for its arguments, and a Stepper through each of its runs.

    When an argument is changed, the function runs again, and the Stepper stays at the step where it
    was: so one step can be watched while what goes in changes. What the function returns is
    differentiated by ``backward()`` if it is one number that requires a gradient, unless the
    function has run backward itself.

    Parameters
    ----------
    function : callable
        Takes what you like. Its arguments become controls as in ``ControlFlow``.
    then : dict from str to anything, optional
        Controls to set after the first run.
    **examples
        What to begin with, by argument; where there is none, the argument's default.

    Attributes
    ----------
    stepper : Stepper or None
        Of the latest run that did something with tensors; None while there was none.
    recording : Recording
        Of that run; if an error has ended it, up to there.

    Raises
    ------
    TypeError
        If ``function`` is none, or an argument has nothing to begin with.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> lab = StepThrough(lambda x: x * x, x=torch.tensor(3.0, requires_grad=True))
    >>> lab.stepper.find("grad > 5")
    [6]
    >>> lab.controls["x"].value = 2.0
    >>> lab.stepper.find("grad > 5")
    []
    """

    _has_picture = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        then: Settings | None = None,
        **examples: Any,
    ) -> None:
        self.recording = Recording()
        title = f"Step through {name_of(function)}"
        arguments = Arguments(function, examples)
        super().__init__(function, arguments, {}, then=then, title=title)

    def draw(self) -> None:
        """Run the function forward and backward, and show the run in the Stepper."""
        self._is_partial = False
        value, recording, failed, went_back = self._arguments.settled(
            self._once, lambda run: run.error is not None or not _has_run(run.recording)
        )
        if not _has_run(recording):
            raise failed or Refused(no_tensors(self._arguments, self._function, value))
        self.recording = recording
        if self.stepper is None:
            self.hold(InnerStepper(self.recording))
        else:
            self.stepper.show(self.recording)
        self.note = self._no_backward(value) * (not went_back and failed is None)
        turned = self._arguments.words(self._arguments.values())  # the run may have changed its own
        self.caption = f"{self.stepper!r}{', at ' * bool(turned)}{turned}"
        if failed is not None:
            self._is_partial = True
            raise failed

    def _once(self) -> _Run:
        values = self._arguments.values()
        call = _Call(self._function, self._arguments, values)
        recordings: list[Recording] = []

        went_back = False

        def forward_and_backward() -> None:
            nonlocal went_back
            with record() as recording, fresh_grads() as grads:
                recordings.append(recording)
                with self._arguments.watching():
                    call.forward()
                if not grads.went_back:
                    call.backward()
                went_back = grads.went_back

        failed: Exception | None = None
        try:
            run(forward_and_backward, of=self._function)
        except Refused:
            raise
        except Exception as error:
            failed = error
        return _Run(call.value, recordings[0], failed, went_back)

    def _no_backward(self, value: Any) -> str:
        """Say why no backward pass was run; ``""`` if the lab has run one."""
        if _has_gradient(value):
            return ""
        what = described(value)
        if isinstance(value, Tensor):
            what = f"a tensor of shape {list(value.shape)}"
            if not value.requires_grad:
                what = "a tensor that does not require a gradient"
        return (
            f"{name_of(self._function)} returned {what}, so no backward pass was run: that begins "
            "at one number that requires a gradient."
        )

    def tell(self, message: str) -> None:
        """Say what went wrong, and which run the Stepper shows then."""
        if message and self.stepper is not None:
            content = "how far this run came" if self._is_partial else "the run before"
            message += f"\nThe Stepper shows {content}."
        super().tell(message)

    def still(self) -> str:
        """Return the graph at the end of the run as SVG text; ``""`` before the first."""
        return "" if self.stepper is None else self.stepper.still()

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write a page that steps through the latest run; it needs a browser and nothing else.

        Raises
        ------
        RuntimeError
            If there was none; the message says why.
        """
        if self.stepper is None:
            raise RuntimeError(f"There is no picture yet.\n{self.message}")
        self.recording.to_html(path)
        return Path(path)


class _Run(NamedTuple):
    """One run: what came of it, what happened, and what ended it."""

    value: Any
    recording: Recording
    error: Exception | None
    went_back: bool


def _has_run(recording: Recording) -> bool:
    return any(node["kind"] == "op" for node in recording.nodes)


class _Call:
    """The two lines that call a function and run backward, as a learner would write them."""

    def __init__(self, function: Callable[..., Any], arguments: Arguments, values: Values) -> None:
        name = call_name(function, values)
        self._result = next(n for n in ("y", "loss", "result") if n not in {name, *values})
        texts = {n: repr(v) if _is_short(v) else n for n, v in values.items()}
        self._function = function
        self._space = {name: function, **values}
        self._text = f"{self._result} = {arguments.call_text(name, texts)}"

    def forward(self) -> None:
        """Call the function."""
        run_line(self._text, "the call", self._space)
        ran(self._space[self._result], self._function)

    @property
    def value(self) -> Any:
        """What the function returned; None if it has not."""
        return self._space.get(self._result)

    def backward(self) -> None:
        """Run backward on what it returned, if it is one number that requires a gradient."""
        value = self._space[self._result]
        if _has_gradient(value):
            run_line(f"{self._result}.backward()", "the backward pass", self._space)


def _has_gradient(value: Any) -> bool:
    """Return whether backward can begin there without a gradient that is given."""
    return isinstance(value, Tensor) and value.requires_grad and value.numel() == 1


def _is_short(value: Any) -> bool:
    return isinstance(value, bool | int | float | str) and len(repr(value)) < 20
