"""Why an op refuses its inputs, in PyTorch's words and in ours.

After reading this file you know what the core can say about a wrong operand and about shapes that
do not fit. Read next: ``checks.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autodiff_kit.core.op import Op
from autodiff_kit.errors import error, operands_refused

__all__ = ["broadcast_message", "not_a_tensor", "shape_message", "surplus"]


def surplus(name: str, arguments: tuple[Any, ...]) -> Exception:
    """Return the error for ``x.exp(2)``: such a method takes nothing but its tensor."""
    return error("arguments.surplus", name=name, count=len(arguments))


def not_a_tensor(row: Op, position: int, value: Any) -> str:
    """Say that ``value`` cannot be the operand at this position, counted from 0."""
    kind, words = type(value).__name__, row.text.split()
    if len(words) != 3 or position != 1:
        name = row.inputs[position]
        argument = {"x": "input", "y": "other"}.get(name, name)
        at = position + 1
        exception = error(
            "arguments.not_a_tensor", name=row.name, argument=argument, position=at, kind=kind
        )
    elif words[1] in ("<", "<=", ">", ">="):
        exception = error("arguments.not_comparable", sign=words[1], kind=kind)
    else:
        sign = "** or pow()" if words[1] == "**" else words[1]
        exception = operands_refused(sign, "Tensor", kind)
    return str(exception)


def shape_message(row: Op, arrays: tuple[Any, ...], **params: Any) -> str:
    """Say in PyTorch's words why NumPy refused the shapes of ``arrays``."""
    shapes = [array.shape for array in arrays if hasattr(array, "dtype")]
    if row.on_error is not None:
        return row.on_error(*arrays, **params)
    return broadcast_message(row.name, shapes)


def broadcast_message(name: str, shapes: Sequence[tuple[int, ...]]) -> str:
    """Say in PyTorch's words which sizes keep ``shapes``, in this order, from being broadcast."""
    together: tuple[int, ...] = ()
    for shape in shapes:
        ndim = max(len(together), len(shape))
        a, b = ((1,) * (ndim - len(sizes)) + tuple(sizes) for sizes in (together, shape))
        for i in reversed(range(ndim)):
            if a[i] != b[i] and 1 not in (a[i], b[i]):
                text = " and ".join(str(list(s)) for s in shapes)
                return str(error("shapes.broadcast", a=a[i], b=b[i], dim=i, op=name, shapes=text))
        together = tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))
    return str(error("shapes.misfit", op=name, shapes=shapes))
