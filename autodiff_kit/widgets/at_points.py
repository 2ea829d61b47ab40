"""A learner's function, called at a point or at many: within bounds, and with its slopes.

After reading you know how a picture that needs a thousand calls survives a function that fails at
some of them, never ends, or is only slow; and where autograd's slopes come from that the labs hold
against the curve. Read next: ``gradients.py``, ``one_sided.py``.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from autodiff_kit import dtypes
from autodiff_kit.autograd import enable_grad, grad
from autodiff_kit.core.observer import Observer, installed
from autodiff_kit.creation import tensor
from autodiff_kit.record.events import Params
from autodiff_kit.tensor import Tensor
from autodiff_kit.widgets.one_sided import NEAR, Curve
from autodiff_kit.widgets.running import (
    Clock,
    Refused,
    Stopped,
    fresh_grads,
    name_of,
    restorer,
    the_tensor,
)

if TYPE_CHECKING:
    from autodiff_kit.core.node import Node
    from autodiff_kit.core.op import Op

__all__ = [
    "SECONDS",
    "Function",
    "Outcomes",
    "Pair",
    "bounded",
    "curve_along",
    "everywhere",
    "gradient_at",
    "leaf_at",
    "one_number",
    "slopes_of",
    "what_ran",
]

Function = Callable[..., Any]
Pair = tuple[float, float]

SECONDS = 10.0  # one picture may take so long


class _Calls(threading.local):
    """How many calls of the learner's function have ended since a picture was begun, and when."""

    count, end = 0, 0.0


_calls = _Calls()


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
    _calls.count, _calls.end = 0, perf_counter()
    try:
        with installed(None), enable_grad(), clock:
            return function(*args)
    except Stopped as stop:
        name = name_of(of or function)
        if _calls.count > 1 and perf_counter() - _calls.end < seconds / 2:  # it is no single call
            raise Refused(
                f"{name} takes too long for this picture, which needs it at many points: "
                f"{_calls.count:,} calls took {seconds:g} seconds.\n"
                "-> Give it fewer iterations or smaller tensors."
            ) from None
        raise Refused(f"{name} was stopped: {stop}") from None
    finally:
        clock.__exit__()  # where it struck on the way in or out, it has not been ended yet
        restore()  # nor have the others


class _Ran(Observer):
    """Notes the operations that run, and how the learner's tests of tensors come out."""

    def __init__(self) -> None:
        self.outcomes: list[Any] = []

    def applied(
        self, op: Op, inputs: Sequence[Any], params: Params, out: Tensor, node: Node | None
    ) -> None:
        self.outcomes.append(op.name)

    def branched(self, tensor: Tensor, taken: bool) -> None:
        self.outcomes.append(taken)


def what_ran(function: Function, *point: float) -> list[Any] | None:
    """Return which operations and which branches run at a point; None where it fails."""
    ran = _Ran()
    try:
        with installed(ran):
            function(*map(leaf_at, point))
    except Exception:
        return None
    return ran.outcomes


def one_number(function: Function, *inputs: Tensor) -> Tensor:
    """Call the learner's function, which must give one number."""
    out = the_tensor(function(*inputs), function)
    _calls.count, _calls.end = _calls.count + 1, perf_counter()
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
        place = [*point[:axis], at, *point[axis + 1 :]]
        try:
            return float(one_number(function, *leaves(place, dtype)).item())
        except Exception:
            return math.nan

    here = value(point[axis])
    near = [value(point[axis] + way * NEAR * width) for way in (-1, 1)]
    rises = [abs(other - here) for other in near if math.isfinite(other - here)]
    return Curve(value, width, max(rises, default=0.0) / (NEAR * width), is_double)


def gradient_at(function: Function, *point: float) -> tuple[Tensor, list[Tensor], Any]:
    """Return the value of a function at a point, its inputs, and its recorded slopes.

    Raises
    ------
    Refused
        If the function has run backward by itself.
    """
    inputs = [leaf_at(value) for value in point]
    out = one_number(function, *inputs)
    try:
        return out, inputs, slopes_of(out, *inputs)
    except RuntimeError:
        refuse_backward(function, *map(leaf_at, point))
        raise


def slopes_of(out: Tensor, *inputs: Tensor) -> tuple[Tensor | None, ...]:
    """Return the gradients, recorded themselves; None where no path leads back."""
    if not out.requires_grad:
        return (None,) * len(inputs)
    return grad(out, inputs, create_graph=True, allow_unused=True)


class Outcomes(NamedTuple):
    """What came of calling a function at many points."""

    values: list[Any]  # None where it raised
    failed: int
    error: Exception | None


def everywhere(one: Callable[..., Any], points: Sequence[tuple[float, ...]]) -> Outcomes:
    """Call at each point; what raises at some points only is a gap there."""
    values: list[Any] = []
    first: Exception | None = None
    for point in points:
        try:
            values.append(one(*point))
        except Exception as error:
            values.append(None)
            first = first or error
    failed = sum(value is None for value in values)
    if first is not None and failed == len(values):
        raise first
    return Outcomes(values, failed, first)
