"""Dropout, as functions of ``nn.functional``: random elements, or whole channels, become 0.

After reading this file you know why what is left is divided by ``1 - p``: so that sums keep their
mean. Read next: ``dropout.py``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.operands import check_operand
from autodiff_kit.ops.layouts import fill_in_order
from autodiff_kit.random import default_generator
from autodiff_kit.tensor import Tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d"]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set elements to 0 with probability p and divide the others by ``1 - p``.

    For one seed, the elements that PyTorch chooses. Not in training, return the input itself.
    """
    check_operand("dropout", "input", 1, input, numbers=False)
    return _dropped(input, p, training, inplace, input._array)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """``dropout`` of whole channels of sequences: input of shape ((n,) c, length)."""
    if input.ndim not in (2, 3):
        raise error("functional.dropout1d_rank", rank=input.ndim)
    if input.ndim == 3:
        return _without_channels(input, p, training, inplace)
    return _without_channels(input.unsqueeze(0), p, training, inplace).squeeze(0)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """``dropout`` of whole channels of images: input of shape (n, c, height, width)."""
    rank = input.ndim
    if rank not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {rank}-D input to dropout2d, which is deprecated and will "
            "result in an error in a future release. To retain the behavior and silence this "
            "warning, please use dropout instead. Note that dropout2d exists to provide "
            "channel-wise dropout on inputs with 2 spatial dimensions, a channel dimension, and "
            "an optional batch dimension (i.e. 3D or 4D inputs).",
            UserWarning,
            stacklevel=2,
        )
    if rank == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D "
            "dropout behavior is desired - input is interpreted as shape (N, C, L), where C is "
            "the channel dim. This behavior will change in a future release to interpret the "
            "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead.",
            UserWarning,
            stacklevel=2,
        )
    return _without_channels(input, p, training, inplace)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Set elements to the smallest value of ``selu`` with probability p, then shift and scale.

    So mean 0 and variance 1 are kept. Not in training, return the input itself.

    Source: Klambauer et al., Self-normalizing neural networks (2017).
    """
    if p < 0.0 or p > 1.0:
        raise error("functional.dropout_probability", p=p)
    if not training or p == 0 or not input.numel():
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    alpha, kind = 1.7580993408473766, input._array.dtype
    scale = 1 / ((alpha * alpha * p + 1) * (1 - p)) ** 0.5
    mask = np.zeros(input.numel(), kind)
    mask[...] = default_generator.uniform(mask.size, np.float64) < 1 - p
    mask = fill_in_order(mask, input._array)
    shift = wrap(((mask - 1) * (alpha * scale) + alpha * scale * p).astype(kind)[()])
    noise = wrap((mask * scale).astype(kind)[()])
    return input.mul_(noise).add_(shift) if inplace else input * noise + shift


def _without_channels(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if input.ndim < 2:
        raise error("functional.dropout_channels")
    shape = (*input.shape[:2], *[1] * (input.ndim - 2))
    return _dropped(input, p, training, inplace, np.empty(shape, input._array.dtype))


def _dropped(input: Tensor, p: float, training: bool, inplace: bool, like: Any) -> Tensor:
    """Multiply by random noise, of the shape and layout of an array."""
    if p < 0.0 or p > 1.0:
        raise error("functional.dropout_probability", p=p)
    if not training or p == 0 or not input.numel():
        return input
    kind = input._array.dtype
    scales = np.zeros(like.size, kind)
    if p < 1:
        scales[...] = default_generator.uniform(scales.size, np.float64) < 1 - p
        if kind.kind != "f":
            raise error("functional.dropout_type", kind=tensor_type(kind))
        scales /= 1 - p
    noise = wrap(fill_in_order(scales, like)[()])
    return input.mul_(noise) if inplace else ops.mul(input, noise)
