"""The functions behind the layers: ``import torch.nn.functional as F``.

After reading this file you know what each layer computes: it checks its arguments and calls one op
or two, which stand in ``ops/``. Read next: ``functional_losses.py``.
"""

# ruff: noqa: F403

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import absent, error
from autodiff_kit.methods import check_operand
from autodiff_kit.nn.functional_images import *
from autodiff_kit.nn.functional_images import __all__ as _images
from autodiff_kit.nn.functional_losses import *
from autodiff_kit.nn.functional_losses import __all__ as _losses
from autodiff_kit.nn.functional_losses import constant
from autodiff_kit.ops.layouts import fill_in_order
from autodiff_kit.random import default_generator
from autodiff_kit.tensor import Tensor, wrap

__all__ = [*_losses, *_images, "batch_norm", "dropout", "embedding", "gelu", "layer_norm"]
__all__ += ["leaky_relu", "linear", "log_softmax", "one_hot", "relu", "sigmoid", "softmax"]
__all__ += ["softplus", "tanh"]


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
    if bias is None:
        return ops.matmul(input, ops.t(weight))
    check_operand("linear", "bias", 3, bias, numbers=False)
    if len(shape) == 2 and rank == 2:
        return ops.addmm(bias, input, ops.t(weight))
    if rank == 1:
        if len(shape) > 1:
            raise error("functional.linear_weight")
        if bias.ndim == 1:
            raise error("linalg.addmm_matrix", name="mat2", ndim=1)
        return ops.dot(input, ops.t(weight)).add_(bias)  # type: ignore[no-any-return]
    if not input.is_contiguous():
        return ops.matmul(input, ops.t(weight)).add_(bias)  # type: ignore[no-any-return]
    rows = input.reshape(int(np.prod(shape[:-1])), shape[-1])
    return ops.addmm(bias, rows, ops.t(weight)).reshape(*shape[:-1], len(weight))


# -- activations ----------------------------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return input where it is positive, else 0."""
    check_operand("relu", "input", 1, input, numbers=False)
    return input.relu_() if inplace else ops.relu(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Return input where it is positive, else ``negative_slope * input``."""
    return ops.leaky_relu(input, negative_slope=negative_slope)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """Return input times the share of a normal distribution below it; or approximately, by tanh."""
    if approximate not in ("none", "tanh"):
        raise error("functional.gelu_approximate")
    return ops.gelu(input, approximate=approximate)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """Return ``log(1 + exp(beta * input)) / beta``; input itself above ``threshold / beta``."""
    return ops.softplus(input, beta=beta, threshold=threshold)


def sigmoid(input: Tensor) -> Tensor:
    """Return ``1 / (1 + exp(-input))``."""
    return ops.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""
    return ops.tanh(input)


def softmax(input: Tensor, dim: int | None = None) -> Tensor:
    """Return shares along a dimension that are positive and add up to 1."""
    return ops.softmax(input, dim=_dim("softmax", input, dim))


def log_softmax(input: Tensor, dim: int | None = None) -> Tensor:
    """Return the logarithm of ``softmax(input, dim)``, without losing small shares."""
    return ops.log_softmax(input, dim=_dim("log_softmax", input, dim))


def _dim(name: str, x: Tensor, dim: int | None) -> int:
    check_operand(name, "input", 1, x, numbers=False)
    if dim is None:
        words = f"Implicit dimension choice for {name} has been deprecated. Change the call to "
        warnings.warn(f"{words}include dim=X as an argument.", UserWarning, stacklevel=3)
        dim = 0 if x.ndim in (0, 1, 3) else 1
    return x._dim(dim)  # type: ignore[no-any-return]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set elements to 0 with probability p and divide the others by ``1 - p``.

    For one seed, the elements that PyTorch chooses. Not in training, return the input itself.
    """
    check_operand("dropout", "input", 1, input, numbers=False)
    if not 0 <= p <= 1:
        raise error("functional.dropout_probability", p=p)
    if not training or p == 0 or not input.numel():
        return input
    kind = input._array.dtype
    if kind.kind != "f":
        raise error("functional.dropout_type", kind=tensor_type(kind))
    kept = np.zeros(input.numel(), kind)
    if p < 1:
        kept[...] = default_generator.uniform(kept.size, np.float64) < 1 - p
        kept /= 1 - p
    kept = fill_in_order(kept, input._array)
    return input.mul_(wrap(kept[()])) if inplace else ops.mul(input, wrap(kept[()]))


# -- normalisation, embedding ---------------------------------------------------------------------


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
    wanted, shape = list(normalized_shape), list(input.shape)
    if not wanted:
        raise error("functional.no_normalized_shape")
    if shape[-len(wanted) :] != wanted:
        stars = ", ".join(["*", *map(str, wanted)])
        raise error("functional.normalized_shape", wanted=wanted, stars=stars, shape=shape)
    _one_type("functional.layer_norm_type", input, weight, bias)
    scale, shift = 1 if weight is None else weight, 0 if bias is None else bias
    return ops.layer_norm(input, scale, shift, count=len(wanted), eps=eps)


def _one_type(key: str, input: Tensor, *others: Tensor | None) -> None:
    for other in others:
        if other is not None and other.dtype is not input.dtype and input.is_floating_point():
            raise error(key, kind=tensor_type(input._array.dtype))


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
    if training and input.numel() == input.size(1) > 0:
        raise error("functional.one_value", shape=input.shape)
    for name, tensor in (("running_mean", running_mean), ("running_var", running_var)):
        constant("native_batch_norm", name, tensor)
    _one_type("functional.batch_norm_type", input, running_mean, running_var, weight, bias)
    mean, var = (0, 1) if training else (running_mean, running_var)
    scale, shift = 1 if weight is None else weight, 0 if bias is None else bias
    out = ops.batch_norm(input, scale, shift, mean, var, training=training, eps=eps)
    if training and running_mean is not None and running_var is not None and input.numel():
        dims, x = (0, *range(2, input.ndim)), input._array
        with no_grad():  # move them a part of the way to those of the batch
            running_mean.mul_(1 - momentum).add_(wrap(x.mean(dims) * momentum))
            running_var.mul_(1 - momentum).add_(wrap(x.var(dims, ddof=1) * momentum))
    return out


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Look up rows of ``weight``, shape (count, n), by whole numbers: shape (*input.shape, n).

    The row ``padding_idx`` gets no gradient. IndexError if there is no such row.
    """
    check_operand("embedding", "indices", 2, input, numbers=False)
    check_operand("embedding", "weight", 1, weight, numbers=False)
    count, indices = len(weight), input._array
    if indices.dtype not in ("int64", "int32"):
        raise error("functional.embedding_indices", kind=input.type())
    if indices.size and not 0 <= indices.min() <= indices.max() < count:
        raise error("functional.embedding_range", last=count - 1)
    row = -1 if padding_idx is None else padding_idx % count
    return ops.embedding(weight, indices=indices, padding_idx=row)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Turn each class into a row of zeros with a 1 in its place: (*tensor.shape, num_classes).

    Classes are int64; -1 stands for one more than the largest.
    """
    check_operand("one_hot", "input", 1, tensor, numbers=False)
    classes = tensor._array
    if classes.dtype != np.int64:
        raise error("functional.one_hot_type")
    if classes.size and classes.min() < 0:
        raise error("functional.one_hot_negative")
    if num_classes == -1:
        num_classes = int(classes.max()) + 1
    elif classes.size and classes.max() >= num_classes:
        raise error("functional.one_hot_large", count=num_classes)
    last = tensor.ndim
    marks = ops.mark(ops.unsqueeze(tensor, dim=last), dim=last, size=num_classes)
    return ops.to_whole(marks, dtype=np.dtype("int64"))


def __getattr__(name: str) -> Any:
    raise absent("autodiff_kit.nn.functional", name)
