"""Activations that set small elements to 0, or all elements below a bound to one value.

After reading this file you know three curves with a jump or a flat part, and one whose
slope is random. Read next: ``curves.py``.
"""

from __future__ import annotations

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.activations import floats_only
from autodiff_kit.ops.elementwise import flat_in, masked
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.table import op, vjp

__all__ = ["hardshrink", "rrelu_with_noise", "softshrink", "threshold"]

_SMALL = r"\bar z \odot [|x| > l]"


def _is_large(x: Value, lambd: float) -> Value:
    return ~((x >= -lambd) & (x <= lambd))  # so that nan stays nan


@op(
    "where((x >= -lambd) & (x <= lambd), 0, x)",
    tex=r"[|x| > l]\,x",
    type_check=floats_only("hardshrink_cpu"),
)
@vjp("x", lambda g, x, lambd: flat_in(masked(g, _is_large(x, lambd)), x), tex=_SMALL)
def hardshrink(x: Value, *, lambd: float) -> Value:
    """Return x where its size is above a bound, else 0."""
    return scalar_if_0d(np.where(_is_large(x, lambd), x, x.dtype.type(0)))


@op(
    "where(x > lambd, x - lambd, where(x < -lambd, x + lambd, 0 * x))",
    tex=r"[x > l]\,(x - l) + [x < -l]\,(x + l)",
    type_check=floats_only("softshrink_check"),
)
@vjp("x", lambda g, x, lambd: flat_in(masked(g, _is_large(x, lambd)), x), tex=_SMALL)
def softshrink(x: Value, *, lambd: float) -> Value:
    """Bring x nearer to 0 by a bound; what is below that becomes 0."""
    bound = x.dtype.type(lambd)
    beyond = np.where(x > bound, x - bound, x + bound)
    return scalar_if_0d(np.where(_is_large(x, bound), beyond, x * x.dtype.type(0)))


@op("where(x <= threshold, value, x)", tex=r"[x > t]\,x + [x \le t]\,v")
@vjp(
    "x",
    lambda g, x, threshold: flat_in(masked(g, ~(x <= threshold)), x),
    tex=r"\bar z \odot [x > t]",
)
def threshold(x: Value, *, threshold: float, value: float) -> Value:
    """Return x where it is above a threshold, else a value."""
    return scalar_if_0d(np.where(x <= threshold, x.dtype.type(value), x))


@op("multiply(x, noise)", tex=r"a x", type_check=floats_only("leaky_relu_cpu"), layout="rows")
@vjp("x", lambda g, x, noise: flat_in(g * noise, x), tex=r"\bar z \odot a")
def rrelu_with_noise(x: Value, noise: Value) -> Value:
    """Multiply by slopes: 1 for what is positive, else one that was drawn.

    Source: Xu et al., Empirical evaluation of rectified activations (2015).
    """
    return np.multiply(x, noise)
