"""Making tensors: from data, filled, counted, and random.

After reading this file you know when ``torch.tensor`` copies and which dtype it picks. Read next:
``tensor.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit import dtypes
from autodiff_kit.autograd.grad_mode import local
from autodiff_kit.errors import teach
from autodiff_kit.random import Generator, default_generator, manual_seed
from autodiff_kit.tensor import INFERENCE, Tensor, wrap

__all__ = [
    "Generator",
    "arange",
    "as_tensor",
    "empty",
    "empty_like",
    "eye",
    "from_numpy",
    "full",
    "full_like",
    "linspace",
    "manual_seed",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "tensor",
    "zeros",
    "zeros_like",
]


def _made(array: Any, requires_grad: bool = False) -> Tensor:
    """Wrap a fresh array; the one door through which all factories go."""
    if isinstance(array, np.ndarray) and array.ndim == 0:
        array = array[()]
    out = wrap(array)
    if requires_grad:
        if array.dtype.kind != "f":
            raise RuntimeError(
                teach(
                    "Only Tensors of floating point and complex dtype can require gradients",
                    "Write the numbers as 1., 2. ... or pass dtype=torch.float32.",
                )
            )
        out.requires_grad = True
    mode = local.mode
    if mode.inference:
        out._changes = INFERENCE
    if mode.observer is not None:
        mode.observer.created(out)
    return out


def _numpy_type(dtype: dtypes.dtype | None, default: Any = None) -> Any:
    if dtype is None:
        return default if default is not None else dtypes.get_default_dtype().numpy
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(
            teach(
                f"argument 'dtype' must be torch.dtype, not {type(dtype).__name__}",
                "For example dtype=torch.float64.",
            )
        )
    return dtype.numpy


def _from_data(data: Any, dtype: dtypes.dtype | None) -> Any:
    """Return a fresh array of ``data`` in the dtype that PyTorch would pick."""
    if isinstance(data, Tensor):
        return np.array(data._array, dtype=_numpy_type(dtype, data._array.dtype))
    if isinstance(data, np.ndarray | np.generic):
        dtypes.from_numpy_dtype(data.dtype)
        return np.array(data, dtype=_numpy_type(dtype, data.dtype))
    try:
        array = np.array(_numbers(data))
    except ValueError:
        raise ValueError(_ragged(data)) from None
    if array.dtype.kind not in "biuf":
        raise TypeError(
            teach(
                f"new(): invalid data type '{type(data).__name__}'",
                "A tensor is made of numbers, or of nested lists of numbers.",
            )
        )
    natural = {"b": np.dtype("bool"), "i": np.dtype("int64"), "u": np.dtype("int64")}
    floating = dtypes.get_default_dtype().numpy
    inferred = floating if array.size == 0 else natural.get(array.dtype.kind, floating)
    return array.astype(_numpy_type(dtype, inferred))


def _numbers(data: Any) -> Any:
    """Replace tensors inside of nested lists by their numbers."""
    if isinstance(data, Tensor):
        return data._array
    return [_numbers(item) for item in data] if isinstance(data, list | tuple) else data


def _ragged(data: Any) -> str:
    lengths = [len(row) if isinstance(row, list | tuple) else 0 for row in data]
    i = next((i for i, n in enumerate(lengths) if n != lengths[0]), 0)
    return teach(
        f"expected sequence of length {lengths[0]} at dim 1 (got {lengths[i]})",
        "All rows of a tensor have the same length.",
    )


def tensor(
    data: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Copy data into a new leaf.

    Parameters
    ----------
    data : number, nested lists of numbers, array or Tensor
    dtype : dtype, optional
        Inferred: bool, int64, or the default float type; arrays keep theirs.
    device : "cpu", optional
    requires_grad : bool

    Raises
    ------
    TypeError, ValueError, RuntimeError
        If data are not numbers, rows differ in length, or integers should require grad.

    Examples
    --------
    >>> tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    dtypes.device(device or "cpu")
    return _made(_from_data(data, dtype), requires_grad)


def as_tensor(data: Any, dtype: dtypes.dtype | None = None, device: Any = None) -> Tensor:
    """Make a tensor, sharing memory or returning ``data`` itself where nothing must change."""
    dtypes.device(device or "cpu")
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray):
        shared = from_numpy(data)
        return shared if dtype is None else shared.to(dtype)
    return tensor(data, dtype=dtype)


def from_numpy(array: Any) -> Tensor:
    """Make a tensor that shares memory with an array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    kit_type = dtypes.from_numpy_dtype(array.dtype)
    out = wrap(array.view(kit_type.numpy))  # an equal dtype may be another object: use ours
    if local.mode.observer is not None:
        local.mode.observer.created(out)
    return out


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    if len(size) == 1 and isinstance(size[0], tuple | list):
        size = tuple(size[0])
    shape = tuple(int(n) for n in size)
    if any(n < 0 for n in shape):
        raise RuntimeError(
            teach(
                f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}",
                "Sizes are 0 or more.",
            )
        )
    return shape


def _filled(value: Any) -> Any:
    def factory(
        *size: Any,
        dtype: dtypes.dtype | None = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        dtypes.device(device or "cpu")
        return _made(np.full(_shape(size), value, _numpy_type(dtype)), requires_grad)

    return factory


zeros, ones, empty = _filled(0), _filled(1), _filled(0)
zeros.__name__, ones.__name__, empty.__name__ = "zeros", "ones", "empty"
zeros.__doc__ = "Make a tensor of zeros; sizes as ints or as one list."
ones.__doc__ = "Make a tensor of ones; sizes as ints or as one list."
empty.__doc__ = "Make a tensor whose values do not matter; here they are zeros."


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of one value; the dtype follows the value."""
    dtypes.device(device or "cpu")
    natural = _from_data(fill_value, None).dtype
    return _made(np.full(_shape((size,)), fill_value, _numpy_type(dtype, natural)), requires_grad)


def _like(factory: Any, name: str) -> Any:
    def like(
        input: Tensor,
        *args: Any,
        dtype: dtypes.dtype | None = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        dtype = dtype or input.dtype
        return factory(  # type: ignore[no-any-return]
            input.shape, *args, dtype=dtype, device=device, requires_grad=requires_grad
        )

    like.__name__ = name
    like.__doc__ = f"Call ``{name.removesuffix('_like')}`` with the shape and dtype of ``input``."
    return like


zeros_like, ones_like = _like(zeros, "zeros_like"), _like(ones, "ones_like")
full_like, empty_like = _like(full, "full_like"), _like(empty, "empty_like")


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a matrix with ones on the diagonal, zeros elsewhere."""
    dtypes.device(device or "cpu")
    return _made(np.eye(n, m, dtype=_numpy_type(dtype)), requires_grad)


def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Count from ``start`` up to, not including, ``end``; integers give int64."""
    dtypes.device(device or "cpu")
    if end is None:
        start, end = 0, start
    whole = all(isinstance(n, int) for n in (start, end, step))
    natural = np.dtype("int64") if whole else None
    return _made(np.arange(start, end, step).astype(_numpy_type(dtype, natural)), requires_grad)


def linspace(
    start: float,
    end: float,
    steps: int,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ``steps`` numbers from ``start`` to ``end``, both included, equally spaced."""
    dtypes.device(device or "cpu")
    return _made(np.linspace(start, end, steps, dtype=_numpy_type(dtype)), requires_grad)


# -- random numbers -------------------------------------------------------------------------------


def _random(name: str, draw: str, doc: str) -> Any:
    def factory(
        *size: Any,
        generator: Generator | None = None,
        dtype: dtypes.dtype | None = None,
        device: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        dtypes.device(device or "cpu")
        shape, kind = _shape(size), _numpy_type(dtype)
        count = dtypes.Size(shape).numel()
        numbers = getattr(generator or default_generator, draw)(count, kind)
        return _made(numbers.reshape(shape), requires_grad)

    factory.__name__, factory.__doc__ = name, doc
    return factory


randn = _random("randn", "normal", "Draw from the normal distribution, mean 0 and variance 1.")
rand = _random("rand", "uniform", "Draw evenly from [0, 1).")
rand_like, randn_like = _like(rand, "rand_like"), _like(randn, "randn_like")


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw whole numbers from ``low`` to ``high - 1``; int64 unless a dtype is given.

    Raises
    ------
    RuntimeError
        If there is no number to draw.
    """
    dtypes.device(device or "cpu")
    if size is None:
        low, high, size = 0, low, high
    if high <= low:
        raise RuntimeError(
            teach(
                f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}",
                "high itself is never drawn.",
            )
        )
    shape = _shape((size,))
    count = dtypes.Size(shape).numel()
    numbers = (generator or default_generator).integers(low, high, count)
    array = numbers.reshape(shape).astype(_numpy_type(dtype, np.dtype("int64")))
    return _made(array, requires_grad)


def randperm(n: int, *, generator: Generator | None = None) -> Tensor:
    """Return the numbers from 0 to ``n - 1`` in random order."""
    return _made((generator or default_generator).permutation(n))
