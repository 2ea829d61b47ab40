"""``einsum``: sums of products, said by one letter per dimension.

After reading this file you know how ``einsum("ij,jk->ik", x, y)`` becomes a batch of matrix
products: dimensions are permuted into *batch, kept, summed*, flattened, multiplied and put back.
So it needs no rules of its own. Read next: ``shape.py``.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.ops.arithmetic import mul
from autodiff_kit.ops.diagonals import diagonal
from autodiff_kit.ops.linalg import bmm
from autodiff_kit.ops.shape import permute, unsqueeze

__all__ = ["einsum"]

_DOTS = "..."


def einsum(equation: str, operands: tuple[Any, ...]) -> Any:
    """Multiply tensors and sum, as an equation such as ``"ij,jk->ik"`` says.

    It has a letter for each dimension of each operand; after ``->`` those of the result, by default
    all that occur once, in alphabetical order. ``...`` are the dimensions without letters, which
    broadcast and come first by default; a letter that stands twice is a diagonal. RuntimeError if
    the letters do not fit the operands, or sizes differ.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    labels = inputs.split(",")
    if len(labels) != len(operands):
        raise error("linalg.einsum_fewer" if len(labels) > len(operands) else "linalg.einsum_more")
    for i, own in enumerate(labels):
        if "." in own.replace(_DOTS, "", 1):
            is_second = own.count(_DOTS) > 1
            key = "linalg.einsum_dots_twice" if is_second else "linalg.einsum_dots"
            raise error(key, position=i)
    for place, sign in enumerate(equation):
        if not (sign.isascii() and sign.isalpha()) and sign not in " .,->":
            raise error("linalg.einsum_letters", place=place)
    counts = [x.ndim - len(own) + 3 for x, own in zip(operands, labels, strict=True)]
    for i, (own, count) in enumerate(zip(labels, counts, strict=True)):
        if _DOTS in own and count < 0:
            extra = len(own) - 3
            raise error("linalg.einsum_many", count=extra, rank=extra + count, position=i)
    widest = max((n for n, own in zip(counts, labels, strict=True) if _DOTS in own), default=0)
    spare = "".join(map(chr, range(widest)))  # these sort before all letters
    labels = [
        own.replace(_DOTS, spare[widest - n :] if _DOTS in own else "")
        for n, own in zip(counts, labels, strict=True)
    ]
    output = output.replace(_DOTS, spare)
    sizes: dict[str, int] = {}
    for i, (x, own) in enumerate(zip(operands, labels, strict=True)):
        _check(x, own, sizes, i)
    occurrences = Counter("".join(labels))
    if not arrow:
        once = (label for label in occurrences if occurrences[label] == 1 and label not in spare)
        output = spare + "".join(sorted(once))
    plain = [_diagonal(x, own) for x, own in zip(operands, labels, strict=True)]
    for label in output:
        if output.count(label) > 1:
            raise error("linalg.einsum_output_twice", label=label)
        if label not in occurrences:
            raise error("linalg.einsum_output_unknown", label=label)
    order = output + "".join(sorted(occurrences.keys() - set(output)))
    aligned = [_aligned(x, own, order) for x, own in plain]
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


def _check(x: Any, labels: str, sizes: dict[str, int], position: int) -> None:
    """Refuse letters that do not fit an operand, or the sizes that they stood for before."""
    if len(labels) != x.ndim:
        raise error("linalg.einsum_rank", count=len(labels), rank=x.ndim, position=position)
    for dim, (label, size) in enumerate(zip(labels, x.shape, strict=True)):
        first = x.shape[labels.index(label)]
        if size != first:
            raise error(
                "linalg.einsum_repeated", label=label, position=position, size=size, before=first
            )
        if size != 1 and sizes.setdefault(label, size) != size:
            before = sizes[label]
            if label.isalpha():
                raise error(
                    "linalg.einsum_sizes", label=label, position=position, size=size, before=before
                )
            raise error(
                "linalg.einsum_unnamed", dim=dim, position=position, size=size, before=before
            )


def _diagonal(x: Any, labels: str) -> tuple[Any, str]:
    """Return an operand with one dimension per letter: the diagonal of those that share one."""
    for d, label in reversed([*enumerate(labels)]):
        first = labels.index(label)
        if first < d:
            dims = [*range(x.ndim - 2)]
            dims.insert(first, x.ndim - 2)
            x = permute(diagonal(x, offset=0, dim1=first, dim2=d), dims=tuple(dims))
            labels = labels[:d] + labels[d + 1 :]
    return x, labels


def _aligned(x: Any, labels: str, order: str) -> Any:
    """Return an operand with a dimension for every label, in order; of size 1 where it has none."""
    for label in order:
        if label not in labels:
            x = unsqueeze(x, dim=len(labels))
            labels += label
    return permute(x, dims=tuple(map(labels.index, order)))


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
    if rows and any(d < rows[0] and y.shape[d] != 1 for d in columns):  # to lie row by row
        return _sum_of_products(y, x, summed)

    def flat(z: Any, *groups: list[int]) -> Any:
        dims = tuple(d for group in groups for d in group)
        shape = [math.prod([z.shape[d] for d in group]) for group in groups[:3]]
        return permute(z, dims=dims).reshape(*shape)

    product = bmm(flat(x, batch, rows, summed, columns), flat(y, batch, summed, columns, rows))
    shape = [x.shape[d] for d in batch + rows] + [1] * len(summed) + [y.shape[d] for d in columns]
    now = batch + rows + summed + columns
    return permute(product.view(*shape), dims=tuple(now.index(d) for d in range(x.ndim)))
