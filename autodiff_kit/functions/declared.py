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
from autodiff_kit.from_data import as_int, is_first_size
from autodiff_kit.methods import TensorMethods
from autodiff_kit.signatures import declare
from autodiff_kit.tensor import Tensor

__all__ = [
    "Declared",
    "Dtype",
    "IntList",
    "Ints",
    "Number",
    "Operand",
    "Tensors",
    "alias",
    "function",
    "function_of",
    "method",
]
__all__ += ["overloaded"]

Number = Any  # of Python or NumPy, or a 0-d tensor
Operand = Any  # a Tensor or a Number
Ints = Any  # an int, or a list or tuple of them
IntList = Any  # a list or tuple of ints
Tensors = Sequence[Tensor]
Dtype = dtypes.dtype

# What NumPy would take for an argument with such an annotation, and PyTorch does not; and tensors,
# of which PyTorch takes the number.
_ODD: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("int", "Ints"), (str, float, bool, TensorMethods)),
    **dict.fromkeys(("Number", "float"), (str, TensorMethods)),
    "IntList": (int, str, float),
    "Operand": str,
    "str": (int, float, tuple, list),
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


def function_of(module: str, *signatures: str) -> Callable[[Callable[..., Any]], Declared]:
    """Declare a function of a module: ``linalg.inv`` is ``linalg_inv`` in PyTorch's errors."""
    return lambda written: _declare(written, signatures, f"{module}_{written.__name__}")


def alias(name: str, of: Any, kind: str = "function") -> Any:
    """Declare another name of a function, and of its method: errors of calls have that name."""
    declare(name, of.__name__)
    other = named(name, checked(name, of.unchecked, kind, of=of.__name__))
    if hasattr(of, "method"):
        other.method = named(name, checked(name, of.method.unchecked), f"Tensor.{name}")
    return other


def named(name: str, call: Any, path: str = "") -> Any:
    """Give a function its name."""
    call.__name__, call.__qualname__ = name, path or name
    return call


def _declare(written: Callable[..., Any], signatures: tuple[str, ...], name: str = "") -> Declared:
    name, code = name or written.__name__, written.__code__
    declare(name, signatures or written)
    names = code.co_varnames[: code.co_argcount]
    strict = [n for n in names if written.__annotations__.get(n) == "Tensor"]
    leading = sum(all(n in strict for n in names[: i + 1]) for i in range(len(names)))
    kinds = [str(written.__annotations__.get(n)).partition(" | ")[0] for n in names]
    kind_of = {n: k for n, k in zip(names, kinds, strict=True) if k in _ODD}
    odd = {n: _ODD[kind] for n, kind in kind_of.items()}
    places = [odd.get(n, ()) for n in names[leading:]]

    def number(argument: str, value: Any) -> Any:
        if not isinstance(value, odd.get(argument, ())):
            return value
        if not isinstance(value, TensorMethods):
            raise TypeError(name)
        return _number(name, kind_of[argument], value)

    @wraps(written)
    def call(*args: Any, **kwargs: Any) -> Any:
        tensors = (*args[:leading], *(kwargs[n] for n in strict if n in kwargs))
        if not all(isinstance(value, TensorMethods) for value in tensors):
            raise TypeError(name)  # the words come from ``signatures.py``
        if len(args) > leading and any(map(isinstance, args[leading:], places)):
            args = (
                tuple(number(n, v) for n, v in zip(names, args, strict=False)) + args[len(names) :]
            )
        if kwargs and any(isinstance(v, odd.get(n, ())) for n, v in kwargs.items()):
            kwargs = {n: number(n, v) for n, v in kwargs.items()}
        return written(*args, **kwargs)

    @wraps(written)
    def call_with_list(*args: Any, **kwargs: Any) -> Any:
        if len(args) > leading and not isinstance(args[leading], tuple | list):
            raise TypeError(name)  # sizes one by one are for methods
        return call(*args, **kwargs)

    has_sizes = bool(code.co_flags & 0x04)  # inspect.CO_VARARGS
    declared: Declared = named(
        name, checked(name, call_with_list if has_sizes else call, "function")
    )
    declared.method = named(name, checked(name, call), f"Tensor.{name}")
    return declared


def _number(name: str, kind: str, tensor: Any) -> Any:
    """Return the number that a tensor holds, where PyTorch takes it for an argument."""
    if kind == "int":
        return as_int(tensor)
    is_fit = is_first_size(tensor) if kind == "Ints" else not (tensor.ndim or tensor.requires_grad)
    if not is_fit:
        raise TypeError(name)
    return int(tensor._array.item()) if kind == "Ints" else tensor.item()


def method(written: Callable[..., Any]) -> Declared:
    """Declare what only tensors have: ``x.view_as(y)``."""
    of_tensor: Declared = _declare(written, ()).method
    of_tensor.method = of_tensor
    return of_tensor
