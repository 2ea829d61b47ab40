"""Reverse-mode differentiation, laid out as PyTorch's ``torch.autograd``.

Read ``core/node.py`` (the graph), then ``engine.py`` (the backward pass), then ``grad_mode.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from autodiff_kit.autograd.backward import backward, grad
from autodiff_kit.autograd.grad_mode import enable_grad, no_grad
from autodiff_kit.lazy import keep
from autodiff_kit.outside import absent, modules_below

if TYPE_CHECKING:
    from autodiff_kit.autograd import functional as functional
    from autodiff_kit.autograd import graph as graph
    from autodiff_kit.autograd.anomaly import detect_anomaly as detect_anomaly
    from autodiff_kit.autograd.anomaly import set_detect_anomaly as set_detect_anomaly
    from autodiff_kit.autograd.function import Function as Function
    from autodiff_kit.autograd.gradcheck import gradcheck as gradcheck
    from autodiff_kit.autograd.gradcheck import gradgradcheck as gradgradcheck
    from autodiff_kit.autograd.more_modes import inference_mode as inference_mode
    from autodiff_kit.autograd.more_modes import set_grad_enabled as set_grad_enabled
    from autodiff_kit.autograd.variable import Variable as Variable

__all__ = ["Function", "Variable", "backward", "detect_anomaly", "enable_grad", "grad", "gradcheck"]
__all__ += ["gradgradcheck", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled"]

# Loaded when first used: where each further name is.
_LAZY = {
    "Variable": "variable",
    "Function": "function",
    "detect_anomaly": "anomaly",
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
    "inference_mode": "more_modes",
    "set_detect_anomaly": "anomaly",
    "set_grad_enabled": "more_modes",
}
_LAZY_MODULES = ("anomaly", "function", "functional", "graph", "variable")


__path__.append(modules_below(__name__))  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        module = import_module(f"autodiff_kit.autograd.{_LAZY[name]}")
        # Kept also where a module of that name has just been put.
        return keep(__name__, name, getattr(module, name))
    if name in _LAZY_MODULES:
        return import_module(f"autodiff_kit.autograd.{name}")
    raise absent(__name__, name)
