"""Initialization of parameters: for one seed, the numbers that PyTorch would draw.

After reading this file you know how wide the first weights of a layer should scatter: so that
numbers neither grow nor shrink from layer to layer. Read next: ``linear.py``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.core.base import wrap
from autodiff_kit.creation import empty, zeros_like
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.functions.basic import where
from autodiff_kit.outside import absent
from autodiff_kit.random import Generator, default_generator, scaled
from autodiff_kit.tensor import Tensor

__all__ = ["calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_"]
__all__ += ["kaiming_normal", "kaiming_normal_", "kaiming_uniform", "kaiming_uniform_", "normal"]
__all__ += ["normal_", "ones_", "orthogonal", "orthogonal_", "sparse", "sparse_", "trunc_normal_"]
__all__ += ["uniform", "uniform_", "xavier_normal", "xavier_normal_", "xavier_uniform"]
__all__ += ["xavier_uniform_", "zeros_"]


def _overwrite(tensor: Tensor, numbers: Any) -> Tensor:
    with no_grad():
        return tensor.copy_(wrap(np.asarray(numbers, tensor._array.dtype).reshape(tensor.shape)))


def _check_float(tensor: Tensor, kernel: str) -> None:
    if not tensor.is_floating_point():
        kind = tensor_type(tensor._array.dtype)
        raise error("creation.random_whole", kernel=kernel, kind=kind)


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Draw all elements evenly from the range from a to b; RuntimeError if a > b."""
    _check_float(tensor, "check_uniform_bounds")
    if a > b:
        raise error("nn.uniform_range", a=f"{a:g}", b=f"{b:g}")
    dtype = tensor._array.dtype
    low, high = dtype.type(a), dtype.type(b)
    samples = (generator or default_generator).uniform(tensor.numel(), dtype)
    return _overwrite(tensor, scaled(samples, high - low, low))


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Draw all elements from the normal distribution; RuntimeError if std < 0."""
    _check_float(tensor, "normal_kernel_cpu")
    if std < 0:
        raise error("nn.normal_std", std=std)
    # A few numbers are made one by one, by PyTorch too, and then in double precision.
    dtype = tensor._array.dtype if tensor.numel() >= 16 else np.dtype("float64")
    samples = (generator or default_generator).normal(tensor.numel(), dtype)
    return _overwrite(tensor, scaled(samples, dtype.type(std), dtype.type(mean)))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Set all elements to one value."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Set all elements to 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Set all elements to 0."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix the identity: ones on the diagonal, zeros elsewhere."""
    if tensor.ndim != 2:
        raise error("nn.eye_rank")
    return _overwrite(tensor, np.eye(*tensor.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Make the weight of a convolution return its input: the middle of a kernel is 1.

    With ``groups``, each group of output channels does so for itself.
    """
    if tensor.ndim not in (3, 4, 5):
        raise error("nn.init_rank", ranks="3, 4, or 5")
    if len(tensor) % groups:
        raise error("nn.dirac_groups")
    values, size = np.zeros(tensor.shape), len(tensor) // groups
    middle = tuple(n // 2 for n in tensor.shape[2:])
    for start in range(0, len(tensor), size):
        for channel in range(min(size, tensor.shape[1])):
            values[(start + channel, channel, *middle)] = 1
    return _overwrite(tensor, values)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Draw from the part between a and b of a normal distribution: other numbers are drawn again.

    Where that part is small, numbers are drawn evenly instead, and accepted by their density.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        words = "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
        words += "The distribution of values may be incorrect."
        warnings.warn(words, UserWarning, stacklevel=2)
    below_b, below_a = (math.erf((x - mean) / std / math.sqrt(2)) / 2 for x in (b, a))
    with no_grad():
        if below_b - below_a > 0.3:
            low, high = (tensor._array.dtype.type(bound) for bound in (a, b))
            tensor.normal_(mean, std, generator=generator)
            while (outside := (tensor < float(low)) | (tensor > float(high))).any():
                again = zeros_like(tensor).normal_(mean, std, generator=generator)
                tensor.copy_(where(outside, again, tensor))
            return tensor
        # Relative to the largest density between a and b.
        peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
        rejected: Any = None
        while rejected is None or rejected.any():
            candidates = zeros_like(tensor).uniform_(a, b, generator=generator)
            tensor.copy_(candidates if rejected is None else where(rejected, candidates, tensor))
            density = candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
            is_rejected = zeros_like(tensor).uniform_(generator=generator).log_().gt(density)
            rejected = is_rejected if rejected is None else rejected & is_rejected
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Make the rows of a matrix, or its columns if there are fewer, orthogonal and of length gain.

    Dimensions after the first count as one.

    Source: Saxe, McClelland and Ganguli, Exact solutions to the nonlinear dynamics of learning in
    deep linear neural networks (2014).
    """
    if tensor.ndim < 2:
        raise error("nn.init_rank", ranks="2 or more")
    if not tensor.numel():
        return tensor
    rows = len(tensor)
    matrix = empty(rows, tensor.numel() // rows, dtype=tensor.dtype)
    normal_(matrix, generator=generator)
    is_wide = rows < matrix.shape[1]
    q, r = np.linalg.qr(matrix._array.T if is_wide else matrix._array)
    q = q * np.sign(np.diagonal(r))  # no direction is more likely than others
    _overwrite(tensor, q.T if is_wide else q)
    with no_grad():
        return tensor.mul_(gain)


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Draw a matrix from the normal distribution, then set a share of each column to 0.

    Source: Martens, Deep learning via Hessian-free optimization (2010).
    """
    if tensor.ndim != 2:
        raise error("nn.init_rank", ranks="2")
    normal_(tensor, 0, std, generator)
    rows, columns = tensor.shape
    values = tensor._array.copy()
    for column in range(columns):
        values[default_generator.permutation(rows)[: math.ceil(sparsity * rows)], column] = 0
        _overwrite(tensor, values)
    return tensor


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return by how much to scale first weights so that what follows a layer keeps its scatter.

    ``nonlinearity`` is the name of what follows, ``param`` the slope of ``leaky_relu`` below 0.

    Source: He et al., Delving deep into rectifiers (2015).
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    gains: dict[str, float] = {"linear": 1, "conv1d": 1, "conv2d": 1, "sigmoid": 1}
    gains |= {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}
    if nonlinearity not in gains:
        raise error("nn.gain", name=nonlinearity)
    return gains[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """Return to how many inputs and outputs of its layer each element of a weight is tied."""
    if tensor.ndim < 2:
        raise error("nn.fans")
    area = math.prod(tensor.shape[2:])
    return tensor.shape[1] * area, tensor.shape[0] * area


_calculate_fan_in_and_fan_out = fans  # by this name in layers that learners copy from PyTorch's


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Draw evenly, with a variance of ``2 * gain**2 / (inputs + outputs)``.

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural
    networks (2010).
    """
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(sum(fans(tensor))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Draw from the normal distribution; see ``xavier_uniform_``."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(fans(tensor)))), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Draw evenly, with a variance of ``gain**2 / inputs``.

    ``mode`` says whether the variance is kept in the forward pass (``"fan_in"``) or backward
    (``"fan_out"``), ``nonlinearity`` what follows, and ``a`` the slope of that below 0.

    Source: He et al., Delving deep into rectifiers (2015).
    """
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Draw from the normal distribution; see ``kaiming_uniform_``."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise error("nn.fan_mode", mode=mode)
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=4)
        return 0.0
    return calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[mode == "fan_out"])


def _early(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a function by the name that it had before 2018: without the underscore."""
    name = function.__name__

    @wraps(function)
    def early(*args: Any, **kwargs: Any) -> Tensor:
        words = f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`."
        warnings.warn(words, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    early.__name__ = name[:-1]
    return early


constant, dirac, eye, normal = _early(constant_), _early(dirac_), _early(eye_), _early(normal_)
kaiming_normal, kaiming_uniform = _early(kaiming_normal_), _early(kaiming_uniform_)
orthogonal, sparse, uniform = _early(orthogonal_), _early(sparse_), _early(uniform_)
xavier_normal, xavier_uniform = _early(xavier_normal_), _early(xavier_uniform_)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
