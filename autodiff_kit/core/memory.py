"""A tensor's memory, shared or written to, and what may become a gradient.

After reading this file you know when the NumPy scalar of a 0-d tensor becomes an array. Read next:
``versions.py``.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any, NoReturn, TypeVar

import numpy as np

from autodiff_kit.core.base import INFERENCE, TensorBase, wrap
from autodiff_kit.core.mode import local
from autodiff_kit.core.versions import array_of
from autodiff_kit.dtypes import c_type, tensor_type
from autodiff_kit.errors import error

__all__ = ["Own", "check_grad", "gradient_of", "refuse_to_save", "share", "writable"]

Own = TypeVar("Own", bound=Any)  # what a method is called on, and returns


def gradient_of(array: Any) -> Any:
    """Return an array that a rule has made as a tensor."""
    gradient = wrap(array)
    if local.mode.inference:
        gradient._changes = INFERENCE
    return gradient


def check_grad(tensor: Any, value: Any) -> None:
    """Refuse a value for ``tensor.grad`` that is not a tensor of the same shape and dtype."""
    if not isinstance(value, TensorBase):
        raise error("autograd.grad_type", kind=type(value).__name__)
    if value is tensor:
        raise error("autograd.grad_is_itself")
    own, g = tensor._array, value._array
    if own.dtype != g.dtype:
        kinds = c_type(g.dtype), tensor_type(own.dtype)
        raise error("autograd.grad_dtype", given=kinds[0], own=kinds[1])
    if own.shape != g.shape:
        raise error("autograd.grad_shape", given=list(g.shape), own=list(own.shape))


def share(tensor: TensorBase) -> np.ndarray[Any, Any]:
    """Return the tensor's memory as an array that others may hold and change, too."""
    array = tensor._array
    if isinstance(array, np.ndarray):
        return array
    # If there is another reference to it, perhaps a node has saved it. (True and False are one
    # object each, which all have: nothing can be told from that.)
    is_saved = array.dtype.kind != "b" and getrefcount(array) > 3
    tensor._array = array_of(array) if is_saved else np.array(array)
    return tensor._array


def writable(tensor: TensorBase) -> np.ndarray[Any, Any]:
    """Return the tensor's memory to be written to, also where elements share a place in it."""
    array = share(tensor)
    if not array.flags.writeable:
        array.flags.writeable = True  # NumPy marks expanded arrays; ValueError for a constant
    return array


def refuse_to_save() -> NoReturn:
    """Refuse to save an inference tensor for a rule: a change of it could not be noticed."""
    raise error("autograd.inference_saved")
