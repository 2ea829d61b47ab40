"""Hooks of modules: what is called before and after ``forward``, and when gradients come.

After reading this file you know how a module can learn of gradients although only tensors have
them: its inputs and its outputs pass through a function that changes nothing and tells, on the way
back, what comes by. Read next: ``module.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from autodiff_kit.autograd.function import Function, FunctionCtx
from autodiff_kit.core.hooks import RemovableHandle
from autodiff_kit.core.mode import local
from autodiff_kit.errors import error
from autodiff_kit.free_form import Keywords
from autodiff_kit.tensor import Tensor

__all__ = ["call_with_hooks", "of_all_modules", "register_module_forward_hook"]
__all__ += ["register_module_forward_pre_hook", "register_module_full_backward_hook"]
__all__ += ["register_module_full_backward_pre_hook"]

Gradients = tuple[Tensor | None, ...]
Hooks = tuple[Callable[..., Any], ...]


# Hooks that belong to all modules: by the name that a module has for its own of the kind.
of_all_modules: dict[str, dict[int, Callable[..., Any]]] = {}


def _register(kind: str, hook: Callable[..., Any]) -> RemovableHandle:
    return RemovableHandle(of_all_modules.setdefault(kind, {}), hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before ``forward`` of every module."""
    return _register("_forward_pre_hooks", hook)


def register_module_forward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after ``forward`` of every module."""
    return _register("_forward_hooks", hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` when the gradients of any module's outputs have come."""
    return _register("_backward_pre_hooks", hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` when gradients have come through a module."""
    return _register("_backward_hooks", hook)


def call_with_hooks(module: Any, args: tuple[Any, ...], kwargs: Keywords) -> Any:
    """Call ``forward`` of a module, and the hooks before and after it; those of all come first."""
    for number, before in _hooks(module, "_forward_pre_hooks"):
        if number in module._with_kwargs:
            replaced = before(module, args, kwargs)
            if replaced is not None:
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise error("nn.pre_hook_result", replaced=replaced)
                args, kwargs = replaced
            continue
        replaced = before(module, args)
        if replaced is not None:
            args = replaced if isinstance(replaced, tuple) else (replaced,)
    hooks = tuple(hook for _, hook in _hooks(module, "_backward_hooks"))
    pre_hooks = tuple(hook for _, hook in _hooks(module, "_backward_pre_hooks"))
    watch = _BackwardWatch(module, hooks, pre_hooks) if hooks or pre_hooks else None
    if watch is not None:
        args = watch.inputs(args)
    out = module.forward(*args, **kwargs)
    for number, after in _hooks(module, "_forward_hooks"):
        keywords = (kwargs,) if number in module._with_kwargs else ()
        replaced = after(module, args, *keywords, out)
        out = out if replaced is None else replaced
    return out if watch is None else watch.outputs(out)


def _hooks(module: Any, kind: str) -> tuple[tuple[int, Callable[..., Any]], ...]:
    return (*of_all_modules.get(kind, {}).items(), *getattr(module, kind).items())


class BackwardHookFunction(Function):
    """Hands tensors through, and their gradients to ``passing``, which returns them."""

    @staticmethod
    def forward(ctx: FunctionCtx, passing: Any, zeros: bool, *tensors: Tensor) -> Any:
        """Return the tensors; ``zeros``: stand for gradients that do not arrive."""
        ctx.set_materialize_grads(zeros)
        ctx.mark_non_differentiable(*(x for x in tensors if not x.requires_grad))
        ctx.passing = passing  # type: ignore[attr-defined]
        return tensors

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Any) -> Any:
        """Return what ``passing`` makes of the gradients."""
        return None, None, *ctx.passing(gradients)  # type: ignore[attr-defined]


class _BackwardWatch:
    """One call of a module, whose hooks wait for the gradients."""

    def __init__(self, module: Any, hooks: Hooks, pre_hooks: Hooks) -> None:
        self._module, self._hooks, self._pre_hooks = module, hooks, pre_hooks
        self._grad_output: Gradients | None = None
        self._count, self._inputs_watched = 0, False

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of ``forward``, with tensors that are watched."""
        self._count = len(args)
        watched = _watched(args, self._at_inputs, zeros=True)
        self._inputs_watched = watched is not args
        return watched

    def outputs(self, out: Any) -> Any:
        """Return the output with tensors that are watched."""
        if isinstance(out, Tensor):
            return _watched((out,), self._at_outputs)[0]
        if isinstance(out, tuple):
            return _watched(out, self._at_outputs)
        warnings.warn(
            "For backward hooks to be called, module output should be a Tensor or a tuple of "
            f"Tensors but received {type(out)}",
            stacklevel=5,
        )
        return out

    def _at_outputs(self, gradients: Gradients) -> Gradients:
        for hook in self._pre_hooks:
            replaced = hook(self._module, gradients)
            if replaced is not None:
                _check_count("output", replaced, gradients)
                gradients = replaced
        self._grad_output = gradients
        if self._inputs_watched:
            return gradients
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients. See https://docs.pytorch.org/docs/main/"
            "generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more "
            "details.",
            stacklevel=5,
        )
        for hook in self._hooks:
            replaced = hook(self._module, (None,) * self._count, gradients)
            if replaced is not None and any(g is not None for g in replaced):
                raise error("nn.backward_hook_without_input")
        self._grad_output = None
        return gradients

    def _at_inputs(self, gradients: Gradients) -> Gradients:
        if self._grad_output is None:  # the gradient has not come through the output
            return gradients
        for hook in self._hooks:
            replaced = hook(self._module, gradients, self._grad_output)
            if replaced is None:
                continue
            _check_count("input", replaced, gradients)
            gradients = tuple(replaced)
        self._grad_output = None
        return gradients


def _check_count(side: str, replaced: Any, gradients: Gradients) -> None:
    if len(replaced) != len(gradients):
        count, expected = len(replaced), len(gradients)
        pre = "pre " if side == "output" else ""
        raise error("nn.backward_hook_count", pre=pre, side=side, got=count, expected=expected)


def _watched(
    values: tuple[Any, ...], tell: Callable[[Gradients], Any], zeros: bool = False
) -> tuple[Any, ...]:
    """Return the values with tensors passed through; ``values`` itself if none has a gradient."""
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    tensors = [values[i] for i in places]
    if not local.mode.grad_enabled or not any(x.requires_grad for x in tensors):
        return values

    def passing(gradients: Gradients) -> Gradients:
        whole: list[Tensor | None] = [None] * len(values)
        for place, gradient in zip(places, gradients, strict=True):
            whole[place] = gradient
        replaced = tell(tuple(whole))
        return tuple(replaced[place] for place in places)

    watched = list(values)
    passed = BackwardHookFunction.apply(passing, zeros, *tensors)
    for place, tensor in zip(places, passed, strict=True):
        watched[place] = tensor
    return tuple(watched)
