"""Attention, as a function of ``nn.functional``.

After reading this file you know what a mask does: what it hides gets the score -inf, and so the
weight 0. Read next: ``../ops/attention.py``, where it is computed.
"""

from __future__ import annotations

import math

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.dtypes import c_type
from autodiff_kit.errors import error
from autodiff_kit.nn.functional_dropout import dropout
from autodiff_kit.operands import check_operand
from autodiff_kit.tensor import Tensor

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Mix values, weighed by ``softmax(query @ key.T * scale)``.

    Parameters
    ----------
    query, key, value : Tensor, shape (*, n, e), (*, m, e), (*, m, f)
    attn_mask : Tensor, shape (n, m) or one that broadcasts to (*, n, m)
        Bools: which keys each query sees; floats: added to the scores.
    dropout_p : float
        The probability with which weights become 0; in evaluation, too.
    is_causal : bool
        Each query sees the keys up to its own place only.
    scale : float, optional
        Default: 1 over the root of e.
    enable_gqa : bool
        Each head of ``key`` and ``value``, in dimension -3, serves several heads of ``query``.

    Returns
    -------
    Tensor, shape (*, n, f)

    Raises
    ------
    RuntimeError or IndexError
        If shapes or dtypes do not fit, or both a mask and ``is_causal`` are given.
    """
    for i, (name, tensor) in enumerate({"query": query, "key": key, "value": value}.items()):
        check_operand("scaled_dot_product_attention", name, i + 1, tensor, numbers=False)
        if tensor.dtype is not query.dtype:
            kinds = [c_type(t._array.dtype) for t in (query, key, value)]
            raise error("functional.attention_types", types=kinds)
        if tensor.ndim < 2:
            ranks = query.ndim, key.ndim, value.ndim
            raise error("functional.attention_ranks", ranks=ranks)
    if enable_gqa:
        key, value = (_for_all_heads(t, query) for t in (key, value))
    if is_causal and attn_mask is not None:
        raise error("functional.attention_causal")
    rows, columns = query.shape[-2], key.shape[-2]
    if is_causal:
        attn_mask = wrap(np.tri(rows, columns, dtype=bool))
    if attn_mask is not None and attn_mask._array.dtype == bool:
        attn_mask = added_mask(~attn_mask, query)
    elif attn_mask is not None and attn_mask.dtype is not query.dtype:
        kinds = [c_type(t._array.dtype) for t in (attn_mask, query)]
        raise error("functional.attention_mask_type", types=kinds)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    is_plain = dropout_p == 0 and {query.ndim, key.ndim, value.ndim} == {4}
    if is_plain and (attn_mask is None or not attn_mask.requires_grad):
        mask = None if attn_mask is None else attn_mask._array
        return ops.attention(query, key, value, mask=mask, scale=factor)
    half = math.sqrt(factor)  # on both sides, so that the products do not grow
    scores = (query * half) @ (key.transpose(-2, -1) * half)
    weights = (scores if attn_mask is None else scores + attn_mask).softmax(-1)
    return dropout(weights, dropout_p) @ value


def _for_all_heads(shared: Tensor, query: Tensor) -> Tensor:
    """Repeat heads that several heads of the query share.

    Source: Ainslie et al., GQA: Training generalized multi-query transformer models (2023).
    """
    heads, count = query.size(-3), shared.size(-3)
    if heads % count:
        raise error("functional.attention_heads", count=count, heads=heads)
    return shared if heads == count else shared.repeat_interleave(heads // count, -3)


def added_mask(is_hidden: Tensor, like: Tensor) -> Tensor:
    """Return what to add to scores: -inf where a bool mask hides, else 0."""
    hidden = np.where(is_hidden._array, -np.inf, 0).astype(like._array.dtype)
    return wrap(hidden[()])
