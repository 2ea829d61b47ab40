"""Applying an op: ``print(text_of(OPS["mul"]))`` shows what runs for ``x * y`` in place of this.

That is a second, faster spelling, which ``fast.py`` writes for each op, for tensors of one floating
dtype and for numbers; all else is applied here, and a test holds the two together. After reading
this file you know what happens at every ``x * y``: the forward runs on arrays, and if a gradient is
wanted, a node saves what the rules that will be called read. Read next: ``autograd/engine.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.core.base import ARRAYS, INFERENCE, TensorBase, next_number, wrap
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node, WideNode
from autodiff_kit.core.op import Op, Params, Value
from autodiff_kit.ops.operands import Operands

__all__ = ["apply"]


def apply(row: Op, inputs: tuple[Any, ...], params: Params) -> Any:
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
        Operands.check_numbers(row, inputs)
        return row.forward(*inputs, **params)
    params = row.defaults | params
    operands = Operands(row, inputs, params)
    if operands.tensors is NotImplemented:
        return NotImplemented
    mode = local.mode
    try:
        result = mode.quietly(row.forward, *operands.arrays, **params)
    except ValueError:
        raise operands.misfit() from None
    result, *by_products = result if row.by_products else (result,)
    result = operands.lay_out(result)
    out = wrap(result)
    edges = operands.edges()
    is_wanted = mode.grad_enabled and any(edge is not None for edge in edges)
    if is_wanted and operands.may_record(result):  # not if all were made in inference mode
        results = {"out": result, **dict(zip(row.by_products, by_products, strict=True))}
        out._node = _record(row, operands, edges, results)
    elif mode.inference:
        out._changes = INFERENCE
    if row.is_view:
        operands.note_view(out)
    if mode.observer is not None:
        mode.observer.applied(row, operands.tensors, params, out, out._node)
        for array in by_products:
            mode.observer.returned(out, array)
    return (out, *by_products) if row.by_products else out


def _record(
    row: Op, operands: Operands, edges: tuple[Node | None, ...], results: dict[str, Value]
) -> Node:
    """Make the node of an op, which saves what the rules that will be called read."""
    leading, values = operands.leading(edges), {**operands.params, **results}
    if row.is_variadic:
        rules = list(row.rules.values())
        values[f"{row.inputs[0]}_shape"] = tuple(array.shape for array in operands.arrays)
        edges = (None, None, *leading)  # the engine finds the edges of all inputs in ``more``
    else:
        names = [name for name, edge in zip(row.inputs, leading, strict=True) if edge is not None]
        rules = [row.rules[name] for name in names if name in row.rules]
        values |= zip(row.inputs, operands.arrays, strict=True)
        for name, array in zip(row.inputs, operands.originals, strict=True):
            if isinstance(array, ARRAYS):
                values |= {f"{name}_shape": array.shape, f"{name}_dtype": array.dtype}
                values[f"{name}_strides"] = array.strides
    reads = {name for rule in rules for name in rule.reads} | operands.always_saved
    originals = operands.arrays_to_watch(values, reads)  # not converted: a change shows in these
    node: Node = object.__new__(WideNode if len(edges) > 2 else Node)
    node.op, node.number, node.shape = operands.op, next_number(), results["out"].shape
    node.hooks = operands.hooks()
    node.edge0, node.edge1 = (*edges, None)[:2]
    if len(edges) > 2:
        node.more = edges[2:]  # type: ignore[misc]
    x, y = (*row.inputs, "", "")[:2]
    node.out, node.x, node.y = (values.get(n) if n in reads else None for n in ("out", x, y))
    not_read = {*row.inputs, *row.by_products} - reads
    rest = (None if name in not_read else values.get(name) for name in row.rest)
    node.rest = (*rest, *originals)
    return node
