"""Declaring a function of PyTorch's: one declaration is ``torch.tril(x)`` and ``x.tril()``.

After reading this file you can add a function: write it with PyTorch's names of the arguments, say
by annotations what they are, and put ``@function`` above it. A call that does not fit is refused in
PyTorch's words, for which ``signatures.py`` reads the annotations. Read next: ``calculus.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Protocol

from autodiff_kit import dtypes
from autodiff_kit.calls import checked
from autodiff_kit.methods import TensorMethods
from autodiff_kit.signatures import declare
from autodiff_kit.tensor import Tensor

__all__ = ["Declared", "Dtype", "Ints", "Number", "Operand", "Tensors", "function", "method"]
__all__ += ["overloaded"]

Number = Any  # of Python or NumPy, or a 0-d tensor
Operand = Any  # a Tensor or a Number
Ints = Any  # an int, or a list or tuple of them
Tensors = Sequence[Tensor]
Dtype = dtypes.dtype

# What NumPy would take for an argument with such an annotation, and PyTorch does not.
_REFUSED: dict[str, Any] = {
    **dict.fromkeys(("int", "Ints"), (str, float)),
    **dict.fromkeys(("Number", "Operand", "float"), str),
}


class Declared(Protocol):
    """A function of tensors, and what it is as a method."""

    method: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""


def function(written: Callable[..., Any]) -> Declared:
    """Declare a function of tensors, by ``@function``; its ``.method`` is the method."""
    return _declare(written, ())


def overloaded(*signatures: str) -> Callable[[Callable[..., Any]], Declared]:
    """Declare a function that PyTorch has with several signatures, given in its notation.

    For example ``@overloaded("(Tensor input)", "(Tensor input, int dim)")``.
    """
    return lambda written: _declare(written, signatures)


def _declare(written: Callable[..., Any], signatures: tuple[str, ...]) -> Declared:
    name, code = written.__name__, written.__code__
    declare(name, signatures or written)
    names = code.co_varnames[: code.co_argcount]
    strict = [n for n in names if written.__annotations__.get(n) == "Tensor"]
    leading = sum(all(n in strict for n in names[: i + 1]) for i in range(len(names)))
    kinds = [str(written.__annotations__.get(n)).partition(" | ")[0] for n in names]
    refused = {n: _REFUSED[k] for n, k in zip(names, kinds, strict=True) if k in _REFUSED}
    places = [refused.get(n, ()) for n in names[leading:]]

    @wraps(written)
    def call(*args: Any, **kwargs: Any) -> Any:
        tensors = (*args[:leading], *(kwargs[n] for n in strict if n in kwargs))
        if not all(isinstance(value, TensorMethods) for value in tensors):
            raise TypeError(name)  # the words come from ``signatures.py``
        if len(args) > leading and any(map(isinstance, args[leading:], places)):
            raise TypeError(name)
        if kwargs and any(isinstance(v, refused.get(n, ())) for n, v in kwargs.items()):
            raise TypeError(name)
        return written(*args, **kwargs)

    @wraps(written)
    def call_with_list(*args: Any, **kwargs: Any) -> Any:
        if len(args) > leading and not isinstance(args[leading], tuple | list):
            raise TypeError(name)  # sizes one by one are for methods
        return call(*args, **kwargs)

    has_sizes = bool(code.co_flags & 0x04)  # inspect.CO_VARARGS
    declared: Declared = checked(name, call_with_list if has_sizes else call, "function")
    declared.method = checked(name, call)
    declared.method.__qualname__ = f"Tensor.{name}"
    return declared


def method(written: Callable[..., Any]) -> Declared:
    """Declare what only tensors have: ``x.view_as(y)``."""
    of_tensor: Declared = _declare(written, ()).method
    of_tensor.method = of_tensor
    return of_tensor
