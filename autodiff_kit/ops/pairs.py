"""More functions of two or three numbers: angles, remainders, interpolation, bits, truth values.

After reading this file you know what PyTorch answers where such a function has no slope of its own:
``fmax`` at nan, ``atan2`` and ``hypot`` at the origin, ``xlogy`` at 0. Read next: ``scans.py``.
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.dtypes import c_type, number_in, tensor_type
from autodiff_kit.errors import error
from autodiff_kit.ops import checks
from autodiff_kit.ops.arithmetic import reciprocal
from autodiff_kit.ops.calculus import trunc
from autodiff_kit.ops.elementwise import exp, isnan, log, masked, zero_filled
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.table import op, vjp

__all__ = ["addcdiv", "addcmul", "atan2", "bitwise_left_shift", "bitwise_right_shift", "copysign"]
__all__ += ["copysign_number", "fmax", "fmin", "fmod", "fmod_by_number", "gcd", "heaviside"]
__all__ += ["hypot", "isclose", "lcm", "ldexp", "lerp", "lerp_tensor", "logaddexp", "logaddexp2"]
__all__ += ["logical_and", "logical_or", "logical_xor", "xlog1py", "xlogy"]
__all__ += ["xlogy_number", "xlogy_of_number"]


@op("atan2(x, y)", tex=r"\operatorname{atan2}(x, y)", dtypes="float")
@vjp(
    "x",
    lambda g, x, y: g * y * zero_filled(reciprocal(x * x + y * y), (x != 0) | (y != 0)),
    tex=r"\bar z \odot y / (x^2 + y^2)",
)
@vjp(
    "y",
    lambda g, x, y: g * -x * zero_filled(reciprocal(x * x + y * y), (x != 0) | (y != 0)),
    tex=r"-\bar z \odot x / (x^2 + y^2)",
)
def atan2(x: Value, y: Value) -> Value:
    """Return the angle of the point with the height x and the width y, from -pi to pi."""
    return np.arctan2(x, y)


@op("hypot(x, y)", tex=r"\sqrt{x^2 + y^2}", type_check=checks.refuse("hypot_cpu"))
@vjp("x", lambda g, x, out: g * (x / out), tex=r"\bar z \odot x / z")
@vjp("y", lambda g, y, out: g * (y / out), tex=r"\bar z \odot y / z")
def hypot(x: Value, y: Value) -> Value:
    """Return the length of the hypotenuse of a right triangle."""
    return np.hypot(x, y)


def _number(x: Value, dtype: Any) -> Value:
    """Return what is to be subtracted from, or subtracted: refuse what was a truth value."""
    if dtype.kind == "b":
        raise error("dtypes.bool_subtracted")
    return x


@op("log(exp(x) + exp(y))", tex=r"\ln(e^x + e^y)", type_check=checks.refuse("logaddexp_cpu"))
@vjp(
    "x",
    lambda g, x, y, y_dtype: g / (exp(_number(y, y_dtype) - x) + 1),
    tex=r"\bar z / (1 + e^{y - x})",
)
@vjp(
    "y",
    lambda g, x, y, x_dtype: g / (exp(_number(x, x_dtype) - y) + 1),
    tex=r"\bar z / (1 + e^{x - y})",
)
def logaddexp(x: Value, y: Value) -> Value:
    """Return the logarithm of a sum of two exponentials; never overflows."""
    return np.logaddexp(x, y)


@op("log2(exp2(x) + exp2(y))", tex=r"\log_2(2^x + 2^y)", type_check=checks.refuse("logaddexp2_cpu"))
@vjp(
    "x",
    lambda g, x, y, y_dtype: g / (2 ** (_number(y, y_dtype) - x) + 1),
    tex=r"\bar z / (1 + 2^{y - x})",
)
@vjp(
    "y",
    lambda g, x, y, x_dtype: g / (2 ** (_number(x, x_dtype) - y) + 1),
    tex=r"\bar z / (1 + 2^{x - y})",
)
def logaddexp2(x: Value, y: Value) -> Value:
    """Return the logarithm to the base 2 of a sum of two powers of 2; never overflows."""
    return np.logaddexp2(x, y)


def _slope_of_copied_sign(g: Value, x: Value, out: Value) -> Value:
    return g * zero_filled(out / x, x != 0)


@op("copysign(x, y)", tex=r"|x| \operatorname{sign} y", dtypes="float")
@vjp("x", lambda g, x, out: _slope_of_copied_sign(g, x, out), tex=r"\bar z \odot z / x")
@vjp("y", lambda g: g * 0, tex=r"0")
def copysign(x: Value, y: Value) -> Value:
    """Return x with the sign of y."""
    return np.copysign(x, y)


@op(
    "copysign(x, y)",
    tex=r"|x| \operatorname{sign} a",
    node="CopysignBackward1",
    dtypes="float",
    operands=("y",),
)
@vjp("x", lambda g, x, out: _slope_of_copied_sign(g, x, out), tex=r"\bar z \odot z / x")
def copysign_number(x: Value, *, y: float) -> Value:
    """Return x with the sign of a number."""
    return np.copysign(x, x.dtype.type(y))


@op("fmax(x, y)", tex=r"\max(x, y)")
@vjp("x", lambda g, x, y: zero_filled(g, (x >= y) | isnan(y)), tex=r"\bar z \odot [x \ge y]")
@vjp("y", lambda g, x, y: zero_filled(g, ~((x >= y) | isnan(y))), tex=r"\bar z \odot [x < y]")
def fmax(x: Value, y: Value) -> Value:
    """Return the larger of two elements; a number instead of nan."""
    return np.fmax(x, y)


@op("fmin(x, y)", tex=r"\min(x, y)")
@vjp("x", lambda g, x, y: zero_filled(g, (x <= y) | isnan(y)), tex=r"\bar z \odot [x \le y]")
@vjp("y", lambda g, x, y: zero_filled(g, ~((x <= y) | isnan(y))), tex=r"\bar z \odot [x > y]")
def fmin(x: Value, y: Value) -> Value:
    """Return the smaller of two elements; a number instead of nan."""
    return np.fmin(x, y)


_check_fmod = checks.refuse_zero_divisor("fmod")


@op(
    "fmod(x, y)",
    tex=r"x - y \operatorname{trunc}(x / y)",
    node="FmodBackward1",
    type_check=_check_fmod,
)
@vjp("x", lambda g: g, tex=r"\bar z")
@vjp("y", lambda g, x, y: -g * trunc(x / y), tex=r"-\bar z \odot \operatorname{trunc}(x / y)")
def fmod(x: Value, y: Value) -> Value:
    """Return the remainder of a division that is rounded towards 0: it has the sign of x."""
    return np.fmod(x, y)


@op(
    "fmod(x, y)",
    tex=r"x - a \operatorname{trunc}(x / a)",
    node="FmodBackward0",
    operands=("y",),
    type_check=_check_fmod,
)
@vjp("x", lambda g: g, tex=r"\bar z")
def fmod_by_number(x: Value, *, y: float) -> Value:
    """Return the remainder of a division by a number that is rounded towards 0."""
    return np.fmod(x, y)


def _check_heaviside(x: Value, y: Value) -> None:
    if x.dtype != y.dtype:
        raise error("dtypes.heaviside")


@op(
    "heaviside(x, y)",
    tex=r"[x > 0] + y\,[x = 0]",
    node=checks.NOT_IMPLEMENTED,
    dtypes="any",
    type_check=_check_heaviside,
)
@vjp("x", lambda g: checks.no_derivative("autograd.no_derivative", "heaviside"), tex=r"\text{none}")
@vjp("y", lambda g: checks.no_derivative("autograd.no_derivative", "heaviside"), tex=r"\text{none}")
def heaviside(x: Value, y: Value) -> Value:
    """Return 0 where x is negative, 1 where it is positive, and y where it is 0."""
    return scalar_if_0d(np.where(x == 0, y, (x > 0).astype(x.dtype)))


@op("where(x == 0, 0, x * log(y))", tex=r"x \ln y", dtypes="float")
@vjp("x", lambda g, x, y: g * masked(log(y), (x != 0) | (y > 0)), tex=r"\bar z \ln y")
@vjp("y", lambda g, x, y: g * x / y, tex=r"\bar z \odot x / y")
def xlogy(x: Value, y: Value) -> Value:
    """Return x log(y), and 0 where x is 0, whatever y is (but for nan)."""
    return _xlog(x, y, np.log)


@op("where(x == 0, 0, x * log(y))", tex=r"x \ln a", node="XlogyBackward2", dtypes="float")
@vjp("x", lambda g, x, y: g * masked(log(x * 0 + y), (x != 0) | (y > 0)), tex=r"\bar z \ln a")
def xlogy_number(x: Value, *, y: float) -> Value:
    """Return x times the logarithm of a number, and 0 where x is 0."""
    return _xlog(x, x.dtype.type(y), np.log)


@op("y * log(x)", tex=r"a \ln x", node="XlogyBackward1", dtypes="float")
@vjp("x", lambda g, x, y: g * y / x, tex=r"\bar z\,a / x")
def xlogy_of_number(x: Value, *, y: float) -> Value:
    """Return a number times the logarithm of x; 0 if the number is 0."""
    return _xlog(x.dtype.type(y), x, np.log)


@op(
    "where(x == 0, 0, x * log1p(y))",
    tex=r"x \ln(1 + y)",
    node="SpecialXlog1PyBackward0",
    dtypes="float",
)
@vjp("x", lambda g, x, y: g * masked(log(y + 1), (x != 0) | (y > -1)), tex=r"\bar z \ln(1 + y)")
@vjp("y", lambda g, x, y: g * x / (y + 1), tex=r"\bar z \odot x / (1 + y)")
def xlog1py(x: Value, y: Value) -> Value:
    """Return x log(1 + y), and 0 where x is 0, whatever y is (but for nan)."""
    return _xlog(x, y, np.log1p)


def _xlog(x: Value, y: Value, logarithm: Any) -> Value:
    product = np.where((x == 0) & ~np.isnan(y), 0, x * logarithm(y))
    return scalar_if_0d(product.astype(np.result_type(x, y)))


def _check_ends(x: Value, y: Value, *weights: Value, weight: float = 0) -> None:
    for name, other in (("end", y), *(("weight", w) for w in weights)):
        if getattr(other, "dtype", x.dtype) != x.dtype:
            own, kind = c_type(x.dtype), c_type(other.dtype)
            raise error("dtypes.lerp", own=own, name=name, kind=kind)
    checks.refuse(f"lerp_kernel_{'tensor' if weights else 'scalar'}")(x, y)


@op(
    "x + weight * (y - x)",
    tex=r"x + a (y - x)",
    node="LerpBackward0",
    dtypes="any",
    type_check=_check_ends,
)
@vjp("x", lambda g, weight: g * (1 - weight), tex=r"(1 - a) \bar z")
@vjp("y", lambda g, weight: g * weight, tex=r"a \bar z")
def lerp(x: Value, y: Value, *, weight: float) -> Value:
    """Go a part of the way from x to y; ``weight`` is 0 at x and 1 at y."""
    return x + weight * (y - x) if abs(weight) < 0.5 else y - (y - x) * (1 - weight)


@op(
    "x + weight * (y - x)",
    tex=r"x + w \odot (y - x)",
    node="LerpBackward1",
    dtypes="any",
    type_check=_check_ends,
)
@vjp("x", lambda g, weight: g * (1 - weight), tex=r"\bar z \odot (1 - w)")
@vjp("y", lambda g, weight: g * weight, tex=r"\bar z \odot w")
@vjp("weight", lambda g, x, y: g * (y - x), tex=r"\bar z \odot (y - x)")
def lerp_tensor(x: Value, y: Value, weight: Value) -> Value:
    """Go a part of the way from x to y, another part for each element."""
    near_y = y - (y - x) * (1 - weight)
    return scalar_if_0d(np.where(np.abs(weight) < 0.5, x + weight * (y - x), near_y))


@op(
    "x + value * y * w",
    tex=r"x + a\,y \odot w",
    type_check=checks.refuse_bool("dtypes.bool_kernel", kernel="addcmul_cpu_out"),
    saved_as={"y": "tensor1", "w": "tensor2"},
)
@vjp("x", lambda g: g, tex=r"\bar z")
@vjp("y", lambda g, w, value: g * (w * value), tex=r"a\,\bar z \odot w")
@vjp("w", lambda g, y, value: g * (y * value), tex=r"a\,\bar z \odot y")
def addcmul(x: Value, y: Value, w: Value, *, value: float = 1) -> Value:
    """Add the product of two tensors, times a number."""
    if x.dtype.kind != "f":
        value = number_in(value, x.dtype)
    return x + value * y * w


def _no_integer_division(x: Value, y: Value, w: Value, **params: Any) -> None:
    if y.dtype.kind != "f" and w.dtype.kind != "f":
        raise error("dtypes.addcdiv")


def _over(value: float, w: Value, dtype: Any) -> Value:
    if dtype.kind != "f":  # PyTorch divides in place
        raise error("inplace.dtype", new="Float", old=tensor_type(dtype))
    return value / w


@op(
    "x + value * y / w",
    tex=r"x + a\,y / w",
    type_check=_no_integer_division,
    saved_as={"y": "tensor1", "w": "tensor2"},
)
@vjp("x", lambda g: g, tex=r"\bar z")
@vjp("y", lambda g, w, value, w_dtype: g * _over(value, w, w_dtype), tex=r"a\,\bar z / w")
@vjp("w", lambda g, y, w, value: -g * (value * y / (w * w)), tex=r"-a\,\bar z \odot y / w^2")
def addcdiv(x: Value, y: Value, w: Value, *, value: float = 1) -> Value:
    """Add the quotient of two tensors, times a number."""
    return x + value * y / w


def _no_bool_exponents(x: Value, y: Value) -> None:
    if x.dtype.kind == "f" and y.dtype.kind == "b":
        raise error("dtypes.bool_kernel", kernel="ldexp_cpu_exp")


@op("x * 2 ** y", tex=r"x \odot 2^y", dtypes="float", type_check=_no_bool_exponents)
@vjp("x", lambda g, y: g * 2**y, tex=r"\bar z \odot 2^y")
@vjp("y", lambda g, out: g * out * math.log(2), tex=r"\bar z \odot z \ln 2")
def ldexp(x: Value, y: Value) -> Value:
    """Multiply by powers of 2."""
    return x * np.exp2(y)


# -- integers and truth values: no gradient ------------------------------------------------------


@op("gcd(x, y)")
def gcd(x: Value, y: Value) -> Value:
    """Return the greatest common divisor of integers."""
    checks.refuse("gcd_cpu", "fb")(x, y)
    return np.gcd(x, y)


@op("lcm(x, y)")
def lcm(x: Value, y: Value) -> Value:
    """Return the least common multiple of integers."""
    checks.refuse("lcm_cpu", "fb")(x, y)
    return np.lcm(x, y)


def _shift(x: Value, y: Value, left: bool) -> Value:
    """Shift the bits of integers; by 64 and more nothing, or only the sign, is left."""
    x = np.asarray(x, y.dtype) if isinstance(x, int | float) else x
    checks.refuse("lshift_cpu" if left else "rshift_cpu", "fb")(x, y)
    bits = 8 * x.dtype.itemsize
    inside = (y >= 0) & (y < bits)
    by = np.where(inside, y, 0).astype(x.dtype)
    if left:
        return scalar_if_0d(np.where(inside, np.left_shift(x, by), 0).astype(x.dtype))
    return scalar_if_0d(
        np.where(inside, np.right_shift(x, by), np.where(x < 0, -1, 0)).astype(x.dtype)
    )


@op("x << y")
def bitwise_left_shift(x: Value, y: Value) -> Value:
    """Shift the bits to the left: ``x * 2 ** y`` for integers."""
    return _shift(x, y, left=True)


@op("x >> y")
def bitwise_right_shift(x: Value, y: Value) -> Value:
    """Shift the bits to the right: ``x // 2 ** y`` for integers."""
    return _shift(x, y, left=False)


@op("logical_and(x, y)", dtypes="any")
def logical_and(x: Value, y: Value) -> Value:
    """Tell where both elements are not 0."""
    return np.logical_and(x, y)


@op("logical_or(x, y)", dtypes="any")
def logical_or(x: Value, y: Value) -> Value:
    """Tell where one element, or both, is not 0."""
    return np.logical_or(x, y)


@op("logical_xor(x, y)", dtypes="any")
def logical_xor(x: Value, y: Value) -> Value:
    """Tell where one element, but not both, is not 0."""
    return np.logical_xor(x, y)


def _check_close(x: Value, y: Value, **params: Any) -> None:
    if x.dtype != y.dtype:
        raise error("dtypes.isclose", a=tensor_type(x.dtype), b=tensor_type(y.dtype))


@op("isclose(x, y, rtol, atol)", dtypes="any", type_check=_check_close)
def isclose(
    x: Value, y: Value, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Value:
    """Tell where ``|x - y| <= atol + rtol * |y|``."""
    close = x == y
    if equal_nan and x.dtype.kind == "f":
        close = close | (np.isnan(x) & np.isnan(y))
    if rtol == atol == 0:
        return close
    if x.dtype.kind != "f":
        x, y = x.astype("float64"), y.astype("float64")
    apart = np.abs(x - y)
    return close | (np.isfinite(apart) & (apart <= atol + np.abs(rtol * y)))
