"""Arithmetic: ``+ - * /``, powers, negation, and matrix products live next door in ``linalg.py``.

After reading this file you know what every op of the kit looks like. A rule gets the cotangent
``g`` (the gradient flowing in, shape of the output), reads what it names, and returns the
contribution to one input. Broadcasting is not its concern: the engine sums it out. Rules are
made of operators and ops only, so that they work on arrays, and on Tensors when the gradient
itself is to be differentiated. Read next: ``autograd/node.py``, then ``autograd/engine.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autodiff_kit.autograd.node import Value
from autodiff_kit.ops import checks
from autodiff_kit.ops.table import op

__all__ = [
    "add",
    "add_scaled",
    "div",
    "div_rounded",
    "floor_divide",
    "mul",
    "neg",
    "pow_from_number",
    "pow_tensor",
    "pow_to_number",
    "reciprocal",
    "remainder",
    "remainder_by_number",
    "rsub",
    "sub",
    "sub_scaled",
]


@op("x + y", tex=r"x + y")
def add(x: Value, y: Value) -> Value:
    """Add elementwise; shapes broadcast."""
    return x + y


@add.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@add.vjp("y", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@op("x - y", tex=r"x - y", whole=checks.refuse_bool_difference)
def sub(x: Value, y: Value) -> Value:
    """Subtract elementwise; shapes broadcast."""
    return x - y


@sub.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@sub.vjp("y", tex=r"-\bar z")
def _(g: Value) -> Value:
    return -g


@op(
    "y - x",
    tex=r"y - x",
    node="RsubBackward1",
    operands=("y",),
    whole=checks.refuse_bool_difference,
)
def rsub(x: Value, *, y: float) -> Value:
    """Subtract a tensor from a number: what ``1 - x`` calls."""
    return y - x


@rsub.vjp("x", tex=r"-\bar z")
def _(g: Value) -> Value:
    return -g


@op("x * y", tex=r"x \odot y")
def mul(x: Value, y: Value) -> Value:
    """Multiply elementwise; shapes broadcast."""
    return x * y


@mul.vjp("x", tex=r"\bar z \odot y")
def _(g: Value, y: Value) -> Value:
    return g * y


@mul.vjp("y", tex=r"\bar z \odot x")
def _(g: Value, x: Value) -> Value:
    return g * x


@op("x / y", tex=r"x / y", dtypes="float")
def div(x: Value, y: Value) -> Value:
    """Divide elementwise; shapes broadcast; integers divide to floats."""
    return x / y


@div.vjp("x", tex=r"\bar z / y")
def _(g: Value, y: Value) -> Value:
    return g / y


@div.vjp("y", tex=r"-\bar z \odot x / y^2")
def _(g: Value, x: Value, y: Value) -> Value:
    return -g * ((x / y) / y)


@op("1 / x", tex=r"1 / x", dtypes="float")
def reciprocal(x: Value) -> Value:
    """Divide 1 by every element."""
    return 1 / x


@reciprocal.vjp("x", tex=r"-\bar z \odot z^2")
def _(g: Value, out: Value) -> Value:
    return -g * (out * out)


@op(
    "-x",
    tex=r"-x",
    whole=checks.refuse_bool(
        RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    ),
)
def neg(x: Value) -> Value:
    """Change the sign."""
    return -x


@neg.vjp("x", tex=r"-\bar z")
def _(g: Value) -> Value:
    return -g


# What PyTorch computes instead of a general power: faster, exact, and another answer at -0 and -inf.
_POWERS: dict[float, Callable[[Value], Value]] = {
    -2: lambda x: 1 / (x * x),
    -1: lambda x: 1 / x,
    -0.5: lambda x: 1 / np.sqrt(x),
    0.5: lambda x: np.sqrt(x),
    2: lambda x: x * x,
    3: lambda x: x * x * x,
}


def _power(x: Value, y: Value) -> Value:
    """Return ``x ** y``; a whole number to a negative power is 0, or 1 or -1 for those two."""
    if np.asarray(x).dtype.kind == "f" or np.asarray(y).dtype.kind == "f":
        return x**y
    return np.where((y >= 0) | (abs(x) == 1), x ** abs(y), 0)[()]


@op(
    "x ** exponent",
    tex=r"x^n",
    node="PowBackward0",
    operands=("exponent",),
    whole=checks.refuse_negative_power,
)
def pow_to_number(x: Value, *, exponent: float) -> Value:
    """Raise every element to one power: what ``x ** 2`` calls."""
    shortcut = _POWERS.get(exponent)
    return x**exponent if shortcut is None else shortcut(x)


@pow_to_number.vjp("x", tex=r"\bar z \odot n\,x^{n-1}")
def _(g: Value, x: Value, exponent: float) -> Value:
    # PyTorch defines the gradient of x ** 0 as 0, at x = 0 too, where 0 * 0 ** -1 would be nan.
    from autodiff_kit.ops.elementwise import zeros_like  # a rule may use any op

    return zeros_like(g) if exponent == 0 else g * (exponent * _to_number(x, exponent - 1))


def _to_number(x: Value, exponent: float) -> Value:
    return pow_to_number(x, exponent=exponent)


@op(
    "base ** x",
    tex=r"a^x",
    node="PowBackward2",
    operands=("base",),
    saved_as={"x": "exponent", "base": "self"},
)
def pow_from_number(x: Value, *, base: float) -> Value:
    """Raise one number to every power: what ``2 ** x`` calls."""
    return _power(base, x)


@pow_from_number.vjp("x", tex=r"\bar z \odot z \ln a")
def _(g: Value, out: Value, x: Value, base: float) -> Value:
    from autodiff_kit.ops.elementwise import masked

    slope = out * float(np.log(base))
    return g * (slope if base else masked(slope, x < 0))  # 0 ** x is flat where x is not negative


@op(
    "x ** y",
    tex=r"x^y",
    node="PowBackward1",
    saved_as={"y": "exponent"},
    whole=checks.refuse_bool(NotImplementedError("\"pow\" not implemented for 'Bool'")),
)
def pow_tensor(x: Value, y: Value) -> Value:
    """Raise elementwise to elementwise powers; shapes broadcast."""
    return _power(x, y)


@pow_tensor.vjp("x", tex=r"\bar z \odot y \odot x^{y-1}")
def _(g: Value, x: Value, y: Value) -> Value:
    from autodiff_kit.ops.elementwise import masked

    return masked(g * (y * x ** (y - 1)), y != 0)


@pow_tensor.vjp("y", tex=r"\bar z \odot z \odot \ln x")
def _(g: Value, out: Value, x: Value, y: Value) -> Value:
    from autodiff_kit.ops.elementwise import log, masked

    return g * masked(out * log(x), (x != 0) | (y < 0))


@op(
    "x % y",
    tex=r"x \bmod y",
    node="RemainderBackward0",
    operands=("y",),
    whole=checks.refuse_zero_divisor,
)
def remainder_by_number(x: Value, *, y: float) -> Value:
    """Return what is left after whole divisions by a number: what ``x % 2`` calls."""
    return np.remainder(x, y)


@remainder_by_number.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@op(
    "x % y",
    tex=r"x \bmod y",
    node="RemainderBackward1",
    whole=checks.refuse_zero_divisor,
)
def remainder(x: Value, y: Value) -> Value:
    """Return what is left after whole divisions; the sign is that of ``y``."""
    return np.remainder(x, y)


@remainder.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@remainder.vjp("y", tex=r"-\bar z \odot \lfloor x / y \rfloor")
def _(g: Value, x: Value, y: Value) -> Value:
    return -g * div_rounded(x, y, rounding_mode="floor")


@op(
    "x // y",
    tex=r"\lfloor x / y \rfloor",
    node="torch::autograd::NotImplemented",
    whole=checks.refuse_zero_divisor,
)
def floor_divide(x: Value, y: Value) -> Value:
    """Divide and round down; has no derivative."""
    return x // y


for _wrt in ("x", "y"):

    @floor_divide.vjp(_wrt, tex=r"\text{none}")
    def _(g: Value) -> Value:
        return checks.no_derivative("floor_divide")


@op(
    "div(x, y, rounding_mode)",
    tex=r"\operatorname{round}(x / y)",
    node="DivBackward2",
    whole=checks.refuse_zero_divisor,
)
def div_rounded(x: Value, y: Value, *, rounding_mode: str) -> Value:
    """Divide and round, ``"floor"`` or ``"trunc"``; flat, so its gradient is 0."""
    if rounding_mode == "floor":
        return x // y
    if x.dtype.kind == "f":
        return np.trunc(x / y)
    return np.sign(x) * np.sign(y) * (abs(x) // abs(y))


for _wrt in ("x", "y"):

    @div_rounded.vjp(_wrt, tex=r"0")
    def _(g: Value) -> Value:
        from autodiff_kit.ops.elementwise import zeros_like

        return zeros_like(g)


@op(
    "x + alpha * y", tex=r"x + \alpha y", node="AddBackward0", whole=checks.refuse_float_alpha
)
def add_scaled(x: Value, y: Value, *, alpha: float) -> Value:
    """Add a multiple: what ``torch.add(x, y, alpha=...)`` calls."""
    return x + x.dtype.type(alpha) * y  # in the dtype of x: True + 2 * True is True


@add_scaled.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@add_scaled.vjp("y", tex=r"\alpha \bar z")
def _(g: Value, alpha: float) -> Value:
    return g * alpha


def _check_scaled_difference(*arrays: Value, alpha: float) -> None:
    checks.refuse_bool_difference(*arrays)
    checks.refuse_float_alpha(*arrays, alpha=alpha)


@op(
    "x - alpha * y",
    tex=r"x - \alpha y",
    node="SubBackward0",
    whole=_check_scaled_difference,
)
def sub_scaled(x: Value, y: Value, *, alpha: float) -> Value:
    """Subtract a multiple: what ``torch.sub(x, y, alpha=...)`` calls."""
    return x - x.dtype.type(alpha) * y


@sub_scaled.vjp("x", tex=r"\bar z")
def _(g: Value) -> Value:
    return g


@sub_scaled.vjp("y", tex=r"-\alpha \bar z")
def _(g: Value, alpha: float) -> Value:
    return g * -alpha
