"""autodiff_kit: see computation graphs being built and differentiated, step by step.

``import autodiff_kit as torch`` runs the PyTorch code of the lessons: every name here means what
it means in PyTorch; names may be missing, none is changed. The kit's own additions are
``record`` and, in notebooks, ``autodiff_kit.widgets``. Read first: ``tensor.py``.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

from autodiff_kit import autograd as autograd
from autodiff_kit import dtypes
from autodiff_kit.autograd.grad_mode import (
    enable_grad,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
)
from autodiff_kit.calls import protect_properties
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
from autodiff_kit.function_files import FUNCTIONS as _functions
from autodiff_kit.late import LOADERS
from autodiff_kit.lazy import keep
from autodiff_kit.outside import absent, modules_below
from autodiff_kit.tensor import Tensor

if TYPE_CHECKING:  # what `__getattr__` loads
    from autodiff_kit import accelerator as accelerator
    from autodiff_kit import amp as amp
    from autodiff_kit import backends as backends
    from autodiff_kit import cuda as cuda
    from autodiff_kit import linalg as linalg
    from autodiff_kit import nn as nn
    from autodiff_kit import optim as optim
    from autodiff_kit import special as special
    from autodiff_kit import utils as utils
    from autodiff_kit.amp import autocast
    from autodiff_kit.autograd.more_modes import inference_mode, set_grad_enabled
    from autodiff_kit.functions.arranging import *
    from autodiff_kit.functions.basic import *
    from autodiff_kit.functions.calculus import *
    from autodiff_kit.functions.comparing import *
    from autodiff_kit.functions.diagonals import *
    from autodiff_kit.functions.draws import *
    from autodiff_kit.functions.joining import *
    from autodiff_kit.functions.making import *
    from autodiff_kit.functions.pairs import *
    from autodiff_kit.functions.picking import *
    from autodiff_kit.functions.products import *
    from autodiff_kit.functions.ranking import *
    from autodiff_kit.functions.scans import *
    from autodiff_kit.functions.types import *
    from autodiff_kit.printing import set_printoptions
    from autodiff_kit.random import (
        Generator,
        get_rng_state,
        initial_seed,
        manual_seed,
        seed,
        set_rng_state,
    )
    from autodiff_kit.serialization import load, save
    from autodiff_kit.settings import (
        get_default_device,
        get_float32_matmul_precision,
        get_num_threads,
        is_autocast_enabled,
        set_default_device,
        set_float32_matmul_precision,
        set_num_threads,
    )

__version__ = "0.1.0"

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi

bool = dtypes.bool_
half, float, double = float16, float32, float64
short, int, long = int16, int32, int64

# PyTorch has these functions of ``nn.functional`` here, too, and these methods as functions.
_OF_NN = """
    adaptive_avg_pool1d avg_pool1d bilinear celu celu_ conv1d conv2d conv_transpose1d
    conv_transpose2d cosine_similarity group_norm layer_norm max_pool1d max_pool2d
    pairwise_distance pixel_shuffle pixel_unshuffle prelu rms_norm rrelu_ selu selu_
    threshold_
"""
_OF_TENSORS = """
    acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_
    atan_ atanh_ clip_ cosh_ deg2rad_ detach_ erf_ erfc_ exp2_ fill_ fix_ frac_ gcd_
    get_device index_put_ is_inference lcm_ ldexp_ log10_ log2_ logit_ nan_to_num_
    negative_ rad2deg_ sinc_ sinh_ trunc_ xlogy_ zero_
"""

__all__ = [
    *_creation,
    *_functions,
    *_OF_NN.split(),
    *_OF_TENSORS.split(),
    "Generator",
    "Size",
    "Tensor",
    "are_deterministic_algorithms_enabled",
    "autocast",
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
    "is_autocast_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "load",
    "long",
    "manual_seed",
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
    "use_deterministic_algorithms",
    "vmap",
]

# Loaded when first used: a program that only computes pays for nothing else.
_LAZY_MODULES = (
    *(
        "accelerator",
        "amp",
        "backends",
        "cuda",
        "distributions",
        "func",
        "lessons",
        "linalg",
        "nn",
        "optim",
        "random",
        "record",
        "return_types",
        "serialization",
        "special",
        "utils",
        "version",
        "view",
    ),
    "widgets",
)
_SETTINGS = [
    "are_deterministic_algorithms_enabled",
    "use_deterministic_algorithms",
]
_SETTINGS += [
    f"{verb}_{what}"
    for verb in ("get", "set")
    for what in ("default_device", "float32_matmul_precision", "num_threads")
]
_RANDOM = "Generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"
_LAZY_NAMES = {
    **dict.fromkeys(_SETTINGS, "settings"),
    **dict.fromkeys(_RANDOM, "random"),
    **dict.fromkeys(("inference_mode", "set_grad_enabled"), "autograd"),
    "autocast": "amp",
    "is_autocast_enabled": "settings",
    "load": "serialization",
    "record": "record",
    "vmap": "func",
    "save": "serialization",
    "set_printoptions": "printing",
}


protect_properties(Tensor)
Tensor.__module__ = __name__  # print(type(x)) shows where learners find it
__path__.append(modules_below(__name__))  # for imports of what only PyTorch has

LOADERS["functions"] = lambda: import_module("autodiff_kit.functions")
LOADERS["given_outputs"] = lambda: import_module("autodiff_kit.given_outputs")
LOADERS["ops"] = lambda: import_module("autodiff_kit.ops")
LOADERS["modules"] = lambda: import_module("autodiff_kit.nn.modules")
LOADERS["performances"] = lambda: import_module("autodiff_kit.lessons.performances")
LOADERS["view"] = lambda: import_module("autodiff_kit.view")


def __getattr__(name: str) -> Any:
    if name in _functions:
        return keep(__name__, name, import_module("autodiff_kit.functions").find(name))
    if name in _LAZY_NAMES:
        if name == "load":  # what was saved may be parameters
            import_module("autodiff_kit.nn")
        module = import_module(f"autodiff_kit.{_LAZY_NAMES[name]}")
        return keep(__name__, name, getattr(module, name))
    if name in _OF_NN.split():
        return keep(__name__, name, getattr(import_module("autodiff_kit.nn").functional, name))
    if name in _OF_TENSORS.split():
        return keep(__name__, name, getattr(Tensor, name))
    if name == "is_anomaly_enabled":
        return import_module("autodiff_kit.autograd.anomaly").is_anomaly_enabled
    if name in _LAZY_MODULES:
        return import_module(f"autodiff_kit.{name}")
    raise absent(__name__, name)


def load_ipython_extension(ip: Any) -> None:
    """Register the cell magic ``%%step``: what ``%load_ext autodiff_kit`` calls."""
    from autodiff_kit.widgets.magic import load_ipython_extension as load

    load(ip)
