"""More functions of one number: logarithms, hyperbolic and inverse functions, error functions.

After reading this file you know no new idea: these are the derivatives that a table in a book of
calculus lists. Functions that jump, such as ``trunc``, are flat between the jumps; their gradient
is 0. Read next: ``pairs.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.activations import erf
from autodiff_kit.ops.checks import refuse
from autodiff_kit.ops.elementwise import cos, exp, log, masked, rsqrt, sin, where, zeros_like
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.table import op, vjp

__all__ = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "deg2rad", "entr", "erfc"]
__all__ += ["erfinv", "exp2", "frac", "isfinite", "isinf", "isneginf", "isposinf", "log2", "log10"]
__all__ += ["logical_not", "logit", "nan_to_num", "rad2deg", "round_decimals", "signbit"]
__all__ += ["sinc", "sinh", "trunc"]

_erfc: Any = np.frompyfunc(math.erfc, 1, 1)  # NumPy has none


@op("log10(x)", tex=r"\log_{10} x", dtypes="float")
@vjp("x", lambda g, x: g / (x * math.log(10)), tex=r"\bar z / (x \ln 10)")
def log10(x: Value) -> Value:
    """Return the logarithm to the base 10; -inf at 0, nan below."""
    return np.log10(x)


@op("log2(x)", tex=r"\log_2 x", dtypes="float")
@vjp("x", lambda g, x: g / (x * math.log(2)), tex=r"\bar z / (x \ln 2)")
def log2(x: Value) -> Value:
    """Return the logarithm to the base 2; -inf at 0, nan below."""
    return np.log2(x)


@op("exp2(x)", tex=r"2^{x}", dtypes="float")
@vjp("x", lambda g, out: g * out * math.log(2), tex=r"\bar z \odot z \ln 2")
def exp2(x: Value) -> Value:
    """Return 2 to the power of every element."""
    return np.exp2(x)


@op("sinh(x)", tex=r"\sinh x", dtypes="float")
@vjp("x", lambda g, x: g * cosh(x), tex=r"\bar z \odot \cosh x")
def sinh(x: Value) -> Value:
    """Return the hyperbolic sine."""
    return np.sinh(x)


@op("cosh(x)", tex=r"\cosh x", dtypes="float")
@vjp("x", lambda g, x: g * sinh(x), tex=r"\bar z \odot \sinh x")
def cosh(x: Value) -> Value:
    """Return the hyperbolic cosine."""
    return np.cosh(x)


@op("asin(x)", tex=r"\arcsin x", dtypes="float")
@vjp("x", lambda g, x: g * rsqrt(1 - x * x), tex=r"\bar z / \sqrt{1 - x^2}")
def asin(x: Value) -> Value:
    """Return the inverse of the sine, in radians; nan outside of [-1, 1]."""
    return np.arcsin(x)


@op("acos(x)", tex=r"\arccos x", dtypes="float")
@vjp("x", lambda g, x: g * -rsqrt(1 - x * x), tex=r"-\bar z / \sqrt{1 - x^2}")
def acos(x: Value) -> Value:
    """Return the inverse of the cosine, in radians; nan outside of [-1, 1]."""
    return np.arccos(x)


@op("atan(x)", tex=r"\arctan x", dtypes="float")
@vjp("x", lambda g, x: g / (x * x + 1), tex=r"\bar z / (x^2 + 1)")
def atan(x: Value) -> Value:
    """Return the inverse of the tangent, in radians."""
    return np.arctan(x)


@op("asinh(x)", tex=r"\operatorname{arsinh} x", dtypes="float")
@vjp("x", lambda g, x: g * rsqrt(x * x + 1), tex=r"\bar z / \sqrt{x^2 + 1}")
def asinh(x: Value) -> Value:
    """Return the inverse of the hyperbolic sine."""
    return np.arcsinh(x)


@op("acosh(x)", tex=r"\operatorname{arcosh} x", dtypes="float")
@vjp("x", lambda g, x: g * rsqrt(x * x - 1), tex=r"\bar z / \sqrt{x^2 - 1}")
def acosh(x: Value) -> Value:
    """Return the inverse of the hyperbolic cosine; nan below 1."""
    return np.arccosh(x)


@op("atanh(x)", tex=r"\operatorname{artanh} x", dtypes="float")
@vjp("x", lambda g, x: g / (1 - x * x), tex=r"\bar z / (1 - x^2)")
def atanh(x: Value) -> Value:
    """Return the inverse of the hyperbolic tangent; nan outside of [-1, 1]."""
    return np.arctanh(x)


@op("deg2rad(x)", tex=r"\tfrac{\pi}{180} x", node="Deg2RadBackward0", dtypes="float")
@vjp("x", lambda g: g * (math.pi / 180), tex=r"\tfrac{\pi}{180} \bar z")
def deg2rad(x: Value) -> Value:
    """Convert angles from degrees to radians."""
    return x * (math.pi / 180)


@op("rad2deg(x)", tex=r"\tfrac{180}{\pi} x", node="Rad2DegBackward0", dtypes="float")
@vjp("x", lambda g: g * (180 / math.pi), tex=r"\tfrac{180}{\pi} \bar z")
def rad2deg(x: Value) -> Value:
    """Convert angles from radians to degrees."""
    return x * (180 / math.pi)


@op("erfc(x)", tex=r"1 - \operatorname{erf} x", dtypes="float")
def erfc(x: Value) -> Value:
    """Return 1 minus the error function, exact where that is almost 1."""
    return scalar_if_0d(np.asarray(_erfc(x)).astype(x.dtype))


@erfc.vjp("x", tex=r"-\bar z \odot \tfrac{2}{\sqrt\pi} e^{-x^2}")
def _(g: Value, x: Value) -> Value:
    return g * exp(-x * x) * (-2 / math.sqrt(math.pi))


@op("erfinv(x)", tex=r"\operatorname{erf}^{-1} x", dtypes="float")
def erfinv(x: Value) -> Value:
    """Return the inverse of the error function: inf at 1, nan outside of [-1, 1].

    A rational approximation, then two steps of Newton's method.
    """
    wide = np.asarray(x, "float64")
    squares = wide * wide
    inner = wide * np.polyval(_INNER[0], squares) / np.polyval(_INNER[1], squares)
    tails = np.sqrt(-np.log((1 - np.abs(wide)) / 2))
    outer = np.copysign(np.polyval(_OUTER[0], tails) / np.polyval(_OUTER[1], tails), wide)
    out = np.where(np.abs(wide) <= 0.7, inner, outer)
    for _ in range(2):
        out = out - (erf(out) - wide) / (2 / math.sqrt(math.pi) * np.exp(-out * out))
    out = np.where(np.abs(wide) == 1, np.copysign(math.inf, wide), out)
    return scalar_if_0d(out.astype(x.dtype))


@erfinv.vjp("x", tex=r"\bar z \odot \tfrac{\sqrt\pi}{2} e^{z^2}")
def _(g: Value, x: Value) -> Value:
    z = erfinv(x)  # PyTorch, too, saves x and computes it again
    return g * exp(z * z) * (math.sqrt(math.pi) / 2)


# Numerators and denominators, the highest power first: where |x| <= 0.7, and beyond.
_INNER = (
    (-0.140543331, 0.914624893, -1.645349621, 0.886226899),
    (0.012229801, -0.329097515, 1.442710462, -2.118377725, 1),
)
_OUTER = (
    (1.641345311, 3.429567803, -1.624906493, -1.970840454),
    (1.637067800, 3.543889200, 1),
)


@op("log(x / (1 - x))", tex=r"\ln \tfrac{x}{1 - x}", dtypes="float")
def logit(x: Value, *, eps: float | None = None) -> Value:
    """Return the inverse of the sigmoid; with ``eps``, x is limited to [eps, 1 - eps] first."""
    share = x if eps is None else np.minimum(np.maximum(x, eps), 1 - eps)
    return np.log(share / (1 - share))


@logit.vjp("x", tex=r"\bar z / (x (1 - x))")
def _(g: Value, x: Value, eps: float | None) -> Value:
    slope = g / (x * (1 - x))
    if eps is None:
        return where((x >= 0) & (x <= 1), slope, math.nan)
    return masked(slope, ~((x < eps) | (x > 1 - eps)))  # nan goes on


@op("sinc(x)", tex=r"\tfrac{\sin \pi x}{\pi x}", dtypes="float")
def sinc(x: Value) -> Value:
    """Return sin(pi x) / (pi x), and 1 at 0."""
    return np.sinc(x)


@sinc.vjp("x", tex=r"\bar z \odot \tfrac{\pi x \cos \pi x - \sin \pi x}{\pi x^2}")
def _(g: Value, x: Value) -> Value:
    turn = x * math.pi
    return masked(g * ((turn * cos(turn) - sin(turn)) / (turn * x)), x != 0)


@op("where(x > 0, -x * log(x), 0)", tex=r"-x \ln x", node="SpecialEntrBackward0", dtypes="float")
def entr(x: Value) -> Value:
    """Return -x log(x), the contribution to an entropy: 0 at 0, -inf below."""
    return scalar_if_0d(
        np.where(x > 0, -x * np.log(x), np.where(x == 0, 0, np.where(x < 0, -math.inf, x)))
    )


@entr.vjp("x", tex=r"-\bar z \odot (\ln x + 1)")
def _(g: Value, x: Value) -> Value:
    return g * -(log(x) + 1)


# -- flat between jumps ---------------------------------------------------------------------------


@op("trunc(x)", tex=r"\operatorname{trunc} x", type_check=refuse("trunc_vml_cpu", "b"))
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def trunc(x: Value) -> Value:
    """Round towards 0; flat almost everywhere, so its gradient is 0."""
    return np.trunc(x) if x.dtype.kind == "f" else x.copy()


@op("x - trunc(x)", tex=r"x - \operatorname{trunc} x", type_check=refuse("frac_cpu"))
@vjp("x", lambda g: g, tex=r"\bar z")
def frac(x: Value) -> Value:
    """Return what stands behind the decimal point, with the sign of x."""
    return x - np.trunc(x)


@op(
    "round(x, decimals)",
    tex=r"\operatorname{round}(x)",
    node="RoundBackward1",
    type_check=refuse("round_cpu"),
)
@vjp("x", lambda g: zeros_like(g), tex=r"0")
def round_decimals(x: Value, *, decimals: int) -> Value:
    """Round to so many digits behind the decimal point; its gradient is 0."""
    scale = x.dtype.type(10.0 ** abs(decimals))
    return np.round(x * scale) / scale if decimals >= 0 else np.round(x / scale) * scale


@op("nan_to_num(x)", tex=r"x")
@vjp("x", lambda g, x: masked(g, isfinite(x)), tex=r"\bar z \odot [x \text{ finite}]")
def nan_to_num(
    x: Value, *, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Value:
    """Replace nan by 0, inf by the largest number of the dtype, unless other numbers are given."""
    if x.dtype.kind != "f":
        return x.copy()
    nan = 0.0 if nan is None else nan
    copy = np.positive(x)  # which lies in memory as results do
    return scalar_if_0d(np.nan_to_num(copy, nan=nan, posinf=posinf, neginf=neginf))


# -- questions: the answers are bool tensors, which have no gradient -------------------------------


@op("isfinite(x)")
def isfinite(x: Value) -> Value:
    """Tell where elements are neither inf nor nan."""
    return np.isfinite(x)


@op("isinf(x)")
def isinf(x: Value) -> Value:
    """Tell where elements are inf or -inf."""
    return np.isinf(x)


@op("isposinf(x)")
def isposinf(x: Value) -> Value:
    """Tell where elements are inf."""
    return x == math.inf


@op("isneginf(x)")
def isneginf(x: Value) -> Value:
    """Tell where elements are -inf."""
    return x == -math.inf


@op("signbit(x)")
def signbit(x: Value) -> Value:
    """Tell where elements are negative, -0.0 included."""
    return np.signbit(x) if x.dtype.kind == "f" else x < 0


@op("logical_not(x)")
def logical_not(x: Value) -> Value:
    """Tell where elements are 0."""
    return np.logical_not(x)
