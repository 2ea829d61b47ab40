"""More products and distances: cross products, all distances between two sets of points, ``addmv``.

After reading this file you know that most of them are sums of products, whose rules are products
with the other factors. Read next: ``static.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.errors import error
from autodiff_kit.ops import checks
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import abs, masked, sign
from autodiff_kit.ops.linalg import bmm, mv
from autodiff_kit.ops.scaled import times
from autodiff_kit.ops.shape import expand, permute, transpose, unsqueeze
from autodiff_kit.ops.table import op, vjp

__all__ = ["addbmm", "addmv", "addr", "baddbmm", "cdist", "cdist_backward", "outer_sum"]
__all__ += ["linalg_cross", "trilinear", "vdot"]


def _same_size(*vectors: Value) -> None:
    x, y = vectors
    if x.dtype != y.dtype:
        raise error("linalg.dot_dtypes", x=x.dtype, y=y.dtype)


@op("x @ y", tex=r"x^\top y", dtypes="any", saved_as={"y": "other"}, type_check=_same_size)
@vjp("x", lambda g, y: g * y, tex=r"\bar z\,y")
@vjp("y", lambda g, x: g * x, tex=r"\bar z\,x")
def vdot(x: Value, y: Value) -> Value:
    """Multiply two vectors and sum, as ``dot`` does for real numbers."""
    return x.dot(y)


@op("cross(x, y, axis=dim)", tex=r"x \times y", node="LinalgCrossBackward0", layout="rows")
@vjp("x", lambda g, y, dim: linalg_cross(y, g, dim=dim), tex=r"y \times \bar z")
@vjp("y", lambda g, x, dim: linalg_cross(g, x, dim=dim), tex=r"\bar z \times x")
def linalg_cross(x: Value, y: Value, *, dim: int) -> Value:
    """Return the vector at right angles to two others; ``dim`` has size 3."""
    return np.cross(x, y, axis=dim)


@op("einsum('ni,oij,nj->no', x, weight, y)", tex=r"x^\top W y")
@vjp(
    "x",
    lambda g, weight, y: trilinear(g, permute(weight, dims=(1, 0, 2)), y),
    tex=r"\bar z^\top W y",
)
@vjp("weight", lambda g, x, y: outer_sum(g, x, y), tex=r"\textstyle\sum \bar z\,x\,y")
@vjp(
    "y",
    lambda g, x, weight: trilinear(g, permute(weight, dims=(2, 0, 1)), x),
    tex=r"\bar z^\top W x",
)
def trilinear(x: Value, weight: Value, y: Value) -> Value:
    """Multiply two batches of vectors with a matrix between them, once for each output."""
    return ((x @ weight) * y).sum(-1).T.copy()


@op("einsum('no,ni,nj->oij', x, y, z)", tex=r"\textstyle\sum x\,y\,z")
@vjp("x", lambda g, y, z: trilinear(y, g, z), tex=r"y^\top \bar w z")
@vjp("y", lambda g, x, z: trilinear(x, permute(g, dims=(1, 0, 2)), z), tex=r"x^\top \bar w z")
@vjp("z", lambda g, x, y: trilinear(x, permute(g, dims=(2, 0, 1)), y), tex=r"x^\top \bar w y")
def outer_sum(x: Value, y: Value, z: Value) -> Value:
    """Sum the products of all elements of three vectors over a batch."""
    return np.einsum("no,ni,nj->oij", x, y, z)


# -- added to something ---------------------------------------------------------------------------


@op("beta * input + alpha * (mat @ vec)", tex=r"\beta x + \alpha A v", saved_as={"mat": "mat"})
@vjp("input", lambda g, beta: times(g, beta), tex=r"\beta \bar z")
@vjp(
    "mat",
    lambda g, vec, alpha: unsqueeze(g, dim=1) * times(vec, alpha),
    tex=r"\alpha \bar z v^\top",
)
@vjp("vec", lambda g, mat, alpha: times(mv(mat.T, g), alpha), tex=r"\alpha A^\top \bar z")
def addmv(input: Value, mat: Value, vec: Value, *, beta: float = 1, alpha: float = 1) -> Value:
    """Multiply a matrix and a vector, and add."""
    return beta * input + alpha * (mat @ vec)


@op(
    "beta * input + alpha * outer(x, y)",
    tex=r"\beta A + \alpha x y^\top",
    saved_as={"x": "vec1", "y": "vec2"},
)
@vjp("input", lambda g, beta: times(g, beta), tex=r"\beta \bar z")
@vjp("x", lambda g, y, alpha: times(mv(g, y), alpha), tex=r"\alpha \bar z y")
@vjp("y", lambda g, x, alpha: times(mv(g.T, x), alpha), tex=r"\alpha \bar z^\top x")
def addr(input: Value, x: Value, y: Value, *, beta: float = 1, alpha: float = 1) -> Value:
    """Multiply every element of a vector with every one of another, and add."""
    return beta * input + alpha * np.outer(x, y)


def _t(x: Value) -> Value:
    return transpose(x, dim0=1, dim1=2)


@op(
    "beta * input + alpha * (x @ y)",
    tex=r"\beta A + \alpha x\,y",
    saved_as={"x": "batch1", "y": "batch2"},
)
@vjp("input", lambda g, beta: times(g, beta), tex=r"\beta \bar z")
@vjp("x", lambda g, y, alpha: times(bmm(g, _t(y)), alpha), tex=r"\alpha \bar z\,y^\top")
@vjp("y", lambda g, x, alpha: times(bmm(_t(x), g), alpha), tex=r"\alpha x^\top \bar z")
def baddbmm(input: Value, x: Value, y: Value, *, beta: float = 1, alpha: float = 1) -> Value:
    """Multiply matrices pairwise, and add."""
    return beta * input + alpha * (x @ y)


def _for_each(g: Value, shape: Ints) -> Value:
    """Return the gradient of a sum over the pairs once for each pair."""
    return expand(unsqueeze(g, dim=0), shape=(shape[0], *g.shape))


@op(
    "beta * input + alpha * sum(x @ y, 0)",
    tex=r"\beta A + \alpha \textstyle\sum_k x_k y_k",
    saved_as={"x": "batch1", "y": "batch2"},
)
@vjp("input", lambda g, beta: times(g, beta), tex=r"\beta \bar z")
@vjp(
    "x",
    lambda g, x_shape, y, alpha: times(bmm(_for_each(g, x_shape), _t(y)), alpha),
    tex=r"\alpha \bar z\,y_k^\top",
)
@vjp(
    "y",
    lambda g, x, y_shape, alpha: times(bmm(_t(x), _for_each(g, y_shape)), alpha),
    tex=r"\alpha x_k^\top \bar z",
)
def addbmm(input: Value, x: Value, y: Value, *, beta: float = 1, alpha: float = 1) -> Value:
    """Multiply matrices pairwise, add the products up, and add."""
    return beta * input + alpha * (x @ y).sum(0)


# -- distances ------------------------------------------------------------------------------------


@op("cdist(x, y, p)", tex=r"\|x_i - y_j\|_p", type_check=checks.refuse("cdist_cpu"), layout="rows")
def cdist(x: Value, y: Value, *, p: float) -> Value:
    """Return the distances between the points of two sets: (*, n, k), (*, m, k) to (*, n, m)."""
    apart = np.abs(x[..., :, None, :] - y[..., None, :, :])
    if p == 0:
        return (apart != 0).sum(-1).astype(x.dtype)
    if math.isinf(p):
        return apart.max(-1, initial=0)
    if p == 2:
        return np.sqrt((apart * apart).sum(-1))
    return (apart**p).sum(-1) ** x.dtype.type(1 / p)


@cdist.vjp("x", tex=r"\textstyle\sum_j \bar z_{ij}\,\partial z_{ij} / \partial x_i")
def _(g: Value, x: Value, y: Value, out: Value, p: float) -> Value:
    return cdist_backward(x, y, out, g, p=p)


@cdist.vjp("y", tex=r"\textstyle\sum_i \bar z_{ij}\,\partial z_{ij} / \partial y_j")
def _(g: Value, x: Value, y: Value, out: Value, p: float) -> Value:
    turned = (transpose(v, dim0=len(v.shape) - 2, dim1=len(v.shape) - 1) for v in (out, g))
    return cdist_backward(y, x, *turned, p=p)


def _no_rule(g: Value) -> Value:
    checks.no_derivative("autograd.no_derivative_yet", "_cdist_backward")


@op("cdist_backward(x, y, out, g, p)", node="CdistBackwardBackward0", layout="rows")
@vjp("x", _no_rule, tex=r"\text{none}")
@vjp("y", _no_rule, tex=r"\text{none}")
@vjp("distances", _no_rule, tex=r"\text{none}")
@vjp("g_", _no_rule, tex=r"\text{none}")
def cdist_backward(x: Value, y: Value, distances: Value, g_: Value, *, p: float) -> Value:
    """Return what flows back to x; PyTorch does not differentiate it once more."""
    return _slopes(g_[..., None], x, y, distances[..., None], p).sum(-2)


def _slopes(g: Any, x: Any, y: Any, out: Any, p: float) -> Value:
    """Return what flows back to every difference of a point of x and one of y."""
    apart = x[..., :, None, :] - y[..., None, :, :]
    if p == 0:
        return apart * 0
    if p == 1:
        return g * sign(apart)
    if math.isinf(p):
        return g * masked(sign(apart), abs(apart) == out)
    if p < 2:
        return masked(
            sign(apart) * abs(apart) ** (p - 1) * (g / out ** (p - 1)), (apart != 0) & (out != 0)
        )
    return masked(
        apart * abs(apart) ** (p - 2) * (g / out ** (p - 1)), (apart == apart) & (out != 0)
    )
