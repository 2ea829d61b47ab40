"""Hold the learner's names, and keep the given code in it what it was.

After reading this file you can say what of the given code the learner's code cannot reach at all
(its namespace, its built-in functions, the names that a driver reads), and which changes are undone
before and refused after each call: of names, methods and defaults. Read next: ``child.py``.
"""

from __future__ import annotations

import ast
import builtins
import functools
import sys
import types
from typing import Any

from autodiff_kit.grading import seal
from autodiff_kit.grading.messages import Space
from autodiff_kit.grading.notebook import text_of

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
        _missing(name)


class Given:
    """What the teacher's code defines ahead: when judged, it is what it was.

    It has a namespace of its own, which the learner's code does not reach; that has references. And
    what a driver reads there, no code of the learner's can exchange while it is asked. Methods that
    a learner adds to a given class may stay; what changes those that are there, or comes between an
    object and its attributes, may not.
    """

    _HOOKS = ("__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__class__")

    def __init__(
        self, step: Namespace, tasks: list[str], source: str = "", instead: str = ""
    ) -> None:
        self.space = vars(step)
        # With built-in functions of its own, as the functions of this file.
        self.own: Space = {"__name__": step.__name__, "__builtins__": dict(_BUILTINS)}
        before = set(self.own)
        exec(_compiled(source, seal.GIVEN), self.own)
        exec(_compiled(instead, seal.INSTEAD), self.own)  # of a solution: to be called, not read
        self.tasks = [name for name in tasks if name not in self.own]
        self.names: Space = {}
        for name, value in self.own.items():
            if name in before or name in tasks or name == "__annotations__":
                continue
            if isinstance(value, types.ModuleType):  # the learner's may be changed, ours not
                self.space[name] = sys.modules.get(value.__name__, value)
            else:
                self.names[name] = value
        self.space |= self.names
        self.statements: dict[tuple[str, ...], set[str]] = {}
        for part in ast.parse(f"{source}\n\n{instead}").body:
            self.statements.setdefault(_look(part), set()).add(text_of(part))
        own_parts = [part for part in self.names.values() if _module_of(part) == step.__name__]
        functions = [part for part in own_parts if isinstance(part, types.FunctionType)]
        kinds = [Namespace, *(part for part in own_parts if isinstance(part, type))]
        self.classes = [(kind, vars(kind), self._methods(kind)) for kind in kinds]
        for _, _, methods in self.classes:
            functions += [m for m in methods.values() if isinstance(m, types.FunctionType)]
        self.defaults = [(part, part.__defaults__, part.__kwdefaults__) for part in functions]

    @staticmethod
    def _methods(kind: type) -> Space:
        return {name: value for name, value in vars(kind).items() if hasattr(value, "__get__")}

    def repeats(self, statement: ast.stmt) -> bool:
        """Tell whether a statement is a copy of a given one, or defines what is given."""
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name in self.names:
            return True
        # To write a statement as text takes longer than to run it.
        alike = self.statements.get(_look(statement))
        return alike is not None and text_of(statement) in alike

    def share(self) -> None:
        """Let given code find what the learner's code has defined of what is asked."""
        self.own.update({name: self.space[name] for name in self.tasks if name in self.space})

    def for_driver(self) -> types.ModuleType:
        """Return what a driver reads names from: those given, and the learner's as of now."""
        view = types.ModuleType("submission")  # its class cannot be changed
        vars(view).update({**self.space, **self.names, "__getattr__": _missing})
        return view

    def put_back(self) -> bool:
        """Undo all changes; tell whether there were any."""
        changed = [name for name, value in self.names.items() if self.space.get(name) is not value]
        self.space |= self.names
        is_changed = bool(changed)
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


def _look(statement: ast.stmt) -> tuple[str, ...]:
    """Return what is the same for the same statements, and is seen at once."""
    names = [getattr(statement, "name", "")]
    names += [getattr(target, "id", "") for target in getattr(statement, "targets", ())]
    names += [alias.name for alias in getattr(statement, "names", ()) if type(alias) is ast.alias]
    return (type(statement).__name__, *names)


@functools.cache
def _compiled(source: str, file: str) -> types.CodeType:
    return compile(source, file, "exec")


def _module_of(value: Any) -> Any:
    return value.__module__ if isinstance(value, types.FunctionType | type) else None


def _missing(name: str) -> Any:
    raise Missing(f"{name} is not defined", name=name)
