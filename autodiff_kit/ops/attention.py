"""Attention: each query gets a mixture of values, weighed by how well their keys fit it.

After reading this file you know that the gradient of attention is that of two matrix products with
a softmax between them. Read next: ``layers.py``.

Source: Vaswani et al., Attention is all you need (2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.activations import floats_only, softmax
from autodiff_kit.ops.elementwise import flat_in, masked
from autodiff_kit.ops.linalg import matmul
from autodiff_kit.ops.shape import transpose
from autodiff_kit.ops.table import op

__all__ = ["attention"]


def _turned(x: Value) -> Value:
    return transpose(x, dim0=len(x.shape) - 2, dim1=len(x.shape) - 1)


def _weights(query: Value, key: Value, mask: Any, scale: float) -> Value:
    scores, dim = matmul(query, _turned(key)) * scale, len(query.shape) - 1
    if mask is None:
        return softmax(scores, dim=dim)
    sees_some = (mask > -np.inf).any(-1, keepdims=True)  # a query that sees no key gets zeros
    return masked(softmax(scores + masked(mask, sees_some), dim=dim), sees_some)


def _scores_gradient(
    g: Value, query: Value, key: Value, value: Value, mask: Any, scale: float
) -> Value:
    """Carry a cotangent back to the products of queries and keys."""
    weights = _weights(query, key, mask, scale)
    each = matmul(g, _turned(value))
    return weights * (each - (each * weights).sum(-1)[..., None]) * scale


@op(
    "softmax(scale * query @ key.T + mask) @ value",
    tex=r"\operatorname{softmax}(s\,q k^\top + m)\,v",
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    dtypes="any",
    type_check=floats_only("attention"),
    layout="rows",
)
def attention(query: Value, key: Value, value: Value, *, mask: Any, scale: float) -> Value:
    """Return for each query a mixture of values: (b, h, n, e), (b, h, m, e), (b, h, m, f)."""
    return np.matmul(_weights(query, key, mask, scale), value)


# PyTorch computes all three gradients in one function, which reads the output, too.


@attention.vjp("query", tex=r"s\,\bar S\,k")
def _(
    g: Value, out: Value, query: Value, key: Value, value: Value, mask: Any, scale: float
) -> Value:
    return matmul(_scores_gradient(g, query, key, value, mask, scale), key)


@attention.vjp("key", tex=r"s\,\bar S^\top q")
def _(
    g: Value, out: Value, query: Value, key: Value, value: Value, mask: Any, scale: float
) -> Value:
    return matmul(_turned(_scores_gradient(g, query, key, value, mask, scale)), query)


@attention.vjp("value", tex=r"\operatorname{softmax}(\dots)^\top \bar z")
def _(
    g: Value, out: Value, query: Value, key: Value, value: Value, mask: Any, scale: float
) -> Value:
    return flat_in(matmul(_turned(_weights(query, key, mask, scale)), g), value)
