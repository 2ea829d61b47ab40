"""Applying an op: run its forward on arrays, and make a node if a gradient is wanted.

After reading this file you know what happens at every ``x * y``. A node saves what the rules that
will be called read, by their declarations, as raw arrays; ``Node.rebuilt`` makes Tensors of
them when the gradient itself is to be differentiated. ``fast.py`` writes the same out for the
commonest inputs. Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.core.base import ARRAYS, INFERENCE, TensorBase, next_number, wrap
from autodiff_kit.core.memory import share
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node, WideNode
from autodiff_kit.core.op import Op
from autodiff_kit.core.view_nodes import note_view
from autodiff_kit.ops.layouts import laid_out
from autodiff_kit.ops.messages import not_a_tensor, shape_message
from autodiff_kit.ops.promotion import promoted
from autodiff_kit.ops.saving import check_saved, may_record, refuse_whole

__all__ = ["apply"]


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
    if not any(isinstance(value, TensorBase) for value in inputs):
        for position, value in enumerate(inputs):
            if not isinstance(value, (*ARRAYS, float, int)):
                raise TypeError(not_a_tensor(row, position, value))
        return row.forward(*inputs, **params)
    if row.is_view:
        share(inputs[0])  # a view of one number needs memory that two can hold
    params = row.defaults | params
    given, as_they_lie = inputs, [getattr(value, "_array", None) for value in inputs]
    inputs = promoted(row, inputs, params)
    if inputs is NotImplemented:
        return NotImplemented
    arrays = tuple(value._array if isinstance(value, TensorBase) else value for value in inputs)
    mode = local.mode
    try:
        result = mode.quietly(row.forward, *arrays, **params)
    except ValueError:
        raise RuntimeError(shape_message(row, arrays, **params)) from None
    by_products: tuple[Any, ...] = ()
    if row.by_products:
        result, *by_products = result
    result = laid_out(row, result, as_they_lie)
    out = wrap(result)
    edges = tuple(getattr(value, "_node", None) for value in inputs) if row.rules else ()
    if mode.grad_enabled and any(edge is not None for edge in edges) and may_record(inputs):
        values = dict(zip(row.inputs, arrays, strict=False)) if not row.is_variadic else {}
        values |= {"out": result, **params, **dict(zip(row.by_products, by_products, strict=True))}
        out._node = _record(row, given, as_they_lie, edges, values, result.shape)
    elif mode.inference:
        out._changes = INFERENCE
    if row.is_view:
        note_view(out, inputs[0])
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
