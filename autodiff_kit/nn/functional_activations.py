"""The activations of ``nn.functional``: curves that are applied to every element, and softmax.

After reading this file you know what each of them is called and which options it has. Read next:
``../ops/activations.py`` and ``../ops/curves.py``, where they are computed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.creation import empty, zeros
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.inplace import change
from autodiff_kit.operands import check_number, check_operand, checked_int
from autodiff_kit.random import default_generator
from autodiff_kit.tensor import Tensor

__all__ = ["celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink"]
__all__ += ["hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_"]
__all__ += ["log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "relu_", "rrelu"]
__all__ += ["rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus"]
__all__ += ["softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_"]


def _applied(
    name: str, op: Callable[..., Tensor], input: Tensor, inplace: bool = False, **options: Any
) -> Tensor:
    """Apply an op; ``inplace``, overwrite the input with the result."""
    check_operand(name, "input", 1, input, numbers=False)
    for place, (argument, value) in enumerate(options.items()):
        check_number(name, argument, place + 2, value)
    return change(input, f"{name}_", op, **options) if inplace else op(input, **options)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return input where it is positive, else 0."""
    return _applied("relu", ops.relu, input, inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return input where it is positive, else ``negative_slope * input``."""
    op = ops.leaky_relu_in_place if inplace else ops.leaky_relu
    return _applied("leaky_relu", op, input, inplace, negative_slope=negative_slope)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return input where it is positive, else ``weight * input``: one number, or one per channel.

    Channels are dimension 1; RuntimeError if there are not as many, or the dtypes differ.
    """
    check_operand("prelu", "input", 1, input, numbers=False)
    check_operand("prelu", "weight", 2, weight, numbers=False)
    kinds = [tensor_type(tensor._array.dtype) for tensor in (input, weight)]
    if kinds[0] != kinds[1]:
        raise error("functional.prelu_type", input=kinds[0], weight=kinds[1])
    count = weight.numel()
    if count > 1:
        if not input.ndim:
            raise error("functional.prelu_of_0d")
        channels = input.shape[1] if input.ndim > 1 else 1
        if count != channels:
            raise error("functional.prelu_channels", count=count, channels=channels)
    if input.ndim != weight.ndim or count > 1:
        weight = weight.view([count if dim == 1 else 1 for dim in range(input.ndim)])
    return ops.prelu_kernel(input, weight)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return input where it is positive, else ``alpha * (exp(input) - 1)``."""
    op = ops.elu_in_place if inplace else ops.elu
    return _applied("elu", op, input, inplace, alpha=alpha, scale=1.0)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``elu`` with the alpha and the scale that keep mean 0 and variance 1."""
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    op = ops.elu_in_place if inplace else ops.elu
    return _applied("selu", op, input, inplace, alpha=alpha, scale=scale)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return input where it is positive, else ``alpha * (exp(input / alpha) - 1)``."""
    if alpha == 0:
        raise error("functional.celu_alpha")
    return _applied("celu", ops.celu, input, inplace, alpha=float(alpha))


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input * sigmoid(input)``."""
    return _applied("silu", ops.silu, input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input * tanh(softplus(input))``."""
    return _applied("mish", ops.mish, input, inplace)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """Return input times the standard normal CDF; or approximately, by tanh."""
    if approximate not in ("none", "tanh"):
        raise error("functional.gelu_approximate")
    return ops.gelu(input, approximate=approximate)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Clamp; the slope at the bounds is 0. RuntimeError for bools."""
    if min_val > max_val:
        raise error("functional.hardtanh_range")
    return _clamped("hardtanh", input, min_val, max_val, inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Clamp to the range from 0 to 6."""
    return _clamped("relu6", input, 0, 6, inplace)


def _clamped(name: str, input: Tensor, low: float, high: float, inplace: bool) -> Tensor:
    check_operand(name, "input", 1, input, numbers=False)
    if input._array.dtype == np.bool_:
        raise error("functional.hardtanh_bool")
    return _applied(name, ops.hardtanh, input, inplace, low=low, high=high)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return input where it is above a threshold, else a value."""
    return _applied("threshold", ops.threshold, input, inplace, threshold=threshold, value=value)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return input where its size is above ``lambd``, else 0."""
    return _applied("hardshrink", ops.hardshrink, input, lambd=lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Bring input nearer to 0 by ``lambd``; what is smaller becomes 0."""
    if input.is_floating_point() and lambd < 0:
        kind, most = tensor_type(input._array.dtype), np.finfo(input._array.dtype).max
        raise error("functional.softshrink", most=f"{most:g}", kind=kind, lambd=f"{lambd:g}")
    return _applied("softshrink", ops.softshrink, input, lambd=lambd)


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """``leaky_relu`` with slopes that are drawn evenly; in evaluation, with their mean.

    For one seed, the slopes that PyTorch draws: one for each element that is not positive.
    """
    if lower > upper:
        raise error("functional.rrelu_range")
    below = ~(input._array > 0)
    slopes: Any = (lower + upper) / 2
    if training:
        slopes = default_generator.uniform(int(below.sum()), np.float64) * (upper - lower) + lower
    noise = np.ones(input.shape, input._array.dtype)
    noise[below] = slopes
    slopes_everywhere = wrap(noise[()])
    return _applied("rrelu", lambda x: ops.rrelu_with_noise(x, slopes_everywhere), input, inplace)


def _overwriting(function: Any) -> Callable[..., Tensor]:
    """Make the form of an activation that overwrites its input: ``relu_`` of ``relu``."""

    def activation(*args: Any, **options: Any) -> Tensor:
        return function(*args, inplace=True, **options)

    activation.__name__ = activation.__qualname__ = f"{function.__name__}_"
    activation.__doc__ = f"Overwrite the input with its ``{function.__name__}``."
    return activation


celu_, elu_, hardtanh_, leaky_relu_ = map(_overwriting, (celu, elu, hardtanh, leaky_relu))
relu_, rrelu_, selu_, threshold_ = map(_overwriting, (relu, rrelu, selu, threshold))


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``relu6(input + 3) / 6``."""
    return _applied("hardsigmoid", ops.hardsigmoid, input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input * relu6(input + 3) / 6``."""
    return _applied("hardswish", ops.hardswish, input, inplace)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """Return ``log(1 + exp(beta * input)) / beta``; input itself above ``threshold / beta``."""
    return _applied("softplus", ops.softplus, input, beta=beta, threshold=threshold)


def sigmoid(input: Tensor) -> Tensor:
    """Return ``1 / (1 + exp(-input))``."""
    return ops.sigmoid(input)


def logsigmoid(input: Tensor) -> Tensor:
    """Return ``log(sigmoid(input))``, exact for any input."""
    check_operand("log_sigmoid", "input", 1, input, numbers=False)
    return ops.log_sigmoid(input)[0]


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""
    return ops.tanh(input)


def tanhshrink(input: Tensor) -> Tensor:
    """Return ``input - tanh(input)``."""
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """Return ``input / (1 + abs(input))``."""
    return input / (input.abs() + 1)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Split along a dimension; return the first half times the sigmoid of the second."""
    if not input.dim():
        raise error("functional.glu_of_0d")
    place = input._dim(dim)
    if input.shape[place] % 2:
        raise error("functional.glu_odd", dim=place, size=input.shape[place])
    return ops.glu(input, dim=place)


# -- softmax and its relatives ---------------------------------------------------------------------


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Return shares along a dimension that are positive and add up to 1."""
    place = _dim("softmax", input, dim)
    return ops.softmax(input if dtype is None else input.to(dtype), dim=place)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Return ``softmax(-input, dim)``."""
    if dim is None:
        dim = _dim("softmin", input, dim)
    return softmax(-input, dim, dtype=dtype)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Draw shares that are differentiable by the logits: a smooth stand-in for drawing a class.

    The smaller ``tau``, the closer to a class they are; with ``hard``, the result is one, and only
    the gradient is that of the shares.

    Source: Jang, Gu and Poole, Categorical reparameterization with Gumbel-softmax (2017).
    """
    if eps != 1e-10:
        words = "`eps` parameter is deprecated and has no effect."
        warnings.warn(words, UserWarning, stacklevel=2)
    noise = -empty(logits.shape, dtype=logits.dtype).exponential_().log()
    shares = softmax((logits + noise) / tau, dim)
    if not hard:
        return shares
    classes = shares.max(dim, keepdim=True)[1]
    return (
        zeros(logits.shape, dtype=logits.dtype).scatter_(dim, classes, 1.0)
        - shares.detach()
        + shares
    )


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Return the logarithm of ``softmax(input, dim)``, without losing small shares."""
    place = _dim("log_softmax", input, dim)
    return ops.log_softmax(input if dtype is None else input.to(dtype), dim=place)


def _dim(name: str, x: Tensor, dim: int | None) -> int:
    check_operand(name, "input", 1, x, numbers=False)
    if dim is None:
        words = f"Implicit dimension choice for {name} has been deprecated. Change the call to "
        warnings.warn(f"{words}include dim=X as an argument.", UserWarning, stacklevel=3)
        dim = 0 if x.ndim in (0, 1, 3) else 1
    return x._dim(checked_int("softmax" if name == "softmin" else name, "dim", 1, dim))
