"""The losses of ``nn.functional`` that compare distributions, or weigh several labels at once.

After reading this file you know what a prediction is that says how sure it is, how an example
can belong to several classes, and how a sequence is compared with labels that
have no place in it. Read next: ``functional_distances.py``.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.creation import zeros
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.from_data import from_numpy
from autodiff_kit.functions.basic import where
from autodiff_kit.nn.functional_losses import check_reduction, constant, loss
from autodiff_kit.operands import check_operand
from autodiff_kit.ops.ctc import Labels
from autodiff_kit.tensor import Tensor

__all__ = ["ctc_loss", "gaussian_nll_loss", "kl_div", "multilabel_soft_margin_loss"]
__all__ += ["multi_margin_loss", "poisson_nll_loss", "soft_margin_loss"]


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
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
) -> Tensor:
    """Return by how much the scores of other classes come too close to that of the target.

    Parameters
    ----------
    input : Tensor, shape (n, classes) or (classes,)
    target : Tensor of int64, shape (n,) or ()
        The class of each row.
    p : {1, 2}
        The power of what is missing to the margin.
    margin : float
    weight : Tensor, shape (classes,), optional
        What each target counts.

    ValueError for another power; RuntimeError or IndexError for targets that do not fit, or for
    weights that require grad.
    """
    check_reduction(reduction)
    if p not in (1, 2):
        raise error("functional.margin_power")
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    targets = target.reshape(-1)
    if len(targets) != len(rows):
        own, other = list(input.shape), list(target.shape)
        raise error("functional.margin_target", count=len(rows), input=own, target=other)
    if target.dtype.numpy != np.int64:
        raise error("functional.margin_type", kind=tensor_type(target.dtype.numpy))
    for number in targets._array[(targets._array < 0) | (targets._array >= rows.shape[1])].flat:
        raise error("functional.margin_class", target=number, last=rows.shape[1] - 1)
    own = rows.gather(1, targets.unsqueeze(1))
    lacks = (margin - own + rows).relu() ** p  # relu: no gradient where just nothing is missing
    if weight is not None:
        weights = constant("multi_margin_loss", "weight", weight, 5)
        lacks = lacks * weights[targets].unsqueeze(1)
    others = rows.detach() * 0 + 1
    others[range(len(rows)), targets] = 0
    losses = (lacks * others).sum(1) / rows.shape[1]
    if reduction != "none":
        return getattr(losses, reduction)()
    return losses if input.ndim == 2 else losses[0]


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


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return how surprised predictions for each time are by labels whose times are not known.

    Each label stands for one time or several that follow each other, with blanks between them, or
    none; all such alignments count.

    Parameters
    ----------
    log_probs : Tensor, shape (t, n, classes) or (t, classes)
        What ``log_softmax`` returns. The gradient is right only for that, as PyTorch's is.
    targets : Tensor of int, shape (n, s), or all of them one after the other
    input_lengths, target_lengths : Tensor or sequence of int, shape (n,)
        How much of each sequence, and of each row of targets, counts.
    blank : int
        The class that is no label.
    reduction : str
        ``"mean"`` divides each loss by the number of labels first.
    zero_infinity : bool
        Whether a sequence that is too short for its labels has the loss 0, not infinity.
    """
    check_reduction(reduction)
    for position, (name, value) in enumerate((("log_probs", log_probs), ("targets", targets)), 1):
        check_operand("ctc_loss", name, position, value, numbers=False)
    is_single = log_probs.ndim == 2
    x = log_probs.unsqueeze(1) if is_single else log_probs
    lengths = _ctc_lengths("input_lengths", input_lengths, x.shape[1])
    counts = _ctc_lengths("target_lengths", target_lengths, x.shape[1])
    if not x.is_floating_point():
        kind = tensor_type(x._array.dtype)
        raise error("functional.whole_numbers", kernel="ctc_loss_cpu", kind=kind)
    if not 0 <= blank < x.shape[2]:
        raise error("functional.ctc_blank")
    rows = targets._array.astype("int64")
    rows = _ctc_rows(rows[None] if is_single and rows.ndim == 1 else rows, counts)
    for name, value, most in (("input", lengths, len(x)), ("target", counts, rows.shape[1])):
        if value.min(initial=0) < 0:
            raise error("functional.ctc_negative", name=f"{name}_lengths", length=value.min())
        if value.max(initial=0) > most and name == "input":
            raise error("functional.ctc_long", most=most, length=value.max())
    labels = Labels(rows, lengths, counts, blank)
    losses, _ = ops.ctc_loss(x, labels=labels, zero_infinity=zero_infinity)
    if zero_infinity:
        losses = where(losses == math.inf, zeros((), dtype=losses.dtype), losses)
    if reduction == "mean":
        return (losses / from_numpy(np.maximum(counts, 1).astype(x._array.dtype))).mean()
    if reduction == "sum":
        return losses.sum()
    return losses.squeeze(0) if is_single else losses


def _ctc_lengths(name: str, lengths: Any, count: int) -> Any:
    """Return lengths as integers, shape (n,)."""
    if not isinstance(lengths, Tensor | tuple | list):
        check_operand("ctc_loss", name, 3 + (name[0] == "t"), lengths, numbers=False)
    array = np.atleast_1d(getattr(lengths, "_array", lengths))
    if array.dtype.kind not in "iu":
        raise error("functional.ctc_lengths", name=name)
    if array.shape != (count,):
        raise error("functional.ctc_batch", name=name)
    return array.astype("int64")


def _ctc_rows(targets: Any, counts: Any) -> Any:
    """Return targets as one row for each sequence, also those that stand one after the other."""
    size, total = int(counts.max(initial=0)), int(counts.sum())
    if targets.ndim == 1:
        if len(targets) != total:
            raise error("functional.ctc_targets", expected=total, at=0, actual=len(targets))
        rows = np.zeros((len(counts), size), "int64")
        rows[np.arange(size) < counts[:, None]] = targets
        return rows
    if len(targets) != len(counts):
        raise error("functional.ctc_targets", expected=len(counts), at=0, actual=len(targets))
    if targets.shape[1] < size:
        raise error("functional.ctc_few_targets", expected=size, actual=targets.shape[1])
    return targets
