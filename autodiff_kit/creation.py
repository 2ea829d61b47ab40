"""Making tensors: from data, filled, counted, and random.

After reading this file you know when ``torch.tensor`` copies and which dtype it picks. All
factories take ``dtype``, by default one that fits, ``device``, which can only be the CPU, and
``requires_grad``. Read next: ``tensor.py``.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import numpy as np

from autodiff_kit import dtypes
from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.autograd.versions import on_own_storage
from autodiff_kit.errors import error, warn_of_scalar
from autodiff_kit.methods import check_bool, check_operand
from autodiff_kit.ops.apply import ARRAYS
from autodiff_kit.ops.layouts import fill_in_order
from autodiff_kit.random import Generator, default_generator, manual_seed
from autodiff_kit.signatures import checked
from autodiff_kit.tensor import INFERENCE, Tensor, wrap

__all__ = ["Generator", "arange", "empty", "eye", "from_numpy", "full", "linspace", "manual_seed"]
__all__ += ["ones", "ones_like", "rand", "rand_like", "randint", "randn", "randperm", "tensor"]
__all__ += ["zeros", "zeros_like"]


SEQUENCES = (list, tuple, range, deque)


def made(array: Any, requires_grad: bool = False) -> Tensor:
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
    if isinstance(data, Tensor):
        return np.array(data._array, dtype=numpy_type(name, dtype, data._array.dtype))
    if isinstance(data, np.ndarray | np.generic):
        dtypes.from_numpy_dtype(data.dtype)
        return np.array(data, dtype=numpy_type(name, dtype, data.dtype))
    plain = _plain_array(data)
    if plain is not None and (dtype is None or plain.dtype.kind == "f" or plain.size == 0):
        natural = {"b": plain.dtype, "i": np.dtype("int64")}.get(plain.dtype.kind)
        inferred = natural if plain.size else None
        wanted = numpy_type(name, dtype, inferred)
        if wanted.kind == "f":
            return local.mode.quietly(plain.astype, wanted)  # too large: inf
        if dtype is None:
            return plain
    data = _as_lists(data)
    shape = _shape_of(data)
    items = list(_flattened(data, shape, 0))
    kinds = {item.dtype if isinstance(item, ARRAYS) else type(item) for item in items}
    wanted = numpy_type(name, dtype, _inferred(kinds))
    if any(isinstance(item, np.ndarray) for item in items):
        raise error("creation.tensor_in_list" if wanted.kind == "f" else "creation.tensor_as_int")
    if wanted.kind in "iu":
        extremes = {min(items), max(items)} if items and kinds <= {int, bool} else items
        for item in extremes:
            dtypes.number_in(item, wanted, wanted.name)
    array = np.array(items, dtype=None if wanted.kind in "iu" else wanted)
    return local.mode.quietly(array.astype, wanted).reshape(shape)


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
    found = set(map(type, data))
    if found & {list, tuple}:
        found.update(*map(_types, data))
    return found


def _as_lists(data: Any) -> Any:
    """Return nested sequences of any kind as lists; anything else as it is."""
    if isinstance(data, (str, bytes, Mapping, Tensor, *ARRAYS)):
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
    return shape if isinstance(data, Tensor) else shape + np.shape(data)


def _flattened(data: Any, shape: tuple[int, ...], dim: int) -> Iterator[Any]:
    """Yield the numbers in nested lists; refuse rows of different lengths and other things."""
    if isinstance(data, Tensor) and dim == len(shape):
        if data.requires_grad:
            warn_of_scalar(stacklevel=_OUTSIDE + dim)
        array = np.asarray(data._array)
        yield array.flat[0] if array.size == 1 else array  # which the caller refuses
    elif isinstance(data, Tensor) and data.ndim:
        yield from _flattened([*data.detach()], shape, dim)  # beside rows that are lists
    elif isinstance(data, np.ndarray):
        yield from data.flat
    elif isinstance(data, SEQUENCES):
        if dim == len(shape):
            raise error("creation.nested_too_deep", kind=type(data).__name__)
        if len(data) != shape[dim]:
            raise error("creation.row_length", expected=shape[dim], dim=dim, length=len(data))
        for item in data:
            yield from _flattened(item, shape, dim + 1)
    elif isinstance(data, str | bytes):
        raise error("creation.data_type", kind=type(data).__name__)
    elif not isinstance(data, int | float | np.generic):
        raise error("creation.no_number", kind=type(data).__name__)
    elif dim < len(shape):
        raise error("creation.not_a_sequence")
    else:
        yield data


_OUTSIDE = 5  # from a warning in ``_flattened`` up to the caller of ``tensor``


def _inferred(kinds: set[Any]) -> Any:
    """Return the dtype for Python numbers of these types and NumPy numbers of these dtypes."""
    of_python = {bool: np.dtype("bool"), int: np.dtype("int64"), np.bool_: np.dtype("bool")}
    default = dtypes.get_default_dtype().numpy
    found = [k if isinstance(k, np.dtype) else of_python.get(k, default) for k in kinds]
    top = max(map(dtypes.category, found), default=2)
    highest = [d for d in found if dtypes.category(d) == top]
    return np.result_type(*highest) if highest else default


def begin_legacy(tensor: Tensor, data: tuple[Any, ...]) -> None:
    """Fill the new tensor of ``torch.Tensor(*data)``: of sizes, or from one list or tensor."""
    tensor._array, tensor._node = legacy_array(data), None
    tensor._grad = tensor._changes = tensor._base = tensor._views = None
    if local.mode.observer is not None:
        local.mode.observer.created(tensor)


def legacy_array(data: tuple[Any, ...], dtype: dtypes.dtype | None = None) -> Any:
    """Return the array for ``torch.Tensor(*data)``: of sizes, or from one list or tensor."""
    default = dtype or dtypes.get_default_dtype()
    if len(data) == 1 and isinstance(data[0], Tensor):
        return data[0].detach()._array
    if len(data) == 1 and isinstance(data[0], list | tuple | np.ndarray):
        if not isinstance(data[0], dtypes.Size):
            return from_data("Tensor", data[0], default).astype(default.numpy)
    elif len(data) == 1 and (isinstance(data[0], bool) or not isinstance(data[0], int | str)):
        raise error("creation.not_a_list", kind=type(data[0]).__name__)
    elif data and isinstance(data[0], str):
        raise error("creation.data_type", kind=type(data[0]).__name__)
    return np.zeros(shape_of_sizes("new", data or (0,)), default.numpy)


def tensor(
    data: Any, *, dtype: dtypes.dtype | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Copy data into a new leaf.

    Parameters
    ----------
    data : number, nested lists of numbers, array or Tensor
    dtype : dtype, optional
        Inferred: bool, int64, or the default float type; arrays keep theirs.

    An error if data are not numbers, rows differ in length, or integers should require grad.

    Examples
    --------
    >>> tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    dtypes.device(device or "cpu")
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), "
            "rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    check_bool("tensor", "requires_grad", requires_grad)
    return made(from_data("tensor", data, dtype), requires_grad)


def from_numpy(array: Any) -> Tensor:
    """Make a tensor that shares memory with an array."""
    if not isinstance(array, np.ndarray):
        raise error("creation.not_an_array", kind=type(array).__name__)
    if any(stride < 0 for stride in array.strides):
        raise error("creation.negative_stride")
    kit_type = dtypes.from_numpy_dtype(array.dtype)
    # An equal dtype may be another object: use ours.
    out = wrap(on_own_storage(array.view(kit_type.numpy)))
    if local.mode.inference:
        out._changes = INFERENCE
    if local.mode.observer is not None:
        local.mode.observer.created(out)
    return out


def shape_of_sizes(name: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """Return sizes, given one by one or as one list, as a tuple of ints."""
    if not size:
        raise error("creation.size_missing", name=name)
    if len(size) == 1 and isinstance(size[0], tuple | list):
        size = tuple(size[0])
    shape: tuple[int, ...] = ()
    for i, n in enumerate(size):
        if isinstance(n, Tensor):
            n = n.__index__()
        if isinstance(n, bool) or not isinstance(n, int | np.integer):
            if not i:
                raise error("creation.size_type", name=name, position=1, kind=type(n).__name__)
            raise error("creation.size_element", name=name, position=i + 1, kind=type(n).__name__)
        shape += (int(n),)
    if any(n < 0 for n in shape):
        if name == "zeros":
            raise error("creation.negative_zeros")
        first = next(n for n in shape if n < 0)
        raise error("shapes.negative_size", size=first, shape=list(shape))
    return shape


def factory(make: Callable[..., Any]) -> Any:
    """Turn a function that returns a fresh array into one that returns a tensor."""

    @wraps(make)
    def call(
        *args: Any,
        dtype: dtypes.dtype | None = None,
        device: Any = None,
        requires_grad: bool = False,
        _like: Any = None,
        **options: Any,
    ) -> Tensor:
        dtypes.device(device or "cpu")
        array = make(*args, dtype=dtype, **options)
        if _like is not None:
            array = fill_in_order(array, _like)
        return made(array, requires_grad)

    return checked(make.__name__, call, "factory")


def _filled(name: str, value: int) -> Any:
    def make(*sizes: Any, size: Any = None, dtype: Any) -> Any:
        shape = shape_of_sizes(name, sizes if size is None else (size,))
        return np.full(shape, value, numpy_type(name, dtype))

    make.__name__, make.__doc__ = name, f"Make a tensor of {name}; sizes as ints or as one list."
    return factory(make)


zeros, ones = _filled("zeros", 0), _filled("ones", 1)
empty = _filled("empty", 0)
empty.__doc__ = "Make a tensor whose values do not matter; here they are zeros."


@factory
def full(size: Any, fill_value: Any, *, dtype: Any) -> Any:
    """Make a tensor of one value; the dtype follows the value."""
    if not isinstance(size, list | tuple):
        raise error("creation.size_type", name="full", position=1, kind=type(size).__name__)
    if not isinstance(fill_value, int | float | np.generic | Tensor):
        raise error("creation.fill_value", kind=type(fill_value).__name__)
    if dtype is not None and not isinstance(fill_value, Tensor):
        fill_value = dtypes.number_in(fill_value, dtypes.as_dtype(dtype, "full").numpy)
    value = from_data("full", fill_value, dtype)
    return np.full(shape_of_sizes("full", (size,)), value, value.dtype)


def like(full: Any, name: str) -> Any:
    """Make the twin of a factory that takes shape, dtype and layout from a tensor."""

    def call(input: Tensor, *, dtype: dtypes.dtype | None = None, **options: Any) -> Any:
        check_operand(name, "input", 1, input, numbers=False)
        array = input._array
        return full(input.shape, dtype=dtype or input.dtype, _like=array, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Call ``{name.removesuffix('_like')}`` with shape, dtype, layout of ``input``."
    return checked(name, call, "factory")


zeros_like, ones_like = like(zeros, "zeros_like"), like(ones, "ones_like")


@factory
def eye(n: int, m: int | None = None, *, dtype: Any) -> Any:
    """Make a matrix with ones on the diagonal, zeros elsewhere."""
    if n < 0:
        raise error("creation.eye", rows=n)
    return np.eye(n, m, dtype=numpy_type("eye", dtype))


@factory
def arange(start: Any = None, end: Any = None, step: Any = 1, *, dtype: Any) -> Any:
    """Count from ``start`` up to, not including, ``end``; integers give int64."""
    if end is None:
        start, end = 0, start
    if start is None:
        start = 0
    start, end, step = (n.item() if isinstance(n, Tensor) else n for n in (start, end, step))
    if step == 0:
        raise error("creation.zero_step")
    if (end - start) * step < 0:
        raise error("creation.step_sign", step=step, start=start, end=end)
    whole = all(isinstance(n, int) for n in (start, end, step))
    wanted = numpy_type("arange", dtype, np.dtype("int64") if whole else None)
    if wanted == np.int64:
        start, end, step = int(start), int(end), int(step)
        if step == 0:
            raise error("creation.zero_step_of_int64")
    count = math.ceil((end - start) / step)
    if wanted.kind in "iu":
        start, step = int(start), int(step)
    return (start + np.arange(count) * step).astype(wanted)


@factory
def linspace(start: float, end: float, steps: int, *, dtype: Any) -> Any:
    """Return ``steps`` numbers from ``start`` to ``end``, both included, equally spaced."""
    if steps < 0:
        raise error("creation.negative_steps")
    wanted = numpy_type("linspace", dtype)
    if wanted.kind == "b" and steps > 1:
        raise error("dtypes.bool_kernel", kernel="linspace_cpu")
    # From both ends to the middle, as PyTorch does. Whole numbers lose what is behind the point.
    low, high = wanted.type(start), wanted.type(end)
    kind = wanted if wanted.kind == "f" else np.dtype("float64")
    step = (kind.type(high) - kind.type(low)) / kind.type(max(steps - 1, 1))
    # Products are added before they are rounded, as processors do that multiply and add at once
    # (but not numbers of two bytes).
    step, places = (kind.type if kind.itemsize == 2 else np.longdouble)(step), np.arange(steps)
    places = places.astype(type(step))
    numbers = np.where(places < steps // 2, low + step * places, high - step * places[::-1])
    return numbers.astype(wanted) if steps != 1 else np.full(1, low)


# -- random numbers -------------------------------------------------------------------------------


def _random(name: str, draw: str, doc: str) -> Any:
    def make(*sizes: Any, size: Any = None, generator: Any = None, dtype: Any) -> Any:
        shape = shape_of_sizes(name, sizes if size is None else (size,))
        kind = numpy_type(name, dtype)
        if kind.kind != "f":
            kernel = {"normal": "normal_kernel_cpu", "uniform": "check_uniform_bounds"}[draw]
            raise error("creation.random_whole", kernel=kernel, kind=dtypes.tensor_type(kind))
        numbers = getattr(generator or default_generator, draw)(math.prod(shape), kind)
        return numbers.reshape(shape)

    make.__name__, make.__doc__ = name, doc
    return factory(make)


randn = _random("randn", "normal", "Draw from the normal distribution, mean 0 and variance 1.")
rand = _random("rand", "uniform", "Draw evenly from [0, 1).")
rand_like = like(rand, "rand_like")


@factory
def randint(
    low: int = 0, high: Any = None, size: Any = None, *, generator: Any = None, dtype: Any
) -> Any:
    """Draw whole numbers from ``low`` to ``high - 1``; int64 unless a dtype is given."""
    if size is None:
        low, high, size = 0, low, high
    if not isinstance(size, list | tuple):
        raise error("creation.size_type", name="randint", position=2, kind=type(size).__name__)
    if high <= low:
        raise error("creation.randint", low=low, high=high)
    shape = shape_of_sizes("randint", (size,))
    kind = numpy_type("randint", dtype, np.dtype("int64"))
    limits: Any = np.finfo(kind) if kind.kind == "f" else np.iinfo("u1" if kind == "?" else kind)
    for name, end in (("from", low), ("to - 1", high - 1)):
        if not limits.min <= end <= (limits.max if kind != "?" else 1):
            raise error("creation.randint_range", name=name, type=dtypes.c_type(kind))
    numbers = (generator or default_generator).integers(low, high, math.prod(shape))
    return numbers.reshape(shape).astype(kind)


@factory
def randperm(n: Any, *, generator: Any = None, dtype: Any) -> Any:
    """Put the integers from 0 to ``n - 1`` in a random order; int64 unless a dtype is given."""
    if isinstance(n, bool | float | tuple | list):
        raise TypeError  # in PyTorch's words: see signatures.py
    if (n := operator.index(n)) < 0:
        raise error("shapes.negative_size", size=n, shape=[n])
    wanted = numpy_type("randperm", dtype, np.dtype("int64"))
    kind = dtypes.tensor_type(wanted)
    if wanted.kind == "b":
        raise error("creation.random_whole", kernel="randperm", kind=kind)
    if wanted.kind == "f" and n > 2 ** (np.finfo(wanted).nmant + 1) + 1:
        raise error("creation.randperm", most=2 ** (np.finfo(wanted).nmant + 1) + 1, kind=kind)
    dtypes.number_in(n, wanted)
    return (generator or default_generator).permutation(n).astype(wanted)
