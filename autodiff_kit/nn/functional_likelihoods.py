"""The losses of ``nn.functional`` that compare distributions, or weigh several labels at once.

After reading this file you know what a prediction is that says how sure it is, and how an example
can belong to several classes. Read next: ``functional_distances.py``.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.errors import error
from autodiff_kit.nn.functional_losses import check_reduction, constant, loss
from autodiff_kit.operands import check_operand
from autodiff_kit.tensor import Tensor

__all__ = ["gaussian_nll_loss", "kl_div", "multilabel_soft_margin_loss", "poisson_nll_loss"]
__all__ += ["soft_margin_loss"]


@loss
def kl_div(
    input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """Return how far a distribution is from another one, ``target``: the divergence of Kullback.

    Input holds logarithms of probabilities, target probabilities, or, with ``log_target``, their
    logarithms. ``"batchmean"``, the sum divided by the number of samples, is the definition.
    """
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
            UserWarning,
            stacklevel=2,
        )
    if reduction != "batchmean":
        check_reduction(reduction)
    check_operand("kl_div", "input", 1, input, numbers=False)
    check_operand("kl_div", "target", 2, target, numbers=False)
    if not (input.is_floating_point() and target.is_floating_point()):
        raise error("functional.kl_div_whole")
    if log_target:
        losses = target.exp() * (target - input)
    else:
        losses = ops.xlogy(target, target) - target * input
    if reduction == "none":
        return losses
    if reduction == "mean":
        return losses.mean()
    total: Tensor = losses.sum()
    return total / input.size(0) if reduction == "batchmean" and input.ndim else total


@loss
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    *,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """Return how surprised a Poisson distribution is by counts; input is the (log of the) mean.

    ``full`` adds Stirling's approximation of the logarithm of the factorial, which does not depend
    on input.
    """
    check_reduction(reduction)
    mean = input.exp() if log_input else input
    losses = mean - target * (input if log_input else (input + eps).log())
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return losses if reduction == "none" else getattr(losses, reduction)()


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return how surprised normal distributions with mean ``input`` and variance ``var`` are.

    Variances count as ``eps`` at least; ``full`` adds the constant. ValueError for a negative
    variance, or one of a shape that does not fit.
    """
    if isinstance(var, float):
        var = var * (input.detach() * 0 + 1)
    if (var._array < 0).any():
        raise error("functional.negative_variance")
    if var.size() != input.size():
        pairs = list(zip(input.shape, var.shape, strict=False))
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.ndim != var.ndim or sum(m for n, m in pairs if n != m) != 1:
            raise error("functional.variance_size")
    if reduction not in ("mean", "sum", "none"):
        raise error("functional.gaussian_reduction", reduction=reduction)
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        losses += 0.5 * math.log(2 * math.pi)
    return losses if reduction == "none" else getattr(losses, reduction)()


@loss
def soft_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Return ``log(1 + exp(-target * input))``, reduced; targets are 1 or -1."""
    check_reduction(reduction)
    check_operand("soft_margin_loss", "input", 1, input, numbers=False)
    constant("soft_margin_loss", "target", target, 2)
    result = ops.soft_margin_loss(input, target, reduction=reduction)
    together = np.broadcast_shapes(input.shape, target.shape)
    if together != input.shape:  # PyTorch multiplies a copy of the input, in place
        raise error("inplace.shape", old=list(input.shape), new=list(together))
    return result


@loss
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """Return how surprised the sigmoids of input are, averaged over the classes, then reduced.

    Input and target have shape (*, classes); targets say for each class whether it is there.
    """
    no, yes = ops.log_sigmoid(-input)[0], ops.log_sigmoid(input)[0]
    losses = -(target * yes + (1 - target) * no)
    if weight is not None:
        losses = losses * weight
    losses = losses.sum(-1) / input.shape[-1]
    if reduction not in ("mean", "sum", "none"):
        raise error("functional.gaussian_reduction", reduction=reduction)
    return losses if reduction == "none" else getattr(losses, reduction)()
