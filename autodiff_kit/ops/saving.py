"""What an op may save for its rules: not everything that it computes with.

After reading this file you know how an op treats tensors that were made in inference mode, and
tensors that were converted for it, and that integers have no history. Read next:
``arithmetic.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from autodiff_kit.core.base import INFERENCE
from autodiff_kit.core.mode import local, thread_local
from autodiff_kit.core.node import AccumulateGrad
from autodiff_kit.core.op import Op, Value
from autodiff_kit.core.versions import share
from autodiff_kit.core.view_nodes import Nowhere
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error

__all__ = ["check_saved", "is_recorded", "leads_outside", "may_record", "of_whole"]
__all__ += ["refuse_inputs", "refuse_whole"]

# What a change in place computes: that of a tensor of integers, or a view, may be recorded.
_WRITING = {"copy_from", "fill", "fill_with", "index_put", "pick", "put", "zero"}


def may_record(inputs: Sequence[Any]) -> bool:
    """Return whether an op on these inputs can be recorded: not if all are inference tensors.

    A number is one that was made for this call.
    """
    return any(getattr(value, "_changes", None) is not INFERENCE for value in inputs)


def is_recorded(x: Any) -> bool:
    """Return whether an op on a tensor will be recorded."""
    return bool(local.mode.grad_enabled and x.requires_grad and may_record([x]))


class _InPlace(thread_local):
    whole = False  # whether a change in place is computed that may be one of integers


_in_place = _InPlace()


def of_whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that may record what it computes of integers."""

    def call(*args: Any, **kwargs: Any) -> Any:
        _in_place.whole = True
        try:
            return function(*args, **kwargs)
        finally:
            _in_place.whole = False

    return call


def refuse_whole(row: Op, result: Value) -> None:
    """Refuse to record that integers were computed."""
    if result.dtype.kind != "f" and row.name not in _WRITING and not _in_place.whole:
        raise error("autograd.whole_history", kind=tensor_type(result.dtype))


def refuse_inputs(row: Op, inputs: Sequence[Any]) -> None:
    """Refuse inputs that cannot be recorded, as PyTorch does before it looks at anything else.

    RuntimeError for a view that lags behind its base and cannot follow, for an inference tensor
    that would be saved, or for one of integers with a history that is to be changed and saved.
    """
    edges = [getattr(value, "_node", None) for value in inputs]  # asks a view for its history
    if _in_place.whole and edges[0] is not None and inputs[0]._array.dtype.kind != "f":
        rules = [row.rules.get(n) for n, edge in zip(row.inputs, edges, strict=False) if edge]
        if any(rule and row.inputs[0] in rule.reads for rule in rules):  # PyTorch saves a clone
            raise error("autograd.whole_history", kind=tensor_type(inputs[0]._array.dtype))
    made_in_inference = [getattr(value, "_changes", None) is INFERENCE for value in inputs]
    if local.fresh is not None:
        made_in_inference = [*map(_is_of_inference, inputs)]
    if not any(made_in_inference) or row.is_variadic or not local.mode.grad_enabled:
        return
    if local.fresh is not None:  # ``torch.func`` wraps what a function reads, saves the wrapper
        edges = [edge if leads_outside(edge, local.fresh) else None for edge in edges]
    pairs = [(n, edge) for n, edge in zip(row.inputs, edges, strict=False) if edge is not None]
    names = [n for n, edge in pairs if edge.shown is not None]  # else it leads nowhere
    read = [name for rule in row.rules.values() for name in rule.reads]
    reads = {name for n in names if n in row.rules for name in row.rules[n].reads}
    reads |= {name for name in read if pairs and read.count(name) > 1}  # saved at any rate
    saved = dict(zip(row.inputs, made_in_inference, strict=False))
    if may_record(inputs) and any(saved.get(name) for name in reads):
        raise error("autograd.inference_saved")


def _is_of_inference(value: Any) -> bool:
    """Return whether a value is an inference tensor, or is one to ``torch.func`` (``marked``)."""
    array = getattr(value, "_array", None)
    if array is None:
        return False
    return value._changes is INFERENCE or array.dtype.metadata is not None


def leads_outside(node: Any, own: Set[Any]) -> bool:
    """Return whether a history leads to a leaf that is not among ``own``."""
    visited, todo = set(), [node]
    while todo:
        node = todo.pop()
        if node is None or node in visited:
            continue
        visited.add(node)
        if isinstance(node, AccumulateGrad):
            if isinstance(node, Nowhere) or node.variable not in own:
                return True
            continue
        todo += [edge for _, edge in node.edges()]
    return False


def check_saved(
    row: Op, inputs: Sequence[Any], values: dict[str, Value], saved: set[str]
) -> list[Any]:
    """Return the arrays from which a node's inputs were converted; [] if none was.

    PyTorch saves what it was given, and converts again in backward: a change shows in that. For
    each input there is an entry, None where it was not converted, or is not saved.

    Parameters
    ----------
    row : Op
    inputs : sequence of Tensor or number
        What the op was given, before conversion.
    values : dict from str
        What it computes with, by name; a truth value becomes an array here.
    saved : set of str
        What the node will save.
    """
    originals: list[Any] = []
    for i, (name, value) in enumerate(zip(row.inputs, inputs, strict=False)):
        own = getattr(value, "_array", None)
        if own is None or name not in saved:
            continue
        # True and False are one object each: only an array tells of changes.
        tells = share(value) if own.dtype.kind == "b" else own
        if own is values[name]:
            values[name] = tells
        else:
            originals = originals or [None] * len(inputs)
            originals[i] = tells
    return originals
