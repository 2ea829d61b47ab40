"""The op table: every differentiable operation of the kit, one block each.

Read ``table.py`` first, then ``apply.py`` and ``arithmetic.py``; the other files are more of the
same form.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from autodiff_kit.core.op import OPS as OPS
from autodiff_kit.core.op import Op as Op
from autodiff_kit.core.op import Rule as Rule
from autodiff_kit.free_form import Namespace
from autodiff_kit.lazy import keep
from autodiff_kit.ops.arithmetic import *
from autodiff_kit.ops.table import op as op
from autodiff_kit.ops.table import vjp as vjp
from autodiff_kit.outside import absent

if TYPE_CHECKING:
    from autodiff_kit.ops.activations import *
    from autodiff_kit.ops.attention import *
    from autodiff_kit.ops.bags import *
    from autodiff_kit.ops.calculus import *
    from autodiff_kit.ops.convolution import *
    from autodiff_kit.ops.counting import *
    from autodiff_kit.ops.ctc import *
    from autodiff_kit.ops.curves import *
    from autodiff_kit.ops.diagonals import *
    from autodiff_kit.ops.drawing import *
    from autodiff_kit.ops.eigen import *
    from autodiff_kit.ops.einsum import *
    from autodiff_kit.ops.elementwise import *
    from autodiff_kit.ops.gamma import *
    from autodiff_kit.ops.gathering import *
    from autodiff_kit.ops.indexing import *
    from autodiff_kit.ops.layers import *
    from autodiff_kit.ops.linalg import *
    from autodiff_kit.ops.losses import *
    from autodiff_kit.ops.moving import *
    from autodiff_kit.ops.ordering import *
    from autodiff_kit.ops.padding import *
    from autodiff_kit.ops.pairs import *
    from autodiff_kit.ops.parts import *
    from autodiff_kit.ops.patches import *
    from autodiff_kit.ops.pooling import *
    from autodiff_kit.ops.powers import *
    from autodiff_kit.ops.products import *
    from autodiff_kit.ops.reduction import *
    from autodiff_kit.ops.resampling import *
    from autodiff_kit.ops.rounding import *
    from autodiff_kit.ops.sampling import *
    from autodiff_kit.ops.scaled import *
    from autodiff_kit.ops.scans import *
    from autodiff_kit.ops.selecting import *
    from autodiff_kit.ops.shape import *
    from autodiff_kit.ops.shrinking import *
    from autodiff_kit.ops.singular import *
    from autodiff_kit.ops.solving import *
    from autodiff_kit.ops.sorting import *
    from autodiff_kit.ops.statistics import *

# Loaded when one of them is first asked for, so that importing the kit takes two thirds less.
_LATER = (
    *("elementwise", "shape", "parts", "linalg", "reduction", "powers", "indexing"),
    *("activations", "attention", "convolution", "curves", "einsum", "gathering", "layers"),
    *("losses", "pooling", "resampling", "scaled", "sorting", "statistics", "calculus", "pairs"),
    *("scans", "diagonals", "moving", "selecting", "ordering", "counting", "products", "solving"),
    *("drawing", "padding", "rounding"),
    *("second", "bags", "ctc", "gamma", "patches", "sampling", "shrinking", "singular", "eigen"),
)


@cache
def _load(file: str) -> Namespace:
    module = import_module(f"autodiff_kit.ops.{file}")
    return {name: keep(__name__, name, getattr(module, name)) for name in module.__all__}


def load_all() -> None:
    """Load the ops that are loaded when they are needed; ``OPS`` has all of them then."""
    for file in _LATER:
        _load(file)


def __getattr__(name: str) -> Any:
    if name in _LATER:  # the file, or the op of that name which it has
        ops = _load(name)
        return ops[name] if name in ops else import_module(f"{__name__}.{name}")
    # ``from autodiff_kit.ops import checks`` asks here before it imports the file.
    if not name.startswith("_") and PathFinder.find_spec(f"{__name__}.{name}", __path__) is None:
        for file in _LATER:
            if name in (ops := _load(file)):
                return ops[name]
    raise absent(__name__, name)
