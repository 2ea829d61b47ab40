"""Adam and its kin: steps by the mean of the last gradients and the mean of their squares.

After reading this file you know what Adam, AdamW, Adamax, NAdam and RAdam remember of the gradients
and where they differ. In the formulas ``x`` is a parameter and ``g`` its gradient;
``weight_decay * x`` was added to that. Read next: ``rmsprop.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_kit.core.base import wrap
from autodiff_kit.core.versions import note_change, share
from autodiff_kit.optim.optimizer import (
    Array,
    Betas,
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

__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"]


class _Moments(InPlace):
    """What Adam, NAdam and RAdam share: two means of gradients, and decoupled weight decay."""

    def _remember(
        self, group: Group, state: Group, x: Array, g: Array
    ) -> tuple[float, Array, Array]:
        """Return the number of the step, and the means of gradients and of their squares."""
        (beta1, beta2), step = group["betas"], count_step(state)
        if group["decoupled_weight_decay"] and group["weight_decay"]:
            x *= 1 - float(group["lr"]) * group["weight_decay"]
            note_change(x)  # the step is another change
        mean, square = share(state["exp_avg"]), share(state["exp_avg_sq"])
        mean += (1 - beta1) * (g - mean)
        square *= beta2
        square += (1 - beta2) * (g * g)
        return step, mean, square


class Adam(_Moments):
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
        options = options_of(
            locals(),
            "lr betas eps weight_decay amsgrad maximize foreach capturable "
            "differentiable fused decoupled_weight_decay",
        )
        super().__init__(params, options)

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state = self.state[param]
        if not state:
            begin(state, x, "exp_avg", "exp_avg_sq", *["max_exp_avg_sq"] * group["amsgrad"])
        step, mean, square = self._remember(group, state, x, g)
        if group["amsgrad"]:
            top = share(state["max_exp_avg_sq"])
            square = np.maximum(top, square, out=top)
        beta1, beta2 = group["betas"]
        # Both means began with 0: at first they are too small by these factors.
        part1, part2 = 1 - beta1**step, 1 - beta2**step
        root = np.sqrt(square) / math.sqrt(part2) + group["eps"]
        x -= (float(group["lr"]) / part1) * (mean / root)


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
        super().__init__(params, options_of(locals()))

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state = self.state[param]
        if not state:
            begin(state, x, "exp_avg", "exp_inf")
        (beta1, beta2), step = group["betas"], count_step(state)
        mean, largest = share(state["exp_avg"]), share(state["exp_inf"])
        mean += (1 - beta1) * (g - mean)
        largest *= beta2
        np.maximum(largest, np.abs(g) + group["eps"], out=largest)
        x -= (float(group["lr"]) / (1 - beta1**step)) * (mean / largest)


class NAdam(_Moments):
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
        options = options_of(
            locals(),
            "lr betas eps weight_decay momentum_decay decoupled_weight_decay "
            "maximize foreach capturable differentiable",
        )
        super().__init__(params, options)

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state, lr, (beta1, beta2) = self.state[param], float(group["lr"]), group["betas"]
        if not state:
            begin(state, x, "mu_product", "exp_avg", "exp_avg_sq")
            state["mu_product"] = wrap(np.ones_like(state["step"]._array))
        step, mean, square = self._remember(group, state, x, g)
        now, later = (
            beta1 * (1 - 0.5 * 0.96 ** (k * group["momentum_decay"])) for k in (step, step + 1)
        )
        product = share(state["mu_product"])
        product *= now
        root = np.sqrt(square / (1 - beta2**step)) + group["eps"]
        x -= (lr * (1 - now) / (1 - float(product))) * (g / root)
        note_change(x)  # what follows is another change
        x -= (lr * later / (1 - float(product) * later)) * (mean / root)


class RAdam(_Moments):
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
        options = options_of(
            locals(),
            "lr betas eps weight_decay maximize foreach capturable "
            "decoupled_weight_decay differentiable",
        )
        super().__init__(params, options)

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state, (beta1, beta2) = self.state[param], group["betas"]
        if not state:
            begin(state, x, "exp_avg", "exp_avg_sq")
        step, mean, square = self._remember(group, state, x, g)
        part1, part2 = 1 - beta1**step, 1 - beta2**step
        largest = 2 / (1 - beta2) - 1
        length = largest - 2 * step * beta2**step / part2  # of the mean, in gradients
        factor: Any = 1
        if length > 5:
            a, b = (length - 4) * (length - 2) * largest, (largest - 4) * (largest - 2) * length
            factor = math.sqrt(a / b) * math.sqrt(part2) / (np.sqrt(square) + group["eps"])
        x -= (mean / part1) * float(group["lr"]) * factor


__getattr__ = absent_in(__name__)
