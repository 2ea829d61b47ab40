"""Why backward cannot use what a node has saved, in PyTorch's words and in ours.

After reading this file you know the two errors that everybody meets: a graph used twice, and a
saved value changed in place. Read next: ``node.py``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from autodiff_kit.core.base import TensorBase
from autodiff_kit.core.versions import Changes, memory_of
from autodiff_kit.dtypes import backend_type
from autodiff_kit.errors import error

__all__ = ["changed_message", "operation", "released_message", "saved_changed"]

# What helps if all of a tensor was changed, and if a part was.
_OF_ALL = (
    "Make a new tensor instead (y = y + 1 for y += 1, y = y * 2 for y.mul_(2)), or change a clone()"
)
_OF_A_PART = "Change a copy instead: write y = y.clone() before y[0] = 5, and so on"


def released_message(node: Any) -> str:
    """Return the text for a backward pass through values that are gone."""
    return str(error("autograd.second_backward", node=_called(node)))


def changed_message(node: Any, which: int, value: Any, changes: Changes) -> str:
    """Return the text for a saved tensor that was modified in place: out, x, y or one of rest."""
    op = node.op
    name = node._name_of(which)
    is_of_view = type(node).__name__ == "ChangeOfView" and not which and node.has_view_node()
    is_output = which == 0 or (op.several and name in op.results)
    maker = node if is_output else node.maker_of(name)
    output_nr = op.results.index(name) if is_output else 0  # PyTorch notes it of outputs alone
    origin = maker.name() if maker is not None and maker.op.name != "accumulate_grad" else ""
    is_leaf = maker is not None and maker.op.name == "accumulate_grad" and maker.shown is not None
    if not is_output and not is_leaf:  # PyTorch names what an input has become by the change
        is_view = maker is not None and (maker.whole.op.is_view or maker.op.name == "pick")
        is_view = is_view or (maker is None and isinstance(value.base, np.ndarray))
        is_view = is_view and bool(changes.node_name or origin)
        origin = "AsStrided" if is_view else changes.node_name or origin
    elif is_of_view:
        origin = "AsStrided"
    keeper = _called(node)
    saved = _saved(op.inputs, "out" if is_output else name)
    value = changes.converted.get(id(memory_of(value)), value) if changes.converted else value
    return str(saved_changed(value, changes, node.number, origin, keeper, saved, output_nr))


def _called(node: Any) -> str:
    """Return what a node is called, and the learner's variable that holds its result."""
    variable = _variable(node)
    return f"{node.name()}, the node of {variable}," if variable else str(node.name())


def _variable(node: Any) -> str:
    """Return the name of a variable in the running code that holds what a node has made, or ""."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != __name__.partition(".")[0]:
            for name, value in list(frame.f_locals.items()):
                if not isinstance(value, TensorBase) or name.startswith("_"):
                    continue
                with suppress(RuntimeError):  # a view that may no longer be used
                    if value._node is not None and value._node.whole is node.whole:
                        return str(name)
        frame = frame.f_back
    return ""


def _saved(inputs: Sequence[str], name: str) -> str:
    """Say which value it is: its name in the rule is not one that the learner has."""
    if name in ("", "out"):
        return "its own result" if name else "an input"
    which = ("first", "second", "third")[: len(inputs)]
    place = dict(zip(inputs, which, strict=False)).get(name, "last")
    return "its input" if len(inputs) == 1 else f"its {place} input"


def operation(node: str) -> str:
    """Return what messages call the operation of a node: ``Mul``, ``Sum1`` for SumBackward1."""
    return re.sub(r"Backward(?:0$|(?=\d*$))", "", node)


def saved_changed(
    value: Any,
    changes: Changes,
    number: int,
    origin: str,
    keeper: str,
    saved: str,
    output_nr: int = 0,
) -> Exception:
    """Return the error for an array that ``keeper`` had saved before these changes.

    ``number`` says when, ``origin`` names the node that made the array, if any, ``output_nr`` which
    of its outputs that is.
    """
    return error(
        "autograd.saved_changed",
        kind=backend_type(value.dtype),
        shape=list(value.shape),
        origin=f", which is output {output_nr} of {operation(origin)}," if origin else "",
        version=changes.version(),
        expected=changes.version(number),
        keeper=keeper,
        saved=saved,
        cure=_OF_A_PART if "CopySlices" in origin else _OF_ALL,
    )
