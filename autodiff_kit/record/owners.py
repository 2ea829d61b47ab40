"""What a parameter or a module is called: by the variable that holds its model, ``model.0.weight``.

After reading this file you know how a tensor or a module that no variable holds gets the name a
learner would type to reach it. Read next: ``recorder.py``.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from autodiff_kit.record.scopes import is_module, look, look_up
from autodiff_kit.record.source import Sources
from autodiff_kit.tensor import Tensor

__all__ = ["Owners"]

Module = Any  # nn.Module stands beside this layer: it is known by its method


class Owners:
    """Finds the modules that own tensors, and remembers what it found."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._known: dict[int, tuple[weakref.ref[Tensor], str, str]] = {}
        self._paths: dict[int, tuple[weakref.ref[Any], str]] = {}  # of modules, by their id

    def path_of(self, module: Module, outer: Module | None, frames: Sequence[FrameType]) -> str:
        """Return the path of a module that is called: ``"net.layers.0"``.

        Parameters
        ----------
        module : Module
        outer : Module or None
            The one that calls it.
        frames : sequence of frames
            The learner's, outermost first: the name that holds a module there is preferred.

        Returns
        -------
        str - by its class if neither a variable nor the module around it holds it.
        """
        path = self._path(module)
        if path is None and outer is not None and (around := self._path(outer)) is not None:
            self._learn(around, outer)
            path = self._path(module)
        if path is None:
            spaces = [look(frame) | frame.f_globals for frame in frames]
            inlined = self._inlined(frames)
            own = [[m for m in _modules(s) if m[0] not in inlined] for s in spaces]
            models = next(filter(None, (_holders(module, owner) for owner in own)), [])
            for variable, model in models or [
                item for s in spaces for item in _holders(module, _listed(s))
            ]:
                self._learn(variable, model)
            path = self._path(module)
        return path or type(module).__name__

    def _targets(self, frames: Sequence[FrameType]) -> set[str]:
        """Return the variables of loops: they hold one module after the other."""
        files = {frame.f_code.co_filename for frame in frames}
        return {name for file in files for name in self._sources.targets(file)}

    def _inlined(self, frames: Sequence[FrameType]) -> set[str]:
        """Return the variables of comprehensions, which share their frame since Python 3.12."""
        files = {frame.f_code.co_filename for frame in frames}
        return {name for file in files for name in self._sources.targets(file, inlined=True)}

    def _path(self, module: Module) -> str | None:
        reference, path = self._paths.get(id(module), (None, ""))
        return path if reference is not None and reference() is module else None

    def _learn(self, variable: str, module: Module) -> None:
        """Note the paths of all modules of a model."""
        for path, own in module.named_modules():
            if self._path(own) is None:
                self._paths[id(own)] = weakref.ref(own), f"{variable}.{path}" if path else variable

    def find(self, tensor: Tensor, frames: Sequence[FrameType]) -> tuple[str, str] | None:
        """Return what a tensor is called and what it is; None if no module in reach owns it.

        Parameters
        ----------
        tensor : Tensor
        frames : sequence of frames
            The learner's, outermost first: the name that holds a module there is preferred.

        Returns
        -------
        (name, part) or None - ``("model.0.weight", "parameter of Linear")``; by the class of the
        model that is at work if no variable holds it.
        """
        reference, name, part = self._known.get(id(tensor), (None, "", ""))
        if reference is not None and reference() is tensor:
            return name, part
        spaces = [space for frame in frames for space in (look(frame), frame.f_globals)]
        targets = self._targets(frames)
        for space in spaces:
            models = [item for item in _modules(space) if item[0] not in targets]
            if owner := self._look(tensor, models):
                return owner
        for parts_of in (_listed, _modules):
            for space in spaces:
                if owner := self._look(tensor, parts_of(space)):
                    return owner
        at_work: list[tuple[str, Module]] = []
        frame_: FrameType | None = sys._getframe(1)
        end = frames[0].f_back if frames else None
        while frame_ is not None and frame_ is not end:
            own = look_up(frame_, ("self",))[0] if "self" in frame_.f_code.co_varnames else None
            if is_module(own):
                at_work.append((type(own).__name__, own))
            frame_ = frame_.f_back
        return self._look(tensor, at_work[::-1])

    def _look(self, tensor: Tensor, modules: list[tuple[str, Module]]) -> tuple[str, str] | None:
        """Look into some modules, the largest first: a layer is called as a part of its model."""
        for variable, module in sorted(modules, key=lambda item: -_size(item[1])):
            mine = {id(own): (own, path, part) for own, path, part in _tensors(module)}
            if id(tensor) in mine:
                for key, (own, path, part) in mine.items():
                    self._known[key] = weakref.ref(own), f"{variable}.{path}", part
                return self._known[id(tensor)][1:]
        return None


def _modules(space: Mapping[str, object]) -> list[tuple[str, Module]]:
    """Return the variables that hold a module."""
    return [
        (name, value)
        for name, value in list(space.items())
        if is_module(value) and not name.startswith("_")
    ]


def _listed(space: Mapping[str, object]) -> list[tuple[str, Module]]:
    """Return the modules in lists, tuples and dictionaries that variables hold: ``layers[0]``."""
    modules: list[tuple[str, Module]] = []
    for name, value in list(space.items()):
        items = list(enumerate(value)) if isinstance(value, list | tuple) else []
        pairs: list[tuple[object, object]] = (
            list(value.items()) if type(value) is dict else [*items]
        )
        is_space = type(value) is dict and "__builtins__" in value
        if not name.startswith("_") and not is_space:
            modules += [(f"{name}[{_quoted(at)}]", own) for at, own in pairs if is_module(own)]
    return modules


def _quoted(key: object) -> str:
    return f'"{key}"' if isinstance(key, str) and '"' not in key else repr(key)


def _holders(module: Module, models: list[tuple[str, Module]]) -> list[tuple[str, Module]]:
    """Return the models that a module is a part of, the largest first."""
    holders = [item for item in models if any(own is module for own in item[1].modules())]
    return sorted(holders, key=lambda item: -_size(item[1]))


def _size(module: Module) -> int:
    return sum(1 for _ in module.named_modules())


def _tensors(module: Module) -> Iterator[tuple[Tensor, str, str]]:
    """Yield what a module owns, each with its path and what it is there."""
    for path, owner in module.named_modules():
        of = type(owner).__name__
        for kind, owned in (("parameter", owner._parameters), ("buffer", owner._buffers)):
            for name, tensor in owned.items():
                if tensor is not None:
                    yield tensor, f"{path}.{name}" if path else name, f"{kind} of {of}"
