"""The methods of a tensor that are not operators: PyTorch's signatures over the op table.

After reading this file you can find any method: arguments are checked and brought into the form
that the ops take, nothing is computed here. Read next: ``ops/reduction.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autodiff_kit import dtypes, inplace, ops
from autodiff_kit.errors import teach

if TYPE_CHECKING:
    from autodiff_kit.tensor import Tensor

__all__ = ["Methods", "ValuesAndIndices"]


class ValuesAndIndices(NamedTuple):
    """What ``max(dim)`` and ``min(dim)`` return."""

    values: Tensor
    indices: Tensor


def _simple(name: str) -> Any:
    """Make a method of one op without parameters."""

    def method(self: Any, *others: Any) -> Any:
        return getattr(ops, name)(self, *others)

    method.__name__ = name
    method.__doc__ = f"See ``autodiff_kit.{name}``."
    return method


def _in_place(name: str) -> Any:
    """Make the in-place form of a method: ``add_`` from ``add``."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return inplace.change(self, f"{name}_", getattr(type(self), name), *args, **kwargs)

    method.__name__ = f"{name}_"
    method.__doc__ = f"Do ``{name}`` in place; return the tensor itself."
    return method


class Methods:
    """Mixed into ``Tensor``."""

    __slots__ = ()

    _array: Any

    # -- elementwise ---------------------------------------------------------------------------

    exp, log, log1p, expm1 = map(_simple, ("exp", "log", "log1p", "expm1"))
    sqrt, rsqrt, reciprocal = map(_simple, ("sqrt", "rsqrt", "reciprocal"))
    sin, cos, tan, tanh = map(_simple, ("sin", "cos", "tan", "tanh"))
    sigmoid, relu, abs, neg = map(_simple, ("sigmoid", "relu", "abs", "neg"))
    sign, floor, ceil, round, trunc = map(_simple, ("sign", "floor", "ceil", "round", "trunc"))
    maximum, minimum, remainder = map(_simple, ("maximum", "minimum", "remainder"))
    isnan, isinf, isfinite = map(_simple, ("isnan", "isinf", "isfinite"))
    eq, ne, lt, le, gt, ge = map(_simple, ("eq", "ne", "lt", "le", "gt", "ge"))
    mul, div, matmul, mm, mv, dot, bmm = map(
        _simple, ("mul", "div", "matmul", "mm", "mv", "dot", "bmm")
    )
    logical_not = _simple("logical_not")

    def add(self: Any, other: Any, *, alpha: float = 1) -> Tensor:
        """Return ``self + alpha * other``."""
        return ops.add(self, other) if alpha == 1 else ops.add_scaled(self, other, alpha=alpha)

    def sub(self: Any, other: Any, *, alpha: float = 1) -> Tensor:
        """Return ``self - alpha * other``."""
        return ops.sub(self, other) if alpha == 1 else ops.sub_scaled(self, other, alpha=alpha)

    def pow(self: Any, exponent: Any) -> Tensor:
        """Return ``self ** exponent``; the exponent is a number or a tensor."""
        if isinstance(exponent, Methods):
            return ops.pow_tensor(self, exponent)  # type: ignore[no-any-return]
        if isinstance(exponent, np.generic):
            exponent = exponent.item()
        if not isinstance(exponent, int | float):
            raise TypeError(
                f"pow(): argument 'exponent' (position 1) must be Tensor or Number, "
                f"not {type(exponent).__name__}"
            )
        if isinstance(exponent, float) and self._array.dtype.kind != "f":
            self = self.to(dtypes.get_default_dtype())
        return ops.pow_to_number(self, exponent=exponent)  # type: ignore[no-any-return]

    def square(self: Any) -> Tensor:
        """Return ``self ** 2``."""
        return ops.pow_to_number(self, exponent=2)  # type: ignore[no-any-return]

    def clamp(self: Any, min: Any = None, max: Any = None) -> Tensor:
        """Limit to the range from ``min`` to ``max``; numbers, one of them may be None."""
        if min is None and max is None:
            raise RuntimeError(
                teach("torch.clamp: At least one of 'min' or 'max' must not be None", "Give one.")
            )
        return ops.clamp(self, min=min, max=max)  # type: ignore[no-any-return]

    clip = clamp

    def clamp_min(self: Any, min: Any) -> Tensor:
        """Limit from below."""
        return ops.clamp(self, min=min)  # type: ignore[no-any-return]

    def clamp_max(self: Any, max: Any) -> Tensor:
        """Limit from above."""
        return ops.clamp(self, max=max)  # type: ignore[no-any-return]

    def where(self: Any, condition: Tensor, other: Any) -> Tensor:
        """Return ``self`` where the condition holds, else ``other``."""
        from autodiff_kit.functions import where

        return where(condition, self, other)

    def clone(self: Any) -> Tensor:
        """Return a copy with memory of its own; gradients flow back through it."""
        return ops.clone(self)  # type: ignore[no-any-return]

    def contiguous(self: Any) -> Tensor:
        """Return the tensor itself, or a copy whose elements lie row by row."""
        return self if self.is_contiguous() else self.clone()

    # -- in place ------------------------------------------------------------------------------

    add_, sub_, mul_, div_, pow_ = map(_in_place, ("add", "sub", "mul", "div", "pow"))
    exp_, log_, sqrt_, tanh_, relu_ = map(_in_place, ("exp", "log", "sqrt", "tanh", "relu"))
    sin_, cos_, sigmoid_, abs_, neg_ = map(_in_place, ("sin", "cos", "sigmoid", "abs", "neg"))
    square_, clamp_, reciprocal_ = map(_in_place, ("square", "clamp", "reciprocal"))

    def copy_(self: Any, source: Tensor) -> Tensor:
        """Copy the elements of ``source`` into this tensor."""
        return inplace.change(self, "copy_", ops.put, source, key=(...,))

    def fill_(self: Any, value: Any) -> Tensor:
        """Set every element to one value."""
        return inplace.change(self, "fill_", ops.put, value, key=(...,))

    def zero_(self: Any) -> Tensor:
        """Set every element to 0."""
        return self.fill_(0)  # type: ignore[no-any-return]

    # -- reductions ----------------------------------------------------------------------------

    def sum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
        """Add up all elements, or those along ``dim`` (an int or several)."""
        if dtype is not None:
            self = self.to(dtype)
        if dim is None and not keepdim:
            return ops.sum_all(self)  # type: ignore[no-any-return]
        return ops.sum_dim(self, dim=self._dims(dim), keepdim=keepdim)  # type: ignore[no-any-return]

    def mean(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
        """Average all elements, or those along ``dim`` (an int or several)."""
        if dtype is not None:
            self = self.to(dtype)
        if self._array.dtype.kind != "f":
            name = {"Bool": "Bool", "Byte": "Byte"}.get(
                dtypes.tensor_type(self._array.dtype), dtypes.tensor_type(self._array.dtype)
            )
            raise RuntimeError(
                teach(
                    "mean(): could not infer output dtype. Input dtype must be either a floating "
                    f"point or complex dtype. Got: {name}",
                    "Convert first: x.float().mean().",
                )
            )
        if dim is None and not keepdim:
            return ops.mean_all(self)  # type: ignore[no-any-return]
        return ops.mean_dim(self, dim=self._dims(dim), keepdim=keepdim)  # type: ignore[no-any-return]

    def prod(self: Any) -> Tensor:
        """Multiply all elements."""
        return ops.prod_all(self)  # type: ignore[no-any-return]

    def max(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the largest element; with ``dim`` (values, indices); with a tensor, the larger."""
        return _extreme(self, "max", dim, keepdim)

    def min(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the smallest element; with ``dim`` (values, indices); with a tensor, the smaller."""
        return _extreme(self, "min", dim, keepdim)

    def amax(self: Any, dim: Any = (), keepdim: bool = False) -> Tensor:
        """Return the largest elements along ``dim``; equal ones share the gradient."""
        return ops.amax(self, dim=self._dims(dim), keepdim=keepdim)  # type: ignore[no-any-return]

    def amin(self: Any, dim: Any = (), keepdim: bool = False) -> Tensor:
        """Return the smallest elements along ``dim``; equal ones share the gradient."""
        return ops.amin(self, dim=self._dims(dim), keepdim=keepdim)  # type: ignore[no-any-return]

    def argmax(self: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return where the largest element is."""
        dim = None if dim is None else self._dim(dim)
        return ops.argmax(self, dim=dim, keepdim=keepdim)  # type: ignore[no-any-return]

    def argmin(self: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return where the smallest element is."""
        dim = None if dim is None else self._dim(dim)
        return ops.argmin(self, dim=dim, keepdim=keepdim)  # type: ignore[no-any-return]

    def all(self: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Tell whether no element is zero or false."""
        dim = None if dim is None else self._dims(dim)
        return ops.all_elements(self, dim=dim, keepdim=keepdim)  # type: ignore[no-any-return]

    def any(self: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Tell whether some element is not zero or false."""
        dim = None if dim is None else self._dims(dim)
        return ops.any_element(self, dim=dim, keepdim=keepdim)  # type: ignore[no-any-return]

    # -- shapes --------------------------------------------------------------------------------

    def reshape(self: Any, *shape: Any) -> Tensor:
        """Return the same elements in another shape: a view where possible, else a copy."""
        sizes = _complete(self, _sizes(shape))
        if not _can_view(self._array, sizes):
            return ops.unsafe_view(self.clone(), shape=sizes)  # type: ignore[no-any-return]
        return ops.reshape(self, shape=sizes)  # type: ignore[no-any-return]

    def view(self: Any, *shape: Any) -> Tensor:
        """Return the same memory in another shape.

        Raises
        ------
        RuntimeError
            If the elements do not lie in memory so that this is possible.
        """
        if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
            raise NotImplementedError("view(dtype) is not part of the kit; PyTorch has it.")
        sizes = _complete(self, _sizes(shape))
        if not _can_view(self._array, sizes):
            raise RuntimeError(
                teach(
                    "view size is not compatible with input tensor's size and stride (at least one "
                    "dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
                    "A view may not move elements, and a transposed tensor's do not lie in order.",
                )
            )
        return ops.reshape(self, shape=sizes)  # type: ignore[no-any-return]

    def view_as(self: Any, other: Tensor) -> Tensor:
        """Return a view in the shape of another tensor."""
        return self.view(other.shape)  # type: ignore[no-any-return]

    def flatten(self: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """Join dimensions ``start_dim`` to ``end_dim`` into one."""
        if self.ndim == 0:
            return self.reshape(1)  # type: ignore[no-any-return]
        start, end = self._dim(start_dim), self._dim(end_dim)
        if start == end:
            return self  # type: ignore[no-any-return]
        return self.reshape(*self.shape[:start], -1, *self.shape[end + 1 :])  # type: ignore[no-any-return]

    def ravel(self: Any) -> Tensor:
        """Return the elements in one dimension."""
        return self.reshape(-1)  # type: ignore[no-any-return]

    def permute(self: Any, *dims: Any) -> Tensor:
        """Reorder the dimensions."""
        order = tuple(self._dim(d) for d in _sizes(dims))
        if sorted(order) != list(range(self.ndim)):
            raise RuntimeError(
                teach(
                    "permute(sparse_coo): number of dimensions in the tensor input does not match "
                    "the length of the desired ordering of dimensions i.e. input.dim() = "
                    f"{self.ndim} is not equal to len(dims) = {len(order)}",
                    "Name every dimension once.",
                )
            )
        return ops.permute(self, dims=order)  # type: ignore[no-any-return]

    @property
    def T(self: Any) -> Tensor:
        """The tensor with its dimensions reversed."""
        return ops.permute(self, dims=tuple(range(self.ndim))[::-1])  # type: ignore[no-any-return]

    @property
    def mT(self: Any) -> Tensor:
        """The tensor with its last two dimensions swapped."""
        return self.transpose(-2, -1)  # type: ignore[no-any-return]

    def t(self: Any) -> Tensor:
        """Transpose a matrix."""
        if self.ndim > 2:
            raise RuntimeError(
                teach(
                    f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D",
                    "Use transpose(dim0, dim1).",
                )
            )
        return ops.t(self)  # type: ignore[no-any-return]

    def transpose(self: Any, dim0: int, dim1: int) -> Tensor:
        """Swap two dimensions."""
        return ops.transpose(self, dim0=self._dim(dim0), dim1=self._dim(dim1))  # type: ignore[no-any-return]

    def squeeze(self: Any, dim: int | None = None) -> Tensor:
        """Remove dimensions of size 1: all, or one."""
        if dim is None:
            return ops.squeeze(self)  # type: ignore[no-any-return]
        return ops.squeeze_dim(self, dim=self._dim(dim))  # type: ignore[no-any-return]

    def unsqueeze(self: Any, dim: int) -> Tensor:
        """Insert a dimension of size 1."""
        return ops.unsqueeze(self, dim=self._dim(dim, extra=1))  # type: ignore[no-any-return]

    def expand(self: Any, *sizes: Any) -> Tensor:
        """Repeat dimensions of size 1 without copying; -1 keeps a size."""
        wanted = _sizes(sizes)
        own = (1,) * (len(wanted) - self.ndim) + tuple(self.shape)
        shape = tuple(
            n if m == -1 else m
            for n, m in zip(own[-len(wanted) :] if wanted else (), wanted, strict=True)
        )
        for i, (n, m) in enumerate(zip(own, shape, strict=False)):
            if n not in (1, m) or len(own) > len(shape):
                raise RuntimeError(
                    teach(
                        f"The expanded size of the tensor ({m}) must match the existing size ({n}) "
                        f"at non-singleton dimension {i}.  Target sizes: {list(wanted)}.  Tensor "
                        f"sizes: {list(self.shape)}",
                        "Only dimensions of size 1 can be repeated.",
                    )
                )
        return ops.expand(self, shape=shape)  # type: ignore[no-any-return]

    def expand_as(self: Any, other: Tensor) -> Tensor:
        """Expand to the shape of another tensor."""
        return self.expand(other.shape)  # type: ignore[no-any-return]

    def repeat(self: Any, *repeats: Any) -> Tensor:
        """Copy along the dimensions."""
        return ops.repeat(self, repeats=_sizes(repeats))  # type: ignore[no-any-return]

    def flip(self: Any, *dims: Any) -> Tensor:
        """Reverse the order along dimensions."""
        return ops.flip(self, dims=tuple(self._dim(d) for d in _sizes(dims)))  # type: ignore[no-any-return]

    def select(self: Any, dim: int, index: int) -> Tensor:
        """Take the entries with one index along a dimension."""
        return ops.getitem(self, (slice(None),) * self._dim(dim) + (index,))

    def narrow(self: Any, dim: int, start: int, length: int) -> Tensor:
        """Take ``length`` entries from ``start`` along a dimension."""
        return ops.slice_dim(  # type: ignore[no-any-return]
            self, dim=self._dim(dim), start=start, end=start + length, step=1
        )

    def alias(self: Any) -> Tensor:
        """Return a view of everything: what ``x[:]`` is."""
        return ops.alias(self)  # type: ignore[no-any-return]

    # -- types ---------------------------------------------------------------------------------

    def to(
        self: Any, *args: Any, dtype: Any = None, device: Any = None, copy: bool = False
    ) -> Tensor:
        """Convert to a dtype (or to another tensor's); a device other than the CPU is refused."""
        for arg in args:
            if isinstance(arg, dtypes.dtype):
                dtype = arg
            elif isinstance(arg, Methods):
                dtype = dtypes.from_numpy_dtype(arg._array.dtype)
            elif arg is not None:
                dtypes.device(arg)
        if device is not None:
            dtypes.device(device)
        wanted = self._array.dtype if dtype is None else dtype.numpy
        if wanted == self._array.dtype and not copy:
            return self  # type: ignore[no-any-return]
        return ops.to_copy(self, dtype=wanted)  # type: ignore[no-any-return]

    def type(self: Any, dtype: Any) -> Tensor:
        """Convert to a dtype."""
        return self.to(dtype)  # type: ignore[no-any-return]

    def type_as(self: Any, other: Tensor) -> Tensor:
        """Convert to the dtype of another tensor."""
        return self.to(other.dtype)  # type: ignore[no-any-return]

    def float(self: Any) -> Tensor:
        """Convert to float32."""
        return self.to(dtypes.float32)  # type: ignore[no-any-return]

    def double(self: Any) -> Tensor:
        """Convert to float64."""
        return self.to(dtypes.float64)  # type: ignore[no-any-return]

    def int(self: Any) -> Tensor:
        """Convert to int32."""
        return self.to(dtypes.int32)  # type: ignore[no-any-return]

    def long(self: Any) -> Tensor:
        """Convert to int64."""
        return self.to(dtypes.int64)  # type: ignore[no-any-return]

    def bool(self: Any) -> Tensor:
        """Convert to bool."""
        return self.to(dtypes.bool_)  # type: ignore[no-any-return]

    # -- checking arguments --------------------------------------------------------------------

    def _dim(self: Any, dim: Any, extra: Any = 0) -> Any:
        count = self._array.ndim + extra
        low, high = -max(count, 1), max(count, 1) - 1
        if not low <= dim <= high:
            raise IndexError(
                teach(
                    "Dimension out of range (expected to be in range of "
                    f"[{low}, {high}], but got {dim})",
                    f"The tensor has shape {self.shape}.",
                )
            )
        return dim % max(count, 1)

    def _dims(self: Any, dim: Any) -> Any:
        if dim is None or dim == ():
            return tuple(range(self._array.ndim))
        dims = tuple(self._dim(d) for d in (dim if isinstance(dim, tuple | list) else (dim,)))
        for d in dims:
            if dims.count(d) > 1:
                raise RuntimeError(
                    teach(f"dim {d} appears multiple times in the list of dims", "Name it once.")
                )
        return dims if self._array.ndim else ()


def _extreme(tensor: Any, name: str, dim: Any, keepdim: Any) -> Any:
    if isinstance(dim, Methods):
        return getattr(ops, f"{name}imum")(tensor, dim)
    if tensor._array.size == 0:
        raise RuntimeError(
            teach(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument.",
                "The tensor has no elements.",
            )
        )
    if dim is None:
        return getattr(ops, f"{name}_all")(tensor)
    from autodiff_kit.tensor import wrap

    values, indices = getattr(ops, f"{name}_dim")(tensor, dim=tensor._dim(dim), keepdim=keepdim)
    return ValuesAndIndices(values, wrap(indices))


def _sizes(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(shape) == 1 and isinstance(shape[0], tuple | list):
        shape = tuple(shape[0])
    return tuple(int(n) for n in shape)


def _complete(tensor: Any, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """Fill in a -1, so that nodes and messages have the whole shape."""
    known = int(np.prod([n for n in shape if n != -1]))
    size = tensor._array.size
    if shape.count(-1) == 1 and known and size % known == 0:
        return tuple(size // known if n == -1 else n for n in shape)
    return shape


def _can_view(array: Any, shape: tuple[Any, ...]) -> Any:
    """Return whether the elements lie in memory so that a view of ``shape`` is possible."""
    if (
        not isinstance(array, np.ndarray)
        or array.flags.c_contiguous
        or int(np.prod(shape)) != array.size
    ):
        return True  # a wrong size is reported by the op
    return np.may_share_memory(array.reshape(shape), array)
