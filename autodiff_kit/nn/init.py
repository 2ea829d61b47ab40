"""Initialization of parameters: for one seed, the numbers that PyTorch would draw.

After reading this file you know how wide the first weights of a layer should scatter: so that
numbers neither grow nor shrink from layer to layer. Read next: ``layers.py``.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.core.base import wrap
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.outside import absent
from autodiff_kit.random import Generator, default_generator, scaled
from autodiff_kit.tensor import Tensor

__all__ = ["calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_"]
__all__ += ["ones_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_"]


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


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return by how much to scale first weights so that what follows a layer keeps its scatter.

    ``nonlinearity`` is the name of what follows, ``param`` the slope of ``leaky_relu`` below 0.

    Source: He et al., Delving deep into rectifiers (2015).
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    gains: dict[str, float] = {"linear": 1, "conv1d": 1, "conv2d": 1, "sigmoid": 1}
    gains |= {"tanh": 5 / 3, "relu": math.sqrt(2)}
    if nonlinearity not in gains:
        raise error("nn.gain", name=nonlinearity)
    return gains[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """Return to how many inputs and outputs of its layer each element of a weight is tied."""
    if tensor.ndim < 2:
        raise error("nn.fans")
    area = math.prod(tensor.shape[2:])
    return tensor.shape[1] * area, tensor.shape[0] * area


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


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
