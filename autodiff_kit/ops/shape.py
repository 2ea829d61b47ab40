"""Shapes: views, permutations, joining, and the two halves of broadcasting.

After reading this file you know that a view is the same memory read in another order, and why
``expand`` and ``sum_to`` are each other's rule: copying forward is adding backward. Read next:
``indexing.py``.
"""

from __future__ import annotations

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import teach
from autodiff_kit.ops.table import op

__all__ = [
    "alias",
    "cat",
    "check_expand",
    "drop_dim",
    "expand",
    "flip",
    "permute",
    "repeat",
    "reshape",
    "reshape_alias",
    "slice_backward",
    "slice_dim",
    "squeeze",
    "squeeze_dim",
    "stack",
    "sum_to",
    "t",
    "transpose",
    "unsafe_view",
    "unsqueeze",
]


def _reshape_message(x: Value, *, shape: tuple[int, ...]) -> str:
    if list(shape).count(-1) == 1:
        known = int(np.prod([n for n in shape if n != -1]))
        advice = f"The sizes other than -1 multiply to {known}, which does not divide {x.size}."
    else:
        advice = f"{list(shape)} has {int(np.prod(shape))} elements, the tensor has {x.size}."
    return teach(f"shape '{list(shape)}' is invalid for input of size {x.size}", advice)


@op("x.view(shape)", tex=r"x", node="ViewBackward0", view=True, on_error=_reshape_message)
def reshape(x: Value, *, shape: tuple[int, ...]) -> Value:
    """Read the same elements, row by row, in another shape."""
    return x.reshape(shape)


@reshape.vjp("x", tex=r"\bar z")
def _(g: Value, x_shape: tuple[int, ...]) -> Value:
    return reshape(g, shape=x_shape)


@op("x.reshape(shape)", tex=r"x", view=True)
def reshape_alias(x: Value, *, shape: tuple[int, ...]) -> Value:
    """Reshape a tensor whose elements do not lie row by row, but well enough for a view."""
    return x.reshape(shape)


@op("x.reshape(shape)", tex=r"x")
def unsafe_view(x: Value, *, shape: tuple[int, ...]) -> Value:
    """Reshape a copy that nobody else holds: what ``reshape`` does after copying."""
    return x.reshape(shape)


for _reshaping in (reshape_alias, unsafe_view):

    @_reshaping.vjp("x", tex=r"\bar z")
    def _(g: Value, x_shape: tuple[int, ...]) -> Value:
        return reshape(g, shape=x_shape)


@op("x[...]", tex=r"x", view=True)
def alias(x: Value) -> Value:
    """Look at everything: a view of the same shape."""
    return x[...]


@alias.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@op("x.permute(dims)", tex=r"x^\pi", view=True)
def permute(x: Value, *, dims: tuple[int, ...]) -> Value:
    """Reorder the dimensions; ``x.T`` is the reversed order."""
    return x.transpose(dims)


@permute.vjp("x", tex=r"\bar z^{\pi^{-1}}")
def _(g: Value, dims: tuple[int, ...]) -> Value:
    return permute(g, dims=tuple(sorted(range(len(dims)), key=dims.__getitem__)))


@op("x.transpose(dim0, dim1)", tex=r"x^\top", view=True)
def transpose(x: Value, *, dim0: int, dim1: int) -> Value:
    """Swap two dimensions."""
    return np.swapaxes(x, dim0, dim1) if x.ndim else x[...]


@transpose.vjp("x", tex=r"\bar z^\top")
def _(g: Value, dim0: int, dim1: int) -> Value:
    return transpose(g, dim0=dim0, dim1=dim1)


@op("x.t()", tex=r"x^\top", node="TBackward0", view=True)
def t(x: Value) -> Value:
    """Transpose a matrix; vectors stay as they are."""
    return x.T


@t.vjp("x", tex=r"\bar z^\top")
def _(g: Value) -> Value:
    return t(g)


@op("x.unsqueeze(dim)", tex=r"x", view=True)
def unsqueeze(x: Value, *, dim: int) -> Value:
    """Insert a dimension of size 1."""
    return np.expand_dims(x, dim)


@unsqueeze.vjp("x", tex=r"\bar z")
def _(g: Value, dim: int) -> Value:
    return squeeze_dim(g, dim=dim)


@op("x.squeeze()", tex=r"x", view=True)
def squeeze(x: Value) -> Value:
    """Remove all dimensions of size 1."""
    return np.reshape(x, tuple(n for n in x.shape if n != 1))


@squeeze.vjp("x", tex=r"\bar z")
def _(g: Value, x_shape: tuple[int, ...]) -> Value:
    return reshape(g, shape=x_shape)


@op("x.squeeze(dim)", tex=r"x", node="SqueezeBackward1", view=True)
def squeeze_dim(x: Value, *, dim: int) -> Value:
    """Remove one dimension if its size is 1."""
    if x.shape[dim : dim + 1] != (1,):
        return x[...]
    return np.reshape(x, x.shape[:dim] + x.shape[dim + 1 :])


@op("x.squeeze(dim)", tex=r"x", node="SqueezeBackward4")
def drop_dim(x: Value, *, dim: int) -> Value:
    """Remove the dimension that a product got because one factor was a vector."""
    return np.reshape(x, x.shape[:dim] + x.shape[dim + 1 :])


for _squeezing in (squeeze_dim, drop_dim):

    @_squeezing.vjp("x", tex=r"\bar z")
    def _(g: Value, x_shape: tuple[int, ...]) -> Value:
        return reshape(g, shape=x_shape)


def check_expand(x: Value, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that ``x.expand(shape)`` has, where -1 keeps a size.

    Raises
    ------
    RuntimeError
        With PyTorch's words, if a dimension would have to be left out or repeated that is not 1.
    """
    own, asked = tuple(x.shape), list(shape)
    new = len(asked) - len(own)
    if new < 0:
        kind = tensor_type(x._array.dtype)
        raise RuntimeError(
            teach(
                f"expand(torch.{kind}Tensor{{{list(own)}}}, size={asked}): the number of sizes "
                f"provided ({len(asked)}) must be greater or equal to the number of dimensions in "
                f"the tensor ({len(own)})",
                "Dimensions can be added in front, not taken away.",
            )
        )
    wanted = list(asked)
    for i in reversed(range(len(asked))):
        size = own[i - new] if i >= new else 1
        if wanted[i] == -1 and i >= new:
            wanted[i] = size
        elif wanted[i] < 0:
            raise RuntimeError(
                teach(
                    f"The expanded size of the tensor ({wanted[i]}) isn't allowed in a leading, "
                    f"non-existing dimension {i}",
                    "-1 keeps a size that the tensor has; say how often to repeat.",
                )
            )
        elif size not in (1, wanted[i]):
            raise RuntimeError(
                teach(
                    f"The expanded size of the tensor ({wanted[i]}) must match the existing size "
                    f"({size}) at non-singleton dimension {i}.  Target sizes: {asked}.  Tensor "
                    f"sizes: {list(own)}",
                    "Only dimensions of size 1 can be repeated.",
                )
            )
    return tuple(wanted)


@op("x.expand(shape)", tex=r"\mathbf 1\,x", view=True)
def expand(x: Value, *, shape: tuple[int, ...]) -> Value:
    """Repeat along dimensions of size 1, and along new ones in front, without copying."""
    return np.broadcast_to(x, shape)


@expand.vjp("x", tex=r"\textstyle\sum \bar z")
def _(g: Value, x_shape: tuple[int, ...]) -> Value:
    return sum_to(g, shape=x_shape)


@op("sum_to(x, shape)", tex=r"\textstyle\sum x", node="SumToSizeBackward0")
def sum_to(x: Value, *, shape: tuple[int, ...]) -> Value:
    """Sum over the dimensions along which ``shape`` was broadcast to the shape of ``x``."""
    if shape == ():
        return np.add.reduce(x, None)
    added = x.ndim - len(shape)
    if added:
        x = np.add.reduce(x, 0 if added == 1 else tuple(range(added)))
        if x.shape == shape:  # a bias: by far the commonest case
            return x
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 != x.shape[i])
    return np.add.reduce(x, stretched, keepdims=True) if stretched else x


@sum_to.vjp("x", tex=r"\mathbf 1\,\bar z")
def _(g: Value, x_shape: tuple[int, ...]) -> Value:
    return expand(g, shape=x_shape)


def _cat_message(*tensors: Value, dim: int) -> str:
    first = tensors[0].shape
    for i, other in enumerate(tensors):
        if other.ndim != len(first):
            return teach(
                f"Tensors must have same number of dimensions: got {len(first)} and {other.ndim}",
                "cat joins along an existing dimension; stack makes a new one.",
            )
        for d, (n, m) in enumerate(zip(first, other.shape, strict=True)):
            if n != m and d != dim:
                return teach(
                    "Sizes of tensors must match except in dimension "
                    f"{dim}. Expected size {n} but got size {m} for tensor number {i} in the list.",
                    "All other dimensions must agree; cat only adds along one.",
                )
    return "zero-dimensional tensor (at position 0) cannot be concatenated"


@op("cat(tensors)", tex=r"[x_0, x_1, \dots]", on_error=_cat_message)
def cat(*tensors: Value, dim: int) -> Value:
    """Join along an existing dimension."""
    return np.concatenate(tensors, dim)


@cat.vjp("tensors", tex=r"\bar z_{[k]}")
def _(g: Value, index: int, dim: int, tensors_shape: tuple[tuple[int, ...], ...]) -> Value:
    start = sum(shape[dim] for shape in tensors_shape[:index])
    return slice_dim(g, dim=dim, start=start, end=start + tensors_shape[index][dim], step=1)


def _stack_message(*tensors: Value, dim: int) -> str:
    shapes = [list(x.shape) for x in tensors]
    i = next(i for i, shape in enumerate(shapes) if shape != shapes[0])
    return teach(
        f"stack expects each tensor to be equal size, but got {shapes[0]} at entry 0 and "
        f"{shapes[i]} at entry {i}",
        "stack makes a new dimension; cat joins along an existing one.",
    )


@op("stack(tensors)", tex=r"[x_0, x_1, \dots]", on_error=_stack_message)
def stack(*tensors: Value, dim: int) -> Value:
    """Join along a new dimension."""
    return np.stack(tensors, dim)


@stack.vjp("tensors", tex=r"\bar z_k")
def _(g: Value, index: int, dim: int) -> Value:
    from autodiff_kit.ops.indexing import select

    return select(g, dim=dim, index=index)


@op("x.repeat(repeats)", tex=r"\mathbf 1\,x")
def repeat(x: Value, *, repeats: tuple[int, ...]) -> Value:
    """Copy ``repeats[i]`` times along dimension i; further dimensions come in front."""
    return np.tile(x, repeats)


@repeat.vjp("x", tex=r"\textstyle\sum \bar z")
def _(g: Value, repeats: tuple[int, ...], x_shape: tuple[int, ...]) -> Value:
    shape = (1,) * (len(repeats) - len(x_shape)) + tuple(x_shape)
    split = tuple(n for pair in zip(repeats, shape, strict=True) for n in pair)
    kept = tuple(n for m in shape for n in (1, m))
    return reshape(sum_to(reshape(g, shape=split), shape=kept), shape=x_shape)


@op("x.flip(dims)", tex=r"x^{\leftarrow}")
def flip(x: Value, *, dims: tuple[int, ...]) -> Value:
    """Reverse the order along dimensions."""
    return np.flip(x, dims).copy() if x.ndim else x


@flip.vjp("x", tex=r"\bar z^{\leftarrow}")
def _(g: Value, dims: tuple[int, ...]) -> Value:
    return flip(g, dims=dims)


@op("x[start:end:step]", tex=r"x_{[a:b]}", node="SliceBackward0", view=True)
def slice_dim(x: Value, *, dim: int, start: int, end: int, step: int) -> Value:
    """Take every step-th element from start to end along one dimension."""
    return x[(slice(None),) * dim + (slice(start, end, step),)]


@slice_dim.vjp("x", tex=r"\bar z \text{ put back}")
def _(g: Value, x_shape: tuple[int, ...], dim: int, start: int, end: int, step: int) -> Value:
    return slice_backward(g, shape=x_shape, dim=dim, start=start, end=end, step=step)


@op("zeros with x at [start:end:step]", tex=r"x \text{ put back}")
def slice_backward(
    x: Value, *, shape: tuple[int, ...], dim: int, start: int, end: int, step: int
) -> Value:
    """Put a slice back into zeros of the shape it was taken from."""
    out = np.zeros(shape, x.dtype)
    out[(slice(None),) * dim + (slice(start, end, step),)] = x
    return out


@slice_backward.vjp("x", tex=r"\bar z_{[a:b]}")
def _(g: Value, dim: int, start: int, end: int, step: int) -> Value:
    return slice_dim(g, dim=dim, start=start, end=end, step=step)
