"""Helpers for training: gradients that are too long, parameters as one vector.

After reading this file you know how to keep a step from going too far. Read next:
``../optim/__init__.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.creation import tensor
from autodiff_kit.errors import error
from autodiff_kit.functions import cat, stack
from autodiff_kit.nn.parameter import type_name
from autodiff_kit.tensor import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "vector_to_parameters"]


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    each = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p._grad for p in each if p._grad is not None]


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
    gradients, order = _gradients(parameters), float(norm_type)
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
    """Limit each element of the gradients to the range from -clip_value to clip_value; in place."""
    with no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all elements of all parameters in one dimension."""
    return cat([param.reshape(-1) for param in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give the parameters the values in a vector, as ``parameters_to_vector`` returns it."""
    if not isinstance(vec, Tensor):
        raise error("nn.vector", kind=type_name(type(vec)))
    start = 0
    for param in parameters:
        part = vec[start : start + param.numel()]
        param.data = part.reshape(param.shape).data
        start += param.numel()
