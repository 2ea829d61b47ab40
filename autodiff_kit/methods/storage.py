"""What a tensor is as memory: sizes, elements, types, views, and the way out to NumPy and Python.

After reading this file you know when memory is shared, and who is told. Read next:
``../inplace.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import getrefcount
from typing import Any

import numpy as np

from autodiff_kit import dtypes, ops
from autodiff_kit.calls import check_calls
from autodiff_kit.core.base import INFERENCE, TensorBase, wrap
from autodiff_kit.core.hooks import hooks_of
from autodiff_kit.core.mode import local
from autodiff_kit.core.node import AccumulateGrad
from autodiff_kit.core.versions import (
    changes_of,
    note_change,
    note_detached,
    note_replaced,
    on_own_counter,
    share,
    writable,
)
from autodiff_kit.core.view_nodes import DETACHED
from autodiff_kit.dtypes import full_name
from autodiff_kit.errors import error, warn_of_scalar
from autodiff_kit.from_data import from_numpy
from autodiff_kit.methods.makers import Own
from autodiff_kit.views import follow_base, has_version, is_stale, keep_hooks, latest_node, marked

__all__ = ["Storage", "rebuild"]


_shape = tuple.__new__  # of the shape of an array, which need not be checked


def _converter(method: str, name: str) -> Any:
    """Make a method that converts to the dtype of this name."""

    def convert(self: Own) -> Own:
        return self.to(dtypes.from_numpy_dtype(name))

    convert.__name__, convert.__qualname__ = method, f"Tensor.{method}"
    convert.__doc__ = f"Convert to {name}."
    return convert


class Storage:
    """Mixed into ``Tensor``."""

    __slots__ = ()

    _array: Any
    _node: Any
    _views: Any

    # -- what it is ----------------------------------------------------------------------------

    @property
    def shape(self: Any) -> dtypes.Size:
        """The sizes of the dimensions."""
        return _shape(dtypes.Size, self._array.shape)

    @property
    def dtype(self: Any) -> dtypes.dtype:
        """The type of the elements."""
        return dtypes.from_numpy_dtype(self._array.dtype)

    @property
    def device(self: Any) -> dtypes.device:
        """Where the memory is: always the CPU."""
        return dtypes.device("cpu")

    @property
    def ndim(self: Any) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def __len__(self: Any) -> int:
        if self.ndim == 0:
            raise error("tensor.len_of_0d")
        return self.shape[0]

    def __iter__(self: Own) -> Iterator[Own]:
        if self.ndim == 0:
            raise error("tensor.iteration_over_0d")
        return iter(ops.unbind(self, dim=0))

    def size(self: Any, dim: int | None = None) -> Any:
        """Return the shape, or the size of one dimension."""
        if dim is not None and self.ndim == 0:
            raise error("shapes.size_of_0d", dim=dim)
        return self.shape if dim is None else self.shape[self._dim(dim)]

    def dim(self: Any) -> Any:
        """Return the number of dimensions."""
        return self.ndim

    def ndimension(self: Any) -> int:
        """Return the number of dimensions."""
        return self.ndim

    def numel(self: Any) -> Any:
        """Return the number of elements."""
        return self._array.size

    nelement = numel

    def element_size(self: Any) -> Any:
        """Return the bytes per element."""
        return self._array.dtype.itemsize

    def is_floating_point(self: Any) -> Any:
        """Return whether the elements are floats."""
        return self.dtype.is_floating_point

    def is_contiguous(self: Any) -> Any:
        """Return whether the elements lie in memory row by row."""
        return bool(np.asarray(self._array).flags.c_contiguous)

    def item(self: Any) -> Any:
        """Return the only element as a Python number."""
        if self._array.size != 1:
            raise error("tensor.item_of_many", count=self.numel())
        _tell(self, "item()")
        return self._array.item()

    def tolist(self: Any) -> Any:
        """Return the elements as (nested lists of) Python numbers."""
        _tell(self, "tolist()")
        return self._array.tolist()

    def cpu(self: Any) -> Any:
        """Return the tensor itself: it is on the CPU."""
        return self

    @property
    def real(self: Any) -> Any:
        """The tensor itself: all numbers are real."""
        return self

    @real.setter
    def real(self: Any, value: Any) -> None:
        if not isinstance(value, TensorBase):
            if not isinstance(value, (int, float, np.generic)):
                kind, own = full_name(value), dtypes.tensor_type(self._array.dtype)
                raise error("inplace.assigned_type", kind=kind, own=own)
            value = wrap(dtypes.number_in(value, self._array.dtype))
        self.copy_(value)

    is_cpu: Any = property(lambda self: True, doc="True: the kit uses the CPU.")
    is_cuda: Any = property(lambda self: False, doc="False: the kit uses no GPU.")
    is_sparse: Any = property(lambda self: False, doc="False: all elements are stored.")
    itemsize: Any = property(lambda self: self._array.dtype.itemsize, doc="Bytes per element.")
    nbytes: Any = property(lambda self: self._array.nbytes, doc="The bytes of all elements.")

    def get_device(self) -> int:
        """Return -1: the memory is the CPU's."""
        return -1

    def contiguous(self: Any) -> Any:
        """Return the tensor itself, or a copy whose elements lie row by row."""
        return self if self.is_contiguous() else ops.contiguous(self)

    def stride(self: Any, dim: int | None = None) -> Any:
        """Return how many elements to go in memory for one step along each dimension, or one."""
        if dim is not None:
            return self.stride()[self._dim(dim)]
        from autodiff_kit.overlap import steps

        return steps(self._array)

    def storage_offset(self: Any) -> int:
        """Return how many elements of its storage lie in front of the first one."""
        from autodiff_kit.overlap import storage_of

        array = share(self)
        offset: int = array.ctypes.data - storage_of(array).ctypes.data
        return offset // array.itemsize if array.size else 0

    def data_ptr(self: Any) -> Any:
        """Return the address of the first element: equal for tensors that share memory."""
        return share(self).ctypes.data if self.numel() else 0

    def _apart(self: Own, array: Any) -> Own:
        """Return a tensor without history of this one's memory."""
        out: Any = wrap(array)
        out._changes = self._changes
        if self._changes is INFERENCE and not local.mode.inference:
            out._kind = DETACHED  # with a counter of its own: it may be changed
        return out

    def detach(self: Own) -> Own:
        """Return a tensor with the same memory and no history; changes in place are shared."""
        out = self._apart(share(self))
        whole = self if self._base is None else self._base
        if whole._views is None:
            whole._views = set()
        out._views = whole._views  # a change of one is a change of all that look into that memory
        if local.mode.observer is not None:
            local.mode.observer.detached(self, out)
        return out

    @property
    def data(self: Own) -> Own:
        """The same memory without history, counting changes for itself, unnoticed."""
        out = self._apart(on_own_counter(writable(self)))
        if local.mode.observer is not None:
            local.mode.observer.detached(self, out)
        return out

    @data.setter
    def data(self: Any, value: TensorBase) -> None:
        if not isinstance(value, TensorBase):
            raise error("autograd.data_of_no_tensor", kind=full_name(value))
        if self.requires_grad and not value.is_floating_point():
            raise error("autograd.data_of_whole")
        old, self._array = share(self), on_own_counter(writable(value))
        note_replaced(old, self._array)
        node = None if is_stale(self) else self._node
        if type(node) is AccumulateGrad and old.dtype != self._array.dtype:
            # What has the node goes on with it; the tensor begins anew, with the same hooks.
            self._node = AccumulateGrad(self)
            self._node.hooks = hooks_of(node)
        elif isinstance(node, AccumulateGrad) and node.shape != self._array.shape:
            if getrefcount(node) < 4:
                node.shape = self._array.shape
            else:  # a graph that has the node goes on with the size of before
                hooks_of(node)  # so that the engine does not just keep what arrives
        if value._changes is INFERENCE is not self._changes:
            self._changes = INFERENCE
            if self._base is None:  # it goes on counting, as a view does whose base counts
                self._kind = DETACHED
            if self._base is not None or self._node is not None:
                self._array = marked(self._array)
        if local.mode.observer is not None:
            local.mode.observer.modified(self, "assignment to .data")

    def detach_(self: Own) -> Own:
        """Cut the tensor itself out of the graph, in place."""
        if local.mode.inference or self._changes is INFERENCE:
            return self  # PyTorch's function for what has no graph does nothing
        if self._base is not None:
            raise error("autograd.detach_view")
        if not self.is_leaf:
            # Rules that have saved it would now compute with a tensor without a history.
            before, array = self._array, share(self)
            note_detached(before)
            if array is not before:  # a NumPy scalar until now
                note_detached(array)
        if self._node is not None and local.mode.observer is not None:
            local.mode.observer.detached(self, self)
        keep_hooks(self)
        self._node = None
        follow_base(self)
        return self

    def __deepcopy__(self: Any, memo: dict[Any, Any]) -> Any:
        from copy import deepcopy

        if not self.is_leaf:
            raise error("autograd.deepcopy_of_non_leaf")
        from autodiff_kit.overlap import place_of

        place = place_of(share(self))
        key = "storage", id(place.storage)
        if key not in memo:  # tensors that share memory have copies that share memory
            memo[key] = place.storage, place.storage.ravel("K").copy()
        twin = rebuild(type(self), place.within(memo[key][1]), self.requires_grad)
        memo[id(self)] = twin
        twin._grad = deepcopy(self._grad, memo)
        vars(twin).update(deepcopy(vars(self), memo))
        return twin

    def __reduce__(self: Any) -> Any:
        from autodiff_kit.overlap import place_of

        place = place_of(np.asarray(self._array))
        where = place.storage.ravel("K"), *place[1:]  # all of its memory, as PyTorch pickles it
        return rebuild_at, (self.__class__, *where, self.requires_grad), vars(self) or None

    def __reversed__(self: Any) -> Any:
        return self.flip(tuple(range(self.ndim)))

    def __contains__(self: Any, value: Any) -> Any:
        if not isinstance(value, Storage | int | float | np.generic):
            raise error("arguments.contains", kind=type(value))
        return (self == value).any().item()

    @property
    def output_nr(self: Any) -> int:
        """Which output of its node this is."""
        node = latest_node(self)
        return 0 if node is None else node.output_nr

    @property
    def _version(self: Any) -> int:
        """How often the tensor, or one that shares its memory, was changed in place."""
        if not has_version(self):
            raise error("autograd.version_of_inference")
        changes = changes_of(self._array)
        return 0 if changes is None else changes.version()

    def _is_view(self: Any) -> bool:
        """Return whether it looks into the memory of another tensor, its base."""
        return self._base is not None

    def is_inference(self: Any) -> bool:
        """Return whether it was made under ``inference_mode``."""
        return self._changes is INFERENCE

    # -- values --------------------------------------------------------------------------------

    def numpy(self: Any, *, force: bool = False) -> np.ndarray[Any, Any]:
        """Return the NumPy array, sharing memory.

        RuntimeError if the tensor requires grad, unless ``force``: NumPy would work unrecorded.
        """
        if self.requires_grad and local.mode.grad_enabled and not force:
            raise error("autograd.numpy_of_recorded")
        _tell(self, "numpy()")
        return writable(self)

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        return array if dtype is None and not copy else np.array(array, dtype=dtype)

    def __array_wrap__(self: Own, array: Any, *_: Any) -> Own:
        """Make a tensor of what a NumPy function of tensors returns: truth values are 0 and 1."""
        array = np.asarray(array)
        return from_numpy(array.astype("uint8") if array.dtype == bool else array)

    def __bool__(self: Any) -> bool:
        if self._array.size != 1:
            raise error("tensor.truth_of_many" if self.numel() else "tensor.truth_of_none")
        outcome = bool(self._array)
        if local.mode.observer is not None:
            local.mode.observer.branched(self, outcome)
        return outcome

    def __float__(self: Any) -> float:
        if self.requires_grad and local.mode.grad_enabled:
            warn_of_scalar(stacklevel=3)
        return float(self._scalar())

    def __int__(self: Any) -> int:
        return int(self._scalar())

    def __index__(self: Any) -> int:
        if self._array.dtype.kind not in "iub" or self.numel() != 1:
            raise error("tensor.not_an_index", dtype=self.dtype, shape=list(self.shape))
        return int(self.item())

    def _scalar(self: Any) -> Any:
        if self._array.size != 1:
            raise error("tensor.not_a_scalar", shape=self.shape)
        _tell(self, "float() or int()")
        return self._array.item()

    # -- types ---------------------------------------------------------------------------------

    def to(
        self: Own,
        *args: Any,
        dtype: Any = None,
        device: Any = None,
        non_blocking: bool = False,
        copy: bool = False,
    ) -> Own:
        """Convert to a dtype (or to another tensor's); a device other than the CPU is refused.

        ``non_blocking`` says not to wait for a device: there is none.
        """
        for arg in args:
            if isinstance(arg, dtypes.dtype | type):
                dtype = arg
            elif isinstance(arg, bool):
                pass  # non_blocking: there is nothing to wait for
            elif isinstance(arg, Storage):
                dtype = dtypes.from_numpy_dtype(arg._array.dtype)
            elif arg is not None:
                dtypes.check_device(arg)
        dtypes.check_device(device)
        target = self._array.dtype if dtype is None else dtypes.as_dtype(dtype, "to").numpy
        if target == self._array.dtype and not copy:
            return self
        convert = ops.to_copy if target.kind == "f" else ops.to_whole
        return convert(self, dtype=target)

    def cuda(self: Own, device: Any = None, non_blocking: Any = False) -> Own:
        """Refuse, as PyTorch without CUDA does: the kit uses no GPU."""
        raise error("dtypes.cuda", name="CUDA")

    def type(self: Any, dtype: Any = None) -> Any:
        """Convert to a dtype; without one, return the name of the tensor's type."""
        if dtype is None:
            return f"torch.{dtypes.tensor_type(self._array.dtype)}Tensor"
        kind = dtypes.of_tensor_type(dtype)
        if not isinstance(kind, dtypes.dtype | type):
            key = "dtypes.type_name" if isinstance(kind, str) else "dtypes.type"
            raise error(key, kind=kind)
        return self.to(kind)

    def type_as(self: Own, other: TensorBase) -> Own:
        """Convert to the dtype of another tensor."""
        return self.to(other.dtype)

    float, double = _converter("float", "float32"), _converter("double", "float64")
    half, int = _converter("half", "float16"), _converter("int", "int32")
    byte, char = _converter("byte", "uint8"), _converter("char", "int8")
    short = _converter("short", "int16")
    long, bool = _converter("long", "int64"), _converter("bool", "bool")

    check_calls(vars())


def rebuild(kind: Any, array: Any, requires_grad: Any) -> Any:
    """Make a leaf again from what was pickled."""
    tensor = object.__new__(kind)
    tensor._array = array
    tensor._array = on_own_counter(share(tensor))  # after copy.copy, two tensors have the memory
    note_change(tensor._array)
    tensor._node = tensor._grad = tensor._changes = tensor._base = tensor._views = None
    if local.mode.observer is not None:
        local.mode.observer.created(tensor)
    return tensor.requires_grad_(requires_grad)


def rebuild_at(
    kind: Any, storage: Any, offset: int, shape: Any, strides: Any, requires_grad: bool
) -> Any:
    """Make a leaf again from a pickled storage and the place where its elements lie."""
    array = np.ndarray(shape, storage.dtype, storage, offset, strides)
    return rebuild(kind, array, requires_grad)


def _tell(tensor: Any, how: str) -> None:
    if local.mode.observer is not None:
        local.mode.observer.left(tensor, how)
