"""Helpers for training: clipping gradients, and all parameters as one vector.

After reading this file you know how to keep a step from going too far. Read next:
``../../optim/__init__.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.creation import tensor
from autodiff_kit.errors import error
from autodiff_kit.functions import cat, stack
from autodiff_kit.outside import absent, modules_below
from autodiff_kit.tensor import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "rnn"]
__all__ += ["vector_to_parameters"]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Shorten all gradients, as one vector, to a length of at most ``max_norm``; in place.

    ``norm_type`` says which length: 2 is Euclid's, ``inf`` the largest element. Returns the length
    before, shape (); RuntimeError if asked for and that is not finite.
    """
    each = [parameters] if isinstance(parameters, Tensor) else parameters
    gradients, order = [p._grad for p in each if p._grad is not None], float(norm_type)
    if not gradients:
        return tensor(0.0)
    with no_grad():
        total = stack([g.norm(order) for g in gradients]).norm(order)
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise error("nn.norm_not_finite", order=order)
        shrink = (float(max_norm) / (total + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(shrink)
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clamp all elements of all gradients to the range from ``-clip_value`` to ``clip_value``."""
    each = [parameters] if isinstance(parameters, Tensor) else parameters
    with no_grad():
        for parameter in each:
            if parameter._grad is not None:
                parameter._grad.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all elements, one parameter after the other."""
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let the parameters have the elements of a vector, which share its memory."""
    if not isinstance(vec, Tensor):
        raise error("nn.not_a_vector", kind=type(vec).__name__)
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view(*parameter.shape).data
        start = end


__path__.append(modules_below(__name__))  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    if name == "rnn":
        return import_module("autodiff_kit.nn.utils.rnn")
    raise absent(__name__, name)
