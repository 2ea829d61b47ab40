"""The functions behind the layers: ``import torch.nn.functional as F``.

After reading this file you know what each layer computes: it checks its arguments and calls one op
or two, which stand in ``ops/``. Read next: ``functional_losses.py``.
"""

# ruff: noqa: F403

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.core.versions import share
from autodiff_kit.dtypes import float32, full_name, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.inplace import tell_moved
from autodiff_kit.nn import functional_images, functional_pooling
from autodiff_kit.nn.functional_activations import *
from autodiff_kit.nn.functional_activations import __all__ as _activations
from autodiff_kit.nn.functional_attention import *
from autodiff_kit.nn.functional_attention import __all__ as _attention
from autodiff_kit.nn.functional_distances import *
from autodiff_kit.nn.functional_distances import __all__ as _distances
from autodiff_kit.nn.functional_dropout import *
from autodiff_kit.nn.functional_dropout import __all__ as _dropouts
from autodiff_kit.nn.functional_embeddings import *
from autodiff_kit.nn.functional_embeddings import __all__ as _embeddings
from autodiff_kit.nn.functional_images import *
from autodiff_kit.nn.functional_images import __all__ as _images
from autodiff_kit.nn.functional_likelihoods import *
from autodiff_kit.nn.functional_likelihoods import __all__ as _likelihoods
from autodiff_kit.nn.functional_losses import *
from autodiff_kit.nn.functional_losses import __all__ as _losses
from autodiff_kit.nn.functional_losses import constant
from autodiff_kit.nn.functional_pooling import *
from autodiff_kit.nn.functional_pooling import __all__ as _pooling
from autodiff_kit.nn.functional_sampling import *
from autodiff_kit.nn.functional_sampling import __all__ as _sampling
from autodiff_kit.operands import check_operand
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = [*_activations, *_attention, *_distances, *_dropouts, *_embeddings]
__all__ += [
    *_images,
    *_likelihoods,
    *_losses,
    *_pooling,
    *_sampling,
    "batch_norm",
    "bilinear",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "linear",
]
__all__ += ["local_response_norm", "rms_norm"]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``input @ weight.T + bias``: of shape (*, n), (m, n) and (m,) to shape (*, m).

    A weight of shape (n,), with a bias of shape (), gives shape (*). RuntimeError if the shapes do
    not fit, or the dtypes differ.
    """
    check_operand("linear", "input", 1, input, numbers=False)
    check_operand("linear", "weight", 2, weight, numbers=False)
    shape, rank = input._array.shape, weight._array.ndim
    if not shape or not rank:
        raise error("functional.linear_of_0d", ranks=f"{len(shape)}D and {rank}D")
    if rank > 2:
        raise error("shapes.t_of_many", name="t", ndim=rank)
    if bias is None:
        return ops.matmul(input, ops.t(weight))
    check_operand("linear", "bias", 3, bias, numbers=False)
    if len(shape) == 2 and rank == 2:
        return ops.addmm(bias, input, ops.t(weight))
    is_row = bias.ndim == 1 or sum(n != 1 for n in bias.shape) == 1
    if len(shape) == 2 or (is_row and bias.is_contiguous() and input.is_contiguous()):
        rows = input.reshape(int(np.prod(shape[:-1])), shape[-1])
        if rank < 2:
            ops.check_addmm(bias._array, rows._array, weight._array)  # which refuses it
        return ops.addmm(bias, rows, ops.t(weight)).reshape(*shape[:-1], len(weight))
    return ops.matmul(input, ops.t(weight)).add_(bias)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``input1 @ weight[k] @ input2 + bias[k]`` for each output k.

    Inputs have shape (*, n) and (*, m), weight (outputs, n, m), bias (outputs,).
    """
    if input1.ndim != input2.ndim:
        raise error("functional.bilinear_ranks", ranks=(input1.ndim, input2.ndim))
    for dim, sizes in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if sizes[0] != sizes[1]:
            raise error("functional.bilinear_batch", dim=dim, sizes=sizes)
    for place, own in enumerate((input1, input2)):
        if own.shape[-1] != weight.shape[place + 1]:
            name, expected = f"input{place + 1}", weight.shape[place + 1]
            raise error(
                "functional.bilinear_size", name=name, size=own.shape[-1], expected=expected
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        size, expected = bias.shape[0], weight.shape[0]
        raise error("functional.bilinear_size", name="bias", size=size, expected=expected)
    batches = [own.reshape(-1, own.shape[-1]) for own in (input1, input2)]
    out = ops.trilinear(batches[0], weight, batches[1])
    out = out.reshape(*input1.shape[:-1], len(weight))
    return out if bias is None else out + bias


# -- normalisation --------------------------------------------------------------------------------


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Shift and stretch to mean 0 and variance 1 along the last dimensions.

    Input has shape (*, *normalized_shape); weight and bias, of shape normalized_shape, are
    multiplied with and added to the result. ``eps`` keeps the variance from being 0.
    """
    if isinstance(normalized_shape, tuple | list):
        _refuse_mixed_types(input, weight, bias)
    expected, shape = _normalized("layer_norm", input, normalized_shape, weight, bias)
    if shape[-len(expected) :] != expected:
        stars = ", ".join(["*", *map(str, expected)])
        raise error("functional.normalized_shape", expected=expected, stars=stars, shape=shape)
    scale, shift = 1 if weight is None else weight, 0 if bias is None else bias
    return ops.layer_norm(input, scale, shift, count=len(expected), eps=eps)[0]


def _normalized(
    name: str, input: Tensor, normalized_shape: Any, *parameters: Tensor | None
) -> tuple[list[int], list[int]]:
    """Return the shape to normalize and that of the input; refuse parameters of other shapes."""
    if not isinstance(normalized_shape, tuple | list):
        kind = full_name(normalized_shape)
        raise error("functional.normalized_tuple", name=name, kind=kind)
    expected = list(normalized_shape)
    if not expected:
        raise error("functional.no_normalized_shape")
    for own, parameter in zip(("weight", "bias"), parameters, strict=False):
        if parameter is not None and list(parameter.shape) != expected:
            shape = [*parameter.shape]
            raise error("functional.normalized_like", own=own, shape=shape, expected=expected)
    return expected, list(input.shape)


def _refuse_mixed_types(input: Tensor, *others: Tensor | None) -> None:
    parameters = [other for other in others if other is not None]
    types = [parameter.dtype for parameter in parameters]
    if types and types[0] is not input.dtype:
        if any(kind is not float32 for kind in types):
            raise error("functional.layer_norm_type")
        raise error("functional.batch_norm_type", kind=tensor_type(input._array.dtype))
    if types and types[-1] is not types[0] and input.is_floating_point():
        own, other = (tensor_type(p._array.dtype) for p in parameters)
        raise error("functional.weight_type", expected=own, actual=other)


def _one_type(key: str, input: Tensor, *others: Tensor | None) -> None:
    for other in others:
        if other is not None and other.dtype is not input.dtype and input.is_floating_point():
            raise error(key, kind=tensor_type(input._array.dtype))


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide by the root of the mean of the squares along the last dimensions; then by weight.

    ``eps`` is added to that mean; default: the smallest step of the dtype at 1.
    """
    expected, shape = _normalized("rms_norm", input, normalized_shape, weight)
    if shape[-len(expected) :] != expected:
        stars = "*" + ", ".join(map(str, expected))
        raise error("functional.normalized_shape", expected=expected, stars=stars, shape=shape)
    if eps is None:
        eps = float(np.finfo(input._array.dtype).eps)
    dims = tuple(range(-len(expected), 0))
    out = input * (input.pow(2).mean(dims, keepdim=True) + eps).rsqrt()
    return out if weight is None else out * weight


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide by ``(k + alpha * mean) ** beta``: the mean of the squares of ``size`` channels.

    Input has shape (n, channels, *).

    Source: Krizhevsky et al., ImageNet classification with deep convolutional networks (2012).
    """
    if input.ndim < 3:
        raise error("functional.response_rank", rank=input.ndim)
    if not input.numel():
        return input
    squares = (input * input).reshape(input.shape[0], 1, input.shape[1], -1)
    around = functional_images.pad(squares, (0, 0, size // 2, (size - 1) // 2))
    means = functional_pooling.avg_pool2d(around, (size, 1), stride=1).reshape(input.shape)
    return input / (means * alpha + k).pow(beta)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Shift and scale each sample to mean 0 and variance 1 within groups of its channels.

    Input has shape (n, channels, *), weight and bias (channels,). RuntimeError if the channels
    cannot be divided, ValueError if a group has one value only.
    """
    shape = list(input.shape)
    if len(shape) < 2:
        raise error("functional.group_norm_rank", rank=len(shape))
    rows = [shape[0] * shape[1] // num_groups, num_groups, *shape[2:]]
    if rows[0] * math.prod(rows[2:]) == 1:
        raise error("functional.one_value", shape=rows)
    if shape[1] % num_groups:
        raise error("functional.group_count", shape=shape, groups=num_groups)
    for name, own in (("weight", weight), ("bias", bias)):
        if own is not None and list(own.shape) != shape[1:2]:
            raise error("functional.group_weight", name=name, own=list(own.shape), shape=shape)
    _one_type("functional.batch_norm_type", input, weight, bias)
    scale, shift = 1 if weight is None else weight, 0 if bias is None else bias
    return ops.group_norm(input, scale, shift, groups=num_groups, eps=eps)[0]


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``batch_norm`` of each sample for itself: input of shape (n, channels, *).

    The running mean and variance are moved to the averages over the samples.
    """
    shape = input.shape
    if use_input_stats and math.prod(shape[2:]) == 1:
        raise error("functional.one_place", shape=shape)
    count = shape[0]

    def repeated(value: Tensor | None) -> Tensor | None:
        return None if value is None else value.repeat(count)

    mean, var = repeated(running_mean), repeated(running_var)
    out = batch_norm(
        input.contiguous().view(1, count * shape[1], *shape[2:]),
        mean, var, repeated(weight), repeated(bias), use_input_stats, momentum, eps,
    )  # fmt: skip
    with no_grad():
        for own, new_statistic in ((running_mean, mean), (running_var, var)):
            if own is not None and new_statistic is not None and use_input_stats:
                own.copy_(new_statistic.view(count, -1).mean(0))
    return out.view(*shape)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Shift and stretch every channel (dimension 1) to mean 0 and variance 1.

    In training by the mean and variance of the batch, with which the running ones are updated in
    place; otherwise by the running ones. All tensors but input have shape (channels,). ValueError
    in training, if there is only one value per channel.
    """
    if training and math.prod((input.size(0), *input.shape[2:])) == 1:
        raise error("functional.one_value", shape=input.shape)
    if not input.numel():  # nothing is normalized, but there is a history
        out = input.clone() if weight is None else input.clone() * weight.select(0, 0)
        return out if bias is None else out + bias.select(0, 0)
    running = (("running_mean", running_mean), ("running_var", running_var))
    for place, (name, tensor) in enumerate(running):
        if tensor is None and not training:
            raise error("functional.running_missing", name=name)
        constant("native_batch_norm", name, tensor, place + 2)
    _one_type("functional.batch_norm_type", input, running_mean, running_var, weight, bias)
    channels = input.size(1)
    for name, tensor in zip(
        ("running_mean", "running_var", "weight", "bias"),
        (running_mean, running_var, weight, bias),
        strict=True,
    ):
        if tensor is not None and tensor.numel() != channels:
            count = tensor.numel()
            raise error("functional.channels", name=name, channels=channels, count=count)
    mean, var = (0, 1) if training else (running_mean, running_var)
    scale, shift = 1 if weight is None else weight, 0 if bias is None else bias
    out = ops.batch_norm(input, scale, shift, mean, var, training=training, eps=eps)[0]
    if training and running_mean is not None and running_var is not None:
        dims, x = (0, *range(2, input.ndim)), input._array
        of_batch = x.mean(dims), x.var(dims, ddof=1)
        for own, new in zip((running_mean, running_var), of_batch, strict=True):
            memory = share(own)  # PyTorch does not count this as a change in place
            memory *= 1 - momentum
            memory += new * momentum
            tell_moved(own, "batch_norm")
    return out


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
