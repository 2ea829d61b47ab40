"""Applying an op: run its forward on arrays, and make a node if a gradient is wanted.

After reading this file you know what happens at every ``x * y``. A node saves what the rules that
will be called read, by their declarations, as raw arrays; ``rebuilt`` makes Tensors of them again
when the gradient itself is to be differentiated. ``fast.py`` writes the same out for the commonest
inputs. Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.node import Node, Value, WideNode
from autodiff_kit.autograd.versions import next_number
from autodiff_kit.ops.layouts import laid_out
from autodiff_kit.ops.messages import not_a_tensor, shape_message
from autodiff_kit.ops.promotion import promoted
from autodiff_kit.ops.saving import check_saved, may_record, refuse_whole

if TYPE_CHECKING:
    from autodiff_kit.ops.table import Op

__all__ = ["ARRAYS", "apply", "rebuilt", "tensors"]

tensors: Any = import_module("autodiff_kit.tensor")  # it is importing the ops: nothing is there yet
ARRAYS = (np.ndarray, np.generic)  # a tuple: isinstance takes twice as long with a union


def apply(row: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Apply an op to its inputs: Tensors and numbers, or inside of a rule arrays.

    Returns
    -------
    Tensor, or a tuple of it and the op's by-products. Without a Tensor among the inputs, what
    ``forward`` returns.

    Raises
    ------
    RuntimeError, TypeError
        In PyTorch's words, if shapes do not fit, or an input is no tensor and no number.
    """
    if not any(isinstance(value, tensors.Tensor) for value in inputs):
        for position, value in enumerate(inputs):
            if not isinstance(value, (*ARRAYS, float, int)):
                raise TypeError(not_a_tensor(row, position, value))
        return row.forward(*inputs, **params)
    if row.is_view:
        tensors.share(inputs[0])  # a view of one number needs memory that two can hold
    params = row.defaults | params
    given, as_they_lie = inputs, [getattr(value, "_array", None) for value in inputs]
    inputs = promoted(row, inputs, params)
    if inputs is NotImplemented:
        return NotImplemented
    arrays = tuple(value._array if isinstance(value, tensors.Tensor) else value for value in inputs)
    mode = local.mode
    try:
        result = mode.quietly(row.forward, *arrays, **params)
    except ValueError:
        raise RuntimeError(shape_message(row, arrays, **params)) from None
    by_products: tuple[Any, ...] = ()
    if row.by_products:
        result, *by_products = result
    result = laid_out(row, result, as_they_lie)
    out = tensors.wrap(result)
    edges = tuple(getattr(value, "_node", None) for value in inputs) if row.rules else ()
    if mode.grad_enabled and any(edge is not None for edge in edges) and may_record(inputs):
        values = dict(zip(row.inputs, arrays, strict=False)) if not row.is_variadic else {}
        values |= {"out": result, **params, **dict(zip(row.by_products, by_products, strict=True))}
        out._node = _record(row, given, as_they_lie, edges, values, result.shape)
    elif mode.inference:
        out._changes = tensors.INFERENCE
    if row.is_view:
        tensors.note_view(out, inputs[0])
    if mode.observer is not None:
        mode.observer.applied(row, inputs, params, out, out._node)
        for array in by_products:
            mode.observer.returned(out, array)
    return (out, *by_products) if row.by_products else out


def _record(
    row: Op,
    inputs: tuple[Any, ...],
    as_they_lie: list[Any],
    edges: tuple[Node | None, ...],
    values: dict[str, Any],
    shape: tuple[int, ...],
) -> Node:
    """Make the node of an op, which keeps of ``values`` what its rules will read."""
    if row.is_variadic:
        called = list(row.rules.values())
        values[f"{row.inputs[0]}_shape"] = tuple(value._array.shape for value in inputs)
        edges = (None, None, *edges)
    else:
        wanted = [name for name, edge in zip(row.inputs, edges, strict=True) if edge is not None]
        called = [row.rules[name] for name in wanted if name in row.rules]
        for name, array in zip(row.inputs, as_they_lie, strict=True):
            if isinstance(array, ARRAYS):
                values |= {f"{name}_shape": array.shape, f"{name}_dtype": array.dtype}
                values[f"{name}_strides"] = array.strides
    refuse_whole(row, values["out"])
    reads = {name for rule in called for name in rule.reads}
    originals = check_saved(row, inputs, values, reads)
    node: Node = object.__new__(WideNode if len(edges) > 2 else Node)
    node.op, node.number, node.shape, node.hooks = row, next_number(), shape, None
    node.edge0, node.edge1 = (*edges, None)[:2]
    if len(edges) > 2:
        node.more = edges[2:]  # type: ignore[misc]
    x, y = (*row.inputs, "", "")[:2]
    node.out, node.x, node.y = (values.get(n) if n in reads else None for n in ("out", x, y))
    tensors_not_read = set(row.inputs) - reads
    rest = (None if n in tensors_not_read else values.get(n) for n in row.rest)
    node.rest = (*rest, *originals)
    return node


def rebuilt(node: Node) -> tuple[Value, Value, Value, tuple[Any, ...]]:
    """Return what a node has saved, with its arrays as the Tensors that they were.

    An input is its array and the edge to the node that made it, the output is its array and the
    node itself: so nothing extra was saved for ``create_graph=True``, and nothing made a cycle.
    """
    wrap = tensors.wrap
    out, x, y, rest = node.out, node.x, node.y, node.rest
    unpack = getattr(node.op, "unpack", None)  # where autograd/graph.py has packed what was saved
    if unpack is not None:
        out, x, y, rest = unpack(node)
    if isinstance(out, ARRAYS):
        out = wrap(out, node)
    if isinstance(x, ARRAYS):
        x = wrap(x, node.edge0)
    if isinstance(y, ARRAYS):
        y = wrap(y, node.edge1)
    if node.op.saves_rest:
        made_by = dict(zip(node.op.inputs[2:], node.more, strict=False))
        named = zip(node.op.rest, rest, strict=False)
        rest = tuple(wrap(v, made_by.get(n)) if isinstance(v, ARRAYS) else v for n, v in named)
    return out, x, y, rest
