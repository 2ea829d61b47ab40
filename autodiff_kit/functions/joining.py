"""Joining and cutting: ``vstack``, ``hstack``, ``tensor_split`` and the rest of their family.

After reading this file you know what ``cat`` and ``stack`` need in front of them: dimensions of
size 1. Read next: ``diagonals.py``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.errors import error
from autodiff_kit.functions.basic import cat, check_list, stack
from autodiff_kit.functions.declared import Ints, Tensors, alias, function, overloaded
from autodiff_kit.tensor import Tensor

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "cartesian_prod", "column_stack"]
__all__ += ["combinations", "concat", "concatenate", "dsplit", "dstack", "hsplit", "hstack"]
__all__ += ["meshgrid", "row_stack", "split_with_sizes", "tensor_split", "vsplit", "vstack"]


# -- at least so many dimensions ------------------------------------------------------------------


def _each(grow: Any, tensors: tuple[Any, ...]) -> Any:
    if len(tensors) == 1:
        return grow(tensors[0]) if isinstance(tensors[0], Tensor) else tuple(map(grow, tensors[0]))
    return tuple(map(grow, tensors))


def atleast_1d(*tensors: Any) -> Any:
    """Turn numbers into vectors of one element; several tensors give a tuple."""
    return _each(_vector, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Turn vectors into matrices of one row; several tensors give a tuple."""
    return _each(_matrix, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Add dimensions of size 1, up to three; several tensors give a tuple."""
    return _each(_block, tensors)


def _vector(x: Tensor) -> Tensor:
    return x.reshape(1) if x.ndim == 0 else x


def _block(x: Tensor) -> Tensor:
    return _matrix(x).unsqueeze(-1) if x.ndim < 3 else x


def _matrix(x: Tensor) -> Tensor:
    return x.reshape(1, 1) if x.ndim == 0 else x.unsqueeze(0) if x.ndim == 1 else x


# -- joining --------------------------------------------------------------------------------------


def _listed(name: str, tensors: Any) -> Any:
    check_list(name, tensors)
    if not tensors:
        raise error("functions.nothing_to_join", name=name)
    return tensors


@function
def vstack(tensors: Tensors) -> Tensor:
    """Join as rows: vectors become rows of a matrix."""
    return cat([_matrix(x) for x in _listed("vstack", tensors)])


row_stack = alias("row_stack", vstack)


@function
def hstack(tensors: Tensors) -> Tensor:
    """Join side by side: vectors end to end, the rest along the second dimension."""
    several = [_vector(x) for x in _listed("hstack", tensors)]
    return cat(several, dim=0 if several[0].ndim == 1 else 1)


@function
def dstack(tensors: Tensors) -> Tensor:
    """Join along the third dimension."""
    return cat([_block(x) for x in _listed("dstack", tensors)], dim=2)


@function
def column_stack(tensors: Tensors) -> Tensor:
    """Join as columns: vectors become columns of a matrix."""
    several = _listed("column_stack", tensors)
    return cat([x.reshape(x.numel(), 1) if x.ndim < 2 else x for x in several], dim=1)


concat, concatenate = (alias(name, cat, "factory") for name in ("concat", "concatenate"))


# -- cutting --------------------------------------------------------------------------------------


@overloaded(
    "(Tensor input, Tensor tensor_indices_or_sections, int dim = 0)",
    "(Tensor input, int sections, int dim = 0)",
    "(Tensor input, tuple of ints indices, int dim = 0)",
)
def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, **keywords: Any
) -> tuple[Tensor, ...]:
    """Cut into so many parts, the first ones longer by one where needed, or at the indices."""
    for name in ("tensor_indices_or_sections", "sections", "indices"):
        indices_or_sections = keywords.pop(name, indices_or_sections)
    if keywords or indices_or_sections is None:
        raise TypeError  # the words come from ``signatures.py``
    if not input.ndim:
        raise error("functions.tensor_split_of_0d")
    dim = input._dim(dim)
    size = input.shape[dim]
    where = indices_or_sections
    if isinstance(where, Tensor):
        where = where.tolist()
    if isinstance(where, bool):
        raise TypeError  # the words come from ``signatures.py``
    if isinstance(where, int):
        if where <= 0:
            raise error("functions.sections", count=where)
        whole, longer = divmod(size, where)
        ends = np.cumsum([whole + (i < longer) for i in range(where)]).tolist()[:-1]
    else:
        ends = list(where)
    parts = zip([0, *ends], [*ends, size], strict=True)
    bounds = [slice(start, end).indices(size)[:2] for start, end in parts]
    return tuple(
        ops.slice_dim(input, dim=dim, start=start, end=max(start, end), step=1)
        for start, end in bounds
    )


def _evenly(name: str, input: Tensor, where: Any, dim: int, least: int) -> tuple[Tensor, ...]:
    if input.ndim < least:
        raise error("functions.split_ndim", name=name, least=least, ndim=input.ndim)
    size = input.shape[dim]
    if isinstance(where, int) and (where == 0 or size % where):
        raise error("functions.split_unevenly", name=name, dim=dim, size=size, count=where)
    return tensor_split(input, where, dim)


@overloaded("(Tensor input, int sections)", "(Tensor input, tuple of ints indices)")
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut into columns: so many of one width, or at the indices."""
    return _evenly("hsplit", input, indices_or_sections, 0 if input.ndim == 1 else 1, 1)


@overloaded("(Tensor input, int sections)", "(Tensor input, tuple of ints indices)")
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut into groups of rows: so many of one size, or at the indices."""
    return _evenly("vsplit", input, indices_or_sections, 0, 2)


@overloaded("(Tensor input, int sections)", "(Tensor input, tuple of ints indices)")
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the third dimension: so many parts of one size, or at the indices."""
    return _evenly("dsplit", input, indices_or_sections, 2, 3)


@function
def split_with_sizes(input: Tensor, split_sizes: Ints, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut into parts of the sizes given."""
    if not isinstance(split_sizes, tuple | list):
        raise error("arguments.split_sizes", kind=type(split_sizes).__name__)
    return input.split(split_sizes, dim)


# -- grids ----------------------------------------------------------------------------------------


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return the coordinates of a grid: one tensor for each vector, of a dimension for each.

    With ``indexing="ij"`` the first vector counts rows, with ``"xy"`` columns.
    """
    vectors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    if not vectors:
        raise error("functions.meshgrid_of_nothing")
    check_list("meshgrid", vectors)
    if indexing is None:
        words = "in an upcoming release, it will be required to pass the indexing argument."
        warnings.warn(f"torch.meshgrid: {words}", UserWarning, stacklevel=2)
    if indexing not in (None, "ij", "xy"):
        raise error("functions.meshgrid_indexing", indexing=indexing)
    if any(vector.dtype is not vectors[0].dtype for vector in vectors):
        raise error("functions.meshgrid_dtypes")
    if any(vector.ndim > 1 for vector in vectors):
        raise error("functions.meshgrid_ndim")
    count, sizes = len(vectors), [v.numel() for v in vectors]
    grids = [
        v.view([sizes[i] if i == d else 1 for d in range(count)]).expand(sizes)
        for i, v in enumerate(vectors)
    ]
    if indexing == "xy" and count > 1:
        return tuple(_first_two_swapped(vectors, sizes))
    return tuple(grids)


def _first_two_swapped(vectors: Any, sizes: list[int]) -> Any:
    shape = [sizes[1], sizes[0], *sizes[2:]]
    for i, vector in enumerate(vectors):
        place = 1 - i if i < 2 else i
        own = [sizes[i] if d == place else 1 for d in range(len(shape))]
        yield vector.view(own).expand(shape)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all tuples of one element of each vector, one row each."""
    for vector in tensors:
        if vector.ndim != 1:
            raise error("functions.vector", shape=[*vector.shape])
    if len(tensors) == 1:
        return tensors[0]
    return stack([grid.flatten() for grid in meshgrid(*tensors, indexing="ij")], dim=1)


@function
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all ways to choose ``r`` elements of a vector, one row each."""
    if input.ndim != 1:
        raise error("functions.vector", shape=[*input.shape])
    if r < 0:
        raise error("functions.combinations", count=r)
    if r == 0:
        return input.new_empty(0)
    places, fits = np.indices(input.shape * r), np.less_equal if with_replacement else np.less
    mask = wrap(fits(places[:-1], places[1:]).all(0))
    grids = meshgrid(*[input] * r, indexing="ij")
    return stack([grid.masked_select(mask) for grid in grids], dim=1)
