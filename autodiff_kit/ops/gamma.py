"""The gamma function's logarithm and its derivatives, and draws that they differentiate.

After reading this file you know how a draw has a gradient although an accept-and-reject loop made
it: a parameter that grows moves the whole distribution, and the draw x stays at the same place in
it, F(x; a) = u. So dx/da = -(dF/da) / (dF/dx). Read next: ``drawing.py``.

Source: Figurnov, Mohamed and Mnih, Implicit reparameterization gradients (2018).
"""

# mypy: disable-error-code="has-type"
# A rule may name the op that it belongs to.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_kit.core.op import Value
from autodiff_kit.ops.checks import no_derivative
from autodiff_kit.ops.layouts import scalar_if_0d
from autodiff_kit.ops.table import op, vjp

__all__ = ["digamma", "dirichlet", "dirichlet_backward", "lgamma", "polygamma", "standard_gamma"]
__all__ += ["standard_gamma_backward"]

# Bernoulli's numbers B2, B4, ...
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
_LARGE = 10.0  # from here on, the series below are exact to all digits


def _log_gamma(x: float) -> float:
    return math.inf if x <= 0 and x % 1 == 0 else math.lgamma(x)


_lgamma: Any = np.frompyfunc(_log_gamma, 1, 1)  # NumPy has none


def _zeta(s: int, q: Any) -> Any:
    """Return the sum of ``(q + k) ** -s`` over k = 0, 1, ...: Hurwitz's zeta function.

    Source: Abramowitz and Stegun, Handbook of mathematical functions (1964), 23.1.30: the sum of
    Euler and Maclaurin.
    """
    is_pole = (q <= 0) & (q == np.floor(q))
    total = np.where(is_pole, math.inf, 0)
    q = np.where(is_pole, _LARGE, q)
    while (is_small := q < _LARGE).any():
        total = total + np.where(is_small, q**-s, 0)
        q = np.where(is_small, q + 1, q)
    total = total + q ** (1 - s) / (s - 1) + q**-s / 2
    for k, number in enumerate(_BERNOULLI, 1):
        rising = math.prod(range(s, s + 2 * k - 1)) / math.factorial(2 * k)
        total = total + number * rising * q ** (1 - s - 2 * k)
    return total


def _psi(x: Any) -> Any:
    """Return digamma, the derivative of ``lgamma``, of an array of float64."""
    if (negative := x < 0).any():  # reflected at 1/2
        turned = np.where(x % 1 == 0, math.nan, -math.pi / np.tan(math.pi * np.fmod(x, 1)))
        return _psi(np.where(negative, 1 - x, x)) + np.where(negative, turned, 0)
    total, x = np.zeros_like(x), np.array(x)
    while (is_small := x < _LARGE).any():
        total = total - np.where(is_small, 1 / x, 0)
        x = np.where(is_small, x + 1, x)
    total = total + np.log(x) - 1 / (2 * x)
    for k, number in enumerate(_BERNOULLI, 1):
        total = total - number / (2 * k) * x ** (-2 * k)
    return total


def _in_double(function: Any, x: Value, *params: Any) -> Value:
    """Compute in float64, without NumPy's warnings, and return the dtype of x."""
    with np.errstate(all="ignore"):
        out = np.asarray(function(*params, np.asarray(x, "float64")))
        return scalar_if_0d(out.astype(x.dtype))


@op("lgamma(x)", tex=r"\ln |\Gamma(x)|", dtypes="float")
@vjp("x", lambda g, x: g * digamma(x), tex=r"\bar z \odot \psi(x)")
def lgamma(x: Value) -> Value:
    """Return the logarithm of the gamma function, whose value at n + 1 is n!; inf at poles."""
    return _in_double(_lgamma, x)


@op("digamma(x)", tex=r"\psi(x)", dtypes="float")
@vjp("x", lambda g, x: g * polygamma(x, n=1), tex=r"\bar z \odot \psi'(x)")
def digamma(x: Value) -> Value:
    """Return the derivative of ``lgamma``; -inf at 0, nan at -1, -2 ..."""
    return _in_double(_psi, x)


@op("polygamma(n, x)", tex=r"\psi^{(n)}(x)", dtypes="float")
@vjp("x", lambda g, x, n: g * polygamma(x, n=n + 1), tex=r"\bar z \odot \psi^{(n+1)}(x)")
def polygamma(x: Value, *, n: int) -> Value:
    """Return the n-th derivative of ``digamma``."""
    if n == 0:
        return _in_double(_psi, x)
    return _in_double(_zeta, x, n + 1) * x.dtype.type((-1) ** (n + 1) * math.factorial(n))


# -- draws ----------------------------------------------------------------------------------------


def _no_rule(g: Value) -> Value:
    no_derivative("autograd.no_derivative_yet", "_standard_gamma_grad")


def _no_second_rule(g: Value) -> Value:
    no_derivative("distributions.differentiated_twice", "dirichlet")


@op("numbers", tex=r"z \sim \Gamma(x, 1)")
def standard_gamma(x: Value, *, numbers: Any) -> Value:
    """Return what was drawn from gamma distributions with the concentrations x and the rate 1."""
    return np.asarray(numbers, x.dtype)[()]


@standard_gamma.vjp("x", tex=r"-\bar z \odot \tfrac{\partial F}{\partial x} / p(z)")
def _(g: Value, x: Value, out: Value) -> Value:
    return g * standard_gamma_backward(x, out)


@op("standard_gamma_backward(x, draws)", node="StandardGammaGradBackward0")
@vjp("x", _no_rule, tex=r"\text{none}")
@vjp("draws", _no_rule, tex=r"\text{none}")
def standard_gamma_backward(x: Value, draws: Value) -> Value:
    """Return how fast draws change with the concentration."""
    a, z = (np.asarray(v, "float64") for v in (x, draws))

    def term(k: int) -> Any:
        return np.log(z) - _psi(a + k + 1)

    slopes = -z / a * _series(lambda k: z / (a + k), term, np.max(z - a, initial=0))
    return scalar_if_0d(np.asarray(slopes).astype(x.dtype))


def _series(ratio: Any, term: Any, least: float) -> Any:
    """Add ``ratio(1) * ... * ratio(k) * term(k)`` over k = 0, 1, ... until nothing is added.

    The products grow until about k = ``least``.
    """
    total, product, k = term(0), 1.0, 0
    while True:
        k += 1
        product = product * ratio(k)
        summand = product * term(k)
        total = total + summand
        if k > least and not np.any(np.abs(summand) > 1e-17 * np.abs(total)):
            return total


@op("numbers", tex=r"z \sim \operatorname{Dir}(x)", node="_DirichletBackward")
def dirichlet(x: Value, *, numbers: Any) -> Value:
    """Return what was drawn from Dirichlet distributions with the concentrations x."""
    return np.asarray(numbers, x.dtype)[()]


@dirichlet.vjp("x", tex=r"\bar z^\top \tfrac{\partial z}{\partial x}")
def _(g: Value, x: Value, out: Value) -> Value:
    return dirichlet_backward(x, out, g)


@op("dirichlet_backward(x, draws, g_)", node="torch::autograd::Error")
@vjp("x", _no_second_rule, tex=r"\text{none}")
@vjp("draws", _no_second_rule, tex=r"\text{none}")
@vjp("g_", _no_second_rule, tex=r"\text{none}")
def dirichlet_backward(x: Value, draws: Value, g_: Value) -> Value:
    """Return what flows back to the concentrations.

    Each share has a beta distribution; what it gains, the others lose in proportion.
    """
    a, z, g = (np.asarray(v, "float64") for v in (x, draws, g_))
    whole = np.broadcast_to(a.sum(-1, keepdims=True), a.shape)
    slopes = _slopes_of_beta(z, a, whole) * (g - (z * g).sum(-1, keepdims=True))
    return slopes.astype(x.dtype)


def _slopes_of_beta(z: Any, a: Any, whole: Any) -> Any:
    """Return dz/da / (1 - z) for draws of beta distributions with concentrations a, whole - a.

    The probability of what lies between the draw and the nearer end is a series, whose terms are
    differentiated by a, one by one.

    Source: Abramowitz and Stegun, Handbook of mathematical functions (1964), 26.5.4.
    """
    is_low = z <= 0.5
    rest = np.where(is_low, z, 1 - z)
    own = np.where(is_low, a, whole - a)

    def term(k: int) -> Any:
        return np.log(z) + _psi(whole + k) - _psi(np.where(is_low, a + k + 1, a))

    peak = np.max((rest * whole - own) / (1 - rest), initial=0)
    sums = _series(lambda k: rest * (whole + k - 1) / (own + k), term, peak)
    return np.where(is_low, -z, z) / own * sums
