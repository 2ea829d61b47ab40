"""Changes in place: ``x += 1``, ``x.zero_()``, ``x[0] = 2``, and what they mean for the graph.

After reading this file you know what a version counter counts. An in-place operation is the
ordinary operation, whose result is then written into the tensor's memory: the tensor moves on to
the new node, and its version goes up by one, so that whoever had saved the old value can tell.
What looks into the same memory - the base of a view, other views of it - moves on as well.
Read next: ``autograd/node.py`` (``check_saved``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.node import Change, LastChange, next_number, note_change
from autodiff_kit.dtypes import category, tensor_type
from autodiff_kit.errors import teach

if TYPE_CHECKING:
    from autodiff_kit.autograd.node import Node
    from autodiff_kit.tensor import Tensor

__all__ = ["assign", "change"]

tensors: Any = import_module("autodiff_kit.tensor")  # it is importing this module just now


def change(
    tensor: Tensor, how: str, function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Tensor:
    """Compute ``function(tensor, ...)`` and write the result into ``tensor``.

    Parameters
    ----------
    tensor : Tensor
    how : str
        Name of the in-place operation, for example ``"add_"``.
    function : callable
        The ordinary operation; gets ``tensor`` and the other arguments.

    Returns
    -------
    Tensor - ``tensor`` itself.

    Raises
    ------
    RuntimeError
        With PyTorch's words: on a leaf that requires grad or a view of one in grad mode, on an
        inference tensor outside of inference mode, when shape or dtype would have to change, or
        when elements share one memory location.
    """
    _refuse(tensor, how)
    base = tensor if tensor._base is None else tensor._base
    number = next_number()  # of the change: the nodes that it makes are younger
    operand = tensor
    if local.mode.grad_enabled and _any_recorded(tensor, *args):
        # What a rule saves of the old value must survive the overwriting below.
        operand = tensors.wrap(_copied(tensor), tensor._node)
    result = function(operand, *args, **kwargs)
    _check_fits(tensor._array, result._array)
    if result._node is None:
        _write(tensor, result)
        _note(tensor, number, tensor.grad_fn)
        _tell(tensor, how)
        return tensor
    if result._array.dtype != tensor._array.dtype:
        result = ops.promote(result, dtype=tensor._array.dtype)
    moved = result
    if base is not tensor:
        old_base = tensors.wrap(_copied(base), base._node)
        moved = ops.put(old_base, result, positions=_positions(base, tensor))
    _write(tensor, result)
    _note(tensor, number, moved._node)
    _watch(result, tensors.version_cell(tensor))
    base._node = moved._node
    _tell(base, how)
    for reference in tuple(getattr(base, "_views", ())):
        view = reference()
        if view is not None:
            whole = tensors.wrap(base._array, base._node)
            view._node = ops.pick(whole, positions=_positions(base, view))._node
            _tell(view, how)
    return tensor


def assign(tensor: Tensor, key: Any, value: Any) -> None:
    """Carry out ``tensor[key] = value``.

    Raises
    ------
    IndexError, TypeError, RuntimeError
        If the key does not fit the tensor, or the value does not fit the elements it names.
    """
    if not isinstance(value, tensors.Tensor):
        if not isinstance(value, int | float | np.generic):
            kind, own = type(value).__name__, tensor_type(tensor._array.dtype)
            raise TypeError(
                teach(
                    f"can't assign a {kind} to a torch.{own}Tensor",
                    "Assign a number or a tensor: torch.tensor([1., 2.]).",
                )
            )
        value = tensors.wrap(np.asarray(value)[()])
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


def _copied(tensor: Tensor) -> Any:
    array = tensor._array
    return array.copy("K") if isinstance(array, np.ndarray) else array


def _write(tensor: Tensor, result: Tensor) -> None:
    if isinstance(tensor._array, np.ndarray):
        tensor._array[...] = result._array
    else:
        tensor._array = tensor._array.dtype.type(result._array)


def _note(tensor: Tensor, number: int, node: Node | None) -> None:
    if tensor._changes is not tensors.INFERENCE:
        name = "" if node is None else node.name()
        note_change(tensors.version_cell(tensor), number, name)


def _tell(tensor: Tensor, how: str) -> None:
    if local.mode.observer is not None:
        local.mode.observer.modified(tensor, how)


def _watch(result: Tensor, cell: list[Any]) -> None:
    """Let the node of an in-place operation watch the memory that it has written to.

    If the result was saved, it lives in that memory now. If the tensor itself was saved as a
    second operand (``y *= y``), its old value is gone: the node gets a cell that says so.
    """
    node = result._node
    assert node is not None
    gone = [*cell[:-1], Change(sys.maxsize)]
    gone[-1].node_name = "" if node.edge1 is None else cell[-1].node_name
    if any(c is cell for c in node.cells):
        LastChange.number = next_number()  # so that backward looks
    new = {id(result._changes): cell, id(cell): gone}
    node.cells = tuple(new.get(id(c), c) for c in node.cells)


def _positions(base: Tensor, view: Tensor) -> Any:
    """Return which elements of ``base``, counted row by row, ``view`` looks at.

    Returns
    -------
    array of int, shape of ``view``
    """
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
        raise RuntimeError(
            teach(
                f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast "
                f"to indexing result of shape {list(shape)}",
                "What is assigned must have the shape of the selection, or broadcast to it.",
            )
        )
    return value if own == value.shape else value.reshape(own)


def _refuse(tensor: Tensor, how: str, through_view: bool = False) -> None:
    """Raise if ``tensor`` must not be changed in place in this mode."""
    mode = local.mode
    if tensor._changes is tensors.INFERENCE and not mode.inference:
        raise RuntimeError(
            teach(
                "Inplace update to inference tensor outside InferenceMode is not allowed.You can "
                "make a clone to get a normal tensor before doing inplace update.See "
                "https://github.com/pytorch/rfcs/pull/17 for more details.",
                f"Use x.clone() and call {how} on that.",
            )
        )
    base = tensor._base
    if not mode.grad_enabled or (tensor._node is None and (base is None or base._node is None)):
        return
    if base is not None and tensor._node is None:
        raise RuntimeError(
            teach(
                "A view was created in no_grad mode and is being modified inplace with grad mode "
                "enabled. Given that this use case is ambiguous and error-prone, it is forbidden. "
                "You can clarify your code by moving both the view and the inplace either both "
                "inside the no_grad block (if you don't want the inplace to be tracked) or both "
                "outside (if you want the inplace to be tracked).",
                f"{how} would change a tensor that requires grad through a view that does not.",
            )
        )
    if tensor.is_leaf and not through_view:
        raise RuntimeError(
            teach(
                "a leaf Variable that requires grad is being used in an in-place operation.",
                f"{how} would change a value whose gradient you asked for, unrecorded. To update "
                "it, write `with torch.no_grad():` around the line.",
            )
        )
    if tensor.is_leaf or (base is not None and base.is_leaf):
        raise RuntimeError(
            teach(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                "operation.",
                f"{how} on a view changes the leaf it looks into. To update it, write "
                "`with torch.no_grad():` around the line; otherwise change a clone().",
            )
        )


def _any_recorded(*values: Any) -> bool:
    return any(getattr(value, "_node", None) is not None for value in values)


def _check_fits(old: Any, new: Any) -> None:
    if new.dtype is old.dtype and new.shape == old.shape and 0 not in getattr(old, "strides", ()):
        return
    if category(new.dtype) > category(old.dtype):
        raise RuntimeError(
            teach(
                f"result type {tensor_type(new.dtype)} can't be cast to the desired output type "
                f"{tensor_type(old.dtype)}",
                "An in-place operation keeps the dtype of its tensor; write x = x + ... instead.",
            )
        )
    if new.shape != old.shape:
        raise RuntimeError(
            teach(
                f"output with shape {list(old.shape)} doesn't match the broadcast shape "
                f"{list(new.shape)}",
                "An in-place operation keeps the shape of its tensor; write x = x + ... instead.",
            )
        )
    strides = zip(getattr(old, "strides", ()), old.shape, strict=False)
    if any(stride == 0 and n > 1 for stride, n in strides):
        raise RuntimeError(
            teach(
                "unsupported operation: more than one element of the written-to tensor refers to "
                "a single memory location. Please clone() the tensor before performing the "
                "operation.",
                "expand() repeats elements without copying them.",
            )
        )
