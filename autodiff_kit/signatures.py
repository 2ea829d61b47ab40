"""Signatures in PyTorch's notation, and its words for a call that fits none of them.

After reading this file you know where "received an invalid combination of arguments" comes from.
The signatures are in ``signature_texts.py``; they are read for a call that names arguments as NumPy
does, or that fails (``calls.py``). Read next: ``methods/__init__.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from autodiff_kit import dtypes
from autodiff_kit.dtypes import full_name
from autodiff_kit.free_form import Keywords
from autodiff_kit.outside import functions_with, keyword_outside

__all__ = ["declare", "renamed", "wrong_call"]

# What NumPy calls an argument, and PyTorch.
_OF_NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input"}
_OF_NUMPY |= {"x2": "other"}


def wrong_call(name: str, kind: str, args: tuple[Any, ...], kwargs: Keywords) -> TypeError | None:
    """Return the error that PyTorch raises for a call; None if no signature refuses it."""
    words = _complaint(name, kind, args, kwargs)
    if words is None:
        return None
    signatures = _signatures(kind, name)
    accepted = {name for signature in signatures for name in signature.names()}
    outside = (keyword_outside(name, key) for key in kwargs if key not in accepted)
    usage = f"It is called so: {' or '.join(map(str, signatures))}"
    if {"axis", "out"} <= kwargs.keys():  # as a function of NumPy's passes them on
        advice = (
            f"NumPy's function names arguments in its own way. Write torch.{name}(...) instead."
        )
    else:
        advice = next(filter(None, outside), usage)
    return TypeError(f"{words}\n-> {advice}")


def renamed(name: str, kind: str, kwargs: Keywords) -> Keywords:
    """Return arguments by PyTorch's names, where the function has those and NumPy's were used."""
    if kwargs.keys().isdisjoint(_OF_NUMPY):
        return kwargs
    accepted = {p.name for signature in _signatures(kind, name) for p in signature.params}
    return _own_names(kwargs, accepted)


def _own_names(kwargs: Keywords, accepted: set[str]) -> Keywords:
    own = {k: new for k in kwargs if (new := _OF_NUMPY.get(k)) in accepted and new not in kwargs}
    return {own.get(k, k): v for k, v in kwargs.items()}


# Where a number counts as a tensor; elsewhere there is a signature of its own for numbers.
_NUMBERS_AS_TENSORS = ("add", "sub", "mul", "div", "floor_divide")


# These have an older signature as well, which PyTorch does not show.
_WITH_OLDER = ("add", "sub", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "baddbmm")
# And these functions, but no methods, one with the dtype of the result.
_WITH_DTYPE = ("addmm", "baddbmm", "bmm", "mm")


class _Param:
    def __init__(self, kind: str, name: str, default: str | None, by_name: bool) -> None:
        self.kind, self.name, self.default, self.by_name = kind, name, default, by_name


class _Signature:
    """One way to call a function; a strict one takes no number for a tensor."""

    def __init__(self, text: str, is_strict: bool = False) -> None:
        self._text = text[text.index("(") :].replace("Operand ", "Tensor ")
        self._text = re.sub("(only|optional) tuple", "tuple", self._text)
        self._is_strict = is_strict
        self.params: list[_Param] = []
        by_name = False
        for part in filter(None, text[text.index("(") + 1 : -1].split(", ")):
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

    def with_out(self, kind: str, name: str) -> str:
        """Return the text, with ``out`` where PyTorch's function has that."""
        if kind == "method" or name.endswith("_"):
            return self._text
        return f"{self._text[:-1]}{', ' if ', *, ' in self._text else ', *, '}Tensor out = None)"

    def takes_out(self) -> bool:
        """Return whether the ``out`` of a function with several signatures is in this one.

        It is not where the second operand is a number, nor in a sum of all elements.
        """
        is_of_number = any((p.kind, p.name) == ("Number", "other") for p in self.params)
        return not is_of_number and sum(not p.by_name for p in self.params) > 1

    def names(self) -> set[str]:
        """Return the names of what the kit takes: it has one order in memory."""
        return {p.name for p in self.params if p.kind != "torch.memory_format"}

    def complaint(self, name: str, args: tuple[Any, ...], kwargs: Keywords) -> str | None:
        """Return what is wrong with a call; None if nothing is."""
        names_of_call = kwargs
        kwargs = _own_names(kwargs, {p.name for p in self.params})
        by_place = [p for p in self.params if not p.by_name]
        kinds = [(p.kind.removeprefix("only "), p.default) for p in by_place]
        takes_sizes = kinds == [("tuple of ints", None)]
        is_first_int = bool(args) and _is_list_of_ints(args[:1])
        if takes_sizes and is_first_int:
            args = (args,)  # sizes, one by one
        if len(args) > len(by_place):
            least, most = self.least, len(by_place)
            count = f"{most}" if least == most else f"from {least} to {most}"
            takes = f"{count} positional argument{'s' * (count != '1')}"
            is_one = len(args) == 1 and least == most
            count = f"{len(args)} {'was' if is_one else 'were'} given"
            return f"{name}() takes {takes} but {count}"
        values = dict(zip((p.name for p in by_place), args, strict=False)) | kwargs
        twice = [p.name for p in by_place[: len(args)] if p.name in kwargs]
        if twice:
            return f"{name}() got multiple values for argument '{twice[0]}'"
        for position, param in enumerate(self.params):
            if param.default is None and param.name not in values:
                missing = [p.name for p in self.params[position:] if p.default is None]
                names = ", ".join(f'"{n}"' for n in missing)
                few = "arguments" if len(missing) == 1 else "argument"  # so PyTorch writes it
                return f"{name}() missing {len(missing)} required positional {few}: {names}"
            if param.name in values and not self._fits(name, param, values[param.name]):
                place = "" if param.name in kwargs else f" (position {position + 1})"
                kind = full_name(values[param.name])
                if place and param.kind.endswith("tuple of ints") and kind in ("tuple", "list"):
                    first = full_name(values[param.name][0])
                    kind = f"but found element of type {first} at pos 0"
                else:
                    kind = f"not {kind}"
                expected = param.kind.replace("Operand", "Tensor").removeprefix("only ")
                expected = expected.removeprefix("optional ")
                return f"{name}(): argument '{param.name}'{place} must be {expected}, {kind}"
        if any(k not in self.names() for k in kwargs):
            unknown = next(k for k in names_of_call if k not in self.names())  # also one of NumPy's
            return f"{name}() got an unexpected keyword argument '{unknown}'"
        return None

    def _fits(self, name: str, param: _Param, value: Any) -> bool:
        if value is None:
            return param.default == "None" or param.kind.startswith("optional ")
        is_tensor = hasattr(value, "_array")
        is_number = isinstance(value, int | float | np.generic)
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        takes_sizes = len(self.params) == 1 and param.default is None
        match param.kind:
            case "tuple of ints" if takes_sizes:
                return _is_list_of_ints(value)
            case "int":
                return whole or (is_tensor and value.ndim == 0 and _is_index(value))
            case "tuple of ints" | "optional tuple of ints":
                return whole or _is_list_of_ints(value) or _is_index(value, "biu")
            case "only tuple of ints":
                return _is_list_of_ints(value)
            case "tuple of Tensors":
                return isinstance(value, tuple | list)
            case "Tensor":
                is_operand = name.removesuffix("_") in _NUMBERS_AS_TENSORS and not self._is_strict
                return is_tensor or (is_number and is_operand)
            case "Operand" | "float":
                return is_tensor or is_number
            case "Number":
                return is_number or (is_tensor and not (value.ndim or value.requires_grad))
            case "bool":
                return isinstance(value, bool)
            case "str":
                return isinstance(value, str)
            case "torch.dtype":
                return isinstance(value, dtypes.dtype)
            case "torch.device":
                return isinstance(value, str | int | dtypes.device)
        return True


def _is_list_of_ints(value: Any) -> bool:
    """Return whether a value is a list that begins with an integer: PyTorch looks no further."""
    if not isinstance(value, tuple | list):
        return False
    first = value[0] if value else 0
    is_whole = isinstance(first, (int, np.integer)) and not isinstance(first, bool)
    return is_whole or _is_index(first, "biu")


def _is_index(value: Any, kinds: str = "iu") -> bool:
    """Return whether a tensor holds one element, of these kinds of NumPy's."""
    array = np.asarray(getattr(value, "_array", 0.5))
    return array.size == 1 and array.dtype.kind in kinds


_DECLARED: dict[str, str | Callable[..., Any]] = {}


def declare(name: str, source: Any) -> None:
    """Note the signatures of a function: in PyTorch's notation, or the function that has it.

    The name of a function stands for the signatures of that.
    """
    _DECLARED[name] = source


@cache
def _signatures(kind: str, name: str) -> list[_Signature]:
    """Return the signatures of a function; those of ``add`` are those of ``add_``, too."""
    ordinary = name.removesuffix("_")
    source = _DECLARED.get(name) or _DECLARED.get(ordinary)
    if isinstance(source, str):
        return _signatures(kind, source)
    if source is None:
        table = _written(kind)
        texts = table.get(name) or table.get(ordinary) or []
        return [_Signature(text) for text in _with_dtype(kind, name, texts)]
    texts = [_notation(source)] if callable(source) else source
    if kind == "method":
        texts = [text for text in texts if not text.startswith("(Number ")]
        texts = [re.sub(r"(Tensor|Operand) \w+(, )?", "", text, count=1) for text in texts]
    return [_Signature(text, is_strict=True) for text in _with_dtype(kind, name, texts)]


def _with_dtype(kind: str, name: str, texts: list[str]) -> list[str]:
    if kind == "method" or name not in _WITH_DTYPE:
        return texts
    operands = texts[0].partition(", *")[0].removesuffix(")")
    return [texts[0], f"{operands}, torch.dtype out_dtype)"]


@cache
def _written(kind: str) -> dict[str, list[str]]:
    """Return the signatures that are written down, by the function's name."""
    from autodiff_kit.signature_texts import OF_FACTORIES, OF_METHODS, OPTIONS

    texts = OF_FACTORIES.replace("OPTIONS", OPTIONS) if kind == "factory" else OF_METHODS
    table: dict[str, list[str]] = {}
    for line in texts.strip().split("\n"):
        name = line[: line.index("(")]
        text = line
        if kind == "method":  # only functions write into tensors that are there
            text = re.sub(r"((?<=\()\*, |, )Tensor out = None", "", text)
        if kind == "function":  # a function takes sizes as one list only
            text = re.sub(r"\((tuple of ints \w+\))", r"(only \1", text)
            text = re.sub(r"\((?=.)", "(Tensor input, ", text, count=1)
        table.setdefault(name, []).append(text.replace("input, )", "input)"))
    return table


# What the annotations of a function are called in PyTorch's notation.
_KINDS = {
    "Ints": "tuple of ints",
    "IntList": "only tuple of ints",
    "Tensors": "tuple of Tensors",
    "Dtype": "torch.dtype",
}
_KINDS |= {"Generator": "torch.Generator"}


def _notation(function: Any) -> str:
    """Return the signature of a Python function in PyTorch's notation."""
    from inspect import signature

    parts = []
    for parameter in signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        kind = str(parameter.annotation).partition(" | ")[0]
        if parameter.kind is parameter.VAR_POSITIONAL:
            kind = f"{kind.removesuffix('s')}s"
        elif parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        has_default = parameter.default is not parameter.empty
        default = f" = {parameter.default!r}" if has_default else ""
        parts.append(f"{_KINDS.get(kind, kind)} {parameter.name}{default}")
    return f"({', '.join(parts)})"


def _complaint(name: str, kind: str, args: tuple[Any, ...], kwargs: Keywords) -> str | None:
    """Return what PyTorch says about a call; None if the call as such is right."""
    signatures = _signatures(kind, name)
    if not signatures:
        return None
    complaints = [s.complaint(name, args, kwargs) for s in signatures]
    if None in complaints:
        return None
    if kind == "method" and not any(s.params for s in signatures):
        wrong = "no keyword arguments" if kwargs else f"no arguments ({len(args)} given)"
        return f"TensorBase.{name}() takes {wrong}"
    count = len(args) + len(kwargs)
    takes_out = kind == "function" and name in functions_with("out")
    mosts = [s.most + (takes_out and s.takes_out()) for s in signatures]
    likely = [i for i, s in enumerate(signatures) if s.least <= count <= mosts[i]]
    is_alone = len(signatures) == 1
    has_older = is_alone and name.removesuffix("_") in _WITH_OLDER
    if len(likely) == 1 or (is_alone and not has_older):
        return complaints[likely[0] if likely else 0]
    unknown = [key for key in kwargs if key not in signatures[0].names()]
    types = [full_name(value) for value in args]
    types += [f"{key}={full_name(value)}" for key, value in kwargs.items()]
    text = ", ".join(types) + (", " if kwargs and not args else "")
    wrong = f"{name}() received an invalid combination of arguments - got ({text})"
    if not has_older:
        return f"{wrong}, but expected one of:"
    if unknown:
        wrong = wrong.partition(" - got ")[0]
        return f"{wrong} - got unrecognized keyword arguments: {', '.join(unknown)}"
    return f"{wrong}, but expected {signatures[0].with_out(kind, name)}"
