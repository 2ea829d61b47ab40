"""The losses of ``nn.functional``: how wrong a prediction is, as one number, the loss.

After reading this file you know what a loss may be asked for, and what PyTorch says to a target of
the wrong shape or type. Read next: ``../ops/losses.py``, where they are computed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.core.mode import local
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.functions.arranging import broadcast_tensors
from autodiff_kit.operands import check_operand
from autodiff_kit.tensor import Tensor

__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy"]
__all__ += ["huber_loss", "l1_loss", "mse_loss", "nll_loss", "smooth_l1_loss"]

_Loss = TypeVar("_Loss", bound=Callable[..., Any])
_CLASS_TYPES = (np.dtype("int64"), np.dtype("uint8"))


def early_reduction(
    size_average: bool | None, reduce: bool | None, reduction: str, stacklevel: int
) -> str:
    """Return the reduction that ``size_average`` and ``reduce`` meant in early versions."""
    if size_average is None and reduce is None:
        return reduction
    for value in (size_average, reduce):
        if isinstance(value, Tensor) and value.numel() != 1:
            count, s = ("more than one", "") if value.numel() else ("no", "s")
            raise error("functional.loss_arguments", count=count, s=s)
    is_mean, is_reduced = (value is None or bool(value) for value in (size_average, reduce))
    reduction = "none" if not is_reduced else "mean" if is_mean else "sum"
    words = "size_average and reduce args will be deprecated, please use "
    words += f"reduction='{reduction}' instead."
    warnings.warn(words, UserWarning, stacklevel=stacklevel + 1)
    return reduction


def loss(function: _Loss) -> _Loss:
    """Let a loss take ``size_average`` and ``reduce``, as early versions did, also by position."""
    code = cast(Any, function).__code__
    first, last = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = ["size_average"]
    for name in code.co_varnames[first:last]:
        names += ["reduce", name] if name == "reduction" else [name]

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if len(args) > first:
            by_position = dict(zip(names, args[first:], strict=False))
            if options.keys().isdisjoint(by_position):
                options |= by_position
                args = args[:first] + args[first + len(names) :]
        if "size_average" in options or "reduce" in options:
            early = options.pop("size_average", None), options.pop("reduce", None)
            reduction = options.get("reduction", "mean")
            options["reduction"] = early_reduction(*early, reduction, stacklevel=2)
        return function(*args, **options)

    return cast(_Loss, call)


def check_reduction(reduction: str) -> None:
    """Refuse what is neither "mean", "sum" nor "none"."""
    if reduction not in ("mean", "sum", "none"):
        raise error("functional.reduction", reduction=reduction)


def constant(function: str, argument: str, tensor: Tensor | None, position: int = 3) -> Any:
    """Return weights that must not require grad; 1 if there are none."""
    if tensor is None:
        return 1
    check_operand(function, argument, position, tensor, numbers=False)
    if tensor.requires_grad and local.mode.grad_enabled:
        raise error("functional.not_differentiable", function=function, argument=argument)
    return tensor


@loss
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return how surprised a prediction is by the true classes: ``nll_loss`` of ``log_softmax``.

    Parameters
    ----------
    input : Tensor, shape (c,), (n, c) or (n, c, *size)
        One number per class; softmax makes probabilities of them.
    target : Tensor
        Classes as integers, of shape (), (n,) or (n, *size); or probabilities of classes, of
        the shape of input.
    weight : Tensor, shape (c,), optional
        How much each class counts.
    ignore_index : int
        Targets of this value do not count.
    reduction : {"mean", "sum", "none"}
        With weights, the mean is a weighted one.
    label_smoothing : float in [0, 1]
        Part of the target that is spread evenly over all classes.

    IndexError if a target is no class, RuntimeError or ValueError if shapes or dtypes do not fit.
    """
    check_reduction(reduction)
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        check_operand("cross_entropy_loss", "input", 1, input, numbers=False)
        check_operand("cross_entropy_loss", "target", 2, target, numbers=False)
    if weight is not None:
        check_operand("cross_entropy_loss", "weight", 3, weight, numbers=False)
    shape = input._array.shape
    dim = 1 if len(shape) > 1 else 0
    if not 0 <= label_smoothing <= 1:
        raise error("functional.label_smoothing", got=f"{label_smoothing:g}")
    if target._array.shape == shape:
        return _cross_entropy_of_shares(
            input, target, weight, ignore_index, reduction, label_smoothing
        )
    log_share = ops.log_softmax(input, dim=input._dim(dim if shape else 1))
    loss = _nll_loss(log_share, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return loss
    is_counted = target._array != ignore_index
    smooth = log_share if weight is None else log_share * _by_class(weight, shape)
    smooth = ops.masked(-smooth.sum(dim), wrap(is_counted))
    if reduction != "none":
        smooth = smooth.sum()
    if reduction == "mean":
        targets = target._array[is_counted]
        smooth = smooth / (targets.size if weight is None else weight[wrap(targets)].sum())
    mixed: Tensor = loss * (1 - label_smoothing) + smooth * (label_smoothing / shape[dim])
    return mixed


def _by_class(weight: Tensor, shape: tuple[int, ...]) -> Tensor:
    return weight.reshape(-1, *[1] * (len(shape) - 2))


def _cross_entropy_of_shares(
    input: Tensor, target: Tensor, weight: Any, ignore_index: int, reduction: str, smoothing: float
) -> Tensor:
    shape = input._array.shape
    if not target.is_floating_point():
        raise error("functional.class_probabilities", kind=tensor_type(target._array.dtype))
    if ignore_index >= 0:
        raise error("functional.ignore_index")
    if not shape:
        raise error("shapes.size_of_0d", dim=1)
    dim = 1 if len(shape) > 1 else 0
    if weight is not None and weight.shape != shape[dim : dim + 1]:
        name = "cross_entropy: "
        raise error("functional.weight", name=name, count=shape[dim], shape=list(weight.shape))
    log_share = ops.log_softmax(input, dim=dim)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / shape[dim]
    products = log_share * target
    if weight is not None:
        products = products * _by_class(weight, shape)
    if reduction == "none":
        return -products.sum(dim)
    total = products.sum()
    if reduction == "sum":
        return -total
    if not input.numel():
        return -total.fill_(float("nan"))
    return ops.div_number(-total, y=input.numel() / shape[dim])


@loss
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Pick the log-probability of each target, change its sign and average; see cross_entropy."""
    check_reduction(reduction)
    check_operand("nll_loss_nd", "input", 1, input, numbers=False)
    check_operand("nll_loss_nd", "target", 2, target, numbers=False)
    return _nll_loss(input, target, weight, ignore_index, reduction)


def _nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str
) -> Tensor:
    shape, expected = input._array.shape, target._array.shape
    if shape[:1] + shape[2:] != expected or len(shape) < 2:
        target = _fitting_target(shape, target)
    _check_classes(target)
    if weight is not None:
        check_operand("nll_loss_nd", "weight", 3, weight, numbers=False)
        classes = shape[:2][-1]
        if weight.shape != (classes,):
            raise error("functional.weight", name="", count=classes, shape=list(weight.shape))
        if weight.dtype is not input.dtype:
            kinds = [tensor_type(t._array.dtype) for t in (input, weight)]
            raise error("functional.weight_type", expected=kinds[0], actual=kinds[1])
        constant("nll_loss_forward" if len(shape) < 3 else "nll_loss2d_forward", "weight", weight)
    loss = ops.nll_loss if len(shape) < 3 else ops.nll_loss2d
    counts = None if weight is None else weight._array
    return loss(
        input, target=target._array, weight=counts, ignore_index=ignore_index, reduction=reduction
    )


def _check_classes(target: Tensor) -> None:
    if target._array.dtype not in _CLASS_TYPES:
        raise error("functional.target_type", kind=tensor_type(target._array.dtype))


def _fitting_target(shape: tuple[int, ...], target: Tensor) -> Tensor:
    """Return the target of one sample as a 0-d tensor; raise an error for all that do not fit."""
    own = target._array.shape
    if not shape:
        raise error("functional.nll_of_0d")
    if len(shape) > 1 and shape[0] != (own[0] if own else 0):
        raise error("functional.batch_size", n=shape[0], m=own[0] if own else 0)
    if len(own) > 1 and len(shape) < 3:
        raise error("functional.multi_target")
    if len(shape) < 3:
        _check_classes(target)
    if len(shape) == 1 and own not in ((), (1,)):
        raise error("functional.one_target", count=own[0])
    if len(shape) > 1 and not own:
        if len(shape) == 2:
            raise error("shapes.size_of_0d", dim=0)
        if len(shape) != 4:
            raise error("functional.nll_of_no_batch")
    if len(shape) == 4 and len(own) != 3:
        raise error("functional.nll_of_images", ndim=len(own))
    if len(shape) > 2:
        expected = [shape[0], *shape[2:]]
        raise error("functional.target_size", expected=expected, got=list(own))
    return target.reshape(())


def _same_size(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return both in one shape; warn if that takes broadcasting."""
    if target.size() == input.size():
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size "
        f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size.",
        UserWarning,
        stacklevel=3,
    )
    first, second = broadcast_tensors(input, target)
    return first, second


@loss
def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Return the squares of the differences, reduced."""
    check_reduction(reduction)
    return ops.mse_loss(*_same_size(input, target), reduction=reduction)


@loss
def l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Return the sizes of the differences, reduced; the slope at a difference of 0 is 0."""
    check_reduction(reduction)
    input, target = _same_size(input, target)
    sizes = (input - target).abs()
    result: Tensor = sizes if reduction == "none" else getattr(sizes, reduction)()
    return result


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Return half the squares of differences up to delta, and a straight line beyond, reduced."""
    check_reduction(reduction)
    if delta <= 0:
        raise error("functional.huber_delta")
    input, target = _same_size(input, target)
    return ops.huber_loss(input, target, delta=delta, reduction=reduction)


@loss
def smooth_l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """Return ``huber_loss`` divided by its delta, ``beta``; ``l1_loss`` if that is 0."""
    check_reduction(reduction)
    if beta < 0:
        raise error("functional.smooth_beta")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return ops.smooth_l1_loss(*_same_size(input, target), beta=beta, reduction=reduction)


@loss
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """Return how surprised probabilities of yes are by the truth; at most 100 per element.

    ValueError if the shapes differ, RuntimeError if the dtypes do, or if an element is not between
    0 and 1.
    """
    check_reduction(reduction)
    if target.size() != input.size():
        raise error("functional.bce_size", target=target.size(), input=input.size())
    counts = constant("binary_cross_entropy", "weight", weight)
    kind = input._array.dtype
    if target._array.dtype != kind:
        actual = tensor_type(target._array.dtype)
        raise error("functional.bce_type", actual=actual, expected=tensor_type(kind))
    if kind.kind != "f":
        kernel = "binary_cross_entropy"
        raise error("functional.whole_numbers", kernel=kernel, kind=tensor_type(kind))
    for name, tensor in (("input", input), ("target", target)):
        if not np.all((tensor._array >= 0) & (tensor._array <= 1)):
            raise error("functional.bce_range", name=name)
    counts = counts if weight is None else counts.to(input.dtype)
    return ops.binary_cross_entropy(input, target, counts, reduction=reduction)


@loss
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return ``binary_cross_entropy(sigmoid(input), target)``, exact for any size of input.

    Input and target have one shape, to which ``weight`` and ``pos_weight`` are broadcast: how much
    each element, and each yes, counts.
    """
    check_reduction(reduction)
    if target.size() != input.size():
        raise error("functional.logits_size", target=target.size(), input=input.size())
    name = "binary_cross_entropy_with_logits"
    counts = [constant(name, "weight", weight), constant(name, "pos_weight", pos_weight)]
    if input.is_floating_point() and not target.is_floating_point():
        if target._array.dtype == bool:
            raise error("functional.logits_bool")
        kinds = [tensor_type(t._array.dtype) for t in (input, target)]
        raise error("functional.logits_type", input=kinds[0], target=kinds[1])
    for i, weights in enumerate(counts):
        if isinstance(weights, Tensor) and not weights.is_floating_point():  # a mask, for example
            counts[i] = weights.to(input.dtype)
    return ops.binary_cross_entropy_with_logits(input, target, *counts, reduction=reduction)
