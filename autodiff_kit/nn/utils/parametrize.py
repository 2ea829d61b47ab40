"""Parametrizations: a layer's weight that is computed from other parameters each time it is read.

After reading this file you know how ``layer.weight`` can stay symmetric, or of length 1, however it
is trained: what is trained is ``layer.parametrizations.weight.original``, and the weight is a
function of that. Read next: ``parametrizations.py``, which has two such functions.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from autodiff_kit.autograd.grad_mode import no_grad
from autodiff_kit.core.mode import thread_local
from autodiff_kit.errors import error
from autodiff_kit.nn.containers import ModuleDict, ModuleList
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.parameter import Parameter
from autodiff_kit.outside import absent
from autodiff_kit.tensor import Tensor

__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization"]
__all__ += ["remove_parametrizations", "type_before_parametrizations"]


class _Cache(thread_local):
    def __init__(self) -> None:
        self.depth = 0
        self.tensors: dict[tuple[int, str], Tensor] = {}


_cache = _Cache()


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once within a ``with``, however often it is read."""
    _cache.depth += 1
    try:
        yield
    finally:
        _cache.depth -= 1
        if not _cache.depth:
            _cache.tensors = {}


def _register(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in order, and what it is computed from.

    That is ``original``, or, if the first one takes several tensors, ``original0``,
    ``original1`` ...
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise error("parametrize.none")
        super().__init__(modules)
        self.unsafe = unsafe
        kind, shape = original.dtype, original.shape
        start: Any = original
        with no_grad():
            for module in reversed([*self]):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        start = module.right_inverse(start)
        if not isinstance(start, Tensor | Sequence):
            raise error("parametrize.inverse_kind", kind=type(start).__name__)
        self.is_tensor = isinstance(start, Tensor)
        self.ntensors = 1 if isinstance(start, Tensor) else len(start)
        if isinstance(start, Tensor):
            if start.dtype is not kind:
                raise error("parametrize.inverse_dtype", own=kind, other=start.dtype)
            if start is not original:
                original.data = start.detach()
            _register(self, "original", original)
        else:
            self._register_several(start, original)
        if not unsafe:
            _check(self(), "", "unparametrized ", "parametrized ", kind, shape)

    def _register_several(self, tensors: Sequence[Any], original: Tensor) -> None:
        for i, tensor in enumerate(tensors):
            if not isinstance(tensor, Tensor):
                raise error("parametrize.inverse_element", index=i, kind=type(tensor).__name__)
            if isinstance(original, Parameter):
                tensor = Parameter(tensor.detach(), original.requires_grad)
            _register(self, f"original{i}", tensor.requires_grad_(original.requires_grad))

    def originals(self) -> list[Any]:
        """Return what the tensor is computed from."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the tensor becomes ``value``."""
        with no_grad():
            for module in reversed([*self]):
                if not hasattr(module, "right_inverse"):
                    raise error("parametrize.no_inverse", kind=type(module).__name__)
                value = module.right_inverse(value)
            values = [value] if self.is_tensor else [*value]
            if len(values) != self.ntensors:
                raise error("parametrize.inverse_count", own=self.ntensors, count=len(values))
            for original, new in zip(self.originals(), values, strict=True):
                if original.dtype is not new.dtype:
                    raise error("parametrize.new_dtype", own=original.dtype, other=new.dtype)
                original.data = new.detach()

    def forward(self) -> Any:
        """Compute the tensor."""
        first, *others = self
        out = first(*self.originals())
        for module in others:
            out = module(out)
        return out


def _check(out: Any, the: str, before: str, after: str, kind: Any, shape: Any) -> None:
    """Refuse a parametrization that changes dtype or shape of the tensor."""
    if not isinstance(out, Tensor):
        raise error("parametrize.kind", kind=type(out).__name__)
    for fact, own, new in (("dtype", kind, out.dtype), ("shape", shape, out.shape)):
        if own != new:
            raise error(
                "parametrize.changed",
                fact=fact,
                the=the,
                before=before,
                after=after,
                own=own,
                new=new,
            )


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let a parameter or buffer of a module be computed by another module; return the first one.

    Parameters
    ----------
    module : Module
        Its class becomes ``Parametrized<Class>``, and has the tensor as a property.
    tensor_name : str
    parametrization : Module
        Its ``forward`` takes the original tensor and returns the new one. If it has
        ``right_inverse``, the original becomes that of the tensor as it was, and the tensor can be
        assigned to.
    unsafe : bool
        Do not check that shape and dtype stay as they were.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = register_parametrization(torch.nn.Linear(2, 2), "weight", Symmetric())
    >>> torch.equal(layer.weight, layer.weight.T)
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            own = getattr(module, tensor_name)
            before, after = f"module.{tensor_name}.", f"parametrization(module.{tensor_name})."
            _check(parametrization(own), "the ", before, after, own.dtype, own.shape)
        existing: Any = module.parametrizations[tensor_name]
        existing.append(parametrization)
        existing.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _change_class(module)
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _property(tensor_name))
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise error("parametrize.no_tensor", module=module, name=tensor_name)
    return module


def _change_class(module: Module) -> None:
    """Give a module a class of its own, which can have properties that others do not have."""
    kind = type(module)

    def getstate(self: Any) -> Any:
        raise error("parametrize.pickled")

    def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        twin: Any = object.__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    own = {"__getstate__": getstate, "__deepcopy__": deepcopy, "__module__": __name__}
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), own)


def _property(name: str) -> property:
    def parametrized(module: Any) -> Any:
        parametrization = module.parametrizations[name]
        if not _cache.depth:
            return parametrization()
        key = id(module), name
        if key not in _cache.tensors:
            _cache.tensors[key] = parametrization()
        return _cache.tensors[key]

    def assign(module: Any, value: Any) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(parametrized, assign)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a module has parametrizations, or one of a certain tensor."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Let a tensor be an ordinary parameter or buffer again.

    It has the value that was computed, or, without ``leave_parametrized``, that of the original.
    """
    if not is_parametrized(module, tensor_name):
        raise error("parametrize.not_parametrized", module=module, name=tensor_name)
    parametrizations: Any = module.parametrizations[tensor_name]
    original = parametrizations.originals()[0]
    if leave_parametrized:
        value = getattr(module, tensor_name)
        if parametrizations.is_tensor:
            original.data = value.detach()
        else:
            original = Parameter(value.detach()) if value.requires_grad else value
    elif not parametrizations.is_tensor:
        raise error("parametrize.several_originals")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name)
