"""``einsum``: sums of products, said by one letter per dimension.

After reading this file you know how ``einsum("ij,jk->ik", x, y)`` becomes a batch of matrix
products: dimensions are permuted into *batch, kept, summed*, flattened, multiplied and put back.
So it needs no rules of its own. Read next: ``shape.py``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.errors import error
from autodiff_kit.ops.arithmetic import mul
from autodiff_kit.ops.indexing import index_backward
from autodiff_kit.ops.linalg import bmm
from autodiff_kit.ops.shape import permute, unsqueeze
from autodiff_kit.ops.table import op

__all__ = ["diagonal", "einsum"]


@op("x.diagonal(dim1, dim2)", tex=r"\operatorname{diag} x", view=True)
def diagonal(x: Value, *, dim1: int, dim2: int) -> Value:
    """Take the elements whose indices in two dimensions are equal; they become the last one."""
    letters = list(range(x.ndim))
    letters[dim2] = dim1
    rest = [i for i in range(x.ndim) if i not in (dim1, dim2)]
    return np.einsum(x, letters, [*rest, dim1])  # np.diagonal cannot be written to


@diagonal.vjp("x", tex=r"\bar z \text{ put back}")
def _(g: Value, x_shape: tuple[int, ...], dim1: int, dim2: int) -> Value:
    both = np.arange(x_shape[dim1])
    # Index arrays with a slice in between come first: so are put the other dimensions, too.
    grid = list(np.ogrid[tuple(slice(n) for d, n in enumerate(x_shape) if d not in (dim1, dim2))])
    grid = [array[..., None] for array in grid]
    for dim in sorted((dim1, dim2)):
        grid.insert(dim, both)
    return index_backward(g, shape=x_shape, indices=tuple(grid))


def einsum(equation: str, operands: tuple[Any, ...]) -> Any:
    """Multiply tensors and sum, as an equation such as ``"ij,jk->ik"`` says.

    Parameters
    ----------
    equation : str
        A letter for each dimension of each operand; after ``->`` those of the result, by default
        all that occur once, in alphabetical order. ``...`` stands for further dimensions.
    operands : tuple of Tensor

    Raises
    ------
    RuntimeError
        If the letters do not fit the operands, or sizes differ.
    """
    labels, output = _letters(equation, [x.ndim for x in operands])
    seen = Counter(label for own in labels for label in own)
    if output is None:
        output = sorted(label for label in seen if label[0] == "." or seen[label] == 1)
    for label in output:
        if output.count(label) > 1:
            raise error("linalg.einsum_output_twice", label=label)
        if label not in seen:
            raise error("linalg.einsum_output_unknown", label=label)
    order = [*output, *sorted(seen.keys() - set(output))]
    sizes: dict[str, int] = {}
    aligned = [
        _aligned(x, own, order, sizes, position)
        for position, (x, own) in enumerate(zip(operands, labels, strict=True))
    ]
    summed = range(len(output), len(order))
    wide = {d: sum(x.shape[d] != 1 for x in aligned) for d in summed}
    result = aligned[0]
    for other in aligned[1:]:
        result = _contracted(result, other, wide)
    if not summed:
        return result
    if len(aligned) > 1:  # all sums are done: what is left of them are dimensions of size 1
        return result.view(result.shape[: len(output)])
    return result.sum(tuple(summed))


def _letters(equation: str, ranks: list[int]) -> tuple[list[list[str]], list[str] | None]:
    """Return the labels of each operand and of the output; those of ``...`` are .0, .1, .2."""
    left, arrow, right = equation.partition("->")
    parts, start, read = left.split(","), 0, []
    for position, part in enumerate(parts):
        read.append(_tokens(part, start, f"operand {position}"))
        start += len(part) + 1
    if len(parts) != len(ranks):
        raise error("linalg.einsum_fewer" if len(parts) > len(ranks) else "linalg.einsum_more")
    more = []
    for position, (own, rank) in enumerate(zip(read, ranks, strict=True)):
        more.append(rank - len(own) + ("..." in own))
        if more[-1] < 0 or (more[-1] and "..." not in own):
            key = "linalg.einsum_too_many" if "..." in own else "linalg.einsum_rank"
            count = len(own) - ("..." in own)
            raise error(key, count=count, rank=rank, position=position)
    most = max(more)

    def complete(own: list[str], count: int) -> list[str]:
        dots = [f".{i}" for i in range(most - count, most)]
        return [label for token in own for label in (dots if token == "..." else [token])]

    labels = [complete(own, count) for own, count in zip(read, more, strict=True)]
    return labels, complete(_tokens(right, start + 1, "output"), most) if arrow else None


def _tokens(text: str, start: int, whose: str) -> list[str]:
    out = whose == "output"
    dot = "linalg.einsum_dot_in_output" if out else "linalg.einsum_dot"
    twice = "linalg.einsum_dots_twice_in_output" if out else "linalg.einsum_dots_twice"
    found: list[str] = []
    for token in re.finditer(r"\.\.\.|\S", text):
        if token[0] == ".":
            raise error(dot, whose=whose)
        if token[0] == "..." and "..." in found:
            raise error(twice, whose=whose)
        if token[0] != "..." and not re.match("[a-zA-Z]", token[0]):
            raise error("linalg.einsum_subscript", at=start + token.start())
        found.append(token[0])
    return found


def _aligned(x: Any, labels: list[str], order: list[str], sizes: dict[str, int], i: int) -> Any:
    """Return an operand with a dimension for every label, in order; of size 1 where it has none."""
    kept: list[str] = []
    for label in labels:
        dim, size = len(kept), x.shape[len(kept)]
        if label in kept:
            first = kept.index(label)
            if x.shape[first] != size:
                raise error(
                    "linalg.einsum_diagonal",
                    label=label,
                    position=i,
                    size=size,
                    before=x.shape[first],
                )
            x = diagonal(x, dim1=first, dim2=dim)
            moved = [*range(x.ndim - 1)]
            moved.insert(first, x.ndim - 1)
            x = permute(x, dims=tuple(moved))
            continue
        if size != 1 and sizes.setdefault(label, size) != size:
            key = "linalg.einsum_ellipsis" if label[0] == "." else "linalg.einsum_sizes"
            before = sizes[label]
            raise error(key, label=label, position=i, size=size, before=before, dim=dim)
        kept.append(label)
    for label in order:
        if label not in kept:
            x = unsqueeze(x, dim=len(kept))
            kept.append(label)
    return permute(x, dims=tuple(kept.index(label) for label in order))


def _contracted(x: Any, y: Any, wide: dict[int, int]) -> Any:
    """Multiply two operands; sum along the dimensions that no later operand has."""
    both: list[int] = []
    only_x: list[int] = []
    only_y: list[int] = []
    for d, count in wide.items():
        in_x, in_y = x.shape[d] != 1, y.shape[d] != 1
        wide[d] = count - (in_x and in_y)
        if (in_x or in_y) and wide[d] == 1:
            (both if in_x and in_y else only_x if in_x else only_y).append(d)
            wide[d] = 0
    x = x.sum(tuple(only_x), True) if only_x else x
    y = y.sum(tuple(only_y), True) if only_y else y
    return _sum_of_products(x, y, both) if both else mul(x, y)


def _sum_of_products(x: Any, y: Any, summed: list[int]) -> Any:
    """Multiply and sum along dimensions, which keep the size 1: as a batch of matrix products."""
    rest = [d for d in range(x.ndim) if d not in summed]
    batch = [d for d in rest if x.shape[d] != 1 != y.shape[d]]
    rows = [d for d in rest if d not in batch and x.shape[d] != 1]
    columns = [d for d in rest if d not in batch and d not in rows]

    def flat(z: Any, *groups: list[int]) -> Any:
        dims = tuple(d for group in groups for d in group)
        shape = [math.prod([z.shape[d] for d in group]) for group in groups[:3]]
        return permute(z, dims=dims).reshape(*shape)

    product = bmm(flat(x, batch, rows, summed, columns), flat(y, batch, summed, columns, rows))
    shape = [
        *(x.shape[d] for d in batch + rows),
        *[1] * len(summed),
        *(y.shape[d] for d in columns),
    ]
    now = batch + rows + summed + columns
    return permute(product.view(*shape), dims=tuple(now.index(d) for d in range(x.ndim)))
