"""autodiff_kit: see computation graphs being built and differentiated, step by step.

``import autodiff_kit as torch`` runs the PyTorch code of the lessons: every name here means what
it means in PyTorch; names may be missing, none is changed. The kit's own additions are
``record`` and, in notebooks, ``autodiff_kit.widgets``. Read first: ``tensor.py``.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from autodiff_kit import autograd as autograd
from autodiff_kit import dtypes
from autodiff_kit.autograd.grad_mode import (
    enable_grad,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
)
from autodiff_kit.autograd.more_modes import inference_mode, set_grad_enabled
from autodiff_kit.creation import *
from autodiff_kit.creation import __all__ as _creation
from autodiff_kit.dtypes import (
    Size,
    device,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from autodiff_kit.function_files import FUNCTIONS as _more_functions
from autodiff_kit.functions.basic import *
from autodiff_kit.functions.basic import __all__ as _functions
from autodiff_kit.late import LOADERS
from autodiff_kit.outside import absent, modules_below
from autodiff_kit.tensor import Tensor

__version__ = "0.1.0"

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi

bool = dtypes.bool_
half, float, double = float16, float32, float64
short, int, long = int16, int32, int64

__all__ = [
    *_creation,
    *_functions,
    *_more_functions,
    "Size",
    "Tensor",
    "autograd",
    "bool",
    "device",
    "double",
    "dtype",
    "e",
    "enable_grad",
    "float",
    "float16",
    "float32",
    "float64",
    "get_default_device",
    "get_default_dtype",
    "get_float32_matmul_precision",
    "get_num_threads",
    "get_rng_state",
    "half",
    "inf",
    "inference_mode",
    "initial_seed",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "load",
    "long",
    "nan",
    "newaxis",
    "nn",
    "no_grad",
    "optim",
    "pi",
    "record",
    "save",
    "seed",
    "set_default_device",
    "set_default_dtype",
    "set_float32_matmul_precision",
    "set_grad_enabled",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
    "short",
    "uint8",
]

# Loaded when first used: a program that only computes pays for nothing else.
_LAZY_MODULES = (
    *(
        "accelerator",
        "backends",
        "cuda",
        "lessons",
        "linalg",
        "nn",
        "optim",
        "record",
        "special",
        "utils",
        "view",
    ),
    "widgets",
)
_SETTINGS = [
    f"{verb}_{what}"
    for verb in ("get", "set")
    for what in ("default_device", "float32_matmul_precision", "num_threads")
]
_LAZY_NAMES = {
    **dict.fromkeys(_SETTINGS, "settings"),
    **dict.fromkeys(("get_rng_state", "initial_seed", "seed", "set_rng_state"), "random"),
    "load": "serialization",
    "record": "record",
    "save": "serialization",
    "set_printoptions": "printing",
}


__path__.append(modules_below(__name__))  # for imports of what only PyTorch has

LOADERS["functions"] = lambda: import_module("autodiff_kit.functions")
LOADERS["view"] = lambda: import_module("autodiff_kit.view")


def __getattr__(name: str) -> Any:
    if name in _more_functions:
        globals()[name] = value = import_module("autodiff_kit.functions").find(name)
        return value
    if name in _LAZY_NAMES:
        if name == "load":  # what was saved may be parameters
            import_module("autodiff_kit.nn")
        module = import_module(f"autodiff_kit.{_LAZY_NAMES[name]}")
        globals()[name] = value = getattr(module, name)
        return value
    if name == "is_anomaly_enabled":
        return import_module("autodiff_kit.autograd.anomaly").is_anomaly_enabled
    if name in _LAZY_MODULES:
        return import_module(f"autodiff_kit.{name}")
    raise absent(__name__, name)


def load_ipython_extension(ip: Any) -> None:
    """Register the cell magic ``%%step``: what ``%load_ext autodiff_kit`` calls."""
    from autodiff_kit.widgets import load_ipython_extension as load

    load(ip)
