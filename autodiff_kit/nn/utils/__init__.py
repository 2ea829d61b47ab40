"""Helpers for training: clipping gradients, and all parameters as one vector.

After reading this file you know how to keep a step from going too far. Read next:
``../../optim/__init__.py``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.creation import tensor
from autodiff_kit.errors import error
from autodiff_kit.functions import cat, stack
from autodiff_kit.outside import absent, modules_below
from autodiff_kit.tensor import Tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_"]
__all__ += ["get_total_norm", "parameters_to_vector", "parametrizations", "parametrize"]
__all__ += ["prune", "remove_spectral_norm", "remove_weight_norm", "rnn", "spectral_norm"]
__all__ += ["vector_to_parameters", "weight_norm"]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Shorten all gradients, as one vector, to a length of at most ``max_norm``; in place.

    ``norm_type`` says which length: 2 is Euclid's, ``inf`` the largest element. Returns the length
    before, shape (); RuntimeError if asked for and that is not finite.
    """
    each = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    gradients = [p._grad for p in each if p._grad is not None]
    total = get_total_norm(gradients, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(each, max_norm, total)
    return total


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the length of tensors, taken as one vector, shape ().

    ``norm_type`` says which length: 2 is Euclid's, ``inf`` the largest element. RuntimeError if
    asked for and it is not finite.
    """
    each, order = [tensors] if isinstance(tensors, Tensor) else [*tensors], float(norm_type)
    if not each:
        return tensor(0.0)
    with no_grad():
        total: Tensor = stack([x.norm(order) for x in each]).norm(order)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise error("nn.norm_not_finite", order=order)
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Shorten all gradients, whose length is ``total_norm``, to ``max_norm`` at most; in place."""
    each = [parameters] if isinstance(parameters, Tensor) else parameters
    gradients = [p._grad for p in each if p._grad is not None]
    with no_grad():
        shrink = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(shrink)


def clip_grad_norm(*args: Any, **options: Any) -> Tensor:
    """Do what ``clip_grad_norm_`` does: its name before 2018."""
    words = "`torch.nn.utils.clip_grad_norm` is now deprecated "
    words += "in favor of `torch.nn.utils.clip_grad_norm_`."
    warnings.warn(words, FutureWarning, stacklevel=2)
    return clip_grad_norm_(*args, **options)


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clamp all elements of all gradients to the range from ``-clip_value`` to ``clip_value``."""
    each, limit = [parameters] if isinstance(parameters, Tensor) else parameters, float(clip_value)
    with no_grad():
        for parameter in each:
            if parameter._grad is not None:
                if foreach is False:
                    parameter._grad.clamp_(-limit, limit)
                else:  # one bound after the other, each a change
                    parameter._grad.clamp_(min=-limit).clamp_(max=limit)


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
    if name in ("parametrizations", "parametrize", "prune", "rnn"):  # loaded when first used
        return import_module(f"autodiff_kit.nn.utils.{name}")
    if name in ("remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"):
        return getattr(import_module("autodiff_kit.nn.utils.renewed"), name)
    raise absent(__name__, name)
