"""Steps by the size of past gradients: RMSprop, Adagrad and Adadelta.

After reading this file you know why a parameter with small gradients takes larger steps here. In
the formulas ``x`` is a parameter and ``g`` its gradient; ``weight_decay * x`` was added to that.
Read next: ``lbfgs.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.versions import share
from autodiff_kit.optim.optimizer import (
    Array,
    Group,
    InPlace,
    Params,
    Rate,
    begin,
    count_step,
    options_of,
)
from autodiff_kit.outside import absent_in
from autodiff_kit.tensor import Tensor

__all__ = ["Adadelta", "Adagrad", "RMSprop"]


class RMSprop(InPlace):
    """Divide the gradient by the root of the mean of its last squares.

    ``alpha`` says how much of the mean is kept at each step; ``centered`` divides by the standard
    deviation instead; ``momentum`` says how much of the last step is added to the next.

    Source: Hinton, Neural networks for machine learning, lecture 6 (2012).
    """

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: Any = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        options = options_of(
            locals(),
            "lr momentum alpha eps centered weight_decay capturable foreach "
            "maximize differentiable",
        )
        super().__init__(params, options)

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state, alpha, momentum = self.state[param], group["alpha"], group["momentum"]
        if not state:
            extra = {"momentum_buffer": momentum > 0, "grad_avg": group["centered"]}
            begin(state, x, "square_avg", *(name for name in extra if extra[name]))
        count_step(state)
        square = share(state["square_avg"])
        square *= alpha
        square += (1 - alpha) * (g * g)
        if group["centered"]:
            mean = share(state["grad_avg"])
            mean += (1 - alpha) * (g - mean)
            square = square - mean * mean
        g = g / (np.sqrt(square) + group["eps"])
        if momentum > 0:
            buffer = share(state["momentum_buffer"])
            buffer *= momentum
            buffer += g
            g = buffer
        x -= float(group["lr"]) * g


class Adagrad(InPlace):
    """Divide the gradient by the root of the sum of all its squares.

    The sum starts at ``initial_accumulator_value``; ``lr_decay`` says how fast lr falls.

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods (2011).
    """

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: Any = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: Any = None,
    ) -> None:
        options = options_of(
            locals(),
            "lr lr_decay eps weight_decay initial_accumulator_value foreach "
            "maximize differentiable fused",
        )
        super().__init__(params, options)

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters; here the state is there from the beginning."""
        super().add_param_group(param_group)
        for param in param_group["params"]:
            start = param_group["initial_accumulator_value"]
            begin(self.state[param], share(param), "sum", value=start)

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state = self.state[param]
        lr = float(group["lr"]) / (1 + (count_step(state) - 1) * group["lr_decay"])
        squares = share(state["sum"])
        squares += g * g
        x -= lr * (g / (np.sqrt(squares) + group["eps"]))


class Adadelta(InPlace):
    """Step by the gradient, times the root mean square of the last steps over that of gradients.

    ``rho`` says how much of both means is kept at each step.

    Source: Zeiler, Adadelta: an adaptive learning rate method (2012).
    """

    def __init__(
        self,
        params: Params,
        lr: Rate = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: Any = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        options = options_of(
            locals(),
            "lr rho eps weight_decay maximize capturable foreach differentiable",
        )
        super().__init__(params, options)

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state, rho, eps = self.state[param], group["rho"], group["eps"]
        if not state:
            begin(state, x, "square_avg", "acc_delta")
        count_step(state)
        square, steps = share(state["square_avg"]), share(state["acc_delta"])
        square *= rho
        square += (1 - rho) * (g * g)
        step = np.sqrt(steps + eps) / np.sqrt(square + eps) * g
        steps *= rho
        steps += (1 - rho) * (step * step)
        x -= float(group["lr"]) * step


__getattr__ = absent_in(__name__)
