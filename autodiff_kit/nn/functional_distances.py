"""Distances of vectors in ``nn.functional``, and the losses that compare pairs of them.

After reading this file you know how a network learns from "these two belong together" instead of
from labels: what belongs together is pulled together, the rest pushed apart up to a margin. Read
next: ``functional_losses.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.dtypes import from_numpy_dtype, result_dtype
from autodiff_kit.errors import error
from autodiff_kit.nn.functional_losses import check_reduction, loss
from autodiff_kit.operands import check_operand
from autodiff_kit.tensor import Tensor

__all__ = ["cosine_embedding_loss", "cosine_similarity", "hinge_embedding_loss"]
__all__ += ["margin_ranking_loss", "normalize", "pairwise_distance", "triplet_margin_loss"]
__all__ += ["triplet_margin_with_distance_loss"]


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Divide vectors along a dimension by their ``p``-norm, which counts as ``eps`` at least."""
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand(input.shape)
    return input / length


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of the angle between vectors along a dimension; shapes broadcast.

    Norms count as ``eps`` at least.
    """
    check_operand("cosine_similarity", "x1", 1, x1, numbers=False)
    check_operand("cosine_similarity", "x2", 2, x2, numbers=False)
    dtype = from_numpy_dtype(result_dtype(x1._array, x2._array))
    if not dtype.is_floating_point:
        raise error("functional.cosine_of_whole", kind=dtype.tensor_type)
    shape = _shape(x1, x2)
    x1, x2 = (x if x.dtype.is_floating_point else x.to(dtype) for x in (x1, x2))
    if x1.shape != x2.shape:
        x1, x2 = x1.expand(shape), x2.expand(shape)
    units = []
    for x in (x1, x2):
        length = x.norm(2, dim, keepdim=True).clone()
        with no_grad():
            length.clamp_min_(eps)
        units.append(x / length)
    return (units[0] * units[1]).sum(dim)


def _shape(x: Tensor, y: Tensor) -> Any:
    return x.shape if x.shape == y.shape else (x.detach() + y.detach()).shape


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Return the ``p``-norm of ``x1 - x2 + eps`` along the last dimension."""
    check_operand("pairwise_distance", "x1", 1, x1, numbers=False)
    check_operand("pairwise_distance", "x2", 2, x2, numbers=False)
    return (x1 - x2 + eps).norm(p, -1, keepdim)


# -- losses ----------------------------------------------------------------------------------------


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    result: Tensor = losses if reduction == "none" else getattr(losses, reduction)()
    return result


@loss
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, *, reduction: str = "mean"
) -> Tensor:
    """Return distances where the target is 1, and what they lack of ``margin`` where it is -1."""
    check_reduction(reduction)
    whole = not input.dtype.is_floating_point  # there, PyTorch cuts the margin to an integer
    lacking = (-input + (int(margin) if whole else margin)).clamp_min(0)
    zeros = input.detach() * 0
    losses = ops.where(target != 1, lacking, zeros) + ops.where(target != -1, input, zeros)
    return _reduced(losses, reduction)


@loss
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, *, reduction: str = "mean"
) -> Tensor:
    """Return by how much ``input1`` is not ``margin`` above ``input2``; below, for target -1."""
    check_reduction(reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        sizes = [tensor.size() for tensor in (input1, input2, target)]
        raise error("functional.ranking_ranks", sizes=sizes)
    losses = (-target * (input1 - input2) + margin).clamp_min(0)
    return _reduced(losses, reduction)


@loss
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, *, reduction: str = "mean"
) -> Tensor:
    """Return 1 minus the cosine for target 1; for -1, how much the cosine is above ``margin``.

    Inputs have shape (n, size) or (size,), target (n,) or ().
    """
    check_reduction(reduction)
    dim = target.ndim
    if dim > 1:
        raise error("functional.cosine_targets")
    if not input1.ndim == input2.ndim == dim + 1:
        sizes = [list(input1.shape), list(input2.shape)]
        raise error("functional.cosine_ranks", rank=dim, expected=dim + 1, sizes=sizes)
    small = 1e-12
    product = (input1 * input2).sum(dim)
    squares = ((input1 * input1).sum(dim) + small) * ((input2 * input2).sum(dim) + small)
    cosine = product / squares.sqrt()
    zeros = cosine.detach() * 0
    apart = (cosine - margin).clamp_min(0)
    losses = ops.where(target == 1, 1 - cosine, zeros) + ops.where(target == -1, apart, zeros)
    return _reduced(losses, reduction)


@loss
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    *,
    reduction: str = "mean",
) -> Tensor:
    """Return by how much the negative is not ``margin`` farther from the anchor than the positive.

    With ``swap``, the distance of positive and negative counts if it is smaller.

    Source: Balntas et al., Learning local feature descriptors with triplets (2016).
    """
    return triplet_margin_with_distance_loss(
        anchor,
        positive,
        negative,
        distance_function=lambda x, y: pairwise_distance(x, y, p, eps),
        margin=margin,
        swap=swap,
        reduction=reduction,
    )


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """``triplet_margin_loss`` with a distance of one's own."""
    check_reduction(reduction)
    if margin <= 0:
        raise error("functional.triplet_margin", margin=margin)
    ranks = anchor.ndim, positive.ndim, negative.ndim
    if len(set(ranks)) > 1:
        raise error("functional.triplet_ranks", ranks=ranks)
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return _reduced((margin + near - far).clamp_min(0), reduction)
