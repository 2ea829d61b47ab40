"""Changes in place: ``x += 1``, ``x.zero_()``, and what they mean for the graph.

After reading this file you know what a version counter counts. An in-place operation is the
ordinary operation, whose result is then written into the tensor's memory: the tensor moves on to
the new node, and its version goes up by one, so that a node that had saved the old value can tell.
A change of a view is a change of its base, some of whose elements are overwritten; then all views
of that base find their history anew (``views.py``). Which ops there are, and in what they differ,
stands in ``in_place_ops.py``. Read next: ``assignment.py``, for ``x[0] = 2``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import INFERENCE, TensorBase, next_number, wrap
from autodiff_kit.core.hooks import move_retained
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import Node
from autodiff_kit.core.node_hooks import OpOfOneNode
from autodiff_kit.core.op import ACCUMULATE
from autodiff_kit.core.versions import (
    changes_of,
    memory_of,
    note_change,
    note_maker,
    share,
    writable,
)
from autodiff_kit.core.view_nodes import DEFAULT, ChangeOfView, Converted, CopySlices
from autodiff_kit.dtypes import category, result_dtype, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.in_place_ops import InPlaceOp, in_place_table
from autodiff_kit.ops.checks import NOT_IMPLEMENTED
from autodiff_kit.ops.saving import may_record, of_whole
from autodiff_kit.overlap import (
    is_repeated,
    is_same_data,
    refuse_overlap,
    refuse_repeated,
    warn_of_repeated,
)
from autodiff_kit.views import (
    forget_views,
    has_version,
    latest_node,
    node_of,
    positions,
    refusal_of_view,
    seems_leaf,
    seen_through,
)

__all__ = ["as_it_was", "change", "finish", "go_on", "note", "rearrange", "rebase"]
__all__ += ["refuse", "refuse_change", "refuse_inference", "refuse_rearranging", "store", "tell"]
__all__ += ["without_hooks"]

# What PyTorch's kernels refuse, and so only after it has looked at memory, shapes and types.
_BY_KERNELS = {"dtypes.overflow", "indexing.place_out_of_bounds", "indexing.selected_out_of_range"}
_BY_ARITHMETIC = {"dtypes.bool_alpha", "dtypes.float_alpha", "dtypes.zero_divisor"}
_BY_ARITHMETIC |= {"dtypes.bits_of_floats", "dtypes.bool_kernel", "dtypes.integer_kernel"}
_BY_ARITHMETIC |= {"functional.whole_numbers"}


def change(
    tensor: TensorBase, how: str, function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Compute ``function(tensor, ...)`` and write the result into ``tensor``; return that.

    ``how`` is the name of the in-place operation, for example ``"add_"``, whose row stands in
    ``in_place_ops.py``; ``function`` is the ordinary one.

    RuntimeError, with PyTorch's words and in its order: on a leaf that requires grad or a view of
    one in grad mode, or a view that must not be changed; what the operation itself refuses; when
    elements share one memory location, or shape or dtype would have to change; on an inference
    tensor outside of inference mode.
    """
    row = in_place_table()[how]
    values = [*args, *kwargs.values()]
    if row.takes_list:
        values += args[0]
    operands = [v for v in values if isinstance(v, TensorBase)]
    if row.fills_by_mask is not None and _is_fill(values, operands):
        row = row.fills_by_mask
    recorded = bool(local.mode.grad_enabled) and any(t.requires_grad for t in (tensor, *operands))
    recorded = recorded and may_record((tensor, *(args if row.makes_tensors else operands)))
    recorded = recorded and row.is_recorded
    is_whole = tensor._array.dtype.kind != "f"
    if row.copies and is_whole:
        recorded, args = False, (wrap(args[0]._array),)
    refuse(tensor, how, recorded)
    for other in operands if recorded else ():
        node_of(other)  # refuses a view that lags behind and cannot follow
    number = next_number()  # of the change: the nodes that it makes are younger
    # What a rule saves of the old value must survive the overwriting below.
    operand = as_it_was(tensor) if recorded else tensor
    if is_whole:
        function = of_whole(function)
    try:
        result = function(operand, *args, **kwargs)
    except Exception as refusal:
        _check_before(refusal, tensor, how, row, operands, args)
        raise
    if recorded and row.compares_as:
        result = _answers(operand, [*args, *kwargs.values()][0], result, row.compares_as)
    if recorded and result._node is not None and result._node.op.node_name == NOT_IMPLEMENTED:
        result._node.op = _without_derivative(result._node.op, how)
    if recorded and result._node is not None and not row.has_derivative:
        result._node.op, result._node.x = _not_in_place(result._node.op), None
    try:
        _check_memory(tensor, how, row, operands)
        _check_fits(tensor._array, result._array, row)
    except Exception:
        if local.mode.observer is not None:
            local.mode.observer.withdrawn(result)
        raise
    finish(tensor, how, result, number, recorded)
    return tensor


def _answers(x: TensorBase, y: Any, compared: TensorBase, name: str) -> TensorBase:
    """Return what a comparison, such as ``"Eq"``, writes over ``x``: recorded, but flat in both."""
    flat = of_whole(ops.flat_values) if x._array.dtype.kind != "f" else ops.flat_values
    result: TensorBase = flat(x, y, values=compared._array)
    if result._node is not None:
        count = 1 + isinstance(y, TensorBase)
        row, node_name = result._node.op, f"{name}Backward{count - 1}"
        rules = [row.rule0, row.rule1]
        result._node.op = OpOfOneNode(row, rules, node_name=node_name, inputs=row.inputs[:count])
    return result


def _without_derivative(row: Any, how: str) -> Any:
    """Return an op that has no derivative as its in-place twin, whose name its error says."""

    def refuse_derivative(*args: Any) -> Any:
        raise error("autograd.no_derivative", op=how)

    return OpOfOneNode(row, [refuse_derivative] * 2)


def _not_in_place(row: Any) -> Any:
    """Return an op for one node that PyTorch differentiates, but not its in-place twin."""

    def refuse_derivative(*args: Any) -> Any:
        raise error("autograd.no_derivative_yet", op=f"inplace version of {row.name}")

    return OpOfOneNode(row, [refuse_derivative] * 2, node_name=f"{row.name.capitalize()}Backward1")


def _check_before(
    refusal: Exception,
    tensor: TensorBase,
    how: str,
    row: InPlaceOp,
    operands: Sequence[TensorBase],
    args: Sequence[Any],
) -> None:
    """Raise what PyTorch finds before it comes to what an operation has refused, if anything."""
    key = getattr(refusal, "key", "")
    is_misfit = type(refusal) is RuntimeError and not key  # shapes that do not broadcast
    is_later = row.before_memory is not None and key not in row.before_memory.split()
    if is_later or is_misfit or key in _BY_KERNELS or key in _BY_ARITHMETIC:
        _check_memory(tensor, how, row, operands)
    if key in _BY_ARITHMETIC:
        args = () if key == "functional.whole_numbers" else args  # no number is converted there
        arrays = [getattr(value, "_array", value) for value in (tensor, *operands, *args)]
        shape = np.broadcast_shapes(*(array.shape for array in arrays if hasattr(array, "shape")))
        numbers = (np.ndarray, np.generic, int, float)
        dtype = result_dtype(*(array for array in arrays if isinstance(array, numbers)))
        _check_fits(tensor._array, np.broadcast_to(np.empty((), dtype), shape), row)


def _check_memory(
    tensor: TensorBase, how: str, row: InPlaceOp, operands: Sequence[TensorBase]
) -> None:
    """Raise if elements of ``tensor`` share a place in memory, or are read meanwhile."""
    written = tensor._array
    if row.copies and is_same_data(written, operands[0]._array):
        return
    if row.skips_integers and written.dtype.kind != "f":
        return
    if row.repeats == "with a warning":
        warn_of_repeated(written)
    elif row.repeats != "always" and (row.repeats != "numbers" or operands):
        refuse_repeated(written)
    operands = operands[: row.compared]
    if operands and row.is_strict:
        written = share(tensor)  # what is no array lies nowhere
    for operand in operands:
        read = operand._array
        if read is written and operand is not tensor:
            read = read[...]  # a detached tensor: it overlaps only if it has elements
        refuse_overlap(written, read, how, strictly=row.is_strict)


def _is_fill(values: list[Any], operands: list[TensorBase]) -> bool:
    """Return whether ``index_put_`` writes one number under one mask, and adds nothing."""
    if len(operands) != 2 or any(value is True for value in values):
        return False
    return operands[0]._array.size == 1 and operands[1]._array.dtype == bool


def _check_fits(old: Any, new: Any, row: InPlaceOp) -> None:
    """Raise if a result cannot be written: an in-place operation keeps shape and dtype."""
    if new.shape != old.shape:
        key = "inplace.matrix_shape" if row.is_matrix_product else "inplace.shape"
        raise error(key, old=list(old.shape), new=list(new.shape))
    if new.dtype is not old.dtype and category(new.dtype) > category(old.dtype):
        raise error("inplace.dtype", new=tensor_type(new.dtype), old=tensor_type(old.dtype))


def finish(tensor: TensorBase, how: str, result: TensorBase, number: int, recorded: bool) -> None:
    """Write a result that fits into ``tensor``, and if it is ``recorded`` go on with its history.

    ``number`` is that of the change. RuntimeError if it is an inference tensor.
    """
    refuse_inference(tensor, how)
    if not recorded or result._node is None:
        store(writable(tensor), result._array)
        note(tensor, number)
        tell(tensor, how)
        return
    if result._array.dtype != tensor._array.dtype:
        result = ops.promote(result, dtype=tensor._array.dtype)
        result._node.__class__ = Converted
    rebase(tensor, result, number, how)


def store(memory: Any, values: Any) -> None:
    """Write values, whatever their type, to memory."""
    is_repeated = 0 in memory.strides and memory.size
    if memory.dtype is values.dtype and not is_repeated:
        memory[...] = values  # by far the commonest: nothing can overflow
        return
    where = memory != values if is_repeated else True  # masked_fill_: one element, many places
    local.mode.quietly(np.copyto, memory, values, "unsafe", where)


def rebase(tensor: TensorBase, result: TensorBase, number: int, how: str) -> None:
    """Write a recorded result into ``tensor``, and let its base, and all views of that, go on.

    Parameters
    ----------
    tensor : Tensor
        May be a view; then its base becomes what it was, with some elements overwritten.
    result : Tensor
        Of the same shape and dtype.
    number : int
        When the change began.
    how : str
        The name of the in-place operation.
    """
    base = tensor if tensor._base is None else tensor._base
    # True and False are one object each: only an array tells whether it was written to.
    before = share(tensor) if tensor._array.dtype.kind == "b" else tensor._array
    new_base = result
    if base is not tensor:
        repeats = is_repeated(tensor._array)
        places = positions(base, tensor)
        new_base = ops.put(as_it_was(base), result, positions=places, repeats=repeats)
        new_base._node.__class__ = CopySlices
        if type(result._node) is Node:
            result._node.__class__ = ChangeOfView
        row = result._node.op
        if row.is_refused:  # PyTorch's node of both calls no hooks then, and frees none
            if result._node.edge0 is None:  # of a view without a history: its place is the base's
                result._node.edge1 = None
            for part in (new_base._node, result._node):
                part.op = OpOfOneNode(part.op, [_of_gradient(row.rule0)] * 2)
    node = result._node
    assert node is not None
    change = node.edge0 if isinstance(node, Converted) else None
    name = change.name() if change is not None and new_base is result else new_base._node.name()
    memory = memory_of(before) if isinstance(before, np.ndarray) else before
    if any(_changes_with(memory, value) for value in (node.x, node.y, *node.rest)):
        number = next_number()  # y *= y: the node has saved what is overwritten now
        name = "" if node.edge1 is None else name  # y *= y.detach(): that has no history
    is_written = result._array is before  # by the forward of a Function, and counted
    if not is_written:
        writable(tensor)[...] = result._array
    if node.out is not None:
        node.out = tensor._array  # it lives there now, and later changes will change it
    if change is not None and change.out is not None:
        change.out = tensor._array
    go_on(base, new_base._node)
    if is_written:
        note_maker(before, name)
        forget_views(base)
    else:
        note(tensor, number, name)
    tell(base, how)
    if base is not tensor:
        view_node = node_of(tensor)
        if type(node) is ChangeOfView:
            node.note_view_node(view_node)


def _of_gradient(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Return a rule that is only called where a gradient has arrived."""
    return lambda g, *values: None if g is None else rule(g, *values)


def _changes_with(memory: Any, value: Any) -> bool:
    """Return whether changes of ``memory`` count for ``value``, as after ``view.data = ...``."""
    changes = changes_of(memory)
    is_of_it = value is memory or (isinstance(value, np.ndarray) and memory_of(value) is memory)
    return is_of_it or (changes is not None and changes_of(value) is changes)


def go_on(base: TensorBase, node: Node | None) -> None:
    """Let a tensor that is no view be the output of ``node`` from now on."""
    old, base._node = base._node, node
    move_retained(base, old, node)


def rearrange(tensor: TensorBase, how: str, function: Callable[..., Any], **params: Any) -> Any:
    """Look at the memory of ``tensor`` in another shape, in place; return the tensor itself.

    ``function`` is the op of a view: no element changes, but the version does, as in PyTorch.
    """
    refuse_rearranging(tensor, how)
    share(tensor)
    node = node_of(tensor)
    out = function(wrap(tensor._array, node), **params)
    tensor._array = out._array
    refuse_inference(tensor, how)  # PyTorch does so when it is done
    name = ""
    if out._node is not None:
        tensor._node, name = out._node, out._node.name()
        move_retained(tensor, node, out._node)
    elif node is not None:
        node.shape = tensor._array.shape  # of a leaf, in no_grad mode
    if tensor._changes is not INFERENCE:
        note_change(tensor._array, next_number(), name)
    base = tensor if tensor._base is None else tensor._base
    if base._views is not None:  # of a view that was recorded, the history is new already
        forget_views(base, but=None if out._node is None else tensor)
    tell(tensor, how)
    return tensor


def refuse_rearranging(tensor: TensorBase, how: str) -> None:
    """Raise if ``tensor`` must not be looked at in another shape, in place."""
    refuse(tensor, how, bool(local.mode.grad_enabled and tensor.requires_grad))


def as_it_was(tensor: TensorBase) -> Any:
    """Return the value as it is now, with the same history."""
    copy: TensorBase = wrap(tensor._array.copy("K"), without_hooks(tensor, node_of(tensor)))
    if local.mode.observer is not None:
        local.mode.observer.copied(tensor, copy)
    return copy


def without_hooks(tensor: TensorBase, node: Node | None) -> Node | None:
    """Return the history of a tensor that is changed in place, whose node is this one.

    Hooks at views belong to the gradients of these as they were, which the change replaces. And
    where no element flows back, PyTorch's node of a view, not that of a change, cuts the history.
    """
    base = tensor._base
    if base is None or (tensor._array.size and not _is_hooked(node, base._node)):
        return node
    return None if base._node is None else seen_through(base, tensor, is_operand=True)


def _is_hooked(node: Node | None, until: Node | None) -> bool:
    """Return whether there are hooks at the nodes of views from ``node`` down to their base's."""
    while node is not None and node is not until:
        if node.hooks is not None:
            return True
        node = node.edge0
    return False


def note(tensor: TensorBase, number: int, name: str | None = None) -> None:
    """Note that the memory of ``tensor`` was overwritten; ``name`` that of its node, if known."""
    base = tensor if tensor._base is None else tensor._base
    if has_version(tensor):
        if name is None:
            node = base._node
            name = None if node is None or node.op is ACCUMULATE else node.name()
        note_change(tensor._array, number, name)
    if base._views is not None:
        forget_views(base)


def tell(tensor: TensorBase, how: str) -> None:
    """Let an observer see a change."""
    if local.mode.observer is not None:
        local.mode.observer.modified(tensor, how)


def tell_moved(tensor: TensorBase, how: str) -> None:
    """Let an observer see that ``how`` has moved running statistics, which no op has computed."""
    if local.mode.observer is not None:
        local.mode.observer.statistics_moved(tensor, how)


def refuse(tensor: TensorBase, how: str, recorded: bool) -> None:
    """Raise if ``tensor`` must not be changed in place by an operation that is recorded."""
    if not recorded:
        return
    base = tensor._base
    if base is not None:
        if tensor._kind is not DEFAULT:
            raise refusal_of_view(tensor, latest_node(tensor), "is being")
        if base.is_leaf and tensor.requires_grad:
            raise error("inplace.view_of_leaf", how=how)
    if tensor.requires_grad and seems_leaf(tensor):
        raise error("inplace.leaf", how=how)


def refuse_change(tensor: TensorBase, how: str) -> None:
    """Raise if not even backward may change ``tensor`` in place: it does so unrecorded."""
    refuse_repeated(tensor._array)
    refuse_inference(tensor, how)


def refuse_inference(tensor: TensorBase, how: str) -> None:
    """Raise outside of inference mode if ``tensor`` has no version that could be counted.

    As in PyTorch this comes last; but what is refused has not been written.
    """
    if not has_version(tensor) and not local.mode.inference:
        raise error("inplace.inference_tensor", how=how)
