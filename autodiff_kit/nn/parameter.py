"""A parameter: a tensor that a module counts among its own, to be changed by training.

After reading this file you know what ``nn.Parameter`` adds to a tensor: nothing but its class, by
which ``module.py`` recognises it. Read next: ``module.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.core.base import wrap
from autodiff_kit.core.mode import local
from autodiff_kit.core.observer import installed
from autodiff_kit.core.versions import share
from autodiff_kit.creation import empty
from autodiff_kit.dtypes import Size, from_numpy_dtype
from autodiff_kit.errors import error
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor
from autodiff_kit.views import set_grad

__all__ = ["Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class Parameter(Tensor):
    """A leaf that belongs to a module as soon as it is assigned to an attribute of one.

    Parameters
    ----------
    data : Tensor, optional
        The values; memory is shared. Default: no elements.
    requires_grad : bool
        Holds under ``no_grad``, too.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        if data is None:
            super().__init__()
            data = self
        if not isinstance(data, Tensor):
            raise error("nn.parameter_data", kind=type(data).__name__)
        if requires_grad and not data.is_floating_point():
            raise error("dtypes.whole_requires_grad")
        self._array, self._changes = share(data), data._changes
        self._node = self._grad = self._base = self._views = None
        if requires_grad:
            self.requires_grad = True
        if local.mode.observer is not None:
            local.mode.observer.created(self)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        with installed(None):  # it is told of when it is used, as other parameters are
            twin = memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return twin


def converted(tensor: Any, convert: Callable[[Tensor], Tensor]) -> Any:
    """Return a converted buffer; a parameter stays the one that it is."""
    if is_lazy(tensor):
        tensor.convert(convert)
        return tensor
    if not isinstance(tensor, Parameter):
        return convert(tensor)
    tensor.data = convert(tensor.data)
    set_grad(tensor, None if tensor._grad is None else convert(tensor._grad))
    return tensor


class _Uninitialized(Tensor):
    """A tensor without a shape, until ``materialize`` gives it one: what lazy layers hold."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if name == "_array" or (name[0] != "_" and name not in _WITHOUT_SHAPE):
            method = f"<method {name!r} of 'torch._C.TensorBase' objects>"
            function = method if name[0] != "_" else "an operation"
            raise error("nn.uninitialized", function=function)
        return object.__getattribute__(self, name)

    @property
    def shape(self) -> Size:
        """Refuse: there is none."""
        raise error("nn.uninitialized_shape")

    @property
    def dtype(self) -> Any:
        """The dtype that the elements will have."""
        return from_numpy_dtype(object.__getattribute__(self, "_array").dtype)

    @property
    def data(self) -> Any:
        """An empty tensor: what is written into it now changes nothing."""
        return wrap(object.__getattribute__(self, "_array"))

    @data.setter
    def data(self, value: Any) -> None:
        raise error("nn.uninitialized", function="an operation")

    @property
    def ndim(self) -> int:
        """One dimension, of no elements."""
        return 1

    def convert(self, function: Any) -> None:
        """Change the dtype as ``function`` changes that of a tensor."""
        self._array = function(wrap(object.__getattribute__(self, "_array")))._array

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor of this shape."""
        requires_grad = self.requires_grad
        self._array = empty(shape, device=device, dtype=dtype or self.dtype)._array
        self.__class__, self._node = self._becomes(), None
        self.requires_grad_(requires_grad)  # by a new node, which knows the shape

    def _becomes(self) -> Any:
        return Tensor

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        twin = memo[id(self)] = type(self)(self.requires_grad, None, self.dtype)
        return twin

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, None, self.dtype)


# What may be asked of a tensor without a shape.
_WITHOUT_SHAPE = {"convert", "data", "device", "dtype", "grad", "grad_fn", "is_cpu", "is_cuda"}
_WITHOUT_SHAPE |= {"is_leaf", "materialize", "ndim", "requires_grad", "retains_grad", "shape"}


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is not known yet."""

    __slots__ = ()

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        self.__class__ = Parameter  # type: ignore[assignment]
        self.__init__(empty(0, device=device, dtype=dtype), requires_grad)  # type: ignore[misc]
        self.__class__ = UninitializedParameter

    def _becomes(self) -> Any:
        return Parameter


class UninitializedBuffer(_Uninitialized):
    """A buffer whose shape is not known yet."""

    __slots__ = ()

    def __init__(self, requires_grad: bool = False, device: Any = None, dtype: Any = None) -> None:
        self._array = np.empty(0, empty(0, device=device, dtype=dtype)._array.dtype)
        self._node = self._grad = self._changes = self._base = self._views = None


def is_lazy(value: Any) -> bool:
    """Return whether a parameter or buffer has no shape yet."""
    return isinstance(value, _Uninitialized)


def clear_grad(tensor: Tensor, set_to_none: bool) -> None:
    """Forget the gradient, or set it to zeros without a history."""
    if set_to_none or tensor._grad is None:
        set_grad(tensor, None)
        return
    if not tensor._grad.is_leaf:
        set_grad(tensor, wrap(tensor._grad._array))
    with no_grad():
        tensor._grad.requires_grad_(False).zero_()


def type_name(value: Any) -> str:
    """Return what PyTorch's messages call the type of a value: ``torch.FloatTensor``, ``int``."""
    if isinstance(value, Tensor):
        return str(value.type())
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", type(value).__name__)
    if module in (None, "builtins"):
        return name
    module = module.removesuffix(".tensor")
    if hasattr(value, "forward"):  # PyTorch keeps its layers in a package of their own
        module = module.replace(".nn.", ".nn.modules.")
    return f"{module}.{name}"


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
