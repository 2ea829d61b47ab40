"""What a call may look like: NumPy's names for arguments, and PyTorch's words when one is wrong.

After reading this file you know why ``x.sum(axis=1, keepdims=True)`` works. A call goes straight to
the function; only where it names arguments as NumPy does, or fails, ``signatures.py`` is loaded.
Read next: ``signatures.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial, wraps
from types import FunctionType
from typing import Any

from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords, Namespace
from autodiff_kit.late import late
from autodiff_kit.lazy import Later
from autodiff_kit.signature_texts import OF_METHODS

__all__ = ["check_calls", "checked", "name_methods", "protect_properties", "wrong_call_of"]


@cache  # an import statement takes 1.5 us, also of what is loaded
def _signatures() -> Any:
    from autodiff_kit import signatures

    return signatures


def checked(name: str, function: Callable[..., Any], kind: str = "method", of: str = "") -> Any:
    """Return ``function`` so that it takes NumPy's names, and refuses calls in PyTorch's words.

    ``kind``: a ``"method"``; a ``"function"`` of the same name, whose input comes first, as
    ``input``; or a ``"factory"``. ``of``: the function of which ``name`` is another name.
    """
    if kind == "method" and _takes_a_tensor_only(function):
        return _without_arguments(name, function)
    least = 1 if kind == "method" else 0
    own_name = of or name

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if kwargs:
                own = _signatures().renamed(name, kind, kwargs)
                refuse(args, own, kwargs)
                if "out" in kwargs and takes_out(own_name, kind):
                    out = kwargs.pop("out")
                    if out is not None:
                        into = late("given_outputs").compute_into
                        return into(own_name, call, out, args, kwargs)
                    own.pop("out", None)
                return function(*args, **own)
            if len(args) > least and len(args) > _bools(function)[0]:
                refuse(args, kwargs, kwargs)  # to Python a number would do as well
            return function(*args)
        except TypeError as refused:
            own = args[1:] if kind == "method" else args
            wrong = _signatures().wrong_call(name, kind, own, kwargs)
            raise wrong or refused from refused.__cause__

    def refuse(args: tuple[Any, ...], renamed: Keywords, kwargs: Keywords) -> None:
        """Refuse numbers for bools, and ``keepdim`` without the dimension that it would keep."""
        _, bools = _bools(function)
        is_wrong = "keepdim" in bools and renamed.get("dim", 0) is None
        for argument, place in bools.items():
            value = renamed.get(argument, args[place] if place < len(args) else _ABSENT)
            if value is not _ABSENT and not isinstance(value, bool):
                is_wrong = True
            elif argument == "keepdim" and value is not _ABSENT:
                is_wrong |= renamed.get("dim", args[1] if len(args) > 1 else None) is None
        if is_wrong:
            own = args[1:] if kind == "method" else args
            if (wrong := _signatures().wrong_call(name, kind, own, kwargs)) is not None:
                raise wrong

    call.unchecked = function  # type: ignore[attr-defined]
    return call


def _takes_a_tensor_only(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    return code.co_argcount == 1 and not (code.co_kwonlyargcount or code.co_flags & _VARIABLE)


def _without_arguments(name: str, function: Callable[[Any], Any]) -> Any:
    """Do what ``checked`` does for a method that takes nothing, such as ``x.item()``."""

    @wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            raise wrong_call_of(name, args, kwargs) or TypeError(name)
        return function(self)

    call.unchecked = function  # type: ignore[attr-defined]
    return call


def wrong_call_of(name: str, args: tuple[Any, ...], kwargs: Keywords) -> TypeError | None:
    """Return the error that PyTorch raises for a call of a method; None if it is right as such."""
    wrong: TypeError | None = _signatures().wrong_call(name, "method", args, kwargs)
    return wrong


_PARAMETERS = dict(line.split("(") for line in OF_METHODS.strip().split("\n"))


def check_calls(methods: Namespace) -> None:
    """Let methods check their calls, where PyTorch's signatures are written down.

    ``check_calls(vars())`` stands at the end of a class: later each costs ten times as much.
    """
    for name in _PARAMETERS.keys() & methods.keys():
        method = methods[name]
        if isinstance(method, Later) or callable(method):
            methods[name] = Later((name, partial(_checked_method, method)))


def _checked_method(method: Any, name: str) -> Any:
    if isinstance(method, Later):
        method = method.make()
    if _PARAMETERS[name] == ")" and hasattr(method, "op"):
        return method  # the function of an op that has no parameters checks its calls itself
    own = checked(name, method)
    if own.__qualname__ != name:  # it was written in a class
        method.__qualname__ = own.__qualname__ = f"Tensor.{name}"
    return own


def takes_out(name: str, kind: str) -> bool:
    """Return whether PyTorch lets a function write into a tensor that is given."""
    from autodiff_kit.outside import functions_with

    return kind != "method" and name in functions_with("out")


def protect_properties(owner: type) -> None:
    """Refuse to set and to delete, in PyTorch's words, what can only be read of a tensor."""
    for kind in owner.__mro__:
        properties = [item for item in vars(kind).items() if type(item[1]) is property]
        for name, read in properties:
            if name == "real":
                continue
            if read.fset is not None and read.fdel is None:
                setattr(kind, name, read.deleter(_deletion(name)))
            elif read.fset is None:
                refuse = _refusal(name)
                setattr(kind, name, property(read.fget, refuse, refuse, read.__doc__))


def _deletion(name: str) -> Callable[..., None]:
    def refuse(*_: Any) -> None:
        raise error(f"arguments.{name}_deleted")

    return refuse


def _refusal(name: str) -> Callable[..., None]:
    def refuse(*_: Any) -> None:
        raise error("arguments.not_writable", name=name)

    return refuse


_VARIABLE = 0x0C  # inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_LAST = 99  # behind all others; an int, which Python compares faster than a float
_ABSENT = object()


@cache
def _bools(function: Any) -> tuple[int, dict[str, int]]:
    """Return the place of the first argument that must be a bool, and the places of all by name.

    Those that are given by name only stand behind all others.
    """
    bools: dict[str, int] = {}
    while function is not None:
        code = getattr(function, "__code__", None)
        if code is not None:
            count = code.co_argcount
            for place, name in enumerate(code.co_varnames[: count + code.co_kwonlyargcount]):
                if str(function.__annotations__.get(name)).startswith("bool"):
                    bools[name] = place if place < count else _LAST
        function = getattr(function, "__wrapped__", None)
    return min(bools.values(), default=_LAST), bools


_FUNCTIONS = {FunctionType, staticmethod, classmethod}


def name_methods(owner: str, whole: type) -> None:
    """Let errors name the methods of a class that is made of parts as its users know them."""
    parts = [base for base in whole.__mro__ if base is not object]
    names = {part.__name__ for part in parts}
    for part in parts:
        for name, method in vars(part).items():
            if type(method) in _FUNCTIONS:
                own, _, rest = method.__qualname__.partition(".")
                if rest == name and own in names:
                    method.__qualname__ = f"{owner}.{name}"
