"""What layers compute: an affine map, normalisation, and looking up rows of a table.

After reading this file you know why the gradient of a normalisation has two means taken out of
it: shifting or stretching all inputs changes nothing. Read next: ``convolution.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS, wrap
from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.ops.activations import floats_only
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import flat_in, rsqrt
from autodiff_kit.ops.indexing import plain, put
from autodiff_kit.ops.linalg import mm_like, product
from autodiff_kit.ops.reduction import mean_dim, sum_dim
from autodiff_kit.ops.scaled import times
from autodiff_kit.ops.shape import check_expand, reshape
from autodiff_kit.ops.table import op, vjp

__all__ = ["addmm", "batch_norm", "check_addmm", "embedding", "embedding_backward", "group_norm"]
__all__ += ["layer_norm", "weight_norm_interface"]

# -- affine ---------------------------------------------------------------------------------------


def check_addmm(input: Value, mat1: Value, mat2: Value, **_: Any) -> None:
    """Refuse what cannot be multiplied and added, in PyTorch's order: dtypes, ranks, sizes."""
    for name, array in (("self", input), ("mat1", mat1)):
        if array.dtype != mat2.dtype:
            kinds = f"{tensor_type(array.dtype)} and {tensor_type(mat2.dtype)}"
            raise error("functional.addmm_types", name=name, kinds=kinds)
    for name, array in (("mat1", mat1), ("mat2", mat2)):
        if array.ndim != 2:
            raise error("linalg.addmm_matrix", name=name, ndim=array.ndim)
    if mat1.shape[1] != mat2.shape[0]:
        a, b = ("x".join(map(str, array.shape)) for array in (mat1, mat2))
        raise error("functional.mm_shapes", a=a, b=b)
    check_expand(input, (mat1.shape[0], mat2.shape[1]))
    if mat1.dtype == bool and mat1.size and mat2.size:
        raise error("dtypes.bool_kernel", kernel="addmm_impl_cpu_")


@op(
    "beta * input + alpha * mat1 @ mat2",
    tex=r"\beta b + \alpha x\,y",
    dtypes="any",
    on_error=check_addmm,
    type_check=check_addmm,
    layout="rows",
)
@vjp("input", lambda g, beta: times(g, beta), tex=r"\beta \bar z")
@vjp(
    "mat1",
    lambda g, mat2, alpha, mat1_strides: times(mm_like(g, mat2.T, mat1_strides), alpha),
    tex=r"\alpha \bar z\,y^\top",
)
@vjp(
    "mat2",
    lambda g, mat1, alpha, mat2_strides: times(mm_like(mat1.T, g, mat2_strides), alpha),
    tex=r"\alpha x^\top \bar z",
)
def addmm(input: Value, mat1: Value, mat2: Value, *, beta: float = 1, alpha: float = 1) -> Value:
    """Multiply two matrices and add a third, which broadcasts: all of a linear layer."""
    out = times(product(mat1, mat2), alpha)
    out += times(input, beta)
    return out


# -- normalisation --------------------------------------------------------------------------------


def _statistics(x: Value, dim: Ints, eps: float) -> tuple[Value, Value, Value]:
    """Return the mean along dimensions, what stretches to variance 1, and x without its mean."""
    mean = mean_dim(x, dim=dim, keepdim=True)
    centred = x - mean
    return mean, rsqrt(mean_dim(centred * centred, dim=dim, keepdim=True) + eps), centred


def _standardised(x: Value, dim: Ints, eps: float, mean: Value, stretch: Value) -> Any:
    """Return x as the forward pass has standardised it, and by what it was stretched.

    ``mean`` and ``stretch`` are saved: x may have other values since. Under ``create_graph`` they
    are functions of x.
    """
    if not isinstance(x, ARRAYS):
        own_mean, own_stretch, centred = _statistics(x, dim, eps)
        mean, stretch = _with_value(own_mean, mean), _with_value(own_stretch, stretch)
        if mean is own_mean and stretch is own_stretch:
            return centred * stretch, stretch
    return (x - mean) * stretch, stretch


def _with_value(x: Value, saved: Value) -> Value:
    """Return what was saved, with the history of x, which has other values if its input has."""
    if x._array.tobytes() == saved._array.tobytes():
        return x
    return x + wrap(saved._array - x._array)


def _through(g: Value, out: Value, stretch: Value, dim: Ints) -> Value:
    """Carry a cotangent back through ``_standardised``."""
    along = out * mean_dim(g * out, dim=dim, keepdim=True)
    return (g - mean_dim(g, dim=dim, keepdim=True) - along) * stretch


def _last(x: Value, count: int) -> Ints:
    return tuple(range(len(x.shape) - count, len(x.shape)))


@op(
    "weight * (x - mean) / std + bias",
    tex=r"w\,\tfrac{x - \mu}{\sigma} + b",
    node="NativeLayerNormBackward0",
    dtypes="any",
    type_check=floats_only("LayerNormKernelImpl"),
    by_products=("mean", "stretch"),
    saved_as={"x": "input", "mean": "result1", "stretch": "result2"},
    layout="rows",
)
@vjp("bias", lambda g, x, weight, bias: flat_in(g, bias), tex=r"\bar z")
def layer_norm(x: Value, weight: Value, bias: Value, *, count: int, eps: float) -> Any:
    """Standardise along the last ``count`` dimensions; return the means and stretches, too.

    Source: Ba, Kiros and Hinton, Layer normalization (2016).
    """
    mean, stretch, centred = _statistics(x, _last(x, count), eps)
    return centred * stretch * weight + bias, mean, stretch


@layer_norm.vjp(
    "x", tex=r"(\bar y - \overline{\bar y} - \hat x\,\overline{\bar y \hat x}) / \sigma"
)
def _(
    g: Value,
    x: Value,
    weight: Value,
    bias: Value,
    mean: Value,
    stretch: Value,
    count: int,
    eps: float,
) -> Value:
    dim = _last(x, count)
    out, stretch = _standardised(x, dim, eps, mean, stretch)
    return _through(g * weight, out, stretch, dim)


@layer_norm.vjp("weight", tex=r"\bar z \odot \hat x")
def _(
    g: Value,
    x: Value,
    weight: Value,
    bias: Value,
    mean: Value,
    stretch: Value,
    count: int,
    eps: float,
) -> Value:
    return flat_in(g * _standardised(x, _last(x, count), eps, mean, stretch)[0], weight)


def _in_groups(x: Value, groups: int) -> Value:
    return reshape(x, shape=(x.shape[0], groups, math.prod(x.shape[1:]) // groups))


# PyTorch computes all three gradients in one function, which reads x and weight for each.
@op(
    "weight * (x - mean) / std + bias",
    tex=r"w\,\tfrac{x - \mu}{\sigma} + b",
    node="NativeGroupNormBackward0",
    dtypes="any",
    type_check=floats_only("group_norm"),
    by_products=("mean", "stretch"),
    saved_as={"x": "input", "mean": "result1", "stretch": "result2"},
    layout="rows",
)
@vjp("bias", lambda g, x, weight: _add_up(g), tex=r"\textstyle\sum \bar z")
def group_norm(x: Value, weight: Value, bias: Value, *, groups: int, eps: float) -> Any:
    """Standardise each sample within groups of its channels (dimension 1).

    Return the means and stretches of the groups, too.

    Source: Wu and He, Group normalization (2018).
    """
    mean, stretch, centred = _statistics(_in_groups(x, groups), (2,), eps)
    out = (centred * stretch).reshape(x.shape)
    return out * _by_channel(weight, x) + _by_channel(bias, x), mean[..., 0], stretch[..., 0]


@group_norm.vjp(
    "x", tex=r"(\bar y - \overline{\bar y} - \hat x\,\overline{\bar y \hat x}) / \sigma"
)
def _(
    g: Value, x: Value, weight: Value, mean: Value, stretch: Value, groups: int, eps: float
) -> Value:
    g = _in_groups(g * _by_channel(weight, x), groups)
    own = _in_groups(x, groups)
    out, stretch = _standardised(own, (2,), eps, mean[..., None], stretch[..., None])
    return reshape(_through(g, out, stretch, (2,)), shape=tuple(x.shape))


@group_norm.vjp("weight", tex=r"\textstyle\sum \bar z \odot \hat x")
def _(
    g: Value, x: Value, weight: Value, mean: Value, stretch: Value, groups: int, eps: float
) -> Value:
    own = _in_groups(x, groups)
    out, _ = _standardised(own, (2,), eps, mean[..., None], stretch[..., None])
    return flat_in(_add_up(g * reshape(out, shape=tuple(x.shape))), weight)


def _others(x: Value) -> Ints:
    return (0, *range(2, len(x.shape)))


def _by_channel(value: Value, x: Value) -> Value:
    """Give a vector the shape that broadcasts along dimension 1 of x; numbers stay."""
    if isinstance(value, int):
        return value
    return reshape(value, shape=(1, -1) + (1,) * (len(x.shape) - 2))


@op(
    # Not "mean": that is an input, which is a placeholder where the batch has its own.
    "weight * (x - means) / std + bias",
    tex=r"w\,\tfrac{x - \mu}{\sigma} + b",
    node="NativeBatchNormBackward0",
    dtypes="any",
    type_check=floats_only("batch_norm"),
    by_products=("own_mean", "own_stretch"),
    saved_as={
        **{"x": "input", "mean": "running_mean", "var": "running_var"},
        **{"own_mean": "result1", "own_stretch": "result2"},
    },
    layout="rows",
)
def batch_norm(
    x: Value, weight: Value, bias: Value, mean: Value, var: Value, *, training: bool, eps: float
) -> Any:
    """Standardise each channel (dimension 1): by the batch in training, else by mean and var.

    Return the means and stretches of the batch, too; nothing if not in training.

    Source: Ioffe and Szegedy, Batch normalization (2015).
    """
    if training:
        mean, stretch, centred = _statistics(x, _others(x), eps)
        own = mean.reshape(-1), stretch.reshape(-1)
    else:
        centred, stretch = x - _by_channel(mean, x), rsqrt(_by_channel(var, x) + eps)
        own = np.zeros(0, x.dtype), np.zeros(0, x.dtype)
    return (centred * stretch * _by_channel(weight, x) + _by_channel(bias, x), *own)


@batch_norm.vjp(
    "x", tex=r"(\bar y - \overline{\bar y} - \hat x\,\overline{\bar y \hat x}) / \sigma"
)
def _(
    g: Value,
    x: Value,
    weight: Value,
    mean: Value,
    var: Value,
    own_mean: Value,
    own_stretch: Value,
    training: bool,
    eps: float,
) -> Value:
    g = g * _by_channel(weight, x)
    if training:
        out, stretch = _by_batch(x, own_mean, own_stretch, eps)
        return _through(g, out, stretch, _others(x))
    return flat_in(g * rsqrt(_by_channel(var, x) + eps), x)


@batch_norm.vjp("weight", tex=r"\textstyle\sum \bar z \odot \hat x")
def _(
    g: Value,
    x: Value,
    weight: Value,
    mean: Value,
    var: Value,
    own_mean: Value,
    own_stretch: Value,
    training: bool,
    eps: float,
) -> Value:
    if training:
        out, _ = _by_batch(x, own_mean, own_stretch, eps)
    else:
        out = (x - _by_channel(mean, x)) * rsqrt(_by_channel(var, x) + eps)
    return flat_in(_add_up(g * out), weight)


def _by_batch(x: Value, own_mean: Value, own_stretch: Value, eps: float) -> Any:
    mean, stretch = (_by_channel(value, x) for value in (own_mean, own_stretch))
    return _standardised(x, _others(x), eps, mean, stretch)


@batch_norm.vjp("bias", tex=r"\textstyle\sum \bar z")
def _(g: Value, x: Value, weight: Value, mean: Value, var: Value) -> Value:
    return flat_in(flat_in(_add_up(g), x), weight)


def _add_up(g: Value) -> Value:
    return g.sum(_others(g))  # arrays and tensors call it the same


# -- rows of a table ------------------------------------------------------------------------------


@op("x[indices]", tex=r"x_i", frees=True, layout="rows")
def embedding(x: Value, *, indices: Any, padding_idx: int) -> Value:
    """Look up rows; the row ``padding_idx`` learns nothing (-1: there is none)."""
    return x[indices]


@embedding.vjp("x", tex=r"\textstyle\sum \bar z \text{ put back}")
def _(g: Value, x_shape: Ints, indices: Any, padding_idx: int) -> Value:
    rows = plain(indices)
    return embedding_backward(g, shape=x_shape, indices=rows, padding_idx=padding_idx)


@op(
    "zeros with x added at [indices]",
    tex=r"\textstyle\sum x \text{ put back}",
    node="EmbeddingDenseBackwardBackward0",
    frees=True,
)
def embedding_backward(x: Value, *, shape: Ints, indices: Any, padding_idx: int) -> Value:
    """Add rows up where they were looked up."""
    flat = np.reshape(indices, -1)
    order = np.argsort(flat, kind="stable")  # equal indices side by side: one sum for each
    starts = np.flatnonzero(np.diff(flat[order], prepend=-1))
    out = np.zeros(shape, x.dtype)
    if starts.size:
        out[flat[order[starts]]] = np.add.reduceat(x.reshape(flat.size, shape[1])[order], starts)
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


@embedding_backward.vjp("x", tex=r"\bar z_i")
def _(g: Value, indices: Any, padding_idx: int) -> Value:
    return embedding(_without_row(g, padding_idx), indices=plain(indices), padding_idx=-1)


def _without_row(x: Value, row: int) -> Value:
    width = x.shape[1]
    return x if row < 0 else put(x, 0, positions=np.arange(row * width, (row + 1) * width))


# -- a weight by its direction and its length -----------------------------------------------------


@op("x * (y / length(x, dim))", tex=r"y\,x / |x|", layout="rows")
def weight_norm_interface(x: Value, y: Value, *, dim: int) -> Value:
    """Return x with the lengths y: one for each entry along a dimension.

    Source: Salimans and Kingma, Weight normalization (2016).
    """
    others = tuple(d for d in range(x.ndim) if d != dim)
    return x * (y / np.sqrt(np.sum(x * x, others, keepdims=True)))


@weight_norm_interface.vjp("x", tex=r"y\,(\bar z - x\,(x \cdot \bar z) / |x|^2) / |x|")
def _(g: Value, x: Value, y: Value, dim: int) -> Value:
    squares = _along_others(x * x, dim)
    return (y * rsqrt(squares)) * (g - x * (_along_others(x * g, dim) / squares))


@weight_norm_interface.vjp("y", tex=r"x \cdot \bar z / |x|")
def _(g: Value, x: Value, dim: int) -> Value:
    return _along_others(x * g, dim) * rsqrt(_along_others(x * x, dim))


def _along_others(x: Value, dim: int) -> Value:
    """Sum along all dimensions but one."""
    return sum_dim(x, dim=tuple(d for d in range(len(x.shape)) if d != dim), keepdim=True)
