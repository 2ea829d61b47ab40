"""Activations: the curves between the layers of a network.

After reading this file you know that such a layer is a function with its options. Read next:
``functional_activations.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.creation import empty
from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn import init
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.parameter import Parameter
from autodiff_kit.tensor import Tensor

__all__ = ["CELU", "ELU", "GELU", "GLU", "SELU", "Hardshrink", "Hardsigmoid", "Hardswish"]
__all__ += ["Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU"]
__all__ += ["ReLU6", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus"]
__all__ += ["Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold"]


class _InPlace(Module):
    """An activation that may overwrite its input; prints ``inplace`` where it does."""

    inplace: bool

    def extra_repr(self) -> str:
        """Return the options."""
        options = super().extra_repr()
        return ", ".join([*filter(None, [options]), *["inplace=True"] * bool(self.inplace)])


class ReLU(_InPlace):
    """Keep what is positive; the rest becomes 0."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``relu``."""
        return F.relu(input, self.inplace)


class LeakyReLU(_InPlace):
    """Keep what is positive; multiply the rest by a small number."""

    _repr_names = ("negative_slope",)

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``leaky_relu``."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class PReLU(Module):
    """``LeakyReLU`` whose slope is a parameter: one, or one per channel (dimension 1)."""

    _repr_names = ("num_parameters",)

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start with the slope ``init``."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``prelu``."""
        return F.prelu(input, self.weight)


class ELU(_InPlace):
    """Keep what is positive; the rest approaches ``-alpha`` exponentially."""

    _repr_names = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``elu``."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(_InPlace):
    """``ELU`` whose slope is 1 at 0 for any ``alpha``."""

    _repr_names = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``celu``."""
        return F.celu(input, self.alpha, self.inplace)


class RReLU(_InPlace):
    """``LeakyReLU`` whose slopes are drawn between two bounds; in evaluation, their mean."""

    _repr_names = ("lower", "upper")

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``rrelu``."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Threshold(_InPlace):
    """Keep what is above a threshold; the rest becomes ``value``."""

    _repr_names = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``threshold``."""
        return F.threshold(input, self.threshold, self.value, self.inplace)


class _Shrinking(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        """Return the bound."""
        return str(self.lambd)


class Hardshrink(_Shrinking):
    """Keep what is larger than ``lambd``, or smaller than ``-lambd``; the rest becomes 0."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``hardshrink``."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrinking):
    """Bring elements nearer to 0 by ``lambd``; those that are smaller become 0."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``softshrink``."""
        return F.softshrink(input, self.lambd)


class SELU(_InPlace):
    """``ELU``, scaled so that mean 0 and variance 1 are kept from layer to layer."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``selu``."""
        return F.selu(input, self.inplace)


class SiLU(_InPlace):
    """Multiply by the sigmoid; also called swish."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``silu``."""
        return F.silu(input, self.inplace)


class Mish(_InPlace):
    """Multiply by the hyperbolic tangent of ``Softplus``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``mish``."""
        return F.mish(input, self.inplace)


class GELU(Module):
    """Multiply by the standard normal CDF."""

    _repr_names = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``gelu``."""
        return F.gelu(input, approximate=self.approximate)


class Hardtanh(_InPlace):
    """Clamp to the range from ``min_val`` to ``max_val``."""

    _repr_names: tuple[str, ...] = ("min_val", "max_val")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace
        if max_val <= min_val:
            raise error("nn.hardtanh_range", low=min_val, high=max_val)

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``hardtanh``."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """Clamp to the range from 0 to 6."""

    _repr_names = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Hardsigmoid(Module):
    """A sigmoid made of three straight lines."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``hardsigmoid``."""
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    """Multiply by ``Hardsigmoid``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``hardswish``."""
        return F.hardswish(input, self.inplace)


class Softplus(Module):
    """A smooth ``ReLU``."""

    _repr_names = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``softplus``."""
        return F.softplus(input, self.beta, self.threshold)


class Sigmoid(Module):
    """Squeeze into the range from 0 to 1."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``sigmoid``."""
        return F.sigmoid(input)


class LogSigmoid(Module):
    """The logarithm of ``Sigmoid``, exact for any input."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``logsigmoid``."""
        return F.logsigmoid(input)


class Tanh(Module):
    """Squeeze into the range from -1 to 1."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``tanh``."""
        return F.tanh(input)


class Tanhshrink(Module):
    """Subtract the hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``tanhshrink``."""
        return F.tanhshrink(input)


class Softsign(Module):
    """Divide by 1 plus the absolute value."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``softsign``."""
        return F.softsign(input)


class GLU(Module):
    """Multiply one half of the elements along a dimension by the sigmoid of the other half."""

    _repr_names = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``glu``."""
        return F.glu(input, self.dim)


class Softmax(Module):
    """Turn numbers along a dimension into shares that add up to 1."""

    _repr_names = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``softmax``."""
        return F.softmax(input, self.dim)


class Softmax2d(Module):
    """``Softmax`` over the channels of images: input of shape ((n,) c, height, width)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``softmax`` along the channels."""
        if input.ndim not in (3, 4):
            raise error("nn.softmax_2d", rank=input.ndim)
        return F.softmax(input, -3)


class Softmin(Module):
    """``Softmax`` of the negative numbers."""

    _repr_names = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``softmin``."""
        return F.softmin(input, self.dim)


class LogSoftmax(Module):
    """The logarithm of ``Softmax``, exact where that is tiny."""

    _repr_names = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply ``log_softmax``."""
        return F.log_softmax(input, self.dim)
