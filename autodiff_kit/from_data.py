"""From Python data to a fresh array: which shape and dtype nested lists have.

After reading this file you know when ``torch.tensor`` refuses data. Read next: ``creation.py``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from autodiff_kit import dtypes
from autodiff_kit.core.base import ARRAYS, INFERENCE, TensorBase, wrap
from autodiff_kit.core.mode import local
from autodiff_kit.core.versions import on_own_storage
from autodiff_kit.errors import error, warn_of_arrays, warn_of_scalar

__all__ = ["begin_legacy", "from_data", "from_numpy", "legacy_array", "made", "numpy_type"]
__all__ += ["as_int", "checked_sizes", "is_first_size", "is_size", "shape_of_sizes"]

SEQUENCES = (list, tuple, range, deque)


def made(array: Any, requires_grad: bool = False) -> Any:
    """Wrap a fresh array; the one door through which all factories go."""
    if isinstance(array, np.ndarray) and array.ndim == 0:
        array = array[()]
    out = wrap(array)
    mode = local.mode
    if mode.inference:
        out._changes = INFERENCE
    if not isinstance(requires_grad, bool):
        raise TypeError("requires_grad")  # the words come from ``signatures.py``
    if requires_grad:
        if array.dtype.kind != "f":
            raise error("dtypes.whole_requires_grad")
        out.requires_grad = True
    if mode.observer is not None:
        mode.observer.created(out)
    return out


def numpy_type(name: str, dtype: Any, default: Any = None) -> Any:
    """Return the NumPy dtype for an argument of the factory ``name``."""
    if dtype is None:
        return default if default is not None else dtypes.get_default_dtype().numpy
    return dtypes.as_dtype(dtype, name).numpy


def from_data(name: str, data: Any, dtype: Any) -> Any:
    """Return a fresh array of ``data`` in the dtype that PyTorch would pick."""
    if isinstance(data, TensorBase):
        return np.array(data._array, dtype=numpy_type(name, dtype, data._array.dtype))
    if isinstance(data, np.ndarray | np.generic):
        _check_strides(data)
        dtypes.from_numpy_dtype(data.dtype)
        return np.array(data, dtype=numpy_type(name, dtype, data.dtype))
    plain = _plain_array(data)
    if plain is not None and (dtype is None or plain.dtype.kind == "f" or plain.size == 0):
        natural = {"b": plain.dtype, "i": np.dtype("int64")}.get(plain.dtype.kind)
        inferred = natural if plain.size else None
        target = numpy_type(name, dtype, inferred)
        if target.kind == "f":
            return local.mode.quietly(plain.astype, target)  # too large: inf
        if dtype is None:  # NumPy's own integers have 4 bytes in a browser
            return plain.astype(target, copy=False)
    data = _as_lists(data)
    if isinstance(data, list | tuple) and any(isinstance(row, np.ndarray) for row in data):
        warn_of_arrays(stacklevel=_OUTSIDE - 1)
    shape = _shape_of(data)
    if 0 in shape:  # PyTorch looks at no row then, but for its dtype
        return np.zeros(shape, numpy_type(name, dtype, None if dtype else _inferred(_kinds(data))))
    items = list(_flattened(data, shape, 0))
    kinds: set[Any] = set()
    for item in items:
        kinds |= {item.dtype} if isinstance(item, ARRAYS) else _types(item) - {list, tuple}
    target = numpy_type(name, dtype, _inferred(kinds))
    wrong = next((item for item in items if isinstance(item, (np.ndarray, *SEQUENCES))), None)
    if isinstance(wrong, np.ndarray):
        raise error("creation.tensor_in_list" if target.kind == "f" else "creation.tensor_as_int")
    if wrong is not None:
        key = "creation.nested_too_deep" if target.kind == "f" else "creation.nested_integers"
        raise error(key, kind=type(wrong).__name__)
    if target.kind in "iu":
        limits = np.iinfo("int64")
        if any(isinstance(n, int) and not limits.min <= n <= limits.max for n in items):
            raise error("dtypes.long_overflow", low=limits.min, high=limits.max)
        extremes = {min(items), max(items)} if items and kinds <= {int, bool} else items
        for item in extremes:
            dtypes.number_in(item, target, target.name)
    array = np.array(items, dtype=None if target.kind in "iu" else target)
    return local.mode.quietly(array.astype, target).reshape(shape)


def _plain_array(data: Any) -> Any:
    """Return an array of Python numbers in nested lists, the fast way; None for anything else."""
    if not _types(data) <= {bool, int, float, list, tuple}:
        return None
    try:
        array = np.array(data)
    except ValueError:
        return None  # rows of different lengths
    return array if array.dtype.kind in "bif" else None


def _types(data: Any) -> set[type]:
    if not isinstance(data, list | tuple):
        return {type(data)}
    types = set(map(type, data))
    if types & {list, tuple}:
        types.update(*map(_types, data))
    return types


def _as_lists(data: Any) -> Any:
    """Return nested sequences of any kind as lists; anything else as it is."""
    if isinstance(data, (str, bytes, Mapping, TensorBase, *ARRAYS)):
        return data
    if isinstance(data, tuple):
        return tuple(map(_as_lists, data))
    if not (hasattr(type(data), "__getitem__") and hasattr(type(data), "__len__")):
        return [*data] if isinstance(data, SEQUENCES) else data
    return [_as_lists(data[i]) for i in range(len(data))]


def _shape_of(data: Any) -> tuple[int, ...]:
    """Return the shape that nested lists have, judged by the first ones; a tensor is a number."""
    shape: tuple[int, ...] = ()
    while isinstance(data, SEQUENCES):
        shape += (len(data),)
        if not data:
            return shape
        data = data[0]
    if shape and isinstance(data, str):
        raise error("creation.text_in_list")
    sizes = () if isinstance(data, TensorBase) else np.shape(data)
    return shape + sizes[: sizes.index(0) + 1 if 0 in sizes else None]


def _flattened(data: Any, shape: tuple[int, ...], dim: int) -> Iterator[Any]:
    """Yield what should be numbers in nested lists; refuse rows of different lengths."""
    if isinstance(data, TensorBase) and dim == len(shape):
        if data.requires_grad and local.mode.grad_enabled:
            warn_of_scalar(stacklevel=_OUTSIDE + dim)
        array = np.asarray(data._array)
        yield array.flat[0] if array.size == 1 else array  # which the caller refuses
    elif isinstance(data, (TensorBase, np.ndarray)) and not data.ndim and dim < len(shape):
        raise error("creation.not_a_sequence")
    elif isinstance(data, TensorBase) and data.ndim:
        yield from _flattened([*data.detach()], shape, dim)  # beside rows that are lists
    elif isinstance(data, np.ndarray) and data.shape == shape[dim:]:
        yield from data.flat
    elif isinstance(data, (*SEQUENCES, np.ndarray)):
        if dim == len(shape):
            yield data  # which the caller refuses
            return
        if len(data) != shape[dim]:
            raise error("creation.row_length", expected=shape[dim], dim=dim, length=len(data))
        for item in data:
            yield from _flattened(item, shape, dim + 1)
    elif isinstance(data, str | bytes):
        raise error("creation.data_type", kind=type(data).__name__)
    elif not isinstance(data, int | float | np.generic):
        if isinstance(data, complex):
            raise error("creation.complex")
        raise error("creation.no_number", kind=dtypes.full_name(data))
    elif dim < len(shape):
        raise error("creation.not_a_sequence")
    else:
        yield data


_OUTSIDE = 5  # from a warning in ``_flattened`` up to the caller of ``tensor``


def _kinds(data: Any) -> set[Any]:
    """Return the types and dtypes in nested lists of any shape; an empty list is one of floats."""
    if isinstance(data, ARRAYS):
        return {data.dtype}
    if isinstance(data, TensorBase):
        return {data._array.dtype}
    if isinstance(data, SEQUENCES):
        return set().union(*map(_kinds, data)) if data else {float}
    return set(map(type, _flattened(data, (), 0)))


def _inferred(kinds: set[Any]) -> Any:
    """Return the dtype for Python numbers of these types and NumPy numbers of these dtypes."""
    of_python = {bool: np.dtype("bool"), int: np.dtype("int64"), np.bool_: np.dtype("bool")}
    default = dtypes.get_default_dtype().numpy
    candidates = [k if isinstance(k, np.dtype) else of_python.get(k, default) for k in kinds]
    top = max(map(dtypes.category, candidates), default=2)
    highest = [d for d in candidates if dtypes.category(d) == top]
    return np.result_type(*highest) if highest else default


def begin_legacy(tensor: TensorBase, data: tuple[Any, ...]) -> None:
    """Fill the new tensor of ``torch.Tensor(*data)``: of sizes, or from one list or tensor."""
    tensor._array, tensor._node = legacy_array(data), None
    tensor._grad = tensor._changes = tensor._base = tensor._views = None
    if local.mode.observer is not None:
        local.mode.observer.created(tensor)


def legacy_array(data: tuple[Any, ...], dtype: dtypes.dtype | None = None) -> Any:
    """Return the array for ``torch.Tensor(*data)``: of sizes, or from one list or tensor."""
    default = dtype or dtypes.get_default_dtype()
    if len(data) == 1 and isinstance(data[0], TensorBase):
        return data[0].detach()._array
    if len(data) == 1 and isinstance(data[0], list | tuple | np.ndarray):
        if not isinstance(data[0], dtypes.Size):
            return from_data("Tensor", data[0], default).astype(default.numpy)
    elif len(data) == 1 and (isinstance(data[0], bool) or not isinstance(data[0], int | str)):
        raise error("creation.not_a_list", kind=type(data[0]).__name__)
    elif data and isinstance(data[0], str):
        raise error("creation.data_type", kind=type(data[0]).__name__)
    return np.zeros(shape_of_sizes("new", data or (0,)), default.numpy)


def from_numpy(array: Any) -> Any:
    """Make a tensor that shares memory with an array."""
    if not isinstance(array, np.ndarray):
        raise error("creation.not_an_array", kind=type(array).__name__)
    _check_strides(array)
    kit_type = dtypes.from_numpy_dtype(array.dtype)
    # An equal dtype may be another object: use ours.
    out = wrap(on_own_storage(array.view(kit_type.numpy)))
    if local.mode.inference:
        out._changes = INFERENCE
    if local.mode.observer is not None:
        local.mode.observer.created(out)
    return out


def as_int(value: Any) -> int:
    """Return an integer argument as an int: a 0-d tensor may hold it, and a bool is none."""
    if isinstance(value, TensorBase):
        if not value._array.ndim and value._array.dtype.kind in "iu":
            return int(value._array)
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    raise error("arguments.dim", kind=dtypes.full_name(value))


def is_first_size(value: Any) -> bool:
    """Return whether a value can be the first size: an integer, or a tensor that holds one."""
    return is_size(value) and not isinstance(value, bool)


def is_size(value: Any) -> bool:
    """Return whether a value can be a size behind the first one: there a bool counts, too."""
    if isinstance(value, TensorBase):
        return bool(value._array.size == 1 and value._array.dtype.kind in "biu")
    return isinstance(value, (int, np.integer))


def checked_sizes(name: str, argument: str, sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Return sizes as ints; TypeError where a later one than the first is none."""
    for i, n in enumerate(sizes):
        if not is_size(n):
            kind = dtypes.full_name(n)
            raise error(
                "arguments.size_element", name=name, argument=argument, kind=kind, position=i + 1
            )
    return tuple(n.__index__() for n in sizes)


def shape_of_sizes(name: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """Return sizes, given one by one or as one list, as a tuple of ints."""
    if not size:
        raise error("creation.size_missing", name=name)
    is_list = len(size) == 1 and isinstance(size[0], tuple | list)
    sizes = tuple(size[0]) if is_list else size
    if sizes and not is_first_size(sizes[0]):
        kind = dtypes.full_name(sizes[0])
        words = f"but found element of type {kind} at pos 0" if is_list else f"not {kind}"
        raise error("creation.size_type", name=name, position=1, kind=words)
    shape = checked_sizes(name, "size", sizes)
    if any(n < 0 for n in shape):
        if name == "zeros":
            raise error("creation.negative_zeros")
        first = next(n for n in shape if n < 0)
        raise error("shapes.negative_size", size=first, shape=list(shape))
    return shape


def _check_strides(array: Any) -> None:
    if any(stride < 0 for stride in array.strides):
        raise error("creation.negative_stride")
