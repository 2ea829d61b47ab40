"""The base class of all layers and models: what belongs to it, and under which name.

After reading this file you know why ``self.weight = nn.Parameter(...)`` is all that a model has to
say: whatever is assigned to an attribute is sorted into parameters, buffers and modules, and
everything else - ``parameters()``, ``state_dict()``, printing - is a walk over these three.
Read next: ``linear.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NoReturn, Self, cast

from autodiff_kit.core.hooks import RemovableHandle
from autodiff_kit.creation import zeros
from autodiff_kit.dtypes import float16, float32, float64
from autodiff_kit.errors import error
from autodiff_kit.nn.hooks import call_with_hooks, of_all_modules
from autodiff_kit.nn.parameter import Parameter, clear_grad, converted, type_name
from autodiff_kit.nn.state import State
from autodiff_kit.outside import missing_attribute, only_default
from autodiff_kit.tensor import Tensor

__all__ = ["Module"]

_KINDS = ("_parameters", "_buffers", "_modules")  # the dictionaries of what a module owns
_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_hooks", "_backward_pre_hooks")


class Module(State):
    """A part of a model: a function with parameters, made of smaller modules or of none.

    A subclass calls ``super().__init__()``, assigns its parts to attributes, and defines
    ``forward``; calling the module calls that.

    Attributes
    ----------
    training : bool
        Whether layers such as ``Dropout`` do what they do in training; see ``train``, ``eval``.

    Examples
    --------
    >>> import autodiff_kit as torch
    >>> class Line(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = torch.nn.Parameter(torch.tensor([2.0]))
    ...     def forward(self, x):
    ...         return self.slope * x
    >>> Line()(torch.tensor([3.0]))
    tensor([6.], grad_fn=<MulBackward0>)
    """

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    _with_kwargs: Collection[int] = ()  # the numbers of the hooks that get them
    _repr_names: tuple[str, ...] = ()  # the attributes that ``extra_repr`` prints

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            kind = type(self).__name__
            raise TypeError(f"{kind}.__init__() got an unexpected keyword argument '{name}'")
        if args:
            words = f"takes 1 positional argument but {len(args) + 1} were given"
            raise TypeError(f"{type(self).__name__}.__init__() {words}")
        self.training = True
        for kind in (*_KINDS, *_HOOKS):
            object.__setattr__(self, kind, {})

    # -- what belongs to it --------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            self._claim("parameters", "_parameters", name, value)
        elif isinstance(value, Module):
            self._claim("module", "_modules", name, value)
        elif name in own.get("_parameters", ()) and value is not None:
            self._refuse(name, value, "parameter", "torch.nn.Parameter or None expected")
        elif name in own.get("_modules", ()) and value is not None:
            self._refuse(name, value, "child module", "torch.nn.Module or None expected")
        elif name in own.get("_buffers", ()) and not isinstance(value, Tensor | None):
            expected = "torch.nn.Buffer, torch.Tensor or None expected"
            self._refuse(name, value, "buffer", expected)
        else:
            for kind in _KINDS:
                if name in own.get(kind, ()):
                    own[kind][name] = value
                    return
            object.__setattr__(self, name, value)

    def _claim(self, what: str, kind: str, name: str, value: Any) -> None:
        """Make ``value`` one of the own parameters or modules; it replaces anything else."""
        own = self.__dict__
        if kind not in own:
            raise error("nn.before_init", what=what)
        for place in (own, *(own[other] for other in _KINDS if other != kind)):
            place.pop(name, None)
        own[kind][name] = value

    def _refuse(self, name: str, value: Any, what: str, expected: str) -> NoReturn:
        kind = type_name(value) if isinstance(value, Tensor) else type_name(type(value))
        raise error("nn.assigned", kind=kind, what=what, name=name, expected=expected)

    def __getattr__(self, name: str) -> Any:
        # Python asks here for what is no ordinary attribute.
        own = self.__dict__
        for kind in _KINDS:
            if kind in own and name in own[kind]:
                return own[kind][name]
        if "_modules" not in own:
            words = f"'{type(self).__name__}' object has no attribute '{name}'"
            raise AttributeError(f"{words}\n-> Call super().__init__() first in __init__.")
        raise missing_attribute(self, "torch.nn.Module", name)

    def __delattr__(self, name: str) -> None:
        for kind in _KINDS:
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under a name; None: the name is there, but nothing to train."""
        self._register("parameter", name, param, Parameter, "torch.nn.Parameter or None")

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is not trained; if ``persistent``, it is part of ``state_dict``."""
        self._register("buffer", name, tensor, Tensor, "torch Tensor or None")
        if not persistent:
            self.__dict__.setdefault("_non_persistent", set()).add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under a name."""
        if not isinstance(module, Module | None):
            raise error("nn.not_a_module", kind=type_name(module))
        self._register("module", name, module, Module, "")

    def register_module(self, name: str, module: Module | None) -> None:
        """Do what ``add_module`` does."""
        self.add_module(name, module)

    def _register(self, what: str, name: str, value: Any, kind: type, expected: str) -> None:
        """Add what belongs to the module; refuse names that cannot be one, and other things."""
        if f"_{what}s" not in self.__dict__:
            raise error("nn.before_init", what=what)
        place = self.__dict__[f"_{what}s"]
        if not isinstance(name, str):
            raise error("nn.name_type", what=what, kind=type_name(name))
        if hasattr(self, name) and name not in place:
            raise error("nn.name_taken", name=name)
        if "." in name:
            suffix = f", got: {name}" if what == "module" else ""
            raise error("nn.name_with_dot", what=what, got=suffix)
        if not name:
            raise error("nn.name_empty", what=what)
        if not isinstance(value, kind | None):
            raise error(
                "nn.registered", kind=type_name(value), to=what, name=name, expected=expected
            )
        place[name] = value

    # -- walking over it -----------------------------------------------------------------------

    def _walk(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Yield (path, module) for all inside, as often as a module is there."""
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child._walk(f"{prefix}.{name}" if prefix else name)

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yield (path, module) for the module itself, its children, theirs, and so on.

        Without ``remove_duplicate``, what is there under several names comes as often, here and
        below. Modules in ``memo`` are left out, and those that come are added to it.
        """
        return _once(self._walk(prefix), remove_duplicate, memo)

    def get_submodule(self, target: str) -> Module:
        """Return the module with this path, such as ``"layers.0"``; AttributeError if none."""
        module = self
        for name in filter(None, target.split(".")):
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter with this path, such as ``"layers.0.weight"``; AttributeError."""
        _, name, parameter = self._at(target)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer with this path, such as ``"norm.running_mean"``; AttributeError."""
        module, name, buffer = self._at(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return cast(Tensor, buffer)

    def _at(self, target: str) -> tuple[Module, str, Any]:
        """Return the module in which a path ends, the last name, and what has this name."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        return module, name, getattr(module, name)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Yield the module itself, its children, theirs, and so on."""
        pairs = self.named_modules(remove_duplicate=remove_duplicate)
        return (module for _, module in pairs)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield (name, module) for the own modules."""
        return _once(self._modules.items())

    def children(self) -> Iterator[Module]:
        """Yield the own modules."""
        return (child for _, child in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield (path, parameter) for everything to train; with ``recurse``, in all modules."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield everything to train."""
        return (param for _, param in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield (path, tensor) for the buffers; with ``recurse``, those of all modules."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield the buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _named(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        modules: Iterable[tuple[str, Module]] = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        pairs = (
            (f"{path}.{name}" if path else name, value)
            for path, module in modules
            for name, value in module.__dict__[kind].items()
        )
        return _once(pairs, remove_duplicate)

    # -- changing all of it --------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], object]) -> Self:
        """Call ``fn`` with every module inside, the smallest first, and with the module itself."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set ``training`` in all modules."""
        if not isinstance(mode, bool):
            raise error("nn.train_mode")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Leave training: no dropout, no changing statistics; the graph is recorded as before."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether gradients of the parameters are wanted."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of the parameters, or set them to zeros."""
        for param in self.parameters():
            clear_grad(param, set_to_none)

    def cuda(self, device: Any = None) -> Self:
        """Refuse, as PyTorch without CUDA does: the kit uses no GPU."""
        raise error("dtypes.cuda", name="CUDA")

    def cpu(self) -> Self:
        """Return the module itself: there is nothing but the CPU."""
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert all that is floats, in place; arguments are those of ``Tensor.to``."""
        dtype = zeros(0).to(*args, **kwargs).dtype
        if not dtype.is_floating_point:
            raise error("nn.to_whole", dtype=dtype)

        def convert(tensor: Tensor) -> Tensor:
            return tensor.to(*args, **kwargs) if tensor.is_floating_point() else tensor

        for module in self.modules():
            for owned in (module._parameters, module._buffers):
                for name, tensor in owned.items():
                    if tensor is not None:
                        owned[name] = converted(tensor, convert)
        return self

    def float(self) -> Self:
        """Convert to float32."""
        return self.to(float32)

    def double(self) -> Self:
        """Convert to float64."""
        return self.to(float64)

    def half(self) -> Self:
        """Convert to float16."""
        return self.to(float16)

    # -- calling it ----------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass has its own."""
        raise error("nn.forward_missing", kind=type(self).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call ``forward``, and the hooks before and after it."""
        if (
            self._backward_hooks
            or self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_pre_hooks
            or of_all_modules
        ):
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def _register_hook(
        self, kind: str, hook: Callable[..., Any], prepend: bool, with_kwargs: bool = False
    ) -> RemovableHandle:
        hooks: dict[int, Callable[..., Any]] = self.__dict__[kind]
        before = dict(hooks)
        if prepend:
            hooks.clear()
        handle = RemovableHandle(hooks, hook)
        hooks.update(before)
        if with_kwargs:
            self.__dict__["_with_kwargs"] = {*self._with_kwargs, handle.id}
        return handle

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``; its result replaces the arguments.

        ``prepend`` puts it before all other hooks. ``with_kwargs`` calls ``hook(module, args,
        kwargs)``, which may return both anew.
        """
        return self._register_hook("_forward_pre_hooks", hook, prepend, with_kwargs)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``; its result replaces the output.

        ``prepend`` puts it before all other hooks. ``with_kwargs`` calls ``hook(module, args,
        kwargs, output)``.
        """
        only_default("nn.Module.register_forward_hook", always_call=always_call)
        return self._register_hook("_forward_hooks", hook, prepend, with_kwargs)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when the gradients of the outputs have come.

        What the hook returns, a tuple, replaces ``grad_output``.
        """
        return self._register_hook("_backward_pre_hooks", hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients have come through.

        Both are tuples, with None where there is no gradient; a tuple that the hook returns
        replaces ``grad_input``.
        """
        return self._register_hook("_backward_hooks", hook, prepend)

    # -- printing ------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return what to print between the brackets; subclasses have more to say."""
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self._repr_names)

    def _child_lines(self) -> list[str]:
        return [f"({name}): {child!r}" for name, child in self._modules.items()]

    def _get_name(self) -> str:
        """Return the name by which ``print`` shows the module."""
        return type(self).__name__

    def __repr__(self) -> str:
        extra, name = self.extra_repr(), self._get_name()
        children = [line.replace("\n", "\n  ") for line in self._child_lines()]
        if not children and "\n" not in extra:
            return f"{name}({extra})"
        lines = [*extra.split("\n"), *children] if extra else children
        return f"{name}(\n  " + "\n  ".join(lines) + "\n)"


def _once(
    pairs: Iterable[tuple[str, Any]], remove_duplicate: bool = True, memo: set[Any] | None = None
) -> Iterator[tuple[str, Any]]:
    """Leave out None, and with ``remove_duplicate`` what is there under a second name."""
    visited = set() if memo is None else memo
    for name, value in pairs:
        if value is not None and value not in visited:
            if remove_duplicate:
                visited.add(value)
            yield name, value
