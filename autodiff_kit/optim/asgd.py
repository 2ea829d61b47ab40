"""Steps that average the parameters, and steps that read only the signs of gradients.

After reading this file you know that ASGD keeps a second set of parameters, the averages, and that
Rprop needs the gradient of all the data: the sign of a batch's says little. In the formulas ``x``
is a parameter and ``g`` its gradient. Read next: ``swa_utils.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.base import INFERENCE, wrap
from autodiff_kit.core.versions import note_change, share
from autodiff_kit.dtypes import get_default_dtype
from autodiff_kit.errors import error
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

__all__ = ["ASGD", "Rprop"]


class ASGD(InPlace):
    """Gradient descent that averages the parameters: ``state[x]["ax"]`` is the mean.

    The rate falls as ``lr / (1 + lambd * lr * step) ** alpha``, and parameters decay by ``lambd``;
    the mean is that of the steps after ``t0``.

    Source: Polyak and Juditsky, Acceleration of stochastic approximation by averaging (1992).
    """

    _unchecked = ("foreach", "lambd", "alpha", "t0")

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: Any = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, options_of(locals()))

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state, lr, decay = self.state[param], float(group["lr"]), group["lambd"]
        if not state:
            begin(state, x)
            kind = state["step"]._array.dtype
            state["eta"], state["mu"] = (wrap(np.full((), value, kind)) for value in (lr, 1))
            state["ax"] = wrap(np.zeros_like(x))
        step, eta, mu = count_step(state), share(state["eta"]), share(state["mu"])
        mean, rate = share(state["ax"]), float(eta)
        x *= 1 - decay * rate
        if param._changes is not INFERENCE:
            note_change(x)  # as PyTorch does for each of the two
        x -= rate * g
        if mu == 1:
            mean[...] = x
        else:
            mean += (x - mean) * mu.astype(x.dtype)
        kind = get_default_dtype().numpy.type  # in which PyTorch computes them
        eta[...] = kind(lr / (1 + decay * lr * step) ** group["alpha"])
        mu[...] = kind(1 / max(1, step - group["t0"]))


class Rprop(InPlace):
    """Step by the sign of the gradient: each element has steps of its own length.

    ``etas`` are the factors of that where the sign has changed, and where it has not;
    ``step_sizes`` are its bounds. Where the sign has changed, no step is made.

    Source: Riedmiller and Braun, A direct adaptive method for faster backpropagation (1993).
    """

    _unchecked = ("foreach", "etas", "step_sizes")

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-2,
        etas: Betas = (0.5, 1.2),
        step_sizes: Betas = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: Any = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        options = options_of(
            locals(),
            "lr etas step_sizes foreach maximize differentiable capturable",
        )
        super().__init__(params, options)

    def _check(self, options: Group) -> None:
        super()._check(options)
        low, high = options["etas"]
        if not 0.0 < low < 1.0 < high:
            raise error("optim.etas", low=low, high=high)

    def _update(self, group: Group, param: Tensor, x: Array, g: Array) -> None:
        state, (smaller, larger) = self.state[param], group["etas"]
        if not state:
            begin(state, x, "prev")
            state["step_size"] = wrap(np.full_like(x, float(group["lr"])))
        count_step(state)
        before, size = share(state["prev"]), share(state["step_size"])
        agreement = np.sign(g * before)
        size *= np.where(agreement > 0, larger, np.where(agreement < 0, smaller, 1)).astype(x.dtype)
        np.clip(size, *group["step_sizes"], out=size)
        before[...] = np.where(agreement < 0, x.dtype.type(0), g)
        x -= np.sign(before) * size


__getattr__ = absent_in(__name__)
