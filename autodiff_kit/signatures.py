"""What a call may look like: NumPy's names for arguments, and PyTorch's words when one is wrong.

After reading this file you know why ``x.sum(axis=1, keepdims=True)`` works, and where "received an
invalid combination of arguments" comes from. A call goes straight to the function; only where it
names arguments as NumPy does, or fails, the signatures in ``signature_texts.py`` are read.
Read next: ``methods.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, NamedTuple

import numpy as np

from autodiff_kit import dtypes

__all__ = ["checked", "full_name", "name_methods", "wrong_call"]

# What NumPy calls an argument, and PyTorch.
_OF_NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input"}
_OF_NUMPY |= {"x2": "other"}


def checked(name: str, function: Callable[..., Any], kind: str = "method") -> Any:
    """Return ``function`` so that it takes NumPy's names, and refuses calls in PyTorch's words.

    ``kind``: a ``"method"``; a ``"function"`` of the same name, whose input comes first, as
    ``input``; or a ``"factory"``.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if kwargs:
                return function(*args, **_renamed(name, kind, kwargs))
            return function(*args)
        except TypeError as refused:
            own = args[1:] if kind == "method" else args
            raise wrong_call(name, kind, own, kwargs) or refused from refused.__cause__

    call.unchecked = function  # type: ignore[attr-defined]
    return call


def wrong_call(
    name: str, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> TypeError | None:
    """Return the error that PyTorch raises for a call; None if no signature refuses it."""
    words = _complaint(name, kind, args, kwargs)
    if words is None:
        return None
    return TypeError(
        f"{words}\n-> It is called so: {' or '.join(map(str, _signatures(kind)[name]))}"
    )


def _renamed(name: str, kind: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    if kwargs.keys().isdisjoint(_OF_NUMPY):
        return kwargs
    taken = {p.name for signature in _signatures(kind).get(name, ()) for p in signature.params}
    return {new if (new := _OF_NUMPY.get(k, k)) in taken else k: v for k, v in kwargs.items()}


class _Param(NamedTuple):
    kind: str
    name: str
    default: str | None
    by_name: bool


class _Signature:
    """One way to call a function."""

    def __init__(self, text: str) -> None:
        self._text = text[text.index("(") :]
        self.params: list[_Param] = []
        by_name = False
        for part in filter(None, self._text[1:-1].split(", ")):
            if part == "*":
                by_name = True
                continue
            declared, _, default = part.partition(" = ")
            kind, _, name = declared.rpartition(" ")
            self.params.append(_Param(kind, name, default or None, by_name))
        required = [p for p in self.params if p.default is None]
        self.least, self.most = len(required), len(self.params)

    def __str__(self) -> str:
        return self._text

    def complaint(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        """Return what is wrong with a call; None if nothing is."""
        by_place = [p for p in self.params if not p.by_name]
        if len(args) > 1 and [(p.kind, p.default) for p in by_place] == [("tuple of ints", None)]:
            args = (args,)  # sizes, one by one
        if len(args) > len(by_place):
            least, most = sum(p.default is None for p in by_place), len(by_place)
            count = f"{most}" if least == most else f"from {least} to {most}"
            takes = f"{count} positional argument{'s' * (most != 1)}"
            given_ = f"{len(args)} {'was' if len(args) == 1 else 'were'} given"
            return f"{name}() takes {takes} but {given_}"
        given = dict(zip((p.name for p in by_place), args, strict=False)) | kwargs
        missing = [p.name for p in self.params if p.default is None and p.name not in given]
        for position, param in enumerate(self.params):
            if param.name in missing:
                names = ", ".join(f'"{n}"' for n in missing)
                few = "arguments" if len(missing) == 1 else "argument"  # so PyTorch writes it
                return f"{name}() missing {len(missing)} required positional {few}: {names}"
            if param.name in given and not _fits(name, param, given[param.name]):
                place = "" if param.by_name else f" (position {position + 1})"
                kind = full_name(given[param.name])
                return f"{name}(): argument '{param.name}'{place} must be {param.kind}, not {kind}"
        unknown = next((k for k in kwargs if k not in {p.name for p in self.params}), None)
        if unknown is not None:
            return f"{name}() got an unexpected keyword argument '{unknown}'"
        return None


def full_name(value: Any) -> str:
    """Return the name of a value's type as PyTorch writes it."""
    return "numpy.ndarray" if isinstance(value, np.ndarray) else type(value).__name__


# Where a number counts as a tensor; elsewhere there is a signature of its own for numbers.
_NUMBERS_AS_TENSORS = ("add", "sub", "mul", "div", "floor_divide")


def _fits(name: str, param: _Param, value: Any) -> bool:
    if value is None:
        return param.default == "None"
    is_tensor = hasattr(value, "_array")
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    match param.kind:
        case "int":
            return whole or (is_tensor and value.ndim == 0)
        case "tuple of ints":
            return whole or is_tensor or isinstance(value, tuple | list)
        case "tuple of Tensors":
            return isinstance(value, tuple | list)
        case "Tensor" if name not in _NUMBERS_AS_TENSORS:
            return is_tensor
        case "Tensor" | "Number":
            if is_tensor:
                return param.kind == "Tensor" or not (value.ndim or value.requires_grad)
            return isinstance(value, int | float | np.generic)
        case "bool":
            return isinstance(value, bool)
        case "str":
            return isinstance(value, str)
        case "torch.dtype":
            return isinstance(value, dtypes.dtype)
    return True


@cache
def _signatures(kind: str) -> dict[str, list[_Signature]]:
    """Return the signatures by the function's name."""
    from autodiff_kit.signature_texts import OF_FACTORIES, OF_METHODS, OPTIONS

    texts = OF_FACTORIES.replace("OPTIONS", OPTIONS) if kind == "factory" else OF_METHODS
    table: dict[str, list[_Signature]] = {}
    for line in texts.strip().split("\n"):
        name = line[: line.index("(")]
        text = re.sub(r"\((?=.)", "(Tensor input, ", line, count=1) if kind == "function" else line
        table.setdefault(name, []).append(_Signature(text.replace("input, )", "input)")))
    return table


def _complaint(name: str, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Return what PyTorch says about a call; None if the call as such is right."""
    signatures = _signatures(kind).get(name)
    if signatures is None:
        return None
    own = _renamed(name, kind, kwargs)
    complaints = [s.complaint(name, args, own) for s in signatures]
    if None in complaints:
        return None
    if kind == "method" and not any(s.params for s in signatures):
        wrong = f"no arguments ({len(args)} given)" if args else "no keyword arguments"
        return f"TensorBase.{name}() takes {wrong}"
    count = len(args) + len(kwargs)
    likely = [i for i, s in enumerate(signatures) if s.least <= count <= s.most]
    if len(signatures) == 1 or len(likely) == 1:
        return complaints[likely[0] if likely else 0]
    given = [full_name(value) for value in args]
    given += [f"{key}={full_name(value)}" for key, value in kwargs.items()]
    text = ", ".join(given) + (", " if kwargs and not args else "")
    wrong = f"{name}() received an invalid combination of arguments - got ({text})"
    return f"{wrong}, but expected one of:"


def name_methods(owner: str, *parts: type) -> None:
    """Let errors name the methods of a class that is made of parts as its users know them."""
    for part in parts:
        for name, method in vars(part).items():
            if getattr(method, "__qualname__", "") == f"{part.__name__}.{name}":
                method.__qualname__ = f"{owner}.{name}"
