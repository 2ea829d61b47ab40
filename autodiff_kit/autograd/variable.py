"""``Variable``, which a tensor that requires grad was called before 2018.

After reading this file you know what to read for it in older programs: ``Variable(x)`` is
``x.detach()``, and every tensor is a Variable. Read next: ``../tensor.py``.
"""

from __future__ import annotations

import warnings
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["Variable"]


class _EveryTensor(type):
    """Makes ``isinstance(x, Variable)`` true for tensors."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_EveryTensor):
    """A tensor, as programs of early versions make it from another one."""

    def __new__(  # type: ignore[misc]
        cls, data: Any = None, requires_grad: bool = False, volatile: bool | None = None
    ) -> Tensor:
        """Return a tensor that shares the memory of ``data`` and has no history.

        ``volatile`` did what ``torch.no_grad`` does; it has no effect any more.
        """
        if volatile:
            words = (
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
            )
            warnings.warn(words, UserWarning, stacklevel=2)
        if not isinstance(data, Tensor | None):
            raise error("autograd.variable", kind=type(data).__name__)
        if requires_grad and data is not None and not data.is_floating_point():
            raise error("dtypes.whole_requires_grad")
        variable = Tensor() if data is None else data.detach()
        return variable.requires_grad_(requires_grad)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
