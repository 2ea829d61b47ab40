"""The methods that work along dimensions: sums, extremes, questions, running sums, order.

After reading this file you know what no ``dim`` means, and what returns values and indices. Nothing
is computed here. Read next: ``selecting.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit import dtypes, ops
from autodiff_kit.calls import check_calls
from autodiff_kit.core.base import TensorBase
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.from_data import as_int
from autodiff_kit.methods.makers import (
    Own,
    along_dim,
    deviation,
    extreme,
    largest,
    pair_of,
    question,
)
from autodiff_kit.operands import check_bool
from autodiff_kit.sizes import (
    EVERY,
    check_norm,
    computed_in,
    converted,
    dim_and_descending,
    norm_dims,
)

__all__ = ["Reductions"]


class Reductions:
    """Mixed into ``Tensor``."""

    __slots__ = ()

    _array: Any
    _dim: Any
    _dims: Any

    def sum(self: Own, dim: Any = EVERY, keepdim: bool = False, *, dtype: Any = None) -> Own:
        """Add up all elements, or those along ``dim`` (an int or several)."""
        if dtype is not None:
            total: Any = converted(converted(self, dtype).sum(dim, keepdim), dtype)
            return total
        if dim is EVERY and not keepdim:
            return ops.sum_all(self)
        return ops.sum_dim(self, dim=self._dims(dim), keepdim=keepdim)

    def mean(self: Own, dim: Any = EVERY, keepdim: bool = False, *, dtype: Any = None) -> Own:
        """Average all elements, or those along ``dim`` (an int or several)."""
        kind = self._array.dtype if dtype is None else dtypes.as_dtype(dtype, "mean").numpy
        if kind.kind != "f":
            which = "Input" if dtype is None else "Optional"
            raise error("reductions.mean_of_whole", which=which, kind=dtypes.tensor_type(kind))
        self = converted(self, dtype)
        if dim is EVERY and not keepdim:
            return ops.mean_all(self)
        return ops.mean_dim(self, dim=self._dims(dim), keepdim=keepdim)

    def prod(self: Own, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Own:
        """Multiply all elements, or those along one dimension."""
        options: Keywords = {} if dim is None else {"dim": self._dim(dim), "keepdim": keepdim}
        product = ops.prod_all if dim is None else ops.prod_dim
        if dtype is None:
            return product(self, **options)
        result: Any = converted(computed_in(dtype, product, self, **options), dtype)
        return result

    max, min = map(extreme, ("max", "min"))
    amax, amin, argmax, argmin = map(largest, ("amax", "amin", "argmax", "argmin"))
    all, any = map(question, ("all", "any"))
    var, std = map(deviation, ("var", "std"))
    cumsum, softmax, log_softmax = map(along_dim, ("cumsum", "softmax", "log_softmax"))

    def logsumexp(self: Own, dim: Any, keepdim: bool = False) -> Own:
        """Return the logarithm of the sum of ``exp``: a smooth maximum."""
        if dim is None:
            raise TypeError  # the words come from ``signatures.py``
        return ops.logsumexp(self, dim=self._dims(dim), keepdim=keepdim)

    def norm(
        self: Own, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
    ) -> Own:
        """Return the root of the sum of squares (p = 2 or "fro"), or the length for another p."""
        if not isinstance(p, TensorBase) and p in ("fro", None):
            p = 2
            if not isinstance(dim, int | None):
                len(dim)  # as PyTorch does, which one number in a tensor fails
        p = p.item() if isinstance(p, TensorBase) else p
        if isinstance(p, str):
            raise error("reductions.norm_order", p=p)
        check_norm("vector_norm", self, dtype)
        check_bool("linalg_vector_norm", "keepdim", keepdim, " (position 4)")
        options: Keywords = {"ord": p, "dim": norm_dims(self, p, dim), "keepdim": keepdim}
        return computed_in(dtype, ops.linalg_vector_norm, self, **options)

    def sort(
        self: Any,
        first: int | None = None,
        second: bool | None = None,
        *,
        dim: int | None = None,
        descending: bool | None = None,
        stable: bool | None = None,
    ) -> Any:
        """Return (values, indices): the elements in order along ``dim``; where they were."""
        how = dim_and_descending("sort", first, second, dim, descending, stable)
        how["dim"] = self._dim(how["dim"])
        return pair_of("sort", *ops.sort(self, **how))

    def topk(self: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        """Return (values, indices): the k largest, or smallest, elements along ``dim``."""
        k, dim = as_int(k), self._dim(dim)
        return pair_of("topk", *ops.topk(self, k=k, dim=dim, largest=largest, sorted=sorted))

    check_calls(vars())
