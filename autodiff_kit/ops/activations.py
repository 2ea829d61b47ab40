"""Activations, and softmax with its two relatives: the curves between the layers of a network.

After reading this file you know how ``softmax`` never overflows: subtracting the largest element
first changes nothing but the size of the numbers. Formulas are school calculus unless a source is
named. Read next: ``losses.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import tensor_type
from autodiff_kit.errors import error
from autodiff_kit.ops.checks import Check, Ints
from autodiff_kit.ops.elementwise import exp, sigmoid, tanh, where, zeros_like
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.reduction import keep, sum_dim
from autodiff_kit.ops.table import op, vjp

__all__ = [
    "erf",
    "floats_only",
    "gelu",
    "gelu_backward",
    "leaky_relu",
    "leaky_relu_backward",
    "leaky_relu_in_place",
    "log_softmax",
    "logsumexp",
    "softmax",
]
__all__ += ["softplus"]

_add: Callable[..., Value] = np.add.reduce
_maximum: Callable[..., Value] = np.maximum.reduce
_erf: Any = np.frompyfunc(math.erf, 1, 1)  # NumPy has none


def floats_only(kernel: str) -> Check:
    """Make a check that refuses integers and truth values in PyTorch's words."""

    def check(*arrays: Value, **params: Any) -> None:
        last = params.get("dim") == max(np.ndim(arrays[0]), 1) - 1
        for array in arrays:
            if hasattr(array, "dtype") and array.dtype.kind != "f":
                name = kernel.format(lastdim="_lastdim" if last else "")
                kind = tensor_type(array.dtype)
                raise error("functional.whole_numbers", kernel=name, kind=kind)

    return check


@op(
    "where(x > 0, x, negative_slope * x)",
    tex=r"[x > 0]\,x + [x \le 0]\,a x",
    type_check=floats_only("leaky_relu_cpu"),
)
def leaky_relu(x: Value, *, negative_slope: float) -> Value:
    """Return x where it is positive, else a small part of it; the slope at 0 is that part."""
    return scalar_if_0d(np.where(x > 0, x, x * negative_slope))


@leaky_relu.vjp("x", tex=r"\bar z \odot ([x > 0] + a\,[x \le 0])")
def _(g: Value, x: Value, negative_slope: float) -> Value:
    return leaky_relu_backward(g, x, negative_slope=negative_slope)


@op("where(x > 0, g, negative_slope * g)", tex=r"\bar z \odot ([x > 0] + a\,[x \le 0])")
@vjp(
    "g",
    lambda g_, x, negative_slope: leaky_relu_backward(g_, x, negative_slope=negative_slope),
    tex=r"\bar z \odot ([x > 0] + a\,[x \le 0])",
)
@vjp("x", lambda g_, x: zeros_like(g_), tex=r"0")  # as in PyTorch, it saves x for either gradient
def leaky_relu_backward(g: Value, x: Value, *, negative_slope: float) -> Value:
    """Return the slope of the leaky relu times g; it does not change with x."""
    return scalar_if_0d(np.where(x > 0, g, g * negative_slope))


@op(
    "where(x > 0, x, negative_slope * x)",
    tex=r"[x > 0]\,x + [x \le 0]\,a x",
    node="LeakyReluBackward1",
    type_check=floats_only("leaky_relu_cpu"),
)
@vjp(
    "x",
    lambda g, out, negative_slope: _by_result(g, out, negative_slope),
    tex=r"\bar z \odot ([z > 0] + a\,[z \le 0])",
)
def leaky_relu_in_place(x: Value, *, negative_slope: float) -> Value:
    """Return the same; its rule reads the output, which has the sign of the input."""
    return scalar_if_0d(np.where(x > 0, x, x * negative_slope))


def _by_result(g: Value, out: Value, negative_slope: float) -> Value:
    if negative_slope < 0:  # then a negative input has a positive output
        raise error("functional.leaky_slope")
    return leaky_relu_backward(g, out, negative_slope=negative_slope)


@op("erf(x)", tex=r"\operatorname{erf} x", dtypes="float")
def erf(x: Value) -> Value:
    """Return the error function: 2 F(x sqrt 2) - 1, F being the standard normal CDF."""
    return scalar_if_0d(np.asarray(_erf(x)).astype(x.dtype))


@erf.vjp("x", tex=r"\bar z \odot \tfrac{2}{\sqrt\pi} e^{-x^2}")
def _(g: Value, x: Value) -> Value:
    return g * exp(-x * x) * (2 / math.sqrt(math.pi))


@op("gelu(x, approximate)", tex=r"x\,\Phi(x)", type_check=floats_only("GeluKernelImpl"))
def gelu(x: Value, *, approximate: str) -> Value:
    """Return x times the standard normal CDF of x.

    Source: Hendrycks and Gimpel, Gaussian error linear units (2016).
    """
    return x * _share_below(x, approximate)


@gelu.vjp("x", tex=r"\bar z \odot (\Phi(x) + x\,\Phi'(x))")
def _(g: Value, x: Value, approximate: str) -> Value:
    return gelu_backward(g, x, approximate=approximate)


@op(
    "gelu_backward(g, x, approximate)",
    tex=r"\bar z \odot (\Phi(x) + x\,\Phi'(x))",
    type_check=floats_only("GeluBackwardKernelImpl"),
)
@vjp(
    "g",
    lambda g_, x, approximate: gelu_backward(g_, x, approximate=approximate),
    tex=r"\bar z \odot (\Phi(x) + x\,\Phi'(x))",
)
@vjp(
    "x",
    lambda g_, g, x, approximate: g_ * g * _bend(x, approximate),
    tex=r"\bar z \odot g \odot (2\,\Phi'(x) + x\,\Phi''(x))",
)
def gelu_backward(g: Value, x: Value, *, approximate: str) -> Value:
    """Return the slope of gelu times g."""
    return g * (_share_below(x, approximate) + x * _density(x, approximate))


def _share_below(x: Value, approximate: str) -> Value:
    if approximate == "none":
        return (erf(x * math.sqrt(0.5)) + 1) * 0.5
    return (tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)) + 1) * 0.5


def _density(x: Value, approximate: str) -> Value:
    if approximate == "none":
        return exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    share = _share_below(x, approximate)
    return share * (1 - share) * (x * x * (3 * 0.044715) + 1) * (2 * math.sqrt(2 / math.pi))


def _bend(x: Value, approximate: str) -> Value:
    """Return the second derivative of gelu, as one factor: infinities must not meet in a sum."""
    density = _density(x, approximate)
    if approximate == "none":
        return (2 - x * x) * density
    share = _share_below(x, approximate)
    slope = (x * x * (3 * 0.044715) + 1) * math.sqrt(2 / math.pi)  # of what tanh is taken of
    bend = x * (6 * 0.044715 * math.sqrt(2 / math.pi))
    return 2 * density + x * share * (1 - share) * 2 * (bend - slope * slope * (4 * share - 2))


@op(
    "log(1 + exp(beta * x)) / beta",
    tex=r"\tfrac1\beta \ln(1 + e^{\beta x})",
    type_check=floats_only("softplus_cpu"),
)
def softplus(x: Value, *, beta: float, threshold: float) -> Value:
    """Return a smooth relu; above the threshold it is x itself, and nothing overflows."""
    return scalar_if_0d(np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta))


@softplus.vjp("x", tex=r"\bar z \odot \sigma(\beta x)")
def _(g: Value, x: Value, beta: float, threshold: float) -> Value:
    return where(x * beta > threshold, g, g * sigmoid(x * beta))


# -- softmax: all of them take the largest element away first -------------------------------------


def _along(x: Value, dim: int) -> Ints:
    return (dim,) if x.shape else ()  # a 0-d tensor counts as one element


def _unless_empty(check: Check) -> Check:
    """Make a check that lets a tensor without elements pass: no kernel of PyTorch sees it."""
    return lambda x, **params: check(x, **params) if x.size else None


def _lowered(x: Value, dim: Ints) -> Value:
    """Subtract the largest element: exp of the rest is at most 1."""
    return x - _maximum(x, dim, keepdims=True, initial=-np.inf)


@op(
    "exp(x) / sum(exp(x))",
    tex=r"e^{x_i} / \textstyle\sum_j e^{x_j}",
    type_check=_unless_empty(floats_only("softmax{lastdim}_kernel_impl")),
    layout="rows",
)
def softmax(x: Value, *, dim: int) -> Value:
    """Turn numbers into shares that are positive and add up to 1."""
    if not x.size:
        return x.copy()
    out = np.exp(_lowered(x, _along(x, dim)))
    out /= sum_dim(out, dim=_along(x, dim), keepdim=True)
    return out


@softmax.vjp("x", tex=r"z \odot (\bar z - \textstyle\sum_j \bar z_j z_j)")
def _(g: Value, out: Value, dim: int) -> Value:
    return out * (g - sum_dim(g * out, dim=_along(g, dim), keepdim=True))


@op(
    "x - log(sum(exp(x)))",
    tex=r"x_i - \ln \textstyle\sum_j e^{x_j}",
    type_check=_unless_empty(floats_only("log_softmax{lastdim}_kernel_impl")),
    layout="rows",
)
def log_softmax(x: Value, *, dim: int) -> Value:
    """Return the logarithm of softmax, exact also where softmax is too small to be told from 0."""
    if not x.size:
        return x.copy()
    out = _lowered(x, _along(x, dim))
    out -= np.log(sum_dim(np.exp(out), dim=_along(x, dim), keepdim=True))
    return out


@log_softmax.vjp("x", tex=r"\bar z - e^{z} \odot \textstyle\sum_j \bar z_j")
def _(g: Value, out: Value, dim: int) -> Value:
    return g - exp(out) * sum_dim(g, dim=_along(g, dim), keepdim=True)


@op("log(sum(exp(x)))", tex=r"\ln \textstyle\sum_i e^{x_i}", dtypes="float", layout="rows")
def logsumexp(x: Value, *, dim: Ints, keepdim: bool = False) -> Value:
    """Return a smooth maximum along dimensions."""
    top = _maximum(x, dim, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)  # inf - inf would be nan
    out = np.log(_add(np.exp(x - top), dim, keepdims=True)) + top
    return (out if keepdim else np.squeeze(out, dim))[()]


@logsumexp.vjp("x", tex=r"\bar z \odot e^{x - z}")
def _(g: Value, out: Value, x: Value, dim: Ints, keepdim: bool) -> Value:
    return keep(g, x.shape, dim, keepdim) * exp(x - keep(out, x.shape, dim, keepdim))
