"""Elementwise functions: exponentials, trigonometry, activations, choices and comparisons.

After reading this file you know why ``exp`` and ``tanh`` save their result while ``sin`` saves
its input: the rule of each reads just that. Formulas are school calculus unless a source is
named. Read next: ``reduction.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.ops.table import op

__all__ = [
    "abs",
    "ceil",
    "clamp",
    "clone",
    "cos",
    "eq",
    "exp",
    "expm1",
    "floor",
    "ge",
    "gt",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "maximum",
    "minimum",
    "ne",
    "promote",
    "relu",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "to_copy",
    "trunc",
    "where",
]


@op("exp(x)", tex=r"e^{x}", dtypes="float")
def exp(x: Value) -> Value:
    """Return e to the power of every element."""
    return np.exp(x)


@exp.vjp("x", tex=r"\bar z \odot z")
def _(g: Value, out: Value) -> Value:
    return g * out


@op("log(x)", tex=r"\ln x", dtypes="float")
def log(x: Value) -> Value:
    """Return the natural logarithm; -inf at 0, nan below."""
    return np.log(x)


@log.vjp("x", tex=r"\bar z / x")
def _(g: Value, x: Value) -> Value:
    return g / x


@op("log1p(x)", tex=r"\ln(1 + x)", node="Log1PBackward0", dtypes="float")
def log1p(x: Value) -> Value:
    """Return log(1 + x), exact for small x."""
    return np.log1p(x)


@log1p.vjp("x", tex=r"\bar z / (1 + x)")
def _(g: Value, x: Value) -> Value:
    return g / (x + 1)


@op("expm1(x)", tex=r"e^{x} - 1", dtypes="float")
def expm1(x: Value) -> Value:
    """Return exp(x) - 1, exact for small x."""
    return np.expm1(x)


@expm1.vjp("x", tex=r"\bar z \odot (z + 1)")
def _(g: Value, out: Value) -> Value:
    return g * (out + 1)


@op("sqrt(x)", tex=r"\sqrt{x}", dtypes="float")
def sqrt(x: Value) -> Value:
    """Return the square root; its slope at 0 is inf."""
    return np.sqrt(x)


@sqrt.vjp("x", tex=r"\bar z / (2 z)")
def _(g: Value, out: Value) -> Value:
    return g / (2 * out)


@op("rsqrt(x)", tex=r"1 / \sqrt{x}", dtypes="float")
def rsqrt(x: Value) -> Value:
    """Return 1 over the square root."""
    return 1 / np.sqrt(x)


@rsqrt.vjp("x", tex=r"-\tfrac12 \bar z \odot z^3")
def _(g: Value, out: Value) -> Value:
    return g * -0.5 * (out * out * out)


@op("sin(x)", tex=r"\sin x", dtypes="float")
def sin(x: Value) -> Value:
    """Return the sine; angles in radians."""
    return np.sin(x)


@sin.vjp("x", tex=r"\bar z \odot \cos x")
def _(g: Value, x: Value) -> Value:
    return g * cos(x)


@op("cos(x)", tex=r"\cos x", dtypes="float")
def cos(x: Value) -> Value:
    """Return the cosine; angles in radians."""
    return np.cos(x)


@cos.vjp("x", tex=r"-\bar z \odot \sin x")
def _(g: Value, x: Value) -> Value:
    return g * -sin(x)


@op("tan(x)", tex=r"\tan x", dtypes="float")
def tan(x: Value) -> Value:
    """Return the tangent; angles in radians."""
    return np.tan(x)


@tan.vjp("x", tex=r"\bar z \odot (1 + z^2)")
def _(g: Value, out: Value) -> Value:
    return g * (1 + out * out)


@op("tanh(x)", tex=r"\tanh x", dtypes="float")
def tanh(x: Value) -> Value:
    """Return the hyperbolic tangent: an S-shaped curve from -1 to 1."""
    return np.tanh(x)


@tanh.vjp("x", tex=r"\bar z \odot (1 - z^2)")
def _(g: Value, out: Value) -> Value:
    return g * (1 - out * out)


@op("sigmoid(x)", tex=r"\sigma(x)", dtypes="float")
def sigmoid(x: Value) -> Value:
    """Return 1 / (1 + exp(-x)): an S-shaped curve from 0 to 1; never overflows."""
    return 0.5 * np.tanh(0.5 * x) + 0.5


@sigmoid.vjp("x", tex=r"\bar z \odot z \odot (1 - z)")
def _(g: Value, out: Value) -> Value:
    return g * (out * (1 - out))


@op("relu(x)", tex=r"\max(x, 0)")
def relu(x: Value) -> Value:
    """Return x where it is positive, else 0; the slope at 0 is 0."""
    return np.maximum(x, 0)


@relu.vjp("x", tex=r"\bar z \odot [z > 0]")
def _(g: Value, out: Value) -> Value:
    return g * (out > 0)


@op("abs(x)", tex=r"|x|")
def abs(x: Value) -> Value:
    """Return the distance from 0; the slope at 0 is 0."""
    return np.abs(x)


@abs.vjp("x", tex=r"\bar z \odot \operatorname{sign} x")
def _(g: Value, x: Value) -> Value:
    return g * sign(x)


@op("sign(x)", tex=r"\operatorname{sign} x")
def sign(x: Value) -> Value:
    """Return -1, 0 or 1; flat everywhere, so its gradient is 0."""
    return np.sign(x)


@op("floor(x)", tex=r"\lfloor x \rfloor")
def floor(x: Value) -> Value:
    """Round down; flat almost everywhere, so its gradient is 0."""
    return np.floor(x)


@op("ceil(x)", tex=r"\lceil x \rceil")
def ceil(x: Value) -> Value:
    """Round up; flat almost everywhere, so its gradient is 0."""
    return np.ceil(x)


@op("round(x)", tex=r"\operatorname{round}(x)")
def round(x: Value) -> Value:
    """Round to the nearest whole number, halves to even; its gradient is 0."""
    return np.rint(x)


@op("trunc(x)", tex=r"\operatorname{trunc}(x)")
def trunc(x: Value) -> Value:
    """Round towards 0; its gradient is 0."""
    return np.trunc(x)


for _flat in (sign, floor, ceil, round, trunc):

    @_flat.vjp("x", tex=r"0")
    def _(g: Value) -> Value:
        return g * 0


@op("maximum(x, y)", tex=r"\max(x, y)", node="MaximumBackward0")
def maximum(x: Value, y: Value) -> Value:
    """Return the larger of two elements; at a tie each gets half of the gradient."""
    return np.maximum(x, y)


@maximum.vjp("x", tex=r"\bar z \odot ([x > y] + \tfrac12 [x = y])")
def _(g: Value, x: Value, y: Value) -> Value:
    return where(x == y, g / 2, where(x > y, g, g * 0))


@maximum.vjp("y", tex=r"\bar z \odot ([y > x] + \tfrac12 [x = y])")
def _(g: Value, x: Value, y: Value) -> Value:
    return where(x == y, g / 2, where(y > x, g, g * 0))


@op("minimum(x, y)", tex=r"\min(x, y)", node="MinimumBackward0")
def minimum(x: Value, y: Value) -> Value:
    """Return the smaller of two elements; at a tie each gets half of the gradient."""
    return np.minimum(x, y)


@minimum.vjp("x", tex=r"\bar z \odot ([x < y] + \tfrac12 [x = y])")
def _(g: Value, x: Value, y: Value) -> Value:
    return where(x == y, g / 2, where(x < y, g, g * 0))


@minimum.vjp("y", tex=r"\bar z \odot ([y < x] + \tfrac12 [x = y])")
def _(g: Value, x: Value, y: Value) -> Value:
    return where(x == y, g / 2, where(y < x, g, g * 0))


@op("clamp(x)", tex=r"\min(\max(x, a), b)", node="ClampBackward1")
def clamp(x: Value, *, min: Any = None, max: Any = None) -> Value:
    """Limit to a range of numbers; the gradient passes inside and at the bounds."""
    if min is not None:
        x = np.maximum(x, min)
    return x if max is None else np.minimum(x, max)


@clamp.vjp("x", tex=r"\bar z \odot [a \le x \le b]")
def _(g: Value, x: Value, min: Any, max: Any) -> Value:
    inside = x == x  # false for nan only, and nan passes on nothing either
    if min is not None:
        inside = inside & (x >= min)
    if max is not None:
        inside = inside & (x <= max)
    return where(inside, g, g * 0)


@op("where(condition, x, y)", tex=r"[c]\,x + [\lnot c]\,y", dtypes="any")
def choose(condition: Value, x: Value, y: Value) -> Value:
    """Return x where the condition holds, else y; shapes broadcast."""
    return np.where(condition, x, y)[()]


@choose.vjp("x", tex=r"\bar z \odot [c]")
def _(g: Value, condition: Value) -> Value:
    return where(condition, g, g * 0)


@choose.vjp("y", tex=r"\bar z \odot [\lnot c]")
def _(g: Value, condition: Value) -> Value:
    return where(condition, g * 0, g)


choose.op.node_name = "WhereBackward0"
where = choose


@op("x.clone()", tex=r"x")
def clone(x: Value) -> Value:
    """Copy; the gradient passes through."""
    return x.copy() if isinstance(x, np.ndarray) else x


@clone.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@op("x.to(dtype)", tex=r"x", node="ToCopyBackward0", dtypes="any")
def to_copy(x: Value, *, dtype: Any) -> Value:
    """Convert to another dtype (a NumPy dtype here); the gradient is converted back."""
    return x.astype(dtype)


@op("x.to(dtype)", tex=r"x", node="ToCopyBackward0", dtypes="any")
def promote(x: Value, *, dtype: Any) -> Value:
    """Convert because another operand has a wider dtype: type promotion made visible."""
    return x.astype(dtype)


for _conversion in (to_copy, promote):

    @_conversion.vjp("x", tex=r"\bar z")
    def _(g: Value, x_dtype: Any) -> Value:
        return to_copy(g, dtype=x_dtype)


# -- comparisons: answers are bool tensors, which have no gradient --------------------------------


@op("x == y")
def eq(x: Value, y: Value) -> Value:
    """Tell where elements are equal."""
    return x == y


@op("x != y")
def ne(x: Value, y: Value) -> Value:
    """Tell where elements differ."""
    return x != y


@op("x < y")
def lt(x: Value, y: Value) -> Value:
    """Tell where x is less than y."""
    return x < y


@op("x <= y")
def le(x: Value, y: Value) -> Value:
    """Tell where x is at most y."""
    return x <= y


@op("x > y")
def gt(x: Value, y: Value) -> Value:
    """Tell where x is greater than y."""
    return x > y


@op("x >= y")
def ge(x: Value, y: Value) -> Value:
    """Tell where x is at least y."""
    return x >= y


@op("x & y")
def logical_and(x: Value, y: Value) -> Value:
    """Return and, bit by bit for integers."""
    return x & y


@op("x | y")
def logical_or(x: Value, y: Value) -> Value:
    """Return or, bit by bit for integers."""
    return x | y


@op("x ^ y")
def logical_xor(x: Value, y: Value) -> Value:
    """Return exclusive or, bit by bit for integers."""
    return x ^ y


@op("~x")
def logical_not(x: Value) -> Value:
    """Return not, bit by bit for integers."""
    return ~x


@op("isnan(x)")
def isnan(x: Value) -> Value:
    """Tell where elements are not a number."""
    return np.isnan(x)


@op("isinf(x)")
def isinf(x: Value) -> Value:
    """Tell where elements are inf or -inf."""
    return np.isinf(x)


@op("isfinite(x)")
def isfinite(x: Value) -> Value:
    """Tell where elements are neither inf nor nan."""
    return np.isfinite(x)
