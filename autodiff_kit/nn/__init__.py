"""Neural networks: modules, and the functions, losses and first values that they are made with.

After reading this package you know that a layer is a function together with its parameters. Read
first: ``module.py``.
"""

# ruff: noqa: F403

from __future__ import annotations

from typing import Any

from autodiff_kit.errors import absent
from autodiff_kit.nn import functional as functional
from autodiff_kit.nn import init as init
from autodiff_kit.nn import utils as utils
from autodiff_kit.nn.containers import *
from autodiff_kit.nn.containers import __all__ as _containers
from autodiff_kit.nn.layers import *
from autodiff_kit.nn.layers import __all__ as _layers
from autodiff_kit.nn.module import Module
from autodiff_kit.nn.parameter import Parameter

__all__ = [*_containers, *_layers, "Module", "Parameter", "functional", "init", "utils"]


def __getattr__(name: str) -> Any:
    raise absent("autodiff_kit.nn", name)
