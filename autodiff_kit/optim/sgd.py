"""Gradient descent, with momentum.

After reading this file you know what an optimizer does with a gradient: it changes the parameter in
place. In the formulas ``x`` is a parameter and ``g`` its gradient; ``weight_decay * x`` was added
to that. Read next: ``adam.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.base import wrap
from autodiff_kit.core.versions import share
from autodiff_kit.errors import error
from autodiff_kit.optim.optimizer import (
    Array,
    Group,
    InPlace,
    Params,
    Rate,
    options_of,
)
from autodiff_kit.outside import absent_in
from autodiff_kit.tensor import Tensor

__all__ = ["SGD"]


class SGD(InPlace):
    """Go down the slope: ``x -= lr * g``; with momentum, partly as before.

    With it, ``buffer = momentum * buffer + (1 - dampening) * g`` takes the place of ``g``, or with
    ``nesterov``, ``g + momentum * buffer``. ``maximize`` goes up.

    Source: Sutskever et al., On the importance of initialization and momentum (2013).
    """

    _value_first = True

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: Any = None,
        differentiable: bool = False,
        fused: Any = None,
    ) -> None:
        super().__init__(params, options_of(locals()))

    def _check(self, options: Group) -> None:
        super()._check(options)
        if options["nesterov"] and (options["momentum"] <= 0 or options["dampening"] != 0):
            raise error("optim.nesterov")

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        momentum = group["momentum"]
        if momentum:
            state = self.state[param]
            if state.get("momentum_buffer") is None:
                state["momentum_buffer"] = wrap(np.array(g))
                buffer = state["momentum_buffer"]._array
            else:
                buffer = share(state["momentum_buffer"])
                buffer *= momentum
                buffer += (1 - group["dampening"]) * g
            g = g + momentum * buffer if group["nesterov"] else buffer
        x -= float(group["lr"]) * g


__getattr__ = absent_in(__name__)
