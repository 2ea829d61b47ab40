"""What the plots of a learner's function share: a lab with a point to drag, and calls with care.

After reading you know how a function is called at many points, within bounds, and how what it does
wrong becomes a sentence or a gap in a curve. All values and slopes are the kit's own autograd's.
Read next: ``slope.py`` and ``descent.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial, wraps
from inspect import Parameter, signature, unwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ipywidgets

from autodiff_kit import dtypes
from autodiff_kit.autograd import enable_grad, grad
from autodiff_kit.core.observer import Observer, installed
from autodiff_kit.creation import tensor
from autodiff_kit.record.events import Params
from autodiff_kit.record.source_files import is_foreign
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.scales import Scale, label
from autodiff_kit.view.words import sentence
from autodiff_kit.widgets.arguments import Arguments, Values
from autodiff_kit.widgets.lab import Lab
from autodiff_kit.widgets.one_sided import NEAR, Curve
from autodiff_kit.widgets.running import (
    Clock,
    Refused,
    Stopped,
    fresh_grads,
    name_of,
    refuse_class,
    restorer,
    the_tensor,
    with_article,
)
from autodiff_kit.widgets.value_controls import inner_function

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from autodiff_kit.core.node import Node
    from autodiff_kit.core.op import Op

__all__ = [
    "LEFT",
    "RIGHT",
    "SECONDS",
    "WIDTH",
    "Function",
    "Further",
    "Pair",
    "Plotted",
    "bounded",
    "check_takes",
    "curve_along",
    "defaults_of",
    "ends_of",
    "everywhere",
    "function_of",
    "gaps",
    "leaf_at",
    "one_number",
    "refuse_backward",
    "slopes_of",
    "what_ran",
    "within",
]

Function = Callable[..., Any]
Pair = tuple[float, float]

WIDTH = 500.0  # px; so much fits beside the file browser in a window of 900 px
LEFT, RIGHT = 56.0, 488.0  # px, of all plots
SECONDS = 10.0  # one picture may take so long


def bounded(
    seconds: float,
    function: Callable[..., Any],
    *args: Any,
    of: Callable[..., Any] | None = None,
) -> Any:
    """Call a function with gradients on, unseen by any recorder, and not for longer than this.

    Messages name the function, or the learner's one ``of`` which it calls.

    Raises
    ------
    Refused
        If the time is up; the message says where to look.
    Exception
        Whatever the function raises.
    """
    clock, restore = Clock(seconds), restorer()
    try:
        with installed(None), enable_grad(), clock:
            return function(*args)
    except Stopped as stop:
        raise Refused(f"{name_of(of or function)} was stopped: {stop}") from None
    finally:
        clock.__exit__()  # where it struck on the way in or out, it has not been ended yet
        restore()  # nor have the others


class Plotted(Lab):
    """A lab whose picture can be had from matplotlib, too, for a page or a slide."""

    def __init__(
        self,
        controls: Mapping[str, ipywidgets.Widget],
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
        for control in self._own:
            if control.has_trait("continuous_update"):
                control.continuous_update = True

    def refresh(self) -> None:
        """Draw anew; a new curve or map takes longer than a new point."""
        before = self._drawn_with
        super().refresh()
        if self._drawn_with != before:
            self._go_live()

    def dragged(self, *point: float) -> None:
        """Follow the point of the canvas: ``x, y``, or nothing if there is none."""

    def show(self, svg: str, caption: str, point: Sequence[float] = ()) -> None:
        """Set picture, words and point in one message to the browser."""
        with self.canvas.hold_sync():
            self.canvas.svg, self.canvas.caption = svg, caption
            self.canvas.point = [float(v) for v in point]

    def figure(self) -> Figure:
        """Return the picture as it is now as a matplotlib Figure of its own, without pyplot.

        Raises
        ------
        RuntimeError
            If there is no picture, because of what stands in the lab.
        """
        from matplotlib.figure import Figure

        if not self.canvas.svg:
            raise RuntimeError(f"There is no picture yet.\n{self.message}")
        figure = Figure(figsize=(7, 5), layout="constrained")
        self.paint(figure)
        return figure

    def paint(self, figure: Figure) -> None:
        """Draw the picture into an empty figure."""
        raise NotImplementedError

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file; its ending says the kind: ``.png``, ``.svg``, ``.pdf``.

        Raises
        ------
        ValueError
            If matplotlib does not know the ending; the message names those it knows.
        """
        target = Path(path)
        dated = target.suffix != ".svg"
        self.figure().savefig(target, dpi=160, metadata=None if dated else {"Date": None})
        return target


def ends_of(what: str, ends: Sequence[float]) -> Pair:
    """Check the two ends of an axis."""
    low, high = (float(end) for end in ends)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"{what} goes from a smaller to a larger number, and not {low} to {high}.")
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
        self._arguments: Arguments | None = None
        written = written_by(function)
        known = [
            name
            for name, argument in parameters_of(function).items()
            if argument.kind not in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
        ]
        count = len(names)
        if written and len(known) >= count:
            self.names = tuple(known[:count])
        if not examples and not (written and len(known) > count):
            return
        without = [n for i, n in enumerate(known) if i < count or not (written or n in examples)]
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

    def controls(self, others: Collection[str]) -> dict[str, ipywidgets.Widget]:
        """Return their controls by name; ``"lr of f"`` where the lab has an ``lr`` of its own."""
        found = {}
        own = {} if self._arguments is None else self._arguments.controls
        for name, control in own.items():
            if name in others:
                name = f"{name} of {name_of(self.function)}"
                control.description = name
            found[name] = control
        return found


def parameters_of(function: Function) -> dict[str, Parameter]:
    """Return the parameters of a function; none if it does not say what it takes."""
    try:
        return dict(signature(inner_function(function)).parameters)
    except ValueError:  # written in C
        return {}


def written_by(function: Function) -> bool:
    """Return whether a function is the learner's own, and not of a library."""
    inner: Any = function
    while isinstance(inner, partial):
        inner = inner.func
    code = getattr(unwrap(inner_function(inner)), "__code__", None)
    return code is not None and not is_foreign(code.co_filename)


def defaults_of(function: Function, count: int) -> list[float | None]:
    """Return what the first arguments of a function begin with, as far as that is a number."""
    found: list[float | None] = []
    for argument in list(parameters_of(function).values())[:count]:
        value = argument.default
        if isinstance(value, Tensor) and value.numel() == 1:
            value = value.item()
        is_number = isinstance(value, int | float) and math.isfinite(value)
        found.append(float(value) if is_number else None)
    return found + [None] * (count - len(found))


class _Ran(Observer):
    """Notes the operations that run, and how the learner's tests of tensors come out."""

    def __init__(self) -> None:
        self.found: list[Any] = []

    def applied(
        self, op: Op, inputs: Sequence[Any], params: Params, out: Tensor, node: Node | None
    ) -> None:
        self.found.append(op.name)

    def branched(self, tensor: Tensor, taken: bool) -> None:
        self.found.append(taken)


def what_ran(function: Function, *point: float) -> list[Any] | None:
    """Return which operations and which branches run at a point; None where it fails."""
    ran = _Ran()
    try:
        with installed(ran):
            function(*map(leaf_at, point))
    except Exception:
        return None
    return ran.found


def one_number(function: Function, *inputs: Tensor) -> Tensor:
    """Call the learner's function, which must give one number."""
    out = the_tensor(function(*inputs), function)
    if out.numel() != 1:
        raise Refused(
            f"{name_of(function)} returned a tensor of shape {list(out.shape)}, and a plot "
            "needs one number for each point.\n-> End it with .sum() or .mean(), if that is meant."
        )
    return out.reshape(())


def leaf_at(value: float) -> Tensor:
    """Return a number as a leaf that requires a gradient."""
    return tensor(float(value), requires_grad=True)


def refuse_backward(function: Function, *inputs: Tensor) -> None:
    """Refuse a function that has run backward by itself when it returns."""
    with fresh_grads() as grads:
        function(*inputs)
    if grads.went_back:
        name = name_of(function)
        raise Refused(
            f"{name} runs backward() or grad() itself, which frees the graph; this lab runs it on "
            f"what {name} returns.\n-> Leave backward() out of {name}, and return the value."
        )


def curve_along(function: Function, point: Sequence[float], axis: int, width: float) -> Curve:
    """Return a function as a curve of one of its numbers, for plain values; at float64, if it can.

    Where the function raises, the curve has no value.
    """

    def leaves(at: Sequence[float], dtype: Any) -> list[Tensor]:
        return [tensor(float(value), dtype=dtype, requires_grad=True) for value in at]

    dtype: Any = dtypes.float64
    try:
        out = one_number(function, *leaves(point, dtype))
        is_double = not out.is_floating_point() or out.dtype == dtype
    except Exception:  # such as a matrix of float32 inside of it
        dtype, is_double = dtypes.float32, False

    def value(at: float) -> float:
        moved = [*point[:axis], at, *point[axis + 1 :]]
        try:
            return float(one_number(function, *leaves(moved, dtype)).item())
        except Exception:
            return math.nan

    here = value(point[axis])
    near = [value(point[axis] + way * NEAR * width) for way in (-1, 1)]
    rises = [abs(other - here) for other in near if math.isfinite(other - here)]
    return Curve(value, width, max(rises, default=0.0) / (NEAR * width), is_double)


def slopes_of(out: Tensor, *inputs: Tensor) -> tuple[Tensor | None, ...]:
    """Return the gradients, recorded themselves; None where no path leads back."""
    if not out.requires_grad:
        return (None,) * len(inputs)
    return grad(out, inputs, create_graph=True, allow_unused=True)


class Tried(NamedTuple):
    """What came of calling a function at many points."""

    found: list[Any]  # None where it raised
    failed: int
    error: Exception | None


def everywhere(one: Callable[..., Any], points: Sequence[tuple[float, ...]]) -> Tried:
    """Call at each point; what raises at some points only is a gap there."""
    found: list[Any] = []
    first: Exception | None = None
    for point in points:
        try:
            found.append(one(*point))
        except Exception as error:
            found.append(None)
            first = first or error
    failed = sum(value is None for value in found)
    if first is not None and failed == len(found):
        raise first
    return Tried(found, failed, first)


def gaps(values: Sequence[float], tried: Tried, places: str) -> str:
    """Say where there is nothing to draw, and why."""
    words = ""
    if tried.failed:
        reason = " ".join(f"{type(tried.error).__name__}: {tried.error}".split())[:120]
        words += f" No value at {tried.failed} of {len(tried.found)} {places}: {sentence(reason)}"
    odd = sum(not math.isfinite(v) for v in values) - tried.failed
    if odd > 0:
        words += f" At {odd} of {len(values)} {places} the value is nan or inf: a gap."
    return words


def within(scale: Scale, values: Sequence[float]) -> str:
    """Say what is left out of sight, if anything is."""
    known = [v for v in values if math.isfinite(v)]
    if known and (min(known) < scale.low or max(known) > scale.high):
        ends = f"from {label(min(known))} to {label(max(known))}"
        return f" Values go on outside of the picture, {ends}."
    return ""
