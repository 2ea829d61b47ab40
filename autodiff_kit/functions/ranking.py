"""Elements by their rank, and statistics: ``median``, ``quantile``, ``std_mean``, ``histc`` ...

After reading this file you know that a quantile is a point between two neighbours in sorted order,
so that its gradient goes to these two. Read next: ``scans.py``.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit import ops
from autodiff_kit.core.base import wrap
from autodiff_kit.dtypes import result_dtype, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.functions.declared import Dtype, Ints, Number, Operand, function, overloaded
from autodiff_kit.functions.pairs import lerp
from autodiff_kit.ops import counting, ordering
from autodiff_kit.ops.checks import refuse_bool_difference
from autodiff_kit.return_types import pair
from autodiff_kit.sizes import computed_in, dim_and_descending, dim_or_unbiased
from autodiff_kit.tensor import Tensor

__all__ = ["aminmax", "argsort", "corrcoef", "cov", "dist", "histc", "histogram", "kthvalue"]
__all__ += ["median", "mode", "msort", "nanmean", "nanmedian", "nanquantile", "nansum", "quantile"]
__all__ += ["std_mean", "var_mean"]


def _refuse_empty(name: str, input: Tensor, dim: int) -> None:
    if input.ndim and not input.shape[dim]:
        raise error("functions.rank_in_nothing", name=name, dim=dim)


@overloaded("(Tensor input)", "(Tensor input, int dim, bool keepdim = False)")
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the element in the middle, the lower one of two; (values, indices) along ``dim``."""
    if dim is None:
        return ordering.median_all(input)
    along = input._dim(dim)
    _refuse_empty("median", input, along)
    return pair("median", *ordering.median_dim(input, dim=along, keepdim=keepdim))


@overloaded("(Tensor input)", "(Tensor input, int dim, bool keepdim = False)")
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median of the elements that are not nan; (values, indices) along ``dim``."""
    if dim is None:
        return ordering.nanmedian_all(input)
    along = input._dim(dim)
    _refuse_empty("nanmedian", input, along)
    return pair("nanmedian", *ordering.nanmedian_dim(input, dim=along, keepdim=keepdim))


@function
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Return (values, indices): the k-th smallest elements along a dimension, k from 1."""
    along = input._dim(dim)
    _refuse_empty("kthvalue", input, along)
    return pair("kthvalue", *ordering.kthvalue(input, k=k, dim=along, keepdim=keepdim))


@function
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """Return (values, indices): the commonest elements along a dimension."""
    along = input._dim(dim)
    _refuse_empty("mode", input, along)
    return pair("mode", *ordering.mode(input, dim=along, keepdim=keepdim))


@overloaded(
    "(Tensor input, *, bool stable, int dim = -1, bool descending = False)",
    "(Tensor input, int dim = -1, bool descending = False)",
)
def argsort(
    input: Tensor,
    first: int | None = None,
    second: bool | None = None,
    *,
    dim: int | None = None,
    descending: bool | None = None,
    stable: bool | None = None,
) -> Tensor:
    """Return where the elements are in sorted order along a dimension."""
    values_and_indices = input.sort(
        **dim_and_descending("argsort", first, second, dim, descending, stable)
    )
    return values_and_indices.indices


@function
def msort(input: Tensor) -> Tensor:
    """Sort along the first dimension."""
    return input.sort(0).values


# -- quantiles ------------------------------------------------------------------------------------

_QUANTILE = "int dim = None, bool keepdim = False, *, str interpolation = 'linear'"


@overloaded(f"(Tensor input, Tensor q, {_QUANTILE})", f"(Tensor input, float q, {_QUANTILE})")
def quantile(
    input: Tensor,
    q: Operand,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return the numbers below which a part ``q`` of the elements lies; one row for each ``q``."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


@overloaded(f"(Tensor input, Tensor q, {_QUANTILE})", f"(Tensor input, float q, {_QUANTILE})")
def nanquantile(
    input: Tensor,
    q: Operand,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return quantiles of the elements that are not nan."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)


def _quantile(
    name: str, input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    if not isinstance(q, Tensor | int | float):
        raise TypeError  # the words come from ``signatures.py``
    kind = input._array.dtype
    if not input.numel():
        raise error("functions.quantile_of_nothing", name=name)
    if kind not in ("float32", "float64"):
        raise error("functions.quantile_dtype", name=name)
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise error("functions.quantile_interpolation", name=name, given=interpolation)
    if isinstance(q, Tensor):
        if q.ndim > 1:
            raise error("functions.quantile_q_ndim", name=name)
        if q._array.dtype != kind:
            raise error("functions.quantile_q_dtype", name=name)
    elif not 0 <= q <= 1:
        raise error("functions.quantile_range", name=name, q=q)
    if dim is not None:
        input._dim(dim)
    parts = q if isinstance(q, Tensor) else wrap(kind.type(q))
    if ((parts._array < 0) | (parts._array > 1)).any():
        raise error("functions.quantile_range_of_tensor", name=name)
    if dim is None or not input.ndim:
        rows = input.flatten()
    elif input._dim(dim) == input.ndim - 1:
        rows = input
    else:
        place = input._dim(dim)
        rows = input.unsqueeze(-1).transpose(place, -1).squeeze(place)
    ordered = rows.sort(-1).values
    values = _between(ordered, parts, interpolation, name == "nanquantile")
    own = [*input.shape] if dim is not None else []
    if own:
        own[input._dim(dim) : input._dim(dim) + 1] = [1] if keepdim else []
    elif keepdim:
        own = [1] * input.ndim
    if not parts.ndim:
        out = ops.drop_dim(values, dim=values.ndim - 1)
    else:
        last_first = values.unsqueeze(0).transpose(0, -1)
        out, own = ops.drop_dim(last_first, dim=last_first.ndim - 1), [len(parts), *own]
    return out if [*out.shape] == own else out.reshape(own)


def _between(ordered: Tensor, parts: Tensor, interpolation: str, ignores_nan: bool) -> Tensor:
    """Return the numbers at the parts q of sorted rows; the last dimension counts the parts."""
    last = ordered.shape[-1] - 1
    array = ordered._array
    unknown = np.isnan(array)
    q = np.atleast_1d(parts._array)
    if ignores_nan:
        valid = (~unknown).sum(-1, keepdims=True) - 1
        ranks = np.maximum(q * valid.astype(array.dtype), 0)
    else:  # a row with a nan, which is sorted to its end, has no other quantile
        ranks = np.where(unknown.any(-1, keepdims=True), last, q * array.dtype.type(last))
    rounded: Any = {"lower": np.floor, "higher": np.ceil, "nearest": np.round}.get(interpolation)
    ranks = ranks.astype(array.dtype) if rounded is None else rounded(ranks)
    low, high = np.floor(ranks).astype("int64"), np.ceil(ranks).astype("int64")
    below = ordered.gather(-1, wrap(low))
    if rounded is not None:
        return below
    weights = np.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - low
    return lerp(below, ordered.gather(-1, wrap(high)), wrap(weights.astype(array.dtype)))


# -- two answers at once --------------------------------------------------------------------------


class _Extremes(NamedTuple):
    """What ``aminmax`` returns."""

    min: Tensor
    max: Tensor

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"torch.return_types.{name}(\nmin={self.min!r},\nmax={self.max!r})"


_Extremes.__name__ = "aminmax"


@function
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return (min, max): of all elements, or along a dimension."""
    if not input.numel() and dim is None:
        raise error("functions.aminmax_of_nothing")
    if dim is not None and input.ndim and not input.size(dim):
        raise error("functions.aminmax_dim", dim=input._dim(dim))
    dims = tuple(range(input.ndim)) if dim is None else (input._dim(dim),) * bool(input.ndim)
    how: Any = {"dim": dims, "keepdim": keepdim}
    return _Extremes(*ordering.aminmax(input, **how))


_DEVIATION = (
    "(Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False)",
    "(Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False)",
    "(Tensor input, bool unbiased = True)",
)


@overloaded(*_DEVIATION)
def std_mean(
    input: Tensor,
    first: Any = None,
    unbiased: bool | None = None,
    keepdim: bool | None = None,
    *,
    dim: Ints | None = None,
    correction: Number = None,
) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean: of all elements, or along dimensions."""
    how = _deviation_of("std_mean", input, first, dim, unbiased, keepdim, correction)
    return ordering.std_mean(input, **how)


@overloaded(*_DEVIATION)
def var_mean(
    input: Tensor,
    first: Any = None,
    unbiased: bool | None = None,
    keepdim: bool | None = None,
    *,
    dim: Ints | None = None,
    correction: Number = None,
) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean: of all elements, or along dimensions."""
    how = _deviation_of("var_mean", input, first, dim, unbiased, keepdim, correction)
    return ordering.var_mean(input, **how)


def _deviation_of(
    name: str, input: Tensor, first: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any
) -> Keywords:
    dim, unbiased = dim_or_unbiased(name, first, dim, unbiased, keepdim, correction)
    if input._array.dtype.kind != "f":
        raise error("functions.deviation_dtype", name=name)
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return {"dim": input._dims(dim), "correction": correction, "keepdim": bool(keepdim)}


@function
def nansum(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """Add up; nan counts as 0."""
    options: Keywords = {"dim": input._dims(dim), "keepdim": keepdim}
    total: Tensor = computed_in(dtype, ordering.nansum, input, **options)
    return total


@function
def nanmean(
    input: Tensor,
    dim: Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """Average the elements that are not nan."""
    if input._array.dtype.kind != "f":
        raise error("functions.nanmean_dtype", kind=tensor_type(input._array.dtype))
    count = (~input.detach().isnan()).sum(dim, keepdim)
    total: Tensor = nansum(input, dim, keepdim, dtype=dtype)
    return total / count


@function
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """Return the length of the difference of two tensors."""
    refuse_bool_difference(input._array, other._array)
    if result_dtype(input._array, other._array).kind != "f":
        raise error("functions.dist_dtype", kind=tensor_type(input._array.dtype))
    return ordering.dist(input, other, p=p)


@function
def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Return the covariances of variables, which are rows; observations are columns."""
    if input.ndim > 2:
        raise error("functions.cov_ndim", name="cov", ndim=input.ndim)
    x = input.view(1, -1) if input.ndim < 2 else input
    if x._array.dtype.kind != "f":
        x = x.float()
    weights = fweights
    if aweights is not None:
        weights = aweights if fweights is None else fweights * aweights
    total = x.shape[1] if weights is None else weights.sum()
    mean = (x.sum(1) if weights is None else (x * weights).sum(1)) / total
    free = total - correction
    if weights is not None and correction and aweights is not None:
        free = total - correction * (weights * aweights).sum() / total
    if not isinstance(free, Tensor):
        free = wrap(x._array.dtype.type(free))
    if free.item() <= 0:
        words = "degrees of freedom is <= 0. Correction should be strictly less than the number of"
        warnings.warn(f"cov(): {words} observations.", UserWarning, stacklevel=2)
        free = free * 0
    x = x - mean.unsqueeze(1)
    other = x if weights is None else x * weights
    return (x.mm(other.t()) / free).squeeze()


@function
def corrcoef(input: Tensor) -> Tensor:
    """Return the correlations of variables, which are rows; observations are columns."""
    if input.ndim > 2:
        raise error("functions.cov_ndim", name="corrcoef", ndim=input.ndim)
    c: Tensor = cov(input)
    if not c.ndim:
        return c / c
    deviation = c.diagonal().sqrt()
    return (c / deviation.view(-1, 1) / deviation.view(1, -1)).clamp(-1, 1)


# -- histograms -----------------------------------------------------------------------------------


def _range(name: str, input: Tensor, low: float, high: float, margin: float) -> tuple[float, float]:
    if low > high:
        raise error("functions.histogram_range", name=name)
    if low == high and input.numel():
        low, high = float(input._array.min()), float(input._array.max())
    return (low - margin, high + margin) if low == high else (low, high)


@function
def histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """Count the elements in intervals of one length, from min to max or over all that is there."""
    if bins <= 0:
        raise error("functions.histogram_bins", bins=bins)
    low, high = _range("torch.histc", input, min, max, 1.0)
    return counting.histc(input, bins=bins, low=low, high=high)


class _Histogram(NamedTuple):
    """What ``histogram`` returns."""

    hist: Tensor
    bin_edges: Tensor

    def __repr__(self) -> str:
        names = self.hist, self.bin_edges
        return "torch.return_types.histogram(\nhist={!r},\nbin_edges={!r})".format(*names)


@overloaded(
    "(Tensor input, Tensor bins, *, Tensor weight = None, bool density = False)",
    "(Tensor input, int bins = 100, *, tuple of floats range = None, Tensor weight = None, "
    "bool density = False)",
)
def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """Return (hist, bin_edges): the numbers of elements in intervals, and their bounds."""
    array, kind = input._array, input._array.dtype
    if kind.kind != "f":
        raise error("functional.whole_numbers", kernel="histogramdd", kind=tensor_type(kind))
    if isinstance(bins, Tensor):
        edges = bins._array
    else:
        low, high = range or (0.0, 0.0)
        low, high = _range("torch.histogram", input, low, high, 0.5)
        edges = np.linspace(low, high, bins + 1).astype(kind)
    counts = counting.histogram_of(array, edges, None if weight is None else weight._array)
    if density:
        counts = counts / counts.sum() / np.diff(edges)
    return _Histogram(wrap(counts.astype(kind)), wrap(edges))
