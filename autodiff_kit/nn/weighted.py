"""What layers with parameters have in common: making them, and their initialization.

After reading this file you know how a layer says which parameters it has: as shapes, from which
they are made at once, or, by lazy layers, when the first input is there. Read next: ``linear.py``.
"""

from __future__ import annotations

import math
from typing import Any

from autodiff_kit.core.observer import installed
from autodiff_kit.creation import empty
from autodiff_kit.nn import init
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.parameter import Parameter

__all__ = ["Scaling", "Weighted"]

Shape = tuple[int, ...]


class Weighted(Module):
    """A layer whose parameters are called ``weight`` and ``bias``; there may be none of either."""

    weight: Any
    bias: Any

    def _shapes(self) -> dict[str, Shape]:
        """Return the shape of each parameter that such a layer can have."""
        raise NotImplementedError

    def _make_parameters(self, device: Any, dtype: Any, **is_wanted: bool) -> None:
        """Make and initialize the parameters; None stands for those not wanted."""
        with installed(None):  # a recording shows the finished layer only
            for name, shape in self._shapes().items():
                parameter = None
                if is_wanted.get(name, True):
                    parameter = Parameter(empty(shape, device=device, dtype=dtype))
                self.register_parameter(name, parameter)
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw initial values that keep the variance of what passes through."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        inputs = init.fans(self.weight)[0]
        bound = 1 / math.sqrt(inputs) if inputs else 0  # numbers are drawn all the same
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)


class Scaling(Weighted):
    """A layer that multiplies by its weight and adds its bias."""

    def reset_parameters(self) -> None:
        """Start with weight 1 and bias 0."""
        for name, fill in (("weight", init.ones_), ("bias", init.zeros_)):
            parameter = self._parameters.get(name)
            if parameter is not None:
                fill(parameter)
