"""What the plots of a learner's function share: a lab with a point to drag, and calls with care.

After reading you know how a function is called at many points, within bounds, and how what it does
wrong becomes a sentence or a gap in a curve. All values and slopes are the kit's own autograd's.
Read next: ``slope.py`` and ``descent.py``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import partial, wraps
from inspect import Parameter, signature, unwrap
from textwrap import shorten
from typing import Any

import numpy as np

from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.scales import Scale, label
from autodiff_kit.view.words import sentence
from autodiff_kit.widgets.arguments import Arguments, Values
from autodiff_kit.widgets.at_points import Function, Outcomes, Pair, leaf_at
from autodiff_kit.widgets.controls import Control
from autodiff_kit.widgets.plotted import Plotted
from autodiff_kit.widgets.running import (
    Refused,
    name_of,
    refuse_class,
    with_article,
)
from autodiff_kit.widgets.value_controls import inner_function

__all__ = [
    "LEFT",
    "RIGHT",
    "STEPS",
    "WIDTH",
    "Further",
    "LivePlot",
    "check_takes",
    "defaults_of",
    "ends_of",
    "function_of",
    "gaps",
    "within",
]

WIDTH = 500.0  # px; so much fits beside the file browser in a window of 900 px
LEFT, RIGHT = 56.0, 488.0  # px, of all plots
STEPS = 160  # of a curve, at least


class LivePlot(Plotted):
    """A plot that follows the lab's own sliders, and its point, while they are dragged."""

    def __init__(
        self,
        controls: Mapping[str, Control],
        *,
        further: Further | None = None,
        title: str = "",
    ) -> None:
        self._own = list(controls.values())
        self._drawn_with: Any = None  # what the curve or map is of, besides the point
        more = further.controls(controls) if further else {}
        super().__init__({**controls, **more}, title=title)
        self._go_live()
        self.hear(self.canvas, "point", lambda change: self.dragged(*change["new"]))

    def _go_live(self) -> None:
        """Have the picture follow the lab's own sliders while they are dragged.

        The first picture took longer than any later one: all that is not moved is known now.
        """
        self._follow_drags(True, self._own)

    def refresh(self) -> None:
        """Draw anew; a new curve or map takes longer than a new point."""
        before = self._drawn_with
        super().refresh()
        if self._drawn_with != before:
            self._go_live()

    def dragged(self, *point: float) -> None:
        """Follow the point of the canvas: ``x, y``, or nothing if there is none."""


def ends_of(what: str, ends: Sequence[float]) -> Pair:
    """Check the two ends of an axis; a tensor must hold enough numbers between them."""
    low, high = (float(end) for end in ends)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"{what} goes from a smaller to a larger number, and not {low} to {high}.")
    far = leaf_at(max(abs(low), abs(high)))
    kind = str(far.dtype).removeprefix("torch.")
    if not far.isfinite():
        raise ValueError(f"{what} goes from {low} to {high}, where {kind} has only inf.")
    gap = float(np.spacing(far.detach().numpy()))
    if (high - low) / STEPS < gap:
        raise ValueError(
            f"{what} goes from {low} to {high}, where numbers of {kind} are {gap:.2g} apart: "
            "too few for a curve.\n-> Choose ends further apart, or nearer to 0."
        )
    return low, high


def function_of(function: Any, lab: str, example: str) -> Function:
    """Return a function, and refuse what is none."""
    refuse_class(function)
    if callable(function):
        return function
    raise TypeError(
        f"{lab} shows a function, and this is {with_article(type(function).__name__)}.\n"
        f"-> Give the function itself, not what it returns: {example}"
    )


def check_takes(function: Function, *names: str) -> None:
    """Refuse a function that cannot be called with so many numbers."""
    try:
        signature(function).bind(*names)
    except ValueError:  # written in C, it does not say what it takes
        pass
    except TypeError:
        raise Refused(
            f"The lab calls {name_of(function)} with {' and '.join(names)}, and it takes something "
            f"else.\n-> Write def f({', '.join(names)}): ... around it."
        ) from None


class Further:
    """The arguments of a function besides those that it is drawn over; they become controls.

    Parameters
    ----------
    function : callable
        The learner's, or one of a library: then the arguments that are given.
    names : sequence of str
        What a point is called by default; by the function's own names, if it has them.
    examples : mapping from str to anything
        What they begin with.

    Attributes
    ----------
    function : callable
        The function of the point alone: with the others as the controls are now.
    names : tuple of str
        What the numbers of a point are called.
    """

    def __init__(self, function: Function, names: Sequence[str], examples: Values):
        self.function, self.names = function, tuple(names)
        self._function = function
        self._arguments: Arguments | None = None
        is_own = is_own_function(function)
        parameters = [
            name
            for name, argument in parameters_of(function).items()
            if argument.kind not in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
        ]
        count = len(names)
        if is_own and len(parameters) >= count:
            self.names = tuple(parameters[:count])
        if not examples and not (is_own and len(parameters) > count):
            return
        without = [
            n for i, n in enumerate(parameters) if i < count or not (is_own or n in examples)
        ]
        self._arguments = arguments = Arguments(function, examples, without=without)

        @wraps(function, updated=())
        def called(*point: Any) -> Any:
            return arguments.call(function, arguments.values(), *point)

        called.__name__ = name_of(function)
        self.function = called

    @property
    def values(self) -> Values:
        """What they are now."""
        return {} if self._arguments is None else self._arguments.values()

    def changed_at(self, *point: float) -> list[str]:
        """Return which of them the function changes in place at a point, such as a list."""
        if self._arguments is None:
            return []
        values = self._arguments.values()
        self._arguments.call(self._function, values, *map(leaf_at, point))
        return self._arguments.changed(values)

    @property
    def words(self) -> str:
        """What they are now, as ``"a = 3.0, times = 2"``."""
        arguments = self._arguments
        if arguments is None:
            return ""
        values = arguments.values()
        words = {name: arguments.words(values, [name]) for name in arguments.controls}
        more = {n: control.description.removeprefix(n) for n, control in arguments.controls.items()}
        return ", ".join(f"{n}{more[n]}{text.removeprefix(n)}" for n, text in words.items())

    def controls(self, others: Collection[str]) -> dict[str, Control]:
        """Return their controls by name; ``"lr of f"`` where the lab has an ``lr`` of its own."""
        controls = {}
        own = {} if self._arguments is None else self._arguments.controls
        for name, control in own.items():
            if name in others:
                name = f"{name} of {name_of(self.function)}"
                control.description = name
            controls[name] = control
        return controls


def parameters_of(function: Function) -> dict[str, Parameter]:
    """Return the parameters of a function; none if it does not say what it takes."""
    try:
        return dict(signature(inner_function(function)).parameters)
    except ValueError:  # written in C
        return {}


def is_own_function(function: Function) -> bool:
    """Return whether a function is the learner's own, and not of a library."""
    inner: Any = function
    while isinstance(inner, partial):
        inner = inner.func
    code = getattr(unwrap(inner_function(inner)), "__code__", None)
    return code is not None and not is_foreign(code.co_filename)


def defaults_of(function: Function, count: int) -> list[float | None]:
    """Return what the first arguments of a function begin with, as far as that is a number."""
    defaults: list[float | None] = []
    for argument in list(parameters_of(function).values())[:count]:
        value = argument.default
        if isinstance(value, Tensor) and value.numel() == 1:
            value = value.item()
        is_number = isinstance(value, int | float) and math.isfinite(value)
        defaults.append(float(value) if is_number else None)
    return defaults + [None] * (count - len(defaults))


def gaps(values: Sequence[float], outcomes: Outcomes, places: str) -> str:
    """Say where there is nothing to draw, and why."""
    words = ""
    if outcomes.failed:
        reason = str(outcomes.error).split("\n")[0]
        if not isinstance(outcomes.error, Refused):
            reason = f"{type(outcomes.error).__name__}: {reason}".rstrip(": ")
        reason = shorten(reason, 120, placeholder=" ...")
        words += (
            f" No value at {outcomes.failed} of {len(outcomes.values)} {places}: {sentence(reason)}"
        )
    odd = sum(not math.isfinite(v) for v in values) - outcomes.failed
    if odd > 0:
        words += f" At {odd} of {len(values)} {places} the value is nan or inf: a gap."
    return words


def within(scale: Scale, values: Sequence[float]) -> str:
    """Say what is left out of sight, if anything is."""
    finite = [v for v in values if math.isfinite(v)]
    if finite and (min(finite) < scale.low or max(finite) > scale.high):
        ends = f"from {label(min(finite))} to {label(max(finite))}"
        return f" Values go on outside of the picture, {ends}."
    return ""
