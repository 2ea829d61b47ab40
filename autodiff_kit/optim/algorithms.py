"""The optimizers: how a gradient becomes a step.

After reading this file you know that they differ in what they remember: nothing, the direction of
the last steps, how large the gradients have been, or all of that. In the formulas ``x`` is a
parameter and ``g`` its gradient; ``weight_decay * x`` was added to that. The options ``foreach``,
``fused`` and ``capturable``, which say how PyTorch computes the same faster, change nothing here.
Read next: ``optimizer.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from autodiff_kit.core.base import wrap
from autodiff_kit.core.memory import share
from autodiff_kit.core.versions import note_change
from autodiff_kit.dtypes import float64, get_default_dtype
from autodiff_kit.errors import error
from autodiff_kit.optim.optimizer import Array, InPlace
from autodiff_kit.tensor import Tensor

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop"]

Params = Iterable[Any]  # tensors, pairs (name, tensor), or groups: see Optimizer
Rate = float | Tensor
Betas = tuple[float, float]
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


class SGD(InPlace):
    """Go down the slope: ``x -= lr * g``; with momentum, partly as before.

    With it, ``buffer = momentum * buffer + (1 - dampening) * g`` takes the place of ``g``, or with
    ``nesterov``, ``g + momentum * buffer``. ``maximize`` goes up.

    Source: Sutskever et al., On the importance of initialization and momentum (2013).
    """

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
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

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


class Adam(InPlace):
    """Step by the mean of the last gradients over the root of the mean of their squares.

    ``betas`` say how much of the two means is kept at each step, ``amsgrad`` takes the largest
    mean of squares so far, and with decoupled weight decay x shrinks by ``lr * weight_decay * x``.

    Source: Kingma and Ba, Adam (2015); Loshchilov and Hutter, Decoupled weight decay (2019).
    """

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: Any = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: Any = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "foreach": foreach,
                "maximize": maximize,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

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


class AdamW(Adam):
    """``Adam`` with decoupled weight decay: x shrinks by ``lr * weight_decay * x``."""

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        foreach: Any = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: Any = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )


class Adamax(InPlace):
    """``Adam``, but by the largest of the last gradients: ``exp_inf``, which fades by ``betas[1]``.

    Source: Kingma and Ba, Adam (2015), section 7.1.
    """

    def __init__(
        self,
        params: Params,
        lr: Rate = 2e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: Any = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state = self.state[param]
        if not state:
            _begin(state, x, "exp_avg", "exp_inf")
        (beta1, beta2), step = group["betas"], _next(state)
        mean, largest = share(state["exp_avg"]), share(state["exp_inf"])
        mean += (1 - beta1) * (g - mean)
        largest *= beta2
        np.maximum(largest, np.abs(g) + group["eps"], out=largest)
        x -= (float(group["lr"]) / (1 - beta1**step)) * (mean / largest)


class NAdam(InPlace):
    """``Adam`` with Nesterov's momentum, which grows with the steps by ``momentum_decay``.

    Source: Dozat, Incorporating Nesterov momentum into Adam (2016).
    """

    def __init__(
        self,
        params: Params,
        lr: Rate = 2e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: Any = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state, lr, (beta1, beta2) = self.state[param], float(group["lr"]), group["betas"]
        if not state:
            _begin(state, x, "mu_product", "exp_avg", "exp_avg_sq")
            state["mu_product"] = wrap(np.ones_like(state["step"]._array))
        step = _next(state)
        if group["decoupled_weight_decay"] and group["weight_decay"]:
            x *= 1 - lr * group["weight_decay"]
            note_change(x)  # the step is two more changes
        now, later = (
            beta1 * (1 - 0.5 * 0.96 ** (k * group["momentum_decay"])) for k in (step, step + 1)
        )
        product, mean = share(state["mu_product"]), share(state["exp_avg"])
        product *= now
        mean += (1 - beta1) * (g - mean)
        square = share(state["exp_avg_sq"])
        square *= beta2
        square += (1 - beta2) * (g * g)
        root = np.sqrt(square / (1 - beta2**step)) + group["eps"]
        x -= (lr * (1 - now) / (1 - float(product))) * (g / root)
        note_change(x)
        x -= (lr * later / (1 - float(product) * later)) * (mean / root)


class RAdam(InPlace):
    """``Adam``, but by the mean alone while the mean of squares rests on too few gradients.

    Source: Liu et al., On the variance of the adaptive learning rate and beyond (2020).
    """

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: Any = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state, lr, (beta1, beta2) = self.state[param], float(group["lr"]), group["betas"]
        if not state:
            _begin(state, x, "exp_avg", "exp_avg_sq")
        step = _next(state)
        if group["decoupled_weight_decay"] and group["weight_decay"]:
            x *= 1 - lr * group["weight_decay"]
            note_change(x)  # the step is another change
        mean, square = share(state["exp_avg"]), share(state["exp_avg_sq"])
        mean += (1 - beta1) * (g - mean)
        square *= beta2
        square += (1 - beta2) * (g * g)
        part1, part2 = 1 - beta1**step, 1 - beta2**step
        largest = 2 / (1 - beta2) - 1
        length = largest - 2 * step * beta2**step / part2  # of the mean, in gradients
        factor: Any = 1
        if length > 5:
            a, b = (length - 4) * (length - 2) * largest, (largest - 4) * (largest - 2) * length
            factor = math.sqrt(a / b) * math.sqrt(part2) / (np.sqrt(square) + group["eps"])
        x -= (mean / part1) * lr * factor


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
        super().__init__(
            params,
            {
                "lr": lr,
                "alpha": alpha,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "centered": centered,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

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
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "eps": eps,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

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
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "capturable": capturable,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

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
