"""A control for a value: a slider for a number, a switch for a bool, a text for a list.

After reading you can say which control an argument gets, from its annotation or from its example,
and what is made of what the control says. Read next: ``arguments.py``.
"""

from __future__ import annotations

import copy
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any, cast

import numpy as np

from autodiff_kit.creation import tensor
from autodiff_kit.record.values import summary
from autodiff_kit.tensor import Tensor
from autodiff_kit.view.values import number
from autodiff_kit.view.words import box_value
from autodiff_kit.widgets.controls import Control, Slider, Switch

__all__ = [
    "MISSING",
    "choices_of",
    "fresh",
    "from_hint",
    "hints_of",
    "in_words",
    "inner_function",
    "is_tensor_hint",
    "shown",
    "tensor_control",
]

Hints = Mapping[str, Any]  # annotations, by argument
MISSING = inspect.Parameter.empty  # nothing is known of a value, or of its type


def inner_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what the learner has written: of a module, its ``forward``."""
    if inspect.isroutine(function) or inspect.isclass(function) or isinstance(function, partial):
        return function
    written: Any = getattr(function, "forward", None)
    written = written or type(function).__call__.__get__(function)
    return cast(Callable[..., Any], written)


def hints_of(function: Callable[..., Any]) -> Hints:
    """Return the annotations of a function, evaluated as far as that works."""
    try:
        return typing.get_type_hints(inner_function(function))
    except Exception:  # such as a name that only the type checker knows
        return {}


def is_tensor_hint(hint: Any) -> bool:
    """Return whether an annotation says that an argument is a tensor."""
    return isinstance(hint, type) and issubclass(hint, Tensor)


def from_hint(hint: Any) -> Any:
    """Return what to begin with where nothing is given but the type."""
    if is_tensor_hint(hint):
        return tensor(1.0, requires_grad=True)
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)[0]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint))
    return {int: 1, float: 1.0, bool: False}.get(hint, MISSING)


def choices_of(hint: Any, value: Any) -> list[tuple[str, Any]] | None:
    """Return what can be chosen of an enumeration, or of what an annotation lists."""
    if typing.get_origin(hint) is typing.Literal:
        return [(str(choice), choice) for choice in typing.get_args(hint)]
    if isinstance(value, Enum):
        return [(choice.name, choice) for choice in type(value)]
    if isinstance(value, list) and value and not _is_sequence(hint):
        return [(shown(choice), choice) for choice in value]
    return None


def _is_sequence(hint: Any) -> bool:
    """Return whether an argument takes a list itself, and not one of its elements."""
    return (typing.get_origin(hint) or hint) in (list, tuple)


def tensor_control(value: Tensor) -> tuple[Control, Callable[[Any], Any]]:
    """Return a control for a tensor of one number, and what makes such a tensor of its value."""
    number = value.item()
    if isinstance(number, bool):
        control: Control = Switch(number)
    elif isinstance(number, int):
        control = Slider(number, min(2 * number, 0), max(2 * number, 8))
    else:
        control = _float_slider(number)
    shape, dtype, requires_grad = value.shape, value.dtype, value.requires_grad

    def make(chosen: Any) -> Tensor:
        return tensor(chosen, dtype=dtype).reshape(shape).detach().requires_grad_(requires_grad)

    return control, make


def _float_slider(value: float) -> Control:
    reach = 4.0
    while reach < abs(value):
        reach *= 10.0 if reach < abs(value) / 5 else 2.5
    step = 0.1 if reach <= 10 else reach / 40
    # A value between two steps stays what it is until the slider is moved.
    return Slider(float(value), -reach, reach, step)


def in_words(value: Any, choices: Sequence[tuple[str, Any]] | None) -> str:
    """Return what an argument is, after a colon: the control's help says it."""
    items = [value] if choices is None else [item for _, item in choices]
    if all(isinstance(item, Tensor) for item in items):
        what = "a tensor" if choices is None else "one of these tensors"
        what += "; it requires a gradient" * all(item.requires_grad for item in items)
        return what
    if choices is not None:
        return "one of these values"
    kinds = {bool: "True or False", int: "an int", float: "a float", str: "a str"}
    return kinds.get(type(value), "an int" if isinstance(value, range) else "a value")


def fresh(value: Any) -> Any:
    """Return a tensor like this one, with no gradient and no history; or a list of such."""
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if type(value) in (list, tuple, set):
        return type(value)(map(fresh, value))
    if type(value) is dict:
        return {key: fresh(item) for key, item in value.items()}
    return copy.copy(value) if isinstance(value, bytearray | np.ndarray) else value


def shown(value: Any) -> str:
    """Return a value as it stands in a call."""
    if isinstance(value, Tensor):
        return box_value(summary(value._array))
    if isinstance(value, float):
        return number(value)
    return value.name if isinstance(value, Enum) else str(value)
