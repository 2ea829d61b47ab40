"""The optimizers: how a gradient becomes a step.

After reading this file you know that they differ in what they remember: nothing, the direction of
the last steps, how large the gradients have been, or all of that. In the formulas ``x`` is a
parameter and ``g`` its gradient; ``weight_decay * x`` was added to that. The class statements list
the options; ``foreach``, ``fused`` and ``capturable``, which say how PyTorch computes the same
faster, change nothing here. Read next: ``optimizer.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_kit.autograd.versions import note_change
from autodiff_kit.dtypes import float64, get_default_dtype
from autodiff_kit.errors import error
from autodiff_kit.optim.optimizer import Array, InPlace
from autodiff_kit.tensor import Tensor, share, wrap

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "RMSprop"]

Group = dict[str, Any]


def _begin(state: dict[str, Any], x: Array, *names: str, value: float = 0) -> None:
    """Begin to remember: a count of steps, and for each name a tensor of the shape of ``x``."""
    count = np.zeros((), "float64" if get_default_dtype() is float64 else "float32")
    state["step"] = wrap(count)
    for name in names:
        state[name] = wrap(np.full_like(x, value))


def _next(state: dict[str, Any]) -> float:
    """Count a step and return its number."""
    count = share(state["step"])
    count += 1
    return float(count)


class SGD(
    InPlace, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False,
    maximize=False, foreach=None, differentiable=False, fused=None,
):  # fmt: skip
    """Go down the slope: ``x -= lr * g``; with momentum, on as before, too.

    With it, ``buffer = momentum * buffer + (1 - dampening) * g`` takes the place of ``g``, or with
    ``nesterov``, ``g + momentum * buffer``. ``maximize`` goes up.

    Source: Sutskever et al., On the importance of initialization and momentum (2013).
    """

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


class Adam(
    InPlace, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, maximize=False,
    foreach=None, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False,
):  # fmt: skip
    """Step by the mean of the last gradients over the root of the mean of their squares.

    ``betas`` say how much of the two means is kept at each step, ``amsgrad`` takes the largest
    mean of squares so far, and with decoupled weight decay x shrinks by ``lr * weight_decay * x``.

    Source: Kingma and Ba, Adam (2015); Loshchilov and Hutter, Decoupled weight decay (2019).
    """

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state = self.state[param]
        if not state:
            largest = ("max_exp_avg_sq",) if group["amsgrad"] else ()
            _begin(state, x, "exp_avg", "exp_avg_sq", *largest)
        lr, (beta1, beta2), step = float(group["lr"]), group["betas"], _next(state)
        if group["decoupled_weight_decay"] and group["weight_decay"]:
            x *= 1 - lr * group["weight_decay"]
            note_change(x)  # the step is another change
        mean, square = share(state["exp_avg"]), share(state["exp_avg_sq"])
        mean += (1 - beta1) * (g - mean)
        square *= beta2
        square += (1 - beta2) * (g * g)
        if group["amsgrad"]:
            top = share(state["max_exp_avg_sq"])
            square = np.maximum(top, square, out=top)
        # Both means began with 0: at first they are too small by these factors.
        part1, part2 = 1 - beta1**step, 1 - beta2**step
        x -= (lr / part1) * (mean / (np.sqrt(square) / math.sqrt(part2) + group["eps"]))


class AdamW(
    Adam, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, maximize=False,
    foreach=None, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=True,
):  # fmt: skip
    """``Adam`` with decoupled weight decay: x shrinks by ``lr * weight_decay * x``."""


class RMSprop(
    InPlace, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
    capturable=False, foreach=None, maximize=False, differentiable=False,
):  # fmt: skip
    """Divide the gradient by the root of the mean of its last squares.

    ``alpha`` says how much of the mean is kept at each step; ``centered`` divides by the standard
    deviation instead; ``momentum`` says how much of the last step is added to the next.

    Source: Hinton, Neural networks for machine learning, lecture 6 (2012).
    """

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state, alpha, momentum = self.state[param], group["alpha"], group["momentum"]
        if not state:
            extra = {"momentum_buffer": momentum > 0, "grad_avg": group["centered"]}
            _begin(state, x, "square_avg", *(name for name in extra if extra[name]))
        _next(state)
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


class Adagrad(
    InPlace, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
    foreach=None, maximize=False, differentiable=False, fused=None,
):  # fmt: skip
    """Divide the gradient by the root of the sum of all its squares.

    The sum starts at ``initial_accumulator_value``; ``lr_decay`` says how fast lr falls.

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods (2011).
    """

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters; here the state is there from the beginning."""
        super().add_param_group(param_group)
        for param in param_group["params"]:
            start = param_group["initial_accumulator_value"]
            _begin(self.state[param], share(param), "sum", value=start)

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state = self.state[param]
        lr = float(group["lr"]) / (1 + (_next(state) - 1) * group["lr_decay"])
        squares = share(state["sum"])
        squares += g * g
        x -= lr * (g / (np.sqrt(squares) + group["eps"]))


class Adadelta(
    InPlace, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, capturable=False,
    maximize=False, differentiable=False,
):  # fmt: skip
    """Step by the gradient, times the root mean square of the last steps over that of gradients.

    ``rho`` says how much of both means is kept at each step.

    Source: Zeiler, Adadelta: an adaptive learning rate method (2012).
    """

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state, rho, eps = self.state[param], group["rho"], group["eps"]
        if not state:
            _begin(state, x, "square_avg", "acc_delta")
        _next(state)
        square, steps = share(state["square_avg"]), share(state["acc_delta"])
        square *= rho
        square += (1 - rho) * (g * g)
        step = np.sqrt(steps + eps) / np.sqrt(square + eps) * g
        steps *= rho
        steps += (1 - rho) * (step * step)
        x -= float(group["lr"]) * step
