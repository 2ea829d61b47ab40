"""Shapes: views, permutations, joining, and the two halves of broadcasting.

After reading this file you know that a view is the same memory read in another order, and why
``expand`` and ``sum_to`` are each other's rule: copying forward is adding backward. Read next:
``indexing.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from autodiff_kit.core.base import ARRAYS
from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import backend_type
from autodiff_kit.errors import error
from autodiff_kit.late import late
from autodiff_kit.ops.checks import Ints
from autodiff_kit.ops.elementwise import zeros_like
from autodiff_kit.ops.layouts import empty_like, scalar_if_0d, zeros
from autodiff_kit.ops.table import op, vjp

__all__ = [
    "alias",
    "cat",
    "check_expand",
    "drop_dim",
    "expand",
    "flip",
    "narrow_copy",
]
__all__ += [
    "permute",
    "repeat",
    "reshape",
    "reshape_alias",
    "slice_backward",
    "slice_dim",
]
__all__ += ["squeeze", "squeeze_dim", "squeeze_dims", "stack"]
__all__ += ["sum_to", "t", "transpose", "unsafe_view", "unsqueeze"]


def _reshape_message(x: Value, *, shape: Ints) -> str:
    product = int(np.prod([n for n in shape if n != -1]))
    key = "shapes.reshape_rest" if -1 in shape else "shapes.reshape"
    return str(error(key, shape=list(shape), size=x.size, known=product))


@op("x.view(shape)", tex=r"x", node="ViewBackward0", view=True, on_error=_reshape_message)
@vjp("x", lambda g, x_shape: reshape(g, shape=x_shape), tex=r"\bar z")
def reshape(x: Value, *, shape: Ints) -> Value:
    """Read the same elements, row by row, in another shape."""
    return x.reshape(shape)


@op("x.reshape(shape)", tex=r"x", view=True, on_error=_reshape_message)
@vjp("x", lambda g, x_shape: reshape(g, shape=x_shape), tex=r"\bar z")
def reshape_alias(x: Value, *, shape: Ints) -> Value:
    """Reshape a tensor whose elements do not lie row by row, but well enough for a view."""
    return x.reshape(shape)


@op("x.reshape(shape)", tex=r"x")
@vjp("x", lambda g, x_shape: reshape(g, shape=x_shape), tex=r"\bar z")
def unsafe_view(x: Value, *, shape: Ints) -> Value:
    """Reshape a copy without another reference: what ``reshape`` does after copying."""
    return x.reshape(shape)


@op("x[...]", tex=r"x", view=True)
@vjp("x", lambda g: g, tex=r"\bar z")
def alias(x: Value) -> Value:
    """Look at everything: a view of the same shape."""
    return x[...]


@op("x.permute(dims)", tex=r"x^\pi", view=True)
def permute(x: Value, *, dims: Ints) -> Value:
    """Reorder the dimensions; ``x.T`` is the reversed order."""
    return x.transpose(dims)


@permute.vjp("x", tex=r"\bar z^{\pi^{-1}}")
def _(g: Value, dims: Ints) -> Value:
    return permute(g, dims=tuple(sorted(range(len(dims)), key=dims.__getitem__)))


@op("x.transpose(dim0, dim1)", tex=r"x^\top", view=True)
@vjp("x", lambda g, dim0, dim1: transpose(g, dim0=dim0, dim1=dim1), tex=r"\bar z^\top")
def transpose(x: Value, *, dim0: int, dim1: int) -> Value:
    """Swap two dimensions."""
    return np.swapaxes(x, dim0, dim1) if x.ndim else x[...]


@op("x.t()", tex=r"x^\top", node="TBackward0", view=True)
@vjp("x", lambda g: t(g), tex=r"\bar z^\top")
def t(x: Value) -> Value:
    """Transpose a matrix; vectors stay as they are."""
    return x.T


@op("x.unsqueeze(dim)", tex=r"x", view=True)
@vjp("x", lambda g, dim: squeeze_dim(g, dim=dim), tex=r"\bar z")
def unsqueeze(x: Value, *, dim: int) -> Value:
    """Insert a dimension of size 1."""
    return x[(slice(None),) * dim + (None,)]  # unlike reshape, this keeps the other strides


def unsqueeze_each(g: Value, dims: Ints) -> Value:
    """Insert dimensions of size 1, one after the other, as PyTorch does."""
    for dim in sorted(dims):
        g = unsqueeze(g, dim=dim)
    return g


def _with_ones(g: Value, shape: Ints, dims: Ints | None = None) -> Value:
    """Put those of some dimensions back, or of all, whose size is 1."""
    if isinstance(g, ARRAYS):
        return g if g.shape == shape else reshape(g, shape=shape)
    dims = tuple(range(len(shape))) if dims is None else dims
    return unsqueeze_each(g, tuple(d for d in dims if shape[d : d + 1] == (1,)))


@op("x.squeeze()", tex=r"x", view=True)
@vjp("x", lambda g, x_shape: _with_ones(g, x_shape), tex=r"\bar z")
def squeeze(x: Value) -> Value:
    """Remove all dimensions of size 1."""
    return np.reshape(x, tuple(n for n in x.shape if n != 1))


@op("x.squeeze(dim)", tex=r"x", node="SqueezeBackward1", view=True)
@vjp("x", lambda g, x_shape, dim: _with_ones(g, x_shape, (dim,)), tex=r"\bar z")
def squeeze_dim(x: Value, *, dim: int) -> Value:
    """Remove one dimension if its size is 1."""
    if x.shape[dim : dim + 1] != (1,):
        return x[...]
    return np.reshape(x, x.shape[:dim] + x.shape[dim + 1 :])


@op("x.squeeze(dims)", tex=r"x", node="SqueezeBackward2", view=True)
@vjp("x", lambda g, x_shape, dims: _with_ones(g, x_shape, dims), tex=r"\bar z")
def squeeze_dims(x: Value, *, dims: Ints) -> Value:
    """Remove those of some dimensions whose size is 1."""
    return np.reshape(x, tuple(n for d, n in enumerate(x.shape) if n != 1 or d not in dims))


@op("x.squeeze(dim)", tex=r"x", node="SqueezeBackward4")
@vjp("x", lambda g, x_shape, dim: _with_ones(g, x_shape, (dim,)), tex=r"\bar z")
def drop_dim(x: Value, *, dim: int) -> Value:
    """Remove the dimension that a product got because one factor was a vector."""
    return np.reshape(x, x.shape[:dim] + x.shape[dim + 1 :])


def check_expand(x: Any, shape: Ints) -> Ints:
    """Return the shape that ``x.expand(shape)`` has, where -1 keeps a size.

    RuntimeError if a dimension would have to be left out, or repeated that is not 1.
    """
    own, target = list(x.shape), list(shape)
    new = len(target) - len(own)
    if new < 0:
        kind, n, m = backend_type(getattr(x, "_array", x).dtype), len(target), len(own)
        raise error("shapes.expand_count", kind=kind, own=own, requested=target, count=n, ndim=m)
    sizes = list(target)
    for i in reversed(range(len(target) if own else 0)):
        size = own[i - new] if i >= new else 1
        if sizes[i] == -1:
            if i < new:
                raise error("shapes.expand_new_size", size=-1, dim=i)
            sizes[i] = size
        elif size not in (1, sizes[i]):
            n = sizes[i]
            raise error(
                "shapes.expand_size", expected=n, size=size, dim=i, requested=target, own=own
            )
    if min(sizes, default=0) < 0:
        raise error("shapes.expand_negative")
    return tuple(sizes)


@op("x.expand(shape)", tex=r"\mathbf 1\,x", view=True)
@vjp("x", lambda g, x_shape: _summed(g, x_shape), tex=r"\textstyle\sum \bar z")
def expand(x: Value, *, shape: Ints) -> Value:
    """Repeat along dimensions of size 1, and along new ones in front, without copying."""
    if x.size == 1 and isinstance(x, np.ndarray):  # what rules do: a sixth of the time
        return np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    return np.broadcast_to(x, shape)


def _summed(g: Value, shape: Ints) -> Value:
    return g if shape and g.shape == shape else sum_to(g, shape=shape)


def _sum_of_tensor(x: Value, *, shape: Ints) -> Value:
    ops = late("ops")
    if not shape:
        return ops.sum_all(x)
    added = x.ndim - len(shape)
    if added < 0:
        return x
    stretched = (i for i, n in enumerate(shape, added) if n == 1 != x.shape[i])
    if dims := (*range(added), *stretched):
        x = ops.sum_dim(x, dim=dims, keepdim=True)
    return reshape(x, shape=shape) if added else x


@op("sum_to(x, shape)", tex=r"\textstyle\sum x", made_of=_sum_of_tensor)
@vjp("x", lambda g, x_shape: expand(g, shape=x_shape), tex=r"\mathbf 1\,\bar z")
def sum_to(x: Value, *, shape: Ints) -> Value:
    """Sum over the dimensions along which ``shape`` was broadcast to the shape of ``x``."""
    if shape == ():
        return np.add.reduce(x, None)
    if x.ndim == 2 and x.shape[1:] == shape and x.dtype.kind == "f" and len(x) <= 4096:
        return ones(len(x), x.dtype).dot(x)  # a bias, by far the commonest: a third of the time
    added = x.ndim - len(shape)
    if added < 0:
        return x  # of another shape altogether: the engine refuses it
    if added:
        x = np.add.reduce(x, tuple(range(added)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 != x.shape[i])
    return np.add.reduce(x, stretched, keepdims=True) if stretched else x


@lru_cache(maxsize=8)
def ones(count: int, dtype: np.dtype[Any]) -> Value:
    """Return a vector whose product with a matrix adds up its rows or columns."""
    return np.ones(count, dtype)


def _cat_message(*tensors: Value, dim: int) -> str:
    first = next(x.shape for x in tensors if x.shape != (0,))
    for i, other in enumerate(tensors):
        if other.shape == (0,):
            continue
        if other.ndim != len(first):
            return str(error("shapes.cat_ranks", first=len(first), other=other.ndim))
        for d, (n, m) in enumerate(zip(first, other.shape, strict=True)):
            if n != m and d != dim:
                return str(error("shapes.cat_sizes", dim=dim, expected=n, size=m, position=i))
    return str(error("shapes.cat_of_0d", position=0))


@op("cat(tensors)", tex=r"[x_0, x_1, \dots]", on_error=_cat_message, layout="rows")
def cat(*tensors: Value, dim: int) -> Value:
    """Join along an existing dimension; tensors of shape (0,) may be among any others."""
    return np.concatenate([x for x in tensors if x.shape != (0,)] or tensors[:1], dim)


@cat.vjp("tensors", tex=r"\bar z_{[k]}")
def _(g: Value, index: int, dim: int, tensors_shape: tuple[Ints, ...]) -> Value:
    if tensors_shape[index] == (0,):
        return zeros_like(reshape(g, shape=(-1,))[:0])
    start = sum(shape[dim] for shape in tensors_shape[:index] if shape != (0,))
    return slice_dim(g, dim=dim, start=start, end=start + tensors_shape[index][dim], step=1)


def _stack_message(*tensors: Value, dim: int) -> str:
    shapes = [list(x.shape) for x in tensors]
    i = next(i for i, shape in enumerate(shapes) if shape != shapes[0])
    return str(error("shapes.stack_sizes", first=shapes[0], shape=shapes[i], position=i))


@op("stack(tensors)", tex=r"[x_0, x_1, \dots]", on_error=_stack_message, layout="rows")
def stack(*tensors: Value, dim: int) -> Value:
    """Join along a new dimension."""
    return np.stack(tensors, dim)


@stack.vjp("tensors", tex=r"\bar z_k")
def _(g: Value, index: int, dim: int) -> Value:
    return late("ops").select(g, dim=dim, index=index)


@op("x.repeat(repeats)", tex=r"\mathbf 1\,x", layout="rows")
def repeat(x: Value, *, repeats: Ints) -> Value:
    """Copy ``repeats[i]`` times along dimension i; further dimensions come in front."""
    own = x if x.size else x.copy()  # of which NumPy's result would be a view
    return np.tile(own, [max(n, 0) for n in repeats])  # negative ones of nothing


@repeat.vjp("x", tex=r"\textstyle\sum \bar z")
def _(g: Value, repeats: Ints, x_shape: Ints) -> Value:
    if 0 in repeats:
        return zeros(g, x_shape)
    new = len(repeats) - len(x_shape)  # dimensions in front
    split, dims = list(repeats[:new]), list(range(new))
    for count, size in zip(repeats[new:], x_shape, strict=True):
        if count != 1:
            dims.append(len(split))
            split.append(count)
        split.append(size)
    if len(dims) > new:
        if min(split[new:]) < 0:  # of nothing
            raise error("shapes.inferred_freely", shape=split[new:])
        g = reshape(g, shape=tuple(split))
    return late("ops").sum_dim(g, dim=tuple(dims)) if dims else g


@op("x.flip(dims)", tex=r"x^{\leftarrow}")
@vjp("x", lambda g, dims: flip(g, dims=dims), tex=r"\bar z^{\leftarrow}")
def flip(x: Value, *, dims: Ints) -> Value:
    """Reverse the order along dimensions."""
    out = empty_like(x)
    out[...] = np.flip(x, dims)
    return scalar_if_0d(out)


@op("x[start:end:step]", tex=r"x_{[a:b]}", node="SliceBackward0", view=True)
def slice_dim(x: Value, *, dim: int, start: int, end: int, step: int) -> Value:
    """Take every step-th element from start to end along one dimension."""
    return x[(slice(None),) * dim + (slice(start, end, step),)]


@slice_dim.vjp("x", tex=r"\bar z \text{ put back}")
def _(g: Value, x_shape: Ints, dim: int, start: int, end: int, step: int) -> Value:
    return slice_backward(g, shape=x_shape, dim=dim, start=start, end=end, step=step)


@op("x.narrow(dim, start, length)", tex=r"x_{[a:a+n]}", layout="rows")
def narrow_copy(x: Value, *, dim: int, start: int, length: int) -> Value:
    """Copy entries along one dimension."""
    return x[(slice(None),) * dim + (slice(start, start + length),)].copy()


@narrow_copy.vjp("x", tex=r"\bar z \text{ put back}")
def _(g: Value, x_shape: Ints, dim: int, start: int, length: int) -> Value:
    return slice_backward(g, shape=x_shape, dim=dim, start=start, end=start + length, step=1)


@op("zeros with x at [start:end:step]", tex=r"x \text{ put back}")
def slice_backward(x: Value, *, shape: Ints, dim: int, start: int, end: int, step: int) -> Value:
    """Put a slice back into zeros of the shape it was taken from."""
    out = np.zeros(shape, x.dtype)
    out[(slice(None),) * dim + (slice(start, end, step),)] = x
    return out


@slice_backward.vjp("x", tex=r"\bar z_{[a:b]}")
def _(g: Value, dim: int, start: int, end: int, step: int) -> Value:
    return slice_dim(g, dim=dim, start=start, end=end, step=step)
