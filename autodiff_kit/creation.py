"""Making tensors: from data, filled, counted, and random.

After reading this file you know when ``torch.tensor`` copies and which dtype it picks. All
factories take ``dtype``, by default one that fits, ``device``, which can only be the CPU, and
``requires_grad``. Read next: ``tensor.py``.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from autodiff_kit import dtypes
from autodiff_kit.calls import checked
from autodiff_kit.errors import error
from autodiff_kit.from_data import as_int, from_data, from_numpy, made, numpy_type, shape_of_sizes
from autodiff_kit.operands import check_bool, check_operand
from autodiff_kit.tensor import Tensor

__all__ = ["arange", "empty", "eye", "from_numpy", "full", "linspace", "ones", "ones_like", "rand"]
__all__ += ["rand_like", "randint", "randn", "randperm", "tensor", "zeros", "zeros_like"]


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
    dtypes.check_device(device)
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
        dtypes.check_device(device)
        array = make(*args, dtype=dtype, **options)
        if _like is not None:
            from autodiff_kit.ops.layouts import fill_in_order  # loaded when needed

            array = fill_in_order(array, _like)
        return made(array, requires_grad)

    return checked(make.__name__, call, "factory")


def _shape(name: str, sizes: tuple[Any, ...], size: Any) -> tuple[int, ...]:
    """Return sizes that are given by their places, or by name as one list."""
    if size is None:
        return shape_of_sizes(name, sizes)
    if sizes:
        raise error("creation.size_twice", name=name)
    if not isinstance(size, tuple | list):
        raise error("creation.size_by_name", name=name, kind=type(size).__name__)
    return shape_of_sizes(name, (size,))


def _filled(name: str, value: int) -> Any:
    def make(*sizes: Any, size: Any = None, dtype: Any) -> Any:
        shape = _shape(name, sizes, size)
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
        raise error(
            "creation.size_type", name="full", position=1, kind=f"not {type(size).__name__}"
        )
    is_number = isinstance(fill_value, int | float | np.generic)
    if isinstance(fill_value, Tensor):
        is_number = not fill_value.ndim and not fill_value.requires_grad
    if not is_number:
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
    target = numpy_type("arange", dtype, np.dtype("int64") if whole else None)
    if target == np.int64:
        start, end, step = int(start), int(end), int(step)
        if step == 0:
            raise error("creation.zero_step_of_int64")
    count = math.ceil((end - start) / step)
    if target.kind in "iu":
        start, step = int(start), int(step)
    is_exact = float(start).is_integer() and float(step).is_integer() and abs(end) < 2**24
    if is_exact or target.itemsize < 4 or target.kind != "f":
        return (start + np.arange(count) * step).astype(target)
    return _counted(float(start), float(step), count, target)


def _counted(start: float, step: float, count: int, kind: Any) -> Any:
    """Count in floats as PyTorch's processors do: a few at once, from a first one that is rounded.

    The others are that and so many steps: ``torch.arange(-8, 8, 0.1)[80]`` is not 0, but 4e-16.
    """
    at_once = 32 // kind.itemsize  # registers have 32 bytes; two are filled in each round
    places = np.arange(count, dtype=np.longdouble)
    numbers = (start + places * step).astype("float64").astype(kind)
    whole = count // (2 * at_once) * (2 * at_once)
    first = numbers[:whole:at_once, None].astype(np.longdouble)
    block = first + places[:at_once] * step if whole else first
    numbers[:whole] = block.astype("float64").astype(kind).ravel()
    return numbers


@factory
def linspace(start: float, end: float, steps: int, *, dtype: Any) -> Any:
    """Return ``steps`` numbers from ``start`` to ``end``, both included, equally spaced."""
    if isinstance(start, str) or isinstance(end, str):
        raise TypeError("linspace")  # the words come from ``signatures.py``
    steps = as_int(steps)
    if steps < 0:
        raise error("creation.negative_steps")
    target = numpy_type("linspace", dtype)
    if target.kind == "b" and steps > 1:
        raise error("dtypes.bool_kernel", kernel="linspace_cpu")
    # From both ends to the middle, as PyTorch does. Integers lose what is behind the point.
    low, high = target.type(start), target.type(end)
    kind = target if target.kind == "f" else np.dtype("float64")
    step = (kind.type(high) - kind.type(low)) / kind.type(max(steps - 1, 1))
    # Products are added before they are rounded, as processors do that multiply and add at once
    # (but not numbers of two bytes, nor whole ones).
    at_once = target.kind == "f" and target.itemsize > 2
    step, places = (np.longdouble if at_once else kind.type)(step), np.arange(steps)
    places = places.astype(type(step))
    numbers = np.where(places < steps // 2, low + step * places, high - step * places[::-1])
    return numbers.astype(target) if steps != 1 else np.full(1, low)


# -- random numbers -------------------------------------------------------------------------------


def _source(generator: Any) -> Any:
    return generator or _default_generator()


@cache
def _default_generator() -> Any:
    """Return the generator of ``manual_seed``, loaded when it is first used."""
    from autodiff_kit.random import default_generator

    return default_generator


def _random(name: str, draw: str, doc: str) -> Any:
    def make(
        *sizes: Any, size: Any = None, generator: Any = None, dtype: Any, _in_blocks: bool = True
    ) -> Any:
        shape = _shape(name, sizes, size)
        kind = numpy_type(name, dtype)
        if kind.kind != "f":
            kernel = {"normal": "normal_kernel_cpu", "uniform": "check_uniform_bounds"}[draw]
            raise error("creation.random_whole", kernel=kernel, kind=dtypes.tensor_type(kind))
        scattered = {} if _in_blocks else {"in_blocks": False}
        numbers = getattr(_source(generator), draw)(math.prod(shape), kind, **scattered)
        return numbers.reshape(shape)

    make.__name__, make.__doc__ = name, doc
    return factory(make)


randn = _random("randn", "normal", "Draw from the normal distribution, mean 0 and variance 1.")
rand = _random("rand", "uniform", "Draw evenly from [0, 1).")
rand_like = like(rand, "rand_like")


@factory
def randint(
    *ends: Any,
    low: Any = None,
    high: Any = None,
    size: Any = None,
    generator: Any = None,
    dtype: Any,
) -> Any:
    """Draw integers from ``low`` to ``high - 1``; int64 unless a dtype is given."""
    if size is None and ends:
        *ends, size = ends  # type: ignore[assignment]
    bounds = [end for end in (low, high) if end is not None]
    if len(ends) + len(bounds) not in (1, 2) or (low is not None and (ends or high is None)):
        raise TypeError("randint")  # the words come from ``signatures.py``
    low, high = (0, *ends, *bounds)[-2:]
    if not isinstance(size, list | tuple) or not (
        hasattr(low, "__index__") and hasattr(high, "__index__")
    ):
        raise TypeError("randint")  # the words come from ``signatures.py``
    if high <= low:
        raise error("creation.randint", low=low, high=high)
    shape = shape_of_sizes("randint", (size,))
    kind = numpy_type("randint", dtype, np.dtype("int64"))
    limits: Any = np.finfo(kind) if kind.kind == "f" else np.iinfo("u1" if kind == "?" else kind)
    for name, end in (("from", low), ("to - 1", high - 1)):
        if not limits.min <= end <= (limits.max if kind != "?" else 1):
            raise error("creation.randint_range", name=name, type=dtypes.c_type(kind))
    numbers = _source(generator).integers(low, high, math.prod(shape))
    return numbers.reshape(shape).astype(kind)


@factory
def randperm(n: Any, *, generator: Any = None, dtype: Any) -> Any:
    """Put the integers from 0 to ``n - 1`` in a random order; int64 unless a dtype is given."""
    if isinstance(n, bool | float | tuple | list):
        raise TypeError  # in PyTorch's words: see signatures.py
    if (n := operator.index(n)) < 0:
        raise error("shapes.negative_size", size=n, shape=[n])
    target = numpy_type("randperm", dtype, np.dtype("int64"))
    kind = dtypes.tensor_type(target)
    if target.kind == "b":
        raise error("creation.random_whole", kernel="randperm", kind=kind)
    if target.kind == "f" and n > 2 ** (np.finfo(target).nmant + 1) + 1:
        raise error("creation.randperm", most=2 ** (np.finfo(target).nmant + 1) + 1, kind=kind)
    dtypes.number_in(n, target)
    return _source(generator).permutation(n).astype(target)
