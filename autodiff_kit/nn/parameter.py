"""A parameter: a tensor that a module counts among its own, to be changed by training.

After reading this file you know what ``nn.Parameter`` adds to a tensor: nothing but its class, by
which ``module.py`` recognises it. Read next: ``module.py``.
"""

from __future__ import annotations

from typing import Any

from autodiff_kit.autograd.grad_mode import local, no_grad
from autodiff_kit.errors import error
from autodiff_kit.tensor import Tensor, share, wrap

__all__ = ["Parameter", "clear_grad", "type_name"]


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
        self.requires_grad_(requires_grad)
        if local.mode.observer is not None:
            local.mode.observer.created(self)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        twin = memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return twin


def clear_grad(tensor: Tensor, set_to_none: bool) -> None:
    """Forget the gradient, or set it to zeros without a history."""
    if set_to_none or tensor._grad is None:
        tensor._grad = None
        return
    if not tensor._grad.is_leaf:
        tensor._grad = wrap(tensor._grad._array)
    with no_grad():
        tensor._grad.requires_grad_(False).zero_()


def type_name(value: Any) -> str:
    """Return what PyTorch's messages call the type of a value: ``torch.FloatTensor``, ``int``."""
    if isinstance(value, Tensor):
        return str(value.type())
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", type(value).__name__)
    return name if module in (None, "builtins") else f"{module}.{name}"
