"""Running results and differences: ``cumprod``, ``cummax``, ``diff``, ``trapezoid`` ...

After reading this file you know that ``diff`` undoes ``cumsum``. Read next: ``products.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit import ops
from autodiff_kit.errors import error
from autodiff_kit.functions.basic import cat
from autodiff_kit.functions.declared import Dtype, Number, alias, function, overloaded
from autodiff_kit.methods.makers import running
from autodiff_kit.ops import scans
from autodiff_kit.return_types import pair
from autodiff_kit.tensor import Tensor

__all__ = ["cummax", "cummin", "cumprod", "cumulative_trapezoid", "diff", "logcumsumexp"]
__all__ += ["trapezoid", "trapz"]


@function
def cumprod(input: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    """Multiply along a dimension, and return every product on the way."""
    return running("cumprod", input, dim, dtype)


@function
def cummax(input: Tensor, dim: int) -> Any:
    """Return (values, indices): the largest elements so far along a dimension."""
    return pair("cummax", *scans.cummax(input, dim=_dim_of_extremes("cummax", input, dim)))


@function
def cummin(input: Tensor, dim: int) -> Any:
    """Return (values, indices): the smallest elements so far along a dimension."""
    return pair("cummin", *scans.cummin(input, dim=_dim_of_extremes("cummin", input, dim)))


def _dim_of_extremes(name: str, input: Tensor, dim: int) -> int:
    """Return the dimension; PyTorch does not look at it where there are no elements."""
    if not input.ndim and dim not in (0, -1):
        raise error("shapes.cum_dim_of_0d", name=name, dim=dim)
    return input._dim(dim) if input.numel() else 0


@function
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Return the logarithm of the running sum of exponentials along a dimension."""
    return scans.logcumsumexp(input, dim=input._dim(dim))


@function
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Return the differences of neighbours along a dimension; n times.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> torch.diff(torch.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    if not input.ndim:
        raise error("functions.diff_of_0d")
    if n < 0:
        raise error("functions.diff_order", n=n)
    dim = input._dim(dim)
    if n == 0:
        return input.clone()
    ends = [t for t in (prepend, input, append) if t is not None]
    if any(t.ndim != input.ndim for t in ends):
        raise error("functions.diff_ends")
    out = cat(ends, dim) if len(ends) > 1 else input
    for _ in range(n):
        size = out.shape[dim]
        if not size:
            return out
        later, earlier = (
            ops.slice_dim(out, dim=dim, start=start, end=start + size - 1, step=1)
            for start in (1, 0)
        )
        out = ops.bitwise_xor(later, earlier) if out._array.dtype == bool else later - earlier
    return out


_TRAPEZOID = (
    "(Tensor y, Tensor x, *, int dim = -1)",
    "(Tensor y, *, Number dx = 1, int dim = -1)",
)


@overloaded(*_TRAPEZOID)
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """Return the area below a curve through points, along a dimension."""
    dim = y._dim(dim)
    size = y.shape[dim]
    if not size:
        return y.sum(dim)
    if x is not None:
        return (_widths(x, y, dim) * _pairs(y, dim)).sum(dim) / 2.0
    ends = (y.select(dim, 0) + y.select(dim, size - 1)) * 0.5
    return (y.sum(dim) - ends) * dx


trapz = alias("trapz", trapezoid)


@overloaded(*_TRAPEZOID)
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: int = -1
) -> Tensor:
    """Return the running area below a curve through points, along a dimension."""
    dim = y._dim(dim)
    if x is not None:
        return (_widths(x, y, dim) * _pairs(y, dim)).cumsum(dim) / 2.0
    return (_pairs(y, dim) * (dx / 2.0)).cumsum(dim)


def _pairs(y: Tensor, dim: int) -> Tensor:
    """Return the sums of neighbours."""
    size = y.shape[dim]
    return y.narrow(dim, 0, max(size - 1, 0)) + y.narrow(dim, min(size, 1), max(size - 1, 0))


def _widths(x: Tensor, y: Tensor, dim: int) -> Tensor:
    """Return the distances of neighbours on the axis, in the shape that y needs."""
    if x.ndim == 1 != y.ndim:
        x = x.view([-1 if d == dim else 1 for d in range(y.ndim)])
    return diff(x, dim=dim - y.ndim)
