"""Changes in place: ``x += 1``, ``x.zero_()``, ``x[0] = 2``, and what they mean for the graph.

After reading this file you know what a version counter counts. An in-place operation is the
ordinary operation, whose result is then written into the tensor's memory: the tensor moves on to
the new node, and its version goes up by one, so that whoever had saved the old value can tell.
Read next: ``autograd/node.py`` (``check_saved``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit import tensor as tensors
from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.node import next_number, note_change
from autodiff_kit.dtypes import category, tensor_type
from autodiff_kit.errors import teach

if TYPE_CHECKING:
    from autodiff_kit.tensor import Tensor

__all__ = ["assign", "change"]


def change(
    tensor: Tensor, how: str, function: Callable[..., Tensor], *args: Any, **kwargs: Any
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
    _refuse_leaves(tensor, how)
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
    operand, old = tensor, tensor._array
    if isinstance(old, np.ndarray) and mode.grad_enabled and _any_recorded(tensor, *args):
        # What a rule saves of the old value must survive the overwriting below.
        operand = tensors.wrap(old.copy(), tensor._node)
    result = function(operand, *args, **kwargs)
    _check_fits(old, result._array)
    if result._node is not None:
        _refuse_view(tensor, how)
    if isinstance(old, np.ndarray):
        old[...] = result._array
    else:
        tensor._array = old.dtype.type(result._array)
    if tensor._changes is not tensors.INFERENCE:
        cell = tensors.version_cell(tensor)
        note_change(cell)
        node = result._node
        if node is not None:
            if node.out is not None:  # the result was saved: watch the memory it lives in now
                node.cells = tuple(cell if c is result._changes else c for c in node.cells)
            node.number = next_number()  # younger than the change it has made itself
            tensor._node = node
    if mode.observer is not None:
        mode.observer.modified(tensor, how)
    return tensor


def assign(tensor: Tensor, key: Any, value: Any) -> None:
    """Carry out ``tensor[key] = value``."""
    raw = ops.raw_index(tensor, key)
    if not isinstance(value, tensors.Tensor):
        value = tensors.wrap(np.asarray(value))
    try:
        value_shape = np.broadcast_shapes(tensor._array[raw].shape, value.shape)
        if value_shape != tensor._array[raw].shape:
            raise ValueError
    except ValueError:
        raise RuntimeError(
            teach(
                f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast "
                f"to indexing result of shape {list(tensor._array[raw].shape)}",
                "What is assigned must have the shape of the selection, or broadcast to it.",
            )
        ) from None
    change(tensor, "__setitem__", ops.put, value, key=raw)


def _refuse_leaves(tensor: Tensor, how: str) -> None:
    if not local.mode.grad_enabled:
        return
    base = tensor._base
    if tensor.requires_grad and tensor.is_leaf:
        raise RuntimeError(
            teach(
                "a leaf Variable that requires grad is being used in an in-place operation.",
                f"{how} would change a value whose gradient you asked for, unrecorded. To update "
                "it, write `with torch.no_grad():` around the line.",
            )
        )
    if base is not None and base.requires_grad and base.is_leaf:
        raise RuntimeError(
            teach(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                "operation.",
                f"{how} on a view changes the leaf it looks into. To update it, write "
                "`with torch.no_grad():` around the line; otherwise change a clone().",
            )
        )


def _refuse_view(tensor: Tensor, how: str) -> None:
    if tensor._base is not None:
        raise NotImplementedError(
            teach(
                f"{how} on a view is not recorded by the kit yet; PyTorch can do it.",
                "Index the tensor itself (x[0] = ...), or work on a clone().",
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
