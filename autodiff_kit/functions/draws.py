"""Random numbers: ``normal``, ``bernoulli``, ``multinomial``, and the in-place ``x.uniform_()`` ...

After reading this file you know how a few uniform numbers make all of them. For one seed the
numbers are PyTorch's on a CPU, because its algorithms are followed step by step. Read next:
``../random.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit import inplace
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.from_data import made, numpy_type, shape_of_sizes
from autodiff_kit.functions.declared import Dtype, Ints, Operand, function, method, overloaded
from autodiff_kit.ops import drawing
from autodiff_kit.ops.layouts import fill_in_order
from autodiff_kit.random import Generator, default_generator, scaled
from autodiff_kit.tensor import Tensor

__all__ = ["bernoulli", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_"]
__all__ += ["multinomial", "normal", "normal_", "randint_like", "random_", "uniform_"]

_FLOAT64 = np.dtype("float64")


def _of(generator: Generator | None) -> Generator:
    return generator or default_generator


def _gaussian(
    generator: Any, count: int, dtype: Any, mean: float, std: float, *, in_blocks: bool = True
) -> Any:
    """Draw normal numbers; a few are made one by one, by PyTorch too, in double precision."""
    dtype = dtype if count >= 16 and in_blocks else _FLOAT64
    numbers = _of(generator).normal(count, dtype, in_blocks=in_blocks)
    return scaled(numbers, dtype.type(std), dtype.type(mean))


def _refuse_integers(kernel: str, tensor: Tensor) -> None:
    if tensor._array.dtype.kind != "f":
        kind = tensor_type(tensor._array.dtype)
        raise error("creation.random_whole", kernel=kernel, kind=kind)


# -- new tensors ----------------------------------------------------------------------------------


@overloaded(
    "(Tensor mean, Tensor std, *, torch.Generator generator = None)",
    "(Tensor mean, float std = 1, *, torch.Generator generator = None)",
    "(float mean, Tensor std, *, torch.Generator generator = None)",
    "(float mean, float std, only tuple of ints size, *, torch.Generator generator = None, "
    "torch.dtype dtype = None, torch.device device = None, bool requires_grad = False)",
)
def normal(
    mean: Operand,
    std: Operand = 1.0,
    size: Ints | None = None,
    *,
    generator: Generator | None = None,
    dtype: Dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw from normal distributions: one for each element of ``mean`` and ``std``, or of a size.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> torch.normal(0.0, 1.0, (2, 3)).shape
    torch.Size([2, 3])
    """
    tensors = [value for value in (mean, std) if isinstance(value, Tensor)]
    if not isinstance(std, Tensor) and std < 0:
        raise error("functions.normal_std", std=std)
    if isinstance(std, Tensor) and (std._array < 0).any():
        raise error("functions.normal_stds")
    if not tensors:
        if not isinstance(size, tuple | list):
            raise TypeError  # the words come from ``signatures.py``
        kind = numpy_type("normal", dtype)
        shape = shape_of_sizes("normal", (size,))
        numbers = _gaussian(generator, math.prod(shape), kind, mean, std)
        return made(numbers.reshape(shape).astype(kind), requires_grad)
    if size is not None:
        raise TypeError
    _refuse_integers("normal_kernel_cpu", tensors[0])
    dtype = tensors[0]._array.dtype
    shape = np.broadcast_shapes(*(t._array.shape for t in tensors))
    spread = 1.0 if isinstance(std, Tensor) else std
    count = math.prod(shape)
    noise = _gaussian(generator, count, dtype, 0.0, spread).astype(dtype).reshape(shape)[()]
    center, width = (getattr(value, "_array", value) for value in (mean, std))
    if isinstance(std, Tensor):
        noise = center + noise * width
        if len(tensors) == 2:
            return drawing.normal_of_mean_and_std(mean, std, numbers=noise)
        return drawing.normal_of_std(std, numbers=noise)
    return drawing.normal_of_mean(mean, numbers=center + noise)


@overloaded(
    "(Tensor input, *, torch.Generator generator = None)",
    "(Tensor input, float p, *, torch.Generator generator = None)",
)
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Draw 1 with the probability that each element says, or with the probability p; else 0."""
    if p is not None:
        return bernoulli_(input.detach().clone().contiguous(), p, generator=generator)
    by_rows = np.empty(input.shape, bool)
    return drawing.bernoulli(input, numbers=_trials(generator, input._array, by_rows))


def _trials(generator: Generator | None, probabilities: Any, written: Any) -> Any:
    """Draw whether each of several things happens, in the order in which ``written`` lies."""
    if probabilities.dtype.kind != "f":
        kind = tensor_type(probabilities.dtype)
        raise error("functional.whole_numbers", kernel="bernoulli_tensor_cpu_p_", kind=kind)
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise error("functions.bernoulli_probabilities")
    numbers = _of(generator).uniform(probabilities.size, probabilities.dtype)
    return fill_in_order(numbers, written) < probabilities


@function
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Draw places of a row, each as likely as its element is large: int64, ``num_samples`` a row.

    Without replacement no place is drawn twice.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> torch.multinomial(torch.tensor([0.0, 3.0]), 2, replacement=True)
    tensor([1, 1])
    """
    weights = input._array
    if weights.dtype.kind != "f":
        raise error("functions.multinomial_dtype", kind=tensor_type(weights.dtype))
    if weights.ndim not in (1, 2):
        raise error("functions.multinomial_ndim")
    if num_samples <= 0:
        raise error("functions.multinomial_count")
    if not replacement and num_samples > weights.shape[-1]:
        raise error("functions.multinomial_too_many")
    if replacement and num_samples > 1:
        places = _with_replacement(weights, num_samples, _of(generator))
    else:
        places = _without_replacement(weights, num_samples, _of(generator))
    return made(places)


def _without_replacement(weights: Any, count: int, generator: Generator) -> Any:
    """Divide the weights by exponential numbers: the largest quotients are the drawn places.

    Source: Efraimidis and Spirakis, Weighted random sampling with a reservoir (2006).
    """
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise error("functions.multinomial_weights")
    if (weights.sum(-1) == 0).any():
        raise error("functions.multinomial_no_weight")
    times = generator.exponential(weights.size).astype(weights.dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        speeds = weights / fill_in_order(times, weights)
    if count == 1:
        return speeds.argmax(-1, keepdims=True)
    return np.argsort(-speeds, -1, kind="stable")[..., :count]


def _with_replacement(weights: Any, count: int, generator: Generator) -> Any:
    """Look uniform numbers up in the running sum of the weights."""
    rows = np.atleast_2d(weights)
    if not np.isfinite(rows).all():
        raise error("functions.multinomial_weights_of_row")
    if (rows < 0).any():
        raise error("functions.multinomial_negative")
    sums = np.cumsum(rows, 1)
    if (sums[:, -1] <= 0).any():
        raise error("functions.multinomial_no_weight")
    sums = sums / sums[:, -1:]
    sums[:, -1] = 1
    numbers = generator.uniform(count * len(rows), _FLOAT64).reshape(-1, count)
    places = [np.searchsorted(row, points) for row, points in zip(sums, numbers, strict=True)]
    return np.array(places, "int64").reshape(*weights.shape[:-1], count)


@overloaded(
    "(Tensor input, Tensor high, *, torch.dtype dtype = None, torch.device device = None, "
    "bool requires_grad = False)",
    "(Tensor input, int high, *, torch.dtype dtype = None, torch.device device = None, "
    "bool requires_grad = False)",
    "(Tensor input, int low, int high, *, torch.dtype dtype = None, torch.device device = None, "
    "bool requires_grad = False)",
)
def randint_like(
    input: Tensor,
    low: int = 0,
    high: int | None = None,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Draw integers from ``low`` to ``high - 1`` in the shape and dtype of a tensor."""
    if high is None:
        low, high = 0, low
    kind = numpy_type("randint_like", dtype, input._array.dtype)
    if high <= low:
        raise error("creation.randint", low=low, high=high)
    numbers = default_generator.integers(low, high, input.numel()).astype(kind)
    return made(fill_in_order(numbers, input._array), requires_grad)


# -- in place -------------------------------------------------------------------------------------


def _overwrite(tensor: Tensor, how: str, op: Callable[..., Any], numbers: Any) -> Tensor:
    numbers = fill_in_order(np.asarray(numbers).astype(tensor._array.dtype), tensor._array)
    return inplace.change(tensor, how, op, numbers=numbers)


@method
def normal_(
    self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Draw all elements from a normal distribution, in place."""
    _refuse_integers("normal_kernel_cpu", self)
    if std < 0:
        raise error("functions.normal_std", std=std)
    in_blocks = self.is_contiguous()
    numbers = _gaussian(generator, self.numel(), self._array.dtype, mean, std, in_blocks=in_blocks)
    return _overwrite(self, "normal_", drawing.normal_drawn, numbers)


@method
def uniform_(
    self: Tensor, from_: float = 0, to: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Draw all elements evenly from a range, in place."""
    _refuse_integers("check_uniform_bounds", self)
    if from_ > to:
        raise error("functions.uniform_range", low=from_, high=to)
    dtype = self._array.dtype
    low, high = dtype.type(from_), dtype.type(to)
    numbers = scaled(_of(generator).uniform(self.numel(), dtype), high - low, low)
    return _overwrite(self, "uniform_", drawing.uniform_drawn, numbers)


@method
def bernoulli_(self: Tensor, p: Operand = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Draw 1 with the probability p, else 0, in place; p may be a tensor of probabilities."""
    if isinstance(p, Tensor):
        numbers = _trials(generator, p.detach().expand(self.shape)._array, self._array)
        return inplace.change(self, "bernoulli_", drawing.bernoulli_drawn, numbers=numbers)
    if not 0 <= p <= 1:
        raise error("functions.bernoulli_p", p=p)
    numbers = _of(generator).uniform(self.numel(), _FLOAT64) < p
    return _overwrite(self, "bernoulli_", drawing.bernoulli_drawn, numbers)


@method
def exponential_(self: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Draw all elements from an exponential distribution with the rate ``lambd``, in place."""
    if self._array.dtype.kind != "f":
        raise error("functions.exponential_dtype", kind=tensor_type(self._array.dtype))
    if lambd <= 0:
        raise error("functions.exponential_rate", rate=lambd)
    numbers = _of(generator).exponential(self.numel()) / lambd
    return _overwrite(self, "exponential_", drawing.exponential_drawn, numbers)


@method
def random_(
    self: Tensor,
    from_: int | None = None,
    to: int | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Draw integers, in place: from ``from`` to ``to - 1``, below one number, or of all sizes."""
    dtype = self._array.dtype
    if from_ is not None:
        low, high = (0, from_) if to is None else (from_, to)
        if low >= high:
            raise error("creation.randint", low=low, high=high)
    elif dtype.kind == "f":
        low, high = 0, 2 ** (np.finfo(dtype).nmant + 1) + 1
    else:
        low, high = 0, 2 if dtype.kind == "b" else int(np.iinfo(dtype).max) + 1
    is_long = from_ is None and dtype.itemsize == 8
    numbers = _of(generator).integers(low, high, self.numel(), is_long=is_long)
    return _overwrite(self, "random_", drawing.random_drawn, numbers)


@method
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Draw how many attempts it takes until one succeeds, with the probability p; in place."""
    if not 0 < p < 1:
        raise error("functions.geometric_p", p=p)
    numbers = np.ceil(np.log(_of(generator).uniform(self.numel(), _FLOAT64)) / math.log1p(-p))
    return _overwrite(self, "geometric_", drawing.random_drawn, numbers)


@method
def cauchy_(
    self: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Draw all elements from a Cauchy distribution, in place."""
    turns = _of(generator).uniform(self.numel(), _FLOAT64) - 0.5
    numbers = median + sigma * np.tan(math.pi * turns)
    return _overwrite(self, "cauchy_", drawing.random_drawn, numbers)


@method
def log_normal_(
    self: Tensor, mean: float = 1, std: float = 2, *, generator: Generator | None = None
) -> Tensor:
    """Draw numbers whose logarithm has a normal distribution, in place."""
    noise = [_of(generator).normal(1, _FLOAT64)[0] for _ in range(self.numel())]
    numbers = np.exp(np.array(noise) * std + mean)
    return _overwrite(self, "log_normal_", drawing.random_drawn, numbers)
