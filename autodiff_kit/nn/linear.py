"""Linear layers, and the layer that does nothing.

After reading this file you know what a layer is: parameters, and a function that reads them. Read
next: ``weighted.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.nn import functional as F
from autodiff_kit.nn import init
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.weighted import Shape, Weighted
from autodiff_kit.tensor import Tensor

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Return the input; takes any arguments and ignores them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Linear(Weighted):
    """Return ``input @ weight.T + bias``.

    Parameters
    ----------
    in_features, out_features : int
        n and m: weight has shape (m, n), bias (m,).
    bias : bool
        Whether there is one.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> torch.nn.Linear(3, 2)(torch.ones(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self._make_parameters(device, dtype, bias=bias)

    def _shapes(self) -> dict[str, Shape]:
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}

    def forward(self, input: Tensor) -> Tensor:
        """Return ``input @ weight.T + bias``, shape (*, out_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class Bilinear(Weighted):
    """Return ``input1 @ weight[k] @ input2 + bias[k]`` for each output feature k."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise error("nn.bilinear_features", count=in1_features)
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        self._make_parameters(device, dtype, bias=bias)

    def _shapes(self) -> dict[str, Shape]:
        shape = self.out_features, self.in1_features, self.in2_features
        return {"weight": shape, "bias": (self.out_features,)}

    def reset_parameters(self) -> None:
        """Start with numbers that are the smaller the more features the first input has."""
        bound = self.in1_features**-0.5
        for parameter in (self.weight, self.bias):
            if parameter is not None:
                init.uniform_(parameter, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Apply ``bilinear``, shape (*, out_features)."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}"
        return f"{sizes}, out_features={self.out_features}, bias={self.bias is not None}"
