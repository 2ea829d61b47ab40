"""Changes in place: ``x += 1``, ``x.zero_()``, ``x[0] = 2``, and what they mean for the graph.

After reading this file you know what a version counter counts. An in-place operation is the
ordinary operation, whose result is then written into the tensor's memory: the tensor moves on to
the new node, and its version goes up by one, so that whoever had saved the old value can tell.
What looks into the same memory - the base of a view, other views of it - moves on as well.
Read next: ``autograd/node.py`` (``check_saved``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from autodiff_kit import ops
from autodiff_kit.autograd import node as nodes
from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.versions import next_number, note_change
from autodiff_kit.dtypes import category, number_in, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.ops.apply import tensors

if TYPE_CHECKING:
    from autodiff_kit.autograd.node import Node
    from autodiff_kit.tensor import Tensor

__all__ = ["assign", "change", "operator"]


def change(
    tensor: Tensor, how: str, function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Tensor:
    """Compute ``function(tensor, ...)`` and write the result into ``tensor``; return that.

    ``how`` is the name of the in-place operation, for example ``"add_"``, ``function`` the ordinary
    one.

    RuntimeError, with PyTorch's words, on a leaf that requires grad or a view of one in grad mode,
    on an inference tensor outside of inference mode, when shape or dtype would have to change, or
    when elements share one memory location.
    """
    _refuse(tensor, how)
    base = tensor if tensor._base is None else tensor._base
    number = next_number()  # of the change: the nodes that it makes are younger
    operand, before = tensor, tensor._array
    if local.mode.grad_enabled and _any_recorded(tensor, *args):
        # What a rule saves of the old value must survive the overwriting below.
        operand = _copy(tensor)
    result = function(operand, *args, **kwargs)
    _check_fits(tensor._array, result._array)
    if result._node is None:
        tensors.share(tensor)[...] = result._array
        _note(tensor, number, tensor.grad_fn)
        _tell(tensor, how)
        return tensor
    if result._array.dtype != tensor._array.dtype:
        result = ops.promote(result, dtype=tensor._array.dtype)
    moved = result
    if base is not tensor:
        moved = ops.put(_copy(base), result, positions=_positions(base, tensor))
    node, maker = result._node, moved._node
    if any(value is before for value in (node.x, node.y, *node.rest)):
        number = next_number()  # y *= y: the node has saved what is overwritten now
        maker = None if node.edge1 is None else maker  # y *= y.detach(): that has no history
    tensors.share(tensor)[...] = result._array
    _note(tensor, number, maker)
    if node.out is not None:
        node.out = tensor._array  # it lives there now, and later changes will change it
    base._node = moved._node
    _tell(base, how)
    for reference in tuple(getattr(base, "_views", ())):
        view = reference()
        if view is not None:
            whole = tensors.wrap(base._array, base._node)
            view._node = ops.pick(whole, positions=_positions(base, view))._node
            _tell(view, how)
    return tensor


def operator(ufunc: Any, method: Callable[..., Any]) -> Any:
    """Make an operator such as ``-=`` of a NumPy function and the method for all other cases.

    The update of a parameter, ``p -= 0.1 * p.grad``, is written straight into its memory if
    nothing can be in the way; that takes a quarter of the time.
    """

    def change_directly(self: Tensor, other: Any) -> Any:
        mode, array = local.mode, self._array
        if (
            not mode.grad_enabled
            and mode.observer is None
            and self._changes is None
            and isinstance(other, tensors.Tensor)
            and type(array) is type(operand := other._array) is np.ndarray
            and array.base is None  # of one element in many places, or a view: the other way
            and array.dtype is operand.dtype
            and array.dtype.kind == "f"
            and array.shape == operand.shape
        ):
            mode.quietly(ufunc, array, operand, array)
            node = self._node
            name = "" if node is None or node.op is nodes.ACCUMULATE else node.name()
            note_change(array, name=name)
            return self
        return method(self, other)

    return change_directly


def assign(tensor: Tensor, key: Any, value: Any) -> None:
    """Carry out ``tensor[key] = value``.

    An error if the key does not fit the tensor, or the value does not fit the elements it names.
    """
    if not isinstance(value, tensors.Tensor):
        if not isinstance(value, int | float | np.generic):
            kind, own = type(value).__name__, tensor_type(tensor._array.dtype)
            raise error("inplace.assigned_type", kind=kind, own=own)
        value = tensors.wrap(number_in(value, tensor._array.dtype))
    if key is Ellipsis:
        change(tensor, "x[...] = ...", ops.copy_from, value)
        return
    basic = ops.is_basic(key)
    if basic and local.mode.observer is None and not _any_recorded(tensor, value):
        # Nothing to record: write into the elements and leave the others alone.
        _refuse(tensor, "x[...] = ...", through_view=True)
        target = ops.getitem(tensors.share(tensor), key)
        target[...] = _fitting(value, target.shape, basic)._array
        _note(tensor, next_number(), tensor.grad_fn)
        return
    positions = ops.getitem(np.arange(tensor.numel()).reshape(tensor.shape), key)
    value = _fitting(value, np.shape(positions), basic)
    if value._node is not None and value._array.dtype != tensor._array.dtype:
        value = ops.promote(value, dtype=tensor._array.dtype)
    put = ops.put if basic else ops.index_put
    _refuse(tensor, "x[...] = ...", through_view=basic)
    change(tensor, "__setitem__", put, value, positions=positions)


def _copy(tensor: Tensor) -> Tensor:
    """Return the value as it is now, with the same history."""
    copy: Tensor = tensors.wrap(tensor._array.copy("K"), tensor._node)
    if local.mode.observer is not None:
        local.mode.observer.copied(tensor, copy)
    return copy


def _note(tensor: Tensor, number: int, node: Node | None) -> None:
    """Note that the memory of ``tensor`` was overwritten."""
    name = "" if node is None else node.name()
    if tensor._changes is None:
        note_change(tensor._array, number, name)
    elif tensor._changes is not tensors.INFERENCE:
        tensor._changes.note(number, name)


def _tell(tensor: Tensor, how: str) -> None:
    if local.mode.observer is not None:
        local.mode.observer.modified(tensor, how)


def _positions(base: Tensor, view: Tensor) -> Any:
    """Return which elements of ``base``, counted row by row, ``view`` has: ints of its shape."""
    whole, part = tensors.share(base), tensors.share(view)
    if part.size == 0:
        return np.zeros(part.shape, int)
    # An array of the same layout in memory, whose elements say which one they are.
    size = whole.itemsize
    steps = [tuple(stride // size * 8 for stride in array.strides) for array in (whole, part)]
    extent = sum((n - 1) * step for n, step in zip(whole.shape, steps[0], strict=True)) // 8 + 1
    memory = np.zeros(extent, "int64")
    as_strided(memory, whole.shape, steps[0])[...] = np.arange(whole.size).reshape(whole.shape)
    start = (part.ctypes.data - whole.ctypes.data) // size
    return as_strided(memory[start:], part.shape, steps[1]).copy()


def _fitting(value: Tensor, shape: tuple[int, ...], basic: bool) -> Tensor:
    """Return ``value``, without the 1s in front that it has too many; refuse what does not fit."""
    own = tuple(value.shape)
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
    fits = len(own) <= len(shape) and all(
        n in (1, m) for n, m in zip(own[::-1], shape[::-1], strict=False)
    )
    if not fits and basic:
        ops.check_expand(value, shape)
    if not fits:
        raise error("inplace.assigned_shape", value=list(value.shape), selection=list(shape))
    return value if own == value.shape else value.reshape(own)


def _refuse(tensor: Tensor, how: str, through_view: bool = False) -> None:
    """Raise if ``tensor`` must not be changed in place in this mode."""
    mode = local.mode
    if tensor._changes is tensors.INFERENCE and not mode.inference:
        raise error("inplace.inference_tensor", how=how)
    base = tensor._base
    if not mode.grad_enabled or (tensor._node is None and (base is None or base._node is None)):
        return
    if base is not None and tensor._node is None:
        raise error("inplace.view_made_in_no_grad", how=how)
    if tensor.is_leaf and not through_view:
        raise error("inplace.leaf", how=how)
    if tensor.is_leaf or (base is not None and base.is_leaf):
        raise error("inplace.view_of_leaf", how=how)
    owner = tensor if base is None else base
    if owner.output_nr in getattr(owner.grad_fn, "views", ()):  # of a Function of the learner's own
        name = owner.grad_fn.name().removesuffix("Backward")  # type: ignore[union-attr]
        raise error("inplace.view_of_function", index=owner.output_nr, name=name)


def _any_recorded(*values: Any) -> bool:
    return any(getattr(value, "_node", None) is not None for value in values)


def _check_fits(old: Any, new: Any) -> None:
    if new.dtype is old.dtype and new.shape == old.shape and 0 not in getattr(old, "strides", ()):
        return
    if category(new.dtype) > category(old.dtype):
        raise error("inplace.dtype", new=tensor_type(new.dtype), old=tensor_type(old.dtype))
    if new.shape != old.shape:
        raise error("inplace.shape", old=list(old.shape), new=list(new.shape))
    strides = zip(getattr(old, "strides", ()), old.shape, strict=False)
    if old.size and any(stride == 0 and n > 1 for stride, n in strides):
        raise error("inplace.repeated_elements")
