"""Losses: how far a prediction is from its target, as one number or one per element.

After reading this file you know why cross-entropy is two ops only, ``log_softmax`` and
``nll_loss``, and that a linear op and its rule are each other's rule.
Read next: ``layers.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import category, get_default_dtype, result_dtype, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.ops.activations import floats_only, softplus
from autodiff_kit.ops.checks import Check
from autodiff_kit.ops.elementwise import (
    abs,
    clamp_min,
    exp,
    flat_in,
    log,
    log1p,
    sigmoid,
    sign,
    to_copy,
    where,
)
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.table import op

__all__ = ["binary_cross_entropy", "binary_cross_entropy_backward"]
__all__ += ["binary_cross_entropy_with_logits"]
__all__ += ["huber_loss", "mse_loss", "nll_loss", "nll_loss2d", "nll_loss_backward"]
__all__ += ["smooth_l1_loss", "soft_margin_loss"]

_add: Callable[..., Value] = np.add.reduce

Ints = tuple[int, ...]


def _reduced(values: Value, reduction: str) -> Value:
    if reduction == "none":
        return values
    total = _add(values, None)
    return total if reduction == "sum" else total / values.dtype.type(values.size)


def _each(g: Value, x: Value, reduction: str) -> Value:
    """Return what flows to each element's own loss."""
    return g / max(1, math.prod(x.shape)) if reduction == "mean" else g


# -- classes --------------------------------------------------------------------------------------


def _chosen(
    shape: Ints, target: Any, weight: Any, ignore_index: int
) -> tuple[tuple[Any, ...], tuple[Any, ...], Any, Any]:
    """Return which targets are not ignored, where their scores stand, and what they count.

    Returns
    -------
    (kept, places, counts, total) - two indices, the weights of the kept targets (None: 1 each),
    and the sum of the weights.
    """
    target, classes = target if target.shape else target.reshape(1), shape[:2][-1]
    targets = target
    indices: tuple[Any, ...] = (np.arange(target.size),)
    unsigned = target.view("uint64") if target.dtype.itemsize == 8 else target
    # Read without a sign, negative targets are huge: one comparison tells that all are in range.
    if (
        target.ndim > 1
        or 0 <= ignore_index < classes
        or np.count_nonzero(unsigned >= classes)  # half the time of a maximum
    ):
        indices = np.nonzero(target != ignore_index)
        targets = target[indices]
        outside = targets[(targets < 0) | (targets >= classes)]
        if outside.size:
            raise error("functional.target_out_of_bounds", target=outside[0], last=classes - 1)
    places = (*indices[:1], targets, *indices[1:]) if len(shape) > 1 else (targets,)
    if weight is None:
        return indices, places, None, targets.size
    counts = weight[targets]
    return indices, places, counts, _add(counts)


_NLL = r"-\textstyle\sum_n w_{t_n} x_{n, t_n} / \sum_n w_{t_n}"


@op("nll_loss(x, target, weight)", tex=_NLL, type_check=floats_only("nll_loss_out_frame"))
def nll_loss(x: Value, *, target: Any, weight: Any, ignore_index: int, reduction: str) -> Value:
    """Pick the log-probability of each target, change its sign, and average with weights."""
    indices, places, counts, total = _chosen(x.shape, target, weight, ignore_index)
    shares = x[places] if counts is None else x[places] * counts
    if reduction == "none":
        out = np.zeros(np.atleast_1d(target).shape, x.dtype)
        out[indices] = -shares
        return scalar_if_0d(out.reshape(target.shape))
    loss = x.dtype.type(0) - _add(shares)  # 0 if that is 0, not -0
    return loss if reduction == "sum" else loss / x.dtype.type(total)


@op(
    "nll_loss(x, target, weight)",
    tex=_NLL,
    node="NllLoss2DBackward0",
    type_check=floats_only("nll_loss2d_forward_out_frame"),
)
def nll_loss2d(x: Value, *, target: Any, weight: Any, ignore_index: int, reduction: str) -> Value:
    """Do the same for every pixel of images."""
    return nll_loss(x, target=target, weight=weight, ignore_index=ignore_index, reduction=reduction)


@op(
    "-x * one_hot(target) / len(target) if reduction == 'mean' else -x * one_hot(target)",
    tex=r"-\bar z\,w_t / \textstyle\sum w_t",
)
def nll_loss_backward(
    x: Value, *, shape: Ints, target: Any, weight: Any, ignore_index: int, reduction: str
) -> Value:
    """Send the cotangent to the log-probabilities that were picked."""
    indices, places, counts, total = _chosen(shape, target, weight, ignore_index)
    share = np.atleast_1d(x)[indices] if reduction == "none" else x
    if reduction == "mean":
        share = share / x.dtype.type(total)
    out = np.zeros(shape, x.dtype)
    out[places] = -share if counts is None else -share * counts
    return out


for _loss in (nll_loss, nll_loss2d):

    @_loss.vjp("x", tex=r"-\bar z\,w_t / \textstyle\sum w_t \text{ at the targets}")
    def _(g: Value, x: Value, target: Any, weight: Any, ignore_index: int, reduction: str) -> Value:
        gradient = nll_loss_backward(
            g,
            shape=x.shape,
            target=target,
            weight=weight,
            ignore_index=ignore_index,
            reduction=reduction,
        )
        return flat_in(gradient, x)


@nll_loss_backward.vjp("x", tex=r"-\textstyle\sum_n w_{t_n} \bar z_{n, t_n} / \sum_n w_{t_n}")
def _(g: Value, target: Any, weight: Any, ignore_index: int, reduction: str) -> Value:
    return nll_loss(g, target=target, weight=weight, ignore_index=ignore_index, reduction=reduction)


def _some_float(kernel: str) -> Check:
    """Make a check that refuses inputs of which none is of floats."""
    refuse = floats_only(kernel)
    return lambda x, y, **params: refuse(np.empty(0, result_dtype(x, y)))


_refuse_whole = _some_float("huber_cpu")


def _check_huber(x: Any, y: Any, **params: Any) -> None:
    kind = result_dtype(x, y)
    if category(kind) > category(x.dtype):
        raise error("inplace.dtype", new=tensor_type(kind), old=tensor_type(x.dtype))
    _refuse_whole(x, y)


def _check_soft_margin(x: Any, y: Any, **params: Any) -> None:
    if x.dtype.kind != "f":
        kind = tensor_type(get_default_dtype().numpy)
        raise error("inplace.dtype", new=kind, old=tensor_type(x.dtype))


@op(
    "mean(log(1 + exp(-y * x)))",
    tex=r"\tfrac1n \textstyle\sum_i \ln(1 + e^{-y_i x_i})",
    dtypes="x",
    type_check=_check_soft_margin,
    saved_as={"y": "target"},
)
def soft_margin_loss(x: Value, y: Value, *, reduction: str) -> Value:
    """Judge numbers by their signs, which should be those of y: 1 or -1."""
    return _reduced(np.log1p(np.exp(-y * x)), reduction)


@soft_margin_loss.vjp("x", tex=r"-\tfrac1n \bar z\,y / (1 + e^{y x})")
def _(g: Value, x: Value, y: Value, reduction: str) -> Value:
    odds = exp(-y * x)
    return _each(g, x, reduction) * (-y * odds / (1 + odds))


# -- numbers --------------------------------------------------------------------------------------


@op(
    "mean((x - y) ** 2)",
    tex=r"\tfrac1n \textstyle\sum_i (x_i - y_i)^2",
    type_check=_some_float("mse_cpu"),
    saved_as={"y": "target"},
)
def mse_loss(x: Value, y: Value, *, reduction: str) -> Value:
    """Square the differences, and average them or add them up."""
    difference = x - y
    return _reduced(difference * difference, reduction)


@mse_loss.vjp("x", tex=r"\tfrac2n \bar z\,(x - y)")
def _(g: Value, x: Value, y: Value, reduction: str) -> Value:
    return _each(g, x, reduction) * 2 * (x - y)


@mse_loss.vjp("y", tex=r"\tfrac2n \bar z\,(y - x)")
def _(g: Value, x: Value, y: Value, reduction: str) -> Value:
    return _each(g, x, reduction) * 2 * (y - x)


@op(
    "huber_loss(x, y, delta)",
    tex=r"\tfrac1n \textstyle\sum_i h_\delta(x_i - y_i)",
    dtypes="any",
    type_check=_check_huber,
    saved_as={"y": "target"},
)
def huber_loss(x: Value, y: Value, *, delta: float, reduction: str) -> Value:
    """Square small differences; let those above delta count in proportion only.

    Source: Huber, Robust estimation of a location parameter (1964).
    """
    size = np.abs(x - y)
    losses = np.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta))
    return _reduced(losses.astype(np.asarray(x).dtype)[()], reduction)


@huber_loss.vjp("x", tex=r"\tfrac1n \bar z\,h'_\delta(x - y)")
def _(
    g: Value, x: Value, y: Value, x_dtype: Any, y_dtype: Any, delta: float, reduction: str
) -> Value:
    _refuse_two_types(x_dtype, y_dtype)
    return _each(g, x, reduction) * _clipped(x - y, delta)


@huber_loss.vjp("y", tex=r"\tfrac1n \bar z\,h'_\delta(y - x)")
def _(
    g: Value, x: Value, y: Value, x_dtype: Any, y_dtype: Any, delta: float, reduction: str
) -> Value:
    _refuse_two_types(y_dtype, x_dtype)
    return _each(g, x, reduction) * _clipped(y - x, delta)


def _refuse_two_types(own: Any, other: Any) -> None:
    if own != other:
        kinds = tensor_type(other), tensor_type(own)
        raise error("functional.huber_types", other=kinds[0], own=kinds[1])


def _clipped(x: Value, delta: float) -> Value:
    return where(abs(x) >= delta, sign(x) * delta, x)  # as in PyTorch: flat at delta, nan is nan


def _smooth_l1_check(x: Value, y: Value, **params: Any) -> None:
    if x.dtype.kind != "f" and y.dtype.kind != "f":  # one float converts the other
        floats_only("smooth_l1_cpu")(x, y)


@op(
    "where(abs(x - y) < beta, (x - y) ** 2 / (2 * beta), abs(x - y) - beta / 2)",
    tex=r"\tfrac1n \textstyle\sum_i h_\beta(x_i - y_i) / \beta",
    node="SmoothL1LossBackward0",
    type_check=_smooth_l1_check,
    saved_as={"y": "target"},
)
def smooth_l1_loss(x: Value, y: Value, *, beta: float, reduction: str) -> Value:
    """Return ``huber_loss`` divided by beta: the slope of large differences is 1.

    Source: Girshick, Fast R-CNN (2015).
    """
    size = np.abs(x - y)
    losses = scalar_if_0d(np.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta))
    return _reduced(losses, reduction)


@smooth_l1_loss.vjp("x", tex=r"\tfrac1n \bar z\,h'_\beta(x - y) / \beta")
def _(g: Value, x: Value, y: Value, beta: float, reduction: str) -> Value:
    return _each(g, x, reduction) * (_clipped(x - y, beta) / beta)


@smooth_l1_loss.vjp("y", tex=r"\tfrac1n \bar z\,h'_\beta(y - x) / \beta")
def _(g: Value, x: Value, y: Value, beta: float, reduction: str) -> Value:
    return _each(g, x, reduction) * (_clipped(y - x, beta) / beta)


# -- probabilities of yes -------------------------------------------------------------------------


@op(
    "-weight * (y * log(x) + (1 - y) * log(1 - x))",
    tex=r"-w\,(y \ln x + (1 - y) \ln(1 - x))",
    dtypes="any",
    saved_as={"y": "target"},
)
def binary_cross_entropy(x: Value, y: Value, weight: Value, *, reduction: str) -> Value:
    """Judge probabilities; log counts as -100 at least, so that no loss is infinite."""
    yes, no = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return _reduced(((y - 1) * no - y * yes) * weight, reduction)


@binary_cross_entropy.vjp("x", tex=r"\bar z\,w\,(x - y) / (x (1 - x))")
def _(g: Value, x: Value, y: Value, weight: Value, reduction: str) -> Value:
    return binary_cross_entropy_backward(_each(g, x, reduction) * weight, x, y)


@binary_cross_entropy.vjp("y", tex=r"\bar z\,w\,(\ln(1 - x) - \ln x)")
def _(g: Value, x: Value, y: Value, weight: Value, reduction: str) -> Value:
    return _each(g, x, reduction) * weight * (log1p(-x) - log(x))


@op("g * (x - y) / (x * (1 - x))", tex=r"\bar z\,(x - y) / (x (1 - x))", dtypes="any")
def binary_cross_entropy_backward(g: Value, x: Value, y: Value) -> Value:
    """Return the slope of the cross entropy; where log is limited it stays finite, too."""
    return g * (x - y) / clamp_min((1 - x) * x, min=1e-12)


@binary_cross_entropy_backward.vjp("g", tex=r"\bar z\,(x - y) / (x (1 - x))")
def _(g_: Value, x: Value, y: Value) -> Value:
    return binary_cross_entropy_backward(g_, x, y)


@binary_cross_entropy_backward.vjp("x", tex=r"\bar z\,g\,(x^2 - 2 x y + y) / (x (1 - x))^2")
def _(g_: Value, g: Value, x: Value, y: Value) -> Value:
    # PyTorch moves the poles by 1e-12 here, and limits the denominator everywhere else.
    return g_ * g * (x * x - 2 * x * y + y) / ((x + 1e-12) ** 2 * (1 - x + 1e-12) ** 2)


@binary_cross_entropy_backward.vjp("y", tex=r"-\bar z\,g / (x (1 - x))")
def _(g_: Value, g: Value, x: Value) -> Value:
    return -g_ * g / clamp_min((1 - x) * x, min=1e-12)


@op(
    "weight * ((1 - y) * x - (1 + (pos_weight - 1) * y) * log(sigmoid(x)))",
    tex=r"-w\,(p\,y \ln \sigma(x) + (1 - y) \ln \sigma(-x))",
    dtypes="any",
    type_check=floats_only("log_sigmoid_cpu"),
    saved_as={"y": "target"},
)
def binary_cross_entropy_with_logits(
    x: Value, y: Value, weight: Value, pos_weight: Value, *, reduction: str
) -> Value:
    """Judge numbers before the sigmoid; exact and finite however large they are.

    Each input has its own dtype. What PyTorch writes in place is rounded to that of the target.
    """
    log_sigmoid = np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))
    share = (((pos_weight - 1) * y + 1) * log_sigmoid).astype(x.dtype)
    values = (((1 - y) * x).astype(y.dtype) - share).astype(y.dtype)
    return _reduced((values * weight).astype(y.dtype), reduction)


@binary_cross_entropy_with_logits.vjp("x", tex=r"\bar z\,w\,((p\,y + 1 - y)\,\sigma(x) - p\,y)")
def _(
    g: Value, x: Value, y: Value, weight: Value, pos_weight: Value, x_dtype: Any, reduction: str
) -> Value:
    yes = pos_weight * y
    own = _each(g, x, reduction) * weight * ((yes + 1 - y) * sigmoid(x) - yes)
    return to_copy(own, dtype=x_dtype)


@binary_cross_entropy_with_logits.vjp("y", tex=r"\bar z\,w\,(\ln \sigma(-x) - p \ln \sigma(x))")
def _(
    g: Value, x: Value, y: Value, weight: Value, pos_weight: Value, y_dtype: Any, reduction: str
) -> Value:
    # softplus(x) - softplus(-x) is x: without pos_weight, the gradient is -x.
    yes = softplus(-x, beta=1, threshold=40.0)
    return to_copy(_each(g, x, reduction) * weight * (yes * (pos_weight - 1) - x), dtype=y_dtype)
