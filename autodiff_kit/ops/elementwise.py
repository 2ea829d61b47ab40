"""Elementwise functions: exponentials, trigonometry, activations, choices and comparisons.

After reading this file you know why ``exp`` and ``tanh`` save their result while ``sin`` saves
its input: the rule of each reads just that. Formulas are school calculus unless a source is
named. Read next: ``powers.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops import checks
from autodiff_kit.ops.layouts import copy_of, empty_like, scalar_if_0d
from autodiff_kit.ops.table import op, vjp

__all__ = ["abs", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "clamp", "clamp_max"]
__all__ += ["clamp_max_tensor", "clamp_min", "clamp_min_tensor", "clamp_to_tensors", "clone"]
__all__ += [
    "contiguous",
    "cos",
    "eq",
    "exp",
    "expm1",
    "flat_in",
    "flat_values",
    "ge",
    "gt",
    "isnan",
    "le",
    "log",
    "log1p",
]
__all__ += ["lt", "masked", "maximum", "minimum", "ne", "promote", "relu", "relu_backward", "rsqrt"]
__all__ += ["rsub"]
__all__ += [
    "sgn",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "to_copy",
    "to_whole",
    "where",
    "zero_filled",
    "zeros_like",
]


@op("y - x", node="RsubBackward1", operands=("y",), type_check=checks.refuse_bool_difference)
@vjp("x", lambda g: -g, tex=r"-\bar z")
def rsub(x: Value, *, y: float) -> Value:
    """Subtract a tensor from a number: what ``1 - x`` calls."""
    return y - x


@op("exp(x)", tex=r"e^{x}", dtypes="float")
@vjp("x", lambda g, out: g * out, tex=r"\bar z \odot z")
def exp(x: Value) -> Value:
    """Return e to the power of every element."""
    return np.exp(x)


@op("log(x)", tex=r"\ln x", dtypes="float")
@vjp("x", lambda g, x: g / x, tex=r"\bar z / x")
def log(x: Value) -> Value:
    """Return the natural logarithm; -inf at 0, nan below."""
    return np.log(x)


@op("log1p(x)", tex=r"\ln(1 + x)", node="Log1PBackward0", dtypes="float")
@vjp("x", lambda g, x: g / (x + 1), tex=r"\bar z / (1 + x)")
def log1p(x: Value) -> Value:
    """Return log(1 + x), exact for small x."""
    return np.log1p(x)


@op("expm1(x)", tex=r"e^{x} - 1", dtypes="float")
@vjp("x", lambda g, out: g * (out + 1), tex=r"\bar z \odot (z + 1)")
def expm1(x: Value) -> Value:
    """Return exp(x) - 1, exact for small x."""
    return np.expm1(x)


@op("sqrt(x)", tex=r"\sqrt{x}", dtypes="float")
@vjp("x", lambda g, out: g / (2 * out), tex=r"\bar z / (2 z)")
def sqrt(x: Value) -> Value:
    """Return the square root; its slope at 0 is inf."""
    return np.sqrt(x)


@op("rsqrt(x)", tex=r"1 / \sqrt{x}", dtypes="float")
@vjp("x", lambda g, out: g * -0.5 * (out * out * out), tex=r"-\tfrac12 \bar z \odot z^3")
def rsqrt(x: Value) -> Value:
    """Return 1 over the square root."""
    return 1 / np.sqrt(x)


@op("sin(x)", tex=r"\sin x", dtypes="float")
@vjp("x", lambda g, x: g * cos(x), tex=r"\bar z \odot \cos x")
def sin(x: Value) -> Value:
    """Return the sine; angles in radians."""
    return np.sin(x)


@op("cos(x)", tex=r"\cos x", dtypes="float")
@vjp("x", lambda g, x: g * -sin(x), tex=r"-\bar z \odot \sin x")
def cos(x: Value) -> Value:
    """Return the cosine; angles in radians."""
    return np.cos(x)


@op("tan(x)", tex=r"\tan x", dtypes="float")
@vjp("x", lambda g, out: g * (1 + out * out), tex=r"\bar z \odot (1 + z^2)")
def tan(x: Value) -> Value:
    """Return the tangent; angles in radians."""
    return np.tan(x)


@op("tanh(x)", tex=r"\tanh x", dtypes="float")
@vjp("x", lambda g, out: g * (1 - out * out), tex=r"\bar z \odot (1 - z^2)")
def tanh(x: Value) -> Value:
    """Return the hyperbolic tangent: an S-shaped curve from -1 to 1."""
    return np.tanh(x)


@op("sigmoid(x)", tex=r"\sigma(x)", dtypes="float")
@vjp("x", lambda g, out: g * (out * (1 - out)), tex=r"\bar z \odot z \odot (1 - z)")
def sigmoid(x: Value) -> Value:
    """Return 1 / (1 + exp(-x)): an S-shaped curve from 0 to 1; never overflows."""
    return 1 / (1 + np.exp(-x))  # exp may become inf: 1 / inf is the right answer, 0


@op("relu(x)", tex=r"\max(x, 0)", type_check=checks.refuse_bool("dtypes.bool_relu"))
@vjp("x", lambda g, out: relu_backward(g, out), tex=r"\bar z \odot [z > 0]")
def relu(x: Value) -> Value:
    """Return x where it is positive, else 0; the slope at 0 is 0."""
    return np.maximum(x, 0)


@op("where(y > 0, x, 0)", tex=r"x \odot [y > 0]", node="ThresholdBackwardBackward0", dtypes="any")
@vjp("x", lambda g, y: relu_backward(g, y), tex=r"\bar z \odot [y > 0]")
@vjp("y", lambda g: zeros_like(g), tex=r"0")
def relu_backward(x: Value, y: Value) -> Value:
    """Return x where the result y of a relu is not 0, else 0."""
    return _masked(x, y != 0)


@op("abs(x)", tex=r"|x|", type_check=checks.refuse_bool("dtypes.bool_kernel", kernel="abs_cpu"))
@vjp("x", lambda g, x: g * sgn(x), tex=r"\bar z \odot \operatorname{sign} x")
def abs(x: Value) -> Value:
    """Return the distance from 0; the slope at 0 is 0."""
    return np.abs(x)


@op("sign(x)", tex=r"\operatorname{sign} x")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def sign(x: Value) -> Value:
    """Return -1, 0 or 1, and 0 for nan; flat everywhere, so its gradient is 0."""
    return np.subtract(x > 0, x < 0, dtype=x.dtype) if x.dtype != bool else x.copy()


@op("sign(x)", tex=r"\operatorname{sign} x", node="SgnBackward0")
@vjp("x", lambda g, out, x: zeros_like(g), tex=r"0")  # it saves what complex numbers need
def sgn(x: Value) -> Value:
    """Return -1, 0 or 1, as ``sign`` does for real numbers."""
    return np.subtract(x > 0, x < 0, dtype=x.dtype) if x.dtype != bool else x


@op("maximum(x, y)", tex=r"\max(x, y)")
def maximum(x: Value, y: Value) -> Value:
    """Return the larger of two elements; at a tie each gets half of the gradient, at nan all."""
    return np.maximum(x, y)


@maximum.vjp("x", tex=r"\bar z \odot ([x > y] + \tfrac12 [x = y])")
def _(g: Value, x: Value, y: Value) -> Value:
    return zero_filled(where(x == y, g / 2, g), ~(x < y))


@maximum.vjp("y", tex=r"\bar z \odot ([y > x] + \tfrac12 [x = y])")
def _(g: Value, x: Value, y: Value) -> Value:
    return zero_filled(where(x == y, g / 2, g), ~(y < x))


@op("minimum(x, y)", tex=r"\min(x, y)")
def minimum(x: Value, y: Value) -> Value:
    """Return the smaller of two elements; at a tie each gets half of the gradient, at nan all."""
    return np.minimum(x, y)


@minimum.vjp("x", tex=r"\bar z \odot ([x < y] + \tfrac12 [x = y])")
def _(g: Value, x: Value, y: Value) -> Value:
    return zero_filled(where(x == y, g / 2, g), ~(x > y))


@minimum.vjp("y", tex=r"\bar z \odot ([y < x] + \tfrac12 [x = y])")
def _(g: Value, x: Value, y: Value) -> Value:
    return zero_filled(where(x == y, g / 2, g), ~(y > x))


@op(
    "clamp(x, min, max)",
    tex=r"\min(\max(x, a), b)",
    node="ClampBackward1",
    operands=("min", "max"),
    type_check=checks.refuse_bound("clamp_scalar_cpu"),
)
def clamp(x: Value, *, min: float, max: float) -> Value:
    """Limit to a range of numbers; the gradient passes inside and at the bounds."""
    return np.minimum(np.maximum(x, min), max)


@clamp.vjp("x", tex=r"\bar z \odot [a \le x \le b]")
def _(g: Value, x: Value, min: float, max: float) -> Value:
    return masked(g, (x >= min) & (x <= max))


@op(
    "clamp_min(x, min)",
    tex=r"\max(x, a)",
    operands=("min",),
    type_check=checks.refuse_bound("clamp_min_scalar_cpu"),
)
@vjp("x", lambda g, x, min: masked(g, x >= min), tex=r"\bar z \odot [x \ge a]")
def clamp_min(x: Value, *, min: float) -> Value:
    """Limit from below; the gradient passes above and at the bound."""
    return np.maximum(x, min)


@op(
    "clamp_max(x, max)",
    tex=r"\min(x, b)",
    operands=("max",),
    type_check=checks.refuse_bound("clamp_max_scalar_cpu"),
)
@vjp("x", lambda g, x, max: masked(g, x <= max), tex=r"\bar z \odot [x \le b]")
def clamp_max(x: Value, *, max: float) -> Value:
    """Limit from above; the gradient passes below and at the bound."""
    return np.minimum(x, max)


@op("maximum(x, min)", tex=r"\max(x, y)", node="ClampMinBackward1")
@vjp("x", lambda g, x, min: masked(g, x >= min), tex=r"\bar z \odot [x \ge y]")
@vjp("min", lambda g, x, min: masked(g, x < min), tex=r"\bar z \odot [x < y]")
def clamp_min_tensor(x: Value, min: Value) -> Value:
    """Limit from below; at the bound all of the gradient goes to x."""
    return np.maximum(x, min)


@op("minimum(x, max)", tex=r"\min(x, y)", node="ClampMaxBackward1")
@vjp("x", lambda g, x, max: masked(g, x <= max), tex=r"\bar z \odot [x \le y]")
@vjp("max", lambda g, x, max: masked(g, x > max), tex=r"\bar z \odot [x > y]")
def clamp_max_tensor(x: Value, max: Value) -> Value:
    """Limit from above; at the bound all of the gradient goes to x."""
    return np.minimum(x, max)


@op("clamp(x, min, max)", tex=r"\min(\max(x, a), b)", node="ClampBackward0")
def clamp_to_tensors(x: Value, min: Value, max: Value) -> Value:
    """Limit to a range that differs by element; bounds broadcast; inf stands for none."""
    return np.minimum(np.maximum(x, min), max)


@clamp_to_tensors.vjp("x", tex=r"\bar z \odot [a \le x \le b]")
def _(g: Value, x: Value, min: Value, max: Value) -> Value:
    return masked(g, (x >= min) & (x <= max))


@clamp_to_tensors.vjp("min", tex=r"\bar z \odot [x < a < b]")
def _(g: Value, x: Value, min: Value, max: Value) -> Value:
    no_max = type(max) is float  # the number that stands for none: then min may be inf, too
    return masked(g, x < min if no_max else (x < min) & (min < max))


@clamp_to_tensors.vjp("max", tex=r"\bar z \odot [x > b \lor b < a]")
def _(g: Value, x: Value, min: Value, max: Value) -> Value:
    return masked(g, (x > max) | (max < min))


@op("where(condition, x, y)", tex=r"[c]\,x + [\lnot c]\,y", keeps_type=1)
@vjp("x", lambda g, condition: masked(g, condition), tex=r"\bar z \odot [c]")
@vjp("y", lambda g, condition: masked(g, ~condition), tex=r"\bar z \odot [\lnot c]")
def where(condition: Value, x: Value, y: Value) -> Value:
    """Return x where the condition holds, else y; shapes broadcast."""
    return scalar_if_0d(np.where(condition, x, y))


_BITS = {2: np.dtype("int16"), 4: np.dtype("int32"), 8: np.dtype("int64")}


@op(
    "where(condition, x, 0)",
    tex=r"[c]\,x",
    dtypes="any",
    made_of=lambda x, condition: where(condition, x, 0),
)
@vjp("x", lambda g, condition: masked(g, condition), tex=r"[c]\,\bar z")
def masked(x: Value, condition: Value) -> Value:
    """Return x where the condition holds, else an exact 0: rules use it to cut gradients off."""
    return _masked(x, condition)


@op("where(condition, x, 0)", tex=r"[c]\,x", node="MaskedFillBackward0", dtypes="any")
@vjp("x", lambda g, condition: zero_filled(g, condition), tex=r"[c]\,\bar z")
def zero_filled(x: Value, condition: Value) -> Value:
    """Do the same in the rules in which PyTorch writes zeros into what does not count."""
    return _masked(x, condition)


def _masked(x: Value, condition: Value) -> Value:
    if isinstance(condition, np.bool_) and isinstance(x, np.generic):
        return type(x)(x if condition else 0)  # never x itself: it is not passed on
    # x * condition would make nan of inf * 0. The bits of a float, read as an integer, can be
    # multiplied: that is as exact as np.where, and ten times as fast.
    return (x.view(_BITS[x.itemsize]) * condition).view(x.dtype)


@op("x + 0 * y", tex=r"x", dtypes="any")
@vjp("x", lambda g: g, tex=r"\bar z")
@vjp("y", lambda g, y: zeros_like(y), tex=r"0")
def flat_in(x: Value, y: Value) -> Value:
    """Return x. Where PyTorch computes a gradient from y, too, it is a function of both."""
    return x


@op("values + 0 * x + 0 * y", tex=r"c", dtypes="any")
@vjp("x", lambda g: zeros_like(g), tex=r"0")
@vjp("y", lambda g, y_dtype: to_copy(zeros_like(g), dtype=y_dtype), tex=r"0")
def flat_values(x: Value, y: Value, *, values: Value) -> Value:
    """Return values that do not change with x and y, such as answers of a comparison."""
    return values.astype(x.dtype)


@op("zeros_like(x)", tex=r"0")
def zeros_like(x: Value) -> Value:
    """Return zeros, also where x is inf or nan; nothing flows back."""
    out = empty_like(x)
    out[...] = 0
    return scalar_if_0d(out)


@op("x.clone()", tex=r"x")
@vjp("x", lambda g: g, tex=r"\bar z")
def clone(x: Value) -> Value:
    """Copy, in the same order in memory; the gradient passes through."""
    return copy_of(x)  # of a number, too: changes in place are told by whose number it is


@op("x.contiguous()", tex=r"x", node="CloneBackward0")
@vjp("x", lambda g: g, tex=r"\bar z")
def contiguous(x: Value) -> Value:
    """Copy in the order of reading, row by row; the gradient passes through."""
    return x.copy("C")


@op("x.to(dtype)", tex=r"x", dtypes="any")
@vjp("x", lambda g, x_dtype: to_copy(g, dtype=x_dtype), tex=r"\bar z")
def to_copy(x: Value, *, dtype: Any) -> Value:
    """Convert to another float type (a NumPy dtype here); the gradient is converted back."""
    return copy_of(x, dtype)


@op("x.to(dtype)", tex=r"x", node="ToCopyBackward0", dtypes="any")
@vjp("x", lambda g, x_dtype: to_copy(g, dtype=x_dtype), tex=r"\bar z")
def promote(x: Value, *, dtype: Any) -> Value:
    """Convert because another operand has a wider dtype: type promotion made visible."""
    return copy_of(x, dtype)


@op("x.to(dtype)", tex=r"x", dtypes="any")
def to_whole(x: Value, *, dtype: Any) -> Value:
    """Convert to integers or truth values, which have no gradient."""
    return copy_of(x, dtype)


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
def bitwise_and(x: Value, y: Value) -> Value:
    """Return and, bit by bit for integers."""
    checks.refuse_floats("bitwise_and", x, y)
    return x & y


@op("x | y")
def bitwise_or(x: Value, y: Value) -> Value:
    """Return or, bit by bit for integers."""
    checks.refuse_floats("bitwise_or", x, y)
    return x | y


@op("x ^ y")
def bitwise_xor(x: Value, y: Value) -> Value:
    """Return exclusive or, bit by bit for integers."""
    checks.refuse_floats("bitwise_xor", x, y)
    return x ^ y


@op("~x")
def bitwise_not(x: Value) -> Value:
    """Return not, bit by bit for integers."""
    checks.refuse_floats("bitwise_not", x)
    return ~x


@op("isnan(x)")
def isnan(x: Value) -> Value:
    """Tell where elements are not a number."""
    return np.isnan(x)
