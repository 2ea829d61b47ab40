"""Reverse-mode differentiation, laid out as PyTorch's ``torch.autograd``.

Read ``core/node.py`` (the graph), then ``engine.py`` (the backward pass), then ``grad_mode.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autodiff_kit.autograd.backward import backward, grad
from autodiff_kit.autograd.grad_mode import enable_grad, no_grad
from autodiff_kit.autograd.more_modes import inference_mode, set_grad_enabled
from autodiff_kit.outside import absent, modules_below

__all__ = ["backward", "enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled"]

# Loaded when first used: where each further name is.
_LAZY = {
    "Function": "function",
    "detect_anomaly": "anomaly",
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
    "set_detect_anomaly": "anomaly",
}
_LAZY_MODULES = ("anomaly", "function", "functional", "graph")


__path__.append(modules_below(__name__))  # for imports of what only PyTorch has


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(import_module(f"autodiff_kit.autograd.{_LAZY[name]}"), name)
        globals()[name] = value  # also where a module of that name has just been put
        return value
    if name in _LAZY_MODULES:
        return import_module(f"autodiff_kit.autograd.{name}")
    raise absent(__name__, name)
