"""Hold the learner's names, and keep the given code in it what it was.

After reading this file you can say which changes of given functions and classes are undone before
and refused after each call, and how: their names, methods, defaults, and the built-in functions
that they call. Read next: ``child.py``.
"""

from __future__ import annotations

import builtins
import functools
import types
from typing import Any

__all__ = ["Given", "Missing", "Namespace"]

# As in ``child.py``: the learner's code can put others into ``builtins``.
_BUILTINS = dict(vars(builtins))
globals()["__builtins__"] = _BUILTINS


class Missing(AttributeError):
    """The learner's code defines no such name."""


class Namespace(types.ModuleType):
    """The learner's namespace; drivers read names from it as attributes."""

    def __getattr__(self, name: str) -> Any:
        """Say what is missing."""
        raise Missing(f"{name} is not defined", name=name)


class Given:
    """Functions and classes of the teacher's that run ahead: when judged, they are what they were.

    Methods that a learner adds to such a class may stay; what changes those that are there, or
    comes between an object and its attributes, may not.
    """

    _HOOKS = ("__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__class__")

    def __init__(self, step: Namespace, asked: list[str], source: str = "") -> None:
        self.space = vars(step)
        if source:
            # With built-in functions of its own, as the functions of this file.
            theirs = self.space["__builtins__"]
            self.space["__builtins__"] = dict(_BUILTINS)
            exec(_given(source), self.space)
            self.space["__builtins__"] = theirs
        self.builtins = _names_in(_given(source)) & _BUILTINS.keys() - self.space.keys()
        self.names = {
            name: value
            for name, value in self.space.items()
            if name not in asked
            and isinstance(value, types.FunctionType | type)
            and value.__module__ == step.__name__
        }
        functions = [part for part in self.names.values() if isinstance(part, types.FunctionType)]
        kinds = [Namespace, *(value for value in self.names.values() if isinstance(value, type))]
        self.classes = [(kind, vars(kind), self._methods(kind)) for kind in kinds]
        for _, _, methods in self.classes:
            functions += [m for m in methods.values() if isinstance(m, types.FunctionType)]
        self.defaults = [(part, part.__defaults__, part.__kwdefaults__) for part in functions]

    @staticmethod
    def _methods(kind: type) -> dict[str, Any]:
        return {name: value for name, value in vars(kind).items() if hasattr(value, "__get__")}

    def put_back(self) -> bool:
        """Undo all changes; tell whether there were any."""
        changed = [name for name, value in self.names.items() if self.space.get(name) is not value]
        self.space.update({name: self.names[name] for name in changed})
        is_changed = bool(changed)
        for name in self.builtins & self.space.keys():  # it hides the real one
            del self.space[name]
            is_changed = True
        for part, values, named in self.defaults:
            if part.__defaults__ is not values or part.__kwdefaults__ is not named:
                part.__defaults__, part.__kwdefaults__ = values, named
                is_changed = True
        for kind, now, methods in self.classes:
            for name, value in methods.items():
                if now.get(name) is not value:
                    type.__setattr__(kind, name, value)
                    is_changed = True
            for name in [name for name in now if name not in methods]:
                if name in self._HOOKS or hasattr(type(now[name]), "__set__"):
                    type.__delattr__(kind, name)
                    is_changed = True
        return is_changed


@functools.cache
def _given(source: str) -> types.CodeType:
    return compile(source, "<given>", "exec")


def _names_in(code: types.CodeType) -> set[str]:
    """Return all names, not only variables, that a code and the functions in it look up."""
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return {*code.co_names}.union(*map(_names_in, inner))
