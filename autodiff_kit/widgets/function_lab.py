"""A lab of one function: its arguments are the first controls, and it is run twice to be trusted.

After reading you know what the labs of a function of the learner's begin with: controls that do not
get in each other's way, a run that is examined, and an answer that is a tensor. Read next:
``control_flow.py``, ``compare.py`` or ``grad_mode.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from autodiff_kit.record.recording import Recording
from autodiff_kit.tensor import Tensor
from autodiff_kit.widgets.arguments import Arguments, Values, no_tensors
from autodiff_kit.widgets.controls import Control
from autodiff_kit.widgets.distrust import Examined, examined
from autodiff_kit.widgets.function_source import source_of_function
from autodiff_kit.widgets.lab import Lab, Settings
from autodiff_kit.widgets.running import Refused, ran, the_tensor

__all__ = ["FunctionLab"]

T = TypeVar("T")


class FunctionLab(Lab):
    """A lab that runs one function again and again.

    Parameters
    ----------
    function : callable
        The learner's.
    arguments : Arguments
        Of this function; their controls come first.
    controls : dict from str to Control
        The lab's own controls.
    then : dict from str to anything, optional
        Controls to set after the first run.
    title : str

    Raises
    ------
    TypeError
        If an argument is called as a control of the lab.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Arguments,
        controls: Mapping[str, Control],
        *,
        then: Settings | None = None,
        title: str = "",
    ) -> None:
        self._function, self._arguments = function, arguments
        self._lines, self._first_line = source_of_function(function)
        super().__init__(arguments.beside(controls), title=title)
        self.turn(then or {})

    def _examined(
        self,
        once: Callable[[], T],
        outcome: Callable[[T], Any],
        recording: Callable[[T], Recording],
        values: Callable[[T], Values] | None = None,
        failed: Callable[[T], bool] | None = None,
    ) -> Examined[T]:
        """Run the function twice; of a run, these are the result, what ran, and the arguments."""
        changed = None
        if values is not None:
            changed = lambda run: self._arguments.changed(values(run))  # noqa: E731
        runs = iter([lambda: self._arguments.settled(once, failed)])  # others are as the first
        return examined(
            self._function,
            lambda: next(runs, once)(),
            outcome,
            recording=recording,
            changed_arguments=changed,
            arguments=self._arguments.fixed,
        )

    def _answer(self, value: Any, *, has_run: bool) -> Tensor:
        """Return what the function returned, if that is a tensor, and it did something with one.

        Raises
        ------
        Refused
            If it is none, or if nothing was done with tensors; the message says how to do so.
        """
        if value is not None and not isinstance(value, Tensor) and not has_run:
            ran(value, self._function)
            raise Refused(no_tensors(self._arguments, self._function, value))
        return the_tensor(value, self._function)
