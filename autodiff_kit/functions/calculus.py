"""Functions of one number: ``log10``, ``sinh``, ``atan``, ``erf`` and their like, and questions.

After reading this file you know that a name such as ``arctan`` is another one for ``atan``. Read
next: ``pairs.py``.
"""

from __future__ import annotations

from autodiff_kit import ops
from autodiff_kit.calls import checked
from autodiff_kit.errors import error
from autodiff_kit.functions.declared import Number, Operand, alias, function, overloaded
from autodiff_kit.ops import calculus, gamma
from autodiff_kit.tensor import Tensor

__all__ = ["absolute", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan"]
__all__ += [
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "clip",
    "conj",
    "cosh",
    "deg2rad",
    "erf",
    "erfc",
]
__all__ += ["erfinv", "exp2", "fix", "frac", "hardshrink", "isfinite", "isinf", "isneginf"]
__all__ += ["digamma", "isposinf", "isreal", "lgamma", "polygamma"]
__all__ += [
    "log2",
    "log10",
    "logical_not",
    "logit",
    "nan_to_num",
    "negative",
    "positive",
    "rad2deg",
]
__all__ += ["real", "sgn", "signbit", "sinc", "sinh", "threshold", "trunc"]


@function
def log10(input: Tensor) -> Tensor:
    """Return the logarithm to the base 10."""
    return calculus.log10(input)


@function
def log2(input: Tensor) -> Tensor:
    """Return the logarithm to the base 2."""
    return calculus.log2(input)


@function
def exp2(input: Tensor) -> Tensor:
    """Return 2 to the power of every element."""
    return calculus.exp2(input)


@function
def sinh(input: Tensor) -> Tensor:
    """Return the hyperbolic sine."""
    return calculus.sinh(input)


@function
def cosh(input: Tensor) -> Tensor:
    """Return the hyperbolic cosine."""
    return calculus.cosh(input)


@function
def asin(input: Tensor) -> Tensor:
    """Return the inverse of the sine, in radians."""
    return calculus.asin(input)


@function
def acos(input: Tensor) -> Tensor:
    """Return the inverse of the cosine, in radians."""
    return calculus.acos(input)


@function
def atan(input: Tensor) -> Tensor:
    """Return the inverse of the tangent, in radians."""
    return calculus.atan(input)


@function
def asinh(input: Tensor) -> Tensor:
    """Return the inverse of the hyperbolic sine."""
    return calculus.asinh(input)


@function
def acosh(input: Tensor) -> Tensor:
    """Return the inverse of the hyperbolic cosine."""
    return calculus.acosh(input)


@function
def atanh(input: Tensor) -> Tensor:
    """Return the inverse of the hyperbolic tangent."""
    return calculus.atanh(input)


@function
def deg2rad(input: Tensor) -> Tensor:
    """Convert angles from degrees to radians."""
    return calculus.deg2rad(input)


@function
def rad2deg(input: Tensor) -> Tensor:
    """Convert angles from radians to degrees."""
    return calculus.rad2deg(input)


@function
def erf(input: Tensor) -> Tensor:
    """Return the error function."""
    return ops.erf(input)


@function
def erfc(input: Tensor) -> Tensor:
    """Return 1 minus the error function."""
    return calculus.erfc(input)


@function
def erfinv(input: Tensor) -> Tensor:
    """Return the inverse of the error function."""
    return calculus.erfinv(input)


@function
def lgamma(input: Tensor) -> Tensor:
    """Return the logarithm of the gamma function, whose value at n + 1 is n!."""
    return gamma.lgamma(input)


@function
def digamma(input: Tensor) -> Tensor:
    """Return the derivative of ``lgamma``."""
    return gamma.digamma(input)


@overloaded("(int n, Tensor input)")
def polygamma(n: int, input: Tensor) -> Tensor:
    """Return the n-th derivative of ``digamma``."""
    if not isinstance(n, int) or not isinstance(input, Tensor):
        raise TypeError("polygamma")  # the words come from ``signatures.py``
    if n < 0:
        raise error("functions.polygamma_order")
    return gamma.polygamma(input, n=n)


def _polygamma(self: Tensor, n: int) -> Tensor:
    """Return the n-th derivative of ``digamma``: here the tensor comes first."""
    return polygamma(n, self)


polygamma.method = checked("polygamma", _polygamma)


@function
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """Return ``log(input / (1 - input))``; with ``eps``, of input limited to [eps, 1 - eps]."""
    return calculus.logit(input, eps=eps)


@function
def sinc(input: Tensor) -> Tensor:
    """Return ``sin(pi * input) / (pi * input)``, and 1 at 0."""
    return calculus.sinc(input)


@function
def trunc(input: Tensor) -> Tensor:
    """Round towards 0."""
    return calculus.trunc(input)


@function
def frac(input: Tensor) -> Tensor:
    """Return what stands behind the decimal point, with the sign of the element."""
    return calculus.frac(input)


@function
def sgn(input: Tensor) -> Tensor:
    """Return -1, 0 or 1."""
    return ops.sgn(input)


@function
def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """Replace nan, inf and -inf: by 0 and the largest and smallest numbers, or by those given."""
    return calculus.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)


@function
def positive(input: Tensor) -> Tensor:
    """Return the tensor itself, as ``+input`` does."""
    return +input


@function
def real(input: Tensor) -> Tensor:
    """Return the tensor itself: the kit has no complex numbers."""
    return input


@function
def conj(input: Tensor) -> Tensor:
    """Return the tensor itself: the kit has no complex numbers."""
    return input


# -- questions ------------------------------------------------------------------------------------


@function
def isfinite(input: Tensor) -> Tensor:
    """Tell where elements are neither inf nor nan."""
    return calculus.isfinite(input)


@function
def isinf(input: Tensor) -> Tensor:
    """Tell where elements are inf or -inf."""
    return calculus.isinf(input)


@function
def isposinf(input: Tensor) -> Tensor:
    """Tell where elements are inf."""
    return calculus.isposinf(input)


@function
def isneginf(input: Tensor) -> Tensor:
    """Tell where elements are -inf."""
    return calculus.isneginf(input)


@function
def isreal(input: Tensor) -> Tensor:
    """Tell where elements are real numbers: everywhere."""
    return ops.eq(ops.zeros_like(input), 0)


@function
def signbit(input: Tensor) -> Tensor:
    """Tell where elements are negative, -0.0 included."""
    return calculus.signbit(input)


@function
def logical_not(input: Tensor) -> Tensor:
    """Tell where elements are 0."""
    return calculus.logical_not(input)


# -- other names ----------------------------------------------------------------------------------


@function
def absolute(input: Tensor) -> Tensor:
    """Return the distance from 0: ``abs``."""
    return ops.abs(input)


@function
def negative(input: Tensor) -> Tensor:
    """Change the sign: ``neg``."""
    return ops.neg(input)


@overloaded(
    "(Tensor input, Tensor min = None, Tensor max = None)",
    "(Tensor input, Number min = None, Number max = None)",
)
def clip(input: Tensor, min: Operand = None, max: Operand = None) -> Tensor:
    """Limit to the range from ``min`` to ``max``: ``clamp``."""
    return input.clamp(min, max)


arccos, arccosh = alias("arccos", acos), alias("arccosh", acosh)
arcsin, arcsinh = alias("arcsin", asin), alias("arcsinh", asinh)
arctan, arctanh = alias("arctan", atan), alias("arctanh", atanh)
fix = alias("fix", trunc)


# -- activations that are functions of tensors as well ---------------------------------------------


@function
def hardshrink(input: Tensor, lambd: Number = 0.5) -> Tensor:
    """Return input where its size is above ``lambd``, else 0."""
    return ops.hardshrink(input, lambd=lambd)


@function
def threshold(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """Return input where it is above a threshold, else a value."""
    return ops.threshold(input, threshold=threshold, value=value)
