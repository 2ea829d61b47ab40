"""Helpers for training: gradients that are too long.

After reading this file you know how to keep a step from going too far. Read next:
``../optim/__init__.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.creation import tensor
from autodiff_kit.errors import absent, error
from autodiff_kit.functions import stack
from autodiff_kit.tensor import Tensor

__all__ = ["clip_grad_norm_"]


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
    return total  # type: ignore[no-any-return]


def __getattr__(name: str) -> Any:
    raise absent("autodiff_kit.nn.utils", name)
