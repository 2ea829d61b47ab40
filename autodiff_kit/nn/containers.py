"""Modules made of modules: ``Sequential``, and lists and dictionaries that are walked over.

After reading this file you know why a plain list will not do: a module finds what belongs to it
only in attributes and in these containers. Read next: ``module.py``.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self

from autodiff_kit.errors import error
from autodiff_kit.free_form import Namespace
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.parameter import Parameter, type_name
from autodiff_kit.tensor import Tensor

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _place(index: Any, count: int) -> int:
    """Return an index that counts from 0; IndexError if it leads outside."""
    number: int = operator.index(index)
    if not -count <= number < count:
        raise error("nn.index", index=number, count=count)
    return number % count


class _Row(Module):
    """Modules, or parameters, in a row, numbered or named."""

    _kind = "_modules"

    @property
    def _row(self) -> Namespace:
        own: Namespace = self.__dict__[self._kind]
        return own

    def __len__(self) -> int:
        return len(self._row)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._row.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._part(list(self._row.items())[index])
        return self._row[self._name(index)]

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name(index), value)

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def _part(self, items: list[tuple[str, Any]]) -> Any:
        return type(self)(value for _, value in items)

    def _name(self, index: int) -> str:
        return list(self._row)[_place(index, len(self))]

    def append(self, value: Any) -> Self:
        """Add one at the end."""
        self.add_module(str(len(self)), value)
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add some at the end."""
        if not isinstance(values, Iterable):
            raise error("nn.extend", owner=type(self).__name__, kind=type(values).__name__)
        for value in values:
            self.append(value)
        return self


class _ModuleRow(_Row):
    """Modules in a row that can be put in, taken out and joined."""

    def __delitem__(self, index: Any) -> None:
        names = list(self._row)
        deleted = names[index] if isinstance(index, slice) else [self._name(index)]
        self._number([module for name, module in self._row.items() if name not in deleted])

    def __add__(self, other: Iterable[Any]) -> Any:
        return type(self)._of([*self, *other])

    @classmethod
    def _of(cls, modules: list[Any]) -> Any:
        return cls(modules)

    def _number(self, modules: list[Any]) -> None:
        self._row.clear()
        self.extend(modules)

    def insert(self, index: int, module: Module) -> Any:
        """Put a module before the one of this index."""
        modules = list(self)
        modules.insert(index, module)
        self._number(modules)

    def pop(self, key: Any) -> Any:
        """Take out a module and return it."""
        module = self[key]
        del self[key]
        return module


class Sequential(_ModuleRow):
    """Modules that are called one after the other, each with the output of the one before.

    Parameters
    ----------
    *modules : Module, or one OrderedDict of name -> Module

    Examples
    --------
    >>> from autodiff_kit import nn
    >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], OrderedDict):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            self.extend(modules)

    def _part(self, items: list[tuple[str, Any]]) -> Sequential:
        return type(self)(OrderedDict(items))

    @classmethod
    def _of(cls, modules: list[Any]) -> Sequential:
        return Sequential(*modules)

    def __add__(self, other: Any) -> Any:
        self._check_sequential("add", other)
        return super().__add__(other)

    def __iadd__(self, other: Any) -> Self:
        self._check_sequential("add", other)
        return super().__iadd__(other)

    def __mul__(self, count: int) -> Sequential:
        if not isinstance(count, int):
            raise error("nn.times_kind", kind=type(count))
        if count <= 0:
            raise error("nn.times", count=count)
        return self._of([*self] * count)

    __rmul__ = __mul__

    def _check_sequential(self, name: str, other: Any) -> None:
        if not isinstance(other, Sequential):
            raise error("nn.joined", name=name, kind=type(other))

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module before the one of this index; return the Sequential."""
        if not isinstance(module, Module):
            raise error("nn.inserted")
        if not -len(self) <= index <= len(self):
            raise error("nn.insert_place", index=index)
        super().insert(index, module)
        return self

    def forward(self, input: Any) -> Any:
        """Call one module after the other."""
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input


class ModuleList(_ModuleRow):
    """A list of modules that belong to the module which it is an attribute of."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self.extend(modules)

    def _child_lines(self) -> list[str]:
        """Return a line for each module; equal ones in a row share one."""
        runs: list[list[Any]] = []
        for i, text in enumerate(map(repr, self)):
            if not runs or runs[-1][2] != text:
                runs.append([i, i, text])
            runs[-1][1] = i
        return [
            f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}"
            for a, b, text in runs
        ]


def _of_dict(name: str) -> Any:
    """Make a method of the dictionary of modules one of the module."""

    def method(self: Module, *args: Any) -> Any:
        return getattr(self._modules, name)(*args)

    method.__name__, method.__doc__ = name, f"See ``dict.{name}``."
    return method


class ModuleDict(Module):
    """A dictionary of modules that belong to the module which it is an attribute of."""

    def __init__(self, modules: Any = ()) -> None:
        super().__init__()
        for key, module in dict(modules).items():
            self[key] = module

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    __getitem__, __delitem__, __len__ = map(_of_dict, ("__getitem__", "__delitem__", "__len__"))
    __iter__, __contains__ = map(_of_dict, ("__iter__", "__contains__"))
    keys, values, items, clear = map(_of_dict, ("keys", "values", "items", "clear"))

    def pop(self, key: str) -> Module:
        """Take out a module and return it."""
        module: Module = self[key]
        del self[key]
        return module

    def update(self, modules: Any) -> None:
        """Add the modules of a dictionary, or pairs of a name and a module."""
        for key, module in dict(modules).items():
            self[key] = module


class ParameterList(_Row):
    """A list of parameters; tensors become some, and other values may be in it, too."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        self._size = 0
        if isinstance(values, Tensor):
            raise error("nn.parameters", kind=type(values).__name__)
        self.extend(values)

    @property
    def _row(self) -> Namespace:
        return {str(i): getattr(self, str(i)) for i in range(self._size)}

    def __len__(self) -> int:
        return self._size

    def _name(self, index: int) -> str:
        return str(_place(index, self._size))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return super().__getitem__(index)
        return getattr(self, self._name(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name(index), _parameter(value))

    def append(self, value: Any) -> Self:
        """Add a parameter, or another value, at the end."""
        setattr(self, str(self._size), _parameter(value))
        self._size += 1
        return self

    def extra_repr(self) -> str:
        """Return a line for each parameter."""
        return _lines(enumerate(self), lambda parameter: parameter.dtype)


class ParameterDict(Module):
    """A dictionary of parameters; tensors become some, and other values may be in it, too.

    A plain dictionary is taken over sorted by its keys, pairs and an OrderedDict in their order.
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if not isinstance(key, str):
            raise error("nn.parameter_key", kind=type(key).__name__)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise error("nn.parameter_key", kind=type(key).__name__)
        self._keys[key] = None
        setattr(self, key, _parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __or__(self, other: Any) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def __call__(self, *args: Any) -> Any:
        """Refuse: a dictionary computes nothing."""
        raise error("nn.parameters_called")

    def copy(self) -> ParameterDict:
        """Return another dictionary of the same parameters."""
        return type(self)(self.items())

    def get(self, key: str, default: Any = None) -> Any:
        """Return what belongs to a key, or ``default``."""
        return self[key] if key in self else default  # noqa: SIM401 - this is what get does

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return what belongs to a key; add ``default`` if there is nothing."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Take out a parameter and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take out the last pair of a key and a parameter, and return it."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Take out all."""
        for key in [*self]:
            del self[key]

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a new dictionary in which ``default`` belongs to each key."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Any:
        """Return the keys."""
        return self._keys.keys()

    def values(self) -> Iterator[Any]:
        """Yield the parameters."""
        return (self[key] for key in self._keys)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield pairs of a key and a parameter."""
        return ((key, self[key]) for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add the parameters of a dictionary, or pairs of a key and a parameter."""
        if not isinstance(parameters, Iterable):
            raise error("nn.parameter_pairs", kind=type(parameters).__name__)
        pairs: Iterable[Any] = parameters
        if isinstance(parameters, OrderedDict | ParameterDict):
            pairs = parameters.items()
        elif isinstance(parameters, Mapping):
            pairs = sorted(parameters.items())
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        """Return a line for each parameter."""
        return _lines(self.items(), type_name)


def _lines(values: Iterable[tuple[Any, Any]], kind: Callable[[Any], Any]) -> str:
    """Return a line for each parameter; ``kind`` says what its type is called there."""
    lines = []
    for key, value in values:
        text = f"Object of type: {type(value).__name__}"
        if isinstance(value, Tensor):
            name = "Parameter" if isinstance(value, Parameter) else "Tensor"
            size = "x".join(map(str, value.shape))
            text = f"{name} containing: [{kind(value)} of size {size}]"
        lines.append(f"  ({key}): {text}")
    return "\n".join(lines)


def _parameter(value: Any) -> Any:
    """Return a tensor as a parameter; anything else as it is."""
    is_plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if is_plain else value
