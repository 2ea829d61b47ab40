"""More activations: relatives of relu and sigmoid, one block each.

After reading this file you know which of them are flat somewhere, so that their gradient is 0
there, and which have a kink. Formulas are school calculus unless a source is named. Read next:
``losses.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops import checks
from autodiff_kit.ops.activations import floats_only, softplus
from autodiff_kit.ops.elementwise import exp, flat_in, masked, sigmoid, tanh, where
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.shape import cat, slice_dim
from autodiff_kit.ops.table import op, vjp

__all__ = [
    "celu",
    "elu",
    "elu_in_place",
    "glu",
    "hardsigmoid",
    "hardsigmoid_backward",
    "hardswish",
    "hardtanh",
    "log_sigmoid",
    "mish",
]
__all__ += ["prelu_kernel", "silu"]

_SIXTH = float(np.float32(1 / 6))  # PyTorch rounds it to a float32, also for float64


@op(
    "where(x > 0, x, alpha * (exp(x) - 1)) * scale",
    tex=r"s\,([x > 0]\,x + [x \le 0]\,a\,(e^x - 1))",
    type_check=floats_only("elu_cpu"),
)
def elu(x: Value, *, alpha: float, scale: float) -> Value:
    """Return x where it is positive, else a curve that approaches ``-alpha``.

    Source: Clevert, Unterthiner and Hochreiter, Fast and accurate deep network learning by
    exponential linear units (2016); Klambauer et al., Self-normalizing neural networks (2017), for
    the scale.
    """
    return scalar_if_0d(
        (np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))) * scale).astype(x.dtype)
    )


@elu.vjp("x", tex=r"\bar z \odot s\,([x > 0] + [x \le 0]\,a e^x)")
def _(g: Value, x: Value, alpha: float, scale: float) -> Value:
    return where(x <= 0, g * exp(masked(x, x < 0)) * (alpha * scale), g * scale)


@op(
    "where(x > 0, x, alpha * (exp(x) - 1)) * scale",
    tex=r"s\,([x > 0]\,x + [x \le 0]\,a\,(e^x - 1))",
    node="EluBackward1",
    type_check=floats_only("elu_cpu"),
)
def elu_in_place(x: Value, *, alpha: float, scale: float) -> Value:
    """Return the same; its rule reads the output."""
    return elu(x, alpha=alpha, scale=scale)


@elu_in_place.vjp("x", tex=r"\bar z \odot ([z > 0]\,s + [z \le 0]\,(z + s a))")
def _(g: Value, out: Value, alpha: float, scale: float) -> Value:
    return where(out <= 0, g * (out + alpha * scale), g * scale)


@op(
    "where(x > 0, x, alpha * (exp(x / alpha) - 1))",
    tex=r"[x > 0]\,x + [x \le 0]\,a\,(e^{x / a} - 1)",
    type_check=floats_only("elu_cpu"),
)
def celu(x: Value, *, alpha: float) -> Value:
    """Return ``elu`` whose slope is 1 at 0 for any alpha."""
    below = alpha * np.expm1(np.minimum(x, 0) / alpha)
    return scalar_if_0d(np.where(x > 0, x, below).astype(x.dtype))


@celu.vjp("x", tex=r"\bar z \odot ([x > 0] + [x \le 0]\,e^{x / a})")
def _(g: Value, x: Value, alpha: float) -> Value:
    return where(x <= 0, g * exp(masked(x, x < 0) / alpha), g)


@op("x / (1 + exp(-x))", tex=r"x\,\sigma(x)", type_check=floats_only("silu_cpu"))
def silu(x: Value) -> Value:
    """Return x times its sigmoid.

    Source: Elfwing, Uchibe and Doya, Sigmoid-weighted linear units (2018).
    """
    return x * sigmoid(x)


@silu.vjp("x", tex=r"\bar z \odot \sigma(x)\,(1 + x\,(1 - \sigma(x)))")
def _(g: Value, x: Value) -> Value:
    share = sigmoid(x)
    return g * share * (1 + x * (1 - share))


@op("x * tanh(log(1 + exp(x)))", tex=r"x \tanh(\ln(1 + e^x))", type_check=floats_only("mish_cpu"))
def mish(x: Value) -> Value:
    """Return x times the hyperbolic tangent of ``softplus(x)``.

    Source: Misra, Mish: a self regularized non-monotonic activation function (2020).
    """
    return x * tanh(_smooth(x))


@mish.vjp("x", tex=r"\bar z \odot (t + x\,(1 - t^2)\,\sigma(x)),\; t = \tanh(\ln(1 + e^x))")
def _(g: Value, x: Value) -> Value:
    share = tanh(_smooth(x))
    return g * (share + x * (1 - share * share) * sigmoid(x))


def _smooth(x: Value) -> Value:
    return softplus(x, beta=1, threshold=20.0)


@op("minimum(maximum(x, low), high)", tex=r"\min(\max(x, a), b)")
@vjp(
    "x",
    lambda g, x, low, high: flat_in(masked(g, ~((x <= low) | (x >= high))), x),
    tex=r"\bar z \odot [a < x < b]",
)
def hardtanh(x: Value, *, low: float, high: float) -> Value:
    """Clamp; other than that of ``clamp``, the slope at the bounds themselves is 0."""
    return np.clip(x, x.dtype.type(low), x.dtype.type(high))


@op(
    "minimum(maximum(x + 3, 0), 6) / 6",
    tex=r"\min(\max(x + 3, 0), 6) / 6",
    type_check=floats_only("hardsigmoid_cpu"),
)
@vjp("x", lambda g, x: hardsigmoid_backward(g, x), tex=r"\bar z / 6 \odot [-3 < x < 3]")
def hardsigmoid(x: Value) -> Value:
    """Return a sigmoid made of three straight lines.

    Source: Howard et al., Searching for MobileNetV3 (2019).
    """
    return np.clip(x + 3, 0, 6) / 6


def _no_rule(g: Value) -> Value:
    checks.no_derivative("autograd.no_second_derivative", "hardsigmoid_backward")


@op(
    "where((y > -3) & (y < 3), x / 6, 0)",
    tex=r"x / 6 \odot [-3 < y < 3]",
    node="torch::autograd::NotImplemented",
)
@vjp("x", _no_rule, tex=r"\text{none}")
@vjp("y", _no_rule, tex=r"\text{none}")
def hardsigmoid_backward(x: Value, y: Value) -> Value:
    """Return x times the slope of ``hardsigmoid`` at y; PyTorch does not differentiate it."""
    return masked(x * _SIXTH, (y > -3) & (y < 3))


@op(
    "x * minimum(maximum(x + 3, 0), 6) / 6",
    tex=r"x \min(\max(x + 3, 0), 6) / 6",
    type_check=floats_only("hardswish_cpu"),
)
def hardswish(x: Value) -> Value:
    """Return x times ``hardsigmoid(x)``."""
    return x * np.clip(x + 3, 0, 6) / 6


@hardswish.vjp("x", tex=r"\bar z \odot ([x \ge 3] + [-3 < x < 3]\,(x / 3 + \tfrac12))")
def _(g: Value, x: Value) -> Value:
    return masked(where(x < 3, g * (x / 3 + 0.5), g), ~(x <= -3))


@op(
    "-log(1 + exp(-x))",
    tex=r"\ln \sigma(x)",
    type_check=floats_only("log_sigmoid_cpu"),
    by_products=("buffer",),
)
def log_sigmoid(x: Value) -> tuple[Value, Value]:
    """Return the logarithm of the sigmoid, exact for any x, and ``exp(-abs(x))``."""
    buffer = np.exp(-np.abs(x))
    out = np.minimum(x, 0)
    out -= np.log1p(buffer)
    return out, buffer


@log_sigmoid.vjp("x", tex=r"\bar z \odot \sigma(-x)")
def _(g: Value, x: Value, buffer: Value) -> Value:
    if hasattr(x, "_array"):
        return g * sigmoid(-x)
    return g * (np.maximum(buffer, np.signbit(x)) / (1 + buffer))  # x may have another sign now


@op("where(x > 0, x, weight * x)", tex=r"[x > 0]\,x + [x \le 0]\,w x")
@vjp(
    "x",
    lambda g, x, weight: flat_in(where(x > 0, g, weight * g), x),
    tex=r"\bar z \odot ([x > 0] + [x \le 0]\,w)",
)
@vjp(
    "weight",
    lambda g, x, weight: flat_in(masked(x * g, ~(x > 0)), weight),
    tex=r"\bar z \odot [x \le 0]\,x",
)
def prelu_kernel(x: Value, weight: Value) -> Value:
    """Return x where it is positive, else x times a weight that is learned.

    Source: He et al., Delving deep into rectifiers (2015).
    """
    return scalar_if_0d(np.where(x > 0, x, weight * x))


@op(
    "glu(x, dim)",
    tex=r"a \odot \sigma(b),\; (a, b) = x",
    type_check=floats_only("glu_cpu"),
    layout="rows",
)
def glu(x: Value, *, dim: int) -> Value:
    """Split in two halves; return the first one times the sigmoid of the second.

    Source: Dauphin et al., Language modeling with gated convolutional networks (2017).
    """
    first, second = np.split(x, 2, dim)
    return first * sigmoid(second)


@glu.vjp("x", tex=r"(\bar z \odot \sigma(b),\; \bar z \odot a\,\sigma(b)\,(1 - \sigma(b)))")
def _(g: Value, x: Value, dim: int) -> Value:
    half = x.shape[dim] // 2
    first = slice_dim(x, dim=dim, start=0, end=half, step=1)
    share = sigmoid(slice_dim(x, dim=dim, start=half, end=2 * half, step=1))
    return cat(g * share, g * first * share * (1 - share), dim=dim)
