"""More ways to make tensors: ``as_tensor``, ``full_like``, ``x.new_zeros``, ``logspace`` ...

After reading this file you know when memory is shared: ``as_tensor`` and ``asarray`` copy only if
they must. Read next: ``draws.py``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autodiff_kit import creation, dtypes
from autodiff_kit.creation import factory, like
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.from_data import (
    from_data,
    from_numpy,
    legacy_array,
    made,
    numpy_type,
    shape_of_sizes,
)
from autodiff_kit.functions.declared import Dtype, IntList, Ints, Number, function, method
from autodiff_kit.ops.layouts import empty_like as empty_array_like
from autodiff_kit.tensor import Tensor

__all__ = ["as_tensor", "asarray", "empty_like", "frombuffer", "full_like", "logspace", "new"]
__all__ += ["new_empty", "new_full", "new_ones", "new_tensor", "new_zeros", "randn_like", "range"]
__all__ += ["scalar_tensor", "vander"]

empty_like = like(creation.empty, "empty_like")


def _randn(*args: Any, _like: Any, **options: Any) -> Any:
    in_blocks = empty_array_like(_like).flags.c_contiguous
    return creation.randn(*args, _like=_like, _in_blocks=in_blocks, **options)


randn_like = like(_randn, "randn_like")


@function
def full_like(
    input: Tensor,
    fill_value: Number,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of one value with shape, dtype and layout of ``input``."""
    options: Any = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    number = dtypes.number_in(value, (dtype or input.dtype).numpy)
    return _full_like(input, fill_value=number, **options)


_full_like = like(creation.full, "full_like")


# -- from data ------------------------------------------------------------------------------------


def as_tensor(data: Any, dtype: dtypes.dtype | None = None, device: Any = None) -> Tensor:
    """Return data as a tensor: a tensor itself, the memory of an array, a copy of anything else."""
    dtypes.check_device(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtype.numpy == data.dtype):
        return from_numpy(data)
    return creation.tensor(data, dtype=dtype)


def asarray(
    obj: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Return data as a tensor; ``copy`` says whether memory is shared: None, if possible.

    ``requires_grad``: None, as the data do; False for a leaf also of the leaf itself.
    """
    if copy is False and not isinstance(obj, Tensor | np.ndarray):
        raise error("functions.asarray_without_copy", kind=type(obj).__name__)
    if requires_grad is None and isinstance(obj, Tensor) and obj.requires_grad:
        requires_grad = True
        words = "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead"
        words += " of False. Pass requires_grad=False explicitly to get the old behavior and "
        warnings.warn(f"{words}silence this warning.", UserWarning, stacklevel=2)
    out = as_tensor(obj, dtype, device)
    kinds = [dtypes.tensor_type(getattr(t, "_array", t).dtype) for t in (obj, out) if copy is False]
    if kinds and kinds[0] != kinds[1]:
        raise error("functions.asarray_in_dtype", old=kinds[0], new=kinds[1])
    if requires_grad and not out.is_floating_point():
        raise error("dtypes.whole_requires_grad")
    if copy and (out is obj or isinstance(obj, np.ndarray)):
        out = out.clone()
    if out.requires_grad != bool(requires_grad):
        out = out.requires_grad_(not out.requires_grad) if out.is_leaf else out.detach()
    return out


def frombuffer(
    buffer: Any,
    *,
    dtype: dtypes.dtype,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor that shares the memory of bytes."""
    array = np.frombuffer(buffer, dtype.numpy, count, offset)
    return from_numpy(array).requires_grad_(requires_grad)


@factory
def scalar_tensor(s: Any, *, dtype: Any) -> Any:
    """Make a 0-d tensor of a number, of the default float type."""
    return np.asarray(s).astype(numpy_type("scalar_tensor", dtype))


# -- of the dtype of another tensor ---------------------------------------------------------------


def _new(self: Tensor, name: str, size: Any, options: Keywords) -> Tensor:
    if "size" in options:
        if size or not isinstance(options["size"], (tuple, list)):
            raise TypeError  # the words come from ``signatures.py``
        size = (options.pop("size"),)
    if not size:
        raise TypeError
    maker: Any = getattr(creation, name)
    dtype = options.pop("dtype", None) or self.dtype
    return maker(shape_of_sizes(f"new_{name}", size), dtype=dtype, **options)


@method
def new_zeros(self: Tensor, *size: Ints, **options: Any) -> Tensor:
    """Make zeros of the tensor's dtype; sizes as ints or as one list."""
    return _new(self, "zeros", size, options)


@method
def new_ones(self: Tensor, *size: Ints, **options: Any) -> Tensor:
    """Make ones of the tensor's dtype; sizes as ints or as one list."""
    return _new(self, "ones", size, options)


@method
def new_empty(self: Tensor, *size: Ints, **options: Any) -> Tensor:
    """Make a tensor of the tensor's dtype whose values do not matter."""
    return _new(self, "empty", size, options)


@method
def new_full(
    self: Tensor,
    size: IntList,
    fill_value: Number,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of one value, of the tensor's dtype."""
    options: Any = {"device": device, "requires_grad": requires_grad}
    kind = dtype or self.dtype
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    number = dtypes.number_in(value, kind.numpy)
    return creation.full(size, number, dtype=kind, **options)


@method
def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Copy data into a new leaf of the tensor's dtype."""
    if isinstance(data, Tensor):
        words = "To copy construct from a tensor, it is recommended to use "
        words += "sourceTensor.detach().clone() or "
        words += "sourceTensor.detach().clone().requires_grad_(True), rather than "
        warnings.warn(f"{words}tensor.new_tensor(sourceTensor).", UserWarning, stacklevel=3)
        data = data._array
    options: Any = {"device": device, "requires_grad": requires_grad}
    array = from_data("new_tensor", data, None)
    kind = (dtype or self.dtype).numpy
    return creation.tensor(array.astype(kind), **options)


@method
def new(self: Tensor, *data: Any) -> Tensor:
    """Make a tensor of the tensor's dtype: of sizes, or from one list."""
    return made(legacy_array(data, self.dtype))


# -- rows of numbers ------------------------------------------------------------------------------


@factory
def logspace(start: float, end: float, steps: int, base: float = 10.0, *, dtype: Any) -> Any:
    """Return ``base`` to the powers of equally spaced numbers from ``start`` to ``end``."""
    kind = numpy_type("logspace", dtype)
    work = kind if kind.kind == "f" else np.dtype("float64")
    spaced: Tensor = creation.linspace(start, end, steps, dtype=dtypes.from_numpy_dtype(work))
    powers: Any = work.type(base) ** np.atleast_1d(spaced._array)
    return powers.astype(kind)


def range(start: Any = 0, end: Any = None, step: Any = 1, **options: Any) -> Tensor:
    """Count from ``start`` up to ``end``, which is included; an old form of ``arange``."""
    words = "torch.range is deprecated and will be removed in a future release because its behavior"
    words += " is inconsistent with Python's range builtin. Instead, use torch.arange, which "
    warnings.warn(f"{words}produces values in [start, end).", UserWarning, stacklevel=2)
    start, end = (0, start) if end is None else (start, end)
    count = int((end - start) / step) + 1
    options.setdefault("dtype", dtypes.get_default_dtype())
    return creation.arange(count, **options) * step + start


@function
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the powers of the elements of a vector as columns: a Vandermonde matrix."""
    if x.ndim != 1:
        raise error("functions.vector", shape=[*x.shape])
    from autodiff_kit.functions.scans import cumprod

    columns = creation.zeros(len(x), len(x) if N is None else N, dtype=x.dtype)
    columns[:, :1] = 1
    if columns.shape[1] > 1:
        columns[:, 1:] = x.unsqueeze(1)
        columns[:, 1:] = cumprod(columns[:, 1:], 1)  # over what backward needs, as in PyTorch
    return columns if increasing else columns.flip(1)
