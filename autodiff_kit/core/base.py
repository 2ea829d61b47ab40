"""What a tensor is to everything below it: slots, and how to make one.

After reading this file you know what a tensor holds. Its methods and operators stand above the ops,
in ``tensor.py``; that registers its class here, so that nothing below has to import it. Read next:
``op.py``.
"""

from __future__ import annotations

import weakref
from sys import getrefcount
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from autodiff_kit.core.mode import local
from autodiff_kit.core.versions import INFERENCE, note_moved
from autodiff_kit.dtypes import c_type, tensor_type
from autodiff_kit.errors import error

__all__ = ["ARRAYS", "Own", "TensorBase", "check_grad", "gradient_of", "refuse_to_save", "register"]
__all__ += ["share", "tensor_class", "wrap", "writable"]

ARRAYS = (np.ndarray, np.generic)  # a tuple: isinstance takes twice as long with a union
Own = TypeVar("Own", bound=Any)  # what a method is called on, and returns


class TensorBase:
    """The slots of a ``Tensor``.

    Attributes
    ----------
    _array : numpy.ndarray or NumPy scalar
        The values. A 0-d tensor holds a NumPy scalar until its memory is to be shared:
        arithmetic on scalars is seven times faster than on 0-d arrays.
    _node : Node or None
        The node that made it; for a leaf that requires grad, the node that accumulates into it.
        None means: no gradient wanted. So this one slot is ``requires_grad``, too.
    _grad : Tensor or None
    _changes : Changes or None
        ``INFERENCE`` for tensors that count no changes. Else changes are counted by memory
        (``core/versions.py``).
    _base : Tensor or None
        The tensor whose memory this one looks into: then it is a view.
    _views : set of weak references, or None
        The tensors that look into this one's memory, and into that of what is detached from it.
    _kind, _seen, _old
        Of a view: how it was made; the latest change that its node knows of; its node before
        a change of the base, while ``_node`` is empty (``storage.py``).
    """

    __slots__ = (
        *("__weakref__", "_array", "_base", "_changes", "_grad", "_kind", "_node", "_old"),
        *("_seen", "_views"),
    )

    _array: Any
    _node: Any
    _grad: Any
    _changes: Any
    _base: Any
    _views: set[weakref.ref[Any]] | None
    _kind: str
    _seen: int
    _old: Any

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Everything else stands in ``tensor.py``."""


_class: type[Any] = TensorBase


def register(kind: type[Any]) -> None:
    """Let ``wrap`` make tensors of this class."""
    global _class
    _class = kind


def tensor_class() -> type[Any]:
    """Return the class that was registered."""
    return _class


def wrap(array: Any, node: Any = None) -> Any:
    """Make a Tensor around an array without copying: the constructor that ops use."""
    tensor = object.__new__(_class)
    tensor._array = array
    tensor._node = node
    tensor._grad = tensor._changes = tensor._base = tensor._views = None
    return tensor


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
    if not isinstance(array, np.ndarray):
        tensor._array = np.array(array)
        # There is another reference to it: perhaps a node has saved it. (True and False are one
        # object each, which all have: nothing can be told from that.)
        if array.dtype.kind != "b" and getrefcount(array) > 2:
            note_moved(array, tensor._array)
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
