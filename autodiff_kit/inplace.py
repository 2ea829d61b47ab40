"""Changes in place: ``x += 1``, ``x.zero_()``, ``x[0] = 2``, and what they mean for the graph.

After reading this file you know what a version counter counts. An in-place operation is the
ordinary operation, whose result is then written into the tensor's memory: the tensor moves on to
the new node, and its version goes up by one, so that whoever had saved the old value can tell.
A change of a view is a change of its base, some of whose elements are overwritten; then all views
of that base find their history anew (``views.py``). Read next: ``autograd/node.py``
(``check_saved``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.autograd import node as nodes
from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.hooks import move_retained
from autodiff_kit.autograd.observer import installed
from autodiff_kit.autograd.versions import memory_of, next_number, note_change
from autodiff_kit.autograd.view_nodes import CopySlices
from autodiff_kit.dtypes import category, number_in, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.ops.apply import tensors
from autodiff_kit.views import (
    DEFAULT,
    forget_views,
    is_stale,
    node_of,
    positions,
    refusal_of_view,
    seen_through,
)

if TYPE_CHECKING:
    from autodiff_kit.autograd.node import Node
    from autodiff_kit.tensor import Tensor

__all__ = ["assign", "change", "operator", "rebase", "refuse_change", "tell_of_views"]

# What may write to one place of memory several times: it writes the same each time.
_REPEATING = (ops.fill, ops.zero)
_REPEATING_NAMES = ("masked_fill_",)
# What has read all of its operands before it writes, and so may be given parts of the tensor.
_READS_FIRST = ("addmm_", "fill_")
# What must not even be given just the elements that are written.
_STRICT = ("index_add_", "scatter_")


def change(
    tensor: Tensor, how: str, function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Tensor:
    """Compute ``function(tensor, ...)`` and write the result into ``tensor``; return that.

    ``how`` is the name of the in-place operation, for example ``"add_"``, ``function`` the ordinary
    one.

    RuntimeError, with PyTorch's words, on a leaf that requires grad or a view of one in grad mode,
    on a view that must not be changed, on an inference tensor outside of inference mode, when shape
    or dtype would have to change, or when elements share one memory location.
    """
    recorded = local.mode.grad_enabled and _any_recorded(tensor, *args, *kwargs.values())
    _refuse(tensor, how, recorded)
    is_same = function is ops.copy_from and args[0] is tensor
    if not (is_same or function in _REPEATING or how in _REPEATING_NAMES):
        _refuse_repeated(tensor._array)
    if not is_same and how not in _READS_FIRST:
        for value in args[:1] if how == "masked_fill_" else (*args, *kwargs.values()):
            if isinstance(value, tensors.Tensor):
                _refuse_overlap(tensor, value, how, is_strict=how in _STRICT)
    number = next_number()  # of the change: the nodes that it makes are younger
    # What a rule saves of the old value must survive the overwriting below.
    operand = _as_it_was(tensor) if recorded else tensor
    result = function(operand, *args, **kwargs)
    _check_fits(tensor._array, result._array)
    if result._node is None or tensor._array.dtype.kind != "f":
        tensors.writable(tensor)[...] = result._array
        _note(tensor, number)
        _tell(tensor, how)
        return tensor
    if result._array.dtype != tensor._array.dtype:
        result = ops.promote(result, dtype=tensor._array.dtype)
    rebase(tensor, result, number, how)
    return tensor


def rebase(tensor: Tensor, result: Tensor, number: int, how: str) -> None:
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
    before, moved = tensor._array, result
    if base is not tensor:
        moved = ops.put(_as_it_was(base), result, positions=positions(base, tensor))
        moved._node.__class__ = CopySlices
    node, name = result._node, moved._node.name()  # type: ignore[union-attr]
    assert node is not None
    memory = memory_of(before) if isinstance(before, np.ndarray) else before
    if any(_lies_in(memory, value) for value in (node.x, node.y, *node.rest)):
        number = next_number()  # y *= y: the node has saved what is overwritten now
        name = "" if node.edge1 is None else name  # y *= y.detach(): that has no history
    is_written = result._array is before  # by the forward of a Function, and counted
    if not is_written:
        tensors.writable(tensor)[...] = result._array
    if node.out is not None:
        node.out = tensor._array  # it lives there now, and later changes will change it
    _go_on(base, moved._node)
    if is_written:
        forget_views(base)
    else:
        _note(tensor, number, name)
    _tell(base, how)
    if base is not tensor:
        node_of(tensor)


def _lies_in(memory: Any, value: Any) -> bool:
    return value is memory or (isinstance(value, np.ndarray) and memory_of(value) is memory)


def _go_on(base: Tensor, node: Node | None) -> None:
    """Let a tensor that is no view be the output of ``node`` from now on."""
    old, base._node = base._node, node
    move_retained(base, old, node)


def tell_of_views(base: Tensor, how: str) -> None:
    """Let an observer see which history the views of a changed base have now."""
    for reference in tuple(base._views or ()):
        view = reference()
        if view is not None and is_stale(view) and view._kind is DEFAULT:
            node_of(view)
            _tell(view, how)


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
            and not self._views
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
    how = "x[...] = ..."
    if not isinstance(value, tensors.Tensor):
        if not isinstance(value, int | float | np.generic):
            kind, own = type(value).__name__, tensor_type(tensor._array.dtype)
            raise error("inplace.assigned_type", kind=kind, own=own)
        value = tensors.wrap(number_in(value, tensor._array.dtype))
    if key is True:
        key = None
    elif key is False:
        return
    memory = tensors.share(tensor)
    recorded = local.mode.grad_enabled and _any_recorded(tensor, value)
    is_told = recorded or local.mode.observer is not None
    base = tensor if tensor._base is None else tensor._base
    places = None
    if ops.is_basic(key):
        target = ops.getitem(memory, key)
        value = _fitting(value, target.shape, basic=True)
        is_whole = target.shape == memory.shape and target.strides == memory.strides
        if is_told and is_whole and (not target.size or _takes_all(key, memory.shape)):
            is_fill = value.ndim == 0 < tensor.ndim
            change(tensor, how, ops.fill_with if is_fill else ops.copy_from, value)
            return
        if recorded:
            places = _refuse_part(tensor, key, how)
        else:
            _refuse(tensor, how, recorded)
        _refuse_repeated(target)
        _refuse_partial(target, value._array, how)
        if not is_told:
            if not target.flags.writeable:
                target.flags.writeable = True
            target[...] = value._array
            _note(tensor, next_number())
            return
    else:
        selection = ops.getitem(_numbered(memory), key)
        is_plain = ops.is_plain_gather(key)
        if recorded and not is_plain:
            _refuse_part(tensor, (), how)
        else:
            _refuse(tensor, how, recorded)
        if not _fills(value, key):
            _refuse_overlap(tensor, value, how, is_strict=True)
        value = _fitting(value, np.shape(selection), basic=False)
        if value._array.dtype != memory.dtype and not _fills(value, key):
            own, kind = tensor_type(memory.dtype), tensor_type(value._array.dtype)
            raise error("inplace.assigned_dtype", own=own, kind=kind)
        if is_told and is_plain and base is tensor:
            change(tensor, "__setitem__", ops.index_put, value, positions=selection)
            return
    if places is None:
        own = _numbered(memory) if base is tensor else positions(base, tensor)
        places = ops.getitem(own, key)
    _overwrite(base, value, places, "__setitem__")
    if base is not tensor and recorded:
        node_of(tensor)


def _takes_all(key: Any, shape: tuple[int, ...]) -> bool:
    """Return whether slices name all elements by their form: ``x[:]`` does, ``x[-1:]`` does not."""
    slices = [k for k in (key if isinstance(key, tuple) else (key,)) if isinstance(k, slice)]
    return all(
        k.start in (None, 0) and (k.stop is None or k.stop >= max(shape, default=0)) for k in slices
    )


def _fills(value: Tensor, key: Any) -> bool:
    """Return whether the elements that a mask names are set to one value, of whatever type."""
    mask = getattr(key, "_array", key)
    if not isinstance(mask, bool):
        dtype = getattr(mask, "dtype", None)
        if dtype is None or dtype.kind != "b" or not mask.ndim:
            return False
    return bool(value._array.size == 1)


def _numbered(array: Any) -> Any:
    """Return the numbers of the elements, counted row by row."""
    return np.arange(array.size).reshape(array.shape)


def _refuse_part(tensor: Tensor, key: Any, how: str) -> Any:
    """Refuse a recorded change of ``tensor[key]``; return the positions in the base.

    A view is made for the time of this call: it tells what PyTorch's messages name.
    """
    with installed(None):
        part = ops.getitem(tensor, key)
    _refuse(part, how, True)
    return positions(part._base, part)


def _overwrite(base: Tensor, value: Tensor, places: Any, how: str) -> None:
    """Write a value over the elements at some places of a tensor that is no view."""
    number = next_number()
    moved = ops.put(_as_it_was(base), value, positions=places)
    memory = tensors.writable(base)
    memory.flat[places.reshape(-1)] = np.broadcast_to(value._array, places.shape).reshape(-1)
    if moved._node is not None and memory.dtype.kind == "f":
        _go_on(base, moved._node)
    _note(base, number)
    _tell(base, how)


def _as_it_was(tensor: Tensor) -> Tensor:
    """Return the value as it is now, with the same history."""
    node = node_of(tensor)
    if node is not None and node.hooks is not None and tensor._base is not None:
        # Hooks belong to the gradient of the view, which this change replaces.
        node = None if tensor._base._node is None else seen_through(tensor._base, tensor)
    copy: Tensor = tensors.wrap(tensor._array.copy("K"), node)
    if local.mode.observer is not None:
        local.mode.observer.copied(tensor, copy)
    return copy


def _note(tensor: Tensor, number: int, name: str | None = None) -> None:
    """Note that the memory of ``tensor`` was overwritten; ``name`` that of its node, if known."""
    base = tensor if tensor._base is None else tensor._base
    if tensor._changes is not tensors.INFERENCE:
        if name is None:
            node = base._node
            name = "" if node is None or node.op is nodes.ACCUMULATE else node.name()
        note_change(tensor._array, number, name)
    if base._views is not None:
        forget_views(base)


def _tell(tensor: Tensor, how: str) -> None:
    if local.mode.observer is not None:
        local.mode.observer.modified(tensor, how)
        tell_of_views(tensor, how)


def _fitting(value: Tensor, shape: tuple[int, ...], basic: bool) -> Tensor:
    """Return ``value`` without the 1s in front; refuse what does not fit."""
    own = tuple(value.shape)
    while own and own[0] == 1:
        own = own[1:]
    fits = len(own) <= len(shape) and all(
        n in (1, m) for n, m in zip(own[::-1], shape[::-1], strict=False)
    )
    if not fits:
        value = value if own == value.shape else value.reshape(own)
        if basic:
            ops.check_expand(value, shape)
        raise error("inplace.assigned_shape", value=list(value.shape), selection=list(shape))
    if len(value.shape) > len(shape):
        value = value.reshape(own)
    return value


def _refuse(tensor: Tensor, how: str, recorded: bool) -> None:
    """Raise if ``tensor`` must not be changed in place by an operation that is recorded, or not."""
    if tensor._changes is tensors.INFERENCE and not local.mode.inference:
        raise error("inplace.inference_tensor", how=how)
    if not recorded:
        return
    base = tensor._base
    if base is not None:
        if tensor._kind is not DEFAULT:
            node = tensor._old if is_stale(tensor) else tensor._node
            raise refusal_of_view(tensor, node, "is being")
        if base.is_leaf and tensor.requires_grad:
            raise error("inplace.view_of_leaf", how=how)
    if tensor.requires_grad and tensor.is_leaf:
        raise error("inplace.leaf", how=how)


def refuse_change(tensor: Tensor, how: str) -> None:
    """Raise if not even backward may change ``tensor`` in place: it does so unrecorded."""
    _refuse(tensor, how, False)
    _refuse_repeated(tensor._array)


def _any_recorded(*values: Any) -> bool:
    return any(isinstance(value, tensors.Tensor) and value.requires_grad for value in values)


def _check_fits(old: Any, new: Any) -> None:
    if new.dtype is old.dtype and new.shape == old.shape:
        return
    if new.shape != old.shape:
        raise error("inplace.shape", old=list(old.shape), new=list(new.shape))
    if category(new.dtype) > category(old.dtype):
        raise error("inplace.dtype", new=tensor_type(new.dtype), old=tensor_type(old.dtype))


def _refuse_repeated(array: Any) -> None:
    """Raise if several elements that are written lie at one place of memory."""
    if 0 in getattr(array, "strides", ()) and array.size:
        pairs = zip(array.strides, array.shape, strict=True)
        if any(stride == 0 and n > 1 for stride, n in pairs):
            raise error("inplace.repeated_elements")


def _refuse_overlap(written: Tensor, read: Tensor, how: str, is_strict: bool = False) -> None:
    """Raise if a tensor is read while some of its elements, but not the same, are written.

    As in PyTorch, only tensors are compared whose elements lie side by side; ``is_strict`` refuses
    also to read just what is written.
    """
    if written is read:
        if is_strict:
            raise error("inplace.partial_overlap", how=how)
        return
    a, b = written._array, read._array
    if type(a) is not np.ndarray or type(b) is not np.ndarray or (a.base is None is b.base):
        return  # both have a memory of their own: by far the commonest
    same = a.ctypes.data == b.ctypes.data and written.stride() == read.stride()
    if is_strict or not (same and a.size == b.size):
        _refuse_partial(a, b, how, is_strict=True)


def _refuse_partial(written: Any, read: Any, how: str, is_strict: bool = False) -> None:
    """Raise if one array is read while other parts of the same memory are written."""
    if not (isinstance(written, np.ndarray) and isinstance(read, np.ndarray)):
        return
    if not (written.size and read.size and np.may_share_memory(written, read)):
        return
    if _is_dense(written) and _is_dense(read) and (is_strict or _places(written) != _places(read)):
        raise error("inplace.partial_overlap", how=how)


def _places(array: Any) -> tuple[Any, ...]:
    """Return where the elements of an array lie: the first, and the steps to the others."""
    pairs = zip(array.shape, array.strides, strict=True)
    return array.ctypes.data, [(n, stride) for n, stride in pairs if n > 1]


def _is_dense(array: Any) -> bool:
    """Return whether the elements lie side by side in memory, in whatever order."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return True
    step = array.itemsize
    for stride, n in sorted(zip(array.strides, array.shape, strict=True)):
        if n > 1:
            if stride != step:
                return False
            step *= n
    return True
