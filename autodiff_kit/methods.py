"""The methods of a tensor that are not operators: PyTorch's signatures over the op table.

After reading this file you can find any method: arguments are checked and brought into the form
that the ops take, nothing is computed here. Read next: ``ops/reduction.py``.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autodiff_kit import dtypes, inplace, ops
from autodiff_kit.errors import teach

if TYPE_CHECKING:
    from autodiff_kit.tensor import Tensor

__all__ = ["Methods", "ValuesAndIndices", "check_grad", "check_operand"]


class ValuesAndIndices(NamedTuple):
    """What ``max(dim)`` and ``min(dim)`` return."""

    values: Tensor
    indices: Tensor


def check_operand(name: str, argument: str, position: int, value: Any, numbers: Any) -> None:
    """Raise TypeError, in PyTorch's words, if ``value`` cannot be an operand.

    Parameters
    ----------
    name, argument : str
        The operation, and its name of the operand.
    position : int
        Of the operand in the call, counted from 1.
    value
        What was given.
    numbers : bool
        Whether Python numbers will do.
    """
    if isinstance(value, Methods) or (numbers and isinstance(value, _NUMBERS)):
        return
    advice = "Make a tensor of it first: torch.tensor(...)."
    if isinstance(value, np.ndarray):
        advice = "Make a tensor of it first: torch.from_numpy(array)."
    raise TypeError(
        teach(
            f"{name}(): argument '{argument}' (position {position}) must be Tensor, "
            f"not {type(value).__name__}",
            advice,
        )
    )


_NUMBERS = (int, float, np.generic)


def _unary(name: str) -> Any:
    """Make a method of one op without parameters."""

    def method(self: Any) -> Any:
        return getattr(ops, name)(self)

    method.__name__ = name
    method.__doc__ = f"See ``autodiff_kit.{name}``."
    return method


def _binary(name: str, argument: str = "other", *, numbers: bool = True) -> Any:
    """Make a method of one op with a second operand."""

    def method(self: Any, other: Any) -> Any:
        check_operand(name, argument, 1, other, numbers)
        return getattr(ops, name)(self, other)

    method.__name__ = name
    method.__doc__ = f"See ``autodiff_kit.{name}``."
    return method


def _product(name: str, argument: str, rank: int, message: str) -> Any:
    """Make a method of a matrix product that wants operands of certain ranks."""

    def method(self: Any, other: Any) -> Any:
        check_operand(name, argument, 1, other, numbers=False)
        ranks = self.ndim, other.ndim
        if ranks != (rank, 1 if name == "mv" else rank):
            which = "self" if ranks[0] != rank else "mat2"
            batch = "batch1" if ranks[0] != rank else "batch2"
            text = message.format(
                *ranks, which=which, batch=batch, size=self.size(0) if ranks[0] else 0
            )
            raise RuntimeError(teach(text, "x @ y picks the right product for any ranks."))
        return getattr(ops, name)(self, other)

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
    _node: Any

    # -- elementwise ---------------------------------------------------------------------------

    exp, log, log1p, expm1 = map(_unary, ("exp", "log", "log1p", "expm1"))
    sqrt, rsqrt, reciprocal = map(_unary, ("sqrt", "rsqrt", "reciprocal"))
    sin, cos, tan, tanh = map(_unary, ("sin", "cos", "tan", "tanh"))
    sigmoid, relu, abs, neg = map(_unary, ("sigmoid", "relu", "abs", "neg"))
    sign, floor, ceil, round, trunc = map(_unary, ("sign", "floor", "ceil", "round", "trunc"))
    isnan, isinf, isfinite = map(_unary, ("isnan", "isinf", "isfinite"))
    logical_not, bitwise_not = map(_unary, ("logical_not", "bitwise_not"))
    eq, ne, lt, le, gt, ge = map(_binary, ("eq", "ne", "lt", "le", "gt", "ge"))
    mul = _binary("mul")
    maximum, minimum = (_binary(name, numbers=False) for name in ("maximum", "minimum"))
    logical_and = _binary("logical_and", numbers=False)
    logical_or = _binary("logical_or", numbers=False)
    logical_xor = _binary("logical_xor", numbers=False)
    bitwise_and, bitwise_or, bitwise_xor = map(
        _binary, ("bitwise_and", "bitwise_or", "bitwise_xor")
    )
    matmul = _binary("matmul", numbers=False)
    mm = _product("mm", "mat2", 2, "{which} must be a matrix")
    mv = _product("mv", "vec", 2, "vector + matrix @ vector expected, got 1, {0}, {1}")
    dot = _product("dot", "tensor", 1, "1D tensors expected, but got {0}D and {1}D tensors")
    bmm = _product("bmm", "mat2", 3, "{batch} must be a 3D tensor")

    def add(self: Any, other: Any, *, alpha: float = 1) -> Tensor:
        """Return ``self + alpha * other``."""
        check_operand("add", "other", 1, other, numbers=True)
        if alpha == 1:
            return ops.add(self, other)
        return ops.add_scaled(self, other, alpha=alpha)

    def sub(self: Any, other: Any, *, alpha: float = 1) -> Tensor:
        """Return ``self - alpha * other``."""
        check_operand("sub", "other", 1, other, numbers=True)
        if alpha == 1:
            return ops.sub(self, other)
        return ops.sub_scaled(self, other, alpha=alpha)

    def div(self: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """Return ``self / other``, rounded if ``rounding_mode`` is ``"floor"`` or ``"trunc"``."""
        check_operand("div", "other", 1, other, numbers=True)
        if rounding_mode is None:
            return ops.div(self, other)
        if rounding_mode not in ("floor", "trunc"):
            raise RuntimeError(
                teach(
                    "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                    f"'{rounding_mode}'",
                    "'floor' rounds down, 'trunc' towards 0.",
                )
            )
        return ops.div_rounded(self, other, rounding_mode=rounding_mode)

    def floor_divide(self: Any, other: Any) -> Tensor:
        """Divide and round down."""
        check_operand("floor_divide", "other", 1, other, numbers=True)
        if isinstance(other, Methods):
            return ops.floor_divide(self, other)
        return ops.floor_divide_by_number(self, y=other)

    def remainder(self: Any, other: Any) -> Tensor:
        """Return what is left after whole divisions; the sign is that of ``other``."""
        check_operand("remainder", "other", 1, other, numbers=True)
        if isinstance(other, Methods):
            return ops.remainder(self, other)
        return ops.remainder_by_number(self, y=other)

    def pow(self: Any, exponent: Any) -> Tensor:
        """Return ``self ** exponent``; the exponent is a number or a tensor."""
        if isinstance(exponent, Methods):
            return ops.pow_tensor(self, exponent)
        if isinstance(exponent, np.generic):
            exponent = exponent.item()
        if not isinstance(exponent, int | float):
            raise TypeError(
                teach(
                    "pow() received an invalid combination of arguments - got "
                    f"({type(exponent).__name__}), but expected one of:",
                    "The exponent is a number or a tensor.",
                )
            )
        return ops.pow_to_number(self, exponent=exponent)

    def square(self: Any) -> Tensor:
        """Return ``self ** 2``."""
        return ops.pow_to_number(self, exponent=2)

    def clamp(self: Any, min: Any = None, max: Any = None) -> Tensor:
        """Limit to the range from ``min`` to ``max``: numbers or tensors; one may be None."""
        if min is None and max is None:
            raise RuntimeError(
                teach("torch.clamp: At least one of 'min' or 'max' must not be None", "Give one.")
            )
        low, high = -np.inf, np.inf  # these limit nothing
        if self._array.dtype == bool:
            low, high = False, True
        elif self._array.dtype.kind != "f":
            low, high = np.iinfo(self._array.dtype).min, np.iinfo(self._array.dtype).max
        min, max = low if min is None else min, high if max is None else max
        if isinstance(min, Methods) or isinstance(max, Methods):
            return ops.clamp_to_tensors(self, min, max)
        return ops.clamp(self, min=min, max=max)

    clip = clamp

    def clamp_min(self: Any, min: float) -> Tensor:
        """Limit from below by a number."""
        return ops.clamp_min(self, min=min)

    def clamp_max(self: Any, max: float) -> Tensor:
        """Limit from above by a number."""
        return ops.clamp_max(self, max=max)

    def where(self: Any, condition: Tensor, other: Any) -> Tensor:
        """Return ``self`` where the condition holds, else ``other``."""
        from autodiff_kit.functions import where

        return where(condition, self, other)  # type: ignore[no-any-return]

    def clone(self: Any) -> Tensor:
        """Return a copy with memory of its own; gradients flow back through it."""
        return ops.clone(self)

    def contiguous(self: Any) -> Tensor:
        """Return the tensor itself, or a copy whose elements lie row by row."""
        return self if self.is_contiguous() else ops.contiguous(self)

    # -- in place ------------------------------------------------------------------------------

    add_, sub_, mul_, div_, pow_ = map(_in_place, ("add", "sub", "mul", "div", "pow"))
    exp_, log_, sqrt_, tanh_, relu_ = map(_in_place, ("exp", "log", "sqrt", "tanh", "relu"))
    sin_, cos_, sigmoid_, abs_, neg_ = map(_in_place, ("sin", "cos", "sigmoid", "abs", "neg"))
    square_, clamp_, reciprocal_ = map(_in_place, ("square", "clamp", "reciprocal"))
    floor_, ceil_, round_, trunc_ = map(_in_place, ("floor", "ceil", "round", "trunc"))
    rsqrt_, expm1_, log1p_, tan_ = map(_in_place, ("rsqrt", "expm1", "log1p", "tan"))
    clamp_min_, clamp_max_, sign_ = map(_in_place, ("clamp_min", "clamp_max", "sign"))
    remainder_, floor_divide_ = map(_in_place, ("remainder", "floor_divide"))

    def copy_(self: Any, source: Any) -> Tensor:
        """Copy the elements of ``source`` into this tensor; shapes broadcast."""
        if isinstance(source, _NUMBERS):
            return self.fill_(source)  # type: ignore[no-any-return]
        check_operand("copy_", "other", 1, source, numbers=False)
        if source.ndim > self.ndim:
            whole = ops.add(self.detach(), source.detach())  # raises if they do not broadcast
            raise RuntimeError(
                teach(
                    f"output with shape {list(self.shape)} doesn't match the broadcast shape "
                    f"{list(whole.shape)}",
                    "The tensor that is written to keeps its shape.",
                )
            )
        return inplace.change(self, "copy_", ops.copy_from, source)

    def fill_(self: Any, value: Any) -> Tensor:
        """Set every element to one value: a number or a 0-d tensor."""
        if isinstance(value, Methods):
            if value._array.ndim:
                raise RuntimeError(
                    teach(
                        "fill_ only supports 0-dimension value tensor but got tensor with "
                        f"{value._array.ndim} dimensions.",
                        "Use copy_ for a tensor of values.",
                    )
                )
            return inplace.change(self, "fill_", ops.copy_from, value)
        return inplace.change(self, "fill_", ops.fill, value=value)

    def zero_(self: Any) -> Tensor:
        """Set every element to 0."""
        return inplace.change(self, "zero_", ops.zero)

    # -- reductions ----------------------------------------------------------------------------

    def sum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
        """Add up all elements, or those along ``dim`` (an int or several)."""
        self = _in_type(self, dtype)
        if dim is None and not keepdim:
            return ops.sum_all(self)
        return ops.sum_dim(self, dim=self._dims(dim), keepdim=keepdim)

    def mean(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
        """Average all elements, or those along ``dim`` (an int or several)."""
        self = _in_type(self, dtype)
        if self._array.dtype.kind != "f":
            raise RuntimeError(
                teach(
                    "mean(): could not infer output dtype. Input dtype must be either a floating "
                    f"point or complex dtype. Got: {dtypes.tensor_type(self._array.dtype)}",
                    "Convert first: x.float().mean().",
                )
            )
        if dim is None and not keepdim:
            return ops.mean_all(self)
        return ops.mean_dim(self, dim=self._dims(dim), keepdim=keepdim)

    def prod(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
        """Multiply all elements, or those along one dimension."""
        self = _in_type(self, dtype)
        if dim is None:
            return ops.prod_all(self)
        return ops.prod_dim(self, dim=self._dim(dim), keepdim=keepdim)

    def max(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the largest element, (values, indices) along ``dim``, or of two tensors."""
        return _extreme(self, "max", dim, keepdim)

    def min(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the smallest element, (values, indices) along ``dim``, or of two tensors."""
        return _extreme(self, "min", dim, keepdim)

    def amax(self: Any, dim: Any = (), keepdim: bool = False) -> Tensor:
        """Return the largest elements along ``dim``; equal ones share the gradient."""
        dims = _refuse_empty(self, "amax", dim)
        return ops.amax(self, dim=dims, keepdim=keepdim)

    def amin(self: Any, dim: Any = (), keepdim: bool = False) -> Tensor:
        """Return the smallest elements along ``dim``; equal ones share the gradient."""
        dims = _refuse_empty(self, "amin", dim)
        return ops.amin(self, dim=dims, keepdim=keepdim)

    def argmax(self: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return where the largest element is."""
        _refuse_search(self, "argmax", dim)
        dim = None if dim is None else self._dim(dim)
        return ops.argmax(self, dim=dim, keepdim=keepdim)

    def argmin(self: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return where the smallest element is."""
        _refuse_search(self, "argmin", dim)
        dim = None if dim is None else self._dim(dim)
        return ops.argmin(self, dim=dim, keepdim=keepdim)

    def all(self: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Tell whether no element is zero or false."""
        return ops.all_elements(self, dim=self._dims(dim), keepdim=keepdim)

    def any(self: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Tell whether some element is not zero or false."""
        return ops.any_element(self, dim=self._dims(dim), keepdim=keepdim)

    # -- shapes --------------------------------------------------------------------------------

    def reshape(self: Any, *shape: Any) -> Tensor:
        """Return the same elements in another shape: a view where possible, else a copy."""
        sizes = _complete(self, _sizes("reshape", "shape", shape))
        if not _can_view(self._array, sizes):
            return ops.unsafe_view(ops.contiguous(self), shape=sizes)
        view = ops.reshape if self.is_contiguous() else ops.reshape_alias
        return view(self, shape=sizes)

    def view(self: Any, *shape: Any) -> Tensor:
        """Return the same memory in another shape.

        Raises
        ------
        RuntimeError
            If the elements do not lie in memory so that this is possible.
        """
        if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
            raise NotImplementedError("view(dtype) is not part of the kit; PyTorch has it.")
        sizes = _complete(self, _sizes("view", "size", shape))
        if not _can_view(self._array, sizes):
            raise RuntimeError(
                teach(
                    "view size is not compatible with input tensor's size and stride (at least one "
                    "dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
                    "A view may not move elements, and a transposed tensor's do not lie in order.",
                )
            )
        return ops.reshape(self, shape=sizes)

    def view_as(self: Any, other: Tensor) -> Tensor:
        """Return a view in the shape of another tensor."""
        return self.view(other.shape)  # type: ignore[no-any-return]

    def flatten(self: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """Join dimensions ``start_dim`` to ``end_dim`` into one."""
        start, end = self._dim(start_dim), self._dim(end_dim)
        if start > end:
            raise RuntimeError(
                teach(
                    "flatten() has invalid args: start_dim cannot come after end_dim",
                    f"Dimension {start_dim} comes after {end_dim} here.",
                )
            )
        if self.ndim and start == end:
            return self  # type: ignore[no-any-return]
        sizes = (int(np.prod(self.shape[start : end + 1])),)
        return self.reshape(*self.shape[:start], *sizes, *self.shape[end + 1 :])  # type: ignore[no-any-return]

    def ravel(self: Any) -> Tensor:
        """Return the elements in one dimension."""
        return self.contiguous().view(-1)  # type: ignore[no-any-return]

    def permute(self: Any, *dims: Any) -> Tensor:
        """Reorder the dimensions."""
        asked = _sizes("permute", "dims", dims)
        if len(asked) != self.ndim:
            raise RuntimeError(
                teach(
                    "permute(sparse_coo): number of dimensions in the tensor input does not match "
                    "the length of the desired ordering of dimensions i.e. input.dim() = "
                    f"{self.ndim} is not equal to len(dims) = {len(asked)}",
                    "Name every dimension once.",
                )
            )
        order = tuple(self._dim(d) for d in asked)
        if len(set(order)) != len(order):
            raise RuntimeError(
                teach("permute(): duplicate dims are not allowed.", "Name every dimension once.")
            )
        return ops.permute(self, dims=order)

    @property
    def T(self: Any) -> Tensor:
        """The tensor with its dimensions reversed."""
        return ops.permute(self, dims=tuple(range(self.ndim))[::-1])

    @property
    def mT(self: Any) -> Tensor:
        """The tensor with its last two dimensions swapped."""
        if self.ndim == 1:
            raise RuntimeError(
                teach(
                    "tensor.mT is only supported on matrices or batches of matrices. Got 1-D "
                    "tensor.",
                    "A vector is neither a row nor a column: x.unsqueeze(0) makes it a row.",
                )
            )
        if self.ndim == 0:
            return self  # type: ignore[no-any-return]
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
        return ops.t(self)

    def transpose(self: Any, dim0: int, dim1: int) -> Tensor:
        """Swap two dimensions."""
        return ops.transpose(self, dim0=self._dim(dim0), dim1=self._dim(dim1))

    def squeeze(self: Any, dim: Any = None) -> Tensor:
        """Remove dimensions of size 1: all, or one."""
        if dim is None:
            return ops.squeeze(self)
        if isinstance(dim, tuple | list):
            raise NotImplementedError(
                teach(
                    "squeeze with several dimensions is not part of the kit; PyTorch has it.",
                    "Remove one dimension at a time.",
                )
            )
        return ops.squeeze_dim(self, dim=self._dim(dim))

    def unsqueeze(self: Any, dim: int) -> Tensor:
        """Insert a dimension of size 1."""
        return ops.unsqueeze(self, dim=self._dim(dim, extra=1))

    def expand(self: Any, *sizes: Any) -> Tensor:
        """Repeat dimensions of size 1 without copying; -1 keeps a size."""
        shape = ops.check_expand(self, _sizes("expand", "size", sizes))
        return ops.expand(self, shape=shape)

    def expand_as(self: Any, other: Tensor) -> Tensor:
        """Expand to the shape of another tensor."""
        return self.expand(other.shape)  # type: ignore[no-any-return]

    def repeat(self: Any, *repeats: Any) -> Tensor:
        """Copy along the dimensions; more numbers than dimensions add some in front."""
        counts = _sizes("repeat", "repeats", repeats)
        if len(counts) < self.ndim:
            raise RuntimeError(
                teach(
                    "Number of dimensions of repeat dims can not be smaller than number of "
                    "dimensions of tensor",
                    f"The tensor has {self.ndim} dimensions: give at least so many numbers.",
                )
            )
        if any(n < 0 for n in counts):
            own = (1,) * (len(counts) - self.ndim) + tuple(self.shape)
            shape = [n * m for n, m in zip(counts, own, strict=True)]
            raise RuntimeError(
                teach(
                    f"Trying to create tensor with negative dimension {min(shape)}: {shape}",
                    "Repeat 0 times or more.",
                )
            )
        return ops.repeat(self, repeats=counts)

    def flip(self: Any, *dims: Any) -> Tensor:
        """Reverse the order along dimensions."""
        return ops.flip(self, dims=self._dims(_sizes("flip", "dims", dims)))

    def select(self: Any, dim: int, index: int) -> Tensor:
        """Take the entries with one index along a dimension."""
        if self.ndim == 0:
            raise IndexError(
                teach("select() cannot be applied to a 0-dim tensor.", "Get its number: x.item().")
            )
        dim = self._dim(dim)
        size = self.shape[dim]
        if not -size <= index < size:
            raise IndexError(
                teach(
                    f"select(): index {index} out of range for tensor of size {list(self.shape)} "
                    f"at dimension {dim}",
                    f"Valid indices are {-size} to {size - 1}.",
                )
            )
        return ops.select(self, dim=dim, index=index % size)

    def narrow(self: Any, dim: int, start: int, length: int) -> Tensor:
        """Take ``length`` entries from ``start`` along a dimension."""
        if self.ndim == 0:
            raise RuntimeError(
                teach("narrow() cannot be applied to a 0-dim tensor.", "It has no dimension.")
            )
        dim = self._dim(dim)
        size = self.shape[dim]
        if length < 0:
            raise RuntimeError(teach("narrow(): length must be non-negative.", "Give 0 or more."))
        if not -size <= start <= size:
            raise IndexError(
                teach(
                    f"start out of range (expected to be in range of [{-size}, {size}], but got "
                    f"{start})",
                    f"Dimension {dim} has size {size}.",
                )
            )
        start += size if start < 0 else 0
        if start + length > size:
            raise RuntimeError(
                teach(
                    f"start ({start}) + length ({length}) exceeds dimension size ({size}).",
                    f"From {start} on there are {size - start} entries.",
                )
            )
        return ops.slice_dim(self, dim=dim, start=start, end=start + length, step=1)

    # -- sizes, values and memory --------------------------------------------------------------

    def size(self: Any, dim: int | None = None) -> Any:
        """Return the shape, or the size of one dimension."""
        if dim is not None and self.ndim == 0:
            raise IndexError(
                teach(
                    f"Dimension specified as {dim} but tensor has no dimensions",
                    "It holds one number.",
                )
            )
        return self.shape if dim is None else self.shape[self._dim(dim)]

    def dim(self: Any) -> Any:
        """Return the number of dimensions."""
        return self.ndim

    def numel(self: Any) -> Any:
        """Return the number of elements."""
        return self._array.size

    nelement = numel

    def element_size(self: Any) -> Any:
        """Return the bytes per element."""
        return self._array.dtype.itemsize

    @property
    def nbytes(self: Any) -> Any:
        """The bytes of all elements."""
        return self._array.nbytes

    def is_floating_point(self: Any) -> Any:
        """Return whether the elements are floats."""
        return self.dtype.is_floating_point

    def is_contiguous(self: Any) -> Any:
        """Return whether the elements lie in memory row by row."""
        return bool(np.asarray(self._array).flags.c_contiguous)

    def item(self: Any) -> Any:
        """Return the only element as a Python number."""
        if self._array.size != 1:
            raise RuntimeError(
                teach(
                    f"a Tensor with {self.numel()} elements cannot be converted to Scalar",
                    "Reduce it first, for example by .sum(), or use .tolist().",
                )
            )
        return self._array.item()

    def tolist(self: Any) -> Any:
        """Return the elements as (nested lists of) Python numbers."""
        return self._array.tolist()

    def cpu(self: Any) -> Any:
        """Return the tensor itself: it is on the CPU."""
        return self

    itemsize: Any = property(lambda self: self._array.dtype.itemsize)

    def stride(self: Any) -> tuple[Any, ...]:
        """Return how many elements to go in memory for one step along each dimension."""
        array = np.asarray(self._array)
        return tuple(n // array.itemsize for n in array.strides)

    def data_ptr(self: Any) -> Any:
        """Return the address of the first element: equal for tensors that share memory."""
        return self.data._array.ctypes.data

    def detach_(self: Any) -> Tensor:
        """Cut the tensor itself out of the graph, in place."""
        if self._base is not None:
            raise RuntimeError(
                teach(
                    "Can't detach views in-place. Use detach() instead. If you are using "
                    "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is "
                    "set as True, gradients are views of DDP buckets, and hence detach_() cannot "
                    "be called on these gradients. To fix this error, please refer to the "
                    "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.",
                    "A view shares its history with the tensor that it looks into.",
                )
            )
        self._node = None
        return self  # type: ignore[no-any-return]

    def __deepcopy__(self: Any, memo: dict[Any, Any]) -> Any:
        if not self.is_leaf:
            raise RuntimeError(
                teach(
                    "Only Tensors created explicitly by the user (graph leaves) support the "
                    "deepcopy protocol at the moment.  If you were attempting to deepcopy a "
                    "module, this may be because of a torch.nn.utils.weight_norm usage, see "
                    "https://github.com/pytorch/pytorch/pull/103001",
                    "Use x.detach().clone(); a copy of the graph would be needed otherwise.",
                )
            )
        twin = self.detach().clone().requires_grad_(self.requires_grad)
        memo[id(self)] = twin
        twin._grad = copy.deepcopy(self._grad, memo)
        return twin

    def __reduce__(self: Any) -> Any:
        if not self.is_leaf:
            raise RuntimeError(
                teach(
                    "Only Tensors created explicitly by the user (graph leaves) can be pickled",
                    "Use x.detach().",
                )
            )
        return _rebuild, (type(self), self._array, self.requires_grad)

    def __reversed__(self: Any) -> Any:
        return self.flip(tuple(range(self.ndim)))

    def __contains__(self: Any, value: Any) -> Any:
        if not isinstance(value, Methods | int | float | np.generic):
            raise RuntimeError(
                teach(
                    "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                    f"{type(value)}.",
                    "Ask for a number: 1.0 in x.",
                )
            )
        return (self == value).any().item()

    # -- types ---------------------------------------------------------------------------------

    def to(
        self: Any, *args: Any, dtype: Any = None, device: Any = None, copy: bool = False
    ) -> Tensor:
        """Convert to a dtype (or to another tensor's); a device other than the CPU is refused."""
        for arg in args:
            if isinstance(arg, dtypes.dtype | type):
                dtype = arg
            elif isinstance(arg, bool):
                pass  # non_blocking: there is nothing to wait for
            elif isinstance(arg, Methods):
                dtype = dtypes.from_numpy_dtype(arg._array.dtype)
            elif arg is not None:
                dtypes.device(arg)
        if device is not None:
            dtypes.device(device)
        wanted = self._array.dtype if dtype is None else dtypes.as_dtype(dtype, "to").numpy
        if wanted == self._array.dtype and not copy:
            return self  # type: ignore[no-any-return]
        convert = ops.to_copy if wanted.kind == "f" else ops.to_whole
        return convert(self, dtype=wanted)

    def type(self: Any, dtype: Any = None) -> Any:
        """Convert to a dtype; without one, return the name of the tensor's type."""
        if dtype is None:
            return f"torch.{dtypes.tensor_type(self._array.dtype)}Tensor"
        return self.to(dtype)

    def type_as(self: Any, other: Tensor) -> Tensor:
        """Convert to the dtype of another tensor."""
        return self.to(other.dtype)  # type: ignore[no-any-return]

    def float(self: Any) -> Tensor:
        """Convert to float32."""
        return self.to(dtypes.float32)  # type: ignore[no-any-return]

    def half(self: Any) -> Tensor:
        """Convert to float16."""
        return self.to(dtypes.float16)  # type: ignore[no-any-return]

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


def _rebuild(kind: Any, array: Any, requires_grad: Any) -> Any:
    """Make a leaf again from what was pickled."""
    tensor = object.__new__(kind)
    tensor._array = array
    tensor._node = tensor._grad = tensor._changes = tensor._base = None
    return tensor.requires_grad_(requires_grad)


def check_grad(tensor: Any, value: Any) -> None:
    """Refuse a value for ``tensor.grad`` that is not a tensor of the same shape and dtype.

    Raises
    ------
    TypeError, RuntimeError
    """
    if not isinstance(value, Methods):
        raise TypeError(
            teach(
                "assigned grad expected to be a Tensor or None but got grad of type "
                f"{type(value).__name__}",
                "To clear the gradient, assign None.",
            )
        )
    own, given = tensor._array.dtype, value._array.dtype
    if own != given:
        raise RuntimeError(
            teach(
                f"attempting to assign a gradient with dtype '{dtypes.c_type(given)}' to a tensor "
                f"with grad_dtype '{dtypes.tensor_type(own)}'. The gradient must match the "
                "tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's "
                "grad_dtype attribute with a specific dtype, or None to allow any dtype. Set "
                "grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may "
                "break downstream systems that assume they match.",
                f"Convert it first: g.to({tensor.dtype}).",
            )
        )
    if value._array.shape != tensor._array.shape:
        raise RuntimeError(
            teach(
                f"attempting to assign a gradient of size '{list(value._array.shape)}' to a tensor "
                f"of size '{list(tensor._array.shape)}'. Please ensure that the gradient and the "
                "tensor are the same size",
                "There is one slope per element, so a gradient has its tensor's shape.",
            )
        )


def _in_type(tensor: Any, dtype: Any) -> Any:
    """Return ``tensor`` in the dtype that a reduction was asked for; None: in its own."""
    if dtype is None or dtype.numpy == tensor._array.dtype:
        return tensor
    convert = ops.promote if dtype.numpy.kind == "f" else ops.to_whole
    return convert(tensor, dtype=dtype.numpy)


def _extreme(tensor: Any, name: str, dim: Any, keepdim: Any) -> Any:
    if isinstance(dim, Methods):
        return getattr(ops, f"{name}imum")(tensor, dim)
    _refuse_empty(tensor, name, dim)
    if dim is None:
        return getattr(ops, f"{name}_all")(tensor)
    from autodiff_kit.tensor import wrap

    values, indices = getattr(ops, f"{name}_dim")(tensor, dim=tensor._dim(dim), keepdim=keepdim)
    return ValuesAndIndices(values, wrap(indices))


def _refuse_search(tensor: Any, name: str, dim: Any) -> None:
    """Refuse to look for the largest of truth values, or of no elements."""
    if tensor._array.dtype == bool:
        raise RuntimeError(
            teach(f"{name}(): does not support bool input", "Convert first: mask.long().")
        )
    _refuse_empty(tensor, name, dim)


def _refuse_empty(tensor: Any, name: str, dim: Any) -> Any:
    """Return the dimensions as a tuple; refuse to look for the largest of no elements."""
    dims = tensor._dims(dim)
    if tensor._array.size:
        return dims
    if dim is None or dim == ():
        error: type[Exception] = RuntimeError
        advice = " Specify the reduction dim with the 'dim' argument."
        if name.startswith("arg"):
            error, advice = IndexError, ""
        message = f"Expected reduction dim to be specified for input.numel() == 0.{advice}"
        raise error(teach(f"{name}(): {message}", "The tensor has no elements."))
    for d in dims:
        if tensor.shape[d] == 0:
            raise IndexError(
                teach(
                    f"{name}(): Expected reduction dim {d} to have non-zero size.",
                    f"The shape is {list(tensor.shape)}: there is nothing to choose from.",
                )
            )
    return dims


def _sizes(name: str, argument: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return sizes, given one by one or as one list, as a tuple of ints."""
    if len(given) == 1 and isinstance(given[0], tuple | list):
        given = tuple(given[0])
    for i, n in enumerate(given):
        if not isinstance(n, int | np.integer):
            raise TypeError(
                teach(
                    f"{name}(): argument '{argument}' (position 1) must be tuple of ints, but "
                    f"found element of type {type(n).__name__} at pos {i}",
                    "Sizes are whole numbers; // divides without leaving them.",
                )
            )
    return tuple(int(n) for n in given)


def _complete(tensor: Any, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """Fill in a -1, so that nodes and messages have the whole shape.

    Raises
    ------
    RuntimeError
        For sizes below -1, more than one -1, or one that could be anything.
    """
    if shape.count(-1) > 1:
        raise RuntimeError(teach("only one dimension can be inferred", "Leave one -1."))
    for i, n in enumerate(shape):
        if n < -1:
            raise RuntimeError(
                teach(
                    f"invalid shape dimension {n} at index {i} of shape {list(shape)}",
                    "Sizes are 0 or more; -1 stands for whatever is left.",
                )
            )
    known = int(np.prod([n for n in shape if n != -1]))
    size = tensor._array.size
    if -1 not in shape:
        return shape
    if known == 0 and size == 0:
        raise RuntimeError(
            teach(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
                "unspecified dimension size -1 can be any value and is ambiguous",
                "Write the size instead of -1.",
            )
        )
    if known and size % known == 0:
        return tuple(size // known if n == -1 else n for n in shape)
    return shape


def _can_view(array: Any, shape: tuple[Any, ...]) -> Any:
    """Return whether the elements lie in memory so that a view of ``shape`` is possible."""
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous or array.size == 0:
        return True
    if int(np.prod(shape)) != array.size:
        return True  # a wrong size is reported by the op
    return np.may_share_memory(array.reshape(shape), array)
